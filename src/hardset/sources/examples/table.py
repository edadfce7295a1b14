"""A labelled set whose examples are the rows of a table."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardset.lowresource.examples import Content, Kind, Positions, Unreadable
from hardset.sources.examples.decoding import picture_of, text_of
from hardset.sources.examples.rows import Rows


@dataclass(frozen=True)
class Places:
    """Where rows stand: files one after the other, and the line or row of each in its file.

    Attributes:
        files: their names.
        starts: the position of each file's first row.
        unit: what is counted, "row" or "line".
        numbers: (n,) the number of each row in its file; None where they count up from 1.
    """

    files: Sequence[str]
    starts: Sequence[int]
    unit: str = "row"
    numbers: NDArray[np.int64] | None = None

    def __getitem__(self, position: int) -> str:
        file = bisect_right(self.starts, position) - 1
        number = position - self.starts[file] + 1
        if self.numbers is not None:
            number = int(self.numbers[position])
        return f"{self.files[file]}, {self.unit} {number}"


@dataclass
class Table:
    """Examples from a table's rows.

    Attributes:
        rows: their cells of content: one picture (bytes, or a path below `folder`), or one or two
            texts.
        ids: by position.
        folder: where relative paths of pictures begin.
    """

    kind: Kind
    rows: Rows
    labels: NDArray[Any]
    classes: tuple[str, ...]
    source: dict[str, Any]
    ids: Places | Sequence[str]
    folder: str = ""

    def __len__(self) -> int:
        return len(self.labels)

    def id(self, position: int) -> str:
        """Return where the row stands: "train.parquet, row 17"."""
        return self.ids[int(position)]

    def fetch(self, positions: Positions) -> list[Content]:
        """Return texts, or upright pixels; what cannot be read is `Unreadable`."""
        found: list[Content] = []
        for row in self.rows.fetch(positions):
            if isinstance(row, Unreadable):
                found.append(row)
            elif self.kind == "text":
                found.append(text_of(row))
            else:
                cell = next((cell for cell in row if cell is not None), None)
                found.append(picture_of(cell, self.folder))
        return found

    def shuffled(self, generator: np.random.Generator) -> Positions:
        """Return all positions in a random order that is read at a fair speed."""
        return self.rows.shuffled(generator)
