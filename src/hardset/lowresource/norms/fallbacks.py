"""Gradients of some parameters example by example, for what no rule measures; and the check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.utils._pytree import tree_map

from hardset.lowresource.losses import example_losses, losses_of
from hardset.lowresource.norms.contributions import Whole
from hardset.lowresource.norms.watch import widened

AT_ONCE = 1 << 26
"""Numbers of per-example gradients that torch.func may hold at a time (256 MB of float32)."""


def by_torch_func(
    module: nn.Module, names: Sequence[str], inputs: Any, targets: Tensor
) -> dict[str, Tensor]:
    """Return the squared norms of the named parameters' gradients by `vmap(grad)`."""
    every = dict(module.named_parameters())
    some = {name: every[name].detach() for name in names}

    def loss(parameters: dict[str, Tensor], one: Any, target: Tensor) -> Tensor:
        batch = tree_map(lambda t: t.unsqueeze(0) if isinstance(t, Tensor) else t, one)
        forget(module)
        outputs = functional_call(module, parameters, (batch,))
        return losses_of(outputs, target.unsqueeze(0)).sum()

    count = max(1, AT_ONCE // max(1, sum(p.numel() for p in some.values())))
    each = vmap(grad(loss), in_dims=(None, 0, 0), chunk_size=min(count, len(targets)))
    with torch.enable_grad():
        grads = each(some, inputs, targets)
    return {name: Whole(widened(g.detach())).squared() for name, g in grads.items()}


def one_by_one(
    module: nn.Module, names: Sequence[str], inputs: Any, targets: Tensor
) -> tuple[dict[str, Tensor], Tensor]:
    """Return the squared norms by plain autograd, a batch of one at a time, and the losses."""
    every = dict(module.named_parameters())
    parameters = [every[name] for name in names]
    before = [parameter.requires_grad for parameter in parameters]
    norms: dict[str, list[Tensor]] = {name: [] for name in names}
    losses = []
    try:
        for parameter in parameters:
            parameter.requires_grad_()
        with torch.enable_grad():
            for i in range(len(targets)):
                forget(module)
                one = example_losses(module(picked(inputs, [i])), targets[i : i + 1]).sum()
                losses.append(one.detach())
                grads: Sequence[Tensor | None] = [None] * len(parameters)
                if one.requires_grad:
                    grads = torch.autograd.grad(one, parameters, allow_unused=True)
                for name, g in zip(names, grads, strict=True):
                    g = torch.zeros(1, device=one.device) if g is None else g
                    norms[name].append(Whole(widened(g.to_dense())[None]).squared())
    finally:
        for parameter, wanted in zip(parameters, before, strict=True):
            parameter.requires_grad_(wanted)
    return {name: torch.cat(each) for name, each in norms.items()}, torch.stack(losses)


def forget(module: nn.Module) -> None:
    """Have layers forget what they made of their parameters and keep from one evaluation on.

    Biases of attention looked up once (LeViT and its kin), kernels merged: what was made without
    gradients, or for a batch before, has no part in this one's. Such layers drop it on their way to
    training mode, so they are asked to go there; all modes stay as they are.
    """
    for layer in module.modules():
        if type(layer).train is not nn.Module.train:
            modes = [(part, part.training) for part in layer.modules()]
            layer.train()
            for part, training in modes:
                part.training = training


def picked(inputs: Any, rows: Sequence[int]) -> Any:
    """Return some examples of a batch: a tensor, or a dict of tensors."""
    return tree_map(lambda t: t[list(rows)] if isinstance(t, Tensor) else t, inputs)
