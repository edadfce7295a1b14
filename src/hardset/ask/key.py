"""The key of a reply: what was asked, of whom, and which repeat, in 32 bytes.

Two prompts have one key exactly when the same would be sent. A key is the SHA-256 of one
canonical JSON text, so it is the same on every machine and in every version; a default that
changes in `records` changes no key, because every setting is written out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any, Protocol

import msgspec

from hardset.records import Image, Item, Message, Prompt

KEY_BYTES = 32

_encode = msgspec.json.Encoder(order="deterministic").encode


class Identity(Protocol):
    """The part of a model that decides what it would reply.

    A model may also have `sees_item: bool`. Where it is true (the baselines, which know the
    truth), the whole item is part of the key, so that mended truth is asked again.
    """

    @property
    def name(self) -> str:
        """The model's spec, `provider/model`."""

    @property
    def options(self) -> Mapping[str, str]:
        """What else decides the reply: base address, provider options. Never a secret."""

    @property
    def takes(self) -> Collection[str]:
        """The media types the model accepts as they are."""


def prompt_key(model: Identity, prompt: Prompt, item: Item | None = None) -> bytes:
    """Hash what decides the reply.

    Args:
        model: who is asked.
        prompt: what is asked. Its images should be filled in (`images.Library`): an image
            without a hash is keyed by where it is.
        item: the prompt's item; only a model that `sees_item` has it in the key.

    Returns:
        32 bytes.

    Raises:
        UnicodeEncodeError: a text holds half a surrogate pair, which no endpoint can be sent.
        TypeError: a tool holds something JSON does not have.
    """
    sampling = prompt.sampling
    asked: tuple[Any, ...] = (
        model.name,
        model.options,
        [_message(message, model.takes) for message in prompt.messages],
        prompt.tools,
        _number(sampling.temperature),
        _number(sampling.top_p),
        sampling.max_tokens,
        sampling.seed,
        prompt.repeat,
        item if getattr(model, "sees_item", False) else None,
    )
    if sampling.logprobs:  # later settings: where they are not used, keys stay what they were
        asked += ("logprobs",)
    if prompt.schema:
        asked += ("schema", prompt.schema)
    return hashlib.sha256(_encode(asked)).digest()


def _message(message: Message, takes: Collection[str]) -> tuple[str, list[Any]]:
    """Write a message with each image as an object, so that no text can pass for one."""
    return message.role, [
        _image(part, takes) if isinstance(part, Image) else part for part in message.content
    ]


def _image(image: Image, takes: Collection[str]) -> dict[str, Any]:
    if not image.sha256:
        return {"where": image.where}
    if image.type in takes and not image.notes:
        return {"sha256": image.sha256}  # sent as it is
    return {"sha256": image.sha256, "takes": sorted(takes)}  # what it is made into depends on these


def _number(value: float | None) -> float | None:
    """Make 0, 0.0 and -0.0 one number, as they are equal to whoever samples."""
    return None if value is None else float(value) + 0.0
