"""The loss of each example, and its gradient, exact for easy examples too.

`logsumexp(z) - z[true]` cancels: in float32 a loss of 1e-9 comes out as 0. Here every other logit
is measured from the true class's, d_j = z_j - z_true, and the loss is log(1 + sum_j exp(d_j)) =
log1p(exp(logsumexp(d))). Autograd of this form gives the true class minus the sum of the others'
probabilities, rather than `p - 1`, which cancels likewise.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hardset.errors import UsageError


def example_losses(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the loss of each example: cross-entropy, or squared error where targets are real.

    Args:
        outputs: logits (batch, classes); or values (batch,) or (batch, 1).
        targets: (batch,) int64 numbers of classes; or (batch,) or (batch, 1) real numbers.

    Returns:
        (batch,) in nats, or squared units of the target; float64 (float32 on a device without it).

    Raises:
        UsageError: the shapes do not belong together, a target is no class, or the outputs are no
            tensor.
    """
    if not isinstance(outputs, Tensor):
        raise UsageError(
            f"the module gives {type(outputs).__name__}, and should give a tensor of logits: wrap "
            "it in a module that returns them alone"
        )
    if targets.is_floating_point():
        if outputs.numel() != len(targets) or targets.numel() != len(targets):
            raise UsageError(
                f"outputs {tuple(outputs.shape)} and targets {tuple(targets.shape)} do not belong "
                "together: real targets (batch,) need one output an example"
            )
        return losses_of(outputs, targets)
    if outputs.dim() != 2 or targets.shape != outputs.shape[:1]:
        raise UsageError(
            f"outputs {tuple(outputs.shape)} and targets {tuple(targets.shape)} do not belong "
            "together: logits are (batch, classes) and whole-number targets (batch,)"
        )
    least, most = targets.aminmax() if len(targets) else (0, 0)
    if least < 0 or most >= outputs.shape[1]:
        raise UsageError(
            f"targets run from {int(least)} to {int(most)}, but the network has "
            f"{outputs.shape[1]} classes; leave out examples without label"
        )
    return losses_of(outputs, targets)


def losses_of(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return `example_losses` unchecked, so that torch.func can go through it."""
    wide = outputs.to(widest(outputs))
    if targets.is_floating_point():
        batch = targets.shape[0]
        return (wide.reshape(batch) - targets.reshape(batch).to(wide.dtype)).square()
    true = targets[:, None]
    others = (wide - wide.gather(1, true)).scatter(1, true, -torch.inf)
    return torch.logaddexp(torch.logsumexp(others, 1), wide.new_zeros(()))


def widest(tensor: Tensor) -> torch.dtype:
    """Return float64, or float32 on a device without it (Apple's)."""
    return torch.float32 if tensor.device.type == "mps" else torch.float64
