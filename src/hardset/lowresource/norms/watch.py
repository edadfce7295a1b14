"""Watches one forward pass: which functions meet which parameters, and with what.

A `TorchFunctionMode` sees every torch function that a module calls, so a rule is written once for
`F.linear`, and holds for every module that calls it: no list of module classes, and parameters that
a module uses without a module of their own (class tokens, position embeddings, layer scales) are
met like any other.

What is computed from parameters alone (a transposed weight, a standardised convolution kernel, a
row of position embeddings) is followed as a *derived* tensor: its gradient, example by example, is
carried back to the parameter by autograd.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from hardset.lowresource.losses import widest
from hardset.lowresource.norms.contributions import Contribution, Whole, squared
from hardset.lowresource.norms.picking import PICKING, picks

SAME_NUMBERS = {
    *("view", "reshape", "t", "transpose", "permute", "flatten", "unflatten", "unsqueeze"),
    *("squeeze", "contiguous", "clone", "view_as", "reshape_as", "movedim", "swapaxes"),
    *("to", "float", "double", "type_as", "T", "mT"),
}
"""Functions of one tensor that only lay out its numbers anew: the gradient's norm stays."""


@dataclass
class Source:
    """A parameter, or what is derived from parameters alone, as functions meet it."""

    names: tuple[str, ...]
    tensor: Tensor
    derived: bool = False
    same_numbers: bool = True
    uses: list[Contribution | None] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return tuple(self.tensor.shape)


Args = tuple[Any, ...]
Options = dict[str, Any]
Taker = Callable[[Tensor], Contribution]
"""From the gradient of a function's output to what the use adds."""


class _Started(torch.autograd.Function):
    """Runs a function whose inputs need no gradient, so that its output does."""

    @staticmethod
    def forward(
        ctx: Any, anchor: Tensor, run: Callable[[], Tensor], take: Callable[[Tensor], None]
    ) -> Tensor:
        ctx.take = take
        return run()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, None]:
        ctx.take(gradient)
        return None, None, None


