"""A reply as a file has it: the reply, and everything the file says of what it answers."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hardset.errors import UsageError
from hardset.models.faults import code_and_message, shorten, speaks_of_policy
from hardset.models.wire import BROKE_OFF, FINISH
from hardset.records import Failure, Reply, State

_INSTEAD = re.compile(
    r"\s*\[?(REQUEST|API|INFERENCE|GENERATION)[ _](FAILED|FAILURE|ERROR)\b"
    r"|\s*Failed to obtain answer\b"
)


class Found(Struct, frozen=True, kw_only=True):
    """One reply found in a file made elsewhere.

    Attributes:
        where: its place, for messages: "answers.jsonl, line 3".
        reply: the reply, or the failure in its place.
        ids: what may be the item's id, the likeliest first.
        repeat: the number of the repeat, counted from anywhere; None where the file has none.
        question: the question, alone or inside the prompt that held it; "" where not told.
        role: the role in the pair, for files whose ids are the pairs'.
        position: the item's place in the data, counted from 0, where the file numbers its rows.
        options: the option texts in the order in which they were shown, where the file tells it.
        model: who replied, where the file tells it.
        confidence: how sure the reply was said to be, from 0 to 1, where the file tells it.
    """

    where: str
    reply: Reply
    ids: tuple[str, ...] = ()
    repeat: int | None = None
    question: str = ""
    role: str = ""
    position: int | None = None
    options: tuple[str, ...] = ()
    model: str = ""
    confidence: float | None = None

    @property
    def name(self) -> str:
        """What the file calls it, for messages."""
        own = self.ids[0] if self.ids else "" if self.position is None else str(self.position)
        return f"{own} {self.role}".strip() or self.where


def failed(reason: str, state: State = State.REQUEST_FAILED) -> Reply:
    """Make the reply that stands for a request that failed elsewhere."""
    return Reply(failure=Failure(state=state, reason=reason))


def of_error(error: Any, who: str) -> Reply:
    """Make the failure that an error of any shape means: a content policy's, or another.

    Args:
        error: a message, or the error object of an API.
        who: whose error it is, to begin the reason with.
    """
    code, message = code_and_message(error)
    reason = f"{who}: {message}" if code in ("", message) else f"{who}: {code}: {message}"
    refused = speaks_of_policy(code or message, message)
    return failed(reason, State.PROVIDER_REFUSED if refused else State.REQUEST_FAILED)


def ended(text: str, word: Any, tokens_in: Any = 0, tokens_out: Any = 0) -> Reply:
    """Make a reply out of its text and the word for how it ended, in whosever vocabulary.

    What harnesses write in the place of a reply, like `[REQUEST_FAILED timeout]`, is a failure.
    """
    if _INSTEAD.match(text):
        return failed(f"in the place of a reply: {shorten(text)}")
    finish = str(word or "stop").strip().lower()
    finish = FINISH.get(finish, finish)
    if finish in BROKE_OFF:
        return failed(f"the reply broke off ({finish})")
    return Reply(text=text, finish=finish, tokens_in=count(tokens_in), tokens_out=count(tokens_out))


def count(value: Any) -> int:
    """Return a count of tokens; what cannot be one is none."""
    try:
        number = float(value or 0)
    except (TypeError, ValueError):
        return 0
    return int(number) if 0 <= number < 2**40 else 0


def text_of(value: Any) -> str | None:
    """Return what stands for a text as one: null and NaN are "", numbers their digits.

    None where it is a list or an object, which are no reply.
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:  # NaN is what tables have where nothing is
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else None


def parts_of(value: Any) -> list[Mapping[str, Any]] | None:
    """Return the objects in a list; null is an empty one, and None stands for anything else."""
    if value is None:
        return []
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else None


def id_of(value: Any) -> str:
    """Return an id as a text; 3.0 is what a table made of 3; "" where there is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (text_of(value) or "").strip()


def number_of(value: Any) -> int | None:
    """Return a whole number of 0 or more, given as a number or in digits; None for all else."""
    text = id_of(value)
    return int(text) if text.isascii() and text.isdigit() else None


def options_of(value: Any) -> tuple[str, ...]:
    """Return options given as a list of texts, or as the text of such a list; else none."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return ()
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return ()


def share_of(where: str, value: Any) -> float | None:
    """Return a confidence, from 0 to 1; None where there is none.

    Raises:
        UsageError: it is no such number.
    """
    if text_of(value) == "":
        return None
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"{where}: confidence is {value!r}, not from 0 to 1")
    return share
