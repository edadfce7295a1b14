"""The verdicts on a run's replies: every judge's votes, and what the panel comes to.

Rubrics are asked in two rounds, since some wait for whether a reply refuses. Verdicts come through
`ask`: they are kept beside the replies, and the same command resumes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.ask import INTERRUPTED
from hardset.judging.cascade import Cascade
from hardset.judging.check import Check, checked
from hardset.judging.estimate import Estimate, estimate
from hardset.judging.facts import Facts
from hardset.judging.means import Judge, Means
from hardset.judging.panel import NONE, decide, dtype_of, vote_column
from hardset.judging.rubric import Rubric
from hardset.judging.votes import Ballot
from hardset.records import State

REFUSED, MATCHES = "refused", "matches-reference"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Who judges, by which rubrics, and how carefully.

    Attributes:
        judges: one or more.
        rubrics: what they are asked; empty: what the benchmark names.
        check: on how many rows of each rubric every judge is asked twice more, once as before and
            once with everything in the opposite order; 0: on none.
        cascade: whether the rules decide what they are sure of, the first judge the next, and only
            the rest is put before all.
    """

    judges: Sequence[Judge]
    rubrics: Sequence[Rubric] = ()
    check: int = 0
    cascade: bool = False


@dataclass(kw_only=True)
class Verdicts:
    """What the judges said.

    Attributes:
        rubrics: what was asked.
        ballots: every judge's votes.
        columns: `verdict_K` and `panel_K` for every key K, `vote_K@JUDGE` for every judge,
            `verdict_due`, and with a cascade `by_K`; in the order of the outcomes' rows.
        due: by rubric, (rows,): where it was asked, or decided by the rules.
        checks: the votes that were asked for again, if any were.
    """

    rubrics: Sequence[Rubric]
    ballots: Sequence[Ballot]
    columns: pl.DataFrame
    due: dict[str, NDArray[np.bool_]]
    checks: Sequence[Check] = ()
    notices: list[str] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        """The names of the verdicts."""
        return [key for rubric in self.rubrics for key in rubric.keys]

    @property
    def stopped(self) -> str | None:
        """Why the asking ended early, if it did."""
        return next((ballot.stopped for ballot in self.ballots if ballot.stopped), None)

    @property
    def failures(self) -> dict[str, int]:
        """Why votes never came, and how many for each reason, of all judges."""
        found: dict[str, int] = {}
        for ballot in self.ballots:
            for reason, count in ballot.failures.items():
                found[reason] = found.get(reason, 0) + count
        return found

    def coverage(self) -> dict[str, tuple[int, int]]:
        """Give for each verdict how many there are, and how many were due."""
        return {
            key: (
                self.columns[f"verdict_{key}"].count(),
                int(self.due[rubric.name].sum()),
            )
            for rubric in self.rubrics
            for key in rubric.keys
        }

    @property
    def missing(self) -> int:
        """How many votes were due and are not there."""
        return sum(
            int((ballot.due[rubric.name] & (ballot.votes[key] == NONE)).sum())
            for ballot in self.ballots
            for rubric in self.rubrics
            for key in rubric.keys
        )

    @property
    def undecided(self) -> int:
        """How many verdicts were due that the panel did not come to: tied, or without a vote."""
        return sum(due - given for given, due in self.coverage().values())

    def manifest(self) -> list[dict[str, Any]]:
        """Say of each judge what it was, in which form it was asked, and how many votes it gave."""
        return [_of_ballot(ballot, self.rubrics) for ballot in self.ballots]


