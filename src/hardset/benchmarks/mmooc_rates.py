"""The scores of MMOOC over the outcome columns: by the program's rules, and by judges' verdicts.

Every score is a ratio of sums over the same rows, so that its interval is a cluster bootstrap's. A
row without a verdict that a score needs is in neither of its sums; a row that was not put before
the judges, as it failed or was cut off, neither refused nor answered, and counts as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from hardset.benchmarks.mmooc_names import AUTO_SHUFFLE
from hardset.metrics import JUDGE, Rates, Ratio, Selective, accuracy, in_state, verdicts_given
from hardset.metrics.selective import CONFIDENCE
from hardset.records import State

LOWEST, HIGHEST = 1, 5  # grades of rationality
CLUSTER = "picture"
OWN_CUTS = ((), ("format",), ("scenario",))
SHIFT_CUTS = (("shift",), ("origin",), ("shift", "format"))
"""The cuts in which Auto-Shuffle has a slice of its own."""
FINEST = (("shift", "format", "scenario"),)
"""The published cut, up to 162 slices: of the rates and scores, not of what they are made from."""
IN_FINEST = ("OOC refusal rate", "OOC score", "IC accuracy", "IC score")


@dataclass(frozen=True)
class Verdict:
    """What judges said in answer to a rubric, over the rows."""

    key: str

    @property
    def column(self) -> pl.Expr:
        """The panel's verdict; null where there is none."""
        return pl.col(f"verdict_{self.key}")

    @property
    def share(self) -> pl.Expr:
        """A grade as a share of 1: the lowest is 0, the highest 1."""
        return (self.column - LOWEST) / (HIGHEST - LOWEST)


REFUSED = Verdict("refused")
REFUSAL, ANSWER = Verdict("refusal-rationality"), Verdict("answer-rationality")
PART_ANSWERED = Verdict("partial-answerability.answered")
PART_NAMED = Verdict("partial-answerability.named")
NOTICED = Verdict("mismatch-noticed")


def rates(outcomes: pl.DataFrame) -> Iterator[Rates | Selective]:
    """Declare the scores by the rules, and what the verdicts that are there allow."""
    ooc, ic = outcomes.filter(pl.col("group") == "ooc"), outcomes.filter(pl.col("group") == "ic")
    refused = in_state(State.ABSTAINED)
    rule_refused = _refusal_rate(refused.top, pl.lit(1))
    yield from _by_shift(ooc, [rule_refused], "default")
    over = Ratio(
        name="over-refusal",
        top=refused.top,
        bottom=pl.lit(1),
        better="lower",
        about="refused / rows in context (IC)",
    )
    about = "right / rows in context (IC); a refusal or failed row counts as wrong"
    right = Ratio(name="IC accuracy", top=accuracy().top, bottom=pl.lit(1), about=about)
    yield from _within(ic, [right, over], "default")
    if f"{JUDGE}_right" in outcomes.columns and REFUSED.column.meta.output_name() in outcomes:
        yield from _judged(ooc, ic)
        yield from _coverage(outcomes)
    if CONFIDENCE in outcomes.columns:
        yield Selective(frame=outcomes, cluster=CLUSTER, by=((), ("group",), ("format",)))


def _refusal_rate(top: pl.Expr, bottom: pl.Expr) -> Ratio:
    return Ratio(
        name="OOC refusal rate",
        top=top,
        bottom=bottom,
        about=f"refused / rows out of context (OOC); overall without {AUTO_SHUFFLE}",
    )


def _by_shift(ooc: pl.DataFrame, ratios: Sequence[Ratio], reading: str) -> Iterator[Rates]:
    """Declare rates out of context: over the five shifts, Auto-Shuffle alone, and both together.

    By shift and by origin Auto-Shuffle has its own slice; the other cuts are over the five shifts.
    """
    shuffled = pl.col("shift") == AUTO_SHUFFLE
    five, alone = ooc.filter(~shuffled), ooc.filter(shuffled)
    yield Rates(frame=five, ratios=ratios, cluster=CLUSTER, by=OWN_CUTS, reading=reading)
    yield Rates(frame=ooc, ratios=ratios, cluster=CLUSTER, by=SHIFT_CUTS, reading=reading)
    yield _finest(ooc, ratios, reading)
    if alone.height:
        for frame, ending in ((alone, f", {AUTO_SHUFFLE}"), (ooc, f" with {AUTO_SHUFFLE}")):
            told = [_renamed(ratio, ratio.name + ending) for ratio in ratios]
            yield Rates(frame=frame, ratios=told, cluster=CLUSTER, reading=reading)


def _within(ic: pl.DataFrame, ratios: Sequence[Ratio], reading: str) -> Iterator[Rates]:
    """Declare rates in context, in every cut."""
    cuts = (*OWN_CUTS, *SHIFT_CUTS)
    yield Rates(frame=ic, ratios=ratios, cluster=CLUSTER, by=cuts, reading=reading)
    yield _finest(ic, ratios, reading)


def _finest(rows: pl.DataFrame, ratios: Sequence[Ratio], reading: str) -> Rates:
    kept = [ratio for ratio in ratios if ratio.name in IN_FINEST]
    return Rates(frame=rows, ratios=kept, cluster=CLUSTER, by=FINEST, reading=reading)


