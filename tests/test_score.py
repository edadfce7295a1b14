"""Replies made elsewhere: matched by id and by the fallbacks, and never guessed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hardset
from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.metrics import Rates, accuracy
from hardset.reading import read_choice
from hardset.records import Image, Item
from hardset.reports.folder import read_folder
from hardset.scoring import Scored, make_benchmark, matching, score, troubles

COLOURS = ("red", "green", "blue", "white")
ASKED = ("What colour is the car?", "What colour is the door?", "What colour is the hat?")


class Colours(Benchmark):
    """Three choices of a colour: green (B), red (A), white (D)."""

    name = "colours"
    title = "Colours"

    def __init__(self, ids: str = "q/{}", images: Path | None = None, repeated: bool = False):
        self.ids, self.images, self.repeated = ids, images, repeated

    def items(self):
        for number, (question, gold) in enumerate(zip(ASKED, "BAD", strict=True)):
            yield Item(
                id=self.ids.format(number + 1),
                question=ASKED[0] if self.repeated else question,
                images=(Image(where=str(self.images)),) if self.images else (),
                form="choice",
                choices=COLOURS,
                answer=gold,
            )

    def read(self, item, text):
        return {"default": read_choice(text, item.choices)}

    @classmethod
    def rates(cls, outcomes: pl.DataFrame):
        yield Rates(frame=outcomes, ratios=[accuracy()], cluster=None)


def scored(
    folder: Path, lines: list[dict[str, Any]], benchmark: Benchmark | None = None, **options: Any
) -> Scored:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return score(benchmark or Colours(), path, runs=folder / "runs", **options)


def rows(*texts: Any, ids: str = "q/{}", **more: Any) -> list[dict[str, Any]]:
    return [{"id": ids.format(n), "reply": text, **more} for n, text in enumerate(texts, 1)]


def share(run: Scored) -> tuple[float, float]:
    (metric,) = run.metrics
    return metric.numerator, metric.denominator


# By id


def test_replies_matched_by_id_are_read_as_a_run_reads_them(tmp_path: Path):
    """B is right; the second answers green, B, where red, A, is right; D is right: 2 of 3."""
    done = scored(tmp_path, rows("The answer is B.", "green", "(D)"))
    assert share(done) == (2, 3)
    assert done.outcomes["answer"].to_list() == ["B", "B", "D"]
    assert done.matched.by == {"by id": 3}
    assert done.failed == 0
    assert matching(done) == "3 replies in answers.jsonl, matched 3 by id"
    assert troubles(done) == []


def test_the_order_of_the_file_does_not_matter(tmp_path: Path):
    done = scored(tmp_path, rows("B", "A", "D")[::-1])
    assert share(done) == (3, 3)


def test_missing_replies_stay_in_the_denominator_as_failed_rows(tmp_path: Path):
    done = scored(tmp_path, rows("B"))
    assert share(done) == (1, 3)
    assert done.reasons() == [("no reply in answers.jsonl", 2)]
    assert done.outcomes["state"].to_list() == ["answered", "request-failed", "request-failed"]
    assert troubles(done) == ["2 of 3 rows without a reply, counted as failed: q/2, q/3"]


def test_unknown_replies_are_told_and_do_not_count(tmp_path: Path):
    done = scored(tmp_path, [*rows("B", "A", "D"), {"id": "other", "reply": "A"}])
    assert share(done) == (3, 3)
    assert done.failed == 0
    assert troubles(done) == ["1 of 4 replies to no item, not counted: other"]


def test_nothing_in_common_shows_ids_of_both_sides(tmp_path: Path):
    with pytest.raises(
        UsageError, match=r"holds 2 replies, but to none of the 3 items: .*'x1'.*'q/1'"
    ):
        scored(tmp_path, rows("A", "B", ids="x{}"))


def test_an_empty_file_of_replies_is_no_run(tmp_path: Path):
    with pytest.raises(UsageError, match="is empty"):
        scored(tmp_path, [])


def test_signs_that_a_format_forbids_are_not_needed(tmp_path: Path):
    done = scored(tmp_path, rows("B", "A", "D", ids="q_{}"))
    assert done.matched.by == {"by id with other signs": 3}
    assert share(done) == (3, 3)


def test_signs_are_needed_where_ids_differ_in_nothing_else(tmp_path: Path):
    class Alike(Colours):
        def items(self):
            for item, name in zip(super().items(), ("a/1", "a_1", "b"), strict=True):
                yield Item(**{f: getattr(item, f) for f in item.__struct_fields__} | {"id": name})

    done = scored(tmp_path, [{"id": "a-1", "reply": "B"}, {"id": "b", "reply": "D"}], Alike())
    assert done.matched.unknown == ["a-1"]
    done = scored(tmp_path, [{"id": "q1", "reply": "B"}, {"id": "q/2", "reply": "A"}])
    assert done.matched.unknown == ["q1"]  # a sign that is missing is another id


def test_the_limit_takes_the_first_items_and_tells_the_rest(tmp_path: Path):
    done = scored(tmp_path, rows("B", "A", "D"), limit=2)
    assert share(done) == (2, 2)
    assert matching(done).endswith("matched 2 by id; 1 to items behind the limit, not counted")


# By question and by position


def test_a_question_without_an_id_is_matched_where_it_is_one_items_alone(tmp_path: Path):
    lines = [{"id": f"x{n}", "question": q, "reply": "B"} for n, q in enumerate(ASKED)]
    done = scored(tmp_path, lines)
    assert done.matched.by == {"by question": 3}
    assert share(done) == (1, 3)


def test_a_question_that_holds_its_options_is_matched_by_what_stands_before_them(tmp_path: Path):
    """The data number rows from 1, so that no position can be meant: 3 would be the fourth."""
    own = "{}\nA. red\nB. green\nC. blue\nD. white"

    class Inside(Colours):
        def items(self):
            for item in super().items():
                kept = {f: getattr(item, f) for f in item.__struct_fields__}
                yield Item(**kept | {"question": own.format(item.question)})

    table = "index\tquestion\tA\tB\tC\tD\tprediction\n"
    for number, question in enumerate(ASKED, 1):
        table += f"{number}\t{question}\tgreen\tred\tblue\twhite\tA\n"
    (tmp_path / "m_Colours.tsv").write_text(table)
    done = score(Inside(), tmp_path / "m_Colours.tsv", runs=tmp_path / "runs")
    assert done.matched.by == {"by question": 3}
    assert done.outcomes["answer"].to_list() == ["B", "B", "B"]  # A was green there
    assert share(done) == (1, 3)


def test_a_question_of_several_items_matches_none(tmp_path: Path):
    lines = [{"id": "x", "question": ASKED[0], "reply": "B"}]
    with pytest.raises(UsageError, match=r"nor is a question, like 'What colour is the car\?'"):
        scored(tmp_path, lines, Colours(repeated=True))


def test_a_right_id_with_another_question_is_not_scored(tmp_path: Path):
    lines = rows("B", "A", "D")
    lines[1]["question"] = "Is the sky clear?"
    done = scored(tmp_path, lines)
    assert share(done) == (2, 3)
    assert done.outcomes["state"][1] == "request-failed"
    assert done.outcomes["reason"][1].endswith("is to another question: Is the sky clear?")
    assert troubles(done)[0].startswith(
        "1 reply to another question than the item's, counted as failed: q/2"
    )


def test_a_file_in_which_every_question_is_another_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match=r"every question .* q/1 was asked 'Is it\?'"):
        scored(tmp_path, rows("B", "A", "D", question="Is it?"))


@pytest.mark.parametrize(
    "asked",
    [
        "what COLOUR is the car",  # signs and case apart
        "<image>\nWhat colour is the car?\nAnswer with a letter.",  # inside a prompt
        "colour is the car?",  # a part of it
        "What colour is the ｃａｒ?",  # in full-width letters
        "",
    ],
)
def test_what_is_no_other_question(tmp_path: Path, asked: str):
    lines = rows("B", "A", "D")
    lines[0]["question"] = asked
    assert share(scored(tmp_path, lines)) == (3, 3)


# Repeats


def test_numbered_repeats_count_from_anywhere(tmp_path: Path):
    lines = [
        {"id": f"q/{n}", "reply": "B", "repeat": repeat} for repeat in (4, 2) for n in (1, 2, 3)
    ]
    lines[0]["reply"] = "C"  # q/1, repeat 4: the later of the two
    done = scored(tmp_path, lines)
    assert done.settings.repeats == 2
    assert share(done) == (1, 6)
    first = done.outcomes.filter(pl.col("item") == "q/1")
    assert first["answer"].to_list() == ["B", "C"]
    assert first["repeat"].to_list() == [0, 1]


def test_a_repeat_that_is_missing_is_a_failed_row(tmp_path: Path):
    lines = [{"id": "q/1", "reply": "B", "repeat": 0}, {"id": "q/1", "reply": "B", "repeat": 1}]
    lines += [{"id": f"q/{n}", "reply": "A", "repeat": 0} for n in (2, 3)]
    done = scored(tmp_path, lines)
    assert share(done) == (3, 6)  # q/1 twice, q/2 once
    assert done.matched.missing == ["q/2", "q/3"]


def test_doubles_without_numbers_are_refused_until_the_user_says_they_are_repeats(tmp_path: Path):
    lines = rows("B", "A", "D") * 2
    with pytest.raises(UsageError, match=r"more than one reply to q/1 \(2 times\).*--repeats 2"):
        scored(tmp_path, lines)
    done = scored(tmp_path, lines, repeats=2)
    assert share(done) == (6, 6)
    assert matching(done).endswith("matched 6 by id; the 2 repeats in their order")


def test_repeats_must_be_as_many_for_each_item(tmp_path: Path):
    lines = [*rows("B", "A", "D"), *rows("B")]
    with pytest.raises(UsageError, match=r"q/2 \(1 times\), q/3 \(1 times\)"):
        scored(tmp_path, lines, repeats=2)


def test_a_repeat_twice_is_a_double(tmp_path: Path):
    lines = rows("B", "A", "D", repeat=1) + rows("B", "A", "D", repeat=2) + rows("C", repeat=2)
    with pytest.raises(UsageError, match="two replies to one repeat: q/1 repeat 2"):
        scored(tmp_path, lines)


def test_repeats_that_the_file_numbers_otherwise_than_said(tmp_path: Path):
    lines = rows("B", repeat=1) + rows("B", repeat=2)
    with pytest.raises(UsageError, match="holds 2 repeats, and --repeats says 3"):
        scored(tmp_path, lines, repeats=3)


def test_some_numbered_and_some_not(tmp_path: Path):
    with pytest.raises(UsageError, match=r"some replies .* and some not"):
        scored(tmp_path, [*rows("B", repeat=1), {"id": "q/2", "reply": "A"}])


def test_several_files_are_one_models_replies(tmp_path: Path):
    for number, line in enumerate(rows("B", "A", "D")):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(line))
    files = [tmp_path / f"{number}.jsonl" for number in range(3)]
    done = score(Colours(), files, runs=tmp_path / "runs")
    assert share(done) == (3, 3)
    assert done.model == "0"
    assert len(done.manifest["replies"]["files"]) == 3


def test_several_files_with_one_repeat_each(tmp_path: Path):
    for number in range(2):
        lines = rows("B", "A", "D" if number else "A", repeat=1)
        text = "\n".join(json.dumps(line) for line in lines)
        (tmp_path / f"{number}.jsonl").write_text(text)
    files = [tmp_path / f"{number}.jsonl" for number in range(2)]
    with pytest.raises(UsageError, match="--repeats 2"):
        score(Colours(), files, runs=tmp_path / "runs")
    assert share(score(Colours(), files, repeats=2, runs=tmp_path / "runs")) == (5, 6)


# The order of the options


def lettered(order: tuple[int, ...]) -> str:
    lines = [f"{chr(65 + at)}. {COLOURS[i]}" for at, i in enumerate(order)]
    return "\n".join((ASKED[0], *lines))


def test_a_letter_is_read_in_the_order_in_which_the_options_were_shown(tmp_path: Path):
    """Shown as white, green, red, blue: B is green and right, A is white, which we call D."""
    prompt = lettered((3, 1, 0, 2))
    lines = [{"id": "q/1", "reply": "B", "question": prompt, "repeat": 0}]
    lines += [{"id": "q/1", "reply": "The answer is A.", "question": prompt, "repeat": 1}]
    done = scored(tmp_path, lines, limit=1)
    assert share(done) == (1, 2)
    assert done.outcomes["answer"].to_list() == ["B", "D"]
    assert done.outcomes["gold"].to_list() == ["B", "B"]
    assert done.outcomes["rule"][1].endswith("(options in another order)")
    assert troubles(done)[0].startswith("2 replies to the options in another order")


def test_options_may_be_told_as_a_list_and_must_be_the_items(tmp_path: Path):
    """B is green in the first order; red and green alone are no order of four."""
    lines = rows("B", "A", "D")
    lines[0]["options"] = ["White.", "GREEN", "red", "blue"]
    lines[1]["options"] = ["red", "green"]
    lines[2]["options"] = ["white", "blue", "green", "pink"]
    done = scored(tmp_path, lines)
    assert share(done) == (1, 3)
    assert done.matched.other_options == ["q/2", "q/3"]
    assert done.outcomes["reason"][2].endswith("to other options: white / blue / green / pink")
    assert troubles(done)[0].startswith("2 replies to other options than the item's")


def test_two_options_of_one_text_have_no_order_but_their_own(tmp_path: Path):
    class Twice(Colours):
        def items(self):
            (item,) = list(super().items())[:1]
            own = {f: getattr(item, f) for f in item.__struct_fields__}
            yield Item(**own | {"choices": ("red", "green", "green", "white")})

    line = {"id": "q/1", "reply": "B", "options": ["red", "green", "green", "white"]}
    assert share(scored(tmp_path, [line], Twice())) == (1, 1)
    line["options"] = ["green", "red", "green", "white"]
    assert scored(tmp_path, [line], Twice()).matched.other_options == ["q/1"]


@settings(
    max_examples=24, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.permutations(range(4)), picked=st.integers(0, 3))
def test_reshuffling_the_options_changes_no_score(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], picked: int
):
    """Whoever picks a text is right or wrong whatever letter it had."""
    letter = chr(65 + order.index(picked))
    line = {"id": "q/1", "reply": f"({letter})", "question": lettered(tuple(order))}
    done = scored(tmp_path_factory.mktemp("order"), [line], limit=1)
    assert done.outcomes["answer"].to_list() == ["ABCD"[picked]]
    assert share(done) == (COLOURS[picked] == "green", 1)


def test_options_inside_the_items_own_question_may_be_in_another_order(tmp_path: Path):
    """MMR's questions hold their options: the rest must be the same, the order need not."""
    shown = "Is it a cat?\nA. It is red.\nB. It is black.\nC. It is white.\nD. It is grey."
    own = "Is it a cat?\nA. It is black.\nB. It is red.\nC. It is white.\nD. It is grey."
    data = tmp_path / "data.json"
    fields = {"image": "1.jpg", "question": own, "ground_truth": "A", "question_type": "POS"}
    data.write_text(json.dumps([{"id": "attribute/number/01", **fields}]))
    benchmark = make_benchmark("mmr", data=str(data))
    line = {"id": "attribute/number/01#POS", "reply": "B", "question": shown}
    done = scored(tmp_path, [line], benchmark)
    assert done.outcomes["right"].to_list() == [True]
    assert done.outcomes["paper_right"].to_list() == [True]
    assert done.outcomes["answer"].to_list() == ["A"]
    other = {**line, "question": shown.replace("cat", "dog")}
    with pytest.raises(UsageError, match="every question"):
        scored(tmp_path, [other], benchmark)


