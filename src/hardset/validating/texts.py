"""Whether the texts beside the labels are those of their ids: else labels are of other replies.

What spreadsheets do to a text is no change: blanks, line ends, signs, a mark before a formula, the
wrong encoding, a cut at a cell's limit, and what they make of numbers and dates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from hardset.errors import UsageError
from hardset.judging.people.labels import put
from hardset.judging.people.sample import Sample

COMPARED = 5_000  # characters of a text
_LEAST_CUT = 200  # letters and digits: no spreadsheet cuts a text that is shorter
_LATIN = "\u0250"  # what UTF-8 turns into when it is read as another encoding stays below
_SHOWN = 40  # characters of a text, in messages
_MOST_NAMED = 3  # lines
_FAULT = re.compile(r"#[A-Z0-9/!?]+")  # what stands where a formula has no value
_MONTH = re.compile(r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|[ap]m$|e$|st$|nd$|rd$|th$")


def see_in_place(
    path: Path,
    records: Sequence[tuple[str, str, Mapping[str, str]]],
    sample: Sample,
    outcomes: pl.DataFrame,
) -> None:
    """Refuse a sheet on which another text stands beside an id than was drawn with it.

    Args:
        path: the sheet.
        records: where each line stands, its id, and its cells as texts.
        sample: what was drawn.
        outcomes: the outcome columns.

    Raises:
        UsageError: a line does not match.
    """
    shown = _shown(sample, outcomes)
    every = {put(rubric, key) for rubric in sample.rubrics for key in rubric.keys}
    wrong: list[str] = []
    for where, ident, cells in records:
        for column, text in shown.get(ident, {}).items():
            cell = cells.get(column, "")
            if column == "asked":  # its words may be another release's
                other = True
                if same(text, cell) or not any(same(one, cell) for one in every):
                    continue
            elif same(text, cell):
                continue
            else:
                named = len(wrong) < _MOST_NAMED  # of more than are named none is looked for
                of = [one.get(column, "") for one in shown.values()] if named else []
                other = any(same(one, cell) for one in of if one)
            what = f"the {column} of another line" if other else f"another {column} than was drawn"
            wrong.append(f"{where}: beside {ident} stands {what}, {_short(cell)!r}")
            break
    if wrong:
        more = f"; and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        raise UsageError(
            f"{'; '.join(wrong[:_MOST_NAMED])}{more}. Labels on {path.name} may be of other "
            "replies: perhaps some of its columns were sorted or moved, and others not. If only "
            "texts were changed, on purpose, delete those columns: id and label are enough"
        )


def _shown(sample: Sample, outcomes: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Give what was drawn with each id, "" where the sheet shows nothing of it."""
    columns = [name for name in ("question", "reply") if name in outcomes.columns]
    found = {}
    for line in sample.lines:
        rubric = sample.rubric(line.key)
        texts = {name: str(outcomes[name][line.row] or "") for name in columns}
        sees = {name: text if name in rubric.sees else "" for name, text in texts.items()}
        found[line.id] = sees | {"asked": put(rubric, line.key)}
    return found


def same(known: str, cell: str) -> bool:
    """Say whether a cell may hold a text that went through a spreadsheet; an empty one may."""
    if not cell.strip() or _FAULT.fullmatch(cell.strip()):
        return True
    if _number(known) and re.search(r"\d", cell):
        return True
    if known.strip().casefold() in ("true", "false") and cell.strip().isalpha():
        return True
    (plain, other), (plain_cell, other_cell) = _letters(known), _letters(cell)
    if not _alike(plain, plain_cell):
        return False
    lost = not other_cell or max(other_cell) < _LATIN  # the encoding was another one
    return lost or _alike(other, other_cell)


def _alike(known: str, cell: str) -> bool:
    return known == cell or (len(cell) >= _LEAST_CUT and known.startswith(cell))


def _letters(text: str) -> tuple[str, str]:
    """Give the letters and digits of a text's beginning: those of ASCII, and the others."""
    bare = re.sub(r"_x[0-9A-Fa-f]{4}_", "", unicodedata.normalize("NFC", text[:COMPARED]))
    words = re.sub(r"[\W_]", "", bare)
    plain = re.sub(r"[^\x00-\x7f]", "", words).lower()
    return plain, re.sub(r"[\x00-\x7f]", "", words)


def _number(text: str) -> bool:
    """Say whether a spreadsheet may take a text for a number or a date, and write another."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return bool(re.search(r"\d", text)) and len(text) <= _SHOWN and all(map(_MONTH.match, words))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}…"
