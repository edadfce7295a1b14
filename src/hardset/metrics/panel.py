"""What a panel's votes say of the judges: coverage, agreement, who was outvoted, steadiness.

Each figure has the cut `verdict` (the key), and `judge`, `judges` or `by` where it is of one judge,
of two, or of one step of a cascade. None of them says whether judges are right: that takes labels
by people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from msgspec.structs import replace
from numpy.typing import NDArray

from hardset.metrics.agreement import ALPHA, FLEISS, RAW, agreement, cohen
from hardset.metrics.bootstrap import Floats
from hardset.metrics.coefficients import Coefficient
from hardset.metrics.judges import changed
from hardset.metrics.rates import JUDGE, columns
from hardset.metrics.ratios import Ratio, estimate
from hardset.metrics.verbosity import verbosity
from hardset.metrics.votes import CHECKS, RULE, Mask, Votes, read_votes, second_votes
from hardset.records import COEFFICIENT, GRADE, Metric, State

COVERAGE, TIES, NO_VOTE = "verdict coverage", "ties", "rows without a vote"
TRUE_SHARE, MEAN_GRADE = "share of TRUE", "mean grade"
GIVEN, OUTVOTED, DECIDED = "votes given", "outvoted", "decided"
RULES, RULES_KAPPA = "rules and panel agree", "kappa, rules and panel"
AUDIT, AUDIT_KAPPA = "rules and panel agree, audited", "kappa, rules and panel, audited"
REFUSED, MATCHES = "refused", "matches-reference"  # what the rules have a view on, too
NOMINAL = f"{ALPHA} (nominal)"


def cell(rules: bool, panel: bool) -> str:
    """Name a cell of the table of the rules' view against the panel's."""
    return f"rules {str(rules).upper()}, panel {str(panel).upper()}"


@dataclass(frozen=True, kw_only=True)
class PanelMetrics:
    """All that the votes on one key say of its judges; see the module."""

    outcomes: pl.DataFrame
    votes: Votes
    reading: str = JUDGE
    _cut: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Name the slice that every figure is of."""
        self._cut["verdict"] = self.votes.key

    def metrics(self, draws: int = 10_000, seed: int = 0) -> list[Metric]:
        """Work everything out, with 95 % intervals over clusters."""
        votes = self.votes
        found = [*self._of_panel(draws, seed)]
        if len(votes.judges) > 1:
            found += self._agreement(draws, seed)
        for j, judge in enumerate(votes.judges):
            found += self._of_judge(j, judge, draws, seed)
        if len(votes.judges) > 2:
            for a, b in combinations(range(len(votes.judges)), 2):
                found += self._of_two(a, b, draws, seed)
        if votes.cascade:
            found += self._cascade(draws, seed)
        found += self._rules(draws, seed)
        return found

    def _of_panel(self, draws: int, seed: int) -> Iterator[Metric]:
        """Say how many verdicts there are, why others are not, and what they are."""
        given = self.votes.given.any(axis=1) | ~np.isnan(self.votes.verdict)
        ratios = [
            _share(COVERAGE, "verdict", "verdicts / rows that were due"),
            _share(NO_VOTE, "silent", "rows without any vote / rows that were due", "lower"),
        ]
        if self.votes.scale != "graded":
            about = "rows where as many votes say one thing as another / rows that were due"
            ratios.append(_share(TIES, "tied", about, "lower"))
        if (level := self._level("said")) is not None:
            ratios.append(level)
        verdict = self.votes.verdict
        frame = {
            "verdict": ~np.isnan(verdict),
            "silent": ~given,
            "tied": self.votes.tied,
            "said": verdict,
        }
        yield from self._rates(frame, ratios, draws, seed)
        if self.votes.scale != "letter":
            found = verbosity(self.votes.lengths, verdict, self.votes.clusters)
            yield self._coefficient(found, _same(verdict, self.votes))

    def _agreement(self, draws: int, seed: int) -> Iterator[Metric]:
        votes, graded = self.votes.votes, self.votes.scale == "graded"
        categories = (0.0, 1.0) if self.votes.scale == "binary" else None
        yield from self._raw(votes, draws, seed)
        found = agreement(
            votes,
            self.votes.clusters,
            categories=categories,
            graded=graded,
            draws=draws,
            seed=seed,
        )
        for one in found:
            skipped = {RAW, FLEISS if votes.shape[1] == 2 else "", NOMINAL if graded else ""}
            if one.name in skipped:  # of two judges there is Cohen's, of grades the finer alphas
                continue
            yield self._coefficient(one, _undefined(votes, self.votes))

    def _of_two(self, a: int, b: int, draws: int, seed: int) -> Iterator[Metric]:
        both = self.votes.votes[:, [a, b]]
        cut = {"judges": f"{self.votes.judges[a]} and {self.votes.judges[b]}"}
        yield from self._raw(both, draws, seed, cut)
        found = cohen(both[:, 0], both[:, 1], self.votes.clusters, draws=draws, seed=seed)
        yield self._coefficient(found, _undefined(both, self.votes), cut)

    def _raw(
        self, votes: Floats, draws: int, seed: int, cut: dict[str, str] | None = None
    ) -> Iterator[Metric]:
        """Count the pairs of votes on one row that are the same."""
        each = list(combinations(votes.T, 2))
        there = [~np.isnan(one) & ~np.isnan(other) for one, other in each]
        frame = {
            "alike": np.sum([one == other for one, other in each], axis=0),
            "pairs": np.sum(there, axis=0),
        }
        ratio = Ratio(
            name=RAW,
            top=pl.col("alike"),
            bottom=pl.col("pairs"),
            about="pairs of votes on one row that are the same / such pairs",
        )
        yield from self._rates(frame, [ratio], draws, seed, cut)

    def _of_judge(self, j: int, judge: str, draws: int, seed: int) -> Iterator[Metric]:
        vote, cut = self.votes.votes[:, j], {"judge": judge}
        there = self.votes.given[:, j]
        asked = self.votes.asked | there
        ratios = [
            Ratio(
                name=GIVEN,
                top=pl.col("there"),
                bottom=pl.col("asked"),
                about="votes of the judge / rows that were put before it",
            )
        ]
        if (level := self._level("vote")) is not None:
            ratios.append(level)
        frame = {"there": there, "asked": asked, "vote": vote}
        if len(self.votes.judges) > (1 if self.votes.scale == "graded" else 2):  # two but tie
            apart, counted, about = self._outvoted(vote)
            frame |= {"apart": apart, "counted": counted}
            ratios.append(
                Ratio(
                    name=OUTVOTED,
                    top=pl.col("apart"),
                    bottom=pl.col("counted"),
                    better="",
                    about=about,
                )
            )
        yield from self._rates(frame, ratios, draws, seed, cut)
        if self.votes.scale != "letter":
            found = verbosity(self.votes.lengths, vote, self.votes.clusters)
            yield self._coefficient(found, _same(vote, self.votes), cut)
        for check, how in CHECKS.items():
            again = second_votes(self.outcomes, self.votes, check).get(judge)
            if again is None or np.isnan(again).all():
                continue
            rate, kappa = changed(
                vote,
                again,
                self.votes.clusters,
                name=f"changed when {how}",
                draws=draws,
                seed=seed,
            )
            yield self._of(rate, cut)
            why = _undefined(np.column_stack([vote, again]), self.votes)
            yield self._coefficient(kappa, why, cut)

    def _outvoted(self, vote: Floats) -> tuple[Mask, Mask, str]:
        """Find the rows on which a vote is not the panel's, and those where it can be."""
        some = (self.votes.given.sum(axis=1) > 1) & ~np.isnan(vote)
        if self.votes.scale == "graded":
            verdict = self.votes.verdict
            about = (
                "grades a point or more from the panel's mean / the judge's grades beside others'"
            )
            return some & (np.abs(vote - verdict) >= 1), some & ~np.isnan(verdict), about
        verdict = self.votes.majority if self.votes.scale == "binary" else self.votes.verdict
        counted = some & ~np.isnan(verdict)
        about = "votes that are not what most say / the judge's votes beside others', without ties"
        return counted & (vote != verdict), counted, about

    def _cascade(self, draws: int, seed: int) -> Iterator[Metric]:
        """Say how many went where, and hold the rules against the panel on the audited rows."""
        for by in (RULE, "first judge", "panel"):
            about = "rows that this step decided / rows that were due"
            ratio = _share(DECIDED, "here", about, "")
            yield from self._rates({"here": self.votes.by == by}, [ratio], draws, seed, {"by": by})
        audited = (self.votes.by == RULE) & self.votes.given.any(axis=1)
        if self.votes.scale == "binary" and audited.any():
            said = np.where(audited, self.votes.verdict, np.nan)
            panel = np.where(audited, self.votes.majority, np.nan)
            about = "rows that the rules decided, of which the panel says the same / such rows"
            yield from self._against(AUDIT, AUDIT_KAPPA, said, panel, about, draws, seed)

    def _rules(self, draws: int, seed: int) -> Iterator[Metric]:
        """Hold the rules' own reading of each row against the panel's verdict."""
        rules, panel = rules_say(self.outcomes, self.votes), self.votes.panel
        if rules is None:
            return
        about = (
            "rows where the rules' reading and the panel's verdict are the same / rows with both"
        )
        yield from self._against(RULES, RULES_KAPPA, rules, panel, about, draws, seed)
        cells = [
            Ratio(
                name=cell(one, other),
                top=pl.col(f"{one} {other}"),
                bottom=pl.col("there"),
                better="",
                about=f"rows with {cell(one, other)} / rows with both",
            )
            for one in (True, False)
            for other in (True, False)
        ]
        frame = {
            f"{one} {other}": (rules == one) & (panel == other)
            for one in (True, False)
            for other in (True, False)
        }
        yield from self._rates(frame | {"there": ~np.isnan(panel)}, cells, draws, seed)

    def _against(
        self, name: str, kappa: str, one: Floats, two: Floats, about: str, draws: int, seed: int
    ) -> Iterator[Metric]:
        frame = {"agree": one == two, "both": ~np.isnan(one) & ~np.isnan(two)}
        ratio = Ratio(name=name, top=pl.col("agree"), bottom=pl.col("both"), about=about)
        yield from self._rates(frame, [ratio], draws, seed)
        found = cohen(one, two, self.votes.clusters, name=kappa, draws=draws, seed=seed)
        yield self._coefficient(found, _undefined(np.column_stack([one, two]), self.votes))

    def _level(self, column: str) -> Ratio | None:
        """Average verdicts or votes: the share of TRUE, or the mean grade; of letters nothing."""
        if self.votes.scale == "letter":
            return None
        there = pl.col(column).is_not_nan()
        top = pl.when(there).then(pl.col(column)).otherwise(0)
        graded = self.votes.scale == "graded"
        return Ratio(
            name=MEAN_GRADE if graded else TRUE_SHARE,
            top=top,
            bottom=there,
            better="",
            about="sum of the grades / rows with one"
            if graded
            else "rows with the verdict, or vote, TRUE / rows with one",
            unit=GRADE if graded else "",
        )

    def _rates(
        self,
        frame: Mapping[str, NDArray[Any]],
        ratios: Sequence[Ratio],
        draws: int,
        seed: int,
        cut: dict[str, str] | None = None,
    ) -> Iterator[Metric]:
        rows = pl.DataFrame({**frame, "cluster": self.votes.clusters})
        for one in estimate(rows, ratios, cluster="cluster", draws=draws, seed=seed):
            yield self._of(one, cut)

    def _of(self, one: Metric, cut: dict[str, str] | None = None) -> Metric:
        return replace(one, cut=self._cut | (cut or {}), reading=self.reading)

    def _coefficient(self, one: Coefficient, why: str, cut: dict[str, str] | None = None) -> Metric:
        """Make a coefficient a metric; `why` is the reason where it is undefined."""
        return Metric(
            name=one.name,
            cut=self._cut | (cut or {}),
            reading=self.reading,
            numerator=(one.value or 0.0) * one.units,
            denominator=one.units,
            value=one.value,
            low=None if one.low is None else max(-1.0, one.low),
            high=one.high,
            method=why if one.value is None else one.method,
            clusters=len(np.unique(self.votes.clusters)),
            better="" if one.name.startswith("verbosity") else "higher",
            about=one.about,
            unit=COEFFICIENT,
        )


