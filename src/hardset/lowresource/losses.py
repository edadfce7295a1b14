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
        UsageError: the shapes do not belong together, or a target is no class.
    """
    wide = torch.float32 if outputs.device.type == "mps" else torch.float64
    if targets.is_floating_point():
        return _squared_errors(outputs.to(wide), targets.to(wide))
    if outputs.dim() != 2 or targets.shape != outputs.shape[:1]:
        raise UsageError(
            f"outputs {tuple(outputs.shape)} and targets {tuple(targets.shape)} do not belong "
            "together: logits are (batch, classes) and whole-number targets (batch,)"
        )
    if bool(((targets < 0) | (targets >= outputs.shape[1])).any()):
        raise UsageError(
            f"targets run from {int(targets.min())} to {int(targets.max())}, but the network has "
            f"{outputs.shape[1]} classes; leave out examples without label"
        )
    return _cross_entropies(outputs.to(wide), targets[:, None])


def _cross_entropies(logits: Tensor, true: Tensor) -> Tensor:
    others = (logits - logits.gather(1, true)).scatter(1, true, -torch.inf)
    return torch.logaddexp(torch.logsumexp(others, 1), logits.new_zeros(()))


def _squared_errors(values: Tensor, targets: Tensor) -> Tensor:
    batch = len(targets)
    if values.numel() != batch or targets.numel() != batch:
        raise UsageError(
            f"outputs {tuple(values.shape)} and targets {tuple(targets.shape)} do not belong "
            "together: real targets (batch,) need one output an example"
        )
    return (values.reshape(batch) - targets.reshape(batch)).square()
