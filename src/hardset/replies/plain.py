"""The minimal schema: what any script can write.

`id` and `reply`, and where known `repeat`, `finish` (the endpoint's word: stop, length, …),
`error` (why there is no reply), `tokens_in`, `tokens_out`, `question` (checked against the item's),
`options` (a list, in the order in which they were shown), `model` and `confidence` (0 to 1). As
CSV, TSV, JSON, JSON Lines, parquet or an Excel table.
"""

from __future__ import annotations

from collections.abc import Iterator

from hardset.errors import UsageError
from hardset.replies.found import (
    Found,
    ended,
    id_of,
    number_of,
    of_error,
    options_of,
    share_of,
    text_of,
)
from hardset.replies.source import Source

NAME = "plain"
TITLE = "minimal schema: id, reply, and optionally repeat, finish, error, tokens_in, tokens_out"


def recognise(source: Source) -> str:
    """Say by what the format is recognised; "" where it is not this one."""
    return "its rows have id and reply" if {"id", "reply"} <= source.fields else ""


def read(source: Source) -> Iterator[Found]:
    """Yield every reply of the file.

    Raises:
        UsageError: a row has no id, a reply that is no text, or a repeat or a confidence that is
            no such number.
    """
    for where, row in source.records():
        if not isinstance(row, dict) or "id" not in row:
            raise UsageError(f"{where} has no id")
        if "reply" not in row and not row.get("error"):
            raise UsageError(f"{where} has no reply, nor an error")
        ident = id_of(row["id"])
        if not ident:
            raise UsageError(f"{where} has no id")
        text = text_of(row.get("reply"))
        if text is None:
            raise UsageError(f"{where}: the reply is a {type(row['reply']).__name__}, not a text")
        repeat = number_of(row.get("repeat"))
        if repeat is None and text_of(row.get("repeat")) != "":
            raise UsageError(f"{where}: repeat is {row['repeat']!r}, not a whole number")
        error = row.get("error")
        if error and error == error:
            reply = of_error(error, "the request failed elsewhere")
        else:
            reply = ended(text, row.get("finish"), row.get("tokens_in"), row.get("tokens_out"))
        yield Found(
            where=where,
            reply=reply,
            ids=(ident,),
            repeat=repeat,
            question=text_of(row.get("question")) or "",
            options=options_of(row.get("options")),
            model=text_of(row.get("model")) or "",
            confidence=share_of(where, row.get("confidence")),
        )
