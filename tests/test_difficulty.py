"""Scoring difficulty: by hand-worked figures, stopped and resumed, with trouble in the data."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difficulty_made import HAND

torch = pytest.importorskip("torch", reason="needs the torch extra")
pytestmark = pytest.mark.torch

from hardset.cli.difficulty import difficulty as command  # noqa: E402
from hardset.errors import UsageError  # noqa: E402
from hardset.hardest import parts as parts_module  # noqa: E402
from hardset.hardest import predictors  # noqa: E402
from hardset.hardest.data import Data  # noqa: E402
from hardset.hardest.difficulty import difficulty  # noqa: E402
from hardset.hardest.difficulty_settings import Settings  # noqa: E402
from hardset.hardest.difficulty_table import write_table  # noqa: E402
from hardset.hardest.out_of_fold import deal  # noqa: E402
from hardset.hardest.parts import Parts, rows_a_part  # noqa: E402
from hardset.lowresource.examples import Held, Subset  # noqa: E402

ALL = ("loss", "gradient_norm", "el2n", "grand", "aum", "forgetting", "confidence", "variability")


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A folder with the module `hand`, as a user would work in."""
    (tmp_path / "hand.py").write_text(HAND)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "hand", raising=False)
    threads = torch.get_num_threads()
    yield tmp_path
    torch.set_num_threads(threads)
    sys.modules.pop("hand", None)


