"""How many requests may be out at once: found from what comes back, not guessed.

The level starts low and doubles as long as doubling brings more replies a second. A server that
only queues what it is sent (a local one, with few slots) stops the climb there, and is tried
again later. Signs of overload halve the level, once for all requests that were out together;
after that it climbs by one. A wait that the endpoint asks for pauses every request.
"""

from __future__ import annotations

import asyncio
from collections import deque

START = 8
ROUND = 2  # replies a slot in one measurement
GAIN = 1.1  # replies a second that doubling must at least bring
HOLD = 4  # measurements to stay on a plateau before trying again


class Pace:
    """A gate with a level. It is made and used on one event loop, whose clock it goes by.

    Args:
        most: the level's upper limit, at least 1.
        start: the first level.
        longest: the longest pause, in seconds, whatever the endpoint asks for.
    """

    def __init__(self, most: int, *, start: int = START, longest: float = 120.0) -> None:
        self.most = most
        self.level = min(start, most)
        self.in_flight = 0
        self._loop = asyncio.get_running_loop()
        self._longest = longest
        self._waiting: deque[asyncio.Future[bool]] = deque()
        self._closed = False
        self._paused_until = 0.0
        self._pausing: asyncio.TimerHandle | None = None
        self._limited = False  # the endpoint has shown a limit: climb by one from now on
        self._slower: tuple[int, float] | None = None  # the level before, its replies a second
        self._hold = 0
        self._crowd = 0  # counts the cuts: a request sent before the last one says nothing new
        self._full = False  # the level was reached in this round
        self._begin_round()

    async def enter(self) -> int | None:
        """Wait for a slot.

        Returns:
            A number to give back to `leave`; None if the gate was closed instead.
        """
        if self._closed:
            return None
        if self._pausing is None and self.in_flight < self.level and not self._waiting:
            self.in_flight += 1
            return self._crowd
        turn: asyncio.Future[bool] = self._loop.create_future()
        self._waiting.append(turn)
        try:
            return self._crowd if await turn else None
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self.in_flight -= 1  # the slot came together with the cancellation
                self._admit()
            raise

    def leave(self, crowd: int, *, strained: bool = False, wait: float | None = None) -> None:
        """Give a slot back, with what the request says about the endpoint.

        Args:
            crowd: what `enter` returned.
            strained: the request failed in a way that may come from overload.
            wait: the seconds the endpoint asked to be left alone for; always a sign of overload.
        """
        self._full = self._full or self.in_flight >= self.level
        self.in_flight -= 1
        if wait is not None:
            self._pause(wait)
        if crowd == self._crowd:
            self._learn(strained, asked_to_wait=wait is not None)
        if self._waiting:
            self._admit()

    def give_up(self) -> None:
        """Give a slot back that was not used."""
        self.in_flight -= 1
        self._admit()

    def close(self) -> None:
        """Let nobody in any more: everyone who waits is told so."""
        self._closed = True
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(False)
        self._waiting.clear()
        if self._pausing is not None:
            self._pausing.cancel()

    @property
    def waits(self) -> float:
        """For how many more seconds every request is paused."""
        return max(0.0, self._paused_until - self._loop.time()) if self._pausing else 0.0

    def _learn(self, strained: bool, asked_to_wait: bool) -> None:
        self._count += 1
        self._strained += strained or asked_to_wait
        # A few failures are any endpoint's; a quarter of all that is out is a sign.
        if asked_to_wait or self._strained > 2 + self.level // 4:
            self.level = max(1, self.level // 2)
            self._crowd += 1
            self._limited = True
            self._begin_round()
        elif self._count >= ROUND * self.level:
            self._climb()
            self._begin_round()

    def _climb(self) -> None:
        """Choose the next level at the end of a round."""
        if not self._full:
            return  # the level was no limit: the round says nothing about it
        rate = self._count / max(self._loop.time() - self._began, 1e-9)
        if self._hold:
            self._hold -= 1
            self._slower = None
        elif self._limited:
            self.level = min(self.level + 1, self.most)
        elif self._slower is not None and rate < GAIN * self._slower[1]:
            self.level = self._slower[0]
            self._slower = None
            self._hold = HOLD
        elif self.level < self.most:
            self._slower = (self.level, rate)
            self.level = min(2 * self.level, self.most)

    def _begin_round(self) -> None:
        self._began = self._loop.time()
        self._count = 0
        self._strained = 0
        self._full = False

    def _pause(self, seconds: float) -> None:
        until = self._loop.time() + min(max(seconds, 0.0), self._longest)
        if self._closed or until <= self._paused_until:
            return
        self._paused_until = until
        if self._pausing is not None:
            self._pausing.cancel()
        self._pausing = self._loop.call_at(until, self._resume)

    def _resume(self) -> None:
        self._pausing = None
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._pausing is None and self.in_flight < self.level:
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(True)
