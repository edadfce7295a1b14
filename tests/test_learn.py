"""Learning from picked sets and random ones: pairs, failures, stopping, and going on."""

import json
import sys

import numpy as np
import polars as pl
import pytest

from hardset.errors import UsageError
from hardset.hardest.learn import learn
from hardset.hardest.learn_sets import Given
from hardset.lowresource.examples import Held, Subset
from hardset.lowresource.score_files import Problems, Scores

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

WORDS = {"good": ("fine", "warm", "bright"), "bad": ("dull", "cold", "grim")}


def texts(n, seed, wrong=0):
    """Make texts of either class, told apart by any of three words; the first few mislabelled."""
    generator = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    contents = [
        " ".join([f"w{generator.integers(40)}", generator.choice(list(WORDS.values())[label])])
        + f" number {seed * n + i}"
        for i, label in enumerate(labels)
    ]
    labels[:wrong] = 1 - labels[:wrong]
    return Held(contents, labels, ("good", "bad"), {"place": "made up", "sha256": str(seed)})


def pictures(n, seed):
    """Make pictures of three classes: a bright row, column or diagonal."""
    generator = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    contents = generator.integers(0, 120, (n, 8, 8)).astype(np.uint8)
    for picture, label in zip(contents, labels, strict=True):
        at = generator.integers(8)
        if label == 0:
            picture[at] = 255
        elif label == 1:
            picture[:, at] = 255
        else:
            np.fill_diagonal(picture, 255)
    return Held(contents, labels, source={"place": "made up", "sha256": str(seed)})


def scored(values, name="loss"):
    n = len(values)
    none = Problems(n, 0, (), 0, 0, (), 0, None)
    return Scores(np.arange(n), np.asarray(values, dtype=float), none, name, +1)


@pytest.fixture
def plain(tmp_path):
    """The settings of a small run over texts."""
    train, test = texts(60, 1), texts(40, 2)
    return {
        "train": train, "test": test, "out": tmp_path / "learned", "epochs": 2, "seeds": 2,
        "scores": scored(np.arange(60)), "learners": ["bag-of-words"], "ks": [4],
    }  # fmt: skip


def test_texts_end_to_end(plain):
    done = learn(**{**plain, "ks": [4, 16], "epochs": 12, "lr": 0.05})
    results = pl.read_parquet(plain["out"] / "results.parquet")
    assert len(results) == 2 * 2 * 2 * 12  # k, set, seed, epoch
    last = results.filter(pl.col("epoch") == 12, pl.col("k") == 16)
    by_set = {name: last.filter(set=name)["test_accuracy"].to_numpy() for name in
              ("hardest", "random")}  # fmt: skip
    row = next(row for row in done.metrics["gaps"] if row["k"] == 16)
    assert row["gap"] == pytest.approx(np.mean(by_set["hardest"] - by_set["random"]))
    assert row["n"] == 2
    summary = next(row for row in done.metrics["summary"] if row["k"] == 16)
    assert summary["std"] == pytest.approx(np.std(by_set["hardest"], ddof=1))
    best = results.filter(k=16, set="hardest").group_by("seed").agg(pl.col("test_accuracy").max())
    assert summary["paper_mean"] == pytest.approx(best["test_accuracy"].mean())
    assert by_set["random"].min() > 0.8  # three words a class are learned from 32 texts
    kept = np.load(plain["out"] / "correct/bag-of-words/k-16/random/none/seed-1.npy")
    assert np.unpackbits(kept)[:40].mean() == pytest.approx(by_set["random"][1])
    assert json.loads((plain["out"] / "metrics.json").read_bytes()) == done.metrics
    assert (plain["out"] / "report.html").read_text().startswith("<!doctype html")
    assert done.manifest["departures"][0].startswith("epochs 12")


def test_sets_are_the_hardest_and_an_own_draw_for_each_seed(plain):
    learn(**plain)
    sets = pl.read_parquet(plain["out"] / "sets.parquet")
    hardest = sets.filter(set="hardest", seed=1)["index"].sort().to_list()
    assert hardest == list(range(52, 60))  # of scores 0 ... 59 and labels 0 1 0 1 ...
    draws = [set(sets.filter(set="random", seed=seed)["index"]) for seed in (0, 1)]
    assert draws[0] != draws[1]
    assert [sum(i % 2 for i in draw) for draw in draws] == [4, 4]


def test_one_set_against_itself_has_no_gap(plain):
    """The pairs share first weights and order: where the examples are the same, so is all else."""
    learn(**plain)
    sets = pl.read_parquet(plain["out"] / "sets.parquet")
    same = sets.filter(set="random", seed=0)["index"].to_numpy()[::-1]
    again = {**plain, "out": plain["out"] / "again", "scores": (), "seeds": 1}
    done = learn(**again, picked=Given("hardest", same, 4))
    assert done.metrics["gaps"][0]["gap"] == 0
    assert done.metrics["gaps"][0]["low"] is None
    assert any("One seed" in notice for notice in done.notices)


