"""The facts of a row that rubrics may show, streamed: items in order, with each one's replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.judging.rubric import Rubric
from hardset.records import Item, State

CHUNK = 2048  # rows whose replies are held as texts at a time

Wanted = Mapping[str, NDArray[np.bool_]]
"""By rubric, the rows on which it is asked, (rows,)."""

_SILENT = [state.value for state in State if state.failed]


class Facts:
    """What there is to show of each row: its reply from the outcomes, all else from its item.

    Args:
        outcomes: the outcome columns, in the order of the walk.
        items: yields the benchmark's items in their order, each time it is called.
        rubrics: what is asked.
    """

    def __init__(
        self,
        outcomes: pl.DataFrame,
        items: Callable[[], Iterator[Item]],
        rubrics: Sequence[Rubric],
    ) -> None:
        self.outcomes, self.rubrics = outcomes, rubrics
        self._items = items

    @property
    def spoken(self) -> NDArray[np.bool_]:
        """Which rows have a reply with words in it, (rows,)."""
        said = (pl.col("reply").str.strip_chars() != "") & ~pl.col("state").is_in(_SILENT)
        return self.outcomes.select(said)[:, 0].fill_null(False).to_numpy()

    def due(self, rubric: Rubric, refused: pl.Series) -> NDArray[np.bool_]:
        """Say on which rows a rubric is to be asked.

        Args:
            rubric: the rubric.
            refused: whether each reply refuses; null where that is not known, (rows,).
        """
        due = self.spoken
        answerable = self.outcomes["answerable"].to_numpy()
        holds = {
            "answerable": answerable,
            "unanswerable": ~answerable,
            "refused": refused.fill_null(False).to_numpy(),
            "answered": (~refused).fill_null(False).to_numpy(),
        }
        for condition in rubric.due:
            due = due & holds[condition]
        for column, values in rubric.where.items():
            if column not in self.outcomes.columns:
                return np.zeros(len(due), np.bool_)
            due = (
                due
                & self.outcomes[column]
                .cast(pl.String)
                .is_in(list(values))
                .fill_null(False)
                .to_numpy()
            )
        return due

    def walk(self, wanted: Wanted) -> Iterator[tuple[Rubric, Item, Mapping[str, str]]]:
        """Yield each rubric that is wanted on each row, with the item and the facts.

        Row by row, and on a row in the order of the rubrics: as `pairs`.
        """
        asked = [(rubric, wanted[rubric.name]) for rubric in self.rubrics if rubric.name in wanted]
        if not asked:
            return
        rows = np.flatnonzero(np.logical_or.reduce([mask for _, mask in asked]))
        replies = self.outcomes.select("index", "reply")
        items = enumerate(self._items())
        position, item = -1, None
        for start in range(0, len(rows), CHUNK):
            some = rows[start : start + CHUNK]
            for row, (index, reply) in zip(some.tolist(), replies[some].iter_rows(), strict=True):
                while position < index:
                    position, item = next(items)
                assert item is not None
                shown = facts_of(item, reply)
                for rubric, mask in asked:
                    if mask[row]:
                        yield rubric, item, shown


def pairs(rubrics: Sequence[Rubric], wanted: Wanted) -> Iterator[tuple[int, Rubric]]:
    """Yield each row with each rubric that is wanted on it, in the order of `Facts.walk`."""
    asked = [(rubric, wanted[rubric.name]) for rubric in rubrics if rubric.name in wanted]
    if not asked:
        return
    rows = np.flatnonzero(np.logical_or.reduce([mask for _, mask in asked]))
    for start in range(0, len(rows), CHUNK):
        for row in rows[start : start + CHUNK].tolist():
            for rubric, mask in asked:
                if mask[row]:
                    yield row, rubric


def facts_of(item: Item, reply: str) -> dict[str, str]:
    """Give the facts of a row by name."""
    return {
        "question": item.question,
        "options": "\n".join(f"{chr(65 + i)}. {text}" for i, text in enumerate(item.choices)),
        "reply": reply,
        "reference": _reference(item),
        "reason": item.explanation,
    }


def _reference(item: Item) -> str:
    """Write the right answer, with the option's words and the other ways to say it."""
    if (
        item.form == "choice"
        and len(item.answer) == 1
        and 0 <= ord(item.answer) - 65 < len(item.choices)
    ):
        return f"{item.answer}. {item.choices[ord(item.answer) - 65]}"
    return " or ".join(dict.fromkeys(text for text in (item.answer, *item.accept) if text))
