"""The rules by which a sentence says that something is not there; it refuses what asks about it.

"There is no dog" refuses "What colour is the dog?" and answers "Is there a dog?": so each rule
returns what is absent, to be held against the question.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardset.reading.cue_words import (
    BE,
    CANNOT,
    LOOKS,
    MADE_OUT,
    NOT,
    NT,
    PICTURE,
    SHOWN,
    Found,
    Rule,
    at,
    negated,
    past_adverbs,
)
from hardset.reading.words import NOT_DOING, NUMBER_WORDS, word_set

_LACKS = word_set("doesn't don't didn't does do did not fails fail failed")
_SHOWS = word_set(
    "show shows contain contains provide provides include includes depict depicts have has "
    "feature features display displays reveal specify indicate mention mentions give gives "
    "allow offer offers state clarify support list lists name tell load appear"
)
_STOP = word_set(
    "in on at of from to visible present shown seen here there anywhere , depicted that which "
    "with and or is are to? near under behind - exists exist available : but so pictured can could "
    "cannot has have"
)
_SEEN = SHOWN | PICTURE | {"here", "there", "exists"}
_COVERED = word_set("obscured hidden blurred blurry covered cropped occluded concealed unreadable")
_IS = word_set("is are was were exists")
_IS_NOT = word_set("isn't aren't wasn't weren't")
_BEFORE_NO = frozenset(
    {
        ",",
        "but",
        "so",
        "and",
        "because",
        "since",
        "as",
        "that",
        "while",
        "gives",
        "provides",
        "offers",
        "shows",
        "carries",
        "bears",
        "contains",
        "has",
        "includes",
        "depicts",
        "see",
        "features",
        "with",
        "find",
        "found",
        "spot",
        "though",
        "although",
    }
)
_DETERMINERS = word_set("a an the any such actual not single be")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_HOLDS = "have|has|contain|wear|own|show|display|list|mention"
_MERELY = word_set("the only just yet very")


def not_there(words: list[str]) -> Found:
    """Match "there is no dog", "no dog is visible", "I don't see any dog", "does not exist"."""
    for i, word in enumerate(words):
        before = words[i - 1] if i else ""
        if word == "there's" or (word in _IS and before == "there"):
            thing = past_adverbs(words, i + 1)
            if at(words, thing, "no|not") and not at(words, thing + 1, "doubt|only|question|just"):
                return (True, _thing(words[thing + 1 :]))
            if at(words, thing, "nobody|none"):
                return (True, (words[thing],))
        if word in _IS_NOT and before == "there":
            return (True, _thing(words[i + 1 :]) or ("none",))
        if word in ("think", "believe") and negated(words[max(0, i - 2) : i]):
            there = i + 3 if at(words, i + 1, "there", "is|are") else i + 2
            if at(words, i + 1, "there's") or there == i + 3:
                return (True, _thing(words[there:]) or ("none",))
        if word in ("seem", "appear") and at(words, i + 1, "to", "be"):
            if "there" in words[max(0, i - 3) : i] and negated(words[max(0, i - 2) : i]):
                return (True, _thing(words[i + 3 :]))
            continue  # "does not appear to be empty"
        unseen = negated(words[max(0, i - 3) : i]) or "unable" in words[max(0, i - 3) : i]
        if word in LOOKS and unseen and {"i", "i'm", "we"} & set(words[:i]):
            return (True, _thing(words[i + 1 :]))
        if word == "no" and (not before or before in _BEFORE_NO) and not at(words, i + 1, ","):
            missed = _until_stop(words[i + 1 :])
            tail = set(words[i + 1 + len(missed) :])
            if missed and (tail & _SEEN or before not in ("", ",", "with")):
                return (True, tuple(missed))
        if word in ("exist", "appear", "occur") and negated(words[max(0, i - 3) : i]):
            return (True, tuple(words[: max(0, i - 2)]))
        if word == "nowhere" and at(words, i + 1, "to", "be") and i:
            return (True, _subject(words[:i]))
        if (word in _IS_NOT or word == "not") and at(words, i + 1, "part", "of"):
            return (True, _subject(words[:i]))
        if at(words, i, "zero|lacks|lack") and i + 1 < len(words):
            return (True, tuple(w for w in words[i + 1 : i + 7] if w not in _DETERMINERS | {"of"}))
        if word == "absent" or (word == "missing" and before in BE and at(words, i + 1, "from")):
            return (True, _subject(words[:i]))
    return None


def not_shown(words: list[str]) -> Found:
    """Match "the tail is not visible", "the image does not show it", "out of frame"."""
    for i, word in enumerate(words):
        if word in NOT:
            shown = past_adverbs(words, i + 1)
            if shown < len(words) and words[shown] in SHOWN:
                return (True, _subject(words[:i]))
            if at(words, shown, "in|on") and PICTURE & set(words[shown + 1 : shown + 4]):
                return (True, _subject(words[:i]))
        said_of = i > 0 and (words[i - 1] in BE or words[i - 1].endswith("ly"))
        ends = i + 1 == len(words) or at(words, i + 1, "from|in|,|so|and")
        if said_of and ((word in _COVERED and ends) or words[i:] == ["cut", "off"]):
            return (True, _subject(words[:i]))
        if at(words, i, "out|outside", "of", "frame|view|sight|shot"):
            return (True, _subject(words[:i]))
        if word == "outside" and said_of and PICTURE & set(words[i + 1 : i + 6]):
            return (True, _subject(words[:i]))
        if word in _LACKS and PICTURE & set(words[:i]):
            verb = past_adverbs(words, i + 1)
            if at(words, verb, "not"):
                verb = past_adverbs(words, verb + 1)
            elif not (word.endswith("n't") or word.startswith("fail") or word == "not"):
                continue
            if verb < len(words) and words[verb] in _SHOWS:
                return (True, _thing(words[verb + 1 :]))
    return None


def not_made_out(words: list[str]) -> Found:
    """Match "the letters are not legible": they are there, but it cannot be told what they are."""
    for i, word in enumerate(words):
        seen = past_adverbs(words, i + 1) if word in NOT else len(words)
        if seen < len(words) and words[seen] in MADE_OUT and not at(words, seen + 1, "-"):
            return (True, _subject(words[:i]))
    return None


def premise_denied(words: list[str]) -> Found:
    """Match "a cat, not a dog", "he is not wearing a hat": refuses what asks about dog or hat."""
    if at(words, 0, "no") and 1 < len(words) < 5:
        return (True, tuple(words[1:]))
    if at(words, 0, "no", "part|parts|area|region|portion", "of"):
        return (True, ("none",))
    if at(words, 0, "no") and len(words) > 4 and words[1].isalpha():
        return (True, (words[1],))  # "No arrow appears above it"
    for i, word in enumerate(words):
        if at(words, i, "none|neither", "of"):
            return (True, ("none",))
        if word == "none" and i + 1 == len(words) and at(words, i - 1, "has|have|had|are|is|see"):
            return (True, ("none",))
        if word == "no" and i and words[i - 1] in (",", "-", "and", "but") and i + 4 > len(words):
            return (True, tuple(words[i + 1 :]) or ("none",))  # "... and sky, no bridge"
        if word in CANNOT or not (word in NOT or word.endswith("n't")) or i + 1 == len(words):
            continue
        said = words[i + 1 :]
        if at(said, 0, "seem|appear", "to", "be") and len(said) > 3:
            said = said[3:]
        doing = said[0].endswith("ing") or at(said, 0, _HOLDS)
        thing = said[1:] if doing else said
        if {"anything", "anyone", "nothing"} & set(thing[:2]):
            continue
        if doing or at(thing, 0, "a|an|any"):
            named = tuple(word for word in _thing(thing)[:2] if word not in ("one", "ones"))
            return (True, named or (said[0],))
        if said[0] not in _MERELY:
            return (True, (said[0],))
    return None


def has_none(words: list[str]) -> Found:
    """Match "no hat", "he isn't wearing a hat", "it has neither a hat nor a tie"."""
    if at(words, 0, "no") and 1 < len(words) < 5 and words[1] != "," and not BE & {*words}:
        return (True, tuple(words[1:]))
    for i, word in enumerate(words[:-2]):
        if at(words, i, "neither") and at(words, i + 1, "a|an"):
            named = [word for word in words[i + 1 :] if word not in ("a", "an", "nor")]
            return (True, tuple(named[:6]))
        if word in NOT or word.endswith("n't"):
            verb = past_adverbs(words, i + 1)
            if at(words, verb, f"{_HOLDS}|wearing|holding|carrying", "a|an|any"):
                thing = _until_stop(words[verb + 2 :])
                other = verb + 2 + len(thing)
                if at(words, other, "or"):  # "a collar or a bell"
                    thing += _until_stop(words[other + 1 :])
                return (True, tuple(thing))
    return None


def set_against(words: list[str]) -> Found:
    """Match "a cat rather than a dog": refuses what asks about the dog."""
    for i in range(1, len(words) - 2):
        if at(words, i, "rather", "than") or at(words, i, "instead", "of"):
            return (True, _thing(words[i + 2 :])[:2])
    return None


def asked_back(words: list[str]) -> Found:
    """Match "What dog?", said of a question about a dog."""
    if at(words, 0, "what|which") and words[-1] == "?" and 2 < len(words) < 6:
        return (True, (words[-2],))
    return None


def too_few(words: list[str]) -> Found:
    """Match "there are only two dogs": refuses what asks about the third."""
    for i, word in enumerate(words[:-1]):
        number = 1 if at(words, i + 1, "a", "single") else NUMBER_WORDS.get(words[i + 1], 0)
        if word in ("only", "just") and number > 0:
            return (True, _ORDINALS[number:])
    return None


def _subject(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in BE)


def _thing(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(_until_stop(words))


def _until_stop(words: Sequence[str]) -> list[str]:
    """Return the words of the thing: up to a preposition, verb or mark."""
    thing: list[str] = []
    for word in words[:12]:
        if word in SHOWN and not thing:
            continue  # "no visible name"
        doing = word.endswith("ing") and word not in NOT_DOING
        if word in _STOP or (doing and thing and thing[-1] not in NOT_DOING):
            break  # "flames coming out"
        if word not in _DETERMINERS:
            thing.append(word)
    return thing[:6]


_DENIED = NOT | {NT}
ABSENCES = (
    Rule("not made out", not_made_out, MADE_OUT),
    Rule(
        "not there",
        not_there,
        LOOKS
        | word_set(
            "there there's think believe seem appear no exist occur nowhere part zero lacks lack "
            "absent missing"
        ),
    ),
    Rule("not shown", not_shown, NOT | _COVERED | _LACKS | word_set("off out outside")),
)
PREMISES = (
    Rule("asked back", asked_back, frozenset({"?"})),
    Rule("has none", has_none, _DENIED | word_set("no neither")),
    Rule("premise denied", set_against, word_set("rather instead")),
    Rule("premise denied", premise_denied, _DENIED | word_set("no none neither")),
    Rule("too few", too_few, word_set("only just")),
)
