"""The loss of an example and its gradient, against figures worked out by hand."""

from __future__ import annotations

from math import exp, log, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset.errors import UsageError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from hardset.lowresource.losses import example_losses  # noqa: E402


def losses_and_gradient(outputs, targets):
    outputs = torch.tensor(outputs, requires_grad=True)
    losses = example_losses(outputs, torch.tensor(targets))
    (gradient,) = torch.autograd.grad(losses.sum(), outputs)
    return losses.tolist(), gradient.tolist()


def test_probabilities_by_hand():
    # Logits ln 3 and 0 are probabilities 3/4 and 1/4: losses ln 4/3 and ln 4.
    losses, gradient = losses_and_gradient([[log(3), 0.0], [log(3), 0.0]], [0, 1])
    assert losses == pytest.approx([log(4 / 3), log(4)])
    assert gradient[0] == pytest.approx([-1 / 4, 1 / 4])
    assert gradient[1] == pytest.approx([3 / 4, -3 / 4])


def test_an_easy_example_keeps_all_its_digits():
    # Logits 40, 0, 0, the first true: the others' odds are 2 e^-40, which float32's 1 + 2 e^-40 and
    # p - 1 both lose.
    losses, gradient = losses_and_gradient([[40.0, 0.0, 0.0]], [0])
    assert losses == pytest.approx([log1p(2 * exp(-40))], rel=1e-12)
    assert gradient[0] == pytest.approx([-2 * exp(-40), exp(-40), exp(-40)], rel=1e-6)


def test_a_hopeless_example_does_not_overflow():
    losses, gradient = losses_and_gradient([[-2000.0, 2000.0]], [0])
    assert losses == [4000.0]
    assert gradient[0] == [-1.0, 1.0]


def test_a_class_that_is_ruled_out_and_a_single_class():
    # e^-inf = 0, so two equal classes are left: ln 2.
    losses, gradient = losses_and_gradient([[0.0, 0.0, -torch.inf]], [1])
    assert losses == pytest.approx([log(2)])
    assert gradient[0] == pytest.approx([0.5, -0.5, 0.0])
    assert losses_and_gradient([[3.0]], [0]) == ([0.0], [[0.0]])


def test_what_is_not_a_number_stays_so():
    losses, _ = losses_and_gradient([[torch.nan, 0.0], [0.0, 0.0]], [0, 0])
    assert losses[0] != losses[0]
    assert losses[1] == pytest.approx(log(2))


def test_squared_errors_by_hand():
    # (2 - 5)^2 = 9 with gradient 2 (2 - 5) = -6; one output an example, or a column of them.
    assert losses_and_gradient([2.0, 1.5], [5.0, 1.5]) == ([9.0, 0.0], [-6.0, 0.0])
    assert losses_and_gradient([[2.0], [1.5]], [5.0, 1.5]) == ([9.0, 0.0], [[-6.0], [0.0]])


@pytest.mark.parametrize(
    ("outputs", "targets", "says"),
    [
        ([[0.0, 0.0]], [2], "2 classes"),
        ([[0.0, 0.0]], [-1], "without label"),
        ([[0.0, 0.0]], [0, 1], "do not belong together"),
        ([0.0, 0.0], [0, 1], "do not belong together"),
        ([[0.0, 0.0], [0.0, 0.0]], [0.5, 0.5], "one output an example"),
    ],
)
def test_what_does_not_fit_is_named(outputs, targets, says):
    with pytest.raises(UsageError, match=says):
        example_losses(torch.tensor(outputs), torch.tensor(targets))


def test_half_precision_is_summed_in_float64():
    outputs = torch.tensor([[9.0, 0.0]], dtype=torch.bfloat16)
    losses = example_losses(outputs, torch.tensor([0]))
    assert losses.dtype == torch.float64
    assert losses.item() == pytest.approx(log1p(exp(-9)), rel=1e-12)


@given(st.lists(st.floats(-30, 30, width=32), min_size=2, max_size=6), st.integers(0, 5))
def test_it_is_the_cross_entropy_of_torch_in_float64(row, true):
    true %= len(row)
    logits = torch.tensor([row])
    ours = example_losses(logits, torch.tensor([true]))
    theirs = torch.nn.functional.cross_entropy(logits.double(), torch.tensor([true]))
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-6, abs=1e-14)
