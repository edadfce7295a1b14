"""MMOOC: rows under any name become items, replies are read by what is due, scores are by hand."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from PIL import Image as Picture

from hardset.benchmarks.hardbench import WORDINGS
from hardset.benchmarks.mmooc import MMOOC
from hardset.benchmarks.mmooc_names import (
    AUTO_SHUFFLE,
    FIELDS,
    FORMATS,
    GROUPS,
    IC,
    OOC,
    SCENARIOS,
    UNKNOWN,
    named,
)
from hardset.benchmarks.registry import load, make
from hardset.errors import UsageError
from hardset.models import make_model
from hardset.records import Item, State
from hardset.run import Settings, evaluate

RECORD = Path(__file__).parent / "data/mmooc.jsonl"
ROWS = [json.loads(line) for line in RECORD.read_text().splitlines()]


def row(**more: Any) -> dict[str, Any]:
    plain = {
        "id": "x",
        "image": "1.png",
        "question": "What colour is the cup?",
        "format": "open",
        "answer": "red",
        "explanation": "The cup is red.",
        "group": "ic",
        "shift": "MP",
        "scenario": "coarse perception",
        "source": "human",
    }
    return plain | more


def ooc(**more: Any) -> dict[str, Any]:
    return row(**({"group": "ooc", "shift": "MA", "answer": ""} | more))


def jsonl(folder: Path, *rows: dict[str, Any], name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def bench(folder: Path, *rows: dict[str, Any], **options: Any) -> MMOOC:
    return MMOOC(str(jsonl(folder, *rows)), **({"blind": True} | options))


def items(folder: Path, *rows: dict[str, Any]) -> list[Item]:
    return list(bench(folder, *rows).items())


def item(folder: Path, **fields: Any) -> Item:
    (made,) = items(folder, fields)
    return made


def error(folder: Path, *rows: dict[str, Any], **options: Any) -> str:
    with pytest.raises(UsageError) as raised:
        bench(folder, *rows, **options)
    return str(raised.value)


# Rows to items ---------------------------------------------------------------------------------


def test_the_record_becomes_items():
    made = list(MMOOC(str(RECORD), blind=True).items())
    assert [one.id for one in made] == [one["id"] for one in ROWS]
    assert [one.group for one in made] == ["ooc"] * 5 + ["ic"] * 3 + ["ooc"]
    assert [one.tags["shift"] for one in made] == [*OOC, *IC, AUTO_SHUFFLE]
    assert [one.answerable for one in made] == [False] * 5 + [True] * 3 + [False]
    assert [one.answer for one in made] == ["", "", "", "", "", "yes", "green", "A", ""]
    assert [one.form for one in made][:3] == ["open", "yes_no", "choice"]
    assert made[2].choices == ("half a metre", "two metres", "five metres", "ten metres")
    assert all(one.explanation for one in made)
    assert made[6].accept == ("dark green", "The bench is green.")
    assert made[6].tags == {
        "shift": "PA",
        "format": "open",
        "scenario": "fine-grained perception",
        "origin": "human",
        "picture": "park.png",
        "unsupported": "who built the bench",
    }
    assert made[8].tags["origin"] == "shuffle"


def test_the_items_can_be_walked_again_and_are_counted():
    made = MMOOC(str(RECORD), blind=True)
    assert list(made.items()) == list(made.items())
    assert made.total() == 9
    assert list(made.notices) == []


def test_who_made_and_checked_the_rows_are_roles():
    assert MMOOC(str(RECORD), blind=True).roles == {
        "generator": ["openai/gpt-4o", "openai/o1"],
        "verifier": ["anthropic/claude-sonnet-4", "google/gemini-2.5-pro"],
    }
    assert MMOOC("scenes").roles == MMOOC("photos").roles == {}


@pytest.mark.parametrize("given", ["a, b", ["a", "b"], ["b", "a", "a"]])
def test_names_of_models_may_be_a_list_or_a_text(tmp_path, given):
    assert bench(tmp_path, row(verified_by=given)).roles == {"verifier": ["a", "b"]}


def test_every_field_is_known_by_every_of_its_names(tmp_path):
    known = {"options": ["red", "blue"], "format": "choice", "answer": "A", "generator": "g"}
    known |= {
        "verifiers": ["v"],
        "accept": [],
        "supported": "",
        "unsupported": "who",
        "shift": "PA",
    }
    plain = row(**known)
    expected = item(tmp_path, **plain)
    for field, names in FIELDS.items():
        for name in [*names, names[0].upper(), names[-1].replace("_", " ").title()]:
            renamed = {name if key == field else key: value for key, value in plain.items()}
            made = item(tmp_path, **renamed)
            assert replace(made, source=expected.source) == expected, name


def test_our_name_goes_before_others_and_an_empty_field_counts_for_nothing(tmp_path):
    assert item(tmp_path, **row(shift="PA", shift_type="MP")).tags["shift"] == "PA"
    assert item(tmp_path, **row(shift="", shift_type="PA")).tags["shift"] == "PA"


def test_of_a_name_that_may_mean_several_things_the_value_tells_which(tmp_path):
    bare = row(shift="", scenario="", format="")
    told = bare | {"category": "Partial Answerability", "Type": "Yes/No", "class": "animals"}
    made = item(tmp_path, **told | {"subcategory": "Physical Understanding", "answer": "yes"})
    assert (made.tags["shift"], made.form) == ("PA", "yes_no")
    assert made.tags["scenario"] == "physical understanding"
    assert item(tmp_path, **row(category="PA")).tags["shift"] == "MP"  # which it has


@pytest.mark.parametrize(
    ("field", "text", "name"),
    [
        ("shift", "Visual False Premise", "VFP"),
        ("shift", "visual-false-premise (VFP)", "VFP"),
        ("shift", "Uncertain Spatial & Physical Context", "USPC"),
        ("shift", "Image-Question Mismatch", "IQM"),
        ("shift", "mkb", "MKB"),
        ("shift", "Auto Shuffle", AUTO_SHUFFLE),
        ("shift", "colour", ""),
        ("format", "Yes/No", "yes_no"),
        ("format", "Multiple Choice", "choice"),
        ("format", "MCQ", "choice"),
        ("format", "Open-ended", "open"),
        ("format", "essay", ""),
        ("group", "Out-of-Context", "ooc"),
        ("group", "Out-of-Context (OOC)", "ooc"),
        ("group", "Shifted In-Context", "ic"),
        ("group", "OOC and IC", ""),
        ("scenario", "Fine-grained Perception", "fine-grained perception"),
        ("scenario", "Coarse-Grained Perception", "coarse perception"),
        ("source", "Human-written", "human"),
        ("source", "OK-VQA", "shuffle"),
    ],
)
def test_other_spellings(field, text, name):
    assert named(field, text) == name


def test_a_group_follows_from_the_shift_and_an_id_from_the_place(tmp_path):
    without = {key: value for key, value in row(shift="VFP").items() if key not in ("id", "group")}
    made = items(tmp_path, without, {**without, "shift": "PA"})
    assert [one.id for one in made] == ["0", "1"]
    assert [one.group for one in made] == ["ooc", "ic"]


@pytest.mark.parametrize(
    "fields",
    [
        {"source": "shuffle", "group": "ooc", "shift": ""},
        {"source": "Auto-Shuffle", "group": None, "shift": None},
        {"source": "MMStar", "group": "", "shift": ""},
        {"source": "", "group": "ooc", "shift": "Auto-Shuffle"},
        {"source": "", "group": "Auto Shuffle", "shift": ""},
        {"source": "shuffle", "group": "ooc", "shift": "MA"},  # said in a notice
    ],
)
def test_shuffled_rows_are_out_of_context_with_no_shift_of_their_own(tmp_path, fields):
    made = bench(tmp_path, row(**fields))
    (only,) = made.items()
    assert (only.group, only.tags["shift"], only.tags["origin"]) == ("ooc", AUTO_SHUFFLE, "shuffle")
    assert any("name a shift" in notice for notice in made.notices) == (fields["shift"] == "MA")


@pytest.mark.parametrize(
    "given",
    [
        ["red", "blue", "green"],
        ["A. red", "B. blue", "C. green"],
        ["(A) red", "(B) blue", "(C) green"],
        {"A": "red", "B": "blue", "C": "green"},
        {"A": "red", "B": "blue", "C": "green", "D": None},
        '["red", "blue", "green"]',
        "['red', 'blue', 'green']",
        "A. red\nB. blue\nC. green",
        "red\nblue\ngreen",
    ],
)
def test_options_in_every_way_of_writing_them(tmp_path, given):
    made = item(tmp_path, **row(format="choice", options=given, answer="B"))
    assert (made.choices, made.answer) == (("red", "blue", "green"), "B")


def test_options_may_be_columns_or_stand_in_the_question(tmp_path):
    columns = row(format="choice", A="red", B="blue", C="", answer="B")
    assert item(tmp_path, **columns).choices == ("red", "blue")
    inside = item(
        tmp_path, **row(format="choice", question="Which?\nA. red\nB. blue", answer="blue")
    )
    assert (inside.question, inside.choices, inside.answer) == ("Which?", ("red", "blue"), "B")


@pytest.mark.parametrize("answer", ["B", "b", "(B)", "B.", "B. blue", "blue", "Blue.", ["B"]])
def test_the_answer_is_a_letter_or_its_text(tmp_path, answer):
    made = item(tmp_path, **row(format="choice", options=["red", "blue"], answer=answer))
    assert made.answer == "B"


@pytest.mark.parametrize(
    ("answer", "read"),
    [("Yes", "yes"), ("no.", "no"), (True, "yes"), ("False", "no"), ("Yes, there is one.", "yes")],
)
def test_yes_and_no_in_every_way(tmp_path, answer, read):
    assert item(tmp_path, **row(format="yes_no", answer=answer)).answer == read


def test_a_list_of_answers_is_the_answer_and_others_as_right(tmp_path):
    made = item(tmp_path, **row(answer=["red", "dark red"], accept=["crimson", "red"]))
    assert (made.answer, made.accept) == ("red", ("dark red", "crimson"))


def test_a_reference_that_refuses_a_part_is_right_without_it_too(tmp_path):
    told = "The car is red, but the owner cannot be determined."
    made = item(tmp_path, **row(shift="PA", answer=told))
    assert (made.answer, made.accept) == (told, ("The car is red",))


def test_the_part_that_cannot_be_answered_is_told_to_judges(tmp_path):
    """They see the explanation, and no tag."""
    made = item(tmp_path, **row(shift="PA", unsupported="who owns it"))
    assert made.explanation == "The cup is red. Not to be told from the image: who owns it"
    told = item(tmp_path, **row(shift="PA", unsupported="cup"))  # it is in there
    assert told.explanation == "The cup is red."


def test_the_answer_of_a_row_out_of_context_says_why(tmp_path):
    made = item(tmp_path, **ooc(answer="There is no cup.", explanation=""))
    assert (made.answer, made.explanation) == ("", "There is no cup.")


def test_tables_with_other_names_are_read(tmp_path):
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["Question ID", "img_path", "question", "Question Type", "choices", "gt", "rationale",
             "ability", "category", "task", "origin"]
        )  # fmt: skip
        writer.writerow(
            ["7", "a/1.png", "Which?", "Multiple Choice", "['x', 'y']", "B", "It is y.", "IC",
             "Misleading Premise", "Logical Reasoning", "Human"]
        )  # fmt: skip
    (made,) = MMOOC(str(path), blind=True).items()
    assert (made.id, made.answer, made.choices, made.group) == ("7", "B", ("x", "y"), "ic")
    assert made.tags == {
        "shift": "MP",
        "format": "choice",
        "scenario": "logical reasoning",
        "origin": "human",
        "picture": "a/1.png",
    }


# What is wrong with rows -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (row(format="essay"), "line 1: format is 'essay', not yes_no, choice, open"),
        (row(shift="XYZ"), "line 1: shift is 'XYZ', not MA, VFP, USPC"),
        (row(group="both"), "line 1: group is 'both', not ooc, ic"),
        (row(shift="MA"), "line 1: its shift MA is one of ooc, but its group is ic"),
        (ooc(shift="PA"), "line 1: its shift PA is one of ic, but its group is ooc"),
        (row(group="", shift=""), "line 1: there is neither a group nor a shift"),
        (row(source="shuffle", shift=""), "it is shuffled, but its group is ic"),
        (ooc(source="human", shift="Auto-Shuffle"), "shuffled by its shift, and by its source hum"),
        (row(question=" "), "line 1: question is empty"),
        (row(answer=""), "line 1: answer is empty, but the row is in context"),
        (row(answer=None), "line 1: answer is empty"),
        (row(format="yes_no", answer="perhaps"), "the answer 'perhaps' is not yes or no"),
        (row(format="choice"), "its format is choice, but it has no options"),
        (row(format="choice", options=["a"]), "its format is choice, but it has one option"),
        (row(format="choice", options=["a", ""]), "it has an empty option"),
        (row(format="choice", options=list("abcdefghijk")), "it has 11 options"),
        (row(format="choice", options=["x", "y"], answer="C"), "answer 'C' is none of its options"),
        (row(format="choice", options=["x", "y"], answer="z"), r"its options \(A to B\)"),
        (row(format="choice", options=["x", "y"], answer="A. y"), "answer 'A. y' is none"),
        (row(image="/etc/1.png"), "image '/etc/1.png' is not a path inside an image folder"),
        (row(image="../1.png"), "is not a path inside an image folder"),
        (row(image="https://example.org/1.png"), "is not a path inside an image folder"),
        (row(image={"bytes": "..."}), "pictures inside the rows are read from parquet only"),
    ],
)
def test_a_row_that_contradicts_itself_is_an_error_that_names_it(tmp_path, fields, said):
    path = jsonl(tmp_path, fields)
    with pytest.raises(UsageError, match=said):
        MMOOC(str(path), blind=True)


def test_a_field_that_is_not_there_is_named_with_the_whole_record(tmp_path):
    told = error(tmp_path, {"id": "1", "question": "?", "answer": "x"})
    assert "there is no image and no format; a row of MMOOC has id, image, question" in told


def test_doubled_ids_name_both_rows(tmp_path):
    assert "line 3: the id 'a' is that of rows.jsonl, line 1 too" in error(
        tmp_path, row(id="a"), row(id="b"), row(id="a")
    )


def test_an_endless_image_does_not_flood_the_error(tmp_path):
    assert len(error(tmp_path, row(image="/9j/" + "A" * 100_000))) < 300


def test_what_rows_leave_open_is_counted_and_said_with_the_first(tmp_path):
    made = bench(
        tmp_path,
        row(id="1", scenario="", source=""),
        row(id="2", scenario="night scenes", explanation=""),
        row(id="3", shift="", source="COCO"),
        ooc(id="4", format="choice", options=["x", "y"], answer="A"),
        ooc(id="5", format="choice", options=["x", "cannot be determined"], answer="B"),
    )
    assert made.notices == [
        "1 of 5 rows name no source: theirs is 'unknown' (the first is rows.jsonl, line 1).",
        "1 of 5 rows name no scenario (the first is rows.jsonl, line 1).",
        "1 of 5 rows have no explanation, which judges of rationality need (the first is "
        "rows.jsonl, line 2).",
        "1 of 5 rows name a scenario that is none of the six (the first is rows.jsonl, line 2).",
        "1 of 5 rows name a source that is not generated, human or shuffle (the first is "
        "rows.jsonl, line 3).",
        "1 of 5 rows name no shift: theirs is 'unknown' (the first is rows.jsonl, line 3).",
        "1 of 5 rows are out of context, but name an option as their answer (the first is "
        "rows.jsonl, line 4).",
    ]
    first, second, third, *_ = made.items()
    assert (first.tags["origin"], first.tags["scenario"]) == (UNKNOWN, UNKNOWN)
    assert second.tags["scenario"] == "night scenes"
    assert (third.tags["shift"], third.tags["origin"]) == (UNKNOWN, UNKNOWN)


def test_without_data_what_to_do_is_said():
    with pytest.raises(UsageError, match=r"not public when this was written.*--data scenes"):
        make("mmooc")
    with pytest.raises(UsageError, match="does not exist"):
        MMOOC("nowhere.jsonl")


def test_options_that_cannot_be_are_errors(tmp_path):
    with pytest.raises(UsageError, match="prompt cannot be 'loud'"):
        MMOOC("scenes", prompt="loud")  # type: ignore[arg-type]
    assert "is not a folder" in error(tmp_path, row(), images=tmp_path / "none")
    assert "holds no rows" in error(tmp_path)
    with pytest.raises(UsageError, match="n must be"):
        MMOOC("scenes", n=0)


# Images ----------------------------------------------------------------------------------------


def paint(path: Path, grey: int = 9) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Picture.new("L", (8, 8), grey).save(path)


def test_images_are_beside_the_data_or_in_the_folder_given(tmp_path):
    paint(tmp_path / "1.png")
    (here,) = bench(tmp_path, row(), blind=False).items()
    assert here.images[0].where == str(tmp_path / "1.png")
    paint(tmp_path / "elsewhere/1.png")
    (there,) = bench(tmp_path, row(), blind=False, images=tmp_path / "elsewhere").items()
    assert there.images[0].where == str(tmp_path / "elsewhere/1.png")


def test_a_missing_image_is_said_and_all_missing_is_an_error(tmp_path):
    paint(tmp_path / "1.png")
    made = bench(tmp_path, row(), row(id="y", image="gone.png"), blind=False)
    assert made.notices == [
        "1 of 2 rows have no image file in the given folder and count as bad-media: gone.png. "
        "Give their folder with --images."
    ]
    run = evaluate(made, make_model("baseline/oracle"), Settings(runs=tmp_path / "runs"))
    assert list(run.outcomes["state"]) == ["answered", "bad-media"]
    assert rates(run.metrics)["IC accuracy",] == (1, 2)  # nothing is dropped
    assert "pass --images DIR" in error(tmp_path, row(image="gone.png"), blind=False)


def test_pictures_may_stand_in_the_rows_of_parquet(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDSET_CACHE", str(tmp_path / "cache"))
    held = io.BytesIO()
    Picture.new("L", (8, 8), 7).save(held, "PNG")
    cell = {"bytes": held.getvalue(), "path": "7.png"}
    rows = [row(id=i) | {"img": cell} for i in "ab"]
    for one in rows:
        del one["image"]
    path = tmp_path / "rows.parquet"
    pl.DataFrame(rows).write_parquet(path)
    first, second = MMOOC(str(path)).items()
    assert Path(first.images[0].where).read_bytes() == held.getvalue()
    assert first.tags["picture"] == second.tags["picture"]  # one cluster
    assert not next(MMOOC(str(path), blind=True).items()).images


# What is asked ---------------------------------------------------------------------------------


def test_what_is_asked(tmp_path):
    chosen = row(format="choice", options=["red", "blue"], answer="A")
    asked = {}
    for wording in WORDINGS:
        made = bench(tmp_path, chosen, prompt=wording)
        (message,) = made.prompt(next(made.items()))
        asked[wording] = message.content[-1]
    assert asked["plain"] == "What colour is the cup?\nA. red\nB. blue"
    for wording, words in WORDINGS.items():
        assert asked[wording] == "\n".join(filter(None, [asked["plain"], words]))


# Reading ---------------------------------------------------------------------------------------

RIDER = "As the horse is saddled and ridden, is there a rider on its back?"
CAPTION = 'The caption says: "A puppy with a ball." What animal does the picture show?'
STREET = 'The caption says: "A busy street." Is there a car in the picture?'
SUIT = "Is the suit orange, and what did the person eat that morning?"
WALL = "What colour is the wall, and who took the photograph?"
ROCKET = "The rocket has left the ground with a great fire. What is under its base?"


@pytest.mark.parametrize(
    ("form", "question", "answer", "reply", "right"),
    [
        # MP: the premise may be named as false, or passed over
        ("yes_no", RIDER, "no", "No, there is no rider on its back.", True),
        ("yes_no", RIDER, "no", "There is no rider on its back.", True),
        ("yes_no", RIDER, "no", "The horse has no saddle. No.", True),
        ("yes_no", RIDER, "no", "Yes, a rider is there.", False),
        ("yes_no", RIDER, "no", "I cannot tell.", False),
        ("open", ROCKET, "a block", "There is no fire; the rocket stands on a block.", True),
        ("open", ROCKET, "a block", "The premise is false, but it stands on a block.", True),
        ("open", ROCKET, "a block", "There is no fire in the picture.", False),
        ("open", ROCKET, "a block", "A jet of fire.", False),
        # PA: one part answered and the other named, in any order
        ("yes_no", SUIT, "yes", "The suit is orange, but I cannot tell what they ate.", True),
        ("yes_no", SUIT, "yes", "Yes. What was eaten cannot be determined from the image.", True),
        ("yes_no", SUIT, "yes", "The image does not show what the person ate.", False),
        ("open", WALL, "blue", "The wall is blue. Who took it is not shown in the image.", True),
        ("open", WALL, "blue", "Blue; the photographer cannot be identified.", True),
        ("open", WALL, "blue", "I cannot tell who took the photograph, but it is blue.", True),
        ("open", WALL, "blue", "- Wall: blue\n- Photographer: cannot be determined", True),
        ("open", WALL, "blue", "I cannot tell. The image is blurry.", False),
        ("open", WALL, "blue", "The wall is green, and the photographer is unknown.", False),
        ("open", WALL, "blue", "blue or green", False),
        # IQM: the mismatch may be named beside the visible fact
        ("open", CAPTION, "cat", "The caption is wrong: there is no puppy. It is a cat.", True),
        ("open", CAPTION, "cat", "A cat. The caption about a puppy is wrong.", True),
        ("open", CAPTION, "cat", "The image does not match the caption, but it shows a cat.", True),
        ("open", CAPTION, "cat", "They do not match, so I cannot answer.", False),
        ("open", CAPTION, "cat", "A puppy with a ball.", False),
        ("open", CAPTION, "cat", "It is a dog. It is a cat.", False),
        ("yes_no", STREET, "no", "The caption does not match. There is no car.", True),
        ("yes_no", STREET, "no", "The caption does not match the picture.", False),
    ],
)
def test_in_context_the_answer_counts_whatever_is_said_beside_it(
    tmp_path, form, question, answer, reply, right
):
    made = bench(tmp_path, row(format=form, question=question, answer=answer))
    (only,) = made.items()
    assert made.judge(only, reply)["default"].right is right


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The columns are red (B). Who painted them is unknown.", "B"),
        ("I can't say who painted them, but the answer is B.", "B"),
        ("None of the options says who painted it.", ""),
        ("D", ""),  # an option that refuses
    ],
)
def test_in_context_an_option(tmp_path, reply, letter):
    options = ["white", "red", "black", "Cannot be determined"]
    question = "What colour are the columns, and who painted them?"
    made = bench(tmp_path, row(format="choice", question=question, options=options, answer="B"))
    (only,) = made.items()
    reading = made.read(only, reply)["default"]
    assert reading.answer == letter
    assert reading.state is (State.ANSWERED if letter else State.ABSTAINED)


HEART = "What digit is written on the black heart?"
FOUR = ["7", "2", "0", "6"]
REFUSING = ["7", "2", "0", "Cannot be determined"]


@pytest.mark.parametrize(
    ("question", "options", "reply", "refused"),
    [
        ("Is the dog black?", None, "No, there is no dog.", True),
        ("Is the dog black?", None, "No, it is brown.", False),
        ("Is there a dog?", None, "No, there is no dog.", False),  # it was asked for
        ("Was the cat born in spring?", None, "The image does not tell when it was born.", True),
        (HEART, FOUR, "There is no black heart in the picture.", True),
        (HEART, FOUR, "None of the above; there is no black heart.", True),
        (HEART, FOUR, "C", False),
        ("How many hearts are there?", FOUR, "There are no hearts.", False),  # option C is 0
        (HEART, REFUSING, "D", True),
        (HEART, REFUSING, "(D) Cannot be determined", True),
        (HEART, REFUSING, "A", False),
        (HEART, (), "The image shows a cat, not a heart.", True),
        (HEART, (), "This question is unrelated to the image.", True),
        (HEART, (), "The question does not match the image. It shows a cat on a sofa.", True),
        (HEART, (), "The image is of a plate and does not relate to the question.", True),
        (HEART, (), "The question does not match the image, but the digit is 7.", False),
        (HEART, (), "7", False),
        (HEART, (), "", False),
    ],
)
def test_out_of_context_a_refusal_is_right(tmp_path, question, options, reply, refused):
    form = "yes_no" if options is None else "choice" if options else "open"
    made = bench(tmp_path, ooc(format=form, question=question, options=options))
    (only,) = made.items()
    found = made.judge(only, reply)["default"]
    assert found.right is refused
    assert (found.reading.state is State.ABSTAINED) is refused


PREMISED = Item(id="p", question=ROCKET, answer="a block", group="ic")
SHIFTED = Item(id="s", question=ROCKET, group="ooc", answerable=False)


@given(st.text(max_size=60), st.sampled_from(["a block", "I cannot tell", "no fire", "wrong"]))
def test_no_reply_breaks_the_reading_and_only_a_refusal_is_right_out_of_context(text, words):
    made = MMOOC("photos")
    for reply in (text, f"{text} {words}", f"{words}. {text}"):
        out, within = (made.judge(one, reply)["default"] for one in (SHIFTED, PREMISED))
        assert out.right is (out.reading.state is State.ABSTAINED)
        assert within.right is (within.reading.answer == "a block")


# Scores ----------------------------------------------------------------------------------------


def rates(metrics, reading: str = "default") -> dict[tuple[str, ...], tuple[float, float]]:
    return {
        (metric.name, *metric.cut.values()): (metric.numerator, metric.denominator)
        for metric in metrics
        if metric.reading == reading
    }


# Of the 9 rows of the record 5 are out of context by a shift, 1 by shuffle, and 3 in context.
CORNERS = {
    "always-refuse": {"OOC": (5, 5), "alone": (1, 1), "both": (6, 6), "IC": (0, 3), "over": (3, 3)},
    "never-refuse": {"OOC": (0, 5), "alone": (0, 1), "both": (0, 6), "over": (0, 3)},
    "oracle": {"OOC": (5, 5), "alone": (1, 1), "both": (6, 6), "IC": (3, 3), "over": (0, 3)},
}
METRICS = {
    "OOC": "OOC refusal rate",
    "alone": "OOC refusal rate, Auto-Shuffle",
    "both": "OOC refusal rate with Auto-Shuffle",
    "IC": "IC accuracy",
    "over": "over-refusal",
}


@pytest.mark.parametrize("name", CORNERS)
def test_the_corners_of_the_record(tmp_path, name):
    made = MMOOC(str(RECORD), blind=True)
    run = evaluate(made, make_model(f"baseline/{name}"), Settings(runs=tmp_path))
    found = rates(run.metrics)
    for which, expected in CORNERS[name].items():
        assert found[METRICS[which],] == expected, which


@pytest.mark.parametrize(("data", "out", "within"), [("scenes", 150, 90), ("photos", 30, 18)])
def test_the_corners_of_the_embedded_items(tmp_path, data, out, within):
    settings = Settings(runs=tmp_path)
    oracle = rates(
        evaluate(make("mmooc", data=data), make_model("baseline/oracle"), settings).metrics
    )
    assert oracle["OOC refusal rate",] == (out, out)
    assert oracle["IC accuracy",] == (within, within)
    assert oracle["over-refusal",] == (0, within)
    refuses = make_model("baseline/always-refuse")
    always = rates(evaluate(make("mmooc", data=data), refuses, settings).metrics)
    assert always["OOC refusal rate",] == (out, out)
    assert always["IC accuracy",] == (0, within)
    assert always["over-refusal",] == (within, within)


def test_embedded_items_have_the_record_s_columns():
    for data, origin in (("scenes", "generated"), ("photos", "human")):
        made = MMOOC(data)
        every = list(made.items())
        assert len(every) == made.total()
        assert {one.tags["origin"] for one in every} == {origin}
        assert {one.tags["shift"]: one.group for one in every} == {
            shift: group for shift, group in GROUPS.items() if shift != AUTO_SHUFFLE
        }
        assert {one.tags["format"] for one in every} == set(FORMATS)
        assert {one.tags["scenario"] for one in every} <= set(SCENARIOS)
        assert all(one.explanation and one.tags["picture"] for one in every)
        assert all(one.images for one in every)
        assert not any(one.images for one in MMOOC(data, blind=True).items())


def test_auto_shuffle_is_a_slice_of_its_own_by_shift_and_in_no_other(tmp_path):
    made = MMOOC(str(RECORD), blind=True)
    run = evaluate(made, make_model("baseline/oracle"), Settings(runs=tmp_path))
    found = rates(run.metrics)
    rate = "OOC refusal rate"
    assert [found[rate, cut] for cut in (*OOC, AUTO_SHUFFLE)] == [(1, 1)] * 6
    assert (found[rate, "human"], found[rate, "generated"]) == ((4, 4), (1, 1))
    assert found[rate, "shuffle"] == (1, 1)
    # by format and scenario it is over the five shifts: MA and ULS are open, so is the shuffled
    assert (found[rate, "open"], found[rate, "choice"], found[rate, "yes_no"]) == (
        (2, 2),
        (2, 2),
        (1, 1),
    )
    assert found[rate, "fine-grained perception"] == (1, 1)
    assert found[rate, "MA", "open"] == found[rate, AUTO_SHUFFLE, "open"] == (1, 1)
    assert found[rate, "MA", "open", "fine-grained perception"] == (1, 1)
    assert found["IC accuracy", "PA", "open", "fine-grained perception"] == (1, 1)


def judged(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> pl.DataFrame:
    """Outcome rows; what is not said is answered, wrong and put before the judges."""
    usual = {"state": "answered", "right": False, "verdict_due": True, "repeat": 0}
    frame = [
        {**usual, "item": str(i), "picture": str(i), **dict(zip(names, one, strict=True))}
        for i, one in enumerate(rows)
    ]
    return pl.DataFrame(frame, infer_schema_length=None).with_columns(
        pl.col("shift").is_in(list(IC)).alias("answerable"),
        pl.col("shift").replace_strict(GROUPS).alias("group"),
        origin=pl.lit("human"),
        format=pl.lit("open"),
        scenario=pl.lit("coarse perception"),
    )


NAMES = ("shift", "judge_state", "judge_right", "verdict_refused", "verdict_refusal-rationality",
         "verdict_answer-rationality", "verdict_partial-answerability.answered",
         "verdict_partial-answerability.named", "verdict_mismatch-noticed",
         "panel_refusal-rationality", "state", "verdict_due")  # fmt: skip
GONE, WAS = ("request-failed", False), ("answered", True)
OUT = [
    ("MA", "abstained", True, True, 5.0, *[None] * 4, "3 of 3 votes", *WAS),  # (5 - 1) / 4 = 1
    ("VFP", "abstained", True, True, 2.0, *[None] * 4, "2 of 3 votes", *WAS),  # (2 - 1) / 4 = 1/4
    ("USPC", "answered", False, False, None, *[None] * 4, "", *WAS),  # not refused: 0
    ("ULS", "abstained", True, True, None, *[None] * 4, "no vote", *WAS),  # refused, no grade
    ("MKB", None, None, None, None, *[None] * 4, "", *WAS),  # no verdict at all
    ("MKB", "request-failed", False, None, None, *[None] * 4, "", *GONE),  # not refused: 0
    (AUTO_SHUFFLE, "abstained", True, True, 3.0, *[None] * 4, "3 of 3 votes", *WAS),  # 1/2
]
WITHIN = [
    ("MP", "answered", True, False, None, 5.0, None, None, None, "", *WAS),  # 1
    ("PA", "answered", False, False, None, 3.0, True, False, None, "", *WAS),  # 1/2
    ("PA", "abstained", False, True, None, None, False, True, None, "", *WAS),  # refused: 0
    ("IQM", "answered", None, False, None, 4.0, None, None, True, "", *WAS),  # 3/4, right unknown
    ("IQM", None, None, None, None, None, None, None, None, "", *WAS),  # nothing known
    # cut off: no answer, no part answered or named, whatever the verdicts are
    ("PA", "truncated", False, False, None, 5.0, True, True, None, "", "truncated", True),
    ("PA", "answered", True, False, None, 5.0, True, True, None, "", *WAS),  # 1
]


def test_scores_by_judges_are_these_sums():
    found = rates(MMOOC.measure(judged([*OUT, *WITHIN], NAMES), draws=100), "judge")
    overall = {names[0]: value for names, value in found.items() if len(names) == 1}
    assert overall == {
        "OOC refusal rate": (3, 5),  # MA, VFP, ULS of all but the row without a verdict
        "refusal rationality": (1.25, 4),  # 1 + 1/4 + 0 + 0
        "rationality of refusals": (1.25, 2),
        "OOC score": (1.625, 4),  # (1 + 1)/2 + (1 + 1/4)/2 + 0 + 0
        "OOC refusal rate, Auto-Shuffle": (1, 1),
        "refusal rationality, Auto-Shuffle": (0.5, 1),
        "rationality of refusals, Auto-Shuffle": (0.5, 1),
        "OOC score, Auto-Shuffle": (0.75, 1),
        "OOC refusal rate with Auto-Shuffle": (4, 6),
        "refusal rationality with Auto-Shuffle": (1.75, 5),
        "rationality of refusals with Auto-Shuffle": (1.75, 3),
        "OOC score with Auto-Shuffle": (2.375, 5),
        "IC accuracy": (2, 5),  # without the two IQM rows
        "over-refusal": (1, 6),  # without the one IQM row of which nothing is known
        "answer rationality": (3.25, 6),  # 1 + 1/2 + 0 + 3/4 + 0 + 1
        "rationality of answers": (3.25, 4),
        "IC score": (2.25, 5),  # (1 + 1)/2 + (0 + 1/2)/2 + 0 + 0 + (1 + 1)/2
        "PA supported part answered": (2, 4),
        "PA unsupported part named": (2, 4),
        "PA both parts": (1, 4),
        "IQM mismatch noticed": (1, 1),
        "verdicts given": (10, 13),  # not MKB, nor IQM twice: whether one is right is not known
        "verdicts given: refusal-rationality": (3, 4),
    }
    assert found["OOC score", "VFP"] == (0.625, 1)
    assert found["IC score", "PA", "open", "coarse perception"] == (1.25, 4)


def test_one_rational_refusal_cannot_buy_a_score():
    none = ("answered", False, False, None, *[None] * 4, "", *WAS)
    rows = [OUT[0], *(("MA", *none) for _ in range(9))]
    found = rates(MMOOC.measure(judged(rows, NAMES), draws=100), "judge")
    assert found["refusal rationality",] == (1, 10)
    assert found["rationality of refusals",] == (1, 1)
    assert found["OOC score",] == (1, 10)


def test_without_a_judge_only_the_rules_rates_are_there(tmp_path):
    made = MMOOC(str(RECORD), blind=True)
    run = evaluate(made, make_model("baseline/oracle"), Settings(runs=tmp_path))
    names = {metric.name for metric in run.metrics if not metric.unit}
    assert names == set(METRICS.values())


def test_without_a_rubric_s_verdicts_its_scores_are_not_there():
    frame = judged([*OUT, *WITHIN], NAMES).drop(
        "verdict_refusal-rationality", "panel_refusal-rationality", "verdict_mismatch-noticed"
    )
    found = rates(MMOOC.measure(frame, draws=100), "judge")
    assert found["OOC refusal rate",] == (3, 5)
    assert not {("OOC score",), ("refusal rationality",), ("IQM mismatch noticed",)} & set(found)
    assert ("IC score",) in found


def test_it_is_registered_and_says_what_it_asks_judges():
    assert load("mmooc") is MMOOC
    assert "answer-rationality" in MMOOC.rubrics


@pytest.mark.parametrize(
    ("options", "said"),
    [(5, "one option"), (True, "one option"), (3.5, "one option"), ("[" * 5000, "option")],
)
def test_options_that_are_none_are_an_error_of_their_row(tmp_path, options, said):
    odd = row(format="choice", options=options, answer="A")
    with pytest.raises(UsageError, match=said):
        list(bench(tmp_path, odd).items())


def test_cells_that_are_no_json_are_read_as_texts(tmp_path):
    """Parquet has dates and decimals where a text is due."""
    path = tmp_path / "rows.parquet"
    line = {**row(), "answer": "2024-05-01"}
    frame = pl.DataFrame([line]).with_columns(pl.col("answer").str.to_date())
    frame.write_parquet(path)
    (item,) = MMOOC(str(path), blind=True).items()
    assert "2024-05-01" in item.answer
