"""Rows of a table, read by position: held in memory, or from parquet files a block at a time.

A set of up to 64 MB of content is held. Of a larger one, blocks of about 4 MB are read (polars
skips the row groups and pages that are not asked for), and those used last are kept. A random order
that such a set can be read in visits its blocks at random, and shuffles the rows within pools of
many blocks: of 64 MB, or of so many rows that more would hardly mix better.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hardset.errors import UsageError
from hardset.images.bounded import Bounded
from hardset.lowresource.examples import Positions, Unreadable
from hardset.sources.examples.tree import sound
from hardset.sources.panics import panics_told

if TYPE_CHECKING:
    import polars as pl

HELD = 64 * 2**20  # bytes of content; up to this, a set is held in memory
BLOCK = 4 * 2**20
POOL = 64 * 2**20
POOL_ROWS = 2**17
MIXED = 8  # blocks in a pool of so many rows, at least: a set may be sorted by its labels
FEW = 64  # one row in so many of a block is not worth the block
_OBJECTS = 200  # bytes that Python has for a row's tuple and cells
_SAMPLE = 512  # rows, by which the size of all is judged

_READING = Lock()  # a panic is told by turning standard error aside, one at a time

Row = tuple[Any, ...] | Unreadable


class Rows(Protocol):
    """A table's cells of content."""

    def __len__(self) -> int: ...

    def fetch(self, positions: Positions) -> list[Row]:
        """Return some rows' cells, in the order asked for."""
        ...

    def shuffled(self, generator: np.random.Generator) -> Positions:
        """Return all positions in a random order that is read at a fair speed."""
        ...


class HeldRows:
    """Rows in memory.

    Args:
        frame: the cells.
        bad: for the positions whose cells are not to be had, why.
    """

    def __init__(self, frame: pl.DataFrame, bad: dict[int, str] | None = None) -> None:
        self.frame = frame
        self.bad = bad or {}

    def __len__(self) -> int:
        return self.frame.height

    def fetch(self, positions: Positions) -> list[Row]:
        """Return some rows' cells, in the order asked for."""
        rows: list[Row] = list(self.frame[np.asarray(positions)].iter_rows())
        if self.bad:
            for number, position in enumerate(positions):
                if reason := self.bad.get(int(position)):
                    rows[number] = Unreadable(reason)
        return rows

    def shuffled(self, generator: np.random.Generator) -> Positions:
        """Return all positions in random order."""
        return generator.permutation(len(self))


