"""The page of `hardset difficulty`: what was scored, how far scorers agree, what is hard.

Like the report it needs nothing else and trusts nothing it shows; see `html`. It has no script.
Tables are read lazily and counted by their engine, so that a million examples take no more room.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from hardset.lowresource.difficulty import SCORES
from hardset.reports import html, rankings
from hardset.reports.facts import facts, last_part
from hardset.reports.numbers import magnitude
from hardset.reports.scorers import failures, fallbacks, notes, predictors, warnings
from hardset.reports.specimens import (
    SCORED,
    Label,
    Specimen,
    chosen,
    labels,
    scores_in,
    telling,
    with_contents,
)
from hardset.reports.spreads import spread
from hardset.reports.suspected import named, noise_of
from hardset.reports.text import clip, cut, visible
from hardset.reports.view import started

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Specimen", "chosen", "render", "states", "with_contents", "write_difficulties"]

STATES = (SCORED, "unreadable", "no label", "not finite")
_UNSCORED = 20  # that are named
_FIRST, _FIRST_TEXTS = 8, 2  # of the hardest that stand first
_WORDS = (600, 200)  # characters of a text, at either end
_APART = (
    "predictors",
    "scores",
    "counts",
    "fallbacks",
    "seconds",
    "failed",
    "label_noise",
    "asked",
    "state",
    "mode",
)


@dataclass(frozen=True)
class _Shown:
    """A specimen laid out."""

    one: Specimen
    label: str
    picture: str  # a data: URL, or empty
    id: str
    text: str
    scores: Sequence[tuple[str, str]]
    rank: str
    suggested: str


def write_difficulties(path: Path, out: Path, specimens: Sequence[Specimen] = ()) -> None:
    """Write the page, whole or not at all.

    Args:
        path: where to.
        out: the folder that `hardset difficulty` left: its manifest.json, difficulty.parquet and,
            where they are there, stability.json, noise.json and noise.parquet.
        specimens: the examples to show: `with_contents(chosen(out), examples)`.

    Raises:
        OSError: if the page cannot be written, or a file cannot be read.
    """
    html.write_page(path, render(out, specimens))


def render(out: Path, specimens: Sequence[Specimen] = ()) -> str:
    """Make the page; see `write_difficulties`."""
    import polars as pl

    manifest, stability, noise = (
        read_json(out / name) for name in ("manifest.json", "stability.json", "noise.json")
    )
    frame = pl.scan_parquet(out / "difficulty.parquet", glob=False)
    scores = scores_in(frame)
    found = labels(frame, scores[0]) if scores else []
    shown = telling(found)
    classes = {label.key: label.name for label in found if label.key is not None}
    counts = states(frame)
    pairs, pairs_left = rankings.lines(stability)
    scorers = predictors(manifest, largest(found))
    style = "".join(map(html.template_text, ("report.css", "judges.css", "lowresource.css")))
    return html.environment().get_template("difficulties.html").render(
        style=Markup(style),
        title=title(manifest),
        started=started(manifest),
        states=[one for one in _stacked(counts) if one[1]],
        total=sum(counts.values()),
        not_scored=not_scored(counts),
        nothing=nothing(counts, scores),
        unscored=_unscored(out, frame, counts),
        failed=failures(manifest),
        notices=warnings(manifest, scorers),
        notes=notes(manifest),
        scores=[(name, SCORES.get(name)) for name in scores],
        mode=mode(manifest),
        predictors=scorers,
        fallbacks=fallbacks(manifest),
        seconds=_seconds(manifest),
        claim=rankings.claim(stability, scores[0]) if scores else "",
        belongs=rankings.belongs_to_the_scorer(stability, scores[0]) if scores else "",
        share=f"{100 * float(stability.get('share') or 0.1):g} %",
        matrices=rankings.matrices(stability),
        summary=rankings.summary(stability),
        pairs=pairs,
        pairs_left=pairs_left,
        open_pairs=len(pairs) <= rankings.OPEN_PAIRS,
        spreads=[(name, spread(frame, name, shown)) for name in scores],
        labels=[(cut(label.name), label, _rank(label)) for label in shown],
        labels_all=len(found),
        hardest=[_shown(one, classes) for one in _hardest(specimens)],
        groups=_groups(specimens, classes),
        classes=classes,
        breaking=breaking,
        noise=noise_of(out, noise, classes),
        cut=cut,
        facts=facts(manifest, _APART),
        manifest=json.dumps(manifest, indent=2, ensure_ascii=False, default=str),
    )  # fmt: skip


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; an empty one where there is no file."""
    if not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def title(manifest: Mapping[str, Any]) -> str:
    """Name the data, as the manifest knows it."""
    data = manifest.get("data")
    if isinstance(data, Mapping):
        source = data.get("source")
        inner = source if isinstance(source, Mapping) else data
        data = next((inner[one] for one in ("name", "place", "layout") if inner.get(one)), None)
    return last_part(str(data or "Training set"))


def states(frame: pl.LazyFrame) -> dict[str, int]:
    """Count the examples by state, those of the contract first, zeros included."""
    rows = frame.group_by("state").len().collect(engine="streaming").rows()
    found = {str(state): int(n) for state, n in rows}
    return {state: found.get(state, 0) for state in dict.fromkeys([*STATES, *sorted(found)])}


