"""`hardset pick` with odd folders, full disks, and processes killed on their way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from hardset.errors import UsageError
from hardset.hardest import pick as picking
from hardset.hardest.pick import pick_set
from hardset.lowresource.examples import Held
from hardset.sources.examples.opening import open_examples

LABELS = [0, 1] * 6


def texts() -> Held:
    return Held([f"text {number}" for number in range(12)], np.array(LABELS), ("cat", "dog"))


@pytest.fixture
def scored(tmp_path) -> Path:
    folder = tmp_path / "scored [1]"  # no pattern of names
    folder.mkdir()
    pl.DataFrame({
        "index": range(12), "id": [str(i) for i in range(12)], "label": LABELS,
        "class": ["cat", "dog"] * 6, "state": ["scored"] * 12,
        "loss": np.arange(12.0), "rank_loss": np.arange(12) / 11,
    }).write_parquet(folder / "difficulty.parquet")  # fmt: skip
    pl.DataFrame({
        "index": range(12), "label": LABELS, "suggested": LABELS, "probability": [0.9] * 12,
        "suggested_probability": [0.9] * 12, "suspect": [False] * 12,
    }).write_parquet(folder / "noise.parquet")  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps({"data": {"classes": ["cat", "dog"]}}))
    return folder


def changed(folder: Path, name: str, **columns: Any) -> Path:
    path = folder / name
    pl.read_parquet(path, glob=False).with_columns(**columns).write_parquet(path)
    return folder


@pytest.mark.parametrize(
    ("name", "columns", "said"),
    [
        ("difficulty", {"label": pl.col("label").cast(pl.String)}, "no numbers of classes"),
        ("difficulty", {"label": pl.lit(2**60)}, "no numbers of classes"),  # and no 2^60 names made
        ("difficulty", {"label": pl.lit([1])}, "no numbers of classes"),
        ("difficulty", {"class": pl.col("id")}, "calls one label '0' and '2'"),
        ("noise", {"index": pl.col("index").cast(pl.String)}, "'index' is of another type"),
        ("noise", {"suspect": pl.lit("no")}, "'suspect' is of another type"),
    ],
)
def test_a_damaged_difficulty_folder(scored, tmp_path, name, columns, said):
    folder = changed(scored, f"{name}.parquet", **columns)
    with pytest.raises(UsageError, match=said):
        pick_set(folder, out=tmp_path / "out", k=1)
    assert not (tmp_path / "out").exists()


def test_rows_that_are_not_the_positions_are_refused_whatever_is_done_with_duplicates(
    scored, tmp_path
):
    changed(scored, "difficulty.parquet", index=pl.col("index") // 2 * 2)
    with pytest.raises(UsageError, match="index is not every number from 0"):
        pick_set(scored, out=tmp_path / "out", k=1, duplicates="first")


@pytest.mark.parametrize("k", [2.5, True, "2", np.float64(1)])
def test_k_that_is_no_whole_number(scored, tmp_path, k):
    with pytest.raises(UsageError, match="k takes a whole number"):
        pick_set(scored, out=tmp_path / "out", k=k)


def test_places_where_nothing_can_be_left(scored, tmp_path):
    for name, said in (("a" * 300, "too long"), ("a\0b", "null"), ("a\udcff", "not UTF-8")):
        with pytest.raises(UsageError, match=said):
            pick_set(scored, out=tmp_path / name, k=1)
    pick_set(scored, out=tmp_path / "out", k=1)
    (tmp_path / "out" / "examples.parquet").unlink()
    (tmp_path / "out" / "examples.parquet").mkdir()
    with pytest.raises(UsageError, match=r"out cannot be written: .*give the same command again"):
        pick_set(scored, out=tmp_path / "out", k=1)


def test_what_a_system_leaves_in_a_folder_is_nobody_s(scored, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / ".DS_Store").write_text("x")
    (out / ".manifest.json.123").write_text("{")  # of a process killed before its first rename
    assert len(pick_set(scored, out=out, k=2).positions) == 4


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_labels_in_lines_hold_other_separators(tmp_path, ending):
    """U+2028 and a form feed are of a line, and no ends of it."""
    (tmp_path / "scores.txt").write_text("".join(f"{i} {i}\n" for i in range(4)))
    lines = ending.join(["a\u2028b", "c\x0cd"] * 2) + ending
    (tmp_path / "labels.txt").write_bytes(lines.encode())
    done = pick_set(
        tmp_path / "scores.txt", labels=tmp_path / "labels.txt", out=tmp_path / "out", k=1
    )
    assert done.manifest["data"]["classes"] == ["a\u2028b", "c\x0cd"]


def test_names_that_are_not_utf_8_are_no_matter_for_texts(tmp_path):
    scores = Path(os.fsdecode(os.fsencode(tmp_path) + b"/s\xff.txt"))
    scores.write_text("".join(f"{i} {i}\n" for i in range(12)))
    done = pick_set(scores, data=texts(), out=tmp_path / "out", k=1)
    assert done.manifest["scores"]["path"].endswith("s\ufffd.txt")


def test_a_full_disk_is_said_and_the_same_command_goes_on(scored, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    pick_set(scored, data=texts(), out=tmp_path / "out", k=1)
    with monkeypatch.context() as patched:
        patched.setattr(picking, "write_examples", full)
        with pytest.raises(UsageError, match="cannot be written: No space left on device"):
            pick_set(scored, data=texts(), out=tmp_path / "out", k=2)
    with pytest.raises(UsageError, match="is not finished"):  # and not the one before
        open_examples(tmp_path / "out")
    done = pick_set(scored, data=texts(), out=tmp_path / "out", k=2)
    assert len(open_examples(done.folder)) == 4


SLOW = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_pick_odd import texts
from hardset.hardest import pick, pick_contents, pick_manifest
def slowed(function):
    def call(*args, **kwargs):
        print("at", function.__name__, flush=True)
        time.sleep(0.02)
        return function(*args, **kwargs)
    return call
pick.write_whole = slowed(pick.write_whole)
pick_contents.fetched = slowed(pick_contents.fetched)
Path.replace = slowed(Path.replace)
pick.pick_set(sys.argv[1], out=sys.argv[2], k=3, data=texts(), label_noise="review")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_anywhere_the_same_command_leaves_the_whole_set(scored, tmp_path):
    """Each time it is killed one step later: at the manifest, a part, a rename."""
    out = tmp_path / "out"
    command = [sys.executable, "-c", SLOW, str(scored), str(out), str(Path(__file__).parent)]
    for steps in (1, 2, 3, 5):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for _ in range(steps):
            assert child.stdout.readline().startswith("at ")
        time.sleep(0.005 * steps)
        child.kill()
        child.communicate()
        if (out / "manifest.json").is_file():
            json.loads((out / "manifest.json").read_text())
    done = pick_set(scored, out=out, k=3, data=texts(), label_noise="review")
    assert {file.name for file in out.iterdir() if not file.name.startswith(".")} == {
        *("examples.parquet", "manifest.json", "review.csv")
    }
    assert len(open_examples(out)) == 6
    assert done.manifest["counts"]["picked"] == 6
