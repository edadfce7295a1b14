"""Scoring difficulty for an unlucky user: damaged leftovers, full disks, networks that break."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch", reason="needs the torch extra")
pytestmark = pytest.mark.torch

from hardset.errors import UsageError  # noqa: E402
from hardset.hardest import predictors  # noqa: E402
from hardset.hardest.alone import alone  # noqa: E402
from hardset.hardest.data import Data  # noqa: E402
from hardset.hardest.devices import see_device  # noqa: E402
from hardset.hardest.difficulty import difficulty, write_report  # noqa: E402
from hardset.hardest.difficulty_settings import Settings  # noqa: E402
from hardset.hardest.parts import Parts  # noqa: E402
from hardset.lowresource.examples import Held  # noqa: E402
from hardset.lowresource.recipes import Recipe, changed, predictor_recipe  # noqa: E402
from hardset.lowresource.training import Diverged, train  # noqa: E402
from hardset.lowresource.writing import Unwritable, whole  # noqa: E402

BAD = """
import threading
import torch
from hardset.lowresource.examples import Held
import numpy as np


class Bad(torch.nn.Linear):
    def forward(self, x):
        if len(x) <= 2:  # as it is tried
            return super().forward(x)
        if self.how == "shape":
            return super().forward(x)[:, :2]
        if self.how == "none":
            return None
        if self.how == "eval" and self.training:
            return super().forward(x)
        raise {"key": KeyError("gone"), "exit": SystemExit(3)}.get(self.how, TypeError("bad"))


def bad(how):
    module = Bad(4, 3)
    module.how = how
    return module


def key(classes): return bad("key")
def leave(classes): return bad("exit")
def shape(classes): return bad("shape")
def none(classes): return bad("none")
def in_eval(classes): return bad("eval")


class Odd(torch.nn.Linear):
    def get_extra_state(self): return {"odd": {1, 2}}
    def set_extra_state(self, state): pass


def odd(classes): return Odd(4, 3)


