"""Labels that may have been picked, moved or turned round: said before any figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hardset.judging.people.against import SAME
from hardset.judging.people.labels import on_sheet, read_label
from hardset.judging.people.sample import Sample
from hardset.reports.validated import Question
from hardset.validating.lines import Lines
from hardset.validating.sheets import Filled

_SKIPPED = 0.1  # of the labelled lines: more blank ones between them are told of
_FEW = 1  # blank line, where all others are as the panel says
_LEAST = 20  # lines, to see labels that have slipped
_SLIPPED = 0.25  # more labels as the panel's a line further
_TURNED = 0.25  # of the labels as the panel's, at most, where they are turned round
_SURE = 2.5  # standard deviations below what a coin gives, at least, for that
_TOLD = 10  # lines, at least, for that
_BACK = 0.4  # kappa of labels once they are turned back, at least


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
        if way := _slipped(every, sample, sheet, _turned(every, sheet)):
            yield (
                f"{sheet.name}: LABELS MAY HAVE SLIPPED: they fit what judges said of the line "
                f"{way} far better than of their own. Look whether the column was moved by a line."
            )


def turned_round(every: Sequence[Lines], sample: Sample, sheets: Sequence[Filled]) -> Iterator[str]:
    """Warn of TRUE and FALSE that stand where the other is meant: people and panel never agree.

    It is the likeliest of a rubric that asks for the opposite of its verdict (`negated`). Nothing
    is turned back: whether it is the sheet or the panel that is wrong, a person must see.
    """
    for sheet in sheets:
        turned = _turned(every, sheet)
        if not turned or _slipped(every, sample, sheet, turned):
            continue
        for lines in (one for one in every if one.key in turned):
            fits = _fits(lines, sheet)
            means = on_sheet(lines.rubric, lines.key)
            true = f"TRUE means {means['TRUE']!r}, FALSE {means['FALSE']!r}"
            yield (
                f"{sheet.name}: LABELS MAY BE TURNED ROUND: of {lines.key}, {sum(fits):,} of "
                f"{len(fits):,} are as the panel's verdict. On the sheet, {true}. If that was "
                "taken the other way, put it right and read the sheet again; until then its "
                f"figures, and the rates that are corrected by {lines.key}, are turned round too. "
                "If the labels are as meant, the panel's verdicts are what is turned round."
            )


def _turned(every: Sequence[Lines], sheet: Filled) -> set[str]:
    """Name the verdicts of TRUE and FALSE whose labels on a sheet are mostly the opposite."""
    binary = [lines for lines in every if lines.rubric.scale == "binary"]
    found = {lines.key for lines in binary if _opposite([lines], sheet)}
    if _opposite(binary, sheet):  # of verdicts with few lines each
        few = {lines.key: _fits(lines, sheet) for lines in binary}
        found |= {key for key, fits in few.items() if fits and sum(fits) <= _TURNED * len(fits)}
    return found


def _opposite(every: Sequence[Lines], sheet: Filled) -> bool:
    """Say whether labels agree with the panel too seldom for chance, and would if turned."""
    pairs = [pair for lines in every for pair in _pairs(lines, sheet)]
    if len(pairs) < _TOLD:
        return False
    label, panel = np.array(pairs).T
    agree = float((label == panel).mean())
    if agree > _TURNED or agree > 0.5 - _SURE * 0.5 / len(pairs) ** 0.5:
        return False
    people, judges = label.mean(), panel.mean()
    by_chance = float(people * judges + (1 - people) * (1 - judges))
    one_value = {0.0, 1.0} & {float(people), float(judges)}  # chance says nothing then
    return bool(one_value) or 1 - agree / by_chance >= _BACK


def _pairs(lines: Lines, sheet: Filled) -> list[tuple[float, float]]:
    """Give a sheet's labels of a verdict, each with the panel's."""
    said = [(sheet.labels.get(line.id), lines.panel[i]) for i, line in enumerate(lines.lines)]
    return [(one, float(other)) for one, other in said if isinstance(one, float) and other == other]


def _fits(lines: Lines, sheet: Filled) -> list[bool]:
    return [label == panel for label, panel in _pairs(lines, sheet)]


def _slipped(every: Sequence[Lines], sample: Sample, sheet: Filled, turned: set[str]) -> str:
    """Say whether labels fit the lines above or below better than their own; "" if not.

    Those of verdicts that may be turned round are turned back for their own lines: only what fits
    a line further better than that has slipped.
    """
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
                own = by == 0 and lines.key in turned
                fits.append((abs(label - float(lines.panel[i])) <= same) != own)
        counts[by] = len(fits)
        shares[by] = sum(fits) / len(fits) if fits else 0.0
    best = max((-1, 1), key=lambda by: shares[by])
    if min(counts[0], counts[best]) < _LEAST or shares[best] < shares[0] + _SLIPPED:
        return ""
    spread = (1 / counts[0] + 1 / counts[best]) ** 0.5 / 2  # of a difference of shares, at most
    if shares[best] - shares[0] < 3 * spread:
        return ""
    return "below" if best > 0 else "above"
