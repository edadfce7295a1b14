"""HARDBench: the published columns become items, images are found, and every rate is by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace
from PIL import Image as Picture

from hardset.benchmarks.hardbench import SPLITS, WORDINGS, HARDBench
from hardset.benchmarks.hardbench_rows import EDITS, UNKNOWN, edit_of
from hardset.benchmarks.registry import describe_options, load, make
from hardset.errors import UsageError
from hardset.models import make_model
from hardset.models.baseline import Baseline
from hardset.records import State
from hardset.run import Settings, evaluate


def row(question: str, answer: str | None, **more: Any) -> dict[str, Any]:
    plain = {
        "question": question,
        "answer": answer,
        "image": "pictures/1.png",
        "data_source": "pixmo_count",
        "is_unanswerable": False,
        "original_question": None,
        "modifications": None,
        "pair_id": None,
    }
    return plain | more


def edited(question: str, original: str, modifications: str, **more: Any) -> dict[str, Any]:
    changed = {"original_question": original, "modifications": modifications}
    return row(question, "", is_unanswerable=True, **changed, **more)


LETTERED = "Which side is the cup on?\n(A) left\n(B) right"
# Pairs 1 and 2 are on one picture; the row without a pair and pair 3 on another.
ROWS = [
    row("How many dogs are there?", "3", pair_id=1.0),
    edited(
        "How many cats are there?",
        "How many dogs are there?",
        '{"type": "object", "from": "dogs", "to": "cats"}',
        pair_id=1.0,
    ),
    row("What colour is the shirt?", "blue", pair_id=2.0),
    edited(
        "What colour is the striped shirt?",
        "What colour is the shirt?",
        "Attribute: plain -> striped",
        pair_id=2.0,
    ),
    row("Is the door open?", "Yes", pair_id=3.0, image="2.png", data_source="TallyQA"),
    edited(
        "Is the door behind the bus open?",
        "Is the door open?",
        "relation",
        pair_id=3.0,
        image="2.png",
        data_source="TallyQA",
    ),
    row(LETTERED, "B", pair_id=4.0, image="3.png", data_source="vstar"),
    edited(
        LETTERED.replace("on", "behind"),
        LETTERED,
        "R",
        pair_id=4.0,
        image="3.png",
        data_source="vstar",
    ),
    row("What number is on the bus?", "7", image="2.png", data_source="TallyQA"),
    edited("What colour is it?", "What is it?", "", image="4.png", data_source="arxivqa"),
]
# Pair 1 both right; 2 the edited one; 3 and 4 neither, with an empty reply in each.
REPLIES = ["3", "There are no cats.", "red", "I cannot tell.", "", "yes", "I can't tell.", "",
           "The answer is 7.", "It is green."]  # fmt: skip


def parquet(folder: Path, rows: list[dict[str, Any]] = ROWS, name: str = "test.parquet") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = dict.fromkeys(("question", "answer", "image", "data_source"), pl.String)
    more = {"is_unanswerable": pl.Boolean, "original_question": pl.String}
    more |= {"modifications": pl.String, "pair_id": pl.Float64}
    pl.DataFrame(rows, schema=schema | more).write_parquet(path)
    return path


def paint(path: Path, grey: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Picture.new("L", (8, 8), grey).save(path)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    names = ("pixmo-count/pictures/1.png", "TallyQA/2.png", "vstar/3.png", "4.png")
    for i, name in enumerate(names):
        paint(folder / name, 50 * i)
    return folder


def bench(tmp_path: Path, rows: list[dict[str, Any]] = ROWS, **options: Any) -> HARDBench:
    return HARDBench(parquet(tmp_path, rows), **({"blind": True} | options))


def items(tmp_path: Path, *rows: dict[str, Any]) -> list[Any]:
    return list(bench(tmp_path, list(rows)).items())


# Rows to items ---------------------------------------------------------------------------------


def test_a_row_becomes_an_item(tmp_path):
    original, changed = list(bench(tmp_path).items())[:2]
    assert (original.id, changed.id) == ("test/0", "test/1")
    assert (original.pair, changed.pair) == ("test/1", "test/1")
    assert (original.role, changed.role) == ("original", "edited")
    assert (original.answerable, original.answer, original.form) == (True, "3", "number")
    assert (changed.answerable, changed.answer, changed.form) == (False, "", "number")
    assert changed.altered == ROWS[1]["modifications"]
    assert changed.tags == {
        "edit": "O",
        "data_source": "pixmo_count",
        "original_question": "How many dogs are there?",
        "picture": "pixmo_count/pictures/1.png",
        "split": "test",
        "wording": "plain",
    }
    assert (original.tags["edit"], original.category) == ("O", "object")  # its pair's


def test_the_form_is_that_of_the_answer_and_without_one_of_the_question(tmp_path):
    found = list(bench(tmp_path).items())
    assert [item.form for item in found] == [
        "number", "number", "open", "open", "yes_no", "yes_no", "choice", "choice", "number", "open"
    ]  # fmt: skip
    assert found[6].choices == found[7].choices == ("left", "right")
    assert (found[4].answer, found[6].answer) == ("yes", "B")


def test_a_row_without_a_pair_number_has_no_pair(tmp_path):
    found = items(tmp_path, row("a?", "x"), row("b?", "x", pair_id=float("nan")))
    assert [item.pair for item in found] == ["", ""]


def test_the_reason_that_an_unanswerable_row_gives_is_kept(tmp_path):
    why = "There is no cat in the image."
    found = items(tmp_path, edited("a?", "b?", "object") | {"answer": why}, edited("c?", "d?", "R"))
    assert [item.explanation for item in found] == [why, ""]
    assert [item.answer for item in found] == ["", ""]


def test_rows_come_from_json_lines_too(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in ROWS), encoding="utf-8")
    items = list(HARDBench(path, blind=True).items())
    assert {(item.source, item.licence) for item in items} == {("mine.jsonl", "")}
    others = bench(tmp_path).items()
    assert [replace(one, source="") for one in items] == [replace(one, source="") for one in others]


def test_what_is_wrong_with_the_data_is_said_before_what_is_wrong_with_the_pictures(tmp_path):
    with pytest.raises(UsageError, match=r"nofile\.parquet does not exist"):
        HARDBench(tmp_path / "nofile.parquet")
    with pytest.raises(UsageError, match="scenes does not exist; check the path"):
        HARDBench("scenes")
    bad = tmp_path / "bad.parquet"
    pl.DataFrame({"question": ["?"], "reply": ["x"]}).write_parquet(bad)
    with pytest.raises(
        UsageError, match=r"there is no answer and no image.*a row of HARDBench has"
    ):
        HARDBench(bad)


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_of_a_folder_is_read(tmp_path, split):
    for other in SPLITS:
        lines = [row(f"from {other}?", "x")] * 2
        parquet(tmp_path / "data", lines, f"{other}-00000-of-00001.parquet")
    made = HARDBench(tmp_path, split=split, blind=True)
    assert [item.question for item in made.items()] == [f"from {split}?"] * 2
    assert [item.id for item in made.items()] == [f"{split}/0", f"{split}/1"]
    assert made.total() == 2


def test_the_revision_names_the_data(tmp_path):
    path = parquet(tmp_path)
    revision = HARDBench(path, blind=True).revision
    assert revision.startswith("test.parquet, sha256 ")
    parquet(tmp_path, ROWS[:4])
    assert HARDBench(path, blind=True).revision != revision


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"question": " "}, "row 2: question is ' ', not a text"),
        ({"answer": None}, "row 2: answer is empty, but the row is answerable"),
        ({"image": "/etc/passwd"}, "row 2: image '/etc/passwd' is not a path inside"),
        ({"image": "../1.png"}, "row 2: image '../1.png' is not a path inside"),
    ],
)
def test_a_row_that_cannot_be_is_named(tmp_path, change, complaint):
    rows = [ROWS[0], {**ROWS[0], **change}]
    with pytest.raises(UsageError, match=complaint):
        bench(tmp_path, rows, blind=False, images=tmp_path)


def test_rows_of_another_set_are_told(tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text('{"question": "?", "answer": "x", "image": "1.png"}\n')
    with pytest.raises(UsageError, match="line 1: there is no data_source and no is_unanswerable"):
        HARDBench(path, blind=True)
    path.write_text(json.dumps({**ROWS[0], "is_unanswerable": "perhaps"}))
    with pytest.raises(UsageError, match="is_unanswerable is 'perhaps', not true or false"):
        HARDBench(path, blind=True)
    path.write_text("")
    with pytest.raises(UsageError, match="holds no rows"):
        HARDBench(path, blind=True)


# Edits and pairs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("modifications", "edit"),
    [
        ("object", "O"),
        ("Relation", "R"),
        ("(A)", "A"),
        ("Object: dog -> cat", "O"),
        ("Changed the relationship 'on' to 'under'", "R"),
        ("Object: dog -> cat; Relation: unchanged; Attribute: none", "O"),
        ("Object: unchanged\nRelation: left -> right\nAttribute: unchanged", "R"),
        ('{"type": "attribute", "from": "red", "to": "blue"}', "A"),
        ('{"modification_type": "R"}', "R"),
        ('{"object": "cat"}', "O"),
        ('{"object": null, "relation": {"from": "on", "to": "under"}, "attribute": ""}', "R"),
        ('{"object": {"original": "a", "modified": "a"}, "attribute": "red -> blue"}', "A"),
        ('[{"component": "object", "original": "dog", "modified": "cat"}]', "O"),
        ('["attribute"]', "A"),
        ("", UNKNOWN),
        ("dog -> cat", UNKNOWN),
        ("Object: dog -> cat; Attribute: red -> blue", UNKNOWN),
        ('{"a": 1}', UNKNOWN),
        ("[" * 3000, UNKNOWN),
    ],
)
def test_the_edit_is_the_one_component_that_is_named_as_changed(modifications, edit):
    assert edit_of(modifications) == edit


def test_what_an_edit_leaves_open_is_said_once(tmp_path):
    made = bench(tmp_path)
    assert [item.tags["edit"] for item in made.items()] == [*"OOAARRRR", "", UNKNOWN]
    assert [item.category for item in made.items()][4:] == [*[EDITS["R"]] * 4, "", ""]
    assert any(
        notice.startswith("1 of 5 edited questions do not say") and "test/9" in notice
        for notice in made.notices
    )
    assert any(notice.startswith("1 edited questions have no pair_id") for notice in made.notices)


def test_broken_pairs_are_said_and_sound_ones_are_not(tmp_path):
    assert not any("pairs are not" in notice for notice in bench(tmp_path).notices)
    made = bench(tmp_path, [*ROWS[:3], edited("x?", "y?", "object", pair_id=1.0)])
    (notice,) = [notice for notice in made.notices if "pairs are not" in notice]
    assert "test/1 (original, edited, edited); test/2 (original)" in notice


# Images ----------------------------------------------------------------------------------------


def test_images_are_found_by_source_whatever_way_it_is_written(tmp_path, images):
    made = bench(tmp_path, blind=False, images=images)
    found = [Path(item.images[0].where).relative_to(images).as_posix() for item in made.items()]
    assert found == [
        *["pixmo-count/pictures/1.png"] * 4,  # the rows say pixmo_count
        *["TallyQA/2.png"] * 2,
        *["vstar/3.png"] * 2,
        "TallyQA/2.png",
        "4.png",  # in the folder itself
    ]
    assert not any("no image file" in notice for notice in made.notices)


def test_a_source_has_a_folder_of_its_own_that_goes_first(tmp_path, images):
    own = tmp_path / "own"
    paint(own / "1.png", 9)  # without the leading folder of the published path
    made = bench(tmp_path, blind=False, images=images, images_from=f"pixmo-count={own}")
    assert Path(next(made.items()).images[0].where) == own / "1.png"
    alone = bench(tmp_path, blind=False, images_from=f"PixMo Count = {own}, tallyqa = {images}")
    assert Path(next(alone.items()).images[0].where) == own / "1.png"


def test_where_the_source_tells_nothing_the_split_does(tmp_path, images):
    line = row("?", "x", image="3.png", data_source="direct_attributes")
    path = parquet(tmp_path, [line, line | {"image": "gone.png"}], "vstar.parquet")
    made = HARDBench(path, split="vstar", images=images)
    assert Path(next(made.items()).images[0].where) == images / "vstar/3.png"
    assert "direct_attributes: 1 (gone.png), from craigwu/vstar_bench" in made.notices[0]


def test_missing_images_are_listed_by_source_with_how_to_get_them(tmp_path, images):
    (images / "TallyQA/2.png").unlink()
    (images / "4.png").unlink()
    made = bench(tmp_path, blind=False, images=images)
    assert made.total() == len(ROWS)  # nothing is dropped
    (notice,) = [notice for notice in made.notices if "no image file" in notice]
    assert notice.startswith("4 of 10 rows have no image file in the given folders")
    assert "TallyQA: 1 (2.png), from TallyQA, Apache-2.0" in notice
    assert "arxivqa: 1 (4.png), from MMInstruction/ArxivQA on the hub, CC-BY-SA-4.0" in notice
    assert "hardset fetch hardbench --images" in notice
    assert "images_from=SOURCE=FOLDER" in notice


def test_their_rows_are_bad_media_and_in_every_denominator(tmp_path, images):
    (images / "TallyQA/2.png").unlink()
    made = bench(tmp_path, blind=False, images=images)
    run = evaluate(made, model(REPLIES), Settings(runs=tmp_path / "runs"))
    assert [i for i, state in enumerate(run.outcomes["state"]) if state == "bad-media"] == [4, 5, 8]
    assert "2.png" in run.outcomes["reason"][4]
    found = {(m.name, *m.cut.values()): (m.numerator, m.denominator) for m in run.metrics}
    assert found["answerable accuracy",] == (1, 5)
    assert found["paired accuracy",] == (1, 4)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("PixMo-Count", "allenai/pixmo-count"),
        ("tallyqa", "TallyQA"),
        ("ArxivQA", "MMInstruction/ArxivQA"),
        ("CoF-RL-Data", "xintongzhang/CoF-RL-Data"),
        ("V*Bench", "craigwu/vstar_bench"),
        ("vstar", "craigwu/vstar_bench"),
        ("RealX-Bench", "glowol/RealXBench"),
        ("mine", "a source that is not a published one"),
    ],
)
def test_every_published_source_says_where_its_images_are(tmp_path, source, place):
    rows = [row("?", "x", data_source=source, image=f"{i}.png") for i in range(5)]
    (notice,) = bench(tmp_path, rows, blind=False, images=tmp_path).notices
    assert f"{source}: 5 (0.png, 1.png, 2.png, ...), from {place}" in notice


def test_fetched_images_are_found_without_being_named(tmp_path, images, monkeypatch):
    monkeypatch.setattr("hardset.benchmarks.hardbench.fetched_pictures", {"hardbench": images}.get)
    assert not any("no image file" in said for said in bench(tmp_path, blind=False).notices)


@pytest.fixture
def nothing_fetched(monkeypatch):
    monkeypatch.setattr("hardset.benchmarks.hardbench.fetched_pictures", lambda name: None)


@pytest.mark.usefixtures("nothing_fetched")
@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "hardbench needs its pictures: `hardset fetch hardbench --images`"),
        ({"images": Path("nowhere")}, "nowhere, given for its images, is not a folder"),
        ({"images_from": "tallyqa"}, "images_from takes SOURCE=FOLDER"),
        ({"images_from": "tallyqa=nowhere"}, "nowhere, given for its images, is not a folder"),
        ({"blind": True, "split": "dev"}, "split cannot be 'dev'; use train, validation"),
        ({"blind": True, "prompt": "loud"}, "prompt cannot be 'loud'; use plain, refusal-allowed"),
    ],
)
def test_an_option_that_cannot_be_is_named(tmp_path, options, complaint):
    path = parquet(tmp_path)
    with pytest.raises(UsageError, match=complaint):
        HARDBench(path, **options)


def test_it_is_known_by_name_with_its_options(tmp_path):
    assert load("hardbench") is HARDBench
    options = dict(describe_options("hardbench"))
    assert options["split"].startswith("train or validation or test or realx or vstar, 'test'")
    made = make("hardbench", data=str(parquet(tmp_path)), blind="true", prompt="refusal-allowed")
    assert {item.tags["wording"] for item in made.items()} == {"refusal-allowed"}


# What is asked, and how it is read ---------------------------------------------------------------


@pytest.mark.parametrize("wording", WORDINGS)
def test_the_prompt_is_the_question_and_the_wording(tmp_path, images, wording):
    made = bench(tmp_path, blind=False, images=images, prompt=wording)
    item = next(made.items())
    (message,) = made.prompt(item)
    picture, text = message.content
    assert picture == item.images[0]
    lines = text.split("\n")
    assert lines[0] == item.question
    assert lines[1:] == ([WORDINGS[wording]] if WORDINGS[wording] else [])


def test_the_final_answer_of_a_chain_of_thought_is_read(tmp_path):
    made = bench(tmp_path, prompt="chain-of-thought")
    dogs, cats = list(made.items())[:2]
    text = "I see no cat on the left. There are two dogs, and a third.\nFinal answer: "
    assert made.judge(dogs, text + "3")["default"].right
    refused = made.judge(cats, "Two dogs lie there.\nFinal answer: There are no cats.")["default"]
    assert (refused.reading.state, refused.right) == (State.ABSTAINED, True)


def test_an_answer_to_an_unanswerable_question_is_wrong_whatever_it_is(tmp_path):
    made = bench(tmp_path)
    for item in made.items():
        if not item.answerable:
            judged = made.judge(item, "3")["default"]
            assert not judged.right
            assert judged.reading.state is not State.ABSTAINED


# The metrics, by hand ----------------------------------------------------------------------------


def model(replies: list[str]) -> Baseline:
    """Say these, one a row."""
    says = Baseline("oracle")
    says._rule = lambda item, chance: replies[int(item.id.partition("/")[2])]
    return says


@pytest.fixture
def measured(tmp_path, images):
    made = bench(tmp_path, blind=False, images=images)
    return evaluate(made, model(REPLIES), Settings(runs=tmp_path / "runs"))


def test_the_states_are_as_the_replies_say(measured):
    assert measured.outcomes["state"].to_list() == [
        "answered", "abstained", "answered", "abstained", "unparsed", "answered", "abstained",
        "unparsed", "answered", "answered",
    ]  # fmt: skip
    assert [i for i, right in enumerate(measured.outcomes["right"]) if right] == [0, 1, 3, 8]


def values(run) -> dict[tuple[str, ...], tuple[float, float]]:
    return {(m.name, *m.cut.values()): (m.numerator, m.denominator) for m in run.metrics}


def test_the_authors_rates_are_as_their_code_computes_them(measured):
    """Rows 4 and 7 have an empty reply: 8 rows are left, 4 answerable (0, 2, 6, 8)."""
    found = values(measured)
    assert found["acc",] == (2, 4)  # 0 and 8
    assert found["precision",] == (2, 3)  # 1 and 3, of 1, 3 and 6
    assert found["recall",] == (2, 4)  # of 1, 3, 5 and 9
    # 2 x 2/3 x 1/2 / (2/3 + 1/2) = 4/7
    assert found["F1",] == (4, 7)
    # 1 and 3, and 0, 2 and 8 as not refused, though 2 is wrong
    assert found["overall_acc",] == (5, 8)


def test_the_honest_rates_leave_no_row_out(measured):
    found = values(measured)
    assert found["answerable accuracy",] == (2, 5)
    assert found["over-refusal",] == (1, 5)
    assert found["refusal recall",] == (2, 5)
    assert found["refusal precision",] == (2, 3)
    assert found["refusal F1",] == (4, 8)  # 2 x 2 / (3 refused + 5 unanswerable)
    assert found["paired accuracy",] == (1, 4)
    assert found["original only",] == (0, 4)
    assert found["edited only",] == (1, 4)
    assert found["neither",] == (2, 4)


def test_and_by_edit_source_and_wording(measured):
    found = values(measured)
    assert found["paired accuracy", "O"] == (1, 1)
    assert found["edited only", "A"] == (1, 1)
    assert found["neither", "R"] == (2, 2)
    assert found["refusal recall", "unknown"] == (0, 1)
    assert found["answerable accuracy", "R"] == (0, 2)  # the originals have the edit of their pair
    assert found["acc", "TallyQA"] == (1, 1)  # row 4 is empty
    assert found["answerable accuracy", "TallyQA"] == (1, 2)
    assert found["overall_acc", "plain"] == found["overall_acc",]
    names = {m.name for m in measured.metrics}
    assert all((name, "plain") in found for name in names)


def test_the_intervals_are_by_connected_pairs_and_images(measured):
    clusters = {m.name: m.clusters for m in measured.metrics if not m.cut}
    # {pairs 1 and 2, on one picture}, {pair 3 and row 8}, {pair 4}, {row 9}
    assert clusters["answerable accuracy"] == 4
    assert clusters["F1"] == 4
    assert clusters["paired accuracy"] == 3


def test_a_confidence_brings_selective_prediction(measured):
    plain = {m.name for m in HARDBench.measure(measured.outcomes, draws=50)}
    sure = measured.outcomes.with_columns(confidence=pl.lit(0.5))
    more = {m.name for m in HARDBench.measure(sure, draws=50)}
    assert {"AURC", "AUROC", "ECE"} <= more - plain


def test_an_undefined_rate_is_none_and_not_nought(tmp_path, images):
    made = bench(tmp_path, blind=False, images=images)
    run = evaluate(made, model(["3"] * 10), Settings(runs=tmp_path / "runs"))
    found = {m.name: m.value for m in run.metrics if not m.cut}
    assert found["precision"] is None
    assert found["refusal precision"] is None
    assert found["F1"] == 0


def test_rows_share_a_picture_whether_it_is_sent_or_not(tmp_path):
    """Blind, or with images that are missing, the intervals are clustered all the same."""
    blind = bench(tmp_path, blind=True)
    done = evaluate(blind, make_model("baseline/oracle"), Settings(runs=tmp_path / "runs"))
    clusters = {m.name: m.clusters for m in done.metrics if not m.cut}
    # Pictures 1 (pairs 1 and 2), 2 (pair 3 and the lone bus), 3 (pair 4) and 4.
    assert clusters["answerable accuracy"] == 4
    assert clusters["paired accuracy"] == 3


def test_pictures_inside_the_rows_are_read(tmp_path, monkeypatch):
    """As data sets on the hub hold them; rows of one picture are one cluster."""
    monkeypatch.setenv("HARDSET_CACHE", str(tmp_path / "cache"))
    pictures = []
    for colour in ("red", "blue"):
        file = tmp_path / f"{colour}.png"
        Picture.new("RGB", (40, 40), colour).save(file)
        pictures.append({"bytes": file.read_bytes(), "path": None})
    rows = [row("How many?", "3"), row("What colour?", "red"), row("And here?", "blue")]
    shown = [pictures[0], pictures[0], pictures[1]]
    kind = pl.Struct({"bytes": pl.Binary, "path": pl.String})
    table = pl.DataFrame(rows).with_columns(image=pl.Series(shown, dtype=kind))
    table.write_parquet(tmp_path / "test.parquet")
    seeing = HARDBench(tmp_path / "test.parquet")
    found = list(seeing.items())
    assert [Path(item.images[0].where).read_bytes() for item in found] == [
        picture["bytes"] for picture in shown
    ]
    done = evaluate(seeing, make_model("baseline/oracle"), Settings(runs=tmp_path / "runs"))
    assert {m.name: m.clusters for m in done.metrics if not m.cut}["answerable accuracy"] == 2
    assert done.failed == 0
    blind = HARDBench(tmp_path / "test.parquet", blind=True)
    assert [item.tags["picture"] for item in blind.items()] == [
        item.tags["picture"] for item in found
    ]
    assert not any(item.images for item in blind.items())


def test_pictures_in_other_files_than_parquet_are_told_from_paths(tmp_path):
    """And what they hold is not printed."""
    held = row("How many?", "3") | {"image": {"bytes": "iVBOR" * 500}}
    (tmp_path / "test.jsonl").write_text(json.dumps(held))
    with pytest.raises(UsageError, match="image holds a picture, and not its path") as error:
        HARDBench(tmp_path / "test.jsonl", images=tmp_path)
    assert len(str(error.value)) < 200
