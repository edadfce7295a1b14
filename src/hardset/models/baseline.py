"""The corners of every metric: models that need no network, and what each of them scores.

They say what a model would say, so their replies go through the same readers. Each reply
depends on the item and the repeat alone.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Self

from hardset.errors import UsageError
from hardset.images import Library
from hardset.records import Item, Prompt, Reply

REFUSAL = "I cannot tell from the image."

_OPEN_GUESSES = ("a person", "red", "a dog", "a table", "a car", "blue", "a sign", "2")


def always_refuse(item: Item, chance: Random) -> str:
    """Abstain, whatever is asked."""
    return REFUSAL


def never_refuse(item: Item, chance: Random) -> str:
    """Give an answer with confidence, right or not: a guess, and a reason for it."""
    return f"The answer is {random(item, chance)}."


def random(item: Item, chance: Random) -> str:
    """Guess: evenly among the options, yes and no, or the numbers 0 to 9."""
    if item.choices:
        return _letter(chance.randrange(len(item.choices)))
    if item.form == "yes_no":
        return chance.choice(("yes", "no"))
    if item.form == "number":
        return str(chance.randrange(10))
    if item.form == "braces":
        return f"{{{chance.randrange(10)}}}"
    return chance.choice(_OPEN_GUESSES)


def majority(item: Item, chance: Random) -> str:
    """Give the answer that is commonest in such sets: the first option, yes, or 2."""
    if item.choices:
        return "A"
    return {"yes_no": "yes", "number": "2", "braces": "{2}"}.get(item.form, "a person")


def oracle(item: Item, chance: Random) -> str:
    """Give the true answer, and abstain where there is none."""
    if not item.answerable:
        return REFUSAL
    return f"{{{item.answer}}}" if item.form == "braces" else item.answer


KINDS: dict[str, Callable[[Item, Random], str]] = {
    "always-refuse": always_refuse,
    "never-refuse": never_refuse,
    "random": random,
    "majority": majority,
    "oracle": oracle,
}


class Baseline:
    """A rule that answers from the item's record, not from its image."""

    takes = frozenset({"image/jpeg", "image/png", "image/webp", "image/gif"})
    sees_item = True  # its replies depend on the item itself, so the item is part of the key
    free = True  # it costs nothing, so no budget applies
    max_concurrency: int | None = None

    def __init__(self, kind: str) -> None:
        self.name = f"baseline/{kind}"
        self.options: Mapping[str, str] = {}
        self._kind = kind
        self._rule = KINDS[kind]

    def __repr__(self) -> str:
        return f"Baseline({self._kind!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: Any) -> None:
        return None

    async def reply(self, prompt: Prompt, item: Item, library: Library) -> Reply:
        """Answer by the rule; chance is seeded by the item's id and the repeat."""
        seed = hashlib.sha256(f"{self._kind}\0{item.id}\0{prompt.repeat}".encode()).digest()
        return Reply(text=self._rule(item, Random(seed)))


def make(kind: str) -> Baseline:
    """Make the baseline called `kind`.

    Raises:
        UsageError: there is none of that name.
    """
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(KINDS)}"
        raise UsageError(f"no baseline is called {kind!r}; {hint}")
    return Baseline(kind)


def _letter(index: int) -> str:
    return chr(ord("A") + index)
