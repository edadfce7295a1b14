"""Judges against people: how right each is, how they err together, and the rates corrected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.benchmarks import registry
from hardset.judging.people.against import SAME, categories, hold
from hardset.judging.people.correcting import Rate, corrected, said_of
from hardset.judging.people.labels import Label, meaning, on_sheet, write_label
from hardset.judging.people.sample import LEVELS, Sample, base_due, strata, units
from hardset.judging.people.sides import unlabelled
from hardset.judging.people.sums import as_numbers
from hardset.judging.rubric import Rubric
from hardset.metrics.agreement import agreement
from hardset.metrics.bootstrap import Counts, Floats
from hardset.metrics.judges import error_correlations
from hardset.metrics.votes import clusters_of
from hardset.reports.validated import (
    PANEL,
    Against,
    Correction,
    Person,
    Question,
    Validated,
)
from hardset.validating.differing import disagreements
from hardset.validating.judged import Judged, rubrics_asked
from hardset.validating.lines import Lines, lines_of
from hardset.validating.picked import one_sided, picked, turned_round
from hardset.validating.sheets import Filled

ASSUMED = (
    "Lines without a label, or that people cannot tell, are taken to be like the labelled ones of "
    "their stratum."
)
HOW_DRAWN = {
    LEVELS[0]: "within each category, and each set of verdicts that the judges gave",
    LEVELS[1]: "within each set of verdicts that the judges gave",
    LEVELS[2]: "within each set of verdicts that the judges gave, whatever the grades",
    LEVELS[3]: "within each set of verdicts that the judges gave, whatever the grades, the rare "
    "sets together as one",
    LEVELS[4]: "within each set of questions asked, whatever the judges said",
}
NO_RATE = (
    "No rate is corrected: the judges gave no verdict, or no rate of this benchmark follows from "
    "what they were asked."
)
ONE_PERSON = (
    "One person labelled: how far another would have agreed is not known, and labels count as "
    "right."
)


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
    every = [lines_of(outcomes, sample, key, sheets) for key in sample.keys]
    questions = [
        _question(outcomes, lines, names[of], sheets, draws=draws, seed=seed) for lines in every
    ]
    together: dict[tuple[int, str], Label] = {
        (line.row, lines.key): lines.together(i)
        for lines in every
        for i, line in enumerate(lines.lines)
    }
    corrections = list(_corrections(done, sample, together, names))
    return Validated(
        folder=str(done.folder),
        benchmark=done.manifest["benchmark"],
        title=str(done.manifest.get("title") or done.manifest["benchmark"]),
        model=str(done.manifest.get("model") or ""),
        mark=sample.mark,
        seed=sample.seed,
        replies=sample.replies,
        level=HOW_DRAWN[sample.level],
        people=[_person(one, sample) for one in sheets],
        questions=questions,
        corrections=corrections,
        disagreements=disagreements(outcomes, every, sheets),
        labels=[
            {"id": line.id, "item": line.item, "repeat": line.repeat, "verdict": line.key}
            | {"labels": {one.name: one.written.get(line.id, "") for one in sheets}}
            for line in sample.lines
        ],
        notices=[
            *turned_round(every, sample, sheets),
            *_split(questions),
            *one_sided(questions),
            *picked(every, sample, sheets),
            *([] if corrections else [NO_RATE]),
            ASSUMED,
            *([ONE_PERSON] if len(sheets) == 1 else []),
        ],
    )


def _split(questions: Sequence[Question]) -> list[str]:
    """Warn of lines that people are split on: the figures are without them."""
    split = sum(one.ties for one in questions)
    labelled = split + sum(one.labelled for one in questions)
    if not split:
        return []
    where = ", ".join(f"{one.key} {one.ties:,}" for one in questions if one.ties)
    are = "is" if split == 1 else "are"
    return [
        f"PEOPLE ARE SPLIT on {split:,} of the {labelled:,} lines that they labelled ({where}): "
        f"as many say one thing as another. These {are} left out of every figure about judges. "
        "They tend to be the hard ones: without them judges look better than they are. Settle "
        "them in one of the sheets, or have a third person label them (a sheet of id and label is "
        "enough)."
    ]


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
    lines: Lines,
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
        values=meaning(rubric, lines.key),
        on_sheet=on_sheet(rubric, lines.key),
        scale=rubric.scale,
        due=int(due.sum()),
        drawn=len(lines.lines),
        labelled=int(has.sum()),
        unsure=sum("?" in said and "-" not in said for said in none_given),
        not_applicable=int(lines.not_due.sum()),
        blank=sum(not any(said) for said in none_given),
        ties=int(lines.split.sum()),
        no_verdict=int((has & np.isnan(lines.panel)).sum()),
        unreached=unreached,
        one_sided=_one_sided(outcomes, lines, of_row, has) if has.any() else [],
        people=among,
        against=[
            _against(name, votes, people, rubric, clusters, weights, draws, seed)
            for name, votes in judges.items()
            if name == PANEL or len(lines.votes) > 1
        ],
        errors=errors,
    )


def _one_sided(
    outcomes: pl.DataFrame, lines: Lines, of_row: NDArray[np.str_], has: NDArray[np.bool_]
) -> list[str]:
    """Say of which sides of the panel's verdict nothing is labelled."""
    labelled, drawn = (np.zeros(len(outcomes), np.bool_) for _ in range(2))
    drawn[lines.rows] = True
    labelled[lines.rows[has | lines.not_due]] = True
    sides = unlabelled(
        as_numbers(outcomes[f"verdict_{lines.key}"], lines.rubric),
        lines.rubric,
        lines.key,
        labelled=labelled,
        drawn=drawn,
        stratum=of_row,
    )
    return [f"{side.says!r} (of {side.replies:,} replies)" for side in sides]


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
    found = list(corrected(done.outcomes, cls.rates, rubrics_asked(done, sample.rubrics), people))

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
            why=rate.why,
            note=rate.note,
        )
