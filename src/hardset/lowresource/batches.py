"""Examples to batches of a network's inputs: read ahead, in order, without what cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from hardset.lowresource.examples import Examples, Held, Positions, Subset, Unreadable
from hardset.lowresource.network import Inputs, Network

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")


class Batch(NamedTuple):
    """What one step sees."""

    positions: Positions
    """(batch,): the examples that could be read, in the order asked for."""
    inputs: Inputs
    """None where there are none."""
    unreadable: Positions


def read(network: Network, examples: Examples, positions: Positions) -> Batch:
    """Return these examples as one batch on the CPU."""
    contents = examples.fetch(positions)
    bad = np.array([isinstance(content, Unreadable) for content in contents], dtype=bool)
    good = [content for content, is_bad in zip(contents, bad, strict=True) if not is_bad]
    inputs = network.collate(good) if good else None
    return Batch(positions[~bad], inputs, positions[bad])


def batches(network: Network, examples: Examples, parts: Iterable[Positions]) -> Iterator[Batch]:
    """Yield a batch for each part.

    The next is read in a thread while this one is computed on, but where that gains nothing: where
    examples in memory are computed on by the same processor.
    """
    parts = iter(parts)
    if _in_memory(examples) and not _on_gpu(network):
        for part in parts:
            yield read(network, examples, part)
        return
    with ThreadPoolExecutor(1, thread_name_prefix="examples") as reader:
        waiting = [reader.submit(read, network, examples, part) for part in _next(parts)]
        while waiting:
            batch = waiting.pop().result()
            waiting = [reader.submit(read, network, examples, part) for part in _next(parts)]
            yield batch


def _in_memory(examples: Examples) -> bool:
    if isinstance(examples, Subset):
        return _in_memory(examples.whole)
    return isinstance(examples, Held)


def _on_gpu(network: Network) -> bool:
    return any(weight.is_cuda for weight in network.module.parameters())


def _next(parts: Iterator[T]) -> list[T]:
    return list(islice(parts, 1))


def cut(order: Positions, batch: int) -> list[Positions]:
    """Return an order cut to batches; a last one of a single example joins the one before.

    Batch normalisation has nothing to normalise a single example by.
    """
    parts = [order[start : start + batch] for start in range(0, len(order), batch)]
    if batch > 1 and len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [order[-1 - len(parts[-2]) :]]
    return parts


def moved(inputs: Inputs, device: Any) -> Inputs:
    """Return inputs, a tensor or a dict of tensors, on a device."""
    if isinstance(inputs, dict):
        return {name: tensor.to(device, non_blocking=True) for name, tensor in inputs.items()}
    return inputs.to(device, non_blocking=True)


def targets_of(examples: Examples, positions: Positions, device: Any) -> Tensor:
    """Return labels as a loss takes them: int64 classes, or float32 values (batch,)."""
    import torch

    labels = torch.from_numpy(np.asarray(examples.labels[positions]))
    return (labels if examples.classes else labels.float()).to(device)
