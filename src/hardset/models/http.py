"""OpenAI-compatible chat over HTTP: one attempt, and every fault told apart.

`ChatModel` never retries and never raises for trouble at the endpoint: the engine decides what
is asked again. The key lives in the session's headers and nowhere else.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import time
import urllib.request
import zlib
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import msgspec
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.payload import Payload as AiohttpPayload
from yarl import URL

from hardset import __version__
from hardset.errors import UsageError
from hardset.images import BadMedia, Library
from hardset.models.faults import Endpoint, of_status, shorten
from hardset.models.providers import Provider
from hardset.models.wire import Body, Encoded, read_chat
from hardset.records import Failure, Image, Item, Prompt, Reply, State

MOST_BYTES = 16 * 2**20  # of a reply: nothing a model says is longer
PLAIN_FIELDS = frozenset({"api-version", "api_version", "deployment", "region", "version"})
"""What may stand behind the ? of a base address: every other field might be a key."""
_TROUBLE = (aiohttp.ClientError, HttpProcessingError, OSError, zlib.error, ValueError)


class ChatModel:
    """A model behind an OpenAI-compatible chat endpoint.

    Args:
        name: what the model is called in results (`openai/gpt-4o`).
        model: what the endpoint calls it.
        provider: its row in the table of providers.
        base_url: another address; then the provider's own key is not sent there.
        key_env: the environment variable that holds the key.
        extra: further fields of the request body, as the provider documents them.
        timeout: seconds without a byte from the server before an attempt is given up.

    Raises:
        UsageError: the address or the key cannot be used; where the key is missing, on entry.
    """

    max_concurrency: int | None = None

    def __init__(
        self,
        name: str,
        model: str,
        provider: Provider,
        *,
        base_url: str | None = None,
        key_env: str | None = None,
        extra: Mapping[str, Any] | None = None,
        timeout: float = 600.0,
    ) -> None:
        self.name = name
        self.takes = provider.takes
        self.gives_logprobs = provider.logprobs
        self.gives_json = provider.json_schema  # whether it can be held to a schema
        self.url = chat_address(base_url or provider.base_url)
        options = {"base_url": base_url} if base_url else {}
        if extra:
            options["extra"] = msgspec.json.encode(dict(extra), order="sorted").decode()
        self.options: Mapping[str, str] = options
        self._timeout = timeout
        self._provider = provider
        self._key_env = key_env or ("HARDSET_API_KEY" if base_url else provider.key_env)
        self._key_needed = key_env is not None or (provider.key_needed and not base_url)
        self._model = model
        self._endpoint = Endpoint(provider.title, str(self.url), model, self._key_env)
        self._body = Body(model, provider, extra or {})
        self._session: aiohttp.ClientSession | None = None

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r}, {str(self.url)!r})"

    def check(self) -> str:
        """Return the key, before anything is asked.

        Raises:
            UsageError: there is none and one is needed, or it cannot stand in a header.
        """
        key = read_key(self._key_env)
        if self._key_needed and not key:
            raise UsageError(
                f"{self.name} needs a key: set the environment variable {self._key_env}"
            )
        return key

    async def __aenter__(self) -> Self:
        key = self.check()
        self._endpoint = Endpoint(
            self._provider.title, str(self.url), self._model, self._key_env, key
        )
        headers = {"Content-Type": "application/json", "User-Agent": f"hardset/{__version__}"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=self._timeout),
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=proxy_for(self.url),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def reply(self, prompt: Prompt, item: Item, library: Library) -> Reply:
        """Ask once.

        Returns:
            The reply, or a reply whose `failure` says what went wrong and whether asking again
            may help. It raises only for faults of the program.
        """
        notes: list[str] = list(self._body.left_out(prompt.sampling))
        try:
            parts = self._body(prompt, await self._images(prompt, library, notes))
        except BadMedia as bad:
            return Reply(failure=Failure(state=State.BAD_MEDIA, reason=bad.reason))
        begun = time.perf_counter()
        reply = await self._post(parts, prompt.sampling.logprobs)
        return msgspec.structs.replace(
            reply, seconds=time.perf_counter() - begun, sent=tuple(notes)
        )

    async def listed(self) -> tuple[str, ...]:
        """Return the names of the models the endpoint lists.

        Raises:
            UsageError: it does not answer, or not with a list; the message says what it did.
        """
        url = self.url.parent.parent / "models"
        try:
            async with self._open().get(url, allow_redirects=False) as response:
                raw = await _bounded(response)
                if response.status != 200:
                    failure = of_status(self._endpoint, response.status, response.headers, raw)
                    raise UsageError(failure.reason)
                return tuple(str(row["id"]) for row in msgspec.json.decode(raw)["data"])
        except (*_TROUBLE, KeyError, TypeError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError(self._trouble(error).reason) from None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("a ChatModel is used inside `async with`")
        return self._session

    async def _images(self, prompt: Prompt, library: Library, notes: list[str]) -> _Encoder:
        """Get what must be converted ready in a thread; note what was changed."""
        for message in prompt.messages:
            for piece in message.content:
                if isinstance(piece, Image) and library.converts(piece):
                    await asyncio.to_thread(library.payload, piece)
        return _Encoder(library, notes)

    async def _post(self, parts: list[bytes], logprobs: bool) -> Reply:
        session = self._open()
        body = b"".join(parts) if len(parts) < 12 and _size(parts) < 2**16 else _Parts(parts)
        try:
            async with session.post(self.url, data=body, allow_redirects=False) as response:
                raw = await _bounded(response)
                if response.status == 200:
                    return read_chat(raw, self._endpoint, logprobs)
                return Reply(
                    failure=of_status(self._endpoint, response.status, response.headers, raw)
                )
        except _TROUBLE as error:
            return Reply(failure=self._trouble(error))

    def _trouble(self, error: Exception) -> Failure:
        """Say what an exception on the way means: nearly always, worth asking again."""
        who, fail = self._endpoint.title, self._endpoint.failed
        at = f"{self.url.host}:{self.url.port}"
        if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
            if "WRONG_VERSION_NUMBER" in str(error):
                return fail(f"{at} speaks no TLS: begin its address with http://", hopeless=True)
            return fail(f"no trusted TLS connection to {at}: {error}", hopeless=True)
        if isinstance(error, TimeoutError):
            return fail(f"{who} was silent for {self._timeout:g} s", transient=True)
        if isinstance(error, _TooLong):
            return fail(f"{who} sent more than {MOST_BYTES // 2**20} MiB", transient=True)
        if isinstance(error, aiohttp.ClientConnectorError):
            return fail(f"no connection to {at}: {error.os_error}", transient=True)
        if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
            return fail(f"{who} closed the connection without an answer", transient=True)
        if isinstance(error, aiohttp.ClientPayloadError):
            return fail(f"{who}'s answer broke off before its end", transient=True)
        if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):
            said = shorten(error.message, 120)
            return fail(f"{at} does not answer in HTTP; is that its port? ({said})", transient=True)
        said = shorten(str(error)) or type(error).__name__
        return fail(f"{who}'s answer broke off ({type(error).__name__}: {said})", transient=True)


class _Encoder:
    """Gives `Body` an image's type and base64, and notes what was changed in it."""

    def __init__(self, library: Library, notes: list[str]) -> None:
        self._library, self._notes = library, notes

    def __call__(self, image: Image) -> Encoded:
        payload = self._library.payload(image)
        self._notes += payload.notes
        return payload.type, payload.base64


