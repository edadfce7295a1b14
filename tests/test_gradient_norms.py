"""Squared gradient norms: by hand, and against one-by-one autograd in float64."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.errors import UsageError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

from gradient_oracle import agree, one_by_one  # noqa: E402
from hardset.lowresource.norms import GradientNorms, paper_score  # noqa: E402


def seeded(number=0):
    torch.manual_seed(number)


def norms_of(module, inputs, targets):
    with GradientNorms(module.eval()) as norms:
        return norms(inputs, targets).squared_norms.tolist()


# By hand ---------------------------------------------------------------------------------------


def test_a_linear_layer_by_hand():
    layer = nn.Linear(2, 2)
    layer.weight.data = torch.tensor([[log(3), 0.0], [0.0, 0.0]])
    layer.bias.data.zero_()
    # x = (1, 2): logits (ln 3, 0), probabilities (3/4, 1/4). Class 0: output gradient (-1/4, 1/4),
    # squared 1/8; times |x|^2 + 1 = 6 for weight and bias: 3/4. Class 1: (3/4, -3/4): 9/8 * 6.
    inputs = torch.tensor([[1.0, 2.0], [1.0, 2.0]])
    assert norms_of(layer, inputs, torch.tensor([0, 1])) == pytest.approx([3 / 4, 27 / 4])


def test_positions_add_up_before_they_are_squared():
    layer = nn.Linear(1, 1, bias=False)
    layer.weight.data.fill_(2.0)
    net = nn.Sequential(layer, nn.Flatten(), Summed())
    # Output 2 (3 + 4) = 14 against 13: gradient 2 (14 - 13) (3 + 4) = 14; and 2 (1) (-3 + 4) = 2.
    inputs = torch.tensor([[[3.0], [4.0]], [[-3.0], [4.0]]])
    assert norms_of(net, inputs, torch.tensor([13.0, 1.0])) == pytest.approx([196.0, 4.0])


def test_an_id_met_twice_adds_up_and_padding_is_left_out():
    table = nn.Embedding(4, 1, padding_idx=0)
    table.weight.data = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    net = nn.Sequential(table, nn.Flatten(), Summed())
    # 1 + 1 + 0 = 2 against 1: 2 (2 - 1) = 2 at each place. Row 1 twice: 4, squared 16; the
    # padding none. 1 + 2 + 3 = 6 against 5: three rows of 2: 12.
    inputs = torch.tensor([[1, 1, 0], [1, 2, 3]])
    assert norms_of(net, inputs, torch.tensor([1.0, 5.0])) == pytest.approx([16.0, 12.0])


def test_a_tied_table_has_its_cross_term():
    net = Tied(1, 1)
    net.table.weight.data.fill_(3.0)
    # f = w * w = 9 against 8: gradient 2 (9 - 8) * 2 w = 12, squared 144. Without the cross term
    # it would be 2 * 6^2 = 72.
    assert norms_of(net, torch.tensor([[0]]), torch.tensor([8.0])) == pytest.approx([144.0])


class Summed(nn.Module):
    """The sum of all features, one output an example."""

    def forward(self, x):
        return x.sum(1)


class Tied(nn.Module):
    """A table whose transpose decodes: logits of (mean of embeddings) @ table'."""

    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width)
        self.decoder = nn.Linear(width, rows, bias=False)
        self.decoder.weight = self.table.weight

    def forward(self, ids):
        return self.decoder(self.table(ids).tanh() if ids.shape[1] > 1 else self.table(ids)).mean(1)


# Layers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("positions", [1, 2, 3, 30])  # d p / (d + p) = 6 * 4 / 10 = 2.4
def test_both_sides_of_the_threshold(positions):
    seeded()
    net = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Flatten(), nn.Linear(4 * positions, 3))
    with GradientNorms(net.eval()) as norms:
        norms(torch.randn(4, positions, 6), torch.tensor([0, 1, 2, 0]))
    form = "Gram form" if positions < 2.4 else "outer product"
    assert norms.plan[0].why == f"{form}: {positions} positions against d p / (d + p) = 2"
    agree(net, torch.randn(4, positions, 6), torch.tensor([0, 1, 2, 0]))


