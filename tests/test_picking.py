"""Picking k a label: by hand, and the laws that a choice keeps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset.errors import UsageError
from hardset.lowresource.examples import NO_LABEL
from hardset.lowresource.picking import HOWS, hashed, pick

SCORES = [0.1, 0.9, 0.5, 0.7, 0.2, 0.8]
LABELS = [0, 0, 0, 1, 1, 1]


def test_hardest_and_easiest_by_hand():
    hardest = pick(SCORES, LABELS, 2)
    assert hardest.positions.tolist() == [1, 2, 5, 3]
    assert hardest.ranks_within_label.tolist() == [1, 2, 1, 2]
    assert hardest.labels[1] == (1, 3, 0, 0, 2, 0.7, 0.8, 0)
    easiest = pick(SCORES, LABELS, 1, "easiest")
    assert easiest.positions.tolist() == [0, 4]
    assert easiest.ranks_within_label.tolist() == [3, 3]


def test_where_the_lowest_is_hardest():
    assert pick(SCORES, LABELS, 1, hard=-1).positions.tolist() == [0, 4]


def test_too_few_names_the_labels_and_how_many_they_have():
    with pytest.raises(UsageError, match="1 of 2 labels have fewer than 3 scored examples to pick "
                       "from: 'dog' has 2; the largest k that all have is 2"):  # fmt: skip
        pick(SCORES[:5], LABELS[:5], 3, classes=("cat", "dog"))
    with pytest.raises(UsageError, match="there are 6 examples to pick from, fewer than 7"):
        pick(SCORES, np.asarray(SCORES), 7)
    with pytest.raises(UsageError, match="k takes a whole number of 1 or more, not 0"):
        pick(SCORES, LABELS, 0)
    with pytest.raises(UsageError, match="no example has a label"):
        pick(SCORES, [NO_LABEL] * 6, 1)
    with pytest.raises(UsageError, match="'worst' is no way to choose; there are hardest, easiest"):
        pick(SCORES, LABELS, 1, "worst")


def test_unscored_unlabelled_and_dropped_examples_are_left_out_and_counted():
    scores = [*SCORES, np.nan, np.inf, 5.0]
    labels = [*LABELS, 0, 1, NO_LABEL]
    drop = np.zeros(9, bool)
    drop[[1, 8]] = True
    for how in HOWS:
        found = pick(scores, labels, 2, how, drop=drop)
        assert set(found.positions) <= {0, 2, 3, 4, 5}
        assert [(t.scored, t.unscored, t.dropped) for t in found.labels] == [(2, 1, 1), (3, 1, 0)]
        assert found.unlabelled == 1


def test_a_label_of_which_nothing_is_scored_is_short_too():
    with pytest.raises(UsageError, match="2 has 0; the largest k that all have is 0"):
        pick([*SCORES, np.nan], [*LABELS, 2], 1)


def test_real_labels_are_picked_from_together():
    found = pick(SCORES, [0.5, 1.5, 2.5, 3.5, np.nan, 5.0], 2)
    assert found.positions.tolist() == [1, 5]
    assert found.labels[0].label is None
    assert found.unlabelled == 1


def test_stratified_takes_as_many_of_every_tenth():
    """100 examples, k = 20: two of places 1 to 10, two of 11 to 20, and so on."""
    found = pick(np.arange(100.0), np.zeros(100, int), 20, "stratified")
    assert np.bincount((found.ranks_within_label - 1) // 10).tolist() == [2] * 10


def test_stratified_with_few_has_a_stratum_each():
    """k = 3 of 9: thirds, one of each."""
    found = pick(np.arange(9.0), np.zeros(9, int), 3, "stratified")
    assert ((found.ranks_within_label - 1) // 3).tolist() == [0, 1, 2]


def test_ties_at_the_cut_are_counted_where_the_cut_divides_them():
    labels = np.zeros(6, int)
    assert pick([3, 2, 2, 2, 1, 0], labels, 2).labels[0].tied == 3
    assert pick([3, 2, 2, 2, 1, 0], labels, 4).labels[0].tied == 0
    assert pick([3, 2, 2, 2, 1, 0], labels, 3, "easiest").labels[0].tied == 3


def test_ties_are_broken_evenly_over_seeds():
    """One of four alike, 2,000 seeds: 500 each, within 4 x sqrt(2000 x 1/4 x 3/4) = 77."""
    taken = [int(pick(np.ones(4), np.zeros(4, int), 1, seed=seed).positions[0])
             for seed in range(2_000)]  # fmt: skip
    assert np.abs(np.bincount(taken, minlength=4) - 500).max() < 77


def test_random_is_uniform_and_no_matter_of_the_tie_break():
    """Three of ten, 2,000 seeds: 600 each, within 4 x sqrt(2000 x 0.3 x 0.7) = 82."""
    taken = np.concatenate([
        pick(np.ones(10), np.zeros(10, int), 3, "random", seed).positions for seed in range(2_000)
    ])  # fmt: skip
    assert np.abs(np.bincount(taken, minlength=10) - 600).max() < 82
    assert (hashed(np.arange(10), 0, 0) != hashed(np.arange(10), 0, 1)).all()


DRAWN = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=6, max_size=40)


@given(DRAWN, st.integers(0, 9), st.sampled_from(HOWS), st.randoms())
def test_the_order_of_a_file_changes_no_choice(drawn, seed, how, random):
    drawn = [*drawn, (0, 0), (1, 1), (2, 2)]
    order = list(range(len(drawn)))
    random.shuffle(order)
    scores, labels = (np.asarray(side) for side in zip(*drawn, strict=True))
    found = pick(scores, labels, 1, how, seed)
    moved = pick(scores[order], labels[order], 1, how, seed, index=order)
    assert found.positions.tolist() == [order[i] for i in moved.positions]


@given(DRAWN, st.integers(0, 9), st.sampled_from(["hardest", "easiest", "random"]))
def test_a_smaller_k_is_within_a_larger_one(drawn, seed, how):
    scores, _ = (np.asarray(side) for side in zip(*drawn, strict=True))
    labels = np.zeros(len(scores), int)
    chosen = [set(pick(scores, labels, k, how, seed).positions) for k in range(1, len(scores) + 1)]
    assert all(small < large for small, large in itertools.pairwise(chosen))


@given(DRAWN, st.integers(0, 9), st.sampled_from(HOWS))
def test_what_else_is_in_the_set_changes_no_label(drawn, seed, how):
    """A label added, none of the others' choices moves."""
    scores, labels = (np.asarray(side) for side in zip(*[*drawn, (0, 0)], strict=True))
    more = pick([*scores, 1, 2], [*labels, 7, 7], 1, how, seed).positions
    assert pick(scores, labels, 1, how, seed).positions.tolist() == more[:-1].tolist()


@given(st.integers(1, 60), st.data())
def test_stratified_gives_k_different_ones_whatever_the_sizes(many, data):
    k = data.draw(st.integers(1, many))
    found = pick(np.zeros(many), np.zeros(many, int), k, "stratified")
    assert len(set(found.positions.tolist())) == k
