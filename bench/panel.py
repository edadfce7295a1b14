"""How often the intervals of a panel of judges hold the truth: 2,000 simulated sets a row.

usage: python bench/panel.py [ROWS ...]      (200 1000 5000, if none named)

Rows come in pairs, of an unanswerable and an answerable question. The first is refused with a
chance of 0.6, the second of 0.1, and the two of a pair depend on one another. Three stub judges
miss refusals, and see some that are none, with chances of their own. Their errors are shared: in
a row, with a chance of 0.4, all three err by one and the same draw, which in half of these is the
pair's. All truths below are worked out from these numbers, none from a sample.

People label 100, 200 or 400 rows, drawn at random within strata by the first judge's verdict and
by question, as many from each; they say what is true. `rare` is a fourth judge, who hardly errs.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from multiprocessing import get_context
from statistics import NormalDist

import numpy as np

from hardset.metrics import wilson
from hardset.metrics.agreement import agreement, cohen
from hardset.metrics.correction import prediction_powered, rogan_gladen
from hardset.metrics.judges import error_correlations

SETS = 2000
ROWS = (200, 1000, 5000)
LABELS = (100, 200, 400)
DRAWS = 1000
REFUSED = np.array([0.6, 0.1])  # the chance: of an unanswerable question, of an answerable one
TIE = 0.4  # correlation of what makes the two of a pair refused
SHARED = 0.4  # the chance that all judges err by one draw
MISS = np.array([0.10, 0.15, 0.20, 0.010])  # of the judges A, B, C, and the rare one
FALSE_ALARM = np.array([0.05, 0.08, 0.12, 0.005])
PANEL, RARE = [0, 1, 2], 3


@dataclass(frozen=True)
class Coverage:
    """How often one interval held the truth, over sets of one size."""

    metric: str
    rows: int
    labels: int  # 0: none needed
    truth: float
    held: int
    below: int  # intervals that end below the truth
    above: int
    missing: int  # sets without an interval
    width: float  # on average

    @property
    def share(self):
        """The coverage, with its own 95 % interval."""
        sets = self.held + self.below + self.above
        return self.held / sets, *wilson(self.held, sets)


def truths():
    """Every true value, by name."""
    prevalence = REFUSED.mean()
    classes = ((prevalence, MISS[PANEL], True), (1 - prevalence, FALSE_ALARM[PANEL], False))
    errors = sum(weight * chance for weight, chance, _ in classes)
    said = sum(weight * (1 - chance if yes else chance) for weight, chance, yes in classes)
    agree, phi, kappas = [], [], []
    for i, j in combinations(PANEL, 2):
        both = sum(
            weight * (SHARED * min(e[i], e[j]) + (1 - SHARED) * e[i] * e[j])
            for weight, e, _ in classes
        )
        agree.append(1 - errors[i] - errors[j] + 2 * both)
        spread = np.sqrt(np.prod([errors[k] * (1 - errors[k]) for k in (i, j)]))
        phi.append((both - errors[i] * errors[j]) / spread)
        chance = said[i] * said[j] + (1 - said[i]) * (1 - said[j])
        kappas.append((agree[-1] - chance) / (1 - chance))
    share = said.mean()
    pa, one, two = np.mean(agree), share**2 + (1 - share) ** 2, 2 * share * (1 - share)
    recall, false = REFUSED
    return {
        "raw agreement": pa,
        "Fleiss' kappa": (pa - one) / (1 - one),
        "Krippendorff's alpha (nominal)": (pa - one) / (1 - one),
        "Gwet's AC1": (pa - two) / (1 - two),
        "Cohen's kappa": kappas[0],
        "mean error correlation": np.mean(phi),
        "effective number of judges": 3 / (1 + 2 * np.mean(phi)),
        "refused": prevalence,
        "recall": recall,
        "precision": recall / (recall + false),
        "F1": 2 * recall / (recall + false + 1),
    }


def made(rng, rows):
    """One set: which rows are unanswerable, what is true, and the four judges' votes."""
    pairs = rows // 2
    pair = np.repeat(np.arange(pairs), 2)
    unanswerable = np.tile([True, False], pairs)
    pull = np.sqrt(TIE) * rng.normal(size=pairs)[pair] + np.sqrt(1 - TIE) * rng.normal(size=rows)
    bars = np.array([NormalDist().inv_cdf(chance) for chance in REFUSED])
    truth = pull < np.where(unanswerable, *bars)
    common = np.where(rng.random(rows) < 0.5, rng.random(pairs)[pair], rng.random(rows))[:, None]
    own = rng.random((rows, len(MISS)))
    source = np.where(rng.random((rows, 1)) < SHARED, common, own)
    errs = source < np.where(truth[:, None], MISS, FALSE_ALARM)
    return pair, unanswerable, truth, truth[:, None] ^ errs


