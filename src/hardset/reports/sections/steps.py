"""Steps: which subquestions failed under each main question that failed.

It shows whatever has subquestions (rows whose `parent` is another row's item): how the failed main
questions of each run divide by what became of their steps, and the main questions themselves, each
with its answer beside the gold one and its subquestions below it. With repeats a question counts
as right where more than half of its replies are, and c/n stands beside it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from hardset.reports.runs import RunView, Shown
from hardset.reports.sections import Section
from hardset.reports.text import clip
from hardset.reports.view import short_names

MOST = 100  # main questions shown
_OPEN = 8  # of them unfolded
_LONGEST = 80  # characters of an answer
_ENDS = (
    ("solved", "right"),
    ("steps-right", "wrong, every step right"),
    ("some-wrong", "wrong, some steps wrong"),
    ("all-wrong", "wrong, every step wrong"),
)


@dataclass(frozen=True)
class End:
    """One way in which a main question and its steps can end: in how many, and their share."""

    key: str
    label: str
    count: int
    share: str


@dataclass(frozen=True)
class Tally:
    """How the main questions of one run ended."""

    model: int
    name: str
    mains: int
    failed: int
    ends: Sequence[End]


@dataclass(frozen=True)
class Told:
    """What one run made of one question."""

    model: int
    name: str
    right: bool
    state: str
    answer: str  # what was read off the first wrong reply, or the first
    of: str  # "2/5" where there are repeats


@dataclass(frozen=True)
class Step:
    """A question and what every run made of it."""

    ident: str
    question: str
    gold: str
    told: Sequence[Told]


@dataclass(frozen=True)
class Main:
    """A main question and its subquestions."""

    step: Step
    picture: str
    steps: Sequence[Step]


def section(runs: Sequence[RunView], sample: Sequence[Shown]) -> Section | None:
    """Lay the failed main questions out; None where there are no subquestions."""
    needed = {"item", "index", "parent", "right", "state", "answer", "question", "gold"}
    if not all(needed <= set(run.outcomes.columns) for run in runs):
        return None
    questions = [_questions(run.outcomes) for run in runs]
    groups = [_groups(frame) for frame in questions]
    if not any(len(frame) for frame in groups):
        return None
    names = short_names(runs)
    failed = (
        pl.concat(frame.filter(~pl.col("right")).select("index", "item") for frame in groups)
        .unique()
        .sort("index", "item")
    )
    shown = failed.sort(_chance()).head(MOST).sort("index")["item"].to_list()
    pictures = {one.index: one for one in sample if one.thumbnail}
    mains = _laid_out(questions, names, shown, pictures)
    return Section(
        anchor="steps",
        title="Steps",
        template="steps.html",
        values={
            "tallies": [_tally(i, names[i], frame) for i, frame in enumerate(groups)],
            "mains": mains,
            "open": _OPEN,
            "failed": len(failed),
            "several": len(runs) > 1,
            "reading": runs[0].readings[0] if len(runs[0].readings) > 1 else "",
            "repeated": any(frame["n"].max() != 1 for frame in questions if len(frame)),
        },
    )


def _questions(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Sum each question's replies up: n of them, c right, and what the first wrong one says."""
    right = pl.col("right").fill_null(False)
    telling = pl.struct("state", "answer")
    return (
        outcomes.filter(
            (pl.col("parent").fill_null("") != "")
            | pl.col("item").is_in(outcomes["parent"].unique().implode())
        )
        .group_by("item", maintain_order=True)
        .agg(
            pl.col("index", "parent", "question", "gold").first(),
            pl.len().alias("n"),
            right.sum().alias("c"),
            telling.filter(~right).first().alias("wrong"),
            telling.filter(right).first().alias("well"),
        )
        .with_columns((2 * pl.col("c") > pl.col("n")).alias("right"))
    )


def _groups(questions: pl.DataFrame) -> pl.DataFrame:
    """Give each main question that has subquestions, and how many of these are right."""
    steps = questions.filter(pl.col("parent").fill_null("") != "")
    counted = steps.group_by(pl.col("parent").alias("item")).agg(
        pl.len().alias("steps"), pl.col("right").sum().alias("steps right")
    )
    return questions.join(counted, on="item", how="inner", maintain_order="left").select(
        "item", "index", "right", "steps", "steps right"
    )


def _chance() -> pl.Expr:
    """Order main questions by chance, fixed for all time."""
    return (pl.col("index").cast(pl.Int64) + 1) * 2654435761 % 4294967291


def _tally(model: int, name: str, groups: pl.DataFrame) -> Tally:
    right, steps, good = (pl.col(column) for column in ("right", "steps", "steps right"))
    counts = groups.select(
        right.sum().alias("solved"),
        (~right & (good == steps)).sum().alias("steps-right"),
        (~right & (good > 0) & (good < steps)).sum().alias("some-wrong"),
        (~right & (good == 0)).sum().alias("all-wrong"),
    ).row(0, named=True)
    ends = [
        End(key, label, counts[key], f"{100 * counts[key] / max(1, len(groups)):.2f}%")
        for key, label in _ENDS
    ]
    return Tally(model, name, len(groups), len(groups) - counts["solved"], ends)


def _laid_out(
    questions: Sequence[pl.DataFrame],
    names: Sequence[str],
    shown: Sequence[str],
    pictures: Mapping[int, Shown],
) -> list[Main]:
    """Put every run's reply to the wanted main questions and to their steps side by side."""
    kept: list[dict[str, Mapping[str, Any]]] = []
    below: dict[str, dict[str, None]] = {name: {} for name in shown}
    for frame in questions:
        wanted = frame.filter(pl.col("item").is_in(shown) | pl.col("parent").is_in(shown))
        rows: dict[str, Mapping[str, Any]] = {row["item"]: row for row in wanted.to_dicts()}
        for item, row in rows.items():
            if row["parent"] in below:
                below[row["parent"]][item] = None
        kept.append(rows)
    made = []
    for name in shown:
        index = next(rows[name]["index"] for rows in kept if name in rows)
        made.append(
            Main(
                step=_step(name, kept, names),
                picture=_picture(pictures.get(index)),
                steps=[_step(item, kept, names) for item in below[name]],
            )
        )
    return made


def _step(item: str, kept: Sequence[Mapping[str, Mapping[str, Any]]], names: Sequence[str]) -> Step:
    first = next(rows[item] for rows in kept if item in rows)
    told = [_told(i, names[i], rows[item]) for i, rows in enumerate(kept) if item in rows]
    return Step(item, first["question"], first["gold"], told)


def _told(model: int, name: str, row: Mapping[str, Any]) -> Told:
    right = row["right"]
    said = (row["well"] if right else row["wrong"]) or {"state": "", "answer": ""}
    return Told(
        model=model,
        name=name,
        right=right,
        state=said["state"],
        answer=_short(said["answer"] or ""),
        of=f"{row['c']}/{row['n']}" if row["n"] > 1 else "",
    )


def _short(answer: str) -> str:
    text = clip(answer)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _picture(shown: Shown | None) -> str:
    if shown is None or not shown.thumbnail:
        return ""
    return f"data:{shown.type};base64,{base64.b64encode(shown.thumbnail).decode('ascii')}"
