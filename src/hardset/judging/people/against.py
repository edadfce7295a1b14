"""One judge, or the panel, held against people's labels: how often right, and beyond chance."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl

from hardset.judging.rubric import Rubric
from hardset.metrics import Ratio, estimate
from hardset.metrics.agreement import AC1, ALPHA, COHEN, agreement
from hardset.metrics.bootstrap import Counts, Floats
from hardset.metrics.coefficients import Coefficient
from hardset.metrics.judges import Confusion, against_people, confusion
from hardset.records import GRADE, Metric

ORDINAL = f"{ALPHA} (ordinal)"
SAME = 0.5  # grades apart up to which two are one: a mean of 4 and 5 is neither 4 nor 5


class Held(NamedTuple):
    """What came of it."""

    metrics: list[Metric]
    coefficients: list[Coefficient]
    confusion: Confusion


def hold(
    votes: Floats,
    people: Floats,
    rubric: Rubric,
    *,
    clusters: Counts,
    weights: Floats,
    draws: int = 10_000,
    seed: int = 0,
) -> Held:
    """Hold one judge's verdicts against people's, over the lines that have both.

    Grades that are means are rounded for kappa, AC1 and confusion, and for nothing else.

    Args:
        votes: (lines,), NaN for none.
        people: (lines,), NaN for none.
        rubric: what was asked.
        clusters: (lines,), which stand or fall together.
        weights: (lines,), how many replies each stands for.
        draws: bootstrap resamples.
        seed: of the bootstrap.
    """
    both = ~np.isnan(votes) & ~np.isnan(people)
    votes, people, clusters, weights = votes[both], people[both], clusters[both], weights[both]
    graded = rubric.scale == "graded"
    said, told = (np.floor(x + 0.5) if graded else x for x in (votes, people))

    def against(said: Floats, told: Floats) -> list[Metric]:
        return against_people(
            said[:, None],
            told,
            clusters,
            names=[""],
            kind={"binary": "binary", "graded": "graded", "letter": "letters"}[rubric.scale],  # type: ignore[arg-type]
            weights=weights,
            draws=draws,
            seed=seed,
        )

    metrics = [one for one in against(said, told) if one.name != "error rate"]
    if graded:
        as_they_are = [one for one in against(votes, people) if one.unit]
        near = _near(np.abs(votes - people), clusters, weights, draws, seed)
        metrics = [*near, *as_they_are]
    found = agreement(
        np.stack([said, told], axis=1),
        clusters,
        categories=categories(rubric),
        graded=graded,
        weights=weights,
        draws=draws,
        seed=seed,
    )
    wanted = (COHEN, AC1, *([ORDINAL] if graded else []))
    return Held(
        metrics=[
            msgspec.structs.replace(one, cut={}, unit=GRADE if one.unit else "") for one in metrics
        ],
        coefficients=[one for name in wanted for one in found if one.name == name],
        confusion=confusion(said, told),
    )


def categories(rubric: Rubric) -> list[float]:
    """Give the values of a scale as numbers."""
    if rubric.scale == "graded":
        return sorted(float(grade) for grade in rubric.anchors)
    if rubric.scale == "letter":
        return [float(ord(letter) - 65) for letter in rubric.letters]
    return [0.0, 1.0]


def _near(apart: Floats, clusters: Counts, weights: Floats, draws: int, seed: int) -> list[Metric]:
    """Say how often grades are the same, and how often one grade apart at most."""
    frame = pl.DataFrame({
        "apart": apart,
        "weight": weights / (weights.mean() if weights.any() else 1),
        "cluster": clusters,
    })  # fmt: skip
    ratios = [
        Ratio(
            name=name,
            top=(pl.col("apart") <= most) * pl.col("weight"),
            bottom=pl.col("weight"),
            about=f"at most {most:g} grades from people's / rows",
        )
        for name, most in (("exact agreement", SAME), ("within one grade", 1.0))
    ]
    return estimate(frame, ratios, cluster="cluster", draws=draws, seed=seed)
