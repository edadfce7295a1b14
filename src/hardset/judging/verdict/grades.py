"""The grade in a judge's reply: a whole number on a scale."""

from __future__ import annotations

import re
from typing import Any

from hardset.judging.verdict.doubt import settled, supposed, turning
from hardset.judging.verdict.dress import bare, before, columns, first, negated, reported
from hardset.judging.verdict.structured import is_structured, read_json, value_of

_NAMES = (
    frozenset(("final score", "final rating", "final grade", "overall score")),
    frozenset(("score", "rating", "grade", "mark", "points")),
    frozenset("verdict value answer result rationality".split()) | {"final answer"},
)
_COLUMNS = _NAMES[0] | frozenset(("score", "rating", "grade", "overall", "overall rating"))
_DIGITS = {
    word: n
    for n, word in enumerate("zero one two three four five six seven eight nine ten".split())
}
_WORD = rf"\b(?:{'|'.join(_DIGITS)})\b(?!-)"
_WHOLE = rf"(?:\d{{1,4}}(?!\d)|{_WORD})"
_BAD = "‡"
"""Stands for what is no single number: a range."""
_NUMBER = rf"(?:{_BAD}|(?<![\w.,/+-])[-+]?\d+(?:[.,]\d+)*(?!\w|-[a-z])|{_WORD})"
_VALUE = (
    rf"(?P<n>{_NUMBER})(?P<percent> ?(?:%|per ?cent\b))?"
    rf"(?: ?\(?(?:/| ?\bout of|\bof) ?(?P<of>{_WHOLE})\)?(?![.,]?\d))?"
    r"(?P<odd>[+?~]| ?[,&] ?(?=\d)| ?[-=]+> ?(?=[-+]?\d)| ?[*x×+=-] ?(?=\d)| (?:minus"
    r"|plus) (?=\w)| (?=\d)"
    r"|[,.;]? no[,:]? (?=\d)"
    r"| ?(?:or|and) (?:higher|lower|more|less|above|below|so|better|worse)\b)?"
)
_ASIDE = r"(?: ?\([^()\n]{0,40}\))?"
_RANGE = re.compile(
    rf"(?P<scale>(?:\bon (?:a|the) )?\b(?:scale|range)\b[^\n\d]{{0,20}}?)?"
    rf"[\[(]?(?<![\w./,])(?P<a>{_WHOLE}){_ASIDE}"
    rf" ?(?:-|–|\bto\b|\bthrough\b|\buntil\b|\band\b|\bor\b|\.\.\.?) ?(?P<b>{_WHOLE}){_ASIDE}[\])]?"
    r"(?![\w]|[.,]\d)",
    re.IGNORECASE,
)
# "Score (out of 5): 4", "Score/5: 4", "Out of 5, I give 4": the scale's end, and no grade of it.
_END = re.compile(
    rf"(?P<value>(?:[\d{_BAD}]|\b(?:{'|'.join(_DIGITS)})) ?)?\(?(?:/|\bout of) ?(?P<of>{_WHOLE})\)?"
    r"(?= ?[:=]| ?, i\b)",
    re.IGNORECASE,
)
_GAP = (
    "for of to is be as at with would should will i i'd we give gives assign this the that it a an "
    "my reply response answer reply's response's model model's explanation rationale rationality "
    "refusal here therefore thus score rating grade mark solid clear strong low high full"
).replace(" ", "|")
_SAID = re.compile(
    r"(?<![A-Za-z])(?P<label>scores?|scored|ratings?|rated?|grades?|graded|marks?|评分|得分|分数|打分|"
    r"give|giving|gave|assign|award|go with|settle on)"
    rf"(?P<gap>(?: (?:{_GAP})\b){{0,8}})(?P<sep> ?[:=]+\s?| ?-+>? |\s)"
    rf"(?:an? )?(?:(?:solid|clear|strong|firm|full|perfect|low|high) )?[\[({{]{{0,2}}{_VALUE}",
    re.IGNORECASE,
)
_GIVING = frozenset(("give", "giving", "gave", "assign", "award", "go with", "settle on", "rate"))
_EARNED = re.compile(
    r"\b(?:(?:deserves?|earns?|merits?|warrants?|receives?|gets?)(?: only)? an?|"
    r"i(?:'d| would)? say(?: it's| it is| this is)?(?: an?)?|my (?:answer|verdict) is)"
    rf"(?: (?:solid|clear|strong|full|low|high))? {_VALUE}",
    re.IGNORECASE,
)
_RATIO = re.compile(_VALUE, re.IGNORECASE)
_FULL = re.compile(
    r"(?:(?:my |the )?(?:final |overall )?(?:answer|verdict|result|judge?ment|evaluation|"
    r"assessment|final|overall|"
    rf"[a-z]{{0,12}}[ -]?rationality) ?(?:is|[:=-]) ?)?[\[({{]{{0,2}}{_VALUE}"
    r"(?: ?(?:points?|stars?|marks?|分))?",
    re.IGNORECASE,
)
_LEAD = re.compile(rf"{_VALUE}(?P<sep> - | ?->|[:.)](?= )| \(|,? because\b|, since\b)", re.I)
_FINAL_LINE = re.compile(rf"(?:my |the )?final answer(?: is|:) ?{_VALUE}[.!]?", re.IGNORECASE)
_BOXED = re.compile(r"\\f?boxed ?\{([^{}]{0,40})\}|\[\[([^\[\]]{0,40})\]\]")
_THEREFORE = re.compile(
    r"\b(?:so|thus|hence|therefore|overall|in conclusion)[,:]? (?:it is |it's )?(?:an? )?"
    rf"{_VALUE}$",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"$|[.,;:!)\]}\n]| - | ?\(| ?->| (?:because|since|for|given|but|and|points?|stars?|marks?|"
    r"overall|here|due)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"[)\]]? (?:of |out of )?(?:the )?(?:\w{1,20} )?(?:criteria|criterion|objects?|parts?|items?|"
    r"questions?|requirements?|conditions?|aspects?|elements?|claims?|reasons?|checks?|cases?)\b",
    re.IGNORECASE,
)
_IF = re.compile(
    r"[)\]]?,? (?:if|had|were|unless|only if|would|(?:is|seems|looks) (?:too|not|wrong)|isn't"
    r"|may\b|might"
    r"|could|at (?:most|best|least)|max\b|maximum|tops)\b",
    re.IGNORECASE,
)
# "Score: 3 (maybe 4)", "4 for this, 2 for that": another grade is held open at once.
_ALSO = re.compile(
    r"[^\n]{0,24}?\b(?:(?:maybe|perhaps|possibly|could|might|arguably|bordering|borderline|or"
    r"|rather"
    r"|almost|nearly|leaning|minus|plus|less)\b[^\n\d]{0,16}?|for [\w ]{1,20}[,;] (?:and )?)"
    rf"{_WHOLE}(?![\w.]*\d)(?! [a-z]+s\b)|[^\n\d]{{0,4}}\(\d if\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:\b(?:at least|at most|less than|more than|than|below|above|under|over|about|nearly|almost|"
    r"around|up to|short of|approximately|maximum|minimum|point|step|"
    r"criterion|image|figure|reason|rule))"
    r" $",
    re.IGNORECASE,
)
_TURN = turning(rf"{_WHOLE}(?: ?(?:/|out of|of) ?{_WHOLE})?(?=$|[.,;:!)\]\n]| (?:because|since)\b)")
_OTHER_SCORE = re.compile(
    r"\b(?:confidence|certainty|maximum|max|minimum|min|highest|lowest|best|worst|possible|perfect|"
    r"full|previous|prior|earlier|first|example|expected|sample|initial|original|average|mean"
    r"|threshold|passing|total|no)(?: ?: ?|[ _-])$",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\b(?:score|rating|grade) ?[:=] ?(?:n/?a\b|none\b|null\b|unknown\b|-+(?:\n|$))", re.I
)


