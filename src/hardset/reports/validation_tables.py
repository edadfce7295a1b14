"""A validation in the terminal, in short: the page has all of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hardset.metrics.agreement import ALPHA, COHEN, RAW
from hardset.metrics.judges import CORRELATION, EFFECTIVE
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
_TEXT = 150  # characters of a reply, a question, a note
_AGREE = (RAW, COHEN)
_ERR = (f"mean {CORRELATION}", EFFECTIVE)


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
    for question in found.questions:
        yield plain("")
        yield plain(f"{question.key}: {tally(question)}")
        if question.on_sheet:
            yield plain(on_sheet(question), 2)
        if question.labelled:
            yield _judges(question, encoding)
            yield from (plain(said, 2) for said in _confused(question))
        for title, found_of, wanted in (
            ("people with each other", question.people, _AGREE),
            ("judges erring together", question.errors, _ERR),
        ):
            said = [
                f"{told.name} {told.value}{_within(told)}"
                for told in map(number, found_of)
                if told.name in wanted
            ]
            if said:
                yield plain(f"{title}: {', '.join(said)}", 2)
    if found.corrections:
        yield plain("")
        yield from _rates(found, encoding)
    yield plain("")
    yield from _differing(found, encoding)


def _judges(question: Question, encoding: str) -> Table:
    """Lay out a line a judge: how many lines as people, and two figures of all replies."""
    rows = [row(one) for one in question.against]
    names = [one.name for one in rows[0].numbers]
    beyond_chance = next((n for n in names if ALPHA in n), COHEN)
    shown = [0, *(i for i, name in enumerate(names) if name == beyond_chance)]
    made = Table(box=None, padding=(0, 2, 0, 2), pad_edge=True)
    made.add_column("judge", overflow="fold", min_width=10)
    made.add_column("lines as people", justify="right", no_wrap=True)
    for one in (rows[0].numbers[i] for i in shown):
        made.add_column(f"{one.name.replace(ALPHA, 'alpha')}, weighted", justify="right")
    for each in rows:
        cells = [f"{each.numbers[i].value}{_within(each.numbers[i])}" for i in shown]
        made.add_row(*(_plain(cell, encoding) for cell in (each.judge, each.alike, *cells)))
    return made


def _confused(question: Question) -> list[str]:
    """Say of the panel where it errs; of grades only the page does."""
    panel = question.against[0]
    if question.scale == "graded":
        return []
    return [
        f"people say {word(question, told)!r}, the panel {word(question, category)!r}: {count:,}"
        for told, counts in zip(panel.categories, panel.counts, strict=True)
        for category, count in zip(panel.categories, counts, strict=True)
        if count and category != told
    ]


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
    made.add_column("by the judges", justify="right")
    made.add_column("prediction-powered", justify="right")
    made.add_column("labelled", overflow="fold", min_width=12)
    for one in leading:
        laid = rate(one)
        first, second, *_ = [*laid.marks, Number(""), Number("")]
        name = laid.name + (" (lower is better)" if laid.lower else "")
        cells = (name, *(f"{each.value}{_within(each)}" for each in (first, second)))
        made.add_row(*(_plain(cell, encoding) for cell in (*cells, laid.note or second.of)))
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
