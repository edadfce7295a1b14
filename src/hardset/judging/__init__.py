"""Judging: replies held against a rubric by another model, on the same road as every reply."""

from __future__ import annotations

from hardset.judging.rubric import Rubric, load, render
from hardset.judging.ruling import rule
from hardset.judging.verdict import read_true_false
from hardset.judging.verdicts import Verdicts, judge

__all__ = [
    "Rubric",
    "Verdicts",
    "judge",
    "load",
    "read_true_false",
    "render",
    "rule",
]
