"""A validation in the terminal, in short: the page has all of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hardset.metrics.agreement import ALPHA, COHEN
from hardset.metrics.judges import EFFECTIVE
from hardset.reports.text import visible
from hardset.reports.validated import Disagreement, Question, Validated
from hardset.reports.validation import (
    Number,
    number,
    on_sheet,
    rate,
    row,
    tally,
    word,
    wrote,
)

_LEAST_WIDTH = 80
_PIPE_WIDTH = 120  # of a pipe, which has none
_SHOWN = 3  # disagreements
_IDS = 12  # of lines to be settled
_TEXT = 62  # characters of a reply, a question, a note
_FOOT = (
    "* of all replies that the judges were asked about, by weight: not a share of the lines. Of "
    "grades: exact agreement, and Krippendorff's alpha. Every coefficient is on the page."
)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the caller: rich would end the program with a status of its own."""
        raise BrokenPipeError


def show(found: Validated, console: Console | None = None) -> None:
    """Print a validation."""
    console = console or _Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max(_PIPE_WIDTH, console.width)
    console.width = max(_LEAST_WIDTH, console.width)
    for part in parts(found, console.encoding):
        console.print(part)


def parts(found: Validated, encoding: str = "utf-8") -> Iterator[RenderableType]:
    """Yield what is printed."""

    def plain(text: str, indent: int = 0) -> RenderableType:
        return Padding(_plain(text, encoding), (0, 0, 0, indent))

    yield plain(f"{found.title}, {found.model}: judges against people")
    for person in found.people:
        yield plain(
            f"{person.name}: {person.labelled:,} labelled, {person.unsure:,} cannot tell, "
            f"{person.not_applicable:,} do not apply, {person.blank:,} blank"
        )
    for notice in found.notices:
        yield plain(f"- {notice}")
    labelled = [one for one in found.questions if one.labelled]
    if labelled:
        yield plain("")
        yield _judges(labelled, encoding)
        yield plain(_FOOT)
    yield plain("")
    for question in found.questions:
        yield plain(f"{question.key}: {tally(question)}")
        if question.on_sheet and question.on_sheet != dict(question.values):
            yield plain(on_sheet(question), 2)  # the sheet asks for the opposite
        if question.labelled and (errors := _confused(question)):
            yield plain(f"the panel errs: {errors}", 2)
    for title, name in (
        ("People with each other, Cohen's kappa", COHEN),
        ("Judges erring together, how many independent ones they are worth", EFFECTIVE),
    ):
        said = [
            f"{one.key} {number(each).value}"
            for one in found.questions
            for each in (*one.people, *one.errors)
            if each.name == name
        ]
        if said:
            yield plain(f"{title}: {', '.join(said)}")
    if found.corrections:
        yield plain("")
        yield from _rates(found, encoding)
    yield plain("")
    yield from _differing(found, encoding)


def _judges(questions: Sequence[Question], encoding: str) -> Table:
    """Lay out a line a question and judge: how many lines as people, and figures of all replies."""
    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    made.add_column("verdict, judge", overflow="ellipsis", no_wrap=True, max_width=30)
    made.add_column("as people", justify="right", no_wrap=True)
    made.add_column("accuracy*", justify="right", no_wrap=True)
    made.add_column("kappa*", justify="right", no_wrap=True)
    for question in questions:
        for place, each in enumerate(map(row, question.against)):
            beyond = [one for one in each.numbers if ALPHA in one.name] or [
                one for one in each.numbers if one.name == COHEN
            ]
            first = each.numbers[0]
            name = f"  {each.judge}" if place else f"{question.key}, {each.judge}"
            cells = (name, each.alike, f"{first.value}{_within(first)}", beyond[0].value)
            made.add_row(*(_plain(cell, encoding) for cell in cells))
    return made


def _confused(question: Question) -> str:
    """Say of the panel where it errs; of grades only the page does."""
    panel = question.against[0]
    if question.scale == "graded":
        return ""
    return ", ".join(
        f"{count:,} x {word(question, category)!r} where people say {word(question, told)!r}"
        for told, counts in zip(panel.categories, panel.counts, strict=True)
        for category, count in zip(panel.categories, counts, strict=True)
        if count and category != told
    )


def _rates(found: Validated, encoding: str) -> Iterator[RenderableType]:
    """Lay out the rates that lead, or, where none does, the first few."""
    leading = [one for one in found.corrections if one.leads] or list(found.corrections[:6])
    made = Table(
        title=_plain("Rates, corrected for the judges' errors", encoding),
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
    )
    made.add_column("metric", overflow="fold", min_width=16)
    made.add_column("by judges", justify="right", no_wrap=True)
    made.add_column("prediction-powered", justify="right", no_wrap=True)
    made.add_column("labelled", overflow="fold", min_width=8)
    for one in leading:
        laid = rate(one)
        first, second, *_ = [*laid.marks, Number(""), Number("")]
        name = laid.name + (" (lower better)" if laid.lower else "")
        of = laid.note or second.of.removesuffix(" labelled")
        cells = (name, first.value, f"{second.value}{_within(second)}", of)
        made.add_row(*(_plain(cell, encoding) for cell in cells))
    yield made
    left = len(found.corrections) - len(leading)
    more = f"{left:,} more rates, and all" if left else "All"
    yield _plain(f"{more} by Rogan-Gladen, or why not: on the page.", encoding)


def _differing(found: Validated, encoding: str) -> Iterator[RenderableType]:
    def plain(text: str, indent: int = 0) -> RenderableType:
        return Padding(_plain(text, encoding), (0, 0, 0, indent))

    split = [one for one in found.disagreements if one.split]
    others = [one for one in found.disagreements if not one.split]
    if split:
        ids = ", ".join(one.id for one in split[:_IDS])
        more = f" and {len(split) - _IDS:,} more, on the page" if len(split) > _IDS else ""
        yield plain(f"To be settled, {len(split):,} lines: {ids}{more}")
    if not others:
        yield plain(f"Judges and people differ on no {'other ' if split else ''}line.")
        return
    yield plain(
        f"{len(others):,} lines on which judges and people, or people among themselves, differ:"
    )
    of = {one.key: one for one in found.questions}
    for one in others[:_SHOWN]:
        for number_, text in enumerate(_told(one, of[one.key])):
            yield plain(text, 4 if number_ else 2)
    left = len(others) - _SHOWN
    if left > 0:
        yield plain(f"and {left:,} more, all with pictures where there are, on the page", 2)


def _told(one: Disagreement, question: Question) -> Iterator[str]:
    said = "; ".join(f"{name}: {wrote(question, one, name)}" for name in one.labels)
    notes = "".join(f" ({note})" for note in one.notes.values())
    yield f"{one.id} {one.key}, panel: {word(question, one.verdict)} [{one.how}]; {said}{notes}"
    for name, text in (
        ("question", one.question),
        ("reply", one.reply),
        ("reference", one.facts.get("reference", "")),
        ("note", one.facts.get("reason", "")),
    ):
        if text:
            yield f"{name}: {_short(text)}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return f"{flat[:_TEXT]}…" if len(flat) > _TEXT else flat


def _within(one: Number) -> str:
    return f" ({one.interval})" if one.interval else ""


def _plain(text: str, encoding: str) -> Text:
    """Keep rich's markup, terminal escapes and what the encoding lacks out of a text."""
    return Text(visible(text).encode(encoding, "backslashreplace").decode(encoding))


__all__: Sequence[str] = ("parts", "show")
