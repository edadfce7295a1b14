"""One row's attempts: ask, wait, ask again, until there is a reply or a failure that stands."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from msgspec.structs import replace

from hardset.ask.asked import Limits, Tally
from hardset.ask.budget import Purse
from hardset.ask.key import Identity
from hardset.ask.pace import Pace
from hardset.ask.rows import Row, bad_media, failed
from hardset.ask.store import sound
from hardset.images import BadMedia, Library
from hardset.records import Failure, Item, Prompt, Reply, State

BACKOFF = 1.0  # seconds: the longest wait before the second attempt; it doubles each time
LONGEST_BACKOFF = 30.0
GIVE_UP = 20  # rows in a row that fail after all their attempts, with no reply meanwhile


class Model(Identity, Protocol):
    """Who answers. The caller enters and leaves it: `ask` only calls `reply`.

    Two further attributes may be there: `sees_item: bool` (see `key.Identity`), and
    `free: bool`, where a model costs nothing and no budget applies to it.
    """

    @property
    def max_concurrency(self) -> int | None:
        """The most requests it takes at once, where it has a limit of its own."""

    async def __aenter__(self) -> Self:
        """Open connections, load weights, start a server."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        """Give up what was opened."""

    async def reply(self, prompt: Prompt, item: Item, library: Library) -> Reply:
        """Make one attempt. What goes wrong at the endpoint is in the reply's failure."""


class Attempts:
    """Asks a model row by row, at a pace and within a purse.

    Args:
        model: who is asked.
        library: goes with every prompt.
        limits: the attempts, and the time each may take.
        purse: pays for every attempt.
        pace: lets every attempt in.
        rng: spreads the waits between them.
        tally: gets the tokens counted.
        halted: set when nothing more is to be asked.
        halt: is called with the reason when that shows here.
    """

    def __init__(
        self,
        model: Model,
        library: Library,
        limits: Limits,
        purse: Purse,
        pace: Pace,
        rng: random.Random,
        tally: Tally,
        halted: asyncio.Event,
        halt: Callable[[str], None],
    ) -> None:
        self.model, self.library, self.limits = model, library, limits
        self.purse, self.pace, self.rng, self.tally = purse, pace, rng, tally
        self.halted, self.halt = halted, halt
        self.fruitless = 0  # rows given up since the endpoint last showed that it works

    async def answer(self, row: Row) -> Reply | None:
        """Ask until there is a reply or the attempts are used up; None: it was never asked."""
        last: Reply | None = None
        for attempt in range(1, self.limits.retries + 2):
            if last is not None and not await self.rest(attempt):
                return last
            crowd = await self.pace.enter()
            if crowd is None:
                return last
            if (refusal := self.purse.refusal(self.pace.in_flight - 1)) is not None:
                self.pace.give_up()
                self.halt(refusal)
                return last
            reply = await self.attempt(row, crowd)
            last = reply if attempt == 1 else replace(reply, attempts=attempt)
            failure = reply.failure
            if failure is None or not failure.transient:
                self.fruitless = 0
            if failure is None:
                return last
            if failure.hopeless:
                self.halt(failure.reason)
            if failure.hopeless or not failure.transient:
                return last
        last = last and _exhausted(last)
        self.fruitless += 1
        if self.fruitless >= GIVE_UP and last is not None and last.failure is not None:
            said = last.failure.reason
            self.halt(f"{self.fruitless} rows in a row failed, the last because: {said}")
        return last

    async def attempt(self, row: Row, crowd: int) -> Reply:
        """Ask once, inside a slot. Whatever goes wrong is this row's failure."""
        strained, wait = False, None
        try:
            try:
                async with asyncio.timeout(self.limits.timeout) as guard:
                    reply = await self.model.reply(row.prompt, row.item, self.library)
                reply = sound(reply)
            except BadMedia as error:
                reply = failed(bad_media(error), attempts=1)
            except TimeoutError as error:
                late = guard.expired()
                said = f"no reply within {self.limits.timeout:g} s" if late else _said(error)
                reply = failed(_request_failed(said, transient=late), attempts=1)
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                reply = failed(_request_failed(_said(error)), attempts=1)
            except Exception as error:
                reply = failed(_request_failed(_said(error)), attempts=1)
            if (failure := reply.failure) is not None:
                strained, wait = failure.transient, failure.retry_after
        finally:
            self.pace.leave(crowd, strained=strained, wait=wait)
        self.tally.tokens_in += reply.tokens_in
        self.tally.tokens_out += reply.tokens_out
        unpaid = self.purse.pay(reply.tokens_in, reply.tokens_out, replied=reply.failure is None)
        if unpaid is not None:
            self.halt(unpaid)
        return reply

    async def rest(self, attempt: int) -> bool:
        """Wait before a further attempt, exponentially longer, anywhere up to that (full jitter).

        Returns:
            Whether to go on: False if the run was halted.
        """
        longest = min(BACKOFF * 2 ** (attempt - 2), LONGEST_BACKOFF)
        nap = asyncio.ensure_future(asyncio.sleep(self.rng.uniform(0.0, longest)))
        alarm = asyncio.ensure_future(self.halted.wait())
        try:
            await asyncio.wait((nap, alarm), return_when=asyncio.FIRST_COMPLETED)
        finally:
            nap.cancel()
            alarm.cancel()
        return not self.halted.is_set()


def _request_failed(reason: str, *, transient: bool = False) -> Failure:
    return Failure(state=State.REQUEST_FAILED, reason=reason, transient=transient)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _exhausted(reply: Reply) -> Reply:
    """Say in the failure itself how often it was tried."""
    if reply.failure is None or reply.attempts < 2:
        return reply
    reason = f"{reply.failure.reason} ({reply.attempts} attempts)"
    return replace(reply, failure=replace(reply.failure, reason=reason))
