"""The verdict in a judge's reply, on any scale. What cannot be read is none: never a guess."""

from __future__ import annotations

from hardset.judging.verdict.binary import read_true_false
from hardset.judging.verdict.grades import read_grade
from hardset.judging.verdict.letters import read_letter
from hardset.judging.verdict.parts import read_parts
from hardset.judging.verdict.structured import read_json, truth_of

__all__ = [
    "read_grade",
    "read_json",
    "read_letter",
    "read_parts",
    "read_true_false",
    "truth_of",
]
