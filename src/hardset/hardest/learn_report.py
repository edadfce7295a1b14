"""What `hardset learn` leaves besides its trials: tables, figures, the manifest and the page."""

from __future__ import annotations

import dataclasses
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import hardset
from hardset.errors import UsageError
from hardset.hardest.learn_sets import Flags, Given, Read
from hardset.hardest.trial_files import pretty, write_whole
from hardset.hardest.trials import Training
from hardset.lowresource.examples import Examples, Positions
from hardset.lowresource.learning.results import PEARSON, SPEARMAN, Result, Trial
from hardset.lowresource.learning.summary import Asked
from hardset.lowresource.score_files import Scores
from hardset.lowresource.writing import whole
from hardset.reports.folder import MANIFEST, METRICS, REPORT

if TYPE_CHECKING:
    import polars as pl

RESULTS, SETS = "results.parquet", "sets.parquet"
_LIBRARIES = ("torch", "timm", "transformers", "numpy", "polars")
_ORDER = ["learner", "k", "set", "augment", "seed", "epoch"]


def told(
    sets: Mapping[tuple[str, int, int], Positions], suspected: Flags | None
) -> list[dict[str, Any]]:
    """Say of each set and k how large it is, and how many of its labels are suspected.

    Of sets that differ by seed the mean number of suspected labels.
    """
    found: dict[tuple[str, int], list[Positions]] = {}
    for (name, k, _), positions in sets.items():
        found.setdefault((name, k), []).append(positions)
    lines = []
    for (name, k), each in found.items():
        line: dict[str, Any] = {"set": name, "k": k, "examples": len(each[0])}
        if suspected is not None:
            line["suspected_labels"] = float(np.mean([suspected[one].sum() for one in each]))
        lines.append(line)
    return lines


def manifest(
    training: Training,
    asked: Asked,
    *,
    test: Examples,
    read: Read,
    scores: Sequence[Scores],
    picked: Given | None,
    settings: Mapping[str, Any],
    networks: Sequence[Mapping[str, Any]],
    sets: Sequence[Mapping[str, Any]],
    overlap: Sequence[Mapping[str, Any]],
    results: Mapping[Trial, Result],
    jobs: int,
    started: datetime,
    seconds: float,
) -> dict[str, Any]:
    """Say what was done, with what, and what the reader must know."""
    train, share = training.train, settings["hold-out"]
    overrides = {name: value for name, value in training.overrides.items() if value is not None}
    recipes = {
        (learner, k): training.recipe(learner, k) for learner in asked.learners for k in asked.ks
    }
    departures = [
        f"{name} {value:g} in place of what each recipe has" for name, value in overrides.items()
    ]
    of_trials = {trial: results[trial] for trial in asked.trials() if trial in results}
    return {
        "hardset": hardset.__version__,
        "command": "learn",
        "train": _data(train),
        "test": {
            **({"held out of the training set": share} if share else _data(test)),
            "n": len(test),
            "used": len(read.positions),
            "unreadable": read.unreadable,
            "unlabelled": read.unlabelled,
        },
        "picked": {"choose": picked.name, "k": picked.k} if picked else None,
        "scores": [{"name": one.name, "problems": one.problems.told()} for one in scores],
        "sets": list(sets),
        "learners": [dict(one) for one in networks],
        "weights": training.weights or "as the paper has for each",
        "recipes": [
            {"learner": learner, "k": k, **dataclasses.asdict(recipe)}
            for (learner, k), recipe in recipes.items()
        ],
        "departures": departures,
        "seeds": asked.seeds,
        "augments": list(asked.augments),
        "device": training.device,
        "threads": training.threads,
        "jobs": jobs,
        "overlap": list(overlap),
        "notices": _notices(asked, share, scores, picked, read, overlap, departures, of_trials),
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "training_seconds": round(sum(one.seconds for one in of_trials.values()), 1),
        "settings": dict(settings),
        "host": {
            "python": platform.python_version(),
            "system": platform.platform(),
            "cpus": os.cpu_count(),
            **_versions(),
        },
    }


