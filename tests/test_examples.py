"""Two benchmarks from outside: installed as a package of their own, run by name, scored by hand."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from PIL import Image as Picture

from hardset.reports.folder import read_folder

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The examples as pip installs them, beside the package and not in it."""
    target = tmp_path_factory.mktemp("site")
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *quiet, "--target", target, EXAMPLES], check=True
    )
    return target


def hardset(installed, *arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "hardset", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def overall(folder: Path, reading: str = "default", **cut: str) -> dict[str, tuple[float, float]]:
    (found,) = folder.glob("runs/*/*/*")
    _, metrics, _ = read_folder(found)
    return {
        m.name: (m.numerator, m.denominator)
        for m in metrics
        if m.reading == reading and m.cut == cut
    }


def picture() -> bytes:
    made = io.BytesIO()
    Picture.effect_noise((300, 300), 50).convert("RGB").save(made, "PNG")
    return made.getvalue()


def test_each_is_about_a_hundred_lines_and_is_listed(installed, tmp_path):
    for file in ("pope.py", "mm_upd.py"):
        assert len((EXAMPLES / file).read_text().splitlines()) <= 120
    listed = hardset(installed, "list", cwd=tmp_path).stdout
    assert "POPE: The three settings" in listed
    assert "MM-UPD: The questions of one file" in listed


def pope(folder: Path) -> None:
    """Two images; in each setting one object that is there and one that is not."""
    for name in ("1.jpg", "2.jpg"):
        Picture.new("RGB", (32, 32), "red").save(folder / name)
    for setting in ("random", "popular", "adversarial"):
        asked = (("1.jpg", "cat", "yes"), ("1.jpg", "fork", "no"),
                 ("2.jpg", "bus", "yes"), ("2.jpg", "tree", "no"))  # fmt: skip
        rows = [
            {
                "question_id": number,
                "image": image,
                "text": f"Is there a {thing} in the image?",
                "label": label,
            }
            for number, (image, thing, label) in enumerate(asked, 1)
        ]
        lines = "\n".join(json.dumps(row) for row in rows)  # JSON Lines, as published
        (folder / f"coco_pope_{setting}.json").write_text(lines)


def test_pope_by_hand(installed, tmp_path):
    pope(tmp_path)
    given = ("score", "pope", "--data", ".", "--images", ".")
    said = {1: "Yes, a cat.", 2: "Yes.", 3: "No.", 4: "There is no tree."}
    replies = [
        {"id": f"{setting}/{number}", "reply": reply}
        for setting in ("random", "popular", "adversarial")
        for number, reply in said.items()
    ]
    replies[4]["reply"] = "I cannot tell."  # popular, the cat
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)))
    done = hardset(installed, *given, "replies.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Random: cat right, fork made up, bus missed, tree right.
    rates = overall(tmp_path, setting="random")
    assert rates == {
        "accuracy": (2, 4),
        "precision": (1, 2),
        "recall": (1, 2),
        "F1": (2, 4),
        "yes ratio": (2, 4),
    }
    # Popular lacks the cat: one yes, to the fork.
    assert overall(tmp_path, setting="popular")["precision"] == (0, 1)
    assert overall(tmp_path, setting="popular")["accuracy"] == (1, 4)
    # The authors' script reads whatever has no "no" or "not" in its first sentence as yes.
    assert overall(tmp_path, "paper", setting="popular")["precision"] == (1, 2)


def test_pope_runs_on_a_model(installed, tmp_path):
    pope(tmp_path)
    given = ("--data", tmp_path, "--images", tmp_path, "-m", "baseline/oracle")
    done = hardset(installed, "run", "pope", *given, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert overall(tmp_path)["F1"] == (12, 12)
    (outcomes,) = tmp_path.glob("runs/*/*/*/outcomes.parquet")
    assert (pl.read_parquet(outcomes)["sha256"] != "").all()  # the images were looked at


def upd(folder: Path) -> Path:
    """Two questions of two options; the first in both rotations, with the right option gone."""
    image = base64.b64encode(picture()).decode()
    assert len(image) > 2**17  # a cell beyond what csv takes by default
    head = "index question hint A B C answer category type masked_answer image".split()
    rows = [
        (7, "What is it?", "", "a cat", "a dog", "", "A", "animals", "standard", ""),
        (1000007, "What is it?", "", "a dog", "a cat", "", "B", "animals", "standard", ""),
        (7, "What is it?", "", "a dog", "a bus", "", "", "animals", "upd", "a cat"),
        (1000007, "What is it?", "", "a bus", "a dog", "", "", "animals", "upd", "a cat"),
        (9, "Which colour?", "nan", "red", "blue", "nan", "A", "colour", "standard", ""),
        (9, "Which colour?", "nan", "blue", "No option fits", "nan", "B", "colour", "upd", "red"),
    ]  # fmt: skip
    path = folder / "mmaad_20240303_base.tsv"
    lines = ["\t".join(head), *("\t".join([*map(str, row), image]) for row in rows)]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("changed", "dual", "standard", "unsolvable"),
    [
        ({}, 2, 2, 2),
        ({"standard/1000007": "A"}, 1, 1, 2),  # one rotation wrong: the question is
        ({"upd/7": "A"}, 1, 2, 1),  # answered what has no answer
        ({"upd/7": "a cat"}, 2, 2, 2),  # the option that was taken away
        ({"upd/9": "A"}, 1, 2, 1),
        ({"upd/9": "I cannot tell."}, 2, 2, 2),
    ],
)
def test_dual_accuracy_by_hand(installed, tmp_path, changed, dual, standard, unsolvable):
    upd(tmp_path)
    said = {
        "standard/7": "A",
        "standard/1000007": "B",
        "standard/9": "(A)",
        "upd/7": "None of the options is correct.",
        "upd/1000007": "I can't answer.",
        "upd/9": "B",
    } | changed
    replies = "\n".join(json.dumps({"id": key, "reply": reply}) for key, reply in said.items())
    (tmp_path / "replies.jsonl").write_text(replies)
    data = ("--data", "mmaad_20240303_base.tsv")
    done = hardset(installed, "score", "mm-upd", *data, "replies.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rates = overall(tmp_path)
    assert rates["dual accuracy"] == (dual, 2)
    assert rates["standard accuracy"] == (standard, 2)
    assert rates["UPD accuracy"] == (unsolvable, 2)


def test_mm_upd_runs_on_a_model(installed, tmp_path):
    path = upd(tmp_path)
    done = hardset(
        installed, "run", "mm-upd", "--data", path, "-m", "baseline/always-refuse", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    rates = overall(tmp_path)
    assert rates["UPD accuracy"] == (2, 2)
    assert rates["dual accuracy"] == (0, 2)
