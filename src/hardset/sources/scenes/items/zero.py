"""ZeroBench-like questions: many small steps to one number, each step a subquestion."""

from __future__ import annotations

from msgspec import Struct

from hardset.records import Item
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.facts import RELATIONS, beside, matching, names, plural, some_class
from hardset.sources.scenes.graph import DIGITS, Scene
from hardset.sources.scenes.items.place import Place


class Step(Struct, frozen=True):
    """A number to be seen in the picture: how it is named, how it is asked for, its value."""

    name: str
    question: str
    value: int


def make(place: Place) -> list[Item]:
    """Make a main question and, for each of its steps, a subquestion."""
    wanted = place.size - 1
    for scene, dice in place.tries():
        steps = _steps(scene, dice, wanted)
        if len(steps) < wanted:
            continue
        text, number = _combine(steps, dice)
        main = place.name()
        tags = {"steps": str(wanted)}
        found = ". ".join(f"{step.name} is {step.value}" for step in steps)
        made = [
            place.item(
                scene,
                0,
                "zero",
                text,
                "braces",
                tags=tags | {"part": "main"},
                answer=str(number),
                explanation=f"{found}.",
                category="main",
            )
        ]
        made += [
            place.item(
                scene,
                offset,
                "zero",
                step.question,
                "braces",
                tags=tags | {"part": "sub"},
                answer=str(step.value),
                category="subquestion",
                parent=main,
            )
            for offset, step in enumerate(steps, start=1)
        ]
        return made
    raise AssertionError("unreachable: tries never ends")


def _steps(scene: Scene, dice: Dice, wanted: int) -> list[Step]:
    """Draw different steps, what is written among them where something is."""
    found: dict[str, Step] = {}
    written = [k for k, t in enumerate(scene.things) if t.text]
    if written:
        step = _written(scene, dice.pick(written), dice)
        found[step.name] = step
    for _ in range(20):
        if len(found) >= wanted:
            break
        step = _beside(scene, dice) if dice.chance(0.4) else _count(scene, dice)
        found.setdefault(step.name, step)
    return dice.shuffled(list(found.values()))[:wanted]


def _count(scene: Scene, dice: Dice) -> Step:
    what = some_class(scene, dice)
    many = plural(what)
    number = len(matching(scene, **what))
    return Step(f"the number of {many}", f"how many {many} are there?", number)


def _beside(scene: Scene, dice: Dice) -> Step:
    """Count the objects on a side of another where that is clear, or else count a class."""
    k, relation = dice.below(len(scene.things)), dice.pick(RELATIONS)
    found = beside(scene, k, relation)
    if found is None:
        return _count(scene, dice)
    what = f"objects {relation} {dice.pick(names(scene, k))}"
    return Step(f"the number of {what}", f"how many {what} are there?", len(found))


def _written(scene: Scene, k: int, dice: Dice) -> Step:
    """Take the digit on an object, or the number of letters of the word on it."""
    name = dice.pick(names(scene, k, "text"))
    text = scene.things[k].text
    if text in DIGITS:
        return Step(f"the digit on {name}", f"what digit is on {name}?", int(text))
    letters = f"letters in the word on {name}"
    return Step(f"the number of {letters}", f"how many {letters} are there?", len(text))


def _combine(steps: list[Step], dice: Dice) -> tuple[str, int]:
    """Chain the steps: start, then add, multiply or take away, never going below zero."""
    first, *rest = steps
    parts, total, multiplied = [f"start with {first.name}"], first.value, False
    for step in rest:
        ways = ["add"]
        if not multiplied:
            ways.append("multiply")
        if total >= step.value:
            ways.append("subtract")
        way = dice.pick(ways)
        if way == "add":
            parts.append(f"add {step.name}")
            total += step.value
        elif way == "multiply":
            parts.append(f"multiply by {step.name}")
            total *= step.value
            multiplied = True
        else:
            parts.append(f"subtract {step.name}")
            total -= step.value
    return f"{'. '.join(parts)}. what number do you get?", total
