"""The cascade: the rules decide what they are sure of, one judge the next, the panel the rest.

It saves verdicts where a panel is dear, and measures what that costs: on a sample of the rows that
the rules decide, the panel is asked all the same. Only the two rubrics that the rules have a view
on go through it; every other one is put before the whole panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.judging.check import sample
from hardset.judging.facts import Facts, Wanted
from hardset.judging.means import Judge, Means
from hardset.judging.panel import NONE, dtype_of, spread
from hardset.judging.votes import Ballot
from hardset.records import State

AUDIT = 100  # rows of each rubric that the rules decide, which the panel judges too
SHORT = 40  # characters of a reply that answers and does little else
CLOSED = ("choice", "yes_no", "number")
RULE, FIRST, PANEL = "rule", "first judge", "panel"


class Cascade:
    """Who decided each verdict, as it goes.

    The rules are sure that a reply refuses where they read so; that it answers where the answer is
    right, of a closed form, or short. They are sure that it matches the reference where they read
    so, and that it does not where it refuses or where the form is closed: an open answer that they
    do not know may still mean the same. The first judge, the cheapest where prices are given,
    decides where it says the same with everything in the opposite order.
    """

    def __init__(self, facts: Facts) -> None:
        rows = facts.outcomes
        state = rows["state"]
        abstained = (state == State.ABSTAINED.value).to_numpy()
        answered = (state == State.ANSWERED.value).to_numpy()
        right = rows["right"].to_numpy() & rows["answerable"].to_numpy()
        closed = rows["form"].is_in(list(CLOSED)).to_numpy()
        short = (rows["reply"].str.len_chars() <= SHORT).fill_null(False).to_numpy()
        answers = answered & (closed | right | short)
        self._sure: dict[str, NDArray[np.int16]] = {
            "refused": _opinion(abstained, answers),
            "matches-reference": _opinion(
                answered & right, abstained | (answered & closed & ~right)
            ),
        }
        self._by: dict[str, NDArray[np.int8]] = {}  # by key: 1 rule, 2 first judge, 3 panel
        self._said: dict[str, NDArray[np.int16]] = {}
        self.audited: dict[str, NDArray[np.bool_]] = {}

    async def vote(
        self, ballots: Sequence[Ballot], facts: Facts, due: Wanted, means: Means
    ) -> None:
        """Ask for the votes that the rules leave open, and for those that audit them."""
        whole = {name: mask for name, mask in due.items() if name not in self._sure}
        left: dict[str, NDArray[np.bool_]] = {}
        for name, mask in due.items():
            self._by[name] = np.where(mask, 3, 0).astype(np.int8)
            if name in self._sure:
                sure = mask & (self._sure[name] != NONE)
                self._by[name][sure] = 1
                self._said[name] = self._sure[name].copy()
                self.audited[name] = sample(sure, AUDIT, f"audit {name}")
                left[name] = mask & ~sure
        first = min(ballots, key=lambda ballot: _price(ballot.judge))
        await first.vote(facts, left, means)
        turned = await first.recheck(facts, left, means, turned=True)
        for name, mask in left.items():
            same = mask & (first.votes[name] != NONE) & (first.votes[name] == turned[name])
            self._by[name][same] = 2
            self._said[name][same] = first.votes[name][same]
            left[name] = (mask & ~same) | self.audited[name]
        audited = {name: self.audited[name] for name in left}  # the first has voted on the rest

        def due_from(ballot: Ballot) -> Wanted:
            return whole | (audited if ballot is first else left)

        await means.each(
            [(one.judge, partial(one.vote, facts, due_from(one), means)) for one in ballots]
        )

    def settle(
        self, key: str, due: NDArray[np.bool_], verdict: pl.Series, how: pl.Series
    ) -> tuple[pl.Series, pl.Series, pl.Series]:
        """Put what was decided before the panel in place of the panel's verdict.

        Returns:
            The verdict, how it came about, and who decided: "rule", "first judge", "panel", or "".
        """
        name = key.partition(".")[0]
        by = self._by.get(name, np.where(due, 3, 0).astype(np.int8))
        who = spread(["", RULE, FIRST, PANEL], by.astype(np.int64), pl.String)
        if name not in self._said:
            return verdict, how, who
        said = pl.Series(self._said[name] == 1, dtype=dtype_of("binary"))
        early = pl.Series((by == 1) | (by == 2))
        return (
            said.zip_with(early, verdict),
            who.zip_with(early, how),
            who,
        )


def _opinion(yes: NDArray[np.bool_], no: NDArray[np.bool_]) -> NDArray[np.int16]:
    return np.where(yes, 1, np.where(no, 0, NONE)).astype(np.int16)


def _price(judge: Judge) -> float:
    """Order judges by price; those without one keep their order (min takes the first)."""
    return sum(judge.price) if judge.price is not None else float("inf")
