"""Words and their numbers: the vocabulary of the networks that we train from scratch."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from hardset.lowresource.examples import Examples, Text, Unreadable

PAD, UNKNOWN, BETWEEN = 0, 1, 2  # the marks' numbers; words follow
MARKS = ("<pad>", "<unknown>", "<between>")
MOST_WORDS = 30_000
MOST_COUNTED = 1_000_000  # different words held while counting
MOST_TOKENS = 256  # of an example, as the paper has it
_READ = 1024
_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Return the words and marks of a text, in order, without regard to case."""
    return _WORD.findall(text.casefold())


@dataclass(frozen=True)
class Vocabulary:
    """The words a network knows, the most frequent first."""

    known: tuple[str, ...]
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        numbers = {word: number for number, word in enumerate(self.known, len(MARKS))}
        object.__setattr__(self, "_numbers", numbers)

    def __len__(self) -> int:
        """Return how many numbers there are, marks and all."""
        return len(MARKS) + len(self.known)

    @property
    def sha256(self) -> str:
        """Return what tells this vocabulary from another."""
        return hashlib.sha256("\n".join(self.known).encode()).hexdigest()

    def encode(self, text: Text, most: int = MOST_TOKENS) -> tuple[list[int], list[int]]:
        """Return the numbers of an example's words, and which text (0 or 1) each belongs to.

        Two texts have a mark between them, which belongs to the first. What is too long loses words
        at the end of the longer text. A text without words is one unknown word.
        """
        parts = [[self._numbers.get(word, UNKNOWN) for word in words(part)] for part in text]
        first, *rest = (part or [UNKNOWN] for part in parts)
        if not rest:
            return first[:most], [0] * len(first[:most])
        room = most - 1
        kept = max(room - len(rest[0]), room - room // 2)
        first, second = first[:kept], rest[0][: room - min(len(first), kept)]
        return [*first, BETWEEN, *second], [0] * (len(first) + 1) + [1] * len(second)


def vocabulary(
    examples: Examples, most: int = MOST_WORDS, most_counted: int = MOST_COUNTED
) -> Vocabulary:
    """Return the most frequent words of a training set, read once from its beginning to its end.

    Among equally frequent words the alphabet decides. Memory is bounded: where more than
    `most_counted` different words have been met, the rarer half is dropped and counted anew if met
    again (after Manku & Motwani 2002, lossy counting), which frequent words survive.
    """
    counts: Counter[str] = Counter()
    for text in _texts(examples):
        for part in text:
            counts.update(words(part))
        if len(counts) > most_counted:
            counts = Counter(dict(_ranked(counts)[: most_counted // 2]))
    return Vocabulary(tuple(word for word, _ in _ranked(counts)[:most]))


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _texts(examples: Examples) -> Iterable[Text]:
    for start in range(0, len(examples), _READ):
        positions = np.arange(start, min(start + _READ, len(examples)), dtype=np.int64)
        for content in examples.fetch(positions):
            if not isinstance(content, Unreadable):
                assert isinstance(content, tuple)
                yield content
