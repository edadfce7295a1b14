"""Judges against people: how right each is, how they err together, and the rates corrected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.benchmarks import registry
from hardset.errors import UsageError
from hardset.judging.people.against import SAME, categories, hold
from hardset.judging.people.correcting import Rate, corrected, said_of
from hardset.judging.people.labels import Label, settled, write_label
from hardset.judging.people.sample import Line, Sample, base_due, strata, units
from hardset.judging.people.sums import as_numbers
from hardset.judging.rubric import Rubric
from hardset.metrics.agreement import agreement
from hardset.metrics.bootstrap import Counts, Floats
from hardset.metrics.judges import error_correlations
from hardset.metrics.votes import clusters_of
from hardset.metrics.votes import judges as judges_of
from hardset.reports.validated import (
    PANEL,
    Against,
    Correction,
    Disagreement,
    Person,
    Question,
    Validated,
)
from hardset.validating.judged import Judged, rubrics_asked
from hardset.validating.sheets import Filled

ASSUMED = (
    "Lines without a label, and those on which people cannot tell, are left out: what is said of "
    "all replies takes it that they are like the labelled ones of the same stratum."
)
ONE_PERSON = (
    "One person labelled: how far another would have agreed is not known, and labels count as "
    "right."
)


@dataclass(frozen=True, kw_only=True)
class _Lines:
    """The lines of one verdict, with all that was said of them."""

    key: str
    rubric: Rubric
    lines: Sequence[Line]
    rows: Counts  # (lines,), of the outcomes
    labels: list[list[Label]]  # by line, one a person
    numbers: Floats  # (lines, people)
    people: Floats  # (lines,), together
    panel: Floats  # (lines,)
    votes: Mapping[str, Floats]  # by judge, (lines,)


def held_against(
    done: Judged, sample: Sample, sheets: Sequence[Filled], *, draws: int, seed: int
) -> Validated:
    """Hold the judges of a run against people's labels.

    Args:
        done: the run.
        sample: what was drawn.
        sheets: what people said.
        draws: resamples of the bootstrap.
        seed: of the bootstrap.
    """
    outcomes = done.outcomes
    names = strata(outcomes, sample.rubrics, sample.keys, sample.level).to_numpy().astype(str)
    of = units(outcomes)
    every = [_lines(outcomes, sample, key, sheets) for key in sample.keys]
    questions = [
        _question(outcomes, lines, names[of], sheets, draws=draws, seed=seed) for lines in every
    ]
    together: dict[tuple[int, str], Label] = {
        (line.row, lines.key): _together(said, value)
        for lines in every
        for line, said, value in zip(lines.lines, lines.labels, lines.people, strict=True)
    }
    return Validated(
        folder=str(done.folder),
        benchmark=done.manifest["benchmark"],
        title=str(done.manifest.get("title") or done.manifest["benchmark"]),
        model=str(done.manifest.get("model") or ""),
        mark=sample.mark,
        seed=sample.seed,
        replies=sample.replies,
        level=sample.level,
        people=[_person(one, sample) for one in sheets],
        questions=questions,
        corrections=list(_corrections(done, sample, together, names)),
        disagreements=_disagreements(outcomes, every, sheets),
        labels=[
            {"id": line.id, "item": line.item, "repeat": line.repeat, "verdict": line.key}
            | {"labels": {one.name: one.written.get(line.id, "") for one in sheets}}
            for line in sample.lines
        ],
        notices=[ASSUMED, *([ONE_PERSON] if len(sheets) == 1 else [])],
    )


def _lines(outcomes: pl.DataFrame, sample: Sample, key: str, sheets: Sequence[Filled]) -> _Lines:
    rubric = sample.rubric(key)
    lines = [line for line in sample.lines if line.key == key]
    rows = np.array([line.row for line in lines], dtype=np.int64)
    labels = [[one.labels.get(line.id, "") for one in sheets] for line in lines]
    numbers = np.array(
        [[x if isinstance(x, float) else np.nan for x in said] for said in labels]
    ).reshape(len(lines), len(sheets))

    def said(name: str) -> Floats:
        return as_numbers(outcomes[name].gather(rows), rubric)

    return _Lines(
        key=key,
        rubric=rubric,
        lines=lines,
        rows=rows,
        labels=labels,
        numbers=numbers,
        people=settled(numbers, rubric.scale),
        panel=said(f"verdict_{key}"),
        votes={name: said(f"vote_{key}@{name}") for name in judges_of(outcomes.columns, key)},
    )


def _together(said: Sequence[Label], value: float) -> Label:
    """Give what people say of a line together; that it does not apply, where most say that."""
    marks = sum(label == "-" for label in said)
    numbers = sum(isinstance(label, float) for label in said)
    return "-" if marks > numbers else float("nan") if marks and marks == numbers else value


def _person(sheet: Filled, sample: Sample) -> Person:
    said = [sheet.labels.get(line.id, "") for line in sample.lines]
    return Person(
        name=sheet.name,
        sha256=sheet.sha256,
        labelled=sum(isinstance(label, float) for label in said),
        unsure=said.count("?"),
        not_applicable=said.count("-"),
        blank=said.count(""),
    )


def _question(
    outcomes: pl.DataFrame,
    lines: _Lines,
    of_row: NDArray[np.str_],
    sheets: Sequence[Filled],
    *,
    draws: int,
    seed: int,
) -> Question:
    """Hold each judge against people on one verdict."""
    rubric, people = lines.rubric, lines.people
    due = base_due(outcomes, rubric)
    clusters = clusters_of(outcomes).to_numpy()[lines.rows]
    has = ~np.isnan(people)
    asked = (outcomes[f"panel_{lines.key}"].fill_null("") != "").to_numpy()
    weights, unreached = _weights(of_row, asked, lines.rows, has)
    given: NDArray[np.bool_] = np.any(~np.isnan(lines.numbers), axis=1)
    none_given = [said for said, any_ in zip(lines.labels, given, strict=True) if not any_]
    judges = {PANEL: lines.panel, **lines.votes}
    among = []
    if len(sheets) > 1:
        among = agreement(
            lines.numbers,
            clusters,
            names=[one.name for one in sheets],
            categories=categories(rubric),
            graded=rubric.scale == "graded",
            draws=draws,
            seed=seed,
        )
    errors = []
    if len(lines.votes) > 1 and has.any():
        errors = error_correlations(
            np.stack(list(lines.votes.values()), axis=1),
            people,
            clusters,
            names=list(lines.votes),
            graded=rubric.scale == "graded",
            weights=weights,
            draws=draws,
            seed=seed,
        )
    return Question(
        key=lines.key,
        about=rubric.parts.get(lines.key.partition(".")[2], rubric.about),
        scale=rubric.scale,
        due=int(due.sum()),
        drawn=len(lines.lines),
        labelled=int(has.sum()),
        unsure=sum("?" in said for said in none_given),
        not_applicable=sum("-" in said and "?" not in said for said in none_given),
        blank=sum(not any(said) for said in none_given),
        ties=int((given & ~has).sum()),
        no_verdict=int((has & np.isnan(lines.panel)).sum()),
        unreached=unreached,
        people=among,
        against=[
            _against(name, votes, people, rubric, clusters, weights, draws, seed)
            for name, votes in judges.items()
            if name == PANEL or len(lines.votes) > 1
        ],
        errors=errors,
    )


def _weights(
    of_row: NDArray[np.str_], asked: NDArray[np.bool_], rows: Counts, has: NDArray[np.bool_]
) -> tuple[Floats, int]:
    """Say how many replies each labelled line stands for, and how many no line stands for.

    Of a question that judges were asked of some replies only, a line on another stands for none.
    """
    names, sizes = np.unique(of_row[asked], return_counts=True)
    at = of_row[rows[has & asked[rows]]]
    labelled = {name: int((at == name).sum()) for name in names}
    each = {
        name: size / labelled[name]
        for name, size in zip(names, sizes, strict=True)
        if labelled[name]
    }
    weights = np.where(asked[rows], [each.get(name, 0.0) for name in of_row[rows]], 0.0)
    unreached = [size for name, size in zip(names, sizes, strict=True) if not labelled[name]]
    return weights, int(sum(unreached))


def _against(
    name: str,
    votes: Floats,
    people: Floats,
    rubric: Rubric,
    clusters: Counts,
    weights: Floats,
    draws: int,
    seed: int,
) -> Against:
    found = hold(votes, people, rubric, clusters=clusters, weights=weights, draws=draws, seed=seed)
    apart = np.abs(votes - people)
    return Against(
        judge=name,
        metrics=found.metrics,
        coefficients=found.coefficients,
        categories=[write_label(value, rubric.scale) for value in found.confusion.categories],
        counts=found.confusion.counts.tolist(),
        lines=int((~np.isnan(apart)).sum()),
        alike=int((apart <= (SAME if rubric.scale == "graded" else 0)).sum()),
    )


def _corrections(
    done: Judged,
    sample: Sample,
    together: Mapping[tuple[int, str], Label],
    names: NDArray[np.str_],
) -> Iterator[Correction]:
    """Correct the rates of the run, those that lead first."""
    cls = registry.load(done.manifest["benchmark"])
    people = said_of(done.outcomes, sample.rubrics, together, names)
    people = people.of(sample.keys)
    measured = {(one.name, one.reading): one for one in reversed(done.metrics) if not one.cut}
    try:
        found = list(
            corrected(done.outcomes, cls.rates, rubrics_asked(done, sample.rubrics), people)
        )
    except (pl.exceptions.PolarsError, KeyError) as error:
        raise UsageError(
            f"the outcomes of {done.folder} lack a column that {cls.name} measures now, or hold "
            f"another in its place ({str(error).strip().splitlines()[0]}); run it again: its "
            "replies and verdicts are in the store"
        ) from error

    def order(rate: Rate) -> int:
        return list(cls.headline).index(rate.name) if rate.name in cls.headline else 10_000

    for rate in sorted(found, key=order):
        yield Correction(
            name=rate.name,
            reading=rate.reading,
            leads=rate.name in cls.headline,
            better=rate.better,
            keys=rate.keys,
            unit=rate.unit,
            over=rate.over,
            judge=measured.get((rate.name, rate.reading)),
            powered=rate.powered,
            rogan_gladen=rate.rogan_gladen,
            note=rate.note,
        )


def _disagreements(
    outcomes: pl.DataFrame, every: Sequence[_Lines], sheets: Sequence[Filled]
) -> list[Disagreement]:
    """List the lines on which the panel and people differ, then those on which only people do."""
    found: list[tuple[tuple[bool, float, str], Disagreement]] = []
    for lines in every:
        scale = lines.rubric.scale
        same = SAME if scale == "graded" else 0.0
        how = outcomes[f"panel_{lines.key}"].gather(lines.rows).to_list()
        for i, line in enumerate(lines.lines):
            told, said = float(lines.people[i]), float(lines.panel[i])
            given = [label for label in lines.labels[i] if label not in ("", "?")]
            among = len({str(label) for label in given}) > 1
            apart = abs(told - said)
            differ = apart > same
            if not among and not differ and not (told == told and said != said):
                continue
            known = outcomes.row(line.row, named=True)
            one = Disagreement(
                id=line.id,
                item=line.item,
                repeat=line.repeat,
                key=lines.key,
                question=str(known.get("question") or ""),
                reply=str(known["reply"] or ""),
                verdict=write_label(said, scale),
                how=how[i] or "",
                votes={
                    name: write_label(float(votes[i]), scale) for name, votes in lines.votes.items()
                },
                apart=[
                    name
                    for name, votes in lines.votes.items()
                    if abs(float(votes[i]) - told) > same
                ],
                label=write_label(told, scale) if told == told else "open",
                labels={
                    sheet.name: write_label(label, scale) if isinstance(label, float) else label
                    for sheet, label in zip(sheets, lines.labels[i], strict=True)
                },
                notes={
                    sheet.name: sheet.notes[line.id] for sheet in sheets if line.id in sheet.notes
                },
                among_people=among,
            )
            size = apart if differ else 0.0
            found.append(((not differ, -size, line.id), one))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]