def files(folder):
    """All that depends on data and settings alone: every table, byte by byte."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix == ".parquet" or path.name in ("stability.json", "noise.json", "weights.pt")
    }


def scored(folder, predictor, seed=0):
    return pl.read_parquet(folder / "scores" / predictor / f"seed-{seed}" / "part-*.parquet")


def test_classes_by_hand(made):
    scores = ("loss", "gradient_norm", "el2n", "grand")
    settings = Settings(scores=scores, seeds=1, at_epoch=0)
    done = difficulty(Data("hand:classes"), made / "out", settings)
    assert done.manifest["counts"] == {
        "scored": 4,
        "not finite": 1,
        "unreadable": 1,
        "no label": 1,
    }
    rows = pl.read_parquet(made / "out/scores/hand_classes/seed-0/part-*.parquet").sort("index")
    assert rows["index"].to_list() == list(range(7))
    states = ["scored"] * 3 + ["unreadable", "no label", "not finite", "scored"]
    assert rows["state"].to_list() == states
    assert rows["reason"].to_list() == ["", "", "", "torn off", "", "loss is nan", ""]
    assert rows["label"].to_list() == [0, 0, 1, 1, None, 0, 1]
    # Of two classes the true one lacks q = 1 / (1 + exp(margin)); the error is (-q, q), so the
    # gradient of weight and bias is 2 q^2 (|x|^2 + 1), and EL2N is sqrt(2) q.
    for row, margin, square in ((0, 3, 9), (1, -3, 9), (2, 0, 2), (6, 2, 20)):
        q = 1 / (1 + math.exp(margin))
        wanted = (-math.log(1 - q), 2 * q**2 * (square + 1), math.sqrt(2) * q)
        found = rows.row(row, named=True)
        assert (found["loss"], found["gradient_norm"], found["el2n"]) == pytest.approx(wanted, 1e-6)
        assert found["grand"] == pytest.approx(math.sqrt(wanted[1]), 1e-6)
        assert found["probability"] == pytest.approx(1 - q, 1e-6)
    assert rows["predicted"].to_list()[:2] == [0, 1]
    assert rows.filter(state="unreadable")["loss"].to_list() == [None]
    table = pl.read_parquet(made / "out/difficulty.parquet")
    # Losses 0.05, 3.05, 0.69, 0.13: ranks 0, 1, 2/3, 1/3 of the four.
    assert table["rank_loss"].to_list()[:3] == pytest.approx([0, 1, 2 / 3])
    assert table["rank_loss"].to_list()[3:] == [None, None, None, pytest.approx(1 / 3)]
    assert table["class"].to_list() == ["left"] * 2 + ["right"] * 2 + [None, "left", "right"]


def test_real_labels_by_hand(made):
    settings = Settings(scores=("loss", "gradient_norm", "el2n"), seeds=1, at_epoch=0)
    difficulty(Data("hand:real"), made / "out", settings)
    rows = scored(made / "out", "hand_real").sort("index")
    # Said 2, 4, (no label), 6; off by 0.5, 0, -1: squares; 4 d^2 (x^2 + 1); distances.
    assert rows["loss"].to_list() == [0.25, 0.0, None, 1.0]
    assert rows["gradient_norm"].to_list() == [0.25 * 4 * 2, 0.0, None, 4 * 10.0]
    assert rows["el2n"].to_list() == [0.5, 0.0, None, 1.0]
    assert rows["predicted"].to_list() == [2.0, 4.0, None, 6.0]
    with pytest.raises(UsageError, match="--score aum has no meaning for labels that are real"):
        difficulty(Data("hand:real"), made / "o", Settings(scores=("aum",)))
    with pytest.raises(UsageError, match="--label-noise needs labels that are classes"):
        difficulty(Data("hand:real"), made / "o", Settings(label_noise=True))


def test_the_papers_mode_is_training_mode_one_by_one_and_repeatable(made):
    one = Settings(("hand:with_dropout",), 1, at_epoch=0, mode="paper")
    for name in ("a", "b"):
        difficulty(Data("hand:tiny"), made / name, one)
    assert files(made / "a") == files(made / "b")
    difficulty(Data("hand:tiny"), made / "calm", Settings(("hand:with_dropout",), 1, at_epoch=0))
    drawn, calm = (scored(made / name, "hand_with_dropout")["loss"] for name in ("a", "calm"))
    assert (drawn != calm).all()  # dropout was on
    # Without dropout both modes say the same, up to float32.
    plain = Settings(seeds=1, at_epoch=0, mode="paper")
    difficulty(Data("hand:classes"), made / "plain", plain)
    loss = scored(made / "plain", "hand_classes")["loss"]
    assert loss[0] == pytest.approx(math.log1p(math.exp(-3)), 1e-5)
    assert loss[1] == pytest.approx(math.log1p(math.exp(3)), 1e-5)


class Stop(BaseException):
    """A kill, as far as one process can have it."""


@pytest.mark.parametrize("mode", ["eval", "paper"])
def test_resumed_equals_unbroken_to_the_last_bit(made, monkeypatch, mode):
    """Stopped at every sixth sign of life, in training and scoring, and gone on with."""
    monkeypatch.setattr(predictors, "MINUTES", 0.0)  # a checkpoint at every step
    scores = ("loss", "gradient_norm", "forgetting", "variability")
    net = ("mlp",) if mode == "eval" else ("hand:with_dropout",)
    settings = Settings(net, 2, scores, {"epochs": 2, "batch": 16}, mode=mode, label_noise=True)
    if mode == "eval":
        settings = Settings(**{**vars(settings), "batch": 8})
    difficulty(Data("hand:tiny"), made / "whole", settings)
    stops = 0

    def show(title, count):
        nonlocal calls
        calls += 1
        if calls == 6:
            raise Stop

    for _ in range(100):
        calls = 0
        try:
            done = difficulty(Data("hand:tiny"), made / "broken", settings, show=show)
            break
        except Stop:
            stops += 1
    assert stops >= 5
    assert files(made / "whole") == files(made / "broken")
    assert done.manifest["state"] == "finished"
    assert not done.failed
    assert not [path for path in (made / "broken").rglob("*") if path.name.startswith(".")]


def test_killed_for_real_and_gone_on_with_by_the_same_command(made):
    line = [sys.executable, "-m", "hardset", "difficulty", "hand:tiny", "--seeds", "1"]
    line += ["--threads", "1", "--score", "loss", "--epochs", "3", "--out"]
    child = subprocess.Popen([*line, "broken"], stderr=subprocess.DEVNULL)
    ended = time.monotonic() + 60
    while not list(made.glob("broken/scores/mlp/seed-0/*.*")) and time.monotonic() < ended:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    again = subprocess.run([*line, "broken"], capture_output=True, text=True, timeout=100)
    assert again.returncode == 0, again.stderr
    assert "All 60 examples are scored." in again.stdout
    difficulty(
        Data("hand:tiny"), made / "whole",
        Settings(seeds=1, scores=("loss",), overrides={"epochs": 3}, threads=1),
    )  # fmt: skip
    assert files(made / "whole") == files(made / "broken")
    assert (made / "broken/report.html").read_text().startswith("<!doctype html>")


def test_another_asking_is_refused_and_says_what_differs(made):
    settings = Settings(("mlp",), 1, ("loss",), {"epochs": 1}, threads=1)
    out = made / "out"
    difficulty(Data("hand:tiny"), out, settings)
    before = files(out)
    for data, other, said in (
        ("hand:tiny", {"seeds": 2}, "--seeds was 1 there, and is 2 here"),
        ("hand:tiny", {"overrides": {"lr": 0.1}}, "--epochs was 1 there, and is not given here; "
         "--lr was not given there, and is 0.1 here"),
        ("hand:tiny", {"mode": "paper"}, "--mode was eval there, and is paper here"),
        ("hand:tiny", {"threads": 2}, "--threads was 1 there, and is 2 here"),
        ("hand:other", {}, "data labels was [0-9a-f]{12}... there, and is"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            difficulty(Data(data), out, Settings(**{**vars(settings), **other}))
    assert files(out) == before
    (made / "mine").mkdir()
    (made / "mine/thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match=r"holds thesis.tex and no manifest.json"):
        difficulty(Data("hand:tiny"), made / "mine", settings)


def test_a_predictor_that_fails_leaves_the_others(made, capsys):
    names = ["hand:not_finite", "mlp", "hand:wants_more"]
    status = command("hand:tiny", out=made / "out", predictor=names, seeds=1, score=["loss"])
    assert status == 3
    manifest = json.loads((made / "out/manifest.json").read_text())
    assert [one["predictor"] for one in manifest["failed"]] == [
        "hand:not_finite",
        "hand:wants_more",
    ]
    assert "the loss became nan in epoch 1" in manifest["failed"][0]["reason"]
    assert manifest["failed"][1]["reason"] == "out of memory"
    assert manifest["counts"]["scored"] == 60
    columns = pl.read_parquet_schema(made / "out/difficulty.parquet")
    assert [name for name in columns if "@" in name] == ["loss@mlp#0"]
    assert "hand:wants_more, seed 0 failed: out of memory" in capsys.readouterr().err
    untrained = Settings(("hand:not_finite",), 1, ("loss",), at_epoch=0)
    done = difficulty(Data("hand:tiny"), made / "none", untrained)
    assert done.failed[0]["reason"] == "no example has a finite score by it (loss is nan)"
    assert done.manifest["counts"] == {}


def test_what_makes_no_sense_is_said_before_anything_is_trained(made):
    for settings, said in (
        (Settings(("mlp", "resnet19")), "no network is called 'resnet19'"),
        (Settings(("bert",)), "bert takes examples of kind text"),
        (Settings(scores=("aum",), at_epoch=0), "--at-epoch 0 has none"),
        (Settings(at_epoch=9), "--at-epoch 9: mlp is trained for 5 epochs"),
        (Settings(overrides={"lr": -1.0}), "lr = -1.0"),
    ):
        with pytest.raises(UsageError, match=said):
            difficulty(Data("hand:tiny"), made / "out", settings)
    assert not list(made.glob("out/*"))
    with pytest.raises(UsageError, match="--score takes one of loss, gradient-norm, el2n"):
        command("hand:tiny", out=made / "out", score=["lost"])


def test_what_would_be_of_no_effect_is_refused(made):
    for wanted, said in (
        ({"folds": 4}, "--folds goes with --label-noise"),
        ({"noise_epochs": 4}, "--noise-epochs goes with --label-noise"),
        ({"at_epoch": 0, "lr": 0.1}, "--at-epoch 0 trains nothing: leave --lr out"),
        ({"noise_epochs": 0}, "--noise-epochs takes a whole number of 1 or more"),
        ({"label_noise": True, "folds": 1}, "--folds takes a whole number from 2 to 100"),
    ):
        with pytest.raises(UsageError, match=said):
            command("hand:tiny", out=made / "out", **wanted)
    assert not (made / "out").exists()


def test_what_is_returned_is_told_in_a_line(made):
    done = difficulty(Data("hand:tiny"), made / "out", Settings(("mlp",), 1, ("loss",), at_epoch=0))
    assert repr(done) == f"Difficulty('{made / 'out'}', n={len(done.examples)})"
    shares = np.bincount(done.examples.labels) / len(done.examples)
    assert done.manifest["data"]["chance"] == shares.max()


def test_scores_do_not_depend_on_how_the_set_is_cut_into_parts(made, monkeypatch):
    frames = []
    for number, pieces in enumerate((32, 3, 1)):
        monkeypatch.setattr(parts_module, "PARTS", pieces)
        settings = Settings(("mlp",), 1, overrides={"epochs": 1}, batch=8)
        difficulty(Data("hand:tiny"), made / str(number), settings)
        assert len(list(made.glob(f"{number}/scores/mlp/seed-0/part-*"))) == (8, 4, 2)[number]
        frames.append(pl.read_parquet(made / str(number) / "difficulty.parquet"))
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


def test_every_score_of_text_and_an_earlier_epoch(made):
    """Texts from a table, two families; the last of one epoch is the first of several."""
    rows = [(f"{'good fine' if i % 2 else 'bad poor'} film {i}", i % 2) for i in range(40)]
    pl.DataFrame(rows, schema=["text", "label"], orient="row").write_csv("films.csv")
    change = {"batch": 8, "lr": 0.01}
    short = Settings(("bag-of-words",), 1, ALL, {**change, "epochs": 1})
    early = Settings(("bag-of-words",), 1, ALL, {**change, "epochs": 4}, at_epoch=1)
    both = Settings(("bag-of-words", "transformer"), 1, ALL, {**change, "epochs": 4})
    for name, settings in (("short", short), ("early", early), ("both", both)):
        difficulty(Data("films.csv"), made / name, settings)
    assert scored(made / "short", "bag-of-words").equals(scored(made / "early", "bag-of-words"))
    table = pl.read_parquet(made / "both/difficulty.parquet")
    assert table["aum"].mean() > scored(made / "short", "bag-of-words")["aum"].mean()  # it learns
    for name in ALL:
        one, two = (table[f"{name}@{net}#0"] for net in ("bag-of-words", "transformer"))
        assert table[name].to_list() == pytest.approx(((one + two) / 2).to_list())
    stability = json.loads((made / "both/stability.json").read_text())
    between = {(one["score"], one["between"]) for one in stability["summary"]}
    assert ("loss", "families") in between
    assert ("loss/gradient_norm", "scores") in between


def test_families_have_one_voice_each_by_hand(tmp_path):
    """Two seeds of one family and one of another, three examples."""
    made = {}
    for name, seed, family, losses in (
        ("a", 0, "conv", [1.0, 2.0, 3.0]),
        ("a", 1, "conv", [2.0, 1.0, 3.0]),
        ("b", 0, "mlp", [9.0, 8.0, 7.0]),
    ):
        parts = Parts(tmp_path / name / str(seed), 4, 4)
        frame = pl.DataFrame(
            {
                "index": [0, 1, 2, 3],
                "id": list("wxyz"),
                "label": [0, 1, 0, 1],
                "state": ["scored"] * 3 + ["scored" if name == "a" else "not finite"],
                "loss": [*losses, 99.0 if name == "a" else None],
            }
        )
        parts.write(0, frame)
        made[name, seed, family] = parts
    counts, pairs = write_table(tmp_path, made, ["loss"], ("no", "yes"))
    assert counts == {"scored": 3, "not finite": 1, "unreadable": 0, "no label": 0}
    table = pl.read_parquet(tmp_path / "difficulty.parquet")
    # conv: (1 + 2) / 2, (2 + 1) / 2, 3; with mlp: (1.5 + 9) / 2, (1.5 + 8) / 2, (3 + 7) / 2.
    assert table["loss"].to_list() == [5.25, 4.75, 5.0, None]
    # ranks of conv 1/4, 1/4, 1 and of mlp 1, 1/2, 0.
    assert table["rank_loss"].to_list() == [0.625, 0.375, 0.5, None]
    assert table["loss@a#1"].to_list() == [2.0, 1.0, 3.0, 99.0]
    assert table["state"].to_list() == ["scored"] * 3 + ["not finite"]
    assert {(pair.a, pair.b, pair.same) for pair in pairs} == {
        ("loss@a#0", "loss@a#1", "seeds"),
        ("loss@a#1", "loss@b#0", "family"),
    }


def test_wrong_labels_are_found_out_of_fold_on_digits(tmp_path, monkeypatch):
    """200 digits of two kinds, ten of them with the other's label."""
    digits = pytest.importorskip("sklearn.datasets", reason="needs scikit-learn").load_digits(
        n_class=2
    )
    pictures = (digits.images[:200] * 15).astype(np.uint8)
    labels = digits.target[:200].copy()
    labels[:200:20] = 1 - labels[:200:20]
    monkeypatch.setattr(Data, "open", lambda self: Held(pictures, labels, source={"sha256": "d"}))
    settings = Settings(("mlp",), 1, ("loss",), {"epochs": 3, "batch": 32}, label_noise=True)
    done = difficulty(Data("digits"), tmp_path / "out", settings)
    noise = pl.read_parquet(tmp_path / "out/noise.parquet")
    suspects = noise.filter("suspect")
    assert suspects["index"].to_list() == list(range(0, 200, 20))
    assert (suspects["suggested"] == 1 - suspects["label"]).all()
    assert noise["index"].to_list() == list(range(200))
    share = done.manifest["label_noise"]["share"]
    assert share["low"] < 10 / 200 < share["high"]
    assert done.manifest["label_noise"]["suspects"] == 10


