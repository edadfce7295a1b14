"""Damaged parquet pages, on which polars panics: one sentence in place of a Rust backtrace.

A panic is no `Exception`, and is written to the process's standard error before it is raised.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from hardset.errors import UsageError

_STDERR = 2


@contextmanager
def panics_told(name: object) -> Iterator[None]:
    """Turn a panic of polars into an error that names the file; what else is written stays.

    Args:
        name: of the file that is read.

    Raises:
        UsageError: polars panicked.
    """
    import polars as pl

    with tempfile.TemporaryFile() as kept:
        aside = _turned_to(kept)
        panicked = False
        try:
            yield
        except pl.exceptions.PanicException:
            panicked = True
            raise UsageError(
                f"{name} is a damaged parquet file: its header can be read, its pages cannot"
            ) from None
        finally:
            if aside is not None:
                os.dup2(aside, _STDERR)
                os.close(aside)
                kept.seek(0)
                if not panicked:
                    _pass_on(kept.read())


def _turned_to(kept: IO[bytes]) -> int | None:
    """Send standard error into a file: where it went to until now; None where there is none."""
    try:
        sys.stderr.flush()
        aside = os.dup(_STDERR)
    except (AttributeError, OSError, ValueError):
        return None
    os.dup2(kept.fileno(), _STDERR)
    return aside


def _pass_on(written: bytes) -> None:
    if not written:
        return
    try:
        os.write(_STDERR, written)
    except OSError:
        return  # nobody listens any more
