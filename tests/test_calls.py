"""The three walks from Python: places or arrays in hand, and what comes back."""

from __future__ import annotations

import numpy as np
import pytest

import hardset
from hardset.errors import UsageError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def two_clouds(n=40, seed=0):
    """Two clouds of points about -1 and +1 on the first axis: a line tells them apart."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    points = rng.normal(size=(n, 3)).astype(np.float32) / 2
    points[:, 0] += 2 * labels - 1
    return hardset.Held(points, labels, classes=("left", "right"))


def test_arrays_in_hand_go_the_whole_way(tmp_path):
    train, test = two_clouds(), two_clouds(seed=1)
    scored = hardset.difficulty(train, out=tmp_path / "scored", seeds=2, scores=["gradient-norm"])
    assert (scored.folder / "report.html").is_file()
    assert scored.manifest["data"]["source"]["place"] == "in memory"
    picked = hardset.pick_set(tmp_path / "scored", data=train, k=4, out=tmp_path / "picked")
    assert len(picked.positions) == 8  # 4 of each of 2 labels
    learned = hardset.learn(
        train, test, out=tmp_path / "learned", picked=str(tmp_path / "picked"),
        learners=["mlp"], seeds=2, epochs=2,
    )  # fmt: skip
    assert [gap["n"] for gap in learned.metrics["gaps"]] == [2]
    assert not learned.failed


def test_other_arrays_are_another_scoring(tmp_path):
    hardset.difficulty(two_clouds(), out=tmp_path, seeds=1, scores=["loss"], at_epoch=0)
    with pytest.raises(UsageError, match="another scoring"):
        hardset.difficulty(two_clouds(seed=1), out=tmp_path, seeds=1, scores=["loss"], at_epoch=0)


def test_learning_needs_one_source_of_sets(tmp_path):
    with pytest.raises(UsageError, match="give what to learn from"):
        hardset.learn(two_clouds(), two_clouds(), out=tmp_path)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scores": ["lost"]}, "--score takes one of"),
        ({"scores": "loss"}, "takes a list"),
        ({"predictors": "mlp"}, "takes a list"),
        ({"predictors": ["mlp", "mlp"]}, "given twice"),
        ({"seeds": 0}, "--seeds takes a whole number"),
        ({"seeds": 1.5}, "--seeds takes a whole number"),
        ({"threads": -1}, "--threads takes a whole number"),
        ({"mode": "train"}, "--mode takes eval or paper"),
        ({"label_noise": True, "folds": 1}, "--folds takes a whole number from 2"),
        ({"folds": 5}, "goes with --label-noise"),
        ({"at_epoch": 0, "epochs": 3}, "trains nothing"),
        ({"split": "test"}, "given as a place"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_trained(wrong, said, tmp_path):
    with pytest.raises(UsageError, match=said):
        hardset.difficulty(two_clouds(), out=tmp_path / "none", **wrong)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("data", [None, np.zeros((3, 2)), ([1], [2])])
def test_data_that_are_no_examples_are_told_what_would_be(data, tmp_path):
    with pytest.raises(UsageError, match="Held"):
        hardset.difficulty(data, out=tmp_path)
    with pytest.raises(UsageError, match="Held"):
        hardset.learn(data, two_clouds(), out=tmp_path, scores="x")


@pytest.mark.parametrize("wrong", [{"ks": 2}, {"ks": [0]}, {"seeds": 1.5}, {"learners": "mlp"}])
def test_learning_refuses_numbers_and_lists_that_are_none(wrong, tmp_path):
    with pytest.raises(UsageError, match="takes a"):
        hardset.learn(two_clouds(), two_clouds(), out=tmp_path, scores="x", **wrong)


def test_the_names_of_the_package_can_be_listed():
    assert {"difficulty", "pick_set", "learn", "open_examples", "evaluate"} <= set(dir(hardset))
