"""A map-style data set, torch's or the like, seen as examples."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.examples import Content, Kind, Positions, Unreadable
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.decoding import text_of
from hardset.sources.examples.labelling import labelled

_LABELS = ("targets", "labels", "_labels")


@dataclass
class Mapped:
    """Examples from `data[i]`, each item a pair of content and label."""

    data: Any
    kind: Kind
    labels: NDArray[Any]
    classes: tuple[str, ...]
    source: dict[str, Any]
    told: Callable[[BaseException], str]
    network: Any = None

    def __len__(self) -> int:
        return len(self.labels)

    def id(self, position: int) -> str:
        """Return the position as text."""
        return str(position)

    def fetch(self, positions: Positions) -> list[Content]:
        """Return the items' contents; an item that fails is `Unreadable`."""
        found: list[Content] = []
        for position in positions:
            try:
                found.append(content_of(self.data[int(position)][0]))
            except (Exception, SystemExit) as error:  # the user's own code
                found.append(Unreadable(self.told(error)))
        return found

    def shuffled(self, generator: np.random.Generator) -> Positions:
        """Return all positions in random order."""
        return generator.permutation(len(self))


def map_style(data: Any, asked: Asked, told: Callable[[BaseException], str]) -> Mapped:
    """Look at a data set's items.

    Labels are taken from its `targets` or `labels`, as torchvision's data sets have them; else
    every item is read once.

    Raises:
        UsageError: it is empty, or its items are no pairs of content and label.
    """
    where = asked.place
    try:
        n = len(data)
    except (Exception, SystemExit) as error:
        raise UsageError(f"{where}: the data set has no length: {told(error)}") from error
    if not n:
        raise UsageError(f"{where}: the data set is empty")
    first = _first(data, where, told)
    notes: list[str] = []
    cells = _listed(data, n)
    if cells is None:
        notes.append("its labels were found by reading every item once")
        lacking: list[str] = []
        cells = [_label(data, position, told, lacking) for position in range(n)]
        if len(lacking) == n:
            raise UsageError(f"{where}: {lacking[0]}, and no other has one")
        notes += lacking[:1]
        if lacking[1:]:
            notes.append(f"and so {len(lacking) - 1:,} more items")
    names = getattr(data, "classes", None)
    classes = asked.classes
    named = False
    if classes is None and isinstance(names, list | tuple) and names:
        classes, named = tuple(map(str, names)), True
    labels = labelled(cells, f"{where}, labels", classes=classes, numbers=named)
    return Mapped(
        data=data,
        kind=_kind(first, where),
        labels=labels.labels,
        classes=labels.classes,
        source={
            "place": where,
            "layout": "function",
            "sha256": _digest(data, labels.labels),
            "notes": [*notes, *labels.notes],
        },
        told=told,
    )


def content_of(item: Any) -> Content:
    """Return an item as content: uint8 pixels, float arrays, or texts.

    Raises:
        TypeError: it is nothing of the kind.
    """
    if isinstance(item, str):
        return text_of((item,))
    if isinstance(item, tuple | list) and item and all(isinstance(one, str) for one in item):
        return text_of(tuple(item))
    if hasattr(item, "getexif"):  # a Pillow picture
        from hardset.images.pixels import pixels

        return pixels(item)
    if hasattr(item, "detach"):  # a tensor
        item = item.detach().cpu().numpy()
        if item.dtype == np.uint8 and item.ndim == 3 and item.shape[0] in (1, 3):
            item = item.transpose(1, 2, 0)  # torch has channels first
    values = np.asarray(item)
    if values.dtype == np.uint8 and values.ndim == 2:
        return values[..., None]
    if values.dtype == np.uint8 and values.ndim == 3 and values.shape[2] in (1, 3):
        return values
    if values.dtype.kind not in "fiub":
        raise TypeError(f"an item's content is a {type(item).__name__}, no tensor, picture or text")
    return values.astype(np.float32, copy=False)


def _first(data: Any, where: str, told: Callable[[BaseException], str]) -> Content:
    try:
        item = data[0]
    except (Exception, SystemExit) as error:
        raise UsageError(f"{where}: item 0 fails: {told(error)}") from error
    if not isinstance(item, tuple | list) or len(item) != 2:
        raise UsageError(
            f"{where}: an item is to be a pair of content and label, and item 0 is a "
            f"{type(item).__name__}" + (f" of {len(item)}" if hasattr(item, "__len__") else "")
        )
    try:
        return content_of(item[0])
    except TypeError as error:
        raise UsageError(f"{where}: {error}") from error


def _kind(first: Content, where: str) -> Kind:
    if isinstance(first, Unreadable):
        raise UsageError(f"{where}: item 0 {first.reason}")
    if isinstance(first, tuple):
        return "text"
    return "image" if first.dtype == np.uint8 else "tensor"


def _listed(data: Any, n: int) -> list[Any] | None:
    for name in _LABELS:
        try:
            listed = getattr(data, name, None)
        except Exception:  # the user's own code: each item is read instead
            continue
        if listed is not None and hasattr(listed, "__len__") and len(listed) == n:
            return [_plain(label) for label in listed]
    return None


def _label(
    data: Any, position: int, told: Callable[[BaseException], str], lacking: list[str]
) -> Any:
    try:
        return _plain(data[position][1])
    except (Exception, SystemExit) as error:  # the user's own code; fetching it will say so again
        lacking.append(f"item {position} has no label: {told(error)}")
        return None


def _plain(label: Any) -> Any:
    """Return a label as Python has it: tensors and numpy's scalars hold one."""
    return label.item() if hasattr(label, "item") else label


def _digest(data: Any, labels: NDArray[Any]) -> str:
    """Stand for a data set by its class's source and its labels: items may differ every time."""
    found = hashlib.sha256(labels.tobytes())
    try:
        found.update(inspect.getsource(type(data)).encode())
    except (OSError, TypeError):
        found.update(type(data).__qualname__.encode())
    return found.hexdigest()
