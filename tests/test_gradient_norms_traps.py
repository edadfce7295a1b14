"""Gradient norms where networks and callers do what is easily measured wrong."""

from __future__ import annotations

from math import nan

import pytest

from hardset.errors import UsageError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from gradient_oracle import agree, one_by_one  # noqa: E402
from hardset.lowresource.norms import GradientNorms  # noqa: E402


class Does(nn.Module):
    """A module of some layers whose forward pass is a function of itself and its inputs."""

    def __init__(self, forward, **parts):
        super().__init__()
        self.does = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, inputs):
        return self.does(self, inputs)


def plain():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 5), nn.Tanh(), nn.Linear(5, 3)).eval()


# Rows that are picked by their values -------------------------------------------------------------


def unpadded(net, inputs):
    """Run a layer over the positions that are no padding, and put them back."""
    mask = inputs["mask"]
    states = inputs["x"].new_zeros(inputs["x"].shape)
    states[mask] = net.inner(inputs["x"][mask]).tanh()
    return net.head(states.sum(1))


def words(lengths):
    mask = torch.arange(5) < torch.tensor(lengths)[:, None]
    return {"x": torch.randn(len(lengths), 5, 8), "mask": mask}


def test_unpadded_positions_are_nobodys_by_their_number():
    # 24 rows of 8 examples, three each if sizes are believed. The examples that are compared with
    # autograd, 0, 4 and 7, do have theirs there: only the others have not.
    net = Does(unpadded, inner=nn.Linear(8, 8), head=nn.Linear(8, 3))
    targets = torch.arange(8) % 3
    agree(net, words([3, 2, 4, 3, 3, 2, 4, 3]), targets, fell_back=True)
    even, uneven = words([3] * 8), words([2, 3, 4, 3, 3, 3, 3, 3])
    wanted = one_by_one(net, uneven, targets)
    with GradientNorms(net) as norms:
        norms(even, targets)  # as many rows each: no reason to distrust the sizes
        assert norms.said() == []
        found = norms(uneven, targets).squared_norms
        (said,) = norms.said()
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=0)
    assert "__getitem__ picks rows by their values" in said


def by_length(net, inputs):
    """Sort examples by length, as recurrent networks want them, and back again."""
    order = inputs["mask"].sum(1).argsort(stable=True)
    states = net.inner(inputs["x"].index_select(0, order).sum(1)).tanh()
    return net.head(states[order.argsort()])


def test_sorted_examples_keep_their_own_gradient():
    net = Does(by_length, inner=nn.Linear(8, 8), head=nn.Linear(8, 3))
    targets = torch.arange(4) % 3
    sorted_ones, others = words([1, 2, 3, 4]), words([4, 1, 2, 3])
    wanted = one_by_one(net, others, targets)
    with GradientNorms(net) as norms:
        norms(sorted_ones, targets)
        assert norms.said() == []
        found = norms(others, targets).squared_norms
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=0)


@pytest.mark.parametrize(
    "pick",
    [
        lambda x, last: x[torch.arange(len(x)), last],
        lambda x, last: x[torch.arange(5) == last[:, None]],
        lambda x, last: x.flatten(0, 1)[torch.arange(len(x)) * 5 + last],
        lambda x, last: x.flatten(0, 1).index_select(0, torch.arange(len(x)) * 5 + last),
        lambda x, last: x[:, torch.tensor([0, 2])].sum(1) + 0 * last[:, None],
        lambda x, last: x[:, None, torch.tensor([True, False, True, False, False])].sum((1, 2)),
        lambda x, last: x.repeat_interleave(2, 0)[::2].sum(1),
    ],
)
def test_what_stays_in_order_is_measured_by_rules(pick):
    net = Does(
        lambda net, inputs: net.head(pick(net.inner(inputs["x"]).tanh(), inputs["last"])),
        inner=nn.Linear(8, 8),
        head=nn.Linear(8, 3),
    )
    inputs = {"x": torch.randn(4, 5, 8), "last": torch.tensor([4, 0, 2, 4])}
    agree(net, inputs, torch.arange(4) % 3)


@pytest.mark.parametrize(
    "pick",
    [
        lambda x, counts: x.repeat_interleave(counts, 0),
        lambda x, counts: x[counts.argsort().tolist()],
        lambda x, counts: x.masked_select((torch.arange(6) < counts[:, None])[:, :, None]),
        lambda x, counts: (
            nn.utils.rnn.pack_padded_sequence(
                x, counts, batch_first=True, enforce_sorted=False
            ).data
        ),
    ],
)
def test_other_ways_to_pick(pick):
    net = Does(
        lambda net, inputs: (
            net.head(inputs["x"].sum(1)) + 0 * net.other(pick(**inputs).sum()[None])
        ),
        head=nn.Linear(8, 3),
        other=nn.Linear(1, 3),
    )
    inputs = {"x": torch.randn(4, 6, 8), "counts": torch.tensor([3, 1, 2, 6])}
    with GradientNorms(net.eval()) as norms:
        norms({"x": inputs["x"], "counts": inputs["counts"]}, torch.arange(4) % 3)
    assert any("picks rows" in said for said in norms.said())


# Who else is at work ------------------------------------------------------------------------------


def test_a_module_is_measured_once_at_a_time():
    # The second would find all parameters frozen, and say that every norm is 0.
    net, inputs, targets = plain(), torch.randn(4, 8), torch.arange(4) % 3
    fast = torch.backends.mha.get_fastpath_enabled()
    with GradientNorms(net) as norms:
        for other in (GradientNorms(net), GradientNorms(nn.Sequential(net)), norms):
            with pytest.raises(UsageError, match="leave that one first"):
                other.__enter__()
        with GradientNorms(plain()):  # another module's parameters
            pass
        assert not torch.backends.mha.get_fastpath_enabled()
        measured = norms(inputs, targets).squared_norms
    assert torch.backends.mha.get_fastpath_enabled() == fast
    assert all(parameter.requires_grad for parameter in net.parameters())
    torch.testing.assert_close(measured, one_by_one(net, inputs, targets), rtol=1e-5, atol=0)
    with GradientNorms(net) as again:
        assert torch.equal(again(inputs, targets).squared_norms, measured)


