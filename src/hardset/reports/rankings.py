"""How far rankings agree, laid out: a matrix a score, and every pair with its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hardset.reports.measures import number
from hardset.reports.numbers import hundredths

MOST_PAIRS = 200  # on the page; all are in stability.json
MOST_SIDES = 12  # rows of a matrix
OPEN_PAIRS = 10  # that stand unfolded
_AGREED = 0.8  # of the hardest shared: the scorers agree
Pair = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """Means over the pairs of one kind; `strength` shades it, `negative` says which way."""

    value: str = ""
    pairs: str = ""
    strength: str = ""
    negative: bool = False
    title: str = ""


@dataclass(frozen=True)
class Matrix:
    """Spearman above the diagonal and the overlap of the hardest below; on it, both of seeds."""

    name: str
    of: str  # what is held against each other
    sides: Sequence[str]
    rows: Sequence[Sequence[tuple[Cell, ...]]]
    left_out: int


@dataclass(frozen=True)
class Line:
    """One pair, or the mean of several."""

    cells: Sequence[str]
    spearman: str
    spearman_interval: str
    overlap: str
    overlap_interval: str


def matrices(stability: Mapping[str, Any]) -> list[Matrix]:
    """Lay out a matrix a score, and one of the scores among themselves.

    Of one predictor the sides are its seeds. Of several they are the predictors, a cell the mean
    over the pairs of their seeds, and on the diagonal stands what a predictor's seeds agree on.
    """
    pairs = list(stability.get("pairs") or ())
    made = []
    alike = [pair for pair in pairs if pair.get("a_score") == pair.get("b_score")]
    for score in dict.fromkeys(str(pair.get("score")) for pair in alike):
        some = [pair for pair in alike if str(pair.get("score")) == score]
        predictors = {_predictor(pair[side]) for pair in some for side in ("a", "b")}
        of = _predictor if len(predictors) > 1 else _source
        what = "predictors" if len(predictors) > 1 else "seeds"
        made.append(_matrix(spoken(score), what, [(of(p["a"]), of(p["b"]), p) for p in some]))
    apart = [pair for pair in pairs if pair.get("a_score") != pair.get("b_score")]
    if apart:
        sides = [(spoken(pair["a_score"]), spoken(pair["b_score"]), pair) for pair in apart]
        made.append(_matrix("Scores with each other", "scores", sides))
    return made


def _source(column: str) -> str:
    """Give predictor and seed of a column: `ffn#0` of `loss@ffn#0`."""
    return str(column).partition("@")[2] or str(column)


def _predictor(column: str) -> str:
    return _source(column).rpartition("#")[0] or _source(column)


def _matrix(name: str, of: str, pairs: Sequence[tuple[str, str, Pair]]) -> Matrix:
    every = list(dict.fromkeys(side for pair in pairs for side in pair[:2]))
    sides = every[:MOST_SIDES]
    rows = []
    for i, down in enumerate(sides):
        row: list[tuple[Cell, ...]] = []
        for j, across in enumerate(sides):
            some = [pair for a, b, pair in pairs if {a, b} == {down, across}]
            kinds = ("spearman", "overlap") if i == j else ("spearman",) if j > i else ("overlap",)
            row.append(tuple(_cell(kind, some, down, across) for kind in kinds if some))
        rows.append(row)
    return Matrix(name, of, sides, rows, len(every) - len(sides))


def _cell(kind: str, pairs: Sequence[Pair], down: str, across: str) -> Cell:
    found = [x for pair in pairs if (x := number(pair.get(kind) or {}, "value")) is not None]
    if not found:
        return Cell("undefined")
    mean = sum(found) / len(found)
    value = f"{100 * mean:.0f} %" if kind == "overlap" else hundredths(mean)
    many = f"{len(found):,} pairs" if len(found) > 1 else "1 pair"
    said = "Spearman" if kind == "spearman" else "overlap of the hardest"
    return Cell(
        value, many, f"{0.45 * min(1.0, abs(mean)):.2f}", mean < 0,
        f"{down} and {across}: {said} {value}, {many}",
    )  # fmt: skip


def lines(stability: Mapping[str, Any]) -> tuple[list[Line], int]:
    """Write every pair with its intervals, as many as there is room for, and how many are not."""
    pairs = list(stability.get("pairs") or ())
    made = []
    for pair in pairs[:MOST_PAIRS]:
        rho, top = pair.get("spearman") or {}, pair.get("overlap") or {}
        k, share = number(top, "k"), number(top, "value")
        overlap = "undefined" if share is None else f"{100 * share:.1f} %"
        if k and share is not None:
            overlap += f" ({share * k:.0f}/{k:.0f})"
        value = number(rho, "value")
        n = number(pair, "n")
        made.append(
            Line(
                (str(pair.get("a")), str(pair.get("b")), f"{n:,.0f}" if n is not None else ""),
                "undefined" if value is None else hundredths(value),
                between(rho, 1),
                overlap,
                between(top, 100),
            )
        )
    return made, len(pairs) - len(made)


def between(estimate: Mapping[str, Any], times: int) -> str:
    """Write an estimate's interval, in hundredths or, `times` 100, per cent."""
    low, high = number(estimate, "low"), number(estimate, "high")
    if low is None or high is None:
        return ""
    if times == 1:
        return f"{hundredths(low)} to {hundredths(high)}"
    return f"{times * low:.1f} to {times * high:.1f}"