class _Parts(AiohttpPayload):
    """A body in parts, written one after the other: base64 kept for repeats is not copied."""

    _autoclose = True

    def __init__(self, parts: list[bytes]) -> None:
        super().__init__(parts, content_type="application/json")
        self._size = _size(parts)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return b"".join(self._value).decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        small: list[bytes] = []
        for part in self._value:
            if len(part) < 2**14:
                small.append(part)
                continue
            if small:
                await writer.write(b"".join(small))
                small = []
            await writer.write(part)
        await writer.write(b"".join(small))


def _size(parts: list[bytes]) -> int:
    return sum(map(len, parts))


class _TooLong(aiohttp.ClientError):
    pass


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    """Read a body, of which no more than `MOST_BYTES` are ever held."""
    chunks: list[bytes] = []
    size = 0
    while chunk := await response.content.readany():
        chunks.append(chunk)
        size += len(chunk)
        if size > MOST_BYTES:
            response.close()
            raise _TooLong
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def chat_address(base_url: str) -> URL:
    """Complete a base address to that of chat completions.

    Raises:
        UsageError: it is no http(s) address, or holds a secret: addresses are written down.
    """
    wrong = f"the base address {_shown(base_url)!r} is not one"
    try:
        split = urlsplit(base_url)
    except ValueError as error:
        raise UsageError(f"{wrong}: {error}") from None
    host = split.hostname or ""
    if split.scheme not in ("http", "https") or not host or not host.strip().isprintable():
        raise UsageError(f"{wrong}: write it like http://127.0.0.1:8000/v1")
    if any(c.isspace() for c in base_url.strip()) or max(map(len, host.split("."))) > 63:
        raise UsageError(f"{wrong}: no host is called {host[:80]!r}")
    unknown = {name for name, _ in parse_qsl(split.query, keep_blank_values=True)} - PLAIN_FIELDS
    if "@" in split.netloc or unknown:
        part = "before the @" if "@" in split.netloc else "behind the ?"
        raise UsageError(
            f"the base address for {host} may hold a secret ({part}), and "
            "addresses are written down: put the key into an environment variable and name it "
            "with --key-env"
        )
    path = split.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path = (path or "/v1") + "/chat/completions"
    try:
        return URL(split._replace(path=path, fragment="").geturl())
    except ValueError as error:
        raise UsageError(f"{wrong}: {error}") from None


def _shown(address: str) -> str:
    """Leave out of an address what may be a secret."""
    return re.sub(r"^([a-z]+://)?[^/?#]*@", r"\1…@", address, flags=re.I).partition("?")[0][:200]


def read_key(variable: str) -> str:
    """Read a key from the environment; empty if it is not set.

    Raises:
        UsageError: it cannot stand in a header; the message does not show it.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"the key in {variable} has characters that no key has: set it anew")
    return key


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def proxy_for(url: URL) -> str | None:
    """Return the proxy the environment names for an address; none for this machine."""
    host = url.host or ""
    if is_loopback(host) or urllib.request.proxy_bypass(host):
        return None
    return urllib.request.getproxies().get(url.scheme)
