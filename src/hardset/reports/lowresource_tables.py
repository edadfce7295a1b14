"""What `hardset difficulty` and `hardset learn` print: short tables within 80 columns.

Everything is said in words and plain ASCII, so a pipe or a dumb terminal loses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from hardset.reports import rankings
from hardset.reports.learned_claims import augmentation_claims, claims
from hardset.reports.learned_metrics import Row, drawn, failures, names, rows_of, sets_of, trials
from hardset.reports.measures import EVERYTHING, PLAIN, RANDOM, Measure, number
from hardset.reports.numbers import hundredths
from hardset.reports.scorers import Predictor
from hardset.reports.text import cut, visible

_LEAST_WIDTH = 80
_PIPE_WIDTH = 120  # of a pipe, which has none
_NAME = (12, 5)  # characters of a name, at either end
_LABELS = 12  # rows of a table of labels
_PAIRS = 12
_ROWS = 48  # of the tables of differences
_WORD = 24  # letters of a word that a column leaves whole


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the caller: rich would end the program with a status of its own."""
        raise BrokenPipeError


def show(parts: Iterator[RenderableType], console: Console | None = None) -> None:
    """Print what one of the functions below yields."""
    console = console or _Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max(_PIPE_WIDTH, console.width)
    console.width = max(_LEAST_WIDTH, console.width)
    for part in parts:
        console.print(part)


# --- learn -----------------------------------------------------------------------------------


def learned(
    metrics: Mapping[str, Any], manifest: Mapping[str, Any] | None = None, encoding: str = "utf-8"
) -> Iterator[RenderableType]:
    """Yield what `hardset learn` prints.

    Args:
        metrics: what `metrics.json` holds.
        manifest: what `manifest.json` holds, for its notices.
        encoding: what the terminal can show.
    """
    many, said, hidden = failures(rows_of(metrics, "failed"))
    if many:
        yield _plain(f"{many:,} FAILED; {trials(metrics)}. What failed is in no mean:", encoding)
        for one in said:
            yield _plain(f"  {one}", encoding)
        if hidden:
            yield _plain(f"  and {hidden:,} more, in metrics.json", encoding)
    measure = Measure(str(metrics.get("measure") or "accuracy"))
    for claim in [*claims(metrics), *augmentation_claims(metrics)]:
        yield _plain(str(claim), encoding)
    if gaps := rows_of(metrics, "gaps"):
        unit = ", %" if measure.share else ""
        n_test = number(metrics, "n_test")
        of = f" of {n_test:,.0f} test examples" if n_test else ""
        yield Text()
        yield _bold(
            f"{measure.name.capitalize()}{of}, last epoch: mean (std) over seeds{unit}", encoding
        )
        if len({(row.get("set"), row.get("augment", PLAIN)) for row in gaps}) == 1:
            yield _gaps(metrics, gaps, measure, encoding)
        else:
            yield from _by_learner(metrics, gaps, measure, encoding)
    if changes := rows_of(metrics, "augmentation"):
        yield _bold("With augmentation minus without", encoding)
        yield from _changes(metrics, changes, measure, encoding)
    for notice in (manifest or {}).get("notices") or ():
        yield _plain(f"- {notice}", encoding)


def _gaps(
    metrics: Mapping[str, Any], gaps: Sequence[Row], measure: Measure, encoding: str
) -> Table:
    """Lay out a line a gap of one kind of set: both means, the difference, the pairs."""
    table = _table("", encoding)
    table.add_column("learner", overflow="fold")
    table.add_column("k", justify="right", no_wrap=True)
    table.add_column(str(gaps[0].get("set")), justify="right")
    for heading in ("random", "gap [95 % interval]", "pairs"):
        table.add_column(heading, justify="right", no_wrap=True)
    of_key = {_kind(row): row for row in rows_of(metrics, "summary")}
    for row in gaps:
        other = of_key.get(_kind({**row, "set": RANDOM}), {})
        own = of_key.get(_kind(row), {})
        cells = [_short(row.get("learner")), str(row.get("k"))]
        cells += [_mean(own, measure), _mean(other, measure)]
        cells += [_within(row, "gap", measure), f"{number(row, 'n') or 0:.0f}"]
        table.add_row(*(_plain(cell, encoding) for cell in cells))
    return _explained(table, gaps, "gap", measure, encoding)


