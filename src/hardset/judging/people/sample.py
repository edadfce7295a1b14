"""The sample of replies that people label, to hold the judges against.

What is drawn are replies, or whole pairs of them where the benchmark has pairs, so that rates over
pairs can be corrected too. All of a reply's questions are asked of it. Replies are drawn at random
within strata by verdict and category, rare strata first, so that every labelled reply stands for a
known number of others.

A question that judges were asked only of refusals, or only of answers, is asked of people whatever
the judges said: else its being asked would tell them the verdict.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.judging.facts import Facts
from hardset.judging.rubric import Rubric

RARE = 0.05  # the share of all units below which a stratum is put together with others
FEW = 4  # units that a stratum gets at least, where it has them
BLOCK = 10  # units whose rows are shuffled together: a sheet half filled holds whole pairs
LEVELS = (
    "verdict and category",
    "verdict",
    "verdict without grades",
    "verdict without grades, rare ones together",
    "question",
)
"""What tells strata apart; the finest for which the sample suffices."""
ON_REFUSAL = ("refused", "answered")


class Line(Struct, frozen=True, kw_only=True):
    """One line of a sheet: a reply, and one question about it."""

    id: str
    row: int  # of the outcomes
    item: str
    repeat: int
    key: str


class Sample(Struct, frozen=True, kw_only=True):
    """What was drawn, and how: all that must be known again when labels are read.

    `mark` is a hash of it all; every id begins with it.
    """

    mark: str
    seed: int
    replies: int  # wanted
    outcomes_sha256: str
    rubrics: tuple[Rubric, ...]
    keys: tuple[str, ...]
    level: str  # one of LEVELS
    lines: tuple[Line, ...]

    def rubric(self, key: str) -> Rubric:
        """Give the rubric that a verdict is of."""
        return next(one for one in self.rubrics if key in one.keys)


def conditional(rubric: Rubric) -> bool:
    """Say whether it is asked only where a reply refuses, or only where it does not."""
    return any(condition in ON_REFUSAL for condition in rubric.due)


def base_due(outcomes: pl.DataFrame, rubric: Rubric) -> NDArray[np.bool_]:
    """Say on which rows a rubric is asked, or would be if the reply refused or did not, (rows,)."""
    fixed = tuple(condition for condition in rubric.due if condition not in ON_REFUSAL)
    whatever = msgspec.structs.replace(rubric, due=fixed)
    nobody_knows = pl.Series([None] * len(outcomes), dtype=pl.Boolean)
    return Facts(outcomes, lambda: iter(()), [whatever]).due(whatever, nobody_knows)


def units(outcomes: pl.DataFrame) -> NDArray[np.int64]:
    """Number what is drawn as one, 0, 1, ...: the two rows of a pair, else each row, (rows,)."""
    if "pair" not in outcomes.columns:
        return np.arange(len(outcomes))
    rows = outcomes.select(pl.col("pair").fill_null(""), "repeat").with_row_index("row")
    both = (pl.col("pair") != "") & (pl.len().over("pair", "repeat") == 2)
    first = pl.when(both).then(pl.col("row").min().over("pair", "repeat")).otherwise("row")
    found = rows.select(first.alias("unit"))["unit"].to_numpy()
    numbers: NDArray[np.int64] = np.unique(found, return_inverse=True)[1].astype(np.int64)
    return numbers


def strata(
    outcomes: pl.DataFrame, rubrics: Sequence[Rubric], keys: Sequence[str], level: str
) -> pl.Series:
    """Name the stratum of each unit, in the order of their numbers; "" where nothing is asked.

    Args:
        outcomes: the outcome columns, with verdicts.
        rubrics: what is asked.
        keys: their verdicts that are wanted.
        level: what tells strata apart, one of `LEVELS`.
    """
    if level == LEVELS[3]:
        known, asked_of = (strata(outcomes, rubrics, keys, LEVELS[n]) for n in (2, 4))
        named = pl.DataFrame({"stratum": known, "together": asked_of + " (rare)"})
        rare = (pl.len().over("stratum") < RARE * float((known != "").sum())) & (
            pl.col("stratum") != ""
        )
        return named.select(pl.when(rare).then("together").otherwise("stratum").alias("stratum"))[
            "stratum"
        ]
    said = []
    for rubric in rubrics:
        asked = pl.lit(pl.Series(base_due(outcomes, rubric)))
        for key in rubric.keys:
            if key in keys:
                told = _told(rubric, key, level)
                said.append(pl.when(asked).then(pl.lit(f"{key} ") + told).otherwise(pl.lit("")))
    category = pl.col("category").fill_null("") if "category" in outcomes.columns else pl.lit("")
    role = pl.col("role").fill_null("") if "role" in outcomes.columns else pl.lit("")
    rows = outcomes.select(
        pl.Series("unit", units(outcomes)),
        role.alias("role"),
        category.alias("category"),
        pl.concat_list(said).list.eval(pl.element().filter(pl.element() != "")).alias("said"),
    ).with_row_index("row")
    each = (
        rows.sort("unit", "role", "row")
        .group_by("unit", maintain_order=True)
        .agg(
            pl.col("said").list.join(", ").str.join("; ").alias("said"),
            pl.col("category").first(),
            pl.col("said").list.len().sum().alias("asked"),
        )
    )
    name = pl.col("said")
    if level == LEVELS[0]:
        name = pl.format("{} | {}", "category", "said")
    return each.select(
        pl.when(pl.col("asked") > 0).then(name).otherwise(pl.lit("")).alias("stratum")
    )["stratum"]


def _told(rubric: Rubric, key: str, level: str) -> pl.Expr:
    """Write what the judges said of a row, as far as it tells strata apart."""
    if level == LEVELS[4]:
        return pl.lit("asked")
    verdict, how = pl.col(f"verdict_{key}"), pl.col(f"panel_{key}").fill_null("")
    none = pl.when(how == "").then(pl.lit("not due")).otherwise(pl.lit("none"))
    if rubric.scale == "graded":
        grade = (verdict + 0.5).floor().cast(pl.Int64).cast(pl.String)
        known = pl.lit("given") if level == LEVELS[2] else grade
    else:
        known = verdict.cast(pl.String).str.to_uppercase()
    return pl.when(verdict.is_null()).then(none).otherwise(known)


def draw(
    outcomes: pl.DataFrame,
    rubrics: Sequence[Rubric],
    replies: int,
    seed: int = 0,
    *,
    keys: Sequence[str] = (),
    outcomes_sha256: str = "",
) -> Sample:
    """Draw the replies that people are to label, in the order in which they see them.

    Args:
        outcomes: the outcome columns, with verdicts.
        rubrics: what was asked.
        replies: how many, about: a few of every stratum, the rest in proportion; all of them
            where fewer were due on any verdict.
        seed: the same one draws the same sample.
        keys: the verdicts that are wanted; all, if none are named.
        outcomes_sha256: of the file of the outcomes, to know it again.

    Raises:
        UsageError: no reply was due on any of the verdicts.
    """
    wanted = tuple(key for rubric in rubrics for key in rubric.keys if not keys or key in keys)
    asked = [rubric for rubric in rubrics if any(key in wanted for key in rubric.keys)]
    of = units(outcomes)
    due = np.logical_or.reduce([base_due(outcomes, rubric) for rubric in asked])
    rows = np.bincount(of, due).astype(np.float64)  # of each unit
    if not due.any():
        raise UsageError(f"there is no reply to label: {', '.join(wanted)} was due on none")
    level, names = _fitting(outcomes, asked, wanted, replies / rows[rows > 0].mean())
    number = np.unique(names, return_inverse=True)[1]
    taken = _allocate(number, rows, replies)
    rng = np.random.default_rng(seed)
    drawn = [
        rng.choice(np.flatnonzero(number == h), int(count), replace=False)
        for h, count in enumerate(taken)
        if count
    ]
    return _numbered(
        outcomes,
        asked,
        wanted,
        rows=_order(np.concatenate(drawn), of, rng),
        seed=seed,
        replies=replies,
        outcomes_sha256=outcomes_sha256,
        level=level,
    )


def _fitting(
    outcomes: pl.DataFrame, rubrics: Sequence[Rubric], keys: Sequence[str], most: float
) -> tuple[str, NDArray[np.str_]]:
    """Give the finest strata of which each can have its few within half of the sample."""
    for level in LEVELS:
        names = strata(outcomes, rubrics, keys, level).to_numpy().astype(str)
        found, sizes = np.unique(names, return_counts=True)
        if np.minimum(sizes, FEW)[found != ""].sum() <= most / 2:
            break
    return level, names


def _allocate(
    number: NDArray[np.int64], rows: NDArray[np.float64], replies: int
) -> NDArray[np.int64]:
    """Say how many units of each stratum are drawn: a few of each, the rest in proportion.

    Args:
        number: (units,), the stratum of each.
        rows: (units,), how many replies to label each is; none in strata where nothing is asked.
        replies: wanted in all.
    """
    mean = np.bincount(number, rows) / np.bincount(number)
    sizes = np.where(mean > 0, np.bincount(number), 0)
    few = int(replies / max(1.0, mean.max()) / max(1, np.count_nonzero(sizes)))
    taken = np.minimum(sizes, min(FEW, max(1, few)))
    while (missing := replies - taken @ mean) > 1e-9 and (taken < sizes).any():
        share = (sizes - taken) * missing / ((sizes - taken) @ mean)
        more = np.minimum(np.floor(share), sizes - taken).astype(np.int64)
        if not more.any():
            more[np.argmax(share)] = 1
        taken = taken + more
    return taken


def _order(drawn: NDArray[np.int64], of: NDArray[np.int64], rng: np.random.Generator) -> list[int]:
    """Shuffle the rows of what was drawn, block by block."""
    rows_of: dict[int, list[int]] = {}
    for row in np.flatnonzero(np.isin(of, drawn)).tolist():
        rows_of.setdefault(int(of[row]), []).append(row)
    rows: list[int] = []
    shuffled = rng.permutation(np.sort(drawn)).tolist()
    for start in range(0, len(shuffled), BLOCK):
        here = [row for unit in shuffled[start : start + BLOCK] for row in rows_of[unit]]
        rows += rng.permutation(here).tolist()
    return rows


def _numbered(
    outcomes: pl.DataFrame,
    rubrics: Sequence[Rubric],
    keys: tuple[str, ...],
    *,
    rows: Sequence[int],
    seed: int,
    replies: int,
    outcomes_sha256: str,
    level: str,
) -> Sample:
    """Lay the lines out, and give them ids that tell nothing but which sheet they are of."""
    due = {rubric.name: base_due(outcomes, rubric) for rubric in rubrics}
    items, repeats = outcomes["item"], outcomes["repeat"]
    asked = [
        (row, key)
        for row in rows
        for rubric in rubrics
        if due[rubric.name][row]
        for key in rubric.keys
        if key in keys
    ]
    mark = _mark(outcomes_sha256, seed, replies, rubrics, asked)
    return Sample(
        mark=mark,
        seed=seed,
        replies=replies,
        outcomes_sha256=outcomes_sha256,
        rubrics=tuple(rubrics),
        keys=keys,
        level=level,
        lines=tuple(
            Line(
                id=_id(mark, number),
                row=row,
                item=items[row],
                repeat=repeats[row],
                key=key,
            )
            for number, (row, key) in enumerate(asked, 1)
        ),
    )


def _id(mark: str, number: int) -> str:
    return f"{mark}-{number:04d}"


def _mark(
    outcomes_sha256: str,
    seed: int,
    replies: int,
    rubrics: Sequence[Rubric],
    asked: Sequence[tuple[int, str]],
) -> str:
    known = [outcomes_sha256, seed, replies, [rubric.sha256 for rubric in rubrics], asked]
    return "s" + hashlib.blake2b(msgspec.json.encode(known), digest_size=3).hexdigest()


def whole(sample: Sample) -> bool:
    """Say whether a sample that was kept is still what its mark says."""
    asked = [(line.row, line.key) for line in sample.lines]
    keys = {key for rubric in sample.rubrics for key in rubric.keys}
    return (
        all(map(_as_its_file, sample.rubrics))
        and sample.level in LEVELS
        and {line.key for line in sample.lines} <= set(sample.keys) <= keys
        and len(set(sample.keys)) == len(sample.keys)
        and all(line.id == _id(sample.mark, n) for n, line in enumerate(sample.lines, 1))
        and sample.mark
        == _mark(sample.outcomes_sha256, sample.seed, sample.replies, sample.rubrics, asked)
    )


def _as_its_file(rubric: Rubric) -> bool:
    """Say whether a rubric that was kept is what its file's text says."""
    if not rubric.text:  # made in Python, from no file
        return True
    told = {"sha256": hashlib.sha256(rubric.text.encode()).hexdigest(), "text": rubric.text}
    try:
        read = {"name": rubric.name, **tomllib.loads(rubric.text), **told}
        return msgspec.convert(read, Rubric) == rubric
    except (tomllib.TOMLDecodeError, msgspec.ValidationError):
        return False
