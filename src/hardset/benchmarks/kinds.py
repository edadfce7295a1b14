"""What `scenes` and `photos` have in common: five kinds of items, and how they are asked.

The kinds are small models of the systems this program is about: plain questions, HARDBench's
pairs, MMR's leading pairs, MMOOC's shifted contexts and ZeroBench's many steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.records import Item, Message, Reading, State

if TYPE_CHECKING:
    import polars as pl

    from hardset.metrics import Measurable

FORMATS = {
    "choice": "Answer with the letter of one option.",
    "yes_no": "Answer yes or no.",
    "number": "Answer with a number.",
    "open": "Answer in a word or two.",
    "braces": "Work it out step by step, and end with the result in curly braces, as in {12}.",
}
WORDINGS = {
    "plain": "",
    "refusal-allowed": "If the picture does not show what the question needs, say so instead.",
    "step-by-step": "First say what you see, step by step.",
}


class KindsBenchmark(Benchmark):
    """The base of a benchmark of such items; a subclass sets `wording` and says the rest."""

    headline: ClassVar[Sequence[str]] = (
        "plain accuracy",
        "paired accuracy",
        "over-refusal",
        "refusal F1",
        "RA",
        "MR",
        "OOC refusal rate",
        "IC accuracy",
        "zero accuracy",
        "subquestion score",
    )
    cuts: ClassVar[Sequence[str]] = ("category", "edit", "level", "shift")
    rubrics: ClassVar[Sequence[str]] = ("refused", "matches-reference", "refusal-rationality")

    shared: ClassVar[bool] = False  # whether pairs and main questions may share a picture

    wording: str

    def prompt(self, item: Item) -> tuple[Message, ...]:
        """Build what is asked: the picture, the question with its options, the form wanted."""
        lettered = [f"{chr(65 + i)}. {text}" for i, text in enumerate(item.choices)]
        lines = [item.question, *lettered, WORDINGS[self.wording], FORMATS[item.form]]
        return (Message("user", (*item.images, "\n".join(line for line in lines if line))),)

    @classmethod
    def rates(cls, outcomes: pl.DataFrame) -> Iterator[Measurable]:
        """Declare each kind's metrics, by the rules and, if there are judges, by their verdicts.

        What shares a picture is one cluster. A row without the verdict it needs is in none of the
        judges' rates.
        """
        from hardset.benchmarks.kinds_metrics import judged, of_kinds, selective

        yield from of_kinds(outcomes, cls.shared)
        yield from selective(outcomes)
        yield from judged(outcomes, cls.shared)


def chosen(name: str, kinds: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds that an option like "plain,mmr" or "all" asks for."""
    if kinds == "all":
        return tuple(known)
    picked = tuple(kind.strip() for kind in kinds.split(","))
    for kind in picked:
        allow(name, "kinds", kind, ("all", *known))
    return picked


def allow(name: str, what: str, value: str, allowed: Collection[str]) -> None:
    """Raise a `UsageError` where an option's value is none of those allowed."""
    if value not in allowed:
        raise UsageError(f"{name}: {what} cannot be {value!r}; use {', '.join(allowed)}")


def read_parts(text: str, read: Callable[[str], Reading]) -> Reading:
    """Read a reply to a question in two parts of which only one can be answered.

    "It is red. I cannot tell who drew it." answers the one it can.
    """
    answered = [
        reading for part in parts_of(text) if (reading := read(part)).state is State.ANSWERED
    ]
    if len({reading.answer for reading in answered}) == 1:
        return answered[0]
    return read(text)


def parts_of(text: str) -> list[str]:
    """Return the sentences of a reply, and what "but" or "and" joins within them."""
    return [part for part in _PARTS.split(text) if part.strip()]


_PARTS = re.compile(r"(?<=[.!?;])\s+|\n+|,? (?:but|and|although|though|while) ")
