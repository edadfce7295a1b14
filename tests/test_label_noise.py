"""Who judges labels: trained until it helps no more, how right it is, and what is said of it."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the torch extra")

from hardset.hardest.data import Data  # noqa: E402
from hardset.hardest.difficulty import difficulty  # noqa: E402
from hardset.hardest.difficulty_notices import chance, of_noise, of_trainings, variance  # noqa: E402
from hardset.hardest.difficulty_settings import Settings  # noqa: E402
from hardset.hardest.out_of_fold import Folds, longer  # noqa: E402
from hardset.lowresource.early_stopping import BestEpoch, parted  # noqa: E402
from hardset.lowresource.examples import Held  # noqa: E402
from hardset.lowresource.network import Network  # noqa: E402

pytestmark = pytest.mark.torch


def one_weight(value: float) -> Network:
    """Two classes with the logits 0 and w: the loss of class 1 is log(1 + exp(-w))."""

    class Two(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.tensor(value))

        def forward(self, inputs):
            return torch.stack([torch.zeros(len(inputs)), self.w.expand(len(inputs))], 1)

    return Network(Two(), lambda contents: torch.tensor(np.stack(contents)), "two", "hand")


def test_the_best_epoch_is_kept_and_patience_ends():
    held = Held(np.zeros((4, 1), np.float32), np.array([1, 1, 1, 0]), ("a", "b"))
    best = BestEpoch(held, patience=2, batch=3)
    network = one_weight(0.0)
    said = []
    for epoch, weight in enumerate((0.0, 1.0, 3.0, 2.0)):  # best of these: 1, near log 3 = 1.0986
        network.module.w.data.fill_(weight)
        said.append(best.enough(epoch, network))
    assert said == [False, False, False, True]
    assert best.epochs == 2
    wanted = (3 * math.log1p(math.exp(-1)) + math.log1p(math.exp(1))) / 4
    assert best.loss == pytest.approx(wanted)
    again = BestEpoch(held, patience=2, batch=3)
    again.load_state_dict(best.state_dict())
    again.restore(network)
    assert network.module.w.item() == 1.0


@given(st.lists(st.integers(-1, 3), min_size=8, max_size=80))
def test_a_tenth_is_held_out_evenly(labels):
    examples = Held(np.zeros((len(labels), 1), np.float32), np.array(labels), tuple("abcd"))
    train, held = parted(examples, 0)
    both = np.concatenate([train.positions, held.positions])
    assert sorted(both) == np.flatnonzero(examples.labels >= 0).tolist()
    for label in range(4):
        many, out = labels.count(label), int((held.labels == label).sum())
        assert math.floor(many / 10) <= out <= math.ceil(many / 10) if many > 2 else out == 0


def test_the_judge_trains_for_longer_and_in_smaller_steps():
    """Of the paper's five epochs of 256: 40, and 600 examples in 30 steps of 20."""
    examples = Held(np.zeros((600, 8, 8, 1), np.uint8), np.arange(600) % 2)
    found, patience = longer(Folds("ffn", 3, 256, {"lr": 0.01}), examples)
    assert found == {"lr": 0.01, "epochs": 40, "batch": 20, "steps": None}
    assert patience == 5
    found, patience = longer(Folds("ffn", 3, 256, {"batch": 64, "steps": 7}, epochs=10), examples)
    assert (found["epochs"], found["batch"], found["steps"], patience) == (10, 64, 14, 2)