class FileRows:
    """Rows of parquet files, a block at a time.

    A file that was changed since gives `Unreadable` rows, as does a damaged block.

    Args:
        files: in order; all have the columns.
        cells: what to read of each row.
        heights: the rows of each file.
        row_bytes: what a row takes in memory, about.
    """

    def __init__(
        self,
        files: Sequence[Path],
        cells: Sequence[pl.Expr],
        heights: Sequence[int],
        row_bytes: float,
    ) -> None:
        self.files = [(path, _stamp(path)) for path in files]
        self.cells = list(cells)
        most = max(1, min(int(BLOCK / max(row_bytes, 1.0)), POOL_ROWS // MIXED))
        blocks: list[tuple[int, int]] = []  # file, first row in it
        starts: list[int] = []
        at = 0
        for number, height in enumerate(heights):
            for first in range(0, height, most):
                blocks.append((number, first))
                starts.append(at + first)
            at += height
        self._blocks = blocks
        self._starts = np.array([*starts, at], dtype=np.int64)
        self._block_bytes = int(most * max(row_bytes, 1.0))
        self._pool = max(1, min(POOL // self._block_bytes, POOL_ROWS // most))
        self._forget()

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getstate__(self) -> dict[str, Any]:
        mine = ("_kept", "_few")  # each process has its own
        return {name: value for name, value in vars(self).items() if name not in mine}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    def _forget(self) -> None:
        """Begin with nothing kept; room is for a pool, with some to spare: blocks differ in size.

        Of a small choice from all over the set each batch needs a few rows of every block, so that
        such rows are kept by themselves: the blocks are read once, and not for every batch.
        """
        spare = self._pool // 4 + 2
        self._kept: Bounded[int, pl.DataFrame | Unreadable] = Bounded(
            (self._pool + spare) * self._block_bytes
        )
        self._few: Bounded[int, Row] = Bounded(HELD)

    def fetch(self, positions: Positions) -> list[Row]:
        """Return some rows' cells, in the order asked for."""
        positions = np.asarray(positions, dtype=np.int64)
        if len(positions) and not 0 <= positions.min() <= positions.max() < len(self):
            raise IndexError(f"a position is not in 0 to {len(self) - 1}")
        blocks = np.searchsorted(self._starts, positions, side="right") - 1
        rows: list[Row] = [Unreadable("not read")] * len(positions)
        if len(self._few):
            for number, position in enumerate(positions.tolist()):
                if (row := self._few.get(position)) is not None:
                    rows[number], blocks[number] = row, -1
        # In order of need: of a batch between two pools, the first pool's blocks come first, and
        # only then are they let go.
        there, first = np.unique(blocks, return_index=True)
        for block in there[np.argsort(first)]:
            if block < 0:
                continue
            where = np.flatnonzero(blocks == block)
            few = block not in self._kept and len(where) * FEW < self._starts[1]
            frame = self._block(int(block))
            if isinstance(frame, Unreadable):
                found: Sequence[Row] = [frame] * len(where)
            else:
                found = frame[positions[where] - self._starts[block]].rows()
            for number, row in zip(where.tolist(), found, strict=True):
                rows[number] = row
                if few and not isinstance(row, Unreadable):
                    self._few.put(int(positions[number]), row, _weight(row))
        return rows

    def shuffled(self, generator: np.random.Generator) -> Positions:
        """Return all positions: blocks in random order, rows shuffled within pools of them."""
        order = generator.permutation(len(self._blocks))
        pools = []
        for first in range(0, len(order), self._pool):
            pool = np.concatenate(
                [
                    np.arange(self._starts[block], self._starts[block + 1])
                    for block in order[first : first + self._pool]
                ]
            )
            generator.shuffle(pool)
            pools.append(pool)
        return np.concatenate(pools) if pools else np.zeros(0, dtype=np.int64)

    def _block(self, block: int) -> pl.DataFrame | Unreadable:
        kept = self._kept.get(block)
        if kept is None:
            kept = self._read(block)
            weight = 1 if isinstance(kept, Unreadable) else int(kept.estimated_size())
            self._kept.put(
                block, kept, min(weight, 2 * self._block_bytes)
            )  # one must fit, however large
        return kept

    def _read(self, block: int) -> pl.DataFrame | Unreadable:
        number, first = self._blocks[block]
        rows = int(self._starts[block + 1] - self._starts[block])
        path, stamp = self.files[number]
        try:
            if _stamp(path) != stamp:
                return Unreadable(f"{path.name} was changed after it was opened: run again")
            frame = collect(path, self.cells, first, rows)
        except UsageError as error:
            return Unreadable(str(error))
        if frame.height != rows:
            return Unreadable(f"{path.name} was changed while it was read: run again")
        return frame


def open_rows(files: Sequence[Path], cells: Sequence[pl.Expr]) -> Rows:
    """Open parquet files: held if they are small, else a block at a time.

    Raises:
        UsageError: a file is missing or damaged.
    """
    import polars as pl

    heights = [height_of(path) for path in files]
    sampled: list[float] = [1.0]
    for path, height in zip(files, heights, strict=True):
        for first in {0, max(0, height // 2 - _SAMPLE // 2)}:
            if rows := min(_SAMPLE, height - first):
                size = collect(path, cells, first, rows).estimated_size()
                sampled.append(float(size) / rows)
        if len(sampled) > 8:
            break
    row_bytes = max(sampled)
    if sum(heights) * row_bytes <= HELD:
        return HeldRows(pl.concat([collect(path, cells) for path in files], how="vertical"))
    return FileRows(files, cells, heights, row_bytes)


def height_of(path: Path) -> int:
    """Return how many rows a parquet file has, from its footer."""
    import polars as pl

    return int(collect(path, [pl.len()]).item())


def collect(
    path: Path, cells: Sequence[pl.Expr], first: int = 0, rows: int | None = None
) -> pl.DataFrame:
    """Read some rows of a parquet file.

    Raises:
        UsageError: it is missing, no parquet file, or damaged there.
    """
    import polars as pl

    if not sound(os.fspath(path)):
        raise UsageError(f"the name of {path} is not UTF-8: give it another")
    try:
        with _READING, panics_told(path):
            table = pl.scan_parquet(path, glob=False)
            if first or rows is not None:
                table = table.slice(first, rows)
            return table.select(cells).collect()
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{path} is not a readable parquet file: {_line(error)}") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or _line(error)}") from error


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        info = os.stat(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    return info.st_size, info.st_mtime_ns, info.st_ino


def _weight(row: tuple[Any, ...]) -> int:
    return _OBJECTS + sum(len(cell) for cell in row if isinstance(cell, str | bytes))


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
