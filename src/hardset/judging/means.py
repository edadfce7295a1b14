"""Who judges, and what all judges of a panel share: the store, the limits, the stop, the count.

Judges are asked at once. Those at one address of this machine or a private network take turns,
since a server that must load each model anew is slowest when they come together; so do those that
run in this process, and all of them under a budget, of which the next may spend what the one before
has left.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hardset.ask import Asked, Budget, Limits, Model, Store, Tally
from hardset.images import Library

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A model that judges, and how.

    Attributes:
        model: who is asked.
        blind: whether it is sent no picture though it takes some.
        price: dollars for a million tokens, in and out: for the estimate and a budget in dollars.
    """

    model: Model
    blind: bool = False
    price: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """Its model's spec."""
        return self.model.name

    @property
    def sees(self) -> bool:
        """Whether it is sent the pictures of rubrics that show them."""
        return bool(self.model.takes) and not self.blind

    @property
    def line(self) -> str:
        """Whom it takes turns with: those of the same line; "" in this process."""
        url = getattr(self.model, "url", None)
        if url is None:
            return ""
        return str(url) if _near(url.host or "") else f"{url} {self.name}"


@dataclass(kw_only=True)
class Means:
    """What all judges of a panel share; `limits.concurrency` is for each address."""

    store: Store
    library: Callable[[Model], Library]
    limits: Limits = field(default_factory=Limits)
    progress: Callable[[Tally], None] | None = None
    stop: asyncio.Event | None = None
    spent_all: str = ""  # why nothing more may be asked: the budget
    due: int = 0  # verdicts that will be asked for at least, as far as is known

    def __post_init__(self) -> None:
        self.whole = self.limits.budget
        self._ended = Tally(total=0)  # all askings that are over
        self._open: list[Tally] = []

    def limits_of(self, judge: Judge) -> Limits:
        """Give the limits for one judge, with its own prices."""
        budget = self.limits.budget
        if budget is None or budget.dollars is None or judge.price is None:
            return self.limits
        price_in, price_out = judge.price
        own = Budget(dollars=budget.dollars, price_in=price_in, price_out=price_out)
        return replace(self.limits, budget=own)

    def told(self, reason: str) -> str:
        """Say why a vote never came: of a budget, the whole one, and not what was left of it."""
        if self.whole is not None and reason.startswith(_BUDGET):
            return f"{_BUDGET} of all judges together, {self.whole}, was reached"
        return reason

    def spend(self, asked: Asked) -> None:
        """Take what an asking cost off what is left."""
        budget = self.limits.budget
        if budget is None:
            return
        left = budget.less(asked.spent)
        if left is None:
            self.spent_all = self.told(_BUDGET)
        else:
            self.limits = replace(self.limits, budget=left)

    async def each(self, works: Sequence[tuple[Judge, Callable[[], Awaitable[T]]]]) -> list[T]:
        """Have every judge do its work, at once or in turn; see the module.

        Returns:
            What came of it, in the order given.

        Raises:
            Exception: the first that a work raises; what others received is committed first.
        """
        lines: dict[str, list[int]] = {}
        for place, (judge, _) in enumerate(works):
            line = judge.line if self.limits.budget is None else ""
            lines.setdefault(line, []).append(place)
        found: dict[int, T] = {}

        async def in_turn(places: Sequence[int]) -> None:
            for place in places:
                found[place] = await works[place][1]()

        tasks = [asyncio.ensure_future(in_turn(places)) for places in lines.values()]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return [found[place] for place in range(len(works))]

    def tell(self, tally: Tally) -> None:
        """Say how far all askings are together; each asking calls it with its own tally."""
        if not any(tally is one for one in self._open):
            self._open.append(tally)
        if self.progress is not None:
            together = _sum([self._ended, *self._open])
            together.total = max(self.due, together.total or 0)
            self.progress(together)

    def over(self, asked: Asked) -> None:
        """Count an asking that has ended, and take what it cost off what is left."""
        self._open = [one for one in self._open if one is not asked]
        self._ended = _sum([self._ended, asked])
        self._ended.rate, self._ended.level, self._ended.waits = 0.0, 0, 0.0
        self.spend(asked)


def _near(host: str) -> bool:
    """Whether a host is this machine or on a private network: one server, no provider's many."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal", ".lan"))


def _sum(tallies: Sequence[Tally]) -> Tally:
    """Add tallies up: of waits and times the longest counts."""
    whole = Tally(total=sum(one.total or 0 for one in tallies))
    for one in tallies:
        for name in _ADDED:
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        for name in ("seconds", "waits"):
            setattr(whole, name, max(getattr(whole, name), getattr(one, name)))
    return whole


_BUDGET = "not asked: the budget"
_ADDED = (
    "walked", "stored", "asked", "failed", "tokens_in", "tokens_out", "spent",
    "rate", "level", "in_flight",
)  # fmt: skip