def test_it_goes_on_where_it_stopped(plain):
    counts = []

    def stop(count):
        counts.append(count.done)
        if count.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(**plain, progress=stop)
    whole = learn(**{**plain, "out": plain["out"].with_name("whole")})
    seen = []
    done = learn(**plain, progress=lambda count: seen.append((count.done, count.stored)))
    assert seen == [(2, 2), (3, 2), (4, 2)]
    assert done.metrics == whole.metrics
    seen.clear()
    more = learn(**{**plain, "seeds": 3}, progress=lambda count: seen.append(count.done))
    assert seen == [4, 5, 6]
    assert more.metrics["gaps"][0]["n"] == 3


def test_other_settings_are_not_mixed_in(plain):
    learn(**plain)
    with pytest.raises(UsageError, match=r"epochs was 2 and is 3.*another --out"):
        learn(**{**plain, "epochs": 3})
    with pytest.raises(UsageError, match="scores was"):
        learn(**{**plain, "scores": scored(-np.arange(60))})


def test_a_damaged_trial_is_done_again(plain):
    before = learn(**plain).metrics
    where = plain["out"] / "trials/bag-of-words/k-4/random/none/seed-0.json"
    where.write_bytes(where.read_bytes()[:40])
    (plain["out"] / "correct/bag-of-words/k-4/hardest/none/seed-1.npy").write_bytes(b"")
    seen = []
    assert learn(**plain, progress=lambda count: seen.append(count.stored)).metrics == before
    assert seen[0] == 2
    bits = plain["out"] / "correct/bag-of-words/k-4/random/none/seed-1.npy"
    kept = bits.read_bytes()
    bits.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))  # one answer that was another
    seen.clear()
    assert learn(**plain, progress=lambda count: seen.append(count.stored)).metrics == before
    assert seen[0] == 3
    assert bits.read_bytes() == kept


def test_other_labels_of_the_same_test_set_are_not_mixed_in(plain):
    learn(**plain)
    plain["test"].labels[0] = 1 - plain["test"].labels[0]
    with pytest.raises(UsageError, match="test labels was"):
        learn(**plain)


def test_one_command_at_a_time_and_what_cannot_be_is_said_first(plain, tmp_path):
    def other(count):
        with pytest.raises(UsageError, match="another command is at work in"):
            learn(**plain)

    learn(**plain, progress=other)
    with pytest.raises(UsageError, match="--device gpu: torch does not compute there"):
        learn(**plain, device="gpu")
    one = Held(["a", "b"], np.array([0, 0]), ("only",))
    with pytest.raises(UsageError, match="all labels are of one class, 'only'"):
        learn(**{**plain, "train": one, "test": one, "scores": scored([0, 1]), "ks": [1]})


def test_a_seed_gives_all_sets_the_same_first_weights_and_chance(plain, monkeypatch):
    """Random sets differ by seed, and take as many of each label."""
    from hardset.lowresource import training

    began, train = {}, training.train

    def watched(network, examples, recipe, *, seed, **more):
        weights = torch.cat([one.detach().flatten() for one in network.module.parameters()])
        began.setdefault(seed, []).append(weights.numpy().tobytes())
        return train(network, examples, recipe, seed=seed, **more)

    monkeypatch.setattr(training, "train", watched)
    learn(**plain)
    assert {seed: len(of) for seed, of in began.items()} == {0: 2, 1: 2}
    assert all(one == other for one, other in began.values())
    assert began[0][0] != began[1][0]
    sets = pl.read_parquet(plain["out"] / "sets.parquet")
    drawn = [sets.filter(set="random", seed=seed)["index"].to_list() for seed in (0, 1)]
    assert drawn[0] != drawn[1]
    for index in drawn:
        assert np.bincount(plain["train"].labels[index]).tolist() == [4, 4]


def test_the_papers_figure_is_the_best_epochs(plain):
    done = learn(**{**plain, "epochs": 5, "seeds": 1})
    epochs = pl.read_parquet(plain["out"] / "results.parquet")
    assert epochs["epoch"].max() == 5
    for line in done.metrics["summary"]:
        of = epochs.filter(set=line["set"]).sort("epoch")["test_accuracy"].to_list()
        assert line["paper_mean"] == max(of)
        assert line["mean"] == of[-1]


FRAGILE = '''
import torch
from torch import nn
from hardset.lowresource.network import Network

class Fragile(nn.Module):
    """Raises in training from every second set of first weights."""
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.seed = torch.initial_seed()
    def forward(self, inputs):
        if self.training and self.seed == 1:
            raise RuntimeError("the dog ate\\n my gradients")
        return self.layer(inputs)

def fragile(*given, **named):
    collate = lambda texts: torch.tensor([[float(len(t[0])), 1.0, 0.0] for t in texts])
    return Network(Fragile(), collate, "fragile", "own")
'''


