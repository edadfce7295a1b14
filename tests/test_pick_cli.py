"""`hardset pick`: what it leaves, what it refuses, and people's decisions on suspected labels."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from hardset.errors import UsageError
from hardset.hardest.pick import pick_set
from hardset.lowresource.examples import Held
from hardset.reports.picked import noise_lines
from hardset.sources.examples.opening import open_examples

PUBLISHED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "hard-bench"
LABELS = [0, 1] * 6
LOSS = [0.0, 0.1, 1.0, 1.1, 2.0, 2.1, 3.0, 3.1, 4.0, 4.1, 5.0, 5.1]
SUSPECTS = {10: 1, 7: 0}  # 10 is the hardest of class 0, 7 the third of class 1


def texts(n: int = 12, **changes: Any) -> Held:
    return Held(
        [f"=text {number}" for number in range(n)], np.asarray(LABELS[:n]), ("cat", "dog"),
        source={"sha256": "abc", **changes},
    )  # fmt: skip


@pytest.fixture
def scored(tmp_path) -> Path:
    """A difficulty folder as `hardset difficulty --label-noise` leaves it."""
    folder = tmp_path / "scored"
    folder.mkdir()
    ranks = [number / 11 for number in range(12)]
    pl.DataFrame({
        "index": range(12), "id": [str(i) for i in range(12)], "label": LABELS,
        "class": ["cat", "dog"] * 6, "state": ["scored"] * 12,
        "loss": LOSS, "rank_loss": ranks, "loss@ffn#0": LOSS,
    }).write_parquet(folder / "difficulty.parquet")  # fmt: skip
    pl.DataFrame({
        "index": range(12), "label": LABELS,
        "suggested": [SUSPECTS.get(i, label) for i, label in enumerate(LABELS)],
        "probability": [0.1 if i in SUSPECTS else 0.9 for i in range(12)],
        "suggested_probability": [0.8 if i in SUSPECTS else 0.9 for i in range(12)],
        "suspect": [i in SUSPECTS for i in range(12)],
    }).write_parquet(folder / "noise.parquet")  # fmt: skip
    data = {"source": {"sha256": "abc"}, "n": 12, "kind": "text", "classes": ["cat", "dog"]}
    (folder / "manifest.json").write_text(
        json.dumps({"data": data, "predictors": [{"name": "ffn", "seeds": [0]}]})
    )
    return folder


def run(*arguments: Any, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hardset", "pick", *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def picked_of(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "examples.parquet")


def test_what_is_left(scored, tmp_path):
    done = pick_set(scored, out=tmp_path / "p", k=2, data=texts())
    frame = picked_of(done.folder)
    assert frame["index"].to_list() == [10, 8, 11, 9] == done.positions.tolist()
    assert frame["class"].to_list() == ["cat", "cat", "dog", "dog"]
    assert frame["rank_in_label"].to_list() == [1, 2, 1, 2]
    assert frame["text"].to_list() == ["=text 10", "=text 8", "=text 11", "=text 9"]
    assert frame["score"].to_list() == frame["rank_loss"].to_list()
    assert frame["loss"].to_list() == [5.0, 4.0, 5.1, 4.1]
    assert frame["suspect"].to_list() == [True, False, False, False]
    assert frame["suggested"].to_list() == ["dog", "cat", "dog", "dog"]
    assert not any("@" in name for name in frame.columns)
    manifest = json.loads((done.folder / "manifest.json").read_text())
    assert manifest == json.loads(json.dumps(done.manifest))
    assert (manifest["k"], manifest["choose"], manifest["score"]) == (2, "hardest", "loss")
    assert manifest["difficulty"]["predictors"][0]["name"] == "ffn"
    noise = manifest["label_noise"]
    assert (noise["suspected"], noise["judged"]) == (2, 12)
    assert (noise["picked_suspected"], noise["picked_judged"]) == (1, 4)
    assert {path.name for path in done.folder.iterdir()} == {"examples.parquet", "manifest.json"}


def test_what_is_left_opens_as_a_data_set(scored, tmp_path):
    pick_set(scored, out=tmp_path / "p", k=2, data=texts())
    again = open_examples(tmp_path / "p")
    assert (again.kind, again.classes) == ("text", ("cat", "dog"))
    assert again.labels.tolist() == [0, 0, 1, 1]
    assert again.fetch(np.asarray([2])) == [("=text 11",)]


@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_come_back_to_the_last_pixel(tmp_path, channels):
    pixels = np.random.default_rng(0).integers(0, 256, (600, 5, 7, channels), dtype=np.uint8)
    (tmp_path / "s.txt").write_text("\n".join(map(str, range(600))))
    examples = Held(pixels, np.arange(600) % 2)
    done = pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=299, data=examples)
    again = open_examples(tmp_path / "p")
    assert (again.kind, len(again)) == ("image", 598)
    for content, position in zip(again.fetch(np.arange(598)), done.positions, strict=True):
        assert np.array_equal(content, pixels[position])


def test_the_bytes_of_files_are_kept_as_they_are(tmp_path):
    """A JPEG is not decoded and written anew; what cannot be read has no content, and is told."""
    for number in range(4):
        folder = tmp_path / "data" / "train" / "ab"[number % 2]
        folder.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(number).integers(0, 256, (20, 20, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / f"{number}.jpg")
    whole = (tmp_path / "data/train/a/0.jpg").read_bytes()
    (tmp_path / "data/train/b/3.jpg").write_bytes(whole[: len(whole) // 3])
    (tmp_path / "s.txt").write_text("1\n2\n3\n4\n")
    done = pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=2, data=tmp_path / "data")
    frame = picked_of(done.folder)
    assert frame["id"].to_list() == ["a/2.jpg", "a/0.jpg", "b/3.jpg", "b/1.jpg"]
    stored = [None if cell is None else cell["bytes"] for cell in frame["image"]]
    assert stored[1] == whole
    assert stored[2] is None
    assert done.manifest["unreadable"][0]["id"] == "b/3.jpg"
    assert any("1 of the picked examples cannot be read" in notice for notice in done.notices)


def test_pairs_of_texts_and_arrays(tmp_path):
    (tmp_path / "s.txt").write_text("1\n2\n")
    pairs = Held([("a", "b"), ("c", "d")], np.asarray([0, 0]))
    frame = picked_of(pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=2, data=pairs).folder)
    assert frame.select("text", "text_b").rows() == [("c", "d"), ("a", "b")]
    arrays = Held(np.zeros((2, 3), np.float32), np.asarray([0, 0]))
    done = pick_set(tmp_path / "s.txt", out=tmp_path / "q", k=2, data=arrays)
    assert any("holds no contents: its data are arrays" in notice for notice in done.notices)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.txt", "cat\ndog\n" * 6),
        ("l.csv", "id,label\n" + "x,cat\nx,dog\n" * 6),
        ("l.csv", "label,index\n" + "".join(f"{'cat dog'.split()[i % 2]},{i}\n"
                                            for i in reversed(range(12)))),
        ("l.npy", LABELS),
    ],
)  # fmt: skip
def test_labels_alone(tmp_path, name, content):
    path = tmp_path / name
    if name.endswith(".npy"):
        np.save(path, content)
    else:
        path.write_text(content)
    (tmp_path / "s.txt").write_text("\n".join(map(str, LOSS)))
    done = pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=1, labels=path)
    frame = picked_of(done.folder)
    assert frame["index"].to_list() == [10, 11]
    assert frame["class"].to_list() in (["cat", "dog"], ["0", "1"])
    assert "text" not in frame.columns
    assert any("holds no contents: no data were given" in notice for notice in done.notices)


def test_real_labels_are_picked_from_together(tmp_path):
    (tmp_path / "s.txt").write_text("1\n2\n3\n")
    (tmp_path / "l.txt").write_text("0.5\n1.5\n2.25\n")
    done = pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=2, labels=tmp_path / "l.txt")
    frame = picked_of(done.folder)
    assert frame["label"].to_list() == [2.25, 1.5]
    assert done.manifest["labels"][0]["class"] == "all"
    assert not frame["relabelled"].any()


def test_missing_ones_are_never_picked_and_said(tmp_path):
    """Index 3 twice, 5 missing: of the odd ones, 1 and 3 are left."""
    (tmp_path / "s.txt").write_text("0 1\n1 2\n2 3\n3 4\n3 8\n4 0.5\n")
    with pytest.raises(UsageError, match="--duplicates mean"):
        pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=2, data=texts(6))
    assert not (tmp_path / "p").exists()
    done = pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=2, data=texts(6), duplicates="mean")
    assert done.positions.tolist() == [2, 0, 3, 1]
    assert picked_of(done.folder)["score"].to_list()[2] == 6
    assert done.manifest["scores"]["missing"] == 1
    assert any("1 index is missing (5)" in notice for notice in done.notices)
    with pytest.raises(UsageError, match="'dog' has 2; the largest k that all have is 2"):
        pick_set(tmp_path / "s.txt", out=tmp_path / "q", k=3, data=texts(6), duplicates="mean")


def test_scores_of_other_data_are_refused(scored, tmp_path):
    out = tmp_path / "p"
    with pytest.raises(UsageError, match="has scores of 12 examples, the data have 10"):
        pick_set(scored, out=out, k=1, data=texts(10))
    with pytest.raises(UsageError, match=r"has scores of other data: their sha256 is abc\.\.\."):
        pick_set(scored, out=out, k=1, data=texts(sha256="abd"))
    other = texts()
    other.labels = 1 - other.labels
    with pytest.raises(UsageError, match="the labels of the data are not those"):
        pick_set(scored, out=out, k=1, data=other)
    moved = texts()
    moved.id = lambda position: f"row {position}"
    with pytest.raises(UsageError, match=r"12 of 12 ids differ \(0 is 'row 0' and was '0'"):
        pick_set(scored, out=out, k=1, data=moved)
    assert not out.exists()


def test_a_difficulty_folder_needs_no_data(scored, tmp_path):
    done = pick_set(scored, out=tmp_path / "p", k=1)
    assert done.positions.tolist() == [10, 11]
    assert done.manifest["data"]["classes"] == ["cat", "dog"]


def test_a_file_of_scores_needs_labels_and_no_noise(scored, tmp_path):
    (tmp_path / "s.txt").write_text("1\n2\n")
    with pytest.raises(
        UsageError, match=r"has no labels to pick by: give the data .* \(--labels\)"
    ):
        pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=1)
    with pytest.raises(UsageError, match="give --data or --labels, not both"):
        pick_set(scored, out=tmp_path / "p", k=1, data=texts(), labels=tmp_path / "l")
    with pytest.raises(UsageError, match="nothing is known of wrong labels"):
        pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=1, data=texts(2), label_noise="drop")


def test_a_folder_of_somebody_elses_is_left_alone(scored, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "examples.parquet").write_text("mine")
    for path in (other, scored, other / "examples.parquet"):
        with pytest.raises(UsageError, match="was not left by `hardset pick`"):
            pick_set(scored, out=path, k=1, data=texts())
    assert (other / "examples.parquet").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    pick_set(scored, out=tmp_path / "empty", k=1, data=texts())
    pick_set(scored, out=tmp_path / "empty", k=2, data=texts())
    assert len(picked_of(tmp_path / "empty")) == 4


def test_suspects_dropped(scored, tmp_path):
    done = pick_set(scored, out=tmp_path / "p", k=3, data=texts(), label_noise="drop")
    assert done.positions.tolist() == [8, 6, 4, 11, 9, 5]
    assert [line["dropped"] for line in done.manifest["labels"]] == [1, 1]
    assert done.manifest["label_noise"]["picked_suspected"] == 0


def sheet(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def filled(path: Path, decisions: dict[str, str]) -> None:
    lines = sheet(path)
    for line in lines:
        line["decision"] = decisions.get(line["index"], "")
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]))
    writer.writeheader()
    writer.writerows(lines)
    path.write_text(text.getvalue(), encoding="utf-8-sig")


def review(scored: Path, tmp_path: Path, **more: Any) -> Any:
    return pick_set(scored, out=tmp_path / "p", k=3, data=texts(), label_noise="review", **more)


def test_a_sheet_to_review_and_what_people_decide(scored, tmp_path):
    done = review(scored, tmp_path)
    path = done.folder / "review.csv"
    lines = sheet(path)
    assert [(line["index"], line["class"], line["suggested"]) for line in lines] == [
        ("10", "cat", "dog"), ("7", "dog", "cat"),
    ]  # fmt: skip
    assert lines[0]["text"] == "'=text 10"  # no formula of a spreadsheet's
    assert lines[0]["probability"] == "0.1"
    assert any("2 suspected labels are to be decided" in notice for notice in done.notices)
    filled(path, {"10": "Dog", "7": "drop"})
    again = review(scored, tmp_path, reviewed=path)
    frame = picked_of(again.folder)
    assert frame["index"].to_list() == [8, 6, 4, 11, 10, 9]  # 10 competes among the dogs
    assert frame.filter(pl.col("index") == 10).select("class", "relabelled").row(0) == ("dog", True)
    assert again.manifest["reviewed"]["dropped"] == [7]
    assert again.manifest["reviewed"]["relabelled"] == [{"index": 10, "label": 1}]
    assert again.manifest["label_noise"]["picked_suspected"] == 0
    assert [(line["index"], line["decision"]) for line in sheet(path)] == [
        ("10", "Dog"), ("7", "drop"),
    ]  # fmt: skip
    assert any("another label now" in notice for notice in again.notices)


def test_what_is_kept_is_suspected_no_more(scored, tmp_path):
    path = review(scored, tmp_path).folder / "review.csv"
    filled(path, {"10": " KEEP "})
    again = pick_set(
        scored, out=tmp_path / "q", k=3, data=texts(), label_noise="drop", reviewed=path
    )
    assert again.positions.tolist() == [10, 8, 6, 11, 9, 5]


def test_what_nobody_decided_is_said(scored, tmp_path):
    """Of the suspects 10 and 7 one is dropped; 9, now suspected too, is picked in its place."""
    path = review(scored, tmp_path).folder / "review.csv"
    untouched = pick_set(scored, out=tmp_path / "q", k=3, data=texts(), reviewed=path)
    said = " ".join(untouched.notices)
    assert f"2 of 2 examples on {path} have no decision" in said
    assert "2 suspected labels are among the picked and not decided" in said
    assert untouched.manifest["reviewed"]["undecided"] == [7, 10]
    assert untouched.positions.tolist() == review(scored, tmp_path).positions.tolist()
    filled(path, {"10": "keep", "7": "drop"})
    frame = pl.read_parquet(scored / "noise.parquet")
    frame.with_columns(suspect=pl.col("suspect") | pl.col("index").is_in([5, 9])).write_parquet(
        scored / "noise.parquet"
    )
    again = review(scored, tmp_path, reviewed=path)
    new = sorted({5, 9} & set(again.positions.tolist()))
    assert new  # the next dog in the place of 7
    said = " ".join(again.notices)
    assert f"{len(new)} suspected label" in said
    assert f"{len(new)} of them picked now" in said
    assert "have no decision" not in said


def test_decisions_are_not_lost(scored, tmp_path):
    path = review(scored, tmp_path).folder / "review.csv"
    review(scored, tmp_path)  # nothing is in it yet
    filled(path, {"10": "keep"})
    with pytest.raises(UsageError, match="has decisions in it, which would be lost"):
        review(scored, tmp_path)
    assert sheet(path)[0]["decision"] == "keep"


def test_suspected_pictures_are_beside_the_sheet(scored, tmp_path):
    (scored / "manifest.json").unlink()
    pixels = np.random.default_rng(0).integers(0, 256, (12, 4, 5, 3), dtype=np.uint8)
    pictures = Held(pixels, np.asarray(LABELS), ("cat", "dog"))
    out = tmp_path / "p"
    pick_set(scored, out=out, k=2, data=pictures, label_noise="review")
    (line,) = sheet(out / "review.csv")
    assert line["picture"] == "review-files/10.png"
    assert np.array_equal(np.asarray(Image.open(out / line["picture"])), pixels[10])
    assert len(open_examples(out)) == 4
    pick_set(scored, out=out, k=2, data=pictures)
    assert {path.name for path in out.iterdir()} == {"examples.parquet", "manifest.json"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("index,id,decision\n10,10,bird\n", r"line 2: 'bird' is neither keep nor drop nor one of"),
        ("index,id,decision\n12,12,keep\n", "line 2: '12' is no index of the 12 examples"),
        ("index,id,decision\n-1,,keep\n", "'-1' is no index of the 12 examples"),
        ("index,id,decision\n10,11,keep\n", "10 has the id '11' there, and is '10'"),
        ("index,decision\n10,keep\n10,drop\n", r"/review.csv: line 3: 10 is decided a second"),
        ("index,label\n10,keep\n", "it has no column 'decision'"),
        ("", "is empty"),
    ],
)
def test_sheets_that_cannot_be_used(scored, tmp_path, text, said):
    path = tmp_path / "review.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        pick_set(scored, out=tmp_path / "p", k=1, data=texts(), reviewed=path)


def test_the_share_of_suspects_is_told_beside_the_whole_sets():
    """1 of 4 is 25.0 %, Wilson 4.6 to 69.9; 2 of 12 is 16.7 %, 4.7 to 44.8."""
    noise = {"picked_suspected": 1, "picked_judged": 4, "suspected": 2, "judged": 12}
    assert noise_lines(noise) == [
        "suspected wrong among the picked, and not decided: 1 of 4, 25.0 % (4.6 to 69.9); "
        "suspected in the whole set: 2 of 12, 16.7 % (4.7 to 44.8)"
    ]
    (said,) = noise_lines(noise | {"undecided": 1})
    assert said.endswith("2 of 12, 16.7 % (4.7 to 44.8), 1 of them decided by people")


def test_the_command(scored, tmp_path):
    rows = "\n".join(f"text {i}\t{'cat dog'.split()[i % 2]}" for i in range(12))
    (tmp_path / "data.tsv").write_text(f"sentence\tlabel\n{rows}\n")
    (tmp_path / "s.txt").write_text("\n".join(map(str, LOSS)))
    done = run("--scores", "s.txt", "--data", "data.tsv", "--k", 2, "--out", "p", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "4 picked, 2 a label, hardest by score" in done.stdout
    assert "not estimated" in done.stdout
    assert picked_of(tmp_path / "p")["text"].to_list() == ["text 10", "text 8", "text 11", "text 9"]
    wrong = run("--scores", "s.txt", "--data", "data.tsv", "--k", 7, "--out", "q", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "'cat' has 6, 'dog' has 6; the largest k that all have is 6" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    shown = run("--scores", scored, "--k", 3, "--out", "r", cwd=tmp_path)
    assert "suspected wrong among the picked, and not decided: 2 of 6" in shown.stdout


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published score files are not in shared/")
def test_the_published_file_of_sst2(tmp_path):
    (tmp_path / "l.txt").write_text("0\n1\n" * 33_674 + "0\n")
    given = {"labels": tmp_path / "l.txt", "k": 16, "out": tmp_path / "p"}
    path = PUBLISHED / "gd_sst2_train_loss_bbu.txt"
    with pytest.raises(
        UsageError, match=r"3,187 of 67,349 lines repeat.*3,187 indices are missing"
    ):
        pick_set(path, **given)
    done = pick_set(path, duplicates="mean", **given)
    assert done.manifest["counts"] == {
        "picked": 32, "scored": 64_162, "unscored": 3_187, "unlabelled": 0, "dropped": 0
    }  # fmt: skip
    assert done.manifest["scores"]["repeated"] == 3_187
    assert any("3,187 indices are missing (41712," in notice for notice in done.notices)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.txt", None, "there is no file of labels"),
        ("l.txt", b"", "is empty"),
        ("l.txt", b"\xff\xfe\x00", "is no file of labels"),
        ("l.npy", b"\x93NUMPY", "is no file of labels"),
        ("l.csv", b"index,class\n0,1\n", "has no column 'label'; its columns are 'index', 'class'"),
        ("l.csv", b"index,label\n0,1\n0,1\n", "'index' is not every number from 0, each once"),
        ("l.parquet", b"PAR1 and no more", "is no file of labels"),
    ],
)
def test_labels_that_cannot_be_used(tmp_path, name, content, said):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    (tmp_path / "s.txt").write_text("1\n2\n")
    with pytest.raises(UsageError, match=said):
        pick_set(tmp_path / "s.txt", out=tmp_path / "p", k=1, labels=tmp_path / name)


@pytest.mark.parametrize("name", ["difficulty.parquet", "noise.parquet", "manifest.json"])
def test_a_damaged_folder_of_scores_is_one_sentence(scored, tmp_path, name, capfd):
    path = scored / name
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"\xff" * 100):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=name):
            pick_set(scored, out=tmp_path / "p", k=1, data=texts())
    assert "panicked" not in capfd.readouterr().err


def test_noise_of_another_set(scored, tmp_path):
    frame = pl.read_parquet(scored / "noise.parquet")
    frame.with_columns(pl.col("index") + 1).write_parquet(scored / "noise.parquet")
    with pytest.raises(UsageError, match="has indices beyond the 12 examples"):
        pick_set(scored, out=tmp_path / "p", k=1, data=texts())
    frame.drop("suspect").write_parquet(scored / "noise.parquet")
    with pytest.raises(UsageError, match="suspect"):
        pick_set(scored, out=tmp_path / "p", k=1, data=texts())
