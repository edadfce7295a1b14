"""One judge's votes: asked for through `ask`, kept and resumed as replies are, read, asked again.

A vote that cannot be read is asked for once more in another form; what then cannot be read, or
never came, is no vote, never a no.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardset.ask import INTERRUPTED, Asked, ask
from hardset.judging.facts import Facts, Wanted, pairs
from hardset.judging.means import Judge, Means
from hardset.judging.panel import NONE, Votes
from hardset.judging.prompt import Form, Prompter
from hardset.judging.rubric import Rubric
from hardset.judging.verdict import (
    read_grade,
    read_json,
    read_letter,
    read_parts,
    read_true_false,
)
from hardset.records import Failure, Item, Message, Prompt, Sampling

SAMPLING = Sampling(temperature=0.0, max_tokens=1024)
"""A word or two is due, and a judge that reasons first needs room."""
UNREAD = "no verdict in the judge's reply"
LONGEST = 20_000  # characters of a judge's reply that are read: of a longer one, both ends
_VERDICTS = {"verdict", "answer", "result", "judgment", "judgement", "conclusion", "decision"}
_NOT_BUSY = re.compile(r"answered 50[01]")  # other faults that pass are no refusal of a form


class Ballot:
    """One judge's votes on every row and rubric, as they come in.

    Attributes:
        votes: by key, (rows,); `NONE` where there is none.
        due: by rubric, (rows,): what this judge was asked.
        failures: why votes never came, and how many for each reason.
        stopped: why the asking ended early, if it did.
        prompts: the SHA-256 of the keys of all that was asked.
        form: "json" where the endpoint holds its replies to a schema, else "words".
    """

    def __init__(self, judge: Judge, rubrics: Sequence[Rubric], rows: int) -> None:
        self.judge = judge
        self.votes: dict[str, Votes] = {
            key: np.full(rows, NONE, np.int16) for rubric in rubrics for key in rubric.keys
        }
        self.due = {rubric.name: np.zeros(rows, np.bool_) for rubric in rubrics}
        self.failures: dict[str, int] = {}
        self.stopped: str | None = None
        self.prompts = hashlib.sha256()
        self.form: Form = "json" if getattr(judge.model, "gives_json", False) else "words"
        self.refused_json = ""  # what the endpoint said of the schema, if it would not have it
        self.refused_pictures = ""  # the same of a picture
        self._rows = rows
        self._tried_json = self._tried_pictures = False

    async def vote(self, facts: Facts, wanted: Wanted, means: Means) -> None:
        """Ask for the votes that are wanted, once, and once more for those that cannot be read."""
        for name, mask in wanted.items():
            self.due[name] |= mask
        await self._try(facts, wanted, means)
        first = self.form
        unread = await self._ask(facts, wanted, means, self.votes, form=first)
        if unread and self.stopped is None:
            again: Form = "words" if first == "json" else "again"
            unread = await self._ask(facts, unread, means, self.votes, form=again)
        for rubric in facts.rubrics:
            if rubric.name in unread:
                lost = unread[rubric.name]
                votes = [self.votes[key] for key in rubric.keys]
                self._lost(UNREAD, sum(int((lost & (vote == NONE)).sum()) for vote in votes))

    async def recheck(
        self, facts: Facts, wanted: Wanted, means: Means, *, repeat: int = 0, turned: bool = False
    ) -> dict[str, Votes]:
        """Ask again what was asked: as another repeat, or with everything in the opposite order.

        Returns:
            The votes by key, (rows,). What cannot be read is not asked for once more.
        """
        found = {key: np.full(self._rows, NONE, np.int16) for key in self.votes}
        await self._ask(facts, wanted, means, found, form=self.form, repeat=repeat, turned=turned)
        return found

    async def _try(self, facts: Facts, wanted: Wanted, means: Means) -> None:
        """See by the first vote that is due whether the endpoint takes a schema, and pictures.

        What it will not have is left out from then on, and said. The votes themselves are kept.
        """
        shown = {rubric.name for rubric in facts.rubrics if rubric.picture and self.judge.sees}
        pictured = {name: mask for name, mask in wanted.items() if name in shown and mask.any()}
        trying_pictures = bool(pictured) and not self._tried_pictures
        trying_json = self.form == "json" and not self._tried_json
        first = next(pairs(facts.rubrics, pictured if trying_pictures else wanted), None)
        if first is None or means.spent_all or not (trying_json or trying_pictures):
            return
        self._tried_json, self._tried_pictures = True, self._tried_pictures or trying_pictures
        forms: list[Form] = ["json", "words"] if trying_json else [self.form]
        blind = replace(self.judge, blind=True)
        reasons: list[str] = []
        for judge in (self.judge, blind) if trying_pictures else (self.judge,):
            for form in forms:
                failure = await self._first(judge, form, facts, first, means)
                if failure is None:
                    if form != self.form:
                        self.form, self.refused_json = form, reasons[0]
                    if judge is not self.judge:
                        self.judge, self.refused_pictures = judge, reasons[0]
                    return
                if self.stopped or (failure.transient and not _NOT_BUSY.search(failure.reason)):
                    return
                reasons.append(failure.reason)

    async def _first(
        self, judge: Judge, form: Form, facts: Facts, first: tuple[int, Rubric], means: Means
    ) -> Failure | None:
        """Ask for one vote, which is kept; give why there is none."""
        row, rubric = first
        one = {rubric.name: np.zeros(self._rows, np.bool_)}
        one[rubric.name][row] = True
        prompts = prompts_of(judge, facts, one, form)
        asked = await ask(
            prompts,
            judge.model,
            means.store,
            means.library(judge.model),
            means.limits_of(judge),
            stop=means.stop,
            total=1,
        )
        means.spend(asked)  # it is counted where all votes are asked for
        if asked.stopped == INTERRUPTED:
            self.stopped = INTERRUPTED
        return next(asked.replies(means.store)).failure

    async def _ask(
        self,
        facts: Facts,
        wanted: Wanted,
        means: Means,
        votes: dict[str, Votes],
        *,
        form: Form,
        repeat: int = 0,
        turned: bool = False,
    ) -> dict[str, NDArray[np.bool_]]:
        """Ask for some votes and read them; give back, by rubric, which could not be read."""
        total = sum(int(mask.sum()) for mask in wanted.values())
        whole = {rubric.name: len(rubric.keys) for rubric in facts.rubrics}
        if means.spent_all:
            due = sum(whole[name] * int(mask.sum()) for name, mask in wanted.items())
            self._lost(means.spent_all, due)
            return {}
        prompts = self._prompts(facts, wanted, form, repeat=repeat, turned=turned)
        asked = await self._asking(prompts, total, means)
        self._keep(asked)
        # Few replies differ, where a word is due.
        read_of = {
            rubric.name: lru_cache(512)(partial(read_votes, rubric)) for rubric in facts.rubrics
        }
        unread: dict[str, NDArray[np.bool_]] = {}
        for (row, rubric), reply in zip(
            pairs(facts.rubrics, wanted), asked.replies(means.store), strict=False
        ):
            if reply.failure is not None:
                self._lost(means.told(reply.failure.reason), whole[rubric.name])
                continue
            read = read_of[rubric.name](reply.text) if reply.finish != "length" else {}
            for key, vote in read.items():
                votes[key][row] = vote
            if len(read) < whole[rubric.name]:
                if rubric.name not in unread:
                    unread[rubric.name] = np.zeros(self._rows, np.bool_)
                unread[rubric.name][row] = True
        return unread

    async def _asking(
        self, prompts: Iterator[tuple[Prompt, Item]], total: int, means: Means
    ) -> Asked:
        asked = await ask(
            prompts,
            self.judge.model,
            means.store,
            means.library(self.judge.model),
            means.limits_of(self.judge),
            means.tell if means.progress else None,
            means.stop,
            total=total,
        )
        means.over(asked)
        return asked

    def _lost(self, reason: str, votes: int) -> None:
        """Count votes that never came; one asking may have been for several."""
        if votes:
            self.failures[reason] = self.failures.get(reason, 0) + votes

    def _keep(self, asked: Asked) -> None:
        self.stopped = self.stopped or asked.stopped
        self.prompts.update(asked.keys)

    def _prompts(
        self, facts: Facts, wanted: Wanted, form: Form, *, repeat: int, turned: bool
    ) -> Iterator[tuple[Prompt, Item]]:
        """Write the prompts, row by row."""
        return prompts_of(self.judge, facts, wanted, form, repeat=repeat, turned=turned)


def prompts_of(
    judge: Judge,
    facts: Facts,
    wanted: Wanted,
    form: Form,
    *,
    repeat: int = 0,
    turned: bool = False,
) -> Iterator[tuple[Prompt, Item]]:
    """Write what a judge is asked for some votes, row by row."""
    made = {
        rubric.name: (
            Prompter(rubric, form, sees_picture=rubric.picture and judge.sees, turned=turned),
            rubric.picture and judge.sees,
            rubric.schema if form == "json" else "",
        )
        for rubric in facts.rubrics
    }
    for rubric, item, shown in facts.walk(wanted):
        prompter, pictured, schema = made[rubric.name]
        text = prompter(shown)
        content: tuple[Any, ...] = (*item.images, text) if pictured else (text,)
        asked = Item(id=f"{item.id} {rubric.name}", question=text)
        message = Message("user", content)
        yield Prompt(messages=(message,), sampling=SAMPLING, repeat=repeat, schema=schema), asked


def read_votes(rubric: Rubric, text: str) -> dict[str, int]:
    """Read a judge's reply: the votes by key, without those that cannot be read."""
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
    found = read_json(text) if text.lstrip()[:1] in ("{", "`") else None
    if found is not None and len(held := _of_json(rubric, found)) == len(rubric.keys):
        return held  # what a schema gives; other JSON is a reply in words
    if found is not None and rubric.negated:
        # `{"refused": true}` names the verdict itself, and is not turned round.
        named = found.get(rubric.name)
        if isinstance(named, bool):
            return {rubric.name: int(named)}
        if not found.keys() & _VERDICTS:
            return {}
    read: Mapping[str, int | None]
    if rubric.parts:
        parts = read_parts(text, tuple(rubric.parts))
        read = {f"{rubric.name}.{part}": _of_bool(parts[part]) for part in rubric.parts}
    elif rubric.anchors:
        read = {rubric.name: read_grade(text, rubric.low, rubric.high)}
    elif rubric.letters:
        letter = read_letter(text, "".join(rubric.letters))
        read = {rubric.name: None if letter is None else ord(letter) - 65}
    else:
        said = read_true_false(text)
        read = {rubric.name: _of_bool(None if said is None else said != rubric.negated)}
    return {key: vote for key, vote in read.items() if vote is not None}


def _of_json(rubric: Rubric, found: Mapping[str, Any]) -> dict[str, int]:
    """Read the object that a schema asks for; a value that it would not allow is none."""
    read: dict[str, int] = {}
    if rubric.anchors:
        score = found.get("score")
        if isinstance(score, int) and not isinstance(score, bool):
            read = {rubric.name: score} if rubric.low <= score <= rubric.high else {}
    elif rubric.letters:
        letter = found.get("verdict")
        if isinstance(letter, str) and letter in rubric.letters:
            read = {rubric.name: ord(letter) - 65}
    elif rubric.parts:
        said = {part: found.get(part) for part in rubric.parts}
        read = {f"{rubric.name}.{p}": int(v) for p, v in said.items() if isinstance(v, bool)}
    elif isinstance(found.get("verdict"), bool):
        read = {rubric.name: int(found["verdict"] != rubric.negated)}
    return read


def _of_bool(value: bool | None) -> int | None:
    return None if value is None else int(value)
