"""Confident learning: the paper's example, cases by hand, laws, and noise of known amount."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset.lowresource.noise import ConfidentJoint, Part, ThresholdSums, confident_joint, suspects

Row = tuple[int, list[float]]


def parts_of(rows: list[Row], size: int = 100):
    labels = np.asarray([label for label, _ in rows], dtype=np.int64)
    probabilities = np.asarray([p for _, p in rows])
    index = np.arange(len(rows))
    spans = [slice(at, at + size) for at in range(0, len(rows), size)]
    return lambda: [Part(index[s], labels[s], probabilities[s]) for s in spans]


BY_HAND: list[Row] = [
    (0, [0.9, 0.1]),
    (0, [0.8, 0.2]),
    (0, [0.1, 0.9]),
    (1, [0.2, 0.8]),
    (1, [0.4, 0.6]),
    (1, [0.3, 0.7]),
]


def test_thresholds_by_hand():
    """t_0 = (0.9 + 0.8 + 0.1) / 3 = 0.6; t_1 = (0.8 + 0.6 + 0.7) / 3 = 0.7."""
    sums = ThresholdSums(2)
    for part in parts_of(BY_HAND, 4)():
        sums.add(part)
    assert sums.thresholds() == pytest.approx([0.6, 0.7])


def test_the_joint_by_hand():
    """Labelled 0: 0.9 and 0.8 reach 0.6, and one has 0.9 of class 1, over 0.7: 2 and 1.

    Labelled 1: 0.8 and 0.7 reach 0.7, 0.6 reaches nothing: 0 and 2. Calibrated, label 1's three
    are all of class 1; so 1 of 6 labels is wrong.
    """
    joint = confident_joint(parts_of(BY_HAND), 2)
    assert joint.counts.tolist() == [[2, 1], [0, 2]]
    assert joint.calibrated() == pytest.approx(np.asarray([[2, 1], [0, 3]]))
    share = joint.share()
    assert share.value == pytest.approx(1 / 6)
    assert 0 < share.low < 1 / 6 < share.high < 1
    found = suspects(parts_of(BY_HAND), joint)
    assert (found.index.tolist(), found.suggested.tolist()) == ([2], [1])
    assert found.margin == pytest.approx([0.8])


def test_the_papers_example():
    """Figure 1 of the paper: dog, fox, cow; 400 examples, all confident.

    C / 400 is .25 .1 .05; .14 .15 0; .08 .03 .2, of which 0.4 is off the diagonal.
    """
    counts = np.asarray([[100, 40, 20], [56, 60, 0], [32, 12, 80]])
    joint = ConfidentJoint(counts, counts.sum(axis=1), np.full(3, 0.5))
    assert joint.calibrated() / 400 == pytest.approx(
        np.asarray([[0.25, 0.1, 0.05], [0.14, 0.15, 0], [0.08, 0.03, 0.2]])
    )
    assert joint.share().value == pytest.approx(0.4)


def test_two_thresholds_reached_count_for_the_more_probable_class():
    """t = (0.45, 0.45, ...): the first has 0.46 and 0.54, both reached: it counts as class 1."""
    rows = [(0, [0.46, 0.54]), (0, [0.44, 0.56]), (1, [0.55, 0.45]), (1, [0.55, 0.45])]
    joint = confident_joint(parts_of(rows), 2)
    assert joint.thresholds == pytest.approx([0.45, 0.45])
    assert joint.counts.tolist() == [[0, 2], [2, 0]]


def test_the_joint_is_scaled_to_how_many_have_each_label():
    """Of label 0 a quarter of the confident is of class 1: of its 8 examples, 2."""
    joint = ConfidentJoint(np.asarray([[3, 1], [0, 5]]), np.asarray([8, 12]), np.full(2, 0.5))
    assert joint.calibrated() == pytest.approx(np.asarray([[6, 2], [0, 12]]))
    assert joint.share().value == pytest.approx(2 / 20)


def test_a_label_that_the_network_did_not_learn_is_told_of():
    """t = (0.6, 0.9, 0.1). Label 2's example reaches 0.1, and 0.6 of class 0, which is higher."""
    rows = [(0, [0.6, 0.3, 0.1]), (0, [0.6, 0.3, 0.1]), (1, [0.1, 0.9, 0.0]), (2, [0.6, 0.3, 0.1])]
    joint = confident_joint(parts_of(rows), 3)
    assert joint.thresholds == pytest.approx([0.6, 0.9, 0.1])
    assert joint.counts.tolist() == [[2, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert joint.unlearned.tolist() == [2]
    assert joint.share().value == pytest.approx(1 / 4)
    assert suspects(parts_of(rows), joint).suggested.tolist() == [0]


def test_a_class_that_no_example_is_labelled_takes_none():
    rows = [(0, [0.2, 0.0, 0.8]), (0, [0.9, 0.0, 0.1]), (1, [0.1, 0.9, 0.0])]
    joint = confident_joint(parts_of(rows), 3)
    assert joint.thresholds[2] == np.inf
    assert joint.counts[:, 2].sum() == 0
    assert joint.unlearned.tolist() == []


def test_nothing_usable_is_an_error():
    joint = confident_joint(lambda: [], 2)
    with pytest.raises(ValueError, match="no example has a label"):
        joint.share()
    assert len(suspects(lambda: [], joint).index) == 0


def test_rows_without_label_or_probabilities_are_passed_over():
    nan = float("nan")
    joint = confident_joint(parts_of([*BY_HAND, (-1, [0.5, 0.5]), (0, [nan, nan])]), 2)
    assert joint.counts.tolist() == [[2, 1], [0, 2]]


def drawn_rows(rng: np.random.Generator, many: int, classes: int) -> list[Row]:
    p = rng.dirichlet(np.full(classes, 0.3), many).round(2)
    return [(int(label), list(row)) for label, row in
            zip(rng.integers(0, classes, many), p, strict=True)]  # fmt: skip


@given(st.integers(0, 10_000), st.integers(1, 50))
def test_parts_change_nothing(seed, size):
    """However the set is cut: the same joint, and the same suspects, ties and all."""
    rows = drawn_rows(np.random.default_rng(seed), 60, 3)
    whole, cut = parts_of(rows), parts_of(rows, size)
    joint, again = confident_joint(whole, 3), confident_joint(cut, 3)
    assert (joint.counts == again.counts).all()
    assert joint.calibrated().sum(axis=1) == pytest.approx(joint.labelled)
    one, other = suspects(whole, joint), suspects(cut, joint)
    assert one.index.tolist() == other.index.tolist()
    labels = np.asarray([label for label, _ in rows])
    assert (one.suggested != labels[one.index]).all()
    assert (one.margin > 0).all()
    assert len(one.index) <= len(rows) - np.trace(np.floor(joint.calibrated()))


def world(rng: np.random.Generator, n: int, apart: float):
    """Ten Gaussian classes, a tenth of labels moved at random; probabilities by Bayes' rule."""
    middles = np.eye(10) * apart
    truth = rng.integers(0, 10, n)
    points = middles[truth] + rng.normal(size=(n, 10))
    likely = points @ middles.T
    p = np.exp(likely - likely.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    wrong = rng.random(n) < 0.1
    labels = np.where(wrong, (truth + rng.integers(1, 10, n)) % 10, truth)
    seen = p * (0.9 - 0.1 / 9) + 0.1 / 9
    return labels, truth, seen


def test_the_interval_covers_the_rate_where_classes_are_apart():
    """300 worlds: 95 % within 4 x sqrt(0.95 x 0.05 / 300) = 5 points."""
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        labels, _, p = world(rng, 500, 6)
        share = confident_joint(lambda p=p, y=labels: [Part(np.arange(500), y, p)], 10).share()
        hits += share.low <= 0.1 <= share.high
    assert abs(hits / 300 - 0.95) < 0.05


def test_the_estimate_is_too_high_where_classes_overlap():
    """As the docstring owns: about 13 % for 10 %, where nine in ten can be told apart at best."""
    labels, _, p = world(np.random.default_rng(0), 20_000, 3)
    share = confident_joint(lambda: [Part(np.arange(20_000), labels, p)], 10).share()
    assert 0.12 < share.value < 0.14
    assert share.low > 0.1


def test_digits_with_a_tenth_of_the_labels_moved():
    """A check that it works at all: of a linear model's suspects, seven in ten are wrong ones."""
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    pixels, truth = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    moved = rng.choice(len(truth), len(truth) // 10, replace=False)
    labels = truth.copy()
    labels[moved] = (truth[moved] + rng.integers(1, 10, len(moved))) % 10
    p = cross_val_predict(
        LogisticRegression(max_iter=200), pixels / 16, labels, cv=5, method="predict_proba"
    )
    parts = parts_of(list(zip(labels, p, strict=True)), 500)
    joint = confident_joint(parts, 10)
    found = suspects(parts, joint)
    wrong = labels != truth
    assert wrong[found.index].mean() > 0.7
    assert wrong[found.index].sum() / wrong.sum() > 0.75
    right_again = (found.suggested == truth[found.index])[wrong[found.index]]
    assert right_again.mean() > 0.9
    assert 0.08 < joint.share().value < 0.14
