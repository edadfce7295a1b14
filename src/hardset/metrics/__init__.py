"""Rates, pairs, intervals: small pure pieces on columns, never row by row."""

from __future__ import annotations

from hardset.metrics.clusters import connected
from hardset.metrics.interval import wilson
from hardset.metrics.pairs import (
    Pairs,
    misleading_rate,
    pair_cells,
    pair_up,
    paired_accuracy,
    robustness_accuracy,
    two_by_two,
)
from hardset.metrics.rates import JUDGE, accuracy, in_state
from hardset.metrics.ratios import Measurable, Rates, Ratio, estimate
from hardset.metrics.refusal import (
    answerable_accuracy,
    over_refusal,
    published_ratios,
    refusal_f1,
    refusal_grade,
    refusal_precision,
    refusal_ratios,
    refusal_recall,
    verdicts_given,
)
from hardset.metrics.selective import Selective
from hardset.metrics.states import count_states, tally

__all__ = [
    "JUDGE",
    "Measurable",
    "Pairs",
    "Rates",
    "Ratio",
    "Selective",
    "accuracy",
    "answerable_accuracy",
    "connected",
    "count_states",
    "estimate",
    "in_state",
    "misleading_rate",
    "over_refusal",
    "pair_cells",
    "pair_up",
    "paired_accuracy",
    "published_ratios",
    "refusal_f1",
    "refusal_grade",
    "refusal_precision",
    "refusal_ratios",
    "refusal_recall",
    "robustness_accuracy",
    "tally",
    "two_by_two",
    "verdicts_given",
    "wilson",
]
