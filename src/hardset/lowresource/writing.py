"""Files written whole or not at all: beside their place, forced to the disk, and renamed.

Whatever moment the process dies at, a file that is there is whole.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hardset.errors import UsageError

_FULL = 1 << 20  # bytes free at which a failed writing is put down to a full disk


class Unwritable(UsageError):  # noqa: N818 (a state, told by its name)
    """The folder cannot be written into: nobody's fault but the disk's, so that all ends here."""


def whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Have a file written beside its place, force it to the disk, and put it there.

    Raises:
        Unwritable: the disk is full, or the folder has gone or cannot be written into.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(part)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except MemoryError:
        raise
    except Exception as error:  # of the system, or what torch and polars make of it
        raise Unwritable(
            f"{path} cannot be written: {_why(path, error)}; what is there already is kept"
        ) from error
    finally:
        _gone(part)
    _settle(path.parent)


def _why(path: Path, error: Exception) -> str:
    """Say why in a few words; libraries say of a full disk what they please."""
    try:
        if shutil.disk_usage(path.parent).free < _FULL:
            return "the disk is full"
    except OSError:
        pass
    said = error.strerror if isinstance(error, OSError) else None
    return " ".join((said or str(error) or type(error).__name__).split())[:200]


def _gone(part: Path) -> None:
    with suppress(OSError):  # a disk that has become read-only: what failed is said already
        part.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """Force a folder's names to the disk, where the system lets one."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
