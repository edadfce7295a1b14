"""A labelled training set as every part of this room sees it: read by position, not held whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Kind = Literal["image", "text", "tensor"]
Positions = NDArray[np.int64]
Image = NDArray[np.uint8]  # (height, width, channels), channels 1 or 3
Text = tuple[str, ...]  # one text, or two that belong together
NO_LABEL = -1


@dataclass(frozen=True)
class Unreadable:
    """In place of an example that cannot be read: what is wrong with it, in a few words."""

    reason: str


Content = Image | Text | NDArray[Any] | Unreadable


@runtime_checkable
class Examples(Protocol):
    """A labelled training set.

    An example is known by its position, 0 to n-1 in the order of its source, which is the index of
    the published score files, and by an id that a person can find again (a file's path, a row).
    """

    kind: Kind
    """What `fetch` gives: pictures, texts, or arrays that need no preparation."""
    classes: tuple[str, ...]
    """The labels' names, in the order of their numbers; empty where labels are real numbers."""
    labels: NDArray[Any]
    """(n,): int64, NO_LABEL where a row has none; or float64 (regression), NaN where none."""
    source: dict[str, Any]
    """What the manifest says: place, layout, revision, and `sha256`, which changes with it."""

    def __len__(self) -> int:
        """Return n."""
        ...

    def id(self, position: int) -> str:
        """Return the name of one example."""
        ...

    def fetch(self, positions: Positions) -> list[Content]:
        """Return the contents of some examples, in the order asked for.

        What cannot be read is `Unreadable` in its place, and never an exception.
        """
        ...

    def shuffled(self, generator: np.random.Generator) -> Positions:
        """Return all positions in a random order that this source can read at a fair speed."""
        ...


@dataclass(repr=False)
class Held:
    """Examples in memory: arrays or texts somebody already has.

    Args:
        contents: pictures (n, height, width, channels) or (n, height, width) of uint8; arrays
            (n, ...) of float32; or n texts, each a str or a tuple of one or two.
        labels: (n,) of whole numbers, -1 where there is none; of names, which become numbers in
            sorted order; or of real numbers for regression.
        classes: the labels' names; "0", "1", ..., or the names that labels are, if not given.
        source: what the manifest says of them.

    Raises:
        ValueError: contents and labels differ in number, or a label has no class.
    """

    contents: NDArray[Any] | Sequence[Text | str]
    labels: NDArray[Any]
    classes: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)
    kind: Kind = field(init=False)

    def __post_init__(self) -> None:
        if len(self.contents) != len(self.labels):
            raise ValueError(f"{len(self.contents)} examples and {len(self.labels)} labels")
        self.labels = np.asarray(self.labels)
        if self.labels.ndim != 1:
            raise ValueError(f"labels are one a row, not of shape {self.labels.shape}")
        if self.labels.dtype.kind in "UO":
            self.labels = self._numbered()
        if self.labels.dtype.kind in "iub":
            self.labels = self.labels.astype(np.int64)
            if len(self.labels) and self.labels.min() < NO_LABEL:
                raise ValueError(f"label {self.labels.min()} is below 0; -1 is for none")
            most = int(self.labels.max(initial=NO_LABEL))
            self.classes = self.classes or tuple(str(label) for label in range(most + 1))
            if most >= len(self.classes):
                raise ValueError(f"label {most} has no name: there are {len(self.classes)} classes")
        else:
            self.labels = self.labels.astype(np.float64)
        if not isinstance(self.contents, np.ndarray):
            self.contents = [(t,) if isinstance(t, str) else tuple(t) for t in self.contents]
            self.kind = "text"
        else:
            self.kind = "image" if self.contents.dtype == np.uint8 else "tensor"
            if self.kind == "image" and self.contents.ndim == 3:
                self.contents = self.contents[..., None]

    def _numbered(self) -> NDArray[np.int64]:
        """Return the numbers of labels that are names."""
        names = [str(label) for label in self.labels]
        self.classes = self.classes or tuple(sorted(set(names)))
        if unknown := set(names) - set(self.classes):
            raise ValueError(f"label {min(unknown)!r} is none of the classes")
        number = {name: i for i, name in enumerate(self.classes)}
        return np.array([number[name] for name in names], dtype=np.int64)

    def __repr__(self) -> str:
        """Return how many of what."""
        return f"{type(self).__name__}(n={len(self)}, kind={self.kind!r})"

    def __len__(self) -> int:
        return len(self.labels)

    def id(self, position: int) -> str:
        """Return the position as text."""
        return str(position)

    def fetch(self, positions: Positions) -> list[Content]:
        """Return the contents at these positions."""
        contents: Sequence[Any] | NDArray[Any] = self.contents
        return [contents[int(position)] for position in positions]

    def shuffled(self, generator: np.random.Generator) -> Positions:
        """Return all positions in random order."""
        return generator.permutation(len(self))


@dataclass
class Subset:
    """Some of a set's examples, renumbered 0 to m-1 in the order given; `id` and classes stay."""

    whole: Examples
    positions: Positions

    def __post_init__(self) -> None:
        self.positions = np.asarray(self.positions, dtype=np.int64)
        self.kind = self.whole.kind
        self.classes = self.whole.classes
        self.labels = self.whole.labels[self.positions]
        self.source = self.whole.source

    def __len__(self) -> int:
        return len(self.positions)

    def id(self, position: int) -> str:
        """Return the id that the whole set has for it."""
        return self.whole.id(int(self.positions[position]))

    def fetch(self, positions: Positions) -> list[Content]:
        """Return the contents at these positions of the subset."""
        return self.whole.fetch(self.positions[positions])

    def shuffled(self, generator: np.random.Generator) -> Positions:
        """Return all positions of the subset in random order, the whole set's where it is large."""
        if len(self) < len(self.whole) // 10:
            return generator.permutation(len(self))
        turn = np.empty(len(self.whole), dtype=np.int64)
        turn[self.whole.shuffled(generator)] = np.arange(len(self.whole))
        return np.argsort(turn[self.positions], kind="stable")
