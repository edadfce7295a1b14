"""Pictures that stand in the cells of a parquet file, made into files: once, named by content.

Data sets on the hub often hold a picture as a struct of `bytes` and `path`, or a list of these.
Each is written to `CACHE/pictures`, where CACHE is `HARDSET_CACHE` or else `~/.cache/hardset`,
under the SHA-256 of its bytes, so that a picture that many rows show is there once, byte for byte
as it was published. What a file of the data holds is remembered by the data's revision, so that
the next time the pictures are not even read. No more than a few rows' pictures, or what a row
group of the parquet file makes necessary, are in memory at a time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from hardset.errors import UsageError
from hardset.sources.downloads import cache_folder
from hardset.sources.rows import Row, read_rows

_ROWS = 16  # whose pictures are read at a time
_NAMED = frozenset((".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"))


class Picture(msgspec.Struct, frozen=True):
    """A picture of a cell.

    Attributes:
        path: what the cell says it was called, "" for nothing.
        file: the name of its file below `CACHE/pictures`, "" where the cell holds no bytes.
        size: how many bytes it has.
    """

    path: str = ""
    file: str = ""
    size: int = 0

    @property
    def where(self) -> str:
        """The path of its file, "" where the cell holds no bytes."""
        return str(_folder() / self.file) if self.file else ""


def read_pictured(
    file: Path, column: str, revision: str, *, wanted: bool = True
) -> Iterator[tuple[Row, Sequence[Picture]]]:
    """Yield each row without its column of pictures, and the pictures.

    Args:
        file: any file of rows; in those that are not parquet, no row has pictures.
        column: the one that holds them: structs of `bytes` and `path`, bytes, or lists of either.
        revision: of the data, which tells the file's content.
        wanted: whether the pictures are; else no row has any, and none is read.

    Raises:
        UsageError: the file cannot be read, or the pictures not be written.
    """
    if file.suffix.lower() != ".parquet" or not file.is_file():
        for row in read_rows(file):
            yield row, ()
        return
    import polars as pl

    try:
        table = pl.scan_parquet(file)
        names = table.collect_schema().names()
        rest = table.select(name for name in names if name != column).collect()
        pictures: Sequence[Sequence[Picture]] = ()
        if wanted and column in names:
            pictures = _known(file, column, revision) or _unpack(table, file, column, revision)
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{file} is not a readable parquet file: {error}") from error
    except OSError as error:
        raise UsageError(
            f"the pictures of {file.name} cannot be kept in {_folder()}: "
            f"{error.strerror or error}; name another folder in HARDSET_CACHE"
        ) from error
    for number, fields in enumerate(rest.iter_rows(named=True)):
        found = pictures[number] if number < len(pictures) else ()
        yield Row(f"{file.name}, row {number + 1}", fields), found


def holds_pictures(file: Path, column: str) -> bool:
    """Whether a column of a file holds pictures, and not their paths.

    Raises:
        UsageError: it is called parquet and is none.
    """
    if file.suffix.lower() != ".parquet" or not file.is_file():
        return False
    import polars as pl

    try:
        kind = pl.read_parquet_schema(file).get(column, pl.String())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UsageError(f"{file} is not a readable parquet file: {error}") from error
    return isinstance(kind, pl.Struct | pl.Binary | pl.List)


def _folder() -> Path:
    return cache_folder() / "pictures"


def _index(file: Path, column: str, revision: str) -> Path:
    """Name the file that remembers what a column of a file of the data holds."""
    which = hashlib.sha256("\0".join((revision, file.name, column)).encode()).hexdigest()
    return _folder() / f"{which[:32]}.json"


def _known(file: Path, column: str, revision: str) -> list[list[Picture]] | None:
    """Recall the pictures of every row; None if they were not unpacked, or are not all there."""
    try:
        kept = _index(file, column, revision).read_bytes()
        rows = msgspec.json.decode(kept, type=list[list[Picture]])
        for one in {one for one in chain.from_iterable(rows) if one.file}:
            if os.stat(one.where).st_size != one.size:
                return None
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return rows


def _unpack(table: Any, file: Path, column: str, revision: str) -> list[list[Picture]]:
    """Write every picture of a column, a few rows at a time, and remember whose they are."""
    import polars as pl

    total = table.select(pl.len()).collect().item()
    rows: list[list[Picture]] = []
    for start in range(0, total, _ROWS):
        cells = table.select(column).slice(start, _ROWS).collect()
        for number, (cell,) in enumerate(cells.iter_rows(), start + 1):
            rows.append([_keep(f"{file.name}, row {number}", column, one) for one in _each(cell)])
    _write(_index(file, column, revision), msgspec.json.encode(rows))
    return rows


def _each(cell: Any) -> Sequence[Any]:
    if cell is None:
        return ()
    return cell if isinstance(cell, list) else (cell,)


def _keep(where: str, column: str, cell: Any) -> Picture:
    """Write a picture under the name of its content, unless it is there."""
    held = cell if isinstance(cell, dict) else {"bytes": cell}
    data, path = held.get("bytes"), held.get("path")
    if not isinstance(data, bytes | None) or not isinstance(path, str | None):
        raise UsageError(
            f"{where}: {column} does not hold pictures: a picture is its bytes, or a struct of "
            "`bytes` and `path`"
        )
    if data is None:
        return Picture(path=path or "")
    name = hashlib.sha256(data).hexdigest()
    suffix = PurePosixPath(path or "").suffix.lower()
    file = f"{name[:2]}/{name}{suffix if suffix in _NAMED else ''}"
    made = Picture(path=path or "", file=file, size=len(data))
    target = _folder() / file
    if not target.is_file() or target.stat().st_size != len(data):
        _write(target, data)
    return made


def _write(target: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