# What is left


def test_the_run_folder_is_a_runs_and_says_where_the_replies_are_from(tmp_path: Path):
    done = scored(tmp_path, rows("B", "A"), model="openai/gpt-4o")
    assert done.folder is not None
    assert done.folder.parent == tmp_path / "runs" / "colours" / "openai--gpt-4o"
    manifest, metrics, outcomes = read_folder(done.folder)
    assert metrics == done.metrics
    assert outcomes.equals(done.outcomes)
    replies = manifest["replies"]
    (file,) = replies.pop("files")
    assert file["name"] == "answers.jsonl"
    assert file["format"] == "plain"
    assert len(file["sha256"]) == 64
    assert replies == {
        "found": 2,
        "matched": {"by id": 2},
        "missing": 1,
        "unknown": 0,
        "another_question": 0,
        "other_options": 0,
        "options_in_another_order": 0,
        "behind_the_limit": 0,
        "repeats_in_turn": False,
    }
    for unknown in ("sampling", "blind", "first_prompt", "prompts_sha256"):
        assert unknown not in manifest
    page = (done.folder / "report.html").read_text()
    assert "Replies made elsewhere: 2 replies in answers.jsonl, matched 2 by id." in page
    assert "1 of 3 rows without a reply, counted as failed: q/3." in page


