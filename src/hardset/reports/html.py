"""The report as one HTML file that needs nothing else: no network, no script to be readable.

Whatever a model, a data set or a provider wrote is untrusted: every expression of the templates
passes through `visible` and is escaped, nothing is ever put inside a script, and the page's own
policy lets no script run but the one whose hash it names, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from hardset.metrics import JUDGE
from hardset.reports import view
from hardset.reports.cards import cards
from hardset.reports.runs import RunView, Shown, cuts, told_apart
from hardset.reports.sections import sections
from hardset.reports.text import visible

_TEMPLATES = Path(__file__).parent / "templates"


def write_report(path: Path, runs: Sequence[RunView], sample: Sequence[Shown] = ()) -> None:
    """Write the report of one or several runs of a benchmark, whole or not at all.

    The same input gives the same bytes: the only date is the manifests' `started`.

    Args:
        path: the HTML file, replaced if it is there.
        runs: at least one; the first names the benchmark.
        sample: the items to show, as `choose` picked them.

    Raises:
        OSError: if the file cannot be written.
    """
    write_page(path, render(runs, sample))


def write_page(path: Path, page: str) -> None:
    """Write a page, whole or not at all.

    Raises:
        OSError: if the file cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(page.encode())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def render(runs: Sequence[RunView], sample: Sequence[Shown] = ()) -> str:
    """Make the page; see `write_report`."""
    if not runs:
        raise ValueError("a report needs at least one run")
    runs = told_apart(runs)
    script = template_text("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    laid_out = cards(runs, sample)
    conditions, differing = view.conditions(runs)
    return environment().get_template("report.html").render(
        style=Markup(template_text("report.css") + template_text("judges.css")),
        script=Markup(script),
        script_hash=digest,
        runs=runs,
        dates=list(dict.fromkeys(view.date(run) for run in runs)),
        conditions=conditions,
        differing=differing,
        items=max(run.outcomes["index"].n_unique() for run in runs),
        overlaps=view.overlaps(runs),
        notices=view.notices(runs),
        headline=view.headline(runs),
        states=view.states(runs),
        sections=view.by_cut(runs),
        further=[
            (
                section.anchor,
                section.title,
                Markup(environment().get_template(section.template).render(section.values)),
            )
            for section in sections(runs, sample)
        ],
        definitions=view.definitions(runs),
        metric_tables=view.metric_tables(runs),
        judged=any(f"{JUDGE}_state" in run.outcomes.columns for run in runs),
        several_readings=len({m.reading for run in runs for m in run.metrics}) > 1,
        cards=laid_out,
        cut_choices=[
            (cut, sorted({card.cuts[cut] for card in laid_out} - {""}))
            for cut in cuts(runs)
        ],
        manifests=[
            (run.model, json.dumps(run.manifest, indent=2, ensure_ascii=False, default=str))
            for run in runs
        ],
    )  # fmt: skip


def template_text(name: str) -> str:
    """Read a file among the templates as it is: the style, the script."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Give the environment that every page is made in: it escapes, and shows the unseen."""
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _finalize(value: Any) -> Any:
    """Make every string visible that is not already markup of our own."""
    return visible(value) if type(value) is str else value
