"""Labels that may have been picked: what a sheet shows of it, said before any figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hardset.judging.people.against import SAME
from hardset.judging.people.labels import read_label
from hardset.judging.people.sample import Sample
from hardset.reports.validated import Question
from hardset.validating.lines import Lines
from hardset.validating.sheets import Filled

_SKIPPED = 0.1  # of the labelled lines: more blank ones between them are told of
_FEW = 1  # blank line, where all others are as the panel says
_LEAST = 20  # lines, to see labels that have slipped
_SLIPPED = 0.25  # more labels as the panel's a line further


def one_sided(questions: Sequence[Question]) -> Iterator[str]:
    """Warn of verdicts of which one side has no label at all."""
    for one in questions:
        if one.one_sided:
            yield (
                f"ONE SIDE OF {one.key} IS NOT LABELLED: nothing of what the panel calls "
                f"{' or '.join(one.one_sided)}. Its accuracy is that of the other side alone, and "
                "rates that need both are not corrected. Label some of these lines."
            )


def picked(every: Sequence[Lines], sample: Sample, sheets: Sequence[Filled]) -> Iterator[str]:
    """Warn of lines that were passed over, and of labels that have slipped by a line.

    Lines stand in random order, so a sheet that is filled in down to some line is a fair sample;
    one with gaps is fair only if they have nothing to do with what is asked.
    """
    for lines in every:
        has = ~np.isnan(lines.people)
        blank = np.array([set(said) <= {""} for said in lines.labels], np.bool_)
        last = int(np.flatnonzero(has).max(initial=-1))
        skipped = int(blank[:last].sum()) if last > 0 else 0
        same = SAME if lines.rubric.scale == "graded" else 0.0
        both = has & ~np.isnan(lines.panel)
        alike = bool((np.abs(lines.panel - lines.people)[both] <= same).all())
        if skipped <= (_FEW if alike else _SKIPPED * has.sum()):
            continue
        agree = ", and every label is as the panel's verdict" if alike and both.any() else ""
        yield (
            f"{lines.key}: {skipped:,} lines are BLANK between {int(has.sum()):,} labelled "
            f"ones{agree}. If the hard ones were passed over, or those on which people or judges "
            "differ, judges look better than they are: label them, or put ? where you cannot tell."
        )
    for sheet in sheets:
        if way := _slipped(every, sample, sheet):
            yield (
                f"{sheet.name}: LABELS MAY HAVE SLIPPED: they fit what judges said of the line "
                f"{way} far better than of their own. Look whether the column was moved by a line."
            )


def _slipped(every: Sequence[Lines], sample: Sample, sheet: Filled) -> str:
    """Say whether labels fit the lines above or below better than their own; "" if not."""
    of = {line.id: (lines, i) for lines in every for i, line in enumerate(lines.lines)}
    order = [line.id for line in sample.lines]
    shares, counts = {}, {}
    for by in (-1, 0, 1):
        fits = []
        for place, ident in enumerate(order):
            if not 0 <= place + by < len(order):
                continue
            lines, i = of[order[place + by]]
            try:
                label = read_label(sheet.written.get(ident), lines.rubric)
            except ValueError:
                continue
            if isinstance(label, float) and lines.panel[i] == lines.panel[i]:
                same = SAME if lines.rubric.scale == "graded" else 0.0
                fits.append(abs(label - float(lines.panel[i])) <= same)
        counts[by] = len(fits)
        shares[by] = sum(fits) / len(fits) if fits else 0.0
    best = max((-1, 1), key=lambda by: shares[by])
    if min(counts[0], counts[best]) < _LEAST or shares[best] < shares[0] + _SLIPPED:
        return ""
    spread = (1 / counts[0] + 1 / counts[best]) ** 0.5 / 2  # of a difference of shares, at most
    if shares[best] - shares[0] < 3 * spread:
        return ""
    return "below" if best > 0 else "above"
