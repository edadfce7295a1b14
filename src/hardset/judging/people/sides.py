"""Sides of a verdict that nobody labelled: of them labels say nothing, whatever they say of others.

A judge's TRUEs that are all unlabelled leave "right on every line" to its FALSEs alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.judging.people.labels import meaning, write_label
from hardset.judging.rubric import Rubric
from hardset.metrics.bootstrap import Floats


class Side(NamedTuple):
    """One side of the panel's verdict."""

    says: str  # in words
    replies: int


def unlabelled(
    said: Floats,
    rubric: Rubric,
    key: str,
    *,
    labelled: NDArray[np.bool_],
    drawn: NDArray[np.bool_],
    stratum: NDArray[np.str_],
) -> list[Side]:
    """List the sides that have no label, though they were drawn or no stratum of theirs has one.

    One that is rare, and of which chance drew none from among all, is not listed.

    Args:
        said: (rows,), the panel's verdicts as numbers, NaN for none.
        rubric: what was asked.
        key: the verdict.
        labelled: (rows,).
        drawn: (rows,).
        stratum: (rows,), of each row.
    """
    side = said
    if rubric.scale == "graded":  # a grade in the upper half, or in the lower
        side = np.where(np.isnan(said), np.nan, (said * 2 > rubric.low + rubric.high) * 1.0)
    reached = set(stratum[labelled].tolist())
    found = []
    for value in np.unique(side[~np.isnan(side)]):
        here = side == value
        if (here & labelled).any():
            continue
        if (here & drawn).any() or not reached & set(stratum[here].tolist()):
            found.append(Side(_words(float(value), rubric, key), int(here.sum())))
    return found


def _words(value: float, rubric: Rubric, key: str) -> str:
    if rubric.scale == "graded":
        middle = (rubric.low + rubric.high) / 2
        return f"more than {middle:g}" if value else f"{middle:g} or less"
    name = write_label(value, rubric.scale)
    return meaning(rubric, key).get(name, name)
