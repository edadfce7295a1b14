"""The rates that follow from verdicts, corrected by people's labels on a sample.

Every rate is worked out a few times over the same rows: with the judges' verdicts, with people's
labels in the place of those that there are, and with verdicts turned round. What turning a verdict
round changes is what depends on it, whatever expressions and filters the benchmark has; and how
much it changes is what an error can do.

Sums are taken over what was drawn as one (a pair, or a row); where any label that a unit needs is
missing, it counts as not labelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.judging.people.labels import Label
from hardset.judging.people.sample import base_due, conditional, units
from hardset.judging.people.sides import unlabelled
from hardset.judging.people.sums import (
    Declare,
    Sums,
    Verdict,
    filled,
    judged,
    sums_of,
    turned_round,
)
from hardset.judging.rubric import Rubric
from hardset.judging.verdicts import REFUSED
from hardset.metrics.bootstrap import Floats
from hardset.metrics.correction import Corrected, prediction_powered, rogan_gladen
from hardset.records import State

FIXED = "\0fixed"  # the stratum of units that no verdict is due on


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A rate that follows from verdicts, and what became of it.

    Attributes:
        name, reading, better, unit: as the benchmark declares it.
        keys: the verdicts that it depends on.
        over: what was drawn and labelled as one.
        powered: corrected; None where it could not be, and `note` says why.
        rogan_gladen: the other correction, where the rate is a share of one verdict.
        why: where there is no such correction, why; else what it leaves out.
    """

    name: str
    reading: str
    better: str
    keys: tuple[str, ...]
    unit: str = ""
    over: str = "replies"  # or "pairs"
    powered: Corrected | None = None
    rogan_gladen: Corrected | None = None
    why: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """People's word on the rows of a run.

    Attributes:
        rubrics: what they were asked.
        strata: (units,), of each unit's stratum.
        verdicts: their verdicts, NaN where there is none.
        answered: by key, (rows,): whether they said all that there is to say of it.
        drawn: by key, (rows,): whether they were asked.
    """

    rubrics: Sequence[Rubric]
    strata: NDArray[np.str_]
    verdicts: Verdict
    answered: Mapping[str, NDArray[np.bool_]]
    drawn: Mapping[str, NDArray[np.bool_]]

    def of(self, keys: Sequence[str]) -> Labelled:
        """Keep what was said of some verdicts: those that were asked about."""
        return replace(
            self,
            verdicts={key: self.verdicts[key] for key in keys},
            answered={key: self.answered[key] for key in keys},
            drawn={key: self.drawn[key] for key in keys},
        )


