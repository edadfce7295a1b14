"""One process at a time in a folder: two would take each other's unfinished files for a kill's."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hardset.errors import UsageError

try:
    import fcntl
except ImportError:  # not on Windows: there, nobody is kept out
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder for a while; the system lets go of it at any death.

    The folder itself is locked, so that nothing is left in it.

    Raises:
        UsageError: another process is at work in it.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # a system on which folders cannot be opened
        yield
        return
    try:
        if fcntl is not None:
            _lock(folder, handle)
        yield
    finally:
        os.close(handle)


def _lock(folder: Path, handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # some network drives lock no folders: go on without
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise UsageError(
                f"another command is at work in {folder}: wait for it, or name another --out"
            ) from None
