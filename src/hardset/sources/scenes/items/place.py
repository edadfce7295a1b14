"""Where a group of items stands in the stream, and what every kind of item shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, permutations

from msgspec import Struct

from hardset.records import Form, Image, Item
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.graph import VERSION, Scene, make_scene

_ITEM, _LETTER = 3, 4  # salts
_AGAIN = 1_000_000_000  # added to the index where a scene cannot bear the kind of question
_ORDERS = tuple(permutations(range(4)))
LICENCE = "Apache-2.0"
SOURCE = f"scenes {VERSION}"


class Place(Struct, frozen=True):
    """The place of a group: the number of its first item, and whose turn it is.

    `turn` counts the groups of this kind from the start of the stream; `size` is how many
    items the group has.
    """

    seed: int
    index: int
    difficulty: str
    turn: int
    size: int

    def tries(self) -> Iterator[tuple[Scene, Dice]]:
        """Yield scenes, and dice to draw questions with, until one will do."""
        for again in count():
            index = self.index + again * _AGAIN
            scene = make_scene(self.seed, index, self.difficulty)
            yield scene, Dice(_ITEM, self.seed, index)

    def letter(self, nth: int) -> int:
        """Return which of four letters is gold: each once in every four, in drawn order.

        `nth` counts the gold letters of this kind from the start of the stream.
        """
        order = _ORDERS[Dice(_LETTER, self.seed, nth // 4).below(len(_ORDERS))]
        return order[nth % 4]

    def item(
        self,
        scene: Scene,
        offset: int,
        kind: str,
        question: str,
        form: Form,
        *,
        variant: str = "",
        tags: dict[str, str] | None = None,
        choices: tuple[str, ...] = (),
        answer: str = "",
        accept: tuple[str, ...] = (),
        answerable: bool = True,
        explanation: str = "",
        category: str = "",
        group: str = "",
        pair: str = "",
        role: str = "",
        parent: str = "",
        altered: str = "",
    ) -> Item:
        """Make the item `offset` places into the group, about a scene or a variant of it."""
        where = f"{scene.where}?{variant}" if variant else scene.where
        return Item(
            id=self.name(offset),
            question=sentence(question),
            images=(Image(where=where),),
            form=form,
            choices=choices,
            answer=answer,
            accept=accept,
            answerable=answerable,
            explanation=sentence(explanation),
            category=category,
            tags={"kind": kind, "scene": str(scene.index), **(tags or {})},
            group=group,
            pair=pair,
            role=role,
            parent=parent,
            source=SOURCE,
            licence=LICENCE,
            altered=altered,
        )

    def name(self, offset: int = 0) -> str:
        """Name the item `offset` places into the group."""
        return f"{self.difficulty}-{self.seed}-{self.index + offset}"


def sentence(text: str) -> str:
    """Begin each sentence of a text with a capital letter."""
    return ". ".join(part[:1].upper() + part[1:] for part in text.split(". "))


def options(answer: str, like: Sequence[str], at: int, dice: Dice) -> tuple[str, ...]:
    """Put an answer in place `at` among three others, drawn from those like it."""
    if answer.isdecimal():  # numbers close by are the hard ones
        near = [v for v in like if v != answer and abs(int(v) - int(answer)) <= 4]
        like = near if len(near) >= 3 else like
    found = dice.sample([value for value in like if value != answer], 3)
    found.insert(at, answer)
    return tuple(found)
