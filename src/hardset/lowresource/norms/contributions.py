"""What one use of a parameter adds to its gradient, example by example, and how long that is.

Every use is kept in factors, never as a gradient per example, for as long as its squared norm can
be had without: for a matrix met at T positions by inputs x_t and output gradients g_t the gradient
is G = sum_t g_t x_t', and |G|^2 = sum_ts <g_t, g_s> <x_t, x_s> (the ghost norm of Goodfellow 2015,
arXiv 1510.01799, and Li et al. 2022, arXiv 2110.05679). That Gram form costs T^2 (d + p), forming
G itself T d p, so the Gram form wins where T < d p / (d + p).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from hardset.lowresource.losses import widest

CHUNK = 1 << 22
"""Numbers made at a time, 16 MB of float32: more only falls out of the processor's cache."""


@dataclass
class Positions:
    """A matrix (p, d) met at T positions: x (batch, T, d), g (batch, T, p).

    `transposed` says that the parameter is laid out as (d, p). With groups (a grouped convolution)
    x and g are (batch * groups, T, ...), and the parameter (groups * p, d).
    """

    x: Tensor
    g: Tensor
    transposed: bool = False
    groups: int = 1

    def squared(self) -> Tensor:
        """Return the squared norms, (batch,) float64."""
        t, d, p = self.x.shape[1], self.x.shape[2], self.g.shape[2]
        if t == 1:
            each = _squares(self.x) * _squares(self.g)
        elif gram_is_cheaper(t, d, p):
            each = torch.cat([_gram(x, g) for x, g in _chunks(t * t, self.x, self.g)])
        else:
            each = torch.cat(
                [_squares(torch.bmm(g.mT, x)) for x, g in _chunks(d * p, self.x, self.g)]
            )
        return each.view(-1, self.groups).sum(1)

    def whole(self, shape: Sequence[int]) -> Tensor:
        """Return the gradients themselves, (batch, *shape)."""
        left, right = (self.x, self.g) if self.transposed else (self.g, self.x)
        return torch.bmm(left.mT, right).view(-1, *shape)

    def how(self) -> str:
        """Say which form it takes, and why."""
        t, d, p = self.x.shape[1], self.x.shape[2], self.g.shape[2]
        form = "Gram form" if gram_is_cheaper(t, d, p) else "outer product"
        return f"{form}: {t} positions against d p / (d + p) = {d * p / (d + p):.0f}"


@dataclass
class Rows:
    """A table of vectors looked up: ids (batch, T), the gradients of what was found (batch, T, D).

    An id met several times in one example has its gradients added before they are squared.
    """

    ids: Tensor
    g: Tensor

    def squared(self) -> Tensor:
        """Return the squared norms, (batch,) float64."""
        batch, t = self.ids.shape
        if t == 1:
            return _squares(self.g)
        ids, order = self.ids.sort(dim=1)
        new = torch.ones_like(ids)
        new[:, 1:] = ids[:, 1:] != ids[:, :-1]
        # Which row of (batch * T) each position's gradient is added to: one for each distinct id.
        row = (new.cumsum(1) - 1) + torch.arange(batch, device=ids.device)[:, None] * t
        at = torch.empty_like(row).scatter_(1, order, row)
        sums = self.g.new_zeros(batch * t, self.g.shape[-1])
        sums.index_add_(0, at.view(-1), self.g.reshape(batch * t, -1))
        return _squares(sums.view(batch, t, -1))

    def whole(self, shape: Sequence[int]) -> Tensor:
        """Return the gradients themselves, (batch, *shape)."""
        grads = self.g.new_zeros(len(self.ids), *shape)
        where = self.ids[:, :, None].expand_as(self.g)
        return grads.scatter_add_(1, where, self.g)

    def how(self) -> str:
        """Say how it is measured."""
        return "gradients of equal ids are added, then squared"


