"""Output files of OpenAI's Batch API, and of the servers and providers that write the same.

A line has the request's `custom_id`, and `response` (`status_code` and `body`: a chat completion,
or a response of /v1/responses) or `error`. Lines of the error file are of the same form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hardset.errors import UsageError
from hardset.models.faults import Endpoint
from hardset.models.wire import read_chat
from hardset.records import Reply
from hardset.replies.found import Found, ended, failed, number_of, of_error, parts_of
from hardset.replies.source import Source

NAME = "openai-batch"
TITLE = "output of OpenAI's Batch API"
_WHO = "the batch"
_ENDPOINT = Endpoint(title=_WHO, address="", model="", key_env="")


def recognise(source: Source) -> str:
    """Say by what the format is recognised; "" where it is not this one."""
    if "custom_id" in source.fields and "response" in source.fields:
        return "its lines have custom_id and response"
    return ""


def read(source: Source) -> Iterator[Found]:
    """Yield every reply of the file.

    Raises:
        UsageError: a line has no custom_id.
    """
    for where, line in source.records():
        if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
            raise UsageError(f"{where} has no custom_id")
        body = _body(line)
        yield Found(
            where=where,
            reply=_reply(line, body),
            ids=(line["custom_id"],),
            position=number_of(line["custom_id"]),
            model=str(body.get("model") or ""),
        )


def _body(line: Mapping[str, Any]) -> Mapping[str, Any]:
    response = line.get("response")
    body = response.get("body") if isinstance(response, Mapping) else None
    return body if isinstance(body, Mapping) else {}


def _reply(line: Mapping[str, Any], body: Mapping[str, Any]) -> Reply:
    if line.get("error"):
        return of_error(line["error"], _WHO)
    response = line.get("response")
    status = response.get("status_code", 200) if isinstance(response, Mapping) else None
    if status is None:
        return failed(f"{_WHO}: neither a response nor an error")
    if status != 200:
        return of_error(body, f"{_WHO} ({status})")
    if "output" in body:
        return _of_responses(body)
    return read_chat(msgspec.json.encode(body), _ENDPOINT, logprobs=True)


def _of_responses(body: Mapping[str, Any]) -> Reply:
    """Read the body of /v1/responses: its messages' texts; reasoning is no answer."""
    if body.get("error"):
        return of_error(body["error"], _WHO)
    if body.get("status") not in ("completed", "incomplete"):
        return failed(f"{_WHO}: the response is {body.get('status') or 'without a status'}")
    details = body.get("incomplete_details")
    why = details.get("reason") if isinstance(details, Mapping) else None
    if body["status"] == "incomplete" and not why:
        why = "length"
    usage = body["usage"] if isinstance(body.get("usage"), Mapping) else {}
    turns = parts_of(body["output"])
    contents = [parts_of(one.get("content")) for one in turns or () if one.get("type") == "message"]
    if turns is None or None in contents:
        return failed(f"{_WHO}: the response's output is not a list of messages with their parts")
    text = "".join(
        str(part.get("text") or part.get("refusal") or "")
        for content in contents
        for part in content or ()
        if part.get("type") in ("output_text", "refusal")
    )
    return ended(text, why, usage.get("input_tokens"), usage.get("output_tokens"))
