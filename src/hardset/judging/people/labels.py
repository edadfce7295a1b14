"""What people wrote on a sheet: how a question is put to them, and how a label is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from hardset.judging.people.sample import conditional
from hardset.judging.rubric import Rubric, Scale
from hardset.judging.verdicts import REFUSED
from hardset.metrics.bootstrap import Floats

Label = float | Literal["", "?", "-"]
"""A verdict (0 or 1, a grade, a letter's place), not labelled, cannot tell, does not apply."""

_YES = ("true", "yes", "1", "1.0", "t", "y", "=true()")
_NO = ("false", "no", "0", "0.0", "f", "n", "=false()")
_UNSURE = ("?", "unsure", "cannot tell", "can't tell")
_DOES_NOT_APPLY = ("-", "n/a", "na", "does not apply")


def put(rubric: Rubric, key: str) -> str:
    """Put a rubric's question to a person: what judges were asked, and how to label it.

    A question for refusals only (or answers only) is asked whatever the judges said, so what its
    task takes for granted is put as a condition, which a person sees to first.
    """
    if not conditional(rubric):
        return "\n\n".join((rubric.task.strip(), *_asked(rubric, key)))
    so, not_so = ("declines", "answers") if "refused" in rubric.due else ("answers", "declines")
    first = (
        f"First see whether the reply {so}, or {not_so}; it may be either. If it {not_so}, put - "
        f"(does not apply) and go on to the next line. If it {so}, the rest is asked of it."
    )
    return "\n\n".join((first, f"If it {so}: {rubric.task.strip()}", *_asked(rubric, key)))


def _asked(rubric: Rubric, key: str) -> list[str]:
    if rubric.parts:
        part = key.removeprefix(f"{rubric.name}.")
        said = [f"Is this so? {rubric.parts[part].strip()}", "TRUE if it is so, FALSE if not."]
    elif rubric.anchors:
        said = [rubric.ask.strip(), _listed(dict(sorted(rubric.anchors.items(), key=_grade)))]
    elif rubric.letters:
        said = [rubric.ask.strip(), _listed(rubric.letters)]
    else:
        said = [
            rubric.ask.strip(),
            f"TRUE if {rubric.true.strip()}, FALSE if {rubric.false.strip()}.",
        ]
    return said


def _grade(anchor: tuple[str, str]) -> int:
    return int(anchor[0])


def _listed(means: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {text.strip()}" for name, text in means.items())


def takes(rubric: Rubric) -> str:
    """Say what can be written as a label."""
    if rubric.scale == "graded":
        values = f"a whole number from {rubric.low} to {rubric.high}"
    elif rubric.scale == "letter":
        values = f"one of {', '.join(rubric.letters)}"
    else:
        values = "TRUE or FALSE (or yes or no, 1 or 0)"
    more = "- where it does not apply, or " if conditional(rubric) else ""
    return f"{more}{values}, ? where you cannot tell, or nothing"


def choices(rubric: Rubric) -> tuple[str, ...]:
    """List the labels that a sheet offers; what may well be the answer stands first."""
    if rubric.scale == "graded":
        values = [str(grade) for grade in sorted(map(int, rubric.anchors))]
    elif rubric.scale == "letter":
        values = list(rubric.letters)
    else:
        values = ["TRUE", "FALSE"]
    return (*(["-"] if conditional(rubric) else []), *values, "?")


def meaning(rubric: Rubric, key: str) -> dict[str, str]:
    """Say in words what each value of a verdict means: TRUE and FALSE, grades or letters.

    These are the verdict's values. A sheet that asks for the opposite (`negated`) has them the
    other way round; see `on_sheet`.
    """
    if key == REFUSED:  # whatever the rubric asks, this is what the verdict is for
        return {"TRUE": "refuses", "FALSE": "gives an answer"}
    if rubric.parts:
        return {"TRUE": "it is so", "FALSE": "it is not so"}
    if rubric.scale != "binary":
        return {name: text.strip() for name, text in (rubric.anchors or rubric.letters).items()}
    yes, no = (rubric.false, rubric.true) if rubric.negated else (rubric.true, rubric.false)
    return {"TRUE": yes.strip(), "FALSE": no.strip()}


def on_sheet(rubric: Rubric, key: str) -> dict[str, str]:
    """Say in words what TRUE and FALSE mean where people wrote them; nothing of other scales."""
    if rubric.scale != "binary":
        return {}
    means = meaning(rubric, key)
    turned = {"TRUE": "FALSE", "FALSE": "TRUE"} if rubric.negated else {}
    return {value: means[turned.get(value, value)] for value in means}


def read_label(cell: object, rubric: Rubric) -> Label:
    """Read one cell, in the spellings that people and spreadsheets have.

    Where the rubric asks for the opposite of its verdict (`negated`), so was the person, and the
    label is turned round.

    Raises:
        ValueError: it is none of them.
    """
    text = " ".join(str(cell).split()).casefold() if cell is not None and cell == cell else ""
    if not text or text in _UNSURE:
        return "?" if text else ""
    if text in _DOES_NOT_APPLY and conditional(rubric):
        return "-"
    if rubric.scale == "graded":
        number = float(text)
        if rubric.low <= number <= rubric.high and number == int(number):
            return number
    elif rubric.scale == "letter":
        if text.upper() in rubric.letters:
            return float(ord(text.upper()) - 65)
    elif text in _YES or text in _NO:
        return float((text in _YES) != rubric.negated)
    raise ValueError(text)


def write_label(value: float | None, scale: Scale) -> str:
    """Write a verdict or label as reports show it."""
    if value is None or value != value:
        return "none"
    if scale == "binary":
        return "TRUE" if value else "FALSE"
    return chr(65 + int(value)) if scale == "letter" else f"{value:.3g}"


def settled(labels: Floats, scale: Scale) -> Floats:
    """Bring several people's labels together, as a panel's votes are.

    Args:
        labels: (lines, people), NaN for none.
        scale: of the verdict.

    Returns:
        The mean of grades; else what most said, NaN for a tie or no label, (lines,).
    """
    given = ~np.isnan(labels)
    if scale == "graded":
        count = given.sum(axis=1)
        total = np.where(given, labels, 0).sum(axis=1)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)
    values = np.unique(labels[given])
    if not len(values):
        return np.full(len(labels), np.nan)
    counts = np.stack([(labels == value).sum(axis=1) for value in values], axis=1)
    most = counts.max(axis=1)
    alone = (counts == most[:, None]).sum(axis=1) == 1
    return np.where((most > 0) & alone, values[counts.argmax(axis=1)], np.nan)