async def judge(
    facts: Facts,
    panel: Panel,
    means: Means,
    announce: Callable[[Estimate], None] | None = None,
) -> Verdicts:
    """Ask every judge every rubric about every reply that it is due on.

    Args:
        facts: the outcomes, the items and the rubrics.
        panel: who judges; every model is entered already.
        means: the store, the limits, the stop.
        announce: is told what all of it will take, before it starts.
    """
    rows = len(facts.outcomes)
    ballots = [Ballot(judge, facts.rubrics, rows) for judge in panel.judges]
    found = Verdicts(
        rubrics=facts.rubrics,
        ballots=ballots,
        columns=pl.DataFrame({"verdict_due": facts.spoken}),
        due={rubric.name: np.zeros(rows, np.bool_) for rubric in facts.rubrics},
    )
    cascade = Cascade(facts) if panel.cascade else None
    refused = facts.outcomes["state"] == State.ABSTAINED.value
    if announce is not None:
        due = {rubric.name: facts.due(rubric, refused) for rubric in facts.rubrics}
        announce(estimate(panel.judges, facts, due, means, panel.check, most=panel.cascade))
    for later in (False, True):
        round_ = [rubric for rubric in facts.rubrics if rubric.later is later]
        if later and f"verdict_{REFUSED}" in found.columns.columns:
            refused = found.columns[f"verdict_{REFUSED}"]
        for rubric in round_:
            found.due[rubric.name] = facts.due(rubric, refused)
        due = {rubric.name: found.due[rubric.name] for rubric in round_}
        if not any(mask.any() for mask in due.values()):
            _count(found, round_, cascade)
            continue
        if cascade is None:
            means.due += sum(int(mask.sum()) for mask in due.values()) * len(ballots)
            await means.each(
                [(ballot.judge, partial(ballot.vote, facts, due, means)) for ballot in ballots]
            )
        else:
            await cascade.vote(ballots, facts, due, means)
        if any(ballot.stopped == INTERRUPTED for ballot in ballots):
            return found
        _count(found, round_, cascade)
    if panel.check:
        found.checks = await checked(ballots, facts, found.due, means, panel.check)
        for check in found.checks:
            found.columns = found.columns.with_columns(check.columns(facts.rubrics))
    found.notices = [*_nowhere(facts), *_undecided(found), *_notices(ballots)]
    return found


def _count(found: Verdicts, rubrics: Sequence[Rubric], cascade: Cascade | None) -> None:
    """Bring the votes of a round together, and keep them as columns."""
    for rubric in rubrics:
        for key in rubric.keys:
            votes = [ballot.votes[key] for ballot in found.ballots]
            verdict, how = decide(votes, found.due[rubric.name], rubric.scale)
            columns = [
                vote_column(ballot.votes[key], rubric.scale).alias(
                    f"vote_{key}@{ballot.judge.name}"
                )
                for ballot in found.ballots
            ]
            if cascade is not None:
                verdict, how, by = cascade.settle(key, found.due[rubric.name], verdict, how)
                columns.append(by.alias(f"by_{key}"))
            found.columns = found.columns.with_columns(
                verdict.cast(dtype_of(rubric.scale)).alias(f"verdict_{key}"),
                how.alias(f"panel_{key}"),
                *columns,
            )


def _nowhere(facts: Facts) -> list[str]:
    """Say which rubrics are asked where a column says so that is not there."""
    return [
        f"the rubric {rubric.name} was asked of no reply: there is no column {column!r}"
        for rubric in facts.rubrics
        for column in rubric.where
        if column not in facts.outcomes.columns
    ]


def _undecided(found: Verdicts) -> list[str]:
    """Say on how many replies the panel came to no verdict, and what follows from that."""
    said = []
    for key, (given, due) in found.coverage().items():
        if given == due:
            continue
        how = found.columns[f"panel_{key}"].fill_null("")
        tied = int(how.str.ends_with("tie").sum())
        ties = f", {tied:,} of them since the judges are tied" if tied else ""
        said.append(
            f"{key}: {due - given:,} of {due:,} replies have no verdict{ties}. They are in none of "
            "the judges' rates that need it"
        )
    if any("tied" in one for one in said) and len(found.ballots) % 2 == 0:
        said.append(
            f"A panel of {len(found.ballots)} can tie: with an odd number of judges a verdict that "
            "is TRUE or FALSE has a majority"
        )
    return said


def _of_ballot(ballot: Ballot, rubrics: Sequence[Rubric]) -> dict[str, Any]:
    return {
        "model": ballot.judge.name,
        "options": dict(ballot.judge.model.options),
        "sees": ballot.judge.sees,
        "form": ballot.form,
        "verdicts": {
            key: {
                "given": int((ballot.votes[key] != NONE).sum()),
                "due": int(ballot.due[rubric.name].sum()),
            }
            for rubric in rubrics
            for key in rubric.keys
        },
        "failures": ballot.failures,
        "prompts_sha256": ballot.prompts.hexdigest(),
    }


def _notices(ballots: Sequence[Ballot]) -> list[str]:
    """Say which judges could not be held to a schema, or be sent pictures, or be checked."""
    said = []
    for ballot in ballots:
        name = ballot.judge.name
        if ballot.refused_json:
            said.append(
                f"The judge {name} was asked in words: its endpoint takes no JSON schema "
                f"({ballot.refused_json})"
            )
        lost = sum(ballot.recheck_failures.values())
        if lost:
            reasons = "; ".join(f"{n} x {why}" for why, n in ballot.recheck_failures.items())
            said.append(f"The check of {name} lacks {lost:,} votes: {reasons}")
        if ballot.refused_pictures:
            said.append(
                f"The judge {name} was sent no pictures: its endpoint takes none "
                f"({ballot.refused_pictures}); --judge-blind sends none from the start"
            )
    return said