def _by_learner(
    metrics: Mapping[str, Any], gaps: Sequence[Row], measure: Measure, encoding: str
) -> Iterator[RenderableType]:
    """Yield a table a learner: by k, then by augmentation and set, the random ones last."""
    of_key = {_kind(row): row for row in gaps}
    every = {_kind(row): row for row in [*gaps, *rows_of(metrics, "summary")]}
    rows = _in_order(metrics, every.values())
    for learner in dict.fromkeys(row.get("learner") for row in rows):
        table = _table(_long(str(learner)), encoding)
        table.add_column("k", justify="right", no_wrap=True)
        some = [row for row in rows if row.get("learner") == learner]
        labels = [_label(row, drawn(metrics)) for row in some]
        table.add_column("set", overflow="fold", min_width=_longest_word(labels))
        for heading in ("mean (std)", "gap to random [95 %]", "pairs"):
            table.add_column(heading, justify="right", no_wrap=True)
        before = None
        for row, label in zip(some, labels, strict=True):
            gap = of_key.get(_kind(row))
            k, summary = row.get("k"), _summary(metrics, row)
            if before not in (None, k):
                table.add_section()
            cells = ["" if k == before else str(k), label, _mean(summary, measure)]
            cells += (
                ["", ""]
                if gap is None
                else [_within(gap, "gap", measure), f"{number(gap, 'n') or 0:.0f}"]
            )
            table.add_row(*(_plain(cell, encoding) for cell in cells))
            before = k
        mine = [row for row in gaps if row.get("learner") == learner]
        yield _explained(table, mine, "gap", measure, encoding)


def _kind(row: Row) -> frozenset[tuple[str, str]]:
    names = ("learner", "k", "set", "augment")
    return frozenset((name, str(row.get(name, PLAIN))) for name in names)


def _summary(metrics: Mapping[str, Any], row: Row) -> Row:
    return next((one for one in rows_of(metrics, "summary") if _kind(one) == _kind(row)), {})


def _in_order(metrics: Mapping[str, Any], rows: Iterable[Row]) -> list[Row]:
    """Sort records by learner, k, augmentation and set, each in the order of the page."""

    def place(row: Row) -> tuple[int, float, int, int]:
        learner, mixed, kind = (
            order.index(given) if (given := str(row.get(name, PLAIN))) in order else len(order)
            for name, order in orders.items()
        )
        return learner, number(row, "k") or 0, mixed, kind

    orders = {
        "learner": names(metrics, "learners"),
        "augment": [PLAIN, *names(metrics, "augments")],
        "set": sets_of(metrics),
    }
    return sorted(rows, key=place)


def _label(row: Row, plain: str) -> str:
    """Name a set in few words."""
    mixed = str(row.get("augment", PLAIN))
    name = str(row.get("set")).replace(", suspects dropped", ", no suspects")
    return name + (f", {mixed}" if mixed != plain else "")


def _longest_word(labels: Iterable[str]) -> int:
    """Give the width in which no word of a name that fits is broken."""
    longest = max((len(word) for label in labels for word in visible(label).split()), default=1)
    return min(longest, _WORD)


