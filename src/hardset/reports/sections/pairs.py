"""Pairs: how often which member was handled right, and both questions side by side.

It shows whatever has pairs of two roles (original and edited, POS and NEG): the 2x2 of each run,
the same by the kind of the pair, and some pairs of every kind with what each run replied to both
members, the words in which their questions differ marked.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import polars as pl

from hardset.metrics.pairs import pair_up, two_by_two
from hardset.reports.runs import RunView, Shown
from hardset.reports.sections import Section
from hardset.reports.text import clip
from hardset.reports.view import short_names

COUPLES = (("original", "edited"), ("POS", "NEG"))
_CELLS = ("both", "first_only", "second_only", "neither")
_EDITS = {"O": "object", "R": "relation", "A": "attribute"}  # what the letters of an edit mean
_MOST = 18  # pairs shown of each couple of roles
_FIRST = 6  # edits without a pair that are shown
_WORD = re.compile(r"(?:\w+|[^\w\s])\s*|\s+")  # a word or mark, with the space behind it


@dataclass(frozen=True)
class Cell:
    """One of the four ways in which a pair can end: how many did, and their share."""

    key: str  # both, first_only, second_only, neither
    label: str
    count: int
    share: str  # "12.5%", a width
    depth: float  # the share again, 0 to 1, for a shade


@dataclass(frozen=True)
class Counted:
    """The four cells of one run, or of one kind of its pairs."""

    model: int
    name: str
    pairs: int
    cells: Sequence[Cell]
    repeats: int = 1  # how many times each pair is in it


@dataclass(frozen=True)
class Told:
    """What one run replied to one member."""

    model: int
    name: str
    state: str
    right: bool
    read: str
    text: str


@dataclass(frozen=True)
class Member:
    """One question of a pair: its words, each with whether the other question lacks it."""

    role: str
    pieces: Sequence[tuple[str, bool]]
    gold: str
    picture: str


@dataclass(frozen=True)
class Pair:
    """Two questions side by side, and each run's reply to both. `picture` is theirs in common."""

    name: str
    kind: str
    altered: str
    why: str
    picture: str
    members: Sequence[Member]
    rows: Sequence[Sequence[Told | None]]


@dataclass(frozen=True)
class Couple:
    """All of the page that is about pairs of two given roles."""

    roles: tuple[str, str]
    kind: str  # the column that tells the pairs' kinds apart, or ""
    whole: Sequence[Counted]
    kinds: Sequence[tuple[str, Sequence[Counted]]]
    shown: Sequence[Pair]
    total: int


def section(runs: Sequence[RunView], sample: Sequence[Shown]) -> Section | None:
    """Lay the pairs out; None where no run has a sound one, nor an edit of a known original."""
    if not all({"pair", "role", "right"} <= set(run.outcomes.columns) for run in runs):
        return None
    frames = [run.outcomes.filter(pl.col("pair").fill_null("") != "") for run in runs]
    found = [_couple(runs, frames, sample, roles) for roles in _couples(frames[0])]
    couples = [couple for couple in found if couple is not None]
    alone = _alone(runs, sample)
    if not couples and not alone:
        return None
    values = {"couples": couples, "alone": alone}
    return Section(anchor="pairs", title="Pairs", template="pairs.html", values=values)


