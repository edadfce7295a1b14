"""How far a walk is, as `reports.progress` shows it: examples or trials done, under a title."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Count:
    """Examples done of one step, or trials of a learning."""

    total: int
    done: int = 0
    before: int = 0
    """Of `done`: done before this call."""
    stored: int = 0
    """Of `before`: to be named as found in the store."""
    failed: int = 0
    level: int = 0
    """Workers or trials at once, where there are several."""
    waits: float = 0.0
    began: float = field(default_factory=time.monotonic)

    @property
    def rate(self) -> float:
        """Examples a second, since this step began."""
        return (self.done - self.before) / max(1e-9, time.monotonic() - self.began)


Show = Callable[[str, Count], None]
"""Shows a count under a title."""


def told(show: Show | None, title: str, level: int = 0) -> Callable[[int, int], None]:
    """Return what a step calls with examples done and in all; its first call may be late."""
    count: Count | None = None

    def call(done: int, total: int) -> None:
        nonlocal count
        if show is None:
            return
        if count is None:
            count = Count(total, done, done, level=level)
        count.done, count.total = done, total
        show(title, count)

    return call
