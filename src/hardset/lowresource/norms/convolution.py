"""What a convolution adds to the gradients of its kernel, example by example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from hardset.lowresource.norms.contributions import Positions, Whole, gram_is_cheaper

WINDOWS = 1 << 19
"""Numbers laid out as windows at a time, 2 MB of float32: the next step still finds them cached."""
LARGE = 1 << 23
"""Multiplications of one example from which torch's own backward of it is worth a call."""

DEPTHWISE = 1 << 16
"""The same of a small depthwise kernel."""


@dataclass(frozen=True)
class Geometry:
    """How a kernel walks: one number a dimension of space, except for the groups."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1
    output_padding: tuple[int, ...] | None = None
    """Of a transposed convolution; None for one that is not."""


@dataclass
class Kernel:
    """A kernel (out, in, ...), met by x (rows, in, ...) with output gradients g (rows, out, ...).

    A convolution is a matrix met at every place of its output by the window of the input that lies
    there (Rochette et al. 2019, arXiv 1912.06015). Where that is much work, torch's own backward
    pass of one example after the other is faster than laying out the windows. An example may lie in
    several rows, as a film's frames do.
    """

    x: Tensor
    g: Tensor
    weight: Tensor
    geometry: Geometry
    batch: int

    def squared(self) -> Tensor:
        """Return the squared norms, (batch,) float64."""
        gram = gram_is_cheaper(*self._sizes()) and not self._one_by_one()
        if len(self.x) != self.batch or not gram:
            return Whole(self.whole(self.weight.shape)).squared()
        groups = self.geometry.groups
        return torch.cat([Positions(w.mT, g.mT, False, groups).squared() for w, g in self._walk()])

    def whole(self, shape: Sequence[int]) -> Tensor:
        """Return the gradients themselves, (batch, *shape)."""
        if self._one_by_one():
            rows = range(len(self.x))
            each = torch.stack([self._of_one(self.x[i : i + 1], self.g[i : i + 1]) for i in rows])
        else:
            _, window, out = self._sizes()
            each = self.x.new_empty(len(self.x) * self.geometry.groups, out, window)
            done = 0
            for w, g in self._walk():
                torch.bmm(g, w.mT, out=each[done : done + len(w)])
                done += len(w)
        each = each.view(self.batch, -1, *shape)
        return each[:, 0] if each.shape[1] == 1 else each.sum(1)

    def how(self) -> str:
        """Say which form it takes, and why."""
        if self._one_by_one():
            return f"one example at a time: {self._work():,} multiplications each"
        t, d, p = self._sizes()
        form = "Gram form" if gram_is_cheaper(t, d, p) else "outer product"
        return f"{form}: {t} places against d p / (d + p) = {d * p / (d + p):.0f}"

    def _sizes(self) -> tuple[int, int, int]:
        """Return places, numbers in a window, and outputs, of one group."""
        out = len(self.weight) // self.geometry.groups
        return prod(self.g.shape[2:]), self.weight[0].numel(), out

    def _work(self) -> int:
        return prod(self._sizes()) * self.geometry.groups

    def _one_by_one(self) -> bool:
        places, window, out = self._sizes()
        if self.geometry.output_padding is not None:
            return True
        if out == 1 and self.geometry.groups > 1 and window <= 9:  # depthwise: torch has its own
            return places * window * self.geometry.groups > DEPTHWISE
        return self._work() > LARGE and not gram_is_cheaper(places, window, out)

    def _walk(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield windows (n * groups, window, places) and g (n * groups, out, places) of n rows.

        The windows are overwritten by the next: fresh memory for each costs more than they do.
        """
        places, window, out = self._sizes()
        walk, x = self.geometry, self.x.contiguous()
        if any(walk.padding):
            x = F.pad(x, [side for pad in reversed(walk.padding) for side in (pad, pad)])
        rows, planes, *along = x.stride()
        steps = [one * step for one, step in zip(along, walk.dilation, strict=True)]
        jumps = [one * jump for one, jump in zip(along, walk.stride, strict=True)]
        windows = x.as_strided(
            (*x.shape[:2], *self.weight.shape[2:], *self.g.shape[2:]),
            (rows, planes, *steps, *jumps),
        )
        g = self.g.reshape(len(x), -1, places)
        n = max(1, WINDOWS // (places * window * walk.groups))
        laid = x.new_empty(min(n, len(x)), *windows.shape[1:])
        for start in range(0, len(x), n):
            some = laid[: len(x) - start].copy_(windows[start : start + n])
            yield some.view(-1, window, places), g[start : start + n].reshape(-1, out, places)

    def _of_one(self, x: Tensor, g: Tensor) -> Tensor:
        walk = self.geometry
        transposed = walk.output_padding is not None
        back: Tensor = torch.ops.aten.convolution_backward(
            g,
            x,
            self.weight.to(x.dtype),
            None,
            walk.stride,
            walk.padding,
            walk.dilation,
            transposed,
            walk.output_padding or (0,) * len(walk.stride),
            walk.groups,
            (False, True, False),
        )[1]
        return back


def padded_same(x: Tensor, kernel: Sequence[int], dilation: Sequence[int]) -> Tensor:
    """Carry out the padding `same`: where it is odd, the greater part is at the end."""
    sides: list[int] = []
    for size, step in zip(reversed(kernel), reversed(dilation), strict=True):
        both = step * (size - 1)
        sides += [both // 2, both - both // 2]
    return F.pad(x, sides)
