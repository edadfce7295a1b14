"""Tables: parquet, CSV, TSV and JSON Lines; columns, labels, what cannot be read, flat memory."""

from __future__ import annotations

import json
import os
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples_made import encoded, hub_parquet, picture_cells, shade
from hardset.errors import UsageError
from hardset.lowresource.examples import Examples, Unreadable
from hardset.sources.examples import decoding, rows
from hardset.sources.examples.labelling import labelled
from hardset.sources.examples.opening import open_examples
from hardset.sources.examples.rows import FileRows, HeldRows


def texts(examples):
    return examples.fetch(np.arange(len(examples)))


# Parquet ----------------------------------------------------------------------------------------


def test_the_hubs_layout(tmp_path):
    shards = [
        hub_parquet(
            tmp_path / "data" / f"train-{number:05}-of-00002.parquet",
            {"img": picture_cells([10 * number, 10 * number + 1]), "label": [number, 2]},
            {"label": ["cat", "dog", "eel"]},
        )
        for number in (0, 1)
    ]
    hub_parquet(
        tmp_path / "data" / "test-00000-of-00001.parquet",
        {"img": picture_cells([99]), "label": [1]},
        {"label": ["cat", "dog", "eel"]},
    )
    train, test = open_examples(tmp_path), open_examples(tmp_path, split="test")
    assert isinstance(train, Examples)
    assert (train.kind, train.classes) == ("image", ("cat", "dog", "eel"))
    assert (train.labels.tolist(), test.labels.tolist()) == ([0, 2, 1, 2], [1])
    assert [int(each[0, 0, 0]) for each in train.fetch(np.array([3, 0, 2]))] == [11, 0, 10]
    assert train.id(3) == "data/train-00001-of-00002.parquet, row 2"
    assert train.source["files"] == [f"data/{path.name}" for path in shards]
    # The names' own order may differ from the training set's.
    turned = open_examples(tmp_path, split="test", classes=("dog", "eel", "cat"))
    assert turned.labels.tolist() == [0]


def test_a_test_set_without_labels_gives_way_to_validation(tmp_path):
    for name, label in (("train", 0), ("validation", 1), ("test", -1)):
        hub_parquet(
            tmp_path / f"{name}-00000-of-00001.parquet",
            {"sentence": [name], "label": [label], "idx": [0]},
            {"label": ["negative", "positive"]},
        )
    test = open_examples(tmp_path, split="test")
    assert texts(test) == [("validation",)]
    assert test.source["notes"][-1].startswith("its test examples have no labels")
    (tmp_path / "validation-00000-of-00001.parquet").unlink()
    with pytest.raises(UsageError, match="none of its 1 rows has a label"):
        open_examples(tmp_path, split="test")


def test_pictures_as_bytes_and_as_paths(tmp_path):
    (tmp_path / "a.png").write_bytes(encoded(shade(7)))
    frame = {"image": [encoded(shade(5)), b"", None], "label": ["x", "y", "x"]}
    pl.DataFrame(frame).write_parquet(tmp_path / "bytes.parquet")
    pl.DataFrame({"image": ["a.png", "b.png"], "label": [0, 1]}).write_parquet(
        tmp_path / "paths.parquet"
    )
    held = texts(open_examples(tmp_path / "bytes.parquet"))
    assert held[0].max() == 5
    assert held[1:] == [Unreadable("is empty (0 bytes)"), Unreadable("its cell holds no picture")]
    found = texts(open_examples(tmp_path / "paths.parquet"))
    assert found[0].max() == 7
    assert "does not exist" in found[1].reason


