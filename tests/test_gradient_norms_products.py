"""Gradient norms through products of several tensors, functions of numbers, and lookups."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

from gradient_oracle import agree  # noqa: E402
from hardset.lowresource.norms import GradientNorms  # noqa: E402


class Does(nn.Module):
    """A parameter in a function of the inputs, then a layer of three classes."""

    def __init__(self, function, *shape):
        super().__init__()
        self.function, self.w = function, nn.Parameter(torch.rand(shape) + 0.5)

    def forward(self, x):
        y = self.function(x, self.w).tanh()
        return y.flatten(1)[:, :3] if y.dim() < 3 else y.flatten(2).sum(1)[:, :3]


def method_of(function, *shape, inputs=(5, 6, 4)):
    torch.manual_seed(0)
    examples = torch.rand(inputs, dtype=torch.float64) + 0.5
    return agree(Does(function, *shape).double(), examples, torch.arange(inputs[0]) % 3)["w"]


def test_a_quotient_by_hand():
    # f = x / w against 0, x = 6 and w = 2: f = 3, d f^2 / d w = 2 * 3 * (-6 / 4) = -9: 81.
    net = Does(lambda x, w: x, 1)
    net.forward = lambda x: x / net.w
    net.w.data.fill_(2.0)
    with GradientNorms(net) as norms:
        assert norms(torch.full((2, 1), 6.0), torch.zeros(2)).squared_norms.tolist() == [81, 81]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: x / w,
        lambda x, w: w / x,
        lambda x, w: x.div(w, rounding_mode=None),
        lambda x, w: x**w,
        lambda x, w: w.pow(x),
        lambda x, w: torch.rsub(x, w),
        lambda x, w: torch.add(x, w, alpha=2),
        lambda x, w: torch.sub(w, x, alpha=3),
        lambda x, w: torch.addcmul(w, x, x, value=2),
        lambda x, w: torch.addcmul(x, x, w),
        lambda x, w: torch.lerp(x, 2 * x, w),
        lambda x, w: torch.maximum(x, w),
        lambda x, w: (x * 2).div_(w),
    ],
)
@pytest.mark.parametrize("shape", [(4,), (1, 6, 1), ()])
def test_functions_of_each_number(function, shape):
    assert method_of(function, *shape) == "expanded"


@pytest.mark.parametrize("transposed", [lambda t: t.transpose(0, 1), lambda t: t.flatten(0, 1)])
def test_quotients_where_the_examples_are_not_first(transposed):
    def function(x, w):
        y = transposed(x) / w
        return y.transpose(0, 1) if y.dim() == 3 else y.unflatten(0, x.shape[:2])

    assert method_of(function, 4) == "expanded"


@pytest.mark.parametrize(
    ("equation", "shape"),
    [
        ("bti,io->bto", (4, 3)),
        ("bti,oi->bto", (3, 4)),
        ("bti,io->bot", (4, 6)),
        ("bti,toi->bto", (6, 3, 4)),  # a matrix of its own for each position
        ("bti,nih->btnh", (2, 4, 3)),
        ("bti,t->bi", (6,)),
        ("bti,ti->b", (6, 4)),
        ("bti,i->bti", (4,)),
        ("bti,ot->boi", (3, 6)),
    ],
)
def test_einsum(equation, shape):
    def function(x, w):
        y = torch.einsum(equation, x, w)
        return torch.stack([y, 2 * y, 0 * y], 1) if y.dim() == 1 else y

    assert method_of(function, *shape) == "einsum"


def test_einsum_of_several_and_of_a_tied_matrix():
    assert method_of(lambda x, w: torch.einsum("bti,ij,btj->bt", x, w, x), 4, 4) == "einsum"
    twice = lambda x, w: torch.einsum("bti,io->bto", (x @ w).tanh(), w)  # noqa: E731
    assert method_of(twice, 4, 4) == "linear + einsum"


@pytest.mark.parametrize("inputs", [(5, 6, 4), (5, 4)])
def test_bilinear(inputs):
    bilinear = lambda x, w: F.bilinear(x, x.flip(-1), w, w[:, 0, 0])  # noqa: E731
    assert method_of(bilinear, 3, 4, 4, inputs=inputs) == "derived"
    assert method_of(lambda x, w: F.bilinear(x, x, w), 3, 4, 4, inputs=inputs) == "bilinear"


@pytest.mark.parametrize(
    "look",
    [
        lambda table, ids: table[ids],
        lambda table, ids: table[ids - 7],  # from the end
        lambda table, ids: table.index_select(0, ids.flatten()).view(*ids.shape, -1),
        lambda table, ids: table[ids.flatten()].unflatten(0, ids.shape),
    ],
)
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_rows_of_a_table(look, batch):
    torch.manual_seed(0)
    net = Does(lambda ids, w: look(w, ids), 7, 3)
    ids = torch.randint(7, (batch, 5))
    assert agree(net, ids, torch.arange(batch) % 3)["w"] == "embedding"


def test_places_that_are_as_many_as_the_examples():
    # (T,) ids of places are taken for one id an example where T is the batch; autograd says no.
    places = torch.tensor([3, 0, 1, 2, 6, 5])
    net = Does(lambda x, w: x @ w.new_ones(4, 3) + w[places], 7, 3)
    assert agree(net, torch.randn(6, 6, 4), torch.arange(6) % 3)["w"] == "derived"


@pytest.mark.parametrize("batch", [2, 3, 6])
def test_biases_of_places_and_of_examples_by_the_same_lookup(batch):
    # Attention's biases (heads, T, T) are picked by places, whose number may be the batch's; the
    # same call picks a bias for each example's own ids.
    torch.manual_seed(0)
    places = (torch.arange(6)[:, None] - torch.arange(6)).abs()
    by_places = Does(lambda x, w: x[:, None] + w[:, places], 2, 6).double()
    by_ids = Does(lambda x, w: w[:, x].movedim(1, 0).sum(2), 3, 7).double()
    targets = torch.arange(batch) % 2
    agree(by_places, torch.randn(batch, 6, 6, dtype=torch.float64), targets)
    agree(by_ids, torch.randint(7, (batch, 6)), targets, fell_back=True)


def test_a_transposed_matrix_needs_no_gradient_per_example():
    for function in (lambda x, w: x @ w.T, lambda x, w: x @ w.mT, lambda x, w: x @ w.t()):
        assert method_of(function, 3, 4) == "linear"
