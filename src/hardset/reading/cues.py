"""Sentences in which a reply says that it does not answer: small named rules on their words.

What stands in quotes, or behind "the sign reads", is what the image says and not what the model
says, so no rule looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hardset.reading.words import TRADITIONAL, Sentences, word_set, words_of


class Cue(NamedTuple):
    """Where a reply refuses, and by which rule."""

    start: int
    end: int
    rule: str
    strong: bool = True  # a weak cue ("hard to say") refuses only if nothing else is said
    absent: tuple[str, ...] | None = None  # what is said not to be there


_CANNOT = word_set("can't cannot couldn't cant")
_KNOW = word_set(
    "determine determined tell told answer answered say said identify identified confirm "
    "confirmed know known discern discerned decide decided assess assessed verify verified "
    "judge judged infer inferred ascertain ascertained conclude concluded view viewed access "
    "accessed recognize recognized recognise recognised deduce deduced establish established "
    "provide help assist comment find found locate located spot read see seen make "
    "distinguish distinguished describe comply process analyze analyse interpret interpreted "
    "discuss give given fulfil fulfill specify specified guess count counted pinpoint choose "
    "select pick reveal share disclose estimate estimated observe observed perceive respond "
    "predict gauge detect evaluate evaluated proceed be made drawn reached open load knowing "
    "telling determining saying"
)
_LOOKS = word_set("see find spot observe detect notice")
_SURE = word_set("sure certain confident positive")
_ADVERBS = word_set(
    "be really even just currently also quite very exactly precisely definitively definitely "
    "accurately reliably clearly directly fully possibly actually truly still simply "
    "confidently properly reasonably personally completely to conclusively visually easily "
    "either"
)
_SPEAKER = word_set(
    "i we you one ai assistant model it sorry , and but so therefore thus that image picture "
    "photo photograph question information which also simply unfortunately really : - because "
    "as since hence or just"
)
_BE = word_set(
    "is are was were be am remains remain isn't aren't wasn't weren't seems appears it's "
    "that's i'm been being"
)
_NOT = word_set("not isn't aren't wasn't weren't never")
_UNKNOWN = word_set(
    "unknown unclear unanswerable undeterminable indeterminate undetermined inconclusive "
    "ambiguous illegible unreadable unidentifiable uncertain unspecified unavailable "
    "indeterminable unsure undefined undisclosed indiscernible unidentified"
)
_SHOWN = word_set(
    "visible shown specified mentioned provided present depicted given stated available "
    "answerable identifiable legible readable determinable clear discernible possible "
    "applicable pictured seen included indicated displayed known disclosed recognizable "
    "described labeled labelled"
)
_ENOUGH = word_set("insufficient inadequate limited lacks lack lacking missing without no")
_INFORMATION = word_set(
    "information info context evidence detail details data clue clues indication indications "
    "basis cues"
)
_PICTURE = word_set(
    "image picture photo photograph figure scene chart diagram question text passage video "
    "screenshot map graph illustration painting drawing prompt view shot images pictures "
    "photos frame table page document sign label menu article caption poster screen"
)
_LACKS = word_set("doesn't don't didn't does do did not fails fail")
_SHOWS = word_set(
    "show shows contain contains provide provides include includes depict depicts have has "
    "feature features display displays reveal specify indicate mention mentions give gives "
    "allow offer offers state clarify support list lists name tell"
)
_REPORTS = word_set(
    "reads says states displays written titled labeled labelled called named saying reading spells"
)
_PREMISE = word_set("premise assumption presupposition")
_FALSE = word_set(
    "false wrong incorrect flawed invalid mistaken faulty inaccurate unfounded misleading"
)
_STOP = word_set(
    "in on at of from to visible present shown seen here there anywhere , depicted that which "
    "with and or is are to? near under behind - exists exist available : but so pictured"
)
_PERSON = word_set(
    "man woman person people boy girl child children men women player someone he she his her"
)

_CHINESE = re.compile(
    r"无法\S{0,8}?(?:判断|确定|回答|识别|看清|看到|看出|得知|得出|辨认|辨别|知道|确认|提供|推断|分辨|选择)|无法作答|不知道|不清楚|不确定|"
    r"不能(?:判断|确定|回答|识别|确认)|看不清|看不出|看不到|看不见|难以(?:判断|确定|辨认|回答)|没有足够|信息不足|"
    r"以上(?:都|均|皆)?(?:不对|不是|错误|不正确|错)|没有(?:正确|合适)的?(?:答案|选项)|抱歉|对不起|前提是?错|未(?:提供|显示|提及|给出)|没有(?:提供|显示|提到|给出)|(?:问题|题目)(?:有误|的?前提(?:错误|不成立))|前提(?:错误|不成立)|无从(?:判断|得知)"
)
_CHINESE_ABSENT = re.compile(
    r"(?:图|画面|照片|图片|图像)[中里上]?(?:并?没有|不存在|无|并不存在)(\S{0,12})|(?:并?没有|不存在)(\S{1,8}?)(?:[,.!]|$)"
)

_CHINESE_FILL = re.compile(r"[^\u4e00-\u9fff]|任何|什么|一|[个只条辆张名位的]|出现|显示|看到")
# Some stem stands in every sentence that a rule can fire on; most sentences have none.
_STEMS = (
    "n't", "not", " no ", "unable", "unkno", "unclear", "unanswer", "n/a", "impossible", "insuffic",
    "none", "nobody", "neither", "hard to", "difficult", "tough", "tricky", "premise", "assum",
    "presup", "lack", "determin", "refuse", "decline", "inconclus", "without", "illegible",
    "unread", "ambiguous", "uncertain", "unsure", "unident", "unspec", "unavail", "cant ",
    "dont ", "fails", "absent", "missing", "sorry", "inadequate", "undefined", "undisclosed",
    "indiscern", "invalid", "false", "flawed", "mistaken", "incorrect", "too ", "limited",
    "no idea", "idk", "dunno", "more info", "null", "nil", "question is",
    "out of",
)  # fmt: skip

_LONGEST = 1200  # characters of a sentence that are looked at
_QUOTED = re.compile(r"\"[^\"\n]{0,200}\"|(?<![\w'])'[^'\n]{1,200}'(?!\w)")


def unquoted(text: str) -> str:
    """Return the text with quoted words blanked out; a reply that is all quote is not one."""
    if '"' not in text and "'" not in text:
        return text
    if len(text) > 2 and text[0] in "\"'" and text.rstrip(".")[-1] == text[0] and text.count(text[0]) == 2:
        return f" {text[1:]}"
    return _QUOTED.sub(lambda match: " ".ljust(len(match[0]), "_"), text)


def cues(text: str, *, premises: bool = False) -> Iterator[Cue]:
    """Yield each refusing sentence of a tidy text, in order.

    With `premises` also those that deny something which a question may take for granted ("he is
    not wearing a hat"): by themselves they are plain statements.
    """
    lowered = unquoted(text).lower()
    chinese = not text.isascii()
    if chinese:
        lowered = lowered.translate(TRADITIONAL)
    for start, end in _telling(lowered, chinese):
        sentence = lowered[start:end]
        if chinese and (match := _CHINESE.search(sentence)):
            yield Cue(start + match.start(), start + match.end(), "cannot tell")
        elif chinese and (match := _CHINESE_ABSENT.search(sentence)):
            thing = _CHINESE_FILL.sub("", match[1] or match[2] or "")
            yield Cue(start + match.start(), start + match.end(), "not there", absent=(thing,))
        else:
            own = _own_words(words_of(sentence[:_LONGEST]))
            for name, rule in _PREMISES if premises else _RULES:
                found = rule(own)
                if found is not None:
                    strong, absent = found
                    yield Cue(start, end, name, strong, absent)
                    break


def may_refuse(lowered: str) -> bool:
    """Whether a lower-case text can have a cue at all; cheap, and true too often."""
    return (
        not lowered.isascii()
        or "no" in lowered
        or len(lowered) < 20
        or any(stem in lowered for stem in _STEMS)
    )


def _telling(lowered: str, chinese: bool) -> list[tuple[int, int]]:
    """Return the sentences with one of the stems in them; all, where there are few or Chinese."""
    padded = f" {lowered} " if len(lowered) < 40 else lowered
    at = {
        found.start()
        for stem in _STEMS
        if stem in padded
        for found in re.finditer(stem, lowered)
    }  # fmt: skip
    starts_no = lowered.startswith(("no ", "na")) or "\nno " in lowered or lowered == "no"
    if not (at or starts_no or chinese or lowered.strip(" .!") == "no"):
        return []
    sentences = Sentences(lowered)
    if chinese or len(lowered) < 40:
        return sentences.all()
    found = {sentences.around(position) for position in at}
    if starts_no:
        found |= {span for span in sentences.all() if lowered.startswith("no", span[0])}
    return sorted(found)


_Found = tuple[bool, tuple[str, ...] | None] | None
_STRONG: _Found = (True, None)
_WEAK: _Found = (False, None)


def _own_words(words: list[str]) -> list[str]:
    """Return the words up to "reads", "says": what follows is the image's, not the model's."""
    for i, word in enumerate(words):
        if word in _REPORTS and i and words[i - 1] not in _NOT and "question" not in words[:i]:
            return words[:i]
    return words


def _next(words: Sequence[str], i: int) -> int:
    """Return the index of the first word from `i` on that is no adverb."""
    while i < len(words) and (
        words[i] in _ADVERBS or (words[i].endswith("ly") and words[i] != "rely")
    ):
        i += 1
    return i


def _cannot_tell(words: list[str]) -> _Found:
    """ "I can't tell", "unable to see", "it cannot be determined"; not "the man cannot see"."""
    for i, word in enumerate(words):
        if word == "too" and "to" in words[i + 2 : i + 5]:
            verb = words.index("to", i + 2) + 1
            if (
                verb < len(words)
                and words[_next(words, verb) : _next(words, verb) + 1]
                and words[_next(words, verb)] in _KNOW - {"be"}
            ):
                return _STRONG
        verb = _inability(words, i)
        if verb < 0:
            continue
        at = _next(words, verb)
        passive = "be" in words[verb:at]
        speaker = i == 0 or words[i - 1] in _SPEAKER or words[i - 1] in _ADVERBS or passive
        if word in ("unable", "not") and i and words[i - 1] in _BE:
            subject = words[i - 2] if i > 1 else ""
            speaker = words[i - 1] in ("am", "i'm") or subject in (
                "",
                "it",
                "ai",
                "model",
                "assistant",
                "i",
            )
        if word in ("impossible", "hard", "difficult", "tough", "tricky", "no"):
            speaker = True
        if not speaker:
            continue
        strong = word not in ("hard", "difficult", "tough", "tricky") and not _only_certainty(
            words, verb
        )
        if at >= len(words) or words[at] in (",", "."):
            return (strong, None)
        if words[at] in _LOOKS and words[at + 1 : at + 2] in (["any"], ["a"], ["an"]):
            if not _PICTURE & set(words[at + 2 : at + 5]):
                continue  # "I can't see any dog" says that there is none
        if words[at] in _KNOW or words[at] in _SURE:
            if (
                word == "cannot"
                and words[at] in ("help", "say")
                and words[at + 1 : at + 2] == ["but"]
            ):
                continue
            return (strong and words[at] not in _SURE, None)
    return None


def _inability(words: Sequence[str], i: int) -> int:
    """Return where the verb after "cannot", "unable to", "hard to", "no way to" starts, or -1."""
    word = words[i]
    after = words[i + 1 : i + 3]
    if word in _CANNOT:
        return i + 1
    if word in ("can", "could") and after[:1] == ["not"]:
        return i + 2
    if word in ("unable", "impossible", "hard", "difficult", "tough", "tricky") and after[:1] == [
        "to"
    ]:
        return i + 2
    if word in _NOT and after[:1] in (["able"], ["possible"]) and after[1:] == ["to"]:
        return i + 3
    if word in ("won't", "not") and after == ["be", "able"]:
        return i + 4
    if word == "no" and after == ["way", "to"]:
        return i + 3
    if word == "no" and after[:1] == ["way"] and words[i + 2 : i + 4] == ["of", "knowing"]:
        return i + 3
    return -1


def _only_certainty(words: Sequence[str], verb: int) -> bool:
    """Whether only certainty or exactness is denied: "cannot say for sure", "the exact number"."""
    rest = words[verb : verb + 14]
    if "initially" in words or ("at" in rest and "first" in rest):
        return True
    return any(
        word
        in (
            "exact",
            "exactly",
            "precisely",
            "precise",
            "certainty",
            "definitively",
            "100",
            "entirely",
            "completely",
        )
        or (word in _SURE and i and rest[i - 1] in ("for", "be", "fully", "absolutely", "be"))
        for i, word in enumerate(rest)
    )


def _does_not_know(words: list[str]) -> _Found:
    """ "I don't know", "no idea", "I am not sure", "I have no idea"."""
    text = " ".join(words)
    if any(
        s in text
        for s in (
            "i don't know",
            "i do not know",
            "we don't know",
            "no idea",
            "i dont know",
            "don't really know",
        )
    ):
        return _STRONG
    if words in (["idk"], ["dunno"], ["i", "dunno"]):
        return _STRONG
    if words[:2] in (["don't", "know"], ["dont", "know"]) or words[:3] == ["do", "not", "know"]:
        return _STRONG
    for i, word in enumerate(words):
        if word in ("sure", "certain") and i and words[i - 1] in _NOT:
            return _WEAK
        if word in ("sure", "certain") and i > 1 and words[i - 2] in _NOT:
            return _WEAK
        if word == "unsure":
            return _WEAK
    return None


def _unanswerable(words: list[str]) -> _Found:
    """ "Unanswerable", "N/A", "the answer is unknown", "none of the above", "false premise"."""
    for i, word in enumerate(words):
        before = words[i - 1] if i else ""
        after = words[i + 1] if i + 1 < len(words) else ""
        if word in ("unanswerable", "indeterminable", "undeterminable"):
            return None if before == "not" else _STRONG
        if word in _UNKNOWN and (
            not before or before in _BE or before in _ADVERBS or before in (":", ",")
        ):
            if (
                not before
                and after
                and after
                not in (
                    ",",
                    "from",
                    "based",
                    "to",
                    "without",
                    "in",
                    "because",
                    "as",
                    "since",
                    "-",
                    "if",
                )
            ):
                continue
            return _STRONG
        if word == "n" and words[i + 1 : i + 3] == ["/", "a"]:
            return _STRONG
        if word == "na" and len(words) <= 4:
            return _STRONG
        if word in ("not", "isn't") and "answer" in words[:i] and set(words[i + 1 : i + 4]) & {
            "listed", "among", "given", "provided", "here", "available", "included", "present", "there", "options"}:  # fmt: skip
            return _STRONG
        if word in ("none", "neither") and words[i + 1 : i + 2] == ["of"] and set(words[i + 2 : i + 5]) & {
            "above", "options", "choices", "these", "answers", "given", "provided"}:  # fmt: skip
            return _STRONG
        if (
            word == "no"
            and after in ("option", "choice", "options", "choices")
            and {"correct", "right", "match", "matches", "fits", "fit", "applies", "apply", "true"}
            & set(words[i + 2 : i + 8])
        ):
            return _STRONG
        if (
            word in ("none", "neither")
            and after == "of"
            and any(len(w) == 1 and w.isalpha() for w in words[i + 2 : i + 4])
        ):
            return _STRONG
        if word == "no" and after in ("answer", "correct") and "answer" in words[i + 1 : i + 4]:
            return _STRONG
        if word in _PREMISE and set(words[max(0, i - 3) : i + 6]) & _FALSE:
            return _STRONG
        if (
            word in ("assumes", "presupposes", "presumes")
            and "question" in words[max(0, i - 4) : i]
        ):
            return _STRONG
        if (
            word == "question"
            and words[i + 1 : i + 2] == ["is"]
            and set(words[i + 2 : i + 4]) & (_FALSE | {"unclear"})
        ):
            return _STRONG
        if word == "not" and after in ("applicable", "answerable", "determinable"):
            return _STRONG
    if words == ["none"]:
        return (True, ("none",))
    if [w for w in words if w not in (",", ":", "-", "answer", "final", "is", "the")] in (
        ["none"],
        ["null"],
        ["nil"],
        ["no", "answer"],
    ):
        return _STRONG
    return None


def _too_little(words: list[str]) -> _Found:
    """ "Not enough information", "insufficient context", "no evidence", "lacks detail"."""
    for i, word in enumerate(words):
        if word in ("need", "needs", "require", "requires") and words[i + 1 : i + 2] in (
            ["more"],
            ["additional"],
            ["further"],
        ):
            if _INFORMATION & set(words[i + 2 : i + 4]):
                return _STRONG
        if word in _INFORMATION:
            before = words[max(0, i - 4) : i]
            if (
                set(before) & _ENOUGH
                or (("enough" in before or "sufficient" in before)
                and _negated(words[:i]))
            ):
                return _STRONG
        if word in ("don't", "not") and words[i + 1 : i + 2] == ["have"] and set(words[i + 2 : i + 6]) & (
            _INFORMATION | {"ability", "access", "enough", "way", "capability"}):  # fmt: skip
            return _STRONG
    return None


def _negated(words: Sequence[str]) -> bool:
    return any(
        word == "not" or word.endswith("n't") or word in ("no", "without", "cannot")
        for word in words
    )


def _not_shown(words: list[str]) -> _Found:
    """ "The tail is not visible", "the image does not show it", "not specified"."""
    for i, word in enumerate(words):
        if word in _NOT:
            at = _next(words, i + 1)
            if at < len(words) and words[at] in _SHOWN:
                return (True, tuple(w for w in words[:i] if w not in _BE))
            if words[at : at + 1] in (["in"], ["on"]) and set(words[at + 1 : at + 4]) & _PICTURE:
                return (True, tuple(w for w in words[:i] if w not in _BE))
        if word == "out" and words[i + 1 : i + 2] == ["of"] and words[i + 2 : i + 3] in (["frame"], ["view"], ["sight"], ["shot"]):
            return (True, tuple(w for w in words[:i] if w not in _BE))
        if word in _LACKS and set(words[:i]) & _PICTURE:
            at = _next(words, i + 1)
            if words[at : at + 1] == ["not"]:
                at = _next(words, at + 1)
            elif not (word.endswith("n't") or word.startswith("fail") or word == "not"):
                continue
            if at < len(words) and words[at] in _SHOWS:
                return (True, tuple(_until_stop(words[at + 1 :])))
    return None


def _declines(words: list[str]) -> _Found:
    """ "I refuse", "I must decline", "I won't answer", "I'd rather not say"."""
    for i, word in enumerate(words):
        mine = bool({"i", "i'm"} & set(words[max(0, i - 3) : i]))
        if word in ("refuse", "decline") and mine:
            return _STRONG
        if word in ("won't", "not") and mine and words[i + 1 : i + 2] in (["answer"], ["comfortable"], ["identify"], ["guess"], ["speculate"], ["going"]):  # fmt: skip
            return _STRONG
        if word in ("don't", "not") and mine and words[i + 1 : i + 2] in (["identify"], ["speculate"], ["comment"]):
            return _STRONG
        if word == "rather" and words[i + 1 : i + 2] == ["not"]:
            return _STRONG
    if (
        (words[:1] == ["sorry"]
        and len(words) < 3)
        or (words[:2] == ["i'm", "sorry"]
        and len(words) < 4)
    ):
        return _STRONG
    return None


def _not_there(words: list[str]) -> _Found:
    """ "There is no dog", "no dog is visible", "I don't see any dog", "the dog does not exist"."""
    for i, word in enumerate(words):
        after = words[i + 1 : i + 2]
        there = words[i - 1] if i else ""
        if word in ("is", "are", "was", "were", "there's", "exists") and (
            there == "there" or word == "there's"
        ):
            at = _next(words, i + 1)
            if words[at : at + 1] in (["no"], ["not"]) and words[at + 1 : at + 2] not in (
                ["doubt"],
                ["only"],
                ["question"],
                ["just"],
            ):
                return (True, tuple(_until_stop(words[at + 1 :])))
            if words[at : at + 1] in (["nobody"], ["none"]):
                return (True, (words[at],))
        if word in ("isn't", "aren't", "wasn't", "weren't") and there == "there":
            return (True, tuple(_until_stop(words[i + 1 :])))
        if word in _LOOKS and _negated(words[max(0, i - 3) : i]) and "i" in words[:i]:
            return (True, tuple(_until_stop(words[i + 1 :])))
        if word == "no" and (
            i == 0
            or there
            in (
                ",",
                "but",
                "shows",
                "contains",
                "has",
                "includes",
                "depicts",
                "see",
                "features",
                "with",
            )
        ):
            rest = _until_stop(words[i + 1 :])
            tail = words[i + 1 + len(rest) :]
            if (
                rest
                and (
                    set(tail) & (_SHOWN | _PICTURE | {"here", "there", "exists"})
                    or there not in ("", ",", "with")
                )
                and after != [","]
            ):
                return (True, tuple(rest))
        if word in ("exist", "appear") and _negated(words[max(0, i - 3) : i]):
            return (True, tuple(words[: max(0, i - 2)]))
        if word == "absent" or (word == "missing" and there in _BE and "from" in after):
            return (True, tuple(w for w in words[:i] if w not in _BE))
    return None


def _until_stop(words: Sequence[str]) -> list[str]:
    """Return the words of the thing: up to a preposition, verb or mark."""
    thing: list[str] = []
    for word in words:
        if word in _STOP:
            break
        if word not in ("a", "an", "the", "any", "such", "actual", "not", "single", "be"):
            thing.append(word)
        if len(thing) == 6:
            break
    return thing


def _premise_denied(words: list[str]) -> _Found:
    """ "A cat, not a dog", "he is not wearing a hat": refuses what asks about dog or hat."""
    if words[:1] == ["no"] and 1 < len(words) < 5:
        return (True, tuple(words[1:]))
    for i, word in enumerate(words):
        if not (word in _NOT or word.endswith("n't")) or word in _CANNOT:
            continue
        at = i + 1
        if at + 1 < len(words) and words[at].endswith("ing"):
            at += 1
        if at + 1 < len(words) and words[at] in ("a", "an", "any"):
            thing = _until_stop(words[at:])
            if thing:
                return (True, tuple(thing[:2]))
        elif (
            at == i + 1
            and at < len(words)
            and words[at] not in ("the", "only", "just", "yet", "very")
        ):
            return (True, (words[at],))
        elif at == i + 2 and words[at] not in ("anything", "anyone", "nothing"):
            return (True, tuple(_until_stop(words[at:])[:2]) or (words[i + 1],))
    return None


_RULES = (
    ("does not know", _does_not_know),
    ("unanswerable", _unanswerable),
    ("too little information", _too_little),
    ("cannot tell", _cannot_tell),
    ("declines", _declines),
    ("not there", _not_there),
    ("not shown", _not_shown),
)
_PREMISES = (*_RULES, ("premise denied", _premise_denied))
