"""Run folders whose judges err in a known way, made without a model: for tests of validation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hardset.benchmarks.hardbench import HARDBench
from hardset.judging import load
from hardset.judging.people.sample import base_due
from hardset.judging.rubric import Rubric
from hardset.judging.ruling import rule
from hardset.judging.verdicts import Verdicts
from hardset.outcomes import read_off
from hardset.records import Prompt, Reply
from hardset.reports import folder

KINDS = ("object", "relation", "attribute")


def hardbench_rows(where: Path, pairs: int) -> Path:
    """Write a split of so many pairs: `q1?` can be answered with `gold1`, its edit cannot."""
    rows = []
    for number in range(1, pairs + 1):
        shared = {"image": f"{number}.png", "data_source": "pixmo_count", "pair_id": float(number)}
        rows.append({
            "question": f"q{number}?", "answer": f"gold{number}", "is_unanswerable": False,
            "original_question": None, "modifications": None, **shared,
        })  # fmt: skip
        rows.append({
            "question": f"edited q{number}?", "answer": "", "is_unanswerable": True,
            "original_question": f"q{number}?", "modifications": KINDS[number % 3], **shared,
        })  # fmt: skip
    path = where / "test.parquet"
    pl.DataFrame(rows).write_parquet(path)
    return path


def outcomes_of(benchmark: Any, reply: Callable[[int], str]) -> pl.DataFrame:
    """Read replies off, one a row."""
    items = list(benchmark.items())
    return read_off(
        benchmark,
        ((item, Prompt(messages=())) for item in items),
        1,
        lambda start, stop: [Reply(text=reply(row)) for row in range(start, stop)],
        lambda start, stop: [""] * (stop - start),
    )


def judged(
    outcomes: pl.DataFrame,
    votes: Mapping[str, Mapping[str, Sequence[Any]]],
    rubrics: Sequence[Rubric],
) -> pl.DataFrame:
    """Add verdicts: `votes[key][judge]`, of which the first judge's are the panel's too."""
    columns: dict[str, pl.Series] = {}
    for rubric in rubrics:
        due = base_due(outcomes, rubric)
        for key in rubric.keys:
            dtype = {"binary": pl.Boolean, "graded": pl.Int16, "letter": pl.String}[rubric.scale]
            each = {
                judge: pl.Series(
                    [v if asked else None for v, asked in zip(said, due, strict=True)], dtype=dtype
                )
                for judge, said in votes[key].items()
            }
            first = next(iter(each.values()))
            panel = first.cast(pl.Float64) if rubric.scale == "graded" else first
            columns[f"verdict_{key}"] = panel
            columns[f"panel_{key}"] = pl.Series(
                ["" if not asked else "no vote" if v is None else "1 of 1"
                 for v, asked in zip(first, due, strict=True)]
            )  # fmt: skip
            columns |= {f"vote_{key}@{judge}": series for judge, series in each.items()}
    columns["verdict_due"] = outcomes["reply"].str.strip_chars() != ""
    frame = pl.DataFrame(columns)
    outcomes = outcomes.select(
        name for name in outcomes.columns if not name.startswith(("verdict_", "judge_"))
    )
    return rule(outcomes, Verdicts(rubrics=rubrics, ballots=[], columns=frame, due={}))


def write_run(
    where: Path, benchmark: Any, outcomes: pl.DataFrame, rubrics: Sequence[Rubric], **manifest: Any
) -> Path:
    """Leave a run folder, as a run does."""
    where.mkdir(parents=True)
    told = {
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "revision": benchmark.revision,
        "options": {key: str(value) for key, value in benchmark.given.items()},
        "model": "acme/secret-model",
        "rubrics": {rubric.name: rubric.sha256 for rubric in rubrics},
        **manifest,
    }
    folder.write_folder(where, told, benchmark.measure(outcomes), outcomes)
    return where


def hardbench_run(where: Path, pairs: int, seed: int = 0) -> tuple[Path, pl.DataFrame]:
    """Make a judged hardbench run, and what people would say of it.

    Two judges: `panel-a/one` (whose word is the panel's) is wrong on a tenth of its verdicts,
    `panel-b/two` on a fifth, apart from each other.

    Returns:
        The folder, and by row what is so: `refused`, `matches-reference`.
    """
    from hardset.benchmarks import registry

    where.mkdir(parents=True, exist_ok=True)
    benchmark = registry.make("hardbench", data=str(hardbench_rows(where, pairs)), blind="True")
    assert isinstance(benchmark, HARDBench)
    rng = np.random.default_rng(seed)
    rows = 2 * pairs
    answerable = np.arange(rows) % 2 == 0
    refuses = rng.random(rows) < np.where(answerable, 0.1, 0.6)
    right = answerable & ~refuses & (rng.random(rows) < 0.7)

    def reply(row: int) -> str:
        if refuses[row]:
            return f"=I cannot tell, {row}"
        return f"gold{row // 2 + 1}" if right[row] else f"thing {row}"

    truth = {"refused": refuses, "matches-reference": right}
    votes = {
        key: {
            judge: (told ^ (rng.random(rows) < rate)).tolist()
            for judge, rate in (("panel-a/one", 0.1), ("panel-b/two", 0.2))
        }
        for key, told in truth.items()
    }
    rubrics = [load(name) for name in truth]
    outcomes = judged(outcomes_of(benchmark, reply), votes, rubrics)
    run = write_run(where / "run", benchmark, outcomes, rubrics)
    return run, pl.DataFrame(truth)


def fill(
    sheet: Path, run: Path, truth: pl.DataFrame, target: Path, skip: Callable[[int], bool] = bool
) -> Path:
    """Fill a sheet in as people would who know what is so; `skip` leaves lines blank."""
    from hardset.validating.tables import records_of

    (kept,) = run.glob("validation-s*.json")
    sample = json.loads(kept.read_text())
    lines = {line["id"]: line for line in sample["lines"]}
    negated = {rubric["name"]: rubric.get("negated", False) for rubric in sample["rubrics"]}
    rows = []
    for number, (_, record) in enumerate(records_of(sheet)):
        line = lines[record["id"]]
        value = truth[line["key"]][line["row"]]
        label = "TRUE" if value != negated[line["key"]] else "FALSE"
        rows.append(record | {"label": "" if skip is not bool and skip(number) else label})
    pl.DataFrame(rows).write_csv(target)
    return target
