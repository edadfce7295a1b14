"""What is true of a scene, in words: names for its objects, and facts with their opposites.

Nothing here is close: a position or a comparison is only put in words where it is clear by
`graph.MARGIN` pixels, and a name only where exactly one object answers to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.graph import (
    COLOURS,
    DIGITS,
    MARGIN,
    SHAPES,
    SIDE,
    SIZES,
    WORDS_SHOWN,
    Scene,
    Thing,
)  # fmt: skip

RELATIONS = ("left of", "right of", "above", "below")
OPPOSITE = {
    "left of": "right of", "right of": "left of", "above": "below", "below": "above",
    "left": "right", "right": "left", "top": "bottom", "bottom": "top",
    "small": "large", "large": "small",
}  # fmt: skip


class Fact(Struct, frozen=True):
    """Something true and something false that could be said in its place.

    `subject` is the name of the object it is about, or empty where it is about the scene;
    `right` and `wrong` complete it to a sentence, in lower case and without a full stop.
    """

    kind: str
    thing: int  # the object's place in `Scene.things`; -1 where it is about the scene
    subject: str
    right: str
    wrong: str
    value: str = ""  # the word that makes it right, and the one that makes it wrong
    wrong_value: str = ""

    def say(self, truth: bool, it: bool = False) -> str:
        """Say the right or the wrong, of "it" where the object was named just before."""
        words = self.right if truth else self.wrong
        if not self.subject:
            return words
        return f"it {words}" if it else f"{self.subject} {words}"


def side_of(a: Thing, b: Thing, relation: str) -> bool | None:
    """Tell whether `a` is on that side of `b`; None where it is too close to say."""
    by = {
        "left of": b.x - a.x, "right of": a.x - b.x, "above": b.y - a.y, "below": a.y - b.y,
    }[relation]  # fmt: skip
    return True if by >= MARGIN else False if by <= -MARGIN else None


def half_of(a: Thing, upright: bool) -> str:
    """Return the half it lies in: top or bottom, or else left or right; empty where unclear."""
    by = (a.y if upright else a.x) - SIDE // 2
    if abs(by) < MARGIN // 2 + 4:
        return ""
    return (("top", "bottom") if upright else ("left", "right"))[by > 0]


def beside(scene: Scene, k: int, relation: str) -> list[int] | None:
    """List the objects on that side of object k; None where one of them is too close to say.

    An object that does not reach over to that side at all does not count as close.
    """
    found = []
    for j, other in enumerate(scene.things):
        side = side_of(other, scene.things[k], relation)
        if j == k or side is False:
            continue
        if side is None:
            at = scene.things[k]
            by = other.x - at.x if relation in ("left of", "right of") else other.y - at.y
            if by != 0 and (by > 0) == (relation in ("right of", "below")):
                return None
            continue
        found.append(j)
    return found


def article(words: str) -> str:
    """Put "a" or "an" before a name."""
    return f"an {words}" if words[0] in "aeiou" else f"a {words}"


def matching(scene: Scene, colour: str = "", shape: str = "", size: str = "") -> list[int]:
    """List the objects that have all of these, an empty one asking for nothing."""
    return [
        k
        for k, t in enumerate(scene.things)
        if (not colour or t.colour == colour)
        and (not shape or t.shape == shape)
        and (not size or t.size == size)
    ]


def call(colour: str = "", shape: str = "", size: str = "") -> str:
    """Name an object by what is known of it: "large red star", "red object"."""
    return " ".join(word for word in (size, colour, shape or "object") if word)


def names(scene: Scene, k: int, without: str = "") -> list[str]:
    """List the names that fit object k alone and do not give away the attribute `without`.

    Args:
        scene: the scene.
        k: the object's place in it.
        without: "colour", "shape", "size", "text" or nothing.
    """
    thing = scene.things[k]
    others = [t for j, t in enumerate(scene.things) if j != k]
    found = []
    if without not in ("colour", "shape"):
        found.append(f"the {thing.name}")
    if without != "shape" and all(t.shape != thing.shape for t in others):
        found.append(f"the {thing.shape}")
    if without != "colour" and all(t.colour != thing.colour for t in others):
        found.append(f"the {thing.colour} object")
    if without not in ("size", "shape") and all(
        (t.size, t.shape) != (thing.size, thing.shape) for t in others
    ):
        found.append(f"the {thing.size} {thing.shape}")
    if without not in ("size", "colour") and all(
        (t.size, t.colour) != (thing.size, thing.colour) for t in others
    ):
        found.append(f"the {thing.size} {thing.colour} object")
    if without in ("colour", "shape") and thing.text and all(t.text != thing.text for t in others):
        found.append(f"the object with {thing.text} on it")
    return found


def another(options: Sequence[str], value: str, seen: Sequence[str], dice: Dice) -> str:
    """Draw a wrong value, every other time one that the scene does contain elsewhere."""
    close = [v for v in dict.fromkeys(seen) if v != value]
    if close and dice.chance(0.5):
        return dice.pick(close)
    return dice.pick([v for v in options if v != value])


# Each of these makes a fact of its kind, or None where the scene has none.


def colour_fact(scene: Scene, dice: Dice) -> Fact | None:
    """Say what colour an object is."""
    found = _named(scene, dice, "colour")
    if found is None:
        return None
    k, name = found
    value = scene.things[k].colour
    wrong = another(COLOURS, value, [t.colour for t in scene.things], dice)
    return Fact("colour", k, name, f"is {value}", f"is {wrong}", value, wrong)


def shape_fact(scene: Scene, dice: Dice) -> Fact | None:
    """Say what shape an object is."""
    found = _named(scene, dice, "shape")
    if found is None:
        return None
    k, name = found
    value = scene.things[k].shape
    wrong = another(SHAPES, value, [t.shape for t in scene.things], dice)
    return Fact("shape", k, name, f"is a {value}", f"is a {wrong}", value, wrong)


def size_fact(scene: Scene, dice: Dice) -> Fact | None:
    """Say how large an object is."""
    k = dice.below(len(scene.things))
    name = dice.pick(names(scene, k, "size"))
    value = scene.things[k].size
    wrong = OPPOSITE[value]
    return Fact("size", k, name, f"is {value}", f"is {wrong}", value, wrong)


def half_fact(scene: Scene, dice: Dice) -> Fact | None:
    """Say in which half of the picture an object is."""
    upright = dice.chance(0.5)
    for k in dice.shuffled(range(len(scene.things))):
        value = half_of(scene.things[k], upright)
        if value:
            wrong = OPPOSITE[value]
            name = dice.pick(names(scene, k))
            right = f"is in the {value} half"
            return Fact("position", k, name, right, f"is in the {wrong} half", value, wrong)
    return None


def written_fact(scene: Scene, dice: Dice) -> Fact | None:
    """Say what is written on an object."""
    written = [k for k, t in enumerate(scene.things) if t.text]
    if not written:
        return None
    k = dice.pick(written)
    name = dice.pick(names(scene, k, "text"))
    value = scene.things[k].text
    like = DIGITS if value in DIGITS else WORDS_SHOWN
    wrong = another(like, value, [t.text for t in scene.things if t.text in like], dice)
    return Fact("written", k, name, f"shows {value}", f"shows {wrong}", value, wrong)


def relation_fact(scene: Scene, dice: Dice) -> Fact | None:
    """Say on which side of another an object is."""
    for _ in range(12):
        k, j = dice.sample(range(len(scene.things)), 2)
        relation = dice.pick(RELATIONS)
        side = side_of(scene.things[k], scene.things[j], relation)
        if side is None:
            continue
        value = relation if side else OPPOSITE[relation]
        wrong = OPPOSITE[value]
        name, other = dice.pick(names(scene, k)), dice.pick(names(scene, j))
        right = f"is {value} {other}"
        return Fact("relation", k, name, right, f"is {wrong} {other}", value, wrong)
    return None


def comparison_fact(scene: Scene, dice: Dice) -> Fact | None:
    """Say which of two objects is bigger."""
    small, large = matching(scene, size="small"), matching(scene, size="large")
    if not small or not large:
        return None
    k, j = dice.pick(small), dice.pick(large)
    value, wrong = "smaller", "bigger"
    if dice.chance(0.5):
        k, j, value, wrong = j, k, wrong, value
    name, other = dice.pick(names(scene, k, "size")), dice.pick(names(scene, j, "size"))
    right = f"is {value} than {other}"
    return Fact("comparison", k, name, right, f"is {wrong} than {other}", value, wrong)


def count_fact(scene: Scene, dice: Dice) -> Fact | None:
    """Say how many there are of something."""
    what = some_class(scene, dice)
    value = len(matching(scene, **what))
    wrong = value + dice.pick([d for d in (-2, -1, 1, 2) if value + d >= 0])
    right, false = _there_are(value, what), _there_are(wrong, what)
    return Fact("count", -1, "", right, false, str(value), str(wrong))


def existence_fact(scene: Scene, dice: Dice) -> Fact | None:
    """Say that something is there, or that it is not, equally often."""
    present = dice.chance(0.5)
    colour, shape = present_pair(scene, dice) if present else absent_pair(scene, dice)
    name = call(colour, shape)
    there, not_there = f"there is {article(name)}", f"there is no {name}"
    right, wrong = (there, not_there) if present else (not_there, there)
    return Fact("existence", -1, "", right, wrong, name, "yes" if present else "no")


FACTS: dict[str, Callable[[Scene, Dice], Fact | None]] = {
    "colour": colour_fact,
    "shape": shape_fact,
    "size": size_fact,
    "position": half_fact,
    "written": written_fact,
    "relation": relation_fact,
    "comparison": comparison_fact,
    "count": count_fact,
    "existence": existence_fact,
}


def some_class(scene: Scene, dice: Dice) -> dict[str, str]:
    """Draw a class of objects to count, as arguments of `matching`; now and then an empty one."""
    thing = dice.pick(scene.things)
    roll = dice.below(10)
    if roll < 3:
        return {"colour": thing.colour if dice.chance(0.85) else dice.pick(COLOURS)}
    if roll < 6:
        return {"shape": thing.shape if dice.chance(0.85) else dice.pick(SHAPES)}
    if roll < 7:
        return {}
    if roll < 8:
        return {"size": dice.pick(SIZES)}
    return {"size": thing.size} | dice.pick([{"colour": thing.colour}, {"shape": thing.shape}])


def present_pair(scene: Scene, dice: Dice) -> tuple[str, str]:
    """Draw a colour, a shape or both that the scene has."""
    thing = dice.pick(scene.things)
    return dice.pick(((thing.colour, thing.shape),) * 2 + ((thing.colour, ""), ("", thing.shape)))


def absent_pair(scene: Scene, dice: Dice) -> tuple[str, str]:
    """Draw a colour, a shape or both that the scene lacks, mostly one half of it present."""
    colours = {t.colour for t in scene.things}
    shapes = {t.shape for t in scene.things}
    roll = dice.below(4)
    if roll == 0:
        return dice.pick([c for c in COLOURS if c not in colours]), ""
    if roll == 1:
        return "", dice.pick([s for s in SHAPES if s not in shapes])
    taken = {(t.colour, t.shape) for t in scene.things}
    while True:
        thing = dice.pick(scene.things)
        colour, shape = thing.colour, thing.shape
        if dice.chance(0.5):
            colour = dice.pick(COLOURS)
        else:
            shape = dice.pick(SHAPES)
        if (colour, shape) not in taken:
            return colour, shape


def plural(what: dict[str, str]) -> str:
    """Name a class of objects: "red objects", "crosses"."""
    name = call(**what)
    return f"{name}es" if name.endswith("cross") else f"{name}s"


def _there_are(n: int, what: dict[str, str]) -> str:
    return f"there is 1 {call(**what)}" if n == 1 else f"there are {n} {plural(what)}"


def _named(scene: Scene, dice: Dice, without: str) -> tuple[int, str] | None:
    """Draw an object that has a name without an attribute, and one of those names."""
    for k in dice.shuffled(range(len(scene.things))):
        found = names(scene, k, without)
        if found:
            return k, dice.pick(found)
    return None