@pytest.mark.parametrize("planted", [0, 60])
def test_planted_wrong_labels_of_digits(tmp_path, monkeypatch, planted):
    """600 digits, by the paper's weak recipe: their labels are right, or 60 of them are not."""
    digits = pytest.importorskip("sklearn.datasets", reason="needs scikit-learn").load_digits()
    pictures, labels = (digits.images[:600] * 15).astype(np.uint8), digits.target[:600].copy()
    generator = np.random.default_rng(0)
    wrong = generator.permutation(600)[:planted]
    labels[wrong] = (labels[wrong] + generator.integers(1, 10, planted)) % 10
    monkeypatch.setattr(Data, "open", lambda self: Held(pictures, labels, source={"sha256": "d"}))
    settings = Settings(("mlp",), 1, ("loss",), threads=1, label_noise=True)
    done = difficulty(Data("digits"), tmp_path / "out", settings)
    said = json.loads((tmp_path / "out/noise.json").read_bytes())
    right = said["out_of_fold_accuracy"]
    assert (right["n"], right["value"]) == (600, right["right"] / 600)
    assert right["value"] > (0.93 if not planted else 0.8)
    assert abs(said["share"]["value"] - planted / 600) < 0.025
    suspects = pl.read_parquet(tmp_path / "out/noise.parquet").filter("suspect")["index"]
    found = len(set(suspects) & set(wrong.tolist()))
    if planted:
        assert found >= 0.75 * planted  # recall
        assert found >= 0.75 * len(suspects)  # precision
    noise = done.manifest["label_noise"]
    assert noise["out_of_fold_accuracy"] == right
    assert len(noise["trainings"]) == 3
    assert all(1 <= one["kept_epoch"] <= one["epochs"] <= 40 for one in noise["trainings"])
    assert not [one for one in done.manifest["notices"] if "label noise" in one]


def noise_said(right: float, wrong: float) -> dict:
    return {
        "predictor": "mlp", "out_of_fold_accuracy": {"value": right}, "share": {"value": wrong}
    }  # fmt: skip


def test_an_estimate_of_mostly_its_own_errors_is_said_to_be():
    """66 % right and 14.4 % wrong leave 19.6 %; 97.8 and 0.3 leave 1.9 %; 84 and 11 leave 5 %."""
    (said,) = of_noise(noise_said(0.66, 0.144))
    assert "right on 66.0 % of the examples that it was not trained on" in said
    assert "disagrees with 14.4 % of the labels may mostly be its own errors" in said
    assert of_noise(noise_said(0.55, 0.425))  # nearly all that it gets otherwise
    assert of_noise(noise_said(0.9, 0.03))
    assert not of_noise(noise_said(0.978, 0.003))
    assert not of_noise(noise_said(0.84, 0.11))


def test_predictors_that_learned_nothing_are_named():
    """The largest of two classes has 60 %: a tenth of the way up from there is 64 %."""
    examples = Held(np.zeros((6, 1), np.float32), np.array([0, 0, 0, 1, 1, -1]), ("a", "b"))
    assert chance(examples) == 0.6
    assert chance(Held(np.zeros((2, 1), np.float32), np.array([0.5, 1.5]))) is None

    def one(*accuracies, diverged=""):
        return SimpleNamespace(training={"accuracies": accuracies}, diverged=diverged)

    predictors = {
        ("mlp", 0): one(0.9, 0.63), ("mlp", 1): one(0.65), ("mlp", 2): one(float("nan")),
        ("ffn", 0): one(), ("ffn", 1): one(0.1, diverged="lost"),
    }  # fmt: skip
    (said,) = of_trainings(predictors, 0.6)
    assert "mlp, seed 0, has learned next to nothing: 63.0 % right" in said
    assert "the largest class alone is 60.0 %" in said
    assert of_trainings(predictors, None) == []


def test_predictors_of_real_numbers_that_learned_nothing_are_named():
    """Labels 0, 2 and 4 have a variance of 8 / 3; a tenth of the way from there to 0 is 2.4."""
    values = np.array([0.0, 2.0, 4.0, np.nan])
    examples = Held(np.zeros((4, 1), np.float32), values)
    spread = variance(examples)
    assert spread == pytest.approx(8 / 3)
    assert variance(Held(np.zeros((2, 1), np.float32), np.array([0, 1]), ("a", "b"))) is None

    def one(*losses, diverged=""):
        return SimpleNamespace(training={"losses": losses}, diverged=diverged)

    predictors = {
        ("mlp", 0): one(1.0, 2.41), ("mlp", 1): one(9.0, 2.39), ("mlp", 2): one(float("nan")),
        ("mlp", 3): one(), ("mlp", 4): one(9.0, diverged="lost"),
    }  # fmt: skip
    (said,) = of_trainings(predictors, chance(examples), spread)
    assert "mlp, seed 0, has learned next to nothing: its loss" in said
    assert "is 2.41, where the mean label alone has 2.67" in said
    assert of_trainings(predictors, None, 0.0) == []
