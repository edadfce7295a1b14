"""The durable ask: every prompt gets its reply, and what is stored is not asked again.

    prompts -> feed: images, keys, what the store holds -> workers: ask -> group commits

The prompts are walked once, as a stream; only a bounded number is ever ahead of the replies.
Everything here runs on one event loop, except looking at images, which has a thread a core, and
the store, which has one thread.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from hardset.ask.asked import INTERRUPTED, NO_KEY, Asked, Limits, Tally
from hardset.ask.attempt import Attempts, Model
from hardset.ask.budget import Purse
from hardset.ask.group import Group
from hardset.ask.pace import START, Pace
from hardset.ask.rows import NO_PICTURE, Preparer, Row, failed, first_image
from hardset.ask.store import Entry, Store, entry
from hardset.images import Library
from hardset.records import Item, Prompt, Reply

CHUNK = 256  # prompts looked up in the store at once
FIRST_CHUNK = 16  # the first is small, so that the first request is soon; each next one doubles
LOW = 128  # rows left to ask below which the next chunk is made ready
BREATH = 0.01  # seconds a model that never waits may keep the event loop from everything else
TICK = 0.1  # seconds between two reports of progress


async def ask(
    prompts: Iterable[tuple[Prompt, Item]],
    model: Model,
    store: Store,
    library: Library,
    limits: Limits | None = None,
    progress: Callable[[Tally], None] | None = None,
    stop: asyncio.Event | None = None,
    *,
    total: int | None = None,
    rng: random.Random | None = None,
) -> Asked:
    """Make the store hold a reply to every prompt, as far as the limits allow.

    Args:
        prompts: each with its item, as a stream; walked once.
        model: who is asked; already entered.
        store: what is in it is not asked again.
        library: looks at the images.
        limits: how hard to ask.
        progress: is called with the tally about ten times a second, and once at the end.
        stop: when set, nothing more is asked, and what is in flight has `limits.grace` seconds.
        total: how many prompts there are, for the tally.
        rng: spreads the waits before further attempts.

    Returns:
        The counts and every prompt's key. Rows that failed are in it as rows.

    Raises:
        StoreError: the store cannot be read or written.
        Exception: whatever walking `prompts` raises; what was received is committed first.
    """
    limits = limits or Limits()
    most = min(limits.concurrency, model.max_concurrency or limits.concurrency)
    purse = Purse(None if getattr(model, "free", False) else limits.budget)
    # With a budget the first request goes alone: its cost says how many more may go out at once.
    start = START if purse.budget is None else 1
    pace = Pace(most, start=start, longest=limits.pause)
    run = _Run(model, store, library, limits, purse, pace, rng or random.Random())
    run.tally.total = total
    return await run.go(prompts, progress, stop)


class _Run:
    """One call of `ask`."""

    def __init__(
        self,
        model: Model,
        store: Store,
        library: Library,
        limits: Limits,
        purse: Purse,
        pace: Pace,
        rng: random.Random,
    ) -> None:
        self.model, self.store, self.limits = model, store, limits
        self.purse, self.pace = purse, pace
        self.tally = Asked(began=time.time())
        self.ready: deque[Row] = deque()
        self.open: dict[bytes, int] = {}  # keys not settled yet, and how many prompts share each
        self.lost: set[bytes] = set()  # keys that failed in this run: not tried again in it
        self.fed = False  # no more rows will come
        self.walked = False  # because all prompts are walked
        self.halted = asyncio.Event()
        self.hungry = asyncio.Event()
        self.parked: list[asyncio.Future[None]] = []  # workers without a row
        self.workers: set[asyncio.Task[None]] = set()
        self.others: list[asyncio.Task[None]] = []
        self.error: BaseException | None = None
        self.over = asyncio.Event()
        self.breath = time.monotonic()
        cores = os.cpu_count() or 1
        self.looking = ThreadPoolExecutor(cores, thread_name_prefix="hardset-images")
        self.storing = ThreadPoolExecutor(1, thread_name_prefix="hardset-store")
        self.group = Group(store, self.storing, self.settle)
        self.preparer = Preparer(model, library, self.looking)
        self.attempts = Attempts(
            model, library, limits, purse, pace, rng, self.tally, self.halted, self.halt
        )

    async def go(
        self,
        prompts: Iterable[tuple[Prompt, Item]],
        progress: Callable[[Tally], None] | None,
        stop: asyncio.Event | None,
    ) -> Asked:
        """Run to the end, and commit whatever way it ends."""
        begin = time.monotonic()
        writing = self.start(self.group.run())
        feeding = self.start(self.feed(prompts, stop))
        if stop is not None:
            self.others.append(self.start(self.watch(stop)))
        if progress is not None:
            self.others.append(self.start(self.report(progress, begin)))
        self.others.append(feeding)
        try:
            self.hire()
            await self.over.wait()
        finally:
            await _see_through(self.end(writing))
        if self.error is not None:
            raise self.error
        if self.tally.stopped == INTERRUPTED and self.walked and not self.tally.unasked:
            self.tally.stopped = None  # too late to matter
        self.measure(begin)
        if progress is not None:
            progress(self.tally)
        return self.tally

    async def end(self, writing: asyncio.Task[None]) -> None:
        """Stop everything, and commit what was received."""
        self.pace.close()
        for task in (*self.others, *self.workers):
            task.cancel()
        await asyncio.gather(*self.others, *self.workers, return_exceptions=True)
        self.group.close()
        await asyncio.gather(writing, return_exceptions=True)
        self.looking.shutdown(wait=False, cancel_futures=True)
        self.storing.submit(self.store.leave)
        self.storing.shutdown()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task whose error ends the run."""
        task = asyncio.create_task(work)
        task.add_done_callback(self.ended)
        return task

    def ended(self, task: asyncio.Task[None]) -> None:
        """See whether anything is left to do when a task ends."""
        self.workers.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.error = self.error or error
            self.over.set()
        if self.fed and not self.workers:
            self.over.set()

    def halt(self, reason: str) -> None:
        """Ask nothing more. What is in flight goes on; the first reason stands."""
        if self.tally.stopped is not None:
            return
        self.tally.stopped = reason
        self.ready.clear()
        self.halted.set()
        self.pace.close()
        self.hungry.set()
        self.wake()

    # Feeding: prompts to rows that are to be asked

    async def feed(
        self, prompts: Iterable[tuple[Prompt, Item]], stop: asyncio.Event | None
    ) -> None:
        """Walk the prompts, and keep a few rows ready for the workers."""
        walk = iter(prompts)
        size = FIRST_CHUNK
        while not (stop is not None and stop.is_set()):
            chunk = list(islice(walk, size))
            if not chunk:
                self.walked = True
                break
            size = min(2 * size, CHUNK)
            if self.tally.stopped is None:
                rows: list[Row | None] = list(await self.preparer.rows(chunk))
            else:  # what is stored still counts; nothing new is looked at
                rows = [self.preparer.quick_row(*pair) for pair in chunk]
            if stop is not None and stop.is_set():
                break
            self.tally.keys += b"".join([row.key if row else NO_KEY for row in rows])
            self.see(rows)
            self.tally.walked += len(rows)
            await self.offer([row for row in rows if row is not None])
            while len(self.ready) > LOW:
                self.hungry.clear()
                await self.hungry.wait()
        self.fed = True
        self.wake()
        if not self.workers:
            self.over.set()

    def see(self, rows: Sequence[Row | None]) -> None:
        """Note the first picture of the next rows; nothing is kept until one has a picture."""
        pictures = self.tally.pictures
        found = b"".join([first_image(row) for row in rows])
        if pictures or any(found):
            pictures += bytes(self.tally.walked * len(NO_PICTURE) - len(pictures)) + found

    async def offer(self, rows: Sequence[Row]) -> None:
        """Put the rows that have no reply yet where the workers find them."""
        new: dict[bytes, Row] = {}
        for row in rows:
            # Claimed before the store is asked: a reply committed meanwhile cannot be missed.
            if row.key in self.open:
                self.open[row.key] += 1
            elif row.key in self.lost:
                self.tally.failed += 1
            else:
                self.open[row.key] = 1
                new[row.key] = row
        loop = asyncio.get_running_loop()
        for key in await loop.run_in_executor(self.storing, self.store.held, list(new)):
            self.tally.stored += self.open.pop(key)
            del new[key]
        for row in new.values():
            if row.failure is not None:
                self.record(row, failed(row.failure))
            elif self.tally.stopped is None:
                self.ready.append(row)
        self.wake()
        if self.group.crowded:
            await self.group.room()

    # Working: rows to replies

    def hire(self) -> None:
        """Have as many workers as requests may be out."""
        while len(self.workers) < self.pace.level and not self.halted.is_set():
            self.workers.add(self.start(self.work()))

    async def work(self) -> None:
        """Ask row after row until there is none."""
        while (row := await self.next_row()) is not None:
            reply = await self.attempts.answer(row)
            if reply is not None:
                self.record(row, reply)
            if self.ready and len(self.workers) < self.pace.level:
                self.hire()
            if self.group.crowded:
                await self.group.room()
            if time.monotonic() - self.breath > BREATH:
                await asyncio.sleep(0)
                self.breath = time.monotonic()

    async def next_row(self) -> Row | None:
        """Wait for a row; None when there will be no more."""
        while not self.ready:
            if self.fed or self.halted.is_set():
                return None
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.parked.append(turn)
            await turn
        row = self.ready.popleft()
        if len(self.ready) <= LOW:
            self.hungry.set()
        return row

    def wake(self) -> None:
        """Let the workers without a row look again."""
        parked, self.parked = self.parked, []
        for turn in parked:
            if not turn.done():
                turn.set_result(None)

    # Recording: replies to committed rows

    def record(self, row: Row, reply: Reply) -> None:
        """Hand a reply over to be committed."""
        self.group.add(entry(row.key, self.model.name, reply))

    def settle(self, entries: Sequence[Entry]) -> None:
        """Count what was committed, and the prompts that share it."""
        tally = self.tally
        for row in entries:
            sharing = self.open.pop(row.key, 1)
            if row.failed:
                tally.failed += sharing
                self.lost.add(row.key)
            else:
                tally.asked += 1
                tally.stored += sharing - 1

    # Beside: stopping and reporting

    async def watch(self, stop: asyncio.Event) -> None:
        """When told to stop, ask nothing more, and let what is in flight come in for a while."""
        await stop.wait()
        self.halt(INTERRUPTED)
        self.tally.stopped = INTERRUPTED  # whatever it was stopped for before
        await asyncio.sleep(self.limits.grace)
        self.over.set()

    async def report(self, progress: Callable[[Tally], None], begin: float) -> None:
        """Tell how far the run is, again and again."""
        recent: deque[tuple[float, int]] = deque(maxlen=round(5 / TICK))
        while True:
            self.measure(begin)
            recent.append((self.tally.seconds, self.tally.asked + self.tally.failed))
            if (span := recent[-1][0] - recent[0][0]) > 0:
                self.tally.rate = (recent[-1][1] - recent[0][1]) / span
            progress(self.tally)
            await asyncio.sleep(TICK)

    def measure(self, begin: float) -> None:
        """Bring the tally up to date with the pace and the purse."""
        tally, pace = self.tally, self.pace
        tally.seconds = time.monotonic() - begin
        tally.spent = self.purse.spent
        tally.level, tally.in_flight, tally.waits = pace.level, pace.in_flight, pace.waits


async def _see_through(work: Coroutine[Any, Any, None]) -> None:
    """Do work to its end, though whoever waits for it is cancelled meanwhile: once, or again."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
