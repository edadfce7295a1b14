"""CSV, TSV and JSON Lines, held in memory: texts, or the paths of pictures.

A CSV's cells may be quoted (RFC 4180). A TSV's are not: a quote in it is a plain character (IANA's
text/tab-separated-values), as it is in GLUE's files, which readers that take it for more garble. A
row that is not UTF-8, or has another number of cells than the header, is `Unreadable` in its place.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.sources.examples import digests, files
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.columns import choose
from hardset.sources.examples.gathering import Gathered, gather
from hardset.sources.examples.labelling import labelled
from hardset.sources.examples.rows import HeldRows
from hardset.sources.examples.table import Places, Table
from hardset.sources.rows import LONGEST_CELL, read_rows

NAME = "csv"
NEEDS = "a .csv, .tsv, .jsonl or .json file, or a folder of them, with a header or named fields"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_JSON = (".jsonl", ".ndjson", ".json")
_LOOKED_AT = 100  # rows of JSON, for the names of their fields


def recognise(place: str) -> bool:
    """Whether it is a table of one of these types, or a folder that holds some."""
    path = Path(place).expanduser()
    if path.is_file():
        return path.suffix.lower() in SUFFIXES
    return path.is_dir() and bool(_tables(path))


def read(asked: Asked) -> Examples:
    """Open the files of a split."""
    path = asked.path
    suffixes = SUFFIXES if path.is_file() else _tables(path)
    chosen = files.of_split(asked, suffixes or SUFFIXES)
    first = chosen.paths[0]
    columns = choose(_header(first), asked, first)
    wanted = (*columns.content, columns.label)
    found = gather((row for path in chosen.paths for row in _rows(path, wanted)), len(wanted) - 1)
    return as_table(asked, chosen, found, columns.kind, labels_in=columns.label, layout=NAME)


def as_table(
    asked: Asked,
    chosen: files.Files,
    found: Gathered,
    kind: Any,
    *,
    labels_in: str,
    layout: str,
    classes: Sequence[str] | None = None,
) -> Table:
    """Make a set of what was gathered from files.

    Args:
        asked: what was asked for.
        chosen: the files.
        found: their rows.
        kind: "text" or "image".
        labels_in: the column of the labels, for errors.
        layout: as the manifest has it.
        classes: the names of whole-number labels, where the layout knows them.
    """
    where = f"{chosen.paths[0]}, column {labels_in!r}"
    known = asked.classes if asked.classes is not None else classes
    labels = labelled(found.labels, where, classes=known, numbers=known == classes)
    return Table(
        kind=kind,
        rows=HeldRows(found.frame, found.bad),
        labels=labels.labels,
        classes=labels.classes,
        source={
            "place": asked.place,
            "layout": layout,
            "split": chosen.split,
            "files": list(chosen.names),
            "sha256": digests.of_files(zip(chosen.names, chosen.paths, strict=True)),
            "notes": [*labels.notes, *found.notes()],
        },
        ids=Places(chosen.names, found.starts, "line", found.lines),
        folder=str(chosen.paths[0].parent),
    )


class Line(NamedTuple):
    """A row: the file's number of it, its cells of content and its label, or what is wrong."""

    number: int
    cells: Sequence[Any]
    label: Any
    wrong: str = ""


def _tables(folder: Path) -> tuple[str, ...]:
    """Return the endings of a folder's tables; .json, which much else has, if no other."""
    there = {path.suffix.lower() for path in files.inside(folder, SUFFIXES)}
    return tuple(sorted(there - {".json"} or there))


def _header(path: Path) -> list[str]:
    if path.suffix.lower() in _JSON:
        names: dict[str, None] = {}
        for _, fields, _ in islice(_objects(path), _LOOKED_AT):
            names.update(dict.fromkeys(fields))
        if not names:
            raise UsageError(f"{path} has no rows with named fields")
        return list(names)
    for _, cells, _ in _cells(path):
        return cells
    raise UsageError(f"{path} has blank lines only: it has no header line")


def _rows(path: Path, wanted: Sequence[str]) -> Iterator[Line | None]:
    """Yield None, which begins a file, and then its rows."""
    yield None
    *content, label = wanted
    if path.suffix.lower() in _JSON:
        yield from _json_rows(path, content, label)
        return
    rows = _cells(path)
    _, header, _ = next(rows, (0, [], 0))
    if odd := [name for name in wanted if name not in header]:
        raise UsageError(f"{path} has no column {odd[0]!r}, which other files of the set have")
    at = [header.index(name) for name in content]
    label_at = header.index(label)
    for number, cells, _ in rows:
        if len(cells) != len(header):
            wrong = f"its line has {len(cells)} cells, the header {len(header)}"
            yield Line(number, (), None, wrong)
        else:
            yield Line(number, [cells[one] for one in at], cells[label_at])


def _json_rows(path: Path, content: Sequence[str], label: str) -> Iterator[Line]:
    for number, fields, wrong in _objects(path):
        yield Line(number, [fields.get(name) for name in content], fields.get(label), wrong)


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Yield each object's line, its fields, and what is wrong with it."""
    if path.suffix.lower() == ".json":
        for number, row in enumerate(read_rows(path), 1):
            yield number, row.fields, ""
        return
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not text.strip():
                continue
            try:
                yield number, decode(text), ""
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                if "utf-8" not in str(error).lower():
                    raise UsageError(f"{path}, line {number}: no JSON object: {error}") from error
                yield number, {}, "is not UTF-8 text"


def _cells(path: Path) -> Iterator[tuple[int, list[str], int]]:
    """Yield the line at which a row begins, its cells, and the line at which it ends."""
    with path.open("rb") as file:
        begin = file.read(4)
    if not begin:
        raise UsageError(f"{path} is empty: it has no header line")
    if begin[:2] == b"\x1f\x8b":
        raise UsageError(f"{path} is compressed by gzip: unpack it (gunzip)")
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in begin:
        raise UsageError(f"{path} is UTF-16 text; save it as UTF-8")
    if path.suffix.lower() == ".tsv":
        for number, cells in unquoted(path):
            yield number, cells, number
        return
    csv.field_size_limit(LONGEST_CELL)  # and left so: another walk of rows may be under way
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, strict=True)
        last = 0
        try:
            for cells in reader:
                if cells:
                    yield last + 1, cells, reader.line_num
                last = reader.line_num
        except csv.Error as error:
            raise UsageError(f"{path}, line {reader.line_num}: {error}") from error


def unquoted(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a TSV with their numbers; bytes that are no UTF-8 as surrogates."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            text = text.rstrip(b"\r\n")
            if text:
                yield number, text.decode("utf-8", "surrogateescape").split("\t")
