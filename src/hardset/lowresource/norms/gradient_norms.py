"""The squared gradient norm of each example's loss over all parameters, in one backward pass.

While `GradientNorms` is open the parameters need no gradient, so the backward pass forms none for
them: that time goes into the norms. What each function adds is measured as soon as its output's
gradient comes (`rules`, `contributions`), so that memory falls as in a plain backward pass.

The first batch, and every later one whose tensors are laid out otherwise, is compared with plain
autograd on a few of its examples, parameter by parameter; what differs goes to `fallbacks`. What is
learnt so is remembered by the layout, so that a batch gets the same figures whichever came before.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from threading import Lock
from types import TracebackType
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from hardset.errors import UsageError
from hardset.lowresource.losses import example_losses
from hardset.lowresource.norms.fallbacks import by_torch_func, forget, one_by_one, picked
from hardset.lowresource.norms.rules import RULES
from hardset.lowresource.norms.watch import Watch

COMPARED = 3
"""Examples of a batch that plain autograd repeats."""

SHARED, BY_FUNC, ONE_BY_ONE = "shared", "torch.func", "one by one"
LADDER = (SHARED, BY_FUNC, ONE_BY_ONE)
"""What is tried, one after the other, for a parameter whose norms differ from plain autograd's."""

Layout = frozenset[tuple[str | int, ...]]
State = frozenset[tuple[str, str]]
"""Parameters that are measured otherwise than first guessed, each with its step of the ladder."""
Fallen = dict[str, tuple[str, str]]
"""By name: `BY_FUNC` or `ONE_BY_ONE`, and why."""


_LOCK = Lock()
_measured: WeakValueDictionary[int, nn.Parameter] = WeakValueDictionary()
"""The parameters that any open `GradientNorms` measures, by id."""
_fast: list[bool] = []
"""Whether torch's fused encoder layer was allowed before the first of them, one item for each."""


class Measured(NamedTuple):
    """What a batch gives; the examples come first in each tensor."""

    outputs: Tensor
    losses: Tensor
    """(batch,), see `losses.example_losses`."""
    squared_norms: Tensor
    """(batch,) float64: squared gradient norm over all parameters that need a gradient."""


