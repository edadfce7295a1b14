"""The language: truths worked by hand, then as laws against a second reading of the words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scenes_truth as truth
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.facts import FACTS
from hardset.sources.scenes.language import (
    ANSWERS,
    KINDS,
    WORDS,
    answers_to,
    ask,
    join,
    reason_for,
    state,
    tokens,
    twist,
)
from test_scenes_graph import HAND, scenes

salts = st.integers(0, 10**9)


@pytest.mark.parametrize(
    ("question", "answer"),
    [  # of the four objects drawn up in test_scenes_graph
        ("what colour is the square?", "blue"),
        ("what shape is the green object?", "star"),
        ("what shape is the object right of the square?", "star"),  # 150 - 120 = 30 >= 20
        ("what digit is on the large object?", "7"),
        ("how many red objects are there?", "2"),  # the star and the ring
        ("how many crosses do you see?", "0"),
        ("are there more stars than squares?", "yes"),  # 2 > 1
        ("is the red star in the top half or the bottom half?", "top"),  # 40 < 96
        ("is the square bigger than the ring?", "yes"),
        ("is there a green ring in the picture?", "no"),
        ("is the red star left of the square?", "yes"),
    ],
)
def test_the_second_way_to_the_truth_is_itself_right(question, answer):
    assert truth.answer(HAND, question) == answer


def test_the_second_way_refuses_what_is_unclear():
    with pytest.raises(truth.UnclearError):
        truth.answer(HAND, "what colour is the star?")  # there are two
    with pytest.raises(truth.UnclearError):
        truth.answer(HAND, "is the red star above the square?")  # by 5 pixels only
    assert truth.holds(HAND, "the square is blue and it is small") == [True, False]
    assert truth.holds(HAND, "there are 2 stars and there is no cross") == [True, True]


@settings(max_examples=400, deadline=None)
@given(scenes, salts, st.sampled_from(tuple(KINDS)))
def test_every_answer_follows_from_the_words(scene, salt, kind):
    question = KINDS[kind](scene, Dice(salt))
    if question is None:
        return
    assert truth.answer(scene, question.text) == question.answer
    assert question.answer in ANSWERS
    assert set(tokens(question.text)) <= set(WORDS)
    if question.form == "yes_no":
        assert question.answer in ("yes", "no")
    else:
        assert question.answer in question.options
    if question.form == "open":
        assert question.answer in answers_to(question.text)


@settings(max_examples=300, deadline=None)
@given(scenes, salts)
def test_twisted_questions_keep_the_core_and_add_what_is_false(scene, salt):
    question = twist(scene, Dice(salt))
    assert truth.answer(scene, question.text) == question.answer
    assert set(tokens(question.text)) <= set(WORDS)
    if question.kind != "partial":
        opening = question.text.removeprefix("the caption says ").removeprefix("since ")
        lie = opening.split(", ")[0] if question.kind == "premise" else opening.split(". ")[0]
        assert truth.holds(scene, lie) == [False]
        assert truth.holds(scene, question.reason) == [True]


@settings(max_examples=400, deadline=None)
@given(scenes, salts)
def test_every_statement_is_as_true_as_it_says(scene, salt):
    statement = state(scene, Dice(salt))
    assert all(truth.holds(scene, statement.text)) == statement.truth
    assert set(tokens(statement.text)) <= set(WORDS)


@settings(max_examples=300, deadline=None)
@given(scenes, salts, st.sampled_from(tuple(FACTS)))
def test_a_fact_and_its_reason_can_each_be_wrong_alone(scene, salt, kind):
    dice = Dice(salt)
    fact = FACTS[kind](scene, dice)
    reason = reason_for(scene, fact, dice) if fact else None
    if reason is None:
        return
    for a in (True, False):
        for b in (True, False):
            assert truth.holds(scene, join(fact, a, reason, b)) == [a, b]


def test_yes_and_no_are_even_and_every_kind_and_answer_comes_up():
    """In 4,000 draws: yes within 4 standard deviations (0.5 / sqrt(m)) of a half, all seen."""
    from hardset.sources.scenes.graph import make_scene

    seen, yes, asked = set(), 0, 0
    kinds = set()
    for index in range(4000):
        question = ask(make_scene(7, index), Dice(11, index))
        seen.add(question.answer)
        kinds.add(question.kind)
        if question.form == "yes_no":
            asked += 1
            yes += question.answer == "yes"
    assert kinds == set(KINDS)
    assert seen == set(ANSWERS)
    assert abs(yes / asked - 0.5) < 4 * 0.5 / asked**0.5


def test_the_vocabulary_is_small_and_closed():
    assert len(WORDS) == len(set(WORDS)) == 102
    assert len(ANSWERS) == len(set(ANSWERS)) == 42
    assert tokens("Isn't the STAR red, 7?") == ["isn", "t", "the", "star", "red", "7"]
