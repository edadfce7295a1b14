"""The table of a sheet that came back from a spreadsheet, whatever that made of it.

Excel's CSV with a first line `sep=;`, its "Unicode text" (UTF-16, split at tabs), workbooks and
parquet are read, and the names of a sheet's columns in any case, with or without blanks.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hardset.errors import UsageError
from hardset.judging.people.sheet import COLUMNS
from hardset.replies.source import Source, open_source

LONGEST_FILE = 512 * 1024 * 1024  # bytes: far beyond any sheet of 100,000 lines
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_HEAD = 64  # bytes looked at
_BOOKS = (".xlsx", ".xlsm")

Cells = dict[str, Any]


def records_of(path: Path) -> list[tuple[str, Cells]]:
    """Read a table, CSV, xlsx or parquet by its content: where each line stands, and its cells.

    Raises:
        UsageError: it is none of these, is broken, or has no line below its header.
    """
    head = _head(path)
    if path.is_file() and not head.removeprefix(codecs.BOM_UTF8).strip() and len(head) < _HEAD:
        raise UsageError(f"{path} is empty: it is no sheet of labels")
    if head.startswith(_OLD_EXCEL):
        raise UsageError(f"{path} is a workbook of old Excel (.xls), or one with a password: "
                         "save it as .xlsx or CSV")  # fmt: skip
    if path.suffix.lower() in _BOOKS and not head.startswith(b"PK"):
        raise UsageError(f"{path} is no Excel workbook, though its name says so: it is broken")
    if path.suffix.lower() == ".parquet" and not head.startswith(b"PAR1"):
        raise UsageError(f"{path} is no parquet file, though its name says so: it is broken")
    if head.startswith(_WIDE):
        found = list(_table(path, path.read_bytes(), "utf-16"))
    else:
        source = open_source(path)
        if source.kind == "table":
            found = list(_table(path, path.read_bytes(), "utf-8-sig"))
        elif source.kind in ("parquet", "xlsx"):
            found = _rows(path, source)
        else:
            raise UsageError(f"{path} is {source.described()}, and no sheet of labels")
    if not found:
        raise UsageError(f"{path} has no line below its header: there is nothing to read")
    return found


def text_of(cell: object) -> str:
    """Give a cell's text without blank ends; "" for an empty one."""
    return "" if cell is None or cell != cell else str(cell).strip()


def _head(path: Path) -> bytes:
    """Give a file's first bytes; whether it can be read at all is left to `open_source`."""
    if not path.is_file():
        return b""
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise UsageError(f"{path} is larger than any sheet: {path.stat().st_size:,} bytes")
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def _rows(path: Path, source: Source) -> list[tuple[str, Cells]]:
    """Read a workbook or a parquet file."""
    try:
        rows = [(record.where, record.value) for record in source.records()]
    except UsageError:
        raise
    except Exception as error:  # whatever a library makes of a broken file
        raise UsageError(f"{path} cannot be read, it is broken: {error}") from error
    if not rows:
        return []
    names = _names(path, list(rows[0][1]))
    return [
        (where, dict(zip(names, row.values(), strict=False)) if len(row) == len(names) else
         {_name(name): cell for name, cell in row.items()})
        for where, row in rows
    ]  # fmt: skip


def _table(path: Path, raw: bytes, encoding: str) -> Iterator[tuple[str, Cells]]:
    """Read a table of texts: split as its first line says, or at what its header has."""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not {'UTF-16' if encoding == 'utf-16' else 'UTF-8'} text: {error.reason}; "
            "save it as CSV UTF-8, or as .xlsx"
        ) from error
    text = text.lstrip("\ufeff")  # of a sheet that was saved with its mark twice
    if "\0" in text:
        raise UsageError(f"{path} holds NUL characters: it is damaged, or no sheet of labels")
    first, _, rest = text.partition("\n")
    told = first.strip().strip('"').replace(" ", "").casefold()
    skipped = 0
    if told.startswith("sep="):
        delimiter = first.strip().strip('"')[4:5] or ","
        delimiter = "\t" if told == "sep=" and "\t" in first else delimiter
        text, skipped = rest, 1
    else:
        delimiter = next((sign for sign in "\t,;" if sign in first), ",")
    csv.field_size_limit(LONGEST_FILE)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
        names = _names(path, header)
        for cells in reader:
            if not any(cells):
                continue
            where = f"{path.name}, line {reader.line_num + skipped}"
            if len(cells) != len(header) and any(cells[len(header):]):  # fmt: skip
                raise UsageError(f"{where} has {len(cells)} cells, the header {len(header)}")
            if len(cells) < len(header) and len(cells) < 2:
                raise UsageError(f"{where} has {len(cells)} cells, the header {len(header)}")
            yield where, dict(zip(names, cells + [""] * len(names), strict=False))
    except csv.Error as error:
        raise UsageError(f"{path.name}, line {reader.line_num + skipped}: {error}") from error


def _names(path: Path, header: list[str]) -> list[str]:
    """Give the names of the columns, a sheet's own as it has them."""
    names = [_name(name) for name in header]
    twice = next((name for i, name in enumerate(names) if name and name in names[:i]), "")
    if twice:
        raise UsageError(f"{path}: two columns are called {twice!r}")
    if not any(names):
        raise UsageError(f"{path} is empty: it has no header line")
    return names


def _name(name: str) -> str:
    """Give a column's name without blank ends, and one of a sheet in its own case."""
    bare = name.strip().strip("\ufeff")
    return bare.casefold() if bare.casefold() in COLUMNS else bare
