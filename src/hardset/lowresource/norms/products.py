"""Rules of products of several tensors, and of functions of each number by itself."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor

from hardset.lowresource.norms.contributions import Contribution, Positions, Whole
from hardset.lowresource.norms.watch import Args, Options, Source, Watch, bound, plain, tensors


def alike(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """Functions of numbers that broadcast: each example is given its own copy of a parameter."""
    others = [t for t in tensors(args, kwargs) if watch.source(t) is None]
    x = max(others, key=Tensor.dim, default=None)
    dim = watch.along(x)
    if x is None or dim is None or (func.__name__.endswith("_") and watch.source(args[0])):
        return NotImplemented
    sources = [s for t in tensors(args, kwargs) if (s := watch.source(t)) is not None]
    if not all(broadcast(source, x.dim(), dim) for source in sources):
        return NotImplemented

    def copied(tensor: Tensor) -> Tensor:
        source = watch.source(tensor)
        if source is None:
            return tensor
        sizes = [1] * (x.dim() - len(source.shape)) + list(source.shape)
        sizes[max(dim, 0)] = x.shape[max(dim, 0)]
        return watch.use(
            lambda: plain(tensor).expand(sizes),
            dim,
            (source, "expanded", lambda g: Whole(summed(watch, g, dim, source.shape))),
        )

    return func(*watch.mapped(args, copied), **watch.mapped(kwargs, copied))


def bilinear(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """F.bilinear(x, y, weight, bias): output k is x' weight_k y."""
    x, y, weight, bias = bound(("input1", "input2", "weight", "bias"), args, kwargs)
    dim = watch.along(x)
    if dim is None or dim != watch.along(y) or watch.source(x) or watch.source(y):
        return NotImplemented
    kept = (watch.kept(x), watch.kept(y))

    def positions(tensor: Tensor) -> Tensor:
        return watch.by_example(tensor, dim).reshape(watch.batch, -1, tensor.shape[-1])

    def taken(g: Tensor) -> Whole:
        return Whole(torch.einsum("btk,bti,btj->bkij", positions(g), *map(positions, kept)))

    return watch.use(
        lambda: func(x, y, plain(weight), plain(bias)),
        dim,
        (watch.source(weight), "bilinear", taken),
        (watch.source(bias), "bias", lambda g: Whole(positions(g).sum(1))),
    )


def einsum(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """torch.einsum of one parameter and others, the examples first; without an ellipsis."""
    equation, *operands = args
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = list(operands[0])
    if not isinstance(equation, str) or "." in equation or "->" not in equation:
        return NotImplemented
    left, out = equation.replace(" ", "").split("->")
    labels = left.split(",")
    met = [i for i, operand in enumerate(operands) if watch.source(operand)]
    if len(met) != 1:
        return NotImplemented
    source, own = watch.source(operands[met[0]]), labels[met[0]]
    others = [
        (one, t) for i, (one, t) in enumerate(zip(labels, operands, strict=True)) if i != met[0]
    ]
    first = next((one[0] for one, t in others if watch.along(t) == 0), None)
    known = out + "".join(one for one, _ in others)
    if first is None or first in own or first not in out[:2] or not set(own) <= set(known):
        return NotImplemented
    if any(len(set(one)) != len(one) for one in (own, out)):
        return NotImplemented
    kept = [watch.kept(t) for _, t in others]

    def taken(g: Tensor) -> Contribution:
        if len(others) == 1:
            matrix = _as_matrix(others[0][0], out, own, first, kept[0], g)
            if matrix is not None:
                return matrix
        given = ",".join([out, *(one for one, _ in others)])
        return Whole(torch.einsum(f"{given}->{first}{own}", g, *kept))

    run = [plain(operand) if i in met else operand for i, operand in enumerate(operands)]
    return watch.use(lambda: func(equation, *run), out.index(first), (source, "einsum", taken))


def _as_matrix(
    inputs: str, out: str, own: str, first: str, x: Tensor, g: Tensor
) -> Positions | None:
    """Return the product as a matrix's at several positions, where it is one."""
    d = [one for one in own if one in inputs and one not in out]
    p = [one for one in own if one in out and one not in inputs]
    if list(own) not in (p + d, d + p) or len(set(inputs)) != len(inputs):
        return None
    places = [one for one in inputs if one in out and one != first]
    if len(places) + 1 + len(d) != len(inputs) or len(places) + 1 + len(p) != len(out):
        return None

    def laid(tensor: Tensor, labels: str, last: Sequence[str]) -> Tensor:
        moved = tensor.permute([labels.index(one) for one in (first, *places, *last)])
        return moved.reshape(len(moved), -1, prod(moved.shape[1 + len(places) :]))

    return Positions(laid(x, inputs, d), laid(g, out, p), transposed=list(own) == d + p and bool(d))


def summed(watch: Watch, gradient: Tensor, dim: int, shape: Sequence[int]) -> Tensor:
    """Sum a gradient (shaped like an output) over what a tensor of `shape` was broadcast along.

    Returns:
        (batch, *shape); the examples lie along `dim` of the output, see `Watch.along`.
    """
    padded = [1] * (gradient.dim() - len(shape)) + list(shape)
    if dim == 1:
        padded.insert(0, padded.pop(1))
    elif dim < 0:
        padded.insert(0, 1)
    each = watch.by_example(gradient, dim)
    over = [axis for axis in range(1, each.dim()) if padded[axis] == 1]
    return (each.sum(over) if over else each).reshape(watch.batch, *shape)


def broadcast(source: Source, dimensions: int, dim: int) -> bool:
    """Whether a source has nothing of its own along the examples."""
    if len(source.shape) > dimensions:
        return False
    padded = (*(1,) * (dimensions - len(source.shape)), *source.shape)
    return padded[max(dim, 0)] == 1
