"""The key of a prompt to a judge, as `ask` will make it: to see what the store holds beforehand."""

from __future__ import annotations

from msgspec.structs import replace

from hardset.ask import Model, prompt_key
from hardset.images import BadMedia, Library
from hardset.records import Image, Item, Prompt


def key_of(model: Model, prompt: Prompt, item: Item, library: Library) -> bytes:
    """Give the key; a picture that was never looked at makes one that the store does not hold."""
    return prompt_key(model, _known(prompt, library), item)


def _known(prompt: Prompt, library: Library) -> Prompt:
    """Fill in the hash of a picture that was looked at before: it is part of the key."""
    return replace(
        prompt,
        messages=tuple(
            replace(message, content=tuple(_looked_up(part, library) for part in message.content))
            for message in prompt.messages
        ),
    )


def _looked_up(part: str | Image, library: Library) -> str | Image:
    if isinstance(part, str):
        return part
    try:
        return library.known(part) or part
    except BadMedia:  # it will be said of its verdict
        return part
