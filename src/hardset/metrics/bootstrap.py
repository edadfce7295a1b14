"""The cluster bootstrap of a ratio of sums, drawn over patterns instead of clusters.

A cluster enters a ratio only through its (numerator, denominator). Clusters with the same
pair are one *pattern*, and drawing n clusters with replacement draws multinomial counts of
the patterns: exactly the same distribution, at the cost of the patterns (a handful, mostly)
instead of the clusters (tens of thousands). Where nearly every cluster is its own pattern,
the clusters are drawn one by one, in chunks of bounded memory, once for all ratios of a slice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_ONE_BY_ONE = 12  # drawing one pattern's count costs about as much as drawing 12 clusters
_CHUNK = 1 << 21  # clusters drawn at a time: 16 MB of indices


class Patterns(NamedTuple):
    """The distinct contributions to one ratio, sorted, and how many clusters make each."""

    top: Floats  # (patterns,)
    bottom: Floats  # (patterns,)
    counts: Counts  # (patterns,), summing to the number of clusters

    @property
    def many(self) -> bool:
        """Whether drawing the clusters one by one is cheaper."""
        return len(self.counts) * _ONE_BY_ONE > int(self.counts.sum())


def patterns(top: Floats, bottom: Floats) -> Patterns:
    """Collapse clusters, given as their numerators and denominators, both (clusters,).

    Sorted, so that neither the order nor the names of the clusters reach the random draws.
    """
    both, counts = np.unique(top + 1j * bottom, return_counts=True)
    return Patterns(both.real.copy(), both.imag.copy(), counts)


def generator(seed: int, name: str, cut: Mapping[str, str]) -> np.random.Generator:
    """Seed a generator by what is estimated, so that it does not matter what else is."""
    key = json.dumps([seed, name, sorted(cut.items())]).encode()
    digest = hashlib.blake2b(key, digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def draw(one: Patterns, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the numerator and denominator of `draws` resamples, both (draws,)."""
    clusters = int(one.counts.sum())
    sums = np.stack([one.top, one.bottom], axis=1)
    step = max(1, _CHUNK // len(one.counts))
    parts = [
        rng.multinomial(clusters, one.counts / clusters, size=min(step, draws - start)) @ sums
        for start in range(0, draws, step)
    ]
    both = np.concatenate(parts)
    return both[:, 0], both[:, 1]


def draw_one_by_one(
    several: Sequence[Patterns], draws: int, rng: np.random.Generator
) -> list[tuple[Floats, Floats]]:
    """Draw clusters themselves, once for `several` ratios over the same number of clusters.

    Each ratio lays its clusters out in its own sorted order, so that what one ratio gets does
    not depend on which others are drawn with it.
    """
    clusters = int(several[0].counts.sum())
    sums = np.stack(
        [np.repeat(column, one.counts) for one in several for column in (one.top, one.bottom)],
        axis=1,
    )
    step = max(1, _CHUNK // clusters)
    parts = []
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = rng.integers(0, clusters, size=(size, clusters))
        drawn += np.arange(size)[:, None] * clusters
        counts = np.bincount(drawn.ravel(), minlength=size * clusters)
        parts.append(counts.reshape(size, clusters) @ sums)
    both = np.concatenate(parts)
    return [(both[:, 2 * i], both[:, 2 * i + 1]) for i in range(len(several))]


def percentiles(top: Floats, bottom: Floats, level: float) -> tuple[float, float, int]:
    """Give the percentile interval of the drawn ratios, and how many draws were undefined.

    A draw with an empty denominator has no ratio; it is left out of the percentiles.
    """
    defined = bottom > 0
    ratios = top[defined] / bottom[defined]
    tail = (1 - level) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return float(low), float(high), int(len(bottom) - len(ratios))
