"""OpenAI-compatible chat, as bytes: what is sent and what comes back.

The body is put together by hand so that an image's base64, which may be megabytes and needs no
escaping, is never copied through a JSON encoder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hardset.models.faults import Endpoint, code_and_message, of_error, speaks_of_policy
from hardset.models.logprobs import read_tokens
from hardset.models.providers import Provider
from hardset.records import Failure, Image, Message, Prompt, Reply, Sampling, State, ToolCall

Encoded = tuple[str, bytes]
"""An image's media type and base64."""

_json = msgspec.json.Encoder().encode

FINISH = {
    "max_tokens": "length", "model_length": "length", "max_output_tokens": "length",
    "model_context_window_exceeded": "length", "refusal": "content_filter",
    "safety": "content_filter", "content-filter": "content_filter",
    "prohibited_content": "content_filter", "recitation": "content_filter",
    "sensitive": "content_filter", "blocklist": "content_filter",
    "end_turn": "stop", "eos": "stop", "eos_token": "stop", "stop_sequence": "stop",
    "tool_use": "tool_calls", "function_call": "tool_calls",
}  # fmt: skip
"""Other endpoints' words for how a reply ended, in OpenAI's."""
_SCHEMA = (
    b',"response_format":{"type":"json_schema","json_schema":'
    b'{"name":"reply","strict":true,"schema":'
)
BROKE_OFF = frozenset({"error", "abort", "insufficient_system_resource"})


class Body:
    """Writes request bodies for one model: the unchanging parts are encoded once."""

    def __init__(self, model: str, provider: Provider, extra: Mapping[str, Any]) -> None:
        self._provider = provider
        self._plain = not model.startswith(provider.fixed_temperature or ("\0",))
        self._head = b'{"model":' + _json(model)
        self._extra = dict(extra)
        self._tails: dict[Sampling, bytes] = {}

    def __call__(self, prompt: Prompt, encoded: Callable[[Image], Encoded]) -> list[bytes]:
        """Return the body in parts; their concatenation is JSON.

        Args:
            prompt: what to send.
            encoded: gives the media type and base64 of an image.
        """
        parts: list[bytes] = [self._head, b',"messages":[']
        for number, message in enumerate(prompt.messages):
            parts.append(b',{"role":"' if number else b'{"role":"')
            parts.append(message.role.encode() + b'","content":')
            _content(parts, message, encoded)
            parts.append(b"}")
        parts.append(b"]")
        if prompt.tools:
            parts.append(b',"tools":' + _json(prompt.tools))
        if prompt.schema and self._provider.json_schema:
            parts += (_SCHEMA, prompt.schema.encode(), b"}}")
        tail = self._tails.get(prompt.sampling)
        if tail is None:
            tail = self._tails[prompt.sampling] = self._tail(prompt.sampling)
        parts.append(tail)
        return parts

    def left_out(self, sampling: Sampling) -> tuple[str, ...]:
        """Say which settings of the prompt this model is not sent, since it refuses them."""
        notes = []
        if not self._plain and (sampling.temperature is not None or sampling.top_p is not None):
            notes.append("temperature and top_p left out: the model takes none")
        if sampling.seed is not None and not self._provider.seed_field:
            notes.append("seed left out: the provider takes none")
        if sampling.logprobs and not self._provider.logprobs:
            notes.append("logprobs left out: the provider gives none")
        return tuple(notes)

    def _tail(self, sampling: Sampling) -> bytes:
        settings: dict[str, Any] = {
            "temperature": sampling.temperature if self._plain else None,
            "top_p": sampling.top_p if self._plain else None,
            self._provider.max_tokens_field: sampling.max_tokens,
            "logprobs": True if sampling.logprobs and self._provider.logprobs else None,
        }
        if self._provider.seed_field:
            settings[self._provider.seed_field] = sampling.seed
        settings = {name: value for name, value in settings.items() if value is not None}
        settings |= self._extra
        return b"," + _json(settings)[1:] if settings else b"}"


def _content(parts: list[bytes], message: Message, encoded: Callable[[Image], Encoded]) -> None:
    """Write a content: one string where there is no image (every server takes that), or parts."""
    if len(message.content) == 1 and isinstance(message.content[0], str):
        parts.append(_json(message.content[0]))
        return
    if all(isinstance(piece, str) for piece in message.content):
        parts.append(_json("\n".join(str(piece) for piece in message.content)))
        return
    for number, piece in enumerate(message.content):
        parts.append(b"," if number else b"[")
        if isinstance(piece, str):
            parts.append(b'{"type":"text","text":' + _json(piece) + b"}")
        else:
            kind, base64 = encoded(piece)
            lead = b'{"type":"image_url","image_url":{"url":"data:' + kind.encode() + b";base64,"
            parts += (lead, base64, b'"}}')
    parts.append(b"]")


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class _Call(Struct):
    id: str | None = None
    function: _Function | None = None


