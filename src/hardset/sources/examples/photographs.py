"""A labelled set of picture files, whose names are kept compactly: a million take some 50 MB."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardset.lowresource.examples import Content, Kind, Positions
from hardset.sources.examples import digests
from hardset.sources.examples.decoding import picture_at

if TYPE_CHECKING:
    import polars as pl


@dataclass
class Photographs:
    """Examples that are picture files.

    Attributes:
        root: the folder that names count from.
        folders: those that hold pictures, as seen from the root.
        folder_of: (n,) which of them each picture is in.
        names: (n,) the pictures' own names.
    """

    root: Path
    folders: Sequence[str]
    folder_of: NDArray[np.int32]
    names: pl.Series
    labels: NDArray[Any]
    classes: tuple[str, ...]
    source: dict[str, Any]
    kind: Kind = "image"

    def __len__(self) -> int:
        return len(self.labels)

    def id(self, position: int) -> str:
        """Return the picture's path, as seen from the root, with slashes."""
        folder = self.folders[self.folder_of[position]]
        name = str(self.names[int(position)])
        return name if folder == "." else f"{folder}/{name}"

    def fetch(self, positions: Positions) -> list[Content]:
        """Return upright pixels; what cannot be read is `Unreadable`."""
        root = os.fspath(self.root)
        return [picture_at(os.path.join(root, self.id(int(one)))) for one in positions]

    def shuffled(self, generator: np.random.Generator) -> Positions:
        """Return all positions in random order: files are read as fast in any."""
        return generator.permutation(len(self))


def photographs(
    root: Path,
    found: Iterable[tuple[str, Sequence[str], Sequence[int], Sequence[int]]],
    classes: tuple[str, ...],
    source: dict[str, Any],
) -> Photographs:
    """Make a set of picture files.

    Args:
        root: the folder that names count from.
        found: folders, each with its pictures' names, sizes and labels, in order.
        classes: the labels' names.
        source: what the manifest says; `sha256`, of the sorted names and sizes, is added.
    """
    import polars as pl

    folders: list[str] = []
    counts: list[int] = []
    names: list[pl.Series] = [pl.Series([], dtype=pl.String)]
    labels: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    folder_digests: list[tuple[str, str]] = []
    for folder, files, sizes, numbers in found:
        folders.append(folder)
        counts.append(len(files))
        names.append(pl.Series(files, dtype=pl.String))
        labels.append(np.array(numbers, dtype=np.int64))
        folder_digests.append((folder, digests.of_listing(zip(files, sizes, strict=True))))
    return Photographs(
        root=root,
        folders=folders,
        folder_of=np.repeat(np.arange(len(folders), dtype=np.int32), counts),
        names=pl.concat(names, rechunk=True),
        labels=np.concatenate(labels),
        classes=classes,
        source={**source, "sha256": digests.of_listing(folder_digests)},
    )
