"""How far two rankings of the same examples agree: over all of them, and on the hardest.

The intervals say what other examples of the same kind would have given, with these predictors;
what other seeds would have given shows in the pairs of seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import atanh, inf, sqrt, tanh
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardset.lowresource.ranks import Floats
from hardset.metrics.interval import wilson

SHARE = 0.1
Same = Literal["seeds", "family", "score"]
_BETWEEN: dict[Same, str] = {"seeds": "seeds", "family": "families", "score": "scores"}


class Column(NamedTuple):
    """Where a column of scores comes from."""

    score: str
    predictor: str
    seed: int
    family: str

    @property
    def name(self) -> str:
        """As files call it: `loss@ffn#0`."""
        return f"{self.score}@{self.predictor}#{self.seed}"


class Estimate(NamedTuple):
    """A value with its 95 % interval; NaN where it is not defined."""

    value: float
    low: float
    high: float


class Overlap(NamedTuple):
    """The share of the hardest k of one ranking that are among the hardest k of the other."""

    value: float
    low: float
    high: float
    k: int


class Pair(NamedTuple):
    """Two columns held against each other."""

    score: str
    a: str
    b: str
    a_score: str
    b_score: str
    same: Same
    """`seeds`: two seeds of a predictor; `family`: two predictors, by unequal seeds where there are
    such; `score`: two scores by one predictor and seed."""
    n: int
    """Examples that both have a score of."""
    spearman: Estimate
    overlap: Overlap


class _Ordered(NamedTuple):
    """A column, sorted once for all its pairs."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]  # where each run of ties begins, in that order
    sizes: NDArray[np.int64]
    middle: Floats  # (n,), the empirical distribution function, ties by their middle
    spread_of: float  # the variance of `middle`
    pull: Floats  # (n,), its influence function, up to a constant

    def spread(self, of_runs: Floats) -> Floats:
        """Give every example the value of its run of ties."""
        out = np.empty(len(self.order))
        out[self.order] = np.repeat(of_runs, self.sizes)
        return out

    def above(self, weights: Floats) -> Floats:
        """Sum the weights of the examples above each, half of those tied with it; over n."""
        sums = np.concatenate(([0.0], np.cumsum(weights[self.order])))
        middles = (sums[self.starts] + sums[self.starts + self.sizes]) / 2
        return self.spread(sums[-1] - middles) / len(self.order)