def said_of(
    outcomes: pl.DataFrame,
    rubrics: Sequence[Rubric],
    labels: Mapping[tuple[int, str], Label],
    strata: NDArray[np.str_],
) -> Labelled:
    """Lay people's labels out over the rows.

    A question that is for refusals only (or for answers only) is answered too where people say
    that the reply is none.

    Args:
        outcomes: the outcome columns.
        rubrics: what people were asked.
        labels: by row and key.
        strata: of the units.
    """
    rows = len(outcomes)
    verdicts = {key: np.full(rows, np.nan) for rubric in rubrics for key in rubric.keys}
    answered = {key: np.zeros(rows, np.bool_) for key in verdicts}
    drawn = {key: np.zeros(rows, np.bool_) for key in verdicts}
    for (row, key), label in labels.items():
        drawn[key][row] = True
        if isinstance(label, float):
            verdicts[key][row] = label
        answered[key][row] = (isinstance(label, float) and label == label) or label == "-"
    if REFUSED in verdicts:
        refused = verdicts[REFUSED]
    elif f"verdict_{REFUSED}" in outcomes.columns:  # as the judges' own due did
        refused = outcomes[f"verdict_{REFUSED}"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    else:
        by_rule = (outcomes["state"] == State.ABSTAINED.value).to_numpy()
        refused = np.where(by_rule, 1.0, 0.0)
    for rubric in rubrics:
        if conditional(rubric):
            due = refused == ("refused" in rubric.due)
            for key in rubric.keys:
                verdicts[key] = np.where(due, verdicts[key], np.nan)
                settled = ~np.isnan(refused) & ~due
                answered[key] = settled | (answered[key] & due & ~np.isnan(verdicts[key]))
    return Labelled(
        rubrics=rubrics, strata=strata, verdicts=verdicts, answered=answered, drawn=drawn
    )


def corrected(
    outcomes: pl.DataFrame, declare: Declare, all_rubrics: Sequence[Rubric], people: Labelled
) -> Iterator[Rate]:
    """Correct every rate that follows from verdicts, overall.

    Args:
        outcomes: the outcome columns.
        declare: what the benchmark measures, from such columns (`Benchmark.rates`).
        all_rubrics: all that judges were asked, of which people may have been asked some.
        people: what they said.
    """
    said = judged(outcomes, all_rubrics)
    of = units(outcomes)

    def summed(verdicts: Verdict) -> dict[tuple[int, str], Sums]:
        return dict(sums_of(outcomes, of, declare, all_rubrics, verdicts))

    told = dict(said)
    for key, labels in people.verdicts.items():
        told[key] = np.where(people.answered[key], labels, said[key])
    by_judge, by_people = summed(said), summed(told)
    whole = summed(filled(outcomes, said, all_rubrics))  # also what judges gave no verdict on
    every = [(key, rubric) for rubric in all_rubrics for key in rubric.keys]
    turned = {key: summed(said | {key: turned_round(said[key], rubric)}) for key, rubric in every}
    due = {key: base_due(outcomes, rubric) for key, rubric in every}
    position = _position(of)
    flipped: dict[tuple[str, ...], list[dict[tuple[int, str], Sums]]] = {}
    for at, sums in by_judge.items():
        keys = tuple(key for key, _ in every if at in turned[key] and turned[key][at].differ(sums))
        if not keys or at not in by_people or at not in whole:
            continue
        sums = replace(sums, among=sums.among | whole[at].among)
        rate = Rate(name=at[1], reading=sums.reading, better=sums.better, keys=keys, unit=sums.unit)
        lacking = [key for key in keys if key not in people.verdicts]
        if lacking:
            yield replace(rate, note=f"it needs labels of {' and '.join(lacking)} too")
            continue
        needs = np.zeros(len(of), np.bool_)
        missing = np.zeros(len(of), np.bool_)
        for key in keys:
            needs |= due[key]
            missing |= due[key] & ~people.answered[key]
        whole_rows = (np.bincount(of, missing, len(of)) == 0)[of]
        one_sided = []
        for key, rubric in every:
            if key not in keys:
                continue
            matters = due[key] & _moved(sums, turned[key][at], of)
            sides = unlabelled(
                np.where(matters, said[key], np.nan),
                rubric,
                key,
                labelled=whole_rows & matters,
                drawn=people.drawn[key],
                stratum=people.strata[of],
            )
            one_sided += [
                f"none of {side.replies:,} that the panel says {side.says!r} of is labelled"
                for side in sides
            ]
        if one_sided and (whole_rows & needs).any():
            yield replace(rate, note="; ".join(one_sided))
            continue
        if keys not in flipped:
            flipped[keys] = [summed(said | one) for one in _flips(said, keys, every, position)]
        flips = [one[at] for one in flipped[keys]]
        found = _corrected(rate, sums, by_people[at], flips, needs, missing, of, people.strata)
        without = _without(sums, whole[at])
        if found.rogan_gladen is not None and not found.why and without:
            rows = "1 reply that has" if without == 1 else f"{without:,} replies that have"
            found = replace(found, why=f"leaves out {rows} no verdict")
        yield found


def _moved(judge: Sums, turned: Sums, of: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say of which rows, or all rows of which pairs, the verdict moves a rate, (rows,)."""
    if judge.rows is None or turned.rows is None:
        (top, bottom), (other_top, other_bottom) = (
            (one.top[of], one.bottom[of]) for one in (judge, turned)
        )
    else:
        (top, bottom), (other_top, other_bottom) = judge.rows, turned.rows
    moved: NDArray[np.bool_] = (top != other_top) | (bottom != other_bottom)
    return moved


def _without(judge: Sums, whole: Sums) -> int:
    """Count the rows that a rate would be over if judges had given every verdict."""
    if judge.rows is None or whole.rows is None:
        return 0
    return int((whole.rows[1] != judge.rows[1]).sum())


def _flips(
    said: Verdict,
    keys: Sequence[str],
    every: Sequence[tuple[str, Rubric]],
    position: NDArray[np.int64],
) -> Iterator[dict[str, Floats]]:
    """Turn the verdicts of the first row of every unit round, then of the second, ...

    Only binary ones can be: of others nothing is yielded.
    """
    turned = {key: rubric for key, rubric in every if key in keys}
    if any(rubric.scale != "binary" for rubric in turned.values()):
        return
    for place in range(int(position.max()) + 1):
        yield {
            key: np.where(position == place, turned_round(said[key], rubric), said[key])
            for key, rubric in turned.items()
        }


def _position(of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Say of each row which one of its unit it is, 0, 1, ..."""
    unit = pl.Series("unit", of)
    counted = pl.DataFrame([unit]).select(pl.int_range(pl.len()).over("unit"))
    found: NDArray[np.int64] = counted.to_series().to_numpy()
    return found


def _corrected(
    rate: Rate,
    judge: Sums,
    people: Sums,
    flips: Sequence[Sums],
    needs: NDArray[np.bool_],
    missing: NDArray[np.bool_],
    of: NDArray[np.int64],
    strata: NDArray[np.str_],
) -> Rate:
    """Correct one rate; units on which nothing was due are known without a label."""
    groups = len(strata)
    due = (np.bincount(of, needs, groups) > 0) & judge.among
    whole = (np.bincount(of, missing, groups) == 0) | ~due
    count = int((whole & due).sum())
    rate = replace(rate, over="pairs" if (np.bincount(of)[due] > 1).any() else "replies")
    if not count:
        return replace(rate, note=f"none of the {rate.over} has every label that it needs")
    where = np.where(due, strata, FIXED)
    # What is certain to add nothing is left out: it would pass for labels.
    kept = np.flatnonzero(due | (judge.top != 0) | (judge.bottom != 0))
    labelled = np.flatnonzero(whole[kept])
    worst = _worst(judge, flips)
    powered = prediction_powered(
        rate.name,
        judge.top[kept],
        judge.bottom[kept],
        labelled,
        people.top[kept][labelled],
        people.bottom[kept][labelled],
        strata=where[kept],
        clusters=judge.clusters[kept],
        flipped=None if worst is None else (worst[0][kept], worst[1][kept]),
    )
    powered = replace(powered, rows=int(due.sum()), labelled=count)
    rate = replace(rate, powered=powered)
    if len(rate.keys) > 1:
        return replace(rate, why=f"follows from {len(rate.keys)} verdicts")
    if judge.rows is None:
        return replace(rate, why="is over pairs")
    if not flips:
        return replace(rate, why="its verdict is not TRUE or FALSE")
    plain = _plain_share(judge, people, flips, needs, missing, of, where)
    if plain is None:
        return replace(rate, why="no plain share of one verdict")
    return replace(rate, rogan_gladen=plain, why="" if plain.value is not None else _failed(plain))


def _failed(plain: Corrected) -> str:
    """Say why the share of a verdict could not be corrected by sensitivity and specificity."""
    if plain.sensitivity is None or plain.specificity is None:
        return "people's labels are all alike" if plain.labelled else "none of its rows is labelled"
    return "the judge is no better than chance"


def _worst(judge: Sums, flips: Sequence[Sums]) -> tuple[Floats, Floats] | None:
    """Give the sums with the one verdict turned round in each unit that changes the rate most."""
    if not flips:
        return None
    total = judge.bottom.sum()
    value = judge.top.sum() / total if total else 0.0
    tops = np.stack([flip.top for flip in flips])
    bottoms = np.stack([flip.bottom for flip in flips])
    change = np.abs((tops - judge.top) - value * (bottoms - judge.bottom))
    pick = change.argmax(axis=0)[None]
    return (
        np.take_along_axis(tops, pick, axis=0)[0],
        np.take_along_axis(bottoms, pick, axis=0)[0],
    )


def _plain_share(
    judge: Sums,
    people: Sums,
    flips: Sequence[Sums],
    needs: NDArray[np.bool_],
    missing: NDArray[np.bool_],
    of: NDArray[np.int64],
    strata: NDArray[np.str_],
) -> Corrected | None:
    """Correct the share of a verdict by sensitivity and specificity; None where it is no share.

    Rows in the denominator on which no verdict was due (failed ones) keep what they have.
    """
    assert judge.rows is not None
    assert people.rows is not None
    (top, bottom), (told, _) = judge.rows, people.rows
    changed = np.zeros(len(of))
    for place, flip in enumerate(flips):
        assert flip.rows is not None
        if not np.array_equal(flip.rows[1], bottom):
            return None
        here = _position(of) == place
        changed[here] = flip.rows[0][here] - top[here]
    counts = bottom == 1
    open_ = counts & (np.abs(changed) == 1)
    held = counts & ~open_
    if not open_.any() or not np.isin(bottom, (0, 1)).all() or not np.isin(top, (0, 1)).all():
        return None
    if (held & needs & ~np.isin(top, (0,))).any():
        return None  # a verdict that changes nothing here: the rate is no plain share of it
    rows = np.flatnonzero(open_)
    labelled = np.flatnonzero(~missing[rows])
    found = rogan_gladen(
        "",
        top[rows],
        labelled,
        told[rows][labelled],
        strata=[f"{_name} {place}" for _name, place in zip(
            strata[of[rows]], _position(of)[rows], strict=True
        )],
        clusters=judge.clusters[of[rows]],
    )  # fmt: skip
    share, rest = len(rows) / counts.sum(), float(top[held].sum() / counts.sum())

    def whole(value: float | None) -> float | None:
        return None if value is None else rest + share * value

    return replace(
        found, raw=whole(found.raw), value=whole(found.value), low=whole(found.low),
        high=whole(found.high),
    )  # fmt: skip
