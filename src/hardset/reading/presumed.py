"""What a question presumes: "the red ball" presumes a ball, red, and one only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from hardset.reading.asked import presuming
from hardset.reading.refusals import stem
from hardset.reading.words import NOT_DOING, word_set, words_of

COLOURS = word_set(
    "red blue green yellow white black grey gray orange purple pink brown gold golden silver "
    "beige cyan violet turquoise tan maroon navy colourless colorless transparent peach "
    "teal"
)
DETERMINERS = word_set("the a an this that these those his her its their any")
WRITTEN = word_set("written say says read reads printed writing")
_PICTURES = word_set("image picture photo photograph screenshot question")
ENDS_NOUN = word_set(
    "after before in on at of to from with by for under behind over near beside above "
    "below between inside next and or that which who is are was were be been has have had "
    "does do did can could not left right , - : ? look looks lie lies stand stands point "
    "points say says show shows hang seen shown made worn held built drawn found taken "
    "given known hangs hold holds wear wears move moves come comes compare contain "
    "contains grow grows cover covers"
)
_KIND_OF = word_set("kind type sort brand breed model make part piece side half colour color")
_IS = word_set("is are was were")
_OPENS = _IS | word_set("do does did can could has have")
_ENDS: tuple[list[str], ...] = ([], ["?"], [","])


class Presumed(NamedTuple):
    """A thing that a question takes for granted."""

    head: str  # its noun's stem: "ball"
    attributes: tuple[str, ...]  # the words before it: "red"
    single: bool  # whether there is one only: "the ball"


@lru_cache(maxsize=1024)
def presumed(question: str) -> tuple[Presumed, ...]:
    """Return the things that a question takes for granted, in order."""
    words = words_of(presuming(question))
    found: list[Presumed] = []
    i = 0
    while i < len(words):
        of_kind = i > 1 and words[i - 1] == "of" and words[i - 2] in _KIND_OF
        if words[i] not in DETERMINERS and not of_kind:
            i += 1
            continue
        definite = words[i] in ("the", "this", "that")
        start = i if of_kind and words[i] not in DETERMINERS else i + 1
        end = start
        while end < len(words) and not _ends_noun(words, end):
            if end > start and words[end + 1 : end + 2] == ["or"]:
                break  # "Is the square small or large?"
            doing = words[end].endswith(("ing", "ed")) and words[end] not in NOT_DOING
            if end > start and doing and (end + 1 == len(words) or _ends_noun(words, end + 1)):
                break  # "the man holding the camera", not "the striped shirt"
            end += 1
        if end > start + 1 and not found and words[0] in _IS and words[end : end + 1] in _ENDS:
            end -= 1  # "Is the lamp orange?" presumes a lamp
        phrase = words[start:end]
        either = words[end : end + 1] == ["or"] or words[start - 2 : start - 1] == ["or"]
        if phrase and not either and phrase[-1][0].isalpha():
            owner = next((word for word in phrase[:-1] if word.endswith("'s")), "")
            if owner:
                found.append(Presumed(stem(owner), (), False))
            single = definite and phrase[-1] == stem(phrase[-1]) and not owner
            found.append(Presumed(stem(phrase[-1]), tuple(map(stem, phrase[:-1])), single))
        i = max(end, i + 1)
    if WRITTEN & {*words} and words[0] not in _OPENS:
        found.append(Presumed("text", (), False))
    return tuple(thing for thing in found if thing.head not in _PICTURES)


def asked_about(question: str) -> str:
    """Return the stem of the noun that a question asks about: "beard" of "the man's beard"."""
    things = presumed(question)
    owned = len(things) > 1 and things[0].head in things[1].attributes
    return things[1 if owned else 0].head if things else ""


def _ends_noun(words: Sequence[str], i: int) -> bool:
    if words[i] in ("left", "right") and i + 1 < len(words):  # "the left hand"
        return words[i + 1] in ENDS_NOUN
    return words[i] in ENDS_NOUN or words[i] in DETERMINERS