def spearman(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Give Spearman's rank correlation, Pearson's of the ranks with ties averaged.

    The interval is symmetric in Fisher's z. Its standard error is the larger of two: Bonett and
    Wright's (2000, Psychometrika 65), sqrt((1 + r^2 / 2) / (n - 3)), which is right for
    normal-like data; and the delta method's on the empirical distribution (the influence function
    of the rank correlation; Borkowf 2002, Computational Statistics & Data Analysis 39), which
    holds for any form of dependence and any ties, where the first covers 72 to 92 % in place of
    95 %. The test of coverage has the figures.

    Args:
        a: (n,), and
        b: (n,): examples on which either is not finite are left out.
        level: the two-sided coverage.

    Returns:
        NaN for all where fewer than four examples are left, or either is constant on them.
    """
    a, b = _both(a, b)
    if len(a) < _LEAST:
        return Estimate(np.nan, np.nan, np.nan)
    return _spearman(_ordered(a), _ordered(b), level)


def overlap(a: ArrayLike, b: ArrayLike, share: float = SHARE, level: float = 0.95) -> Overlap:
    """Give the share of the top k of one that are in the top k of the other, k = share x n.

    Where the cut goes through ties it is the expected share if they were broken at random in
    either, worked out exactly: each tied example is in the top with the probability that it had.

    The interval is Wilson's, with as many trials as the share's variance is worth. The k at the
    top are no independent trials, since the cuts move with the sample: taken so, the interval
    covers 98 to 99 % in place of 95 % where rankings agree well. The variance is that of the
    empirical copula (Fermanian, Radulovic and Wegkamp 2004, Bernoulli 10), whose slopes are taken
    from examples near the cuts.

    Args:
        a: (n,), the highest is the top, and
        b: (n,): examples on which either is not finite are left out.
        share: how much of the set is the top, above 0 and at most 1.
        level: the two-sided coverage.

    Returns:
        NaN where no example is left.
    """
    if not 0 < share <= 1:
        raise ValueError(f"a share of the top is above 0 and at most 1, not {share}")
    a, b = _both(a, b)
    if not len(a):
        return Overlap(np.nan, np.nan, np.nan, 0)
    return _overlap(a, b, _top_of(len(a), share), level)


def table(
    columns: Mapping[Column, ArrayLike], share: float = SHARE, level: float = 0.95
) -> list[Pair]:
    """Hold columns against each other: seeds of a predictor, predictors, scores.

    Two predictors are compared by all pairs of unequal seeds, as the seeds of one are: those of
    equal seeds share the order of training. Where both have one and the same seed, by that.

    Args:
        columns: (n,) each, as ranks or so that the highest is hardest; NaN where not scored.
        share: of the top, for the overlap.
        level: the intervals' coverage.
    """
    held = {c: np.asarray(v, dtype=np.float64) for c, v in columns.items()}
    whole = {c: bool(np.isfinite(v).all()) for c, v in held.items()}
    ready: dict[Column, _Ordered] = {}

    def ordered(column: Column) -> _Ordered:
        if column not in ready:
            many = max(1, _SORTED // (_BYTES * len(held[column])))
            for longest_there in list(ready)[: max(0, len(ready) + 1 - many)]:
                del ready[longest_there]
            ready[column] = _ordered(held[column])
        return ready[column]

    pairs = []
    for a, b, same in _paired(list(held)):
        if whole[a] and whole[b] and len(held[a]) >= _LEAST:
            x, y = held[a], held[b]
            rho = _spearman(ordered(a), ordered(b), level)
            top = _overlap(x, y, _top_of(len(x), share), level)
        else:
            x, y = _both(held[a], held[b])
            rho, top = spearman(x, y, level), overlap(x, y, share, level)
        score = a.score if a.score == b.score else f"{a.score}/{b.score}"
        pairs.append(Pair(score, a.name, b.name, a.score, b.score, same, len(x), rho, top))
    return pairs


def document(pairs: Sequence[Pair], n: int, share: float = SHARE) -> dict[str, Any]:
    """Give what `stability.json` holds: every pair, and the means of each kind of pair.

    Args:
        pairs: as of `table`.
        n: the examples of the set.
        share: of the top, as `table` was given it.
    """
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.score, _BETWEEN[pair.same]), []).append(pair)
    return {
        "n": n,
        "share": share,
        "pairs": [
            pair._asdict() | {
                "spearman": _told(pair.spearman._asdict()), "overlap": _told(pair.overlap._asdict())
            }
            for pair in pairs
        ],
        "summary": [
            {
                "score": score, "between": between, "pairs": len(group),
                "spearman": _mean([pair.spearman.value for pair in group]),
                "overlap": _mean([pair.overlap.value for pair in group]),
            }
            for (score, between), group in groups.items()
        ],
    }  # fmt: skip


_LEAST = 4  # examples: n - 3 is a divisor
_BYTES = 40  # an example takes in a sorted column
_SORTED = 2**27  # bytes of sorted columns that are kept; others are sorted anew for every pair
_ROUNDING = 1e-13
_MOST_TRIALS = 4  # times k: no share is known better than by so many


def _told(values: dict[str, float]) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {name: None if value != value else value for name, value in values.items()}


def _mean(values: Sequence[float]) -> float | None:
    there = [value for value in values if value == value]
    return sum(there) / len(there) if there else None


def _both(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"rankings of {len(a)} and of {len(b)} examples")
    there = np.isfinite(a) & np.isfinite(b)
    return (a, b) if there.all() else (a[there], b[there])


def _top_of(n: int, share: float) -> int:
    return max(1, round(share * n))


def _paired(columns: Sequence[Column]) -> list[tuple[Column, Column, Same]]:
    """List the pairs that say something: one thing differs, or the predictor and its seed."""
    seeds: dict[tuple[str, str], set[int]] = {}
    for column in columns:
        seeds.setdefault((column.score, column.predictor), set()).add(column.seed)
    found: list[tuple[Column, Column, Same]] = []
    for i, a in enumerate(columns):
        for b in columns[i + 1 :]:
            if (a.score, a.predictor) == (b.score, b.predictor):
                found.append((a, b, "seeds"))
            elif a.score == b.score:
                alone = len(seeds[a.score, a.predictor] | seeds[b.score, b.predictor]) == 1
                if alone or a.seed != b.seed:
                    found.append((a, b, "family"))
            elif (a.predictor, a.seed) == (b.predictor, b.seed):
                found.append((a, b, "score"))
    return found


def _ordered(values: Floats) -> _Ordered:
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sizes = np.diff(np.append(starts, len(values)))
    made = _Ordered(order, starts, sizes, np.empty(0), 0.0, np.empty(0))
    made = made._replace(middle=made.spread((starts + sizes / 2) / len(values)))
    variance, pull = _product(made, made)
    return made._replace(spread_of=variance, pull=pull)


def _product(a: _Ordered, b: _Ordered) -> tuple[float, Floats]:
    """Give the covariance of two distribution functions, and its influence function."""
    both = a.middle * b.middle
    one = a.above(b.middle)
    return float(both.mean()) - 0.25, both + one + (one if a is b else b.above(a.middle))


def _spearman(a: _Ordered, b: _Ordered, level: float) -> Estimate:
    n = len(a.order)
    if len(a.starts) == 1 or len(b.starts) == 1:
        return Estimate(np.nan, np.nan, np.nan)
    shared, pull = _product(a, b)
    of_a, of_b = a.spread_of, b.spread_of
    rho = float(np.clip(shared / sqrt(of_a * of_b), -1, 1))
    if 1 - abs(rho) < _ROUNDING:
        return Estimate(round(rho), round(rho), round(rho))
    influence = pull / sqrt(of_a * of_b) - rho / 2 * (a.pull / of_a + b.pull / of_b)
    delta = float(influence.std(ddof=1)) / sqrt(n) / (1 - rho * rho)
    error = max(delta, sqrt((1 + rho * rho / 2) / (n - 3)))
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    return Estimate(rho, tanh(atanh(rho) - reach), tanh(atanh(rho) + reach))


def _overlap(a: Floats, b: Floats, k: int, level: float) -> Overlap:
    n, share = len(a), k / len(a)
    in_a, near_a = _top(a, k)
    in_b, near_b = _top(b, k)
    both = in_a * in_b
    value = min(1.0, float(both.sum()) / k)
    influence = (
        both - share * value
        - float(in_b[near_a].mean()) * (in_a - share)
        - float(in_a[near_b].mean()) * (in_b - share)
    )  # fmt: skip
    variance = float(influence @ influence) / (n * share) ** 2
    worth = value * (1 - value) / variance if variance > 0 else inf
    trials = min(worth, _MOST_TRIALS * k) if 0 < value < 1 else k
    low, high = wilson(value * trials, trials, level)
    return Overlap(value, low, high, k)


def _top(values: Floats, k: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Give the probability of each to be among the highest k, and which are near the cut."""
    n = len(values)
    reach = max(1, round(k**0.8 / 2))  # shrinks beside k, grows with it: a kernel's width
    at = n - k
    low, high = max(0, at - reach), min(n - 1, at + reach - 1)
    parted = np.partition(values, np.unique([low, at, high]))
    cut = parted[at]
    above, tied = values > cut, values == cut
    many = int(above.sum())
    weights = above + tied * ((k - many) / int(tied.sum()))
    return weights, (values >= parted[low]) & (values <= parted[high])
