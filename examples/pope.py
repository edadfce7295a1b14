"""POPE: does the model say yes to objects that are not there?

Li et al. 2023, "Evaluating Object Hallucination in Large Vision-Language Models" (EMNLP 2023,
arXiv:2305.10355). Six yes/no questions an image, three about objects that are there and three about
objects that are not, picked at random, by how common they are (popular), or by how often they occur
with what is there (adversarial). Reported in each setting: accuracy, precision, recall and F1 of
"yes", and the share of replies that are yes. The files are `coco_pope_random.json` and its two
siblings (RUCAIBox/POPE, output/coco), the images COCO's val2014.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.reading import read_yes_no
from hardset.records import Image, Item, Reading, State
from hardset.sources.rows import read_rows

if TYPE_CHECKING:
    import polars as pl

    from hardset.metrics import Measurable

SETTINGS = ("random", "popular", "adversarial")


class Pope(Benchmark):
    """The three settings, over the published images.

    Args:
        data: the folder of the three files, or one file.
        images: the folder of COCO's val2014 images.
    """

    name = "pope"
    title = "POPE"
    paper = "https://arxiv.org/abs/2305.10355"
    readings = ("default", "paper")
    headline: ClassVar = ("accuracy", "precision", "recall", "F1", "yes ratio")
    cuts: ClassVar = ("setting",)

    def __init__(self, data: Path, images: Path) -> None:
        self.files = sorted(data.glob("*pope*.json")) if data.is_dir() else [data]
        if not self.files:
            raise UsageError(f"pope: {data} holds no file like coco_pope_random.json")
        self.images = images
        self.revision = ", ".join(file.name for file in self.files)

    def items(self) -> Iterator[Item]:
        """Yield the questions, file by file."""
        for file in self.files:
            setting = next((name for name in SETTINGS if name in file.name), file.stem)
            for where, row in read_rows(file):
                if row.get("label") not in ("yes", "no"):
                    raise UsageError(f"{where}: label is {row.get('label')!r}, not yes or no")
                yield Item(
                    id=f"{setting}/{row['question_id']}",
                    question=row["text"],
                    images=(Image(where=str(self.images / row["image"])),),
                    form="yes_no",
                    answer=row["label"],
                    category=setting,
                    tags={"setting": setting, "image": row["image"]},
                )

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read yes or no; beside it, as the authors' script: no if any word of the start is one."""
        words = re.sub(",", "", text.split(".")[0]).split(" ")
        answer = "no" if {"No", "no", "not"} & set(words) else "yes"
        paper = Reading(state=State.ANSWERED, answer=answer, rule="paper: no, not, else yes")
        return {"default": read_yes_no(text, item.question), "paper": paper}

    @classmethod
    def rates(cls, outcomes: pl.DataFrame) -> Iterator[Measurable]:
        """Declare the five rates, overall and by setting; rows of one image are one cluster."""
        import polars as pl

        from hardset.metrics import Rates, Ratio, accuracy

        for reading in cls.readings:
            which = "" if reading == "default" else f"{reading}_"
            yes, there = pl.col(f"{which}answer") == "yes", pl.col("gold") == "yes"
            both, either = (yes & there).cast(int), yes.cast(int) + there.cast(int)
            ratios = [
                accuracy(which.rstrip("_")),
                Ratio(name="precision", top=both, bottom=yes, about="there / said yes"),
                Ratio(name="recall", top=both, bottom=there, about="said yes / there"),
                Ratio(
                    name="F1", top=2 * both, bottom=either, about="of yes: 2TP / (2TP + FP + FN)"
                ),
                Ratio(name="yes ratio", top=yes, bottom=pl.lit(1), better="", about="yes / rows"),
            ]
            cuts = ((), ("setting",))
            yield Rates(frame=outcomes, ratios=ratios, cluster="image", by=cuts, reading=reading)
