"""The rows on which judges are of two minds, or the rules and the panel are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from hardset.metrics.bootstrap import Counts
from hardset.metrics.panel import rules_say
from hardset.metrics.votes import Mask, Votes
from hardset.reports.text import clip

MOST = 20
_ENDS = 220  # characters of either end of a long reply
_LONG = 500


@dataclass(frozen=True)
class Voice:
    """Who says what: a judge, the panel or the rules."""

    name: str
    said: str
    odd: bool  # other than the panel


@dataclass(frozen=True)
class Vote:
    """One key on one row."""

    key: str
    verdict: str  # the panel's
    how: str  # "2 of 3"
    voices: Sequence[Voice]


@dataclass(frozen=True)
class Disputed:
    """A row in dispute."""

    item: str
    repeat: int
    question: str
    gold: str
    reply: str
    whole: str  # the reply where `reply` is only its ends
    votes: Sequence[Vote]


def disputed(outcomes: pl.DataFrame, votes: Sequence[Votes]) -> tuple[list[Disputed], int]:
    """Pick rows in dispute: of each key in turn, by chance that is the same each time.

    Args:
        outcomes: the outcome columns.
        votes: as read from them.

    Returns:
        At most `MOST` rows, in the order of the benchmark; and how many there are in all.
    """
    found = [(one, one.rows[_dispute(outcomes, one)]) for one in votes]
    every = np.unique(np.concatenate([rows for _, rows in found]))
    queues = [_shuffled(rows) for _, rows in found]
    picked: dict[int, None] = {}
    for turn in range(max((len(queue) for queue in queues), default=0)):
        for queue in queues:
            if turn < len(queue) and len(picked) < MOST:
                picked[queue[turn]] = None
    frame = outcomes.select(
        "item",
        pl.col("repeat") if "repeat" in outcomes.columns else pl.lit(0).alias("repeat"),
        "question",
        "gold" if "gold" in outcomes.columns else pl.lit("").alias("gold"),
        "answerable",
        "reply",
        *(f"panel_{one.key}" for one in votes),
    )
    shown = []
    for row in sorted(picked):
        line = frame.row(row, named=True)
        whole = clip(line["reply"] or "")
        long = len(whole) > _LONG
        shown.append(
            Disputed(
                item=line["item"],
                repeat=line["repeat"],
                question=line["question"] or "",
                gold=(line["gold"] or "") if line["answerable"] else "to refuse",
                reply=f"{whole[:_ENDS]} … {whole[-_ENDS:]}" if long else whole,
                whole=whole if long else "",
                votes=[
                    _vote(outcomes, one, row, line[f"panel_{one.key}"])
                    for one, rows in found
                    if row in rows
                ],
            )
        )
    return shown, len(every)


def _dispute(outcomes: pl.DataFrame, votes: Votes) -> Mask:
    """Find the rows, among those due, with two unlike votes, or rules unlike the panel.

    Grades a point apart are no dispute: judges differ so on most rows.
    """
    least = 2 if votes.scale == "graded" else 1
    values = np.where(votes.given, votes.votes, np.nan)
    several = votes.given.sum(axis=1) > 1
    apart = np.zeros(len(several), dtype=bool)
    some = values[several]
    apart[several] = np.nanmax(some, axis=1) - np.nanmin(some, axis=1) >= least
    rules = rules_say(outcomes, votes)
    if rules is not None:
        panel = votes.panel
        apart |= ~np.isnan(panel) & (rules != panel)
    return apart


def _vote(outcomes: pl.DataFrame, votes: Votes, row: int, how: str) -> Vote:
    at = int(np.searchsorted(votes.rows, row))
    verdict = float(votes.verdict[at])
    unlike = 1.0 if votes.scale == "graded" else 1e-9
    said = [(name, float(votes.votes[at, j])) for j, name in enumerate(votes.judges)]
    rules = rules_say(outcomes, votes)
    if rules is not None:
        said.append(("the rules", float(rules[at])))
    return Vote(
        key=votes.key,
        verdict="none" if np.isnan(verdict) else votes.shown(verdict),
        how=how,
        voices=[
            Voice(name, votes.shown(value), bool(abs(value - verdict) >= unlike))
            for name, value in said
        ],
    )


def _shuffled(rows: Counts) -> list[int]:
    """Order rows by chance that depends on nothing but their numbers."""
    chance = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(2654435761) % np.uint64(4294967291)
    found: list[int] = rows[np.argsort(chance, kind="stable")].tolist()
    return found
