"""Squared gradient norms by plain autograd in float64, one example at a time."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils._pytree import tree_map

from hardset.lowresource.norms import GradientNorms


class Logits(nn.Module):
    """A transformers model whose output is its logits."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, inputs):
        return self.model(**inputs).logits


def one_by_one(module, inputs, targets):
    """Return (batch,) squared norms, torch's own loss, of float64 copies of the same weights."""
    module = copy.deepcopy(module).double()
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    norms = []
    for i in range(len(targets)):
        outputs = module(tree_map(lambda t: wide(t[i : i + 1]), inputs))  # noqa: B023
        target = wide(targets[i : i + 1])
        if target.is_floating_point():
            loss = F.mse_loss(outputs.reshape(1), target)
        else:
            loss = F.cross_entropy(outputs, target)
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        norms.append(sum(g.square().sum() for g in gradients if g is not None))
    return torch.stack(norms)


def wide(tensor):
    """Return real numbers in float64, whole ones as they are."""
    return tensor.double() if tensor.is_floating_point() else tensor


def agree(module, inputs, targets, *, within=1e-5, fell_back=False):
    """Assert that norms are those of one-by-one autograd; return how each parameter was measured.

    Nothing may have fallen back to torch.func, unless `fell_back`.
    """
    module.eval()
    with GradientNorms(module) as norms:
        measured = norms(inputs, targets)
    wanted = one_by_one(module, inputs, targets)
    torch.testing.assert_close(measured.squared_norms, wanted, rtol=within, atol=1e-12)
    methods = {planned.name: planned.method for planned in norms.plan}
    fallen = {name for name, method in methods.items() if method in ("torch.func", "one by one")}
    assert bool(fallen) == fell_back, norms.said()
    return methods
