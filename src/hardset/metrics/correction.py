"""A rate that a judge measured on all rows, corrected by people's labels on a sample of them.

The sample is random within strata (by verdict and category, say), so a labelled row stands for
so many rows of its stratum: its weight. Two corrections, both unbiased for what people would have
said of every row, whatever the judge's errors:

- prediction-powered, for any ratio of sums: the judge's sums, plus the weighted differences
  between people and judge on the labelled rows (the difference estimator, Särndal et al. 1992,
  "Model Assisted Survey Sampling", section 6.3; Angelopoulos et al. 2023, Science 382). Tuning
  its power (PPI++, Angelopoulos et al. 2023, arXiv:2311.01453) is left out: within strata by
  verdict the judge's verdicts do not vary, so there is nothing to tune.
- Rogan-Gladen, for a plain share: the judge's share, taken back through the sensitivity and
  specificity that the labels show (Rogan and Gladen 1978, American J. of Epidemiology 107).

Their intervals carry two chances: which rows the run has (as many independent rows as the
judge's rate over the clusters is worth), and which of them were labelled. The second is that of
the stratified sample with two errors added, one each way, of a typical row: a sample in which
nobody errs has not shown that nobody does (after Agresti and Coull 1998, The American Statistician
52). The ends are the rates that a test at 95 % does not reject (Wilson's way, and Fieller's for
the bottom's chance), with Student's quantile for so many labels. In simulations (bench/panel.py)
they hold the truth as often as they should, and more often where errors are rare and a label
stands for many rows: what few labels cannot rule out is not ruled out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from hardset.metrics.bootstrap import DIGITS, Counts, Floats, patterns
from hardset.metrics.coefficients import LEVEL, Labels, cluster_codes
from hardset.metrics.interval import effective_rows, student

POWERED = "prediction-powered"
ROGAN_GLADEN = "Rogan-Gladen"

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Corrected:
    """A rate as the judge measured it, and as people's labels correct it.

    `value` is None where there is nothing to correct with: no label, an empty denominator, or a
    judge that the labels show to be no better than chance.
    """

    name: str
    method: str
    raw: float | None  # by the judge alone
    value: float | None
    low: float | None = None  # 95 % interval
    high: float | None = None
    rows: int  # that the judge judged
    labelled: int  # of them, by people too
    differing: int = 0  # of those, where people and judge say different things
    sensitivity: float | None = None  # Rogan-Gladen's
    specificity: float | None = None
    about: str = ""


def prediction_powered(
    name: str,
    top: Floats,
    bottom: Floats,
    labelled: Rows,
    top_person: Floats,
    bottom_person: Floats,
    *,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    flipped: tuple[Floats, Floats] | None = None,
) -> Corrected:
    """Correct a ratio of sums by the differences between people and judge.

    Args:
        name: of the rate.
        top: (rows,), what each row adds to the numerator by the judge's verdict.
        bottom: (rows,), what it adds to the denominator.
        labelled: (labels,), which rows people judged: places 0, 1, ..., none twice.
        top_person: (labels,), what those rows add to the numerator by people's verdicts.
        bottom_person: (labels,), what they add to the denominator.
        strata: (rows,), within which the labelled rows were drawn at random. None: one stratum.
        clusters: (rows,), labels of rows that stand or fall together. None: none do.
        flipped: top and bottom as they were with every (binary) verdict turned round: what an
            error that the labels do not show would do. None: what those that they show do, and
            one more the worst that could be.

    Returns:
        The corrected rate. Where strata have rows and no label, `about` says so: they are taken
        for like the others.

    Raises:
        ValueError: where shapes differ, a number is NaN, or a row is labelled twice.
    """
    judge = _numbers(name, len(top), top, bottom)
    person = _numbers(name, len(labelled), top_person, bottom_person)
    codes, sample = cluster_codes(clusters, len(judge)), _sample(labelled, strata, len(judge))
    sums = judge.sum(axis=0)
    apart = person - judge[sample.rows]
    made = Corrected(
        name=name,
        method=POWERED,
        raw=_over(*sums),
        value=None,
        rows=len(judge),
        labelled=len(sample.rows),
        differing=int((np.abs(apart).max(axis=1, initial=0) > 1e-12).sum()),
        about="(judge's sum + weighted differences of people from judge) of numerator / of "
        "denominator (Angelopoulos et al. 2023)" + sample.note,
    )
    whole = sums + sample.weights @ apart
    if not len(sample.rows) or not whole[1] > 1e-9:
        return made
    value = float(whole[0] / whole[1])
    other = None if flipped is None else _numbers(name, len(judge), *flipped) - judge
    spread = sample.covariance(apart) + sample.unseen(judge, person, other, value)
    every = np.concatenate([judge, person])
    share = bool((every[:, 0] >= 0).all() and (every[:, 0] <= every[:, 1] + 1e-9).all())
    reach = student(LEVEL, sample.freedom) ** 2
    t, b = whole
    if share:
        worth = _worth(judge, codes) * b / sums[1] if sums[1] > 0 else b
        by_rows = reach * b * b / worth
        ends = _between(
            b * b + by_rows - reach * spread[1, 1],
            -2 * t * b - by_rows + 2 * reach * spread[0, 1],
            t * t - reach * spread[0, 0],
        )
        low, high = ends or (0.0, 1.0)
        value, low, high = (min(max(end, 0.0), 1.0) for end in (value, low, high))
    else:
        spread = spread + sample.of_rows(judge, apart, codes)
        ends = _between(
            b * b - reach * spread[1, 1],
            -2 * t * b + 2 * reach * spread[0, 1],
            t * t - reach * spread[0, 0],
        )
        if ends is None:
            return replace(made, value=value, method=f"{POWERED}, no interval: too few labels")
        low, high = ends
    return replace(made, value=value, low=min(low, value), high=max(high, value))


def rogan_gladen(
    name: str,
    judge: Floats,
    labelled: Rows,
    person: Floats,
    *,
    strata: Labels | None = None,
    clusters: Labels | None = None,
) -> Corrected:
    """Correct the share of rows with a verdict, by the judge's sensitivity and specificity.

    (share + specificity - 1) / (sensitivity + specificity - 1), within 0 and 1.

    Args:
        name: of the share.
        judge: (rows,), verdicts, 0 or 1.
        labelled: (labels,), which rows people judged, none twice.
        person: (labels,), their verdicts, 0 or 1.
        strata: (rows,), within which the labelled rows were drawn at random. None: one stratum.
        clusters: (rows,), labels of rows that stand or fall together. None: none do.

    Returns:
        The corrected share; none where people's labels have no yes or no no, or the judge is no
        better than chance.

    Raises:
        ValueError: where shapes differ, a verdict is neither 0 nor 1, or a row is labelled twice.
    """
    both = _numbers(name, len(judge), judge, np.ones(len(judge)))
    told = _numbers(name, len(labelled), person, np.ones(len(labelled)))[:, 0]
    if not np.isin(both[:, 0], (0, 1)).all() or not np.isin(told, (0, 1)).all():
        raise ValueError(f"{name}: Rogan-Gladen is of verdicts 0 and 1")
    codes, sample = cluster_codes(clusters, len(both)), _sample(labelled, strata, len(both))
    said, weights = both[sample.rows, 0], sample.weights
    raw = _over(*both.sum(axis=0))
    made = Corrected(
        name=name,
        method=ROGAN_GLADEN,
        raw=raw,
        value=None,
        rows=len(both),
        labelled=len(told),
        differing=int((said != told).sum()),
        about="(judge's share + specificity - 1) / (sensitivity + specificity - 1) "
        "(Rogan and Gladen 1978)" + sample.note,
    )
    yes, no = float(weights @ told), float(weights @ (1 - told))
    if raw is None or yes <= 0 or no <= 0:
        return made
    sensitivity = float(weights @ (told * said)) / yes
    specificity = float(weights @ ((1 - told) * (1 - said))) / no
    made = replace(made, sensitivity=sensitivity, specificity=specificity)
    better = sensitivity + specificity - 1
    if better <= 1e-9:
        return replace(made, method=f"{ROGAN_GLADEN}: the judge is no better than chance")
    pulls = np.column_stack(
        [told * (said - sensitivity) / yes, (1 - told) * (1 - said - specificity) / no]
    )
    spread = sample.covariance(pulls)
    single = sample.one_error()
    spread[[0, 1], [0, 1]] += single / yes**2, single / no**2
    above = raw + specificity - 1
    reach = student(LEVEL, sample.freedom) ** 2
    by_rows = reach * better**2 / _worth(both, codes)
    ends = _between(
        better**2 + by_rows - reach * (spread[0, 0] + spread[1, 1] + 2 * spread[0, 1]),
        -2 * above * better - by_rows + 2 * reach * (spread[1, 1] + spread[0, 1]),
        above**2 - reach * spread[1, 1],
    )
    low, high = ends or (0.0, 1.0)
    value, low, high = (min(max(end, 0.0), 1.0) for end in (above / better, low, high))
    return replace(made, value=value, low=min(low, value), high=max(high, value))


# --- the sample -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sample:
    """The labelled rows, and what each stands for."""

    rows: Rows  # (labels,)
    stratum: Counts  # (labels,), of the strata that have a label
    every: Counts  # (rows,), of all rows; -1 where the stratum has no label
    sizes: Floats  # (strata,), rows that the stratum's labels stand for
    taken: Floats  # (strata,), labels
    note: str

    @property
    def weights(self) -> Floats:
        """How many rows each label stands for, (labels,)."""
        found: Floats = (self.sizes / self.taken)[self.stratum]
        return found

    @property
    def open(self) -> NDArray[np.bool_]:
        """Whether a label stands for rows that have none themselves, (labels,)."""
        return self.weights > 1 + 1e-9

    @property
    def freedom(self) -> int:
        """Give the degrees of freedom: of the labels that leave something open, if there are."""
        return max(1, (int(self.open.sum()) or len(self.rows)) - 1)

    def centred(self, values: Floats) -> tuple[Floats, Floats]:
        """Take each stratum's mean off its labels' values: the rest, and the means."""
        sums = [np.bincount(self.stratum, column, len(self.sizes)) for column in values.T]
        means: Floats = np.stack(sums, axis=1) / self.taken[:, None]
        return values - means[self.stratum], means

    def covariance(self, values: Floats) -> Floats:
        """Give the sampling covariance of the weighted sums of values, (labels, k): (k, k).

        A stratum with a single label is taken to vary as the others do within, or, where all are
        such, as all labels together.
        """
        rest, _ = self.centred(values)
        free = self.taken - 1
        square = rest[:, :, None] * rest[:, None, :]
        k = values.shape[1]
        within = np.zeros((len(free), k, k))
        np.add.at(within, self.stratum, square)
        if free.sum() > 0:
            pooled = within.sum(axis=0) / free.sum()
        else:
            pooled = np.atleast_2d(np.cov(values.T)) if len(values) > 1 else np.zeros((k, k))
        within = np.where(
            (free > 0)[:, None, None], within / np.maximum(free, 1)[:, None, None], pooled
        )
        factor = self.sizes * (self.sizes - self.taken) / self.taken
        found: Floats = np.einsum("h,hij->ij", factor, within)
        return found

    def one_error(self) -> float:
        """Give the variance that one error adds, on a label of a typical row's weight.

        Strata that are labelled throughout leave no error unseen.
        """
        weights = self.weights[self.open]
        if not len(weights):
            return 0.0
        weight = float((weights**2).sum() / weights.sum())
        return weight * (weight - 1)

    def unseen(self, judge: Floats, person: Floats, change: Floats | None, value: float) -> Floats:
        """Give the covariance that two errors more would add to the sums, (2, 2).

        Args:
            judge: (rows, 2), top and bottom.
            person: (labels, 2).
            change: (rows, 2), what an error would do; None: what the errors seen did,
                and one more the worst of what occurs.
            value: the corrected ratio.
        """
        if change is None:
            kinds = np.unique(np.concatenate([judge, person]), axis=0)
            steps = (kinds[:, None] - kinds[None, :]).reshape(-1, 2)
            seen = person - judge[self.rows]
            seen = seen[np.abs(seen).max(axis=1, initial=0) > 1e-12]
            like = np.vstack([seen, steps[np.argmax(np.abs(steps @ [1, -value]))]])
            found: Floats = 2 * self.one_error() * (like.T @ like) / len(like)
            return found
        share = np.bincount(self.stratum, minlength=len(self.sizes)) / len(self.rows)
        standing = np.append(self.sizes / self.taken, share @ (self.sizes / self.taken))
        weight = standing[self.every]  # a row without a stratum's label is as a typical label
        size = np.where(weight > 1 + 1e-9, (change @ [1, -value]) ** 2, 0.0)
        if not size.sum() > 0:
            return np.zeros((2, 2))
        typical = float(weight @ size / size.sum())
        chance = 2 / (np.count_nonzero(size) / typical + 2)
        bent = change * (weight - 1)[:, None] * (size > 0)[:, None]
        more: Floats = chance * (bent.T @ change)
        return more

    def of_rows(self, judge: Floats, apart: Floats, codes: Counts) -> Floats:
        """Give the covariance of the sums over clusters of rows drawn anew, less the sample's."""
        rest, means = self.centred(apart)
        typical = self.weights @ apart / self.weights.sum()
        each = judge + np.append(means, typical[None], axis=0)[self.every]
        each[self.rows] += self.weights[:, None] * rest
        sums = np.stack([np.bincount(codes, column) for column in each.T], axis=1)
        whole = np.cov(sums.T) * len(sums) if len(sums) > 1 else np.zeros((2, 2))
        more = np.atleast_2d(whole) - self.covariance(apart)
        found: Floats = more if np.all(np.linalg.eigvalsh(more) >= 0) else np.zeros((2, 2))
        return found


