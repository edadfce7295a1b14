"""ZeroBench: questions that no model could answer at release, and the steps towards them.

"ZeroBench: An Impossible Visual Benchmark for Contemporary Large Multimodal Models", Roberts et
al. 2025 (arXiv:2502.09696). Each main question takes several steps of looking and reasoning over
one to three pictures; its subquestions are such steps. Pictures are sent first and as published,
however large: what a provider forces to be changed is written down with its reply.

Sampling. At release every model was asked once greedily (pass@1), and five times with temperature
0.7 and top-p 0.95 (pass@5, and 5 of 5 right, which is pass^5). `hardset run zerobench --repeats 5`
does both, as two lines of one report.

What is measured, by two readings of the same replies. The official one lower-cases the reply,
takes what stands in its last `{...}` and holds it, character by character, against the lower-cased
gold answer. The lenient one, beside it, allows for spaces, currency, thousands commas, nested
braces and line breaks, and no more. A reply that is cut off by the token limit, or empty, is wrong;
both are also counted apart. For a question with c of n replies right, unbiased:

    pass@k = 1 - C(n-c, k) / C(n, k)     at least one of k replies is right
    pass^k = C(c, k) / C(n, k)           all of k replies are right
    subquestion score = mean over main questions of the mean over their subquestions

each the mean over main questions, with the main question as the cluster of every interval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar, Literal

from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.reading import read_braces_lenient, read_braces_official, same_lenient
from hardset.records import Image, Item, Judged, Message, Reading, Sampling, State
from hardset.sources.embedded import Picture, read_pictured
from hardset.sources.hub import Hub, Snapshot, resolve
from hardset.sources.rows import Row

if TYPE_CHECKING:
    import polars as pl

    from hardset.metrics import Measurable

MAIN, SUB = "zerobench", "zerobench_subquestions"
SUFFIX = (
    "\n\n\nLet's think step by step and give the final answer in curly braces, "
    "like this: {final answer}"
)
PICTURES, PATHS = "question_images_decoded", "question_images"
LONGEST = 16_384  # tokens: a step-by-step answer that is cut off is wrong
_SPLITS = {"main": (MAIN,), "sub": (SUB,), "all": (MAIN, SUB)}
_SUB_ID = re.compile(r"(.+)_\d+")


class ZeroBench(Benchmark):
    """Main questions and the subquestions that are steps towards them, several pictures each.

    Args:
        data: a parquet or JSON Lines file with the published columns, a folder of such files, or
            a hub id; by default the published set, whose terms are to be accepted on its page.
        split: the main questions, the subquestions, or all: each main question, then its own.
        images: the folder that the paths in `question_images` start from, for data that hold
            paths only; data that hold the pictures need none.
        blind: no picture is sent.
        revision: of the hub's data: a branch, tag or commit instead of the newest. Wordings differ
            between revisions, so a score goes with one.

    Raises:
        UsageError: not the published columns, no such split, or no pictures and not blind.
    """

    name = "zerobench"
    title = "ZeroBench"
    paper = "https://arxiv.org/abs/2502.09696"
    readings = ("official", "lenient")
    sampling = Sampling(temperature=0.0, max_tokens=LONGEST)
    sampled: ClassVar[Sampling] = Sampling(temperature=0.7, top_p=0.95, max_tokens=LONGEST)
    hub: ClassVar[Hub] = Hub("jonathan-roberts1/zerobench", gated=True)
    headline: ClassVar[Sequence[str]] = (
        "pass@1",
        "pass@5",
        "pass^5",
        "pass@n",
        "pass^n",
        "subquestion score",
        "truncated",
        "tokens out",
        "cost",
    )
    cuts: ClassVar[Sequence[str]] = ("category",)

    def __init__(
        self,
        data: str | None = None,
        split: Literal["main", "sub", "all"] = "all",
        images: Path | None = None,
        blind: bool = False,
        revision: str = "",
    ) -> None:
        if split not in _SPLITS:
            raise UsageError(f"zerobench: split cannot be {split!r}; use {', '.join(_SPLITS)}")
        if images is not None and not Path(images).is_dir():
            raise UsageError(f"zerobench: --images {images} is not a folder")
        snapshot = resolve(data, self.hub, revision)
        folder = None if images is None else Path(images)
        mains: dict[str, list[Item]] = {}
        seen: dict[str, str] = {}
        for file, part in _parts(snapshot, split):
            held = read_pictured(file, PICTURES, snapshot.revision, wanted=not (blind or folder))
            for row, pictures in held:
                item = _item(row, part, snapshot.licence)
                before = seen.setdefault(item.id, row.where)
                if before != row.where:
                    raise UsageError(f"{row.where}: question_id {item.id} is that of {before} too")
                if split in ("all", item.tags["part"]):
                    shown = () if blind else _images(row, pictures, folder)
                    whole = mains.setdefault(item.parent or item.id, [])
                    whole.insert(len(whole) if item.parent else 0, _with(item, shown))
        self._items = [item for group in mains.values() for item in group]
        if not self._items:
            raise UsageError(f"zerobench: {snapshot.revision} holds no rows of split {split}")
        self.revision = snapshot.revision
        self.notices = [*filter(None, [snapshot.notice]), *_notices(self._items, split, blind)]

    def items(self) -> Iterator[Item]:
        """Yield each main question and then its subquestions, in the order of the data."""
        return iter(self._items)

    def total(self) -> int:
        """Return how many questions there are, main ones and subquestions."""
        return len(self._items)

    def prompt(self, item: Item) -> tuple[Message, ...]:
        """Build what the authors ask: the pictures, the question and their instruction."""
        return (Message("user", (*item.images, item.question + SUFFIX)),)

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read what stands in the last braces, as the authors do and with sense."""
        return {"official": read_braces_official(text), "lenient": read_braces_lenient(text)}

    def judge(self, item: Item, text: str) -> dict[str, Judged]:
        """Hold each reading against the gold answer by its own rule."""
        return {
            name: Judged(reading=reading, right=_right(name, item, reading))
            for name, reading in self.read(item, text).items()
        }

    @classmethod
    def rates(cls, outcomes: pl.DataFrame) -> Iterator[Measurable]:
        """Declare pass@k and pass^k, the subquestion score, and what was cut off or empty."""
        import polars as pl

        from hardset.metrics import Rates, in_state
        from hardset.metrics.repeats import by_item, pass_ratios
        from hardset.metrics.steps import macro
        from hardset.metrics.usage import empty

        of_main = pl.col("parent") == ""
        for reading in cls.readings:
            which = "" if reading == cls.readings[0] else reading
            mains = by_item(outcomes.filter(of_main), which)
            if mains.height:
                ratios = pass_ratios(mains)
                yield Rates(frame=mains, ratios=ratios, cluster="item", reading=reading)
            subs = by_item(outcomes.filter(~of_main), which, keep=["parent"])
            if subs.height:
                yield Rates(frame=subs, ratios=[macro()], cluster="parent", reading=reading)
        main = pl.when(of_main).then("item").otherwise("parent").alias("main")
        lost = [in_state(State.TRUNCATED), empty()]
        yield Rates(
            frame=outcomes.with_columns(main),
            ratios=lost,
            cluster="main",
            by=((), ("category",)),
            reading=cls.readings[0],
        )


