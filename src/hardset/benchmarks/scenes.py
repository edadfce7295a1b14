"""Scenes: pictures of simple shapes, drawn on demand, with questions of every kind.

Every answer follows from the graph that the picture is drawn from, so it is exact. The kinds
are small models of the systems this program is about: plain questions, HARDBench's pairs by
object, relation and attribute edits, MMR's leading pairs, MMOOC's shifted contexts and
ZeroBench's many steps with subquestions. It needs no data and no network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from hardset.benchmarks.declaration import Benchmark, Opener
from hardset.errors import UsageError
from hardset.reading.open_answers import NO_CANDIDATE
from hardset.records import Item, Message, Reading, State
from hardset.sources.scenes.graph import DIFFICULTIES, VERSION
from hardset.sources.scenes.items import KINDS, SMALLEST, items
from hardset.sources.scenes.language import UNKNOWABLE, answers_to, tokens

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


def open_scene(address: str) -> bytes:
    """Draw the PNG at an address such as `v1/default/0/17` (`Image.where` behind `scenes:`)."""
    from hardset.sources.scenes.draw import open_scene as draw

    return draw(address)


class Scenes(Benchmark):
    """The embedded benchmark of drawn scenes.

    Args:
        n: how many items; pairs, and main questions with their subquestions, are never cut.
        seed: of the pictures and the questions; 0 or more.
        difficulty: how crowded and cluttered the pictures are.
        kinds: "all", or some of plain, hardbench, mmr, mmooc and zero, joined by commas.
        prompt: "plain" says nothing of refusing, "refusal-allowed" invites it where it is due,
            "step-by-step" asks for the reasoning first.

    Raises:
        UsageError: an option has a value that it cannot have.
    """

    name = "scenes"
    title = "Scenes"
    openers: ClassVar[Mapping[str, Opener]] = {"scenes": open_scene}
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

    def __init__(
        self,
        n: int = 200,
        seed: int = 0,
        difficulty: Literal["easy", "default", "hard"] = "default",
        kinds: str = "all",
        prompt: Literal["plain", "refusal-allowed", "step-by-step"] = "plain",
    ) -> None:
        chosen = KINDS if kinds == "all" else tuple(k.strip() for k in kinds.split(","))
        for what, value, allowed in (
            *(("kinds", kind, ("all", *KINDS)) for kind in chosen),
            ("difficulty", difficulty, DIFFICULTIES),
            ("prompt", prompt, tuple(WORDINGS)),
        ):
            if value not in allowed:
                raise UsageError(f"scenes: {what} cannot be {value!r}; use {', '.join(allowed)}")
        least = min(SMALLEST[kind] for kind in chosen)
        if n < least:
            raise UsageError(f"scenes: n must be {least} or more for {kinds}, not {n}")
        if not 0 <= seed < 1 << 64:
            raise UsageError(f"scenes: seed must be from 0 to 2**64 - 1, not {seed}")
        self.n, self.seed, self.difficulty = n, seed, difficulty
        self.kinds, self.wording = chosen, prompt
        self.revision = f"{VERSION}, difficulty {difficulty}, seed {seed}"
        self.notices = []

    def items(self) -> Iterator[Item]:
        """Yield the items; the first of a longer run are those of a shorter one."""
        return items(self.seed, self.difficulty, self.kinds, self.n)

    def total(self) -> int:
        """Say about how many there are: groups are never cut, so it may be a few fewer."""
        return self.n

    def prompt(self, item: Item) -> tuple[Message, ...]:
        """Build what is asked: the picture, the question with its options, the form wanted."""
        lettered = [f"{chr(65 + i)}. {text}" for i, text in enumerate(item.choices)]
        lines = [item.question, *lettered, WORDINGS[self.wording], FORMATS[item.form]]
        return (Message("user", (*item.images, "\n".join(line for line in lines if line))),)

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read a reply; what counts depends on the question alone, never on its truth."""
        return {"default": _read(item, text)}

    @classmethod
    def rates(cls, outcomes: pl.DataFrame) -> Iterator[Measurable]:
        """Declare each kind's metrics, with pictures or pairs as clusters."""
        from hardset.benchmarks.scenes_metrics import RATES, selective

        for kind, rates in RATES.items():
            rows = outcomes.filter(outcomes["kind"] == kind)
            if rows.height:
                yield from rates(rows)
        yield from selective(outcomes)


def _read(item: Item, text: str) -> Reading:
    if not any(item.question.endswith(f", and {rest}?") for rest in UNKNOWABLE):
        return _read_one(item, text)
    # A question in two parts: "It is red. I cannot tell who drew it." answers the one it can.
    parts = [_read_one(item, part) for part in _PARTS.split(text) if part.strip()]
    answered = [reading for reading in parts if reading.state is State.ANSWERED]
    if len({reading.answer for reading in answered}) == 1:
        return answered[0]
    return _read_one(item, text)


_PARTS = re.compile(r"(?<=[.!?;])\s+|\n+|,? (?:but|and|although|though|while) ")


def _read_one(item: Item, text: str) -> Reading:
    from hardset import reading

    question = item.question
    if item.form == "choice":
        return reading.read_choice(text, item.choices)
    if item.form == "braces":
        return reading.read_braces_lenient(text)
    if item.form == "yes_no":
        return reading.read_yes_no(text, question)
    refusal = reading.read_refusal(text, question)
    if refusal is not None:
        return refusal
    if item.form == "number":
        return reading.read_number(text, question)
    return _read_open(question, text)


def _read_open(question: str, text: str) -> Reading:
    """Read the word that answers the question, or any other one short answer, which is wrong."""
    from hardset.reading import read_open, read_short

    able = answers_to(question)
    answer = read_open(text, able, question) if able else read_short(text, question)
    if answer.state is not State.UNPARSED:
        return answer
    # A reply that repeats the question names what is in it.
    rest = [word for word in able if word not in tokens(question)]
    other = read_open(text, rest, question) if rest else answer
    if other.state is not State.UNPARSED or answer.rule != NO_CANDIDATE:
        return other
    return read_short(text, question)
