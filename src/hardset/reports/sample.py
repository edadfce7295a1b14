"""Which items the browsable sample shows: some of everything that happened."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl


def choose(frames: Sequence[pl.DataFrame], most: int = 60, seed: int = 0) -> list[int]:
    """Pick items so that every state, every category and every disagreement is seen.

    What happened to an item is the states and rights of all models on it. Items are taken in
    turns from what happened and from the categories, the rarest kinds as early as the
    commonest; within a kind, by chance that the seed decides.

    Args:
        frames: the outcome columns of each run (index, state, right; repeat and category are
            used where they are there); of several repeats the first counts.
        most: how many items at most.
        seed: moves the choice; the same seed and outcomes give the same choice.

    Returns:
        Indices into the benchmark's items, ascending.
    """
    if not any(len(frame) for frame in frames):
        return []
    rows = pl.concat(_what_happened(frame, i) for i, frame in enumerate(frames))
    chance = (pl.col("index") + 1 + seed * 7919) * 2654435761 % 4294967291  # fixed for all time
    items = (
        rows.sort("run", "index")
        .group_by("index")
        .agg(pl.col("happened").str.join("|"), pl.col("category").first())
        .with_columns(chance.alias("chance"))
        .sort("chance", "index")
        .with_columns(
            pl.int_range(pl.len()).over("happened").alias("turn"),
            pl.int_range(pl.len()).over("category").alias("turn of category"),
            pl.int_range(pl.len()).over("category", "happened").alias("turn of both"),
        )
        .sort(pl.min_horizontal("turn", "turn of category"), "turn of both", "chance", "index")
    )
    return sorted(items["index"].head(most).to_list())


def _what_happened(frame: pl.DataFrame, run: int) -> pl.DataFrame:
    """Give each item's state and whether it was right, in one run."""
    if "repeat" in frame.columns:
        frame = frame.filter(pl.col("repeat") == pl.col("repeat").min().over("index"))
    category = pl.col("category") if "category" in frame.columns else pl.lit("")
    return frame.select(
        pl.col("index").cast(pl.UInt64),
        pl.lit(run).alias("run"),
        pl.format("{} {}", "state", pl.col("right").fill_null(False)).alias("happened"),
        category.fill_null("").alias("category"),
    )