class Watch(TorchFunctionMode):
    """One forward and backward pass of a batch, and the squared norms it leaves.

    Args:
        batch: the number of examples.
        parameters: those to measure, by name; their `requires_grad` is off.
        rules: by function or name of function: `rule(watch, args, kwargs)` returns the output, or
            NotImplemented.
        shared: names of parameters whose other inputs all examples share, whatever their sizes.

    Attributes:
        norms: by name (batch,) float64, after the backward pass.
        unknown: by name, why a parameter could not be followed.
        how: by name, (method, why) of what was measured.
        guesses: where each use's examples were taken to lie.
        unsteady: the function, if any, whose output has the examples lie as the values have it.
    """

    def __init__(
        self,
        batch: int,
        parameters: dict[str, nn.Parameter],
        rules: dict[Any, Callable[..., Any]],
        shared: Collection[str] = (),
    ) -> None:
        super().__init__()
        self.batch = batch
        self.rules = rules
        self.shared = shared
        self.parameters = parameters
        device = next(iter(parameters.values())).device if parameters else None
        self.anchor = torch.zeros((), requires_grad=True, device=device)
        self.roots: dict[str, Tensor] = {}
        self.used: dict[str, list[Source]] = {}
        self.norms: dict[str, Tensor] = {}
        self.unknown: dict[str, str] = {}
        self.how: dict[str, tuple[str, str]] = {}
        self.guesses: set[tuple[str | int, ...]] = set()
        self.unsteady = ""
        self.second = False
        self.sources = {id(p): Source((name,), p) for name, p in parameters.items()}

    # Forward ----------------------------------------------------------------------------------

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run a function; note what it does to parameters."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in PICKING and picks(name, args, kwargs, self.batch, self.along):
            self.unsteady = name
        met = [s for t in tensors(args, kwargs) if (s := self.sources.get(id(t))) is not None]
        if not met or not torch.is_grad_enabled():
            return func(*args, **kwargs)
        others = [t for t in tensors(args, kwargs) if id(t) not in self.sources]
        follows = any(t.requires_grad for t in others)
        if follows or not any(s.names[0] in self.shared and not s.derived for s in met):
            rule = self.rules.get(func) or self.rules.get(name)
            if any(t.is_complex() for t in tensors(args, kwargs)):
                rule = None
            output = rule(self, func, args, kwargs) if rule is not None else NotImplemented
            if output is not NotImplemented:
                return output
            # What is picked from a parameter alone may be by places, which are as many by chance:
            # if it is by examples, the next function finds as much.
            by_size = name != "__getitem__" and any(self.along(t) in (0, 1) for t in others)
            follows = follows or by_size
        if not follows:
            return self._derive(func, args, kwargs, met)
        why = f"used by {name or func}, which no rule is for"
        for source in met:
            self.unknown |= dict.fromkeys(source.names, why)
        return func(*self.mapped(args, self.cut), **self.mapped(kwargs, self.cut))

    def source(self, tensor: Any) -> Source | None:
        """Return what is known of a tensor that comes from parameters alone."""
        return self.sources.get(id(tensor))

    def along(self, tensor: Any) -> int | None:
        """Return which dimension the examples lie along; None where there is none, or no tensor.

        -1: flattened into the first, the example before the position; -2: the position before the
        example. It is a guess by the sizes: whoever acts upon it compares the result with
        autograd's.
        """
        if not isinstance(tensor, Tensor) or tensor.dim() == 0 or id(tensor) in self.sources:
            return None
        first, *rest = tensor.shape
        second = len(rest) > 1 and rest[0] == self.batch
        if self.second:
            return 1 if second else -2 if first and first % self.batch == 0 else None
        if first == self.batch:
            return 0
        return 1 if second else -1 if first and first % self.batch == 0 else None

    def along_first(self, tensor: Any) -> int | None:
        """Return the same of a tensor whose second dimension is channels: 0, -1 or None."""
        dim = self.along(tensor)
        if dim != 1:
            return dim if dim in (0, -1) else None
        return -1 if tensor.shape[0] % self.batch == 0 else None

    @contextmanager
    def batch_second(self) -> Iterator[None]:
        """Within: the examples lie along the second dimension, as attention has them."""
        before, self.second = self.second, True
        try:
            yield
        finally:
            self.second = before

    def by_example(self, tensor: Tensor, dim: int) -> Tensor:
        """Return (batch, ...), or (batch, positions, ...) where the examples lay flattened."""
        if dim == -1:
            return tensor.reshape(self.batch, -1, *tensor.shape[1:])
        if dim == -2:
            return tensor.reshape(-1, self.batch, *tensor.shape[1:]).movedim(1, 0)
        return tensor if dim == 0 else tensor.movedim(1, 0)

    def cut(self, value: Any) -> Any:
        """Return a source cut from autograd, anything else as it is."""
        return value.detach() if id(value) in self.sources else value

    def mapped(self, values: Any, change: Callable[[Tensor], Tensor]) -> Any:
        """Return arguments with their tensors changed."""
        if isinstance(values, Tensor):
            return change(values)
        if isinstance(values, dict):
            return {key: self.mapped(value, change) for key, value in values.items()}
        if type(values) in (list, tuple):
            return type(values)(self.mapped(value, change) for value in values)
        return values

    def kept(self, tensor: Tensor) -> Tensor:
        """Keep an input until the backward pass.

        Nothing overwrites it until then: autograd needs it for the parameter's gradient as well.
        """
        return widened(tensor.detach())

    def use(
        self, run: Callable[[], Tensor], dim: int, *takers: tuple[Source | None, str, Taker]
    ) -> Tensor:
        """Run a function that uses sources, and take what they gather when its gradient comes.

        `dim` is where its examples lie; a taker is of one source, and names the kind of use.
        """
        self.guesses |= {(*s.names, kind, dim) for s, kind, _ in takers if s is not None}
        waiting = [(s, self._expect(s, kind), take) for s, kind, take in takers if s is not None]

        def take(gradient: Tensor) -> None:
            gradient = widened(gradient.detach())
            with torch.no_grad():
                for source, number, taker in waiting:
                    source.uses[number] = taker(gradient)
                    if None not in source.uses:
                        self._gathered(source)
            waiting.clear()  # and with it the inputs it kept: memory falls as the pass goes back

        output = run()
        if output.requires_grad:
            output.register_hook(take)  # type: ignore[no-untyped-call]
            return output
        started = _Started.apply(self.anchor, lambda: output, take)  # type: ignore[no-untyped-call]
        assert isinstance(started, Tensor)
        return started

    def _expect(self, source: Source, kind: str) -> int:
        if not source.uses:
            for name in source.names:
                self.used.setdefault(name, []).append(source)
        source.uses.append(None)
        source.kinds.append(kind)
        return len(source.uses) - 1

    def _derive(self, func: Any, args: Any, kwargs: Any, met: list[Source]) -> Any:
        output = func(*self.mapped(args, self._root), **self.mapped(kwargs, self._root))
        name = getattr(func, "__name__", "")
        if name == "__get__":  # an attribute, as `weight.T`
            name = getattr(func.__self__, "__name__", "")
        names = tuple(dict.fromkeys(n for source in met for n in source.names))
        same = name in SAME_NUMBERS and len(met) == 1 and met[0].same_numbers
        for made in tensors((output,), {}):
            if made.requires_grad and id(made) not in self.sources:
                self.sources[id(made)] = Source(names, made, derived=True, same_numbers=same)
        return output

    def _root(self, tensor: Tensor) -> Tensor:
        source = self.sources.get(id(tensor))
        if source is None or source.derived:
            return tensor
        (name,) = source.names
        if name not in self.roots:
            self.roots[name] = tensor.detach().requires_grad_()
        return self.roots[name]

    # Backward ---------------------------------------------------------------------------------

    def _gathered(self, source: Source) -> None:
        """All uses of a source are in: measure it now if it is the only one of its parameter."""
        alone = len(source.names) == 1 and len(self.used[source.names[0]]) == 1
        if alone and source.same_numbers:
            self._measure(source)

    def _measure(self, source: Source) -> None:
        (name,) = source.names
        uses = [use for use in source.uses if use is not None]
        self.norms[name] = squared(uses, source.shape)
        kinds = " + ".join(dict.fromkeys(source.kinds))
        times = f", used {len(uses)} times" if len(uses) > 1 else ""
        self.how[name] = (kinds, uses[0].how() + times)
        source.uses.clear()

    def finish(self) -> None:
        """Measure what several sources, or a derived one, have gathered."""
        for name, sources in self.used.items():
            if name in self.unknown or name in self.norms:
                continue
            for source in sources:  # a use whose output the loss does not depend on adds nothing
                source.uses = [use for use in source.uses if use is not None]
            sources = [source for source in sources if source.uses]
            if not sources:
                continue
            if len(sources) == 1 and len(sources[0].names) == 1 and sources[0].same_numbers:
                self._measure(sources[0])
                continue
            try:
                total = torch.stack([self._carried_back(s, name) for s in sources]).sum(0)
            except RuntimeError as error:
                self.unknown[name] = f"autograd could not carry its gradients back: {error}"
                continue
            self.norms[name] = Whole(total).squared()
            self.how[name] = ("derived", "carried back through what is made of it by autograd")
        for name, parameter in self.parameters.items():
            if name not in self.norms and name not in self.unknown:
                self.norms[name] = parameter.new_zeros(self.batch, dtype=widest(parameter))
                self.how[name] = ("unused", "the loss does not depend on it")

    def _carried_back(self, source: Source, name: str) -> Tensor:
        with torch.no_grad():
            grads = [use.whole(source.shape) for use in source.uses if use is not None]
            total = torch.stack(grads).sum(0) if len(grads) > 1 else grads[0]
        if not source.derived:
            return total
        (back,) = torch.autograd.grad(
            source.tensor,
            self.roots[name],
            total.to(source.tensor.dtype),
            retain_graph=True,
            is_grads_batched=True,
        )
        return widened(back)


def tensors(args: Iterable[Any], kwargs: dict[str, Any]) -> Iterator[Tensor]:
    """Yield the tensors among a function's arguments, also those in lists."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from (item for item in value if isinstance(item, Tensor))


def widened(tensor: Tensor) -> Tensor:
    """Return at least float32: sums of half precision are worth nothing."""
    half = tensor.dtype in (torch.float16, torch.bfloat16)
    return tensor.float() if half else tensor


def plain(value: Any) -> Any:
    """Return a tensor cut from autograd, None as it is."""
    return value.detach() if isinstance(value, Tensor) else value


def bound(names: Sequence[str], args: Args, kwargs: Options) -> list[Any]:
    """Return the arguments in the order of their names, None where one is not given."""
    given = dict(zip(names, args, strict=False)) | kwargs
    return [given.get(name) for name in names]
