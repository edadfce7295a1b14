"""What a benchmark declares. It reads like its paper and talks to no model.

A benchmark says how its rows become Items, what is asked, how a reply is read, and which
metrics follow. `run.py` is the one conductor that walks the road with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from hardset.records import Item, Judged, Message, Metric, Reading, Sampling, State

if TYPE_CHECKING:
    import polars as pl

    from hardset.metrics import Measurable
    from hardset.sources.hub import Hub
    from hardset.sources.pictures import ImageSource

Opener = Callable[[str], bytes]
"""Makes an image's bytes from the part of `Image.where` behind the scheme."""


class Benchmark:
    """The base of every benchmark. Subclass it in one file; override what differs.

    Class attributes name it; `__init__` takes the user's options as keyword arguments with
    type hints and defaults (the command line shows them).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str] = ""
    readings: ClassVar[tuple[str, ...]] = ("default",)  # the first is the headline's
    sampling: ClassVar[Sampling] = Sampling()
    sampled: ClassVar[Sampling | None] = None  # of several replies, where one alone is greedy
    rubrics: ClassVar[Sequence[str]] = ()  # what judges are asked about replies, if there are any
    openers: ClassVar[Mapping[str, Opener]] = {}
    hub: ClassVar[Hub | None] = None  # the published rows, read where no --data is given
    image_sources: ClassVar[Mapping[str, ImageSource]] = {}  # by a part of the rows' data_source
    headline: ClassVar[Sequence[str]] = ()  # names of the metrics that lead the report
    credits: ClassVar[Sequence[tuple[str, str]]] = ()  # (picture, its licence and its origin)
    cuts: ClassVar[Sequence[str]] = ("category",)  # columns the report draws bars by

    revision: str = ""  # of the data; `run` puts it in the manifest
    notices: Sequence[str] = ()  # what the reader must know about the data, said once
    roles: Mapping[str, Sequence[str]] = {}  # models that made the data: "generator", "verifier"
    given: Mapping[str, Any] = {}  # the options it was made with, for the manifest

    def items(self) -> Iterator[Item]:
        """Yield the items, in a fixed order, as a stream. Called more than once a run."""
        raise NotImplementedError

    def total(self) -> int | None:
        """Say how many items there are, where that is known without a walk (for progress)."""
        return None

    def prompt(self, item: Item) -> tuple[Message, ...]:
        """Build what is asked: by default the images, then the question."""
        return (Message("user", (*item.images, item.question)),)

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read a complete reply off, once for each name in `readings`."""
        raise NotImplementedError

    def right(self, item: Item, reading: Reading) -> bool:
        """Hold a reading against the truth: by default the answer itself, or abstaining."""
        if not item.answerable:
            return reading.state is State.ABSTAINED
        return reading.state is State.ANSWERED and reading.answer in (item.answer, *item.accept)

    def judge(self, item: Item, text: str) -> dict[str, Judged]:
        """Read a reply and hold each reading against the truth."""
        return {
            name: Judged(reading=reading, right=self.right(item, reading))
            for name, reading in self.read(item, text).items()
        }

    @classmethod
    def rates(cls, outcomes: pl.DataFrame) -> Iterable[Measurable]:
        """Declare what is measured, over the outcome columns (see `outcomes.row`).

        It needs nothing but the columns, so that runs whose data are elsewhere can be compared.
        """
        raise NotImplementedError

    @classmethod
    def measure(cls, outcomes: pl.DataFrame, *, draws: int = 10_000, seed: int = 0) -> list[Metric]:
        """Work out what `rates` declares, with `draws` bootstrap resamples seeded by `seed`."""
        return [metric for part in cls.rates(outcomes) for metric in part.metrics(draws, seed)]
