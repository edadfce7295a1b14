"""Rates corrected by people's labels: by hand, by enumeration, and the laws they obey."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hardset.metrics.correction import POWERED, ROGAN_GLADEN, prediction_powered, rogan_gladen
from hardset.metrics.interval import student, wilson

JUDGE = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
LABELLED = np.array([0, 1, 4, 5, 6])
PERSON = np.array([1, 0, 0, 0, 0])


def share(judge, labelled, person, **how):
    """The plain share of rows with a verdict, prediction-powered."""
    return prediction_powered(
        "share", judge, np.ones(len(judge)), labelled, person, np.ones(len(labelled)), **how
    )


# --- by hand --------------------------------------------------------------------------------


def test_a_share_by_hand():
    """Judge: 4 of 10. Labelled within its verdicts: 2 of 4 yes, one of them wrong; 3 of 6 no.

    Each label stands for two rows: 4 + 2 x (0 - 1) = 2 of 10. Rogan-Gladen: people's yes weighs
    2, all of it seen; their no 2 + 6, of which 6 seen: (0.4 + 0.75 - 1) / (1 + 0.75 - 1) = 0.2.
    """
    powered = share(JUDGE, LABELLED, PERSON, strata=JUDGE)
    assert (powered.method, powered.raw, powered.value) == (POWERED, 0.4, pytest.approx(0.2))
    assert (powered.rows, powered.labelled, powered.differing) == (10, 5, 1)
    taken_back = rogan_gladen("share", JUDGE, LABELLED, PERSON, strata=JUDGE)
    assert (taken_back.method, taken_back.sensitivity) == (ROGAN_GLADEN, 1)
    assert taken_back.specificity == pytest.approx(0.75)
    assert taken_back.value == pytest.approx(0.2)
    assert taken_back.differing == 1
    for one in (powered, taken_back):
        assert 0 <= one.low < 0.2 < one.high <= 1


def test_a_ratio_whose_bottom_is_judged_too():
    """Precision: judge 3 of 4 refusals due. Row 1 (due) was none: 3 - 2 over 4 - 2."""
    due = np.array([1, 1, 1, 0, 1, 1, 0, 0, 0, 0])
    told = np.array([1, 0, 0, 0, 0])
    found = prediction_powered(
        "precision", JUDGE * due, JUDGE, LABELLED, told * due[LABELLED], told, strata=JUDGE
    )
    assert found.raw == pytest.approx(3 / 4)
    assert found.value == pytest.approx((3 - 2) / (4 - 2))


def test_rogan_and_gladens_formula():
    """A share of 0.3 seen with sensitivity 0.8 and specificity 0.9: (0.3 - 0.1) / 0.7.

    100 rows, 30 yes; ten with a person's yes, eight of them seen; ten with a no, one mistaken.
    """
    judge = np.repeat([1, 0], [30, 70])
    labelled = np.concatenate([np.arange(9), np.arange(30, 41)])
    person = np.array([1] * 8 + [0] + [1] * 2 + [0] * 9)
    found = rogan_gladen("share", judge, labelled, person)
    assert (found.sensitivity, found.specificity) == pytest.approx((0.8, 0.9))
    assert found.value == pytest.approx(0.2 / 0.7)


def test_a_corrected_share_stays_one():
    """0.05 seen with specificity 0.9: below nothing, so 0; with every yes seen as no: None."""
    judge = np.repeat([1, 0], [5, 95])
    labelled = np.array([0, 1, 2, *range(5, 23)])
    person = np.array([0, 0, 1] + [0] * 18)
    found = rogan_gladen("share", judge, labelled, person)
    assert found.specificity == pytest.approx(0.9)
    assert (found.value, found.low) == (0, 0)
    assert found.high > 0.01
    turned = rogan_gladen("share", judge, labelled, 1 - judge[labelled])
    assert turned.value is None
    assert "no better than chance" in turned.method


def test_a_mean_of_grades_by_hand():
    """Grades 3, 3, 4, 4; the first and the last labelled 2 and 4: (14 + 2 x (-1 + 0)) / 4."""
    found = prediction_powered(
        "mean", np.array([3, 3, 4, 4]), np.ones(4), np.array([0, 3]), np.array([2, 4]), np.ones(2)
    )
    assert found.value == pytest.approx(3.0)
    assert found.low < 3 < found.high


# --- intervals ------------------------------------------------------------------------------


def test_with_every_row_labelled_only_the_rows_are_chance():
    """Nothing is left of the judge: people's 37 of 100, Wilson's interval with Student's t.

    The rows' worth has two clusters added, one right, one wrong; here they change it by 0.1 %.
    """
    rng = np.random.default_rng(0)
    person = np.repeat([1, 0], [37, 63])
    judge = np.where(rng.random(100) < 0.3, 1 - person, person)
    found = share(judge, np.arange(100), person)
    n, t = 100, student(0.95, 99)
    middle, spread = 37 + t * t / 2, t * np.sqrt(37 * 63 / n + t * t / 4)
    assert found.value == pytest.approx(0.37)
    assert found.low == pytest.approx((middle - spread) / (n + t * t), abs=0.002)
    assert found.high == pytest.approx((middle + spread) / (n + t * t), abs=0.002)


def test_a_sample_without_an_error_does_not_show_a_judge_without():
    """Half of 10,000 rows, 100 labels, all as the judge's: two errors of weight 100 are added.

    Their variance 2 x 100 x 99 is 0.0141² of the rows, and the rows' own 0.25 / 10,000 = 0.005².
    With the other verdicts given, the two are spread over all rows, 2 / (100 + 2) a label: a
    hundredth less.
    """
    judge = np.tile([1, 0], 5000)
    labelled = np.arange(0, 10_000, 101)[:100]
    half = student(0.95, 99) * np.sqrt(2 * 100 * 99 / 1e8 + 0.25 / 10_000)
    found = share(judge, labelled, judge[labelled])
    assert (found.value, found.differing) == (0.5, 0)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=2e-4)
    finer = share(judge, labelled, judge[labelled], flipped=(1 - judge, np.ones(10_000)))
    assert finer.high - finer.low == pytest.approx(2 * half, rel=0.015)
    back = rogan_gladen("share", judge, labelled, judge[labelled])
    assert (back.low, back.high) == pytest.approx((found.low, found.high), abs=2e-3)


def test_more_labels_narrow_it_towards_the_rows_own_chance():
    rng = np.random.default_rng(1)
    truth = rng.random(4000) < 0.3
    judge = truth ^ (rng.random(4000) < 0.1)
    order, widths = rng.permutation(4000), []
    for labels in (100, 400, 1600, 4000):
        found = share(judge, order[:labels], truth[order[:labels]], strata=judge)
        widths.append(found.high - found.low)
        assert found.low <= 0.3 <= found.high
    assert widths == sorted(widths, reverse=True)
    low, high = wilson(truth.sum(), 4000)
    assert widths[-1] == pytest.approx(high - low, rel=0.05)


def test_rows_of_one_cluster_are_worth_one():
    """Ten copies of every row in its cluster: the interval of the rows alone stays as it was."""
    judge = np.tile([1, 0, 0, 1, 0], 20)
    once = share(judge, np.arange(100), judge)
    copied = np.repeat(judge, 10)
    tied = share(copied, np.arange(1000), copied, clusters=np.repeat(np.arange(100), 10))
    loose = share(copied, np.arange(1000), copied)
    assert tied.high - tied.low == pytest.approx(once.high - once.low, rel=0.02)
    assert loose.high - loose.low < 0.4 * (tied.high - tied.low)


# --- laws -----------------------------------------------------------------------------------


def test_it_is_right_on_average_over_all_samples():
    """Every way to draw 2 of the 4 yes and 2 of the 4 no: the mean is people's own share."""
    judge = np.repeat([1, 0], 4)
    truth = np.array([1, 1, 0, 1, 1, 0, 0, 0])
    found = []
    for yes, no in product(combinations(range(4), 2), combinations(range(4, 8), 2)):
        drawn = np.array(yes + no)
        found.append(share(judge, drawn, truth[drawn], strata=judge).value)
    assert len(found) == 36
    assert np.mean(found) == pytest.approx(truth.mean())


