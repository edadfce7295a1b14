"""A finished run that was judged: its verdicts, the rubrics behind them, and its items again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from hardset.benchmarks import registry
from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.judging import Rubric, load
from hardset.metrics.votes import judges as judges_of
from hardset.records import Item, Metric
from hardset.reports import folder


class Judged(NamedTuple):
    """A finished run that was judged."""

    folder: Path
    manifest: dict[str, Any]
    metrics: list[Metric]
    outcomes: pl.DataFrame
    sha256: str  # of the file of the outcomes


def kept_at(done: Judged, mark: str) -> Path:
    """Name the file in the run's folder that says what was drawn for a sheet."""
    return done.folder / f"validation-{mark}.json"


def read_judged(where: Path) -> Judged:
    """Read the folder of a run that was judged.

    Raises:
        UsageError: it is no finished run, or was not judged.
    """
    where = folder.find_run(where)
    manifest, metrics, outcomes = folder.read_folder(where)
    if not isinstance(manifest.get("benchmark"), str):
        raise UsageError(f"{where / folder.MANIFEST} names no benchmark")
    if not isinstance(manifest.get("rubrics"), dict) or not manifest["rubrics"]:
        raise UsageError(
            f"{where} was not judged, so that there is nothing to validate: run or score it with "
            "--judge"
        )
    twice = outcomes.filter(pl.struct("index", "repeat").is_duplicated())
    if len(twice):
        raise UsageError(
            f"{where / folder.OUTCOMES} is damaged: it has two rows of item {twice['item'][0]!r} "
            f"and repeat {twice['repeat'][0]}"
        )
    with (where / folder.OUTCOMES).open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Judged(where, manifest, metrics, outcomes, sha256)


def rubrics_of(done: Judged, files: Sequence[str | Path]) -> list[Rubric]:
    """Load the rubrics that the run was judged by: the very same, by their hashes.

    Raises:
        UsageError: one is not to be had.
    """
    given = {rubric.name: rubric for rubric in map(load, files)}
    found = []
    for name, sha256 in done.manifest["rubrics"].items():
        try:
            rubric = given[name] if name in given else _kept(done, name)
        except UsageError as error:
            raise UsageError(
                f"{done.folder} does not hold the rubric {name!r} that it was judged by: "
                f"give its file with --rubric ({error})"
            ) from error
        if rubric.sha256 != sha256:
            raise UsageError(
                f"the rubric {name} is not the one that {done.folder} was judged by: people would "
                "be asked another question. Give the file as it was with --rubric, or judge again"
            )
        if wrong := _wrong(done.outcomes, rubric):
            raise UsageError(
                f"{done.folder / folder.OUTCOMES} {wrong}, though the manifest says that {name} "
                "was asked: it is damaged; run it again, its replies and verdicts are in the store"
            )
        found.append(rubric)
    # what shows least comes first: on a reply's lines, no line tells what the one before asks
    return sorted(found, key=lambda one: (one.later, one.picture, len(one.sees), one.name))


def _wrong(outcomes: pl.DataFrame, rubric: Rubric) -> str:
    """Say what the outcomes lack of what a rubric's verdicts need; "" where all is there."""
    verdict = {"binary": pl.Boolean, "graded": pl.Float64, "letter": pl.String}[rubric.scale]
    wanted: dict[str, Any] = {
        "reply": pl.String,
        "verdict_due": pl.Boolean,
        "answerable": pl.Boolean,
    }
    wanted |= {name: pl.String for name in ("category", "pair", "role") if name in outcomes.columns}
    for key in rubric.keys:
        wanted |= {f"verdict_{key}": verdict, f"panel_{key}": pl.String}
        vote = pl.Int16 if rubric.scale == "graded" else verdict
        wanted |= {f"vote_{key}@{judge}": vote for judge in judges_of(outcomes.columns, key)}
    for name, dtype in wanted.items():
        if name not in outcomes.columns:
            return f"has no column {name}"
        if outcomes.schema[name] != dtype:
            return f"has a column {name} of type {outcomes.schema[name]}"
    gaps = ("answerable", "verdict_due")
    return next((f"has gaps in {name}" for name in gaps if outcomes[name].has_nulls()), "")


def _kept(done: Judged, name: str) -> Rubric:
    """Load a rubric as the run keeps it, or else, of that name, from those of this program."""
    path = done.folder / folder.RUBRICS / f"{name}.toml"
    return load(path) if path.is_file() else load(name)


def wanted_keys(rubrics: Sequence[Rubric], only: Sequence[str]) -> list[str]:
    """Name the verdicts to label, of rubrics or verdicts that are named; all if none are.

    Raises:
        UsageError: the run has none of that name.
    """
    known = {name: rubric.keys for rubric in rubrics for name in (rubric.name, *rubric.keys)}
    for name in only:
        if name not in known:
            raise UsageError(f"the run has no verdict {name!r}; it has {', '.join(known)}")
    return [
        key
        for rubric in rubrics
        for key in rubric.keys
        if rubric.name in only or key in only or not only
    ]


def items_of(done: Judged, rows: set[int]) -> tuple[dict[int, Item], Benchmark | None, list[str]]:
    """Give the items of some rows by index: as the benchmark makes them, else as the outcomes know.

    Returns:
        The items; the benchmark, where it could be made again; and, where not, why.
    """
    outcomes = done.outcomes
    wanted = {int(outcomes["index"][row]): row for row in rows}
    why = ""
    try:
        made = _made_again(done)
        found = {index: item for index, item in enumerate(made.items()) if index in wanted}
        ids = {index: outcomes["item"][row] for index, row in wanted.items()}
        other = next((index for index in ids if _id(found, index) != ids[index]), None)
        if other is None:
            return found, made, []
        why = f"item {other} is another one now"
    except Exception as error:  # whatever a plug-in or its data do
        why = str(error)
    lacking = f"options, notes and pictures are missing, since the data are not there: {why}"
    known = {}
    for index, row in wanted.items():
        told = outcomes.row(row, named=True)
        known[index] = Item(
            id=told["item"],
            question=str(told.get("question") or ""),
            answer=str(told.get("gold") or ""),
            answerable=bool(told.get("answerable", True)),
            form="open",
        )
    return known, None, [lacking]


def _id(items: Mapping[int, Item], index: int) -> str | None:
    return items[index].id if index in items else None


def _made_again(done: Judged) -> Benchmark:
    """Make the run's benchmark as its manifest says, without pictures if there are none."""
    name, given = done.manifest["benchmark"], done.manifest.get("options") or {}
    try:
        made = registry.make(name, **given)
    except UsageError:
        if "blind" in given or "blind" not in registry.options(name):
            raise
        made = registry.make(name, **given, blind=True)
    if made.revision != done.manifest.get("revision"):
        raise UsageError(f"the data are of another revision now: {made.revision}")
    return made


def rubrics_asked(done: Judged, drawn: Sequence[Rubric]) -> list[Rubric]:
    """Give all rubrics that the run was judged by: those drawn as they were, the others as found.

    One that is not to be had any more is left out, and what depends on it is not looked at.
    """
    known = {rubric.name: rubric for rubric in drawn}
    found = []
    for name in done.manifest["rubrics"]:
        try:
            found.append(known[name] if name in known else _kept(done, name))
        except UsageError:
            continue
    return [one for one in found if all(f"verdict_{k}" in done.outcomes.columns for k in one.keys)]
