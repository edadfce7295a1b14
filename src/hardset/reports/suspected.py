"""Label noise laid out: the share estimated, which labels are mistaken for which, the suspects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardset.reports.measures import number
from hardset.reports.numbers import magnitude
from hardset.reports.text import cut

MOST_SUSPECTS = 30
MOST_CONFUSED = 20  # pairs of labels
OWN = 0.05  # of labels: a network with more errors of its own is no judge of few wrong labels
LOW = 0.8  # of a weaker network's errors, most pass for wrong labels
MOST_SIDES = 12  # rows of the joint that stands whole


@dataclass(frozen=True)
class Suspect:
    """One example whose label is probably another."""

    id: str
    index: int
    given: str
    given_probability: str
    suggested: str
    suggested_probability: str


@dataclass(frozen=True)
class Noise:
    """What confident learning says of a set's labels.

    Attributes:
        share: the estimated share of wrong labels, with its interval; empty where unknown.
        of: how many examples it is of.
        suspects: the first of them, the surest first.
        many: how many there are in all.
        classes: the sides of `joint`; empty where there are too many to show.
        joint: given label down, estimated true label across: examples, calibrated or counted.
        confused: given, estimated true, examples: the pairs of labels with the most.
        confused_left: how many more pairs there are.
        how: by which network; empty where that is not said.
        predictor: the network's name; empty where that is not said.
        right: how often it gave the labels of examples that it was not trained on.
        weak: that it is wrong so often that the estimate may mostly count errors of its own.
    """

    share: str
    interval: str
    of: str
    suspects: Sequence[Suspect]
    many: int
    classes: Sequence[str]
    joint: Sequence[Sequence[tuple[str, str]]]
    confused: Sequence[tuple[str, str, str]]
    confused_left: int
    how: str
    predictor: str
    right: str
    weak: bool

    @property
    def claim(self) -> str:
        """Say in a sentence what was found, and no more than that."""
        said = ""
        if self.share:
            ends = (
                f" (95 % interval {self.interval}, which leaves out the network's own errors)"
                if self.interval
                else " (no interval)"
            )
            who = self.predictor or "the predictor"
            said = f"{who} disagrees with an estimated {self.share} of the labels{ends}; "
        of = f" of {self.of}" if self.of else ""
        example = "example" if (self.of or str(self.many)) == "1" else "examples"
        said += f"{self.many:,}{of} {example} {'is' if self.many == 1 else 'are'} suspected of a wrong label."  # noqa: E501
        return said[0].upper() + said[1:] if said.startswith("the ") else said

    @property
    def told(self) -> str:
        """Say how good a judge the network is; empty where that was not measured."""
        if not self.right:
            return ""
        said = f"Its answer is the label of {self.right} of the examples that it was not trained on"
        return said + (": the estimate may mostly count its own errors." if self.weak else ".")


def noise_of(out: Path, said: Mapping[str, Any], classes: Mapping[int, str]) -> Noise | None:
    """Lay out what `noise.json` and `noise.parquet` say; None where there is neither.

    Args:
        out: the folder of `hardset difficulty`.
        said: what `noise.json` holds.
        classes: labels' names by number.
    """
    path = out / "noise.parquet"
    if not said and not path.is_file():
        return None
    many, of, suspects = _suspects(out, classes) if path.is_file() else (0, 0, [])
    share = _estimate(said)
    value = number(share, "value")
    low, high = number(share, "low"), number(share, "high")
    ends = low is not None and high is not None
    names = [cut(str(name)) for name in said.get("classes") or ()]
    rows = _joint(said)
    if len(names) != len(rows):
        names = [named(i, classes) for i in range(len(rows))]
    pairs = sorted(
        (
            (names[i], names[j], float(count))
            for i, row in enumerate(rows)
            for j, count in enumerate(row)
            if i != j and count
        ),
        key=lambda pair: -pair[2],
    )
    whole = len(names) <= MOST_SIDES
    most = max((pair[2] for pair in pairs), default=1.0)
    return Noise(
        share="" if value is None else f"{100 * value:.1f} %",
        interval=f"{100 * low:.1f} to {100 * high:.1f}" if ends else "",  # type: ignore[operator]
        of=f"{of:,}" if of else "",
        suspects=suspects,
        many=many,
        classes=names if whole else (),
        joint=[
            [
                (_count(count), "" if i == j else f"{0.45 * float(count) / most:.2f}")
                for j, count in enumerate(row)
            ]
            for i, row in enumerate(rows)
        ]
        if whole
        else (),
        confused=[(given, true, _count(n)) for given, true, n in pairs[:MOST_CONFUSED]],
        confused_left=max(0, len(pairs) - MOST_CONFUSED),
        how=_how(said, names),
        predictor=cut(str(said.get("predictor") or "")),
        right=_right(said),
        weak=_is_weak(said),
    )


def _right(said: Mapping[str, Any]) -> str:
    found = said.get("out_of_fold_accuracy")
    value = number(found, "value") if isinstance(found, Mapping) else None
    if value is None or not isinstance(found, Mapping):
        return ""
    right, n = number(found, "right"), number(found, "n")
    of = "" if right is None or n is None else f" ({right:,.0f}/{n:,.0f})"
    return f"{100 * value:.1f} %{of}"


def _is_weak(said: Mapping[str, Any]) -> bool:
    """Tell whether the network is wrong often, or more often than labels are estimated to be."""
    found = said.get("out_of_fold_accuracy")
    right = number(found, "value") if isinstance(found, Mapping) else None
    wrong = number(_estimate(said), "value")
    if right is None or wrong is None:
        return False
    return right < LOW or 1 - right - wrong > max(wrong, OWN)


def _how(said: Mapping[str, Any], names: Sequence[str]) -> str:
    """Say by which network, and of which labels nothing was learnt."""
    parts = []
    if said.get("predictor"):
        parts.append(f"{said['predictor']}, {said.get('folds', '?')} folds")
    if unlearned := said.get("unlearned"):
        some = ", ".join(names[i] for i in unlearned[:5] if i < len(names))
        more = f" and {len(unlearned) - 5:,} more" if unlearned[5:] else ""
        parts.append(f"not one example of {some}{more} was told with confidence")
    return "; ".join(parts)


def _estimate(said: Mapping[str, Any]) -> Mapping[str, Any]:
    share = said.get("share")
    return share if isinstance(share, Mapping) else {"value": share}


def _joint(said: Mapping[str, Any]) -> Sequence[Sequence[float]]:
    """Give the joint in examples: calibrated where it is there, else as counted."""
    for name in ("calibrated", "joint", "confident_joint"):
        found = said.get(name)
        if isinstance(found, list):
            return found
    return []


def _count(count: float) -> str:
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"


def _suspects(out: Path, classes: Mapping[int, str]) -> tuple[int, int, list[Suspect]]:
    import polars as pl

    frame = pl.scan_parquet(out / "noise.parquet", glob=False)
    many, of = (
        frame.select(pl.col("suspect").sum(), pl.col("suspect").count().alias("of"))
        .collect(engine="streaming")
        .row(0)
    )
    margin = pl.col("suggested_probability") - pl.col("probability")
    first = (
        frame.filter("suspect")
        .with_columns(margin.alias("margin"))
        .sort("margin", "index", descending=[True, False], nulls_last=True)
        .head(MOST_SUSPECTS)
        .collect()
    )
    ids = dict(
        pl.scan_parquet(out / "difficulty.parquet", glob=False)
        .filter(pl.col("index").is_in(first["index"].to_list()))
        .select("index", "id")
        .collect()
        .rows()
    )
    made = [
        Suspect(
            str(ids.get(row["index"], row["index"])),
            row["index"],
            named(row["label"], classes),
            magnitude(row["probability"]),
            named(row["suggested"], classes),
            magnitude(row["suggested_probability"]),
        )
        for row in first.iter_rows(named=True)
    ]
    return many or 0, of or 0, made


def named(label: Any, classes: Mapping[int, str]) -> str:
    """Give a label's name: files hold it by number or by name."""
    return cut(classes.get(label, str(label)) if isinstance(label, int) else str(label))