def read_grade(text: str, low: int, high: int) -> int | None:
    r"""Read a whole number on a scale from a judge's reply.

    What is marked final, overall or boxed decides; then what is called the score, rating or grade,
    is given, or stands over the scale's end (`4/5`); then the cell of a score column; then a number
    alone on a line; then one that leads the first or last line ("3 - names the object only"); then
    "so 3." at the end. Where such claims differ, or one is off the scale, a fraction, a percentage,
    a range or a sum, there is no grade, nor where it is taken back (see `doubt`). The scale's own
    ends ("on a scale of 1-10"), points of a list, grades supposed ("if ..."), and what is counted
    ("5 out of 5 criteria") are no grades, and a grade on a scale that ends elsewhere is none here.

    Args:
        text: the judge's reply.
        low: the least grade.
        high: the greatest grade.

    Returns:
        The grade, between `low` and `high`, or None where there is none to be read.
    """
    if is_structured(text):
        return _within(_of_json(value_of(read_json(text) or {}, *_NAMES), high), low, high)
    words = _off_the_scale(re.sub(r"(?<=\d) ?分", " ", bare(text)), low, high)
    if not words or _NONE.search(words):
        return None
    grade = settled(words, lambda text: _read(text, high), lambda text: _finals(text, high), _TURN)
    return _within(grade, low, high)


def _read(text: str, high: int) -> int | None:
    lines = text.split("\n")
    return first(
        [
            lambda: _finals(text, high),
            lambda: _said(text, high),
            lambda: _cells(text, high),
            lambda: _alone(lines, high),
            lambda: _leads(lines, high),
            lambda: [_number(m, high) for m in _THEREFORE.finditer(text.rstrip(" .!)]"))],
        ]
    )


def _off_the_scale(text: str, low: int, high: int) -> str:
    """Take out the scale itself, and mark what is a range; "" where the scale is another one."""
    foreign = False

    def ranged(found: re.Match[str]) -> str:
        nonlocal foreign
        ends = sorted((_whole(found["a"]), _whole(found["b"])))
        if found["scale"]:
            foreign |= ends[1] != high
        return " " if found["scale"] or ends == [low, high] else _BAD

    def ended(found: re.Match[str]) -> str:
        nonlocal foreign
        if found["value"]:
            return found[0]
        foreign |= _whole(found["of"]) != high
        return ""

    text = _END.sub(ended, _RANGE.sub(ranged, text))
    return "" if foreign else "\n".join(" ".join(line.split()) for line in text.split("\n"))


