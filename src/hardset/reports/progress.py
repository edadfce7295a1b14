"""What is shown while a run asks: a bar on a terminal, a line now and then elsewhere.

Everything goes to standard error, so that standard output holds the tables alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Protocol

EVERY = 10.0  # seconds between lines where there is no terminal


class Count(Protocol):
    """How far the asking is; `ask.Tally` is one."""

    @property
    def done(self) -> int:
        """Rows that have their reply or their failure."""

    @property
    def total(self) -> int | None:
        """Rows in all, where known."""

    @property
    def stored(self) -> int:
        """Of `done`: found in the store."""

    @property
    def failed(self) -> int:
        """Of `done`: failed for good."""

    @property
    def rate(self) -> float:
        """Replies a second, lately."""

    @property
    def level(self) -> int:
        """Requests in flight at once."""

    @property
    def waits(self) -> float:
        """Seconds the endpoint still wants to be left alone for."""


class Shown:
    """Shows how far something is under a title; call it with each count."""

    def __init__(self, draw: Callable[[str, Count], None], title: str) -> None:
        self._draw, self._title = draw, title

    def __call__(self, count: Count) -> None:
        """Show a count."""
        self._draw(self._title, count)

    def titled(self, title: str) -> Shown:
        """Give the same place on the screen another title, for what comes next."""
        return Shown(self._draw, title)


@contextmanager
def bar(title: str) -> Iterator[Shown]:
    """Show the progress of one run; yields what to call with each count."""
    with _bar(title) if sys.stderr.isatty() else nullcontext(_lines()) as draw:
        yield Shown(draw, title)


@contextmanager
def _bar(title: str) -> Iterator[Callable[[str, Count], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    ) as shown:
        task = shown.add_task(title, total=None, note="")
        yield lambda title, count: shown.update(
            task,
            description=title,
            completed=count.done,
            total=count.total,
            note=note(count),
        )


def _lines() -> Callable[[str, Count], None]:
    last = time.monotonic()

    def line(title: str, count: Count) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            of = f" of {count.total}" if count.total is not None else ""
            print(f"{title}: {count.done}{of}; {note(count)}", file=sys.stderr, flush=True)

    return line


def note(count: Count) -> str:
    """Say the rate, the time left, and what is worth knowing, in a few words."""
    parts = [f"{count.rate:.3g}/s"]
    if count.total is not None and count.rate > 0:
        parts.append(f"{span((count.total - count.done) / count.rate)} left")
    if count.stored:
        parts.append(f"{count.stored} from the store")
    if count.failed:
        parts.append(f"{count.failed} failed")
    if count.level:
        parts.append(f"{count.level} at once")
    if count.waits >= 1:
        parts.append(f"the endpoint asks to wait {span(count.waits)}")
    return ", ".join(parts)


def span(seconds: float) -> str:
    """Write a duration as a person would: 42 s, 3 min 10 s, 2 h 05 min."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
