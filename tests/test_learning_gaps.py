"""Figures over seeds, paired gaps and their intervals, and curves over k."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hardset.lowresource.learning.correlations import mid_ranks, pearson, spearman
from hardset.lowresource.learning.curves import curve, worth
from hardset.lowresource.learning.gaps import Gap, no_narrower, paired, spread, two_way


def test_the_spread_is_the_samples():
    # mean 0.7, deviations -0.1, 0, 0.1: (0.01 + 0 + 0.01) / 2 = 0.01, whose root is 0.1
    assert spread(np.array([0.6, 0.7, 0.8])) == pytest.approx((3, 0.7, 0.1, 0.6))
    assert spread(np.array([0.6])) == (1, 0.6, None, 0.6)
    assert spread(np.array([])) == (0, None, None, None)


def test_a_gap_is_paired_by_seed():
    # differences -0.2, -0.1, -0.3: mean -0.2, std 0.1; t(2) = 4.3027, x 0.1 / sqrt 3 = 0.2484
    found = paired(np.array([0.5, 0.7, 0.4]), np.array([0.7, 0.8, 0.7]))
    assert found.gap == pytest.approx(-0.2)
    assert (found.low, found.high) == pytest.approx((-0.4484, 0.0484), abs=1e-4)
    assert found.n == 3


def test_one_pair_has_no_interval_and_none_no_gap():
    assert paired(np.array([0.5]), np.array([0.75])) == Gap(-0.25, None, None, 1)
    assert paired(np.array([]), np.array([])) == Gap(None, None, None, 0)
    assert two_way(np.array([[1.0, 0.0]])) == Gap(0.5, None, None, 1)
    assert two_way(np.empty((0, 0))) == Gap(None, None, None, 0)
    with pytest.raises(ValueError, match="2 figures cannot be paired with 1"):
        paired(np.array([0.5, 0.5]), np.array([0.5]))


def test_two_way_by_hand():
    # Two seeds, three examples; seeds' means 2/3 and 0, examples' 0.5, 0.5, 0; over all 1/3.
    differences = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    # MS_seeds = 3 x (1/9 + 1/9) / 1 = 2/3
    # MS_examples = 2 x (1/36 + 1/36 + 1/9) / 2 = 1/6
    # rest +-1/6, +-1/6, +-1/3: (4 x 1/36 + 2 x 1/9) / 2 = 1/6: the examples add nothing
    found = two_way(differences)
    assert found.gap == pytest.approx(1 / 3)
    # So Student's over the seeds alone: t(1) = 12.7062, sqrt(2/3 / 6) = 1/3
    assert found.high == pytest.approx(1 / 3 + 12.7062 / 3, rel=1e-4)
    assert found[:3] == pytest.approx(paired(differences.mean(axis=1), np.zeros(2))[:3])


def test_both_parts_reach_in_quadrature():
    # Seeds' means 1/2 and 1/4, examples' 1, 1/2, 0, 0; over all 3/8.
    differences = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    # MS_seeds = 4 x 2/64 = 1/8; MS_examples = 2 x (25 + 1 + 9 + 9)/64 / 3 = 11/24
    # rest -1/8, 3/8, -1/8, -1/8 and their opposites: 2 x 12/64 / 3 = 1/8; 11/24 - 1/8 = 1/3
    # t(1) = 12.7062, t(3) = 3.18245: sqrt((161.447 / 8 + 10.1280 / 3) / 8) = 1.71599
    found = two_way(differences)
    assert found[:3] == pytest.approx((0.375, 0.375 - 1.71599, 0.375 + 1.71599), rel=1e-3)


def test_two_way_of_examples_alone_is_students_over_them():
    # Every seed alike: the mean over 4 examples, -1 0 0 0, of std 0.5; t(3) = 3.1824
    found = two_way(np.array([[-1.0, 0.0, 0.0, 0.0]] * 5))
    assert found.gap == -0.25
    assert found.high == pytest.approx(-0.25 + 3.1824 * 0.5 / 2, rel=2e-3)


def test_pairs_that_all_say_the_same_do_not_say_how_sure_they_are():
    assert two_way(np.zeros((3, 4))) == Gap(0.0, None, None, 3)
    found = paired(np.array([0.3, 0.8, 0.6]), np.array([0.2, 0.7, 0.5]))
    assert found.gap == pytest.approx(0.1)
    assert found[1:] == (None, None, 3)


@given(arrays(np.float64, (4, 6), elements=st.sampled_from([-1.0, 0.0, 1.0])))
def test_two_way_turns_round_with_its_sides(differences):
    there, back = two_way(differences), two_way(-differences)
    assert there.gap == -back.gap
    if there.low is None:
        assert back.low is None
        return
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.low <= there.gap <= there.high


@given(arrays(np.float64, (3, 7), elements=st.sampled_from([-1.0, 0.0, 1.0])))
def test_two_way_is_no_narrower_than_paired(differences):
    one, both = paired(differences.mean(axis=1), np.zeros(3)), two_way(differences)
    if one.low is None:
        return
    assert both.low <= one.low + 1e-9
    assert both.high >= one.high - 1e-9


def test_the_further_ends_are_reported():
    inner = Gap(0.1, 0.05, 0.15, 3)
    assert no_narrower(Gap(0.1, 0.06, 0.2, 3), inner) == Gap(0.1, 0.05, 0.2, 3)
    assert no_narrower(Gap(0.1, None, None, 1), inner) == Gap(0.1, None, None, 1)
    assert no_narrower(inner, Gap(0.1, None, None, 3)) == inner


def simulated(generator, seeds, examples, spread_of_seeds):
    """Right and wrong of two learners whose seeds, and the test's examples, differ in ease."""
    ease = generator.normal(size=examples)
    favour = 0.5 * generator.normal(size=examples)
    first = generator.normal(size=(seeds, 1)) * spread_of_seeds + ease + favour - 0.2
    second = generator.normal(size=(seeds, 1)) * spread_of_seeds + ease - favour + 0.6
    right = [side + generator.normal(size=(seeds, examples)) > 0 for side in (first, second)]
    return right[0].astype(float) - right[1], ease, favour


