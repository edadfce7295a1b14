"""The outcomes of a run of this program, to be read once more: by mended readers, say.

`outcomes.parquet` of a run folder has `item`, `repeat`, `reply`, `finish`, and, where a row has
no reply, the `state` it ended in and the `reason`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hardset.records import Failure, Reply, State
from hardset.replies.found import Found, count, ended
from hardset.replies.source import Source

NAME = "hardset"
TITLE = "outcomes.parquet of a run of hardset"
_NEEDED = frozenset({"item", "repeat", "state", "reason", "reply", "finish"})


def recognise(source: Source) -> str:
    """Say by what the format is recognised; "" where it is not this one."""
    return "its rows are a run's outcomes" if source.fields >= _NEEDED else ""


def read(source: Source) -> Iterator[Found]:
    """Yield every row's reply, or the failure in its place."""
    for where, row in source.records():
        yield Found(
            where=where,
            reply=_reply(row),
            ids=(row["item"],),
            repeat=row["repeat"],
            question=row.get("question") or "",
            confidence=row.get("confidence"),
        )


def _reply(row: dict[str, Any]) -> Reply:
    state = State(row["state"])
    if state.failed or (state is State.PROVIDER_REFUSED and row["finish"] != "content_filter"):
        failure = Failure(state=state, reason=row["reason"])
        return Reply(text=row["reply"], finish=row["finish"], failure=failure)
    return ended(
        row["reply"], row["finish"], count(row.get("tokens_in")), count(row.get("tokens_out"))
    )
