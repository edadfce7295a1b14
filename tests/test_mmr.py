"""MMR: the published file parses whole, pairs count as defined, and both readings stand by."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from hardset.benchmarks.mmr import MMR, SUFFIX, read_as_paper, split_options
from hardset.benchmarks.registry import make
from hardset.errors import UsageError
from hardset.metrics import pair_up
from hardset.records import State

PUBLISHED = Path(__file__).resolve().parents[1].parent / "shared/data/mmr/MMR-benchmark.json"
needs_file = pytest.mark.skipif(not PUBLISHED.exists(), reason="the published file is not here")

OPTIONS = "\nA. red\nB. green\nC. blue\nD. white"


def row(ident: str, kind: str, gold: str, question: str = "Which colour?") -> dict[str, str]:
    return {
        "id": ident,
        "image": f"{ident}.jpg",
        "question": f"{question} {kind}{OPTIONS}",
        "ground_truth": gold,
        "question_type": kind,
    }


ROWS = [
    row("context/relation/01", "POS", "A"),
    row("context/relation/01", "NEG", "B"),
    row("context/relation/02", "NEG", "B"),  # the order inside a pair is not relied on
    row("context/relation/02", "POS", "A"),
    row("attribute/shape/01", "POS", "C"),
    row("attribute/shape/01", "NEG", "D"),
]


def bench(tmp_path: Path, rows: object = ROWS, **options: object) -> MMR:
    path = tmp_path / "data.json"
    path.write_text(rows if isinstance(rows, str) else json.dumps(rows), encoding="utf-8")
    return MMR(path, **({"blind": True} | options))  # type: ignore[arg-type]


def outcomes(benchmark: MMR, replies: list[str]) -> pl.DataFrame:
    lines = []
    for item, reply in zip(benchmark.items(), replies, strict=True):
        judged = benchmark.judge(item, reply)
        lines.append(
            {
                "item": item.id,
                "repeat": 0,
                "state": judged["default"].reading.state.value,
                "right": judged["default"].right,
                "paper_state": judged["paper"].reading.state.value,
                "paper_right": judged["paper"].right,
                "pair": item.pair,
                "role": item.role,
                "category": item.category,
                "level": item.tags["level"],
            }
        )
    return pl.DataFrame(lines)


def values(benchmark: MMR, frame: pl.DataFrame) -> dict[tuple[str, ...], tuple[float, float]]:
    return {
        (m.reading, m.name, *m.cut.values()): (m.numerator, m.denominator)
        for m in benchmark.measure(frame)
    }


# The published file --------------------------------------------------------------------------


@needs_file
def test_the_published_file_parses_into_600_questions_of_four_options():
    benchmark = MMR(PUBLISHED, blind=True)
    items = list(benchmark.items())
    assert benchmark.total() == len(items) == len({item.id for item in items}) == 600
    for item in items:
        assert len(item.choices) == 4
        assert all(text and text == text.strip() for text in item.choices)
        assert item.answer in ("A", "B", "C", "D")
    assert Counter(item.answer for item in items) == dict.fromkeys("ABCD", 150)


@needs_file
def test_every_option_is_the_files_own_text_under_its_own_letter():
    for item in MMR(PUBLISHED, blind=True).items():
        stem = item.question
        for letter, text in zip("ABCD", item.choices, strict=True):
            at = item.question.find(text)
            assert at >= 0, item.id
            before = item.question[:at].rstrip(" .")
            marked = [
                i for i in range(len(stem)) if stem.startswith(text, i)
                and stem[:i].rstrip(" .").endswith(letter)
            ]  # fmt: skip
            assert marked, (item.id, letter, text, before[-10:])
            assert "\n" not in text, item.id
        # Nothing is lost: the stem, four letters and four texts are all there is.
        rest = item.question
        for text in sorted(item.choices, key=len, reverse=True):
            rest = rest.replace(text, "", 1)
        stripped = [line.strip(" .ABCD") for line in rest.split("\n")[1:]]
        assert not any(stripped), (item.id, stripped)


@needs_file
def test_options_out_of_order_and_on_one_line():
    items = {item.id: item for item in MMR(PUBLISHED, blind=True).items()}
    assert items["context/concrete/20#POS"].choices == (
        "Hamlet",
        "The Merchant of Venice",
        "Journey to the West.",
        "This person is not a writer.",
    )
    assert items["attribute/existence/24#NEG"].choices == (
        "this is a butterfly.",
        "this is a bird.",
        "this is a drone.",
        "this is a bat.",
    )
    assert items["context/activity/13#NEG"].choices[2] == "It can't be confirmed."


@needs_file
def test_the_broken_pair_is_reported_once_and_counted_apart():
    benchmark = MMR(PUBLISHED, blind=True)
    assert len(benchmark.notices) == 1
    assert "attribute/number/04 (POS, POS)" in benchmark.notices[0]
    assert "299 sound pairs" in benchmark.notices[0]
    ids = {item.id for item in benchmark.items()}
    assert {"attribute/number/04#POS", "attribute/number/04#POS-2"} <= ids
    frame = outcomes(benchmark, [item.answer for item in benchmark.items()])
    got = values(benchmark, frame)
    assert got["default", "RA"] == got["paper", "RA"] == (299, 299)
    assert got["default", "MR"] == (0, 299)
    assert got["default", "accuracy"] == (600, 600)
    assert got["default", "POS accuracy"] == (301, 301)  # 299 + the two of the broken pair
    assert got["default", "NEG accuracy"] == (299, 299)


@needs_file
def test_pairs_by_level_and_category_are_the_papers():
    benchmark = MMR(PUBLISHED, blind=True)
    got = values(benchmark, outcomes(benchmark, ["A"] * 600))
    pairs = {key[2]: n for key, (_, n) in got.items() if key[:2] == ("default", "RA") and key[2:]}
    assert pairs == {
        "character": 40, "attribute": 139, "context": 120,  # 140 less the broken one
        "existence": 22, "color&texture": 24, "number": 23, "shape": 24, "posture": 24,
        "position": 22, "abstract": 22, "concrete": 21, "expert": 31, "activity": 24,
        "relation": 22,
    }  # fmt: skip


@needs_file
def test_an_options_own_text_as_the_reply_is_that_option():
    for item in MMR(PUBLISHED, blind=True).items():
        benchmark_read = MMR.read
        for letter, text in zip("ABCD", item.choices, strict=True):
            if [t.strip(". ").lower() for t in item.choices].count(text.strip(". ").lower()) > 1:
                continue
            for reply in (text, f"{letter}. {text}", f"({letter}) {text}", f"**{letter}. {text}**"):
                reading = benchmark_read(None, item, reply)["default"]  # type: ignore[arg-type]
                assert reading.answer == letter, (item.id, reply, reading)


# The definitions -----------------------------------------------------------------------------


def test_ra_and_mr_by_hand(tmp_path: Path):
    benchmark = bench(tmp_path)
    # Pair 1: both right. Pair 2 (NEG first in the file): positive right, misled. Pair 3: positive
    # wrong. RA = 1/3; MR = 1 misled / 2 with the positive right.
    got = values(benchmark, outcomes(benchmark, ["A", "B", "C", "A", "A", "D"]))
    assert got["default", "RA"] == (1, 3)
    assert got["default", "MR"] == (1, 2)
    assert got["default", "POS accuracy"] == (2, 3)
    assert got["default", "NEG accuracy"] == (2, 3)
    assert got["default", "accuracy"] == (4, 6)
    assert got["default", "RA", "context"] == (1, 2)
    assert got["default", "MR", "relation"] == (1, 2)


def test_mr_is_undefined_where_no_positive_is_right(tmp_path: Path):
    benchmark = bench(tmp_path)
    frame = outcomes(benchmark, ["D", "B", "B", "D", "A", "D"])
    (rate,) = [
        m for m in benchmark.measure(frame) if (m.name, m.reading, m.cut) == ("MR", "default", {})
    ]
    assert (rate.value, rate.denominator, rate.low, rate.high) == (None, 0, None, None)


def test_pairs_are_the_clusters(tmp_path: Path):
    benchmark = bench(tmp_path)
    metrics = benchmark.measure(outcomes(benchmark, ["A", "B", "C", "A", "A", "D"]))
    assert {m.clusters for m in metrics if not m.cut} == {3}
    assert {m.reading for m in metrics} == {"default", "paper"}


def test_both_readings_stand_side_by_side(tmp_path: Path):
    benchmark = bench(tmp_path)
    replies = ["(A)", "**B**", "B: green", "A", "A cat is on the mat, so C", "D"]
    got = values(benchmark, outcomes(benchmark, replies))
    assert got["default", "accuracy"] == (6, 6)
    assert got["paper", "accuracy"] == (2, 6)  # the plain "A" and the plain "D"


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("A", "A"),
        ("B.", "B"),
        ("C. blue", "C"),
        ("D, as it is white", "D"),
        ("A cat is on the mat, so B", "A"),  # the fault that the default reading mends
        ("I pick C over B", "B"),  # A to D in turn, not in order of appearance
        ("(B)", ""),
        ("**B**", ""),
        ("B: foo", ""),
        ("b", ""),
        ("B\nbecause", ""),
        ("The sign is green. B", ""),
        ("", ""),
    ],
)
def test_the_papers_parser(reply: str, letter: str):
    reading = read_as_paper(reply)
    assert reading.answer == letter
    assert reading.state is (State.ANSWERED if letter else State.UNPARSED)


# What is sent --------------------------------------------------------------------------------


def test_the_prompt_is_the_files_question_and_the_suffix(tmp_path: Path):
    benchmark = bench(tmp_path, images=tmp_path, blind=False)
    item = next(iter(benchmark.items()))
    (message,) = benchmark.prompt(item)
    image, text = message.content
    assert text == ROWS[0]["question"] + SUFFIX
    assert getattr(image, "where", "") == str(tmp_path / "context/relation/01.jpg")
    assert (item.category, item.tags, item.pair, item.role) == (
        "relation",
        {"level": "context"},
        "context/relation/01",
        "POS",
    )


def test_without_images_and_not_blind_says_what_to_pass(tmp_path: Path):
    with pytest.raises(UsageError, match="--images DIR, or --blind"):
        bench(tmp_path, blind=False)
    with pytest.raises(UsageError, match="not a folder"):
        bench(tmp_path, images=tmp_path / "none")


def test_it_is_made_by_name(tmp_path: Path):
    bench(tmp_path)
    benchmark = make("mmr", data=str(tmp_path / "data.json"), blind=True)
    assert benchmark.total() == 6


# Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Q?\nA. a\nB. b\nC. c\nD. d", "a|b|c|d"),
        ("Q?\n A.a\n\n\nB. b\n\n C.c \n\n\n\n\nD.  d\n", "a|b|c|d"),
        ("Q? A. a B. b C. c D. d", "a|b|c|d"),
        ("Q? A. a B The b C The c. D. d", "a|The b|The c.|d"),
        ("Q?\nD. d\nB. b\nC. c\nA. a", "a|b|c|d"),
        ("Is A. Smith here?\nA. A man\nB. B\nC. no. 3\nD. A. Smith", "A man|B|no. 3|A. Smith"),
        ("Q?\nA) a\nB) b\nC) c\nD) d", "a|b|c|d"),
    ],
)
def test_splitting_options(question: str, options: str):
    found = split_options(question)
    assert [found[letter] for letter in "ABCD"] == options.split("|")


@pytest.mark.parametrize(
    "question",
    ["Q?", "Q?\nA. a\nB. b\nC. c", "Q?\nA. a\nA. a\nB. b\nC. c", "Q?\nA.\nB. b\nC. c\nD. d"],
)
def test_what_is_not_four_options_is_an_error(question: str):
    with pytest.raises(ValueError, match="option"):
        split_options(question)


# Malformed files -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"data.json is not JSON"),
        ('{"a": 1}', r"must hold a list of rows, not one object"),
        ("[]", r"holds no rows"),
        ("[1]", r"row 1 is a number"),
        ([{**ROWS[0], "question": None}], r"row 1: question is missing"),
        ([ROWS[0], {k: v for k, v in ROWS[1].items() if k != "image"}], r"row 2: image is missing"),
        ([{**ROWS[0], "image": 3}], r"row 1: image is 3, not a text"),
        ([{**ROWS[0], "ground_truth": "E"}], r"row 1: ground_truth is 'E'"),
        ([{**ROWS[0], "ground_truth": "AB"}], r"row 1: ground_truth is 'AB'"),
        ([{**ROWS[0], "question_type": "pos"}], r"row 1: question_type is 'pos'"),
        ([{**ROWS[0], "id": "01"}], r"row 1: id '01' is not level/category/number"),
        ([*ROWS, ROWS[0]], r"row 7: the same question as data.json, row 1"),
        ([{**ROWS[0], "question": "Q?\nA. a\nB. b"}], r"row 1: question .* four options: .*C"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_one_clear_sentence(tmp_path: Path, content: object, message: str):
    with pytest.raises(UsageError, match=message):
        bench(tmp_path, content)


def test_an_image_outside_the_folder_is_refused(tmp_path: Path):
    for name in ("../../etc/passwd", "/etc/passwd", "https://example.org/a.png"):
        with pytest.raises(UsageError, match="inside the image folder"):
            bench(tmp_path, [{**ROWS[0], "image": name}], images=tmp_path, blind=False)


def test_a_missing_member_makes_a_broken_pair(tmp_path: Path):
    benchmark = bench(tmp_path, ROWS[:3])
    assert "context/relation/02 (NEG)" in benchmark.notices[0]
    frame = outcomes(benchmark, ["A", "B", "B"])
    assert pair_up(frame, first="POS", second="NEG", columns=["right"]).sound.height == 1
    assert values(benchmark, frame)["default", "accuracy"] == (3, 3)
