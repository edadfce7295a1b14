"""MM-UPD: does the model withhold an answer exactly where there is none?

Miyai et al. 2024, "Unsolvable Problem Detection" (arXiv:2403.20331). Each question comes in its
standard form and in one that cannot be solved: the right option is taken away (AAD), or all options
(IASD), or the image (IVQD), are of another question. *Dual accuracy* counts a question if the
standard form is answered and the unsolvable one withheld, in every rotation of its options (rows
whose index is the same modulo a million). Files: `mmaad_20240303_base.tsv` and the like, of the
hub's MM-UPD/MM-UPD.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from hardset.benchmarks.declaration import Benchmark
from hardset.reading import read_choice, same_answer
from hardset.records import Image, Item, Message, Reading, State
from hardset.sources.hub import digest
from hardset.sources.rows import read_rows

if TYPE_CHECKING:
    import polars as pl

    from hardset.metrics import Measurable

WORDS = {
    "base": "",
    "letter": "Answer with the option's letter from the given choices directly.",
    "instruction": "If all the options are wrong, or the image does not fit the question, say so.",
}
NONE = ("", "nan", "none")  # how the files write an option that is not there


class MMUPD(Benchmark):
    """The questions of one file, standard and unsolvable.

    Args:
        data: a file of MM-UPD, with the columns index, question, A to E, answer, type and image.
        setting: what is added to the question.
    """

    name = "mm-upd"
    title = "MM-UPD"
    paper = "https://arxiv.org/abs/2403.20331"
    headline: ClassVar = ("dual accuracy", "standard accuracy", "UPD accuracy")

    def __init__(
        self, data: Path, setting: Literal["base", "letter", "instruction"] = "base"
    ) -> None:
        self.data, self.words = data, WORDS[setting]
        self.revision = f"{data.name}, sha256 {digest(data)[:16]}"

    def items(self) -> Iterator[Item]:
        """Yield the questions as a stream: images are in the rows, and are not all held."""
        for _, row in read_rows(self.data):
            options = [str(row.get(letter) or "") for letter in "ABCDE"]
            options = [option for option in options if option.lower() not in NONE]
            index, hint = int(row["index"]), str(row.get("hint") or "")
            solvable = row["type"] == "standard"
            none = str(row["answer"]) if row["answer"] in list("ABCDE")[: len(options)] else ""
            yield Item(
                id=f"{row['type']}/{index}",
                question=row["question"] if hint.lower() in NONE else f"{hint}\n{row['question']}",
                images=(Image(where=f"data:;base64,{row['image']}"),),
                form="choice",
                choices=tuple(options),
                answer=none,  # of an unsolvable question: the option that says so, if there is one
                accept=(str(row.get("masked_answer") or ""),),
                answerable=solvable,
                category=str(row.get("category") or ""),
                pair=str(index % 1_000_000),
                role="standard" if solvable else "upd",
            )

    def prompt(self, item: Item) -> tuple[Message, ...]:
        """Build what is asked: the image, the question, the options, the setting's words."""
        options = [f"{chr(65 + i)}. {text}" for i, text in enumerate(item.choices)]
        lines = [line for line in (item.question, *options, self.words) if line]
        return (Message("user", (*item.images, "\n".join(lines))),)

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read a letter, or that it was withheld; naming the option taken away is as good."""
        reading = read_choice(text, item.choices)
        gone = item.accept[0]
        if not item.answerable and gone and same_answer(text, gone):
            reading = Reading(state=State.ABSTAINED, rule="the option taken away", evidence=gone)
        return {"default": reading}

    def right(self, item: Item, reading: Reading) -> bool:
        """Hold a reading against the truth: withheld in words, or by the option that says so."""
        as_gold = reading.state is State.ANSWERED and reading.answer == item.answer != ""
        return as_gold or (not item.answerable and reading.state is State.ABSTAINED)

    @classmethod
    def rates(cls, outcomes: pl.DataFrame) -> Iterator[Measurable]:
        """Declare the three accuracies over questions: all rotations of a form must be right."""
        import polars as pl

        from hardset.metrics import Rates, Ratio

        right, standard = pl.col("right"), pl.col("role") == "standard"
        questions = outcomes.group_by("pair", "repeat", maintain_order=True).agg(
            standard=right.filter(standard).all() & standard.any(),
            upd=right.filter(~standard).all() & (~standard).any(),
            category=pl.col("category").first(),
        )
        ratios = [
            Ratio(name=f"{name} accuracy", top=top, bottom=pl.lit(1), about=about)
            for name, top, about in (
                ("dual", pl.col("standard") & pl.col("upd"), "both forms right / questions"),
                ("standard", pl.col("standard"), "standard form right / questions"),
                ("UPD", pl.col("upd"), "unsolvable form withheld / questions"),
            )
        ]
        yield Rates(frame=questions, ratios=ratios, cluster="pair", by=((), ("category",)))
