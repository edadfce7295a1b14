"""One table of all scorers, `difficulty.parquet`, and how far they agree, `stability.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.hardest.parts import Parts, write_frame, write_json
from hardset.hardest.score_pass import SCORED, STATES
from hardset.lowresource import stability
from hardset.lowresource.difficulty import SCORES
from hardset.lowresource.ranks import Floats, aggregate, normalised
from hardset.lowresource.stability import Column, Pair

TABLE, STABILITY = "difficulty.parquet", "stability.json"


def write_table(
    out: Path,
    made: Mapping[tuple[str, int, str], Parts],
    scores: Sequence[str],
    classes: Sequence[str],
) -> tuple[dict[str, int], list[Pair]]:
    """Write the table of all scorers and their stability.

    An example that any of them could not score has neither mean nor rank, so that all examples
    with a rank were ranked by the same scorers.

    Args:
        out: the folder.
        made: the parts that each predictor left, by name, seed and family.
        scores: names in `SCORES`.
        classes: the labels' names; empty for real numbers.

    Returns:
        How many examples are in each state, and the pairs held against each other.
    """
    states = _states(made)
    scored = states == STATES.index(SCORED)
    columns: dict[Column, Floats] = {}
    means: dict[str, pl.Series] = {}
    origins: dict[str, pl.Series] = {}
    families = [family for _, _, family in made]
    for score in scores:
        held = []
        for (name, seed, family), parts in made.items():
            values = _column(parts, score)
            origins[f"{score}@{name}#{seed}"] = pl.Series(values, nan_to_null=True)
            held.append(np.where(scored, values, np.nan))
            columns[Column(score, name, seed, family)] = held[-1] * SCORES[score].hard
        ranks = [normalised(values, SCORES[score].hard) for values in held]
        means[score] = pl.Series(aggregate(held, families).rank, nan_to_null=True)
        means[f"rank_{score}"] = pl.Series(aggregate(ranks, families).rank, nan_to_null=True)
        del held, ranks
    pairs = stability.table(columns)
    write_json(out / STABILITY, stability.document(pairs, len(states)))
    del columns
    first = next(iter(made.values()))
    frame = _scan(first).select("index", "id", "label").collect()
    frame = frame.with_columns(
        _named(frame["label"], classes),
        pl.Series(STATES).gather(states).alias("state"),
    ).with_columns(**means, **origins)
    write_frame(out / TABLE, frame)
    counts = np.bincount(states, minlength=len(STATES))
    return {state: int(counts[number]) for number, state in enumerate(STATES)}, pairs


def _states(made: Mapping[tuple[str, int, str], Parts]) -> NDArray[np.uint8]:
    """Return the state of each example: of several, the one that says most against it."""
    worst: NDArray[np.uint8] | None = None
    for parts in made.values():
        column = _scan(parts).select(
            pl.col("state").cast(pl.Enum(STATES)).to_physical().cast(pl.UInt8)
        )
        states = column.collect()["state"].to_numpy()
        worst = states.copy() if worst is None else np.maximum(worst, states)
    assert worst is not None
    return worst


def _column(parts: Parts, name: str) -> NDArray[np.float64]:
    """Read one column of all parts, (n,); NaN where it is null."""
    values = _scan(parts).select(pl.col(name).fill_null(float("nan"))).collect()[name].to_numpy()
    return values.copy()


def _scan(parts: Parts) -> pl.LazyFrame:
    return pl.scan_parquet([str(path) for path in parts.paths()], glob=False)


def _named(labels: pl.Series, classes: Sequence[str]) -> pl.Series:
    """Return the name of each label; none where labels are real numbers."""
    if not classes:
        return pl.Series("class", [None], dtype=pl.String).new_from_index(0, len(labels))
    names = pl.Series(classes, dtype=pl.String)
    return names.gather(labels.cast(pl.UInt32)).alias("class")
