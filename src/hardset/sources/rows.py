"""Rows from a file: JSON, JSON Lines, CSV, TSV or parquet, each with where it stands.

A row that cannot be read is an error that names the file and the line: no row is skipped.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hardset.errors import UsageError
from hardset.sources.panics import panics_told

LONGEST_CELL = 2**31 - 1  # a cell may hold an image; Python's own limit is 128 KB


class Row(NamedTuple):
    """One row, and where it stands: "data.jsonl, line 3"."""

    where: str
    fields: dict[str, Any]


def read_rows(path: Path | str, suffix: str = "") -> Iterator[Row]:
    """Yield the rows of a file, whose type its name tells, or `suffix` instead of its ending.

    `.json` holds a list of objects, or one a line; `.jsonl` and `.ndjson` an object a line; `.csv`
    and `.tsv` a header and texts; `.parquet` columns. JSON is read whole, the others as a stream.

    Raises:
        UsageError: no such file, a type not known, or a row that is malformed.
    """
    path = Path(path)
    readers = {
        ".json": _json,
        ".jsonl": _lines,
        ".ndjson": _lines,
        ".csv": _table,
        ".tsv": _table,
        ".parquet": _parquet,
    }
    reader = readers.get((suffix or path.suffix).lower())
    if reader is None:
        raise UsageError(f"{path}: cannot tell its type by its name; use {', '.join(readers)}")
    if not path.is_file():
        there = "is no ordinary file" if path.exists() else "does not exist"
        what = "is a folder, not a file" if path.is_dir() else there
        raise UsageError(f"{path} {what}; check the path")
    try:
        yield from reader(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} ({path.name})") from error


def _json(path: Path) -> Iterator[Row]:
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    try:
        rows = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if content.startswith(b"{") and content.partition(b"\n")[2].strip():
            yield from _lines(path)  # JSON Lines under another name, as POPE's files are
            return
        raise UsageError(f"{path} is not JSON: {_instead(content) or error}") from error
    if not isinstance(rows, list):
        raise UsageError(f"{path} must hold a list of rows, not one {_kind(rows)}")
    for number, fields in enumerate(rows, 1):
        yield _row(f"{path.name}, row {number}", fields)


def _lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not text.strip():
                continue
            where = f"{path.name}, line {number}"
            try:
                fields = msgspec.json.decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise UsageError(f"{where} is not JSON: {_instead(line) or error}") from error
            yield _row(where, fields)


def _table(path: Path) -> Iterator[Row]:
    return read_table(path, "\t" if path.suffix.lower() == ".tsv" else ",")


def read_table(path: Path, delimiter: str) -> Iterator[Row]:
    """Yield the rows of a table with a header line, UTF-8 with or without its mark.

    Raises:
        UsageError: no header, two columns of one name, or a row with other cells than the header.
    """
    csv.field_size_limit(LONGEST_CELL)  # and left so: another walk of the rows may be under way
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            header = next(reader, None)
            if not header:
                raise UsageError(f"{path} is empty: it has no header line")
            if len(set(header)) < len(header):
                raise UsageError(f"{path.name}, line 1: two columns have the same name")
            for cells in reader:
                if not cells:
                    continue
                where = f"{path.name}, line {reader.line_num}"
                if len(cells) != len(header):
                    raise UsageError(f"{where} has {len(cells)} cells, the header {len(header)}")
                yield Row(where, dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        raise UsageError(f"{path.name}, line {reader.line_num}: {error}") from error


def _parquet(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        with panics_told(path):
            table = pl.scan_parquet(path)
            total = table.select(pl.len()).collect().item()
        for start in range(0, total, 1024):
            with panics_told(path):
                chunk = table.slice(start, 1024).collect()
            for number, fields in enumerate(chunk.iter_rows(named=True), start + 1):
                yield Row(f"{path.name}, row {number}", fields)
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{path} is not a readable parquet file: {error}") from error


def _row(where: str, fields: Any) -> Row:
    if not isinstance(fields, dict):
        raise UsageError(f"{where} is a {_kind(fields)}, not an object with named fields")
    return Row(where, fields)


def _instead(content: bytes) -> str:
    """Say what is often found where JSON should be; "" where it is none of these."""
    start = content[:200].lstrip()
    if not start:
        return "it is empty; download it again"
    if start.startswith(b"<"):
        return "it is a web page (an error or login page saved under its name?); download it again"
    if start.startswith(b"version https://git-lfs"):
        return "it is a Git LFS pointer; fetch the file itself with `git lfs pull`"
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "it is UTF-16 text; save it as UTF-8"
    return ""


def _kind(value: Any) -> str:
    names = {dict: "object", list: "list", str: "text", bool: "truth value", type(None): "null"}
    return names.get(type(value), "number")
