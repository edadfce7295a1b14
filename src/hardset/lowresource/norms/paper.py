"""The published definition of the two scores, for comparing with the authors' own figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


def paper_score(module: nn.Module, inputs: Any, targets: Tensor) -> tuple[float, float]:
    """Return the loss and the squared gradient norm of a batch of one, as the authors define them.

    The module is in whatever mode it is in (theirs is training mode), the loss is torch's own mean
    cross-entropy, or mean squared error for real targets, and the squares are added in float32, one
    parameter after the other. Gradients that were there before are given back untouched.

    Args:
        module: `module(inputs)` gives (1, classes) logits, or one value for real targets.
        inputs: a batch of one.
        targets: (1,).

    Source: Hard-Bench (Loss) and (GradNorm), arXiv 2303.03840, section 3.
    """
    before = [(parameter, parameter.grad) for parameter in module.parameters()]
    for parameter, _ in before:
        parameter.grad = None
    try:
        with torch.enable_grad():
            outputs = module(inputs)
            lossy: Callable[[Tensor, Tensor], Tensor] = nn.CrossEntropyLoss()
            if targets.is_floating_point():
                lossy, outputs = nn.MSELoss(), outputs.reshape(targets.shape)
            loss = lossy(outputs, targets)
            loss.backward()  # type: ignore[no-untyped-call]
        total = torch.zeros((), dtype=torch.float32, device=loss.device)
        for parameter, _ in before:
            if parameter.grad is not None:
                flat = parameter.grad.reshape(-1)
                total = total + torch.dot(flat, flat)
        return loss.item(), total.item()
    finally:
        for parameter, gradient in before:
            parameter.grad = gradient
