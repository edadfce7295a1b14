"""The rules by which a sentence refuses outright, one small function each, on its words.

A rule fires strongly ("I can't tell") or weakly ("hard to say": a refusal only if nothing else
is said).
"""

from __future__ import annotations

from collections.abc import Sequence

from hardset.reading.cue_indirect import kept_from_knowing, nothing_to_go_by, which_is_meant
from hardset.reading.cue_words import (
    ADVERBS,
    BE,
    BLE,
    CANNOT,
    KNOW,
    LOOKS,
    MADE_OUT,
    NOT,
    NT,
    PICTURE,
    SHOWN,
    STRONG,
    WEAK,
    Found,
    Rule,
    at,
    negated,
    past_adverbs,
)
from hardset.reading.words import word_set

_SURE = word_set("sure certain confident positive")
_SPEAKER = word_set(
    "i we you one ai assistant model it sorry , and but so therefore thus that image picture "
    "photo photograph question information which also simply unfortunately really : - because "
    "as since hence or just"
)
_UNKNOWN = word_set(
    "unknown unclear unanswerable undeterminable indeterminate undetermined inconclusive "
    "ambiguous illegible unreadable unidentifiable uncertain unspecified unavailable "
    "indeterminable indistinct unsure undefined undisclosed indiscernible unidentified"
)
_ENOUGH = word_set("insufficient inadequate limited lacks lack lacking missing without no")
_INFORMATION = word_set(
    "information info context evidence detail details data clue clues indication indications "
    "basis cues"
)
_PREMISE = word_set("premise assumption presupposition")
_FALSE = word_set(
    "false wrong incorrect flawed invalid mistaken faulty inaccurate unfounded misleading"
)
_SENT = word_set("attached uploaded provided loaded received included sent shared")
_IMAGES = word_set("image picture photo images pictures photos file")
_GUESSING = "identify|speculate|comment|make|guess|assume"
_TELLS = word_set(
    "tells tell shows indicates indicate suggests suggest reveals identifies says allows lets "
    "helps hints establishes"
)
_ABLE = _INFORMATION | {"answer", "ability", "access", "enough", "way", "capability"}
_ASSUMES = word_set("assumes presupposes presumes assume presuppose presume")
_HARD = word_set("hard difficult tough tricky")
_KNOWN = word_set("know recognise recognize understand")
_SELF = frozenset({"", "it", "ai", "model", "assistant", "i"})
_EXACT = word_set("exact exactly precisely precise certainty definitively 100 entirely completely")
_BEFORE_SURE = word_set("for be fully absolutely")
_LISTED = word_set("listed among given provided here available included present there options")
_OPTIONS = word_set(
    "above options choices these answers given provided listed mentioned descriptions statements "
    "alternatives"
)
_APPLIES = word_set("correct right match matches fits fit applies apply true")
_MAKES = word_set("makes make making made renders leaves")
_AROUND_ANSWER = frozenset({",", ":", "-", "answer", "final", "is", "the"})
_AFTER_UNKNOWN = word_set(
    "/ ? at for here given and or but so what who , from based to without in because as since - if"
)
_DECLINED = word_set("answer comfortable identify guess speculate going comment")


def cannot_tell(words: list[str]) -> Found:
    """Match "I can't tell", "unable to see", "cannot be determined"; not "the man cannot see"."""
    for i, word in enumerate(words):
        if word == "too" and "to" in words[i + 2 : i + 9]:
            to = words.index("to", i + 2)
            verb = past_adverbs(words, to + 1)
            near = to < i + 5 or words[i + 2] == "for"  # "too blurred for its shape to be read"
            if near and verb < len(words) and words[verb] in KNOW and words[verb] != "be":
                return STRONG
        verb = _inability(words, i)
        if verb < 0:
            continue
        known = past_adverbs(words, verb)
        if not _by_speaker(words, i) and "be" not in words[verb:known]:
            continue
        strong = word not in _HARD and not _only_certainty(words, verb)
        if known >= len(words) or words[known] == ",":
            return (strong, None)
        object_ = set(words[known + 2 : known + 5])
        if words[known] in LOOKS and at(words, known + 1, "any|a|an") and not PICTURE & object_:
            continue  # "I can't see any dog" says that there is none
        if at(words, known, "help|say", "but"):
            continue
        if words[known] in KNOW:
            return (strong, None)
        if words[known] in _SURE:
            return WEAK
    return None


