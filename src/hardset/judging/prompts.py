"""What a judge is asked, row by row: prompts as `ask` takes them, with pictures and schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hardset.judging.facts import Facts, Wanted
from hardset.judging.means import Judge
from hardset.judging.prompt import Form, Prompter
from hardset.records import Item, Message, Prompt, Sampling

SAMPLING = Sampling(temperature=0.0, max_tokens=1024)
"""A word or two is due, and a judge that reasons first needs room."""


def prompts_of(
    judge: Judge,
    facts: Facts,
    wanted: Wanted,
    forms: Mapping[str, Form],
    *,
    repeat: int = 0,
    turned: bool = False,
) -> Iterator[tuple[Prompt, Item]]:
    """Write what a judge is asked for some votes, row by row, each rubric in its form."""
    made = {
        (rubric.name, pictured): (
            Prompter(rubric, form, sees_picture=pictured, turned=turned),
            rubric.schema if form == "json" else "",
        )
        for rubric in facts.rubrics
        if (form := forms.get(rubric.name)) is not None
        for pictured in (False, True)
    }
    for rubric, item, shown in facts.walk(wanted):
        pictured = rubric.picture and judge.sees and bool(item.images)  # a blind run has none
        prompter, schema = made[rubric.name, pictured]
        text = prompter(shown)
        content: tuple[Any, ...] = (*item.images, text) if pictured else (text,)
        asked = Item(id=f"{item.id} {rubric.name}", question=text)
        message = Message("user", content)
        yield Prompt(messages=(message,), sampling=SAMPLING, repeat=repeat, schema=schema), asked