@dataclass
class Whole:
    """The gradients themselves, (batch, *shape)."""

    grads: Tensor
    reason: str = "small: its gradients are formed"

    def squared(self) -> Tensor:
        """Return the squared norms, (batch,) float64."""
        return _squares(self.grads)

    def whole(self, shape: Sequence[int]) -> Tensor:
        """Return the gradients themselves, (batch, *shape)."""
        return self.grads.reshape(-1, *shape)

    def how(self) -> str:
        """Say how it is measured."""
        return self.reason


class Contribution(Protocol):
    """What one use adds to the gradients of a parameter."""

    def squared(self) -> Tensor:
        """Return the squared norms, (batch,) float64."""
        ...

    def whole(self, shape: Sequence[int]) -> Tensor:
        """Return the gradients themselves, (batch, *shape)."""
        ...

    def how(self) -> str:
        """Say how it is measured, and why so."""
        ...


def gram_is_cheaper(t: int, d: int, p: int) -> bool:
    """Whether T^2 (d + p) is less than T d p."""
    return t * (d + p) < d * p


def squared(uses: Sequence[Contribution], shape: Sequence[int]) -> Tensor:
    """Return the squared norms of the sum of several uses of one parameter, (batch,) float64.

    Uses of a matrix are one use at all their positions. A table that is also a matrix (an embedding
    tied to the decoder) adds twice the cross term sum_ts g_s[id_t] <x_s, e_t>.
    """
    matrices = [use for use in uses if isinstance(use, Positions)]
    tables = [use for use in uses if isinstance(use, Rows)]
    alike = len({(use.transposed, use.groups) for use in matrices}) == 1
    if len(uses) == 1:
        return uses[0].squared()
    if len(tables) == len(uses):
        return _together(tables).squared()
    if len(matrices) == len(uses) and alike:
        return _joined(matrices).squared()
    plain = alike and not matrices[0].transposed and matrices[0].groups == 1
    if len(matrices) + len(tables) == len(uses) and plain:
        matrix, table = _joined(matrices), _together(tables)
        return matrix.squared() + table.squared() + 2 * _cross(matrix, table)
    total = uses[0].whole(shape)
    for use in uses[1:]:
        total = total + use.whole(shape)
    return _squares(total)


def _joined(uses: Sequence[Positions]) -> Positions:
    x = torch.cat([use.x for use in uses], 1)
    g = torch.cat([use.g for use in uses], 1)
    return Positions(x, g, uses[0].transposed, uses[0].groups)


def _together(uses: Sequence[Rows]) -> Rows:
    return Rows(torch.cat([use.ids for use in uses], 1), torch.cat([use.g for use in uses], 1))


def _cross(matrix: Positions, table: Rows) -> Tensor:
    ids = table.ids[:, None, :].expand(-1, matrix.g.shape[1], -1)
    met = matrix.g.gather(2, ids)  # (batch, s, t): g_s at the id of t
    return (met * torch.bmm(matrix.x, table.g.mT)).sum((1, 2), dtype=widest(met))


def _chunks(each: int, *tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    step = max(1, CHUNK // each)
    yield from zip(*(torch.split(tensor, step) for tensor in tensors), strict=True)


def _gram(x: Tensor, g: Tensor) -> Tensor:
    return torch.bmm(x, x.mT).mul_(torch.bmm(g, g.mT)).sum((1, 2), dtype=widest(x))


def _squares(tensor: Tensor) -> Tensor:
    """Return the sum of squares of each row, (batch,): by last dimension, then in float64."""
    if tensor.dim() == 2:
        flat: Tensor = torch.linalg.vector_norm(tensor, dim=1)
        return flat.to(widest(flat)).square()
    last = tensor.shape[-1] if tensor.dim() > 1 else 1
    rows: Tensor = torch.linalg.vector_norm(tensor.reshape(len(tensor), -1, last), dim=2)
    return rows.to(widest(rows)).square().sum(1)
