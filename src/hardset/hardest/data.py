"""A training set as it was asked for, so that it can be opened again: later, or by a worker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hardset.lowresource.examples import Examples


@dataclass(frozen=True)
class Data:
    """What `open_examples` is given; see there."""

    place: str
    layout: str | None = None
    label: str | None = None
    text: tuple[str, ...] = ()
    image: str | None = None
    split: str = "train"

    def open(self) -> Examples:
        """Open it."""
        from hardset.sources.examples.opening import open_examples

        return open_examples(
            self.place,
            layout=self.layout,
            label=self.label,
            text=self.text,
            image=self.image,
            split=self.split,
        )

    def absolute(self) -> Data:
        """Return the same with the whole path, where it is one."""
        path = Path(self.place).expanduser()
        return replace(self, place=str(path.resolve())) if path.exists() else self

    def flags(self) -> dict[str, Any]:
        """Return what was given beside the place, by the flag's name."""
        return {
            "--layout": self.layout,
            "--label": self.label,
            "--text": list(self.text),
            "--image": self.image,
            "--split": self.split,
        }


@dataclass(frozen=True)
class InHand(Data):
    """Examples that a program has already; there is no place that they could be opened from."""

    place: str = "in memory"
    examples: Examples | None = None

    def open(self) -> Examples:
        """Return them."""
        assert self.examples is not None
        return self.examples