@pytest.mark.parametrize(("seeds", "spread_of_seeds"), [(5, 0.05), (5, 0.3), (10, 0.05)])
def test_intervals_cover_what_they_say(seeds, spread_of_seeds):
    """2,000 simulated comparisons: at 95 %, three standard errors are 1.5 points."""
    from statistics import NormalDist

    generator = np.random.default_rng(seeds)
    normal = NormalDist()
    own = np.sqrt(1 + spread_of_seeds**2)
    everywhere = np.sqrt(own**2 + 1.25)  # with the examples' ease, 1, and favour, 0.25
    new_test_sets = normal.cdf(-0.2 / everywhere) - normal.cdf(0.6 / everywhere)
    covered = np.zeros(3)
    for _ in range(2_000):
        differences, ease, favour = simulated(generator, seeds, 200, spread_of_seeds)
        this_test_set = np.mean(
            [
                normal.cdf((e + f - 0.2) / own) - normal.cdf((e - f + 0.6) / own)
                for e, f in zip(ease, favour, strict=True)
            ]
        )
        means = differences.mean(axis=1)
        one = paired(means, np.zeros(seeds))
        two = no_narrower(two_way(differences), one)
        covered += (
            one.low <= this_test_set <= one.high,
            two.low <= new_test_sets <= two.high,
            one.low <= new_test_sets <= one.high,
        )
    covered /= 2_000
    assert 0.93 < covered[0] < 0.97  # paired, of this test set
    assert 0.94 < covered[1] < 0.985  # two-way, of others too: a little wide with few seeds
    if spread_of_seeds < 0.1:
        assert covered[2] < 0.91  # which the paired interval does not say, and does not


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_influence_is_what_leaving_one_out_shows(correlation):
    generator = np.random.default_rng(3)
    first = generator.integers(0, 6, 150).astype(float)  # with ties
    second = first + 2 * generator.normal(size=150)
    value, influence = correlation(first, second)
    left_out = [
        149 * (value - correlation(np.delete(first, i), np.delete(second, i))[0])
        for i in range(150)
    ]
    assert influence.mean() == pytest.approx(0, abs=1e-12)
    assert np.corrcoef(influence, left_out)[0, 1] > 0.999
    assert influence.std() == pytest.approx(np.std(left_out), rel=0.03)


def test_correlations_by_hand():
    first, second = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])
    # deviations -1.5 -0.5 0.5 1.5 and -1.5 0.5 -0.5 1.5: 2.25 - 0.25 - 0.25 + 2.25 = 4, of 5
    assert pearson(first, second)[0] == pytest.approx(0.8)
    # ranks are the same numbers: 1 - 6 x (0 + 1 + 1 + 0) / (4 x 15) = 0.8
    assert spearman(first, second)[0] == pytest.approx(0.8)
    assert spearman(first, second**3)[0] == pytest.approx(0.8)
    assert np.isnan(pearson(first, np.ones(4))[0])
    assert mid_ranks(np.array([5.0, 1.0, 5.0, 9.0])).tolist() == [0.0, -0.375, 0.0, 0.375]


def test_a_curve_has_a_point_a_k():
    points = curve({32: np.array([0.8, 0.9]), 16: np.array([0.7]), 64: np.array([])})
    assert [(point["k"], point["n"]) for point in points] == [(16, 1), (32, 2)]
    assert (points[0]["low"], points[0]["high"]) == (None, None)
    # mean 0.85, std 0.0707, over sqrt 2 is 0.05; t(1) = 12.706
    assert points[1]["high"] == pytest.approx(0.85 + 0.05 * 12.7062, rel=1e-4)


def test_what_a_figure_is_worth_in_random_examples():
    points = [{"k": 8, "mean": 0.5}, {"k": 32, "mean": 0.7}, {"k": 64, "mean": 0.8}]
    assert worth(0.6, points) == pytest.approx(16)  # half way from 8 to 32 by log
    assert worth(0.8, points) == pytest.approx(64)
    assert worth(0.4, points) is None
    assert worth(0.6, []) is None
