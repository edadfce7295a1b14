"""What a judge's endpoint takes, a schema and pictures: tried by the first votes of each rubric.

The votes that are tried with are votes like others, and kept. What is only busy, and what is wrong
with one row alone (a picture that is not there, a content policy), says nothing of the endpoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hardset.ask import INTERRUPTED, ask
from hardset.judging.facts import Facts, Wanted
from hardset.judging.keys import key_of
from hardset.judging.means import Judge, Means
from hardset.judging.prompt import Form
from hardset.judging.prompts import prompts_of
from hardset.judging.rubric import Rubric
from hardset.records import Failure, Item, Prompt, State

if TYPE_CHECKING:
    from hardset.judging.votes import Ballot

ROWS = 3  # of a rubric that are tried at most
TWICE = 2  # rows that must be refused before pictures are left out
BEFORE = "as an earlier run found, whose verdicts are taken"
_NOT_BUSY = re.compile(r"answered 50[01]")  # other faults that pass are no refusal of a form


def refuses(failure: Failure) -> bool:
    """Whether an endpoint will not have what it was sent, as far as its fault tells."""
    if failure.state is not State.REQUEST_FAILED or failure.reason.startswith("not asked"):
        return False
    return not failure.transient or bool(_NOT_BUSY.search(failure.reason))


async def try_out(ballot: Ballot, facts: Facts, wanted: Wanted, means: Means) -> None:
    """Settle in which form each rubric is asked, and whether with its pictures."""
    for rubric in facts.rubrics:
        rows = np.flatnonzero(wanted[rubric.name]) if rubric.name in wanted else ()
        if len(rows) and rubric.name not in ballot.tried and ballot.stopped is None:
            ballot.tried.add(rubric.name)
            await _try(ballot, rubric, facts, [int(row) for row in rows[:ROWS]], means)


async def _try(ballot: Ballot, rubric: Rubric, facts: Facts, rows: list[int], means: Means) -> None:
    structured = ballot.forms[rubric.name] == "json"
    pictured = rubric.picture and ballot.judge.sees
    if structured and _held(ballot.judge, rubric, facts, rows[0], means):
        ballot.forms[rubric.name] = "words"
        ballot.refused_json = ballot.refused_json or BEFORE
        structured = False
    if means.spent_all or not (structured or pictured):
        return
    forms: list[Form] = ["json", "words"] if structured else [ballot.forms[rubric.name]]
    refused: list[tuple[int, str]] = []
    for row in rows:
        failure = await _first(ballot, ballot.judge, forms[0], rubric, facts, row, means)
        if failure is None or ballot.stopped:
            return
        if not refuses(failure):
            if failure.transient:
                return
            continue  # it is this row's trouble
        refused.append((row, failure.reason))
        if structured:
            other = await _first(ballot, ballot.judge, "words", rubric, facts, row, means)
            if other is None:
                ballot.forms[rubric.name], ballot.refused_json = "words", failure.reason
                return
        if len(refused) == TWICE or not pictured:
            break
    if not refused or not pictured:
        return
    blind = replace(ballot.judge, blind=True)
    row, reason = refused[0]
    for form in forms:
        if await _first(ballot, blind, form, rubric, facts, row, means) is None:
            ballot.judge, ballot.refused_pictures = blind, reason
            if form != forms[0]:
                ballot.forms[rubric.name], ballot.refused_json = form, reason
            return


def _held(judge: Judge, rubric: Rubric, facts: Facts, row: int, means: Means) -> bool:
    """Whether the store holds the vote on a row in words, and not as JSON."""
    held = {}
    for form in ("json", "words"):
        prompt, item = next(_prompts(judge, form, rubric, facts, row))
        key = key_of(judge.model, prompt, item, means.library(judge.model))
        held[form] = bool(means.store.held([key]))
    return held["words"] and not held["json"]


async def _first(
    ballot: Ballot,
    judge: Judge,
    form: Form,
    rubric: Rubric,
    facts: Facts,
    row: int,
    means: Means,
) -> Failure | None:
    """Ask for one vote, which is kept; give why there is none."""
    if means.spent_all:
        return Failure(state=State.REQUEST_FAILED, reason=means.spent_all)
    asked = await ask(
        _prompts(judge, form, rubric, facts, row),
        judge.model,
        means.store,
        means.library(judge.model),
        means.limits_of(judge),
        stop=means.stop,
        total=1,
    )
    means.spend(asked)  # it is counted where all votes are asked for
    if asked.stopped == INTERRUPTED:
        ballot.stopped = INTERRUPTED
    return next(asked.replies(means.store)).failure


def _prompts(
    judge: Judge, form: Form, rubric: Rubric, facts: Facts, row: int
) -> Iterator[tuple[Prompt, Item]]:
    one = np.zeros(len(facts.outcomes), np.bool_)
    one[row] = True
    return prompts_of(judge, facts, {rubric.name: one}, {rubric.name: form})
