"""The verdicts on a run's replies: asked for through `ask`, kept and resumed as replies are.

The judge is asked from the outcome columns alone. A verdict that cannot be read is asked for once
more in another form; what then cannot be read, or never came, is no verdict (null), never a no.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from hardset.ask import Asked, Limits, Model, Store, Tally, ask
from hardset.images import Library
from hardset.judging.rubric import Rubric, render
from hardset.judging.verdict import read_true_false
from hardset.records import Item, Message, Prompt, Sampling, State

SAMPLING = Sampling(temperature=0.0, max_tokens=1024)
"""One word is due, and a judge that reasons first needs room."""
_SILENT = [state.value for state in State if state.failed]


@dataclass(kw_only=True)
class Verdicts:
    """What the judge said: one column a rubric, TRUE, FALSE, or null for no verdict.

    `due` says, in a column of the same name, on which rows the rubric was asked; the rows are those
    of the outcomes, in their order.
    """

    columns: pl.DataFrame
    due: pl.DataFrame
    asked: list[Asked] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)  # why a verdict never came

    @property
    def stopped(self) -> str | None:
        """Why the asking ended early, if it did."""
        return next((asked.stopped for asked in self.asked if asked.stopped), None)

    def coverage(self) -> dict[str, tuple[int, int]]:
        """Give for each rubric how many verdicts there are, and how many were due."""
        return {
            name: (self.columns[name].count(), int(self.due[name].sum()))
            for name in self.columns.columns
        }

    @property
    def missing(self) -> int:
        """How many verdicts were due and are not there."""
        return sum(due - given for given, due in self.coverage().values())

    def prompts_sha256(self) -> str:
        """Hash what was asked, in order."""
        return hashlib.sha256(b"".join(bytes(asked.keys) for asked in self.asked)).hexdigest()


async def judge(
    outcomes: pl.DataFrame,
    rubrics: Sequence[Rubric],
    model: Model,
    store: Store,
    library: Library,
    limits: Limits | None = None,
    progress: Callable[[Tally], None] | None = None,
    stop: asyncio.Event | None = None,
) -> Verdicts:
    """Ask a judge every rubric about every reply that it is due on.

    A rubric is due on the rows that have a reply with words in it, answerable ones only where it
    says so.

    Args:
        outcomes: the outcome columns (question, reply, gold, answerable, state).
        rubrics: what to ask.
        model: the judge; already entered.
        store: keeps the verdicts beside the replies.
        library: looks at no image: the judge is sent none.
        limits: how hard to ask.
        progress: see `ask`.
        stop: see `ask`.
    """
    spoken = (pl.col("reply").str.strip_chars() != "") & ~pl.col("state").is_in(_SILENT)
    due = outcomes.select(
        (spoken & pl.col("answerable") if rubric.due == "answerable" else spoken).alias(rubric.name)
        for rubric in rubrics
    )
    found = Verdicts(columns=pl.DataFrame(), due=due)
    said: dict[str, list[bool | None]] = {rubric.name: [None] * len(outcomes) for rubric in rubrics}
    wanted = [(rubric, row) for rubric in rubrics for row in due[rubric.name].arg_true().to_list()]
    for again in (False, True):
        prompts = _prompts(outcomes, wanted, again=again)
        asked = await ask(prompts, model, store, library, limits, progress, stop, total=len(wanted))
        found.asked.append(asked)
        unread = []
        for (rubric, row), reply in zip(wanted, asked.replies(store), strict=False):
            if reply.failure is not None:
                reason = reply.failure.reason
                found.failures[reason] = found.failures.get(reason, 0) + 1
                continue
            verdict = read_true_false(reply.text) if reply.finish != "length" else None
            said[rubric.name][row] = verdict
            if verdict is None:
                unread.append((rubric, row))
        wanted = unread
        if not wanted or asked.stopped:
            break
        if limits is not None and limits.budget is not None:  # both askings together keep to it
            left = limits.budget.less(asked.spent)
            if left is None:
                break
            limits = replace(limits, budget=left)
    if wanted:
        found.failures["no TRUE or FALSE in the judge's reply"] = len(wanted)
    found.columns = pl.DataFrame(
        {name: pl.Series(values, dtype=pl.Boolean) for name, values in said.items()}
    )
    return found


def _prompts(
    outcomes: pl.DataFrame, wanted: Sequence[tuple[Rubric, int]], *, again: bool
) -> Iterator[tuple[Prompt, Item]]:
    columns = {
        name: outcomes[column]
        for name, column in (("question", "question"), ("reply", "reply"), ("reference", "gold"))
    }
    items = outcomes["item"]
    for rubric, row in wanted:
        facts: dict[str, Any] = {name: columns[name][row] for name in rubric.sees}
        text = render(rubric, facts, again=again)
        item = Item(id=f"{items[row]} {rubric.name}", question=text)
        yield Prompt(messages=(Message("user", (text,)),), sampling=SAMPLING), item
