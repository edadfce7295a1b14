"""`hardset score`: replies made elsewhere, read and reported as a run's are."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from hardset.cli.given import options_of, replaceable
from hardset.cli.judges import JudgeFlags, announce
from hardset.cli.status import FAILED_ROWS, INTERRUPTED, STOPPED, resume_command, say_what_failed
from hardset.errors import UsageError
from hardset.records import MOST_REPEATS
from hardset.streams import nobody_listening, tell

_DATA = Group("What was asked", sort_key=1)
_REPLIES = Group("The replies", sort_key=2)
_OUT = Group("What is left", sort_key=3)


def score(
    benchmark: str,
    replies: list[Path],
    /,
    *,
    data: Annotated[str | None, Parameter(group=_DATA)] = None,
    images: Annotated[Path | None, Parameter(group=_DATA)] = None,
    option: Annotated[
        list[str] | None, Parameter(name=["--option", "-o"], group=_DATA, negative="")
    ] = None,
    limit: Annotated[int | None, Parameter(group=_DATA)] = None,
    model: Annotated[str, Parameter(name=["--model", "-m"], group=_REPLIES)] = "",
    format: Annotated[str, Parameter(group=_REPLIES)] = "",
    repeats: Annotated[int | None, Parameter(group=_REPLIES)] = None,
    runs: Annotated[Path, Parameter(group=_OUT)] = Path("runs"),
    report: Annotated[Path | None, Parameter(group=_OUT)] = None,
    cuts: Annotated[bool, Parameter(group=_OUT, negative="")] = False,
    judges: JudgeFlags | None = None,
) -> int:
    """Score replies that were made elsewhere: the same tables and report, and no model is asked.

    The format is found out by a file's content: rows with `id` and `reply` (CSV, TSV, JSON, JSON
    Lines, parquet, xlsx), logs of Inspect, sample files of lmms-eval and lm-evaluation-harness,
    result tables of VLMEvalKit, batch outputs of OpenAI and Anthropic, the MMR authors' answer
    files, and a run's own `outcomes.parquet`. No pictures are needed.

    Examples:

    - `hardset score mmr --data MMR-benchmark.json answers.jsonl`
    - `hardset score mmr --data MMR-benchmark.json gpt-4o_MMR.xlsx --model openai/gpt-4o`
    - `hardset score zerobench log.eval`

    Exit status: 0 every row has a reply; 3 some rows have none, or failed; 2 the command or a
    file cannot be used as given. Replies to no item are told, and change no status.

    Parameters
    ----------
    benchmark
        Its name; `hardset list` shows them.
    replies
        The files that hold one model's replies.
    data
        The benchmark's data, as for `hardset run`.
    images
        The folder its image paths start from: for the report; none is needed to score.
    option
        `key=value` for an option of this benchmark (`hardset list BENCHMARK` shows them).
    limit
        Score the first so many items only.
    model
        Who replied; if not given, as the files say, or else the first file's name.
    format
        What the files are, where their content leaves it open: plain, inspect, lmms-eval,
        vlmevalkit, openai-batch, anthropic-batch, mmr-answers or hardset.
    repeats
        How often each item was asked, where the files do not number the repeats.
    runs
        Where run folders go.
    report
        Also write the report to this file.
    cuts
        Print the tables by category and other cuts too; the report always has them.
    judges
        Who judges the replies.
    """
    from hardset.ask import Limits
    from hardset.reports import progress, terminal
    from hardset.reports.folder import make_usable
    from hardset.reports.text import visible
    from hardset.run import write_report
    from hardset.scoring import make_benchmark, matching, troubles
    from hardset.scoring import score as score_replies

    if any(number is not None and number < 1 for number in (repeats, limit)):
        raise UsageError("--repeats and --limit take a whole number of 1 or more")
    if repeats is not None and repeats > MOST_REPEATS:
        raise UsageError(f"--repeats takes {MOST_REPEATS:,} at most, not {repeats:,}")
    make_usable(runs)
    if report is not None:
        replaceable(report)
    declared = make_benchmark(benchmark, **options_of(option, data=data, images=images))
    judges = judges or JudgeFlags()
    panel = judges.panel(declared)
    with progress.bar(f"{' and '.join(judges.judge)} judging") as judging:
        done = score_replies(
            declared,
            replies,
            model=model,
            format=format,
            repeats=repeats,
            limit=limit,
            runs=runs,
            judge=panel,
            judge_limits=judges.limits(Limits()),
            allow_overlap=judges.allow_overlap,
            families=judges.families,
            judging=judging,
            announce=announce,
        )
    if done.interrupted:
        tell(STOPPED + resume_command())
        return INTERRUPTED
    if report is not None:
        write_report(report, [done])
    with nobody_listening():
        for file in done.files:
            print(visible(f"{file.source.name}: {file.format.NAME}, since {file.why}"))
        print(visible(matching(done)))
        sys.stdout.flush()
        for sentence in (*done.overlaps, *troubles(done)):
            tell(f"{done.model}: {sentence}")
        terminal.show([replace(done.view(), notices=declared.notices)], by_cut=cuts)
        if not cuts:
            print(f"By {', '.join(declared.cuts)}: in the report, or with --cuts.")
        print(visible(f"{done.model}: {done.folder}"))
        if report is not None:
            print(f"report: {report}")
        sys.stdout.flush()
    with nobody_listening():
        say_what_failed(done)
    return FAILED_ROWS if done.failed or done.unjudged or done.undecided else 0
