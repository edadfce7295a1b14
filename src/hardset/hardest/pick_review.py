"""The sheet on which people decide of suspected labels: keep, drop, or the right class."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hardset.errors import UsageError
from hardset.hardest.pick_contents import png
from hardset.hardest.pick_inputs import Pool
from hardset.judging.people.sheet import LONGEST, beside, held, inert
from hardset.lowresource.examples import Examples
from hardset.validating.tables import records_of, text_of

REVIEW = "review.csv"
KEEP, DROP = "keep", "drop"
COLUMNS = (
    *("index", "id", "decision", "class", "suggested", "probability", "suggested_probability"),
    *("rank_in_label", "score", "text", "text_b", "picture"),
)
_NAMED = 5  # lines in an error


@dataclass(frozen=True)
class Decision:
    """What a person decided of one example."""

    index: int
    what: str
    """`keep`, `drop` or `label`."""
    label: int | None
    written: str


class Review(NamedTuple):
    """What a sheet that came back says."""

    decided: dict[int, Decision]
    """By index."""
    blank: frozenset[int]
    """Indices on lines without a decision: shown to people, and left undecided."""


def read_review(path: Path, pool: Pool, ids: Any) -> Review:
    """Read the decisions of a sheet; lines without one decide nothing.

    Args:
        path: the sheet as it came back: CSV, Excel's CSV or Unicode text, .xlsx or parquet.
        pool: what is picked from.
        ids: gives the id of a position.

    Raises:
        UsageError: it is no such sheet, is of another set, or a decision is none: which, and where.
    """
    records = records_of(path)
    lacking = [name for name in ("index", "decision") if name not in records[0][1]]
    if lacking:
        raise UsageError(
            f"{path} is no {REVIEW} of `hardset pick`: it has no column {lacking[0]!r}"
        )
    found: dict[int, Decision] = {}
    wrong, blank = [], set()
    for where, cells in records:
        where = where.removeprefix(f"{path.name}, ")
        written = text_of(cells["decision"])
        if not written:
            index = text_of(cells["index"]).removesuffix(".0")
            blank |= {int(index)} if index.isdecimal() else set()
            continue
        try:
            made = _decision(cells, written, pool, ids)
        except ValueError as error:
            wrong.append(f"{where}: {error}")
            continue
        before = found.get(made.index)
        if before and (before.what, before.label) != (made.what, made.label):
            wrong.append(f"{where}: {made.index} is decided a second time, and otherwise")
            continue
        found[made.index] = made
    if wrong:
        more = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise UsageError(f"{path}: {'; '.join(wrong[:_NAMED])}{more}")
    return Review(found, frozenset(blank - found.keys()))


def write_review(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write the sheet, whole or not at all; no cell of it is taken for a formula."""
    unfinished = path.with_name(f".{path.name}.new")
    with unfinished.open("w", encoding="utf-8-sig", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([_cell(line.get(name)) for name in COLUMNS] for line in lines)
    unfinished.replace(path)


def illustrate(sheet: Path, lines: Sequence[dict[str, Any]], examples: Examples) -> None:
    """Write the pictures of a sheet's lines into a folder beside it, and their names into them."""
    folder = beside(sheet)
    shutil.rmtree(folder, ignore_errors=True)
    if examples.kind != "image" or not lines:
        return
    folder.mkdir()
    for line in lines:
        (content,) = examples.fetch(np.asarray([line["index"]]))
        if isinstance(content, np.ndarray):
            picture = folder / f"{line['index']}.png"
            picture.write_bytes(png(content))
            line["picture"] = f"{folder.name}/{picture.name}"


def clear_away(sheet: Path, reviewed: Path | None) -> None:
    """Remove a sheet without decisions, which is of another choice; one that was read stays."""
    if reviewed is None or reviewed.resolve() != sheet.resolve():
        sheet.unlink(missing_ok=True)
        shutil.rmtree(beside(sheet), ignore_errors=True)


def see_undecided(path: Path, reviewed: Path | None) -> None:
    """See that no decision is lost where a sheet is written again.

    Raises:
        UsageError: the sheet there has decisions, and they are not those that were read.
    """
    if not path.is_file() or (reviewed is not None and reviewed.resolve() == path.resolve()):
        return
    try:
        filled = any(text_of(cells.get("decision")) for _, cells in records_of(path))
    except UsageError as error:
        filled = "no line below its header" not in str(error)
    if filled:
        raise UsageError(
            f"{path} has decisions in it, which would be lost: give it as --reviewed, or name "
            "another --out"
        )


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    text = held(str(value))
    return inert(text if len(text) <= LONGEST else f"{text[: LONGEST - 5]} ...")


def _decision(cells: dict[str, Any], written: str, pool: Pool, ids: Any) -> Decision:
    index = text_of(cells["index"])
    if not index.removesuffix(".0").isdecimal() or int(float(index)) >= len(pool):
        raise ValueError(f"{index!r} is no index of the {len(pool):,} examples")
    at = int(float(index))
    given = text_of(cells.get("id"))
    if given and given not in (text_of(_cell(ids(at))), text_of(ids(at))):
        raise ValueError(f"{at} has the id {given!r} there, and is {ids(at)!r}: of another set")
    said = written.casefold()
    if said in (KEEP, DROP):
        return Decision(at, said, None, written)
    bare = written.removeprefix("'") if written.startswith("'") else written
    if not pool.classes:
        raise ValueError(f"{written!r} is neither keep nor drop")
    exact = [i for i, name in enumerate(pool.classes) if name.strip() in (written, bare)]
    alike = exact or [i for i, name in enumerate(pool.classes) if name.casefold().strip() == said]
    if len(alike) != 1:
        some = ", ".join(pool.classes[:4]) + (", ..." if len(pool.classes) > 4 else "")
        raise ValueError(f"{written!r} is neither keep nor drop nor one of the classes ({some})")
    return Decision(at, "label", alike[0], written)
