"""What the verdicts will take, said before the first is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hardset.judging.facts import Facts, Wanted
from hardset.judging.keys import key_of
from hardset.judging.means import Judge, Means
from hardset.judging.prompt import Form
from hardset.judging.prompts import prompts_of
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
    most: bool = False  # whether fewer may be asked
    stored: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    judges: int

    def __str__(self) -> str:
        who = "1 judge" if self.judges == 1 else f"{self.judges} judges"
        many = f"{self.verdicts:,}" if self.sure else _about(self.verdicts)
        many = f"at most {self.verdicts:,}" if self.most else many
        stored = many if self.stored == self.verdicts else _about(self.stored)
        kept = f" ({stored} of them in the store)" if self.stored else ""
        cost = "" if self.dollars is None else f", ${self.dollars:,.2f}"
        tokens = f"{_about(self.tokens_in)} tokens in and {_about(self.tokens_out)} out"
        return f"{many} verdicts of {who}{kept}, {tokens}{cost}"


def estimate(
    judges: Sequence[Judge],
    facts: Facts,
    wanted: Wanted,
    means: Means,
    check: int = 0,
    *,
    most: bool = False,
) -> Estimate:
    """Say about what all verdicts take, from a sample of their prompts spread over all rows.

    Args:
        judges: who is asked.
        facts: what is asked.
        wanted: the rows of each rubric; of one that waits for others, as the rules read them.
        means: the store.
        check: on how many rows of each rubric a judge is asked twice more.
        most: whether it is no more than that: a cascade spares some.
    """
    some = _spread(wanted)
    due = {name: int(mask.sum()) for name, mask in wanted.items()}
    again = {name: 2 * min(check, count) for name, count in due.items()}
    sampled = {name: max(1, int(mask.sum())) for name, mask in some.items()}
    stored = tokens_in = tokens_out = 0.0
    dollars: float | None = 0.0
    written: dict[tuple[Form, bool], list[tuple[Prompt, Item]]] = {}  # most judges share them
    reply = {rubric.name: A_WORD + A_REASON * rubric.reasons for rubric in facts.rubrics}
    for judge in judges:
        first: Form = "json" if getattr(judge.model, "gives_json", False) else "words"
        library = means.library(judge.model)
        held: list[set[bytes]] = []
        keys: list[list[bytes]] = []
        # What an earlier run asked for in words, or without pictures, is in the store as that.
        for form, sees in dict.fromkeys(
            (form, sees) for form in (first, "words") for sees in (judge.sees, False)
        ):
            if (form, sees) not in written:
                shown = judge if sees == judge.sees else replace(judge, blind=True)
                written[form, sees] = list(
                    prompts_of(shown, facts, some, dict.fromkeys(some, form))
                )
            some_keys = [key_of(judge.model, *pair, library) for pair in written[form, sees]]
            keys.append(some_keys)
            held.append(set(means.store.held(some_keys)))
        into = out = 0.0
        for place, (prompt, item) in enumerate(written[first, judge.sees]):
            name = item.id.rpartition(" ")[2]
            kept = any(one[place] in there for one, there in zip(keys, held, strict=True))
            stored += kept * due[name] / sampled[name]
            new = (due[name] * (not kept) + again[name]) / sampled[name]
            into += new * _length(prompt)
            out += new * reply[name]
        tokens_in, tokens_out = tokens_in + into, tokens_out + out
        if judge.price is None or dollars is None:
            dollars = None
        else:
            dollars += (into * judge.price[0] + out * judge.price[1]) / 1e6
    return Estimate(
        verdicts=sum((*due.values(), *again.values())) * len(judges),
        most=most,
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
