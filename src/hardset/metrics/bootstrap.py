"""The cluster bootstrap of ratios of sums: n of n clusters drawn with replacement, many times.

A cluster enters a ratio only through its (numerator, denominator). Clusters with the same
pair are one *pattern*, and how often a resample holds each pattern is multinomial. The counts
are drawn in one of two ways; both are the cluster bootstrap itself, not an approximation of it.

- Few patterns for many clusters: a multinomial as a chain of binomials.
- Many patterns: from halves that all ratios and slices share, see `_Halves`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

DIGITS = 9  # contributions are equal to this many decimals: sums in any order agree
_SHARED = 256  # clusters a pattern, from which on a chain of binomials is faster than halves
_BLOCK = 64  # cells filled at a time, in a core's own cache
_ACROSS = 256  # patterns read off at a time, for the same reason
_POOL = 512  # halves of each kind made at a time
_KEPT = 448  # of them, those with the fewest clusters
_LARGE = 1 << 15  # clusters; above, fewer halves at a time: 128 MB a thread, to a million clusters
_HELD = 1 << 25  # numerators and denominators drawn at a time, 256 MB


class Patterns(NamedTuple):
    """The distinct contributions to one ratio, sorted, and how many clusters make each."""

    top: Floats  # (patterns,)
    bottom: Floats  # (patterns,)
    counts: Counts  # (patterns,), summing to the number of clusters


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


def draw(several: Sequence[Patterns], draws: int, seed: int) -> Iterator[Floats]:
    """Draw the numerators and denominators of `draws` resamples of each, (2, draws).

    What one gets depends on itself, the seed and `draws`, not on which others are asked for; and
    those that are of the same clusters, by their counts, get the same resamples of them.
    """
    step = max(1, _HELD // (2 * draws))
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:  # numpy's draws run in parallel
        for start in range(0, len(several), step):
            yield from _drawn(several[start : start + step], draws, seed, pool)


def _drawn(
    several: Sequence[Patterns], draws: int, seed: int, pool: Executor
) -> NDArray[np.float64]:
    """Draw some ratios, which fit into memory: (ratios, 2, draws)."""
    found = np.empty((len(several), 2, draws))

    def chain(i: int) -> None:
        own = generator(seed, str(several[i].counts.tolist()), {})
        found[i] = _by_pattern(several[i], draws, own)

    halved: dict[int, list[int]] = {}
    chained = []
    for i, one in enumerate(several):
        if _few(one, _SHARED):
            chained.append(i)
        else:
            halved.setdefault(_pool(int(one.counts.sum())), []).append(i)
    list(pool.map(chain, chained))
    for size, members in halved.items():
        halves = _Halves([several[i] for i in members], [found[i] for i in members], size, seed)
        list(pool.map(halves.fill, range(0, draws, halves.kept)))
    return np.round(found, DIGITS, out=found)  # so that a sum of nothing is exactly nothing


def _few(one: Patterns, clusters: int) -> bool:
    return int(one.counts.sum()) > clusters * len(one.counts)


def _pool(clusters: int) -> int:
    """Say how many halves to make at a time: a power of two, by the clusters alone."""
    return max(16, _POOL >> max(0, ((clusters - 1) // _LARGE).bit_length()))


def _by_pattern(one: Patterns, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the numerator and denominator of `draws` resamples, both (draws,).

    A multinomial is a chain of binomials: how many of the clusters still to be drawn are of this
    pattern, and not of a later one. Frequent patterns come first, so that the rest are few.
    """
    top, bottom = np.zeros(draws), np.zeros(draws)
    left = np.full(draws, one.counts.sum())
    clusters = int(one.counts.sum())
    for i in np.argsort(-one.counts, kind="stable"):
        drawn = rng.binomial(left, one.counts[i] / clusters)
        top += one.top[i] * drawn
        bottom += one.bottom[i] * drawn
        left -= drawn
        clusters -= int(one.counts[i])
    return top, bottom


