"""The sheet that people fill in: one line a reply and question, and no word of what judges said.

As CSV it begins with UTF-8's mark, so that spreadsheets read it right, and a cell that they would
take for a formula (= + - @, a tab, or a mark that is there already) begins with a ' to be taken off
once. As parquet and xlsx every text is as it was, but for what these cannot hold: control
characters and the like stand there, and in CSV, as signs that can be seen (`held`). In CSV and xlsx
a text too long for a cell is cut in its middle, and whole in a file beside the sheet.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from hardset.judging.facts import facts_of
from hardset.judging.people.labels import put
from hardset.judging.people.sample import Sample
from hardset.records import Item

ID, LABEL, NOTE, PICTURE = "id", "label", "note", "picture"
FACTS = ("question", "options", "reference", "reason", "reply")
COLUMNS = (ID, LABEL, NOTE, "asked", PICTURE, *FACTS)
ENDINGS = (".csv", ".parquet", ".xlsx")
LONGEST = 30_000  # characters of a cell: spreadsheets take 32,767, and spoil the next line beyond
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_HALVES = re.compile("[\ud800-\udfff]")  # of surrogate pairs: no text, in whatever format
_ESCAPED = re.compile(r"\r|_(?=x[0-9A-Fa-f]{4}_)")  # in workbooks
_WIDTHS = {ID: 14, LABEL: 12, NOTE: 24, PICTURE: 20, "asked": 60, "reply": 70}


def beside(sheet: Path) -> Path:
    """Name the folder of a sheet's pictures and long texts."""
    return sheet.with_name(f"{sheet.stem}-files")


def lay_out(
    sample: Sample,
    outcomes: pl.DataFrame,
    items: Mapping[int, Item],
    pictures: Mapping[int, str],
) -> list[dict[str, str]]:
    """Write the lines, each with what its rubric shows a judge and nothing else.

    Args:
        sample: what was drawn.
        outcomes: the outcome columns.
        items: by `index`, those of the drawn rows.
        pictures: by `index`, what to write where a rubric shows the picture.
    """
    index, replies = outcomes["index"], outcomes["reply"]
    lines = []
    for line in sample.lines:
        rubric = sample.rubric(line.key)
        shown = facts_of(items[index[line.row]], replies[line.row] or "")
        cells = {ID: line.id, LABEL: "", NOTE: "", "asked": put(rubric, line.key)}
        cells[PICTURE] = pictures.get(index[line.row], "") if rubric.picture else ""
        cells |= {name: shown[name] if name in rubric.sees else "" for name in FACTS}
        lines.append(cells)
    return lines


def write_sheet(
    path: Path,
    lines: Sequence[Mapping[str, str]],
    offered: Mapping[str, Sequence[str]] | None = None,
) -> int:
    """Write a sheet, whole or not at all, in the format that its ending names.

    Args:
        path: where to.
        lines: as `lay_out` writes them.
        offered: by id, the labels that a workbook offers in a list.

    Returns:
        On how many lines a character that the format cannot hold is written as another sign.

    Raises:
        OSError: it cannot be written.
    """
    unfinished = path.with_name(f".{os.getpid()}-{path.name}")
    ending = path.suffix.lower()
    try:
        if ending == ".parquet":
            fit = [{name: held(text, _HALVES) for name, text in line.items()} for line in lines]
            columns = {name: [line[name] for line in fit] for name in COLUMNS}
            pl.DataFrame(columns, schema=dict.fromkeys(COLUMNS, pl.String)).write_parquet(
                unfinished
            )
        else:
            cut = [_cut(line, beside(path)) for line in lines]
            fit = [{name: held(text) for name, text in line.items()} for line in cut]
            if ending == ".xlsx":
                _write_xlsx(unfinished, fit, offered or {})
            else:
                _write_csv(unfinished, fit)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    unheld = _HALVES if ending == ".parquet" else _CONTROL
    return sum(any(map(unheld.search, line.values())) for line in lines)


def held(text: str, unheld: re.Pattern[str] = _CONTROL) -> str:
    """Write what a sheet cannot hold as signs that do nothing and can be seen.

    Unicode's pictures of the control characters, U+2400 on; else its replacement character.
    """
    return unheld.sub(lambda found: _picture(ord(found[0])), text)


def _picture(code: int) -> str:
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def _cut(line: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Cut texts that no cell holds, and put them whole into files."""
    cells = dict(line)
    for name, text in line.items():
        if len(text) > LONGEST:
            folder.mkdir(parents=True, exist_ok=True)
            whole = folder / f"{line[ID]}-{name}.txt"
            whole.write_bytes(text.encode(errors="replace"))
            half = LONGEST // 2 - 200
            left_out = f"{len(text) - 2 * half:,} characters left out"
            cells[name] = (
                f"{text[:half]}\n[... {left_out}; all of it is in {folder.name}/{whole.name} ...]\n"
                f"{text[-half:]}"
            )
    return cells


def _write_csv(path: Path, lines: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8-sig", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([inert(line[name]) for name in COLUMNS] for line in lines)


def inert(text: str) -> str:
    """Write a text so that no spreadsheet takes it for a formula: with a ' to be taken off."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _write_xlsx(
    path: Path, lines: Sequence[Mapping[str, str]], offered: Mapping[str, Sequence[str]]
) -> None:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter

    book = Workbook()
    page = book.active
    page.title = "labels"
    page.append(list(COLUMNS))
    page.freeze_panes = "C2"  # the header, and the label beside whatever is read
    for number, name in enumerate(COLUMNS, 1):
        page.column_dimensions[get_column_letter(number)].width = _WIDTHS.get(name, 36)
        page.cell(1, number).font = Font(bold=True)
    wrapped = Alignment(wrap_text=True, vertical="top")
    to_fill, link = PatternFill("solid", fgColor="FFF8DC"), Font(color="0563C1", underline="single")
    for row, line in enumerate(lines, 2):
        page.cell(row, COLUMNS.index(LABEL) + 1).fill = to_fill
        for number, name in enumerate(COLUMNS, 1):
            cell = page.cell(row, number)
            cell.alignment = wrapped
            if not line[name]:
                continue
            cell.value = _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", line[name])
            cell.data_type = "s"  # whatever it begins with
            if name == PICTURE:
                cell.hyperlink = line[name].split("\n")[0]  # a cell has one link at most
                cell.font = link
    _offer(page, lines, offered)
    book.save(path)


def _offer(
    page: Any, lines: Sequence[Mapping[str, str]], offered: Mapping[str, Sequence[str]]
) -> None:
    """Put a list of labels on each cell of the label column; another one is asked about."""
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    column = get_column_letter(COLUMNS.index(LABEL) + 1)
    lists: dict[tuple[str, ...], DataValidation] = {}
    for row, line in enumerate(lines, 2):
        labels = tuple(offered.get(line[ID], ()))
        if not labels:
            continue
        if labels not in lists:
            lists[labels] = DataValidation(
                type="list", formula1=f'"{",".join(labels)}"', allow_blank=True,
                errorStyle="warning", showErrorMessage=True, errorTitle="No label of this line",
                error=f"It takes {', '.join(labels)}, or nothing.",
            )  # fmt: skip
        lists[labels].add(f"{column}{row}")
    for one in lists.values():
        page.add_data_validation(one)
