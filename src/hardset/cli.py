"""The command line: thin, one function a command. `python -m hardset` is the same program.

Nothing heavy is imported until a command runs, so that `hardset --help` answers at once.
"""

from __future__ import annotations

import gc
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, runtime_checkable

from cyclopts import App, Group, Parameter
from cyclopts.exceptions import CycloptsError

import hardset
from hardset.errors import UsageError
from hardset.streams import fall_silent, nobody_listening, open_streams, tell

if TYPE_CHECKING:
    from hardset.records import Sampling
    from hardset.run import Run

USAGE, FAILED_ROWS, INTERRUPTED = 2, 3, 130
MOST_REPEATS = 65_535  # the column of repeats has 16 bits
STOPPED = "stopped; every reply so far is kept. To go on: "
KEPT = "replies received so far are kept: mend this and run the same command again"

app = App(
    name="hardset",
    help="Hard sets for vision-language models: does the model know what it sees, and know when "
    "it does not?\n\nStart with: `hardset run scenes -m local/scout` (offline, a minute).",
    version=hardset.__version__,
    help_format="markdown",
    suppress_keyboard_interrupt=False,  # `main` says how to go on
)

_DATA = Group("What to ask", sort_key=1)
_MODEL = Group("The model", sort_key=2)
_PACE = Group("Pace and limits", sort_key=3)
_OUT = Group("What is left", sort_key=4)


