"""Examples in memory whose ids are not just their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hardset.lowresource.examples import Held
from hardset.sources.examples.table import Places


@dataclass
class Named(Held):
    """`Held`, with an id for each example, made when it is asked for."""

    ids: Sequence[str] | Places = ()

    def id(self, position: int) -> str:
        """Return the example's id."""
        return self.ids[int(position)]