class _Halves:
    """Resamples put together from two halves, which all ratios and slices share.

    The clusters of a ratio lie in cells 1 ... n, sorted, so that a pattern is a stretch of cells.
    A half is a Poisson process: in each cell, independently, Poisson(1/2) draws. Given how many
    draws it has in the first n cells, each of them is equally likely to be in any of those: it is
    multinomial. So is a pair of halves, however it was chosen by those numbers alone, and so it is
    with what it lacks to n drawn singly. Halves with few draws are paired with halves with many,
    which leaves little to be drawn singly; a pair of more than n draws is not used, and all n are.

    The draws up to each cell are summed once; a ratio of any number of clusters reads its
    patterns off at their ends.
    """

    def __init__(
        self, several: Sequence[Patterns], into: Sequence[Floats], size: int, seed: int
    ) -> None:
        self.several, self.into, self.size, self.seed = several, into, size, seed
        self.kept = size * _KEPT // _POOL
        self.by_clusters: dict[int, list[int]] = {}
        for i, one in enumerate(several):
            self.by_clusters.setdefault(int(one.counts.sum()), []).append(i)

    def fill(self, start: int) -> None:
        """Write the draws from `start` on, as many as one pool gives, of every ratio."""
        upto = self._sums(generator(self.seed, "halves", {"from": str(start)}))
        kept = self.kept
        for clusters, members in self.by_clusters.items():
            first, second = upto[clusters, : self.size], upto[clusters, self.size :]
            fewest = np.argsort(first, kind="stable")[:kept]
            most = np.argsort(second, kind="stable")[:kept][::-1]
            lacking = clusters - first[fewest] - second[most]
            used = lacking >= 0
            lacking[~used] = clusters
            rng = generator(self.seed, f"{clusters} singly", {"from": str(start)})
            singly = rng.integers(clusters, size=lacking.sum())
            starts, some = np.cumsum(lacking) - lacking, lacking > 0
            for i in members:
                one, into = self.several[i], self.into[i][:, start : start + kept]
                sums = _read_off(one, upto)
                both = (sums[:, fewest] + sums[:, self.size + most]) * used
                for side, values in enumerate((one.top, one.bottom)):
                    drawn = np.append(np.repeat(values, one.counts)[singly], 0.0)
                    both[side] += np.add.reduceat(drawn, starts) * some
                into[:] = both[:, : into.shape[1]]

    def _sums(self, rng: np.random.Generator) -> NDArray[np.int32]:
        """Fill the cells of a pool: the draws in the first 0, 1, ... cells, (1 + cells, halves)."""
        halves = 2 * self.size
        cells = -(-max(self.by_clusters) // _BLOCK) * _BLOCK  # the same whatever is asked for
        upto = np.zeros((1 + cells, halves), dtype=np.int32)
        here = _BLOCK * halves
        for start in range(0, cells, _BLOCK):
            drawn = rng.integers(here, size=rng.poisson(here / 2), dtype=np.uint32)
            counts = np.bincount(drawn, minlength=here).astype(np.int32).reshape(_BLOCK, halves)
            for i in range(_BLOCK):
                np.add(upto[start + i], counts[i], out=upto[start + i + 1])
        return upto


def _read_off(one: Patterns, upto: NDArray[np.int32]) -> Floats:
    """Sum numerators and denominators from the draws up to each cell, (2, halves)."""
    values = np.stack([one.top, one.bottom])
    steps = values - np.append(values[:, 1:], [[0.0], [0.0]], axis=1)
    ends = np.cumsum(one.counts)
    sums = np.zeros((2, upto.shape[1]))
    for start in range(0, len(ends), _ACROSS):
        part = slice(start, start + _ACROSS)
        sums += steps[:, part] @ upto[ends[part]].astype(np.float64)
    return sums


def percentiles(top: Floats, bottom: Floats, level: float) -> tuple[float, float, int]:
    """Give the percentile interval of the drawn ratios, and how many draws were undefined.

    A draw with an empty denominator has no ratio; it is left out of the percentiles.
    """
    defined = bottom > 0
    ratios = top[defined] / bottom[defined]
    tail = (1 - level) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return float(low), float(high), int(len(bottom) - len(ratios))
