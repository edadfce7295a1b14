"""The page of a validation: judges held against people, and the rates corrected.

Like the report it needs nothing else and trusts nothing it shows; see `html`. It has no script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from hardset.metrics.coefficients import Coefficient
from hardset.metrics.correction import Corrected
from hardset.records import Metric
from hardset.reports import html
from hardset.reports.numbers import hundredths, interval, percent
from hardset.reports.text import clip
from hardset.reports.validated import Against, Correction, Disagreement, Question, Validated

MOST_SHOWN = 200  # disagreements on the page; all are in validation.json
_LONG = 500  # characters of a reply that stand unfolded


@dataclass(frozen=True)
class Number:
    """A figure and its interval; or, `value` empty, nothing."""

    name: str
    value: str = ""
    interval: str = ""
    about: str = ""
    at: str = ""  # places on a track from 0 to 1, in per cent; empty: nothing is drawn
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Row:
    """One judge's line of a question's table."""

    judge: str
    alike: str
    numbers: Sequence[Number]


@dataclass(frozen=True)
class Rate:
    """One rate as the judges have it, and as people's labels correct it."""

    name: str
    reading: str
    lower: bool
    keys: str
    marks: Sequence[Number]  # the judges', prediction-powered, Rogan-Gladen: what there is
    labelled: str
    note: str


def number(one: Metric | Coefficient | None) -> Number:
    """Write a metric or a coefficient."""
    if one is None:
        return Number("")
    if isinstance(one, Coefficient):
        value = "undefined" if one.value is None else hundredths(one.value)
        ends = ""
        if one.low is not None and one.high is not None:
            ends = f"{hundredths(one.low)} to {hundredths(one.high)}"
        return Number(one.name, value, ends, one.about)
    drawn = one.value is not None and not one.unit
    return Number(
        one.name,
        percent(one.value, one.unit),
        interval(one),
        one.about,
        *(_place(x) if drawn else "" for x in (one.value, one.low, one.high)),
    )


def corrected(one: Corrected, unit: str = "") -> Number:
    """Write a corrected rate, or mean of what has a unit."""
    ends = ""
    if one.low is not None and one.high is not None:
        low, high = (percent(end, unit) for end in (one.low, one.high))
        ends = f"{low.removesuffix(' %')} to {high.removesuffix(' %')}"
    about = one.about
    if one.sensitivity is not None and one.specificity is not None:
        about += f"; sensitivity {percent(one.sensitivity)}, specificity {percent(one.specificity)}"
    places = [""] * 3 if unit else [_place(x) for x in (one.value, one.low, one.high)]
    name, _, why = one.method.partition(":")
    return Number(name, percent(one.value, unit), ends or why.strip(), about, *places)


def rate(one: Correction) -> Rate:
    """Lay one corrected rate out."""
    marks = []
    powered = one.powered
    if one.judge is not None:
        told = number(one.judge)
        marks.append(
            Number("by the judges", told.value, told.interval, told.about, told.at, told.low,
                   told.high)
        )  # fmt: skip
    elif powered is not None:
        marks.append(
            corrected(
                replace(powered, method="by the judges", value=powered.raw, low=None, high=None),
                one.unit,
            )
        )
    marks += [corrected(each, one.unit) for each in (powered, one.rogan_gladen) if each is not None]
    labelled = ""
    if powered is not None:
        labelled = (
            f"{powered.labelled:,} of {powered.rows:,} {one.over} labelled, "
            f"{powered.differing:,} differ"
        )
    return Rate(
        name=one.name,
        reading=one.reading,
        lower=one.better == "lower",
        keys=", ".join(one.keys),
        marks=marks,
        labelled=labelled,
        note=f"not corrected: {one.note}" if one.note else "",
    )


def row(one: Against) -> Row:
    """Lay one judge's line out."""
    found: list[Metric | Coefficient] = [*one.metrics, *one.coefficients]
    numbers = [number(each) for each in found]
    return Row(one.judge, f"{one.alike:,} of {one.lines:,}", numbers)


def tally(question: Question) -> str:
    """Say how far a question's lines are labelled, and what became of the others."""
    parts = [
        f"{question.drawn:,} of {question.due:,} replies drawn",
        f"{question.labelled:,} labelled",
    ]
    for count, what in (
        (question.unsure, "on which people cannot tell"),
        (question.not_applicable, "to which it does not apply"),
        (question.ties, "on which as many say one thing as another"),
        (question.blank, "not labelled"),
        (question.no_verdict, "labelled on which the panel has no verdict"),
    ):
        if count:
            parts.append(f"{count:,} {what}")
    said = ", ".join(parts)
    if question.unreached:
        many = "reply is" if question.unreached == 1 else "replies are"
        said += f". {question.unreached:,} {many} of strata without a label"
    return f"{said}."


def write_validation(path: Path, found: Validated) -> None:
    """Write the page, whole or not at all.

    Raises:
        OSError: if the file cannot be written.
    """
    html.write_page(path, render(found))


def render(found: Validated) -> str:
    """Make the page; see `write_validation`."""
    style = "".join(map(html.template_text, ("report.css", "judges.css", "validation.css")))
    shown = found.disagreements[:MOST_SHOWN]
    return html.environment().get_template("validation.html").render(
        style=Markup(style),
        found=found,
        questions=[(one, tally(one), [row(each) for each in one.against]) for one in
                   found.questions],
        people=[(one, [number(each) for each in one.people]) for one in found.questions
                if one.people],
        errors={one.key: [number(each) for each in one.errors] for one in found.questions},
        leading=[rate(one) for one in found.corrections if one.leads],
        others=[rate(one) for one in found.corrections if not one.leads],
        disagreements=[(one, opening(one), clip(one.reply)) for one in shown],
        beyond=len(found.disagreements) - len(shown),
    )  # fmt: skip


def opening(one: Disagreement) -> str:
    """Give both ends of a reply too long to stand unfolded; else nothing."""
    text = clip(one.reply)
    return f"{text[:180]} … {text[-180:]}" if len(text) > _LONG else ""


def _place(share: float | None) -> str:
    """Give a share as a length on the track; what is off it stays at its end."""
    return "" if share is None else f"{100 * min(1.0, max(0.0, share)):.2f}%"
