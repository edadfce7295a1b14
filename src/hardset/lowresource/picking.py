"""Choosing k examples a label by difficulty: hardest, easiest, random, or spread over all of it.

Ties and random choices go by a seeded hash of an example's index. So a choice is the same whatever
the order of the file and whatever else is in the set, and a smaller k is within a larger one
(`stratified` apart, whose strata change with k).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardset.errors import UsageError
from hardset.lowresource.examples import NO_LABEL, Positions

How = Literal["hardest", "easiest", "random", "stratified"]
HOWS: tuple[str, ...] = get_args(How)
STRATA = 10
_NAMED = 8  # labels in an error
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_TIES, _RANDOM = 0, 1  # streams of the hash


class Taken(NamedTuple):
    """What became of one label."""

    label: int | None
    """None: all examples together, where labels are real numbers."""
    scored: int
    """Examples with a score that were not dropped: what was picked from."""
    unscored: int
    dropped: int
    picked: int
    low: float
    high: float
    """The range of the scores picked."""
    tied: int
    """Examples that share the score at the cut, where the cut goes through them; else 0."""


class Picked(NamedTuple):
    """A choice: positions by label, in each the hardest first."""

    positions: Positions
    ranks_within_label: NDArray[np.int64]
    """1 is the hardest of the label's scored examples that were not dropped."""
    labels: list[Taken]
    unlabelled: int
    """Examples without a label, never picked."""


def pick(
    scores: ArrayLike,
    labels: ArrayLike,
    k: int,
    how: How = "hardest",
    seed: int = 0,
    *,
    hard: int = +1,
    drop: ArrayLike | None = None,
    index: ArrayLike | None = None,
    classes: Sequence[str] = (),
) -> Picked:
    """Pick k examples of each label; of all together where labels are real numbers.

    Args:
        scores: (n,): what is not finite was not scored, and is never picked, by `random` neither:
            all choices are from the same pool.
        labels: (n,) of int64, NO_LABEL where there is none; or float64, NaN where there is none.
        k: how many a label, at least 1.
        how: `hardest`, `easiest`, `random` (uniform), or `stratified`: k spread evenly over ten
            (k, if less) bins of equal size by difficulty within the label, uniform within each.
        seed: of ties and random choices.
        hard: +1 where the highest score is hardest, -1 where the lowest is.
        drop: (n,) of bool: examples to leave out.
        index: (n,): the index of each example by which the hash goes; its position if not given.
        classes: the labels' names, for errors.

    Raises:
        UsageError: a label has fewer than k examples, or k or how is none.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise UsageError(f"k takes a whole number of 1 or more, not {k}")
    if how not in HOWS:
        raise UsageError(f"{how!r} is no way to choose; there are {', '.join(HOWS)}")
    scores, labels = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    groups, labelled, real = _groups(labels)
    finite = np.isfinite(scores)
    dropped = np.zeros(len(scores), bool) if drop is None else np.asarray(drop, bool)
    index = np.arange(len(scores)) if index is None else np.asarray(index)
    pool = np.flatnonzero(labelled & finite & ~dropped)
    order = pool[np.lexsort((hashed(index[pool], seed, _TIES), -hard * scores[pool], groups[pool]))]
    whole = np.bincount(groups[labelled])
    unscored = np.bincount(groups[labelled & ~finite], minlength=len(whole))
    lost = np.bincount(groups[labelled & finite & dropped], minlength=len(whole))
    ends = np.cumsum(np.bincount(groups[pool], minlength=len(whole)))
    bounds = {
        g: (int(ends[g - 1]) if g else 0, int(ends[g])) for g in np.flatnonzero(whole).tolist()
    }
    _see_enough({g: to - at for g, (at, to) in bounds.items()}, k, real, classes)
    positions, ranks, taken = [], [], []
    for group, (at, to) in bounds.items():
        ordered = order[at:to]
        places = _places(index[ordered], k, how, seed)
        chosen = scores[ordered[places]]
        positions.append(ordered[places])
        ranks.append(places + 1)
        taken.append(Taken(
            None if real else group, len(ordered), int(unscored[group]), int(lost[group]), k,
            float(chosen.min()), float(chosen.max()), _tied(scores[ordered], k, how),
        ))  # fmt: skip
    return Picked(
        np.concatenate(positions).astype(np.int64),
        np.concatenate(ranks).astype(np.int64),
        taken,
        int(np.sum(~labelled)),
    )


def hashed(index: ArrayLike, seed: int, stream: int = 0) -> NDArray[np.uint64]:
    """Give each index a number that looks random, by SplitMix64 (Steele et al. 2014, OOPSLA)."""
    key = np.asarray([seed % 2**64], dtype=np.uint64) ^ np.uint64(stream << 60)
    start = _mixed(key * _GOLDEN)
    return _mixed(start + np.asarray(index).astype(np.uint64) * _GOLDEN)


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _groups(labels: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.bool_], bool]:
    """Give the label each example is picked for, whether it has one, and if they are real."""
    if np.issubdtype(labels.dtype, np.floating):
        return np.zeros(len(labels), np.int64), np.isfinite(labels), True
    whole = labels.astype(np.int64)
    return whole, whole > NO_LABEL, False


def _see_enough(many: dict[int, int], k: int, real: bool, classes: Sequence[str]) -> None:
    if not many:
        raise UsageError("no example has a label: there is nothing to pick from")
    short = {group: count for group, count in many.items() if count < k}
    if not short:
        return
    if real:
        raise UsageError(f"there are {short[0]:,} examples to pick from, fewer than {k:,}")

    def name(group: int) -> str:
        return repr(classes[group]) if group < len(classes) else str(group)

    some = ", ".join(
        f"{name(group)} has {count:,}" for group, count in list(short.items())[:_NAMED]
    )
    more = f", and {len(short) - _NAMED:,} more" if len(short) > _NAMED else ""
    raise UsageError(
        f"{len(short):,} of {len(many):,} labels have fewer than {k:,} scored examples to pick "
        f"from: {some}{more}; the largest k that all have is {min(many.values()):,}"
    )


def _places(index: NDArray[np.generic], k: int, how: How, seed: int) -> NDArray[np.int64]:
    """Choose places of one label's examples, which are given hardest first."""
    many = len(index)
    if how == "hardest":
        return np.arange(k)
    if how == "easiest":
        return np.arange(many - k, many)
    by_chance = hashed(index, seed, _RANDOM)
    if how == "random":
        return np.sort(np.argsort(by_chance, kind="stable")[:k])
    strata = min(STRATA, k)
    ends = np.arange(strata + 1) * many // strata
    quotas = np.full(strata, k // strata)
    # What does not divide evenly goes to the larger bins first: a bin then always has enough.
    first_hash = by_chance[ends[:-1]]
    quotas[np.lexsort((first_hash, -np.diff(ends)))[: k % strata]] += 1
    return np.concatenate([
        at + np.sort(np.argsort(by_chance[at:to], kind="stable")[:quota])
        for at, to, quota in zip(ends[:-1], ends[1:], quotas, strict=True)
    ])  # fmt: skip


def _tied(ordered: NDArray[np.float64], k: int, how: How) -> int:
    """Count the examples that share the score at the cut, if it divides them."""
    if how not in ("hardest", "easiest") or k == len(ordered):
        return 0
    inside, outside = (k - 1, k) if how == "hardest" else (-k, -k - 1)
    return int(np.sum(ordered == ordered[inside])) if ordered[inside] == ordered[outside] else 0
