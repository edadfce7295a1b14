"""Words that the refusal rules share, and small facts about a sentence's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from hardset.reading.words import word_set

Found = tuple[bool, tuple[str, ...] | None] | None
"""What a rule returns: fires strongly or weakly, and what is said to be absent; None: no."""

STRONG: Found = (True, None)
WEAK: Found = (False, None)


class Rule(NamedTuple):
    """A rule on a sentence's words, and words of which it needs one to fire at all."""

    name: str
    match: Callable[[list[str]], Found]
    needs: frozenset[str]


NT, BLE = "n't", "-ble"  # marks of words that end so
CANNOT = word_set("can't cannot couldn't cant")
NOT = word_set("not isn't aren't wasn't weren't never")
BE = word_set(
    "is are was were be am remains remain isn't aren't wasn't weren't seems appears it's "
    "that's i'm been being"
)
ADVERBS = word_set(
    "be really even just currently also quite very exactly precisely definitively definitely "
    "accurately reliably clearly directly fully possibly actually truly still simply "
    "confidently properly reasonably personally completely to conclusively visually easily "
    "either"
)
LOOKS = word_set("see find spot observe detect notice")
PICTURE = word_set(
    "image picture photo photograph figure scene chart diagram question text passage video "
    "screenshot map graph illustration painting drawing prompt view shot images pictures "
    "photos frame table page document sign label menu article caption poster screen"
)
MADE_OUT = word_set(
    "legible readable discernible distinguishable identifiable recognizable recognisable "
    "decipherable resolvable countable perceptible measurable clear"
)
SHOWN = word_set(
    "visible shown specified mentioned provided present depicted given stated available "
    "answerable identifiable legible readable determinable clear discernible possible "
    "applicable pictured seen included indicated displayed known disclosed recognizable "
    "described labeled labelled named credited signed obvious evident apparent distinguishable "
    "recognisable observable perceptible detectable decipherable resolvable countable measurable "
    "verifiable knowable inferable inferrable deducible ascertainable noticeable viewable"
)
KNOW = word_set(
    "determine determined tell told answer answered say said identify identified confirm "
    "confirmed know known discern discerned decide decided assess assessed verify verified "
    "judge judged infer inferred ascertain ascertained conclude concluded view viewed access "
    "accessed recognize recognized recognise recognised deduce deduced establish established "
    "provide help assist comment find found locate located spot read see seen make "
    "distinguish distinguished describe comply process analyze analyse interpret interpreted "
    "discuss give given fulfil fulfill specify specified guess count counted pinpoint choose "
    "select pick reveal share disclose estimate estimated observe observed perceive respond "
    "predict gauge detect evaluate evaluated proceed be made drawn reached open load knowing "
    "telling determining saying processed loaded rendered displayed measure measured compare "
    "compared name named date dated"
)
_REPORTS = word_set(
    "reads says states displays written titled labeled labelled called named saying reading spells"
)
_DENIES = word_set("not no without cannot")


def own_words(words: list[str]) -> list[str]:
    """Return the words up to "reads", "says": what follows is the image's, not the model's."""
    for i, word in enumerate(words):
        if words[i + 1 : i + 2] in (["nothing"], ["little"]):
            continue  # "Brightness says nothing about distance"
        if word in _REPORTS and i and words[i - 1] not in NOT and "question" not in words[:i]:
            return words[:i]
    return words


def marks_of(words: Sequence[str]) -> set[str]:
    """Return the words of a sentence, and what some end in, to be held against a rule's `needs`."""
    marks = {*words}
    for word in words:
        if word.endswith("n't"):
            marks.add(NT)
        elif word.endswith("ble"):
            marks.add(BLE)
    return marks


def past_adverbs(words: Sequence[str], i: int) -> int:
    """Return the index of the first word from `i` on that is no adverb."""
    while i < len(words) and (words[i] in ADVERBS or words[i].endswith("ly")):
        i += 1
    return i


def negated(words: Sequence[str]) -> bool:
    """Whether any of the words denies."""
    return any(word in _DENIES or word.endswith("n't") for word in words)


def at(words: Sequence[str], i: int, *allowed: str) -> bool:
    """Whether the words from `i` on are these; "a|b" allows either."""
    if len(words) < i + len(allowed):
        return False
    for choice in allowed:
        if words[i] not in _either(choice):
            return False
        i += 1
    return True


@lru_cache(maxsize=256)
def _either(choice: str) -> frozenset[str]:
    return frozenset(choice.split("|"))
