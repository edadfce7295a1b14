"""Replies labelled by hand, and the reading each must get. The tables are in data/replies/.

In the tables "?" is an abstention and "-" a reply with no single answer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hardset.reading import (
    number_of,
    read_braces_lenient,
    read_braces_official,
    read_choice,
    read_number,
    read_open,
    read_refusal,
    read_yes_no,
    same_answer,
    same_lenient,
)
from hardset.records import Reading, State

SIGNS = ("the sign is red", "the sign is green", "the sign is blue", "there is no sign")


def table(name: str) -> list[Any]:
    path = Path(__file__).parent / "data" / "replies" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def short(reading: Reading) -> str:
    return {State.ABSTAINED: "?", State.UNPARSED: "-"}.get(reading.state, reading.answer)


@pytest.mark.parametrize(("reply", "right"), table("choices"))
def test_choices(reply: str, right: str):
    reading = read_choice(reply, SIGNS)
    assert short(reading) == right, reading
    assert reading.rule, "every reading names its rule"


@pytest.mark.parametrize(("choices", "reply", "right"), table("choices_other"))
def test_choices_with_other_options(choices: list[str], reply: str, right: str):
    reading = read_choice(reply, choices)
    assert short(reading) == right, reading


@pytest.mark.parametrize(("reply", "question", "right"), table("yes_no"))
def test_yes_or_no(reply: str, question: str, right: str):
    reading = read_yes_no(reply, question)
    assert short(reading) == right, reading
    assert reading.rule


@pytest.mark.parametrize(("reply", "question", "right"), table("refusals"))
def test_refusals(reply: str, question: str, right: str):
    reading = read_refusal(reply, question)
    assert ("answered" if reading is None else "refused") == right, reading
    if reading is not None:
        assert reading.state is State.ABSTAINED
        assert reading.rule
        assert reading.evidence


@pytest.mark.parametrize(("reply", "question", "right"), table("numbers"))
def test_numbers(reply: str, question: str, right: str):
    reading = read_number(reply, question)
    assert short(reading) == right, reading
    assert reading.rule


@pytest.mark.parametrize(("reply", "gold", "official", "lenient"), table("braces"))
def test_braces(reply: str, gold: str, official: bool, lenient: bool):
    strict, kind = read_braces_official(reply), read_braces_lenient(reply)
    got = strict.state is State.ANSWERED and strict.answer == gold.lower()
    assert got is official, strict
    got = kind.state is State.ANSWERED and same_lenient(kind.answer, gold)
    assert got is lenient, kind


@pytest.mark.parametrize(
    ("reply", "rule", "evidence"),
    [
        ("Conclusion: (B). Eliminated: (A), (C), (D).", "final answer", "Conclusion: (B)."),
        ("The answer is (B), not A", "the answer is", "The answer is (B), not A"),
        ("the sign is blue", "an option's text", "the sign is blue"),
        ("I don't know.", "does not know", "I don't know."),
        ("A, C", "several options", "A, C"),
        ("B: the sign is red", "letter and text disagree", "B: the sign is red"),
        ("\\boxed{C}", "boxed or tagged", "\\boxed{C}"),
        ("The answer is E", "not one of the options", "The answer is E"),
        ("", "empty", ""),
    ],
)
def test_a_reading_says_which_rule_fired_and_on_what(reply: str, rule: str, evidence: str):
    reading = read_choice(reply, SIGNS)
    assert (reading.rule, reading.evidence) == (rule, evidence)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", "7"), ("7,200", "7200"), ("1,2", None), ("12,34", None), ("1,234,567", "1234567"),
        ("$11.90", "11.9"), ("11.90", "11.9"), ("1/2", "0.5"), ("1/0", None), ("3 1/2", "3.5"),
        ("seven", "7"), ("forty-two", "42"), ("two hundred and five", "205"), ("seven eight", None),
        ("-2", "-2"), ("−2", "-2"), ("1e3", "1000"), ("7 kg", "7"), ("7 bananas", None),
        ("not 7", None), ("", None), ("nan", None), ("inf", None), ("1.2.3", None), ("½", "0.5"),
        ("9" * 5000, None), ("1e999999999", None),
    ],
)  # fmt: skip
def test_what_number_a_text_is(text: str, value: str | None):
    from fractions import Fraction

    assert number_of(text) == (None if value is None else Fraction(value))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The two dogs.", "2 dog", True),
        ("Red", "red", True),
        ("a red car", "the red car", True),
        ("red car", "car red", False),
        ("a cat", "a dog", False),
        ("7", "seven", True),
        ("7", "17", False),
        ("New York", "new york.", True),
        ("twenty-one", "21", True),
        ("bus", "bu", False),
        ("", "", False),
        ("not red", "red", False),
        ("cities", "city", True),
        ("glass", "glas", False),
    ],
)
def test_when_open_answers_are_the_same(one: str, other: str, same: bool):
    assert same_answer(one, other) is same
    assert same_answer(other, one) is same


@pytest.mark.parametrize(
    ("reply", "candidates", "right"),
    [
        ("The colour is red.", ["red", "green"], "red"),
        ("red", ["red", "dark red"], "red"),
        ("It is dark red.", ["red", "dark red"], "dark red"),
        ("It is not red but green.", ["red", "green"], "green"),
        ("red or green", ["red", "green"], "-"),
        ("blue", ["red", "green"], "-"),
        ("I can't tell whether it is red.", ["red", "green"], "?"),
        ("The answer is green, and the other thing is red.", ["red", "green"], "-"),
        ("First it looks red. The answer is green.", ["red", "green"], "green"),
        ("\\boxed{green}", ["red", "green"], "green"),
        ("", ["red"], "-"),
        ("two", ["2", "3"], "2"),
        ("A red circle.", [], "A red circle."),
        ("The answer is a red circle.", [], "a red circle"),
        ("Unknown.", [], "?"),
    ],
)
def test_open_answers(reply: str, candidates: list[str], right: str):
    assert short(read_open(reply, candidates)) == right


def test_absence_is_read_against_the_question():
    reply = "There is no sphere in the picture."
    assert short(read_open(reply, ["red"], "What colour is the sphere?")) == "?"
    assert short(read_yes_no(reply, "Is there a sphere?")) == "no"
    assert short(read_number(reply, "How many spheres are there?")) == "0"
    assert short(read_number(reply, "How many dots does the sphere have?")) == "?"
