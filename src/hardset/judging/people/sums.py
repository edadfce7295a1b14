"""What each row or pair adds to the rates, by whatever verdicts: the sums behind `correcting`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.judging.people.sample import base_due
from hardset.judging.rubric import Rubric
from hardset.judging.ruling import rule
from hardset.judging.verdicts import Verdicts
from hardset.metrics import JUDGE, Measurable, Rates
from hardset.metrics.bootstrap import Floats

Declare = Callable[[pl.DataFrame], Iterable[Measurable]]
Verdict = Mapping[str, Floats]
"""By key, (rows,): 0 and 1, grades or letters' places, NaN for none."""


def judged(outcomes: pl.DataFrame, rubrics: Sequence[Rubric]) -> dict[str, Floats]:
    """Give the panel's verdicts as numbers."""
    return {
        key: as_numbers(outcomes[f"verdict_{key}"], rubric)
        for rubric in rubrics
        for key in rubric.keys
    }


def as_numbers(column: pl.Series, rubric: Rubric) -> Floats:
    """Turn a column of verdicts or votes into numbers, (rows,); NaN for none."""
    if rubric.scale == "letter":
        places = {letter: float(ord(letter) - 65) for letter in rubric.letters}
        column = column.replace_strict(places, default=None, return_dtype=pl.Float64)
    found: Floats = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return found


@dataclass(frozen=True)
class Sums:
    """What each unit adds to a rate, and what each row adds where the rate is over rows."""

    top: Floats  # (units,)
    bottom: Floats
    clusters: NDArray[np.int64]  # (units,)
    rows: tuple[Floats, Floats] | None  # (rows,) each
    among: NDArray[np.bool_]  # (units,), which are among those that the rate is over
    reading: str
    better: str
    unit: str  # of the rate, "" for a share

    def differ(self, other: Sums) -> bool:
        """Say whether any unit adds something else."""
        return not (np.allclose(self.top, other.top) and np.allclose(self.bottom, other.bottom))


def sums_of(
    outcomes: pl.DataFrame,
    of: NDArray[np.int64],
    declare: Declare,
    rubrics: Sequence[Rubric],
    verdicts: Verdict,
) -> Iterator[tuple[tuple[int, str], Sums]]:
    """Work out what each unit adds to every rate that is declared, by part and name."""
    columns = pl.DataFrame(
        [
            _as_column(verdicts[key], rubric).alias(f"verdict_{key}")
            for rubric in rubrics
            for key in rubric.keys
        ]
    )
    columns = columns.with_columns(outcomes["verdict_due"])
    reading = [f"{JUDGE}_{part}" for part in ("state", "answer", "rule", "right")]
    bare = outcomes.drop(*columns.columns, *reading, strict=False)
    ruled = rule(bare, Verdicts(rubrics=[], ballots=[], columns=columns, due={}))
    place = pl.DataFrame({"index": outcomes["index"], "repeat": outcomes["repeat"], "\0unit": of})
    place = place.with_row_index("\0row")
    names = [name for name in ("pair",) if name in outcomes.columns]
    pairs = outcomes.select(*names, "repeat").with_columns(pl.Series("\0unit", of))
    for number, part in enumerate(declare(ruled)):
        if not isinstance(part, Rates) or () not in [tuple(cut) for cut in part.by]:
            continue
        frame = part.frame
        if "index" in frame.columns and "repeat" in frame.columns:
            where, keys, single = place, ["index", "repeat"], True
        elif "pair" in frame.columns and "repeat" in frame.columns and names:
            where, keys, single = pairs.unique(["pair", "repeat"]), ["pair", "repeat"], False
        else:
            continue
        known = frame.select(keys).join(where, on=keys, how="left", maintain_order="left")
        unit = known["\0unit"].to_numpy()
        groups = np.unique(of).size
        cluster = _clusters(frame, part.cluster, unit, groups)
        for ratio in part.ratios:
            sides = frame.select(
                side.cast(pl.Float64).fill_null(0).alias(name)
                for name, side in (("top", ratio.top), ("bottom", ratio.bottom))
            )
            top, bottom = (sides[name].to_numpy() for name in ("top", "bottom"))
            rows = None
            if single:
                rows = np.zeros(len(of)), np.zeros(len(of))
                rows[0][known["\0row"].to_numpy()], rows[1][known["\0row"].to_numpy()] = top, bottom
            yield (
                (number, ratio.name),
                Sums(
                    np.bincount(unit, top, groups).astype(np.float64),
                    np.bincount(unit, bottom, groups).astype(np.float64),
                    cluster,
                    rows,
                    np.bincount(unit, minlength=groups) > 0,
                    part.reading,
                    ratio.better,
                    ratio.unit,
                ),
            )


def _as_column(values: Floats, rubric: Rubric) -> pl.Series:
    """Turn numbers back into a column of verdicts."""
    column = pl.Series(values).fill_nan(None)
    if rubric.scale == "binary":
        return column.cast(pl.Boolean)
    if rubric.scale == "letter":
        letters = {float(ord(letter) - 65): letter for letter in rubric.letters}
        return column.replace_strict(letters, default=None, return_dtype=pl.String)
    return column


def filled(outcomes: pl.DataFrame, said: Verdict, rubrics: Sequence[Rubric]) -> Verdict:
    """Put some verdict where one may be due and is not there."""
    return {
        key: np.where(
            np.isnan(said[key]) & base_due(outcomes, rubric),
            rubric.low if rubric.scale == "graded" else 0.0,
            said[key],
        )
        for rubric in rubrics
        for key in rubric.keys
    }


def turned_round(values: Floats, rubric: Rubric) -> Floats:
    """Turn every verdict round: what is not itself, as far away as the scale goes."""
    if rubric.scale == "binary":
        return 1 - values
    if rubric.scale == "graded":
        return np.where(values * 2 > rubric.low + rubric.high, rubric.low, rubric.high) + 0 * values
    first, second = (float(ord(letter) - 65) for letter in list(rubric.letters)[:2])
    return np.where(values == first, second, first) + 0 * values


def _clusters(
    frame: pl.DataFrame, cluster: str | None, unit: NDArray[np.int64], groups: int
) -> NDArray[np.int64]:
    """Give each unit the cluster of its first row in the frame; without one, by itself."""
    labels = np.arange(groups, dtype=np.int64) + len(frame) + 1
    if cluster is not None:
        value = pl.col(cluster)
        lacking = value.is_null()
        if frame.schema[cluster] == pl.String:
            lacking |= value == ""
        number = frame.select(pl.when(lacking).then(None).otherwise(value.rank("dense")))
        numbers = number.to_series().cast(pl.Int64).fill_null(-1).to_numpy()
        there = np.flatnonzero(numbers >= 0)[::-1]  # the first row is written last
        labels[unit[there]] = numbers[there]
    return labels
