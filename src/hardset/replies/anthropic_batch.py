"""Results of Anthropic's Message Batches.

A line has the request's `custom_id` and a `result`, whose `type` is succeeded (with `message`),
errored, canceled or expired. A custom_id has letters, digits, _ and - alone, so that most ids
cannot stand there as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hardset.errors import UsageError
from hardset.records import Reply
from hardset.replies.found import Found, count, ended, failed, number_of, of_error, parts_of
from hardset.replies.source import Source

NAME = "anthropic-batch"
TITLE = "results of Anthropic's Message Batches"
_CACHE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def recognise(source: Source) -> str:
    """Say by what the format is recognised; "" where it is not this one."""
    if "custom_id" in source.fields and "result" in source.fields:
        return "its lines have custom_id and result"
    return ""


def read(source: Source) -> Iterator[Found]:
    """Yield every reply of the file.

    Raises:
        UsageError: a line has no custom_id or no result.
    """
    for where, line in source.records():
        if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
            raise UsageError(f"{where} has no custom_id")
        result = line.get("result")
        if not isinstance(result, Mapping):
            raise UsageError(f"{where} has no result")
        message = result.get("message")
        yield Found(
            where=where,
            reply=_reply(result),
            ids=(line["custom_id"],),
            position=number_of(line["custom_id"]),
            model=str(message.get("model") or "") if isinstance(message, Mapping) else "",
        )


def _reply(result: Mapping[str, Any]) -> Reply:
    kind, message = result.get("type"), result.get("message")
    if kind == "errored":
        return of_error(result.get("error"), "the batch")
    if kind != "succeeded" or not isinstance(message, Mapping):
        return failed(f"the batch: the request is {kind or 'without a result'}")
    usage = message["usage"] if isinstance(message.get("usage"), Mapping) else {}
    blocks = parts_of(message.get("content"))
    if blocks is None:
        return failed("the batch: the message's content is not a list of blocks")
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
    tokens_in = sum(count(usage.get(name)) for name in _CACHE)
    return ended(text, message.get("stop_reason"), tokens_in, usage.get("output_tokens"))
