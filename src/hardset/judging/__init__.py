"""Judging: replies held against a rubric by other models, on the same road as every reply."""

from __future__ import annotations

from hardset.judging.estimate import Estimate
from hardset.judging.facts import Facts
from hardset.judging.means import Judge, Means
from hardset.judging.rubric import Rubric, load
from hardset.judging.ruling import rule
from hardset.judging.verdict import read_true_false
from hardset.judging.verdicts import Panel, Verdicts, judge

__all__ = [
    "Estimate",
    "Facts",
    "Judge",
    "Means",
    "Panel",
    "Rubric",
    "Verdicts",
    "judge",
    "load",
    "read_true_false",
    "rule",
]