def panel(outcomes: pl.DataFrame) -> Iterator[PanelMetrics]:
    """Declare what the judges' columns say of the judges, key by key; nothing where there are none.

    Args:
        outcomes: the outcome columns, with those of `votes`.
    """
    for votes in read_votes(outcomes):
        yield PanelMetrics(outcomes=outcomes, votes=votes)


def rules_say(outcomes: pl.DataFrame, votes: Votes) -> Floats | None:
    """Give the rules' own reading of what a key asks, (units,), 0 or 1; None of other keys.

    A reply refuses where its state is abstained, and matches the reference where it is answered
    and right.
    """
    if votes.scale != "binary" or votes.key not in (REFUSED, MATCHES):
        return None
    state = outcomes["state"]
    said = state == State.ABSTAINED.value
    if votes.key == MATCHES:
        said = (state == State.ANSWERED.value) & outcomes[columns("")[1]]
    found: Floats = said.fill_null(False).cast(pl.Float64).to_numpy()[votes.rows]
    return found


def _share(
    name: str, column: str, about: str, better: Literal["higher", "lower", ""] = "higher"
) -> Ratio:
    return Ratio(name=name, top=pl.col(column), bottom=pl.lit(1), better=better, about=about)


def _undefined(votes: Floats, of: Votes) -> str:
    """Say why there is no coefficient of these votes."""
    pairable = (~np.isnan(votes)).sum(axis=1) > 1
    if not pairable.any():
        return "undefined: no row has two votes"
    said = votes[pairable]
    said = said[~np.isnan(said)]
    return f"undefined: all votes are {of.shown(said[0])}, and chance would agree as well"


def _same(votes: Floats, of: Votes) -> str:
    """Say why there is no correlation of these votes with the lengths of the replies."""
    said = votes[~np.isnan(votes)]
    if len(said) < 2:
        return "undefined: fewer than two verdicts"
    if np.ptp(said) == 0:
        return f"undefined: all are {of.shown(said[0])}"
    return "undefined: all replies are of one length"