class _Message(Struct):
    content: Any = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: Any = None
    error: Any = None


class _Chat(Struct):
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None


_decode = msgspec.json.Decoder(_Chat).decode


def read_chat(raw: bytes, endpoint: Endpoint, logprobs: bool = False) -> Reply:
    """Read the body of a 200.

    A missing content is an empty text (its finish reason says why); a refusal is the model's
    text; whatever is not a complete chat reply is a failure worth asking again. Tokens are kept
    where `logprobs` were asked for; unsound ones are as good as none, and never lose the reply.
    """
    try:
        chat = _decoded(raw)
    except (ValueError, RecursionError) as error:  # msgspec's and Unicode's are ValueErrors
        start = raw[:60].decode("utf-8", "replace")
        if start.lstrip().startswith("<"):
            said = f"a web page, not a chat reply: is the address {endpoint.address} right?"
            return Reply(failure=endpoint.failed(f"{endpoint.title} sent {said}", transient=True))
        return Reply(
            failure=endpoint.failed(
                f"{endpoint.title} sent no sound chat reply ({error}); {len(raw)} bytes that "
                f"begin {' '.join(start.split())!r}",
                transient=True,
            )
        )
    if chat.error:
        return Reply(failure=_inside(endpoint, chat.error))
    choice = chat.choices[0] if chat.choices else None
    if choice is not None and choice.error:
        return Reply(failure=_inside(endpoint, choice.error))
    if choice is None or choice.message is None:
        return Reply(failure=_no_choice(endpoint, raw))
    finish = choice.finish_reason or "stop"
    finish = FINISH.get(finish.lower(), finish.lower())
    if finish in BROKE_OFF:
        return Reply(
            failure=endpoint.failed(f"{endpoint.title} broke off ({finish})", transient=True)
        )
    usage = chat.usage if isinstance(chat.usage, dict) else {}
    message = choice.message
    return Reply(
        text=endpoint.scrub(_text(message.content) or message.refusal or ""),
        finish=finish,
        tool_calls=tuple(_call(call) for call in message.tool_calls or ()),
        tokens_in=_tokens(usage.get("prompt_tokens")),
        tokens_out=_tokens(usage.get("completion_tokens")),
        tokens=read_tokens(choice.logprobs, endpoint.scrub) if logprobs else (),
    )


def _decoded(raw: bytes) -> _Chat:
    """Decode a reply, also where a server writes what JSON does not have.

    A model that stops inside an emoji leaves half a surrogate pair; a token that cannot be has a
    log-probability of -Infinity.
    """
    try:
        return _decode(raw)
    except msgspec.DecodeError as error:
        if "surrogate" not in str(error) and b"Infinity" not in raw and b"NaN" not in raw:
            raise
    return msgspec.convert(json.loads(raw, object_hook=_whole), _Chat)


def _whole(found: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if isinstance(value, str)
        else value
        for name, value in found.items()
    }


def _tokens(count: Any) -> int:
    """Return a count of tokens; one that cannot be true is as good as none."""
    true = isinstance(count, int | float) and 0 <= count < 2**40
    return int(count) if true else 0


def _text(content: Any) -> str:
    """Return a content as text: it is a string, null, or a list of parts of which texts count."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [part if isinstance(part, str) else _part(part) for part in content]
    return "".join(texts)


def _part(part: Any) -> str:
    """Return a part's text; reasoning parts are no answer."""
    if not isinstance(part, dict) or part.get("type", "text") not in ("text", "output_text"):
        return ""
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _call(call: _Call) -> ToolCall:
    function = call.function or _Function()
    arguments = function.arguments
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else _json(arguments).decode()
    return ToolCall(call.id or "", function.name or "", arguments)


def _inside(endpoint: Endpoint, error: Any) -> Failure:
    """Say what an error inside a 200 means: by its own status, where it has one."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(str(code)) if re.fullmatch(r"[45]\d\d", str(code), re.ASCII) else 0
    if status:
        return of_error(endpoint, code_and_message(error), status)
    name, message = code_and_message(error)
    if speaks_of_policy(name, message):
        return of_error(endpoint, (name, message), 200)
    return endpoint.failed(
        f"{endpoint.title} sent an error inside a 200: {message}", transient=True
    )


def _no_choice(endpoint: Endpoint, raw: bytes) -> Failure:
    said = raw[:2000].decode("utf-8", "replace")
    if speaks_of_policy("", said):
        reason = f"{endpoint.title} gave no reply, for its content policy"
        return Failure(state=State.PROVIDER_REFUSED, reason=reason)
    return endpoint.failed(f"{endpoint.title} sent a reply without a choice", transient=True)