def _inability(words: Sequence[str], i: int) -> int:
    """Return where the verb after "cannot", "unable to", "hard to", "no way to" starts, or -1."""
    word = words[i]
    if word in CANNOT:
        return i + 1
    if at(words, i, "can|could", "not"):
        return i + 2
    if (word in _HARD or word in ("unable", "impossible")) and at(words, i + 1, "to"):
        return i + 2
    if word in NOT and at(words, i + 1, "able|possible", "to"):
        return i + 3
    if at(words, i, "won't|not", "be", "able", "to"):
        return i + 4
    if at(words, i, "no", "way", "to") or at(words, i, "no", "way", "of"):
        return i + 3
    return -1


def _by_speaker(words: Sequence[str], i: int) -> bool:
    """Whether it is the speaker, or nobody in particular, who is unable at words[i]."""
    word = words[i]
    before = words[i - 1] if i else ""
    if word in _HARD or word in ("impossible", "no"):
        return True
    if word in ("unable", "not") and before in BE:
        subject = words[i - 2] if i > 1 else ""
        return before in ("am", "i'm") or subject in _SELF
    return not before or before in _SPEAKER or before in ADVERBS


def _only_certainty(words: Sequence[str], verb: int) -> bool:
    """Whether only certainty or exactness is denied: "cannot say for sure", "the exact number"."""
    rest = words[verb : verb + 14]
    if "initially" in words or ("at" in rest and "first" in rest):
        return True
    return any(
        word in _EXACT or (word in _SURE and i > 0 and rest[i - 1] in _BEFORE_SURE)
        for i, word in enumerate(rest)
    )


def does_not_know(words: list[str]) -> Found:
    """Match "I don't know", "no idea", and weakly "I am not sure"."""
    if words in (["idk"], ["dunno"], ["i", "dunno"]) or at(words, 0, "don't|dont", "know"):
        return STRONG
    for i, word in enumerate(words):
        if (
            word in ("know", "recognise", "recognize", "understand")
            and negated(words[max(0, i - 2) : i])
            and _self(words[: i - 1])
        ):
            return STRONG
        if at(words, i, "no", "idea|clue") or at(words, i, "not", "familiar"):
            return STRONG
        if at(words, i, "guess", "is", "as", "good") or at(words, i, "beats", "me"):
            return STRONG
        if word == "unsure" or (
            word in ("sure", "certain") and NOT & set(words[max(0, i - 2) : i])
        ):
            return WEAK
    return None


def _self(words: Sequence[str]) -> bool:
    """Whether the words before "know" have the speaker as their subject, or none."""
    return not words or bool({"i", "we"} & set(words[-3:]))


def unanswerable(words: list[str]) -> Found:
    """Match "unanswerable", "N/A", "the answer is unknown", "none of the above", "no answer"."""
    for i, word in enumerate(words):
        near = set(words[i + 1 : i + 8])
        if word in ("unanswerable", "indeterminable", "undeterminable"):
            return None if at(words, i - 1, "not") and i else STRONG
        if (word in _UNKNOWN or _unseen(word)) and _is_predicate(words, i):
            return STRONG
        if at(words, i, "n", "/", "a") or (word == "na" and len(words) <= 4):
            return STRONG
        if (
            word in ("not", "isn't")
            and "answer" in words[:i]
            and _LISTED & set(words[i + 1 : i + 4])
        ):
            return STRONG
        if at(words, i, "none|neither", "of"):
            these = words[i + 2 : i + 5]
            if _OPTIONS & set(these) or any(len(w) == 1 and w.isalpha() for w in these[:2]):
                return STRONG
        if at(words, i, "no", "option|choice|options|choices") and _APPLIES & near:
            return STRONG
        if at(words, i, "no", "answer|correct") and "answer" in words[i + 1 : i + 4]:
            return STRONG
        if at(words, i, "not|isn't", "applicable|answerable|determinable"):
            return STRONG
    bare = [word for word in words if word not in _AROUND_ANSWER]
    if words == ["none"]:
        return (True, ("none",))
    return STRONG if bare in (["none"], ["null"], ["nil"], ["no", "answer"]) else None


def _unseen(word: str) -> bool:
    """Whether a word says that something cannot be made out: "unrecognizable", "illegible"."""
    bare = word.removeprefix("un").removeprefix("in").removeprefix("im").removeprefix("il")
    if not word.endswith("ble") or word in ("impossible", bare):
        return False
    return bare in MADE_OUT or bare in SHOWN


