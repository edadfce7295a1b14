"""A rule a function: what its parameters' gradients are made of, example by example.

A rule gets the watch, the function and its arguments, and returns the output, or NotImplemented
where the call is not of the form it knows. `RULES` is by function, or by name for the methods of
tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from hardset.lowresource.norms.contributions import Positions, Whole
from hardset.lowresource.norms.convolution import Geometry, Kernel, padded_same
from hardset.lowresource.norms.products import alike, bilinear, broadcast, einsum, summed
from hardset.lowresource.norms.tables import embedding, embedding_bag, looked_up
from hardset.lowresource.norms.watch import Args, Options, Watch, bound, plain, tensors

Rule = Callable[[Watch, Any, Args, Options], Any]


# Matrices --------------------------------------------------------------------------------------


def _linear(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """F.linear(x, weight, bias)."""
    x, weight, bias = bound(("input", "weight", "bias"), args, kwargs)
    return _matrix(watch, lambda: func(x, plain(weight), plain(bias)), x, weight, bias, False)


def _matmul(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """Products: x @ weight."""
    if len(args) != 2 or kwargs or not isinstance(args[1], Tensor) or args[1].dim() != 2:
        return NotImplemented
    x, weight = args
    return _matrix(watch, lambda: func(x, plain(weight)), x, weight, None, True)


def _addmm(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """torch.addmm(bias, x, weight), which is GPT-2's Conv1D."""
    if len(args) != 3 or kwargs or args[0].dim() != 1:
        return NotImplemented
    bias, x, weight = args
    return _matrix(watch, lambda: func(plain(bias), x, plain(weight)), x, weight, bias, True)


def _matrix(
    watch: Watch, run: Callable[[], Tensor], x: Any, weight: Any, bias: Any, transposed: bool
) -> Any:
    dim = watch.along(x)
    if dim is None:
        return NotImplemented
    kept = watch.kept(x) if watch.source(weight) else None

    def positions(tensor: Tensor) -> Tensor:
        return watch.by_example(tensor, dim).reshape(watch.batch, -1, tensor.shape[-1])

    def taken(g: Tensor) -> Positions:
        assert kept is not None
        return Positions(positions(kept), positions(g), transposed)

    return watch.use(
        run,
        dim,
        (watch.source(weight), "linear", taken),
        (watch.source(bias), "bias", lambda g: Whole(positions(g).sum(1))),
    )


# Convolutions ----------------------------------------------------------------------------------


