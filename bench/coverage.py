"""How often the 95 % intervals hold the truth: 2,000 simulated data sets, clustered as real ones.

usage: python bench/coverage.py [CLUSTERS ...]      (20 50 100 300, if none named)

A population of 200,000 clusters is made once, and its own rates are the truth. A data set is so
many clusters of it, drawn at random; hardset works out its intervals as it does for a run's. The
populations:

- pictures with one to three pairs each, of an answerable and an unanswerable question. Rows share
  how hard the picture is, how hard the pair is, and how readily the model refuses there;
- questions asked five or eight times, of which few are ever right (hard), or many (mixed);
- the same pictures before a second model, better by 0.6 on the logistic scale, for differences.
"""

import re
import sys
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from hardset.metrics import (
    Rates,
    accuracy,
    misleading_rate,
    over_refusal,
    pair_up,
    paired_accuracy,
    refusal_f1,
    refusal_precision,
    wilson,
)
from hardset.metrics.repeats import by_item, pass_at, pass_hat

SETS = 2000
POPULATION = 200_000
SIZES = (20, 50, 100, 300)
SEEDS = 10  # data sets of one size and seed share their resamples, and so the chance in them
DRAWS = 2000
COMPARED = ("accuracy", "refusal F1", "MR")


@dataclass(frozen=True)
class Coverage:
    """How often one metric's interval held the truth, over data sets of one size."""

    metric: str
    clusters: int
    truth: float
    held: int
    below: int  # intervals that end below the truth
    above: int
    width: float  # of the intervals, on average
    methods: str

    @property
    def sets(self):
        """The data sets in which there is an interval."""
        return self.held + self.below + self.above

    @property
    def share(self):
        """The coverage, with its own 95 % interval."""
        return self.held / self.sets, *wilson(self.held, self.sets)


def logistic(x):
    """Turn log-odds into chances."""
    return 1 / (1 + np.exp(-x))


def pictures(rng, skills):
    """Rows of the population's pictures before several models of these skills, one frame each."""
    picture = np.repeat(np.arange(POPULATION), rng.integers(1, 4, size=POPULATION))
    pairs = len(picture)
    ease = rng.normal(0, 1, POPULATION)[picture] + rng.normal(0, 1, pairs)
    shyness = rng.normal(0, 1, POPULATION)[picture]
    return [
        pl.concat(
            _members(rng, picture, ease + skill, shyness, skill, answerable)
            for answerable in (True, False)
        ).sort("cluster", "pair", maintain_order=True)
        for skill in skills
    ]


def _members(rng, picture, ease, shyness, skill, answerable):
    refuses = rng.random(len(picture)) < logistic(shyness + (-2.5 if answerable else 0.5 * skill))
    knows = rng.random(len(picture)) < logistic(ease)
    return pl.DataFrame(
        {
            "cluster": picture,
            "pair": np.arange(len(picture)),
            "role": ["original" if answerable else "edited"] * len(picture),
            "answerable": np.full(len(picture), answerable),
            "state": np.where(refuses, "abstained", "answered"),
            "right": ~refuses & knows if answerable else refuses,
        }
    )


def repeats(rng, a, b, times):
    """Rows of the population's questions, right with a chance from Beta(a, b), asked `times`."""
    chance = np.repeat(rng.beta(a, b, POPULATION), times)
    return pl.DataFrame(
        {
            "cluster": np.repeat(np.arange(POPULATION), times),
            "right": rng.random(len(chance)) < chance,
        }
    )