def sample(rng, strata, labels):
    """Draw so many rows, as many from each stratum, or all it has: the rows, and their weights."""
    sizes = np.bincount(strata, minlength=4)
    take, left = np.zeros(4, int), min(labels, len(strata))
    for done, least in enumerate(np.argsort(sizes)):  # what one stratum lacks goes to the others
        take[least] = min(sizes[least], left // (4 - done))
        left -= take[least]
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    place = np.arange(len(strata)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = order[place < np.repeat(take, sizes)]
    return rows, (sizes / np.maximum(take, 1))[strata[rows]]


def sums(refused, unanswerable):
    """What rows add to numerator and denominator of each rate."""
    hit = refused & unanswerable
    return {
        "refused": (refused, np.ones(len(refused))),
        "recall": (hit, unanswerable),
        "precision": (hit, refused),
        "F1": (2 * hit, refused.astype(int) + unanswerable),
    }


def intervals(rng, rows):
    """Yield (name, labels, low, high) of everything, for one set."""
    pair, unanswerable, truth, votes = made(rng, rows)
    panel = votes[:, PANEL].astype(float)
    for one in (*agreement(panel, pair, draws=DRAWS), cohen(*panel[:, :2].T, pair, draws=DRAWS)):
        yield one.name, 0, one.low, one.high
    for labels in LABELS:
        if labels > rows:
            continue
        for judge, label in ((0, ""), (RARE, ", rare errors")):
            verdict = votes[:, judge]
            strata = 2 * verdict.astype(int) + unanswerable
            chosen, weights = sample(rng, strata, labels)
            told = truth[chosen]
            ours, other = (sums(side, unanswerable) for side in (verdict, ~verdict))
            theirs = sums(told, unanswerable[chosen])
            for name, sides in ours.items():
                one = prediction_powered(
                    name, *sides, chosen, *theirs[name],
                    strata=strata, clusters=pair, flipped=other[name],
                )  # fmt: skip
                yield f"{name}, prediction-powered{label}", labels, one.low, one.high
            one = rogan_gladen("refused", verdict, chosen, told, strata=strata, clusters=pair)
            yield f"refused, Rogan-Gladen{label}", labels, one.low, one.high
            of = unanswerable.nonzero()[0]
            inside = unanswerable[chosen]
            one = rogan_gladen(
                "recall", verdict[of], np.searchsorted(of, chosen[inside]), told[inside],
                strata=strata[of], clusters=pair[of],
            )  # fmt: skip
            yield f"recall, Rogan-Gladen{label}", labels, one.low, one.high
            if judge == 0:
                found = error_correlations(
                    panel[chosen], told.astype(float), pair[chosen],
                    names="ABC", weights=weights, draws=DRAWS,
                )  # fmt: skip
                for one in found[-2:]:
                    yield one.name, labels, one.low, one.high


def several(task):
    """Collect the ends of the intervals of some sets: {(name, labels): [(low, high), ...]}."""
    rows, sets, seed = task
    rng = np.random.default_rng([rows, seed])
    found = {}
    for _ in range(sets):
        for name, labels, low, high in intervals(rng, rows):
            found.setdefault((name, labels), []).append((low, high))
    return found


def simulate(sizes=ROWS, sets=SETS):
    """Yield the coverage of each interval at each size."""
    known, part = truths(), 50
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:  # polars has threads
        for rows in sizes:
            tasks = [(rows, part, seed) for seed in range(sets // part)]
            ends = {}
            for found in pool.map(several, tasks):
                for key, some in found.items():
                    ends.setdefault(key, []).extend(some)
            for (name, labels), every in ends.items():
                yield coverage(name, rows, labels, known[name.split(",")[0]], every)


def coverage(name, rows, labels, truth, every):
    """Count how often the intervals hold the truth."""
    kept = np.array([ends for ends in every if ends[0] is not None])
    below, above = int((kept[:, 1] < truth).sum()), int((kept[:, 0] > truth).sum())
    return Coverage(
        metric=name,
        rows=rows,
        labels=labels,
        truth=float(truth),
        held=len(kept) - below - above,
        below=below,
        above=above,
        missing=len(every) - len(kept),
        width=float((kept[:, 1] - kept[:, 0]).mean()),
    )


def main():
    sizes = [int(size) for size in sys.argv[1:]] or ROWS
    print(f"{SETS} sets a row, {DRAWS} draws, 95 % intervals; coverage with its own interval")
    print("| metric | rows | labels | truth | coverage | below | above | none | width |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for one in simulate(sizes):
        share, low, high = one.share
        sets = one.held + one.below + one.above
        print(
            f"| {one.metric} | {one.rows} | {one.labels or ''} | {one.truth:.3f} "
            f"| {100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f}) "
            f"| {100 * one.below / sets:.1f} % | {100 * one.above / sets:.1f} % "
            f"| {one.missing} | {one.width:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
