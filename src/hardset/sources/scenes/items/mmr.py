"""MMR-like pairs: one picture, a plain question and a leading one, four options each.

An option is an answer and a reason, each right or wrong; right with right is the gold one.
The leading question presses the very answer that is wrong.
"""

from __future__ import annotations

from hardset.records import Item
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.facts import FACTS, Fact
from hardset.sources.scenes.graph import DIGITS
from hardset.sources.scenes.items.place import Place, sentence
from hardset.sources.scenes.language import inquire, join, reason_for

CATEGORIES = {  # kind of fact: (level, category) in MMR's own terms
    "written": ("character", "character"),
    "existence": ("attribute", "existence"),
    "colour": ("attribute", "color&texture"),
    "count": ("attribute", "number"),
    "shape": ("attribute", "shape"),
    "position": ("attribute", "position"),
    "relation": ("context", "relation"),
    "comparison": ("context", "concrete"),
}
LEADING = (
    "{}, isn't that so?",
    "isn't it clear that {}?",
    "who could deny that {}?",
    "can you see that {}?",
)
MIXES = ((True, True), (True, False), (False, True), (False, False))  # (answer, reason) right
_MARK = {True: "r", False: "w"}


def make(place: Place) -> list[Item]:
    """Make a positive question and its leading negative; the kinds of fact take turns."""
    kind = tuple(CATEGORIES)[place.turn % len(CATEGORIES)]
    level, category = CATEGORIES[kind]
    for scene, dice in place.tries():
        fact = FACTS[kind](scene, dice)
        reason = reason_for(scene, fact, dice) if fact else None
        if fact is None or reason is None:
            continue
        pair = []
        asked = (_positive(fact, dice), dice.pick(LEADING).format(fact.say(False)))
        for offset, question in enumerate(asked):
            at = place.letter(2 * place.turn + offset)
            mixes = dice.shuffled(MIXES[1:])
            mixes.insert(at, MIXES[0])
            pair.append(
                place.item(
                    scene,
                    offset,
                    "mmr",
                    question,
                    "choice",
                    tags={
                        "level": level,
                        "options": " ".join(_MARK[a] + _MARK[b] for a, b in mixes),
                    },
                    choices=tuple(sentence(f"{join(fact, a, reason, b)}.") for a, b in mixes),
                    answer="ABCD"[at],
                    explanation=f"{join(fact, True, reason, True)}.",
                    category=category,
                    pair=place.name(),
                    role=("POS", "NEG")[offset],
                )
            )
        return pair
    raise AssertionError("unreachable: tries never ends")


def _positive(fact: Fact, dice: Dice) -> str:
    """Ask for a fact without leading."""
    if fact.kind in ("colour", "shape"):
        return f"what {fact.kind} is {fact.subject}?"
    if fact.kind == "written":
        return f"what {'digit' if fact.value in DIGITS else 'word'} does {fact.subject} show?"
    if fact.kind == "position":
        return f"in which half of the picture is {fact.subject}?"
    if fact.kind == "existence":
        there = fact.right if fact.wrong_value == "yes" else fact.wrong
        return f"is there {there.removeprefix('there is ')}?"
    if fact.kind == "count":
        many = fact.right if fact.value != "1" else fact.wrong
        return f"how many {many.removeprefix('there are ').partition(' ')[2]} are there?"
    return inquire(fact, dice.chance(0.5))
