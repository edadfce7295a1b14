"""What `hardset difficulty` and `hardset learn` print: short tables within 80 columns.

Everything is said in words and plain ASCII, so a pipe or a dumb terminal loses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hardset.reports import rankings
from hardset.reports.learned_metrics import (
    Row,
    claim,
    drawn,
    failures,
    main_gaps,
    rows_of,
    trials,
)
from hardset.reports.measures import PLAIN, RANDOM, Measure, number
from hardset.reports.numbers import hundredths
from hardset.reports.text import cut, visible

_LEAST_WIDTH = 80
_PIPE_WIDTH = 120  # of a pipe, which has none
_NAME = (12, 5)  # characters of a name, at either end
_LABELS = 12  # rows of a table of labels
_PAIRS = 12
_ROWS = 24  # of a table of differences


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
    yield _plain(claim(metrics), encoding)
    if gaps := rows_of(metrics, "gaps"):
        yield _gaps(metrics, gaps, measure, encoding)
    if changes := rows_of(metrics, "augmentation"):
        yield _changes(changes, measure, encoding)
    for notice in (manifest or {}).get("notices") or ():
        yield _plain(f"- {notice}", encoding)


def _gaps(
    metrics: Mapping[str, Any], gaps: Sequence[Row], measure: Measure, encoding: str
) -> Table:
    """Lay out a line a gap: both means, the difference with its interval, the pairs."""
    unit = ", %" if measure.share else ""
    n_test = number(metrics, "n_test")
    of = f" of {n_test:,.0f} test examples" if n_test else ""
    table = _table(f"{measure.name.capitalize()}{of}, last epoch: mean (std) over seeds{unit}",
                   encoding)  # fmt: skip
    table.add_column("learner", overflow="fold")
    table.add_column("k", justify="right", no_wrap=True)
    several = len({(row.get("set"), row.get("augment", PLAIN)) for row in gaps}) > 1
    if several:
        table.add_column("set", overflow="fold")
    table.add_column("set's" if several else str(gaps[0].get("set")), justify="right")
    for heading in ("random", "gap [95 % interval]", "pairs"):
        table.add_column(heading, justify="right", no_wrap=True)
    of_key = {_kind(row): row for row in rows_of(metrics, "summary")}
    alike = {_kind(row) for row in main_gaps(metrics)}
    for row in sorted(gaps, key=lambda row: _kind(row) not in alike):
        other = of_key.get(_kind({**row, "set": RANDOM}), {})
        own = of_key.get(_kind(row), {})
        cells = [_short(row.get("learner")), str(row.get("k"))]
        if several:
            mixed = str(row.get("augment", PLAIN))
            cells.append(str(row.get("set")) + (f", {mixed}" if mixed != drawn(metrics) else ""))
        cells += [_mean(own, measure), _mean(other, measure)]
        cells += [_within(row, "gap", measure), f"{number(row, 'n') or 0:.0f}"]
        table.add_row(*(_plain(cell, encoding) for cell in cells))
    return table


def _kind(row: Row) -> frozenset[tuple[str, str]]:
    names = ("learner", "k", "set", "augment")
    return frozenset((name, str(row.get(name, PLAIN))) for name in names)


def _changes(rows: Sequence[Row], measure: Measure, encoding: str) -> Table:
    """Lay out what augmentation changes."""
    table = _table("With augmentation minus without", encoding)
    table.add_column("learner", overflow="fold")
    table.add_column("k", justify="right", no_wrap=True)
    for heading in ("set", "augmentation"):
        table.add_column(heading, overflow="fold")
    for heading in ("difference [95 %]", "pairs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows[:_ROWS]:
        cells = (
            _short(row.get("learner")), str(row.get("k")), str(row.get("set")),
            str(row.get("augment")), _within(row, "difference", measure),
            f"{number(row, 'n') or 0:.0f}",
        )  # fmt: skip
        table.add_row(*(_plain(cell, encoding) for cell in cells))
    if rows[_ROWS:]:
        table.caption = _plain(f"and {len(rows) - _ROWS:,} more, in the report", encoding)
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

    from hardset.reports.difficulties import mode, not_scored, read_json, states
    from hardset.reports.scorers import failures as failed_predictors
    from hardset.reports.scorers import fallbacks
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
    yield _plain(said or f"All {total:,} examples are scored.", encoding)
    if mode(manifest):
        yield _plain(f"Scored in {mode(manifest)}.", encoding)
    for one in fallbacks(manifest):
        yield _plain(f"- gradient norms: {one}", encoding)
    if summary := rankings.summary(stability):
        yield _agreement(summary, stability, encoding)
    if scores:
        yield _plain(rankings.belongs_to_the_scorer(stability, scores[0]), encoding)
    found = labels(frame, scores[0]) if scores else []
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
        if len(found) > len(shown):
            yield _plain(f"{len(found) - len(shown):,} labels are not shown.", encoding)
    classes = {label.key: label.name for label in found if label.key is not None}
    noise = noise_of(out, read_json(out / "noise.json"), classes)
    if noise:
        ends = f" (95 % interval {noise.interval})" if noise.interval else ""
        share = f"estimated {noise.share}{ends}; " if noise.share else ""
        of = f" of {noise.of}" if noise.of else ""
        yield _plain(f"Wrong labels: {share}{noise.many:,}{of} examples suspected.", encoding)


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
        table.caption = _plain(f"and {len(summary) - _PAIRS:,} more, in stability.json", encoding)
    return table


def _short(name: Any) -> str:
    text = visible(str(name)).replace("\n", " ")
    return text if len(text) <= sum(_NAME) + 1 else f"{text[: _NAME[0]]}..{text[-_NAME[1] :]}"


def _long(name: str) -> str:
    return cut(name, 32)


def _table(title: str, encoding: str) -> Table:
    return Table(
        title=_plain(title, encoding) if title else None,
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )


def _plain(text: str, encoding: str) -> Text:
    """Keep rich's markup, terminal escapes and what the encoding lacks out of a text."""
    return Text(visible(text).encode(encoding, "backslashreplace").decode(encoding))
