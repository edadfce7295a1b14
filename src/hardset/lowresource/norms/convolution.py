"""The gradients of a convolution's kernel, example by example."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from hardset.lowresource.norms.contributions import Positions, Whole

UNFOLDED_AT_MOST = 1 << 22
"""Numbers an example may unfold to; beyond, its kernel's gradient is formed by itself."""


def contribution(
    x: Tensor,
    g: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Positions | Whole:
    """Return what a convolution adds to its kernel's gradients.

    A small convolution in one or two dimensions is a matrix met at every place of the output, by
    the unfolded input (Rochette et al. 2019, arXiv 1912.06015). A large one unfolds to more than
    its gradients are worth: these are formed example by example.

    Args:
        x: (batch, in, ...).
        g: (batch, out, ...), the output's gradients.
        weight: (out, in / groups, ...).
        stride: one number a dimension of space; so are the next two.
        padding: zeros on either side.
        dilation: steps between the kernel's numbers.
        groups: as torch has it.
    """
    batch, places = len(x), prod(g.shape[2:])
    kernel = weight.shape[2:]
    across = weight[0].numel()
    if len(kernel) > 2 or places * across * groups > UNFOLDED_AT_MOST:
        return Whole(
            one_by_one(x, g, weight, stride, padding, dilation, groups),
            reason="large: its gradients are formed one example at a time",
        )
    if prod(kernel) == 1 and set(stride) == {1} and not any(padding):
        columns = x.flatten(2)
    else:
        flat = len(kernel) == 1
        columns = F.unfold(
            x.unsqueeze(2) if flat else x,
            (1, *kernel) if flat else tuple(kernel),
            dilation=(1, *dilation) if flat else tuple(dilation),
            padding=(0, *padding) if flat else tuple(padding),
            stride=(1, *stride) if flat else tuple(stride),
        )
    return Positions(
        columns.reshape(batch * groups, across, places).mT,
        g.reshape(batch * groups, -1, places).mT,
        groups=groups,
    )


def one_by_one(
    x: Tensor,
    g: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    transposed: bool = False,
    output_padding: Sequence[int] = (0,),
) -> Tensor:
    """Return the gradients of a kernel, (batch, *kernel), by torch's own backward of one image."""
    weight = weight.to(x.dtype)
    back = torch.ops.aten.convolution_backward
    options = (list(stride), list(padding), list(dilation), transposed, list(output_padding))
    return torch.cat(
        [
            back(g[i : i + 1], x[i : i + 1], weight, None, *options, groups, [False, True, False])[
                1
            ][None]
            for i in range(len(x))
        ]
    )
