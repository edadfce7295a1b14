"""Doing many things in a few processes, of which any may die.

Each process does one thing at a time. One that is killed, for want of memory say, costs what it was
doing and nothing else: that is told, and another takes its place.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NamedTuple, TypeVar, cast

from hardset.errors import UsageError

Task = TypeVar("Task")
Done = TypeVar("Done")

_READY = "ready"
_KILLED = -9  # by SIGKILL, which not every system knows by name
_UNGUARDED = 78  # a process that began the script again ends with it
_GUARD = 'put what the script does under `if __name__ == "__main__":`, or use one, --jobs 1'


def end_unguarded() -> None:
    """End this process, where it has only begun the script of the one that started it again.

    A new process reads the main script, so as to find what it is to do there. A script without a
    guard does all of its work again, in each of them.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        print(f"a process that was to help began the script anew: {_GUARD}", file=sys.stderr)
        sys.stderr.flush()
        os._exit(_UNGUARDED)


class Died(NamedTuple):
    """In place of what a process was to give: how it ended."""

    reason: str


def in_processes(
    tasks: Iterable[Task], work: Callable[[Task], Done], jobs: int
) -> Iterator[tuple[Task, Done | Died]]:
    """Do each task in one of `jobs` processes; yield them as they are done, in any order.

    The processes end with the iteration, also where it is left early, and with this process,
    however it ends. They ignore Ctrl-C, which is this process's to answer.

    Args:
        tasks: what to do; each is sent to a process.
        work: does one; it is sent to each process once, and raises nothing that it can help.
        jobs: how many processes.

    Raises:
        UsageError: `work` cannot be sent to another process, or none of them can start.
    """
    waiting = deque(tasks)
    workers: list[_Worker[Task, Done]] = []
    try:
        for _ in range(min(jobs, len(waiting))):
            workers.append(_Worker(work))
        while waiting or any(worker.busy for worker in workers):
            for worker in workers:
                if waiting and worker.ready:
                    worker.begin(waiting.popleft())
            by_connection = {worker.connection: worker for worker in workers}
            for connection in wait(list(by_connection)):
                worker = by_connection[cast(Connection, connection)]
                task, done = worker.take()
                if isinstance(done, Died):
                    worker.end()
                    workers[workers.index(worker)] = _Worker(work)
                if task is not None:
                    yield task[0], cast("Done | Died", done)
    finally:
        for worker in workers:
            worker.end()


class _Worker(Generic[Task, Done]):
    """One process, what it is doing, and the way to it."""

    def __init__(self, work: Callable[[Task], Done]) -> None:
        context = multiprocessing.get_context("spawn")  # forks of a threaded process may hang
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self.ready = False
        self.task: tuple[Task] | None = None
        try:
            with _undisturbed():
                self.process.start()
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UsageError(
                f"these data cannot be sent to other processes ({error}): use one, --jobs 1"
            ) from error
        finally:
            theirs.close()

    @property
    def busy(self) -> bool:
        return self.task is not None

    def begin(self, task: Task) -> None:
        """Hand it a task."""
        self.task, self.ready = (task,), False
        try:
            self.connection.send(task)
        except OSError:
            return  # it is dead, which `take` will see

    def take(self) -> tuple[tuple[Task] | None, Any]:
        """Take what it sends: that it is ready, or what it has done, or that it has died."""
        task = self.task
        try:
            sent = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            reason = f"its process ended with status {self.process.exitcode}"
            if self.process.exitcode == _KILLED:
                reason += ": killed, as the system does when memory runs out"
            if self.process.exitcode == _UNGUARDED and task is None and not self.ready:
                raise UsageError(f"each process begins the script anew: {_GUARD}") from None
            if task is None and not self.ready:
                raise UsageError(f"no process can start ({reason}): use one, --jobs 1") from None
            return task, Died(reason)
        self.task, self.ready = None, True
        return task, None if task is None else sent

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.connection.close()
        self.process.terminate()
        self.process.join()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait: a process sent only half of its work would print a traceback."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: came.append(number)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


def _serve(connection: Connection, work: Callable[[Any], Any]) -> None:
    """Do what comes until nobody sends any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    done: Any = _READY
    while True:
        try:
            connection.send(done)
            task = connection.recv()
        except (EOFError, OSError):  # the parent has gone, or wants no more
            return
        done = work(task)


def _die_with_parent() -> None:
    """End where the parent is killed: nobody would take what is done, which may be hours of it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def cores() -> int:
    """Say how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
