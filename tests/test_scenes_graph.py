"""Scenes and their facts: worked by hand on two small scenes, then as laws over many."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.sources.scenes import facts
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.graph import (
    COLOURS,
    DIFFICULTIES,
    SHAPES,
    SIDE,
    TAKES_DIGIT,
    TAKES_WORD,
    Scene,
    Thing,
    make_scene,
)

# Four objects of a picture 192 wide; x to the right, y downwards, MARGIN 20.
#     red star (40, 40)      blue square (120, 45), large, "7"
#     red ring (45, 140)     green star (150, 150)
HAND = Scene(
    0,
    0,
    "default",
    (
        Thing("star", "red", "small", 40, 40, 15),
        Thing("square", "blue", "large", 120, 45, 30, "7"),
        Thing("ring", "red", "small", 45, 140, 15),
        Thing("star", "green", "small", 150, 150, 15),
    ),
)
STAR, SQUARE, RING, GREEN = HAND.things

seeds = st.integers(0, 2**64 - 1)
indices = st.integers(0, 10**12)
scenes = st.builds(make_scene, seeds, indices, st.sampled_from(DIFFICULTIES))


def test_sides_are_told_only_when_clear_by_the_margin():
    assert facts.side_of(STAR, SQUARE, "left of") is True  # 120 - 40 = 80 >= 20
    assert facts.side_of(STAR, SQUARE, "right of") is False  # 40 - 120 = -80 <= -20
    assert facts.side_of(STAR, SQUARE, "above") is None  # 45 - 40 = 5: too close to say
    assert facts.side_of(STAR, RING, "above") is True  # 140 - 40 = 100
    assert facts.side_of(STAR, RING, "left of") is None  # 45 - 40 = 5


def test_what_lies_beside_an_object_leaves_out_what_is_too_close_to_say():
    # Right of the square (x = 120): the green star (150, by 30); the others are left of it.
    assert facts.beside(HAND, 1, "right of") == [3]
    assert facts.beside(HAND, 1, "left of") == [0, 2]
    # Above the square (y = 45): the red star at 40 is above by 5 only, so nothing can be said.
    assert facts.beside(HAND, 1, "above") is None
    assert facts.beside(HAND, 1, "below") == [2, 3]
    # Nothing is right of the green star at all: the square at 120 is left of it by 30.
    assert facts.beside(HAND, 3, "right of") == []


def test_halves_need_fourteen_pixels_from_the_middle():
    assert facts.half_of(STAR, upright=False) == "left"  # 40 < 96 - 14
    assert facts.half_of(GREEN, upright=True) == "bottom"  # 150 > 96 + 14
    assert facts.half_of(Thing("star", "red", "small", 100, 40, 15), upright=False) == ""  # by 4


def test_names_fit_one_object_only():
    # Two stars, so "the star" names none; two red objects, so "the red object" names none.
    assert facts.names(HAND, 0) == ["the red star"]
    assert facts.names(HAND, 1) == [
        "the blue square",
        "the square",
        "the blue object",
        "the large square",
        "the large blue object",
    ]
    assert facts.names(HAND, 3, without="shape") == ["the green object", "the small green object"]
    assert facts.names(HAND, 1, without="colour") == [
        "the square",
        "the large square",
        "the object with 7 on it",
    ]
    assert facts.names(HAND, 2, without="shape") == []  # only its shape tells it apart


def test_classes_are_counted():
    assert facts.matching(HAND, colour="red") == [0, 2]
    assert facts.matching(HAND, shape="star") == [0, 3]
    assert facts.matching(HAND, colour="red", shape="star") == [0]
    assert facts.matching(HAND, size="large") == [1]
    assert facts.matching(HAND) == [0, 1, 2, 3]
    assert facts.plural({"shape": "cross"}) == "crosses"
    assert facts.plural({"colour": "red", "size": "small"}) == "small red objects"


def test_dice_are_named_by_every_part_of_their_key():
    first = Dice(1, 2, 3).unit()
    assert first == Dice(1, 2, 3).unit()
    assert len({first, Dice(1, 3, 2).unit(), Dice(2, 3).unit(), Dice(0, 1, 2, 3).unit()}) == 4
    with pytest.raises(ValueError, match="-1 cannot name a draw"):
        Dice(-1)


def test_a_difficulty_must_exist():
    with pytest.raises(ValueError, match="no difficulty 'harder': use one of easy, default, hard"):
        make_scene(0, 0, "harder")


@settings(max_examples=300, deadline=None)
@given(scenes)
def test_every_scene_keeps_its_promises(scene):
    low, high = {"easy": (2, 4), "default": (3, 6), "hard": (6, 9)}[scene.difficulty]
    assert low <= len(scene.things) <= high
    assert len({t.name for t in scene.things}) == len(scene.things)
    gap = {"easy": 6, "default": 3, "hard": -5}[scene.difficulty]
    for k, thing in enumerate(scene.things):
        assert thing.colour in COLOURS
        assert thing.shape in SHAPES
        assert thing.x - thing.reach >= 3
        assert thing.x + thing.reach <= SIDE - 4
        assert thing.y - thing.reach >= 3
        assert thing.y + thing.reach <= SIDE - 4
        large = thing.size == "large"
        assert 56 <= 2 * thing.reach <= 66 if large else 24 <= 2 * thing.reach <= 36
        if thing.text:
            assert large
            assert thing.shape in (TAKES_DIGIT if thing.text.isdecimal() else TAKES_WORD)
        for other in scene.things[:k]:
            apart = thing.reach + other.reach + gap
            assert abs(thing.x - other.x) >= apart or abs(thing.y - other.y) >= apart


@settings(max_examples=200, deadline=None)
@given(scenes, st.integers(0, 10**6))
def test_opposite_sides_never_hold_at_once(scene, salt):
    a, b = Dice(salt).sample(scene.things, 2)
    for relation in facts.RELATIONS:
        there = facts.side_of(a, b, relation)
        assert facts.side_of(b, a, facts.OPPOSITE[relation]) is there
        assert facts.side_of(a, b, facts.OPPOSITE[relation]) is (
            None if there is None else not there
        )
