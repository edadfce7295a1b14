"""How a command ends: its exit status, and the sentence that says how to go on."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from hardset.streams import tell

if TYPE_CHECKING:
    from hardset.run import Run

USAGE, FAILED_ROWS, INTERRUPTED = 2, 3, 130
STOPPED = "stopped; every reply so far is kept. To go on: "
KEPT = "replies received so far are kept: mend this and run the same command again"


def resume_command() -> str:
    """The command that was given, as a shell would take it."""
    return shlex.join(["hardset", *sys.argv[1:]])


def say_what_failed(done: Run) -> None:
    """Say in one sentence each which rows failed, which verdicts are missing, and why."""
    first, rest = done.reasons()[:3], done.reasons()[3:]
    why = "; ".join(f"{count} x {reason}" for reason, count in first)
    if rest:
        why += f"; and {sum(count for _, count in rest)} for other reasons, see {done.folder}"
    if done.stopped and done.stopped not in why:
        tell(f"{done.title}: asking stopped early: {done.stopped}")
    if done.verdicts is not None and done.unjudged:
        reasons = "; ".join(f"{n} x {reason}" for reason, n in done.verdicts.failures.items())
        tell(f"{done.title}: {done.unjudged} votes are missing: {reasons}")
    if done.undecided:
        tell(f"{done.title}: {done.undecided} verdicts are open: the panel came to none")
    if done.settings.confidence and "confidence" not in done.columns:
        tell(f"{done.title}: no reply had a confidence, so none is measured")
    if done.failed:
        tell(f"{done.title}: {done.failed} of {done.rows} rows failed: {why}")
