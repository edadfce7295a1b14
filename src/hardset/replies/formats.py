"""Which formats of replies there are, and which one a file is in: by content, never by name.

Each format is one module with `NAME`, `TITLE`, `recognise(source)`, which says by what the format
is recognised ("" where it is not), and `read(source)`, which yields what is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from hardset.errors import UsageError
from hardset.replies import (
    anthropic_batch,
    hardset_run,
    inspect_log,
    lmms,
    mmr_answers,
    openai_batch,
    plain,
    vlmeval,
)
from hardset.replies.found import Found
from hardset.replies.source import Source, open_source


class Format(Protocol):
    """What a format's module offers."""

    NAME: str
    TITLE: str

    def recognise(self, source: Source) -> str:
        """Say by what the format is recognised; "" where it is not this one."""

    def read(self, source: Source) -> Iterator[Found]:
        """Yield every reply of the file."""


FORMATS: dict[str, Format] = {
    one.NAME: one
    for one in (
        plain,
        inspect_log,
        lmms,
        vlmeval,
        openai_batch,
        anthropic_batch,
        mmr_answers,
        hardset_run,
    )
}


class Recognised(NamedTuple):
    """A file of replies, the format it is in, and by what that was seen."""

    source: Source
    format: Format
    why: str

    def read(self) -> Iterator[Found]:
        """Yield every reply of the file."""
        return self.format.read(self.source)


def recognise(path: Path | str, name: str = "") -> Recognised:
    """Find out a file's format.

    Args:
        path: the file.
        name: of the format, where the user says it.

    Raises:
        UsageError: the file is in none of the formats, or might be in several.
    """
    if name and name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; there are: {', '.join(FORMATS)}")
    source = open_source(path)
    if name:
        return Recognised(source, FORMATS[name], "--format says so")
    seen = {one: why for one in FORMATS.values() if (why := one.recognise(source))}
    if len(seen) == 1:
        ((found, why),) = seen.items()
        return Recognised(source, found, why)
    if seen:
        may_be = " or ".join(f"{one.NAME} ({why})" for one, why in seen.items())
        raise UsageError(f"{path} might be {may_be}: say which with --format")
    known = "; ".join(f"{one.NAME}: {one.TITLE}" for one in FORMATS.values())
    raise UsageError(
        f"{path} is in no format known here; it is {source.described()}. Rows of your own need the "
        f"columns id and reply. Formats: {known}"
    )
