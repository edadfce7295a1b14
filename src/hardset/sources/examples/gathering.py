"""Rows read one after the other, kept compactly: columns of texts, and what is wrong where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hardset.sources.examples.tree import sound

if TYPE_CHECKING:
    import polars as pl

_CHUNK = 65_536  # rows as Python objects at a time


class AsRead(Protocol):
    """A row of a file."""

    @property
    def number(self) -> int:
        """The line it begins at."""

    @property
    def cells(self) -> Sequence[Any]:
        """Its content."""

    @property
    def label(self) -> Any:
        """Its label as it stands there."""

    @property
    def wrong(self) -> str:
        """Why it has no content; "" if it has."""


@dataclass(frozen=True)
class Gathered:
    """The rows of some files.

    Attributes:
        frame: a column of texts for each cell of content.
        labels: one a row, as they stand there.
        bad: for the positions of rows without content, why.
        lines: (n,) the line each begins at, in its file.
        starts: the position of each file's first row.
    """

    frame: pl.DataFrame
    labels: list[Any]
    bad: dict[int, str]
    lines: NDArray[np.int64]
    starts: list[int]

    def notes(self) -> tuple[str, ...]:
        """Say how many rows cannot be read."""
        if not self.bad:
            return ()
        position, reason = next(iter(self.bad.items()))
        return (
            f"{len(self.bad):,} of {len(self.labels):,} rows cannot be read, the first at line "
            f"{self.lines[position]}: {reason}",
        )


def gather(rows: Iterable[AsRead | None], width: int) -> Gathered:
    """Gather rows.

    Args:
        rows: in order; None begins a file.
        width: cells of content in a row.
    """
    import polars as pl

    schema = {str(number): pl.String for number in range(width)}
    chunks: list[pl.DataFrame] = []
    columns: list[list[str | None]] = [[] for _ in range(width)]
    labels: list[Any] = []
    kept: dict[Any, Any] = {}  # one object for each different label
    lines: list[int] = []
    starts: list[int] = []
    bad: dict[int, str] = {}

    def pack() -> None:
        series = [
            pl.Series(name, cells, kind)
            for (name, kind), cells in zip(schema.items(), columns, strict=True)
        ]
        chunks.append(pl.DataFrame(series))
        for column in columns:
            column.clear()

    for row in rows:
        if row is None:
            starts.append(len(labels))
            continue
        wrong, cells, label = row.wrong, row.cells, row.label
        if not wrong:
            cells, wrong = _texts(cells)
        if isinstance(label, str) and not sound(label):
            label, wrong = None, wrong or "its label is not UTF-8 text"
        if wrong:
            bad[len(labels)] = wrong
            cells = [None] * width
        if isinstance(label, str):
            label = kept.setdefault(label, label)
        labels.append(label)
        lines.append(row.number)
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
        if len(columns[0]) >= _CHUNK:
            pack()
    pack()
    frame = pl.concat(chunks)
    return Gathered(frame, labels, bad, np.array(lines, dtype=np.int64), starts)


def _texts(cells: Sequence[Any]) -> tuple[list[str | None], str]:
    """Return cells as texts, or why they are none."""
    found: list[str | None] = []
    for cell in cells:
        if isinstance(cell, str):
            if not sound(cell):
                return [], "is not UTF-8 text"
            found.append(cell)
        elif cell is None:
            found.append(None)
        elif isinstance(cell, int | float):
            found.append(str(cell))
        else:
            return [], f"its cell holds a {type(cell).__name__}, not a text"
    return found, ""
