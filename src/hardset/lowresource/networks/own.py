"""The user's own network: `module:function`, or `path/to/file.py:function`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.lowresource.network import Network
from hardset.lowresource.networks.mlp import Arrays
from hardset.lowresource.networks.pictures import IMAGENET, Pictures, first_readable


def build(name: str, examples: Examples, size: int | None) -> Network:
    """Return what the function makes: a `Network`, or a torch module around which we put one.

    The function is given, by the names of its parameters, any of `classes` (their names; none where
    labels are real numbers), `kind`, `examples` and `size`; parameters of other names, without a
    default, get `classes` and `kind` in this order. It is called with torch's random numbers
    seeded. A plain module gets pictures (batch, 3, height, width), normalised by ImageNet's mean
    and deviation, of `size` or of the first one's own size; or arrays as they are. For texts the
    function must return a `Network`, with a collate of its own.

    Raises:
        UsageError: the function is not found, fails, or what it returns does not fit the examples.
    """
    function = _function(name)
    given = {
        "classes": examples.classes,
        "kind": examples.kind,
        "examples": examples,
        "size": size,
    }
    return network_of(name, _called(name, function, given), examples, size)


def network_of(name: str, made: Any, examples: Examples, size: int | None) -> Network:
    """Return what a function of the user's made, a `Network` or a torch module, as a network.

    Raises:
        UsageError: it does not fit the examples.
    """
    if isinstance(made, nn.Module):
        made = _around(name, made, examples, size)
    if not isinstance(made, Network):
        raise UsageError(f"{name} returned {type(made).__name__}: return a torch nn.Module")
    made.name = name
    _tried(made, examples)
    return made


def _function(name: str) -> Callable[..., Any]:
    place, _, attribute = name.rpartition(":")
    try:
        module = _module(place)
    except Exception as error:
        raise UsageError(f"{place} (for {name}) does not import: {_told(error)}") from error
    found = getattr(module, attribute, None)
    if not callable(found):
        there = [
            key
            for key, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__
        ]
        raise UsageError(
            f"{place} has no function {attribute!r}; it has: {', '.join(there) or 'none'}"
        )
    function: Callable[..., Any] = found
    return function


def _module(place: str) -> ModuleType:
    if not place.endswith(".py"):
        here = str(Path.cwd())
        if here not in sys.path:  # as `python -m` has it, and a console script has not
            sys.path.append(here)
        return importlib.import_module(place)
    path = Path(place).expanduser().resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _called(name: str, function: Callable[..., Any], given: dict[str, Any]) -> Any:
    by_name, in_order = {}, []
    rest = iter(("classes", "kind"))
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name in given and parameter.kind != parameter.POSITIONAL_ONLY:
            by_name[parameter.name] = given[parameter.name]
        elif parameter.default is parameter.empty:
            wanted = next(rest, None)
            if wanted is None or by_name:
                raise UsageError(
                    f"{name} wants a parameter {parameter.name!r}, which nobody gives: it may "
                    f"have {', '.join(given)}"
                )
            in_order.append(given[wanted])
    try:
        return function(*in_order, **by_name)
    except Exception as error:
        raise UsageError(f"{name} failed: {_told(error)}") from error


def _around(name: str, module: nn.Module, examples: Examples, size: int | None) -> Network:
    """Return a network of a plain module."""
    if examples.kind == "text":
        raise UsageError(
            f"{name} returned a plain module, and these examples are texts: return a "
            "hardset.lowresource.network.Network, whose collate makes of texts what it takes"
        )
    first = first_readable(examples)
    if not first:
        raise UsageError(f"{name}: none of the first examples can be read, to see their size")
    shape = np.shape(first[0])
    if examples.kind == "tensor":
        return Network(module, Arrays(shape), name, name, {"input_size": list(shape)})
    collate = Pictures((size, size) if size else (shape[0], shape[1]), IMAGENET)
    return Network(module, collate, name, name, collate.facts())


def _tried(network: Network, examples: Examples) -> None:
    """See that the module takes these examples and gives an output for each class."""
    first = first_readable(examples)[:2]
    if not first:
        return
    network.module.eval()
    try:
        with torch.no_grad():
            shape = tuple(network.module(network.collate(first)).shape)
    except Exception as error:
        raise UsageError(f"{network.name} does not take these examples: {_told(error)}") from error
    n, classes = len(first), len(examples.classes)
    wanted = [(n, classes)] if classes else [(n,), (n, 1)]
    if shape not in wanted:
        raise UsageError(
            f"{network.name} gives outputs {shape} for {n} examples, and should give "
            f"{' or '.join(map(str, wanted))}"
        )


def _told(error: Exception) -> str:
    """Say what went wrong, and in which line of the user's: the last that is no library's."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = str(Path(__file__).resolve().parents[2])
    own = [
        frame
        for frame in frames
        if "site-packages" not in frame.filename
        and not frame.filename.startswith((ours, "<frozen"))
        and "importlib" not in frame.filename
    ]
    where = f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
    if isinstance(error, SyntaxError) and error.filename:
        where = f" ({error.filename}, line {error.lineno})"
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{where}"
