"""A real OpenAI-compatible server on loopback, which goes wrong exactly when it is told to.

    with Loopback(faults=[Fault("status", 429, headers={"Retry-After": "1"}), None]) as server:
        ... f"{server.base_url}" ...
        server.requests      # the decoded bodies, in order of arrival

`faults` are used up one a request (None: answer well); or `fault` is a function of the
request's number and body. It runs in a thread with its own event loop.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from aiohttp import web

Answer = Callable[[str], str]


@dataclass(frozen=True)
class Fault:
    """One way to go wrong.

    status   answer with that status; `body` (bytes, or a JSON value) and `headers` as given
    body     a 200 with that body
    message  a sound chat reply, with these fields of the message (`finish`: the finish reason)
    garbage  a 200 with bytes that are no JSON
    truncate a 200 whose JSON is cut short, as its length says
    cut      a 200 that promises more bytes than it sends, then closes
    hang     no answer for `seconds`
    slow     the right answer, a byte group at a time over `seconds`
    reset    the connection is dropped without an answer
    huge     a 200 of `size` bytes
    """

    kind: Literal[
        "status", "body", "message", "garbage", "truncate", "cut", "hang", "slow", "reset", "huge"
    ]
    status: int = 500
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 30.0
    size: int = 0
    finish: str | None = "stop"


def default_answer(prompt: str) -> str:
    """A deterministic answer: a letter, yes or no where the question's form shows, else a word.

    Options are lines that begin `A.` or `(A)`; the letter is picked by the prompt's length.
    """
    letters = re.findall(r"(?m)^\s*\(?([A-H])[.)]", prompt)
    if letters:
        return str(letters[len(prompt) % len(letters)])
    if re.search(r"(?i)\b(is|are|does|do|can)\b.*\?", prompt):
        return ("yes", "no")[len(prompt) % 2]
    return f"seen {len(prompt)}"


def chat(text: str | None, finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion as OpenAI documents it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "loopback",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


class Loopback:
    """The server; a context manager. `wait` seconds pass before each good answer."""

    def __init__(
        self,
        answer: Answer = default_answer,
        *,
        faults: Sequence[Fault | None] = (),
        fault: Callable[[int, Any], Fault | None] | None = None,
        key: str | None = None,
        wait: float = 0.0,
        keep: bool = True,
    ) -> None:
        self.answer, self.key, self.wait, self.keep = answer, key, wait, keep
        self.faults = list(faults)
        self.fault = fault
        self.count = 0  # chat requests that arrived
        self.busy = 0  # being answered now
        self.busiest = 0
        self.requests: list[Any] = []  # their decoded bodies
        self.headers: list[dict[str, str]] = []
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def prompts(self) -> list[str]:
        """The text of every request, in order."""
        return [prompt_text(body) for body in self.requests]

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(30), "the loopback server did not start"
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(30)

    def _serve(self, ready: threading.Event) -> None:
        asyncio.run(self._main(ready))

    async def _main(self, ready: threading.Event) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        ready.set()
        await self._done.wait()
        await runner.cleanup()

    def _refused(self, request: web.Request) -> web.Response | None:
        if self.key is None or request.headers.get("Authorization") == f"Bearer {self.key}":
            return None
        sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
        message = f"Incorrect API key provided: {sent}."
        error = {"message": message, "type": "invalid_request_error", "code": "invalid_api_key"}
        return web.json_response({"error": error}, status=401)

    async def _models(self, request: web.Request) -> web.StreamResponse:
        refused = self._refused(request)
        return refused or web.json_response({"object": "list", "data": [{"id": "loopback"}]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        number, self.count = self.count, self.count + 1
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            body = json.loads(raw)
            if self.keep:
                self.requests.append(body)
                self.headers.append(dict(request.headers))
            refused = self._refused(request)
            if refused is not None:
                return refused
            fault = self.faults[number] if number < len(self.faults) else None
            if fault is None and self.fault is not None:
                fault = self.fault(number, body)
            if fault is not None:
                return await self._go_wrong(request, fault, body)
            if self.wait:
                await asyncio.sleep(self.wait)
            return web.json_response(chat(self.answer(prompt_text(body))))
        finally:
            self.busy -= 1

    async def _go_wrong(self, request: web.Request, fault: Fault, body: Any) -> web.StreamResponse:
        good = json.dumps(chat(self.answer(prompt_text(body)))).encode()
        if fault.kind == "status":
            return _respond(fault.body, fault.status, fault.headers)
        if fault.kind == "body":
            return _respond(fault.body, 200, fault.headers)
        if fault.kind == "message":
            fields = dict(fault.body or {})
            return _respond(chat(fields.pop("content", None), fault.finish, **fields), 200, {})
        if fault.kind == "garbage":
            return _respond(b"\x00\xff<<<not json", 200, {})
        if fault.kind == "truncate":
            return _respond(good[: len(good) // 2], 200, {})
        if fault.kind == "huge":
            return _respond(b" " * fault.size, 200, {})
        if fault.kind == "hang":
            await asyncio.sleep(fault.seconds)
            return _respond(good, 200, {})
        if fault.kind == "slow":
            response = web.StreamResponse()
            await response.prepare(request)
            for at in range(0, len(good), 50):
                await response.write(good[at : at + 50])
                await asyncio.sleep(fault.seconds / (len(good) / 50))
            return response
        transport = request.transport
        assert transport is not None
        if fault.kind == "cut":
            response = web.StreamResponse(headers={"Content-Length": str(len(good))})
            await response.prepare(request)
            await response.write(good[:30])
            transport.close()
            return response
        transport.abort()  # reset
        return web.Response()


def _respond(body: Any, status: int, headers: Mapping[str, str]) -> web.Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return web.Response(body=raw, status=status, headers=dict(headers))


def prompt_text(body: Any) -> str:
    """The texts of a chat request, joined."""
    texts: list[str] = []
    for message in body["messages"]:
        content = message["content"]
        if isinstance(content, str):
            texts.append(content)
        else:
            texts += [part["text"] for part in content if part["type"] == "text"]
    return "\n".join(texts)
