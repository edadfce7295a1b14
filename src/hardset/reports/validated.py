"""What people's labels say of a run's judges, as the terminal and the page show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hardset.metrics.coefficients import Coefficient
from hardset.metrics.correction import Corrected
from hardset.records import Metric

PANEL = "panel"


@dataclass(frozen=True, kw_only=True)
class Person:
    """One sheet: whose it is, and how far it is filled in."""

    name: str
    sha256: str  # of the file
    labelled: int
    unsure: int  # "?": the person cannot tell
    not_applicable: int  # "-": the question does not apply to the reply
    blank: int  # with the lines that are no longer on the sheet


@dataclass(frozen=True, kw_only=True)
class Against:
    """One judge's verdicts held against people's; the first is the panel's."""

    judge: str
    metrics: Sequence[Metric]  # weighted to the replies that the judges had
    coefficients: Sequence[Coefficient]
    categories: Sequence[str]
    counts: Sequence[Sequence[int]]  # people down, the judge across; lines as they are
    lines: int  # with both
    alike: int  # of them


@dataclass(frozen=True, kw_only=True)
class Question:
    """One verdict: what was labelled of it, and how the judges did."""

    key: str
    about: str
    scale: str
    values: Mapping[str, str]  # what each value of the verdict means, in words
    on_sheet: Mapping[str, str]  # what TRUE and FALSE mean on the sheet, if it is of these
    due: int  # replies that could have been drawn
    drawn: int
    labelled: int  # that people gave one verdict on, together
    unsure: int
    not_applicable: int
    blank: int
    ties: int  # as many people for one verdict as for another: in no figure
    no_verdict: int  # labelled, but the panel gave none
    unreached: int  # replies of strata without a label
    one_sided: Sequence[str] = ()  # what the panel says of replies of which none is labelled
    people: Sequence[Coefficient] = ()  # people with each other
    against: Sequence[Against] = ()
    errors: Sequence[Coefficient] = ()  # judges erring together


@dataclass(frozen=True, kw_only=True)
class Correction:
    """One rate of the run, by the judges alone and corrected."""

    name: str
    reading: str
    leads: bool
    better: str
    keys: Sequence[str]
    unit: str  # of the rate, "" for a share
    over: str  # what was drawn and labelled as one: "replies" or "pairs"
    judge: Metric | None
    powered: Corrected | None
    rogan_gladen: Corrected | None
    why: str  # there is no Rogan-Gladen, or what it leaves out
    note: str


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """One line on which judges and people, or people among themselves, are not of one mind."""

    id: str
    item: str
    repeat: int
    index: int  # of the item
    key: str
    question: str
    reply: str
    verdict: str  # the panel's
    how: str
    votes: Mapping[str, str]  # or why there is none
    apart: Sequence[str]  # the judges who differ from people
    split: bool  # as many people say one thing as another: to be settled
    label: str  # people's together, in the verdict's values; "open" if split
    labels: Mapping[str, str]  # each person's, in the verdict's values
    written: Mapping[str, str]  # as it stands on the sheet
    notes: Mapping[str, str]
    among_people: bool  # they differ with each other
    facts: Mapping[str, str] = field(default_factory=dict)  # that the rubric shows
    picture_asked: bool = False  # whether the rubric shows the picture


@dataclass(frozen=True, kw_only=True)
class Validated:
    """All of it."""

    folder: str
    benchmark: str
    title: str
    model: str
    mark: str
    seed: int
    replies: int
    level: str  # within what the sample was drawn at random, in words
    people: Sequence[Person]
    questions: Sequence[Question]
    corrections: Sequence[Correction]
    disagreements: Sequence[Disagreement]
    labels: Sequence[Mapping[str, Any]] = ()  # every line with what each person wrote
    notices: Sequence[str] = field(default_factory=list)
