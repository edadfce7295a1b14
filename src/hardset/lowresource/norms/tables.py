"""Rules of tables: what looking up rows adds to a table's gradients, example by example."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from hardset.lowresource.norms.contributions import Rows
from hardset.lowresource.norms.watch import Args, Options, Watch, bound, plain


def embedding(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """F.embedding. Ids that all examples share, (1, T), are looked up for each of them."""
    names = ("input", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq")
    ids, weight, unused, most, _, by_frequency, *_ = bound(names, args, kwargs)
    table = watch.source(weight)
    if most is not None or by_frequency or table is None or not isinstance(ids, Tensor):
        return NotImplemented
    shared = ids.dim() > 1 and ids.shape[0] == 1 and watch.batch > 1
    dim = 0 if shared else watch.along(ids)
    if dim is None or (dim < 0 and ids.dim() > 1):
        return NotImplemented
    if unused is not None and unused < 0:
        unused += len(weight)

    def run() -> Tensor:
        found = F.embedding(ids, plain(weight), unused)
        return found.expand(watch.batch, *found.shape[1:]) if shared else found

    def taken(g: Tensor) -> Rows:
        each = ids.expand(watch.batch, *ids.shape[1:]) if shared else watch.by_example(ids, dim)
        flat = each.reshape(watch.batch, -1)
        rows = watch.by_example(g, dim).reshape(watch.batch, -1, g.shape[-1])
        if unused is not None:
            rows = rows.masked_fill((flat == unused)[:, :, None], 0)
        return Rows(flat, rows)

    return watch.use(run, dim, (table, "embedding", taken))


def embedding_bag(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """F.embedding_bag of ids (batch, T): the sum or the mean of the rows, each perhaps weighted."""
    names = (
        *("input", "weight", "offsets", "max_norm", "norm_type", "scale_grad_by_freq", "mode"),
        *("sparse", "per_sample_weights", "include_last_offset", "padding_idx"),
    )
    ids, weight, offsets, most, _, by_frequency, mode, _, each, _, unused = bound(
        names, args, kwargs
    )
    table, mode = watch.source(weight), mode or "mean"
    known = mode in ("sum", "mean") and offsets is None and most is None and not by_frequency
    if table is None or not known or watch.along(ids) != 0 or ids.dim() != 2:
        return NotImplemented
    if unused is not None and unused < 0:
        unused += len(weight)
    if each is not None:
        each = each.detach()

    def taken(g: Tensor) -> Rows:
        share = g.new_ones(ids.shape) if each is None else each.to(g.dtype)
        if unused is not None:
            share = share.masked_fill(ids == unused, 0)
        if mode == "mean":
            share = share / share.sum(1, keepdim=True).clamp(min=1)
        return Rows(ids, g[:, None, :] * share[:, :, None])

    return watch.use(
        lambda: func(*watch.mapped(args, watch.cut), **watch.mapped(kwargs, watch.cut)),
        0,
        (table, "embedding", taken),
    )


def looked_up(watch: Watch, func: Any, args: Args, kwargs: Options) -> Any:
    """table[ids], and table.index_select(0, ids)."""
    table, *rest = args
    if func.__name__ == "index_select":
        _, along, index = bound(("input", "dim", "index"), args, kwargs)
        rest = [index] if along == 0 else []
    index = rest[0] if len(rest) == 1 else None
    if not isinstance(index, Tensor) or index.dtype != torch.int64 or table.dim() != 2:
        return NotImplemented
    if watch.source(table) is None or index.dim() == 0:
        return NotImplemented
    if index.shape[0] == 1 and index.dim() > 1 and watch.batch > 1:
        return NotImplemented  # all examples share it: it is made of the table alone
    return embedding(watch, func, (index.remainder(len(table)), table), {})
