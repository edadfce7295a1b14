"""Judges: who judged, how far they agree, how steady they are, and where they are of two minds.

It shows whatever run has the columns of `metrics.votes`; what the rubrics mean, and who the judges
are, comes from the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hardset.metrics.panel import (
    AUDIT,
    AUDIT_KAPPA,
    COVERAGE,
    DECIDED,
    GIVEN,
    MEAN_GRADE,
    NO_VOTE,
    OUTVOTED,
    RULES,
    RULES_KAPPA,
    TIES,
    TRUE_SHARE,
    cell,
    panel,
)
from hardset.metrics.verbosity import VERBOSITY
from hardset.metrics.votes import CHECKS, Votes, read_votes
from hardset.records import Metric
from hardset.reports.numbers import fraction, interval, percent
from hardset.reports.runs import RunView, Shown
from hardset.reports.sections import Section
from hardset.reports.sections.agreeing import COEFFICIENTS, Line, line, readings
from hardset.reports.sections.disputed import Disputed, disputed
from hardset.reports.view import short_names

_DRAWS = 2_000  # where a run's metrics lack what its columns have
_HASH = 12  # characters of a rubric's hash that are shown

Found = Mapping[tuple[str, str], Metric]
"""The metrics of one key, by name and, where they are of one, judge, judges or step."""


@dataclass(frozen=True)
class Seat:
    """A judge as the manifest knows it."""

    name: str
    vendor: str
    family: str
    form: str
    given: str
    failures: str


@dataclass(frozen=True)
class Number:
    """A figure in a table, what it is of, and its interval; or, `value` empty, nothing."""

    value: str = ""
    interval: str = ""
    of: str = ""
    title: str = ""


@dataclass(frozen=True)
class Square:
    """The rules' reading down, the panel's verdict across: TRUE, then FALSE."""

    counts: Sequence[Sequence[int]]
    shades: Sequence[Sequence[str]]
    agree: Number
    kappa: Number


@dataclass(frozen=True)
class Asked:
    """All there is to say on one key."""

    key: str
    rubric: str
    sha256: str
    about: str
    values: Sequence[tuple[str, str]]  # TRUE, or a grade, and what it means
    graded: bool
    due: int
    coverage: Number
    level: Number
    ties: int | None
    silent: int
    length: Number
    lines: Sequence[Line]
    readings: Sequence[str]
    headings: Sequence[str]
    judges: Sequence[tuple[str, Sequence[Number]]]
    pairs: Sequence[tuple[str, Number, Number]]
    square: Square | None
    cascade: Sequence[tuple[str, int, str]]  # who decided, how many, their share
    audit: tuple[Number, Number] | None


@dataclass(frozen=True)
class Judged:
    """One run's judges."""

    model: int
    name: str
    seats: Sequence[Seat]
    asked: Sequence[Asked]
    disputed: Sequence[Disputed]
    disputes: int  # in how many rows there is a dispute


def section(runs: Sequence[RunView], sample: Sequence[Shown]) -> Section | None:
    """Lay out what there is to say of the judges; None where no run has any."""
    names = short_names(runs)
    found = [
        _judged(i, names[i], run, votes)
        for i, run in enumerate(runs)
        if (votes := read_votes(run.outcomes))
    ]
    if not found:
        return None
    return Section(
        anchor="judges",
        title="Judges",
        template="judges.html",
        values={"judged": found, "several": len(runs) > 1},
    )


def overall(run: RunView, key: str) -> Found:
    """Find the metrics of a key among a run's."""
    return {
        (metric.name, next((cut for name, cut in metric.cut.items() if name != "verdict"), "")): (
            metric
        )
        for metric in run.metrics
        if metric.cut.get("verdict") == key
    }


def _judged(model: int, name: str, run: RunView, votes: Sequence[Votes]) -> Judged:
    of_key = {one.key: overall(run, one.key) for one in votes}
    if not all((COVERAGE, "") in found for found in of_key.values()):
        for part in panel(run.outcomes):
            worked_out = RunView(**{**vars(run), "metrics": part.metrics(_DRAWS)})
            of_key[part.votes.key] = overall(worked_out, part.votes.key)
    shown, count = disputed(run.outcomes, votes)
    return Judged(
        model=model,
        name=name,
        seats=_seats(run.manifest, votes),
        asked=[_asked(run.manifest, one, of_key[one.key]) for one in votes],
        disputed=shown,
        disputes=count,
    )


