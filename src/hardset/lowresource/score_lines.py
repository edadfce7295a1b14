"""Lines of `index score`: read at once, and one by one only to find the one that is none."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError

_BLANK = re.compile(r"[ \t,;]+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf(inity)?)", re.I)
_WHOLE = re.compile(r"[+-]?\d{1,18}")


@dataclass(frozen=True)
class Read:
    """A file's indices and scores, in its order."""

    index: NDArray[np.int64]
    values: NDArray[np.float64]
    lines: int | None = None
    """How many lines of text they stand on; None where they come from a table."""


class Line(NamedTuple):
    """A text whose first line names columns."""

    text: str
    separator: str


def read_lines(path: Path) -> Read | Line:
    """Read a text file of scores, or hand back a text that is a table with a header.

    Blanks, tabs, commas and semicolons part the two; line ends of any system; a byte-order mark
    and UTF-16 are read.

    Raises:
        UsageError: it is empty or no text, or a line is no `index score`: which, and its text.
    """
    text = _text(path)
    first = text.partition("\n")[0].strip()
    cells = [cell for cell in _BLANK.split(first) if cell]
    if cells and not any(_NUMBER.fullmatch(cell) for cell in cells):
        for separator in ("\t", ",", ";", " "):
            if separator in first:
                return Line(text, separator)
    return _at_once(text, len(cells)) or _one_by_one(path, text, len(cells))


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        where = "" if wide else f", line {line}"
        raise UsageError(
            f"{path}{where}: no {'UTF-16' if wide else 'UTF-8'} text ({error.reason}); save it "
            "as UTF-8"
        ) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UsageError(f"{path} is empty: there is no score in it")
    return text.rstrip()


def _at_once(text: str, cells: int) -> Read | None:
    """Read plain `index score` lines, or scores alone; None where any line is not so."""
    import polars as pl

    if cells not in (1, 2) or "_" in text:
        return None
    columns = {"index": pl.Int64, "score": pl.Float64} if cells == 2 else {"score": pl.Float64}
    separator = next((sign for sign in "\t,; " if sign in text.partition("\n")[0]), " ")
    try:
        frame = pl.read_csv(
            text.encode(), separator=separator, has_header=False, quote_char=None,
            schema=columns,
        )  # fmt: skip
    except pl.exceptions.PolarsError:
        return None
    if frame.height != text.count("\n") + 1 or any(frame[name].has_nulls() for name in columns):
        return None
    many = frame.height
    index = frame["index"].to_numpy() if cells == 2 else np.arange(many)
    return Read(index, frame["score"].to_numpy(), many)


def _one_by_one(path: Path, text: str, cells: int) -> Read:
    index, values = [], []
    for number, line in enumerate(text.split("\n")):
        found = [cell for cell in _BLANK.split(line) if cell]
        good = len(found) == cells <= 2 and _NUMBER.fullmatch(found[-1])
        if not good or (cells == 2 and not _WHOLE.fullmatch(found[0])):
            raise UsageError(f"{path}, line {number + 1}: {_what(line, found, cells)}")
        index.append(int(found[0]) if cells == 2 else number)
        values.append(float(found[-1]))
    return Read(np.asarray(index, dtype=np.int64), np.asarray(values), len(values))


def _what(line: str, found: list[str], cells: int) -> str:
    if not found:
        return "is blank; a line is `index score`, or all lines are scores alone"
    shown = repr(line[:60]) + ("..." if len(line) > 60 else "")
    if len(found) > 2 or cells > 2:
        return f"{shown} has {len(found)} values; a line is `index score`"
    if len(found) != cells:
        return f"{shown} has {len(found)} values, and the first line {cells}"
    if cells == 2 and not _WHOLE.fullmatch(found[0]):
        return f"{shown}: {found[0]!r} is no whole number; a line is `index score`"
    return f"{shown}: {found[-1]!r} is no number; a line is `index score`"