def test_inference_mode_and_inputs_that_want_a_gradient():
    net, inputs, targets = plain(), torch.randn(4, 8), torch.arange(4) % 3
    wanted = one_by_one(net, inputs, targets)
    with torch.inference_mode(), GradientNorms(net) as norms:
        within = norms(inputs + 0, targets + 0).squared_norms
    with GradientNorms(net) as norms:
        made_within = norms(inputs.requires_grad_(), targets).squared_norms
        assert norms.said() == []
    torch.testing.assert_close(within, wanted, rtol=1e-5, atol=0)
    torch.testing.assert_close(made_within, wanted, rtol=1e-5, atol=0)


@pytest.mark.parametrize("again", [True, False])
def test_checkpointed_activations_are_refused(again):
    net = Does(
        lambda net, x: net.head(
            checkpoint(net.body, net.stem(x) if again else x, use_reentrant=again)
        ),
        stem=nn.Linear(8, 8),
        body=nn.Sequential(nn.Linear(8, 8), nn.Tanh()),
        head=nn.Linear(8, 3),
    )
    with pytest.raises(UsageError, match="checkpointing"), GradientNorms(net.eval()) as norms:
        norms(torch.randn(4, 8), torch.arange(4) % 3)


def test_no_examples_and_no_tensor_are_refused():
    with GradientNorms(plain()) as norms, pytest.raises(UsageError, match="empty"):
        norms(torch.randn(0, 8), torch.zeros(0, dtype=torch.int64))
    both = Does(lambda net, x: (net.head(x), nan), head=nn.Linear(8, 3))
    with GradientNorms(both) as norms, pytest.raises(UsageError, match="tuple, and should give"):
        norms(torch.randn(4, 8), torch.arange(4) % 3)


class Biased(nn.Linear):
    """A layer that looks its shift up once, and again after training: LeViT's attention does."""

    def __init__(self):
        super().__init__(8, 3, bias=False)
        self.table, self.kept = nn.Parameter(torch.randn(5)), []

    def train(self, mode=True):
        super().train(mode)
        if mode:
            self.kept.clear()
        return self

    def forward(self, x):
        if not self.kept:
            self.kept.append(self.table[torch.tensor([0, 2, 2])])
        return super().forward(x) + self.kept[0]


def test_what_layers_keep_between_evaluations_is_made_again():
    net, inputs, targets = Biased().eval(), torch.randn(4, 8), torch.arange(4) % 3
    shift = net.table[torch.tensor([0, 2, 2])].detach()
    # By hand: g = p - y; the squared norm is |g|^2 |x|^2 of the matrix, and of the table g_0^2
    # + (g_1 + g_2)^2, since its third row shifts two logits.
    logits = inputs @ net.weight.detach().T + shift
    g = logits.double().softmax(1) - nn.functional.one_hot(targets, 3)
    table = g[:, 0].square() + (g[:, 1] + g[:, 2]).square()
    wanted = g.square().sum(1) * inputs.double().square().sum(1) + table
    with torch.no_grad():
        net(inputs)  # as an evaluation after an epoch leaves it
    with GradientNorms(net) as norms:
        first, second = norms(inputs, targets), norms(inputs, targets)
        assert norms.said() == []
    assert not net.kept
    assert not net.training
    torch.testing.assert_close(first.squared_norms, wanted, rtol=1e-5, atol=0)
    assert torch.equal(first.squared_norms, second.squared_norms)


# Numbers of other kinds ---------------------------------------------------------------------------


@pytest.mark.parametrize("as_pairs", [True, False])
def test_complex_parameters(as_pairs):
    # Their gradients are g conj(x), and the squared norm that of both parts: by hand for
    # f = |w x|^2 against 0 with w = 1 + 2i and x = 3: f = 45; d f^2 / d (a, b) = 2 f 9 (2 a, 2 b),
    # which is 90 * 18 * (1, 2): squared (1620)^2 * 5 = 13,122,000.
    start = torch.tensor([[1.0, 2.0]]) if as_pairs else torch.tensor([[1 + 2j]])

    def forward(net, x):
        w = torch.view_as_complex(net.w) if as_pairs else net.w
        return (x * w[:, None]).abs().square().sum((1, 2))

    net = Does(forward, w=nn.Parameter(start.squeeze(0) if not as_pairs else start))
    inputs = torch.full((2, 1, 1), 3.0)
    with GradientNorms(net) as norms:
        found = norms(inputs, torch.zeros(2)).squared_norms.tolist()
    assert found == pytest.approx([13_122_000.0] * 2)


def test_float64_is_measured_in_float64_also_where_no_rule_is_for():
    net = Does(
        lambda net, x: (
            torch.cumsum(x * 1.0, 1) @ torch.linalg.matrix_exp(net.w)
            + net.w.new_ones(3) @ torch.renorm(net.w, 2, 0, 1.0)
        ),
        w=nn.Parameter(torch.randn(3, 3)),
    ).double()
    inputs, targets = torch.randn(4, 3, dtype=torch.float64), torch.arange(4) % 3
    with GradientNorms(net) as norms:
        found = norms(inputs, targets).squared_norms
    torch.testing.assert_close(found, one_by_one(net, inputs, targets), rtol=1e-12, atol=0)
