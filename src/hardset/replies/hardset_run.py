"""The outcomes of a run of this program, to be read once more: by mended readers, say.

`outcomes.parquet` of a run folder has `item`, `repeat`, `reply`, `finish`, and, where a row has
no reply, the `state` it ended in and the `reason`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from hardset.errors import UsageError
from hardset.records import Failure, Reply, State
from hardset.replies.found import Found, count, ended, number_of, share_of, text_of
from hardset.replies.source import Source

NAME = "hardset"
TITLE = "outcomes.parquet of a run of hardset"
_NEEDED = frozenset({"item", "repeat", "state", "reason", "reply", "finish"})


def recognise(source: Source) -> str:
    """Say by what the format is recognised; "" where it is not this one."""
    return "its rows are a run's outcomes" if source.fields >= _NEEDED else ""


def read(source: Source) -> Iterator[Found]:
    """Yield every row's reply, or the failure in its place.

    Raises:
        UsageError: a row has no item, or a state or a repeat that is none.
    """
    model = _model(source)
    for where, row in source.records():
        if missing := _NEEDED - row.keys():
            raise UsageError(f"{where} has no {', '.join(sorted(missing))}")
        yield Found(
            where=where,
            reply=_reply(where, row),
            ids=(_text(where, row, "item"),),
            repeat=_repeat(where, row),
            question=text_of(row.get("question")) or "",
            model=model,
            confidence=share_of(where, row.get("confidence")),
        )


def _model(source: Source) -> str:
    """Say who replied, as the manifest beside the outcomes says it; "" where there is none."""
    beside = source.path.with_name("manifest.json")
    if source.path.name != "outcomes.parquet" or not beside.is_file():
        return ""
    try:
        told = msgspec.json.decode(beside.read_bytes())
    except (OSError, msgspec.DecodeError):
        return ""
    return str(told.get("model") or "") if isinstance(told, dict) else ""


def _reply(where: str, row: dict[str, Any]) -> Reply:
    try:
        state = State(row["state"])
    except ValueError as error:
        raise UsageError(f"{where}: {row['state']!r} is no state") from error
    text, finish = _text(where, row, "reply"), _text(where, row, "finish")
    if state.failed or (state is State.PROVIDER_REFUSED and finish != "content_filter"):
        failure = Failure(state=state, reason=_text(where, row, "reason"))
        return Reply(text=text, finish=finish, failure=failure)
    return ended(text, finish, count(row.get("tokens_in")), count(row.get("tokens_out")))


def _text(where: str, row: dict[str, Any], name: str) -> str:
    value = row[name]
    if not isinstance(value, str):
        raise UsageError(f"{where}: {name} is {value!r}, not a text")
    return value


def _repeat(where: str, row: dict[str, Any]) -> int:
    number = number_of(row["repeat"])
    if number is None:
        raise UsageError(f"{where}: repeat is {row['repeat']!r}, not a whole number")
    return number