verdicts = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=6, max_size=30
).map(lambda rows: np.array(rows, dtype=float).T)


@given(verdicts)
def test_within_strata_by_verdict_both_corrections_are_one(rows):
    """Rogan-Gladen with weighted sensitivity and specificity is then people's weighted share."""
    judge, person, asked = rows
    labelled = np.flatnonzero(asked)
    told = person[labelled]
    assume(set(judge) == set(judge[labelled]))
    back = rogan_gladen("share", judge, labelled, told, strata=judge)
    powered = share(judge, labelled, told, strata=judge)
    if back.value is not None:
        assert back.value == pytest.approx(powered.value, abs=1e-9)
        assert 0 <= back.low <= back.value <= back.high <= 1
    assert 0 <= powered.low <= powered.value <= powered.high <= 1


@given(verdicts, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    judge, person, asked = rows
    labelled = np.flatnonzero(asked)
    assume(len(labelled))
    clusters, order = np.arange(len(judge)) // 2, list(range(len(judge)))
    random.shuffle(order)
    place = np.argsort(order)[labelled]
    kept = share(judge, labelled, person[labelled], strata=judge, clusters=clusters)
    moved = share(
        judge[order], place, person[labelled], strata=judge[order], clusters=clusters[order]
    )
    assert (kept.value, kept.low, kept.high) == pytest.approx((moved.value, moved.low, moved.high))


@given(verdicts)
def test_turning_yes_and_no_turns_the_interval(rows):
    judge, person, asked = rows
    labelled = np.flatnonzero(asked)
    assume(len(labelled))
    one = share(judge, labelled, person[labelled], strata=judge)
    other = share(1 - judge, labelled, 1 - person[labelled], strata=judge)
    assert (one.value, one.low) == pytest.approx((1 - other.value, 1 - other.high), abs=1e-9)


# --- what is missing or wrong ---------------------------------------------------------------


def test_strata_without_a_label_are_taken_for_like_the_others():
    """Of ten rows, five have labels' strata: their one error in five counts for all ten."""
    judge = np.ones(10)
    found = share(judge, np.arange(5), np.array([0, 1, 1, 1, 1]), strata=np.repeat([0, 1], 5))
    assert found.value == pytest.approx(0.8)
    assert "1 of 2 strata (5 of 10 rows) have no label" in found.about


def test_without_labels_there_is_no_correction():
    none = np.array([], dtype=int)
    assert share(JUDGE, none, none).value is None
    assert share(JUDGE, none, none).raw == 0.4
    assert rogan_gladen("share", JUDGE, none, none).value is None
    assert rogan_gladen("share", JUDGE, LABELLED, np.zeros(5)).value is None  # no yes among them


def test_a_denominator_that_vanishes_has_no_rate():
    """The judge's only two refusals are none: 2 - 2 = 0 rows are left to be right about."""
    judge = np.array([1, 1, 0, 0])
    found = prediction_powered(
        "precision", judge, judge, np.array([0, 1]), np.zeros(2), np.zeros(2), strata=judge
    )
    assert found.value is None
    assert found.raw == 1


@pytest.mark.parametrize(
    ("labelled", "person", "message"),
    [
        ([0, 0], [1, 1], "none of them twice"),
        ([0, 10], [1, 1], "places among 10 rows"),
        ([0, 1], [1], "2 rows, but"),
        ([0, 1], [1, np.nan], "without a verdict"),
    ],
)
def test_what_does_not_fit_is_named(labelled, person, message):
    with pytest.raises(ValueError, match=message):
        share(JUDGE, np.array(labelled), np.array(person))
    with pytest.raises(ValueError, match=message):
        rogan_gladen("share", JUDGE, np.array(labelled), np.array(person))


def test_rogan_gladen_is_of_verdicts_alone():
    with pytest.raises(ValueError, match="verdicts 0 and 1"):
        rogan_gladen("mean grade", np.full(10, 3), LABELLED, PERSON)
