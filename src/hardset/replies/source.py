"""A file of replies, opened by what is in it: its name's ending may be anything.

What it holds is found out from its first bytes: a zip archive (Inspect's logs and Excel's tables
are ones), parquet, JSON in one piece, JSON Lines, or a table of texts. A record that cannot be
read is an error that names the file and the line: none is skipped.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from hardset.errors import UsageError
from hardset.sources.rows import read_table

Kind = Literal["zip", "xlsx", "parquet", "object", "list", "lines", "table"]
LOOKED_AT = 100  # records, to see what they have: one whose request failed may lack a reply
_BOM = b"\xef\xbb\xbf"
_SAID = {
    "zip": "a zip archive",
    "xlsx": "an Excel workbook",
    "parquet": "a parquet file",
    "object": "one JSON object",
    "list": "a JSON list",
    "lines": "JSON Lines",
    "table": "a table of texts",
}


class Record(NamedTuple):
    """One record of a file, and where it stands: "answers.jsonl, line 3"."""

    where: str
    value: Any


@dataclass(frozen=True)
class Source:
    """A file of replies and what kind of file it is.

    Attributes:
        path: where it is.
        kind: what it is, by its content.
        members: the names inside, for an archive.
    """

    path: Path
    kind: Kind
    members: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self.path.name

    @cached_property
    def first(self) -> Any:
        """The first record, None where there is none; of a JSON object, the object."""
        if self.kind == "zip":
            return None
        if self.kind == "object":
            return self.document
        return next((record.value for record in self.records()), None)

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value."""
        return _decoded(self.path.read_bytes().removeprefix(_BOM), self.path.name)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names that the first records have; none where the file is not made of objects."""
        if self.kind in ("zip", "object"):
            return frozenset()
        rows = (record.value for record in islice(self.records(), LOOKED_AT))
        return frozenset(name for row in rows if isinstance(row, Mapping) for name in row)

    def described(self) -> str:
        """Say what is seen: the kind of file, and its first record's names."""
        said = _SAID[self.kind]
        if self.kind == "zip":
            return f"{said} with {_some(sorted(self.members))}"
        if self.first is None and self.kind == "table":
            with self.path.open(encoding="utf-8-sig") as file:
                return f"{said} that ends after its first line, {file.readline(200).strip()!r}"
        if self.first is None:
            return f"{said} without a record"
        if isinstance(self.first, Mapping) and self.first:
            return f"{said} with {_some(list(self.first))}"
        return f"{said} of {_what(self.first)}"

    def sha256(self) -> str:
        """Return the hex digest of the file's bytes."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def records(self) -> Iterator[Record]:
        """Yield the records of a list, of lines or of a table, as a stream where it is one.

        Raises:
            UsageError: one is malformed.
        """
        if self.kind == "list":
            for number, value in enumerate(self.document, 1):
                yield Record(f"{self.name}, row {number}", value)
        elif self.kind == "object":
            yield Record(self.name, self.document)
        elif self.kind == "lines":
            yield from _lines(self.path)
        elif self.kind == "table":
            yield from _table(self.path)
        elif self.kind == "parquet":
            from hardset.sources.rows import read_rows

            yield from (Record(*row) for row in read_rows(self.path, ".parquet"))
        elif self.kind == "xlsx":
            from hardset.replies.workbook import rows

            yield from rows(self.path)


def open_source(path: Path | str) -> Source:
    """Look at a file and say what kind it is.

    Raises:
        UsageError: there is no such file, it is empty, or it is none of the kinds.
    """
    path = Path(path)
    if not path.is_file():
        there = "is no ordinary file" if path.exists() else "does not exist"
        what = "is a folder: name the files in it" if path.is_dir() else there
        raise UsageError(f"{path} {what}")
    try:
        with path.open("rb") as file:
            head = file.read(65536).removeprefix(_BOM)
        if head.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(path) as archive:
                members = frozenset(archive.namelist())
            return Source(path, "xlsx" if "xl/workbook.xml" in members else "zip", members)
    except zipfile.BadZipFile as error:
        raise UsageError(f"{path} is a zip archive that is cut off or broken: {error}") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    if head.startswith(b"PAR1"):
        return Source(path, "parquet")
    start = head.lstrip()
    if not start:
        raise UsageError(f"{path} is empty: it holds no replies")
    if start.startswith(b"["):
        return Source(path, "list")
    if start.startswith(b"{"):
        return Source(path, _of_brace(path))
    if start.startswith(b"<"):
        raise UsageError(f"{path} is a web page, not a file of replies; download it again")
    if start.startswith(b"version https://git-lfs"):
        raise UsageError(f"{path} is a Git LFS pointer; fetch the file with `git lfs pull`")
    if b"\0" in head:
        raise UsageError(f"{path} is no text, JSON, parquet, Excel or Inspect file")
    return Source(path, "table")


def _of_brace(path: Path) -> Kind:
    """Tell JSON Lines from one object: the first line of the former is an object by itself."""
    with path.open("rb") as file:
        first = next((line for line in file if line.removeprefix(_BOM).strip()), b"")
        more = any(line.strip() for line in file)
    try:
        _decode(first.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return "lines" if first.rstrip().endswith(b"}") and more else "object"
    return "lines"


def _lines(path: Path) -> Iterator[Record]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = line.removeprefix(_BOM) if number == 1 else line
            if text.strip():
                where = f"{path.name}, line {number}"
                yield Record(where, _decoded(text, where))


def _table(path: Path) -> Iterator[Record]:
    """Read a table with a header, split at the first of tab, comma and semicolon in the header."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = file.readline()
        delimiter = next((sign for sign in "\t,;" if sign in first), ",")
        for where, fields in read_table(path, delimiter):
            yield Record(where, fields)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason}") from error


def _decoded(raw: bytes, where: str) -> Any:
    try:
        return _decode(raw)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON: {error}") from error


def _decode(raw: bytes) -> Any:
    """Decode JSON, with what Python writes beyond it: NaN, and half of an emoji's two halves."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        if b"NaN" not in raw and b"Infinity" not in raw and "surrogate" not in str(error):
            raise
    return _whole(json.loads(raw))


def _whole(value: Any) -> Any:
    """Put the replacement character for halves of surrogate pairs, which are no text."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {name: _whole(one) for name, one in value.items()}
    return value


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _what(value: Any) -> str:
    names: dict[type, str] = {list: "lists", str: "texts", dict: "empty objects"}
    return names.get(type(value), "single values")
