"""The verdict in a judge's reply. What cannot be read is no verdict: never a guess."""

from __future__ import annotations

import re

_WORD = re.compile(r"(?<![\w'-])(true|false|yes|no|correct|incorrect)(?![\w'-])", re.IGNORECASE)
_VALUES = {"true": True, "yes": True, "correct": True}
_VALUES |= {"false": False, "no": False, "incorrect": False}
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_MARKS = re.compile(r"[*_`#>\"“”]+")
_SAID = re.compile(
    r"(?:verdict|answer|judge?ment|conclusion|result|decision)\s*(?:is|:|=)+\s*"
    r"(true|false|yes|no|correct|incorrect)(?![\w'-])",
    re.IGNORECASE,
)


def read_true_false(text: str) -> bool | None:
    """Read TRUE or FALSE (or yes or no, correct or incorrect) from a judge's reply.

    A word that leads the reply decides, then what is called the verdict or the answer, then the
    word that stands alone on the last line, then the only such word there is. A verdict that is
    negated ("not true"), or said both ways, is none.

    Returns:
        The verdict, or None where there is none to be read.
    """
    text = _MARKS.sub("", _THINKING.sub(" ", text)).strip()
    if not text or "<think" in text.lower():
        return None
    lead = _WORD.match(text.lstrip("([{:- "))
    if lead and not re.match(r"\s+or\s", text.lstrip("([{:- ")[lead.end() :], re.IGNORECASE):
        return _VALUES[lead[1].lower()]
    said = {_VALUES[word.lower()] for word in _SAID.findall(text)}
    if said:
        return said.pop() if len(said) == 1 else None
    last = text.splitlines()[-1].strip(" .!()[]{}")
    if _WORD.fullmatch(last):
        return _VALUES[last.lower()]
    words = {_VALUES[word.lower()] for word in _WORD.findall(text)}
    if len(words) != 1 or re.search(
        r"(?:\bnot|n't|neither)\s+(?:\w+\s+)?" + _WORD.pattern, text, re.I
    ):
        return None
    return words.pop()