def test_scoring_twice_gives_the_same_bytes(tmp_path: Path):
    first, second = (scored(tmp_path, rows("B", "A", "x")) for _ in range(2))
    for name in ("outcomes.parquet", "metrics.json"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()


def test_the_model_is_as_the_file_says_and_must_be_one(tmp_path: Path):
    assert scored(tmp_path, rows("B", "A", "D", model="m-1")).model == "m-1"
    assert scored(tmp_path, rows("B", "A", "D")).model == "answers"
    mixed = [*rows("B", model="m-1"), {"id": "q/2", "reply": "A", "model": "m-2"}]
    with pytest.raises(UsageError, match=r"of 2 models: m-1 \(1\), m-2 \(1\).*--model"):
        scored(tmp_path, mixed)
    assert scored(tmp_path, mixed, model="both").model == "both"


def test_pictures_are_told_apart_as_in_a_run_where_they_are_there(tmp_path: Path):
    picture = tmp_path / "one.png"
    picture.write_bytes(b"abc")
    done = scored(tmp_path, rows("B"), Colours(images=picture))
    sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of "abc"
    assert done.outcomes["sha256"].to_list() == [sha256] * 3
    picture.unlink()
    done = scored(tmp_path, rows("B"), Colours(images=picture))
    assert done.outcomes["sha256"].to_list() == [""] * 3


def test_pictures_are_not_drawn_by_the_thousand_to_be_hashed(tmp_path: Path):
    class Drawn(Colours):
        openers: ClassVar = {"drawn": lambda rest: f"picture {rest}".encode()}

        def items(self):
            for item in super().items():
                own = {f: getattr(item, f) for f in item.__struct_fields__}
                yield Item(**own | {"images": (Image(where="drawn:1"),)})

        def total(self):
            return self.many

    few, many = Drawn(), Drawn()
    few.many, many.many = 2_000, 2_001
    sha256 = hashlib.sha256(b"picture 1").hexdigest()
    assert scored(tmp_path, rows("B"), few).outcomes["sha256"].to_list() == [sha256] * 3
    assert scored(tmp_path, rows("B"), many).outcomes["sha256"].to_list() == [""] * 3


def test_a_benchmark_that_asks_with_pictures_is_scored_without(tmp_path: Path):
    data = tmp_path / "data.json"
    question = "Is it?\nA. a\nB. b\nC. c\nD. d"
    fields = {"image": "1.jpg", "question": question, "ground_truth": "A", "question_type": "POS"}
    data.write_text(json.dumps([{"id": "attribute/number/01", **fields}]))
    benchmark = make_benchmark("mmr", data=str(data))
    done = scored(tmp_path, [{"id": "attribute/number/01#POS", "reply": "A"}], benchmark)
    assert "blind" not in done.manifest["options"]
    assert "blind" not in done.manifest


def test_it_is_called_score(tmp_path: Path):
    assert hardset.score is score
    with pytest.raises(UsageError, match="name a file"):
        hardset.score(Colours(), [])


# Confidence, and runs read once more


def test_a_confidence_that_the_file_has_is_the_outcomes(tmp_path: Path):
    lines = rows("B", "A", "I cannot tell.", "x")[:3]
    for line, sure in zip(lines, (0.9, None, "0.25"), strict=True):
        line["confidence"] = sure
    done = scored(tmp_path, lines)
    assert done.outcomes["confidence"].to_list() == [0.9, None, 0.25]
    with pytest.raises(UsageError, match="confidence is 90, not from 0 to 1"):
        scored(tmp_path, rows("B", confidence=90))


def test_a_run_read_once_more_gives_the_same_outcomes(tmp_path: Path):
    """Whatever a baseline replied to scenes of every kind: the second walk is a run's."""
    scenes = hardset.make_benchmark("scenes", n=40)
    for name in ("baseline/random", "baseline/always-refuse"):
        where = hardset.Settings(repeats=2, runs=tmp_path / "runs")
        run = hardset.evaluate(scenes, hardset.make_model(name), where)
        again = score(scenes, run.folder / "outcomes.parquet", runs=tmp_path / "again")
        assert again.matched.by == {"by id": len(run.outcomes)}
        assert again.outcomes.equals(run.outcomes)
        assert again.metrics == run.metrics


def test_a_benchmarks_own_prompts_contradict_none_of_its_items(tmp_path: Path):
    """Rows numbered as lmms-eval does, with the prompts this program would have sent."""
    scenes = hardset.make_benchmark("scenes", n=60)
    path = tmp_path / "20260101_samples_scenes.jsonl"
    lines = [
        {"doc_id": n, "filtered_resps": item.answer, "input": scenes.prompt(item)[-1].content[-1]}
        for n, item in enumerate(scenes.items())
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    done = score(scenes, path, runs=tmp_path / "runs")
    assert done.matched.by == {"by position": len(lines)}
    assert (done.matched.contradicted, done.matched.orders) == ([], {})
    answerable = done.outcomes.filter("answerable")
    assert answerable["right"].all()
    lines[0], lines[1] = {**lines[1], "doc_id": 0}, {**lines[0], "doc_id": 1}
    path.write_text("\n".join(json.dumps(line) for line in lines))
    done = score(scenes, path, runs=tmp_path / "runs")
    assert done.matched.by == {"by position": len(lines)}
    assert done.matched.contradicted == [item.id for item in list(scenes.items())[:2]]
    for n, line in enumerate(lines):
        line["doc_id"] = (n + 1) % len(lines)  # one place off, all of them: no position is meant
    path.write_text("\n".join(json.dumps(line) for line in lines))
    done = score(scenes, path, runs=tmp_path / "runs")
    assert "by position" not in done.matched.by