@given(
    st.lists(st.integers(-1, 3), min_size=12, max_size=60).filter(
        lambda labels: all(labels.count(label) != 1 for label in range(4))
    ),
    st.integers(2, 5),
)
def test_folds_are_dealt_evenly(labels, folds):
    examples = Held(np.zeros((len(labels), 1), np.float32), np.array(labels), tuple("abcd"))
    dealt = deal(examples, folds, 0)
    assert ((dealt == -1) == (examples.labels == -1)).all()
    for wanted in (examples.labels >= 0, *(examples.labels == label for label in range(4))):
        sizes = np.bincount(dealt[wanted], minlength=folds)
        assert sizes.max() - sizes.min() <= 1
    assert (deal(examples, folds, 0) == dealt).all()


@given(st.integers(1, 5000), st.integers(1, 300))
def test_parts_are_whole_batches_and_cover_the_set(n, batch):
    rows = rows_a_part(n, batch)
    parts = Parts("unused", n, rows)
    assert rows % batch == 0
    assert rows <= max(batch, 4096)
    ranges = [parts.range(number) for number in range(len(parts))]
    assert list(itertools.chain(*ranges)) == list(range(n))


def test_a_part_is_whole_or_not_there(tmp_path, monkeypatch):
    parts = Parts(tmp_path / "deep", 3, 3)

    def killed(*_):
        raise Stop

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(Stop):
        parts.write(0, pl.DataFrame({"index": [0, 1, 2]}))
    assert parts.missing() == [0]
    with pytest.raises(ValueError, match="part 0: 2 rows"):
        parts.write(0, pl.DataFrame({"index": [0, 1]}))


def test_a_subset_of_a_set_is_scored_as_itself(made, monkeypatch):
    """Ids are the whole set's, indices the subset's."""
    whole = Held(np.eye(6, dtype=np.float32), np.array([0, 1] * 3))
    monkeypatch.setattr(Data, "open", lambda self: Subset(whole, np.array([4, 2, 5])))
    difficulty(Data("x"), made / "out", Settings(("mlp",), 1, ("loss",), at_epoch=0))
    table = pl.read_parquet(made / "out/difficulty.parquet")
    assert table["id"].to_list() == ["4", "2", "5"]
    assert table["index"].to_list() == [0, 1, 2]
