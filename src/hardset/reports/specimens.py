"""Which examples a page shows of each label, and what they look like: the hardest, the easiest."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardset.lowresource.examples import Examples, Unreadable

if TYPE_CHECKING:
    import polars as pl

SCORED = "scored"
EACH = 5  # examples of an end
HARD_LABELS, EASY_LABELS = 8, 4  # of more labels than that, so many from either end
SIDE = 160  # pixels of a picture's longer side
ALL = "all examples"  # in place of a label, where labels are real numbers


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """One example to be shown.

    Attributes:
        index: its position in the data.
        id: by which a person finds it again.
        label: its class by name; a number for real labels.
        rank: from 0, the easiest of all, to 1, the hardest.
        scores: by name, means over seeds and families.
        end: `hardest` or `easiest` of its label.
        image_png: a small picture as PNG; or
        text: its text; or, where both are empty,
        reason: why nothing can be shown.
        group: the label that it is shown under.
        suggested: the label that it seems to have, where its own is suspected of being wrong.
    """

    index: int
    id: str
    label: str
    rank: float
    scores: Mapping[str, float] = field(default_factory=dict)
    end: str = "hardest"
    image_png: bytes | None = None
    text: str = ""
    reason: str = ""
    group: str = ALL
    suggested: str = ""


@dataclass(frozen=True)
class Label:
    """One label: how many of its examples are scored, and how hard they are in the mean."""

    name: str
    n: int
    scored: int
    mean_rank: float | None
    key: int | None
    """Its number; None for all examples together."""


def labels(frame: pl.LazyFrame, score: str) -> list[Label]:
    """Give the labels of `difficulty.parquet`, the hardest in the mean first.

    Examples without a label are under none. Where labels are real numbers all are one group.
    """
    import polars as pl

    rank = pl.col(f"rank_{score}").mean().alias("rank")
    figures = (pl.len().alias("n"), (pl.col("state") == SCORED).sum().alias("scored"), rank)
    if not frame.collect_schema()["label"].is_integer():
        one = frame.select(*figures).collect(engine="streaming").row(0, named=True)
        return [Label(ALL, one["n"], one["scored"], one["rank"], None)]
    rows = (
        frame.filter(pl.col("label") >= 0)
        .group_by("label")
        .agg(*figures, pl.col("class").first())
        .sort("rank", "label", descending=[True, False], nulls_last=True)
        .collect(engine="streaming")
    )
    return [
        Label(str(row["class"] or row["label"]), row["n"], row["scored"], row["rank"], row["label"])
        for row in rows.iter_rows(named=True)
    ]


def telling(found: Sequence[Label]) -> list[Label]:
    """Choose the labels to show: all where they are few, else the hardest and the easiest."""
    there = [label for label in found if label.scored]
    if len(there) <= HARD_LABELS + EASY_LABELS:
        return there
    return [*there[:HARD_LABELS], *there[-EASY_LABELS:]]


def chosen(out: Path, each: int = EACH) -> list[Specimen]:
    """Choose the examples to show of what `hardset difficulty` left, contents still missing.

    Of each label shown, the `each` hardest by the first score's rank, hardest first, then the
    `each` easiest, easiest first; of equals the first in the data.
    """
    import polars as pl

    frame = pl.scan_parquet(out / "difficulty.parquet", glob=False)
    score = scores_in(frame)[0]
    picked: list[tuple[int, str, str]] = []
    for label in telling(labels(frame, score)):
        rows = frame.filter(pl.col("state") == SCORED)
        if label.key is not None:
            rows = rows.filter(pl.col("label") == label.key)
        rank = f"rank_{score}"
        ordered = rows.select("index", rank).drop_nulls().collect(engine="streaming")
        ordered = ordered.sort(rank, "index", descending=[True, False])
        hardest = ordered["index"].head(each).to_list()
        easiest = ordered.sort(rank, "index")["index"].head(each).to_list()
        picked += [(index, "hardest", label.name) for index in hardest]
        picked += [(i, "easiest", label.name) for i in easiest if i not in hardest]
    wanted = frame.filter(pl.col("index").is_in([index for index, _, _ in picked])).collect()
    of = {row["index"]: row for row in wanted.iter_rows(named=True)}
    suspects = _suggested(out, list(of))
    return [_specimen(of[i], score, end, group, suspects.get(i, "")) for i, end, group in picked]


def scores_in(frame: pl.LazyFrame) -> list[str]:
    """Name the scores that a table of difficulty has, in its order."""
    names = frame.collect_schema().names()
    return [name.removeprefix("rank_") for name in names if name.startswith("rank_")]


def with_contents(specimens: Sequence[Specimen], examples: Examples) -> list[Specimen]:
    """Fetch what the specimens look like; what cannot be read says why."""
    positions = np.array([one.index for one in specimens], dtype=np.int64)
    contents = examples.fetch(positions) if len(positions) else []
    return [_seen(one, content) for one, content in zip(specimens, contents, strict=True)]


def _seen(one: Specimen, content: Any) -> Specimen:
    if isinstance(content, Unreadable):
        return replace(one, reason=content.reason)
    if isinstance(content, tuple):
        return replace(one, text="\n\n".join(content))
    if content.dtype == np.uint8 and content.ndim == 3:
        return replace(one, image_png=png(content))
    return replace(one, reason=f"an array of {' × '.join(map(str, content.shape))}")


def png(image: np.ndarray[Any, np.dtype[np.uint8]], side: int = SIDE) -> bytes:
    """Make a small PNG of a picture (height, width, channels); one that is small stays as it is."""
    from PIL import Image

    picture = Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image)
    picture.thumbnail((side, side))
    kept = io.BytesIO()
    picture.save(kept, "PNG", optimize=True)
    return kept.getvalue()


def _specimen(row: Mapping[str, Any], score: str, end: str, group: str, suggested: str) -> Specimen:
    names = [name.removeprefix("rank_") for name in row if name.startswith("rank_")]
    label = row.get("class") or row.get("label")
    return Specimen(
        index=row["index"],
        id=str(row["id"]),
        label=str(label),
        rank=row[f"rank_{score}"],
        scores={name: row[name] for name in names if row.get(name) is not None},
        end=end,
        group=group,
        suggested=suggested,
    )


def _suggested(out: Path, indices: Sequence[int]) -> dict[int, str]:
    """Give the labels suggested for those that are suspected of a wrong one."""
    import polars as pl

    path = out / "noise.parquet"
    if not path.is_file():
        return {}
    rows = (
        pl.scan_parquet(path, glob=False)
        .filter(pl.col("suspect") & pl.col("index").is_in(indices))
        .select("index", "suggested")
        .collect()
    )
    return {index: str(label) for index, label in rows.iter_rows()}
