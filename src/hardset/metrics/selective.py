"""Selective prediction: what a model's confidence is good for, if it may leave questions out.

After Whitehead et al., "Reliable Visual Question Answering: Abstain Rather Than Answer
Incorrectly" (ECCV 2022, arXiv:2204.13631), and the evaluator in their repository. A threshold on
the confidence decides which answers are given; *coverage* is how many rows get one, *risk* how
many of those are wrong.

What counts:
- An answer is a row that ended `answered`. To a question that has no answer every answer is
  wrong. Where a frame has such questions, each figure is also given for the others alone (the
  cut `answerable`), as in the paper, whose questions all have answers.
- A row without an answer (a refusal, a failure), or whose answer has no confidence, is covered at
  no threshold and stays in every denominator of coverage. The share of answers whose confidence
  is known is given with the rest.
- The coverage at a risk takes the best threshold of the set that it is told of, as in the paper,
  which flatters small sets at small risks. The effective reliability is not so: its thresholds
  are chosen on one half of the clusters and tried on the other, and the halves then changed.
- A threshold is always one of the confidences that there are, as in the paper's code: where even
  the surest answers are mostly wrong, the effective reliability is below zero, and not zero.
- Tied confidences are never parted by a threshold, as in the paper's code; the area under the
  curve, where that code takes tied rows as they come, is the mean over their orders.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl

from hardset.metrics.bootstrap import Floats, generator, percentiles
from hardset.metrics.interval import wilson
from hardset.metrics.ranked import Fraction, Ranked, calibration_gaps, coarse, figures, rank
from hardset.metrics.rates import columns
from hardset.metrics.ratios import BOOTSTRAP, LEVEL, WILSON_CLUSTERS, Rates, Ratio
from hardset.records import Metric, State

if TYPE_CHECKING:
    from hardset.metrics.difference import Difference

CONFIDENCE = "confidence"
KNOWN = "confidence known"
MOST_DRAWS = 1_000  # resamples: each ranks all rows anew
MOST_RANKS = 4_096  # confidences that a resample tells apart; the figures themselves all
_CHUNK = 1 << 18  # weights of answers held at a time
SYMMETRIC = f"{BOOTSTRAP} (symmetric)"
LABEL, _RIGHT, _SURE = "\0label", "\0right", "\0sure"  # names no outcome column has

Key = tuple[str, float]


class About(NamedTuple):
    """What a figure is called and means."""

    name: str
    better: Literal["higher", "lower"]
    words: str


def about(key: Key, bins: int) -> About:
    """Name and define a figure of `ranked.figures`."""
    kind, number = key
    if kind == "aurc":
        return About(
            "AURC",
            "lower",
            "area under risk (wrong / answered) against coverage (answered / all rows), by "
            "trapezoids; ties in all orders; rows never answered come last, as wrong "
            "(Whitehead et al. 2022)",
        )
    if kind == "coverage":
        return About(
            f"coverage at {100 * number:g} % risk",
            "higher",
            f"the most rows answered / all rows, by a threshold with at most {100 * number:g} % "
            "of them wrong; ties stay whole; the best of many thresholds: flatters small sets "
            "(C@R, Whitehead et al. 2022)",
        )
    if kind == "phi":
        return About(
            f"Φ at cost {number:g}",
            "higher",
            f"effective reliability: mean of 1 for a right answer, -{number:g} for a wrong one, 0 "
            "for none; threshold chosen on the other half of the clusters "
            "(Whitehead et al. 2022). At a high cost one wrong answer moves it far: its interval "
            "is too narrow on small sets",
        )
    if kind == "ece":
        return About(
            "ECE",
            "lower",
            f"expected calibration error of the answers: |mean confidence - accuracy| in {bins} "
            "bins of equal width, weighted by answers; chance makes it larger (Guo et al. 2017)",
        )
    return About(
        "AUROC",
        "higher",
        "of a right and a wrong answer, how often the right one has the higher confidence; ties "
        "count 1/2",
    )


@dataclass(frozen=True, kw_only=True)
class Selective:
    """Selective prediction over the rows of a frame with a column `confidence`.

    Args:
        frame: one row an outcome: state, right, confidence (null where unknown), answerable.
        cluster: the column whose equal values stand or fall together; see `estimate`.
        by: the cuts; see `estimate`.
        reading: the reading these are figures of, for the record.
        prefix: of the columns `state` and `right`: "" for the headline's reading, else its name.
        prepend: goes before each figure's name, where one benchmark has several such sets.
        risks: to give the coverage at.
        costs: of a wrong answer, where a right one is worth 1.
        bins: of the calibration error.
    """

    frame: pl.DataFrame
    cluster: str | None
    by: Sequence[Sequence[str]] = ((),)
    reading: str = "default"
    prefix: str = ""
    prepend: str = ""
    risks: Sequence[float] = (0.01, 0.05, 0.1, 0.2)
    costs: Sequence[float] = (1, 10, 100)
    bins: int = 15

    def metrics(self, draws: int = 10_000, seed: int = 0) -> list[Metric]:
        """Work everything out, overall and in every slice, with 95 % intervals.

        The intervals are percentiles of a cluster bootstrap of at most `MOST_DRAWS` resamples,
        in each of which the thresholds are chosen anew, among `MOST_RANKS` of them.
        """
        draws = min(draws, MOST_DRAWS)
        found = [
            metric
            for cut, rows in self.slices()
            for metric in self.slice_metrics(rows, cut, draws, seed).values()
        ]
        return found + self.known().metrics(draws, seed)

    def differences(self, other: Selective, draws: int = 10_000, seed: int = 0) -> list[Difference]:
        """Take every figure of `other`, another run's, minus this one's."""
        from hardset.metrics.selective_paired import selective_differences

        return selective_differences(self, other, draws, seed)

    def known(self) -> Rates:
        """Declare how many of the answers have a confidence."""
        answered = pl.col(columns(self.prefix)[0]) == State.ANSWERED.value
        known = Ratio(
            name=self.prepend + KNOWN,
            top=answered & known_confidence(),
            bottom=answered,
            about="answers with a confidence / answers; the others are covered at no threshold",
        )
        return Rates(
            frame=self.frame, ratios=[known], cluster=self.cluster, by=self.by, reading=self.reading
        )

    def slices(self) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
        """Yield each slice of each cut with its rows, laid out for `ranked_answers`."""
        state, right = columns(self.prefix)
        cuts = dict.fromkeys(name for names in self.by for name in names)
        answered = (pl.col(state) == State.ANSWERED.value).fill_null(False)
        rows = self.frame.select(
            _label(self.frame, self.cluster).alias(LABEL),
            (pl.col("item") if "item" in self.frame.columns else pl.lit("")).alias("\0item"),
            (answered & pl.col("answerable") & pl.col(right)).fill_null(False).alias(_RIGHT),
            pl.when(answered & known_confidence())
            .then(pl.col(CONFIDENCE).cast(pl.Float64))
            .alias(_SURE),
            "answerable",
            *(pl.col(name).cast(pl.String).fill_null("").alias(f"\0cut {name}") for name in cuts),
        )
        mixed = rows["answerable"].n_unique() > 1
        for names in self.by:
            marks = [f"\0cut {name}" for name in names]
            if not names:
                yield {}, rows
                if mixed:
                    yield {"answerable": "true"}, rows.filter("answerable")
                continue
            kept = rows.filter(pl.all_horizontal(pl.col(mark) != "" for mark in marks))
            for values, part in sorted(kept.partition_by(marks, as_dict=True).items()):
                yield dict(zip(names, map(str, values), strict=True)), part

    def slice_metrics(
        self, rows: pl.DataFrame, cut: dict[str, str], draws: int, seed: int
    ) -> dict[Key, Metric]:
        """Work a slice's figures out, with their intervals."""
        ranked = ranked_answers(rows)
        clusters = len(ranked.rows)
        gaps = calibration_gaps(ranked, self.bins)
        whole = self.figures(ranked, np.ones((1, clusters)), gaps)
        drawn: Mapping[Key, Fraction] = whole
        if clusters:
            fewer = coarse(ranked, MOST_RANKS)
            drawn = in_parts(
                lambda size, rng: self.figures(fewer, resample(clusters, size, rng), gaps),
                max(clusters, len(ranked.right)),
                draws,
                generator(seed, f"selective {self.prepend}", cut),
            )
        return {
            key: self._metric(key, fraction, drawn[key], cut, clusters)
            for key, fraction in whole.items()
        }

    def figures(self, ranked: Ranked, weights: Floats, gaps: Floats) -> Mapping[Key, Fraction]:
        """Work every figure out under each row of cluster weights."""
        return figures(ranked, weights, self.risks, self.costs, gaps)

    def _metric(
        self, key: Key, fraction: Fraction, drawn: Fraction, cut: dict[str, str], clusters: int
    ) -> Metric:
        (name, better, words) = about(key, self.bins)
        numerator, denominator = float(fraction[0][0]), float(fraction[1][0])
        value = numerator / denominator if denominator > 0 else None
        low, high, method = interval_of(value, drawn, clusters, mirrored=key[0] == "ece")
        return Metric(
            name=self.prepend + name,
            cut=cut,
            reading=self.reading,
            numerator=numerator,
            denominator=denominator,
            value=value,
            low=low,
            high=high,
            method=method,
            clusters=clusters,
            better=better,
            about=words,
        )


