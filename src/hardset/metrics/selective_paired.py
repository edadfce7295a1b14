"""Selective prediction of two runs over the same items: every figure's difference.

Both runs are resampled alike: what either run's clusters, or an item in both, tie together is
drawn together. Each run keeps its own ranking and its own halves, so that its figures under all
weights 1 are the ones that are reported of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from hardset.metrics.bootstrap import Counts, Floats, generator
from hardset.metrics.clusters import connected
from hardset.metrics.difference import Difference, beside, by_resampling
from hardset.metrics.ranked import Fraction, Ranked, calibration_gaps, coarse
from hardset.metrics.selective import (
    LABEL,
    MOST_DRAWS,
    MOST_RANKS,
    in_parts,
    ranked_answers,
    resample,
)

if TYPE_CHECKING:
    from hardset.metrics.selective import Key, Selective
    from hardset.records import Metric


def selective_differences(
    first: Selective, second: Selective, draws: int = 10_000, seed: int = 0
) -> list[Difference]:
    """Hold every figure of two runs against each other, overall and in every slice.

    Args:
        first: the baseline's.
        second: the same of another run over the same items.
        draws: resamples, of which `MOST_DRAWS` are made at most.
        seed: of the resamples.

    Returns:
        Second minus first, p not yet adjusted; what one run alone has comes without a difference.
    """
    draws = min(draws, MOST_DRAWS)
    known = {tuple(cut.items()): rows for cut, rows in second.slices()}
    found: list[Difference] = []
    for cut, rows in first.slices():
        others = known.pop(tuple(cut.items()), None)
        mine = first.slice_metrics(rows, cut, draws, seed)
        if others is None:
            found += [beside(metric, None) for metric in mine.values()]
            continue
        theirs = second.slice_metrics(others, cut, draws, seed)
        drawn, clusters = _drawn(first, rows, second, others, draws, generator(seed, "paired", cut))
        for key in [*mine, *(key for key in theirs if key not in mine)]:
            found.append(_difference(mine.get(key), theirs.get(key), drawn.get(key), clusters))
    for cut_items, rows in known.items():
        alone = second.slice_metrics(rows, dict(cut_items), draws, seed)
        found += [beside(None, metric) for metric in alone.values()]
    return found + first.known().differences(second.known(), draws, seed)


def _difference(
    first: Metric | None, second: Metric | None, drawn: Floats | None, clusters: int
) -> Difference:
    if first is None or second is None or drawn is None:
        return beside(first, second)
    if np.isnan(drawn).all():
        return beside(first, second, "undefined in one of the runs")
    return by_resampling(first, second, drawn, clusters)


def _drawn(
    first: Selective,
    rows: pl.DataFrame,
    second: Selective,
    others: pl.DataFrame,
    draws: int,
    rng: np.random.Generator,
) -> tuple[dict[Key, Floats], int]:
    """Draw the differences, (draws,) each, NaN where undefined; and say of how many clusters."""
    (one, in_one), (two, in_two), clusters = _together(rows, others)
    if not clusters:
        return {}, 0

    fewer = coarse(one, MOST_RANKS), coarse(two, MOST_RANKS)
    gaps = calibration_gaps(one, first.bins), calibration_gaps(two, second.bins)

    def figures(size: int, own: np.random.Generator) -> Mapping[Key, Fraction]:
        weights = resample(clusters, size, own)
        before = first.figures(fewer[0], weights[:, in_one], gaps[0])
        after = second.figures(fewer[1], weights[:, in_two], gaps[1])
        shared = before.keys() & after.keys()
        return {key: (_ratio(after[key]) - _ratio(before[key]), np.ones(size)) for key in shared}

    held = max(clusters, len(one.right) + len(two.right))
    return {key: top for key, (top, _) in in_parts(figures, held, draws, rng).items()}, clusters


def _together(
    rows: pl.DataFrame, others: pl.DataFrame
) -> tuple[tuple[Ranked, Counts], tuple[Ranked, Counts], int]:
    """Rank each run's answers, and number what each of its clusters is drawn with."""
    sides = [
        part.select(pl.col(LABEL).alias(f"\x00{i}"), "\0item", pl.lit(i).alias("\0run"))
        for i, part in enumerate((rows, others))
    ]
    both = pl.concat(sides, how="diagonal")
    numbers = connected(both, ["\x000", "\x001", "\0item"])
    both = both.with_columns(numbers.cast(pl.Int64).alias("\0number"))
    found = []
    for i, part in enumerate((rows, others)):
        place = (
            both.filter(pl.col("\0run") == i).group_by(f"\x00{i}").agg(pl.col("\0number").first())
        )
        found.append((ranked_answers(part), place.sort(f"\x00{i}")["\0number"].to_numpy()))
    return found[0], found[1], int(both["\0number"].n_unique())


def _ratio(fraction: Fraction) -> Floats:
    top, bottom = fraction
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1), np.nan)
