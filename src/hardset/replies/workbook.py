"""The rows of an Excel workbook's first sheet, one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from hardset.errors import UsageError
from hardset.replies.source import Record

_ESCAPED = re.compile(  # how Excel writes a control character, and a _ that looks like it
    r"_x00([01][0-9A-Fa-f])_|_x00(5[Ff])_(?=x[0-9A-Fa-f]{4}_)"
)


def rows(path: Path) -> Iterator[Record]:
    """Yield each row below the header, by its columns; columns without a name are left out.

    Raises:
        UsageError: the workbook is broken, or two columns have one name.
    """
    from openpyxl import load_workbook

    try:
        with path.open("rb") as file:
            folders = {name.rpartition("/")[0] for name in ZipFile(file).namelist()}
            if "xl/chartsheets" in folders and "xl/worksheets" not in folders:
                raise UsageError(f"{path} is an Excel workbook without a table: it has charts only")
            book = load_workbook(file, read_only=True)
            sheet = book.worksheets[0]
            lines = sheet.iter_rows(values_only=True)
            header = [str(cell) if cell is not None else "" for cell in next(lines, ())]
            named = [name for name in header if name]
            if len(set(named)) < len(named):
                raise UsageError(f"{path.name}, row 1: two columns have the same name")
            for number, cells in enumerate(lines, 2):
                row = {
                    name: _plain(cell) for name, cell in zip(header, cells, strict=False) if name
                }
                if any(cell is not None for cell in row.values()):
                    yield Record(f"{path.name}, row {number}", row)
    except UsageError:
        raise
    except Exception as error:  # openpyxl tells what is broken by whatever it stumbles over
        raise UsageError(f"{path} is a broken Excel workbook: {error}") from error


def _plain(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    return _ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)), cell)
