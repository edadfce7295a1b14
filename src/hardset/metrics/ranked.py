"""Answers ranked by confidence, and what follows from their order, for many resamples at once.

A resample of the clusters is a row of weights: how often each cluster was drawn. Every figure is
worked out for all rows of weights together, from running sums down the ranking, so that the
figure itself (all weights 1) and its bootstrap are the same few lines.

Rows with one confidence are tied: whatever threshold answers one of them answers all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.metrics.bootstrap import Counts, Floats

Fraction = tuple[Floats, Floats]
"""Numerators and denominators of one figure, both (resamples,); no denominator: undefined."""


class Half(NamedTuple):
    """The answers of half of the clusters, as far as thresholds are chosen and tried there."""

    rows: Counts  # positions in the ranking
    ends: Counts  # for each confidence, the last position among `rows` that has it
    reach: Counts  # for each confidence, how many confidences of the other half are as high


class Ranked(NamedTuple):
    """Answers with a confidence, the surest first, and the rows that were never answered."""

    confidence: Floats  # (answers,), falling
    right: Floats  # (answers,), 1 or 0
    cluster: Counts  # (answers,), from 0
    ends: Counts  # (confidences,), the last answer that has each confidence
    rows: Floats  # (clusters,), all rows, answered or not
    halves: tuple[Half, Half]
    in_second: NDArray[np.bool_]  # (clusters,), whether in the second half


def rank(
    confidence: Floats,
    right: NDArray[np.bool_],
    cluster: Counts,
    rows: Floats,
    in_second: NDArray[np.bool_],
) -> Ranked:
    """Rank answers by confidence; among equals the order says nothing, and never reaches a figure.

    Args:
        confidence: of each answer, (answers,).
        right: whether each is right, (answers,).
        cluster: the cluster of each, from 0, (answers,).
        rows: how many rows each cluster has, answered or not, (clusters,).
        in_second: which clusters are in the second half, (clusters,).
    """
    order = np.lexsort((cluster, right, -confidence))
    sorted_confidence, sorted_cluster = confidence[order], cluster[order]
    parts = [np.flatnonzero(in_second[sorted_cluster] == side) for side in (False, True)]
    falling = [-sorted_confidence[part] for part in parts]
    ends = [_ends(keys) for keys in falling]
    distinct = [keys[end] for keys, end in zip(falling, ends, strict=True)]
    halves = [
        Half(parts[i], ends[i], np.searchsorted(distinct[1 - i], distinct[i], side="right"))
        for i in (0, 1)
    ]
    return Ranked(
        sorted_confidence,
        right[order].astype(np.float64),
        sorted_cluster,
        _ends(-sorted_confidence),
        rows,
        (halves[0], halves[1]),
        in_second,
    )


def coarse(ranked: Ranked, most: int) -> Ranked:
    """Tie neighbours in the ranking together, so that there are at most so many confidences.

    Resamples of many rows are ranked so: every threshold that is left is one that there was, and
    of the others each is at most a few rows from one of them.
    """
    if len(ranked.ends) <= most:
        return ranked
    kept = np.unique(np.linspace(0, len(ranked.ends) - 1, most + 1).round().astype(np.int64)[1:])
    ends = ranked.ends[kept]
    tied = ranked.confidence[ends[np.searchsorted(ends, np.arange(len(ranked.right)))]]
    return rank(tied, ranked.right > 0, ranked.cluster, ranked.rows, ranked.in_second)


def _ends(keys: Floats) -> Counts:
    """Find the last position of each value in sorted keys."""
    if not len(keys):
        return np.empty(0, np.int64)
    return np.append(np.flatnonzero(keys[1:] != keys[:-1]), len(keys) - 1)


class Curve(NamedTuple):
    """Risk against coverage at every threshold there is, the highest first; all (confidences,)."""

    threshold: Floats
    coverage: Floats
    risk: Floats


def curve(ranked: Ranked) -> Curve:
    """Give the risk–coverage curve: what is answered at each threshold, and how much is wrong.

    Coverage is over all rows, so the curve ends where the model itself stopped answering.
    """
    answered = ranked.ends + 1.0
    wrong = np.cumsum(1 - ranked.right)[ranked.ends]
    return Curve(
        ranked.confidence[ranked.ends], answered / max(1.0, ranked.rows.sum()), wrong / answered
    )


class Bins(NamedTuple):
    """Answers in bins of equal width by their confidence; all (bins,)."""

    answers: Floats  # how many
    confidence: Floats  # sums
    right: Floats  # sums


def bins(ranked: Ranked, number: int) -> Bins:
    """Sort answers into bins (0, 1/n], (1/n, 2/n], …; a confidence of 0 is in the first."""
    place = _bin(ranked.confidence, number)
    every = (np.ones_like(ranked.right), ranked.confidence, ranked.right)
    answers, confidence, right = (np.bincount(place, one, minlength=number) for one in every)
    return Bins(answers.astype(np.float64), confidence.astype(np.float64), right.astype(np.float64))


def _bin(confidence: Floats, number: int) -> Counts:
    edges = np.linspace(0, 1, number + 1)
    place: Counts = np.searchsorted(edges, confidence, side="left") - 1
    return place.clip(0, number - 1)


class Sums(NamedTuple):
    """Under each resample, what is at each confidence, and at it or above; the highest first."""

    rows: Floats  # (resamples,), all rows
    size: Floats  # (resamples, confidences), answers at each confidence
    errors: Floats  # of these, the wrong ones
    answered: Floats  # running sums of both
    wrong: Floats

    @property
    def total(self) -> tuple[Floats, Floats]:
        """All answers, and all wrong ones, both (resamples,)."""
        if not self.answered.shape[1]:
            return np.zeros_like(self.rows), np.zeros_like(self.rows)
        return self.answered[:, -1], self.wrong[:, -1]


def run_sums(ranked: Ranked, weights: Floats, part: Half | None = None) -> Sums:
    """Sum down the ranking, or one half's, under each row of weights, (resamples, clusters)."""
    cluster, right, ends = ranked.cluster, ranked.right, ranked.ends
    if part is not None:
        cluster, right, ends = cluster[part.rows], right[part.rows], part.ends
    size = np.take(weights, cluster, axis=1)
    errors = size * (1 - right)
    answered, wrong = np.cumsum(size, axis=1), np.cumsum(errors, axis=1)
    if len(ends) < answered.shape[1]:
        answered, wrong = answered[:, ends], wrong[:, ends]
        size, errors = (np.diff(running, axis=1, prepend=0.0) for running in (answered, wrong))
    return Sums(weights @ ranked.rows, size, errors, answered, wrong)


