"""HARDBench: does a model notice that the image does not support the question?

HARDBench (the benchmark that comes with Rotus). Vision agents tuned with reinforcement learning
tend to answer everything, even where what they looked at shows that there is nothing to answer.
Each unanswerable question was made from a real, answerable one by changing one component of it,
an object, a relation or an attribute, so that the image no longer supports it; `pair_id` ties
the two together.

What is measured. Unanswerable is the positive class, and to refuse is to predict it; a reply
refuses if it says so, or if it names what the question takes for granted as absent. The authors'
rates are given under their names and computed as theirs: `acc`, `precision`, `recall`, `F1`,
`overall_acc`. They leave rows with an empty reply out, and `overall_acc` counts a wrong answer to
an answerable question as right; always refusing a set that is half unanswerable gets F1 = 2/3.
So beside them stand, over all rows:

    answerable accuracy = right answers / answerable rows (a refusal is wrong)
    over-refusal        = refused / answerable rows
    refusal precision, recall and F1, with failed rows in the denominators
    paired accuracy     = pairs with both questions handled right / pairs, and the other three
                          cells of the 2x2: original only, edited only, neither

by edit, by source of the image and by wording of the prompt. Rows that share a pair or an image
are one cluster of every interval. Always refusing has paired accuracy 0. Where replies come with
a confidence, selective prediction is measured too.

Who decides. The rules of this program do (reading `default`), and with a judge, as in the paper, a
text model too (reading `judge`): was the reply a refusal, asked of every row, and does it match the
reference, asked of answerable ones. Refusals of unanswerable questions are then graded, 1 to 5, by
a judge that sees the picture and is told why the question fails: naming what is missing earns 3,
saying what the question takes for granted and why it fails earns 5. A row without the verdict it
needs is in none of the judge's rates; how many there are is said beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec.structs import replace

from hardset.benchmarks.declaration import Benchmark
from hardset.benchmarks.hardbench_rows import (
    LICENCE,
    Folders,
    check_columns,
    read_file,
    read_items,
)
from hardset.errors import UsageError
from hardset.reading import read_match
from hardset.records import Item, Message, Reading
from hardset.sources.embedded import holds_pictures
from hardset.sources.hardbench_images import IMAGES
from hardset.sources.hub import Hub, on_the_hub, resolve
from hardset.sources.pictures import ImageSource, fetched_pictures

if TYPE_CHECKING:
    import polars as pl

    from hardset.metrics import Measurable

SPLITS = ("train", "validation", "test", "realx", "vstar")
WORDINGS: Mapping[str, str] = {
    "plain": "",
    "refusal-allowed": "If the image does not show what the question asks about, say so.",
    "chain-of-thought": "Think step by step about what the image shows. Then give the final "
    'answer alone on the last line, as "Final answer: ...".',
}


NO_PICTURES = (
    "hardbench needs its pictures: `hardset fetch hardbench --images` gets some and says how to "
    "get the rest; pass --images DIR with a folder for each source, or --blind to ask without them"
)


class HARDBench(Benchmark):
    """Answerable questions and their unanswerable edits, over the published images or blind.

    Args:
        data: a parquet or JSON Lines file with the published columns (question, answer, image,
            data_source, is_unanswerable; original_question, modifications and pair_id, which ties a
            question to its edit, may be null), a folder of such files, or a hub id; by default the
            published set. Pictures may also stand in the rows of parquet.
        split: which of the five.
        images: a folder with a folder for each `data_source` (or the images themselves); if not
            given, where `hardset fetch hardbench --images` put them.
        images_from: folders by source, "pixmo-count=/a,tallyqa=/b"; they go before `images`.
        prompt: "plain" is the question alone, "refusal-allowed" invites a refusal where it is due,
            "chain-of-thought" asks for the reasoning first.
        blind: no image is sent, so that no folder is needed: what is left is what the wording
            gives away.
        revision: of the hub's data: a branch, tag or commit instead of the newest.

    Raises:
        UsageError: not the published columns, no such split, or neither images nor blind.
    """

    name = "hardbench"
    title = "HARDBench"
    paper = "https://huggingface.co/datasets/hyeminboo/HARDBench"
    hub = Hub("hyeminboo/HARDBench", licence=LICENCE)
    image_sources: ClassVar[Mapping[str, ImageSource]] = IMAGES
    rubrics: ClassVar[Sequence[str]] = ("refused", "matches-reference", "refusal-rationality")
    headline: ClassVar[Sequence[str]] = (
        "paired accuracy",
        "answerable accuracy",
        "over-refusal",
        "refusal F1",
        "acc",
        "F1",
        "overall_acc",
    )
    cuts: ClassVar[Sequence[str]] = ("edit", "data_source")

    def __init__(
        self,
        data: Path | None = None,
        split: Literal["train", "validation", "test", "realx", "vstar"] = "test",
        images: Path | None = None,
        images_from: str = "",
        prompt: Literal["plain", "refusal-allowed", "chain-of-thought"] = "plain",
        blind: bool = False,
        revision: str = "",
    ) -> None:
        for what, value, allowed in (
            ("split", split, SPLITS),
            ("prompt", prompt, tuple(WORDINGS)),
        ):
            if value not in allowed:
                raise UsageError(f"hardbench: {what} cannot be {value!r}; use {', '.join(allowed)}")
        if not blind and images is None:
            images = fetched_pictures(self.name)
        seeing = blind or images is not None or bool(images_from)
        if not seeing and on_the_hub(data):
            raise UsageError(NO_PICTURES)  # before anything is fetched
        snapshot = resolve(data, self.hub, revision)
        files = snapshot.split(split)
        for file in files:
            check_columns(next(read_file(file, snapshot.revision), None))
        if not seeing and not any(holds_pictures(file, "image") for file in files):
            raise UsageError(NO_PICTURES)
        folders = None if blind else Folders(images, images_from)
        rows = chain.from_iterable(read_file(file, snapshot.revision) for file in files)
        found = read_items(rows, split, prompt, folders)
        if not found.items:
            raise UsageError(f"hardbench: {', '.join(map(str, files))} holds no rows")
        # What stands in a file of one's own is not the authors', though it has their columns.
        self._items = [
            item if on_the_hub(data) else replace(item, source=Path(str(data)).name, licence="")
            for item in found.items
        ]
        self._wording = WORDINGS[prompt]
        self.revision = snapshot.revision
        self.notices = [*filter(None, [snapshot.notice]), *found.notices]

    def items(self) -> Iterator[Item]:
        """Yield the questions in the order of the split."""
        return iter(self._items)

    def total(self) -> int:
        """Return how many questions there are."""
        return len(self._items)

    def prompt(self, item: Item) -> tuple[Message, ...]:
        """Build what is asked: the image, then the question as published and the wording."""
        asked = "\n".join(text for text in (item.question, self._wording) if text)
        return (Message("user", (*item.images, asked)),)

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read by the rules whether a reply refuses, and whether its answer is the reference."""
        accepted = (item.answer, *item.accept) if item.answerable else ()
        return {"default": read_match(text, accepted, item.question)}

    @classmethod
    def rates(cls, outcomes: pl.DataFrame) -> Iterator[Measurable]:
        """Declare the authors' rates and the honest ones, for every reading that there is."""
        import polars as pl

        from hardset.metrics import (
            JUDGE,
            Rates,
            connected,
            pair_cells,
            pair_up,
            paired_accuracy,
            published_ratios,
            refusal_grade,
            refusal_ratios,
            verdicts_given,
        )
        from hardset.metrics.selective import CONFIDENCE, Selective

        columns = ("edit", "data_source", "wording")
        cuts = ((), *((column,) for column in columns))
        every = outcomes.with_columns(connected(outcomes, ["pair", "picture"]))
        judged = [JUDGE] if f"{JUDGE}_state" in outcomes.columns else []
        for reading in (*cls.readings, *judged):
            which = "" if reading == cls.readings[0] else reading
            right = f"{which}_right" if which else "right"
            told = every.filter(pl.col(right).is_not_null())  # judges may give no verdict
            pairs = pair_up(
                told, first="original", second="edited", columns=[right], keep=["cluster", *columns]
            )
            both = [paired_accuracy(right), *pair_cells(right, "original", "edited")]
            each = [*refusal_ratios(which), *published_ratios(which)]
            for frame, ratios in ((pairs.sound, both), (every, each)):
                yield Rates(frame=frame, ratios=ratios, cluster="cluster", by=cuts, reading=reading)
            if reading == JUDGE:
                yield Rates(
                    frame=every, ratios=[verdicts_given()], cluster="cluster", reading=reading
                )
                if "verdict_refusal-rationality" in every.columns:
                    yield Rates(
                        frame=every,
                        ratios=[refusal_grade()],
                        cluster="cluster",
                        by=cuts,
                        reading=reading,
                    )
            if CONFIDENCE in told.columns:
                yield Selective(
                    frame=told, cluster="cluster", by=cuts, reading=reading, prefix=which
                )
