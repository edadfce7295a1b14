"""How far raters agree: raw, and beyond chance by kappa, AC1 and alpha, with intervals.

Votes are floats, (units, raters): 0 and 1, grades, or numbered letters; NaN where a rater gave
none. What is undefined is None, never 0 or 1: agreement where no unit has two votes; kappa and
alpha where all votes are one category, since chance then agrees always; AC1 where only one
category is known (with a second among `categories`, it is 1).

`agreement` gives all of them with 95 % intervals. Where fewer than ten clusters hold a
disagreement, resamples vary too little, or not at all: the interval is then that of the raw
agreement, rescaled, with the agreement by chance held as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from hardset.metrics.bootstrap import Counts, Floats
from hardset.metrics.coefficients import (
    Coefficient,
    Labels,
    Statistic,
    Terms,
    cluster_codes,
    coefficient,
    collapse,
    divide,
    resample,
    unit_weights,
)
from hardset.metrics.ratios import Ratio, estimate
from hardset.records import Metric

Level = Literal["nominal", "ordinal", "interval"]
_Chance = Callable[[Floats], Floats]

RAW = "raw agreement"
COHEN = "Cohen's kappa"
FLEISS = "Fleiss' kappa"
AC1 = "Gwet's AC1"
ALPHA = "Krippendorff's alpha"
RESCALED = "raw agreement's, rescaled"
_ABOUT = {
    RAW: "pairs of votes on one unit that agree / such pairs",
    COHEN: "(po - pe) / (1 - pe), pe from each rater's own shares (Cohen 1960)",
    FLEISS: "(pa - pe) / (1 - pe), pe the sum of the squared shares of the categories "
    "(Fleiss 1971; with missing votes, Gwet 2014)",
    AC1: "(pa - pe) / (1 - pe), pe the sum of π (1 - π) over the categories / (q - 1), which "
    "stays sound where nearly all votes are alike (Gwet 2008)",
    ALPHA: "1 - observed / expected disagreement of pairable votes (Krippendorff 2011)",
}
_FEW = 10  # clusters that disagree (or agree): resamples need about that many to vary
_MOST = 64  # categories: their square is held


class _Layout(NamedTuple):
    """Where a unit's terms lie: those of agreement, of the categories, of coincidences."""

    categories: Floats  # (q,), sorted

    @property
    def shares(self) -> slice:
        return slice(5, 5 + len(self.categories))

    def coincidences(self, totals: Floats) -> Floats:
        q = len(self.categories)
        return totals[:, 5 + q :].reshape(len(totals), q, q)


# --- each by itself -------------------------------------------------------------------------


def raw_agreement(votes: Floats) -> float | None:
    """Pairs of votes on one unit that agree over such pairs; None where there is no pair."""
    terms, _ = _terms(_checked(votes), None)
    return _one(lambda t: divide(t[:, 0], t[:, 1]), terms)


def cohen_kappa(first: Floats, second: Floats) -> float | None:
    """Give Cohen's kappa of two raters, over the units that both voted on.

    None where there is no such unit, or where all votes of both are one category.
    Source: Cohen (1960), Educational and Psychological Measurement 20.
    """
    both = _checked(np.stack([first, second], axis=1))
    return _one(_cohen, _joint(both, _categories(both, None)))


def fleiss_kappa(votes: Floats) -> float | None:
    """Give Fleiss' kappa of any number of raters.

    With votes missing, agreement is the mean over the units with two votes or more, and the
    categories' shares are means over the units with any, as in Gwet (2014, "Handbook of
    Inter-Rater Reliability", section 2.5). None where no unit has two votes, or where all votes
    are one category. Source: Fleiss (1971), Psychological Bulletin 76.
    """
    terms, layout = _terms(_checked(votes), None)
    return _one(_fleiss(layout), terms)


def gwet_ac1(votes: Floats, categories: Sequence[float] | None = None) -> float | None:
    """Give Gwet's AC1 of any number of raters; votes may be missing, as in `fleiss_kappa`.

    Args:
        votes: (units, raters).
        categories: those of the scale; by default those that occur.

    Returns:
        None where no unit has two votes, or there are fewer than two categories.

    Source: Gwet (2008), British J. of Mathematical and Statistical Psychology 61.
    """
    terms, layout = _terms(_checked(votes), categories)
    return _one(_ac1(layout), terms)


def krippendorff_alpha(votes: Floats, level: Level = "nominal") -> float | None:
    """Give Krippendorff's alpha of any number of raters; votes may be missing.

    Args:
        votes: (units, raters); units with one vote do not count.
        level: how far two votes are apart: alike or not (nominal), by the votes that lie between
            them (ordinal), or by the square of their difference (interval).

    Returns:
        None where no unit has two votes, or where all such votes are one category.

    Source: Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability".
    """
    terms, layout = _terms(_checked(votes), None)
    return _one(_alpha(layout, level), terms)


# --- all together, with intervals -----------------------------------------------------------


