"""Replies at odds with what their question presumes, in whatever wording.

The rules of `cues` know a refusal by how it is worded. These know it by what the question takes
for granted, in any wording, and so look only at a reply in which no answer was found: it says
that there are several balls where one is asked about, that the ball is blue, that the box is
empty where its content is asked for, that only something else is to be seen, or it denies a
thing of the question in whatever sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hardset.reading.asked import proper
from hardset.reading.cue_words import BE, NOT
from hardset.reading.cues import Cue, unquoted
from hardset.reading.presumed import (
    COLOURS,
    DETERMINERS,
    ENDS_NOUN,
    WRITTEN,
    Presumed,
    asked_about,
    presumed,
)
from hardset.reading.refusals import content, stem
from hardset.reading.words import NUMBER_WORDS, word_set, words_of

_KINDS = (
    COLOURS,
    word_set("small large big tiny huge little"),
    word_set("round square circular rectangular triangular oval"),
    word_set("open closed shut"),
)
_MANY = word_set(
    "several multiple many various numerous different both hundreds dozens few couple pair "
    "countless thousands lots"
)
_DENIES = NOT - {"never"} | word_set(
    "no without neither nor nothing none nobody lacks lack lacking cannot nowhere"
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
_MEASURED = word_set(
    "colour color size pattern age height length width depth weight price texture old tall long "
    "wide high deep heavy big large much far fast direction way side"
)
_IS_OR_SHOWS = word_set("is shows show depicts depict features see")
_SUBJECTS = word_set(
    "animal object thing person subject vehicle building image picture photo photograph scene "
    "figure drawing"
)
_UNSEEN = word_set("low small dark blurry blurred far tiny faint poor bright distant grainy")
_TURNS = word_set("but however while whereas yet though although actually")
_MISTAKEN = word_set("mistaken confused confusion mistake mix-up misunderstanding mix mixup error")
_OPENS = word_set("is are was were do does did can has have")
_ALL = word_set("both each all they")
_HIDES = word_set("blocks blocking hides hiding obscures obscuring conceals concealing")
_HIDDEN = word_set("hidden covered obscured blocked concealed occluded")


ANOTHER = "another than the one asked about"


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
    answers = _tells_of(told, asked_about(question), single=things[0].single)
    if _only_another(told, asked, things) or _something_else(told, asked, things):
        return Cue(0, len(text), "only another thing")
    if _only_asks(lowered) or _only_denies(told, asked):
        return Cue(0, len(text), "nothing is answered")
    if not answers and any(map(_hardly_seen, told)):
        return Cue(0, len(text), "hardly to be seen")
    for clause in told:
        thing = next((one for one in things if one.single and _several(clause, one)), None)
        if thing and not answers and not any(w[0] in _ALL and _alike(w) for w in told):
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
                named = [stem(one) for one in words[i + 1 : i + 4] if one not in DETERMINERS]
                if named[:1] == [subject.head] and "the" not in words[i + 1 : i + 2]:
                    return Cue(0, len(text), "what is asked about is denied")
        if _is_hidden(words, asked, things):
            return Cue(0, len(text), "hidden")
        if words[0] in ("nothing", "none", "nobody") and not _predicated(words, asked, things):
            return Cue(0, len(text), "what is asked about is denied")
    return None


def _predicated(words: Sequence[str], asked: Sequence[str], things: Sequence[Presumed]) -> bool:
    """Whether a clause holds a word of what is asked of the things, and not only those."""
    named = {stem(word) for thing in things for word in (thing.head, *thing.attributes)}
    return bool((content(asked) - named - ENDS_NOUN) & content(words))


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


def _tells_of(told: Sequence[Sequence[str]], head: str, *, single: bool) -> bool:
    """Whether some clause says something of what is asked about, and denies nothing."""
    for words in told:
        if "there" in words[:2] or {*words} & _DENIES or any(w.endswith("n't") for w in words):
            continue
        said_of = (
            i for i, word in enumerate(words) if word == head or (not single and stem(word) == head)
        )
        place = next(said_of, -1)
        said = words[1:2] if words[0] in ("it's", "they're") else words[2:3]
        if words[0] in ("it", "it's", "they", "they're") and any(kind & {*said} for kind in _KINDS):
            return True
        if "one" in words[1:4] and words[0] == "the":  # "the green one is"
            place = words.index("one")
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
        if {"more", "one"} <= {*before} or (
            "just" in before and "one" in before and _denied(before)
        ):
            return True  # "more than one ring", "isn't just one ring"
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
    if {"vain", "success", "avail"} & {*words[-2:]} and {"in", "without", "no"} & {*words}:
        return True
    for i, word in enumerate(words):
        if word.endswith("less") and any(stem(word[:-4]) == thing.head for thing in things):
            return True  # "The snake is hatless"
        if word not in _DENIES and not word.endswith("n't"):
            continue
        if {"other", "another", "only", "doubt", "just"} & set(words[i + 1 : i + 3]):
            continue
        if {"except", "besides", "but"} & set(words[i + 1 :]):
            continue
        scope = [stem(one) for one in words[i + 1 :]]
        if word in ("none", "neither") and any({*one.attributes} & {*scope} for one in things):
            return True  # "yet none is red"
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


def _something_else(
    told: Sequence[Sequence[str]], asked: Sequence[str], things: Sequence[Presumed]
) -> bool:
    """Match "The animal is a cat", "The picture shows a cat", asked what the dog's eyes are like.

    The whole reply says nothing of the dog, and the question is not what something is.
    """
    of_it = asked[0] in ("where", "when", "whose") or _MEASURED & set(asked[1:3])
    if not of_it or any(things[0].head in map(stem, words) for words in told):
        return False
    for words in told:
        for i, word in enumerate(words):
            named = words[i + 1 : i + 6]
            said_of = (
                _SUBJECTS & set(words[:i]) or words[:i] == ["this"] or words[0] in ("all", "what")
            )
            if i and word in _IS_OR_SHOWS and said_of and {"a", "an", "some"} & {*named[:1]}:
                return not COLOURS & {*named}
    return False


def _only_asks(lowered: str) -> bool:
    """Whether a reply asks for something, and says nothing: "Could you provide more context?"."""
    return lowered.endswith("?") and lowered.startswith(
        ("could you", "can you", "would you", "please")
    )


def _only_denies(told: Sequence[Sequence[str]], asked: Sequence[str]) -> bool:
    """Whether every clause denies: "He does not have facial hair", asked what his beard is like."""
    if WRITTEN & {*asked} or {"or", "doing", "wrong"} & {*asked} or not told:
        return False
    verb = any(word in BE or word.endswith("n't") or word == "not" for word in told[0])
    plain = not any(COLOURS & {*words} for words in told)
    return verb and plain and len(told[0]) > 2 and all(map(_mainly_denied, told))


def _mainly_denied(words: Sequence[str]) -> bool:
    """Whether a clause denies by its verb: "he has no hat", not "it is sunny with no clouds"."""
    denied = next((i for i, w in enumerate(words) if w in _DENIES or w.endswith("n't")), -1)
    verb = next((i for i, w in enumerate(words) if w in BE and not w.endswith("n't")), denied)
    return 0 <= denied <= verb + 1


def _denied(words: Sequence[str]) -> bool:
    return any(word in _DENIES or word.endswith("n't") for word in words)


def _hardly_seen(words: Sequence[str]) -> bool:
    """Match "the resolution is too low", "the figure is too small"."""
    for i, word in enumerate(words):
        if word == "too" and i and words[i - 1] in BE | {"much", "far"} and len(words) < i + 4:
            return bool(_UNSEEN & set(words[i + 1 :]))
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
