"""What all learners of `hardset learn` show, in a few sentences: every set, and augmentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hardset.reports.learned_metrics import Row, drawn, names, rows_of, sets_of
from hardset.reports.measures import HARD, PLAIN, RANDOM, Measure, number, verdict

_MOST = 12  # sets that a sentence goes through


class Claim(NamedTuple):
    """What holds of some sets, under what it is of: `At k = 16, on this test set`."""

    of: str
    parts: Sequence[str]

    def __str__(self) -> str:
        """Write it in a sentence."""
        return f"{self.of}, {'; '.join(self.parts)}." if self.of else f"{self.parts[0]}."


def claims(metrics: Mapping[str, Any]) -> list[Claim]:
    """Say for every set what it teaches beside random examples: at the fewest, and at the most."""
    kinds = [one for one in sets_of(metrics) if one != RANDOM]
    gaps = [
        row for row in rows_of(metrics, "gaps")
        if row.get("augment", PLAIN) == drawn(metrics) and number(row, "gap") is not None
    ]  # fmt: skip
    if not gaps:
        return [Claim("", ["No gap could be measured: no pair of trainings came to an end"])]
    first = kinds[0] if kinds else HARD
    measure = Measure(str(metrics.get("measure") or "accuracy"))
    by_k: dict[int, list[str]] = {}
    for k in _ends(gaps):
        here = [row for row in gaps if row.get("k") == k]
        alike: dict[str, list[str]] = {}
        for kind in kinds or [first]:
            if some := [row for row in here if row.get("set", first) == kind]:
                alike.setdefault(teaches(some, measure), []).append(kind)
        parts = [f"{_sets(some)} {text}" for text, some in alike.items()]
        by_k[k] = parts
    said = [Claim(f"At {ks}, on this test set", parts) for ks, parts in _merged(by_k)]
    return [*said, *_looked_at(metrics, gaps)]


def _looked_at(metrics: Mapping[str, Any], gaps: Sequence[Row]) -> list[Claim]:
    """Say of how many gaps so many are shown, and that augmented sets are not among them."""
    said = []
    if len(gaps) > 1:
        less, more, _, _ = _counted(gaps)
        said.append(
            f"Of {len(gaps):,} gaps looked at, {less + more:,} "
            f"{'is' if less + more == 1 else 'are'} shown, at 95 % each and not together"
        )
    plain = drawn(metrics)
    if any(one != plain for one in names(metrics, "augments")):
        many = sum(
            row.get("augment", PLAIN) != plain and number(row, "gap") is not None
            for row in rows_of(metrics, "gaps")
        )
        apart = f" ({many:,} gaps)" if many > 1 else " (1 gap)" if many else ""
        without = "augmented" if plain == PLAIN else "otherwise augmented"
        text = f"{without} sets{apart} are counted apart"
        said.append(text if said else text.capitalize())
    return [Claim("", ["; ".join(said)])] if said else []


def augmentation_claims(metrics: Mapping[str, Any]) -> list[Claim]:
    """Say of each augmentation what it changes, set by set; nothing where none was asked for."""
    rows = rows_of(metrics, "augmentation")
    rows = [row for row in rows if number(row, "difference") is not None]
    said = []
    for mixed in (one for one in names(metrics, "augments") if one != PLAIN):
        some = [row for row in rows if row.get("augment") == mixed]
        by_k: dict[int, list[str]] = {}
        for k in _ends(some):
            alike: dict[str, list[str]] = {}
            for kind in sets_of(metrics):
                if of := [row for row in some if row.get("k") == k and row.get("set") == kind]:
                    alike.setdefault(_changes(of), []).append(kind)
            by_k[k] = [f"learning from {_listed(kinds)} {text}" for text, kinds in alike.items()]
        said += [Claim(f"With {mixed}, at {ks}", parts) for ks, parts in _merged(by_k) if parts]
    return said


def teaches(gaps: Sequence[Row], measure: Measure) -> str:
    """Say for how many learners a set teaches less, or more, by the gaps of one k."""
    of = len(gaps)
    less, more, none, open_ = _counted(gaps)
    if open_ == of:
        values = [number(row, "gap") or 0.0 for row in gaps]
        if of == 1 and values[0]:
            by = measure.difference(abs(values[0])).lstrip("+-")
            way = "above" if values[0] > 0 else "below"
            unit = f" {measure.unit}" if measure.unit else ""
            came = f"come out {by}{unit} {way} random examples with the one learner"
        else:
            came = f"come out {_ways(values)} random examples {_with(of)}"
        return f"{came}; {without_interval(gaps)}"
    if none == of:
        return f"are not shown to differ from random examples for {_any(of)}"
    found = (("less", less), ("more", more))
    parts = [f"{way} for {'the one learner' if of == 1 else n}" for way, n in found if n]
    if not parts:
        return f"are not shown to differ from random examples for {none} of {of} learners (for {open_} there is no interval)"  # noqa: E501
    rest = _rest(none, open_) + _here_alone(gaps)
    whom = "" if of == 1 else f" of {of} learners"
    return f"teach {' and '.join(parts)}{whom} than random examples do{rest}"


def here_alone(gap: Row) -> bool:
    """Whether a difference is shown over seeds, yet not over other test examples."""
    low, high = (number(gap, f"two_way_{end}") for end in ("low", "high"))
    shown = verdict(number(gap, "low"), number(gap, "high")) in ("less", "more")
    return shown and verdict(low, high) == "not shown"


def _here_alone(gaps: Sequence[Row]) -> str:
    """Say of what is shown on this test set that other test examples may undo it."""
    many = sum(map(here_alone, gaps))
    less, more, _, _ = _counted(gaps)
    if not many:
        return ""
    of = "" if many == less + more else f" for {many} of these {less + more}"
    return f", not shown over other test examples{of}"


def _rest(none: int, open_: int) -> str:
    """Say of the other learners that nothing is shown, and why."""
    said = [f"for {none} no difference is shown"] * bool(none)
    said += [f"for {open_} there is no interval"] * bool(open_)
    return f" ({', '.join(said)})" if said else ""


def _changes(rows: Sequence[Row]) -> str:
    """Say for how many learners an augmentation raises a figure, or lowers it."""
    of = len(rows)
    lower, higher, none, open_ = _counted(rows)
    if open_ == of:
        ways = _ways([number(row, "difference") or 0.0 for row in rows])
        return f"comes out {ways} learning without it {_with(of)}; {without_interval(rows)}"
    if none == of:
        return f"is not shown to change for {_any(of)}"
    found = (("better", higher), ("worse", lower))
    parts = [f"{way} for {'the one learner' if of == 1 else n}" for way, n in found if n]
    if not parts:
        return (
            f"is not shown to change for {none} of {of} learners (for {open_} there is no interval)"
        )
    whom = "" if of == 1 else f" of {of} learners"
    return f"goes {' and '.join(parts)}{whom}{_rest(none, open_)}{_here_alone(rows)}"


def without_interval(rows: Iterable[Row]) -> str:
    """Say why there is no interval: one seed, or seeds that all differ by the same."""
    pairs = {int(number(row, "n") or 0) for row in rows}
    if pairs == {1}:
        return "with one seed there is no interval, so it may be chance"
    if 1 not in pairs:
        n = f"the {min(pairs):,} seeds" if len(pairs) == 1 else "all seeds"
        return f"{n} differ alike, so there is no interval"
    return "with one seed, or seeds that differ alike, there is no interval"


def _counted(rows: Sequence[Row]) -> tuple[int, int, int, int]:
    said = [verdict(number(row, "low"), number(row, "high")) for row in rows]
    less, more, none, open_ = (
        said.count(one) for one in ("less", "more", "not shown", "no interval")
    )
    return less, more, none, open_


def _ways(values: Sequence[float]) -> str:
    above, below = sum(x > 0 for x in values), sum(x < 0 for x in values)
    found = (("above", above), ("below", below), ("level with", len(values) - above - below))
    if [n for _, n in found if n] == [len(values)]:
        return next(way for way, n in found if n)
    return ", ".join(f"{way} (for {n})" for way, n in found if n)


def _merged(by_k: Mapping[int, Sequence[str]]) -> list[tuple[str, Sequence[str]]]:
    """Say once what holds alike of several k."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for k, parts in by_k.items():
        alike.setdefault(tuple(parts), []).append(k)
    return [(" and ".join(f"k = {k:,}" for k in ks), parts) for parts, ks in alike.items()]


def _ends(rows: Sequence[Row]) -> list[int]:
    ks = sorted({int(number(row, "k") or 0) for row in rows})
    return list(dict.fromkeys([*ks[:1], *ks[-1:]]))


def _any(of: int) -> str:
    return "the one learner" if of == 1 else f"any of {of} learners"


def _with(of: int) -> str:
    return "with the one learner" if of == 1 else f"with {of} learners"


def _sets(kinds: Sequence[str]) -> str:
    if len(kinds) > 1:
        return f"the sets {_listed(kinds)}"
    return f"the examples {_listed(kinds)}" if " " in kinds[0] else f"the {kinds[0]} examples"


def _listed(kinds: Sequence[str]) -> str:
    shown = list(kinds[:_MOST])
    if kinds[_MOST:]:
        shown.append(f"{len(kinds) - _MOST:,} more")
    quoted = [f"“{one}”" if " " in one else one for one in shown]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
