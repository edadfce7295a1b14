"""The page of a validation: judges held against people, and the rates corrected.

Like the report it needs nothing else and trusts nothing it shows; see `html`. It has no script.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from hardset.metrics.coefficients import Coefficient
from hardset.metrics.correction import Corrected
from hardset.records import Metric
from hardset.reports import html
from hardset.reports.numbers import fraction, hundredths, interval, percent
from hardset.reports.text import clip
from hardset.reports.validated import Against, Correction, Disagreement, Question, Validated

MOST_SHOWN = 200  # disagreements on the page; all are in validation.json
_LONG = 500  # characters of a reply that stand unfolded
_WORDS = 60  # characters of what a value means, where it stands in a table


@dataclass(frozen=True)
class Number:
    """A figure and its interval; or, `value` empty, nothing."""

    name: str
    value: str = ""
    interval: str = ""
    about: str = ""
    of: str = ""  # what it is out of: `41/92`, or how much of it is labelled
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
    why: str  # there is no Rogan-Gladen, or what it leaves out
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
        fraction(one),
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
    of = f"{one.labelled:,} of {one.rows:,} labelled"
    return Number(name, percent(one.value, unit), ends or why.strip(), about, of, *places)


def rate(one: Correction) -> Rate:
    """Lay one corrected rate out."""
    marks = []
    powered = one.powered
    if one.judge is not None:
        marks.append(replace(number(one.judge), name="by the judges"))
    elif powered is not None:
        marks.append(
            replace(
                corrected(
                    replace(
                        powered, method="by the judges", value=powered.raw, low=None, high=None
                    ),
                    one.unit,
                ),
                of="",
            )
        )
    other = one.rogan_gladen if one.rogan_gladen and one.rogan_gladen.value is not None else None
    marks += [corrected(each, one.unit) for each in (powered, other) if each is not None]
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
        why="" if one.note else one.why,
        note=f"not corrected: {one.note}" if one.note else "",
    )


def row(one: Against) -> Row:
    """Lay one judge's line out."""
    found: list[Metric | Coefficient] = [*one.metrics, *one.coefficients]
    numbers = [replace(number(each), of="") for each in found]  # sums of weights are no counts
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
        (question.ties, "on which people are split, in no figure"),
        (question.blank, "not labelled"),
        (question.no_verdict, "labelled on which the panel has no verdict"),
    ):
        if count:
            parts.append(f"{count:,} {what}")
    said = ", ".join(parts)
    if question.unreached:
        many = "reply has" if question.unreached == 1 else "replies have"
        said += f". {question.unreached:,} {many} no labelled one like them"
    if question.one_sided:
        said += f". NOTHING is labelled of what the panel calls {' or '.join(question.one_sided)}"
    return f"{said}."


def word(question: Question, value: str) -> str:
    """Say a value in words, so that no TRUE can be mistaken; a grade stays a number."""
    means = question.values.get(value, "")
    if value in ("none", "open", "-", "?", "") or not means:
        return _SAID.get(value, value)
    short = means if len(means) <= _WORDS else f"{means[: _WORDS - 1].rstrip()}…"
    if question.scale == "binary":
        return short
    return f"{value}, {short}" if question.scale == "letter" else value


_SAID = {
    "none": "no verdict",
    "open": "split",
    "-": "does not apply",
    "?": "cannot tell",
    "": "blank",
}


def on_sheet(question: Question) -> str:
    """Say what TRUE and FALSE mean on the sheet, if it is of these."""
    said = "; ".join(f"{value} means: {means}" for value, means in question.on_sheet.items())
    return f"On the sheet {said}." if said else ""


def wrote(question: Question, one: Disagreement, name: str) -> str:
    """Say what a person says of a line, and quote what stands on the sheet."""
    said, cell = word(question, one.labels[name]), one.written.get(name, "")
    plain = not cell or cell == said or (question.scale != "binary" and cell == one.labels[name])
    return said if plain else f"{said} (wrote {cell})"


def split_up(question: Question) -> str:
    """Warn beside a question's figures that they are without the lines people are split on."""
    if not question.ties:
        return ""
    of = question.ties + question.labelled
    are = "line is" if question.ties == 1 else "lines are"
    return (
        f"{question.ties:,} of {of:,} labelled {are} left out of these figures: people are split. "
        "Such lines tend to be the hard ones; settled, they may lower what judges reach."
    )


def write_validation(path: Path, found: Validated, pictures: Mapping[int, bytes]) -> None:
    """Write the page, whole or not at all.

    Args:
        path: where to.
        found: what is shown.
        pictures: by index of the item, a small JPEG.

    Raises:
        OSError: if the file cannot be written.
    """
    html.write_page(path, render(found, pictures))


@dataclass(frozen=True)
class _Dispute:
    """One line on which they differ, laid out."""

    line: Disagreement
    question: Question
    picture: str  # a data: URL, or empty
    opening: str
    text: str
    verdict: str
    label: str
    votes: Sequence[tuple[str, str, bool]]  # judge, what it said, whether apart from people
    people: Sequence[tuple[str, str]]


def _dispute(one: Disagreement, question: Question, picture: bytes | None) -> _Dispute:
    return _Dispute(
        one,
        question,
        f"data:image/jpeg;base64,{base64.b64encode(picture).decode('ascii')}" if picture else "",
        opening(one),
        clip(one.reply),
        word(question, one.verdict),
        word(question, one.label),
        [(name, word(question, vote), name in one.apart) for name, vote in one.votes.items()],
        [(name, wrote(question, one, name)) for name in one.labels],
    )


def render(found: Validated, pictures: Mapping[int, bytes] | None = None) -> str:
    """Make the page; see `write_validation`."""
    style = "".join(map(html.template_text, ("report.css", "judges.css", "validation.css")))
    shown = found.disagreements[:MOST_SHOWN]
    of = {one.key: one for one in found.questions}
    disputes = [_dispute(one, of[one.key], (pictures or {}).get(one.index)) for one in shown]
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
        to_settle=[one for one in disputes if one.line.split],
        disputes=[one for one in disputes if not one.line.split],
        split=sum(one.split for one in found.disagreements),
        beyond=len(found.disagreements) - len(shown),
        word=word,
        on_sheet=on_sheet,
        split_up=split_up,
    )  # fmt: skip


def opening(one: Disagreement) -> str:
    """Give both ends of a reply too long to stand unfolded; else nothing."""
    text = clip(one.reply)
    return f"{text[:180]} … {text[-180:]}" if len(text) > _LONG else ""


def _place(share: float | None) -> str:
    """Give a share as a length on the track; what is off it stays at its end."""
    return "" if share is None else f"{100 * min(1.0, max(0.0, share)):.2f}%"
