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
from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_PATTERN = 10  # what drawing one pattern's count takes, in clusters drawn one by one
_CHUNK = 1 << 17  # counts held at a time: 1 MB, which stay in a core's own cache
_ACROSS = 1024  # clusters multiplied at a time, for the same reason
# Multiplications that linear algebra leaves on one thread; the slices share the cores already.
_PRODUCT = 1 << 18


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


def draw(
    several: Mapping[str, Patterns], cut: Mapping[str, str], draws: int, seed: int
) -> dict[str, tuple[Floats, Floats]]:
    """Draw numerators and denominators of `draws` resamples of a slice, both (draws,).

    Args:
        several: the patterns of each ratio, by its name, over the same clusters.
        cut: the slice, for the seed.
        draws: how many resamples.
        seed: with the cut (and the name, drawing by pattern) seeds the generator.
    """
    clusters = max(int(one.counts.sum()) for one in several.values())
    if sum(len(one.counts) for one in several.values()) * _PATTERN > clusters:
        return _one_by_one(several, draws, generator(seed, "", cut))
    return {
        name: _by_pattern(one, draws, generator(seed, name, cut)) for name, one in several.items()
    }


def _by_pattern(one: Patterns, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the numerator and denominator of `draws` resamples, both (draws,)."""
    clusters = int(one.counts.sum())
    step = max(1, _CHUNK // len(one.counts))
    top, bottom = np.empty(draws), np.empty(draws)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        counts = rng.multinomial(clusters, one.counts / clusters, size=size)
        top[start : start + size] = np.einsum("dp,p->d", counts, one.top)
        bottom[start : start + size] = np.einsum("dp,p->d", counts, one.bottom)
    return top, bottom


def _one_by_one(
    several: Mapping[str, Patterns], draws: int, rng: np.random.Generator
) -> dict[str, tuple[Floats, Floats]]:
    """Draw clusters themselves, once for `several` ratios over the same number of clusters.

    Each ratio lays its clusters out in its own sorted order, so that what one ratio gets does
    not depend on which others are drawn with it.
    """
    laid_out = [
        np.repeat(column, one.counts)
        for one in several.values()
        for column in (one.top, one.bottom)
    ]
    sums = np.stack(laid_out, axis=1)
    clusters = len(sums)
    small = np.uint16 if clusters <= 1 << 16 else np.uint32  # half or less of the time of int64
    step = max(1, _CHUNK // clusters)
    rows = max(1, _PRODUCT // (min(_ACROSS, clusters) * sums.shape[1]))
    both = np.zeros((draws, sums.shape[1]))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = rng.integers(clusters, size=(size, clusters), dtype=small)
        own = drawn + np.arange(0, size * clusters, clusters)[:, None]  # a range for each draw
        counts = np.bincount(own.ravel(), minlength=size * clusters).reshape(size, clusters)
        weights, into = counts.astype(np.float64), both[start : start + size]
        for i, j in product(range(0, size, rows), range(0, clusters, _ACROSS)):
            into[i : i + rows] += weights[i : i + rows, j : j + _ACROSS] @ sums[j : j + _ACROSS]
    return {name: (both[:, 2 * i], both[:, 2 * i + 1]) for i, name in enumerate(several)}


def draw_both(
    first: Patterns, second: Patterns, name: str, cut: Mapping[str, str], draws: int, seed: int
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Draw one ratio of two runs over the same resampled clusters: the paired bootstrap.

    The patterns of both must be the same clusters in the same order: what a cluster adds to the
    one run's ratio, and to the other's.

    Returns:
        The numerators and denominators of the first run, then of the second, each (draws,).
    """
    if len(first.counts) * _PATTERN > int(first.counts.sum()):
        both = _one_by_one({"1": first, "2": second}, draws, generator(seed, name, cut))
        return both["1"], both["2"]
    # Two generators of one seed draw the same counts twice.
    one = _by_pattern(first, draws, generator(seed, name, cut))
    return one, _by_pattern(second, draws, generator(seed, name, cut))


def percentiles(top: Floats, bottom: Floats, level: float) -> tuple[float, float, int]:
    """Give the percentile interval of the drawn ratios, and how many draws were undefined.

    A draw with an empty denominator has no ratio; it is left out of the percentiles.
    """
    defined = bottom > 0
    ratios = top[defined] / bottom[defined]
    tail = (1 - level) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return float(low), float(high), int(len(bottom) - len(ratios))