def _convolution(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """F.conv1d, conv2d, conv3d."""
    names = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
    _, weight, _, stride, padding, dilation, groups = bound(names, args, kwargs)
    space = weight.dim() - 2
    stride, dilation = _numbers(stride, 1, space), _numbers(dilation, 1, space)
    same = padding == "same"
    pads = (0,) * space if isinstance(padding, str) else _numbers(padding, 0, space)

    def inputs(tensor: Tensor) -> Tensor:
        return padded_same(tensor, weight.shape[2:], dilation) if same else tensor

    geometry = Geometry(stride, pads, dilation, groups or 1)
    return _kernel(watch, func, args, kwargs, geometry, inputs)


def _transposed_convolution(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """F.conv_transpose1d, 2d, 3d."""
    names = ("input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation")
    _, weight, _, stride, padding, more, groups, dilation = bound(names, args, kwargs)
    space = weight.dim() - 2
    geometry = Geometry(
        _numbers(stride, 1, space),
        _numbers(padding, 0, space),
        _numbers(dilation, 1, space),
        groups or 1,
        _numbers(more, 0, space),
    )
    return _kernel(watch, func, args, kwargs, geometry, lambda tensor: tensor)


def _kernel(
    watch: Watch,
    func: Any,
    args: Args,
    kwargs: Options,
    geometry: Geometry,
    inputs: Callable[[Tensor], Tensor],
) -> Any:
    x, weight, bias = bound(("input", "weight", "bias"), args, kwargs)
    dim = watch.along_first(x)
    if dim is None or x.dim() != weight.dim():
        return NotImplemented
    kept = watch.kept(x) if watch.source(weight) else None

    def taken(g: Tensor) -> Kernel:
        assert kept is not None
        return Kernel(inputs(kept), g, plain(weight), geometry, watch.batch)

    return watch.use(
        lambda: func(*watch.mapped(args, watch.cut), **watch.mapped(kwargs, watch.cut)),
        dim,
        (watch.source(weight), "convolution", taken),
        (watch.source(bias), "bias", lambda g: Whole(_channels(watch, g, dim))),
    )


def _numbers(value: Any, usual: int, space: int) -> tuple[int, ...]:
    if value is None or isinstance(value, int):
        return (usual if value is None else value,) * space
    return tuple(value) * (space // len(value))


def _channels(watch: Watch, g: Tensor, dim: int) -> Tensor:
    """Sum what has its channels second: (batch, channels)."""
    return summed(watch, g, dim, (g.shape[1], *(1,) * (g.dim() - 2))).reshape(watch.batch, -1)


# Scales, shifts and norms ------------------------------------------------------------------------

_NORMS: dict[Any, tuple[str, ...]] = {
    F.layer_norm: ("input", "normalized_shape", "weight", "bias", "eps"),
    F.rms_norm: ("input", "normalized_shape", "weight", "eps"),
    F.group_norm: ("input", "num_groups", "weight", "bias", "eps"),
    F.batch_norm: (
        *("input", "running_mean", "running_var", "weight", "bias"),
        *("training", "momentum", "eps"),
    ),
    F.instance_norm: (
        *("input", "running_mean", "running_var", "weight", "bias"),
        *("use_input_stats", "momentum", "eps"),
    ),
}


def _norm(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """Layer, RMS, group, batch and instance norm: a scale and a shift of the normalised input."""
    given = dict(zip(_NORMS[func], args, strict=False)) | kwargs
    x, weight, bias = given["input"], given.get("weight"), given.get("bias")
    by_channel = func not in (F.layer_norm, F.rms_norm)
    dim = watch.along_first(x) if by_channel else watch.along(x)
    if dim is None:
        return NotImplemented
    kept = watch.kept(x) if watch.source(weight) else None

    def total(g: Tensor, shape: Sequence[int]) -> Whole:
        return Whole(_channels(watch, g, dim) if by_channel else summed(watch, g, dim, shape))

    def scaled(g: Tensor) -> Whole:
        assert kept is not None
        assert weight is not None
        bare = {k: v for k, v in given.items() if k not in ("weight", "bias")}
        normalised = func(**bare | {"input": kept})
        return total(g * normalised, tuple(weight.shape))

    given |= {name: plain(given[name]) for name in ("weight", "bias") if name in given}
    return watch.use(
        lambda: func(**given),
        dim,
        (watch.source(weight), "norm", scaled),
        (watch.source(bias), "bias", lambda g: total(g, plain(bias).shape)),
    )


def _added(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """Sums: x + shift, x - shift."""
    return _elementwise(watch, func, args, kwargs, "shift")


def _scaled(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """Products: x * scale."""
    return _elementwise(watch, func, args, kwargs, "scale")


def _elementwise(watch: Watch, func: Any, args: Args, kwargs: Options, kind: str) -> Any:
    if kwargs:  # such as alpha
        return alike(watch, func, args, kwargs)
    if len(args) != 2 or not all(isinstance(value, Tensor) for value in args):
        return NotImplemented
    first = watch.source(args[0]) is not None
    x, source = (args[1], watch.source(args[0])) if first else (args[0], watch.source(args[1]))
    dim = watch.along(x)
    if dim is None or source is None or not broadcast(source, x.dim(), dim):
        return NotImplemented
    name = func.__name__
    in_place = (name.endswith("_") and not name.startswith("__")) or name.startswith("__i")
    if in_place and (first or not x.requires_grad):
        return NotImplemented
    subtracted = "sub" in name and first == ("rsub" in name)
    kept = watch.kept(x.clone() if in_place else x) if kind == "scale" else None

    def taken(g: Tensor) -> Whole:
        if kept is not None:
            g = g * kept
        total = summed(watch, g, dim, source.shape)
        return Whole(-total if subtracted else total)

    return watch.use(lambda: func(*map(watch.cut, args)), dim, (source, kind, taken))


def _prelu(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """F.prelu(x, slope)."""
    if len(args) != 2 or kwargs:
        return NotImplemented
    x, slope = args
    dim = watch.along_first(x)
    if dim is None:
        return NotImplemented
    kept = watch.kept(x)

    def taken(g: Tensor) -> Whole:
        total = _channels(watch, g * kept.clamp(max=0), dim)
        return Whole(total.sum(1, keepdim=True) if slope.numel() == 1 else total)

    return watch.use(lambda: func(x, plain(slope)), dim, (watch.source(slope), "scale", taken))


# Tensors that are given to every example ---------------------------------------------------------


def _expanded(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """token.expand(batch, -1, -1), token.repeat(batch, 1, 1), token.expand_as(x)."""
    source = watch.source(args[0])
    if source is None:
        return NotImplemented
    with torch.no_grad():
        output = func(plain(args[0]), *args[1:], **kwargs)
    padded = [1] * (output.dim() - len(source.shape)) + list(source.shape)
    dim = 1 if watch.second else 0
    if dim >= len(padded) or padded[dim] != 1 or output.shape[dim] != watch.batch:
        return NotImplemented
    padded[dim] = watch.batch
    if func.__name__ == "repeat" and list(output.shape) != padded:
        return NotImplemented
    return watch.use(
        lambda: output,
        dim,
        (source, "expanded", lambda g: Whole(summed(watch, g, dim, source.shape))),
    )


def _spread(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """Functions that treat examples alike: each is given its own copy of a (1, ...) tensor."""
    if not any(watch.along(t) == 0 for t in tensors(args, kwargs)):
        return NotImplemented
    if kwargs.get("dim", 1) == 0 or (func is torch.cat and args[1:] in ((), (0,)) and not kwargs):
        return NotImplemented
    if any(s.shape[:1] != (1,) for t in tensors(args, kwargs) if (s := watch.source(t))):
        return NotImplemented

    def copied(tensor: Tensor) -> Tensor:
        source = watch.source(tensor)
        if source is None:
            return tensor
        return watch.use(
            lambda: plain(tensor).expand(watch.batch, *source.shape[1:]),
            0,
            (source, "expanded", lambda g: Whole(summed(watch, g, 0, source.shape))),
        )

    return func(*watch.mapped(args, copied), **watch.mapped(kwargs, copied))


# Attention ---------------------------------------------------------------------------------------

_ATTENTION = FunctionType(
    F.multi_head_attention_forward.__code__,
    {**vars(F), "has_torch_function": lambda _: False},
    "multi_head_attention",
    F.multi_head_attention_forward.__defaults__,
)
_ATTENTION.__kwdefaults__ = F.multi_head_attention_forward.__kwdefaults__


def _attention(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """nn.MultiheadAttention: torch's own function, with every step watched; its batch is second."""
    if args[0].dim() != 3 or args[0].shape[1] != watch.batch:
        return NotImplemented
    with watch.batch_second(), watch:
        return _ATTENTION(*args, **kwargs)


RULES: dict[Any, Rule] = {
    F.linear: _linear,
    "matmul": _matmul,
    "__matmul__": _matmul,
    "mm": _matmul,
    "addmm": _addmm,
    **dict.fromkeys((F.conv1d, F.conv2d, F.conv3d), _convolution),
    **dict.fromkeys(
        (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d), _transposed_convolution
    ),
    F.embedding: embedding,
    F.embedding_bag: embedding_bag,
    **dict.fromkeys(_NORMS, _norm),
    **dict.fromkeys(("add", "add_", "__add__", "__radd__", "__iadd__"), _added),
    **dict.fromkeys(("sub", "sub_", "__sub__", "__rsub__", "__isub__"), _added),
    **dict.fromkeys(("mul", "mul_", "multiply", "__mul__", "__rmul__", "__imul__"), _scaled),
    **dict.fromkeys(("div", "div_", "divide", "true_divide", "__truediv__", "__rdiv__"), alike),
    **dict.fromkeys(("__rtruediv__", "__itruediv__", "rsub", "pow", "__pow__", "__rpow__"), alike),
    **dict.fromkeys(("addcmul", "addcdiv", "lerp", "maximum", "minimum"), alike),
    "prelu": _prelu,
    "bilinear": bilinear,
    "einsum": einsum,
    **dict.fromkeys(("__getitem__", "index_select"), looked_up),
    **dict.fromkeys(("expand", "expand_as", "repeat"), _expanded),
    **dict.fromkeys(("cat", "concat", "where", "scaled_dot_product_attention"), _spread),
    F.multi_head_attention_forward: _attention,
}
