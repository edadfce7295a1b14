"""The command line: thin, one function a command. `python -m hardset` is the same program.

Nothing heavy is imported until a command runs, so that `hardset --help` answers at once.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Group, Parameter
from cyclopts.exceptions import CycloptsError

import hardset
from hardset.errors import UsageError

if TYPE_CHECKING:
    from hardset.records import Sampling
    from hardset.run import Run

USAGE, FAILED_ROWS, INTERRUPTED = 2, 3, 130

app = App(
    name="hardset",
    help="Hard sets for vision-language models: does the model know what it sees, and know when "
    "it does not?\n\nStart with: `hardset run scenes -m local/scout` (offline, a minute).",
    version=hardset.__version__,
    help_format="markdown",
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
    cuts: Annotated[bool | None, Parameter(group=_OUT)] = None,
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
        The environment variable that holds the key for `--base-url`.
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
        Print the tables by category and other cuts too; if not said, only for a single model.
        The report always has them.
    """
    from hardset.ask import Budget, Limits
    from hardset.benchmarks import registry
    from hardset.models import make_model
    from hardset.reports import progress, terminal
    from hardset.run import Settings, evaluate, write_report

    if repeats < 1 or (limit is not None and limit < 1):
        raise UsageError("--repeats and --limit take a whole number of 1 or more")
    options = _options(option, data=data, images=images)
    if blind and "blind" in registry.options(benchmark):
        options["blind"] = True
    declared = registry.make(benchmark, **options)
    settings = Settings(
        repeats=repeats,
        limit=limit,
        blind=blind,
        sampling=_sampling(declared.sampling, temperature, top_p, max_tokens, seed),
        limits=Limits(
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            budget=Budget.parse(budget, _prices(price)) if budget else None,
        ),
        runs=runs,
        store=store,
    )
    models = [make_model(spec, base_url=base_url, key_env=key_env) for spec in model]
    finished = []
    for each in models:
        with progress.bar(f"{benchmark} on {each.name}") as show:
            done = evaluate(declared, each, settings, progress=show)
        if done.interrupted:
            print(
                f"stopped; every reply so far is kept. To go on: {resume_command()}",
                file=sys.stderr,
            )
            return INTERRUPTED
        finished.append(done)
    by_cut = len(finished) == 1 if cuts is None else cuts
    terminal.show([done.view() for done in finished], by_cut=by_cut)
    for done in finished:
        print(f"{done.model}: {done.folder}")
    if report is not None:
        write_report(report, finished)
        print(f"report: {report}")
    return _status(finished)


def _status(finished: list[Run]) -> int:
    """Say in one sentence each which rows failed and why asking stopped; give the exit status."""
    for done in finished:
        if done.stopped:
            print(f"{done.model}: asking stopped early: {done.stopped}", file=sys.stderr)
        if done.failed:
            why = "; ".join(f"{count} x {reason}" for reason, count in done.reasons()[:3])
            print(f"{done.model}: {done.failed} of {done.rows} rows failed: {why}", file=sys.stderr)
    return FAILED_ROWS if any(done.failed for done in finished) else 0


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

    given: dict[str, Any] = {"top_p": top_p, "max_tokens": max_tokens, "seed": seed}
    changes = {name: value for name, value in given.items() if value is not None}
    if temperature is not None:
        try:
            changes["temperature"] = None if temperature == "default" else float(temperature)
        except ValueError:
            raise UsageError(
                f"--temperature takes a number or `default`, not {temperature!r}"
            ) from None
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
        The environment variable that holds the key for `--base-url`.
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


def main() -> None:
    """Run the command line; usage errors are one sentence and exit status 2."""
    try:
        status = app(exit_on_error=False, print_error=True, result_action="return_value")
    except CycloptsError:
        sys.exit(USAGE)
    except UsageError as error:
        print(f"hardset: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except KeyboardInterrupt:
        print(f"stopped; every reply so far is kept. To go on: {resume_command()}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `hardset list | head`: nobody listens any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(status if isinstance(status, int) else 0)