def write(
    folder: Path,
    metrics: Mapping[str, Any],
    told: Mapping[str, Any],
    results: Iterable[Result],
    sets: Mapping[tuple[str, int, int], Positions],
    *,
    real: bool,
) -> None:
    """Write everything but the trials; the manifest last, as the seal.

    Raises:
        UsageError: the disk is full, or the folder has gone.
    """
    from hardset.reports.learned import write_learned

    try:
        _write_table(folder / SETS, _sets(sets))
        _write_table(folder / RESULTS, _epochs(results, real))
        write_whole(folder / METRICS, pretty(metrics))
        write_learned(folder / REPORT, metrics, told)
        write_whole(folder / MANIFEST, pretty(told))
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from error


def _data(examples: Examples) -> dict[str, Any]:
    return {
        **examples.source,
        "n": len(examples),
        "kind": examples.kind,
        "classes": len(examples.classes) or "real numbers",
    }


def _notices(
    asked: Asked,
    share: float | None,
    scores: Sequence[Scores],
    picked: Given | None,
    read: Read,
    overlap: Sequence[Mapping[str, Any]],
    departures: Sequence[str],
    results: Mapping[Trial, Result],
) -> list[str]:
    """Say what the reader must know before the figures."""
    said = []
    if share:
        said.append(
            f"The test set is {100 * share:.0f} % of the training set, held out at random by label "
            "and in no set that was learned from. Where the scores were made with it in training, "
            "they still know of it."
        )
    if asked.seeds == 1:
        said.append("One seed: there is no interval, and chance cannot be told from a difference.")
    for one in overlap:
        said.append(
            f"{one['n']:,} of {one['of']:,} test examples have the very content of a training "
            f"example: set {one['set']}, k = {one['k']}"
            + (" (of its draws, the most)." if one["set"] == "random" else ".")
        )
    said += [f"Scores, {one.name}: {text}." for one in scores for text in one.problems.told()]
    if picked and picked.relabelled:
        said.append(
            f"Labels of the picked examples put right in a review, and so in every set: "
            f"{picked.relabelled:,}."
        )
    if read.unreadable or read.unlabelled:
        said.append(
            f"Of the test set {read.unreadable:,} examples cannot be read and {read.unlabelled:,} "
            "have no label: they are in no figure."
        )
    if departures:
        said.append(f"Departing from the recipes: {'; '.join(departures)}.")
    if left_out := max((one.left_out for one in results.values()), default=0):
        said.append(f"Up to {left_out:,} training examples of a trial could not be read.")
    return said


def _epochs(results: Iterable[Result], real: bool) -> pl.DataFrame:
    """Lay out every epoch of every trial."""
    import polars as pl

    measure = PEARSON if real else "accuracy"
    rows = [
        {
            **one.trial._asdict(),
            "epoch": number,
            f"train_{measure}": epoch.train,
            f"test_{measure}": epoch.test,
            **({f"test_{SPEARMAN}": epoch.test_spearman} if real else {}),
            "test_loss": epoch.test_loss,
        }
        for one in results
        for number, epoch in enumerate(one.epochs, start=1)
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.sort(_ORDER) if rows else frame


def _sets(sets: Mapping[tuple[str, int, int], Positions]) -> pl.DataFrame:
    """Lay out which examples every set holds, by their index in the training set."""
    import polars as pl

    return pl.concat(
        pl.DataFrame({"index": positions}).select(
            pl.lit(name).alias("set"),
            pl.lit(k, pl.Int64).alias("k"),
            pl.lit(seed, pl.Int64).alias("seed"),
            "index",
        )
        for (name, k, seed), positions in sets.items()
    )


def _write_table(path: Path, frame: pl.DataFrame) -> None:
    whole(path, lambda part: frame.write_parquet(part, compression="zstd"))


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