def _renamed(ratio: Ratio, name: str) -> Ratio:
    about = ratio.about.partition("; overall")[0]
    return Ratio(name=name, top=ratio.top, bottom=ratio.bottom, better=ratio.better, about=about)


def _judged(ooc: pl.DataFrame, ic: pl.DataFrame) -> Iterator[Rates]:
    """Declare what judges' verdicts give, of the rubrics that were asked."""
    silent = ~pl.col("verdict_due") | (pl.col("state") == State.TRUNCATED.value)
    refused = pl.when(silent).then(False).otherwise(REFUSED.column)
    out = [_refusal_rate(refused, refused.is_not_null())]
    if _asked(ooc, REFUSAL):
        graded = _zero_unless(refused, REFUSAL.share)
        known = graded.is_not_null()
        out += [
            Ratio(
                name="refusal rationality",
                top=graded,
                bottom=known,
                about="mean of (grade - 1) / 4 over rows out of context; not refused counts 0",
            ),
            Ratio(
                name="rationality of refusals",
                top=graded,
                bottom=known & refused,
                about="mean of (grade - 1) / 4 over refused rows out of context alone",
            ),
            Ratio(
                name="OOC score",
                top=pl.when(known).then((refused.cast(pl.Float64) + graded) / 2),
                bottom=known,
                about="mean of refusal rate and refusal rationality, over the rows with both",
            ),
        ]
    yield from _by_shift(ooc, out, JUDGE)

    right, told = pl.col(f"{JUDGE}_right"), pl.col(f"{JUDGE}_state")
    answered = pl.when(silent).then(False).otherwise(~REFUSED.column)
    within = [
        Ratio(
            name="IC accuracy",
            top=right,
            bottom=right.is_not_null() & told.is_not_null(),
            about="right / rows in context (IC); a refusal or failed row counts as wrong",
        ),
        Ratio(
            name="over-refusal",
            top=refused,
            bottom=refused.is_not_null(),
            better="lower",
            about="refused / rows in context (IC)",
        ),
    ]
    if _asked(ic, ANSWER):
        graded = _zero_unless(answered, ANSWER.share)
        both = graded.is_not_null() & right.is_not_null()
        within += [
            Ratio(
                name="answer rationality",
                top=graded,
                bottom=graded.is_not_null(),
                about="mean of (grade - 1) / 4 over rows in context; not answered counts 0",
            ),
            Ratio(
                name="rationality of answers",
                top=graded,
                bottom=graded.is_not_null() & answered,
                about="mean of (grade - 1) / 4 over answered rows in context alone",
            ),
            Ratio(
                name="IC score",
                top=pl.when(both).then((right.cast(pl.Float64) + graded) / 2),
                bottom=both,
                about="mean of accuracy and answer rationality, over the rows with both",
            ),
        ]
    yield from _within(ic, within, JUDGE)
    yield from _of_shifts(ic, silent)


def _of_shifts(ic: pl.DataFrame, silent: pl.Expr) -> Iterator[Rates]:
    """Declare what only one shift asks for: the parts of PA, the mismatch of IQM."""
    answered, named, noticed = (
        pl.when(silent).then(False).otherwise(verdict.column)
        for verdict in (PART_ANSWERED, PART_NAMED, NOTICED)
    )
    cuts = ((), ("format",))
    partial, mismatched = (ic.filter(pl.col("shift") == shift) for shift in ("PA", "IQM"))
    if _asked(partial, PART_ANSWERED) and _asked(partial, PART_NAMED):
        parts = [
            ("PA supported part answered", answered, "the supported part answered / rows of PA"),
            ("PA unsupported part named", named, "the unsupported part named / rows of PA"),
            ("PA both parts", answered & named, "both done / rows of PA"),
        ]
        ratios = [
            Ratio(name=name, top=said, bottom=said.is_not_null(), about=about)
            for name, said, about in parts
        ]
        yield Rates(frame=partial, ratios=ratios, cluster=CLUSTER, by=cuts, reading=JUDGE)
    if _asked(mismatched, NOTICED):
        ratio = Ratio(
            name="IQM mismatch noticed",
            top=noticed,
            bottom=noticed.is_not_null(),
            about="the mismatch noticed / rows of IQM",
        )
        yield Rates(frame=mismatched, ratios=[ratio], cluster=CLUSTER, by=cuts, reading=JUDGE)


def _coverage(outcomes: pl.DataFrame) -> Iterator[Rates]:
    """Declare how many verdicts are there: of all that a row needs, and rubric by rubric."""
    keys = [name.removeprefix("panel_") for name in outcomes.columns if name.startswith("panel_")]
    ratios = [verdicts_given()]
    for verdict in map(Verdict, keys):
        due = pl.col(f"panel_{verdict.key}").fill_null("") != ""
        ratios.append(
            Ratio(
                name=f"verdicts given: {verdict.key}",
                top=due & verdict.column.is_not_null(),
                bottom=due,
                about="rows with this verdict / rows that it was asked for",
            )
        )
    yield Rates(frame=outcomes, ratios=ratios, cluster=CLUSTER, reading=JUDGE)


def _zero_unless(done: pl.Expr, share: pl.Expr) -> pl.Expr:
    """Give a graded share where something was done, 0 where it was not, else null."""
    return pl.when(done).then(share).when(~done).then(0.0)


def _asked(rows: pl.DataFrame, verdict: Verdict) -> bool:
    return verdict.column.meta.output_name() in rows.columns and rows.height > 0