@app.command
def run(
    benchmark: str,
    /,
    *,
    model: Annotated[
        list[str], Parameter(name=["--model", "-m"], group=_MODEL, negative="", required=True)
    ],
    data: Annotated[Path | None, Parameter(group=_DATA)] = None,
    images: Annotated[Path | None, Parameter(group=_DATA)] = None,
    option: Annotated[
        list[str] | None, Parameter(name=["--option", "-o"], group=_DATA, negative="")
    ] = None,
    limit: Annotated[int | None, Parameter(group=_DATA)] = None,
    repeats: Annotated[int, Parameter(group=_DATA)] = 1,
    blind: Annotated[bool, Parameter(group=_DATA, negative="")] = False,
    base_url: Annotated[str | None, Parameter(group=_MODEL)] = None,
    key_env: Annotated[str | None, Parameter(group=_MODEL)] = None,
    temperature: Annotated[str | None, Parameter(group=_MODEL)] = None,
    top_p: Annotated[float | None, Parameter(group=_MODEL)] = None,
    max_tokens: Annotated[int | None, Parameter(group=_MODEL)] = None,
    seed: Annotated[int | None, Parameter(group=_MODEL)] = None,
    concurrency: Annotated[int, Parameter(group=_PACE)] = 32,
    timeout: Annotated[float, Parameter(group=_PACE)] = 180.0,
    retries: Annotated[int, Parameter(group=_PACE)] = 5,
    budget: Annotated[str | None, Parameter(group=_PACE)] = None,
    price: Annotated[str | None, Parameter(group=_PACE)] = None,
    runs: Annotated[Path, Parameter(group=_OUT)] = Path("runs"),
    store: Annotated[Path | None, Parameter(group=_OUT)] = None,
    report: Annotated[Path | None, Parameter(group=_OUT)] = None,
    cuts: Annotated[bool, Parameter(group=_OUT, negative="")] = False,
) -> int:
    """Ask a model every question of a benchmark, read the replies, and report.

    Replies are kept: run the same command again and only what is missing is asked.

    Examples:

    - `hardset run scenes -m local/scout -m baseline/always-refuse`
    - `hardset run mmr --data MMR-benchmark.json --images mmr/ -m openai/gpt-4o`
    - `hardset run mmr --data MMR-benchmark.json --blind -m llama/smollm2`
    - `hardset run mmr --data MMR-benchmark.json --images mmr/ -m my-model
      --base-url http://localhost:8000/v1`

    Exit status: 0 every row has an outcome; 3 some rows failed; 2 the command or the data cannot
    be used as given; 130 interrupted (the same command resumes).

    Parameters
    ----------
    benchmark
        Its name; `hardset list` shows them.
    model
        `provider/model`, as often as you like; `hardset list` shows the providers.
    data
        The benchmark's data file, where it needs one.
    images
        The folder its image paths start from.
    option
        `key=value` for an option of this benchmark (`hardset list BENCHMARK` shows them).
    limit
        Ask only the first so many items.
    repeats
        Ask every item so many times.
    blind
        Send no image: what can be answered without looking?
    base_url
        The address of any OpenAI-compatible endpoint, up to and with `/v1`.
    key_env
        The environment variable that holds the key for `--base-url`; `HARDSET_API_KEY` if not
        given.
    temperature
        A number, or `default` for the provider's own; if not given, the benchmark's (mostly 0).
    top_p
        Nucleus sampling; the provider's own if not given.
    max_tokens
        The longest reply, in tokens; the benchmark's if not given.
    seed
        Sampling seed, sent to providers that take one.
    concurrency
        At most so many requests at once; the pace finds its own level below that.
    timeout
        Seconds one request may take.
    retries
        How often a transient fault is asked again before the row counts as failed.
    budget
        Stop cleanly before spending more: `200000` (tokens) or `$5` (needs --price).
    price
        Dollars a million tokens, in and out: `2.50,10`.
    runs
        Where run folders go.
    store
        The file that keeps the replies; `RUNS/store.sqlite` if not given.
    report
        Also write one report over all the models to this file.
    cuts
        Print the tables by category and other cuts too; the report always has them.
    """
    from hardset.ask import Budget, Limits
    from hardset.benchmarks import registry
    from hardset.models import make_model
    from hardset.reports import progress, terminal
    from hardset.reports.folder import make_usable
    from hardset.reports.text import visible
    from hardset.run import Settings, evaluate, write_report

    if repeats < 1 or (limit is not None and limit < 1):
        raise UsageError("--repeats and --limit take a whole number of 1 or more")
    if repeats > MOST_REPEATS:
        raise UsageError(f"--repeats takes {MOST_REPEATS:,} at most, not {repeats:,}")
    if price is not None and budget is None:
        raise UsageError("--price goes with a --budget in dollars, and there is none")
    prices = _prices(price)
    again = next((spec for spec in model if model.count(spec) > 1), None)
    if again is not None:
        raise UsageError(f"the model {again} is given twice")
    options = _options(option, data=data, images=images)
    if blind and "blind" in registry.options(benchmark):
        options["blind"] = True
    declared = registry.make(benchmark, **options)
    settings = Settings(
        repeats=repeats,
        limit=None if limit is None else min(limit, sys.maxsize),
        blind=blind,
        sampling=_sampling(declared.sampling, temperature, top_p, max_tokens, seed),
        limits=Limits(
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            budget=None if budget is None else Budget.parse(budget, prices),
        ),
        runs=runs,
        store=store,
    )
    models = [make_model(spec, base_url=base_url, key_env=key_env) for spec in model]
    for each in models:
        if isinstance(each, Checked):
            each.check()
    make_usable(runs)  # before anything is paid for
    if report is not None:
        _replaceable(report)
    finished = []
    for each in models:
        with progress.bar(f"{benchmark} on {each.name}") as show:
            done = evaluate(declared, each, settings, progress=show)
        if done.interrupted:
            tell(STOPPED + resume_command())
            return INTERRUPTED
        finished.append(done)
    if report is not None:  # first: whoever reads the tables may stop listening
        write_report(report, finished)
    with nobody_listening():
        terminal.show([done.view() for done in finished], by_cut=cuts)
        if not cuts:
            print(f"By {', '.join(declared.cuts)}: in the report, or with --cuts.")
        for done in finished:
            print(visible(f"{done.model}: {done.folder}"))
        if report is not None:
            print(f"report: {report}")
        sys.stdout.flush()
    with nobody_listening():
        _say_what_failed(finished)
    return FAILED_ROWS if any(done.failed for done in finished) else 0


@runtime_checkable
class Checked(Protocol):
    """A model that can tell before it is asked that it cannot be: its key is missing."""

    def check(self) -> object:
        """Raise `UsageError` if it cannot be asked."""


def _replaceable(report: Path) -> None:
    """Refuse a report's place that would cost another file, before anything is paid for."""
    from hardset.reports.folder import make_usable

    if report.is_dir():
        raise UsageError(f"--report {report} is a folder: name a file, like report.html")
    if report.exists() and not report.is_file():
        raise UsageError(f"--report {report} is no ordinary file: name one, like report.html")
    if report.exists():
        with report.open("rb") as file:
            start = file.read(64).lstrip().lower()
        if start and not start.startswith(b"<!doctype html"):
            raise UsageError(f"--report {report} is a file, and no report: it stays; name another")
    make_usable(report.parent)


