"""Items of two runs over the same benchmark: which are the same, and which got right by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from hardset.metrics.rates import columns

SAME = {
    "question": "question",
    "gold": "gold answer",
    "answerable": "whether it can be answered",
    "sha256": "picture",
}
"""The columns by which an item is the same in both runs, and how they are called."""
_MAY_LACK = ("sha256",)  # blind runs have no picture, which says nothing about the item


@dataclass(frozen=True, kw_only=True)
class Matched:
    """Which items two runs have in common, and which are left out of the comparison, and why."""

    items: int  # in both runs, and the same
    first_only: Sequence[str] = ()  # ids
    second_only: Sequence[str] = ()
    changed: Sequence[tuple[str, str]] = ()  # id, and what of it is not the same
    doubled: Sequence[str] = ()  # ids that stand for several items


@dataclass(frozen=True, kw_only=True)
class Flips:
    """The items by who got them right, by one reading: ids in the data's order.

    With repeats an item is right where more than half of them are.
    """

    both: int
    neither: int
    lost: Sequence[str]  # right in the first run alone
    gained: Sequence[str]  # right in the second run alone
    unknown: int = 0  # without a verdict in a run: in none of the others
    reading: str = ""  # whose; "" is the headline's


def match(first: pl.DataFrame, second: pl.DataFrame) -> tuple[Matched, pl.DataFrame, pl.DataFrame]:
    """Find the items that two runs have in common, and cut both down to them.

    Args:
        first: outcomes of the one run: item, index, repeat, and of `SAME` what there is.
        second: outcomes of the other.

    Returns:
        What is in common and what is not; then both frames, cut down to what is, in the order of
        the first run and with its `index`.
    """
    same = [name for name in SAME if name in first.columns and name in second.columns]
    one, two = _items(first, same), _items(second, same)
    doubled = pl.concat([one, two]).filter("doubled")["item"].unique(maintain_order=True)
    one, two = (side.filter(~pl.col("item").is_in(doubled.implode())) for side in (one, two))
    both = one.join(two, on="item", how="inner", suffix=" too", maintain_order="left")
    unlike = both.select("item", *(_unlike(name).alias(SAME[name]) for name in same))
    changed = [
        (row.pop("item"), " and ".join(name for name, differs in row.items() if differs))
        for row in unlike.filter(pl.any_horizontal(pl.exclude("item"))).iter_rows(named=True)
    ] if same else []  # fmt: skip
    kept = both.filter(~pl.col("item").is_in([ident for ident, _ in changed]))
    matched = Matched(
        items=len(kept),
        first_only=one.join(two, on="item", how="anti", maintain_order="left")["item"].to_list(),
        second_only=two.join(one, on="item", how="anti", maintain_order="left")["item"].to_list(),
        changed=changed,
        doubled=doubled.to_list(),
    )
    index = kept.select("item", pl.col("index").alias("\0index"))
    before, after = (
        frame.join(index, on="item", how="inner")
        .with_columns(pl.col("\0index").alias("index"))
        .drop("\0index")
        .sort("index", "repeat", maintain_order=True)
        for frame in (first, second)
    )
    return matched, before, after


def _items(frame: pl.DataFrame, same: Sequence[str]) -> pl.DataFrame:
    """Give each item of a run once, with what it is known by."""
    return frame.group_by("item", maintain_order=True).agg(
        pl.col("index").first(),
        (pl.col("index").n_unique() > 1).alias("doubled"),
        *(pl.col(name).first().cast(pl.String).fill_null("") for name in same),
    )


def _unlike(name: str) -> pl.Expr:
    """Say whether a column of an item is not the same in both runs."""
    one, two = pl.col(name), pl.col(f"{name} too")
    unlike = one != two
    return unlike & (one != "") & (two != "") if name in _MAY_LACK else unlike


def flips(first: pl.DataFrame, second: pl.DataFrame, reading: str = "") -> Flips:
    """Sort the items by which run got them right, in more than half of their repeats.

    Args:
        first: outcomes of the one run, cut down by `match`.
        second: outcomes of the other.
        reading: whose `right` counts; "" is the headline's. A row without a verdict of that
            reading says nothing, and an item of such rows alone is unknown.
    """
    state, column = columns(reading)

    def right(frame: pl.DataFrame) -> pl.DataFrame:
        said = pl.col(column)
        if state in frame.columns:
            said = pl.when(pl.col(state).is_not_null()).then(said)
        return frame.group_by("item", maintain_order=True).agg((said.mean() > 0.5).alias("right"))

    one, two = pl.col("right"), pl.col("right too")
    both = right(first).join(right(second), on="item", suffix=" too", maintain_order="left")
    return Flips(
        both=both.filter(one & two).height,
        neither=both.filter(~one & ~two).height,
        lost=both.filter(one & ~two)["item"].to_list(),
        gained=both.filter(~one & two)["item"].to_list(),
        unknown=both.filter(one.is_null() | two.is_null()).height,
        reading=reading,
    )
