"""`hardset run`: ask, read, report."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from hardset.cli.given import (
    Checked,
    options_of,
    prices,
    replaceable,
    sampling_of,
    ways,
)
from hardset.cli.judges import JudgeFlags, announce
from hardset.cli.status import FAILED_ROWS, INTERRUPTED, STOPPED, resume_command, say_what_failed
from hardset.errors import UsageError
from hardset.records import MOST_REPEATS
from hardset.streams import nobody_listening, tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardset.reports.compared import Compared
    from hardset.run import Run

_DATA = Group("What to ask", sort_key=1)
_MODEL = Group("The model", sort_key=2)
_PACE = Group("Pace and limits", sort_key=3)
_OUT = Group("What is left", sort_key=4)


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
    prompts: Annotated[str | None, Parameter(group=_DATA)] = None,
    limit: Annotated[int | None, Parameter(group=_DATA)] = None,
    repeats: Annotated[int, Parameter(group=_DATA)] = 1,
    blind: Annotated[bool, Parameter(group=_DATA, negative="")] = False,
    base_url: Annotated[str | None, Parameter(group=_MODEL)] = None,
    key_env: Annotated[str | None, Parameter(group=_MODEL)] = None,
    temperature: Annotated[str | None, Parameter(group=_MODEL)] = None,
    top_p: Annotated[float | None, Parameter(group=_MODEL)] = None,
    max_tokens: Annotated[int | None, Parameter(group=_MODEL)] = None,
    seed: Annotated[int | None, Parameter(group=_MODEL)] = None,
    confidence: Annotated[
        Literal["logprobs", "stated"] | None, Parameter(group=_MODEL, negative="")
    ] = None,
    concurrency: Annotated[int, Parameter(group=_PACE)] = 32,
    timeout: Annotated[float, Parameter(group=_PACE)] = 180.0,
    retries: Annotated[int, Parameter(group=_PACE)] = 5,
    budget: Annotated[str | None, Parameter(group=_PACE)] = None,
    price: Annotated[str | None, Parameter(group=_PACE)] = None,
    runs: Annotated[Path, Parameter(group=_OUT)] = Path("runs"),
    store: Annotated[Path | None, Parameter(group=_OUT)] = None,
    report: Annotated[Path | None, Parameter(group=_OUT)] = None,
    cuts: Annotated[bool, Parameter(group=_OUT, negative="")] = False,
    judges: JudgeFlags | None = None,
) -> int:
    """Ask a model every question of a benchmark, read the replies, and report.

    Replies are kept: run the same command again and only what is missing is asked.

    Examples:

    - `hardset run scenes -m local/scout -m baseline/always-refuse`
    - `hardset run mmr -m openai/gpt-4o` (after `hardset fetch mmr --images`)
    - `hardset run mmr --data MMR-benchmark.json --blind -m llama/smollm2`
    - `hardset run mmr --data MMR-benchmark.json --images mmr/ -m my-model
      --base-url http://localhost:8000/v1`

    Exit status: 0 every row has an outcome; 3 some rows failed, or lack a verdict; 2 the command
    or the data cannot be used as given; 130 interrupted (the same command resumes).

    Parameters
    ----------
    benchmark
        Its name; `hardset list` shows them.
    model
        `provider/model`, as often as you like; `hardset list` shows the providers.
    data
        A file, a folder, or a data set on the Hugging Face hub (`owner/name`, `owner/name@commit`),
        instead of the benchmark's published set.
    images
        The folder its image paths start from.
    option
        `key=value` for an option of this benchmark (`hardset list BENCHMARK` shows them).
    prompts
        Ask in several wordings: `all`, or some of the values of the option `prompt`, joined by
        commas. Each is a line of its own, and the others are held against the first, item by item.
    limit
        Ask only the first so many items.
    repeats
        Ask every item so many times. A benchmark that asks greedily once and samples its repeats
        (zerobench) gives two lines: `greedy` and `sampled`; --temperature makes it one.
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
    confidence
        Also learn how sure each answer is: `logprobs` asks the endpoint for the probabilities of
        the reply's tokens, `stated` asks the model to end its reply with `Confidence: N %`.
    concurrency
        At most so many requests at once; the pace finds its own level below that.
    timeout
        Seconds one request may take.
    retries
        How often a transient fault is asked again before the row counts as failed.
    budget
        Stop cleanly before spending more: `200000` (tokens) or `$5` (needs --price).
    price
        Dollars a million tokens, in and out: `2.50,10`; the report then says what a question cost.
    runs
        Where run folders go.
    store
        The file that keeps the replies; `RUNS/store.sqlite` if not given.
    report
        Also write one report over all the models to this file.
    cuts
        Print the tables by category and other cuts too; the report always has them.
    judges
        Who judges the replies.
    """
    from hardset.ask import Budget, Limits
    from hardset.benchmarks import registry
    from hardset.consulting import roles_of
    from hardset.models import make_model
    from hardset.reports import progress, terminal
    from hardset.reports.folder import make_usable
    from hardset.reports.text import visible
    from hardset.run import Settings, able, evaluate, write_report

    if repeats < 1 or (limit is not None and limit < 1):
        raise UsageError("--repeats and --limit take a whole number of 1 or more")
    if repeats > MOST_REPEATS:
        raise UsageError(f"--repeats takes {MOST_REPEATS:,} at most, not {repeats:,}")
    dollars = prices(price)
    again = next((spec for spec in model if model.count(spec) > 1), None)
    if again is not None:
        raise UsageError(f"the model {again} is given twice")
    options = options_of(option, data=data, images=images)
    if blind and "blind" in registry.options(benchmark):
        options["blind"] = True
    if prompts is None:
        worded = [registry.make(benchmark, **options)]
    elif "prompt" in options:
        raise UsageError("give either --prompts or the option prompt, not both")
    else:
        worded = [
            registry.make(benchmark, **options, prompt=one)
            for one in registry.wordings(benchmark, prompts)
        ]
    declared = worded[0]
    settings = Settings(
        limit=None if limit is None else min(limit, sys.maxsize),
        blind=blind,
        confidence=confidence or "",
        price=dollars,
        limits=Limits(
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            budget=None if budget is None else Budget.parse(budget, dollars),
        ),
        runs=runs,
        store=store,
    )
    judges = judges or JudgeFlags()
    settings = replace(
        settings,
        judge_limits=judges.limits(settings.limits),
        allow_overlap=judges.allow_overlap,
        families=judges.families,
    )
    lines = [
        replace(
            settings, repeats=times, sampling=sampling_of(how, temperature, top_p, max_tokens, seed)
        )
        for times, how in ways(declared, repeats, temperature)
    ]
    models = [make_model(spec, base_url=base_url, key_env=key_env) for spec in model]
    panel = judges.panel(declared)
    for each in models:
        if isinstance(each, Checked):
            each.check()
    for each in models:
        able(each, settings)
        for asked in worded:  # the last of many models must not fail on it after the first is paid
            roles_of(asked, each.name, panel, settings.families, allow=settings.allow_overlap)
    judges.see_families([each.name for each in models], panel)
    make_usable(runs)  # before anything is paid for
    if report is not None:
        replaceable(report)
    finished = []
    for each, asked, line in itertools.product(models, worded, lines):
        title = f"{each.name}, {asked.given['prompt']}" if prompts else each.name
        with progress.bar(f"{benchmark} on {title}") as show:
            judged = show.titled(f"{' and '.join(judges.judge)} on {title}")
            done = evaluate(
                asked,
                each,
                line,
                judge=panel,
                progress=show,
                judging=judged,
                announce=announce,
            )
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
        if len(worded) > 1:
            _hold_wordings(finished, len(worded), report, by_cut=cuts)
        for done in finished:
            print(visible(f"{done.title}: {done.folder}"))
        if report is not None:
            print(f"report: {report}")
        sys.stdout.flush()
    with nobody_listening():
        for done in finished:
            say_what_failed(done)
    lacking = any(done.failed or done.unjudged or done.undecided for done in finished)
    return FAILED_ROWS if lacking else 0


def _hold_wordings(
    finished: Sequence[Run], wordings: int, report: Path | None, *, by_cut: bool
) -> None:
    """Print how each model's further wordings stand to its first."""
    from hardset.reports import comparison_tables

    for compared, page in _paired(finished, wordings, report):
        comparison_tables.show(compared, by_cut=by_cut)
        if page is not None:
            print(f"wordings compared: {page}")


def _paired(
    finished: Sequence[Run], wordings: int, report: Path | None
) -> Iterator[tuple[Compared, Path | None]]:
    """Hold each model's further wordings against its first, and write a page beside the report.

    Runs stand model by model, wording by wording, line by line.
    """
    from hardset.comparing import compare, write_comparison

    models = len({done.model for done in finished})
    lines = len(finished) // (models * wordings)
    for first in range(0, len(finished), wordings * lines):
        for line in range(lines):
            some = finished[first + line : first + wordings * lines : lines]
            compared = compare(*(done.folder for done in some if done.folder is not None))
            page = None
            if report is not None:
                number = first // wordings + line + 1  # of the line, where there are several
                ending = f"-prompts{'' if models * lines == 1 else f'-{number}'}.html"
                page = report.with_name(report.stem + ending)
                write_comparison(page, compared)
            yield compared, page