def _seats(manifest: Mapping[str, Any], votes: Sequence[Votes]) -> list[Seat]:
    """List the judges: as the manifest says, or, where it does not, as the columns name them."""
    said = {one["model"]: one for one in manifest.get("judges") or [] if "model" in one}
    kin = {one["model"]: one for one in (manifest.get("roles") or {}).get("judge") or []}
    names = dict.fromkeys(judge for one in votes for judge in one.judges)
    seats = []
    for name in names:
        judge, roles = said.get(name, {}), kin.get(name, {})
        counts = list((judge.get("verdicts") or {}).values())
        given, due = (sum(one.get(part, 0) for one in counts) for part in ("given", "due"))
        if not counts:
            given, due = _counted(votes, name)
        form = {"json": "held to a JSON schema", "words": "in words"}.get(judge.get("form", ""), "")
        if "sees" in judge:
            form += ", sent pictures" if judge["sees"] else ", sent no pictures"
        failures = [f"{count:,} x {why}" for why, count in (judge.get("failures") or {}).items()]
        seats.append(
            Seat(
                name=name,
                vendor=str(roles.get("vendor") or judge.get("vendor") or "not known"),
                family=str(roles.get("family") or judge.get("family") or "not known"),
                form=form.removeprefix(", ") or "not known",
                given=f"{given:,} of {due:,}",
                failures="; ".join(failures),
            )
        )
    return seats


def _counted(votes: Sequence[Votes], judge: str) -> tuple[int, int]:
    """Count a judge's votes, and the rows that were put before it, as the columns have them."""
    given = due = 0
    for one in votes:
        if judge in one.judges:
            there = one.given[:, one.judges.index(judge)]
            given, due = given + int(there.sum()), due + int((there | one.asked).sum())
    return given, due


def _asked(manifest: Mapping[str, Any], votes: Votes, found: Found) -> Asked:
    key = votes.key
    meaning = (manifest.get("questions") or {}).get(key) or {}
    rubric = str(meaning.get("rubric") or key.partition(".")[0])
    sha256 = str((manifest.get("rubrics") or {}).get(rubric) or "")
    level = found.get((MEAN_GRADE if votes.scale == "graded" else TRUE_SHARE, ""))
    ties = found.get((TIES, ""))
    headings, judges = _table(votes, found)
    return Asked(
        key=key,
        rubric=rubric,
        sha256=sha256[:_HASH],
        about=str(meaning.get("about") or ""),
        values=[(str(name), str(said)) for name, said in (meaning.get("values") or {}).items()],
        graded=votes.scale == "graded",
        due=len(votes.rows),
        coverage=_number(found.get((COVERAGE, ""))),
        level=_number(level),
        ties=None if ties is None or len(votes.judges) == 1 else int(ties.numerator),
        silent=int(found[NO_VOTE, ""].numerator),
        length=_number(found.get((VERBOSITY, ""))),
        lines=[line(name, found[name, ""]) for name in COEFFICIENTS if (name, "") in found],
        readings=readings(votes, {name: m for (name, of), m in found.items() if not of}),
        headings=headings,
        judges=judges,
        pairs=_pairs(found),
        square=_square(found),
        cascade=_cascade(found),
        audit=(_number(found[AUDIT, ""]), _number(found[AUDIT_KAPPA, ""]))
        if (AUDIT, "") in found
        else None,
    )


def _table(votes: Votes, found: Found) -> tuple[list[str], list[tuple[str, Sequence[Number]]]]:
    """Line the judges up: the figures that at least one of them has."""
    wanted = {
        GIVEN: "votes given",
        TRUE_SHARE: "says TRUE",
        MEAN_GRADE: "mean grade",
        OUTVOTED: "a point or more from the mean" if votes.scale == "graded" else "outvoted",
        VERBOSITY: "correlation with length",
        **{name: name for name in (f"changed when {how}" for how in CHECKS.values())},
    }
    names = [n for n in wanted if any((n, judge) in found for judge in votes.judges)]
    rows: list[tuple[str, Sequence[Number]]] = [
        (judge, [_number(found.get((name, judge))) for name in names]) for judge in votes.judges
    ]
    return [wanted[name] for name in names], rows


def _pairs(found: Found) -> list[tuple[str, Number, Number]]:
    """Line up each two judges: raw agreement and Cohen's kappa."""
    named = dict.fromkeys(of for (_, of), m in found.items() if "judges" in m.cut)
    raw, kappa = COEFFICIENTS[:2]
    return [(of, _number(found[raw, of]), _number(found[kappa, of])) for of in named]


def _square(found: Found) -> Square | None:
    if (RULES, "") not in found or not found[RULES, ""].denominator:
        return None
    yes_no = (True, False)
    cells = [[found[cell(rules, judged), ""] for judged in yes_no] for rules in yes_no]
    most = max(1.0, *(one.numerator for row in cells for one in row))
    return Square(
        counts=[[int(one.numerator) for one in row] for row in cells],
        shades=[[f"{0.5 * one.numerator / most:.2f}" for one in row] for row in cells],
        agree=_number(found[RULES, ""]),
        kappa=_number(found[RULES_KAPPA, ""]),
    )


def _cascade(found: Found) -> list[tuple[str, int, str]]:
    return [
        (of, int(m.numerator), f"{100 * (m.value or 0):.2f}%")
        for (name, of), m in found.items()
        if name == DECIDED
    ]


def _number(metric: Metric | None) -> Number:
    if metric is None:
        return Number()
    return Number(
        value=percent(metric.value, metric.unit),
        interval=interval(metric),
        of=fraction(metric),
        title=metric.method if metric.value is None else metric.about,
    )