def _sample(labelled: Rows, strata: Labels | None, rows: int) -> _Sample:
    places = np.asarray(labelled, dtype=np.int64)
    if len(np.unique(places)) < len(places) or (places < 0).any() or (places >= rows).any():
        raise ValueError(f"the labelled rows are places among {rows} rows, none of them twice")
    of = np.zeros(rows, np.int64) if strata is None else cluster_codes(strata, rows)
    sizes = np.bincount(of).astype(np.float64)
    taken = np.bincount(of[places], minlength=len(sizes)).astype(np.float64)
    has = taken > 0
    left_out = int((~has).sum())
    number = np.where(has, np.cumsum(has) - 1, -1)
    covered = sizes[has].sum()
    note = ""
    if left_out and covered:
        note = (
            f"; {left_out} of {len(sizes)} strata ({int(rows - covered)} of {rows} rows) have no "
            "label and are taken for like the others"
        )
    return _Sample(
        rows=places,
        stratum=number[of[places]],
        every=number[of],
        sizes=sizes[has] * (rows / covered if covered else 1),
        taken=taken[has],
        note=note,
    )


# --- arithmetic -----------------------------------------------------------------------------


def _numbers(name: str, rows: int, top: Floats, bottom: Floats) -> Floats:
    """Lay numerator and denominator side by side, (rows, 2)."""
    both = [np.asarray(side, dtype=np.float64) for side in (top, bottom)]
    if any(side.shape != (rows,) for side in both):
        raise ValueError(f"{name}: {rows} rows, but {both[0].shape} tops, {both[1].shape} bottoms")
    if any(np.isnan(side).any() for side in both):
        raise ValueError(f"{name}: a row without a verdict is in no rate; leave it out")
    return np.stack(both, axis=1)


def _over(top: float, bottom: float) -> float | None:
    return float(top / bottom) if bottom > 0 else None


def _worth(judge: Floats, codes: Counts) -> float:
    """Say how many independent rows the judge's rate is worth, by its clusters."""
    top, bottom = (np.round(np.bincount(codes, side), DIGITS).astype(float) for side in judge.T)
    one = patterns(top, bottom)
    some = one.bottom > 0
    return effective_rows(one.top[some], one.bottom[some], one.counts[some])


def _between(a: float, b: float, c: float) -> tuple[float, float] | None:
    """Give the two ends between which a x² + b x + c is not above nothing; None: no two ends."""
    if a <= 0:
        return None
    root = sqrt(max(b * b - 4 * a * c, 0.0))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)
