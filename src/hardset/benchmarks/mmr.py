"""MMR: does a leading question talk the model out of what it sees?

"Seeing Clearly, Answering Incorrectly: A Multimodal Robustness Benchmark for Evaluating MLLMs on
Leading Questions" (Liu et al. 2024, arXiv:2406.10638). 300 images, each with a positive and a
negative (leading) question of four options. The positive one shows whether the model sees the
fact; the negative one whether a leading wording misleads it all the same.

    RA, robustness accuracy = pairs with both right / pairs
    MR, misleading rate     = pairs with positive right, negative wrong / pairs with positive right
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.reading import read_choice
from hardset.records import Image, Item, Message, Reading, State
from hardset.sources.hub import Hub, resolve
from hardset.sources.pictures import ImageSource, fetched_pictures
from hardset.sources.rows import Row, read_rows

if TYPE_CHECKING:
    import polars as pl

    from hardset.metrics import Measurable

LETTERS = "ABCD"
SUFFIX = "\nAnswer with the option's letter from the given choices directly."
FIELDS = ("id", "image", "question", "ground_truth", "question_type")


class MMR(Benchmark):
    """The published questions, over the published images or blind.

    Args:
        data: the benchmark file, `MMR-benchmark.json`, or a hub id; by default the published set.
        images: the folder of its images (`character/character/01.jpg` is in it); by default where
            `hardset fetch mmr --images` put them.
        revision: a branch, tag or commit of the data set on the hub, instead of the default.
        blind: no image is sent, so that no folder is needed: what is left is what the wording
            gives away.

    Raises:
        UsageError: a file that is not the benchmark's, or neither images nor blind.
    """

    name = "mmr"
    title = "MMR"
    paper = "https://arxiv.org/abs/2406.10638"
    hub = Hub(
        "BAAI/Multimodal-Robustness-Benchmark",
        files=("**/MMR-benchmark.json",),
        licence="Apache-2.0",
    )
    image_sources: ClassVar[Mapping[str, ImageSource]] = {
        "": ImageSource(
            "MMR",
            "Apache-2.0",
            repo="BAAI/Multimodal-Robustness-Benchmark",
            fetchable=True,
            archives=("**/*images*.zip",),  # the set's training images are in others
        )
    }
    readings = ("default", "paper")
    headline: ClassVar[Sequence[str]] = ("RA", "MR", "POS accuracy", "NEG accuracy", "accuracy")
    cuts: ClassVar[Sequence[str]] = ("level", "category")

    def __init__(
        self,
        data: Path | None = None,
        images: Path | None = None,
        blind: bool = False,
        revision: str = "",
    ) -> None:
        if images is None and not blind:
            images = fetched_pictures(self.name)
        if images is None and not blind:
            raise UsageError(
                "mmr needs its pictures: get them with `hardset fetch mmr --images`, pass "
                "--images DIR, or --blind to ask without them"
            )
        if images is not None and not Path(images).is_dir():
            raise UsageError(f"mmr: --images {images} is not a folder")
        found = resolve(data, self.hub, revision)
        rows = chain.from_iterable(read_rows(file) for file in found.files)
        self._items = _items(rows, None if images is None else Path(images))
        if not self._items:
            raise UsageError(f"{found.files[0]} holds no rows")
        self.revision = found.revision
        self.notices = _notices(self._items)

    def items(self) -> Iterator[Item]:
        """Yield the questions in the order of the file."""
        return iter(self._items)

    def total(self) -> int:
        """Return how many questions there are."""
        return len(self._items)

    def prompt(self, item: Item) -> tuple[Message, ...]:
        """Build what the authors ask: the file's own question, options inside, and their suffix."""
        return (Message("user", (*item.images, item.question + SUFFIX)),)

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read a reply by this program's reader and, to compare with the paper, by its authors'."""
        return {"default": read_choice(text, item.choices), "paper": read_as_paper(text)}

    @classmethod
    def rates(cls, outcomes: pl.DataFrame) -> Iterator[Measurable]:
        """Declare RA and MR over the sound pairs, accuracy over all rows, for both readings."""
        import polars as pl

        from hardset.metrics import (
            Rates,
            Ratio,
            accuracy,
            misleading_rate,
            pair_up,
            robustness_accuracy,
        )

        cuts = ((), ("level",), ("category",))
        for reading in cls.readings:
            which = "" if reading == cls.readings[0] else reading
            right = f"{which}_right" if which else "right"
            pairs = pair_up(
                outcomes, first="POS", second="NEG", columns=[right], keep=["level", "category"]
            )
            paired = [robustness_accuracy(right), misleading_rate(right)]
            yield Rates(frame=pairs.sound, ratios=paired, cluster="pair", by=cuts, reading=reading)
            single = [
                Ratio(
                    name=f"{role} accuracy",
                    top=pl.col(right) & (pl.col("role") == role),
                    bottom=pl.col("role") == role,
                    about=f"right / {role} questions; failed and unparsed rows count as wrong",
                )
                for role in ("POS", "NEG")
            ]
            single.append(accuracy(which))
            yield Rates(frame=outcomes, ratios=single, cluster="pair", by=cuts, reading=reading)


def read_as_paper(text: str) -> Reading:
    """Read a reply as the authors' script does, faults and all.

    Of what stands before the first full stop, commas made blanks and split at blanks: A if one
    piece is "A", else B, C, D in turn, else E (no option, so `unparsed` here).
    Source: the evaluation script of the paper's repository.
    """
    head = text.partition(".")[0]
    pieces = head.replace(",", " ").split(" ")
    for letter in LETTERS:
        if letter in pieces:
            rule = "paper: the first of A to D among the words"
            return Reading(state=State.ANSWERED, answer=letter, rule=rule, evidence=head[:200])
    return Reading(state=State.UNPARSED, rule="paper: none, which counts as E", evidence=head[:200])


_LINE_MARK = re.compile(r"^[ \t]*([A-D])[ \t]*[.):][ \t]*", re.MULTILINE)


def split_options(question: str) -> dict[str, str]:
    """Return the four options that stand inside a question, by letter, as the file has them.

    Options begin lines in most questions, not always in the order A to D. In the others they
    follow on one line, in that order; a mark may lack its full stop ("B The Merchant of Venice").

    Raises:
        ValueError: there are not exactly four options, A to D, each with a text.
    """
    marks = [(match[1], match.start(), match.end()) for match in _LINE_MARK.finditer(question)]
    if sorted(letter for letter, _, _ in marks) != list(LETTERS):
        marks = _marks_in_line(question)
    ends = [start for _, start, _ in marks[1:]] + [len(question)]
    options = {
        letter: question[start:end].strip()
        for (letter, _, start), end in zip(marks, ends, strict=True)
    }
    empty = [letter for letter, option in options.items() if not option]
    if empty:
        raise ValueError(f"option {', '.join(empty)} has no text")
    return options


def _marks_in_line(question: str) -> list[tuple[str, int, int]]:
    """Find A to D in turn: a mark with its full stop if there is one, else the bare letter."""
    marks = []
    at = 0
    for letter in LETTERS:
        found = re.compile(rf"(?<!\S){letter}\.\s*").search(question, at) or re.compile(
            rf"(?<!\S){letter}\s+"
        ).search(question, at)
        if found is None:
            raise ValueError(f"there is no option {letter}")
        marks.append((letter, found.start(), found.end()))
        at = found.end()
    return marks


def _items(rows: Iterator[Row], images: Path | None) -> list[Item]:
    """Turn the rows into items; ids are made unique by the role and, where it recurs, a number."""
    items: list[Item] = []
    seen: dict[tuple[str, str, str], str] = {}
    members: Counter[str] = Counter()
    for where, fields in rows:
        ident, image, question, gold, role = (_text(where, fields, name) for name in FIELDS)
        parts = ident.split("/")
        if len(parts) != 3 or not all(parts):
            raise UsageError(f"{where}: id {ident!r} is not level/category/number")
        if gold not in tuple(LETTERS):
            raise UsageError(f"{where}: ground_truth is {gold!r}, not one of A, B, C, D")
        if role not in ("POS", "NEG"):
            raise UsageError(f"{where}: question_type is {role!r}, not POS or NEG")
        before = seen.setdefault((ident, role, question), where)
        if before != where:
            raise UsageError(f"{where}: the same question as {before} ({ident} {role})")
        try:
            options = split_options(question)
        except ValueError as error:
            raise UsageError(f"{where}: question does not hold four options: {error}") from error
        name = f"{ident}#{role}"
        members[name] += 1
        if members[name] > 1:
            name += f"-{members[name]}"
        items.append(
            Item(
                id=name,
                question=question,
                images=() if images is None else (_image(where, images, image),),
                form="choice",
                choices=tuple(options[letter] for letter in LETTERS),
                answer=gold,
                category=parts[1],
                tags={"level": parts[0]},
                pair=ident,
                role=role,
                source=MMR.hub.repo,
                licence=MMR.hub.licence,
            )
        )
    return items


def _text(where: str, fields: dict[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        what = "is missing" if value is None else f"is {value!r}, not a text"
        raise UsageError(f"{where}: {name} {what}; a row has {', '.join(FIELDS)}")
    return value


def _image(where: str, folder: Path, name: str) -> Image:
    """Name the image's file. A missing one is its row's `bad-media`, found when it is sent."""
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or ".." in path.parts or ":" in path.parts[0]:
        raise UsageError(f"{where}: image {name!r} is not a path inside the image folder")
    return Image(where=str(folder / path))


def _notices(items: Sequence[Item]) -> list[str]:
    """Say once which pairs are broken, and how their questions count."""
    roles: dict[str, list[str]] = {}
    for item in items:
        roles.setdefault(item.pair, []).append(item.role)
    broken = {pair: have for pair, have in roles.items() if sorted(have) != ["NEG", "POS"]}
    if not broken:
        return []
    named = "; ".join(f"{pair} ({', '.join(have)})" for pair, have in list(broken.items())[:5])
    more = f" and {len(broken) - 5} more" if len(broken) > 5 else ""
    verb = "is" if len(broken) == 1 else "are"
    return [
        f"{len(broken)} of {len(roles)} pairs {verb} not one positive and one negative question: "
        f"{named}{more}. RA and MR are over the {len(roles) - len(broken)} sound pairs; the "
        "questions of the others count in accuracy and in the states."
    ]
