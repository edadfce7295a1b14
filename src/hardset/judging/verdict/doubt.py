"""What makes a verdict none: it is taken back, supposed, or left in the balance.

A verdict that a judge takes back ("TRUE. Wait, no: FALSE.") is none, and what it says instead is
none either: it is often the next thing to be taken back. Only what is then marked final ("Final
verdict: FALSE") is read. It makes no difference how the turn is made, or on which scale.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from hardset.judging.verdict.dress import one

T = TypeVar("T")

_CLAUSE = r"(?:^|[.!?;:,()\[\]\n]|-) ?"
_TURN = re.compile(
    rf"{_CLAUSE}(?:(?:oh|ah|hm+|um+|(?<=\W)no|oops|but|and|so|well|ok|okay)[,.:!]* ){{0,3}}"
    r"(?:wait\b|hold on\b|hang on\b|scratch that|strike that|correction\b|oops\b"
    r"|(?:up)?on (?:second thoughts?|(?:closer |further |careful |more )?"
    r"(?:reflection|reconsideration|reconsidering|inspection|review|re-?reading|thought|look))"
    r"|(?:thinking|looking) (?:again|more)|in hindsight|come to think"
    r"|let me (?:re-?\w|correct|change|revise|double|fix|think again|check again|look again)"
    r"|i (?:take (?:it|that|this) back|stand corrected|(?:was|am) (?:wrong|mistaken)"
    r"|(?:have )?made (?:a|an) (?:mistake|error)"
    r"|(?:must |should |have to |need to |want to |will |would |now )?"
    r"(?:changed?|revised?|correct|reconsider|lower|raise|retract|withdraw|adjust) (?:my|this|that"
    r"|the (?:score|verdict|grade|rating)|it|to)\b)"
    r"|(?:i'd|i'll|i am|i'm) (?:revis|chang|lower|rais|adjust|correct|reconsider)"
    r"|(?:score|verdict|grade|rating) (?:after|following|upon)\b|my (?:mistake|bad|error"
    r"|apologies)\b"
    r"|(?:revised|corrected|updated|new|adjusted) (?:score|verdict|grade|rating|answer)\b"
    r"|(?:等等|等一下|不对,|更正|重新考虑|再想想|仔细想想))",
    re.IGNORECASE,
)
_SOFT = (
    rf"{_CLAUSE}(?:actually|hm+|rather|instead|sorry|apologies|however|but|though|although|yet|or"
    rf"|no"
    r"|well|then again|to be precise|more precisely|better|其实|实际上|应该是)[,.:;!]* ?"
    r"(?:(?:no|yes|i|think|would|should|must|be|i'd|i'll|say|it|it's|it is|is|this|that|make|so|a"
    r"|an|the|my|score|grade|rating|verdict|answer|of|to|give|more|like|better|actually|rather"
    r"|probably|maybe|perhaps|also|could|can|may|might|as|well|even|just|really"
    r"|see|argue|argued|considered|seen|called|rated|therefore|thus|hence)"
    r"[,.:;!]* ){0,6}[\[(]?"
)
_MARKS = re.compile("[✅✔✓]"), re.compile("[❌✗✘✖]")
_SUPPOSED = re.compile(
    r"\b(?:if(?! i (?:had|have|were) to\b| asked\b)|unless|assuming|suppose|supposing"
    r"|provided|otherwise[,:]? (?:true|false|yes|no|it|\d)|depending|depends|(?:would|could"
    r"|might) (?:only |also )?have"
    r"|had (?:it|the)|were (?:it|the)"
    r"|in case)\b|如果|假如|要是|除非|否则"
)
_HEDGED = re.compile(
    r"\b(?:possibly|perhaps|maybe|probably|likely|might|could|can|partly|partially|mostly|nearly"
    r"|almost|borderline|unsure|unclear|whether|(?:some|others|one|many|people) (?:would|may"
    r"|will)|first|initial|initially"
    r"|example|e\.g|previous|previously|earlier|prior|expected|disagree|opposite|but for"
    r"|uncertain|not sure|hard to|between|either|neither|leaning"
    r"|lean|tempted|(?:it|this|that|which|verdict|answer|score|grade|one) may)\b|可能|也许"
)


def turning(value: str) -> re.Pattern[str]:
    """Return the pattern of a turn that a value follows at once ("actually, FALSE")."""
    return re.compile(rf"{_SOFT}(?:{value})", re.IGNORECASE)


def settled(
    text: str,
    read: Callable[[str], T | None],
    final: Callable[[str], list[T | None]],
    turn: re.Pattern[str],
) -> T | None:
    """Read a text in which a verdict may be taken back.

    Args:
        text: made bare.
        read: the reader of a text that takes nothing back.
        final: reads what is marked final.
        turn: of `turning`.

    Returns:
        What is marked final behind the last turn; else the verdict, if it is the same before the
        first turn and behind the last; else None. A turn before any verdict is part of the reasons.
    """
    turns = sorted(m.start() for pattern in (_TURN, turn) for m in pattern.finditer(text))
    blank = len(text) - len(text.lstrip())
    turns = [at for at in turns if at > blank]
    if not turns:
        return read(text)
    head, tail = text[: turns[0] + 1].strip(), text[turns[-1] :].lstrip(" .!?;:,()[]\n-")
    said = read(head)
    if said is None:
        return read(text)
    if claims := final(tail):
        return one(claims)
    return said if read(tail) == said == read(text) else None


def supposed(match: re.Match[str]) -> bool:
    """Say whether the sentence of a match has a condition in it ("it would be FALSE if ...")."""
    start, end = match.start(), match.end()
    ahead = re.split(r"[.!?\n]", match.string[max(0, start - 240) : start].lower())[-1]
    behind = re.split(r"[.!?\n;]", match.string[end : end + 120].lower(), maxsplit=1)[0]
    return _SUPPOSED.search(ahead) is not None or _SUPPOSED.search(behind) is not None


def hedged(match: re.Match[str]) -> bool:
    """Say whether a match is weakened by the words before it, in its clause ("possibly TRUE")."""
    start = match.start()
    ahead = re.split(r"[.!?\n;:,]", match.string[max(0, start - 60) : start].lower())[-1]
    return _HEDGED.search(ahead) is not None


def ticked(text: str) -> tuple[bool, bool]:
    """Say whether a text has ticks in it, and whether it has crosses."""
    return _MARKS[0].search(text) is not None, _MARKS[1].search(text) is not None