@pytest.mark.parametrize(
    ("columns", "kind", "content"),
    [
        ({"premise": ["a"], "hypothesis": ["b"]}, "text", ("a", "b")),
        ({"question1": ["a"], "question2": ["b"]}, "text", ("a", "b")),
        ({"question": ["a"], "sentence": ["b"]}, "text", ("a", "b")),
        ({"sentence2": ["b"], "sentence1": ["a"]}, "text", ("a", "b")),
        ({"Text": ["a"], "id": ["z"]}, "text", ("a",)),
    ],
)
def test_columns_known_by_name(tmp_path, columns, kind, content):
    pl.DataFrame({**columns, "label": [0]}).write_parquet(tmp_path / "a.parquet")
    examples = open_examples(tmp_path / "a.parquet")
    assert (examples.kind, texts(examples)) == (kind, [content])


def test_columns_that_are_named(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": ["x"], "b": ["y"], "c": ["z"], "label": [0]}).write_parquet(path)
    opened = open_examples(path, text=("b", "a"), label="c")
    assert (texts(opened), opened.classes) == ([("y", "x")], ("z",))
    for asked, said in (
        ({}, "no column is called as texts or pictures mostly are; it has a, b, c, label; name"),
        ({"text": "d"}, "has no column 'd'; it has a, b, c, label"),
        ({"text": ("a", "b", "c")}, "3 columns of text were named"),
        ({"image": "label", "label": "c"}, "column 'label' holds Int64, not pictures"),
    ):
        with pytest.raises(UsageError, match=said):
            open_examples(path, **asked)


def test_files_that_differ_are_no_set(tmp_path):
    pl.DataFrame({"text": ["x"], "label": [0]}).write_parquet(tmp_path / "train-0.parquet")
    pl.DataFrame({"text": ["x"], "label": ["a"]}).write_parquet(tmp_path / "train-1.parquet")
    with pytest.raises(UsageError, match=r"train-1.parquet has another column 'label' \(String\)"):
        open_examples(tmp_path)


def test_a_file_is_whatever_split_is_asked_for(tmp_path):
    for name in ("test.csv", "mine.csv"):
        (tmp_path / name).write_text("text,label\na,0\nb,1\n")
    named = open_examples(tmp_path / "test.csv", split="test")
    other = open_examples(tmp_path / "mine.csv", split="test")
    assert (len(named), named.source["notes"]) == (2, [])
    assert "all of it was taken as 'test'" in other.source["notes"][0]
    assert named.source["split"] == other.source["split"] == ""


def test_several_data_sets_are_not_mixed(tmp_path):
    for name in ("rte", "wnli"):
        columns = {"sentence1": ["a"], "sentence2": ["b"], "label": [0]}
        hub_parquet(tmp_path / name / "train-00000-of-00001.parquet", columns, {"label": ["x"]})
    with pytest.raises(UsageError, match="several data sets, each with its splits: rte, wnli"):
        open_examples(tmp_path)
    assert len(open_examples(tmp_path / "rte")) == 1


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(UsageError, match=r"a.parquet is not a readable parquet file"):
        open_examples(tmp_path / "a.parquet")


# Blocks -----------------------------------------------------------------------------------------


@pytest.fixture
def small_blocks(monkeypatch):
    """Sets of more than 1 kB are read by blocks of some 200 bytes, in pools of 600."""
    for name, value in (("HELD", 1000), ("BLOCK", 200), ("POOL", 600)):
        monkeypatch.setattr(rows, name, value)


def numbered(tmp_path, heights=(70, 0, 30)):
    at = 0
    for number, height in enumerate(heights):
        values = range(at, at + height)
        at += height
        pl.DataFrame(
            {"text": [f"text {value:015}" for value in values], "label": [v % 3 for v in values]},
            schema={"text": pl.String, "label": pl.Int64},
        ).write_parquet(tmp_path / f"part-{number}.parquet", row_group_size=16)
    return tmp_path


def test_small_sets_are_held(tmp_path):
    assert isinstance(open_examples(numbered(tmp_path)).rows, HeldRows)


@pytest.mark.usefixtures("small_blocks")
def test_larger_ones_are_read_by_blocks(tmp_path):
    examples = open_examples(numbered(tmp_path))
    assert isinstance(examples.rows, FileRows)
    assert texts(examples) == [(f"text {value:015}",) for value in range(100)]
    assert examples.fetch(np.array([71, 3, 3])) == [
        *((f"text {71:015}",), (f"text {3:015}",), (f"text {3:015}",)),
    ]
    assert examples.id(70) == "part-2.parquet, row 1"
    with pytest.raises(IndexError):
        examples.fetch(np.array([100]))
    assert examples.fetch(np.array([], dtype=np.int64)) == []
    sent = pickle.loads(pickle.dumps(examples))  # as to another process
    assert sent.fetch(np.array([99])) == examples.fetch(np.array([99]))


@pytest.mark.usefixtures("small_blocks")
def test_a_random_order_reads_each_block_about_once(tmp_path, monkeypatch):
    examples = open_examples(numbered(tmp_path))
    reads = []
    real = FileRows._read

    def read(self, block):
        reads.append(block)
        return real(self, block)

    monkeypatch.setattr(FileRows, "_read", read)
    order = examples.shuffled(np.random.default_rng(1))
    assert sorted(order.tolist()) == list(range(100))
    again = examples.shuffled(np.random.default_rng(1))
    assert order.tolist() == again.tolist() != sorted(order.tolist())
    for start in range(0, 100, 8):
        got = examples.fetch(order[start : start + 8])
        assert got == [(f"text {value:015}",) for value in order[start : start + 8]]
    blocks = len(examples.rows._blocks)
    assert blocks > 8
    assert len(reads) <= 1.5 * blocks  # and not once for nearly every one of 100 rows


def counted(monkeypatch):
    reads = []
    real = FileRows._read

    def read(self, block):
        reads.append(block)
        return real(self, block)

    monkeypatch.setattr(FileRows, "_read", read)
    return reads


@pytest.mark.usefixtures("small_blocks")
def test_a_pool_has_so_many_rows_and_blocks_at_most(tmp_path, monkeypatch):
    """Pools of 16 rows in 8 blocks of 2: of short texts, bytes alone would let a pool be all."""
    monkeypatch.setattr(rows, "POOL", 10**9)
    monkeypatch.setattr(rows, "POOL_ROWS", 16)
    examples = open_examples(numbered(tmp_path))
    reads = counted(monkeypatch)
    order = examples.shuffled(np.random.default_rng(1))
    blocks = [len({position // 2 for position in order[at : at + 16]}) for at in range(0, 96, 16)]
    assert blocks == [8] * 6
    for start in range(0, 100, 24):  # batches that stand between two pools
        got = examples.fetch(order[start : start + 24])
        assert got == [(f"text {value:015}",) for value in order[start : start + 24]]
    assert len(reads) == len(set(reads)) == 50


@pytest.mark.usefixtures("small_blocks")
def test_a_few_rows_from_all_over_the_set_are_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "FEW", 2)
    monkeypatch.setattr(rows, "HELD", 4000)  # bytes: 10 rows of some 230, and not 100
    examples = open_examples(numbered(tmp_path, heights=(300,)))
    assert isinstance(examples.rows, FileRows)
    reads = counted(monkeypatch)
    few = np.arange(5, 300, 30)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(few)
        for start in range(0, 10, 4):
            got = examples.fetch(order[start : start + 4])
            assert got == [(f"text {value:015}",) for value in order[start : start + 4]]
    assert len(reads) == 10
    assert len(pickle.loads(pickle.dumps(examples)).rows._few) == 0  # each process has its own


@pytest.mark.usefixtures("small_blocks")
def test_a_file_changed_after_opening_is_said_and_not_mixed_in(tmp_path):
    examples = open_examples(numbered(tmp_path))
    path = tmp_path / "part-2.parquet"
    pl.read_parquet(path).reverse().write_parquet(path)
    os.utime(path, ns=(1, 1))
    found = examples.fetch(np.array([0, 75]))
    assert found[0] == (f"text {0:015}",)
    assert found[1] == Unreadable("part-2.parquet was changed after it was opened: run again")
    path.unlink()
    assert isinstance(open_examples(tmp_path).fetch(np.array([0]))[0], tuple)
    assert "cannot be read" in examples.fetch(np.array([99]))[0].reason


@pytest.mark.usefixtures("small_blocks")
def test_a_damaged_page_costs_its_block_alone(tmp_path):
    folder = numbered(tmp_path, (100,))
    path = folder / "part-0.parquet"
    examples = open_examples(folder)
    stat = path.stat()
    data = bytearray(path.read_bytes())
    data[8:40] = bytes(32)
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    found = examples.fetch(np.array([0, 99]))
    assert isinstance(found[0], Unreadable)
    assert "part-0.parquet" in found[0].reason
    assert found[1] == (f"text {99:015}",)


# CSV, TSV, JSON Lines ---------------------------------------------------------------------------


def test_csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('\ufefftext,label\n"one, ""quoted""\nand broken",b\n\nplain,a\n', "utf-8")
    examples = open_examples(path)
    assert texts(examples) == [('one, "quoted"\nand broken',), ("plain",)]
    assert (examples.classes, examples.labels.tolist()) == (("a", "b"), [1, 0])
    assert [examples.id(0), examples.id(1)] == ["a.csv, line 2", "a.csv, line 5"]


def test_a_tsvs_quotes_are_plain(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text('text\tlabel\nHe said "no\t1\n"so" she said\t0\r\n')
    assert texts(open_examples(path)) == [('He said "no',), ('"so" she said',)]


def test_json_lines(tmp_path):
    path = tmp_path / "train.jsonl"
    lines = [{"text": "a", "label": 1}, {"label": 0}, {"text": ["b"], "label": 0}, {"text": 4}]
    path.write_text("\n".join(map(json.dumps, lines)))
    examples = open_examples(tmp_path)
    assert texts(examples) == [
        *(("a",), Unreadable("its cell holds no text")),
        *(Unreadable("its cell holds a list, not a text"), ("4",)),
    ]
    assert examples.labels.tolist() == [1, 0, 0, -1]
    (tmp_path / "bad.jsonl").write_text('{"text": "a", "label": 1}\n{"text"')
    with pytest.raises(UsageError, match=r"bad.jsonl, line 2"):
        open_examples(tmp_path / "bad.jsonl")


def test_text_that_is_not_utf8_is_a_state_of_its_row(tmp_path):
    (tmp_path / "a.csv").write_bytes("text,label\ncafé,0\n".encode() + b"caf\xe9,1\nplain,1\n")
    (tmp_path / "a.jsonl").write_bytes(b'{"text":"a","label":0}\n{"text":"caf\xe9","label":1}\n')
    (tmp_path / "a.tsv").write_bytes(b"text\tlabel\nok\tp\xe9\nfine\tq\n")
    table = open_examples(tmp_path / "a.csv")
    assert texts(table) == [("café",), Unreadable("is not UTF-8 text"), ("plain",)]
    assert table.labels.tolist() == [0, 1, 1]
    assert (
        "1 of 3 rows cannot be read, the first at line 3: is not UTF-8"
        in (table.source["notes"][-1])
    )
    assert isinstance(texts(open_examples(tmp_path / "a.jsonl", classes=("0", "1")))[1], Unreadable)
    assert open_examples(tmp_path / "a.tsv").labels.tolist() == [-1, 0]
    (tmp_path / "b.csv").write_text("text,label\na,0\n", "utf-16")
    with pytest.raises(UsageError, match="is UTF-16 text; save it as UTF-8"):
        open_examples(tmp_path / "b.csv")


def test_a_row_with_other_cells_keeps_its_place(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,0\nb\nc,1\n")
    examples = open_examples(tmp_path / "a.csv")
    wrong = Unreadable("its line has 1 cells, the header 2")
    assert texts(examples) == [("a",), wrong, ("c",)]
    assert examples.labels.tolist() == [0, -1, 1]


def test_huge_cells(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("text,label\n" + "x" * 300_000 + ",0\nb,1\n")
    assert len(texts(open_examples(tmp_path / "a.csv"))[0][0]) == 300_000  # csv's own limit: 128 K
    monkeypatch.setattr(decoding, "LONGEST_TEXT", 1000)
    reason = "has 300,000 characters, the limit is 1,000"
    assert texts(open_examples(tmp_path / "a.csv"))[0] == Unreadable(reason)


# Labels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "labels", "classes"),
    [
        (["b", "a", "", None], [1, 0, -1, -1], ("a", "b")),
        ([" b", "a "], [1, 0], ("a", "b")),
        ([0, 2, 1], [0, 2, 1], ("0", "1", "2")),
        ([1, 5, 1], [0, 1, 0], ("1", "5")),
        (["10", "9", "9"], [1, 0, 0], ("9", "10")),  # in the order of numbers
        ([1.0, None, 0.0], [1, -1, 0], ("0", "1")),  # whole numbers that a null made real
        ([1, -1, 0], [1, -1, 0], ("0", "1")),
        ([True, False], [1, 0], ("false", "true")),
        (["True", "False"], [1, 0], ("False", "True")),
        ([1, "x"], [0, 1], ("1", "x")),
    ],
)
def test_labels_become_numbers_with_names(cells, labels, classes):
    found = labelled(cells, "here")
    assert (found.labels.tolist(), found.classes) == (labels, classes)
    assert found.labels.dtype == np.int64


def test_real_labels_stay_real():
    found = labelled(["2.5", "5.000", ""], "here")
    assert found.classes == ()
    assert found.labels[:2].tolist() == [2.5, 5.0]
    assert np.isnan(found.labels[2])
    assert labelled([5, 1], "here", classes=()).labels.tolist() == [5.0, 1.0]
    assert np.isnan(labelled([1.5, float("inf")], "here").labels[1])


@pytest.mark.parametrize(
    ("cells", "classes", "labels"),
    [
        (["b", "a"], ("b", "a"), [0, 1]),
        ([3, 1], ("1", "2", "3"), [2, 0]),  # numerals are names
        ([1, 0], ("no", "yes"), [1, 0]),  # other names are counted from 0
    ],
)
def test_labels_by_known_classes(cells, classes, labels):
    assert labelled(cells, "here", classes=classes).labels.tolist() == labels


@pytest.mark.parametrize(
    ("cells", "classes", "said"),
    [
        ([0, 1, 12], ("no", "yes"), "here, row 3: label 12 has no name: there are 2 classes"),
        (["a", "z"], ("a", "b"), r"1 of its labels are none of the 2 classes \(a, b\).*z"),
        ([None, "", None], None, "none of its 3 rows has a label"),
        ([-1, -1], None, "none of its 2 rows has a label"),
        ([f"text {one}" for one in range(200)], None, "200 different values in 200 rows"),
        ([["a"]], None, "values of type list"),
        (["a", "b"], (), "holds texts, and real numbers were asked for"),
    ],
)
def test_labels_that_cannot_be(cells, classes, said):
    with pytest.raises(UsageError, match=said):
        labelled(cells, "here", classes=classes)


def test_one_class_is_said():
    assert labelled(["a", "a"], "here").notes == ("every label is 'a': there is one class only",)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "ä", "1", None]), min_size=1, max_size=20))
def test_a_labels_name_is_what_stood_there(cells):
    if set(cells) <= {None}:
        return
    found = labelled(cells, "here")
    named = [found.classes[label] if label >= 0 else None for label in found.labels]
    assert named == cells
    assert len(set(found.classes)) == len(found.classes)