def _is_predicate(words: Sequence[str], i: int) -> bool:
    """Whether "unknown" at words[i] is said of something, and is not "an unknown soldier"."""
    if words[i] == "unknown" and i + 1 < len(words) and words[i + 1] not in _AFTER_UNKNOWN:
        return False  # "an unknown soldier"
    if i == 1 and len(words) == 2 and words[0].isalpha():
        return True  # "Year unknown"
    if i and _MAKES & set(words[:i]):
        return True  # "Motion blur makes it unreadable"
    if i:
        return words[i - 1] in BE or words[i - 1] in ADVERBS or words[i - 1] in (":", ",")
    return len(words) == 1 or words[1] in _AFTER_UNKNOWN


def false_premise(words: list[str]) -> Found:
    """Match "the question contains a false premise", "the question assumes", "is invalid"."""
    for i, word in enumerate(words):
        if word in _PREMISE and _FALSE & set(words[max(0, i - 3) : i + 6]):
            return STRONG
        if word in _ASSUMES and "question" in words[max(0, i - 4) : i]:
            return STRONG
        if at(words, i, "question", "is") and (_FALSE | {"unclear"}) & set(words[i + 2 : i + 4]):
            return STRONG
    return None


def too_little(words: list[str]) -> Found:
    """Match "not enough information", "insufficient context", "no evidence", "I lack access"."""
    for i, word in enumerate(words):
        if at(words, i, "need|needs|require|requires", "more|additional|further|a|the"):
            if (_INFORMATION | _IMAGES) & set(words[i + 2 : i + 4]):
                return STRONG
        elif word in ("blank", "corrupted") and _IMAGES & set(words[max(0, i - 5) : i]):
            return STRONG
        elif word == "no" and at(words, i + 1, "image|picture|photo|images|attachment|file"):
            if _SENT & set(words[i + 2 : i + 6]):
                return STRONG
        elif word in _INFORMATION:
            before = words[max(0, i - 4) : i]
            enough = {"enough", "sufficient"} & set(before)
            if "with" in before and "no" in before:
                continue  # "a silhouette with no detail"
            if _ENOUGH & set(before) or (enough and negated(words[:i])):
                return STRONG
        elif (
            word == "nothing" and at(words, i - 1, "tells|says|shows|reveals|tell|say|reveal") and i
        ):
            return STRONG  # "A silhouette tells nothing about its weight"
        elif (word == "nothing" and _TELLS & set(words[i + 1 : i + 8])) or (
            at(words, i, "don't|not", "have") and _ABLE & set(words[i + 2 : i + 6])
        ):
            return STRONG
    return None


def declines(words: list[str]) -> Found:
    """Match "I refuse", "I must decline", "I won't answer", "I'd rather not say"."""
    for i, word in enumerate(words):
        mine = {"i", "i'm"} & set(words[max(0, i - 3) : i])
        if mine and word in ("refuse", "decline"):
            return STRONG
        if mine and word in ("won't", "not") and _DECLINED & set(words[i + 1 : i + 2]):
            return STRONG
        if mine and word == "don't" and at(words, i + 1, _GUESSING):
            return STRONG
        if mine and negated(words[max(0, i - 2) : i]) and word == "comfortable":
            return STRONG
        if at(words, i, "provide|upload|share|attach|send") and _IMAGES & set(words[i + 1 : i + 4]):
            return STRONG
        if at(words, i, "my|our", "guidelines|policy|policies") and "against" in words[:i]:
            return STRONG
        if at(words, i, "rather", "not"):
            return STRONG
    if at(words, 0, "sorry") and len(words) < 3:
        return STRONG
    return STRONG if at(words, 0, "i'm", "sorry") and len(words) < 4 else None


# The words that a rule looks for, without one of which it need not be tried.
RULES = (
    Rule("which is meant", which_is_meant, word_set("which what specific")),
    Rule(
        "does not know",
        does_not_know,
        _KNOWN | _SURE | word_set("idk dunno idea clue familiar guess beats unsure"),
    ),
    Rule(
        "unanswerable",
        unanswerable,
        _UNKNOWN
        | {BLE}
        | word_set("answer n na none neither option options choice choices null nil"),
    ),
    Rule("false premise", false_premise, _PREMISE | _ASSUMES | {"question"}),
    Rule(
        "too little information",
        too_little,
        _ABLE | _SENT | word_set("need needs require requires blank corrupted nothing"),
    ),
    Rule(
        "cannot tell",
        cannot_tell,
        CANNOT | _HARD | word_set("too unable impossible able possible way can could"),
    ),
    Rule(
        "kept from knowing", kept_from_knowing, word_set("not cannot neither nothing none") | {NT}
    ),
    Rule("nothing to go by", nothing_to_go_by, word_set("need require have no nothing")),
    Rule(
        "declines",
        declines,
        word_set(
            "refuse decline won't not don't comfortable provide upload share attach send "
            "guidelines policy policies rather sorry"
        ),
    ),
)
