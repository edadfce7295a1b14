"""The corners of HARDBench's metrics: four baselines whose values can be worked out by hand.

Two sets, both 1:1: the drawn scenes in HARDBench's form, and the same pictures and questions
written out in the published columns. With n pairs there are n answerable and n unanswerable rows.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from hardset.benchmarks.hardbench import HARDBench
from hardset.benchmarks.scenes import Scenes, open_scene
from hardset.models.baseline import make
from hardset.run import Run, Settings, evaluate

PAIRS = 30
KINDS = ("always-refuse", "never-refuse", "random", "oracle")


def published(folder: Path) -> Path:
    """Write the scenes out as HARDBench publishes its rows, with their pictures beside them."""
    originals: dict[str, str] = {}
    rows = []
    for number, item in enumerate(Scenes(n=2 * PAIRS, kinds="hardbench").items()):
        address = item.images[0].where.removeprefix("scenes:")
        picture = folder / "drawn" / f"{address}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_bytes(open_scene(address))
        originals.setdefault(item.pair, item.question)
        rows.append(
            {
                "question": item.question,
                "answer": item.answer,
                "image": f"{address}.png",
                "data_source": "drawn",
                "is_unanswerable": not item.answerable,
                "original_question": None if item.answerable else originals[item.pair],
                "modifications": item.altered or None,
                "pair_id": float(number // 2),
            }
        )
    path = folder / "test.parquet"
    pl.DataFrame(rows).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[tuple[str, str], Run]:
    folder = tmp_path_factory.mktemp("hardbench")
    sets = {
        "scenes": Scenes(n=2 * PAIRS, kinds="hardbench"),
        "hardbench": HARDBench(published(folder), images=folder),
    }
    return {
        (name, kind): evaluate(benchmark, make(kind), Settings(runs=folder / "runs"))
        for name, benchmark in sets.items()
        for kind in KINDS
    }


def values(run: Run, **cut: str) -> dict[str, float | None]:
    return {metric.name: metric.value for metric in run.metrics if metric.cut == cut}


def share_of_lucky_answers(run: Run) -> float:
    """Of the answerable rows, those whose guess happens to be the answer: from the replies."""
    told = run.outcomes.filter(pl.col("answerable"))
    said = told["reply"].str.strip_prefix("The answer is ").str.strip_suffix(".")
    return (said == told["gold"]).sum() / PAIRS


BOTH = pytest.mark.parametrize("name", ["scenes", "hardbench"])


@BOTH
def test_the_set_is_one_to_one(runs, name):
    rows = runs[name, "oracle"].outcomes
    assert (len(rows), rows["answerable"].sum()) == (2 * PAIRS, PAIRS)
    assert set(rows["edit"]) == {"O", "R", "A"}
    assert (rows["sha256"] != "").all()


@BOTH
def test_always_refusing(runs, name):
    """TP = n, FP = n, FN = 0: precision n/2n, recall n/n, F1 2n/(2n + n) = 2/3."""
    found = values(runs[name, "always-refuse"])
    assert found["refusal precision"] == 0.5
    assert found["refusal recall"] == 1
    assert found["refusal F1"] == pytest.approx(2 / 3)
    assert found["over-refusal"] == 1
    assert found["answerable accuracy"] == 0
    assert found["paired accuracy"] == 0


@BOTH
@pytest.mark.parametrize("kind", ["never-refuse", "random"])
def test_never_refusing(runs, name, kind):
    """TP = FP = 0, FN = n: no precision, recall 0/n, F1 0/(0 + n); no edited question right."""
    run = runs[name, kind]
    found = values(run)
    assert found["refusal precision"] is None
    assert found["refusal recall"] == 0
    assert found["refusal F1"] == 0
    assert found["over-refusal"] == 0
    assert found["paired accuracy"] == 0
    assert found["answerable accuracy"] == pytest.approx(share_of_lucky_answers(run))


@BOTH
def test_always_being_right(runs, name):
    found = values(runs[name, "oracle"])
    for metric in ("answerable accuracy", "refusal precision", "refusal recall", "refusal F1"):
        assert found[metric] == 1, metric
    assert found["paired accuracy"] == 1
    assert found["over-refusal"] == 0


@pytest.mark.parametrize(
    ("kind", "paper"),
    [
        # TP = n, FP = n: right are the n that it refuses rightly, of 2n
        ("always-refuse", {"acc": 0, "precision": 0.5, "recall": 1, "F1": 2 / 3,
                           "overall_acc": 0.5}),
        # every answerable row is a true negative, be the answer ever so wrong: n of 2n
        ("never-refuse", {"precision": None, "recall": 0, "F1": 0, "overall_acc": 0.5}),
        ("random", {"precision": None, "recall": 0, "F1": 0, "overall_acc": 0.5}),
        ("oracle", {"acc": 1, "precision": 1, "recall": 1, "F1": 1, "overall_acc": 1}),
    ],
)  # fmt: skip
def test_the_authors_rates_at_the_corners(runs, kind, paper):
    found = values(runs["hardbench", kind])
    for metric, value in paper.items():
        assert found[metric] == (None if value is None else pytest.approx(value)), metric


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("always-refuse", (0, 0, 1, 0)),
        ("oracle", (1, 0, 0, 0)),
    ],
)
def test_the_two_by_two_at_the_corners(runs, kind, cells):
    found = values(runs["hardbench", kind])
    names = ("paired accuracy", "original only", "edited only", "neither")
    assert tuple(found[metric] for metric in names) == cells


def test_the_two_by_two_of_one_who_never_refuses(runs):
    """No edited question is right, so the pairs are split by the luck of the originals."""
    run = runs["hardbench", "never-refuse"]
    found, luck = values(run), share_of_lucky_answers(run)
    assert found["original only"] == pytest.approx(luck)
    assert found["neither"] == pytest.approx(1 - luck)


@pytest.mark.parametrize("edit", ["O", "R", "A"])
def test_the_edits_are_told_apart(runs, edit):
    """The three edits take turns, so that each has a third of the pairs."""
    found = {
        metric.name: (metric.numerator, metric.denominator)
        for metric in runs["hardbench", "always-refuse"].metrics
        if metric.cut == {"edit": edit}
    }
    assert found["edited only"] == (PAIRS / 3, PAIRS / 3)
    assert found["over-refusal"] == (PAIRS / 3, PAIRS / 3)
    assert found["refusal F1"] == (2 * PAIRS / 3, PAIRS)
