"""The letter in a judge's reply, where a grade is a letter."""

from __future__ import annotations

import re

from hardset.judging.verdict.doubt import settled, supposed, turning
from hardset.judging.verdict.dress import bare, before, columns, first, negated, reported
from hardset.judging.verdict.structured import is_structured, read_json, value_of

_NAMES = (
    frozenset(("final grade", "grade", "verdict", "letter", "grid")),
    frozenset(("final answer", "answer", "choice", "option", "category", "label")),
)
_LABEL = (
    r"(?i:grid|grade|answer|verdict|choice|option|category|label|class|letter|rating|score|"
    r"judge?ment|decision|selection|result|best (?:fit|match|description)|fits best|matches best"
    r"|判断|判定|结论|答案|选项|等级|评级|评判)"
)
_OF = r"(?i: (?:for|of) (?:this|the) (?:reply|response|answer))?"
_SAID = re.compile(
    rf"{_LABEL}{_OF}(?i: (?:is|would be|should be)| ?[:=是为]"
    rf"| ?-+>?(?= ))+\s?[(\[{{]*(?P<letter>[A-Z])\b"
)
_GIVEN = re.compile(
    r"\b(?i:choose|chose|pick|select|grade|rate|give|assign|go with|deserves|earns|merits|gets)"
    r"(?i: (?:it|this|that|the|reply|response|answer|an?|as|with|grade|of|letter|option)){0,6} "
    r"[(\[{]?(?P<letter>[A-Z])\b"
)
# "The reply chose A" is none of the judge's letters; "the reply deserves an A" is.
_THEIRS = re.compile(r"(?i:choose|chose|pick|select|give|go with)")
_SUBJECT = re.compile(
    r"\b(?:reply|response|model|system|reference|it|which|and|to|answer)(?: \w{1,12}ly)? $", re.I
)
_SO = re.compile(
    r"\b(?i:so|thus|hence|therefore)(?i:[,:]? (?:it is |it's |an? )?)[(\[{]?(?P<letter>[A-Z])\b"
)
_BOXED = re.compile(r"\\f?boxed ?\{ ?\(?(?P<letter>[A-Z])\)? ?\}|\[\[ ?(?P<inner>[A-Z]) ?\]\]")
_ALONE = re.compile(r"[(\[{]?(?P<letter>[A-Z])[)\]}]?[.!:]?")
_LEAD = re.compile(
    r"(?:\((?P<inner>[A-Z])\)|(?P<letter>[A-Z])(?: -(?!>)|[:.)]| \((?![A-Z]\b))) ?(?=\S)"
)
# "C or D", "C/D", "C and D", "B+", "C?": left open, or another scale.
_OPEN = re.compile(
    r"[)\]}]?(?: ?(?:or|and|/|,|[-=]>|to|then|no,?) ?\(?(?!I )[A-Z]\b| ?[+?]|-[A-Z]\b"
    r"|-(?=[ .,\n]|$))"
)
_OTHERS = re.compile(
    r"(?:\b(?:reference|correct|gold|expected|its|previous|prior|earlier|example|sample|first"
    r"|initial)"
    r"|'s) $",
    re.IGNORECASE,
)
_JUDGES = re.compile(r"(?i:verdict|grade|rating|score|judge?ment)")
_COLUMNS = _NAMES[0] | {"final verdict", "rating", "score"}
_ENDS = re.compile(r"$|\n|[)\]}.,:;!]| - | ?\(| (?:because|since|as it|given|for|overall|here)\b")
_TURN = turning(r"(?-i:[A-Z])(?=$|[)\].,;:!\n]| (?:because|since)\b)")


def read_letter(text: str, letters: str) -> str | None:
    """Read one of the letters from a judge's reply: `GRID: C`, `(C)` or `The grade is C`.

    What is marked final or boxed decides, then what is called the grade, the answer or the like,
    then the cell of a verdict column, then a letter that stands alone on a line or leads one. A
    small letter counts only where it is the whole reply; "A" and "I" are no letters where a
    sentence goes on behind them. Two different letters, one that is not among them, and one that
    is supposed or taken back (see `doubt`) are none.

    Args:
        text: the judge's reply.
        letters: those of the scale, such as "ABCD".
    """
    known = letters.upper()
    if is_structured(text):
        value = value_of(read_json(text) or {}, *_NAMES)
        said = value.strip().upper() if isinstance(value, str) else ""
        return said if len(said) == 1 and said in known else None
    text = bare(text)
    if re.fullmatch(r"[(\[{]?[a-z][)\]}]?\.?", text):
        text = text.upper()
    letter = settled(text, _read, _finals, _TURN)
    return letter if letter is not None and letter in known else None


def _read(text: str) -> str | None:
    return first(
        [
            lambda: _finals(text),
            lambda: _said(text),
            lambda: _cells(text),
            lambda: _alone(text),
            lambda: _leads(text),
        ]
    )


def _cells(text: str) -> list[str | None]:
    cells = columns(text, _COLUMNS)
    return [m["letter"] if (m := _ALONE.fullmatch(cell)) else None for cell in cells]


def _finals(text: str) -> list[str | None]:
    boxed: list[str | None] = [m["letter"] or m["inner"] for m in _BOXED.finditer(text)]
    return boxed or [
        _meant(m)
        for m in _SAID.finditer(text)
        if re.search(r"\b(?:final|overall)[ _-]$", before(m), re.IGNORECASE) and not reported(m)
    ]


def _said(text: str) -> list[str | None]:
    claims = [_meant(m) for m in _SAID.finditer(text) if not _elsewhere(m)]
    given = [m for m in _GIVEN.finditer(text) if not negated(m) and not _elsewhere(m)]
    given = [m for m in given if not (_THEIRS.match(m[0]) and _SUBJECT.search(before(m)))]
    claims += [_meant(m) for m in _SO.finditer(text) if _goes(m) or _OPEN.match(text, m.end())]
    return claims + [_meant(m) for m in given if _goes(m) or _OPEN.match(text, m.end())]


def _alone(text: str) -> list[str | None]:
    return [m["letter"] for line in text.split("\n") if (m := _ALONE.fullmatch(line))]


def _leads(text: str) -> list[str | None]:
    """Return the letter that leads the first or last line; a list of letters leads many."""
    lines = text.split("\n")
    found = [(n, m) for n, line in enumerate(lines) if (m := _LEAD.match(line))]
    if len(found) != 1 or found[0][0] not in (0, len(lines) - 1):
        return []
    return [found[0][1]["letter"] or found[0][1]["inner"]]


def _goes(said: re.Match[str]) -> bool:
    return _ENDS.match(said.string, said.end()) is not None


def _meant(said: re.Match[str]) -> str | None:
    """Return the letter of a claim; None where it is left open or an article or a pronoun."""
    if _OPEN.match(said.string, said.end()) or supposed(said):
        return None
    return said["letter"] if said["letter"] not in "AI" or _goes(said) else None


def _elsewhere(said: re.Match[str]) -> bool:
    """Say whether it is another's answer that is spoken of, not the judge's."""
    whose = _OTHERS.search(before(said))
    own = whose and whose[0].lower() == "correct " and _JUDGES.match(said[0])
    return reported(said) or (whose is not None and not own)
