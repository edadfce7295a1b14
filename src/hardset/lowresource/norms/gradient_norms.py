"""The squared gradient norm of each example's loss over all parameters, in one backward pass.

While `GradientNorms` is open the parameters need no gradient, so the backward pass forms none for
them: that time goes into the norms. What each function adds is measured as soon as its output's
gradient comes (`rules`, `contributions`), so that memory falls as in a plain backward pass.

The first batch, and every later one whose tensors are laid out otherwise, is compared with plain
autograd on a few of its examples, parameter by parameter; what differs goes to `fallbacks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from hardset.errors import UsageError
from hardset.lowresource.losses import example_losses
from hardset.lowresource.norms.fallbacks import by_torch_func, one_by_one, picked
from hardset.lowresource.norms.rules import RULES
from hardset.lowresource.norms.watch import Watch

COMPARED = 3
"""Examples of a batch that plain autograd repeats."""

BY_FUNC, ONE_BY_ONE = "torch.func", "one by one"


class Measured(NamedTuple):
    """What a batch gives; the examples come first in each tensor."""

    outputs: Tensor
    losses: Tensor
    """(batch,), see `losses.example_losses`."""
    squared_norms: Tensor
    """(batch,) float64: squared gradient norm over all parameters that need a gradient."""


@dataclass(frozen=True)
class Planned:
    """How one parameter is measured."""

    name: str
    shape: tuple[int, ...]
    method: str
    why: str


class GradientNorms:
    """Measures squared gradient norms of a module's examples; a context manager.

    Args:
        module: `module(inputs)` gives logits (batch, classes) or one value an example. The loss of
            an example must not depend on the others of its batch, nor on chance: evaluation mode.

    Raises:
        UsageError: batch norm or dropout in training mode; later, examples that mix.

    On leaving, also by an exception, everything is as before; no `grad` is ever touched.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self._parameters: dict[str, nn.Parameter] = {}
        self._frozen: list[str] = []
        self._fallen: dict[str, tuple[str, str]] = {}
        self._shared: set[str] = set()
        self._how: dict[str, tuple[str, str]] = {}
        self._checked: set[frozenset[tuple[str | int, ...]]] = set()
        self._open = False
        self._fast = True

    def __enter__(self) -> GradientNorms:
        _must_be_steady(self.module)
        named = dict(self.module.named_parameters())
        self._parameters = {name: p for name, p in named.items() if p.requires_grad}
        self._frozen = [name for name, p in named.items() if not p.requires_grad]
        # The fused encoder layer of torch.nn calls none of the functions that can be watched.
        self._fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        for parameter in self._parameters.values():
            parameter.requires_grad_(False)
        self._open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for parameter in self._parameters.values():
            parameter.requires_grad_()
        torch.backends.mha.set_fastpath_enabled(self._fast)
        self._open = False

    @property
    def plan(self) -> list[Planned]:
        """How each parameter was measured in the last batch; empty before the first."""
        if not self._checked:
            return []
        return [
            Planned(name, tuple(p.shape), *(self._fallen.get(name) or self._how[name]))
            for name, p in self._parameters.items()
        ]

    def said(self) -> list[str]:
        """Return a sentence on each thing a reader of the scores should know."""
        said = []
        for method in (BY_FUNC, ONE_BY_ONE):
            reasons: dict[str, list[str]] = {}
            for name, (by, why) in self._fallen.items():
                if by == method:
                    reasons.setdefault(why, []).append(name)
            said += [f"Measured by {method}: {_named(n)} ({why})." for why, n in reasons.items()]
        if self._frozen:
            said.append(f"Left out, as they need no gradient: {_named(self._frozen)}.")
        unused = [name for name, (method, _) in self._how.items() if method == "unused"]
        if unused:
            said.append(f"The loss does not depend on {_named(unused)}.")
        return said

    def __call__(self, inputs: Any, targets: Tensor) -> Measured:
        """Return outputs, losses and squared gradient norms of a batch.

        Args:
            inputs: a tensor or a dict of tensors, the examples along the first dimension of each.
            targets: (batch,) int64 classes, or real numbers.

        Raises:
            UsageError: it is not open; or an example's loss changes with the others of its batch.
        """
        if not self._open:
            raise UsageError("open it first: `with GradientNorms(module) as norms:`")
        while True:
            outputs, losses, norms, guesses = self._measure(inputs, targets)
            if guesses in self._checked or self._agrees(inputs, targets, losses, norms):
                self._checked.add(guesses)
                total = torch.zeros(len(targets), dtype=torch.float64, device=losses.device)
                for name in self._parameters:
                    total += norms[name]
                return Measured(outputs, losses, total)

    def _measure(
        self, inputs: Any, targets: Tensor
    ) -> tuple[Tensor, Tensor, dict[str, Tensor], frozenset[tuple[str | int, ...]]]:
        watched = {n: p for n, p in self._parameters.items() if n not in self._fallen}
        watch = Watch(len(targets), watched, RULES, self._shared)
        with torch.enable_grad():
            with watch:
                outputs = self.module(inputs)
            losses = example_losses(outputs, targets)
            if losses.requires_grad:
                torch.autograd.grad(losses.sum(), watch.anchor, allow_unused=True)
        watch.finish()
        for name, why in watch.unknown.items():
            self._fall(name, why)
        norms = watch.norms
        self._how |= watch.how
        norms |= self._measure_fallen(inputs, targets)
        return outputs.detach(), losses.detach(), norms, frozenset(watch.guesses)

    def _measure_fallen(self, inputs: Any, targets: Tensor) -> dict[str, Tensor]:
        names = [name for name, (by, _) in self._fallen.items() if by == BY_FUNC]
        norms: dict[str, Tensor] = {}
        if names:
            try:
                norms |= by_torch_func(self.module, names, inputs, targets)
            except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
                for name in names:
                    self._fall(name, f"torch.func cannot: {str(error).splitlines()[0]}")
        names = [name for name, (by, _) in self._fallen.items() if by == ONE_BY_ONE]
        if names:
            norms |= one_by_one(self.module, names, inputs, targets)[0]
        return norms

    def _fall(self, name: str, why: str) -> None:
        """Measure a parameter in the next slower way."""
        if name in self._fallen:
            self._fallen[name] = (ONE_BY_ONE, f"{self._fallen[name][1]}; {why}")
        else:
            self._fallen[name] = (BY_FUNC, why)

    def _agrees(
        self, inputs: Any, targets: Tensor, losses: Tensor, norms: dict[str, Tensor]
    ) -> bool:
        """Compare some examples with plain autograd; let fall what differs."""
        rows = sorted({0, len(targets) // 2, len(targets) - 1})[:COMPARED]
        names = list(self._parameters)
        alone, alone_losses = one_by_one(self.module, names, picked(inputs, rows), targets[rows])
        half = any(p.dtype in (torch.float16, torch.bfloat16) for p in self.module.parameters())
        close = 0.1 if half else 1e-3
        if not torch.allclose(losses[rows], alone_losses, close, close, equal_nan=True):
            raise UsageError(
                f"the loss of an example changes with its batch (alone {alone_losses.tolist()}, "
                f"among {len(targets)} {losses[rows].tolist()}): no gradient norm is its own. Use "
                "evaluation mode and layers that do not mix examples, or --mode paper"
            )
        total = torch.stack(list(alone.values())).sum(0) if names else losses
        agreed = True
        for name in names:
            # Below 1e-6 of the whole, rounding is all there may be to a parameter's gradient.
            allowed = close * alone[name] + (1e-3 if half else 1e-6) * total
            difference = (norms[name][rows] - alone[name]).abs()
            if bool((difference <= allowed).all()) or not bool(alone[name].isfinite().all()):
                continue
            if self._fallen.get(name, ("", ""))[0] == ONE_BY_ONE:
                raise UsageError(
                    f"the gradient of {name} is another each time it is asked for: put the module "
                    "into evaluation mode, or use --mode paper"
                )
            agreed = False
            if name not in self._shared:  # were its inputs taken to be of single examples?
                self._shared.add(name)
            else:
                self._fall(name, "its measured norm differed from plain autograd's")
        return agreed


def _must_be_steady(module: nn.Module) -> None:
    """Refuse layers that mix examples, or leave the gradient to chance."""
    for name, layer in module.named_modules():
        batch_norm = isinstance(layer, nn.modules.batchnorm._BatchNorm)
        if batch_norm and (layer.training or layer.running_mean is None):
            raise UsageError(
                f"{name or 'the module'} is a batch norm that mixes the examples of a batch, so "
                "that none has a gradient of its own: call module.eval(), or use --mode paper"
            )
        if isinstance(layer, nn.modules.dropout._DropoutNd) and layer.training and layer.p > 0:
            raise UsageError(
                f"{name or 'the module'} is dropout in training mode, which leaves the gradient to "
                "chance: call module.eval(), or use --mode paper"
            )


def _named(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more parameters"
