"""MMOOC: does a model refuse what the image cannot support, and still answer what it can?

MMOOC (multimodal out-of-context questions; announced on 31 July 2026) asks for two abilities at
once. Out of context (OOC), five shifts leave nothing that could be answered: the image or the
question is ambiguous (MA), the question presumes what is not there (VFP), or asks for depth,
support or motion that no picture shows (USPC), for symbols and rules that are missing or
unreadable (ULS), for names, places and dates that are not in it (MKB). In context (IC), three
shifts leave a right answer: beside a misleading premise (MP), beside a part that cannot be
answered (PA), beside a caption or question that does not fit the image (IQM). A program makes
more rows out of context by putting people's questions beside images of MME, MMStar and OK-VQA:
Auto-Shuffle. Each question is yes or no, multiple choice or open, in one of six scenarios.

The rows. The data set's files were not public at the time of writing, so the record is ours:

    id, image, question, format (yes_no, choice, open), options, answer, explanation,
    group (ooc, ic), shift (MA, VFP, USPC, ULS, MKB; MP, PA, IQM), scenario,
    source (generated, human, shuffle)

and, where they are told, `generator` and `verifiers` (names of models), `accept` (other right
answers), `supported` and `unsupported` (the parts of PA: what answers the one, and what the other
is). Fields and values may be spelt otherwise; `mmooc_names` holds the spellings.

What is measured, by the rules of this program (reading `default`) and by judges (`judge`):

    OOC refusal rate = refused / rows out of context
    IC accuracy      = right / rows in context;   over-refusal = refused / rows in context
    refusal rationality = mean of (grade - 1) / 4 over rows out of context, 0 where not refused
    answer rationality  = mean of (grade - 1) / 4 over rows in context, 0 where not answered
    OOC score = mean of refusal rate and refusal rationality
    IC score  = mean of accuracy and answer rationality

by shift, format, scenario and origin, and by format and scenario within each shift. The OOC rates
are over the five shifts, as the published count of 20,664 rows is; Auto-Shuffle's 8,920 are a
slice of their own, and a second rate beside the first counts both together. Rationality is judged
only, on a scale from 1 to 5. Always refusing has an IC accuracy of 0, never refusing an OOC
refusal rate of 0. Rows about one image are one cluster of every interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from hardset.benchmarks.declaration import Benchmark, Opener
from hardset.benchmarks.hardbench import WORDINGS
from hardset.benchmarks.mmooc_reading import read
from hardset.benchmarks.mmooc_rows import RECORD, Told, make_item, read_rows
from hardset.benchmarks.photos import Photos
from hardset.benchmarks.scenes import Scenes
from hardset.errors import UsageError
from hardset.records import Item, Message, Reading
from hardset.sources.hub import Hub, Snapshot, resolve

if TYPE_CHECKING:
    import polars as pl

    from hardset.metrics import Measurable

EMBEDDED = {"scenes": "generated", "photos": "human"}
"""The benchmarks that hold items of this kind, and the origin of these."""
NO_DATA = (
    "mmooc needs --data: the data set's files were not public when this was written. Give a file, "
    f"a folder or a hub id with rows of {RECORD}; or try it on embedded items with --data scenes "
    "or --data photos"
)
NO_PICTURES = (
    "mmooc needs its pictures: none of the rows' images is in {folder}; pass --images DIR with the "
    "folder that their paths begin in, or --blind to ask without them"
)


class MMOOC(Benchmark):
    """Questions whose context has shifted: to be refused, or to be answered all the same.

    Args:
        data: a file (parquet, JSON Lines, JSON, CSV or TSV) or folder with rows of the record, or
            a hub id; or `scenes` or `photos`, for the embedded items of this kind.
        images: the folder that the rows' image paths begin in; if not given, that of the data.
            Pictures may also stand in the rows of parquet.
        prompt: "plain" is the question with its options, "refusal-allowed" invites a refusal where
            it is due, "chain-of-thought" asks for the reasoning first.
        blind: no image is sent, so that no folder is needed.
        revision: of the hub's data: a branch, tag or commit instead of the newest.
        n: how many items of `scenes`; 24 have every shift in every format once.

    Raises:
        UsageError: no data, a row that contradicts itself, or neither images nor blind.
    """

    name = "mmooc"
    title = "MMOOC"
    rubrics: ClassVar[Sequence[str]] = (
        "refused",
        "matches-reference",
        "answer-rationality",
        "refusal-rationality",
        "partial-answerability",
        "mismatch-noticed",
    )
    openers: ClassVar[Mapping[str, Opener]] = {**Scenes.openers, **Photos.openers}
    headline: ClassVar[Sequence[str]] = (
        "OOC refusal rate",
        "IC accuracy",
        "over-refusal",
        "OOC refusal rate, Auto-Shuffle",
        "OOC score",
        "IC score",
        "refusal rationality",
        "answer rationality",
    )
    cuts: ClassVar[Sequence[str]] = ("shift", "format", "scenario", "origin")

    def __init__(
        self,
        data: str | None = None,
        images: Path | None = None,
        prompt: Literal["plain", "refusal-allowed", "chain-of-thought"] = "plain",
        blind: bool = False,
        revision: str = "",
        n: int = 240,
    ) -> None:
        if data is None:
            raise UsageError(NO_DATA)
        if prompt not in WORDINGS:
            raise UsageError(f"mmooc: prompt cannot be {prompt!r}; use {', '.join(WORDINGS)}")
        if images is not None and not images.is_dir():
            raise UsageError(f"mmooc: {images}, given for its images, is not a folder")
        self._wording, self._blind = WORDINGS[prompt], blind
        self._embedded = _embedded(str(data), n)
        self.roles: Mapping[str, Sequence[str]] = {}
        if self._embedded is not None:
            self.revision = self._embedded.revision
            self.notices = self._embedded.notices
            self._total = sum(1 for _ in self._embedded.items())
            return
        self._snapshot = resolve(data, Hub(""), revision)
        self._images = None if blind else images or self._snapshot.root or Path()
        told = Told()
        for _ in self._rows(told):  # every row is looked at before any is asked about
            pass
        self._total = told.rows
        if not told.rows:
            raise UsageError(f"mmooc: {data} holds no rows")
        if len(told.lost) == told.rows:
            raise UsageError(NO_PICTURES.format(folder=self._images))
        self.revision = self._snapshot.revision
        self.notices = [*filter(None, [self._snapshot.notice]), *told.notices()]
        self.roles = {role: sorted(names) for role, names in told.roles.items() if names}

    def items(self) -> Iterator[Item]:
        """Yield the questions in the order of the rows, which are read anew and never all held."""
        if self._embedded is None:
            return self._rows(Told(again=True))
        origin = EMBEDDED[self._embedded.name]
        return (_as_row(item, origin, self._blind) for item in self._embedded.items())

    def total(self) -> int:
        """Return how many questions there are."""
        return self._total

    def prompt(self, item: Item) -> tuple[Message, ...]:
        """Build what is asked: the image, the question with its options, and the wording."""
        lettered = [f"{chr(65 + i)}. {text}" for i, text in enumerate(item.choices)]
        lines = [item.question, *lettered, self._wording]
        return (Message("user", (*item.images, "\n".join(filter(None, lines)))),)

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read the reply by its format: in context for the answer, out of it for a refusal."""
        return {"default": read(item, text, lambda reading: self.right(item, reading))}

    @classmethod
    def rates(cls, outcomes: pl.DataFrame) -> Iterator[Measurable]:
        """Declare the scores by the rules and, where there are verdicts, by the judges."""
        from hardset.benchmarks.mmooc_rates import rates

        yield from rates(outcomes)

    def _rows(self, told: Told) -> Iterator[Item]:
        snapshot: Snapshot = self._snapshot
        number = 0
        for file in snapshot.files:
            for row in read_rows(file, snapshot.revision):
                yield make_item(row, number, self._images, snapshot.revision, told)
                number += 1


def _embedded(data: str, n: int) -> Scenes | Photos | None:
    """Make the benchmark that holds items of this kind, if `data` is the word for one."""
    if data == "scenes":
        return Scenes(n=n, kinds="mmooc")
    return Photos(kinds="mmooc") if data == "photos" else None


def _as_row(item: Item, origin: str, blind: bool) -> Item:
    """Give an embedded item what a row of the record has besides."""
    tags = {name: item.tags[name] for name in ("shift", "format", "scenario")}
    tags |= {"origin": origin, "picture": item.tags["scene"]}
    return msgspec.structs.replace(item, tags=tags, images=() if blind else item.images)
