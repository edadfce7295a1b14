"""Sentences in which a reply says that it does not answer: small named rules on their words.

What stands in quotes, or behind "the sign reads", is what the image says and not what the model
says, so no rule looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from hardset.reading.absence import ABSENCES, PREMISES
from hardset.reading.cue_rules import RULES
from hardset.reading.cue_words import marks_of, own_words
from hardset.reading.words import TRADITIONAL, Sentences, words_of


class Cue(NamedTuple):
    """Where a reply refuses, and by which rule."""

    start: int
    end: int
    rule: str
    strong: bool = True  # a weak cue ("hard to say") refuses only if nothing else is said
    absent: tuple[str, ...] | None = None  # what is said not to be there


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
    "no idea", "need", "requir", "idk", "dunno", "null", "nil", "question is",
    "out of", "nothing", "provide ", "upload", "share ", "attach", "send ", "failed", "only ",
    "just ", "guidelines", "polic", "blank", "corrupt", "cut off", "obscured", "hidden", "blur",
    "covered", "crop", "occlu", "conceal", "do you mean", "did you", "rather than", "instead of",
    "guess is as", "beats me", "'d have", "depends on", "specify", "clarify", "outside",
    "nowhere", "zero ", "invisib", "indist", "indeciph", "imperc", "undetect", "unrecog", "less",
)  # fmt: skip

_RULES = (*RULES, *ABSENCES)
_WITH_PREMISES = (*_RULES, *PREMISES)

_BRIEF = 160  # characters of a text whose cues are remembered
_LONGEST = 1200  # characters of a sentence that are looked at
_QUOTED = re.compile(r"\"[^\"\n]{0,200}\"|(?<![\w'])'[^'\n]{1,200}'(?!\w)")


def unquoted(text: str) -> str:
    """Return the text with quoted words blanked out; a reply that is all quote is not one."""
    if '"' not in text and "'" not in text:
        return text
    if (
        len(text) > 2
        and text[0] in "\"'"
        and text.rstrip(".")[-1] == text[0]
        and text.count(text[0]) == 2
    ):
        return f" {text[1:]}"
    return _QUOTED.sub(lambda match: " ".ljust(len(match[0]), "_"), text)


def cues(text: str, *, premises: bool = False) -> Iterator[Cue]:
    """Yield each refusing sentence of a tidy text, in order.

    With `premises` also those that deny something which a question may take for granted ("he is
    not wearing a hat"): by themselves they are plain statements.
    """
    return iter(_cues_of_brief(text, premises)) if len(text) <= _BRIEF else _cues(text, premises)


@lru_cache(maxsize=4096)
def _cues_of_brief(text: str, premises: bool) -> tuple[Cue, ...]:
    """Return the cues of a brief text: such replies recur in every run."""
    return tuple(_cues(text, premises))


def _cues(text: str, premises: bool) -> Iterator[Cue]:
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
            own = own_words(words_of(sentence[:_LONGEST]))
            marks = marks_of(own)
            for name, match_, needs in _WITH_PREMISES if premises else _RULES:
                found = None if needs.isdisjoint(marks) else match_(own)
                if found is not None:
                    strong, absent = found
                    yield Cue(start, end, name, strong, absent)
                    break


def may_refuse(lowered: str) -> bool:
    """Whether a lower-case text can have a cue at all; cheap, and true too often."""
    return (
        not lowered.isascii()
        or "no" in lowered
        or len(lowered) < 8
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
    asks = lowered.startswith(("what ", "which ", "a ", "an ")) and "?" in lowered[:40]
    if not (at or starts_no or chinese or asks or lowered.strip(" .!") == "no"):
        return []
    sentences = Sentences(lowered)
    if chinese or len(lowered) < 40:
        return sentences.all()
    found = {sentences.around(position) for position in at}
    if asks:  # "What dog? I see a cat."
        found.add(sentences.around(0))
    if starts_no:
        found |= {span for span in sentences.all() if lowered.startswith("no", span[0])}
    return sorted(found)
