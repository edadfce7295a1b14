"""Sentences that refuse without "I cannot": they blame the picture or the question."""

from __future__ import annotations

from collections.abc import Sequence

from hardset.reading.cue_words import KNOW, PICTURE, STRONG, Found, at, past_adverbs
from hardset.reading.words import word_set

_NOT = word_set("doesn't don't won't not cannot can't couldn't")
_CAN_TELL = word_set("can could tells shows reveals says tell show reveal")
_WHETHER = word_set("whether if who what which where when how why")
_TOLD = word_set("you us me that this it much anything")
_BY_WHICH = word_set(
    "measure judge compare read count evaluate tell determine determined identify know report "
    "say see infer estimate date go base describe"
)
_LETS = word_set("let allow help enable permit tell indicate reveal show lets allows tells")
_CONVEYS = "show|tell|capture|convey|reveal|indicate|record|say|prove"
_REFERS = word_set("refers refer meant mean referring")
_UNSURE = word_set("sure unsure clear unclear say specify clarify know")


def kept_from_knowing(words: list[str]) -> Found:
    """Match "does not let me judge", "can't show whether", "the picture doesn't say"."""
    for i, word in enumerate(words):
        verb = past_adverbs(words, i + 1)
        if word in _NOT and at(words, verb, "let|allow|permit|enable|help", "me|us|one|you|anyone"):
            known = past_adverbs(words, verb + 2)
            if known < len(words) and words[known] in KNOW:
                return STRONG
        if word in _NOT and at(words, verb, "show|say|tell|reveal|indicate|determine"):
            told = set(words[verb + 1 : verb + 2])  # "won't tell you its height"
            ends = verb + 1 == len(words) or bool((_WHETHER | _TOLD) & told)
            if ends and PICTURE & set(words[:i]):
                return STRONG
        cannot = word in ("can't", "cannot", "couldn't")
        if cannot and at(words, verb, _CONVEYS) and PICTURE & set(words[:i]):
            return STRONG  # "A still image can't show movement"
        if at(words, i, "not|isn't", "something|anything"):  # "not something a photo can reveal"
            rest = set(words[i + 2 : i + 9])
            if _CAN_TELL & rest and PICTURE & rest:
                return STRONG
        if word in ("neither", "nothing", "none"):  # "neither hand can be made out"
            for j in range(i + 1, min(len(words) - 2, i + 5)):
                known = at(words, j, "can|could", "be") and words[j + 2] in KNOW
                if known and not words[-1].endswith("ing"):
                    return STRONG
    return None


def nothing_to_go_by(words: list[str]) -> Found:
    """Match "there is no distance to measure", "nothing to compare it with"."""
    for i, word in enumerate(words):
        if at(words, i, "need|require|have", "a|an|the|to") and _needed_to_know(words, i):
            return STRONG
        if word not in ("no", "nothing"):
            continue
        if "that" in words[i + 1 : i + 6] and _LETS & set(words[i + 1 : i + 9]):
            return STRONG  # "nothing in it that would let me measure it"
        to = next((j for j in range(i + 1, min(len(words), i + 7)) if words[j] == "to"), -1)
        if to > 0 and to + 1 < len(words) and words[to + 1] in _BY_WHICH:
            return STRONG
    return None


def _needed_to_know(words: Sequence[str], i: int) -> bool:
    """Whether something would be needed to know: "I'd need a closer view to count them"."""
    if not {"i'd", "would", "we'd", "you'd"} & set(words[max(0, i - 2) : i]):
        return False
    return any(
        words[j] == "to" and j + 1 < len(words) and words[j + 1] in _BY_WHICH
        for j in range(i + 2, min(len(words), i + 10))
    )


def which_is_meant(words: list[str]) -> Found:
    """Match "which one do you mean?", "not sure which lamp is meant", "isn't specific enough"."""
    for i, word in enumerate(words):
        if at(words, i, "not|isn't", "specific", "enough"):
            return STRONG
        if word not in ("which", "what"):
            continue
        if word == "which" and words[max(0, i - 2) : i] == ["depends", "on"]:
            return STRONG
        if at(words, i + 1, "one|ones", "did|do", "you") or _asks_back(words, i):
            return STRONG
        if _REFERS & set(words[i + 1 : i + 10]) and _UNSURE & set(words[max(0, i - 4) : i]):
            return STRONG
    return None


def _asks_back(words: Sequence[str], i: int) -> bool:
    """Whether the reply asks what is meant: "Which coin do you mean?"."""
    return words[-1] == "?" and bool(_REFERS & set(words[i + 1 :])) and "you" in words[i:]
