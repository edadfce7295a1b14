"""The votes of a panel as the outcome columns hold them, laid out as numbers, question by question.

A *key* K is one thing that judges were asked of a reply. Its columns are `vote_K@JUDGE`, one a
judge, `verdict_K` and `panel_K` (see `judging.panel`), `by_K` where a cascade decided, and
`again_K@JUDGE` and `turned_K@JUDGE` where judges were asked once more. All that is said of judges
is worked out from these, so that a finished run can be read again without its judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.metrics.bootstrap import Counts, Floats
from hardset.metrics.clusters import connected

Scale = Literal["binary", "graded", "letter"]
Mask = NDArray[np.bool_]

TIED = ("pair", "scene", "picture", "parent")
"""Columns whose equal values stand or fall together, where they are there."""
RULE = "rule"
CHECKS = {"again": "asked again", "turned": "turned round"}
"""How a judge is asked once more, and what to call it: as before, or in the opposite order."""


@dataclass(frozen=True, kw_only=True)
class Votes:
    """What the judges said on one key, on the rows that were due.

    Attributes:
        key: the rubric's name, or `NAME.part`.
        scale: of the votes.
        judges: their names.
        rows: (units,), the position in the outcomes of each row that was due.
        votes: (units, judges): 0 and 1, grades, or a letter's place; NaN for none.
        verdict: (units,), the panel's, on the same scale; NaN for none.
        tied: (units,), whether there is none because as many say one thing as another.
        by: (units,), who decided; empty texts where there was no cascade.
        lengths: (units,), characters of the reply.
        clusters: (units,), rows with one number stand or fall together.
    """

    key: str
    scale: Scale
    judges: Sequence[str]
    rows: Counts
    votes: Floats
    verdict: Floats
    tied: Mask
    by: NDArray[np.str_]
    lengths: Floats
    clusters: Counts

    @property
    def cascade(self) -> bool:
        """Whether not every row was put before the whole panel."""
        return bool((self.by != "").any())

    @property
    def given(self) -> Mask:
        """Which votes there are, (units, judges)."""
        given: Mask = ~np.isnan(self.votes)
        return given

    @property
    def asked(self) -> Mask:
        """Which rows were for the whole panel, (units,): all of them but in a cascade."""
        asked: Mask = (self.by == "") | (self.by == "panel")
        return asked

    @property
    def majority(self) -> Floats:
        """What the votes come to by themselves, whoever decided, (units,); binary votes only.

        NaN for a tie or no vote. It is the verdict, but where a cascade's rule decided and the
        panel was asked all the same.
        """
        said = self.given.sum(axis=1)
        twice = 2 * np.where(self.given, self.votes, 0).sum(axis=1)
        return np.where(twice > said, 1.0, np.where(twice < said, 0.0, np.nan))

    @property
    def panel(self) -> Floats:
        """What the panel itself says, (units,): where a rule decided, what the votes come to."""
        if self.scale != "binary":
            return self.verdict
        return np.where(self.by == RULE, self.majority, self.verdict)

    def shown(self, value: float) -> str:
        """Write a vote as people do: TRUE, 4, B; "no vote" for NaN."""
        if np.isnan(value):
            return "no vote"
        if self.scale == "binary":
            return "TRUE" if value else "FALSE"
        return ascii_uppercase[int(value)] if self.scale == "letter" else f"{value:.3g}"


def keys(columns: Sequence[str]) -> list[str]:
    """Name what judges were asked, in the order of the columns; empty where there were none."""
    names = [name.removeprefix("verdict_") for name in columns if name.startswith("verdict_")]
    return [key for key in names if f"panel_{key}" in columns and judges(columns, key)]


def judges(columns: Sequence[str], key: str) -> list[str]:
    """Name who was asked about a key."""
    start = f"vote_{key}@"
    return [name.removeprefix(start) for name in columns if name.startswith(start)]


def read_votes(outcomes: pl.DataFrame) -> list[Votes]:
    """Lay every key's votes out; empty where the run has no judges."""
    found = keys(outcomes.columns)
    if not found:
        return []
    clusters = clusters_of(outcomes).to_numpy()
    lengths = outcomes["reply"].str.len_chars().fill_null(0).cast(pl.Float64).to_numpy()
    return [_of_key(outcomes, key, clusters, lengths) for key in found]


def second_votes(outcomes: pl.DataFrame, votes: Votes, check: str) -> dict[str, Floats]:
    """Give what each judge said when asked once more, (units,), by judge.

    Args:
        outcomes: the columns that `votes` are from.
        votes: of one key.
        check: one of `CHECKS`.
    """
    names = {judge: f"{check}_{votes.key}@{judge}" for judge in votes.judges}
    return {
        judge: _numbers(outcomes[name])[votes.rows]
        for judge, name in names.items()
        if name in outcomes.columns
    }


def clusters_of(outcomes: pl.DataFrame) -> pl.Series:
    """Number what stands or falls together: repeats of an item, rows of one pair or picture."""
    tied = [name for name in TIED if name in outcomes.columns]
    frame = outcomes.select("item", *tied)
    if "parent" in tied:  # a main question is tied to its parts
        main = pl.col("item").is_in(pl.col("parent").implode())
        frame = frame.with_columns(parent=pl.when(main).then("item").otherwise("parent"))
    return connected(frame, ["item", *tied])


def _of_key(outcomes: pl.DataFrame, key: str, clusters: Counts, lengths: Floats) -> Votes:
    how = outcomes[f"panel_{key}"].fill_null("")
    rows = np.flatnonzero((how != "").to_numpy())
    verdict = outcomes[f"verdict_{key}"]
    scale: Scale = {pl.Boolean: "binary", pl.String: "letter"}.get(  # type: ignore[assignment]
        verdict.dtype.base_type(), "graded"
    )
    names = judges(outcomes.columns, key)
    each = [_numbers(outcomes[f"vote_{key}@{name}"])[rows] for name in names]
    by = f"by_{key}"
    decided = outcomes[by].fill_null("").to_list() if by in outcomes.columns else [""] * len(how)
    return Votes(
        key=key,
        scale=scale,
        judges=names,
        rows=rows,
        votes=np.stack(each, axis=1),
        verdict=_numbers(verdict)[rows],
        tied=how.str.ends_with("tie").to_numpy()[rows],
        by=np.array(decided, dtype=np.str_)[rows],
        lengths=lengths[rows],
        clusters=clusters[rows],
    )


def _numbers(column: pl.Series) -> Floats:
    """Turn votes into floats; a letter into its place, null into NaN."""
    if column.dtype == pl.String:
        column = column.cast(pl.Enum(list(ascii_uppercase)), strict=False).to_physical()
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()
