"""The page of `hardset learn`: what learning from the hardest examples costs, or gains.

Like the report it needs nothing else and trusts nothing it shows; see `html`. It has no script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from hardset.reports import html
from hardset.reports import learned_tables as tables
from hardset.reports.facts import facts, last_part
from hardset.reports.learned_metrics import (
    Row,
    claim,
    drawn,
    failures,
    ks_of,
    main_gaps,
    names,
    rows_of,
    sets_of,
    tested,
    trials,
)
from hardset.reports.learning_curves import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Panel,
    colour,
    mark,
    panels,
)
from hardset.reports.measures import PLAIN, RANDOM, Measure, number, sentence, verdict
from hardset.reports.view import started

MOST_ROWS = 60  # of a table that stands unfolded


@dataclass(frozen=True)
class Answer:
    """One learner: what its gaps say, and its curves."""

    learner: str
    badge: str  # less, more, not shown, no interval
    headline: str
    sentences: Sequence[str]
    panel: Panel


def write_learned(path: Path, metrics: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """Write the page, whole or not at all.

    Args:
        path: where to.
        metrics: what `metrics.json` holds.
        manifest: what `manifest.json` holds.

    Raises:
        OSError: if the file cannot be written.
    """
    html.write_page(path, render(metrics, manifest))


def render(metrics: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """Make the page; see `write_learned`."""
    measure = Measure(str(metrics.get("measure") or "accuracy"))
    also = metrics.get("also")
    results, gaps = rows_of(metrics, "summary"), rows_of(metrics, "gaps")
    failed, augmentation = rows_of(metrics, "failed"), rows_of(metrics, "augmentation")
    sets = sets_of(metrics)
    parts = tables.parts(results, failed, sets, measure)
    style = "".join(map(html.template_text, ("report.css", "judges.css", "lowresource.css")))
    return html.environment().get_template("learned.html").render(
        style=Markup(style),
        title=title(manifest),
        measure=measure,
        metrics=metrics,
        ks=ks_of(metrics),
        sets=[(one, colour(one, sets), mark(colour(one, sets), 8, 8)) for one in sets],
        size=(WIDTH, HEIGHT),
        field=(LEFT, RIGHT, BOTTOM),
        n_test=tested(metrics),
        started=started(manifest),
        trials=trials(metrics),
        claim=claim(metrics),
        failed=failures(failed),
        answers=answers(metrics, measure),
        other_augments=[one for one in names(metrics, "augments") if one != drawn(metrics)],
        augment=drawn(metrics),
        columns=tables.columns(results, measure),
        results=parts,
        mixed=len({row.augment for _, some in parts for row in some}) > 1,
        fold=sum(len(rows) for _, rows in parts) > MOST_ROWS,
        gaps=tables.differences(gaps, "gap", measure, sets),
        augmentation=tables.differences(augmentation, "difference", measure, sets),
        also=None if not also else (
            Measure(str(also.get("measure"))),
            tables.differences(rows_of(also, "gaps"), "gap", measure, sets),
        ),
        sets_told=tables.sets_told(manifest, sets),
        notices=[str(one) for one in manifest.get("notices") or ()],
        facts=facts(manifest, ("sets", "overlap")),
        manifest=json.dumps(manifest, indent=2, ensure_ascii=False, default=str),
    )  # fmt: skip


def title(manifest: Mapping[str, Any]) -> str:
    """Name the data that was learned from, as the manifest knows it."""
    for name in ("train", "data", "picked"):
        given = manifest.get(name)
        if isinstance(given, Mapping):
            given = given.get("name") or given.get("place") or given.get("layout")
        if given:
            return last_part(str(given))
    return "Low resource"


def answers(metrics: Mapping[str, Any], measure: Measure) -> list[Answer]:
    """Lay out each learner's answer: a sentence a k, the fewest and the most first."""
    results = [
        row for row in rows_of(metrics, "summary") if row.get("augment", PLAIN) == drawn(metrics)
    ]
    learners = names(metrics, "learners")
    drawn_panels = panels(
        {one: [row for row in results if row.get("learner") == one] for one in learners},
        sets_of(metrics),
        ks_of(metrics),
        measure,
    )
    laid = []
    for learner in learners:
        gaps = [row for row in main_gaps(metrics) if row.get("learner") == learner]
        gaps.sort(key=lambda row: number(row, "k") or 0)
        said = []
        for gap in [*gaps[:1], *gaps[1:][-1:]]:
            of, to = (
                _of(results, learner, gap.get("k"), kind) for kind in (gap.get("set"), RANDOM)
            )
            worth = _worth(metrics, learner, gap)
            said.append(sentence(gap, of, to, measure) + worth)
        first = gaps[0] if gaps else {}
        headline = measure.difference(number(first, "gap"))
        if measure.unit and number(first, "gap") is not None:
            headline += f" {measure.unit}"
        shown = verdict(number(first, "low"), number(first, "high"))
        laid.append(Answer(learner, shown, headline, said or ["no gap was measured"],
                           drawn_panels[learner]))  # fmt: skip
    return laid


def _worth(metrics: Mapping[str, Any], learner: str, gap: Row) -> str:
    """Say how many random examples a label teach as much, where the curve of random has it."""
    for line in rows_of(metrics, "curves"):
        if (line.get("learner"), line.get("set"), line.get("augment", PLAIN)) == (
            learner, gap.get("set"), gap.get("augment", PLAIN),
        ):  # fmt: skip
            for point in line.get("points") or ():
                k = number(point, "random_k")
                if point.get("k") == gap.get("k") and k is not None:
                    return f"; as much as about {k:,.0f} random ones a label"
    return ""


def _of(results: Sequence[Row], learner: str, k: Any, kind: Any) -> Row:
    for row in results:
        if (row.get("learner"), row.get("k"), row.get("set")) == (learner, k, kind):
            return row
    return {}