def data_sets(population, chosen):
    """The rows of the chosen clusters, (sets, clusters), each place being a cluster of its own."""
    sets, clusters = chosen.shape
    lengths = (
        population.group_by("cluster", maintain_order=True).len()["len"].cast(pl.Int64).to_numpy()
    )
    starts = np.cumsum(lengths) - lengths
    flat = chosen.ravel()
    times = lengths[flat]
    place = np.repeat(np.arange(sets * clusters), times)
    first = np.cumsum(times) - times
    rows = np.repeat(starts[flat] - first, times) + np.arange(times.sum())
    frame = population[rows].with_columns(set=place // clusters, cluster=place)
    if "pair" not in frame.columns:
        return frame.with_columns(item=pl.col("cluster"))
    frame = frame.with_columns(pair=pl.struct("cluster", "pair").rank("dense").cast(pl.Int64))
    return frame.with_columns(
        item=2 * pl.col("pair") + (pl.col("role") == "edited"), pair=pl.col("pair").cast(pl.String)
    )


def declared(frame):
    """The metrics of the pictures: over rows, then over pairs."""
    rows = [accuracy(), refusal_f1(), over_refusal(), refusal_precision()]
    pairs = pair_up(
        frame, first="original", second="edited", columns=["right"], keep=["cluster", "set"]
    ).sound
    yield Rates(frame=frame, ratios=rows, cluster="cluster", by=[("set",)])
    yield Rates(
        frame=pairs, ratios=[misleading_rate(), paired_accuracy()], cluster="cluster", by=[("set",)]
    )


def repeated(frame, label):
    """The metrics of questions asked again and again."""
    items = by_item(frame, keep=["set", "cluster"])
    ratios = [
        pass_hat(5, f"pass^5, {label}"),
        pass_at(5, f"pass@5, {label}"),
        pass_at(1, f"pass@1, {label}"),
    ]
    yield Rates(frame=items, ratios=ratios, cluster=None, by=[("set",)])


def judge(truths, found, clusters):
    """Count how often the intervals of the sets hold the truth, metric by metric."""
    by_name = {}
    for one in found:
        if one.cut and one.low is not None:
            by_name.setdefault(one.name, []).append(one)
    for name, several in by_name.items():
        truth = truths[name]
        methods = Counter(re.sub(r" \(\d+ of .*", "", one.method) for one in several)
        yield Coverage(
            metric=name,
            clusters=clusters,
            truth=truth,
            held=sum(one.low <= truth <= one.high for one in several),
            below=sum(one.high < truth for one in several),
            above=sum(one.low > truth for one in several),
            width=float(np.mean([one.high - one.low for one in several])),
            methods=", ".join(f"{n} {name}" for name, n in methods.most_common()),
        )


def overall(measurables):
    """The rates of a whole population, by name."""
    found = {}
    for part in measurables:
        for ratio in part.ratios:
            each = part.frame.select("cluster", top=ratio.top, bottom=ratio.bottom)
            found[ratio.name] = each["top"].sum() / each["bottom"].sum()
    return found


def simulate(sizes=SIZES, sets=SETS, draws=DRAWS, seed=0):
    """Yield the coverage of each metric at each size."""
    rng = np.random.default_rng(seed)
    whole = np.arange(POPULATION)[None, :]
    first, second = pictures(rng, (0.6, 1.2))
    asked = {
        "hard, 5 times": repeats(rng, 0.15, 1.0, 5),
        "hard, 8 times": repeats(rng, 0.15, 1.0, 8),
        "mixed, 8 times": repeats(rng, 0.6, 0.8, 8),
    }
    truth, other = (overall(declared(data_sets(run, whole))) for run in (first, second))
    for label, population in asked.items():
        truth |= overall(repeated(data_sets(population, whole), label))
    apart = {name: other[name] - truth[name] for name in other}
    for clusters in sizes:
        found, differences = [], []
        for seed in range(SEEDS):
            chosen = rng.integers(POPULATION, size=(sets // SEEDS, clusters))
            one, two = data_sets(first, chosen), data_sets(second, chosen)
            for before, after in zip(declared(one), declared(two), strict=True):
                found += before.metrics(draws, seed)
                differences += compared(before).differences(compared(after), draws, seed)
            for label, population in asked.items():
                for part in repeated(data_sets(population, chosen), label):
                    found += part.metrics(draws, seed)
        yield from judge(truth, found, clusters)
        for each in judge(apart, differences, clusters):
            yield replace(each, metric=f"difference in {each.metric}")


def compared(part):
    """The same with the ratios alone whose differences are looked at."""
    return replace(part, ratios=[ratio for ratio in part.ratios if ratio.name in COMPARED])


def main():
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    print(f"{SETS} data sets a row, {DRAWS} draws, 95 % intervals; coverage with its own interval")
    print("| metric | clusters | truth | coverage | below | above | width | methods |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for one in simulate(sizes):
        share, low, high = one.share
        print(
            f"| {one.metric} | {one.clusters} | {one.truth:.3f} "
            f"| {100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f}) "
            f"| {100 * one.below / one.sets:.1f} % | {100 * one.above / one.sets:.1f} % "
            f"| {one.width:.3f} | {one.methods} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
