"""Pairs, refusals and states: by hand, at the corners, and as laws."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.metrics import (
    accuracy,
    count_states,
    estimate,
    misleading_rate,
    pair_up,
    paired_accuracy,
    refusal_ratios,
    robustness_accuracy,
    tally,
    two_by_two,
)
from hardset.records import State


def members(rows):
    return pl.DataFrame(rows, schema=["pair", "role", "right"], orient="row")


def paired(frame, **more):
    return pair_up(frame, first="POS", second="NEG", columns=["right"], **more)


def test_pairs_are_made_in_either_order_and_broken_ones_set_apart():
    frame = members(
        [
            ("a", "POS", True),
            ("b", "NEG", False),  # the order inside a pair varies
            ("b", "POS", True),
            ("a", "NEG", True),
            ("c", "POS", True),  # the same role twice
            ("c", "POS", False),
            ("d", "NEG", True),  # a member missing
            ("e", "POS", True),  # a third
            ("e", "NEG", True),
            ("e", "NEG", True),
            ("f", "POS", True),  # a third of another name
            ("f", "NEG", True),
            ("f", "other", True),
            ("", "POS", True),  # no pair at all
            (None, "NEG", True),
        ]
    )
    pairs = paired(frame)
    assert pairs.sound.select("pair", "first_right", "second_right").rows() == [
        ("a", True, True),
        ("b", True, False),
    ]
    assert pairs.broken.select("pair", "roles").rows() == [
        ("c", "POS, POS"),
        ("d", "NEG"),
        ("e", "POS, NEG, NEG"),
        ("f", "POS, NEG, other"),
    ]


def test_pairs_are_made_within_a_repeat_and_keep_the_firsts_cuts():
    frame = members([("a", "POS", True), ("a", "NEG", False)] * 2).with_columns(
        repeat=pl.Series([0, 0, 1, 1]), level=pl.Series(["x", "y", "x", "y"])
    )
    pairs = paired(frame, keep=["level", "pair"])
    assert pairs.sound.select("pair", "repeat", "level").rows() == [("a", 0, "x"), ("a", 1, "x")]


# 10 pairs: both right 4, positive only 2, negative only 1, neither 3
TEN = [(True, True)] * 4 + [(True, False)] * 2 + [(False, True)] + [(False, False)] * 3


def laid_out(cells):
    return pl.DataFrame(
        {
            "pair": [str(i) for i in range(len(cells))],
            "first_right": [a for a, _ in cells],
            "second_right": [b for _, b in cells],
        },
        schema_overrides={"first_right": pl.Boolean, "second_right": pl.Boolean},
    )


def test_ra_and_mr_by_hand():
    ra, mr, both = estimate(
        laid_out(TEN), [robustness_accuracy(), misleading_rate(), paired_accuracy()], cluster="pair"
    )
    assert (ra.numerator, ra.denominator) == (4, 10)  # both right / pairs
    assert (mr.numerator, mr.denominator) == (2, 6)  # 2 of the 4 + 2 with the positive right
    assert (ra.better, mr.better) == ("higher", "lower")
    assert both.value == ra.value
    assert ra.method == mr.method == "wilson"  # a pair is one independent row
    assert two_by_two(laid_out(TEN)).row(0, named=True) == {
        "both": 4,
        "first_only": 2,
        "second_only": 1,
        "neither": 3,
    }


def test_mr_is_undefined_where_no_positive_is_right():
    (mr,) = estimate(laid_out([(False, True), (False, False)]), [misleading_rate()], cluster="pair")
    assert (mr.value, mr.low, mr.high, mr.denominator) == (None, None, None, 0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_ra_is_at_most_either_members_accuracy_and_follows_from_mr(cells):
    ra, mr = estimate(
        laid_out(cells), [robustness_accuracy(), misleading_rate()], cluster="pair", draws=10
    )
    positive = sum(a for a, _ in cells) / len(cells)
    negative = sum(b for _, b in cells) / len(cells)
    assert ra.value <= min(positive, negative)
    if mr.value is not None:
        assert ra.value == pytest.approx(positive * (1 - mr.value))


# --- refusal --------------------------------------------------------------------------------


def outcomes(rows):
    return pl.DataFrame(rows, schema=["pair", "role", "answerable", "state", "right"], orient="row")


def test_always_refusing_on_a_balanced_set_has_f1_two_thirds_and_no_pair():
    frame = outcomes(
        [
            row
            for i in range(50)
            for row in (
                (str(i), "original", True, "abstained", False),
                (str(i), "edited", False, "abstained", True),
            )
        ]
    )
    found = {m.name: m for m in estimate(frame, refusal_ratios(), cluster="pair")}
    # precision 50/100, recall 50/50: F1 = 2 * 50 / (100 + 50) = 2/3
    assert found["refusal F1"].value == pytest.approx(2 / 3)
    assert (found["refusal F1"].numerator, found["refusal F1"].denominator) == (100, 150)
    assert found["refusal precision"].value == 0.5
    assert found["refusal recall"].value == 1.0
    assert found["over-refusal"].value == 1.0
    assert found["answerable accuracy"].value == 0.0
    pairs = pair_up(frame, first="original", second="edited", columns=["right"])
    (both,) = estimate(pairs.sound, [paired_accuracy()], cluster="pair")
    assert (both.numerator, both.denominator, both.value) == (0, 50, 0.0)


def test_refusal_by_hand_with_failed_rows_in_every_denominator():
    frame = outcomes(
        [
            ("", "", True, "answered", True),
            ("", "", True, "answered", False),
            ("", "", True, "abstained", False),
            ("", "", True, "request-failed", False),
            ("", "", True, "unparsed", False),
            ("", "", False, "abstained", True),
            ("", "", False, "answered", False),
            ("", "", False, "provider-refused", False),  # the filter spoke, not the model
            ("", "", False, "truncated", False),
        ]
    )
    found = {
        m.name: (m.numerator, m.denominator)
        for m in estimate(frame, refusal_ratios(), cluster=None)
    }
    assert found == {
        "answerable accuracy": (1, 5),
        "over-refusal": (1, 5),
        "refusal recall": (1, 4),
        "refusal precision": (1, 2),
        "refusal F1": (2, 6),  # 2 * 1 / (2 refused + 4 unanswerable)
    }
    (whole,) = estimate(frame, [accuracy()], cluster=None)
    assert (whole.numerator, whole.denominator) == (2, 9)


def test_precision_is_undefined_where_nothing_is_refused_and_f1_is_zero():
    frame = outcomes([("", "", False, "answered", False), ("", "", True, "answered", True)])
    found = {m.name: m.value for m in estimate(frame, refusal_ratios(), cluster=None)}
    assert found["refusal precision"] is None
    assert found["refusal F1"] == 0.0


def test_another_readings_columns_are_read():
    frame = outcomes([("", "", False, "answered", False)]).with_columns(
        paper_state=pl.lit("abstained"), paper_right=pl.lit(True)
    )
    found = {m.name: m.value for m in estimate(frame, refusal_ratios("paper"), cluster=None)}
    assert found["refusal recall"] == 1.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from([s.value for s in State])), min_size=1))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(rows):
    frame = outcomes([("", "", answerable, state, False) for answerable, state in rows])
    found = {m.name: m.value for m in estimate(frame, refusal_ratios(), cluster=None, draws=10)}
    precision, recall = found["refusal precision"], found["refusal recall"]
    if precision and recall:
        assert found["refusal F1"] == pytest.approx(2 * precision * recall / (precision + recall))
    else:
        assert not found["refusal F1"]


# --- states ---------------------------------------------------------------------------------


def test_every_state_is_counted_the_zeros_too():
    frame = pl.DataFrame({"state": ["answered", "unparsed", "answered"]})
    assert tally(frame) == {
        "answered": 2,
        "abstained": 0,
        "provider-refused": 0,
        "truncated": 0,
        "unparsed": 1,
        "bad-media": 0,
        "request-failed": 0,
    }
    assert sum(tally(frame.head(0)).values()) == 0


def test_states_are_counted_in_each_slice():
    frame = pl.DataFrame({"level": ["b", "a", "b", None], "state": ["answered"] * 3 + ["unparsed"]})
    counted = count_states(frame, ["level"])
    assert len(counted) == 3 * len(State)
    assert counted.filter(pl.col("count") > 0).rows() == [
        (None, "unparsed", 1),
        ("a", "answered", 1),
        ("b", "answered", 2),
    ]


def test_a_row_in_no_known_state_is_an_error():
    with pytest.raises(ValueError, match="'lost' in 1 rows"):
        tally(pl.DataFrame({"state": ["answered", "lost"]}))