def figures(
    ranked: Ranked, weights: Floats, risks: Sequence[float], costs: Sequence[float], gaps: Floats
) -> dict[tuple[str, float], Fraction]:
    """Work every figure out under each row of weights.

    Args:
        ranked: the answers.
        weights: how often each cluster counts, whole numbers, (resamples, clusters).
        risks: the risks to give the coverage at.
        costs: of a wrong answer, for the effective reliability.
        gaps: what `calibration_gaps` found.

    Returns:
        By name and parameter (0 where there is none).
    """
    sums = run_sums(ranked, weights)
    found = {("aurc", 0.0): aurc(sums)}
    found |= {("coverage", risk): coverage_at(sums, risk) for risk in risks}
    found |= {("phi", cost): one for cost, one in phi(ranked, weights, costs).items()}
    found["ece", 0.0] = ece(weights, gaps, sums)
    found["auroc", 0.0] = auroc(sums)
    return found


def aurc(sums: Sums) -> Fraction:
    """Area under the risk–coverage curve, by the trapezoids of the Reliable VQA evaluator.

    That code puts a point after every row and leaves tied rows in whatever order they came; here
    it is the mean over all their orders, in which the errors of a tie come evenly. With C rows
    and E errors before a tie of m rows and e errors, the risks in it add up to
    e + (E - C e / m) (H(C + m) - H(C)), H being the harmonic numbers. Rows that were never
    answered come last, as a tie of wrong ones: the curve ends at coverage 1.
    """
    answers, wrong = sums.total
    never = sums.rows - answers
    harmonic = np.zeros(int(sums.rows.max(initial=0)) + 1)
    np.cumsum(1 / np.arange(1, len(harmonic)), out=harmonic[1:])
    share = sums.errors / np.maximum(sums.size, 1)
    heights = np.diff(harmonic[sums.answered.astype(np.int32)], axis=1, prepend=0.0)
    terms = sums.wrong - sums.errors - (sums.answered - sums.size) * share
    total = np.einsum("dg,dg->d", terms, heights) + wrong
    last = harmonic[sums.rows.astype(np.int64)] - harmonic[answers.astype(np.int64)]
    total += never + (wrong - answers) * last
    first = np.where(never > 0, 1.0, 0.0)  # where nothing at all is answered
    if share.shape[1]:
        surest = share[np.arange(len(share)), (sums.size > 0).argmax(axis=1)]
        first = np.where(answers > 0, surest, first)
    ends = (first + (wrong + never) / np.maximum(sums.rows, 1)) / 2
    return total - ends, np.where(sums.rows > 1, sums.rows, 0)


