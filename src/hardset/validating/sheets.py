"""Reading sheets as people filled them in: no line is passed over, and none of another sheet."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl

from hardset.errors import UsageError
from hardset.judging.people.labels import Label, read_label, takes
from hardset.judging.people.sample import Sample, whole
from hardset.judging.people.sheet import ID, LABEL, NOTE
from hardset.reports import folder
from hardset.validating.judged import Judged, kept_at
from hardset.validating.tables import Cells, records_of, text_of
from hardset.validating.texts import see_in_place

_IDENT = re.compile(r"'?(s[0-9a-f]{6})-(\d{4,})")


class Filled(NamedTuple):
    """One person's sheet: what it says of each line that is still on it."""

    name: str
    sha256: str
    labels: dict[str, Label]
    written: dict[str, str]  # the labels as they stand there
    notes: dict[str, str]


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
        _filled(name, path, records, sample, done.outcomes)
        for name, (path, records) in zip(names, read, strict=True)
    ]
    if not any(label != "" for one in filled for label in one.labels.values()):
        many = f"{paths[0]} holds" if len(paths) == 1 else "the sheets hold"
        raise UsageError(f"{many} no label yet: fill in the column `label`")
    return filled, sample


def _sample_of(done: Judged, read: Sequence[tuple[Path, list[tuple[str, Cells]]]]) -> Sample:
    """Find the sample that all sheets are of, by the mark in their ids."""
    marks: dict[str, Path] = {}
    for path, records in read:
        lacking = [name for name in (ID, LABEL) if name not in records[0][1]]
        if lacking:
            some = ", ".join(name for name in list(records[0][1])[:8] if name)
            raise UsageError(
                f"{path} is no sheet of labels: it has no column {lacking[0]!r}; its columns are "
                f"{some}"
            )
        for _, record in records:
            found = _IDENT.fullmatch(text_of(record.get(ID)))
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
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{kept} is damaged: {error}") from error
    if not whole(sample):
        raise UsageError(f"{kept} is damaged: it does not agree with its own mark, {mark}")
    if sample.outcomes_sha256 != done.sha256:
        raise UsageError(
            f"{done.folder / folder.OUTCOMES} is not what the sample {mark} was drawn from: it has "
            "been changed since"
        )
    items, repeats = done.outcomes["item"], done.outcomes["repeat"]
    for line in sample.lines:
        row = line.row
        if not 0 <= row < len(items) or (items[row], repeats[row]) != (line.item, line.repeat):
            raise UsageError(f"{kept} is damaged: {line.id} is of no such row of the outcomes")
    return sample


def _filled(
    name: str,
    path: Path,
    records: Sequence[tuple[str, Cells]],
    sample: Sample,
    outcomes: pl.DataFrame,
) -> Filled:
    """Read one sheet; every line of it that is wrong is told of, up to a few."""
    lines = {line.id: line for line in sample.lines}
    labels: dict[str, Label] = {}
    written: dict[str, str] = {}
    notes: dict[str, str] = {}
    unknown, wrong = [], []
    for where, record in records:
        ident = text_of(record.get(ID)).removeprefix("'")
        if not ident and not text_of(record.get(LABEL)):
            continue
        if ident not in lines:
            unknown.append(f"{ident!r} ({where})")
            continue
        rubric = sample.rubric(lines[ident].key)
        try:
            label = read_label(record.get(LABEL), rubric)
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
            labels[ident], written[ident] = label, text_of(record.get(LABEL))
        if text_of(record.get(NOTE)):
            notes[ident] = text_of(record["note"])
    if unknown:
        raise UsageError(f"{path} has ids that are not on the sheet: {_some(unknown)}")
    if wrong:
        raise UsageError(_some(wrong))
    texts = [
        (
            where,
            text_of(record.get(ID)).removeprefix("'"),
            {name: text_of(cell) for name, cell in record.items()},
        )
        for where, record in records
    ]
    see_in_place(path, texts, sample, outcomes)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Filled(name, sha256, labels, written, notes)


def _some(found: Sequence[str], most: int = 5) -> str:
    more = f"; and {len(found) - most} more" if len(found) > most else ""
    return "; ".join(found[:most]) + more
