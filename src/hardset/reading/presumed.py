"""What a question presumes ("the red ball": a ball, red, one only), and a reply at odds with it.

The rules of `cues` know a refusal by how it is worded. These know it by what the question takes
for granted, in any wording, and so look only at a reply in which no answer was found: it says
that there are several balls where one is asked about, that the ball is blue, that the box is
empty where its content is asked for, that only something else is to be seen, or it denies a
thing of the question in whatever sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from hardset.reading.asked import presuming, proper
from hardset.reading.cue_words import BE, NOT, PICTURE
from hardset.reading.cues import Cue, unquoted
from hardset.reading.refusals import stem
from hardset.reading.words import NUMBER_WORDS, word_set, words_of

COLOURS = word_set(
    "red blue green yellow white black grey gray orange purple pink brown gold golden silver "
    "beige cyan violet turquoise tan maroon navy colourless colorless transparent peach "
    "teal"
)
_KINDS = (
    COLOURS,
    word_set("small large big tiny huge little"),
    word_set("round square circular rectangular triangular oval"),
    word_set("open closed shut"),
)
_DETERMINERS = word_set("the a an this that these those his her its their any")
_ENDS_NOUN = word_set(
    "in on at of to from with by for under behind over near beside above below between inside "
    "next and or that which who is are was were be been has have had does do did can could not "
    "left right , - : ? look looks lie lies stand stands point points say says show shows hang "
    "hangs hold holds wear wears move moves come comes compare contain contains grow grows cover "
    "covers"
)
_KIND_OF = word_set("kind type sort brand breed model make part piece side half colour color")
_MANY = word_set(
    "several multiple many various numerous different both hundreds dozens few couple pair"
)
_DENIES = NOT - {"never"} | word_set(
    "no without neither nor nothing none lacks lack lacking cannot nowhere"
)
_CLAUSE = re.compile(r"[.!?;:()\n]+(?:\s|$)|[;()\n]|,\s|\s-\s|\b(?:but|because|while|whereas|so)\b")
_SAME = (
    word_set("text writing word letter inscription lettering caption write print engraving label"),
    word_set("digit number numeral figure"),
    word_set("picture image photo photograph"),
    word_set("aeroplane airplane plane aircraft"),
    word_set("marking mark pattern"),
)
_EMPTY = word_set(
    "blank empty bare plain unmarked unlabelled unlabeled featureless untitled unsigned hidden "
    "obscured covered concealed cropped blurred blurry"
)
_HOLDS = word_set(
    "written write writing say says read reads text word digit number holding hold holds carrying "
    "inside printed print label labelled inscription pattern wearing wear shows show contain"
)
_WRITTEN = word_set("written say says read reads printed writing")
_ATTRIBUTES = word_set(
    "colour color shape size pattern age height length width depth weight breed brand make "
    "material direction way side price texture"
)
_ASKED_OF_IT = word_set("where how when whose why")
_SEES = word_set("see shows show contains depicts features thing object subject there visible is")
_SPEAKS_OF = word_set(
    "refers refer mentions mention mentioned asks ask describes describe speaks speak talks talk "
    "assumes implies suggests references calling call called asking referring"
)
_TURNS = word_set("but however while whereas yet though although actually")
_MISTAKEN = word_set("mistaken confused confusion mistake mix-up misunderstanding mix mixup error")
_IS = word_set("is are was were")
_ENDS: tuple[list[str], ...] = ([], ["?"], [","])
_OPENS = word_set("is are was were do does did can has have")
_ALL = word_set("both each all they")
_HIDES = word_set("blocks blocking hides hiding obscures obscuring conceals concealing")
_HIDDEN = word_set("hidden covered obscured blocked concealed occluded")


ANOTHER = "another than the one asked about"


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
        if words[i] not in _DETERMINERS and not of_kind:
            i += 1
            continue
        definite = words[i] in ("the", "this", "that")
        start = i if of_kind and words[i] not in _DETERMINERS else i + 1
        end = start
        while end < len(words) and not _ends_noun(words, end):
            if end > start and words[end + 1 : end + 2] == ["or"]:
                break  # "Is the square small or large?"
            doing = words[end].endswith(("ing", "ed")) and words[end] not in COLOURS
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
    if _WRITTEN & {*words}:
        found.append(Presumed("text", (), False))
    return tuple(thing for thing in found if thing.head not in PICTURE)


def _ends_noun(words: Sequence[str], i: int) -> bool:
    if words[i] in ("left", "right") and i + 1 < len(words):  # "the left hand"
        return words[i + 1] in _ENDS_NOUN
    return words[i] in _ENDS_NOUN or words[i] in _DETERMINERS


def at_odds(text: str, question: str) -> Cue | None:
    """Find where a tidy reply that gives no answer is at odds with what its question presumes."""
    if not question or not text.isascii() or len(text) > 1200:
        return None
    asked = words_of(proper(question))
    if not asked or any(word in ("not", "no", "without") or word.endswith("n't") for word in asked):
        return None
    if asked[:2] == ["how", "many"] or {"missing", "wrong"} & set(asked):
        return None
    things = presumed(question)
    if not things:
        return None
    lowered = unquoted(text).lower()
    if _blames_question(words_of(lowered)):
        return Cue(0, len(text), "the question is at odds with the picture")
    told = list(_clauses(lowered))
    if asked[0] in _OPENS and "or" not in asked:
        return _at_odds_with_yes_no(text, told, asked, things)
    answers = _tells_of(told, things[0].head)
    if _only_another(told, asked, things):
        return Cue(0, len(text), "only another thing")
    for clause in told:
        thing = next((one for one in things if one.single and _several(clause, one)), None)
        if thing and not any(words[0] in _ALL and _alike(words) for words in told):
            return Cue(0, len(text), f"more than one {thing.head}")
        if _another_kind(clause, things, told):
            return Cue(0, len(text), ANOTHER)
        if not answers and _denies_thing(clause, things):
            return Cue(0, len(text), "what is asked about is denied")
        if _nothing_in_it(clause, asked, things):
            return Cue(0, len(text), "nothing in it")
        if not answers and _is_hidden(clause, asked, things):
            return Cue(0, len(text), "hidden")
    return None


def _at_odds_with_yes_no(
    text: str, told: Sequence[Sequence[str]], asked: Sequence[str], things: Sequence[Presumed]
) -> Cue | None:
    """Find where a reply leaves a yes or no open, as its subject is another thing, or several."""
    subject = things[0]
    if {"there", "see", "any", "visible", "present"} & set(asked[:5]):
        return None
    for words in told:
        if subject.single and _several(words, subject):
            return Cue(0, len(text), f"more than one {subject.head}")
        if _another_kind(words, things, told):
            return Cue(0, len(text), ANOTHER)
        for i, word in enumerate(words):
            if word in _DENIES or word.endswith("n't") or word in ("than", "instead"):
                named = [stem(one) for one in words[i + 1 : i + 4] if one not in _DETERMINERS]
                if named[:1] == [subject.head] and "the" not in words[i + 1 : i + 2]:
                    return Cue(0, len(text), "what is asked about is denied")
        if _is_hidden(words, asked, things):
            return Cue(0, len(text), "hidden")
    return None


def _is_hidden(words: Sequence[str], asked: Sequence[str], things: Sequence[Presumed]) -> bool:
    """Match "the screen hides it", "is completely covered by the screen"."""
    if {stem(word) for word in asked} & {"cover", "hide", "covered", "hidden", "block"}:
        return False
    heads = {thing.head for thing in things}
    for i, word in enumerate(words):
        if word in _HIDES and heads | {"it", "them", "what", "whatever", "view"} & {
            stem(one) for one in words[i + 1 : i + 4]
        }:
            return True
        if word in _HIDDEN and words[i + 1 : i + 2] in (["by"], ["behind"]) and i:
            return True
    return False


def _clauses(lowered: str) -> Iterator[list[str]]:
    for clause in _CLAUSE.split(lowered):
        words = words_of(clause)
        if words:
            yield words


def _tells_of(told: Sequence[Sequence[str]], head: str) -> bool:
    """Whether some clause says something of what is asked about, and denies nothing."""
    for words in told:
        if "there" in words[:2] or {*words} & _DENIES or any(w.endswith("n't") for w in words):
            continue
        place = next((i for i, word in enumerate(words) if stem(word) == head), -1)
        if words[:2] == ["the", "one"]:
            place = 1
        said = words[place : place + 7]
        if place >= 0 and BE & {*said} and not {"what", "which", "who"} & {*said}:
            return True
    return False


def _alike(words: Sequence[str]) -> bool:
    return bool(BE & set(words[1:4])) and "different" not in words


def _several(words: Sequence[str], thing: Presumed) -> bool:
    """Match "there are two rings", "more than one ring", "the rings", of "the ring"."""
    for i, word in enumerate(words):
        if stem(word) != thing.head:
            continue
        before = words[max(0, i - 5) : i]
        if tuple(before[-3:-1]) == ("more", "than") or before[-3:] == ["more", "than", "one"]:
            return True
        counts = any(
            NUMBER_WORDS.get(one, 0) > 1 or (one.isdigit() and one != "1") for one in before
        )
        if word != thing.head and (counts or _MANY & set(before) or before[-1:] == ["the"]):
            return not {"of", "only", "all"} & set(words[: max(0, i - 1)]) or counts
    return False


def _another_kind(
    words: Sequence[str], things: Sequence[Presumed], told: Sequence[Sequence[str]]
) -> bool:
    """Match "the ball is blue", "a blue ball", "all the balls are blue", of "the red ball"."""
    for thing in things:
        for kind in _KINDS:
            due = kind & set(thing.attributes)
            if not due or due & {"left", "right"}:
                continue
            for i, word in enumerate(words):
                if stem(word) != thing.head and not (
                    i == 0 and word in ("it", "it's", "they") and _named_before(words, told, thing)
                ):
                    continue
                said = kind & {*words[max(0, i - 2) : i], *_predicate(words, i)}
                if said and not said & due and not due & {*words}:
                    return True
                if due & set(_predicate(words, i, denied=True)):
                    return True
    return False


def _named_before(words: Sequence[str], told: Sequence[Sequence[str]], thing: Presumed) -> bool:
    """Whether the clause before says the thing's noun and not what is said of it."""
    for before, clause in pairwise(told):
        if clause == words:
            return thing.head in map(stem, before) and not {*thing.attributes} & {*before}
    return False


