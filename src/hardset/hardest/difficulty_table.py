"""One table of all scorers, `difficulty.parquet`, and how far they agree, `stability.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.hardest.parts import Parts, write_json
from hardset.hardest.score_pass import SCORED, STATES
from hardset.lowresource import stability
from hardset.lowresource.difficulty import SCORES
from hardset.lowresource.ranks import Floats, aggregate, normalised
from hardset.lowresource.stability import Column, Pair
from hardset.lowresource.writing import whole

TABLE, STABILITY = "difficulty.parquet", "stability.json"
_TOGETHER = 16  # parts a piece
_GROUP = 65_536  # rows, as much as a piece has at most


def write_table(
    out: Path,
    made: Mapping[tuple[str, int, str], Parts],
    scores: Sequence[str],
    classes: Sequence[str],
) -> tuple[dict[str, int], list[Pair]]:
    """Write the table of all scorers and their stability.

    An example that any of them could not score has neither mean nor rank, so that all examples
    with a rank were ranked by the same scorers.

    Args:
        out: the folder.
        made: the parts that each predictor left, by name, seed and family.
        scores: names in `SCORES`.
        classes: the labels' names; empty for real numbers.

    Returns:
        How many examples are in each state, and the pairs held against each other.
    """
    states = _states(made)
    scored = states == STATES.index(SCORED)
    every = bool(scored.all())
    families = [family for _, _, family in made]
    columns: dict[Column, Floats] = {}
    means: dict[str, Floats] = {}
    origins: dict[str, Floats] = {}
    for score in scores:
        hard = SCORES[score].hard
        held = []
        for (name, seed, family), parts in made.items():
            column = Column(score, name, seed, family)
            values = _column(parts, score)
            origins[column.name] = values
            held.append(values if every else np.where(scored, values, np.nan))
            if len(made) * len(scores) > 1:
                columns[column] = held[-1] if hard > 0 else -held[-1]
        means[score] = _mean(held, families)
        held = [normalised(values, hard) for values in held]
        means[f"rank_{score}"] = _mean(held, families)
    pairs = stability.table(columns)
    del columns, held, values
    write_json(out / STABILITY, stability.document(pairs, len(states)))
    _write(out / TABLE, next(iter(made.values())), states, {**means, **origins}, classes)
    counts = np.bincount(states, minlength=len(STATES))
    return {state: int(counts[number]) for number, state in enumerate(STATES)}, pairs


def _mean(columns: Sequence[Floats], families: Sequence[str]) -> Floats:
    """Average over seeds and networks of a family, then over families."""
    return aggregate(columns, families).rank if len(columns) > 1 else columns[0]


def _write(
    path: Path,
    first: Parts,
    states: NDArray[np.uint8],
    figures: Mapping[str, Floats],
    classes: Sequence[str],
) -> None:
    """Write the table, whole or not at all, from pieces: ids and names are never held together."""
    names = pl.Series([*classes, None], dtype=pl.String)
    called = pl.Series(STATES)
    with TemporaryDirectory(prefix=".pieces.", dir=path.parent) as folder:
        for start in range(0, len(first), _TOGETHER):
            numbers = range(start, min(len(first), start + _TOGETHER))
            rows = pl.concat(
                [
                    pl.read_parquet(first.path(n), columns=["index", "id", "label"], glob=False)
                    for n in numbers
                ]
            )
            at = first.range(start).start
            here = slice(at, at + rows.height)
            label = rows["label"] if classes else pl.repeat(None, rows.height, eager=True)
            named = names.gather(label.fill_null(len(classes)).cast(pl.UInt32))
            piece = rows.with_columns(
                named.alias("class"),
                called.gather(states[here]).alias("state"),
                *(pl.Series(name, own[here], nan_to_null=True) for name, own in figures.items()),
            )
            whole(Path(folder) / f"{start:06d}.parquet", piece.write_parquet)
        every = pl.scan_parquet(sorted(Path(folder).iterdir()), glob=False)
        whole(path, lambda part: every.sink_parquet(part, row_group_size=_GROUP))


def _states(made: Mapping[tuple[str, int, str], Parts]) -> NDArray[np.uint8]:
    """Return the state of each example: of several, the one that says most against it."""
    worst: NDArray[np.uint8] | None = None
    for parts in made.values():
        states = np.empty(parts.n, dtype=np.uint8)
        for here, column in _pieces(parts, "state"):
            states[here] = column.cast(pl.Enum(STATES)).to_physical().cast(pl.UInt8).to_numpy()
        worst = states if worst is None else np.maximum(worst, states)
    assert worst is not None
    return worst


def _column(parts: Parts, name: str) -> NDArray[np.float64]:
    """Read one column of all parts, (n,); NaN where it is null."""
    values = np.empty(parts.n, dtype=np.float64)
    for here, column in _pieces(parts, name):
        values[here] = column.fill_null(float("nan")).to_numpy()
    return values


def _pieces(parts: Parts, name: str) -> Iterator[tuple[slice, pl.Series]]:
    """Yield a column part by part: a scan of them all takes a hundred megabytes of its own."""
    for number in range(len(parts)):
        positions = parts.range(number)
        column = pl.read_parquet(parts.path(number), columns=[name], glob=False)[name]
        yield slice(positions.start, positions.stop), column
