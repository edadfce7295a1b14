"""Prompts made ready: their images looked at, their keys made. Bad rows carry their failure."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import msgspec

from hardset.ask.key import Identity, prompt_key
from hardset.images import BadMedia, Library
from hardset.records import Failure, Image, Item, Prompt, Reply, State

NO_PICTURE = bytes(32)


class Row(NamedTuple):
    """A prompt as it is sent, under its key, or the failure that keeps it from being sent."""

    key: bytes
    prompt: Prompt
    item: Item
    failure: Failure | None = None


class Preparer:
    """Fills in images and makes keys, a chunk of prompts at a time.

    Args:
        model: whose keys they are.
        library: knows the images.
        executor: examines those it does not know yet; its threads bound how many at once.
    """

    def __init__(self, model: Identity, library: Library, executor: Executor) -> None:
        self._model, self._library, self._executor = model, library, executor

    async def rows(self, chunk: Sequence[tuple[Prompt, Item]]) -> list[Row]:
        """Make the rows of a chunk, in its order. An image that many prompts share is one look."""
        looked: dict[str, Image | Failure] = {}
        unknown: dict[str, Image] = {}
        for prompt, _ in chunk:
            for image in images(prompt):
                if image.where not in looked and image.where not in unknown:
                    found = self._known(image)
                    if found is None:
                        unknown[image.where] = image
                    else:
                        looked[image.where] = found
        if unknown:
            loop = asyncio.get_running_loop()
            looks = [
                loop.run_in_executor(self._executor, self._examined, image)
                for image in unknown.values()
            ]
            looked |= zip(unknown, await asyncio.gather(*looks), strict=True)
        return [self._row(prompt, item, looked) for prompt, item in chunk]

    def quick_row(self, prompt: Prompt, item: Item) -> Row | None:
        """Make a row without looking into an image; None if one would have to be looked into."""
        looked: dict[str, Image | Failure] = {}
        for image in images(prompt):
            found = self._known(image)
            if found is None:
                return None
            looked[image.where] = found
        return self._row(prompt, item, looked)

    def _known(self, image: Image) -> Image | Failure | None:
        try:
            return self._library.known(image)
        except Exception as error:
            return bad_media(error)

    def _examined(self, image: Image) -> Image | Failure:
        try:
            return self._library.examine(image)
        except Exception as error:
            return bad_media(error)

    def _row(self, prompt: Prompt, item: Item, looked: dict[str, Image | Failure]) -> Row:
        failure: Failure | None = None
        if looked:
            prompt, failure = _filled(prompt, looked)
        try:
            key = prompt_key(self._model, prompt, item)
        except Exception as error:  # a text that is not Unicode, a tool that is not JSON
            reason = f"the prompt cannot be sent: {type(error).__name__}: {error}"
            failure = failure or Failure(state=State.REQUEST_FAILED, reason=reason)
            odd = repr((self._model.name, prompt)).encode("utf-8", "backslashreplace")
            key = hashlib.sha256(odd).digest()
        return Row(key, prompt, item, failure)


def images(prompt: Prompt) -> list[Image]:
    """List the images of a prompt, in the order they are sent."""
    return [
        part for message in prompt.messages for part in message.content if isinstance(part, Image)
    ]


def first_image(row: Row | None) -> bytes:
    """Give the SHA-256 of a row's first image, or as many zeros."""
    first = next(iter(images(row.prompt)), None) if row is not None else None
    return bytes.fromhex(first.sha256) if first is not None and first.sha256 else NO_PICTURE


def bad_media(error: Exception) -> Failure:
    """Say that an image cannot be sent, in the library's words; a library's fault by its name."""
    known = isinstance(error, BadMedia)
    reason = error.reason if isinstance(error, BadMedia) else f"{type(error).__name__}: {error}"
    return Failure(state=State.BAD_MEDIA, reason=reason if known else f"image: {reason}")


def failed(failure: Failure, attempts: int = 0) -> Reply:
    """Make the reply that stands for a failure."""
    return Reply(attempts=attempts, failure=failure)


def _filled(prompt: Prompt, looked: dict[str, Image | Failure]) -> tuple[Prompt, Failure | None]:
    """Put what was found in place of each image; the first bad one is the prompt's failure."""
    failure: Failure | None = None
    messages = []
    for message in prompt.messages:
        content: list[str | Image] = []
        for part in message.content:
            if isinstance(part, Image):
                found = looked.get(part.where)
                if isinstance(found, Failure):
                    failure = failure or found
                elif found is not None:
                    part = found
            content.append(part)
        messages.append(msgspec.structs.replace(message, content=tuple(content)))
    return msgspec.structs.replace(prompt, messages=tuple(messages)), failure