def test_a_trial_that_fails_is_a_state(plain, tmp_path, monkeypatch):
    (tmp_path / "fragile_nets.py").write_text(FRAGILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    done = learn(**{**plain, "learners": ["fragile_nets:fragile", "bag-of-words"]})
    sys.modules.pop("fragile_nets", None)
    assert [(row["set"], row["seed"]) for row in done.failed] == [("hardest", 1), ("random", 1)]
    assert done.failed[0]["reason"] == "RuntimeError: the dog ate my gradients"
    gaps = {row["learner"]: row for row in done.metrics["gaps"]}
    assert (gaps["fragile_nets:fragile"]["n"], gaps["fragile_nets:fragile"]["asked"]) == (1, 2)
    assert gaps["fragile_nets:fragile"]["low"] is None
    assert gaps["bag-of-words"]["n"] == 2


def test_divergence_is_a_failure_with_its_reason(plain):
    done = learn(**{**plain, "lr": 1e30, "epochs": 6, "seeds": 1})
    assert len(done.failed) == 2
    assert "diverged" in done.failed[0]["reason"].lower()
    assert done.metrics["gaps"][0]["gap"] is None
    assert (plain["out"] / "report.html").exists()


def test_processes_give_the_same_figures(plain, tmp_path):
    alone = learn(**plain)
    together = learn(**{**plain, "out": tmp_path / "together"}, jobs=2)
    assert together.metrics == alone.metrics


def test_digits_end_to_end(tmp_path):
    pytest.importorskip("sklearn")
    from hardset.sources.examples.opening import open_examples

    train = open_examples("digits")
    test = Subset(open_examples("digits", split="test"), np.arange(200))
    ink = scored([content.sum() for content in train.fetch(np.arange(len(train)))])
    done = learn(
        train, test, out=tmp_path, scores=ink, learners=["mlp", "ffn"], ks=[8], seeds=2, epochs=5,
    )  # fmt: skip
    assert done.failed == []
    assert [row["n"] for row in done.metrics["gaps"]] == [2, 2]
    assert done.metrics["n_test"] == 200
    mlp = {row["set"]: row for row in done.metrics["summary"] if row["learner"] == "mlp"}
    assert mlp["random"]["worst"] > 0.6  # of ten digits, from eight pictures of each
    assert mlp["hardest"]["worst"] > 0.6  # with most ink: no harder than others


def test_pictures_with_augmentation(tmp_path):
    done = learn(
        pictures(60, 1), pictures(30, 2), out=tmp_path, scores=scored(np.arange(60)),
        learners=["mlp"], ks=[5], augments=["none", "cutmix", "mixup"], choose=["easiest"],
        seeds=2, epochs=2,
    )  # fmt: skip
    assert done.metrics["sets"] == ["easiest", "random"]
    rows = done.metrics["augmentation"]
    assert {(row["augment"], row["set"]) for row in rows} == {
        ("cutmix", "easiest"), ("cutmix", "random"), ("mixup", "easiest"), ("mixup", "random"),
    }  # fmt: skip
    results = pl.read_parquet(tmp_path / "results.parquet").filter(epoch=2, set="random")
    by_augment = {
        name: results.filter(augment=name).sort("seed")["test_accuracy"].to_numpy()
        for name in ("none", "mixup")
    }
    row = next(row for row in rows if (row["augment"], row["set"]) == ("mixup", "random"))
    assert row["difference"] == pytest.approx(np.mean(by_augment["mixup"] - by_augment["none"]))


def test_real_labels_are_measured_by_correlations(tmp_path):
    def rated(n, seed):
        generator = np.random.default_rng(seed)
        count = generator.integers(0, 6, n)
        return Held([" ".join(["more"] * c + ["x"] * (6 - c)) for c in count], count.astype(float))

    done = learn(
        rated(60, 1), rated(40, 2), out=tmp_path, scores=scored(np.arange(60)),
        learners=["bag-of-words"], ks=[30], seeds=2, epochs=30, lr=0.02,
    )  # fmt: skip
    assert done.metrics["measure"] == "pearson"
    assert done.metrics["also"]["measure"] == "spearman"
    random = next(row for row in done.metrics["summary"] if row["set"] == "random")
    assert random["mean"] > 0.8
    results = pl.read_parquet(tmp_path / "results.parquet")
    assert {"test_pearson", "test_spearman"} <= set(results.columns)
    kept = np.load(tmp_path / "correct/bag-of-words/k-30/random/none/seed-0.npy")
    last = results.filter(set="random", seed=0, epoch=30)["test_pearson"].item()
    assert np.corrcoef(kept, rated(40, 2).labels)[0, 1] == pytest.approx(last)
