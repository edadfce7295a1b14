"""How good judges are: against people's labels, with one another, and with themselves.

Votes are floats, (units, judges), as in `agreement`: 0 and 1, grades, or numbered letters, NaN
where a judge gave none. People's labels are (units,), NaN where there is none. A missing vote is
never an error: it is in no rate, and how many rows a rate is over is its denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from msgspec.structs import replace

from hardset.metrics.agreement import cohen
from hardset.metrics.bootstrap import Counts, Floats
from hardset.metrics.coefficients import (
    Coefficient,
    Labels,
    Statistic,
    cluster_codes,
    coefficient,
    collapse,
    divide,
    resample,
    unit_weights,
)
from hardset.metrics.ratios import Ratio, estimate
from hardset.records import Metric

CORRELATION = "error correlation"
EFFECTIVE = "effective number of judges"


# --- against people -------------------------------------------------------------------------


class Confusion(NamedTuple):
    """How often people said one thing and the judge another."""

    categories: Floats  # (q,), sorted
    counts: Counts  # (q, q): people's label down, the judge's vote across


def confusion(votes: Floats, people: Floats) -> Confusion:
    """Count the rows that one judge and people have both judged, by what they said.

    Args:
        votes: (units,), one judge's.
        people: (units,), people's.
    """
    both = ~np.isnan(votes) & ~np.isnan(people)
    told, said = people[both], votes[both]
    categories = np.unique(np.concatenate([told, said]))
    q = len(categories)
    cells = np.searchsorted(categories, told) * q + np.searchsorted(categories, said)
    counts = np.bincount(cells, minlength=q * q).reshape(q, q).astype(np.int64)
    return Confusion(categories, counts)


def against_people(
    votes: Floats,
    people: Floats,
    clusters: Labels | None = None,
    *,
    names: Sequence[str],
    kind: Literal["binary", "graded", "letters"] = "binary",
    weights: Floats | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> list[Metric]:
    """Hold each judge against people's labels, over the rows that have both.

    Accuracy and error rate; of binary votes sensitivity and specificity; of grades the mean
    absolute error, and the mean signed error, which says whether a judge is mild.

    Args:
        votes: (units, judges).
        people: (units,).
        clusters: (units,), labels; None: every unit by itself.
        names: of the judges; the cut `judge`.
        kind: of the votes.
        weights: (units,), how many rows each stands for, where the labelled rows were drawn with
            unequal chances (then numerators and denominators are weighted, to a mean of 1).
        draws: bootstrap resamples.
        seed: of the bootstrap.

    Returns:
        For each judge in turn, metrics with the cut {"judge": name}.

    Raises:
        ValueError: where shapes differ.
    """
    votes, people, codes = _checked(votes, people, clusters)
    if len(names) != votes.shape[1]:
        raise ValueError(f"{votes.shape[1]} judges have {len(names)} names")
    vote, told, weight = pl.col("vote"), pl.col("people"), pl.col("weight")
    right = vote == told
    ratios = [
        Ratio(name="accuracy", top=right * weight, bottom=weight, about="votes as people's / rows"),
        Ratio(
            name="error rate",
            top=~right * weight,
            bottom=weight,
            better="lower",
            about="votes other than people's / rows",
        ),
    ]
    if kind == "binary":
        ratios += [
            Ratio(
                name="sensitivity",
                top=((vote == 1) & (told == 1)) * weight,
                bottom=(told == 1) * weight,
                about="judge says yes and people yes / people yes",
            ),
            Ratio(
                name="specificity",
                top=((vote == 0) & (told == 0)) * weight,
                bottom=(told == 0) * weight,
                about="judge says no and people no / people no",
            ),
        ]
    if kind == "graded":
        ratios += [
            Ratio(
                name="mean absolute error",
                top=(vote - told).abs() * weight,
                bottom=weight,
                better="lower",
                about="|grade - people's| / rows",
                unit="grades",
            ),
            Ratio(
                name="mean error",
                top=(vote - told) * weight,
                bottom=weight,
                better="",
                about="(grade - people's) / rows; above 0, the judge is milder than people",
                unit="grades",
            ),
        ]
    each = unit_weights(weights, len(votes))[:, 0]
    found = []
    for j, name in enumerate(names):
        frame = pl.DataFrame(
            {"vote": votes[:, j], "people": people, "cluster": codes, "weight": each}
        ).filter(pl.col("vote").is_not_nan() & pl.col("people").is_not_nan())
        found += [
            replace(one, cut={"judge": name})
            for one in estimate(frame, ratios, cluster="cluster", draws=draws, seed=seed)
        ]
    return found


def error_correlations(
    votes: Floats,
    people: Floats,
    clusters: Labels | None = None,
    *,
    names: Sequence[str],
    graded: bool = False,
    weights: Floats | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> list[Coefficient]:
    """Say how far judges err together, and how many independent ones they are worth.

    Of verdicts, the correlation of being wrong (phi). Of grades, that of the signed errors: a
    panel's grade is the mean, and in a mean signed errors cancel, unless they are shared; that
    two judges find the same rows hard (absolute errors) is no loss there. The effective number is
    k / (1 + (k - 1) r), r the mean correlation of two (Kish 1965, "Survey Sampling", the design
    effect; Dawid and Skene 1979, J. Royal Statistical Society C 28, assume r = 0).

    A judge without any error, or with nothing else, has no correlation. Such pairs are left out
    of the mean, and `about` says how many. What a correlation shows, the rows with an error
    show: the intervals are widened for as many clusters as those are worth (Kish's effective
    number, where rows are weighted).

    Args:
        votes: (units, judges), at least two of them.
        people: (units,).
        clusters: (units,), labels; None: every unit by itself.
        names: of the judges.
        graded: whether the votes are grades.
        weights: (units,), as in `against_people`.
        draws: bootstrap resamples.
        seed: of the bootstrap.

    Returns:
        One for each two judges, then the mean, then the effective number; `units` are the rows
        with both votes and a label (of the mean and the number, the fewest of any two).

    Raises:
        ValueError: where shapes differ, or there are fewer than two judges.
    """
    votes, people, codes = _checked(votes, people, clusters)
    judges = votes.shape[1]
    if judges < 2 or len(names) != judges:
        raise ValueError(f"two judges or more, and a name each, not {judges} and {len(names)}")
    gap = votes - people[:, None]
    errors = gap if graded else np.where(np.isnan(gap), np.nan, (gap != 0).astype(np.float64))
    pairs = list(combinations(range(judges), 2))
    each = np.concatenate([_moments(errors[:, a], errors[:, b]) for a, b in pairs], axis=1)
    units = each.reshape(len(each), len(pairs), 6)[:, :, 0].sum(axis=0).astype(int)
    column = unit_weights(weights, len(votes))
    terms = collapse(each * column, codes)
    erring = np.bincount(codes, np.nan_to_num(errors).any(axis=1) * column[:, 0])
    seen = max(2, round(float(erring.sum() ** 2 / max(erring @ erring, 1e-300))))
    drawn = resample(terms, draws, seed, "errors")
    what = "signed errors" if graded else "being wrong (phi)"
    found = [
        coefficient(
            f"{CORRELATION}, {names[a]} and {names[b]}",
            _pair(i),
            terms,
            drawn,
            int(units[i]),
            f"correlation of {what} against people's labels",
            seen,
        )
        for i, (a, b) in enumerate(pairs)
    ]
    left_out = sum(one.value is None for one in found)
    note = f"; {left_out} of {len(pairs)} pairs have none and are left out" if left_out else ""
    about = f"mean over pairs of judges of the correlation of {what}{note}"
    least = int(units.min())
    found.append(coefficient(f"mean {CORRELATION}", _mean, terms, drawn, least, about, seen))
    about = f"k / (1 + (k - 1) x {about})"
    found.append(coefficient(EFFECTIVE, _effective(judges), terms, drawn, least, about, seen))
    return found


# --- a judge with itself --------------------------------------------------------------------


def changed(
    first: Floats,
    second: Floats,
    clusters: Labels | None = None,
    *,
    name: str = "changed when asked again",
    draws: int = 10_000,
    seed: int = 0,
) -> tuple[Metric, Coefficient]:
    """Compare a judge's votes with those it gave when asked again, or in the other order.

    Args:
        first: (units,), NaN for no vote.
        second: (units,), of the same units; of an order's test, translated back.
        clusters: (units,), labels; None: every unit by itself.
        name: of the rate ("test-retest change", "changed with the order").
        draws: bootstrap resamples.
        seed: of the bootstrap.

    Returns:
        The share of the rows with both votes that changed, and Cohen's kappa of the two.
    """
    codes = cluster_codes(clusters, len(first))
    both = ~np.isnan(first) & ~np.isnan(second)
    frame = pl.DataFrame({"changed": first != second, "cluster": codes}).filter(pl.Series(both))
    ratio = Ratio(
        name=name,
        top=pl.col("changed"),
        bottom=pl.lit(1),
        better="lower",
        about="rows with two votes of one judge that differ / rows with two",
    )
    rate = estimate(frame, [ratio], cluster="cluster", draws=draws, seed=seed)[0]
    kappa = cohen(first, second, codes, name=f"kappa, {name}", draws=draws, seed=seed)
    return rate, kappa


# --- the sums -------------------------------------------------------------------------------


def _checked(
    votes: Floats, people: Floats, clusters: Labels | None
) -> tuple[Floats, Floats, Counts]:
    votes, people = np.asarray(votes, dtype=np.float64), np.asarray(people, dtype=np.float64)
    if votes.ndim != 2 or people.shape != votes.shape[:1]:
        raise ValueError(
            f"votes are (units, judges) and labels (units,), not {votes.shape} and {people.shape}"
        )
    return votes, people, cluster_codes(clusters, len(votes))


def _moments(x: Floats, y: Floats) -> Floats:
    """Give what a unit adds to a correlation, (units, 6): whether it has both, and the moments."""
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = np.where(both, x, 0.0), np.where(both, y, 0.0)
    return np.column_stack([both, x, y, x * x, y * y, x * y])


def _pair(i: int) -> Statistic:
    def correlation(totals: Floats) -> Floats:
        n, x, y, xx, yy, xy = totals[:, 6 * i : 6 * i + 6].T
        spread = (n * xx - x * x) * (n * yy - y * y)
        return divide(n * xy - x * y, np.sqrt(np.maximum(spread, 0)))

    return correlation


def _mean(totals: Floats) -> Floats:
    """Average the correlations that there are."""
    every = np.stack([_pair(i)(totals) for i in range(totals.shape[1] // 6)])
    there = ~np.isnan(every)
    return divide(np.where(there, every, 0).sum(axis=0), there.sum(axis=0).astype(np.float64))


def _effective(judges: int) -> Statistic:
    def number(totals: Floats) -> Floats:
        worth = 1 + (judges - 1) * _mean(totals)
        return judges / np.where(worth > 1e-9, worth, np.nan)

    return number