def _changes(
    metrics: Mapping[str, Any], rows: Sequence[Row], measure: Measure, encoding: str
) -> Iterator[RenderableType]:
    """Yield what augmentation changes, a table a learner."""
    ordered = _in_order(metrics, rows)
    for learner in dict.fromkeys(row.get("learner") for row in ordered[:_ROWS]):
        some = [row for row in ordered[:_ROWS] if row.get("learner") == learner]
        table = _table(_long(str(learner)), encoding)
        table.add_column("k", justify="right", no_wrap=True)
        labels = [_label({**row, "augment": PLAIN}, PLAIN) for row in some]
        table.add_column("set", overflow="fold", min_width=_longest_word(labels))
        table.add_column("augmentation", no_wrap=True)
        for heading in ("difference [95 %]", "pairs"):
            table.add_column(heading, justify="right", no_wrap=True)
        for row, label in zip(some, labels, strict=True):
            cells = (
                str(row.get("k")), label, _short(row.get("augment")),
                _within(row, "difference", measure), f"{number(row, 'n') or 0:.0f}",
            )  # fmt: skip
            table.add_row(*(_plain(cell, encoding) for cell in cells))
        yield _explained(table, some, "difference", measure, encoding)
    if rows[_ROWS:]:
        yield _plain(f"and {len(rows) - _ROWS:,} more, in the report", encoding)


def _explained(
    table: _Table, rows: Sequence[Row], name: str, measure: Measure, encoding: str
) -> Table:
    """Say under a table what its intervals say that are none, or hold everything."""
    said = []
    cells = [_within(row, name, measure) for row in rows]
    if any(EVERYTHING in cell for cell in cells):
        said.append(f"[{EVERYTHING}]: too few seeds, the interval holds all that can be")
    if any(cell.endswith("[none]") and (number(row, "n") or 0) > 1
           for cell, row in zip(cells, rows, strict=True)):  # fmt: skip
        said.append("[none] of several pairs: they all differ alike")
    table.foot = _plain("; ".join(said), encoding) if said else None
    return table


def _mean(row: Row, measure: Measure) -> str:
    mean, std = number(row, "mean"), number(row, "std")
    if mean is None:
        return "-"
    value = measure.value(mean).removesuffix(" %")
    return value if std is None else f"{value} ({measure.value(std).removesuffix(' %')})"


def _within(row: Row, name: str, measure: Measure) -> str:
    value = number(row, name)
    if value is None:
        return "not measured"
    ends = measure.between(number(row, "low"), number(row, "high"))
    return f"{measure.difference(value)} [{ends or 'none'}]"


# --- difficulty ------------------------------------------------------------------------------


def difficulty(out: Path, encoding: str = "utf-8") -> Iterator[RenderableType]:
    """Yield what `hardset difficulty` prints of the folder that it left.

    Args:
        out: the folder.
        encoding: what the terminal can show.
    """
    import polars as pl

    from hardset.reports.difficulties import largest, mode, not_scored, nothing, read_json, states
    from hardset.reports.scorers import failures as failed_predictors
    from hardset.reports.scorers import fallbacks, predictors
    from hardset.reports.specimens import labels, scores_in, telling
    from hardset.reports.suspected import noise_of

    frame = pl.scan_parquet(out / "difficulty.parquet", glob=False)
    manifest, stability = read_json(out / "manifest.json"), read_json(out / "stability.json")
    counts, scores = states(frame), scores_in(frame)
    total = sum(counts.values())
    said = not_scored(counts)
    many, why, hidden = failed_predictors(manifest)
    if many:
        yield _plain(f"{many:,} FAILED, in no rank:", encoding)
        for one in why:
            yield _plain(f"  {one}", encoding)
        if hidden:
            yield _plain(f"  and {hidden:,} more, in manifest.json", encoding)
    everything = "The one example is" if total == 1 else f"All {total:,} examples are"
    if none := nothing(counts, scores):
        yield _plain(none, encoding)
    if said or not none:
        yield _plain(said or f"{everything} scored.", encoding)
    if mode(manifest):
        yield _plain(f"Scored in {mode(manifest)}.", encoding)
    for one in fallbacks(manifest):
        yield _plain(f"- gradient norms: {one}", encoding)
    found = labels(frame, scores[0]) if scores else []
    if scores and not none:
        yield _plain(rankings.belongs_to_the_scorer(stability, scores[0]), encoding)
    classes = {label.key: label.name for label in found if label.key is not None}
    if noise := noise_of(out, read_json(out / "noise.json"), classes):
        yield _plain(f"Wrong labels: {noise.claim} {noise.told}".strip(), encoding)
    if trained := [one for one in predictors(manifest, largest(found)) if one.accuracy]:
        yield _trained(trained, encoding)
    if summary := rankings.summary(stability):
        yield _agreement(summary, stability, encoding)
    if len(found) > 1:
        shown = telling(found)[:_LABELS]
        table = _table(f"Labels by mean rank of {rankings.spoken(scores[0])}", encoding)
        table.add_column("label", overflow="fold")
        table.add_column("mean rank", justify="right", no_wrap=True)
        table.add_column("scored", justify="right", no_wrap=True)
        for label in shown:
            rank = "-" if label.mean_rank is None else hundredths(label.mean_rank)
            cells = (_long(label.name), rank, f"{label.scored:,}/{label.n:,}")
            table.add_row(*(_plain(cell, encoding) for cell in cells))
        yield table
        if left := len(found) - len(shown):
            said = "1 label is" if left == 1 else f"{left:,} labels are"
            yield _plain(f"{said} not shown.", encoding)


