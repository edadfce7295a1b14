"""Pictures to one batch: the same size, the same channels, normalised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hardset.lowresource.examples import Content, Examples, Unreadable

SMALL = 64  # pictures up to this many pixels a side get networks of the CIFAR form
LOOKED_AT = 8  # examples at the start of a set that tell what it holds


@dataclass(frozen=True)
class Norm:
    """What is taken from and divides each channel, of pixels from 0 to 1."""

    name: str
    mean: tuple[float, float, float]
    std: tuple[float, float, float]


CIFAR = Norm("CIFAR-10", (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010))
IMAGENET = Norm("ImageNet", (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
HALF = Norm("half", (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


@dataclass(frozen=True)
class Pictures:
    """Collate pictures of uint8 to a float batch (n, 3, height, width).

    A grey picture is repeated to three channels. Pictures of another size are resized, bilinear and
    antialiased; those of one size together.

    Attributes:
        size: (height, width) of the batch.
        norm: what the channels are normalised by.
        centre: the share of the shorter side that is kept, a square from the middle, before
            resizing; None resizes the whole picture and lets its sides' ratio go.
    """

    size: tuple[int, int]
    norm: Norm
    centre: float | None = None

    def __call__(self, contents: Sequence[Content]) -> Tensor:
        """Return the batch."""
        shapes: dict[tuple[int, ...], list[int]] = {}
        for place, content in enumerate(contents):
            shapes.setdefault(np.asarray(content).shape, []).append(place)
        batch = torch.empty(len(contents), 3, *self.size)
        for places in shapes.values():
            stacked = np.stack([np.asarray(contents[place]) for place in places])
            batch[torch.tensor(places)] = self._sized(stacked)
        mean, std = (torch.tensor(v).view(3, 1, 1) for v in (self.norm.mean, self.norm.std))
        return batch.div_(255).sub_(mean).div_(std)

    def _sized(self, stacked: np.ndarray[Any, Any]) -> Tensor:
        """Return pictures of one size, (n, height, width, channels), as (n, 1 or 3, *size)."""
        pixels = torch.from_numpy(stacked).permute(0, 3, 1, 2)
        if self.centre is not None:
            height, width = pixels.shape[2:]
            side = max(1, round(min(height, width) * self.centre))
            top, left = (height - side) // 2, (width - side) // 2
            pixels = pixels[:, :, top : top + side, left : left + side]
        pixels = pixels.float()
        if pixels.shape[2:] != self.size:
            pixels = functional.interpolate(
                pixels, self.size, mode="bilinear", antialias=True, align_corners=False
            )
        return pixels

    def facts(self) -> dict[str, Any]:
        """Return what the manifest says of how pictures are prepared."""
        return {
            "input_size": list(self.size),
            "normalised_by": self.norm.name,
            "mean": list(self.norm.mean),
            "std": list(self.norm.std),
            "resize": "bilinear, antialiased"
            if self.centre is None
            else f"centre square, {self.centre:g} of the shorter side; bilinear, antialiased",
        }


def first_readable(examples: Examples) -> list[Any]:
    """Return the readable ones of the first few examples, which tell what a set holds."""
    first = examples.fetch(np.arange(min(LOOKED_AT, len(examples)), dtype=np.int64))
    return [content for content in first if not isinstance(content, Unreadable)]


def longest_side(examples: Examples) -> int:
    """Return the longest side, in pixels, of the first few pictures; SMALL where none is read."""
    sides = [max(np.shape(content)[:2]) for content in first_readable(examples)]
    return max(sides, default=SMALL)
