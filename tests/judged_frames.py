"""Outcome columns of judged runs, written down by hand: votes as "T", "F", a grade, or "-"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from hardset.judging.panel import NONE, decide, vote_column


def outcomes(rows: int, **columns: Sequence[object]) -> pl.DataFrame:
    """Rows that answered with a word of one letter, each an item of its own."""
    plain: dict[str, Sequence[object]] = {
        "index": range(rows),
        "item": [f"q{i}" for i in range(rows)],
        "repeat": [0] * rows,
        "state": ["answered"] * rows,
        "answer": ["A"] * rows,
        "right": [False] * rows,
        "answerable": [True] * rows,
        "reply": ["A"] * rows,
        "question": [f"Question {i}?" for i in range(rows)],
        "gold": ["B"] * rows,
        "category": ["c"] * rows,
        "form": ["open"] * rows,
    }
    return pl.DataFrame({**plain, **columns}, schema_overrides={"index": pl.UInt32})


def judged(
    frame: pl.DataFrame,
    key: str,
    votes: dict[str, str],
    *,
    due: str = "",
    by: Sequence[str] = (),
    **more: dict[str, str],
) -> pl.DataFrame:
    """Add what judges said on a key: one letter or digit a row, and what a panel makes of it.

    `due` has a "." where a row was not put before them; `again` and `turned` are votes too.
    """
    spelt = "".join(votes.values())
    scale = "graded" if any(sign.isdigit() for sign in spelt) else "binary"
    asked = np.array([sign != "." for sign in due or "x" * len(frame)])
    read = {judge: _votes(signs) for judge, signs in votes.items()}
    verdict, how = decide(list(read.values()), asked, scale)
    columns = [verdict.alias(f"verdict_{key}"), how.alias(f"panel_{key}")]
    columns += [vote_column(v, scale).alias(f"vote_{key}@{judge}") for judge, v in read.items()]
    for check, again in more.items():
        columns += [
            vote_column(_votes(signs), scale).alias(f"{check}_{key}@{judge}")
            for judge, signs in again.items()
        ]
    if by:
        columns.append(pl.Series(f"by_{key}", list(by)))
    return frame.with_columns(columns)


def _votes(signs: str) -> np.ndarray:
    values = {"T": 1, "F": 0, "-": NONE, ".": NONE}
    return np.array([values[s] if s in values else int(s) for s in signs], dtype=np.int16)
