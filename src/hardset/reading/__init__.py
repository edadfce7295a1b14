"""Replies to answers: one reader each for the whole program, as rules that say their name."""

from __future__ import annotations

from hardset.reading.braces import read_braces_lenient, read_braces_official, same_lenient
from hardset.reading.choices import read_choice
from hardset.reading.matching import read_match
from hardset.reading.numbers import number_of, read_number
from hardset.reading.open_answers import normalise, read_open, read_short, same_answer
from hardset.reading.refusals import read_refusal
from hardset.reading.yes_no import read_yes_no

__all__ = [
    "normalise",
    "number_of",
    "read_braces_lenient",
    "read_braces_official",
    "read_choice",
    "read_match",
    "read_number",
    "read_open",
    "read_refusal",
    "read_short",
    "read_yes_no",
    "same_answer",
    "same_lenient",
]
