"""Pairs of items that are only worth something together, and the rates over them.

`pair_up` lays the two members of each pair side by side; the ratios below read the columns
it makes (`first_right`, `second_right`). One row of it is one pair on one repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from hardset.metrics.ratios import Ratio


class Pairs(NamedTuple):
    """What `pair_up` found: the sound pairs, and those that cannot be counted."""

    sound: pl.DataFrame  # pair, repeat, first_<column> ..., second_<column> ..., kept columns
    broken: pl.DataFrame  # pair, repeat, roles ("POS, POS"), in the order of the rows


def pair_up(
    frame: pl.DataFrame,
    *,
    first: str,
    second: str,
    columns: Sequence[str],
    keep: Sequence[str] = (),
) -> Pairs:
    """Lay the members of each pair side by side, whatever their order in the frame.

    Args:
        frame: outcome rows with `pair`, `role`, the `columns` and `keep`; with `repeat`, a pair
            is made in each repeat. Rows whose pair is null or empty belong to none.
        first: the role of the first member (POS, original).
        second: the role of the second member (NEG, edited).
        columns: what to lay side by side, as first_<column> and second_<column>.
        keep: columns taken over from the first member (the cuts, the cluster).

    Returns:
        One row a pair, in order of first appearance. A pair is sound if it has exactly one
        member of each role; any other (a member missing, a role twice, a third member, a
        role of another name) is among the broken, with the roles it has.
    """
    if "repeat" not in frame.columns:
        frame = frame.with_columns(repeat=pl.lit(0))
    role = pl.col("role").fill_null("")
    is_first, is_second = role == first, role == second
    grouped = (
        frame.lazy()
        .filter(pl.col("pair").fill_null("") != "")
        .group_by("pair", "repeat", maintain_order=True)
        .agg(
            (is_first.sum() == 1).alias("\0one"),
            (is_second.sum() == 1).alias("\0other"),
            pl.len().alias("\0members"),
            role.alias("roles"),
            *(pl.col(c).filter(is_first).first().alias(f"first_{c}") for c in columns),
            *(pl.col(c).filter(is_second).first().alias(f"second_{c}") for c in columns),
            *(pl.col(c).filter(is_first).first() for c in keep if c not in ("pair", "repeat")),
        )
        .collect()
    )
    sound = pl.col("\0one") & pl.col("\0other") & (pl.col("\0members") == 2)
    return Pairs(
        grouped.filter(sound).drop("\0one", "\0other", "\0members", "roles"),
        grouped.filter(~sound).select("pair", "repeat", pl.col("roles").list.join(", ")),
    )


def paired_accuracy(column: str = "right", name: str = "paired accuracy") -> Ratio:
    """Pairs with both members handled right over pairs: what always refusing cannot get.

    Source: the check that HARDBench's F1 lacks (shared by every paired design; Gardner et al.
    2020, "contrast consistency").
    """
    return Ratio(
        name=name,
        top=_first(column) & _second(column),
        bottom=pl.lit(1),
        about="pairs with both members right / pairs",
    )


def pair_cells(column: str = "right", first: str = "first", second: str = "second") -> list[Ratio]:
    """The 2x2 of the pairs beside `paired_accuracy`, its fourth cell: the four add up to 1.

    Args:
        column: what `pair_up` laid side by side.
        first: what to call the first member in the names.
        second: what to call the second.
    """
    one, other = _first(column), _second(column)
    cells = (
        (f"{first} only", one & ~other, "", f"the {first} right and the {second} wrong / pairs"),
        (f"{second} only", ~one & other, "", f"the {second} right and the {first} wrong / pairs"),
        ("neither", ~one & ~other, "lower", "neither member right / pairs"),
    )
    return [
        Ratio(name=name, top=top, bottom=pl.lit(1), better="lower" if better else "", about=about)
        for name, top, better, about in cells
    ]


def robustness_accuracy(column: str = "right", name: str = "RA") -> Ratio:
    """MMR's RA: pairs with the positive and the negative question right over pairs.

    Source: "Seeing Clearly, Answering Incorrectly" (MMR), Liu et al. 2024, its RA.
    """
    return Ratio(
        name=name,
        top=_first(column) & _second(column),
        bottom=pl.lit(1),
        about="robustness accuracy: both questions right / pairs (MMR)",
    )


def misleading_rate(column: str = "right", name: str = "MR") -> Ratio:
    """MMR's MR: positive right and negative wrong, over positive right; lower is better.

    Undefined where no positive is right: a model that sees nothing cannot be misled.
    Source: "Seeing Clearly, Answering Incorrectly" (MMR), Liu et al. 2024, its MR.
    """
    return Ratio(
        name=name,
        top=_first(column) & ~_second(column),
        bottom=_first(column),
        better="lower",
        about="misleading rate: positive right and negative wrong / positive right (MMR)",
    )


def two_by_two(sound: pl.DataFrame, column: str = "right", by: Sequence[str] = ()) -> pl.DataFrame:
    """Count the pairs by which members are right: both, first_only, second_only, neither."""
    one, other = _first(column), _second(column)
    cells = [
        (one & other).sum().alias("both"),
        (one & ~other).sum().alias("first_only"),
        (~one & other).sum().alias("second_only"),
        (~one & ~other).sum().alias("neither"),
    ]
    return sound.group_by(list(by)).agg(cells).sort(list(by)) if by else sound.select(cells)


def _first(column: str) -> pl.Expr:
    return pl.col(f"first_{column}").fill_null(False)


def _second(column: str) -> pl.Expr:
    return pl.col(f"second_{column}").fill_null(False)