def locked():
    module = torch.nn.Linear(4, 3)
    module.lock = threading.Lock()
    return module, Held(np.zeros((6, 4), np.float32), np.arange(6) % 3)
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    (tmp_path / "bad.py").write_text(BAD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(Data, "open", lambda self: tiny())
    threads = torch.get_num_threads()
    yield tmp_path
    torch.set_num_threads(threads)
    sys.modules.pop("bad", None)


def tiny(n=60):
    rng = np.random.default_rng(5)
    labels = np.arange(n) % 3
    return Held(rng.normal(size=(n, 4)).astype(np.float32) + labels[:, None], labels)


SCORES = ("loss", "aum")
ONE = Settings(("mlp",), 1, SCORES, {"epochs": 2, "batch": 8}, threads=1, label_noise=True)


def tables(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix == ".parquet" or path.name in ("stability.json", "noise.json", "weights.pt")
    }


def damaged(path, how):
    """Damage a file as disks and people do."""
    before = path.read_bytes()
    middle = len(before) // 2
    flipped = before[:middle] + bytes([before[middle] ^ 1]) + before[middle + 1 :]
    path.write_bytes({"cut": before[:middle], "empty": b"", "flipped": flipped}[how])


def test_whatever_a_network_raises_the_others_go_on(made):
    names = [f"bad:{name}" for name in ("key", "leave", "shape", "none", "in_eval")]
    done = difficulty(
        Data("x"), made / "out", Settings((*names, "mlp", "bad:odd"), 1, ("loss",), threads=1)
    )
    assert [one["predictor"] for one in done.failed] == names
    reasons = [one["reason"] for one in done.failed]
    assert reasons[0] == "KeyError: 'gone'"
    assert reasons[1] == "SystemExit: 3"
    assert "out of bounds" in reasons[2]
    assert "NoneType" in reasons[3]
    assert reasons[4] == "TypeError: bad"  # trained well, and breaks when it is asked
    assert done.manifest["counts"]["scored"] == 60


@pytest.mark.parametrize("how", ["cut", "empty", "flipped"])
def test_damaged_leftovers_are_said_and_made_again(made, how):
    difficulty(Data("x"), made / "whole", ONE)
    out = made / "out"
    shutil.copytree(made / "whole", out)
    seed = out / "scores/mlp/seed-0"
    (seed / "part-00001.parquet").unlink()  # so that the weights are needed again
    for path in (
        seed / "weights.pt",
        seed / "epochs.parquet",
        seed / "part-00002.parquet",
        out / "noise/fold-1/part-00000.parquet",
        out / "noise/fold-1/trained.json",
    ):
        damaged(path, how)
    if how == "cut":
        (seed / "digests.txt").write_bytes((seed / "digests.txt").read_bytes()[:-70])
    done = difficulty(Data("x"), out, ONE)
    assert tables(out) == tables(made / "whole")
    said = [one for one in done.manifest["notices"] if "it was made again" in one]
    # What is flipped in a seal of JSON may be a figure that nothing depends on.
    wanted = {"weights.pt", "epochs.parquet", "part-00002.parquet", "part-00000.parquet"}
    assert wanted <= {Path(one.split(" was ")[0]).name for one in said}
    assert not [one for one in difficulty(Data("x"), out, ONE).manifest["notices"] if "made" in one]


def test_a_damaged_checkpoint_is_said_and_training_begins_anew(made, monkeypatch):
    difficulty(Data("x"), made / "whole", ONE)
    monkeypatch.setattr(predictors, "MINUTES", 0.0)

    class Stop(BaseException):
        pass

    def stop(title, count):
        if "training" in title and count.done >= 32:
            raise Stop

    with pytest.raises(Stop):
        difficulty(Data("x"), made / "out", ONE, show=stop)
    damaged(made / "out/scores/mlp/seed-0/checkpoint.pt", "cut")
    done = difficulty(Data("x"), made / "out", ONE)
    assert "checkpoint.pt was damaged" in done.manifest["notices"][0]
    assert tables(made / "out") == tables(made / "whole")
    damaged(made / "out/manifest.json", "cut")
    with pytest.raises(UsageError, match=r"manifest.json is damaged, .* name another --out, or"):
        difficulty(Data("x"), made / "out", ONE)


def test_one_command_at_a_time_in_a_folder(made):
    out = made / "out"
    out.mkdir()
    hold = "import sys; from pathlib import Path; from hardset.hardest.alone import alone\n"
    hold += "with alone(Path('out')): print('in', flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=made
    )
    assert other.stdout.readline() == b"in\n"
    with pytest.raises(UsageError, match="another command is at work in"):
        difficulty(Data("x"), out, ONE)
    other.kill()  # even so the system lets go of it
    other.communicate()
    with alone(out):
        assert not list(out.iterdir())


def test_a_full_disk_ends_the_walk_and_no_predictor_is_blamed(made, monkeypatch):
    save = torch.save

    def full(state, path):
        save(state, path)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(Unwritable, match=r"checkpoint.pt cannot be written: No space left"):
        difficulty(Data("x"), made / "out", ONE)
    assert not [path for path in (made / "out").rglob("*") if ".pt" in path.name]
    monkeypatch.undo()
    monkeypatch.setattr(Data, "open", lambda self: tiny())
    assert not difficulty(Data("x"), made / "out", ONE).failed


def test_what_a_library_says_of_a_full_disk_is_put_plainly(tmp_path, monkeypatch):
    def write(part):
        part.write_bytes(b"half")
        raise RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 704 vs 598")

    with pytest.raises(Unwritable, match="unexpected pos"):
        whole(tmp_path / "a", write)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 9, 0))
    with pytest.raises(Unwritable, match="a cannot be written: the disk is full"):
        whole(tmp_path / "a", write)
    assert not list(tmp_path.iterdir())


