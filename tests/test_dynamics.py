"""What epochs say of examples, by sequences of three epochs worked out by hand."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hardset.lowresource.dynamics import Dynamics, el2n

LN3 = np.log(3)
# Two classes, both labels 0. A logit of ln 3 against 0 gives probabilities 3/4 and 1/4.
RIGHT, WRONG = [LN3, 0.0], [0.0, LN3]


def through(*epochs, labels):
    dynamics = Dynamics(len(labels))
    everyone = np.arange(len(labels))
    for outputs in epochs:
        dynamics.seen(everyone, np.array(outputs), np.array(labels))
    return dynamics


def test_three_epochs_by_hand():
    columns = through([RIGHT, WRONG], [WRONG, WRONG], [RIGHT, WRONG], labels=[0, 0]).columns()
    # First: right, wrong, right. Margins ln 3, -ln 3, ln 3: mean ln 3 / 3. One forgetting.
    # Probabilities 3/4, 1/4, 3/4: mean 7/12; variance (2 (2/12)^2 + (4/12)^2) / 3 = 24/432 = 1/18.
    # Second: never right: margin -ln 3, probability 1/4 throughout; 3 presentations + 1.
    assert columns["aum"] == pytest.approx([LN3 / 3, -LN3])
    assert columns["forgetting"].tolist() == [1, 4]
    assert columns["learned"].tolist() == [True, False]
    assert columns["confidence"] == pytest.approx([7 / 12, 1 / 4])
    assert columns["variability"] == pytest.approx([1 / sqrt(18), 0], abs=1e-15)


def test_learnt_late_is_not_forgotten():
    # wrong, right, right: no step from right to wrong.
    assert through([WRONG], [RIGHT], [RIGHT], labels=[0]).columns()["forgetting"].tolist() == [0]


def test_the_margin_is_to_the_largest_other():
    # Label 1 of three. Margins: 2 - 5 = -3; 4 - 1 = 3; 3 - 0 = 3. Mean 1. Wrong, right, right.
    columns = through([[5, 2, 1.0]], [[1, 4, 0.0]], [[0, 3, -2.0]], labels=[1]).columns()
    assert columns["aum"] == pytest.approx([1])
    assert columns["forgetting"].tolist() == [0]


def test_a_tie_is_not_right():
    assert not through([[1.0, 1.0]], labels=[0]).columns()["learned"][0]


def test_batches_in_any_order_are_the_same_as_whole_epochs():
    generator = np.random.default_rng(0)
    outputs, labels = generator.normal(size=(3, 10, 4)), generator.integers(4, size=10)
    whole, parts = through(*outputs, labels=labels), Dynamics(10)
    for epoch in outputs:
        for batch in np.array_split(generator.permutation(10), 3):
            parts.seen(batch, epoch[batch], labels[batch])
    for name, column in whole.columns().items():
        assert np.array_equal(column, parts.columns()[name]), name


def test_confidence_and_variability_are_numpys_over_the_epochs():
    generator = np.random.default_rng(1)
    outputs = generator.normal(size=(5, 20, 3), scale=3)
    labels = generator.integers(3, size=20)
    columns = through(*outputs, labels=labels).columns()
    powers = np.exp(outputs)
    true = (powers / powers.sum(2, keepdims=True))[:, np.arange(20), labels]
    assert columns["confidence"] == pytest.approx(true.mean(0))
    assert columns["variability"] == pytest.approx(true.std(0))


def test_an_example_never_presented_has_no_score():
    dynamics = Dynamics(2)
    dynamics.seen(np.array([1]), np.array([RIGHT]), np.array([0]))
    for name in ("aum", "forgetting", "confidence", "variability"):
        assert np.isnan(dynamics.columns()[name]).tolist() == [True, False]


def test_real_labels_have_a_variability_alone():
    # Predictions 1, 2, 3 of the value 2: standard deviation sqrt(2 / 3).
    columns = through([1.0], [2.0], [3.0], labels=[2.0]).columns()
    assert columns["variability"] == pytest.approx([sqrt(2 / 3)])
    assert all(np.isnan(columns[name]).all() for name in ("aum", "forgetting", "confidence"))
    assert columns["learned"].tolist() == [False]


def test_put_away_and_taken_up_again():
    first = through([RIGHT, WRONG], labels=[0, 0])
    second = Dynamics(2)
    second.load_state_dict(first.state_dict())
    for dynamics in (first, second):
        dynamics.seen(np.array([0, 1]), np.array([WRONG, RIGHT]), np.array([0, 0]))
    assert second.columns()["forgetting"].tolist() == [1, 0]
    for name, column in first.columns().items():
        assert np.array_equal(column, second.columns()[name])


def test_el2n_by_hand():
    # (3/4, 1/4) - (1, 0) = (-1/4, 1/4): sqrt(2) / 4. (1/4, 3/4) - (1, 0): 3 sqrt(2) / 4.
    assert el2n(np.array([RIGHT, WRONG]), [0, 0]) == pytest.approx([sqrt(2) / 4, 3 * sqrt(2) / 4])
    assert el2n(np.array([[1.5], [0.0]]), np.array([1.0, 2.0])).tolist() == [0.5, 2.0]


def test_el2n_of_an_easy_example_does_not_cancel():
    # The other's probability is e^-50 / (1 + e^-50), and the error vector (-p, p).
    assert el2n(np.array([[50.0, 0.0]]), [0]) == pytest.approx([sqrt(2) * exp(-50)], rel=1e-12)


@settings(deadline=None)
@given(arrays(np.float64, (4, 3), elements=st.floats(-50, 50)))
def test_el2n_is_the_definition(outputs):
    labels = np.array([0, 1, 2, 0])
    powers = np.exp(outputs - outputs.max(1, keepdims=True))
    errors = powers / powers.sum(1, keepdims=True) - np.eye(3)[labels]
    assert el2n(outputs, labels) == pytest.approx(np.linalg.norm(errors, axis=1), abs=1e-14)


@pytest.mark.torch
def test_tensors_do_as_well():
    torch = pytest.importorskip("torch")
    outputs = torch.tensor([RIGHT, WRONG], dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([0, 0])
    dynamics = Dynamics(2)
    dynamics.seen(np.array([0, 1]), outputs, labels)
    assert dynamics.columns()["confidence"] == pytest.approx([3 / 4, 1 / 4])
    assert el2n(outputs, labels) == pytest.approx([sqrt(2) / 4, 3 * sqrt(2) / 4])
