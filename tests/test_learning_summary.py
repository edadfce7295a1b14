"""What all trials together say, worked out by hand from a few made-up trials."""

import numpy as np
import pytest

from hardset.lowresource.learning.results import Epoch, Result, Trial
from hardset.lowresource.learning.summary import Asked, metrics

ASKED = Asked(("ffn",), (16,), ("hardest", "random"), ("none", "cutmix"), 2)


def result(set_, augment, seed, right, k=16, before=0.0):
    """Make a trial of two epochs that ends with these test examples right."""
    outputs = np.array(right, dtype=float)
    epochs = (Epoch(0.5, before, 1.0), Epoch(1.0, outputs.mean(), 0.5))
    return Result(Trial("ffn", k, set_, augment, seed), epochs, outputs)


FINISHED = [
    result("hardest", "none", 0, [1, 0, 0, 0], before=0.5),  # best 0.5, last 0.25
    result("hardest", "none", 1, [1, 1, 0, 0]),
    result("random", "none", 0, [1, 1, 1, 0]),
    result("random", "none", 1, [1, 1, 1, 1]),
    result("hardest", "cutmix", 0, [1, 1, 0, 0]),
    result("random", "cutmix", 0, [1, 1, 1, 1]),
    result("random", "cutmix", 1, [1, 1, 1, 1]),
]
LOST = {Trial("ffn", 16, "hardest", "cutmix", 1): "diverged"}


def only(rows, **wanted):
    found = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    assert len(found) == 1
    return found[0]


def test_the_trials_are_every_one_with_every_other_seed_by_seed():
    trials = ASKED.trials()
    assert len(trials) == len(set(trials)) == 1 * 1 * 2 * 2 * 2
    assert [trial.seed for trial in trials] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_summary_has_the_last_epoch_and_by_name_the_papers_best():
    found = metrics(ASKED, FINISHED, LOST, n_test=4)
    row = only(found["summary"], set="hardest", augment="none")
    assert row["mean"] == pytest.approx((0.25 + 0.5) / 2)
    assert row["std"] == pytest.approx(np.sqrt(2 * 0.125**2))  # 0.25 and 0.5 about 0.375
    assert (row["worst"], row["n"], row["asked"]) == (0.25, 2, 2)
    assert (row["paper_mean"], row["paper_worst"]) == (0.5, 0.5)
    assert found["measure"] == "accuracy"


def test_gaps_are_paired_and_say_how_many_pairs_there_are():
    found = metrics(ASKED, FINISHED, LOST, n_test=4)
    row = only(found["gaps"], augment="none")
    assert row["set"] == "hardest"
    assert row["gap"] == pytest.approx((0.25 - 0.75 + 0.5 - 1) / 2)
    assert (row["low"], row["high"]) == (None, None)  # both pairs say -0.5: of what spread?
    assert row["paper_gap"] == pytest.approx((0.5 - 0.75 + 0.5 - 1) / 2)
    # By example too: 0 -1 -1 0 and 0 0 -1 -1. MS_seeds 0, MS_examples = 2 x (.25 + 0 + .25 + 0) / 3
    # = 1/3, rest +-.5 twice a seed: 4 x .25 / 3 = 1/3: the examples add nothing beyond the rest.
    assert (row["two_way_low"], row["two_way_high"]) == (None, None)
    one = only(found["gaps"], augment="cutmix")
    assert (one["n"], one["asked"], one["low"], one["two_way_low"]) == (1, 2, None, None)
    assert one["gap"] == pytest.approx(-0.5)
    assert found["failed"] == [{**next(iter(LOST))._asdict(), "reason": "diverged"}]


def test_augmentation_is_held_against_none_on_the_same_draws():
    found = metrics(ASKED, FINISHED, LOST, n_test=4)
    row = only(found["augmentation"], set="random")
    assert (row["augment"], row["n"]) == ("cutmix", 2)
    assert row["difference"] == pytest.approx((0.25 + 0) / 2)
    assert only(found["augmentation"], set="hardest")["n"] == 1
    without = metrics(ASKED._replace(augments=("cutmix",)), FINISHED, LOST, n_test=4)
    assert without["augmentation"] == []


def test_curves_say_what_hard_examples_are_worth_in_random_ones():
    asked = Asked(("ffn",), (16, 64), ("hardest", "random"), ("none",), 1)
    finished = [
        result("random", "none", 0, [1, 0, 0, 0], k=16),
        result("random", "none", 0, [1, 1, 1, 0], k=64),
        result("hardest", "none", 0, [0, 0, 0, 0], k=16),
        result("hardest", "none", 0, [1, 1, 0, 0], k=64),
    ]
    points = only(metrics(asked, finished, {}, n_test=4)["curves"], set="hardest")["points"]
    assert [point["mean"] for point in points] == [0, 0.5]
    assert points[0]["random_k"] is None  # below all that the random curve shows
    assert points[1]["random_k"] == pytest.approx(32)  # half way from 16 to 64 by log


def test_nothing_finished_is_nothing_known():
    found = metrics(ASKED, [], {}, n_test=0)
    assert {row["n"] for row in found["summary"]} == {0}
    assert {row["mean"] for row in found["summary"]} == {None}
    assert {row["gap"] for row in found["gaps"]} == {None}


def test_regression_is_measured_by_both_correlations():
    targets = np.array([1.0, 2.0, 3.0, 4.0])
    asked = Asked(("bert",), (16,), ("hardest", "random"), ("none",), 2)

    def made(set_, seed, outputs, pearson, spearman):
        epochs = (Epoch(1.0, pearson, 0.1, spearman),)
        return Result(Trial("bert", 16, set_, "none", seed), epochs, np.array(outputs))

    found = metrics(
        asked,
        [
            made("hardest", 0, [1.0, 3.0, 2.0, 4.0], 0.8, 0.8),
            made("hardest", 1, [1.0, 3.0, 2.0, 4.0], 0.8, 0.8),
            made("random", 0, [1.0, 2.0, 3.0, 4.0], 1.0, 1.0),
            made("random", 1, [1.0, 4.0, 9.0, 16.0], 0.984, 1.0),
        ],
        {},
        targets,
        n_test=4,
    )
    assert found["measure"] == "pearson"
    assert only(found["gaps"])["gap"] == pytest.approx((-0.2 - 0.184) / 2)
    also = found["also"]
    assert also["measure"] == "spearman"
    assert only(also["gaps"])["gap"] == pytest.approx(-0.2)
    assert only(also["summary"], set="random")["mean"] == 1.0
    assert only(also["gaps"])["two_way_low"] < -0.2 < only(also["gaps"])["two_way_high"]
