"""A cache with a bound, safe to use from several threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """Keeps the entries used last, as long as their weights sum to at most `bound`."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.weight = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Return the value and count it as used, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, weight: int = 1) -> None:
        """Keep a value; those not used for longest make room. One too heavy is not kept."""
        with self._lock:
            self._drop(key)
            if weight > self.bound:
                return
            self._entries[key] = (value, weight)
            self.weight += weight
            while self.weight > self.bound:
                self._drop(next(iter(self._entries)))

    def drop(self, key: K) -> None:
        """Forget a value, if it is kept."""
        with self._lock:
            self._drop(key)

    def _drop(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.weight -= entry[1]
