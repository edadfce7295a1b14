"""Options that stand within a question: "... (A) red (B) blue", a line each or in a row."""

from __future__ import annotations

import re
from typing import NamedTuple

LETTERS = "ABCDEFGHIJ"

# How a mark is written, the surest way first: at the start of a line, in brackets, bare.
_MARKS = (
    re.compile(r"^[ \t]*[(\[]?([A-J])[.):\]][ \t]*(?=\S)", re.MULTILINE),
    re.compile(r"(?<![\w(])[(\[]([A-J])[)\]][.:]?[ \t]*(?=\S)"),
    re.compile(r"(?<!\S)([A-J])[.):][ \t]+(?=\S)"),
)
_ENDED = (".", "?", "!", ":", "\n", ",", ";", "")  # what the question ends in before its options
_INSTRUCTION = re.compile(
    r"(?:\n|(?<=[.;,]) )\s*(?:please\s+)?(?:answer|select|choose|respond|reply|pick)\b.*",
    re.IGNORECASE | re.DOTALL,
)


class Lettered(NamedTuple):
    """A question taken apart: what is asked, and the texts of its options, A first."""

    stem: str
    options: tuple[str, ...]


def take_apart(question: str) -> Lettered:
    """Take the lettered options out of a question.

    They are options if they run from A on without a gap, two or more, each with a text, and
    begin where a sentence or line has ended; "between (A) and (B)" are none.

    Returns:
        The stem and the options; the whole question and no options where there are none.
    """
    for mark in _MARKS:
        found = list(mark.finditer(question))
        count = len(found)
        if count < 2 or [match[1] for match in found] != list(LETTERS[:count]):
            continue
        stem = question[: found[0].start()].rstrip(" \t")
        if stem[-1:] not in _ENDED:
            continue
        ends = [match.start() for match in found[1:]] + [len(question)]
        texts = [question[m.end() : end].strip() for m, end in zip(found, ends, strict=True)]
        texts[-1] = _INSTRUCTION.sub("", texts[-1]).partition("\n")[0].strip()
        texts = [text.rstrip(",;").strip() for text in texts]
        if all(texts):
            return Lettered(stem.strip(), tuple(texts))
    return Lettered(question, ())