def _trained(scorers: Sequence[Predictor], encoding: str) -> Table:
    """Lay out how much predictors had learned when they scored, and warn of those near chance."""
    table = _table("Right in the last epoch of training", encoding)
    table.add_column("predictor", overflow="fold")
    table.add_column("seeds", overflow="fold")
    table.add_column("right", justify="right")
    warned = any(one.weak for one in scorers)
    if warned:
        table.add_column("warning")
    for one in scorers:
        cells = [_long(one.name), one.seeds, one.accuracy, *[one.weak] * warned]
        table.add_row(*(_plain(cell, encoding) for cell in cells))
    return table


def _agreement(
    summary: Sequence[rankings.Line], stability: Mapping[str, Any], encoding: str
) -> Table:
    share = f"{100 * (number(stability, 'share') or 0.1):g} %"
    table = _table("How far scorers agree", encoding)
    table.add_column("score", overflow="fold")
    table.add_column("between")
    for heading in ("Spearman", f"hardest {share} shared", "pairs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in summary[:_PAIRS]:
        cells = (one.cells[0], one.cells[1], one.spearman, one.overlap, one.cells[2])
        table.add_row(*(_plain(cell, encoding) for cell in cells))
    if len(summary) > _PAIRS:
        table.foot = _plain(f"and {len(summary) - _PAIRS:,} more, in stability.json", encoding)
    return table


def _short(name: Any) -> str:
    text = visible(str(name)).replace("\n", " ")
    return text if len(text) <= sum(_NAME) + 1 else f"{text[: _NAME[0]]}..{text[-_NAME[1] :]}"


def _long(name: str) -> str:
    return cut(name, 32)


class _Table(Table):
    """A table whose title and foot take the terminal's width, not its own."""

    head: Text | None = None
    foot: Text | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.head:
            yield self.head
        yield from super().__rich_console__(console, options)
        if self.foot:
            yield self.foot


def _table(title: str, encoding: str) -> _Table:
    table = _Table(box=box.SIMPLE_HEAD)
    table.head = _bold(title, encoding) if title else None
    return table


def _bold(text: str, encoding: str) -> Text:
    made = _plain(text, encoding)
    made.stylize("bold")
    return made


def _plain(text: str, encoding: str) -> Text:
    """Keep rich's markup, terminal escapes and what the encoding lacks out of a text."""
    return Text(visible(text).encode(encoding, "backslashreplace").decode(encoding))
