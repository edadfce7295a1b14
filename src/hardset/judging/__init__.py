"""Judging: replies held against a rubric by other models, on the same road as every reply.

Every name below is imported when it is first used: a run without judges needs none of it but the
roles of its models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hardset.judging.estimate import Estimate as Estimate
    from hardset.judging.facts import Facts as Facts
    from hardset.judging.means import Judge as Judge
    from hardset.judging.means import Means as Means
    from hardset.judging.rubric import Rubric as Rubric
    from hardset.judging.rubric import load as load
    from hardset.judging.ruling import rule as rule
    from hardset.judging.verdict import read_true_false as read_true_false
    from hardset.judging.verdicts import Panel as Panel
    from hardset.judging.verdicts import Verdicts as Verdicts
    from hardset.judging.verdicts import judge as judge

_LAZY = {
    "Estimate": "estimate",
    "Facts": "facts",
    "Judge": "means",
    "Means": "means",
    "Panel": "verdicts",
    "Rubric": "rubric",
    "Verdicts": "verdicts",
    "judge": "verdicts",
    "load": "rubric",
    "read_true_false": "verdict",
    "rule": "ruling",
}

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


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'hardset.judging' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"hardset.judging.{_LAZY[name]}"), name)
