"""Asking from ordinary code: an event loop of its own, and Ctrl-C and SIGTERM that end it cleanly.

Replies and verdicts are asked for here alike: whatever is asked is asked on the one road.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, TypeVar

T = TypeVar("T")

Entered = AbstractAsyncContextManager[Any]
"""A model, or whatever else is open while the work is done."""

Work = Callable[[asyncio.Event], Coroutine[Any, Any, T]]
"""What is to be done on the loop; it ends soon after its event is set."""


def on_a_loop(model: Entered, work: Work[T]) -> T:
    """Run `work`, with the model, or several as one, entered, on a loop of its own.

    In a notebook, one runs already: there it gets a thread, and a Ctrl-C, which only the main
    thread hears, is passed on to it.
    """
    stop = asyncio.Event()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(_entered(model, work, stop))
    started: Future[asyncio.AbstractEventLoop] = Future()

    async def beside() -> T:
        started.set_result(asyncio.get_running_loop())
        return await _entered(model, work, stop)

    with ThreadPoolExecutor(1, thread_name_prefix="hardset-loop") as thread:
        done = thread.submit(_run, beside())
        try:
            return done.result()
        except KeyboardInterrupt:
            started.result().call_soon_threadsafe(stop.set)
            return done.result()


async def _entered(model: Entered, work: Work[T], stop: asyncio.Event) -> T:
    """Do the work, stopping cleanly at `stop` and the first Ctrl-C or SIGTERM."""
    loop = asyncio.get_running_loop()

    def halt(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)
        signal.signal(number, before[number] or signal.SIG_DFL)  # a second one is not waited for

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    caught = []
    for number in before:
        # Not on Windows, nor outside the main thread: there the caller's own handling stays.
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, halt, number)
            caught.append(number)
    try:
        async with model:
            return await work(stop)
    finally:
        for number in caught:  # else the loop would swallow what comes after it has ended
            loop.remove_signal_handler(number)
            signal.signal(number, before[number] or signal.SIG_DFL)


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop where there is one: less CPU a request."""
    if sys.platform == "win32":
        return asyncio.run(work)
    import uvloop

    return uvloop.run(work)