def _say_what_failed(finished: list[Run]) -> None:
    """Say in one sentence each which rows failed, and why asking stopped."""
    for done in finished:
        first, rest = done.reasons()[:3], done.reasons()[3:]
        why = "; ".join(f"{count} x {reason}" for reason, count in first)
        if rest:
            why += f"; and {sum(count for _, count in rest)} for other reasons, see {done.folder}"
        if done.stopped and done.stopped not in why:
            tell(f"{done.model}: asking stopped early: {done.stopped}")
        if done.failed:
            tell(f"{done.model}: {done.failed} of {done.rows} rows failed: {why}")


def resume_command() -> str:
    """The command that was given, as a shell would take it."""
    return shlex.join(["hardset", *sys.argv[1:]])


def _sampling(
    base: Sampling,
    temperature: str | None,
    top_p: float | None,
    max_tokens: int | None,
    seed: int | None,
) -> Sampling:
    """Lay what the user gave over the benchmark's own sampling."""
    import msgspec

    if top_p is not None and not 0 < top_p <= 1:
        raise UsageError(f"--top-p takes a number above 0, up to 1, not {top_p:g}")
    if max_tokens is not None and not 1 <= max_tokens < 2**31:
        raise UsageError(f"--max-tokens takes a whole number of 1 or more, not {max_tokens}")
    if seed is not None and not -(2**63) <= seed < 2**63:
        raise UsageError(f"--seed takes a whole number of at most 64 bits, not {seed}")
    given: dict[str, Any] = {"top_p": top_p, "max_tokens": max_tokens, "seed": seed}
    changes = {name: value for name, value in given.items() if value is not None}
    if temperature is not None:
        try:
            number = None if temperature == "default" else float(temperature)
        except ValueError:
            number = -1.0
        if number is not None and not 0 <= number < 100:  # NaN is not within either
            raise UsageError(
                f"--temperature takes a number of 0 or more, or `default`, not {temperature!r}"
            )
        changes["temperature"] = number
    return msgspec.structs.replace(base, **changes)


@app.command(name="list")
def list_(name: str | None = None, /) -> int:
    """Show the benchmarks and models there are, or one benchmark's options.

    Examples:

    - `hardset list`
    - `hardset list mmr`

    Parameters
    ----------
    name
        A benchmark, to show its options.
    """
    from hardset.benchmarks import registry
    from hardset.models.registry import describe

    if name is not None:
        _columns(f"Options of {name} (-o option=value)", registry.describe_options(name))
        return 0
    _columns("Benchmarks", registry.describe())
    _columns("Models (-m provider/model)", describe())
    return 0


def _columns(title: str, rows: list[tuple[str, str]]) -> None:
    print(title)
    width = max((len(left) for left, _ in rows), default=0)
    for left, right in rows:
        print(f"  {left:<{width}}  {right}")


@app.command
def doctor(
    *,
    model: Annotated[list[str] | None, Parameter(name=["--model", "-m"], negative="")] = None,
    base_url: str | None = None,
    key_env: str | None = None,
) -> int:
    """Say what is installed, which keys are set, and whether a model answers and sees images.

    Examples:

    - `hardset doctor`
    - `hardset doctor -m openai/gpt-4o`
    - `hardset doctor -m my-model --base-url http://localhost:8000/v1`

    Parameters
    ----------
    model
        Also ask this model three small questions, one without an image and two with one.
    base_url
        The address of any OpenAI-compatible endpoint, up to and with `/v1`.
    key_env
        The environment variable that holds the key for `--base-url`; `HARDSET_API_KEY` if not
        given.
    """
    from hardset import doctor

    return doctor.examine(model or [], base_url=base_url, key_env=key_env)


def _prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        price_in, price_out = (float(part.strip().removeprefix("$")) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"--price takes dollars a million tokens in and out, like 2.50,10, not {text!r}"
        ) from None
    return price_in, price_out


def _options(pairs: list[str] | None, **given: Any) -> dict[str, Any]:
    options = {key: value for key, value in given.items() if value is not None}
    for pair in pairs or []:
        key, sign, value = pair.partition("=")
        if not sign:
            raise UsageError(f"--option takes key=value, not {pair!r}")
        options[key.strip().replace("-", "_")] = value
    return options


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
        tell(f"hardset: {error.strerror or error}{where}; {KEPT}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # standard output may be what is full
        sys.exit(USAGE)
    sys.exit(status if isinstance(status, int) else 0)
