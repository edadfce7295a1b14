"""The lines of one verdict, with all that was said of them by judges and by people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.judging.people.labels import Label, settled
from hardset.judging.people.sample import Line, Sample
from hardset.judging.people.sums import as_numbers
from hardset.judging.rubric import Rubric
from hardset.metrics.bootstrap import Counts, Floats
from hardset.metrics.votes import judges as judges_of
from hardset.validating.sheets import Filled


@dataclass(frozen=True, kw_only=True)
class Lines:
    """What was said of the lines of one verdict.

    Attributes:
        key, rubric, lines: which.
        rows: (lines,), of the outcomes.
        labels: by line, one a person.
        numbers: (lines, people), NaN for no verdict.
        people: (lines,), together; NaN where it does not apply, is open, or nobody said.
        split: (lines,), on which as many people say one thing as another.
        not_due: (lines,), to which most say that the question does not apply.
        panel: (lines,).
        votes: by judge, (lines,).
    """

    key: str
    rubric: Rubric
    lines: Sequence[Line]
    rows: Counts
    labels: list[list[Label]]
    numbers: Floats
    people: Floats
    split: NDArray[np.bool_]
    not_due: NDArray[np.bool_]
    panel: Floats
    votes: Mapping[str, Floats]

    def together(self, i: int) -> Label:
        """Give what people say of a line together."""
        return "-" if self.not_due[i] else float(self.people[i])


def lines_of(outcomes: pl.DataFrame, sample: Sample, key: str, sheets: Sequence[Filled]) -> Lines:
    """Gather the lines of one verdict."""
    rubric = sample.rubric(key)
    lines = [line for line in sample.lines if line.key == key]
    rows = np.array([line.row for line in lines], dtype=np.int64)
    labels = [[one.labels.get(line.id, "") for one in sheets] for line in lines]
    numbers = np.array(
        [[x if isinstance(x, float) else np.nan for x in said] for said in labels]
    ).reshape(len(lines), len(sheets))
    marks = np.array([said.count("-") for said in labels], dtype=np.int64)
    given = (~np.isnan(numbers)).sum(axis=1)
    people = np.where(marks < given, settled(numbers, rubric.scale), np.nan)
    not_due = marks > given

    def said(name: str) -> Floats:
        return as_numbers(outcomes[name].gather(rows), rubric)

    return Lines(
        key=key,
        rubric=rubric,
        lines=lines,
        rows=rows,
        labels=labels,
        numbers=numbers,
        people=people,
        split=(given > 0) & np.isnan(people) & ~not_due,
        not_due=not_due,
        panel=said(f"verdict_{key}"),
        votes={name: said(f"vote_{key}@{name}") for name in judges_of(outcomes.columns, key)},
    )