def in_parts(
    work: Callable[[int, np.random.Generator], Mapping[Key, Fraction]],
    held: int,
    draws: int,
    rng: np.random.Generator,
) -> dict[Key, Fraction]:
    """Make resamples part by part, side by side: numpy's sums run in parallel.

    Args:
        work: makes so many resamples with a generator of its own.
        held: numbers that one resample holds.
        draws: how many resamples.
        rng: what the parts' generators come from.
    """
    size = max(1, min(draws, _CHUNK // max(1, held)))
    sizes = [min(size, draws - at) for at in range(0, draws, size)]
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        found = list(pool.map(work, sizes, rng.spawn(len(sizes))))
    return {
        key: (
            np.concatenate([part[key][0] for part in found]),
            np.concatenate([part[key][1] for part in found]),
        )
        for key in found[0]
    }


def interval_of(
    value: float | None, drawn: Fraction, clusters: int, *, mirrored: bool = False
) -> tuple[float | None, float | None, str]:
    """Give the interval of a figure, and its method, from its resamples.

    Chance makes a calibration error larger, and a resample has chance twice. So its interval goes
    as far below the figure as the resamples go above it, and not below zero: in simulations it
    held the true error of pairs of answers in 94 to 96 % of sets of 100 to 3,000, the percentile
    interval in 17 to 94 %. A true error near zero is below it more often than that.

    Where no resample differs, a share gets Wilson's with the clusters as trials: what was not
    seen may still be there. What can be below zero or above one gets none.
    """
    if value is None or not (drawn[1] > 0).any():
        return None, None, ""
    low, high, undefined = percentiles(*drawn, LEVEL)
    if high - low < 1e-12:
        if not 0 <= value <= 1:
            return None, None, ""
        return *wilson(value * clusters, clusters, LEVEL), WILSON_CLUSTERS
    draws, kind = len(drawn[1]), BOOTSTRAP
    if mirrored:
        low, kind = max(0.0, 2 * value - high), SYMMETRIC
    return low, high, kind + (f" ({undefined} of {draws} draws undefined)" * (undefined > 0))


def ranked_answers(rows: pl.DataFrame, labels: pl.Series | None = None) -> Ranked:
    """Rank the answers of a slice.

    Args:
        rows: as `Selective.slices` lays them out.
        labels: the clusters to count, sorted; by default those of the rows.
    """
    if labels is None:
        labels = rows[LABEL].unique().sort()
    place = labels.search_sorted(rows[LABEL]).to_numpy().astype(np.int64)
    sure = rows[_SURE].to_numpy()
    known = ~np.isnan(sure)
    return rank(
        sure[known],
        rows[_RIGHT].to_numpy()[known],
        place[known],
        np.bincount(place, minlength=len(labels)).astype(np.float64),
        second_half(labels),
    )


def second_half(labels: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Split clusters into halves by a hash of their labels: the same on every machine.

    Returns:
        Whether each is in the second half, which has as many as the first, or one fewer.
    """
    digests = [hashlib.blake2b(label.encode(), digest_size=8).digest() for label in labels]
    later = np.zeros(len(digests), np.bool_)
    later[sorted(range(len(digests)), key=digests.__getitem__)[(len(digests) + 1) // 2 :]] = True
    return later


def resample(clusters: int, draws: int, rng: np.random.Generator) -> Floats:
    """Draw clusters with replacement: how often each was drawn, (draws, clusters)."""
    drawn = rng.integers(clusters, size=(draws, clusters))
    own = drawn + np.arange(0, draws * clusters, clusters)[:, None]
    counts = np.bincount(own.ravel(), minlength=draws * clusters)
    return counts.reshape(draws, clusters).astype(np.float64)


def known_confidence() -> pl.Expr:
    """Whether a row has a confidence: a number, not null and not NaN."""
    confidence = pl.col(CONFIDENCE).cast(pl.Float64)
    return (confidence.is_not_null() & confidence.is_not_nan()).fill_null(False)


def _label(frame: pl.DataFrame, cluster: str | None) -> pl.Expr:
    """Name each row's cluster by the first of its items, in order, whatever its label is.

    A row without a label goes by its item, as in `estimate`.
    """
    if "item" not in frame.columns:
        alone = pl.format("row {}", pl.int_range(pl.len()))
        return alone if cluster is None else pl.coalesce(_text(cluster), alone)
    item = pl.format("item {}", pl.col("item"))
    if cluster is None:
        return item
    named = _text(cluster)
    return pl.when(named.is_null()).then(item).otherwise(item.min().over(named))


def _text(column: str) -> pl.Expr:
    return pl.format("cluster {}", pl.col(column).cast(pl.String).replace("", None))