def agreement(
    votes: Floats,
    clusters: Labels | None = None,
    *,
    names: Sequence[str] | None = None,
    categories: Sequence[float] | None = None,
    graded: bool = False,
    weights: Floats | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> list[Coefficient]:
    """Work all coefficients out, with 95 % intervals over clusters of units.

    Args:
        votes: (units, raters), NaN for a missing vote.
        clusters: (units,), labels; units with one label stand or fall together. None: none do.
        names: of the raters, for Cohen's kappa of each two of them; with two raters, or without
            names, there is only the one, or none.
        categories: those of the scale, for AC1; by default those that occur.
        graded: whether the categories are grades; then alpha also ordinal and interval.
        weights: (units,), how many units each stands for, where units were drawn with unequal
            chances. None: all alike.
        draws: bootstrap resamples.
        seed: of the bootstrap.

    Returns:
        Raw agreement, Fleiss' kappa, AC1, alpha; Cohen's kappas. The same for any order of units.

    Raises:
        ValueError: where shapes differ, or there are more than 64 categories.
    """
    votes = _checked(votes)
    codes = cluster_codes(clusters, len(votes))
    each, layout = _terms(votes, categories)
    units = int(each[:, 3].sum())
    each = each * unit_weights(weights, len(votes))
    terms = collapse(each, codes)
    raw = _raw(each[:, 0], each[:, 1], codes, draws, seed)
    drawn = resample(terms, draws, seed, "agreement")
    levels: tuple[Level, ...] = ("nominal", "ordinal", "interval") if graded else ("nominal",)
    wanted: list[tuple[str, str, Statistic, _Chance]] = [
        (FLEISS, FLEISS, _fleiss(layout), _alike),
        (AC1, AC1, _ac1(layout), _alike_ac1),
        *((f"{ALPHA} ({level})", ALPHA, _alpha(layout, level), _alike) for level in levels),
    ]
    share = divide(terms.total[layout.shares], terms.total[4, None])
    found = [
        Coefficient(
            name=RAW,
            value=raw.value,
            low=raw.low,
            high=raw.high,
            units=units,
            method=raw.method,
            about=_ABOUT[RAW],
        )
    ]
    for name, key, statistic, chance in wanted:
        one = coefficient(name, statistic, terms, drawn, units, _ABOUT[key])
        found.append(_rescaled(one, raw, terms, float(chance(share[None])[0])))
    raters = votes.shape[1]
    pairs = list(combinations(range(raters), 2)) if names or raters == 2 else []
    for a, b in pairs:
        label = f"{COHEN}, {names[a]} and {names[b]}" if names and raters > 2 else COHEN
        two = votes[:, a], votes[:, b]
        found.append(cohen(*two, codes, name=label, weights=weights, draws=draws, seed=seed))
    return found


def cohen(
    first: Floats,
    second: Floats,
    clusters: Labels | None = None,
    *,
    name: str = COHEN,
    weights: Floats | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> Coefficient:
    """Give Cohen's kappa of two raters with its 95 % interval; see `agreement`."""
    both = _checked(np.stack([first, second], axis=1))
    each = _joint(both, _categories(both, None))
    units = int(each[:, 1].sum())
    each = each * unit_weights(weights, len(both))
    codes = cluster_codes(clusters, len(both))
    terms = collapse(each, codes)
    raw = _raw(each[:, 0], each[:, 1], codes, draws, seed)
    drawn = resample(terms, draws, seed, "cohen")
    one = coefficient(name, _cohen, terms, drawn, units, _ABOUT[COHEN])
    q = round(sqrt(terms.rows.shape[1] - 2))
    share = divide(terms.total[2 :: q + 1][:q], terms.total[1, None])  # where all is agreement
    return _rescaled(one, raw, terms, float(_alike(share[None])[0]))


# --- what units add, and the coefficients from it -------------------------------------------


def _checked(votes: Floats) -> Floats:
    votes = np.asarray(votes, dtype=np.float64)
    if votes.ndim != 2:
        raise ValueError(f"votes are (units, raters), not of shape {votes.shape}")
    return votes


def _categories(votes: Floats, categories: Sequence[float] | None) -> Floats:
    found = np.unique(votes[~np.isnan(votes)])
    if categories is not None:
        found = np.union1d(found, np.asarray(categories, dtype=np.float64))
    if len(found) > _MOST:
        raise ValueError(f"agreement is of at most {_MOST} categories, not {len(found)}")
    return found


def _terms(votes: Floats, categories: Sequence[float] | None) -> tuple[Floats, _Layout]:
    """Give what each unit adds, (units, terms), and where it lies.

    Agreeing pairs, pairs; their share, whether there is one, whether any vote; then the share of
    each category; then Krippendorff's coincidences.
    """
    layout = _Layout(_categories(votes, categories))
    q = len(layout.categories)
    given = np.zeros((len(votes), q))
    for i, category in enumerate(layout.categories):
        given[:, i] = (votes == category).sum(axis=1)
    kinds, back = np.unique(given, axis=0, return_inverse=True)
    m = kinds.sum(axis=1)
    pairable, rated = m > 1, m > 0
    agreeing, pairs = (kinds * (kinds - 1)).sum(axis=1), m * (m - 1)
    coincide = kinds[:, :, None] * kinds[:, None, :]
    coincide[:, range(q), range(q)] -= kinds
    coincide /= np.maximum(m - 1, 1)[:, None, None]
    terms = np.column_stack(
        [
            agreeing / 2,
            pairs / 2,
            agreeing / np.maximum(pairs, 1),
            pairable,
            rated,
            kinds / np.maximum(m, 1)[:, None],
            coincide.reshape(len(kinds), q * q),
        ]
    )
    return terms[back.reshape(-1)], layout


def _joint(both: Floats, categories: Floats) -> Floats:
    """Give what each unit adds for two raters: agreement, whether both voted, and its cell."""
    q = len(categories)
    given = ~np.isnan(both).any(axis=1)
    cells = np.zeros((len(both), q * q))
    place = np.searchsorted(categories, both[given])
    cells[given, place[:, 0] * q + place[:, 1]] = 1
    return np.column_stack([both[:, 0] == both[:, 1], given, cells])


def _one(statistic: Statistic, terms: Floats) -> float | None:
    value = float(statistic(terms.sum(axis=0)[None])[0])
    return None if np.isnan(value) else value


def _beyond(observed: Floats, chance: Floats) -> Floats:
    return divide(observed - chance, 1 - chance)


def _alike(share: Floats) -> Floats:
    """How often two votes agree by chance, from the categories' shares, (draws, q)."""
    found: Floats = (share**2).sum(axis=1)
    return found


def _alike_ac1(share: Floats) -> Floats:
    """The same in Gwet's view, where only some votes are cast by chance."""
    found: Floats = (share * (1 - share)).sum(axis=1) / max(share.shape[1] - 1, 1)
    return found


def _cohen(totals: Floats) -> Floats:
    q = round(sqrt(totals.shape[1] - 2))
    table = divide(totals[:, 2:], totals[:, 1, None]).reshape(len(totals), q, q)
    chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
    return _beyond(divide(totals[:, 0], totals[:, 1]), chance)


def _fleiss(layout: _Layout) -> Statistic:
    def kappa(totals: Floats) -> Floats:
        share = divide(totals[:, layout.shares], totals[:, 4, None])
        return _beyond(divide(totals[:, 2], totals[:, 3]), _alike(share))

    return kappa


def _ac1(layout: _Layout) -> Statistic:
    q = len(layout.categories)

    def ac1(totals: Floats) -> Floats:
        if q < 2:
            return np.full(len(totals), np.nan)
        share = divide(totals[:, layout.shares], totals[:, 4, None])
        return _beyond(divide(totals[:, 2], totals[:, 3]), _alike_ac1(share))

    return ac1


def _alpha(layout: _Layout, level: Level) -> Statistic:
    """Every level but the nominal is a squared distance: of grades, or of their middle ranks."""

    def alpha(totals: Floats) -> Floats:
        met = layout.coincidences(totals)
        held = met.sum(axis=2)  # (draws, q), the pairable votes
        n = held.sum(axis=1)
        if level == "nominal":
            apart = n - np.trace(met, axis1=1, axis2=2)
            chance = n**2 - (held**2).sum(axis=1)
        else:
            place = layout.categories + 0 * held
            if level == "ordinal":
                place = np.cumsum(held, axis=1) - held / 2
            place = place - divide((held * place).sum(axis=1), n)[:, None]
            square = (held * place**2).sum(axis=1)
            apart = 2 * (square - np.einsum("dck,dc,dk->d", met, place, place))
            chance = 2 * n * square
        return 1 - divide(apart * (n - 1), chance)

    return alpha


# --- intervals ------------------------------------------------------------------------------


def _raw(agreeing: Floats, pairs: Floats, codes: Counts, draws: int, seed: int) -> Metric:
    """Work the raw agreement out as any rate is."""
    frame = pl.DataFrame({"agreeing": agreeing, "pairs": pairs, "cluster": codes})
    ratio = Ratio(name=RAW, top=pl.col("agreeing"), bottom=pl.col("pairs"))
    return estimate(frame, [ratio], cluster="cluster", draws=draws, seed=seed)[0]


def _rescaled(one: Coefficient, raw: Metric, terms: Terms, chance: float) -> Coefficient:
    """Where few clusters disagree, take the raw agreement's interval, in the coefficient's units.

    A coefficient is 1 - (what disagrees) / (what would by chance). With chance held, it moves
    with the first alone. Where nothing disagrees, chance is that of the nominal coefficient.
    """
    apart = terms.rows[:, 0] < terms.rows[:, 1] - 1e-9
    alike = terms.rows[:, 0] > 1e-9
    few = min(int(terms.counts[apart].sum()), int(terms.counts[alike].sum())) < _FEW
    if not few or one.value is None or raw.value is None or raw.low is None or raw.high is None:
        return one
    scale = (1 - one.value) / (1 - raw.value) if raw.value < 1 else 1 / (1 - chance)
    low, high = 1 - scale * (1 - raw.low), 1 - scale * (1 - raw.high)
    return replace(one, low=min(low, one.value), high=max(high, one.value), method=RESCALED)
