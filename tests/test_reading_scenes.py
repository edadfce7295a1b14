"""How scenes reads replies: by the question and the reply, never by the truth."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from hardset.benchmarks.scenes import Scenes
from hardset.models.baseline import KINDS
from hardset.records import Item, State


@pytest.mark.parametrize(
    ("question", "reply", "state", "answer"),
    [
        ("What colour is the star?", "The answer is a table.", State.ANSWERED, "a table"),
        ("What colour is the star?", "The star is magenta.", State.ANSWERED, "magenta"),
        ("What word is written on it?", 'It says "zebra".', State.ANSWERED, "zebra"),
        ("Is the ring small or large?", "medium", State.ANSWERED, "medium"),
        ("Is the ring small or large?", "Small or large.", State.UNPARSED, ""),
        ("What colour is the star?", "magenta or beige", State.UNPARSED, ""),
        ("What colour is the star?", "Let me look at the picture carefully.", State.UNPARSED, ""),
        ("What colour is the star?", "The answer is unknown.", State.ABSTAINED, ""),
    ],
)
def test_one_short_answer_outside_the_vocabulary_is_an_answer(question, reply, state, answer):
    reading = Scenes().read(Item(id="x", question=question, form="open"), reply)["default"]
    assert (reading.state, reading.answer) == (state, answer)


def test_confident_guesses_are_answers_and_refusals_abstain():
    scenes = Scenes(n=300)
    for i, item in enumerate(scenes.items()):
        for kind, state in (
            ("never-refuse", State.ANSWERED),
            ("random", State.ANSWERED),
            ("always-refuse", State.ABSTAINED),
        ):
            reply = KINDS[kind](item, Random(i))
            assert scenes.read(item, reply)["default"].state is state, (item.question, reply)


def test_the_truth_does_not_change_what_is_read():
    scenes = Scenes(n=120)
    for i, item in enumerate(scenes.items()):
        blind = msgspec.structs.replace(item, answer="", answerable=not item.answerable)
        for baseline in KINDS.values():
            reply = baseline(item, Random(i))
            assert scenes.read(item, reply) == scenes.read(blind, reply)
