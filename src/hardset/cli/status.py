"""How a command ends: its exit status, and the sentence that says how to go on."""

from __future__ import annotations

import shlex
import sys

USAGE, FAILED_ROWS, INTERRUPTED = 2, 3, 130
STOPPED = "stopped; every reply so far is kept. To go on: "
KEPT = "replies received so far are kept: mend this and run the same command again"


def resume_command() -> str:
    """The command that was given, as a shell would take it."""
    return shlex.join(["hardset", *sys.argv[1:]])
