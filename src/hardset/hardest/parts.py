"""Tables written part by part, each whole or not at all, so that a stopped walk goes on.

A part holds a fixed range of positions. It is written beside its place, forced to the disk and
renamed: whatever moment the process dies at, a part that is there is whole. Its digest is noted
afterwards, so that one that a disk has damaged since is known, and made again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hardset.errors import UsageError
from hardset.lowresource.writing import Unwritable, whole

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 4096
DIGESTS = "digests.txt"
PARTS = 32  # of a small set, so that a kill costs little of it and several workers have their share


def rows_a_part(n: int, batch: int) -> int:
    """Return how many examples a part has: whole batches, about n / 32, 4,096 at most.

    It depends on nothing else: the same parts come of any number of workers, stopped or not.
    """
    rows = min(MOST_ROWS, -(-n // PARTS))
    return max(1, rows // batch) * batch


@dataclass(frozen=True)
class Parts:
    """The parts of one table of n rows.

    Attributes:
        folder: where `part-00000.parquet` and the others stand.
        n: rows in all, at positions 0 to n-1.
        rows: of every part but the last.
    """

    folder: Path
    n: int
    rows: int

    def __len__(self) -> int:
        """Return how many parts there are when all are written."""
        return -(-self.n // self.rows)

    def path(self, number: int) -> Path:
        """Return the place of one part."""
        return self.folder / f"part-{number:05d}.parquet"

    def range(self, number: int) -> range:
        """Return the positions in one part."""
        return range(number * self.rows, min(self.n, (number + 1) * self.rows))

    def missing(self) -> list[int]:
        """Return the numbers of the parts that are still to be made."""
        return [number for number in range(len(self)) if not self.path(number).exists()]

    def done(self) -> int:
        """Return how many rows are written."""
        return self.n - sum(len(self.range(number)) for number in self.missing())

    def paths(self) -> Iterator[Path]:
        """Yield the places of all parts in order."""
        return map(self.path, range(len(self)))

    def write(self, number: int, frame: pl.DataFrame) -> None:
        """Write one part, whole or not at all."""
        if frame.height != len(self.range(number)):
            raise ValueError(f"part {number}: {frame.height} rows for {self.range(number)}")
        write_frame(self.path(number), frame)
        try:
            with (self.folder / DIGESTS).open("a") as file:
                file.write(f"\n{number} {digest(self.path(number))}\n")
        except OSError as error:
            raise Unwritable(
                f"{self.folder / DIGESTS} cannot be written: {error.strerror or error}"
            ) from error

    def remove_damaged(self) -> list[int]:
        """Remove the parts that are not as they were written; return their numbers."""
        noted = {}
        try:
            lines = (self.folder / DIGESTS).read_text(errors="replace").splitlines()
        except OSError:
            lines = []
        for line in lines:  # one that a kill cut short says nothing of any part
            name, _, found = line.partition(" ")
            noted[name] = found
        there = (number for number in range(len(self)) if self.path(number).exists())
        damaged = [one for one in there if digest(self.path(one)) != noted.get(str(one))]
        for one in damaged:
            self.path(one).unlink()
        return damaged


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Write a table as parquet, whole or not at all."""
    whole(path, lambda part: frame.write_parquet(part, compression="zstd", statistics=True))


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file, whole or not at all; keys in the order given."""
    text = msgspec.json.format(msgspec.json.encode(value, enc_hook=_plain), indent=1) + b"\n"
    whole(path, lambda part: part.write_bytes(text))


def read_json(path: Path) -> dict[str, Any] | None:
    """Read what `write_json` wrote; None where there is no file.

    Raises:
        UsageError: the file is damaged.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}; remove it, or name another") from error


def digest(path: Path) -> str:
    """Return the SHA-256 of a file; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _plain(value: Any) -> Any:
    """Write numpy's numbers and arrays, and whatever else a network's facts may hold."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