def _right(name: str, item: Item, reading: Reading) -> bool:
    if reading.state is not State.ANSWERED:
        return False
    if name == "official":
        return reading.answer == item.answer.lower()
    return same_lenient(reading.answer, item.answer)


def _parts(snapshot: Snapshot, split: str) -> Iterator[tuple[Path, str]]:
    """Yield the files to read, with the split that each is of, "" where the ids must tell."""
    if snapshot.named:
        yield from ((file, "") for file in snapshot.files)
        return
    for part in _SPLITS[split]:
        yield from ((file, part) for file in snapshot.split(part))


def _item(row: Row, part: str, licence: str) -> Item:
    """Make an item of a row, without its pictures; a subquestion's id is `{main}_{n}`."""
    ident, question, gold = (
        _text(row, name) for name in ("question_id", "question_text", "question_answer")
    )
    step = _SUB_ID.fullmatch(ident)
    if part == SUB and step is None:
        raise UsageError(
            f"{row.where}: question_id {ident!r} is no subquestion's: theirs are the main "
            "question's, an underscore and a number"
        )
    parent = step[1] if step is not None and part != MAIN else ""
    return Item(
        id=ident,
        question=question,
        form="braces",
        answer=gold,
        category="subquestion" if parent else "main",
        tags={"part": "sub" if parent else "main"},
        parent=parent,
        source=str(row.fields.get("image_attribution") or ""),
        licence=licence,
    )


def _text(row: Row, name: str) -> str:
    value = row.fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool):  # an id, or an answer, as a number
        return str(value)
    if not isinstance(value, str) or not value.strip():
        what = "is missing" if value is None else f"is {value!r}, not a text"
        raise UsageError(f"{row.where}: {name} {what}; the columns are those of ZeroBench")
    return value


def _with(item: Item, shown: Sequence[Image]) -> Item:
    from msgspec.structs import replace

    tags = {**item.tags, "pictures": str(len(shown))}
    return replace(item, images=tuple(shown), tags=tags)


def _images(row: Row, pictures: Sequence[Picture], folder: Path | None) -> list[Image]:
    """Give a question's pictures in their order: those the data hold, or those in the folder."""
    if folder is None and any(picture.where for picture in pictures):
        return [Image(where=one.where or _missing(one.path)) for one in pictures]
    paths = row.fields.get(PATHS) or [picture.path for picture in pictures]
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise UsageError(f"{row.where}: {PATHS} is {paths!r}, not a list of paths")
    if folder is None and paths:
        raise UsageError(
            f"{row.where}: the data hold paths of pictures only, like {paths[0]}: pass --images "
            "DIR, the folder that they start from, or --blind to ask without them"
        )
    return [Image(where=_place(row.where, folder, path)) for path in paths if folder is not None]


def _missing(path: str) -> str:
    """Name a picture that the data say there is, and do not hold: its row is `bad-media`."""
    return path or "a picture without bytes or path"


def _place(where: str, folder: Path, name: str) -> str:
    """Find a picture's file, whichever of its folders is the one given; a missing one is named."""
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or ".." in path.parts or ":" in path.parts[0]:
        raise UsageError(f"{where}: image {name!r} is not a path inside the image folder")
    candidates = [folder.joinpath(*path.parts[i:]) for i in range(len(path.parts))]
    return str(next((one for one in candidates if one.is_file()), candidates[0]))


def _notices(items: Sequence[Item], split: str, blind: bool) -> list[str]:
    """Say once what the data lack: main questions of subquestions, and pictures."""
    said = []
    ids = {item.id for item in items}
    orphans = [item.id for item in items if item.parent and item.parent not in ids]
    if orphans and split == "all":
        said.append(
            f"{len(orphans)} subquestions have no main question in these data: {_few(orphans)}"
        )
    bare = [item.id for item in items if not item.images]
    if bare and not blind:
        said.append(f"{len(bare)} questions have no picture and are asked without: {_few(bare)}")
    return said


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
