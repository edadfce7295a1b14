"""Reading sheets as people filled them in: no line is passed over, and none of another sheet."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hardset.errors import UsageError
from hardset.judging.people.labels import Label, read_label, takes
from hardset.judging.people.sample import Sample
from hardset.replies.source import open_source
from hardset.reports import folder
from hardset.validating.judged import Judged, kept_at

_IDENT = re.compile(r"'?(s[0-9a-f]{6})-(\d{4,})")


class Filled(NamedTuple):
    """One person's sheet: what it says of each line that is still on it."""

    name: str
    sha256: str
    labels: dict[str, Label]
    written: dict[str, str]  # the labels as they stand there
    notes: dict[str, str]


def records_of(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Read a table, CSV, xlsx or parquet by its content: where each line stands, and its cells.

    Raises:
        UsageError: it is none of these.
    """
    source = open_source(path)
    if source.kind not in ("table", "parquet", "xlsx"):
        raise UsageError(f"{path} is {source.described()}, and no sheet of labels")
    try:
        return [(record.where, record.value) for record in source.records()]
    except UsageError as error:
        if "not UTF-8" not in str(error):
            raise
        raise UsageError(f"{error}; save it as CSV UTF-8, or as .xlsx") from error


def read_sheets(done: Judged, paths: Sequence[Path]) -> tuple[list[Filled], Sample]:
    """Read people's sheets, all of one sample of this run.

    Raises:
        UsageError: as `validate`.
    """
    if not paths:
        raise UsageError("name a sheet of labels")
    twice = next((p for i, p in enumerate(paths) if p.resolve() in
                  {q.resolve() for q in paths[:i]}), None)  # fmt: skip
    if twice is not None:
        raise UsageError(f"the sheet {twice} is given twice")
    read = [(path, records_of(path)) for path in paths]
    sample = _sample_of(done, read)
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    filled = [
        _filled(name, path, records, sample)
        for name, (path, records) in zip(names, read, strict=True)
    ]
    if not any(label != "" for one in filled for label in one.labels.values()):
        many = f"{paths[0]} holds" if len(paths) == 1 else "the sheets hold"
        raise UsageError(f"{many} no label yet: fill in the column `label`")
    return filled, sample


def _sample_of(
    done: Judged, read: Sequence[tuple[Path, list[tuple[str, dict[str, Any]]]]]
) -> Sample:
    """Find the sample that all sheets are of, by the mark in their ids."""
    marks: dict[str, Path] = {}
    for path, records in read:
        lacking = [n for n in ("id", "label") if not records or n not in records[0][1]]
        if lacking:
            raise UsageError(f"{path} is no sheet of labels: it has no column {lacking[0]!r}")
        for _, record in records:
            found = _IDENT.fullmatch(text_of(record["id"]))
            if found:
                marks.setdefault(found[1], path)
        if path not in marks.values() and not marks:
            raise UsageError(f"{path} is no sheet of labels: none of its ids is one of a sheet")
    if len(marks) > 1:
        (one, first), (two, second), *_ = marks.items()
        raise UsageError(
            f"{first} is of the sample {one}, {second} of {two}: read the labels of one sample "
            "at a time"
        )
    (mark,) = marks
    kept = kept_at(done, mark)
    if not kept.is_file():
        others = sorted(done.folder.glob(kept_at(done, "s*").name))
        there = ", ".join(one.stem.removeprefix("validation-") for one in others) or "none"
        raise UsageError(
            f"{marks[mark]} is no sheet of {done.folder}: it is of the sample {mark}, and those "
            f"drawn from this run are: {there}"
        )
    try:
        sample = msgspec.json.decode(kept.read_bytes(), type=Sample)
    except msgspec.DecodeError as error:
        raise UsageError(f"{kept} is damaged: {error}") from error
    if sample.outcomes_sha256 != done.sha256:
        raise UsageError(
            f"{done.folder / folder.OUTCOMES} is not what the sample {mark} was drawn from: it has "
            "been changed since"
        )
    return sample


def _filled(
    name: str, path: Path, records: Sequence[tuple[str, dict[str, Any]]], sample: Sample
) -> Filled:
    """Read one sheet; every line of it that is wrong is told of, up to a few."""
    lines = {line.id: line for line in sample.lines}
    labels: dict[str, Label] = {}
    written: dict[str, str] = {}
    notes: dict[str, str] = {}
    unknown, wrong = [], []
    for where, record in records:
        ident = text_of(record["id"]).removeprefix("'")
        if not ident and not text_of(record["label"]):
            continue
        if ident not in lines:
            unknown.append(f"{ident!r} ({where})")
            continue
        rubric = sample.rubric(lines[ident].key)
        try:
            label = read_label(record["label"], rubric)
        except ValueError:
            wrong.append(
                f"{where}: {text_of(record['label'])!r} is no label of {ident}, which takes "
                f"{takes(rubric)}"
            )
            continue
        if ident in labels and labels[ident] not in ("", label) and label != "":
            wrong.append(f"{where}: {ident} is labelled a second time, and otherwise")
            continue
        if ident not in labels or label != "":
            labels[ident], written[ident] = label, text_of(record["label"])
        if text_of(record.get("note")):
            notes[ident] = text_of(record["note"])
    if unknown:
        raise UsageError(f"{path} has ids that are not on the sheet: {_some(unknown)}")
    if wrong:
        raise UsageError(_some(wrong))
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Filled(name, sha256, labels, written, notes)


def _some(found: Sequence[str], most: int = 5) -> str:
    more = f"; and {len(found) - most} more" if len(found) > most else ""
    return "; ".join(found[:most]) + more


def text_of(cell: object) -> str:
    """Give a cell's text without blank ends; "" for an empty one."""
    return "" if cell is None or cell != cell else str(cell).strip()
