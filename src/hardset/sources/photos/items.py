"""The items: one a line of `items.jsonl`, each written looking at its picture, with what is seen.

A line is an `Item` with the picture's name in place of its image, its source and its licence;
`checked` says how often its truth was worked out from the picture: three times, two of them blind,
from the question alone, without the gold. What did not agree or was unclear was written anew and
looked at again, the last such (`coins-hardbench-1-edited`) not blind; the third time nine golds
were known beforehand, six of them from the tests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files

import msgspec

from hardset.records import Form, Image, Item
from hardset.sources.photos.pictures import PICTURES

KINDS = ("plain", "hardbench", "mmr", "mmooc", "zero")


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the file; see `Item` for what is not said here."""

    id: str
    picture: str
    kind: str
    question: str
    form: Form
    explanation: str  # where in the picture the answer is seen, or why there is none
    checked: int
    choices: tuple[str, ...] = ()
    answer: str = ""
    accept: tuple[str, ...] = ()
    answerable: bool = True
    category: str = ""
    tags: dict[str, str] = {}
    group: str = ""
    pair: str = ""
    role: str = ""
    parent: str = ""
    altered: str = ""


@cache
def lines() -> tuple[Line, ...]:
    """Return the lines of the file, in its order."""
    text = files(__package__).joinpath("items.jsonl").read_bytes()
    decode = msgspec.json.Decoder(Line).decode
    return tuple(decode(line) for line in text.splitlines())


def items(kinds: Collection[str] = KINDS) -> Iterator[Item]:
    """Yield the items of some kinds."""
    return (_item(line) for line in lines() if line.kind in kinds)


def _item(line: Line) -> Item:
    picture = PICTURES[line.picture]
    return Item(
        id=line.id,
        question=line.question,
        images=(Image(where=f"photos:{line.picture}"),),
        form=line.form,
        choices=line.choices,
        answer=line.answer,
        accept=line.accept,
        answerable=line.answerable,
        explanation=line.explanation,
        category=line.category,
        tags={"kind": line.kind, "scene": line.picture, **line.tags},
        group=line.group,
        pair=line.pair,
        role=line.role,
        parent=line.parent,
        source=f"{picture.origin} ({picture.where()})",
        licence=picture.licence,
        altered=line.altered,
    )
