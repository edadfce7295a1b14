"""A scene and everything true about it, before a single pixel is drawn.

Coordinates are pixels of a square picture `SIDE` wide, x to the right and y downwards.
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from hardset.sources.scenes.dice import Dice

VERSION = "v1"
"""Names the drawing and the questions: the same version, seed and index give the same bytes."""

SIDE = 192
SHAPES = ("circle", "square", "triangle", "star", "diamond", "cross", "ring", "heart")
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "black")
SIZES = ("small", "large")
DIGITS = tuple("0123456789")
WORDS_SHOWN = ("up", "go", "cat", "sun", "key", "box", "stop", "milk")
TAKES_DIGIT = ("circle", "square", "triangle", "diamond", "heart")
TAKES_WORD = ("circle", "square")
MARGIN = 20  # a position is only asked about where it is clear by this many pixels

Difficulty = Literal["easy", "default", "hard"]
DIFFICULTIES: tuple[str, ...] = get_args(Difficulty)


class Thing(Struct, frozen=True):
    """One object: what it is, where its centre is, and what is written on it.

    `reach` is half the side of its bounding square; `text` is empty, a digit or a word.
    No two objects of a scene share both colour and shape, so "the red star" names one.
    """

    shape: str
    colour: str
    size: str
    x: int
    y: int
    reach: int
    text: str = ""

    @property
    def name(self) -> str:
        """The colour and shape, as in "red star"."""
        return f"{self.colour} {self.shape}"

    @property
    def label(self) -> tuple[int, int]:
        """The centre of the label its text stands on, low in a triangle, high in a heart."""
        shift = {"triangle": 5, "heart": -2}.get(self.shape, 0)
        return self.x, self.y + shift * self.reach // 16


class Scene(Struct, frozen=True):
    """A picture as a graph: its objects in the order they are drawn, later ones on top."""

    seed: int
    index: int
    difficulty: str
    things: tuple[Thing, ...]

    @property
    def where(self) -> str:
        """The address that draws this picture again, for `Image.where`."""
        return f"scenes:{VERSION}/{self.difficulty}/{self.seed}/{self.index}"


class _Recipe(Struct, frozen=True):
    """What a difficulty means; lengths in pixels, ranges with both ends."""

    count: tuple[int, int]
    large: tuple[int, int]  # how many of them are large
    reach_small: tuple[int, int]
    reach_large: tuple[int, int]
    gap: int  # between bounding squares; negative lets them overlap


_RECIPES = {
    "easy": _Recipe((2, 4), (1, 2), (15, 18), (29, 33), 6),
    "default": _Recipe((3, 6), (1, 3), (14, 17), (28, 33), 3),
    "hard": _Recipe((6, 9), (2, 4), (12, 14), (28, 32), -5),
}

_SCENE = 1  # salts keep the streams of different purposes apart


def make_scene(seed: int, index: int, difficulty: str = "default") -> Scene:
    """Make the scene of this seed and index.

    Raises:
        ValueError: the difficulty is none of `DIFFICULTIES`, or a number is out of range.
    """
    recipe = _RECIPES.get(difficulty)
    if recipe is None:
        raise ValueError(f"no difficulty {difficulty!r}: use one of {', '.join(DIFFICULTIES)}")
    dice = Dice(_SCENE, DIFFICULTIES.index(difficulty), seed, index)
    while True:  # a crowded start can leave no room for the rest: then begin again
        things = _place(recipe, dice)
        if things is not None:
            return Scene(seed, index, difficulty, things)


def _place(recipe: _Recipe, dice: Dice) -> tuple[Thing, ...] | None:
    """Lay the objects out, large ones first; None where one of them finds no room."""
    count = dice.between(*recipe.count)
    large = min(dice.between(*recipe.large), count)
    # A few colours and shapes a scene, so that objects share them and counts go beyond one.
    colours = dice.sample(COLOURS, dice.between(3, 5))
    shapes = dice.sample(SHAPES, dice.between(3, 5))
    things: list[Thing] = []
    taken: set[tuple[str, str]] = set()
    for i in range(count):
        size = "large" if i < large else "small"
        reach = dice.between(*(recipe.reach_large if i < large else recipe.reach_small))
        spot = _room(things, reach, recipe.gap, dice)
        if spot is None:
            return None
        while True:
            colour, shape = dice.pick(colours), dice.pick(shapes)
            if (colour, shape) not in taken:
                break
        taken.add((colour, shape))
        text = _text(shape, dice) if size == "large" and dice.chance(0.75) else ""
        things.append(Thing(shape, colour, size, *spot, reach, text))
    return tuple(dice.shuffled(things))


def _room(things: list[Thing], reach: int, gap: int, dice: Dice) -> tuple[int, int] | None:
    """Find a centre where a square of this reach keeps its distance from the others."""
    low, high = reach + 3, SIDE - 4 - reach
    for _ in range(40):
        x, y = dice.between(low, high), dice.between(low, high)
        for other in things:
            apart = reach + other.reach + gap
            if abs(x - other.x) < apart and abs(y - other.y) < apart:
                break
        else:
            return x, y
    return None


def _text(shape: str, dice: Dice) -> str:
    """Draw what is written on a large object; nothing where the shape has no room for it."""
    if shape in TAKES_WORD and dice.chance(0.5):
        return dice.pick(WORDS_SHOWN)
    return dice.pick(DIGITS) if shape in TAKES_DIGIT else ""
