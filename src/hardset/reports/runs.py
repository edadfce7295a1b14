"""What a report is made from: finished runs, and the items picked to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardset.records import Item, Metric

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class RunView:
    """One model's finished run on a benchmark, as a report needs it.

    Attributes:
        model: its spec, `provider/model`.
        benchmark: the benchmark's name; `title` and `paper` (a URL) describe it.
        manifest: what `manifest.json` holds; the report's only date is its `started`.
        metrics: all metrics, every cut and reading.
        states: rows in every state, zeros included (`metrics.tally`).
        outcomes: the outcome columns, one row an item and repeat.
        notices: what the reader must know, said once.
        headline: names of the metrics that lead; empty: the first six overall ones. "pass@n" and
            "pass^n" are those of the largest k that was measured.
        readings: names of the readings, the headline's first.
        cuts: columns to draw bars by, and to filter the sample by.
    """

    model: str
    benchmark: str
    title: str
    metrics: Sequence[Metric]
    states: Mapping[str, int]
    outcomes: pl.DataFrame
    paper: str = ""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    notices: Sequence[str] = ()
    headline: Sequence[str] = ()
    readings: Sequence[str] = ("default",)
    cuts: Sequence[str] = ("category",)

    @property
    def leading(self) -> list[str]:
        """The names of the metrics that lead."""
        if self.headline:
            return list(self.headline)
        return list(dict.fromkeys(metric.name for metric in self.metrics if not metric.cut))[:6]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An item picked for the browsable sample.

    `index` is its position in the benchmark, which is the outcomes' `index`; `thumbnail` a
    small image in a type that browsers show, or None where there is none.
    """

    index: int
    item: Item
    thumbnail: bytes | None = None
    type: str = "image/jpeg"


MetricKey = tuple[str, tuple[tuple[str, str], ...], str]
"""What makes metrics of several runs comparable: name, slice and reading."""


def key(metric: Metric) -> MetricKey:
    """Give what a metric has in common with another run's."""
    return metric.name, tuple(metric.cut.items()), metric.reading


def side_by_side(runs: Sequence[RunView]) -> dict[MetricKey, list[Metric | None]]:
    """Line the runs' metrics up, in the order of the first run that has them.

    Returns:
        For each key one metric a run, None where that run lacks it.
    """
    found: dict[MetricKey, list[Metric | None]] = {}
    for i, run in enumerate(runs):
        for metric in run.metrics:
            found.setdefault(key(metric), [None] * len(runs))[i] = metric
    return found


def leading(runs: Sequence[RunView]) -> list[str]:
    """Give the names of the metrics that lead the report, of all runs, in order."""
    ks = {m.name.removeprefix("pass@") for run in runs for m in run.metrics if not m.cut}
    most = max((int(k) for k in ks if k.isdecimal()), default=1)
    largest = {"pass@n": f"pass@{most}", "pass^n": f"pass^{most}"}
    return list(dict.fromkeys(largest.get(name, name) for run in runs for name in run.leading))


def how_asked(run: RunView) -> tuple[str, ...]:
    """Say how the questions were asked, as far as it is not as usual: blind, cut short, options."""
    said = run.manifest
    given = {name: str(value) for name, value in (said.get("options") or {}).items()}
    blind = said.get("blind") or given.pop("blind", "False") == "True"
    plain = {"images", "blind"}
    data = given.pop("data", "")
    return (
        *([f"data {Path(data).name}"] if data else []),
        *(["blind: no image was sent"] if blind else []),
        *(["asked how sure it is"] if said.get("confidence") == "stated" else []),
        *(f"{name} {value}" for name, value in given.items() if name not in plain),
        *([f"the first {said['limit']:,} items only"] if said.get("limit") else []),
        *([f"{said['repeats']} repeats"] if said.get("repeats", 1) > 1 else []),
        *([] if _greedy(run) else [sampled(run)]),
    )


def _greedy(run: RunView) -> bool:
    return bool((run.manifest.get("sampling") or {}).get("temperature", 0) == 0)


def sampled(run: RunView) -> str:
    """Say how a run was sampled: "temperature 0.7, top-p 0.95"."""
    said = run.manifest.get("sampling") or {}
    heat, top_p = said.get("temperature"), said.get("top_p")
    warm = "the provider's own temperature" if heat is None else f"temperature {heat:g}"
    return warm if top_p is None else f"{warm}, top-p {top_p:g}"


def told_apart(runs: Sequence[RunView]) -> Sequence[RunView]:
    """Name runs of one model by what differs: how they were sampled, how the prompt was worded."""
    named = []
    for run in runs:
        same = [other for other in runs if other.model == run.model]
        wording = _wording(run)
        if len({_wording(other) for other in same}) > 1:
            run = replace(run, model=f"{run.model}, {wording or 'the usual prompt'}")
            same = [other for other in same if _wording(other) == wording]
        if len({sampled(other) for other in same}) > 1:
            warm = [other for other in same if not _greedy(other)]
            how = "sampled" if len({sampled(other) for other in warm}) == 1 else sampled(run)
            run = replace(run, model=f"{run.model}, {'greedy' if _greedy(run) else how}")
        named.append(run)
    return named


def _wording(run: RunView) -> str:
    return str((run.manifest.get("options") or {}).get("prompt", ""))


def cuts(runs: Sequence[RunView]) -> list[str]:
    """Give the columns to cut by, of all runs, in order."""
    return list(dict.fromkeys(cut for run in runs for cut in run.cuts))
