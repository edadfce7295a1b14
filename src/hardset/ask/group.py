"""Group commits: replies are gathered and committed together, in a thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from hardset.ask.store import Entry, Store

FULL = 256  # replies that are committed at once, without waiting for more
MOST = 1024  # replies not committed yet, beyond which nothing more is asked
SECONDS = 0.1  # a reply waits no longer than this for others to be committed with


class Group:
    """Gathers entries and commits them; an entry counts only when `settle` is called with it.

    Args:
        store: where they go.
        executor: runs the commits, one at a time.
        settle: is called on the event loop with what was just committed.
    """

    def __init__(
        self, store: Store, executor: Executor, settle: Callable[[Sequence[Entry]], None]
    ) -> None:
        self._store, self._executor, self._settle = store, executor, settle
        self._waiting: list[Entry] = []
        self._committing = 0
        self._some = asyncio.Event()
        self._hurry = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._closing = False

    def add(self, entry: Entry) -> None:
        """Take an entry for the next commit."""
        self._waiting.append(entry)
        size = len(self._waiting)
        if size == 1:
            self._some.set()
        if size >= FULL:
            self._hurry.set()
            if size + self._committing >= MOST:
                self._room.clear()

    @property
    def crowded(self) -> bool:
        """Whether to `await room()` before asking for more."""
        return not self._room.is_set()

    async def room(self) -> None:
        """Wait until few enough entries are uncommitted."""
        await self._room.wait()

    def close(self) -> None:
        """Commit what there is without waiting for more; `run` then ends."""
        self._closing = True
        self._some.set()
        self._hurry.set()

    async def run(self) -> None:
        """Commit groups until closed and empty.

        Raises:
            StoreError: a commit failed. What it held is not committed.
        """
        loop = asyncio.get_running_loop()
        while True:
            await self._some.wait()
            if not self._waiting:
                return
            if not self._hurry.is_set():
                timer = loop.call_later(SECONDS, self._hurry.set)
                await self._hurry.wait()
                timer.cancel()
            batch, self._waiting = self._waiting, []
            self._committing = len(batch)
            if not self._closing:
                self._some.clear()
                self._hurry.clear()
            await loop.run_in_executor(self._executor, self._store.commit, batch)
            self._committing = 0
            self._settle(batch)
            if len(self._waiting) < MOST:
                self._room.set()
