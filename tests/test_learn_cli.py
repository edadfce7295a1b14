"""`hardset learn` from files: what it prints, leaves and refuses, and how it is stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from hardset.cli.learn import learn
from hardset.errors import UsageError

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Two tables of texts whose class is a word in them, and scores of the first."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    for name, n in (("train", 60), ("test", 30)):
        labels = [("ham", "spam")[i % 2] for i in range(n)]
        words = [
            f"{'buy' if label == 'spam' else 'hello'} w{generator.integers(30)} {name} {i}"
            for i, label in enumerate(labels)
        ]
        pl.DataFrame({"text": words, "label": labels}).write_csv(f"{name}.csv")
    lines = [f"{i} {i / 60}\n" for i in range(60)]
    (tmp_path / "scores.txt").write_text("".join(reversed(lines)))
    return tmp_path


def small(**more):
    settings = {"train": "train.csv", "test": "test.csv", "k": [4], "jobs": 1, "seeds": 2,
                "learner": ["bag-of-words"], "epochs": 2}  # fmt: skip
    picked = more.pop("picked", None)
    return learn(picked, **{**settings, **more})


def test_a_run_says_its_gap_and_where_the_rest_is(data, capsys):
    assert small(scores=Path("scores.txt"), k=[4, 8]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert "bag-of-words" in printed.out
    assert "of 30 test examples" in printed.out
    assert "epochs 2 in place of" in printed.out
    assert lines[-1] == "written: learned/report.html"
    found = json.loads((data / "learned/metrics.json").read_bytes())
    assert found["ks"] == [4, 8]
    assert {path.name for path in (data / "learned").iterdir()} == {
        "trials", "correct", "settings.json", "sets.parquet", "results.parquet", "metrics.json",
        "manifest.json", "report.html",
    }  # fmt: skip
    page = (data / "learned/report.html").read_text()
    assert "bag-of-words" in page
    assert "random" in page


def test_a_held_out_share_is_in_no_set(data, capsys):
    assert small(scores=Path("scores.txt"), test=None, hold_out=0.2) == 0
    manifest = json.loads((data / "learned/manifest.json").read_bytes())
    assert manifest["test"]["used"] == 12  # a fifth of 30 and 30
    # The hardest four of either label are those with the highest scores that were not held out.
    sets = pl.read_parquet("learned/sets.parquet")
    hardest = set(sets.filter(set="hardest", seed=0)["index"])
    assert len(hardest) == 8
    assert "held out" in capsys.readouterr().out
    held = np.load("learned/correct/bag-of-words/k-4/hardest/none/seed-0.npy")
    assert len(held) == 2  # twelve bits
    with pytest.raises(UsageError, match="--hold-out"):
        small(scores=Path("scores.txt"), hold_out=0.2)
    with pytest.raises(UsageError, match="above 0 and below 1"):
        small(scores=Path("scores.txt"), test=None, hold_out=2)


def test_what_training_and_test_share_is_said(data, capsys):
    train = pl.read_csv("train.csv")
    pl.concat([pl.read_csv("test.csv"), train[56:]]).write_csv("test.csv")
    assert small(scores=Path("scores.txt")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "4 of 34 test examples have the very content of a training example: set hardest" in said


def test_usage_errors_say_what_to_do(data):
    scores = Path("scores.txt")
    for given, said in (
        ({}, "give what to learn from"),
        ({"scores": scores, "test": None}, "give a test set"),
        ({"scores": scores, "test": "train.csv"}, "the test set is the training set"),
        ({"scores": scores, "k": [500]}, "the largest k that all have is 30"),
        ({"scores": scores, "learner": ["bag-of-word"]}, "did you mean bag-of-words"),
        ({"scores": scores, "augment": ["cutmix"]}, "mixes pictures"),
        ({"scores": scores, "seeds": 0}, "--seeds takes a whole number"),
        ({"scores": scores, "drop_suspects": True}, "--label-noise"),
        ({"scores": scores, "epochs": 0}, "--epochs takes a whole number"),
        ({"scores": scores, "size": 32}, "--size is of pictures"),
        ({"picked": Path("p"), "choose": ["hardest", "easiest"]}, "--choose goes with --scores"),
        ({"picked": Path("p"), "score": ["loss"]}, "--score goes with --scores"),
        ({"picked": Path("p"), "duplicates": "mean"}, "--duplicates goes with --scores"),
        ({"picked": Path("p"), "drop_suspects": True}, "--drop-suspects goes with --scores"),
    ):
        with pytest.raises(UsageError, match=said):
            small(**given)


def test_suspects_dropped_are_a_set_beside(data):
    folder = data / "difficulty"
    folder.mkdir()
    pl.DataFrame({"index": range(60), "loss": [i / 60 for i in range(60)]}).write_parquet(
        folder / "difficulty.parquet"
    )
    suspect = [i >= 58 for i in range(60)]
    noise = {"suspect": suspect, "suggested": 0, "probability": 0.5, "suggested_probability": 0.5}
    pl.DataFrame({"index": range(60), "label": [0, 1] * 30}).with_columns(**{
        name: pl.Series(value) if isinstance(value, list) else pl.lit(value)
        for name, value in noise.items()
    }).write_parquet(folder / "noise.parquet")  # fmt: skip
    assert small(scores=Path("difficulty"), drop_suspects=True) == 0
    found = json.loads((data / "learned/metrics.json").read_bytes())
    assert found["sets"] == ["hardest", "hardest, suspects dropped", "random"]
    sets = pl.read_parquet("learned/sets.parquet")
    clean = sets.filter(set="hardest, suspects dropped", seed=0)["index"].to_list()
    assert clean == list(range(50, 58))
    manifest = json.loads((data / "learned/manifest.json").read_bytes())
    by_set = {line["set"]: line["suspected_labels"] for line in manifest["sets"]}
    assert by_set["hardest"] == 2
    assert by_set["hardest, suspects dropped"] == 0


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(data):
    command = [
        sys.executable, "-m", "hardset", "learn", "--train", "train.csv", "--test", "test.csv",
        "--scores", "scores.txt", "--k", "4", "--learner", "bag-of-words", "--seeds", "400",
        "--epochs", "20", "--jobs", "1",
    ]  # fmt: skip
    running = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while running.poll() is None and not list(data.glob("learned/trials/**/seed-*.json")):
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert out == ""
    assert "every finished trial is kept. To go on: hardset learn --train train.csv" in err
    assert not (data / "learned/metrics.json").exists()
