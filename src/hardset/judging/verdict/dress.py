"""A judge's reply made plain, before any scale is read from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from hardset.judging.verdict.quoted import own
from hardset.reading.words import tidy

T = TypeVar("T")

_OPENING = re.compile(r"<(?:think|thinking|thought|reasoning)>|\[THINK\]|◁think▷", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_CHANNEL, _FINAL = "<|channel|>", "<|channel|>final<|message|>"
_BOX = re.compile(r"^(?:\[[xX]\]|[☑☒✓✔]) (?=[\w(])")
_EMPTY_BOXES = ("[ ]", "[] ", "☐", "⬜", "□")
_HTML = frozenset("code span strong table thead tbody small".split())
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]{3,30})>")
_QUOTES = re.compile("[\"*`$\u20e3]|(?<!\\w)'|'(?!\\w)")
_FRACTIONS = str.maketrans(dict.fromkeys("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", ".5") | dict.fromkeys("⁰¹²³⁴⁵⁶⁷⁸⁹"))


def spoken(text: str) -> str:
    """Return what follows the thinking; nothing where the thinking never ends."""
    if _CHANNEL in text:
        text = text.rpartition(_FINAL)[2] if _FINAL in text else ""
    closings = list(_CLOSING.finditer(text))
    if closings:
        after = text[closings[-1].end() :]
        text = after if after.strip() else _OPENING.split(text, maxsplit=1)[0]
    return "" if _OPENING.search(text) else text


def bare(text: str) -> str:
    """Return a judge's own words without thoughts and emphasis, one space wide at most.

    Marks of quotes go, and what is quoted of another (see `quoted.own`). `<score>4</score>`
    becomes a line `score: 4`, and `4½` is `4.5`; of checkboxes the ticked ones stay. Empty lines
    go. Linear in the length of the text, and so is every pattern that meets no run of spaces.
    """
    text = _TAG.sub(_unwrapped, own(spoken(text)).translate(_FRACTIONS))
    text = _QUOTES.sub("", tidy(text)).replace("→", "->")
    lines = (_BOX.sub("", " ".join(line.split())) for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith(_EMPTY_BOXES))


def _unwrapped(tag: re.Match[str]) -> str:
    if tag[2].lower() in _HTML:
        return tag[0]
    return "\n" if tag[1] else f"\n{tag[2]}: "


def before(match: re.Match[str], width: int = 32) -> str:
    """Return what stands just before a match, in its own line."""
    return match.string[max(0, match.start() - width) : match.start()].rpartition("\n")[2]


def columns(text: str, names: frozenset[str]) -> list[str]:
    """Return the cells of a table's verdict: under a head so named, or beside such a name.

    Args:
        text: made bare; rows are lines that begin with a bar.
        names: what the column or the row may be called, in lower case.
    """
    cells: list[str] = []
    at: int | None = None
    for line in text.split("\n"):
        row = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(row) < 2 or not re.search(r"\w", line):
            at = at if line.startswith("|") else None
            continue
        heads = [n for n, cell in enumerate(row) if cell.lower().strip(" :") in names]
        if heads == [0] and len(row) == 2 and row[1].lower() not in _HEADS:
            cells.append(row[1])
        elif heads:
            at = heads[-1]
        elif at is not None and at < len(row):
            cells.append(row[at])
    return cells


_HEADS = frozenset("reason reasons reasoning explanation comment value rationale notes".split())


def one(claims: Iterable[T | None]) -> T | None:
    """Return what all claims agree on: None where two differ, or one cannot be read."""
    distinct = set(claims)
    return distinct.pop() if len(distinct) == 1 else None


def first(tiers: Iterable[Callable[[], list[T | None]]]) -> T | None:
    """Return what the first tier with a claim in it says; later ones are not looked at."""
    for tier in tiers:
        if claims := tier():
            return one(claims)
    return None


NEGATED = re.compile(r"(?:\b(?:not|never|cannot|neither|nor|without|rather than|instead of)|n't)\b")


def negated(match: re.Match[str]) -> bool:
    """Say whether a match is denied by the words just before it, in its sentence."""
    said = re.split(r"[.;:!?,]", before(match).lower())[-1]
    return NEGATED.search(said) is not None


_REPORTED = re.compile(
    r"\b(?:please|user|(?:ask|demand|request|say|claim|order|instruct|tell|want|state|write)(?:s"
    r"|ed)"
    r"|said|told|asking|saying|wrote)\b"
)


def reported(match: re.Match[str]) -> bool:
    """Say whether a match is in another's mouth ("the reply asks for a score of 5")."""
    said = re.split(r"[.;!?,]", before(match, 48).lower())[-1]
    return _REPORTED.search(said) is not None
