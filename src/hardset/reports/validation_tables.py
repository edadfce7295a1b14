"""A validation in the terminal: judges against people, rates corrected, where they differ."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hardset.metrics.agreement import AC1, ALPHA, COHEN, FLEISS, RAW
from hardset.metrics.judges import CORRELATION, EFFECTIVE
from hardset.reports.text import visible
from hardset.reports.validated import Question, Validated
from hardset.reports.validation import Number, number, rate, row, tally

_LEAST_WIDTH = 80
_PIPE_WIDTH = 120  # of a pipe, which has none
_SHOWN = 10  # disagreements
_REPLY = 70  # characters of a reply
_AGREE = (RAW, COHEN, FLEISS, AC1)
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

    def plain(text: str) -> Text:
        return _plain(text, encoding)

    yield plain(f"{found.title}, {found.model}: judges against people")
    for person in found.people:
        yield plain(
            f"{person.name}: {person.labelled:,} labelled, {person.unsure:,} cannot tell, "
            f"{person.not_applicable:,} do not apply, {person.blank:,} blank"
        )
    for question in found.questions:
        yield plain("")
        yield plain(f"{question.key}: {question.about}")
        yield plain(tally(question))
        if question.labelled:
            yield _judges(question, encoding)
            yield plain(_confused(question))
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
                yield plain(f"  {title}: {', '.join(said)}")
    if found.corrections:
        yield plain("")
        yield _rates(found, encoding)
    yield from _differing(found, encoding)
    for notice in found.notices:
        yield plain(f"- {notice}")


def _judges(question: Question, encoding: str) -> Table:
    rows = [row(one) for one in question.against]
    made = Table(box=box.SIMPLE_HEAD, padding=0)
    made.add_column("judge", overflow="fold", min_width=10)
    made.add_column("as people", justify="right")
    names = [one.name for one in rows[0].numbers]
    left_out = ("mean absolute error", COHEN) if question.scale == "graded" else ()
    shown = [i for i, name in enumerate(names) if name not in left_out]  # the page has all
    for one in (rows[0].numbers[i] for i in shown):
        name = one.name.replace(ALPHA, "alpha")
        made.add_column(name, justify="right", min_width=max(map(len, name.split())))
    for each in rows:
        cells = [_cell(each.numbers[i]) for i in shown]
        made.add_row(*(_plain(cell, encoding) for cell in (each.judge, each.alike, *cells)))
    return made


def _confused(question: Question) -> str:
    """Say of the panel how often it says what, where people say what."""
    panel = question.against[0]
    lines = []
    for told, counts in zip(panel.categories, panel.counts, strict=True):
        said = ", ".join(
            f"{count:,} x {category}"
            for category, count in zip(panel.categories, counts, strict=True)
            if count
        )
        if said:
            lines.append(f"  people {told}: the panel {said}")
    return "\n".join(lines)


def _rates(found: Validated, encoding: str) -> Table:
    made = Table(
        title=_plain("Rates, corrected for the judges' errors", encoding),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=0,
    )
    made.add_column("metric", overflow="fold", min_width=16)
    made.add_column("by the judges", justify="right", no_wrap=True)
    made.add_column("prediction-powered", justify="right", no_wrap=True)
    made.add_column("Rogan-Gladen", justify="right", no_wrap=True)
    made.add_column("labels", overflow="fold", min_width=12)
    for one in found.corrections:
        laid = rate(one)
        first, *others = laid.marks or [Number("")]
        cells = [_cell(each) for each in (first, *others)]
        cells += [""] * (3 - len(cells))
        name = laid.name + (" (lower is better)" if laid.lower else "")
        made.add_row(
            *(_plain(cell, encoding) for cell in (name, *cells, laid.note or laid.labelled))
        )
    return made


def _cell(one: Number) -> str:
    return f"{one.value}\n{one.interval}".strip()


def _differing(found: Validated, encoding: str) -> Iterator[Text]:
    if not found.disagreements:
        yield _plain("Judges and people differ on no line.", encoding)
        return
    yield _plain(
        f"{len(found.disagreements):,} lines on which judges and people, or people among "
        "themselves, differ:",
        encoding,
    )
    for one in found.disagreements[:_SHOWN]:
        said = "; ".join(f"{name} {label or 'blank'}" for name, label in one.labels.items())
        notes = "".join(f" ({note})" for note in one.notes.values())
        reply = " ".join(one.reply.split())
        short = f"{reply[:_REPLY]}…" if len(reply) > _REPLY else reply
        yield _plain(
            f"  {one.id} {one.key}: panel {one.verdict} [{one.how}], {said}{notes}\n    {short}",
            encoding,
        )
    left = len(found.disagreements) - _SHOWN
    if left > 0:
        yield _plain(f"  and {left:,} more, on the page", encoding)


def _within(one: Number) -> str:
    return f" ({one.interval})" if one.interval else ""


def _plain(text: str, encoding: str) -> Text:
    """Keep rich's markup, terminal escapes and what the encoding lacks out of a text."""
    return Text(visible(text).encode(encoding, "backslashreplace").decode(encoding))


__all__: Sequence[str] = ("parts", "show")
