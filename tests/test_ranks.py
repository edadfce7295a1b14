"""Ranks of difficulty: ties, direction, what has no score, and families with one voice each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset.lowresource.difficulty import SCORES
from hardset.lowresource.ranks import aggregate, averaged, normalised

VALUES = st.lists(st.integers(-5, 5) | st.floats(-1e6, 1e6), min_size=1, max_size=40)


@pytest.fixture(scope="module")
def stats():
    return pytest.importorskip("scipy.stats")


def test_ties_share_the_mean_of_their_places():
    assert averaged([20, 10, 30, 20]).tolist() == [2.5, 1, 4, 2.5]


def test_the_easiest_is_0_and_the_hardest_1():
    """Ranks 1, 2.5, 2.5, 4 of four: (rank - 1) / 3."""
    assert normalised([10, 20, 20, 30]).tolist() == [0, 0.5, 0.5, 1]
    assert normalised([10, 20, 20, 30], SCORES["aum"].hard).tolist() == [1, 0.5, 0.5, 0]


def test_what_is_not_finite_has_no_rank_and_no_place():
    ranks = normalised([np.nan, 3, np.inf, 1, 2, -np.inf])
    assert np.array_equal(ranks, [np.nan, 1, np.nan, 0, 0.5, np.nan], equal_nan=True)


def test_one_example_or_all_alike_are_in_the_middle():
    assert normalised([7]).tolist() == [0.5]
    assert normalised([7, 7, 7]).tolist() == [0.5, 0.5, 0.5]
    assert np.isnan(normalised([np.nan])).all()
    assert len(normalised([])) == 0


def test_a_family_has_one_voice_however_many_seeds():
    """Two conv seeds of 0 and 1 are 0.5; with a transformer's 1: 0.75, and no 2/3."""
    found = aggregate([[0.0], [1.0], [1.0]], ["conv", "conv", "transformer"])
    assert found.rank.tolist() == [0.75]


def test_examples_lacking_somewhere_are_averaged_over_the_rest_and_counted():
    nan = np.nan
    found = aggregate(
        [[0.2, nan, nan, nan], [0.4, 0.6, nan, nan], [1.0, 0.0, 0.8, nan]], ["a", "a", "b"]
    )
    assert found.rank[:3] == pytest.approx([(0.3 + 1) / 2, (0.6 + 0) / 2, 0.8])
    assert np.isnan(found.rank[3])
    assert found.lacking.tolist() == [0, 1, 2, 3]


def test_nothing_to_aggregate_is_an_error():
    with pytest.raises(ValueError, match="0 columns"):
        aggregate([], [])


@given(VALUES)
def test_ranks_are_those_of_scipy(stats, values):
    assert averaged(values).tolist() == stats.rankdata(values).tolist()


@given(VALUES)
def test_the_other_direction_turns_ranks_round(values):
    assert normalised(values, -1) == pytest.approx(1 - normalised(values, +1))
