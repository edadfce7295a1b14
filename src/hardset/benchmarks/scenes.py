"""Scenes: pictures of simple shapes, drawn on demand, with questions of every kind.

Every answer follows from the graph that the picture is drawn from, so it is exact. The kinds
are small models of the systems this program is about: plain questions, HARDBench's pairs by
object, relation and attribute edits, MMR's leading pairs, MMOOC's shifted contexts and
ZeroBench's many steps with subquestions. It needs no data and no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from hardset.benchmarks.declaration import Opener
from hardset.benchmarks.kinds import WORDINGS, KindsBenchmark, allow, chosen, read_parts
from hardset.errors import UsageError
from hardset.reading.open_answers import NO_CANDIDATE
from hardset.records import Item, Reading, State
from hardset.sources.scenes.graph import DIFFICULTIES, VERSION
from hardset.sources.scenes.items import KINDS, SMALLEST, items
from hardset.sources.scenes.language import UNKNOWABLE, answers_to, tokens


def open_scene(address: str) -> bytes:
    """Draw the PNG at an address such as `v1/default/0/17` (`Image.where` behind `scenes:`)."""
    from hardset.sources.scenes.draw import open_scene as draw

    return draw(address)


class Scenes(KindsBenchmark):
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

    def __init__(
        self,
        n: int = 200,
        seed: int = 0,
        difficulty: Literal["easy", "default", "hard"] = "default",
        kinds: str = "all",
        prompt: Literal["plain", "refusal-allowed", "step-by-step"] = "plain",
    ) -> None:
        picked = chosen("scenes", kinds, KINDS)
        allow("scenes", "difficulty", difficulty, DIFFICULTIES)
        allow("scenes", "prompt", prompt, WORDINGS)
        least = min(SMALLEST[kind] for kind in picked)
        if n < least:
            raise UsageError(f"scenes: n must be {least} or more for {kinds}, not {n}")
        if not 0 <= seed < 1 << 64:
            raise UsageError(f"scenes: seed must be from 0 to 2**64 - 1, not {seed}")
        self.n, self.seed, self.difficulty = n, seed, difficulty
        self.kinds, self.wording = picked, prompt
        self.revision = f"{VERSION}, difficulty {difficulty}, seed {seed}"
        self.notices = []

    def items(self) -> Iterator[Item]:
        """Yield the items; the first of a longer run are those of a shorter one."""
        return items(self.seed, self.difficulty, self.kinds, self.n)

    def total(self) -> int:
        """Say about how many there are: groups are never cut, so it may be a few fewer."""
        return self.n

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read a reply; what counts depends on the question alone, never on its truth."""
        return {"default": _read(item, text)}


def _read(item: Item, text: str) -> Reading:
    if not any(item.question.endswith(f", and {rest}?") for rest in UNKNOWABLE):
        return _read_one(item, text)
    return read_parts(text, lambda part: _read_one(item, part))


def _read_one(item: Item, text: str) -> Reading:
    from hardset import reading

    question = item.question
    if item.form == "choice":
        return reading.read_choice(text, item.choices, item.question)
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
    from hardset.reading.at_odds import at_odds
    from hardset.reading.nothing import nothing_there
    from hardset.reading.refusals import abstained
    from hardset.reading.words import tidy

    if nothing := nothing_there(text, question):
        rule = "what is asked about is not there"
        return Reading(state=State.ABSTAINED, rule=rule, evidence=nothing[:200])
    able = answers_to(question)
    answer = read_open(text, able, question) if able else read_short(text, question)
    if answer.state is not State.UNPARSED:
        return answer
    # A reply that repeats the question names what is in it.
    rest = [word for word in able if word not in tokens(question)]
    other = read_open(text, rest, question) if rest else answer
    words = tidy(text)
    if other.state is State.UNPARSED and (odd := at_odds(words, question)):
        return abstained(words, odd)
    if other.state is not State.UNPARSED or answer.rule != NO_CANDIDATE:
        return other
    return read_short(text, question)
