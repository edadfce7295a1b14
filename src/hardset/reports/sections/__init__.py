"""Further sections of the page, each for what only some runs have: pairs, repeats, confidence.

A section is a module here with a function `section(runs, sample)` and a template of its own. It
looks at the columns of the outcomes, never at the name of the benchmark, so that a benchmark from
outside the package gets it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from hardset.reports.runs import RunView, Shown

NAMES: tuple[str, ...] = ("radar", "pairs", "steps", "repeats", "confidence", "judges", "spent")
"""The modules, in the order of the page."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page: `template` is given `values`, which are escaped like all else."""

    anchor: str  # the id that the page's navigation leads to
    title: str
    template: str
    values: Mapping[str, Any] = field(default_factory=dict)


def sections(runs: Sequence[RunView], sample: Sequence[Shown]) -> Iterator[Section]:
    """Yield the sections that these runs have something to show in."""
    for name in NAMES:
        found: Section | None = import_module(f"{__name__}.{name}").section(runs, sample)
        if found is not None:
            yield found
