"""One judge's votes: asked for through `ask`, kept and resumed as replies are, read, asked again.

A vote that cannot be read is asked for once more in another form; what then cannot be read, or
never came, is no vote, never a no.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardset.ask import Asked, ask
from hardset.judging.facts import CHUNK, Facts, Wanted, pairs
from hardset.judging.keys import key_of
from hardset.judging.means import Judge, Means
from hardset.judging.panel import NONE, Votes
from hardset.judging.prompt import Form
from hardset.judging.prompts import prompts_of
from hardset.judging.rubric import Rubric
from hardset.judging.trial import refuses, try_out
from hardset.judging.verdict import (
    read_grade,
    read_json,
    read_letter,
    read_parts,
    read_true_false,
)
from hardset.records import Failure, Item, Prompt, Reply, State

UNREAD = "no verdict in the judge's reply"
LONGEST = 20_000  # characters of a judge's reply that are read: of a longer one, both ends
_VERDICTS = {"verdict", "answer", "result", "judgment", "judgement", "conclusion", "decision"}


class Ballot:
    """One judge's votes on every row and rubric, as they come in.

    Attributes:
        votes: by key, (rows,); `NONE` where there is none.
        due: by rubric, (rows,): what this judge was asked.
        failures: why votes never came, and how many for each reason.
        stopped: why the asking ended early, if it did.
        prompts: the SHA-256 of the keys of all that was asked.
        forms: by rubric: "json" where the endpoint holds its replies to a schema, else "words".
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
        form: Form = "json" if getattr(judge.model, "gives_json", False) else "words"
        self.forms: dict[str, Form] = {rubric.name: form for rubric in rubrics}
        self.tried: set[str] = set()  # rubrics of which it is known what the endpoint takes
        self.refused_json = ""  # what the endpoint said of the schema, if it would not have it
        self.refused_pictures = ""  # the same of a picture
        self._rows = rows
        self.recheck_failures: dict[str, int] = {}  # why votes of a check never came

    @property
    def form(self) -> str:
        """The form in which it was asked: "json", "words", or both, where rubrics differ."""
        return ", ".join(sorted(set(self.forms.values())))

    async def vote(self, facts: Facts, wanted: Wanted, means: Means) -> None:
        """Ask for the votes that are wanted, once, and once more for those that cannot be read."""
        for name, mask in wanted.items():
            self.due[name] |= mask
        await try_out(self, facts, wanted, means)
        first = dict(self.forms)
        unread = await self._ask(facts, wanted, means, self.votes, first, self.failures)
        if unread and self.stopped is None:
            again: dict[str, Form] = {
                name: "words" if form == "json" else "again" for name, form in first.items()
            }
            unread = await self._ask(
                facts, unread, means, self.votes, again, self.failures, last=True
            )
        for rubric in facts.rubrics:
            if rubric.name in unread:
                lost = unread[rubric.name]
                votes = [self.votes[key] for key in rubric.keys]
                count = sum(int((lost & (vote == NONE)).sum()) for vote in votes)
                _lost(self.failures, UNREAD, count)

    async def recheck(
        self, facts: Facts, wanted: Wanted, means: Means, *, repeat: int = 0, turned: bool = False
    ) -> dict[str, Votes]:
        """Ask again what was asked: as another repeat, or with everything in the opposite order.

        Returns:
            The votes by key, (rows,). What cannot be read is not asked for once more. Why votes
            never came is counted in `recheck_failures`.
        """
        found = {key: np.full(self._rows, NONE, np.int16) for key in self.votes}
        await self._ask(
            facts, wanted, means, found, self.forms, self.recheck_failures,
            last=True, repeat=repeat, turned=turned,
        )  # fmt: skip
        return found

    async def _ask(
        self,
        facts: Facts,
        wanted: Wanted,
        means: Means,
        votes: dict[str, Votes],
        forms: Mapping[str, Form],
        failures: dict[str, int],
        *,
        last: bool = False,
        repeat: int = 0,
        turned: bool = False,
    ) -> dict[str, NDArray[np.bool_]]:
        """Ask for some votes and read them; give back, by rubric, which are to be asked once more.

        Those are what cannot be read and, unless this is the `last` asking, what the endpoint would
        not have as JSON.
        """
        total = sum(int(mask.sum()) for mask in wanted.values())
        whole = {rubric.name: len(rubric.keys) for rubric in facts.rubrics}
        prompts = prompts_of(self.judge, facts, wanted, forms, repeat=repeat, turned=turned)
        replies: Iterator[Reply]
        if means.spent_all:  # what was paid for before counts all the same
            replies = self._stored(prompts, means)
        else:
            asked = await self._asking(prompts, total, means)
            self._keep(asked)
            replies = asked.replies(means.store)
        # Few replies differ, where a word is due.
        read_of = {
            rubric.name: lru_cache(512)(partial(read_votes, rubric)) for rubric in facts.rubrics
        }
        unread: dict[str, NDArray[np.bool_]] = {}
        for (row, rubric), reply in zip(pairs(facts.rubrics, wanted), replies, strict=False):
            read: Mapping[str, int] = {}
            if reply.failure is not None:
                if last or forms[rubric.name] != "json" or not refuses(reply.failure):
                    reason = means.told(reply.failure.reason)
                    _lost(failures, reason, whole[rubric.name])
                    continue
            elif reply.finish != "length":
                read = read_of[rubric.name](reply.text)
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

    def _stored(self, prompts: Iterator[tuple[Prompt, Item]], means: Means) -> Iterator[Reply]:
        """Read what the store holds of some prompts, where nothing more may be asked."""
        model, library = self.judge.model, means.library(self.judge.model)
        none = Reply(failure=Failure(state=State.REQUEST_FAILED, reason=means.spent_all))
        while some := list(islice(prompts, CHUNK)):
            keys = [key_of(model, prompt, item, library) for prompt, item in some]
            held = means.store.replies(list(dict.fromkeys(keys)))
            yield from (held.get(key, none) for key in keys)

    def _keep(self, asked: Asked) -> None:
        self.stopped = self.stopped or asked.stopped
        self.prompts.update(asked.keys)


def _lost(failures: dict[str, int], reason: str, votes: int) -> None:
    """Count votes that never came; one asking may have been for several."""
    if votes:
        failures[reason] = failures.get(reason, 0) + votes


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
