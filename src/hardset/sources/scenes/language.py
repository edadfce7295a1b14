"""The questions and statements about a scene, with exact truth, in a small closed vocabulary.

`ask` draws a question with a one-word answer from `ANSWERS`; `state` draws a sentence that is
true or false. Every text splits by `tokens` into words of `WORDS`. `local/scout` is trained
on this language, so a change of words here asks for a new `graph.VERSION` and new weights.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from hardset.records import Form
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.facts import (
    FACTS,
    RELATIONS,
    Fact,
    beside,
    matching,
    names,
    plural,
    some_class,
)
from hardset.sources.scenes.graph import COLOURS, DIGITS, SHAPES, SIZES, WORDS_SHOWN, Scene

_TOKEN = re.compile(r"[a-z]+|[0-9]")

HALVES = ("left", "right", "top", "bottom")
ANSWERS = ("yes", "no", *COLOURS, *SHAPES, *SIZES, *HALVES, *DIGITS, *WORDS_SHOWN)
"""Every answer `ask` can have, in a fixed order."""

_PLURALS = tuple(f"{shape}es" if shape == "cross" else f"{shape}s" for shape in SHAPES)
_SPOKEN = _TOKEN.findall(
    "a above an and are below bigger caption colour digit do does drawn drew half how in is isn "
    "it made many more object objects of on or picture says see show shows since size shape small "
    "smaller t than that the there was what when where which who with word written you"
)
WORDS = tuple(dict.fromkeys((*ANSWERS, *_PLURALS, *_SPOKEN)))
"""The closed vocabulary of `ask` and `state`, in a fixed order."""


def tokens(text: str) -> list[str]:
    """Split a text into lower-case words and single digits, without punctuation."""
    return _TOKEN.findall(text.lower())


_ASKS_FOR: tuple[tuple[str, Sequence[str]], ...] = (
    ("colour is", COLOURS),
    ("shape is", SHAPES),
    ("word is", WORDS_SHOWN),
    ("digit is", DIGITS),
    ("small or large", SIZES),
    ("left half or the right half", ("left", "right")),
    ("top half or the bottom half", ("top", "bottom")),
)


def answers_to(question: str) -> Sequence[str]:
    """Return the words that answer an open question of this language, by its words alone."""
    question = question.lower()
    return next((words for phrase, words in _ASKS_FOR if phrase in question), ())


class Question(Struct, frozen=True):
    """A question with its exact answer, in lower case.

    `things` are the objects it names, in `Scene.things`; `options` are the answers that would
    make sense, among them the right one (for multiple choice), empty for yes and no.
    """

    kind: str
    text: str
    form: Form
    answer: str
    options: Sequence[str] = ()
    things: tuple[int, ...] = ()
    reason: str = ""  # a true statement the answer follows from


class Statement(Struct, frozen=True):
    """A sentence and whether it is true, in lower case and without a full stop."""

    kind: str
    text: str
    truth: bool


def ask(scene: Scene, dice: Dice, kind: str = "") -> Question:
    """Draw a question of a kind in `KINDS`, or of any kind that the scene has."""
    for chosen in (kind,) if kind else dice.shuffled(tuple(KINDS)):
        question = KINDS[chosen](scene, dice)
        if question is not None:
            return question
    return _count(scene, dice)  # every scene can be counted


def twist(scene: Scene, dice: Dice, kind: str = "", core: Question | None = None) -> Question:
    """Put something untrue or unanswerable beside a core question; the answer is the core's.

    "premise" begins with a false statement, "caption" with a caption that does not fit, and
    "partial" ends in a second question that no picture answers.
    """
    kind = kind or dice.pick(("premise", "caption", "partial"))
    core = core or ask(scene, dice)
    if kind == "partial":
        return _with(core, "partial", f"{core.text[:-1]}, and {dice.pick(UNKNOWABLE)}?")
    lie = some_fact(scene, dice, apart_from=core)
    opening = "since {}," if kind == "premise" else "the caption says {}."
    return _with(core, kind, f"{opening.format(lie.say(False))} {core.text}", lie.say(True))


UNKNOWABLE = ("who drew it", "when was it drawn", "where was it made")
"""Second questions of "partial": nothing in a picture answers them."""


def _with(core: Question, kind: str, text: str, reason: str = "") -> Question:
    return Question(kind, text, core.form, core.answer, core.options, core.things, reason)


def state(scene: Scene, dice: Dice) -> Statement:
    """Draw a statement, true half of the time: one fact, or two joined by "and".

    A false one of two facts has its first, its second or both wrong, equally often.
    """
    truth = dice.chance(0.5)
    first = some_fact(scene, dice)
    second = reason_for(scene, first, dice) if dice.chance(0.6) else None
    if second is None:
        return Statement(first.kind, first.say(truth), truth)
    a, b = (True, True) if truth else dice.pick(((False, True), (True, False), (False, False)))
    return Statement(f"{first.kind}+{second.kind}", join(first, a, second, b), truth)


def join(first: Fact, a: bool, second: Fact, b: bool) -> str:
    """Say two facts in one sentence, each the right way (True) or the wrong way."""
    it = bool(second.subject) and second.thing == first.thing
    return f"{first.say(a)} and {second.say(b, it=it)}"


def some_fact(scene: Scene, dice: Dice, apart_from: Question | None = None) -> Fact:
    """Draw a fact of any kind; apart from a question, of another kind and about other objects."""
    named = apart_from.things if apart_from else ()
    spare = None
    for kind in dice.shuffled(tuple(FACTS)):
        fact = None if apart_from and kind == apart_from.kind else FACTS[kind](scene, dice)
        if fact is None:
            continue
        if fact.thing < 0 or fact.thing not in named:
            return fact
        spare = fact
    if spare is None:
        raise AssertionError(f"no fact about {scene.where}")  # counting is always possible
    return spare


def reason_for(scene: Scene, fact: Fact, dice: Dice) -> Fact | None:
    """Draw a second fact that can stand beside the first: of the same object, or a count."""
    if fact.thing < 0:
        for _ in range(4):
            count = FACTS["count"](scene, dice)
            if count and count.right != fact.right and count.wrong != fact.right:
                return count
        return None
    for kind in dice.shuffled(("size", "position", "relation", "written", "comparison")):
        if kind == fact.kind:
            continue
        for _ in range(6):
            other = FACTS[kind](scene, dice)
            if other and other.thing == fact.thing:
                return other
    return None


# Each of these draws a question of its kind, or None where the scene has none.


def _colour(scene: Scene, dice: Dice) -> Question | None:
    fact = FACTS["colour"](scene, dice)
    if fact is None:
        return None
    text = dice.pick(("what colour is {}?", "which colour is {}?")).format(fact.subject)
    return Question("colour", text, "open", fact.value, COLOURS, (fact.thing,))


def _shape(scene: Scene, dice: Dice) -> Question | None:
    fact = FACTS["shape"](scene, dice)
    if fact is None:
        return None
    text = dice.pick(("what shape is {}?", "which shape is {}?")).format(fact.subject)
    return Question("shape", text, "open", fact.value, SHAPES, (fact.thing,))


def _size(scene: Scene, dice: Dice) -> Question | None:
    fact = FACTS["size"](scene, dice)
    if fact is None:
        return None
    text = dice.pick(("is {} small or large?", "what size is {}, small or large?"))
    return Question("size", text.format(fact.subject), "open", fact.value, SIZES, (fact.thing,))


def _written(scene: Scene, dice: Dice) -> Question | None:
    fact = FACTS["written"](scene, dice)
    if fact is None:
        return None
    digit = fact.value in DIGITS
    what = "digit" if digit else "word"
    text = dice.pick((f"what {what} is on {{}}?", f"which {what} is written on {{}}?"))
    form: Form = "number" if digit else "open"
    options = DIGITS if digit else WORDS_SHOWN
    name = fact.subject
    return Question("written", text.format(name), form, fact.value, options, (fact.thing,))


def _position(scene: Scene, dice: Dice) -> Question | None:
    fact = FACTS["position"](scene, dice)
    if fact is None:
        return None
    if dice.chance(0.5):
        return _yes_no("position", fact, dice)
    both = ("left", "right") if fact.value in ("left", "right") else ("top", "bottom")
    text = f"is {fact.subject} in the {both[0]} half or the {both[1]} half?"
    return Question("position", text, "open", fact.value, both, (fact.thing,))


def _relation(scene: Scene, dice: Dice) -> Question | None:
    fact = FACTS["relation"](scene, dice)
    return _yes_no("relation", fact, dice) if fact else None


def _verify(scene: Scene, dice: Dice) -> Question | None:
    fact = FACTS[dice.pick(("colour", "shape", "size", "written"))](scene, dice)
    return _yes_no("verify", fact, dice) if fact else None


def _comparison(scene: Scene, dice: Dice) -> Question | None:
    if dice.chance(0.5):
        fact = FACTS["comparison"](scene, dice)
        return _yes_no("comparison", fact, dice) if fact else None
    for _ in range(12):
        a, b = dice.sample(_classes(scene), 2)
        more, fewer = len(matching(scene, **a)), len(matching(scene, **b))
        if more != fewer:
            text = f"are there more {plural(a)} than {plural(b)}?"
            return Question("comparison", text, "yes_no", "yes" if more > fewer else "no")
    return None


def _existence(scene: Scene, dice: Dice) -> Question | None:
    fact = FACTS["existence"](scene, dice)
    assert fact is not None  # something is there in every scene
    there = fact.right if fact.wrong_value == "yes" else fact.wrong
    name = there.removeprefix("there is ")
    text = dice.pick(("is there {}?", "do you see {}?", "is there {} in the picture?"))
    return Question("existence", text.format(name), "yes_no", fact.wrong_value)


def _count(scene: Scene, dice: Dice) -> Question:
    what = some_class(scene, dice)
    text = dice.pick(("how many {} are there?", "how many {} do you see?")).format(plural(what))
    number = str(len(matching(scene, **what)))
    return Question("count", text, "number", number, DIGITS)


def _neighbour(scene: Scene, dice: Dice) -> Question | None:
    """Ask about the one object on a side of another, or one told apart by its side."""
    for k in dice.shuffled(range(len(scene.things))):
        relation = dice.pick(RELATIONS)
        found = beside(scene, k, relation)
        if found is None or len(found) != 1:
            continue
        j, name = found[0], dice.pick(names(scene, k))
        what = dice.pick(("colour", "shape"))
        text = f"what {what} is the object {relation} {name}?"
        answer, options = _attribute(scene, j, what)
        return Question("neighbour", text, "open", answer, options, (j, k))
    return None


def _described(scene: Scene, dice: Dice) -> Question | None:
    """Ask about an object while saying, truly, on which side of another it is."""
    fact = FACTS["relation"](scene, dice)
    if fact is None:
        return None
    what = dice.pick(("colour", "shape"))
    found = names(scene, fact.thing, what)
    if not found:
        return None
    text = f"what {what} is {dice.pick(found)} that {fact.right}?"
    answer, options = _attribute(scene, fact.thing, what)
    return Question("described", text, "open", answer, options, (fact.thing,))


KINDS: dict[str, Callable[[Scene, Dice], Question | None]] = {
    "colour": _colour,
    "shape": _shape,
    "size": _size,
    "written": _written,
    "position": _position,
    "relation": _relation,
    "verify": _verify,
    "comparison": _comparison,
    "existence": _existence,
    "count": _count,
    "neighbour": _neighbour,
    "described": _described,
}
"""The kinds of plain questions."""


def _attribute(scene: Scene, k: int, what: str) -> tuple[str, Sequence[str]]:
    thing = scene.things[k]
    return (thing.colour, COLOURS) if what == "colour" else (thing.shape, SHAPES)


def _classes(scene: Scene) -> list[dict[str, str]]:
    """List the classes by one attribute that the scene has, each once, in drawing order."""
    colours = dict.fromkeys(t.colour for t in scene.things)
    shapes = dict.fromkeys(t.shape for t in scene.things)
    return [{"colour": c} for c in colours] + [{"shape": s} for s in shapes]


def _yes_no(kind: str, fact: Fact, dice: Dice) -> Question:
    """Turn a fact into a question whose answer is yes or no, equally often."""
    truth = dice.chance(0.5)
    text = inquire(fact, truth)
    return Question(kind, text, "yes_no", "yes" if truth else "no", (), (fact.thing,))


def inquire(fact: Fact, truth: bool) -> str:
    """Ask whether what a fact says of an object, the right way or the wrong way, is so."""
    words = fact.right if truth else fact.wrong
    verb, _, rest = words.partition(" ")
    if verb == "shows":
        return f"does {fact.subject} show {rest}?"
    return f"is {fact.subject} {rest}?"
