"""Coefficients that are functions of several sums over units, and their cluster bootstrap.

A kappa is no ratio of two sums but a function of a few: each unit adds a row of numbers, its
*terms*, and the coefficient is worked out from their totals. Units that share a cluster stand or
fall together, so a resample draws clusters; clusters with the same terms are one *pattern*, and
only how often each pattern is drawn is held, a few thousand resamples at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.metrics.bootstrap import DIGITS, Counts, Floats, generator
from hardset.metrics.interval import bca

LEVEL = 0.95
BCA = "cluster-bootstrap, BCa"
_CHUNK = 1 << 21  # numbers drawn at a time, 16 MB a thread
_SHARED = 16  # clusters a pattern, from which on a multinomial is faster than single draws

Statistic = Callable[[Floats], Floats]
"""From totals, (draws, terms), to the coefficient of each, (draws,); NaN where undefined."""

Labels = Sequence[Hashable] | NDArray[np.generic]


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A coefficient with its 95 % interval; `value` is None where it is undefined, never 0 or 1.

    The interval is None where there is none, though there be a value; `method` says why.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    units: int  # that it is worked out from: with two votes, with a vote and a label, ...
    method: str = ""
    about: str = ""  # the definition in words, with its source


class Terms(NamedTuple):
    """What clusters add to the totals: the distinct rows, sorted, and how many make each."""

    rows: Floats  # (patterns, terms)
    counts: Counts  # (patterns,), summing to the number of clusters

    @property
    def total(self) -> Floats:
        """The totals of all clusters, (terms,)."""
        total: Floats = self.counts @ self.rows
        return total


def cluster_codes(clusters: Labels | None, units: int) -> Counts:
    """Number the clusters 0, 1, ..., one a unit; None: every unit by itself.

    Raises:
        ValueError: where there is not one label a unit.
    """
    if clusters is None:
        return np.arange(units, dtype=np.int64)
    labels = np.asarray(clusters)
    if labels.shape != (units,):
        raise ValueError(f"{units} units need as many cluster labels, not {labels.shape}")
    return np.unique(labels, return_inverse=True)[1].astype(np.int64).reshape(-1)


def unit_weights(weights: Floats | None, units: int) -> Floats:
    """Scale sampling weights to a mean of 1, as a column (units, 1); None: all count alike.

    Raises:
        ValueError: where there is not one weight a unit, above or at 0.
    """
    if weights is None:
        return np.ones((units, 1))
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (units,) or not (found >= 0).all():
        raise ValueError(f"{units} units need as many weights, none below 0")
    return (found / max(float(found.mean()), 1e-300))[:, None] if units else found[:, None]


def collapse(terms: Floats, codes: Counts) -> Terms:
    """Add the terms of each cluster's units up, and count the clusters that are alike.

    Sorted, so that neither the order of the units nor the names of the clusters reach the draws.

    Args:
        terms: (units, terms).
        codes: (units,), the cluster of each, 0, 1, ...
    """
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums = np.add.reduceat(terms[order], starts) if len(terms) else terms
    # + 0.0, so that -0.0 is no pattern of its own
    rows, counts = np.unique(np.round(sums, DIGITS) + 0.0, axis=0, return_counts=True)
    return Terms(rows, counts.astype(np.int64))


def resample(terms: Terms, draws: int, seed: int, name: str = "") -> Floats:
    """Draw as many clusters as there are, with replacement, and add up, (draws, terms)."""
    clusters, size = int(terms.counts.sum()), len(terms.counts)
    shared = clusters > _SHARED * size
    chance = terms.counts / max(1, clusters)
    of = np.repeat(np.arange(size), terms.counts)

    def work(part: int, rng: np.random.Generator) -> Floats:
        if shared:
            drawn = rng.multinomial(clusters, chance, size=part)
        else:
            single = of[rng.integers(clusters, size=(part, clusters))]
            single += size * np.arange(part)[:, None]
            drawn = np.bincount(single.ravel(), minlength=part * size).reshape(part, size)
        found: Floats = drawn.astype(np.float64) @ terms.rows
        return found

    most = max(1, _CHUNK // max(1, size if shared else clusters))
    parts = [min(most, draws - at) for at in range(0, draws, most)]
    rngs = generator(seed, f"coefficients {name}", {}).spawn(len(parts))
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:  # numpy's draws run in parallel
        return np.concatenate(list(pool.map(work, parts, rngs)))


def coefficient(
    name: str,
    statistic: Statistic,
    terms: Terms,
    drawn: Floats,
    units: int,
    about: str,
    known_from: int | None = None,
) -> Coefficient:
    """Work a coefficient out, with the BCa interval of its resamples.

    A resample in which it is undefined is left out, and the method says how many were.

    Args:
        name: of the coefficient.
        statistic: of totals.
        terms: what the clusters add.
        drawn: (draws, terms), what `resample` gave.
        units: for the record.
        about: the definition.
        known_from: how many clusters the spread is known from; see `bca`.
    """
    value = float(statistic(terms.total[None])[0])
    if np.isnan(value):
        return Coefficient(name=name, value=None, units=units, method="undefined", about=about)
    found = statistic(drawn)
    defined = ~np.isnan(found)
    method = BCA
    if not defined.all():
        method += f" ({int((~defined).sum())} of {len(found)} draws undefined)"
    low = high = None
    found = found[defined]
    if not len(found) or np.ptp(found) < 1e-12:
        method = "no interval: resamples do not vary"
    else:
        without = statistic(terms.total - terms.rows)
        kept = ~np.isnan(without)
        low, high = bca(found, value, without[kept], terms.counts[kept], LEVEL, known_from)
    return Coefficient(
        name=name, value=value, low=low, high=high, units=units, method=method, about=about
    )


def divide(top: Floats, bottom: Floats) -> Floats:
    """Divide; NaN where the denominator is nothing."""
    bottom = np.where(np.abs(bottom) > 1e-12, bottom, np.nan)
    return top / bottom