def test_a_folder_taken_away_is_said(made):
    def take(title, count):
        if "scoring" in title and count.done > 8:
            shutil.rmtree(made / "out", ignore_errors=True)

    with pytest.raises(UsageError, match="out was taken away while it was written into"):
        difficulty(Data("x"), made / "out", ONE, show=take)


def test_a_page_of_an_earlier_call_does_not_stay(made):
    done = difficulty(Data("x"), made / "out", Settings(("bad:key",), 1, ("loss",), threads=1))
    (made / "out/report.html").write_text("of yesterday")
    assert write_report(done) is None
    assert not (made / "out/report.html").exists()


def test_what_cannot_come_to_anything_is_said_first(made, monkeypatch):
    def given(labels, classes=()):
        monkeypatch.setattr(
            Data,
            "open",
            lambda self: Held(np.zeros((len(labels), 4), np.float32), np.array(labels), classes),
        )

    for labels, classes, settings, said in (
        ([0, 0, 0], ("only",), ONE, "all labels are of one class, 'only'"),
        ([-1, -1], ("a", "b"), ONE, "no example of the training set has a label"),
        ([np.nan, np.nan], (), ONE, "no example of the training set has a label"),
        ([0, 1] * 3, (), Settings(device="cuda:99"), "--device cuda:99: torch"),
        ([0, 1] * 3, (), Settings(device="gpu"), "--device gpu: torch does not compute there"),
        (list(range(2001)) * 2, (), ONE, "up to 2,000 classes, and there are 2,001"),
    ):
        given(labels, classes)
        with pytest.raises(UsageError, match=said):
            difficulty(Data("x"), made / "out", settings)
    see_device("cpu")
    monkeypatch.undo()
    monkeypatch.chdir(made)
    with pytest.raises(UsageError, match="its network cannot be copied"):
        difficulty(Data("bad:locked"), made / "o", Settings(scores=("loss",)))


def test_numbers_that_are_not_finite_are_named():
    data = tiny(12)
    data.contents[7, 2] = np.nan
    from hardset.lowresource.networks.registry import build

    network = build("mlp", data, seed=0)
    recipe = changed(predictor_recipe("mlp", "tensor"), batch=12)
    with pytest.raises(Diverged, match="1 of its examples, like '7', are infinite or NaN"):
        train(network, data, recipe, seed=0)
    frozen = build("mlp", tiny(), seed=0)
    frozen.module.requires_grad_(False)
    with pytest.raises(UsageError, match="no weights that can be trained"):
        train(frozen, tiny(), Recipe("r", "adam", 1e-3, 8, 1), seed=0)


def test_an_example_that_training_never_came_to_has_no_score_of_it(made):
    """Two steps of 8 of the 60."""
    settings = Settings(("mlp",), 1, ("aum",), {"steps": 2, "batch": 8}, threads=1)
    done = difficulty(Data("x"), made / "out", settings)
    assert done.manifest["counts"] == {
        "scored": 16, "not finite": 44, "unreadable": 0, "no label": 0
    }  # fmt: skip
    rows = pl.read_parquet(made / "out/scores/mlp/seed-0/part-*.parquet")
    assert set(rows["reason"]) == {"", "aum is not known: training never came to this example"}


def test_a_part_whose_digest_a_kill_took_is_made_again(tmp_path):
    parts = Parts(tmp_path, 4, 2)
    for number in (0, 1):
        parts.write(number, pl.DataFrame({"index": [0, 1]}))
    noted = tmp_path / "digests.txt"
    lines = noted.read_text().split()
    assert lines[0::2] == ["0", "1"]
    noted.write_text(f"0 {lines[1]}\n1 {lines[3][:20]}")
    assert parts.remove_damaged() == [1]
    assert parts.missing() == [1]
    parts.write(1, pl.DataFrame({"index": [0, 1]}))  # after the line that was cut short
    assert parts.remove_damaged() == []
    assert json.dumps(parts.missing()) == "[]"
