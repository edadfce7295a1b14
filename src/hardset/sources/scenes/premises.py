"""Names that presuppose something false, each beside the true name it was made from.

One semantic component is changed, as in HARDBench: the object, the relation or the attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from hardset.records import Form
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.facts import FACTS, RELATIONS, beside, half_of, matching, names, plural
from hardset.sources.scenes.graph import (
    COLOURS,
    DIGITS,
    SHAPES,
    SIZES,
    WORDS_SHOWN,
    Scene,
    Thing,
)


class Premise(Struct, frozen=True):
    """A true name for an object and a false one that nothing in the scene answers to.

    `asks` is what can be asked without giving it away: "colour", "shape", "size", "written",
    "across" (left or right half) or "upright" (top or bottom half).
    """

    thing: int
    true_name: str
    false_name: str
    asks: str
    altered: str
    explanation: str

    def answer(self, scene: Scene) -> tuple[str, Sequence[str], Form]:
        """Return the true answer, the answers like it, and the form of the question."""
        value = _value(scene.things[self.thing], self.asks)
        if self.asks == "written":
            return (value, DIGITS, "number") if value in DIGITS else (value, WORDS_SHOWN, "open")
        return value, _LIKE[self.asks], "open"

    def question(self, scene: Scene, name: str) -> str:
        """Ask about what bears a name, in the same words for the true and the false one."""
        if self.asks == "written":
            what = "digit" if scene.things[self.thing].text in DIGITS else "word"
            return f"what {what} is written on {name}?"
        if self.asks == "size":
            return f"is {name} small or large?"
        if self.asks in ("across", "upright"):
            return "is {} in the {} half or the {} half?".format(name, *_LIKE[self.asks])
        return f"what {self.asks} is {name}?"


_LIKE: dict[str, Sequence[str]] = {
    "colour": COLOURS,
    "shape": SHAPES,
    "size": SIZES,
    "across": ("left", "right"),
    "upright": ("top", "bottom"),
}


def _value(thing: Thing, asks: str) -> str:
    """Return what is asked of an object; empty where it has none or it is too close to say."""
    if asks in ("across", "upright"):
        return half_of(thing, asks == "upright")
    value: str = getattr(thing, "text" if asks == "written" else asks)
    return value


def object_premise(scene: Scene, dice: Dice, asks: str = "") -> Premise | None:
    """Ask about an object of a shape that is not there."""
    shape = dice.pick([s for s in SHAPES if not matching(scene, shape=s)])
    k = dice.below(len(scene.things))
    thing = scene.things[k]
    asks = asks or dice.pick(("colour", "colour", "size", "written", "across", "upright"))
    if not _value(thing, asks):
        return None
    if asks == "colour":
        if len(matching(scene, shape=thing.shape)) > 1:
            return None
        true_name, false_name = f"the {thing.shape}", f"the {shape}"
    else:
        true_name, false_name = f"the {thing.name}", f"the {thing.colour} {shape}"
    altered = f"object: {thing.shape} -> {shape}"
    why = f"there is no {shape} in the picture"
    return Premise(k, true_name, false_name, asks, altered, why)


def relation_premise(scene: Scene, dice: Dice, asks: str = "") -> Premise | None:
    """Ask about an object on a side of another where it is not."""
    asks = asks or dice.pick(("colour", "shape"))
    if asks != "written" and dice.chance(0.5):
        return _empty_side(scene, dice, asks)
    fact = FACTS["relation"](scene, dice)
    if fact is None or (asks == "written" and not scene.things[fact.thing].text):
        return None
    found = names(scene, fact.thing, "text" if asks == "written" else asks)
    if not found:
        return None
    name = dice.pick(found)
    return Premise(
        fact.thing,
        f"{name} that {fact.right}",
        f"{name} that {fact.wrong}",
        asks,
        f"relation: {fact.value} -> {fact.wrong_value}",
        f"{name} is not {fact.wrong.removeprefix('is ')}: it {fact.right}",
    )


def _empty_side(scene: Scene, dice: Dice, asks: str) -> Premise | None:
    """Ask about the object on the side of another where there is none at all."""
    for k in dice.shuffled(range(len(scene.things))):
        sides = {relation: beside(scene, k, relation) for relation in RELATIONS}
        full = [r for r, found in sides.items() if found is not None and len(found) == 1]
        empty = [r for r, found in sides.items() if found == []]
        if not full or not empty:
            continue
        true_side, false_side = dice.pick(full), dice.pick(empty)
        found = sides[true_side]
        assert found is not None
        name = dice.pick(names(scene, k))
        return Premise(
            found[0],
            f"the object {true_side} {name}",
            f"the object {false_side} {name}",
            asks,
            f"relation: {true_side} -> {false_side}",
            f"there is no object {false_side} {name}",
        )
    return None


def attribute_premise(scene: Scene, dice: Dice, asks: str = "") -> Premise | None:
    """Ask about an object that is there, but not of that colour or size."""
    k = dice.below(len(scene.things))
    thing = scene.things[k]
    asks = asks or dice.pick(("colour", "colour", "size", "written", "across", "upright"))
    if not _value(thing, asks):
        return None
    same = matching(scene, shape=thing.shape)
    if asks == "colour":  # of a size it does not have
        if len(same) != 1:
            return None
        wrong = SIZES[thing.size == "small"]
        return Premise(
            k,
            f"the {thing.size} {thing.shape}",
            f"the {wrong} {thing.shape}",
            asks,
            f"attribute: {thing.size} -> {wrong}",
            f"the {thing.shape} is not {wrong} but {thing.size}",
        )
    here = {scene.things[j].colour for j in same}
    absent = [c for c in COLOURS if c not in here]
    close = [c for c in absent if matching(scene, colour=c)]
    wrong = dice.pick(close) if close and dice.chance(0.5) else dice.pick(absent)
    shown = [t.colour for t in scene.things if t.shape == thing.shape]
    many = f"the {plural({'shape': thing.shape})} are {listed(shown)}"
    return Premise(
        k,
        f"the {thing.name}",
        f"the {wrong} {thing.shape}",
        asks,
        f"attribute: {thing.colour} -> {wrong}",
        f"there is no {wrong} {thing.shape}: "
        + (many if len(same) > 1 else f"the {thing.shape} is {thing.colour}"),
    )


PREMISES: dict[str, Callable[[Scene, Dice, str], Premise | None]] = {
    "object": object_premise,
    "relation": relation_premise,
    "attribute": attribute_premise,
}


def listed(words: Sequence[str]) -> str:
    """Join words as in "red, blue and green"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
