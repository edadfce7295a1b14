"""The browsable sample: each picked item with what every model replied and how it was read."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from hardset.metrics.votes import judges, keys
from hardset.records import Item
from hardset.reports.runs import RunView, Shown, cuts
from hardset.reports.text import clip, visible

_LONG = 500  # characters of a reply that stand unfolded
_ENDS = 180  # characters of either end that stand for a longer one

Row = Mapping[str, Any]


@dataclass(frozen=True)
class OtherReading:
    """What a reading other than the headline's took from the same reply."""

    name: str
    state: str
    answer: str
    rule: str
    right: bool


@dataclass(frozen=True)
class Verdict:
    """What judges made of a reply: the panel's word, how it came about, each one's vote."""

    key: str
    said: str
    how: str
    votes: Sequence[tuple[str, str]]  # where they are not all the same


@dataclass(frozen=True)
class Answer:
    """One model's reply to an item, and how it was read."""

    model: int
    name: str
    state: str
    right: bool
    read: str
    rule: str
    evidence: str
    reason: str
    finish: str
    text: str
    opening: str  # both ends of a text too long to stand unfolded; else empty
    length: int
    others: Sequence[OtherReading]
    verdicts: Sequence[Verdict]
    repeats: int
    repeats_right: int


@dataclass(frozen=True)
class Card:
    """One item of the sample. `cuts` are its values of the report's cuts, for the filters."""

    item: Item
    options: Sequence[tuple[str, str, bool]]  # letter, text, gold?
    gold: str  # in words, where no option shows it
    picture: str  # a data: URL, or empty
    cuts: Mapping[str, str]
    facts: Sequence[tuple[str, str]]
    answers: Sequence[Answer]


def cards(runs: Sequence[RunView], sample: Sequence[Shown]) -> list[Card]:
    """Lay the sample out, in the order of the benchmark."""
    wanted = [shown.index for shown in sample]
    rows = [_rows(run.outcomes, wanted) for run in runs]
    made = []
    for shown in sorted(sample, key=lambda one: one.index):
        answers = [
            _answer(run, i, found)
            for i, run in enumerate(runs)
            if (found := rows[i].get(shown.index))
        ]
        first: Row = next((found[0] for r in rows if (found := r.get(shown.index))), {})
        values = {cut: visible(str(first.get(cut) or "")) for cut in cuts(runs)}
        made.append(_card(shown, answers, values))
    return made


def _rows(outcomes: pl.DataFrame, wanted: Sequence[int]) -> dict[int, list[Row]]:
    """Give the outcome rows of the wanted items, each item's repeats in order."""
    kept = outcomes.filter(pl.col("index").is_in(list(wanted)))
    if "repeat" in kept.columns:
        kept = kept.sort("index", "repeat", maintain_order=True)
    found: dict[int, list[Row]] = {}
    for row in kept.iter_rows(named=True):
        found.setdefault(row["index"], []).append(row)
    return found


def _answer(run: RunView, model: int, rows: Sequence[Row]) -> Answer:
    row = rows[0]
    whole = row.get("reply") or ""
    text = clip(whole)
    return Answer(
        model=model,
        name=run.model,
        state=row["state"],
        right=bool(row["right"]),
        read=row.get("answer") or "",
        rule=row.get("rule") or "",
        evidence=row.get("evidence") or "",
        reason=row.get("reason") or "",
        finish=row.get("finish") or "",
        text=text,
        opening=f"{text[:_ENDS]} … {text[-_ENDS:]}" if len(text) > _LONG else "",
        length=len(whole),
        others=[
            OtherReading(
                name=name,
                state=row[f"{name}_state"],
                answer=row[f"{name}_answer"] or "",
                rule=row[f"{name}_rule"] or "",
                right=bool(row[f"{name}_right"]),
            )
            for name in run.readings[1:]
            if row.get(f"{name}_state")
        ],
        verdicts=_verdicts(row),
        repeats=len(rows),
        repeats_right=sum(bool(one["right"]) for one in rows),
    )


def _verdicts(row: Row) -> list[Verdict]:
    """Write out what judges were asked about a reply, and said."""
    found = []
    for key in keys(list(row)):
        if not (how := row[f"panel_{key}"]):
            continue  # not due
        votes = [(judge, _said(row[f"vote_{key}@{judge}"])) for judge in judges(list(row), key)]
        same = len({said for _, said in votes}) == 1
        said = _said(row[f"verdict_{key}"], "no verdict")
        found.append(Verdict(key, said, how, [] if same else votes))
    return found


def _said(vote: Any, none: str = "no vote") -> str:
    if vote is None:
        return none
    return str(vote).upper() if isinstance(vote, bool | str) else f"{vote:.3g}"


def _card(shown: Shown, answers: Sequence[Answer], values: Mapping[str, str]) -> Card:
    item = shown.item
    options = [
        (chr(65 + i), text, chr(65 + i) == item.answer) for i, text in enumerate(item.choices)
    ]
    gold = ""
    if not item.answerable:
        gold = "to refuse: the image does not support an answer"
    elif not any(right for _, _, right in options):
        gold = " or ".join(dict.fromkeys((item.answer, *item.accept)))
    picture = ""
    if shown.thumbnail:
        picture = f"data:{shown.type};base64,{base64.b64encode(shown.thumbnail).decode('ascii')}"
    # A picture that is shown needs no name: where it stands in the rows, that is a long hash.
    tags = {name: value for name, value in item.tags.items() if name != "picture" or not picture}
    facts = [("category", item.category), *tags.items()]
    if item.pair:
        facts.append(("pair", f"{item.pair} ({item.role})" if item.role else item.pair))
    if item.parent:
        facts.append(("part of", item.parent))
    if item.source:
        facts.append(("source", item.source))
    facts = [(name, value) for name, value in dict(facts).items() if value]
    return Card(item, options, gold, picture, values, facts, answers)
