"""What the verdicts will take, said before the first is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from hardset.ask import prompt_key
from hardset.images import BadMedia, Library
from hardset.judging.facts import Facts, Wanted
from hardset.judging.means import Judge, Means
from hardset.judging.prompt import Form
from hardset.judging.votes import prompts_of
from hardset.records import Image, Item, Prompt

SAMPLE = 200  # prompts of each judge that are written to see how long they are
A_TOKEN = 4  # characters, about
A_PICTURE = 1000  # tokens, about: from under 100 to some thousands, by model and size
A_WORD, A_REASON = 8, 80  # tokens of a verdict, and of a reason before it


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What is about to be asked, and about what it takes.

    Attributes:
        verdicts: how many are due, of all judges together, with those asked again as a check.
        sure: whether that is known; some wait for others, and are counted as the rules read.
        stored: about how many of them are in the store already, and cost nothing.
        tokens_in, tokens_out: about how many tokens the others take.
        dollars: what those cost; None where a judge has no price.
        judges: how many are asked.
    """

    verdicts: int
    sure: bool
    stored: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    judges: int

    def __str__(self) -> str:
        who = "1 judge" if self.judges == 1 else f"{self.judges} judges"
        many = f"{self.verdicts:,}" if self.sure else _about(self.verdicts)
        stored = many if self.stored == self.verdicts else _about(self.stored)
        kept = f" ({stored} of them in the store)" if self.stored else ""
        cost = "" if self.dollars is None else f", ${self.dollars:,.2f}"
        tokens = f"{_about(self.tokens_in)} tokens in and {_about(self.tokens_out)} out"
        return f"{many} verdicts of {who}{kept}, {tokens}{cost}"


def estimate(
    judges: Sequence[Judge], facts: Facts, wanted: Wanted, means: Means, check: int = 0
) -> Estimate:
    """Say about what all verdicts take, from a sample of their prompts spread over all rows.

    Args:
        judges: who is asked.
        facts: what is asked.
        wanted: the rows of each rubric; of one that waits for others, as the rules read them.
        means: the store.
        check: on how many rows of each rubric a judge is asked twice more.
    """
    some = _spread(wanted)
    due = {name: int(mask.sum()) for name, mask in wanted.items()}
    due = {name: count + 2 * min(check, count) for name, count in due.items()}
    weights = {name: due[name] / max(1, int(mask.sum())) for name, mask in some.items()}
    stored = tokens_in = tokens_out = 0.0
    dollars: float | None = 0.0
    written: dict[tuple[Form, bool], list[tuple[Prompt, Item]]] = {}  # most judges share them
    reply = {rubric.name: A_WORD + A_REASON * rubric.reasons for rubric in facts.rubrics}
    for judge in judges:
        form: Form = "json" if getattr(judge.model, "gives_json", False) else "words"
        if (form, judge.sees) not in written:
            written[form, judge.sees] = list(prompts_of(judge, facts, some, form))
        asked = written[form, judge.sees]
        library = means.library(judge.model)
        keys = [prompt_key(judge.model, _known(prompt, library), item) for prompt, item in asked]
        held = set(means.store.held(keys))
        into = out = 0.0
        for (prompt, item), key in zip(asked, keys, strict=True):
            name = item.id.rpartition(" ")[2]
            if key in held:
                stored += weights[name]
            else:
                into += weights[name] * _length(prompt)
                out += weights[name] * reply[name]
        tokens_in, tokens_out = tokens_in + into, tokens_out + out
        if judge.price is None or dollars is None:
            dollars = None
        else:
            dollars += (into * judge.price[0] + out * judge.price[1]) / 1e6
    return Estimate(
        verdicts=sum(due.values()) * len(judges),
        sure=not any(rubric.later for rubric in facts.rubrics if due.get(rubric.name)),
        stored=round(stored),
        tokens_in=round(tokens_in),
        tokens_out=round(tokens_out),
        dollars=dollars,
        judges=len(judges),
    )


def _spread(wanted: Wanted) -> Wanted:
    """Pick rows evenly, so that the sample is as long and as far along as the whole."""
    most = max(1, SAMPLE // max(1, len(wanted)))
    picked = {}
    for name, mask in wanted.items():
        rows = np.flatnonzero(mask)
        some = np.zeros(len(mask), np.bool_)
        if len(rows):
            some[rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int)]] = 1
        picked[name] = some
    return picked


def _known(prompt: Prompt, library: Library) -> Prompt:
    """Fill in the hash of a picture that was looked at before: it is part of the key."""
    return replace(
        prompt,
        messages=tuple(
            replace(message, content=tuple(_looked_up(part, library) for part in message.content))
            for message in prompt.messages
        ),
    )


def _looked_up(part: str | Image, library: Library) -> str | Image:
    if isinstance(part, str):
        return part
    try:
        return library.known(part) or part
    except BadMedia:  # it will be said of its verdict
        return part


def _length(prompt: Prompt) -> int:
    """Say about how many tokens a prompt has."""
    parts = [part for message in prompt.messages for part in message.content]
    pictures = sum(isinstance(part, Image) for part in parts)
    letters = sum(len(part) for part in parts if isinstance(part, str))
    return letters // A_TOKEN + A_PICTURE * pictures


def _about(count: int) -> str:
    """Round to two digits: it is an estimate."""
    digits = len(str(count)) - 2
    return f"about {round(count, -digits):,}" if digits > 0 else f"about {count}"