@settings(max_examples=25, deadline=None)
@given(
    space=st.integers(1, 3),
    groups=st.sampled_from([1, 2, 4]),
    kernel=st.integers(1, 3),
    stride=st.integers(1, 3),
    padding=st.sampled_from([0, 1, "same", "valid"]),
    dilation=st.integers(1, 2),
    mode=st.sampled_from(["zeros", "circular", "reflect"]),
    bias=st.booleans(),
)
def test_convolutions(space, groups, kernel, stride, padding, dilation, mode, bias):
    seeded()
    stride = 1 if padding == "same" else stride
    layer = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[space - 1](
        *(4, 8, kernel, stride, padding, dilation, groups, bias), padding_mode=mode
    )
    inputs = torch.randn(3, 4, *(7, 6, 5)[:space])
    net = nn.Sequential(layer, nn.Flatten(), nn.Tanh(), nn.LazyLinear(3)).eval()
    net(inputs)
    methods = agree(net, inputs, torch.tensor([0, 1, 2]))
    assert methods["0.weight"] == "convolution"


@pytest.mark.parametrize("limit", [0, 1 << 40])
def test_large_and_small_convolutions(limit, monkeypatch):
    seeded()
    monkeypatch.setattr("hardset.lowresource.norms.convolution.LARGE", limit)
    monkeypatch.setattr("hardset.lowresource.norms.convolution.WINDOWS", 100)
    net = nn.Sequential(nn.Conv2d(2, 4, 3, 2, 1), nn.ReLU(inplace=True), nn.Flatten(), Summed())
    agree(net, torch.randn(5, 2, 9, 9), torch.randn(5))
    monkeypatch.setattr("hardset.lowresource.norms.convolution.DEPTHWISE", limit)
    net = nn.Sequential(nn.Conv2d(4, 4, 3, 2, 1, groups=4), nn.Tanh(), nn.Flatten(), Summed())
    agree(net, torch.randn(5, 4, 9, 9), torch.randn(5))


def test_frames_flattened_into_the_batch():
    # (examples, frames, ...) to (examples * frames, ...), as for films: a kernel adds up frames.
    seeded()

    class Film(nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel, self.norm = nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)

        def forward(self, x):
            frames = self.norm(self.kernel(x.flatten(0, 1))).tanh()
            return frames.unflatten(0, x.shape[:2]).sum((1, 3, 4))

    agree(Film(), torch.randn(3, 4, 2, 5, 5), torch.tensor([0, 1, 2]))


def test_transposed_convolutions():
    seeded()
    net = nn.Sequential(
        nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, groups=2), nn.Tanh(), nn.Flatten(), Summed()
    )
    assert agree(net, torch.randn(3, 4, 5), torch.randn(3))["0.weight"] == "convolution"


@pytest.mark.parametrize(
    "layer",
    [
        nn.LayerNorm([6, 4]),
        nn.LayerNorm(4, bias=False),
        nn.RMSNorm(4),
        nn.GroupNorm(3, 6),
        nn.BatchNorm1d(6),
        nn.InstanceNorm1d(6, affine=True),
        nn.PReLU(),
        nn.PReLU(6),
    ],
    ids=lambda layer: str(layer),
)
def test_norms_and_slopes(layer):
    seeded()
    for parameter in layer.parameters():
        parameter.data.normal_()
    if isinstance(layer, nn.BatchNorm1d):
        layer.running_mean.normal_()
        layer.running_var.uniform_(0.5, 2)
    net = nn.Sequential(layer, nn.Tanh(), nn.Flatten(), nn.Linear(24, 3))
    agree(net, torch.randn(5, 6, 4), torch.tensor([0, 1, 2, 0, 1]))


class Bare(nn.Module):
    """Parameters that no module of their own uses."""

    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 4))
        self.place = nn.Parameter(torch.randn(1, 9, 4))  # more places than are used
        self.scale = nn.Parameter(torch.randn(4))
        self.shift = nn.Parameter(torch.randn(1))
        self.matrix = nn.Parameter(torch.randn(4, 5))
        self.kernel = nn.Parameter(torch.randn(3, 4, 1))
        self.table = nn.Parameter(torch.randn(7, 2))

    def forward(self, x):
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1)
        x = x + self.place[:, : x.shape[1]]
        x = (x.tanh() * self.scale) @ self.matrix - self.shift
        kernel = (self.kernel - self.kernel.mean()) / self.kernel.std()  # made of parameters alone
        x = F.conv1d(x.tanh().mT[:, :4], kernel).tanh()
        rows = self.table[torch.arange(x.shape[2])].T  # (2, positions)
        return x.sum(2) @ self.matrix[:3, :3] + (x[:, :2] * rows).sum((1, 2))[:, None]


