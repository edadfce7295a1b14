"""The command line: thin, one file a command. `python -m hardset` is the same program.

Nothing heavy is imported until a command runs, so that `hardset --help` answers at once.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

from cyclopts import App
from cyclopts.exceptions import CycloptsError

import hardset
from hardset.cli.compare import compare
from hardset.cli.difficulty import difficulty
from hardset.cli.doctor import doctor
from hardset.cli.fetch import fetch
from hardset.cli.learn import learn
from hardset.cli.listing import list_
from hardset.cli.pick import pick
from hardset.cli.run import run
from hardset.cli.score import score
from hardset.cli.status import INTERRUPTED, KEPT, STOPPED, USAGE, resume_command
from hardset.cli.validate import validate
from hardset.errors import UsageError
from hardset.streams import fall_silent, open_streams, tell

app = App(
    name="hardset",
    help="Hard sets for vision-language models: does the model know what it sees, and know when "
    "it does not?\n\nStart with: `hardset run scenes -m local/scout` (offline, a minute).",
    version=hardset.__version__,
    help_format="markdown",
    suppress_keyboard_interrupt=False,  # `main` says how to go on
)
app.command(run)
app.command(score)
app.command(list_, name="list")
app.command(compare)
app.command(validate)
app.command(pick)
app.command(learn)
app.command(fetch)
app.command(difficulty)
app.command(doctor)


def _unicode(arguments: list[str]) -> None:
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"an argument is no text in this system's encoding: {argument!r}; rename the file "
                "or write it in UTF-8"
            ) from None


def _interrupt(number: int, frame: object) -> None:
    """Let SIGTERM end the reading and reporting as Ctrl-C does."""
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line; usage errors are one sentence and exit status 2."""
    open_streams()
    # A run makes many records and hardly a cycle; the default thresholds spend 4 % of it looking.
    gc.set_threshold(100_000, 50, 50)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        _unicode(sys.argv)
        status = app(exit_on_error=False, print_error=True, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError:
        sys.exit(USAGE)
    except UsageError as error:
        tell(f"hardset: {error}")
        sys.exit(USAGE)
    except KeyboardInterrupt:
        tell(STOPPED + resume_command() if sys.argv[1:2] == ["run"] else "stopped")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `hardset list | head`: nobody listens any more
        fall_silent()
        sys.exit(0)
    except OSError as error:  # a full disk, a folder taken away
        where = f" {error.filename}" if error.filename else ""
        kept = KEPT if sys.argv[1:2] in (["run"], ["score"]) else "mend this and run it again"
        tell(f"hardset: {error.strerror or error}{where}; {kept}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # standard output may be what is full
        sys.exit(USAGE)
    sys.exit(status if isinstance(status, int) else 0)
