"""In which order options were shown: a letter means nothing without it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Order = tuple[int, ...]
"""For each option as it was shown, which of the item's options it is."""

_LETTERED = re.compile(r"^[ \t]*\(?([A-Z])[.):][ \t]*(.*\S)[ \t]*$", re.MULTILINE)


def order_of(choices: Sequence[str], shown: Sequence[str]) -> Order | Literal["other"]:
    """Match the options as they were shown with an item's own, by their texts.

    Args:
        choices: the item's options.
        shown: the options as they were shown.

    Returns:
        The order; or "other", where the texts are not the same ones, or where two of them are
        equal, so that it cannot be told which stood where.
    """
    ours, theirs = [_folded(text) for text in choices], [_folded(text) for text in shown]
    if ours == theirs:
        return tuple(range(len(ours)))
    if sorted(ours) != sorted(theirs) or len(set(ours)) < len(ours):
        return "other"
    return tuple(ours.index(text) for text in theirs)


def options_in(prompt: str, choices: Sequence[str]) -> tuple[str, ...]:
    """Return the options that stand in a prompt, a lettered line each, in the order A, B, C, ….

    Empty where the prompt does not show all of an item's options so.
    """
    lines = dict(_LETTERED.findall(prompt))
    letters = [chr(65 + i) for i in range(len(choices))]
    if any(letter not in lines for letter in letters):
        return ()
    shown = tuple(lines[letter] for letter in letters)
    same = sorted(map(_folded, shown)) == sorted(map(_folded, choices))
    return shown if same else ()


def before_options(question: str) -> str:
    """Return what stands before the first option in a question that holds them; else all of it."""
    first = _LETTERED.search(question)
    return question[: first.start()] if first else question


def _folded(text: str) -> str:
    return " ".join(text.split()).rstrip(" .;,").casefold()