def _finals(text: str, high: int) -> list[int | None]:
    boxed = [(m[1] or m[2] or "").strip() for m in _BOXED.finditer(text)]
    if boxed:
        return [_number(m, high) if (m := _FULL.fullmatch(one)) else None for one in boxed]
    marked = re.compile(r"\b(?:final|overall)[ _-]$", re.IGNORECASE)
    found = [
        _number(m, high)
        for m in _SAID.finditer(text)
        if marked.search(before(m)) and not reported(m)
    ]
    lines = text.split("\n")
    return found + [_number(m, high) for line in lines if (m := _FINAL_LINE.fullmatch(line))]


def _said(text: str, high: int) -> list[int | None]:
    claims: list[int | None] = []
    spoken_of: list[
        int | None
    ] = []  # "short of a score of 4", "Score 5: good": only if none is set
    firmly = False
    for said in _SAID.finditer(text):
        if _OTHER_SCORE.search(before(said)) or reported(said):
            continue
        firm = ":" in said["sep"] or "=" in said["sep"]
        if not firm and (not _goes(said) or negated(said) or supposed(said)):
            continue
        if "\n" in said["sep"] and said["label"].lower().endswith("s"):
            continue  # "The grades:", and a list of them
        if _IF.match(text, said.end()):
            continue
        if _ALSO.match(text, said.end()):
            claims.append(None)
            continue
        of_many = _COUNTED.match(text, said.end()) and said["of"]
        number = None if of_many else _number(said, high)
        firmly |= firm
        given = firm or said["label"].lower() in _GIVING
        (claims if given else spoken_of).append(number)
    for earned in _EARNED.finditer(text):
        denied = negated(earned) or reported(earned) or supposed(earned)
        if _goes(earned) and not denied:
            claims.append(None if _ALSO.match(text, earned.end()) else _number(earned, high))
    for ratio in _RATIO.finditer(text):
        on_scale = ratio["of"] and ratio["n"] != _BAD and _whole(ratio["of"]) == high
        # A sentence may follow that has no full stop before it: "4/5 The reply ..."
        goes = _goes(ratio) or re.match(r" [A-Z]", text[ratio.end() : ratio.end() + 2])
        free = not _COUNTED.match(text, ratio.end()) and not _BOUND.search(before(ratio))
        denied = negated(ratio) or reported(ratio) or supposed(ratio)
        if on_scale and goes and free and not denied:
            claims.append(_number(ratio, high))
    return claims if firmly or not spoken_of else claims + spoken_of


def _cells(text: str, high: int) -> list[int | None]:
    return [
        _number(m, high) if (m := _FULL.fullmatch(cell)) else None
        for cell in columns(text, _COLUMNS)
    ]


def _alone(lines: list[str], high: int) -> list[int | None]:
    stripped = (line.lstrip(" ([{:,").rstrip(" .!)]}:") for line in lines)
    return [_number(m, high) for line in stripped if (m := _FULL.fullmatch(line))]


def _leads(lines: list[str], high: int) -> list[int | None]:
    """Return what leads the first or last line; where several lines are led, it is a list."""
    found = [(n, m) for n, line in enumerate(lines) if (m := _LEAD.match(line))]
    if len(found) != 1 or found[0][0] not in (0, len(lines) - 1):
        return []
    lead = found[0][1]
    rest = lead.string[lead.end() :].lstrip()
    if not rest or rest[0].isdigit():
        return []
    number = _number(lead, high)
    if number == 1 and lead["sep"] in (".", ":", ")") and not lead["of"]:
        return []  # the first reason of a list, for all one can see
    return [number]


def _goes(claim: re.Match[str]) -> bool:
    return _ENDS.match(claim.string, claim.end()) is not None


def _number(claim: re.Match[str], high: int) -> int | None:
    """Return the whole number of a claim; None for a range, a part, a share or another scale."""
    text = claim["n"]
    if text == _BAD or claim["percent"] or claim["odd"]:
        return None
    if claim["of"] and _whole(claim["of"]) != high:
        return None
    after = re.match(r" ?(?:%|per ?cent\b)", claim.string[claim.end() : claim.end() + 9])
    return None if after else _whole_or_none(text)


def _whole_or_none(text: str) -> int | None:
    if text.lower() in _DIGITS:
        return _DIGITS[text.lower()]
    found = re.fullmatch(r"([-+]?\d{1,9})(?:\.0+)?", text)
    return int(found[1]) if found else None


def _whole(text: str) -> int:
    return _DIGITS[text.lower()] if text.lower() in _DIGITS else int(text)


def _of_json(value: Any, high: int) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        found = _FULL.fullmatch(" ".join(value.split()))
        return _number(found, high) if found else None
    return value if isinstance(value, int) else None


def _within(grade: int | None, low: int, high: int) -> int | None:
    return grade if grade is not None and low <= grade <= high else None
