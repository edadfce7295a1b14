"""The steps of training: the eye on drawn pictures, the mind on what an eye makes of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from hardset.sources.scenes.graph import SIDE, Scene
from scout.examples import example, ids, meant, padded, rounds, wanted
from scout.network import GRID, PARTS, SLOTS, Eye, Mind

Say = Callable[[str], None]
LOOKAHEAD = 16  # batches drawn at a time and sorted by length, so that little is padding


def rate(step: int, steps: int, peak: float) -> float:
    """Return the learning rate: up in a straight line, then down along half a cosine."""
    up = min(1.0, (step + 1) / max(1, min(200, steps // 10)))
    return peak * up * (0.02 + 0.98 * (1 + math.cos(math.pi * step / steps)) / 2)


def train(
    network: nn.Module,
    loss_of: Callable[[Any], Tensor],
    batches: Callable[[int], Iterator[Any]],
    steps: int,
    peak: float,
    say: Say,
    keep: Path | None = None,
) -> list[float]:
    """Take `steps` steps of AdamW; go on from the checkpoint at `keep` if there is one.

    Args:
        network: what is trained, in place.
        loss_of: gives the loss of a batch.
        batches: gives the batches from a step on, so that a start anew does not repeat them.
        steps: how many to take in all.
        peak: the greatest learning rate.
        say: is told how it goes.
        keep: where the checkpoint is.

    Returns:
        The loss of each step taken.
    """
    optimiser = torch.optim.AdamW(network.parameters(), lr=peak, weight_decay=0.01)
    first, spent, losses = 0, 0.0, []
    if keep and keep.exists():
        kept = torch.load(keep, weights_only=True)
        network.load_state_dict(kept["network"])
        optimiser.load_state_dict(kept["optimiser"])
        first, spent = kept["step"], kept["seconds"]
    network.train()
    stream = batches(first)
    began = time.monotonic() - spent
    for step in range(first, steps):
        for group in optimiser.param_groups:
            group["lr"] = rate(step, steps, peak)
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(next(stream))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
        if (step + 1) % 200 == 0 or step + 1 == steps:
            mean = float(np.mean(losses[-200:]))
            say(f"step {step + 1} of {steps}: loss {mean:.4f}, {time.monotonic() - began:.0f} s")
        if keep and ((step + 1) % 500 == 0 or step + 1 == steps):
            kept = {"network": network.state_dict(), "optimiser": optimiser.state_dict()}
            spent = time.monotonic() - began
            torch.save({**kept, "step": step + 1, "seconds": spent}, keep)
    network.eval()
    return losses


def seconds(keep: Path) -> int:
    """Return how long the training kept in a checkpoint took, over all of its starts."""
    return round(torch.load(keep, weights_only=True)["seconds"])


def eye_batches(
    pictures: npt.NDArray[np.uint8], truths: npt.NDArray[np.int16], size: int, seed: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield pictures and their targets (see `examples.targets`) in drawn order without end."""
    random = np.random.default_rng(seed)
    while True:
        order = random.permutation(len(pictures))
        for start in range(0, len(order) - size + 1, size):
            chosen = np.sort(order[start : start + size])
            yield torch.from_numpy(pictures[chosen]), torch.from_numpy(truths[chosen]).long()


def eye_loss(eye: Eye, pictures: Tensor, truths: Tensor) -> Tensor:
    """Hold every cell against the graph: is an object there, exactly where, and what is it."""
    cells = eye.cells(pictures).float()
    rows, slots = (truths[:, :, 0] >= 0).nonzero(as_tuple=True)
    true = truths[rows, slots]
    at = true[:, 0]
    presence = torch.zeros(cells.shape[:2])
    presence[rows, at] = 1.0
    found = cells[rows, at]
    side = SIDE / GRID
    spot = torch.stack([(true[:, 1] % side) / side, (true[:, 2] % side) / side], -1)
    loss = F.binary_cross_entropy_with_logits(cells[:, :, 0], presence) * 20
    loss = loss + F.smooth_l1_loss(found[:, 1:3], spot, beta=0.1) * 4
    for part, classes in zip(found[:, 3:].split(PARTS, -1), true[:, 3:].unbind(-1), strict=True):
        odds = part.log_softmax(-1)
        known = classes >= 0
        chosen = odds.gather(-1, classes.clamp(min=0)[:, None])[:, 0]
        loss = loss - torch.where(known, chosen, odds.mean(-1)).mean()  # unknown: commit to none
    return loss


def look(eye: Eye, pictures: npt.NDArray[np.uint8], size: int = 256) -> npt.NDArray[np.float16]:
    """Return the slots an eye makes of pictures: float16 [pictures, SLOTS, FEATURES]."""
    eye.eval()
    with torch.inference_mode():
        seen = [
            eye(torch.from_numpy(np.array(pictures[i : i + size]))).half().numpy()
            for i in range(0, len(pictures), size)
        ]
    return np.concatenate(seen)


def mind_batches(
    scenes: Sequence[Scene], slots: npt.NDArray[Any], size: int, seed: int, ground: bool
) -> Iterator[tuple[Tensor, ...]]:
    """Yield slots, words and answers of fresh questions without end.

    One question in 30 comes without its picture: there the mind learns what is usual. With
    `ground`, where slot k is object k of the scene, which objects each noun means comes too:
    places [n, 2] (row, word) and float [n, SLOTS].
    """
    random = np.random.default_rng(seed)
    drawn = rounds(len(scenes), seed)
    while True:
        places = [next(drawn) for _ in range(size * LOOKAHEAD)]
        made = [example(scenes[index], dice) for index, dice in places]
        words = [ids(each.text) for each in made]
        order = sorted(range(len(made)), key=lambda i: len(words[i]))
        for start in random.permutation(LOOKAHEAD) * size:
            chosen = order[start : start + size]
            seen = slots[[places[i][0] for i in chosen]].astype(np.float32)
            blind = random.random(size) < 1 / 30
            seen[blind] = 0
            batch = (
                torch.from_numpy(seen),
                torch.from_numpy(padded([words[i] for i in chosen])),
                torch.from_numpy(wanted([made[i] for i in chosen])),
            )
            if not ground:
                yield batch
                continue
            at, objects = [], []
            for row, i in enumerate(chosen):
                if not blind[row]:
                    for place, things in meant(scenes[places[i][0]], made[i].text):
                        at.append((row, place))
                        objects.append([float(k in things) for k in range(SLOTS)])
            yield (*batch, torch.tensor(at), torch.tensor(objects))


def mind_loss(
    mind: Mind,
    slots: Tensor,
    words: Tensor,
    answers: Tensor,
    at: Tensor | None = None,
    objects: Tensor | None = None,
) -> Tensor:
    """Return the cross-entropy of the answers, and of what the nouns mean where that is given."""
    found, told = mind.grounded(slots, words)
    loss = F.cross_entropy(found.float(), answers)
    if at is None or objects is None:
        return loss
    told = told[at[:, 0], at[:, 1]].float()
    return loss + F.binary_cross_entropy_with_logits(told, objects)