class _Pass(NamedTuple):
    outputs: Tensor
    losses: Tensor
    norms: dict[str, Tensor]
    layout: Layout


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
        UsageError: batch norm or dropout in training mode; another is open on the same parameters;
            later, examples that mix.

    On leaving, also by an exception, everything is as before; no `grad` is ever touched.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self._parameters: dict[str, nn.Parameter] = {}
        self._frozen: list[str] = []
        self._unfollowed: Fallen = {}
        self._fallen: Fallen = {}
        self._ever_fallen: Fallen = {}
        self._how: dict[str, tuple[str, str]] = {}
        self._agreed: set[tuple[State, Layout]] = set()
        self._corrected: dict[tuple[State, Layout], State] = {}
        self._open = False

    def __enter__(self) -> GradientNorms:
        _must_be_steady(self.module)
        named = dict(self.module.named_parameters())
        with _LOCK:
            if any(id(p) in _measured for p in named.values()):
                raise UsageError(
                    "another GradientNorms is open on this module, or on one that shares its "
                    "parameters: leave that one first"
                )
            self._parameters = {name: p for name, p in named.items() if p.requires_grad}
            self._frozen = [name for name, p in named.items() if not p.requires_grad]
            _measured.update({id(p): p for p in self._parameters.values()})
            # The fused encoder layer of torch.nn calls none of the functions that can be watched.
            _fast.append(torch.backends.mha.get_fastpath_enabled() if not _fast else _fast[0])
            torch.backends.mha.set_fastpath_enabled(False)
        complex_ones = [name for name, p in self._parameters.items() if p.is_complex()]
        self._unfollowed |= dict.fromkeys(complex_ones, (BY_FUNC, "its numbers are complex"))
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
        forget(self.module)
        with _LOCK:
            for parameter in self._parameters.values():
                _measured.pop(id(parameter), None)
            before = _fast.pop()
            if not _fast:
                torch.backends.mha.set_fastpath_enabled(before)
        self._open = False

    @property
    def plan(self) -> list[Planned]:
        """How each parameter was measured in the last batch; empty before the first."""
        if not self._agreed:
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
            for name, (by, why) in self._ever_fallen.items():
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
            UsageError: it is not open; the batch is empty; the module checkpoints its activations;
                or an example's loss changes with the others of its batch.
        """
        if not self._open:
            raise UsageError("open it first: `with GradientNorms(module) as norms:`")
        if not len(targets):
            raise UsageError("the batch is empty: it needs an example at least")
        with torch.inference_mode(False):
            try:
                return self._measured(tree_map(_cut, inputs), _cut(targets))
            except RuntimeError as error:
                if "checkpoint" not in str(error):
                    raise
                raise UsageError(
                    "the module computes parts of itself again in the backward pass (activation "
                    "checkpointing): turn that off, as it only saves memory"
                ) from error

    def _measured(self, inputs: Any, targets: Tensor) -> Measured:
        state: State = frozenset()
        while True:
            found = self._pass(inputs, targets, state)
            key = (state, found.layout)
            if key not in self._agreed and key not in self._corrected:
                differing = self._differing(inputs, targets, found)
                if differing:
                    self._corrected[key] = self._one_step_down(state, differing)
                else:
                    self._agreed.add(key)
            if key in self._agreed:
                break
            state = self._corrected[key]
        total = torch.zeros_like(found.losses)
        for name in self._parameters:
            total += found.norms[name]
        self._ever_fallen |= self._fallen
        return Measured(found.outputs, found.losses, total)

    def _pass(self, inputs: Any, targets: Tensor, state: State) -> _Pass:
        differed = "its measured norm differed from plain autograd's"
        steps = dict(state)
        self._fallen = self._unfollowed | {
            name: (step, differed) for name, step in state if step != SHARED
        }
        watched = {n: p for n, p in self._parameters.items() if n not in self._fallen}
        shared = {name for name, step in steps.items() if step == SHARED}
        watch = Watch(len(targets), watched, RULES, shared)
        forget(self.module)
        with torch.enable_grad():
            with watch:
                outputs = self.module(inputs)
            losses = example_losses(outputs, targets)
            if losses.requires_grad and not watch.unsteady:
                torch.autograd.grad(losses.sum(), watch.anchor, allow_unused=True)
        if watch.unsteady:
            why = f"{watch.unsteady} picks rows by their values, so that sizes do not tell whose"
            self._fallen = dict.fromkeys(self._parameters, (ONE_BY_ONE, why))
            norms = self._norms_of_fallen(inputs, targets)
            layout: Layout = frozenset({("picked", watch.unsteady)})
            return _Pass(outputs.detach(), losses.detach(), norms, layout)
        watch.finish()
        for name, why in watch.unknown.items():
            self._unfollowed[name] = self._fallen[name] = (BY_FUNC, why)
        self._how = watch.how
        norms = watch.norms | self._norms_of_fallen(inputs, targets)
        return _Pass(outputs.detach(), losses.detach(), norms, frozenset(watch.guesses))

    def _norms_of_fallen(self, inputs: Any, targets: Tensor) -> dict[str, Tensor]:
        names = [name for name, (by, _) in self._fallen.items() if by == BY_FUNC]
        norms: dict[str, Tensor] = {}
        if names:
            try:
                norms |= by_torch_func(self.module, names, inputs, targets)
            except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
                why = f"torch.func cannot: {shorten(str(error), 100)}"
                for name in names:
                    fallen = (ONE_BY_ONE, f"{self._fallen[name][1]}; {why}")
                    self._unfollowed[name] = self._fallen[name] = fallen
        names = [name for name, (by, _) in self._fallen.items() if by == ONE_BY_ONE]
        if names:
            norms |= one_by_one(self.module, names, inputs, targets)[0]
        return norms

    def _one_step_down(self, state: State, differing: list[str]) -> State:
        steps = dict(state)
        for name in differing:
            now = self._fallen[name][0] if name in self._fallen else steps.get(name)
            if now == ONE_BY_ONE:
                raise UsageError(
                    f"the gradient of {name} is another each time it is asked for: put the module "
                    "into evaluation mode, or use --mode paper"
                )
            steps[name] = LADDER[LADDER.index(now) + 1 if now else 0]
        return frozenset(steps.items())

    def _differing(self, inputs: Any, targets: Tensor, found: _Pass) -> list[str]:
        """Return the parameters whose norms are not those of plain autograd on some examples."""
        rows = sorted({0, len(targets) // 2, len(targets) - 1})[:COMPARED]
        names = list(self._parameters)
        alone, losses = one_by_one(self.module, names, picked(inputs, rows), targets[rows])
        half = any(p.dtype in (torch.float16, torch.bfloat16) for p in self.module.parameters())
        close = 0.1 if half else 1e-3
        if not torch.allclose(found.losses[rows], losses, close, close, equal_nan=True):
            raise UsageError(
                f"the loss of an example changes with its batch (alone {losses.tolist()}, among "
                f"{len(targets)} {found.losses[rows].tolist()}): no gradient norm is its own. Use "
                "evaluation mode and layers that do not mix examples, or --mode paper"
            )
        if not names:
            return []
        total = torch.stack(list(alone.values())).sum(0)
        finite = total.isfinite()
        # Below 1e-6 of the whole, rounding is all there may be to a parameter's gradient.
        floor = (1e-3 if half else 1e-6) * total
        return [
            name
            for name in names
            if bool(
                ((found.norms[name][rows] - alone[name]).abs() > close * alone[name] + floor)[
                    finite
                ].any()
            )
        ]


def _cut(value: Any) -> Any:
    """Return a tensor that is nobody's gradient, also one that was made in inference mode."""
    if not isinstance(value, Tensor):
        return value
    return value.clone() if value.is_inference() else value.detach()


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