def summary(stability: Mapping[str, Any]) -> list[Line]:
    """Write the means of each kind of pair."""
    made = []
    for row in stability.get("summary") or ():
        rho, top, n = (number(row, name) for name in ("spearman", "overlap", "pairs"))
        made.append(
            Line(
                (spoken(str(row.get("score"))), str(row.get("between")), f"{n or 0:,.0f}"),
                "undefined" if rho is None else hundredths(rho),
                "",
                "undefined" if top is None else f"{100 * top:.1f} %",
                "",
            )
        )
    return made


def spoken(score: str) -> str:
    """Write a score, or two, as one speaks of it."""
    return score.replace("_", " ").replace("/", " and ")


def claim(stability: Mapping[str, Any], score: str) -> str:
    """Say in a sentence whose hardness is: the scorer's too, unless scorers agree; or nothing."""
    found = [
        row for row in stability.get("summary") or ()
        if row.get("score") == score and row.get("between") in ("families", "seeds")
    ]  # fmt: skip
    shared = [x for row in found if (x := number(row, "overlap")) is not None]
    if not shared:
        return ""
    if min(shared) >= _AGREED:
        return "The scorers tried here largely agree on what is hard."
    return "Hardness belongs to the scorer as much as to the example."


def belongs_to_the_scorer(stability: Mapping[str, Any], score: str) -> str:
    """Say with this run's own numbers how much of hardness is the scorer's.

    Args:
        stability: what `stability.json` holds.
        score: the one that is spoken of.
    """
    share = number(stability, "share") or 0.1
    said = []
    for between_, what in (
        ("families", "two predictors"),
        ("seeds", "two seeds of one predictor"),
    ):
        for row in stability.get("summary") or ():
            if row.get("score") == score and row.get("between") == between_:
                rho, top = number(row, "spearman"), number(row, "overlap")
                pairs = int(number(row, "pairs") or 0)
                if rho is None or top is None:
                    continue
                said.append(
                    f"{what} rank the examples alike to Spearman {hundredths(rho)} and share "
                    f"{100 * top:.0f} % of their hardest {100 * share:g} % "
                    f"({pairs:,} {'pair' if pairs == 1 else 'pairs'})"
                )
    if not said:
        return (
            "One predictor with one seed has scored this: how much of the ranking is its own "
            "cannot be said."
        )
    tail = "" if len(said) == 2 else (
        "; what another seed changes was not tried" if said[0].startswith("two predictors")
        else "; what another family changes was not tried"
    )  # fmt: skip
    chance = f"By chance they would share {100 * share:g} %{tail}."
    return f"By {spoken(score)}, {'; '.join(said)}. {chance}"
