"""Chance that is the same everywhere: a stream of draws named by whole numbers.

Only `random.Random.random` is used beneath, whose stream for a seed Python promises to keep.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws that depend on the key alone: never on `hash`, on global state or on the platform.

    Args:
        key: non-negative integers below 2**64, such as a seed, an index and a salt.
    """

    __slots__ = ("unit",)

    def __init__(self, *key: int) -> None:
        name = 1
        for part in key:
            if not 0 <= part < 1 << 64:
                raise ValueError(f"{part} cannot name a draw: use a number from 0 to 2**64 - 1")
            name = name << 64 | part
        self.unit = random.Random(name).random  # draws from [0, 1)

    def below(self, n: int) -> int:
        """Draw an integer from 0 to n - 1."""
        return int(self.unit() * n)

    def between(self, low: int, high: int) -> int:
        """Draw an integer from low to high, both included."""
        return low + int(self.unit() * (high - low + 1))

    def chance(self, p: float) -> bool:
        """Be true with probability p."""
        return self.unit() < p

    def pick(self, options: Sequence[T]) -> T:
        """Draw one of the options."""
        return options[int(self.unit() * len(options))]

    def sample(self, options: Sequence[T], k: int) -> list[T]:
        """Draw k different options, in drawn order; fewer where there are fewer."""
        rest = list(options)
        return [rest.pop(int(self.unit() * len(rest))) for _ in range(min(k, len(rest)))]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """Return the options in drawn order."""
        return self.sample(options, len(options))