def coverage_at(sums: Sums, risk: float) -> Fraction:
    """The greatest coverage that a threshold reaches at no more than a risk; ties stay whole."""
    fits = sums.wrong <= (risk * (1 + 1e-12)) * sums.answered
    if not fits.shape[1]:
        return np.zeros_like(sums.rows), sums.rows
    last = fits.shape[1] - 1 - fits[:, ::-1].argmax(axis=1)
    resample = np.arange(len(fits))
    return np.where(fits[resample, last], sums.answered[resample, last], 0), sums.rows


def auroc(sums: Sums) -> Fraction:
    """Of a right and a wrong answer, how often the right one is surer; ties count one half."""
    answers, wrong = sums.total
    below = wrong[:, None] - sums.wrong + sums.errors / 2
    pairs = np.einsum("dg,dg->d", sums.size - sums.errors, below)
    return pairs, (answers - wrong) * wrong


def calibration_gaps(ranked: Ranked, number: int) -> Floats:
    """Sum confidence minus right in each of so many bins of each cluster, (clusters, bins)."""
    cell = ranked.cluster * number + _bin(ranked.confidence, number)
    gaps = np.bincount(cell, ranked.confidence - ranked.right, len(ranked.rows) * number)
    return gaps.astype(np.float64).reshape(len(ranked.rows), number)


def ece(weights: Floats, gaps: Floats, sums: Sums) -> Fraction:
    """Expected calibration error: bins' |mean confidence - accuracy|, weighted by their answers."""
    return np.abs(weights @ gaps).sum(axis=1), sums.total[0]


def phi(ranked: Ranked, weights: Floats, costs: Sequence[float]) -> dict[float, Fraction]:
    """Effective reliability at each cost, its threshold chosen on the other half of the clusters.

    A right answer is worth 1, a wrong one -cost, and none 0. Each half is scored at the threshold
    that is best in the other: a confidence that is there, the lowest of those equally good, and
    what is as sure is answered too. Where the other half has no answer, there is no threshold,
    and nothing is answered.
    """
    sides = [run_sums(ranked, weights, half) for half in ranked.halves]
    resample = np.arange(len(weights))
    total = {cost: np.zeros(len(weights)) for cost in costs}
    for own, half in enumerate(ranked.halves):
        chosen, scored = sides[own], sides[1 - own]
        if not (len(half.ends) and scored.size.shape[1]):
            continue
        right = np.where(chosen.size > 0, chosen.answered - chosen.wrong, -np.inf)[:, ::-1]
        wrong = chosen.wrong[:, ::-1]  # the lowest confidence first: the first best is taken
        for cost in costs:
            best = half.reach[::-1][(right - cost * wrong).argmax(axis=1)]
            some = (best > 0) & (chosen.total[0] > 0)
            answered, errors = (x[resample, best - 1] for x in (scored.answered, scored.wrong))
            total[cost] += np.where(some, answered - (1 + cost) * errors, 0)
    rows = weights @ ranked.rows
    second = weights @ (ranked.rows * ranked.in_second)
    both = np.where((second > 0) & (second < rows), rows, 0)
    return {cost: (np.where(both > 0, one, 0), both) for cost, one in total.items()}
