"""Functions that pick rows by values, so that sizes no longer tell where the examples lie.

A batch's unpadded positions, the tokens of an expert, texts sorted by length: where each row is
whose changes from batch to batch, though all sizes are the same. What keeps the examples in order,
as many rows each, is no such thing (`x[torch.arange(batch), last]`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

PICKING = {
    *("__getitem__", "index_select", "masked_select", "repeat_interleave"),
    "_pack_padded_sequence",
}


def picks(
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    batch: int,
    along: Callable[[Any], int | None],
) -> bool:
    """Whether a function of `PICKING` leaves some example more rows than another, or disorder.

    Args:
        name: of the function.
        args: its arguments.
        kwargs: its arguments by name.
        batch: the number of examples.
        along: as `Watch.along`.
    """
    if batch == 1 or not args:
        return False
    x, dim = args[0], along(args[0])
    if dim is None:
        return False
    if name == "_pack_padded_sequence":
        return True
    if name == "masked_select":
        index: Any = kwargs["mask"] if "mask" in kwargs else args[1]
    elif name == "__getitem__":
        index = args[1]
    else:
        given = dict(zip(("input", "dim", "index"), args, strict=False)) | kwargs
        if name == "repeat_interleave":
            given = dict(zip(("input", "repeats", "dim"), args, strict=False)) | kwargs
            repeats, over = given.get("repeats"), given.get("dim")
            if not isinstance(repeats, Tensor) or over is None or over % x.dim() != max(dim, 0):
                return False
            return bool((repeats != repeats.flatten()[0]).any())
        index = (*(slice(None),) * (given["dim"] % x.dim()), given["index"])
    return _disorders(x, index if isinstance(index, tuple) else (index,), batch, dim)


def _disorders(x: Tensor, index: tuple[Any, ...], batch: int, dim: int) -> bool:
    at, lie = 0, max(dim, 0)
    for part in index:
        if part is Ellipsis:
            return False
        if part is None:
            continue
        if not isinstance(part, Tensor | list):
            at += 1
            continue
        picked = torch.as_tensor(part, device=x.device)
        mask = picked.dtype == torch.bool
        over = max(picked.dim(), 1) if mask else 1
        if at <= lie < at + over:
            if dim in (1, -2):  # examples second: nothing that is picked here stays in order
                return True
            if mask:
                counts = picked.reshape(batch, -1).sum(1)
                return bool((counts != counts[0]).any())
            rows = picked.flatten() % x.shape[0]
            if len(rows) == 0 or len(rows) % batch:
                return True
            owner = (rows // (x.shape[0] // batch)).view(batch, -1)
            return bool((owner != torch.arange(batch, device=x.device)[:, None]).any())
        at += over
    return False