def test_parameters_without_a_module():
    seeded()
    methods = agree(Bare(), torch.randn(5, 6, 4), torch.tensor([0, 1, 2, 0, 1]))
    assert methods == {
        "token": "expanded",
        "place": "derived",
        "scale": "scale",
        "shift": "shift",
        "matrix": "derived",
        "kernel": "derived",
        "table": "derived",
    }


@pytest.mark.parametrize("batch", [1, 2, 6])  # 6 is the number of positions too
@pytest.mark.parametrize("first", [True, False])
def test_attention(batch, first):
    seeded()
    layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, norm_first=first)
    net = nn.Sequential(layer, nn.Flatten(), nn.Linear(48, 3))
    agree(net, torch.randn(batch, 6, 8), torch.arange(batch) % 3)


class Crossed(nn.Module):
    """Attention from one sequence to another, whose batch is second, as torch has it."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, kdim=6, vdim=6, add_bias_kv=True)
        self.same = nn.MultiheadAttention(8, 2)

    def forward(self, inputs):
        query, key = inputs["query"].transpose(0, 1), inputs["key"].transpose(0, 1)
        met, _ = self.attention(query, key, key)
        again, _ = self.same(met, query, query, need_weights=False)
        return again.mean(0)


def test_attention_to_others():
    seeded()
    inputs = {"query": torch.randn(3, 4, 8), "key": torch.randn(3, 5, 6)}
    agree(Crossed(), inputs, torch.tensor([0, 5, 7]))


@pytest.mark.parametrize("positions", [1, 4])
def test_tied_weights_and_a_layer_met_several_times(positions):
    seeded()
    net = Tied(9, 4)
    ids = torch.randint(9, (6, positions))
    assert agree(net, ids, torch.arange(6))["table.weight"] == "embedding + linear"
    layer = nn.Linear(4, 4)
    twice = nn.Sequential(layer, nn.Tanh(), layer, nn.Tanh(), layer)
    assert agree(twice, torch.randn(3, 4), torch.tensor([0, 1, 2]))["0.weight"] == "linear"
    kernel = nn.Conv1d(2, 2, 3, padding=1)
    thrice = nn.Sequential(kernel, nn.Tanh(), kernel, nn.Flatten(), Summed())
    agree(thrice, torch.randn(3, 2, 5), torch.randn(3))


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding", [None, 0])
def test_bags(mode, padding):
    seeded()

    class Bag(nn.Module):
        def __init__(self):
            super().__init__()
            self.bag = nn.EmbeddingBag(9, 4, mode=mode, padding_idx=padding)
            self.head = nn.Linear(4, 3)

        def forward(self, inputs):
            return self.head(self.bag(inputs["ids"], per_sample_weights=inputs.get("weights")))

    inputs = {"ids": torch.randint(9, (3, 6))}
    inputs["ids"][0] = 0
    if mode == "sum":
        inputs["weights"] = torch.rand(3, 6)
    assert agree(Bag(), inputs, torch.tensor([0, 1, 2]))["bag.weight"] == "embedding"


def test_it_does_not_depend_on_the_batches_before():
    # Two batches, the second of which is laid out so that the first guess is wrong: in any order
    # each has its own figures to the last bit.
    seeded()

    class Second(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            return self.inner(x.transpose(0, 1).contiguous()).tanh().sum(0)

    net = Second()
    batches = [(torch.randn(n, 4, 3), torch.arange(n) % 3) for n in (5, 4)]
    found = []
    for order in ([0, 1], [1, 0], [0, 0], [1, 1]):
        with GradientNorms(net) as norms:
            found.append({number: norms(*batches[number]).squared_norms for number in order})
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    assert torch.equal(found[0][0], found[2][0])
    assert torch.equal(found[0][1], found[3][1])


# What it leaves and what it says -----------------------------------------------------------------


class Odd(nn.Module):
    """A parameter in a function that no rule is for, and a frozen and an unused one."""

    def __init__(self):
        super().__init__()
        self.matrix = nn.Parameter(torch.randn(4, 3))
        self.frozen = nn.Parameter(torch.randn(3), requires_grad=False)
        self.unused = nn.Parameter(torch.randn(3))
        self.head = nn.Linear(3, 3)

    def forward(self, x):
        return self.head(torch.tensordot(x, self.matrix, 1).tanh() + self.frozen)


def test_what_no_rule_is_for_falls_back_and_is_said():
    seeded()
    net = Odd()
    methods = agree(net, torch.randn(4, 4), torch.tensor([0, 1, 2, 0]), fell_back=True)
    assert methods == {
        "matrix": "torch.func",
        "unused": "unused",
        "head.weight": "linear",
        "head.bias": "bias",
    }
    with GradientNorms(net) as norms:
        assert norms.plan == []
        norms(torch.randn(4, 4), torch.tensor([0, 1, 2, 0]))
    assert norms.said() == [
        "Measured by torch.func: matrix (used by tensordot, which no rule is for).",
        "Left out, as they need no gradient: frozen.",
        "The loss does not depend on unused.",
    ]


def test_what_torch_func_cannot_is_measured_one_by_one():
    seeded()

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRU(4, 3, batch_first=True)

        def forward(self, x):
            return self.cell(x)[0][:, -1] * (1 if x.sum().item() else 2)

    methods = agree(Recurrent(), torch.randn(3, 5, 4), torch.tensor([0, 1, 2]), fell_back=True)
    assert set(methods.values()) == {"one by one"}


def test_positions_before_examples_are_found_out():
    # (positions, batch, width) is taken for (batch, positions, width) where both are 4; autograd
    # then says otherwise.
    seeded()

    class Second(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            return self.inner(x.transpose(0, 1).contiguous()).tanh().sum(0)

    agree(Second(), torch.randn(5, 4, 3), torch.tensor([0, 1, 2, 0, 1]))
    agree(Second(), torch.randn(4, 4, 3), torch.tensor([0, 1, 2, 0]), fell_back=True)
    with GradientNorms(Second()) as norms:  # the wrong guess comes with a later batch
        norms(torch.randn(5, 4, 3), torch.tensor([0, 1, 2, 0, 1]))
        assert norms.said() == []
        inputs, targets = torch.randn(4, 4, 3), torch.tensor([0, 1, 2, 0])
        later = norms(inputs, targets).squared_norms
    torch.testing.assert_close(later, one_by_one(norms.module, inputs, targets), rtol=1e-5, atol=0)


def test_functions_that_overwrite_their_input():
    seeded()

    class Overwrites(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv1d(2, 3, 2), nn.Conv1d(3, 3, 2)
            self.scale, self.shift = (
                nn.Parameter(torch.randn(3, 1)),
                nn.Parameter(torch.randn(3, 1)),
            )

        def forward(self, x):
            x = F.relu_(self.first(x))  # the first output needs no gradient but for the watching
            x = self.second(x)
            x *= self.scale
            return x.add_(self.shift).tanh().sum(2)

    agree(Overwrites(), torch.randn(3, 2, 5), torch.tensor([0, 1, 2]))


@pytest.mark.parametrize("layer", [nn.BatchNorm1d(4), nn.Dropout(0.5)])
def test_training_mode_is_refused_where_it_matters(layer):
    with pytest.raises(UsageError, match="--mode paper"), GradientNorms(nn.Sequential(layer)):
        pass
    with pytest.raises(UsageError, match="mixes the examples"):
        GradientNorms(nn.BatchNorm1d(4, track_running_stats=False).eval()).__enter__()


def test_examples_that_mix_are_an_error():
    class Mixes(nn.Linear):
        def forward(self, x):
            return super().forward(x - x.mean(0))

    with (
        pytest.raises(UsageError, match="changes with its batch"),
        GradientNorms(Mixes(4, 3)) as norms,
    ):
        norms(torch.randn(3, 4), torch.tensor([0, 1, 2]))


def test_everything_is_as_before_also_after_an_error():
    seeded()
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 3))
    net[0].bias.requires_grad_(False)
    gathered = torch.ones_like(net[0].weight)
    net[0].weight.grad = gathered
    fast = torch.backends.mha.get_fastpath_enabled()
    with pytest.raises(RuntimeError, match="shapes"), GradientNorms(net) as norms:
        norms(torch.randn(3, 5), torch.tensor([0, 1, 2]))
    assert [p.requires_grad for p in net.parameters()] == [True, False, True, True]
    assert net[0].weight.grad is gathered
    assert gathered.eq(1).all()
    assert torch.backends.mha.get_fastpath_enabled() == fast
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in net.modules())
    with pytest.raises(UsageError, match="open it first"):
        norms(torch.randn(3, 4), torch.tensor([0, 1, 2]))


def test_without_gradients_around_and_outputs_are_the_modules():
    seeded()
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 3)).eval()
    inputs, targets = torch.randn(3, 4), torch.tensor([0, 1, 2])
    with torch.no_grad(), GradientNorms(net) as norms:
        measured = norms(inputs, targets)
        assert torch.equal(measured.outputs, net(inputs))
    torch.testing.assert_close(
        measured.losses.float(), F.cross_entropy(measured.outputs, targets, reduction="none")
    )
    assert measured.squared_norms.dtype == torch.float64
    wanted = one_by_one(net, inputs, targets)
    torch.testing.assert_close(measured.squared_norms, wanted, rtol=1e-5, atol=0)


def test_a_backbone_that_is_run_without_gradients():
    seeded()

    class Headed(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 3)

        def forward(self, x):
            with torch.no_grad():
                x = self.body(x)
            return self.head(x)

    methods = agree(Headed(), torch.randn(3, 4), torch.tensor([0, 1, 2]))
    assert methods["body.weight"] == "unused"


def test_half_precision_is_summed_in_full():
    seeded()
    net = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 3)).eval()
    inputs, targets = torch.randn(4, 64), torch.tensor([0, 1, 2, 0])
    wanted = one_by_one(net, inputs, targets)
    with GradientNorms(net.bfloat16()) as norms:
        halved = norms(inputs.bfloat16(), targets).squared_norms
    # bfloat16 has 8 bits: a few parts in a hundred are all that can be asked.
    torch.testing.assert_close(halved, wanted, rtol=0.1, atol=0)


def test_an_easy_example_keeps_its_gradient():
    layer = nn.Linear(1, 2, bias=False)
    layer.weight.data = torch.tensor([[30.0], [0.0]])
    # Logits 30 and 0: the other's probability is e^-30 / (1 + e^-30); the gradient (-p, p) times
    # x = 1: squared 2 p^2 = 2 e^-60 (1 - 2 e^-30 ...).
    (norm,) = norms_of(layer, torch.ones(1, 1), torch.tensor([0]))
    assert norm == pytest.approx(2 * 2.718281828459045**-60, rel=1e-6)


# The authors' definition ------------------------------------------------------------------------


@pytest.mark.parametrize("real", [False, True])
def test_the_papers_score_to_the_bit(real):
    seeded()
    net = nn.Sequential(
        nn.Linear(40, 30), nn.Dropout(0.5), nn.Tanh(), nn.Linear(30, 1 if real else 5)
    )
    unused = nn.Linear(2, 2)
    net.add_module("unused", nn.Identity())
    net[0].unused = unused  # parameters without gradient are left out
    net[0].bias.grad = kept = torch.ones(30)
    inputs = torch.randn(1, 40)
    target = torch.tensor([0.7]) if real else torch.tensor([3])
    seeded(7)
    loss, norm = paper_score(net, inputs, target)
    assert net[0].bias.grad is kept
    # Their loop, in our words: backward of the mean loss of one example, then the sum over
    # parameters of grad . grad in float32.
    for parameter in net.parameters():
        parameter.grad = None
    seeded(7)
    outputs = net(inputs)
    wanted = (
        nn.MSELoss()(outputs.view(1), target) if real else nn.CrossEntropyLoss()(outputs, target)
    )
    wanted.backward()
    total = 0
    for parameter in net.parameters():
        if parameter.grad is not None:
            flat = parameter.grad.view(-1)
            total = total + flat @ flat
    assert loss == wanted.item()
    assert norm == total.item()
