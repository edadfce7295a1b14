"""Standard output and standard error: closed, poor in characters, or with nobody listening."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hardset.reports.text import visible


def open_streams() -> None:
    """Give closed standard streams somewhere to write to, and poor encodings a way to write."""
    for number in (0, 1, 2):  # else the next file opened, the store, would be number 2
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def nobody_listening() -> Iterator[None]:
    """Let a closed pipe (`| head`) stop the printing, and change nothing else."""
    try:
        yield
    except BrokenPipeError:
        fall_silent()


def fall_silent() -> None:
    """Send what is still to be printed nowhere, where nobody listens any more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def tell(text: str) -> None:
    """Print one line to standard error; a stranger's text in it cannot steer the terminal."""
    print(visible(" ".join(text.splitlines())), file=sys.stderr)
