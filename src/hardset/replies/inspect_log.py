"""Logs of Inspect (inspect_ai): `.eval`, a zip of JSON files, and the older `.json`.

A sample has its `id`, `epoch` (the repeat), `input`, `choices`, the last `output`, and `error` or
`limit` where one of them ended it. The order of the options is read from the prompt that was
sent, where it shows them: its solver for multiple choice can shuffle them, and then turns prompt
and reply back only if it could read the reply; the sample's `choices` are in the first order
either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from hardset.errors import UsageError
from hardset.models.logprobs import read_tokens
from hardset.records import Failure, Reply, State
from hardset.replies.found import Found, count, ended, id_of, of_error
from hardset.replies.source import Source
from hardset.replies.zips import read_members

NAME = "inspect"
TITLE = "logs of Inspect (.eval, and .json)"
_SAMPLES = "samples/"
_HEADERS = ("header.json", "_journal/start.json")


class _Spec(Struct):
    model: str = ""
    task: str = ""


class _Header(Struct):
    eval: _Spec


class _Message(Struct):
    role: str = ""
    content: Any = None


class _Choice(Struct):
    message: _Message = field(default_factory=_Message)
    stop_reason: str | None = None
    logprobs: Any = None


class _Output(Struct):
    completion: str | None = None
    choices: list[_Choice] = field(default_factory=list)
    usage: dict[str, Any] | None = None
    error: str | None = None


class _Sample(Struct):
    id: int | str
    epoch: int = 1
    input: Any = None
    choices: list[str] | None = None
    messages: list[_Message] = field(default_factory=list)
    output: _Output = field(default_factory=_Output)
    error: Any = None
    limit: Any = None
    attachments: dict[str, str] = field(default_factory=dict)


class _Log(Struct):
    eval: _Spec
    samples: list[_Sample] | None = None


_header = msgspec.json.Decoder(_Header).decode
_sample = msgspec.json.Decoder(_Sample, strict=False).decode
_log = msgspec.json.Decoder(_Log, strict=False).decode


def recognise(source: Source) -> str:
    """Say by what the format is recognised; "" where it is not this one."""
    if source.kind == "zip":
        if not any(name in source.members for name in _HEADERS):
            return ""
        return "it is a zip with " + next(name for name in _HEADERS if name in source.members)
    in_one_line = source.kind == "lines" and {"eval", "status"} <= source.fields
    if source.kind != "object" and not in_one_line:
        return ""
    try:
        _header(source.path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return "it is an object with eval"


def read(source: Source) -> Iterator[Found]:
    """Yield every sample's reply.

    Raises:
        UsageError: the log is broken, or was written without its samples.
    """
    try:
        if source.kind == "zip":
            yield from _of_zip(source)
        else:
            log = _log(source.path.read_bytes())
            for number, sample in enumerate(log.samples or (), 1):
                yield _found(f"{source.name}, sample {number}", sample, log.eval.model)
    except msgspec.DecodeError as error:
        raise UsageError(f"{source.name} is not as Inspect writes it: {error}") from error


def _of_zip(source: Source) -> Iterator[Found]:
    header = next(name for name in _HEADERS if name in source.members)
    model = ""
    for _, content in read_members(source.path, lambda name: name == header):
        model = _header(content).eval.model
    wanted = read_members(
        source.path, lambda name: name.startswith(_SAMPLES) and name.endswith(".json")
    )
    for name, content in wanted:
        yield _found(f"{source.name}, {name}", _sample(content), model)


def _found(where: str, sample: _Sample, model: str) -> Found:
    turns = [turn for turn in sample.messages if turn.role == "user"]
    prompt = _text(turns[0].content, sample.attachments) if turns else ""
    asked = _text(sample.input, sample.attachments)
    return Found(
        where=where,
        reply=_reply(sample),
        ids=(id_of(sample.id),),
        repeat=sample.epoch,
        question=prompt or asked,
        options=tuple(sample.choices or ()),
        model=model,
    )


def _reply(sample: _Sample) -> Reply:
    output = sample.output
    if sample.error:
        return of_error(sample.error, "Inspect: the sample ended with an error")
    if sample.limit:
        kind = sample.limit.get("type", "") if isinstance(sample.limit, dict) else sample.limit
        failure = Failure(state=State.TRUNCATED, reason=f"stopped by Inspect's {kind} limit")
        return Reply(text=output.completion or "", failure=failure)
    if output.error and not output.completion:
        return of_error(output.error, "Inspect: the model call ended with an error")
    usage = output.usage or {}
    cached = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    first = output.choices[0] if output.choices else _Choice()
    stop = first.stop_reason
    reply = ended(
        output.completion or _text(first.message.content, sample.attachments),
        None if stop == "unknown" else stop,
        sum(count(usage.get(name)) for name in cached),
        usage.get("output_tokens"),
    )
    tokens = read_tokens(first.logprobs)
    return msgspec.structs.replace(reply, tokens=tokens) if tokens else reply


def _text(content: Any, attachments: dict[str, str]) -> str:
    """Return the text of a content, of a list of parts, or of the user's turns."""
    if isinstance(content, str):
        if content.startswith("attachment://"):
            return attachments.get(content.removeprefix("attachment://"), "")
        return content
    if isinstance(content, dict):
        if content.get("role", "user") != "user":
            return ""
        return _text(content.get("text") or content.get("content"), attachments)
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := _text(part, attachments)))
    return ""