def _predicate(words: Sequence[str], i: int, *, denied: bool = False) -> Sequence[str]:
    """Return the words that are said of words[i]: behind "is", or "is not" where `denied`."""
    for j in range(i, min(len(words), i + 7)):
        if words[j] in BE or words[j] == "it's":
            negative = words[j].endswith("n't") or words[j + 1 : j + 2] == ["not"]
            return words[j + 1 : j + 6] if negative == denied else ()
    return ()


def _denies_thing(words: Sequence[str], things: Sequence[Presumed]) -> bool:
    """Match a denial, in whatever words, of a thing that the question names."""
    for i, word in enumerate(words):
        if word not in _DENIES and not word.endswith("n't"):
            continue
        if {"other", "another", "only", "doubt", "just"} & set(words[i + 1 : i + 3]):
            continue
        scope = [stem(one) for one in words[i + 1 :]]
        if words[i + 1 : i + 2] == ["such"] or words[-1] in ("one", "ones", "any"):
            return True
        for thing in things:
            if any(_same(thing.head, one) for one in scope):
                return True
    return False


def _same(one: str, other: str) -> bool:
    return one == other or any(one in words and other in words for words in _SAME)


def _nothing_in_it(words: Sequence[str], asked: Sequence[str], things: Sequence[Presumed]) -> bool:
    """Match "the hand is empty", "the sail is blank", asked what is in or on it."""
    if not (_HOLDS | {"in", "on"}) & set(asked):
        return False
    if words[-1] in ("empty", "blank", "bare") and BE & {*words}:
        return True
    for i, word in enumerate(words):
        if any(stem(word) == thing.head for thing in things):
            said = _predicate(words, i)
            if _EMPTY & set(said[:3]) or list(said[:2]) in (["out", "of"], ["cut", "off"]):
                return True
    return bool(_HOLDS & {*words}) and "nothing" in words


def _only_another(
    told: Sequence[Sequence[str]], asked: Sequence[str], things: Sequence[Presumed]
) -> bool:
    """Match "I only see a balloon", asked what colour the kite is; not where it has a colour."""
    of_it = asked[0] in _ASKED_OF_IT or _ATTRIBUTES & set(asked[1:3])
    if not of_it or any(COLOURS & {*words} for words in told):
        return False
    heads = {thing.head for thing in things}
    for words in told:
        if heads & {stem(word) for word in words}:
            continue
        for i, word in enumerate(words):
            near = {*words[max(0, i - 3) : i], *words[i + 1 : i + 4]}
            if word in ("only", "just", "solely") and _SEES & near:
                return True
    return False


def _blames_question(words: Sequence[str]) -> bool:
    """Match "you mention a kite, but I see a balloon", "you may be mistaken; this is a balloon"."""
    for i, word in enumerate(words):
        subject = {"question", "you", "you're", "prompt"} & set(words[max(0, i - 3) : i])
        if subject and word in _SPEAKS_OF and _TURNS & set(words[i + 1 :]):
            return True
        if word in _MISTAKEN and {"you", "there", "you're"} & set(words[max(0, i - 5) : i]):
            return True
    return False
