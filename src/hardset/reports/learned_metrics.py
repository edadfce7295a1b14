"""What `metrics.json` of `hardset learn` says, read with patience and put into sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hardset.reports.measures import HARD, PLAIN, RANDOM, number
from hardset.reports.text import clip

MOST_FAILED = 20  # kinds shown; all are in metrics.json
_LONG = (300, 100)  # characters of a reason, at either end

Row = Mapping[str, Any]


def rows_of(metrics: Mapping[str, Any], name: str) -> list[Row]:
    """Give a list of records, none where there is none."""
    return [row for row in metrics.get(name) or () if isinstance(row, Mapping)]


def names(metrics: Mapping[str, Any], name: str) -> list[str]:
    """Give a list of names in its order: `learners`, `sets`, `augments`."""
    given = metrics.get(name)
    if given:
        return [str(one) for one in given]
    one = name.removesuffix("s")
    rows = rows_of(metrics, "summary") + rows_of(metrics, "failed")
    return list(dict.fromkeys(str(row[one]) for row in rows if one in row))


def ks_of(metrics: Mapping[str, Any]) -> list[int]:
    """Give the numbers of examples per label, ascending."""
    given = metrics.get("ks") or [row["k"] for row in rows_of(metrics, "summary") if "k" in row]
    return sorted({int(k) for k in given})


def sets_of(metrics: Mapping[str, Any]) -> list[str]:
    """Give the kinds of sets: the hardest first, random last."""
    given = names(metrics, "sets")
    return sorted(given, key=lambda one: (one != HARD, one == RANDOM))


def drawn(metrics: Mapping[str, Any]) -> str:
    """Name the augmentation that is drawn: none, or the first."""
    given = names(metrics, "augments")
    return PLAIN if PLAIN in given or not given else given[0]


def tested(metrics: Mapping[str, Any]) -> str:
    """Write how many test examples there are."""
    n = number(metrics, "n_test")
    return "" if n is None else f"{n:,.0f}"


def trials(metrics: Mapping[str, Any]) -> str:
    """Say how many trainings there were, and how many of them came to an end."""
    failed = len(rows_of(metrics, "failed"))
    done = sum(int(number(row, "n") or 0) for row in rows_of(metrics, "summary"))
    every = done + failed
    if failed:
        return f"{done:,} of {every:,} trainings finished"
    return f"{every:,} {'training' if every == 1 else 'trainings'}"


def main_gaps(metrics: Mapping[str, Any]) -> list[Row]:
    """Give the gaps of the first kind of set that is not random, without augmentation."""
    kind = next((one for one in sets_of(metrics) if one != RANDOM), HARD)
    return [
        row
        for row in rows_of(metrics, "gaps")
        if row.get("set", kind) == kind and row.get("augment", PLAIN) == drawn(metrics)
    ]


def failures(failed: Sequence[Row]) -> tuple[int, list[str], int]:
    """Say what failed: how many, of the first kinds what and why, and how many are not shown."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for row in failed:
        reason = clip(str(row.get("reason") or "no reason given"), *_LONG)
        kinds.setdefault((*key(row), reason), []).append(str(row.get("seed", "?")))
    said = []
    for (learner, k, kind, augment, reason), seeds in list(kinds.items())[:MOST_FAILED]:
        of = f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(seeds[:10])}"
        of += f" and {len(seeds) - 10:,} more" if seeds[10:] else ""
        mixed = "" if augment in (PLAIN, "") else f", {augment}"
        said.append(f"{learner}, k = {k}, {kind}{mixed}, {of}: {reason}")
    hidden = sum(len(seeds) for seeds in list(kinds.values())[MOST_FAILED:])
    return len(failed), said, hidden


def key(row: Row) -> tuple[str, ...]:
    """Give the kind of training that a record is of."""
    return tuple(str(row.get(name, "")) for name in ("learner", "k", "set", "augment"))
