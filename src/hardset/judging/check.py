"""How steady a judge is: the same question again, and with everything in the opposite order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from hardset.judging.facts import Facts, Wanted
from hardset.judging.means import Means
from hardset.judging.panel import NONE, Votes, vote_column
from hardset.judging.rubric import Rubric
from hardset.judging.votes import Ballot


@dataclass(frozen=True, kw_only=True)
class Check:
    """One judge's votes on a sample of its rows, asked for twice more.

    Attributes:
        judge: its name.
        again: by key, (rows,): asked as before, as another repeat.
        turned: by key, (rows,): with facts and values in the opposite order.
    """

    judge: str
    again: Mapping[str, Votes]
    turned: Mapping[str, Votes]

    def columns(self, rubrics: Sequence[Rubric]) -> list[pl.Series]:
        """Give the votes as columns `again_K@JUDGE` and `turned_K@JUDGE`."""
        return [
            vote_column(votes[key], rubric.scale).alias(f"{name}_{key}@{self.judge}")
            for name, votes in (("again", self.again), ("turned", self.turned))
            for rubric in rubrics
            for key in rubric.keys
        ]


async def checked(
    ballots: Sequence[Ballot], facts: Facts, due: Wanted, means: Means, rows: int
) -> list[Check]:
    """Ask every judge again about a sample of what it gave a vote on.

    Args:
        ballots: the votes so far.
        facts: what was asked.
        due: where each rubric was asked.
        means: see `Ballot.vote`.
        rows: how many rows of each rubric.
    """

    async def of(ballot: Ballot) -> Check:
        wanted = {}
        for rubric in facts.rubrics:
            voted = due[rubric.name] & np.logical_and.reduce(
                [ballot.votes[key] != NONE for key in rubric.keys]
            )
            wanted[rubric.name] = sample(voted, rows, f"check {rubric.name}")
        again = await ballot.recheck(facts, wanted, means, repeat=1)
        turned = await ballot.recheck(facts, wanted, means, turned=True)
        return Check(judge=ballot.judge.name, again=again, turned=turned)

    return await means.each([(ballot.judge, partial(of, ballot)) for ballot in ballots])


def sample(mask: np.ndarray, most: int, salt: str) -> np.ndarray:
    """Pick at most so many of the rows of a mask, by chance that is the same each time."""
    rows = np.flatnonzero(mask)
    if len(rows) > most:
        seed = np.frombuffer(salt.encode().ljust(8, b"\0"), np.uint8)
        rows = np.random.default_rng(seed).choice(rows, most, replace=False)
    picked = np.zeros(len(mask), np.bool_)
    picked[rows] = True
    return picked
