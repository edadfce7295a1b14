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
from hardset.reports.facts import facts, last_part, told
from hardset.reports.learned_claims import augmentation_claims, claims, here_alone
from hardset.reports.learned_metrics import (
    Row,
    drawn,
    failures,
    ks_of,
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
    WIDTH,
    Panel,
    colour,
    mark,
    panels,
)
from hardset.reports.measures import PLAIN, RANDOM, Measure, number, sentence, verdict
from hardset.reports.view import started

MOST_ROWS = 60  # of a table that stands unfolded
_DEPARTING = "Departing from the recipes"  # as was asked for: to be noted, no warning
_MOST_SAID = 10  # sentences of a learner


@dataclass(frozen=True)
class Answer:
    """One learner: what its gaps say, and its curves."""

    learner: str
    badge: str  # less, more, not shown, no interval, here alone, turns
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
    notices = [str(one) for one in manifest.get("notices") or ()]
    parts = tables.parts(results, failed, sets, measure)
    style = "".join(map(html.template_text, ("report.css", "judges.css", "lowresource.css")))
    return html.environment().get_template("learned.html").render(
        style=Markup(style),
        title=title(manifest),
        measure=measure,
        metrics=metrics,
        ks=ks_of(metrics),
        sets=[(one, colour(one, sets), mark(colour(one, sets), 8, 8)) for one in sets],
        mark=mark,
        size=(WIDTH, HEIGHT),
        field=(LEFT, BOTTOM),
        n_test=tested(metrics),
        started=started(manifest),
        trials=trials(metrics),
        claims=claims(metrics),
        augmentation_claims=augmentation_claims(metrics),
        failed=failures(failed),
        answers=answers(metrics, measure),
        other_augments=[one for one in names(metrics, "augments") if one != drawn(metrics)],
        augment=drawn(metrics),
        columns=tables.columns(results, measure),
        results=parts,
        fold=sum(len(rows) for _, rows in parts) > MOST_ROWS,
        gaps=tables.differences(gaps, "gap", measure, sets),
        augmentation=tables.differences(augmentation, "difference", measure, sets),
        also=None if not also else (
            Measure(str(also.get("measure"))),
            tables.differences(rows_of(also, "gaps"), "gap", measure, sets),
        ),
        sets_told=tables.sets_told(manifest, sets),
        notices=[one for one in notices if not one.startswith(_DEPARTING)],
        notes=[one for one in notices if one.startswith(_DEPARTING)],
        scored_by=scored_by(manifest),
        facts=facts(manifest, ("sets", "overlap", "scores", "scored by", "command line")),
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
    """Lay out each learner's answer: a sentence a set, at the fewest examples and at the most."""
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
        gaps = [
            row for row in rows_of(metrics, "gaps")
            if row.get("learner") == learner and row.get("augment", PLAIN) == drawn(metrics)
        ]  # fmt: skip
        order = sets_of(metrics)
        gaps.sort(key=lambda row: _place(row, order))
        ks = [row.get("k") for row in gaps]
        ends = [row for row in gaps if row.get("k") in (*ks[:1], *ks[-1:])]
        said = [
            _said(
                row, results, metrics, measure, first=i == 0 or ends[i - 1].get("k") != row.get("k")
            )
            for i, row in enumerate(ends[:_MOST_SAID])
        ]
        if ends[_MOST_SAID:]:
            said.append(f"and {len(ends) - _MOST_SAID:,} more, under Gaps")
        first = gaps[0] if gaps else {}
        same = [row for row in gaps if row.get("set") == first.get("set")]
        several = len({row.get("set") for row in gaps}) > 1
        laid.append(
            Answer(
                learner,
                _badge(same),
                _headline(first, several, measure),
                said or ["no gap was measured"],
                drawn_panels[learner],
            )
        )
    return laid


def _place(row: Row, order: Sequence[str]) -> tuple[float, int]:
    kind = str(row.get("set", ""))
    return number(row, "k") or 0, order.index(kind) if kind in order else len(order)


def _badge(gaps: Sequence[Row]) -> str:
    """Give what the first of a set's gaps shows; `turns` where another k shows the opposite."""
    shown = [verdict(number(row, "low"), number(row, "high")) for row in gaps]
    if {"less", "more"} <= set(shown):
        return "turns"
    if gaps and here_alone(gaps[0]):
        return "here alone"
    return shown[0] if shown else "no interval"


def _headline(gap: Row, several: bool, measure: Measure) -> str:
    """Write what a badge says: of which k, and where there are several, of which set."""
    value = number(gap, "gap")
    if value is None:
        return "no gap"
    unit = f" {measure.unit}" if measure.unit else ""
    of = f"{gap.get('set')}, k = {gap.get('k')}" if several else f"k = {gap.get('k')}"
    return f"{of}: {measure.difference(value)}{unit}"


def _said(
    gap: Row, results: Sequence[Row], metrics: Mapping[str, Any], measure: Measure, *, first: bool
) -> str:
    """Say one gap; what random gave only with the first set of a k."""
    learner, k = str(gap.get("learner")), gap.get("k")
    of, to = (_of(results, learner, k, kind) for kind in (gap.get("set"), RANDOM))
    said = sentence(gap, of, to if first else {}, measure) + _worth(metrics, learner, gap, measure)
    return said.replace(" %", "\N{NO-BREAK SPACE}%")


def scored_by(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say what the sets were chosen by: where the scores lie, which they are, who scored."""
    given = manifest.get("scores")
    made = []
    if isinstance(given, str):
        made.append(("scores", given))
    names_ = [str(one.get("name")) for one in rows_of(manifest, "scores") if one.get("name")]
    origin = manifest.get("scored by")
    origin = origin if isinstance(origin, Mapping) else {}
    if origin.get("place"):
        made.append(("scores in", str(origin["place"])))
    if names_:
        made.append(("by score", ", ".join(name.replace("_", " ") for name in names_)))
    if origin.get("predictors"):
        made.append(("scored by", told(origin["predictors"])))
    if manifest.get("command line"):
        made.append(("command line", str(manifest["command line"])))
    return made


def _worth(metrics: Mapping[str, Any], learner: str, gap: Row, measure: Measure) -> str:
    """Say how many random examples teach as much, where the curve of random has it."""
    for line in rows_of(metrics, "curves"):
        if (line.get("learner"), line.get("set"), line.get("augment", PLAIN)) == (
            learner, gap.get("set"), gap.get("augment", PLAIN),
        ):  # fmt: skip
            for point in line.get("points") or ():
                k = number(point, "random_k")
                if point.get("k") == gap.get("k") and k is not None:
                    of = "a label" if measure.share else "in all"
                    return f"; as much as about {k:,.0f} random ones {of}"
    return ""


def _of(results: Sequence[Row], learner: str, k: Any, kind: Any) -> Row:
    for row in results:
        if (row.get("learner"), row.get("k"), row.get("set")) == (learner, k, kind):
            return row
    return {}
