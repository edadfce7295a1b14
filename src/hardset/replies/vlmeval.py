"""Result tables of VLMEvalKit: `<model>_<data set>.xlsx`, or `.tsv`, `.csv`, `.json`.

Columns `index`, `question`, the options in columns A, B, C, …, `answer`, and the reply in
`prediction`. A prediction that begins with "Failed to obtain answer" stands for a request that
failed. An Excel cell holds 32,767 characters at most: a reply of just that length was cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from string import ascii_uppercase
from typing import Any

from hardset.errors import UsageError
from hardset.records import Failure, Reply, State
from hardset.replies.found import Found, ended, failed, id_of, number_of, text_of
from hardset.replies.source import Source

NAME = "vlmevalkit"
TITLE = "result tables of VLMEvalKit (xlsx, tsv, csv, json)"
FAILED = "Failed to obtain answer"
LONGEST = 32_767  # characters of an Excel cell


def recognise(source: Source) -> str:
    """Say by what the format is recognised; "" where it is not this one."""
    return "its rows have index and prediction" if {"index", "prediction"} <= source.fields else ""


def read(source: Source) -> Iterator[Found]:
    """Yield every reply of the table.

    Raises:
        UsageError: a row has no index or no prediction.
    """
    for where, row in source.records():
        if not isinstance(row, dict) or "prediction" not in row or not id_of(row.get("index")):
            raise UsageError(f"{where} has no index and prediction")
        text = text_of(row["prediction"])
        if text is None:
            raise UsageError(f"{where}: the prediction is no text")
        yield Found(
            where=where,
            reply=_reply(text, source.kind == "xlsx"),
            ids=tuple(found for name in ("index", "id") if (found := id_of(row.get(name)))),
            question=text_of(row.get("question")) or "",
            position=number_of(row["index"]),
            options=tuple(takewhile(bool, (_cell(row, letter) for letter in ascii_uppercase))),
        )


def _reply(text: str, in_cell: bool) -> Reply:
    if text.lstrip().startswith(FAILED):
        return failed(f"VLMEvalKit: {' '.join(text.split())[:300]}")
    if in_cell and len(text) >= LONGEST:
        reason = f"cut off at the {LONGEST:,} characters that an Excel cell holds"
        return Reply(text=text, failure=Failure(state=State.TRUNCATED, reason=reason))
    return ended(text, "stop")


def _cell(row: Mapping[str, Any], name: str) -> str:
    return text_of(row.get(name)) or ""
