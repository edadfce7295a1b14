"""What was asked for when a set of examples is opened, and what a layout's module offers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hardset.lowresource.examples import Examples


@dataclass(frozen=True)
class Asked:
    """A place, and what is wanted of it.

    Attributes:
        place: a path, a name, `hub:OWNER/NAME/CONFIG` or `module:function`.
        split: the part of it; every layout knows it by several names (`splits`).
        label: the column of the labels, None for the one with a known name.
        text: the columns of the texts, one or two; empty for those with known names.
        image: the column of the pictures, None for the one with a known name.
        classes: the labels' names in the order of their numbers; empty where labels are real
            numbers; None to go by what is there.
    """

    place: str
    split: str = "train"
    label: str | None = None
    text: tuple[str, ...] = ()
    image: str | None = None
    classes: tuple[str, ...] | None = None

    @property
    def path(self) -> Path:
        """The place as a path, with `~` for the home folder."""
        return Path(self.place).expanduser()


class Layout(Protocol):
    """A module of this folder that reads one layout.

    `NAME` is what `layout=` calls it, `NEEDS` says in a few words what a place of this layout
    holds. `recognise` looks at names and first lines only.
    """

    NAME: str
    NEEDS: str

    def recognise(self, place: str) -> bool:
        """Whether a place is laid out so."""

    def read(self, asked: Asked) -> Examples:
        """Open it."""
