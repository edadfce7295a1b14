"""Questions that a picture cannot answer, one maker for each of MMOOC's five kinds.

Each takes a scene, dice and a form, and returns None where the scene cannot bear it.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from hardset.records import Form
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.facts import matching, names, plural
from hardset.sources.scenes.graph import (
    COLOURS,
    DIGITS,
    SHAPES,
    WORDS_SHOWN,
    Scene,
    Thing,
)
from hardset.sources.scenes.premises import PREMISES


class Shifted(Struct, frozen=True):
    """A question out of context: its options, why it has no answer, how the picture is spoiled."""

    text: str
    why: str
    scenario: str
    choices: tuple[str, ...] = ()
    variant: str = ""


Maker = Callable[[Scene, Dice, Form], Shifted | None]


def ambiguity(scene: Scene, dice: Dice, form: Form) -> Shifted | None:
    """MA: the object asked about is blurred, hidden, or one of several that fit."""
    way = dice.pick(("blur", "cover", "several"))
    if way == "several":
        return _several(scene, dice, form)
    k = dice.below(len(scene.things))
    if way == "blur":
        name, asks, like = "the blurred object", "shape", SHAPES
        why = "the object is blurred beyond recognition, so its shape cannot be told"
    else:
        name, asks, like = "the object behind the grey panel", "colour", COLOURS
        why = "a grey panel hides the object, so its colour cannot be seen"
    text = _inquire(name, asks, form, dice)
    choices = tuple(dice.sample(like, 4)) if form == "choice" else ()
    return Shifted(text, why, "fine-grained perception", choices, f"{way}={k}")


def _several(scene: Scene, dice: Dice, form: Form) -> Shifted | None:
    """Ask for the colour of "the star" where stars of several colours are to be seen."""
    shape = dice.pick(scene.things).shape
    colours = [scene.things[k].colour for k in matching(scene, shape=shape)]
    if len(colours) < 2:
        return None
    if form == "yes_no":
        text = f"is the {shape} {dice.pick(colours)}?"
    else:
        text = f"what colour is the {shape}?"
    choices: tuple[str, ...] = ()
    if form == "choice":
        others = dice.sample([c for c in COLOURS if c not in colours], 2)
        choices = (*dice.sample(colours, 2), *others)
    several = plural({"shape": shape})
    why = f"there are {len(colours)} {several}, and it is unclear which is meant"
    return Shifted(text, why, "coarse perception", choices)


def false_premise(scene: Scene, dice: Dice, form: Form) -> Shifted | None:
    """VFP: the question presumes an object, an attribute or a relation that is not there."""
    edit = dice.pick(tuple(PREMISES))
    premise = PREMISES[edit](scene, dice, dice.pick(("colour", "written")))
    if premise is None:
        return None
    answer, like, _ = premise.answer(scene)
    scenario = "spatial understanding" if edit == "relation" else "fine-grained perception"
    if form == "yes_no":
        verb = ("is", "") if premise.asks == "colour" else ("does", "show ")
        text = f"{verb[0]} {premise.false_name} {verb[1]}{answer}?"
        return Shifted(text, premise.explanation, scenario)
    choices: tuple[str, ...] = ()
    if form == "choice":
        choices = (answer, *dice.sample([v for v in like if v != answer], 3))
    text = premise.question(scene, premise.false_name)
    return Shifted(text, premise.explanation, scenario, choices)


_PHYSICAL = {  # (yes or no, open, what is missing, scenario); {a} and {b} are two objects
    "depth": (
        "is {a} closer to the viewer than {b}?",
        "how many centimetres is {a} in front of {b}?",
        "a flat drawing shows no depth between objects that do not overlap",
        "spatial understanding",
    ),
    "motion": (
        "is {a} moving towards {b}?",
        "in which direction is {a} moving?",
        "a single still picture shows no motion",
        "physical understanding",
    ),
    "support": (
        "is {a} held up by {b}?",
        "what is holding {a} up?",
        "nothing in the picture shows what supports an object",
        "physical understanding",
    ),
    "weight": (
        "is {a} heavier than {b}?",
        "how many grams does {a} weigh?",
        "nothing in the picture shows what an object weighs",
        "physical understanding",
    ),
}
_PHYSICAL_CHOICES = {
    "depth": ("1 centimetre", "10 centimetres", "50 centimetres", "100 centimetres"),
    "motion": ("to the left", "to the right", "upwards", "downwards"),
    "support": ("a string", "a table", "a magnet", "a hand"),
    "weight": ("5 grams", "50 grams", "200 grams", "1000 grams"),
}


def physical(scene: Scene, dice: Dice, form: Form) -> Shifted | None:
    """USPC: depth, motion, support or weight, of which a flat still picture is no evidence."""
    k, j = dice.sample(range(len(scene.things)), 2)
    what = dice.pick(tuple(_PHYSICAL))
    if what == "depth" and _touch(scene.things[k], scene.things[j]):
        return None
    yes_no, opened, why, scenario = _PHYSICAL[what]
    a, b = dice.pick(names(scene, k)), dice.pick(names(scene, j))
    text = (yes_no if form == "yes_no" else opened).format(a=a, b=b)
    return Shifted(text, why, scenario, _PHYSICAL_CHOICES[what] if form == "choice" else ())


def symbols(scene: Scene, dice: Dice, form: Form) -> Shifted | None:
    """ULS: what is written is unreadable, or a rule or a legend that nobody gave is asked for."""
    way = dice.pick(("smudge", "smudge", "rule", "legend"))
    if way == "smudge":
        written = [k for k, t in enumerate(scene.things) if t.text]
        if not written:
            return None
        k = dice.pick(written)
        text = scene.things[k].text
        like = DIGITS if text in DIGITS else WORDS_SHOWN
        name = dice.pick(names(scene, k, "text"))
        if form == "yes_no":
            asked = f"does {name} show {dice.pick(like)}?"
        else:
            asked = f"what {'digit' if text in DIGITS else 'word'} is on {name}?"
        why = f"what is written on {name} is unreadable"
        choices = tuple(dice.sample(like, 4)) if form == "choice" else ()
        return Shifted(asked, why, "symbolic reasoning", choices, f"smudge={k}")
    name = dice.pick(names(scene, dice.below(len(scene.things))))
    if way == "rule":
        asked = (
            f"by the rules of this game, may {name} be moved next?"
            if form == "yes_no"
            else f"by the rules of this game, how many points is {name} worth?"
        )
        choices = ("1 point", "2 points", "5 points", "10 points") if form == "choice" else ()
        return Shifted(asked, "the picture gives no rules", "logical reasoning", choices)
    asked = (
        f"by the legend of this map, does {name} stand for a school?"
        if form == "yes_no"
        else f"by the legend of this map, what does {name} stand for?"
    )
    choices = ("a school", "a church", "a station", "a bridge") if form == "choice" else ()
    return Shifted(asked, "the picture has no legend", "symbolic reasoning", choices)


_BACKGROUND = (  # (yes or no, otherwise, options, what is missing)
    (
        "was {a} drawn by a child?",
        "who drew {a}?",
        ("Anna", "Boris", "Chen", "Dalia"),
        "who drew it",
    ),
    (
        "was this picture made in Paris?",
        "in which city was this picture made?",
        ("Paris", "Lima", "Nairobi", "Osaka"),
        "the place it was made",
    ),
    (
        "was this picture made before 2019?",
        "in which year was this picture made?",
        ("1987", "2003", "2014", "2021"),
        "the date it was made",
    ),
    (
        "was this picture made for a birthday?",
        "for which event was this picture made?",
        ("a birthday", "a wedding", "a contest", "a concert"),
        "the event it was made for",
    ),
)


def background(scene: Scene, dice: Dice, form: Form) -> Shifted | None:
    """MKB: an identity, a place, a date or an event that the picture does not hold."""
    yes_no, otherwise, choices, missing = dice.pick(_BACKGROUND)
    name = dice.pick(names(scene, dice.below(len(scene.things))))
    text = (yes_no if form == "yes_no" else otherwise).format(a=name)
    why = f"nothing in the picture tells {missing}"
    return Shifted(text, why, "coarse perception", choices if form == "choice" else ())


MAKERS: dict[str, Maker] = {
    "MA": ambiguity,
    "VFP": false_premise,
    "USPC": physical,
    "ULS": symbols,
    "MKB": background,
}


def _inquire(name: str, asks: str, form: Form, dice: Dice) -> str:
    if form != "yes_no":
        return f"what {asks} is {name}?"
    return f"is {name} {'a ' + dice.pick(SHAPES) if asks == 'shape' else dice.pick(COLOURS)}?"


def _touch(a: Thing, b: Thing) -> bool:
    """Tell whether the bounding squares of two objects overlap, which would show depth."""
    apart = a.reach + b.reach + 1
    return abs(a.x - b.x) <= apart and abs(a.y - b.y) <= apart