def _couples(frame: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the roles that make pairs: the known ones, and any other two that there are."""
    roles = [role for role in frame["role"].unique(maintain_order=True) if role]
    for couple in COUPLES:
        if set(couple) <= set(roles):
            yield couple
    rest = [role for role in roles if not any(role in couple for couple in COUPLES)]
    if len(rest) == 2:
        yield rest[0], rest[1]


def _couple(
    runs: Sequence[RunView],
    frames: Sequence[pl.DataFrame],
    sample: Sequence[Shown],
    roles: tuple[str, str],
) -> Couple | None:
    first, second = roles
    frames = [frame.filter(pl.col("role").is_in(roles)) for frame in frames]
    kind = _kind(runs[0], frames[0])
    sound = [
        pair_up(
            frame,
            first=first,
            second=second,
            columns=["right", "index"],
            keep=[kind] if kind else [],
        ).sound
        for frame in frames
    ]
    if not len(sound[0]):
        return None
    names = short_names(runs)
    whole = [
        _counted(i, names[i], row, roles, pairs["repeat"].n_unique())
        for i, pairs in enumerate(sound)
        for row in two_by_two(pairs).iter_rows(named=True)
    ]
    kinds: dict[str, list[Counted]] = {}
    for i, pairs in enumerate(sound) if kind else ():
        for row in two_by_two(pairs, by=[kind]).iter_rows(named=True):
            if row[kind]:
                kinds.setdefault(row[kind], []).append(_counted(i, names[i], row, roles))
    shown = _picked(sound, kind, {one.index for one in sample if one.thumbnail})
    return Couple(
        roles=roles,
        kind=kind,
        whole=whole,
        kinds=[(_EDITS.get(name, name), kinds[name]) for name in sorted(kinds, key=_by_edit)]
        if len(kinds) > 1
        else [],
        shown=_laid_out(runs, names, shown, kind, roles, sample),
        total=sound[0]["pair"].n_unique(),
    )


def _by_edit(kind: str) -> tuple[int, str]:
    """Sort edits as object, relation, attribute, and what else there is by its name."""
    return (list(_EDITS).index(kind) if kind in _EDITS else len(_EDITS), kind)


def _kind(run: RunView, frame: pl.DataFrame) -> str:
    """Say which column tells these pairs apart: the edit, or the first cut that they have."""
    for column in ("edit", *run.cuts):
        if column in frame.columns and (frame[column].cast(pl.String).fill_null("") != "").any():
            return column
    return ""


def _counted(
    model: int, name: str, row: Mapping[str, Any], roles: tuple[str, str], repeats: int = 1
) -> Counted:
    first, second = roles
    labels = ("both right", f"only {first} right", f"only {second} right", "neither right")
    pairs = sum(row[cell] for cell in _CELLS)
    cells = [
        Cell(
            cell,
            label,
            row[cell],
            f"{100 * row[cell] / max(1, pairs):.1f}%",
            round(row[cell] / max(1, pairs), 3),
        )
        for cell, label in zip(_CELLS, labels, strict=True)
    ]
    return Counted(model, name, pairs, cells, repeats)


def _picked(
    sound: Sequence[pl.DataFrame], kind: str, pictured: set[int], most: int = _MOST
) -> Sequence[Mapping[str, Any]]:
    """Pick pairs in turns from every kind and all that happened; first those with a picture."""
    happened = pl.format("{}{}", "first_right", "second_right")
    rows = pl.concat(
        pairs.filter(pl.col("repeat") == pl.col("repeat").min().over("pair")).select(
            "pair",
            pl.col("first_index", "second_index").cast(pl.Int64),
            (pl.col(kind).cast(pl.String).fill_null("") if kind else pl.lit("")).alias("kind"),
            pl.lit(run).alias("run"),
            happened.alias("happened"),
        )
        for run, pairs in enumerate(sound)
    )
    chance = (pl.col("first_index") + 1) * 2654435761 % 4294967291  # fixed for all time
    has_picture = pl.col("first_index").is_in(pictured) | pl.col("second_index").is_in(pictured)
    return (
        rows.join(sound[0].select("pair"), on="pair", how="semi")
        .sort("run")
        .group_by("pair")
        .agg(
            pl.col("first_index", "second_index", "kind").first(),
            pl.col("happened").str.join("|"),
        )
        .with_columns(chance.alias("chance"), has_picture.alias("pictured"))
        .sort("pictured", "chance", "pair", descending=[True, False, False])
        .with_columns(pl.int_range(pl.len()).over("kind", "happened").alias("turn"))
        .sort("turn", "chance", "pair")
        .head(most)
        .sort("first_index")
        .to_dicts()
    )


def _laid_out(
    runs: Sequence[RunView],
    names: Sequence[str],
    picked: Sequence[Mapping[str, Any]],
    kind: str,
    roles: tuple[str, str],
    sample: Sequence[Shown],
) -> list[Pair]:
    wanted = [row[side] for row in picked for side in ("first_index", "second_index")]
    rows = [_rows(run.outcomes, wanted) for run in runs]
    shown = {one.index: one for one in sample}
    return [_pair(row, rows, names, kind, roles, shown) for row in picked]


def _rows(frame: pl.DataFrame, wanted: Sequence[int]) -> dict[int, Mapping[str, Any]]:
    """Return the wanted rows of a run by their index, of several repeats the first."""
    kept = frame.filter(pl.col("index").cast(pl.Int64).is_in(wanted))
    if "repeat" in kept.columns:
        kept = kept.sort("repeat", descending=True)  # so that the first overwrites the others
    return {row["index"]: row for row in kept.iter_rows(named=True)}


def _pair(
    picked: Mapping[str, Any],
    rows: Sequence[Mapping[int, Mapping[str, Any]]],
    names: Sequence[str],
    kind: str,
    roles: tuple[str, str],
    shown: Mapping[int, Shown],
) -> Pair:
    indices = [picked["first_index"], picked["second_index"]]
    both = [rows[0][index] for index in indices]
    pictures = [_picture(shown.get(index)) for index in indices]
    alike = len({row.get("sha256") or "" for row in both}) == 1
    words = changed_words(*(row.get("question") or "" for row in both))
    items = [shown[index].item for index in reversed(indices) if index in shown]
    members = [
        Member(
            role=role,
            pieces=pieces,
            gold=_gold(row, shown.get(index)),
            picture="" if alike else picture,
        )
        for role, pieces, row, picture, index in zip(
            roles, words, both, pictures, indices, strict=True
        )
    ]
    return Pair(
        name=picked["pair"],
        kind=f"{kind}: {_EDITS.get(picked['kind'], picked['kind'])}" if picked["kind"] else "",
        altered=next((item.altered for item in items if item.altered), ""),
        why=next((item.explanation for item in items if item.explanation), ""),
        picture=next(filter(None, pictures), "") if alike else "",
        members=members,
        rows=[
            [_told(i, names[i], run[index]) for index in indices]
            for i, run in enumerate(rows)
            if set(indices) <= run.keys()
        ],
    )


def _alone(runs: Sequence[RunView], sample: Sequence[Shown]) -> list[Pair]:
    """Lay some edits out that have no pair, beside the text of the question they were made from."""
    frame = runs[0].outcomes
    if "original_question" not in frame.columns:
        return []
    told = (pl.col("original_question") != "") & (pl.col("pair").fill_null("") == "")
    indices = frame.filter(told)["index"].unique(maintain_order=True).head(_FIRST).to_list()
    rows = [_rows(run.outcomes, indices) for run in runs]
    names, shown = short_names(runs), {one.index: one for one in sample}
    found = []
    for index in indices:
        row, one = rows[0][index], shown.get(index)
        before, after = changed_words(row["original_question"], row.get("question") or "")
        found.append(
            Pair(
                name=row.get("item") or str(index),
                kind="",
                altered=one.item.altered if one else "",
                why=one.item.explanation if one else "",
                picture=_picture(one),
                members=[
                    Member("original, the words only", before, "", ""),
                    Member(row["role"] or "edited", after, _gold(row, one), ""),
                ],
                rows=[
                    [None, _told(i, names[i], run[index])]
                    for i, run in enumerate(rows)
                    if index in run
                ],
            )
        )
    return found


def _told(model: int, name: str, row: Mapping[str, Any]) -> Told:
    text = clip(row.get("reply") or "", head=280, tail=160)
    return Told(
        model=model,
        name=name,
        state=row["state"],
        right=bool(row["right"]),
        read=row.get("answer") or "",
        text=text or row.get("reason") or "",
    )


def _gold(row: Mapping[str, Any], shown: Shown | None) -> str:
    """Say what is right: to refuse, or the answer; of an option the text too, where it is known."""
    if not row.get("answerable", True):
        return "to refuse"
    gold: str = row.get("gold") or ""
    options = dict(zip("ABCDEFGHIJ", shown.item.choices, strict=False)) if shown else {}
    return f"{gold}. {options[gold]}" if gold in options else gold


def _picture(shown: Shown | None) -> str:
    if shown is None or not shown.thumbnail:
        return ""
    return f"data:{shown.type};base64,{base64.b64encode(shown.thumbnail).decode('ascii')}"


def changed_words(one: str, other: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Cut two texts into stretches, each with whether the other text lacks it, word by word."""
    left, right = _WORD.findall(one), _WORD.findall(other)
    bare, other_bare = ([word.strip() for word in words] for words in (left, right))
    found: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for tag, a, b, c, d in SequenceMatcher(None, bare, other_bare, autojunk=False).get_opcodes():
        for side, words in zip(found, (left[a:b], right[c:d]), strict=True):
            stretch = "".join(words)
            text = stretch if tag == "equal" else stretch.rstrip()
            side.append((text, tag != "equal"))
            side.append((stretch[len(text) :], False))  # the space behind is not marked
    one_side, other_side = ([piece for piece in side if piece[0]] for side in found)
    return one_side, other_side