def _stacked(counts: Mapping[str, int]) -> list[tuple[str, int, str, str, str]]:
    """Give state, count, share, width and class of each."""
    total = max(1, sum(counts.values()))
    return [
        (
            state,
            n,
            f"{100 * n / total:.1f} %",
            f"{100 * n / total:.2f}%",
            f"s-{state.replace(' ', '-')}" if state in STATES else "s-other",
        )
        for state, n in counts.items()
    ]


def not_scored(counts: Mapping[str, int]) -> str:
    """Say how many examples have no score, and why; empty where all have one."""
    total = sum(counts.values())
    without = total - counts.get(SCORED, 0)
    if not without:
        return "" if total else "There is no example."
    why = ", ".join(f"{n:,} {state}" for state, n in counts.items() if n and state != SCORED)
    many = "example has" if total == 1 else "examples have"
    return f"{without:,} of {total:,} {many} no score: {why}."


def nothing(counts: Mapping[str, int], scores: Sequence[str]) -> str:
    """Say that nothing was scored, where no example has a score; else empty."""
    if not sum(counts.values()) or (counts.get(SCORED) and scores):
        return ""
    return "Nothing was scored: of what is hard here nothing can be said."


def _unscored(
    out: Path, frame: pl.LazyFrame, counts: Mapping[str, int]
) -> tuple[list[tuple[str, str]], int]:
    """Name the first examples that have no score, each with why, and count the others."""
    import polars as pl

    many = sum(counts.values()) - counts.get(SCORED, 0)
    if not many:
        return [], 0
    rows = (
        frame.filter(pl.col("state") != SCORED)
        .select("index", "id", "state")
        .head(_UNSCORED)
        .collect()
    )
    why = _reasons(out, rows["index"].to_list())
    named_ = [
        (cut(str(id_)), f"{state} ({cut(why[i], 120)})" if why.get(i) else str(state))
        for i, id_, state in rows.iter_rows()
    ]
    return named_, many - len(named_)


def _reasons(out: Path, indices: Sequence[int]) -> dict[int, str]:
    """Give the reasons that the parts have for examples without a score."""
    import polars as pl

    parts = sorted((out / "scores").glob("*/seed-*/part-*.parquet"))
    if not parts:
        return {}
    wanted = pl.col("index").is_in(indices) & (pl.col("reason") != "")
    rows = pl.concat(
        [pl.scan_parquet(part, glob=False).select("index", "reason").filter(wanted)
         for part in parts]
    ).unique("index", keep="first", maintain_order=True)  # fmt: skip
    return dict(rows.collect().rows())


def _seconds(manifest: Mapping[str, Any]) -> str:
    seconds = manifest.get("seconds")
    return f"{seconds:,.1f}" if isinstance(seconds, (int, float)) else ""


def mode(manifest: Mapping[str, Any]) -> str:
    """Say in what mode was scored, and what that means."""
    given = str(manifest.get("mode") or "")
    return {
        "eval": "evaluation mode: no dropout, batch normalisation by its running statistics",
        "paper": "the paper's mode: training mode, one example at a time",
    }.get(given, given)


def _rank(label: Label) -> str:
    return "–" if label.mean_rank is None else f"{label.mean_rank:.2f}"


def largest(found: Sequence[Label]) -> float | None:
    """Give the share of the largest class: what is right of one answer to everything.

    None where labels are real numbers.
    """
    many = [label.n for label in found if label.key is not None]
    return max(many) / sum(many) if many and sum(many) else None


def _hardest(specimens: Sequence[Specimen]) -> list[Specimen]:
    """Give the hardest of all that are shown, which are the hardest of the labels shown."""
    some = sorted((one for one in specimens if one.end == "hardest"), key=lambda one: -one.rank)
    return some[: _FIRST if any(one.image_png for one in some) else _FIRST_TEXTS]


def breaking(name: str) -> Markup:
    """Let a name break where a path or a file's name has its parts, and only else anywhere."""
    parts = re.split(r"(?<=[/_-])|(?=\.\w)", visible(cut(name)))
    return Markup("<wbr>").join(parts)


def _groups(
    specimens: Sequence[Specimen], classes: Mapping[int, str]
) -> list[tuple[str, list[tuple[str, list[_Shown]]]]]:
    """Lay the specimens out by label, the hardest of each before the easiest."""
    groups: dict[str, list[_Shown]] = {}
    for one in specimens:
        groups.setdefault(one.group, []).append(_shown(one, classes))
    return [
        (
            cut(name),
            [
                (end, [each for each in group if each.one.end == end])
                for end in ("hardest", "easiest")
            ],
        )
        for name, group in groups.items()
    ]


def _shown(one: Specimen, classes: Mapping[int, str]) -> _Shown:
    picture = base64.b64encode(one.image_png).decode("ascii") if one.image_png else ""
    number = int(one.suggested) if one.suggested.isdecimal() else None
    return _Shown(
        one,
        cut(one.label),
        f"data:image/png;base64,{picture}" if picture else "",
        cut(one.id),
        clip(one.text, *_WORDS),
        [(name.replace("_", " "), magnitude(value)) for name, value in one.scores.items()],
        f"{one.rank:.3f}",
        named(number, classes) if number is not None else cut(one.suggested),
    )
