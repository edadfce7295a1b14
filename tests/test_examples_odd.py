"""Odd files of tables: each is read as it stands, or refused by name; none ends in a traceback."""

import os

import numpy as np
import polars as pl
import pytest

from hardset.errors import UsageError
from hardset.lowresource.examples import Unreadable
from hardset.sources.examples.opening import open_examples


def table(path, labels, dtype=None, **other):
    column = pl.Series(labels, dtype=dtype, strict=False)
    frame = pl.DataFrame({"text": [str(i) for i in range(len(labels))], "label": column, **other})
    frame.write_parquet(path / "a.parquet")
    return path / "a.parquet"


@pytest.mark.parametrize(
    ("labels", "dtype", "shown"),
    [
        ([1e300, 1.0], None, r"1e\+300"),
        ([9.3e18, 1.0], None, r"9.3e\+18"),  # above 2^63 = 9.22e18
        ([2**63, 1], pl.UInt64, "9223372036854775808"),
        ([2**65, 1], pl.Int128, "36893488147419103232"),
    ],
)
def test_a_number_beyond_a_class_s(tmp_path, labels, dtype, shown):
    with pytest.raises(UsageError, match=f"column 'label' holds {shown}, too large"):
        open_examples(table(tmp_path, labels, dtype))


@pytest.mark.parametrize("number", ["9223372036854775808", "9" * 400])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv"])
def test_the_same_in_texts(tmp_path, number, name):
    rows = [f'{{"text": "a", "label": {label}}}' for label in ("0", "1.0", number)]
    lines = {
        "a.jsonl": "\n".join(rows),
        "a.json": f"[{','.join(rows)}]",
        "a.csv": f"text,label\na,0\na,1\na,{number}\n",
    }
    (tmp_path / name).write_text(lines[name])
    if name == "a.csv" and len(number) == 400:  # a float has no such number: infinite, so no label
        assert open_examples(tmp_path / name).labels.tolist() == [0, 1, -1]
    else:
        with pytest.raises(UsageError, match=r"holds [\w.+]*, too large"):
            open_examples(tmp_path / name)


def test_an_infinite_label_leaves_whole_numbers_classes(tmp_path):
    examples = open_examples(table(tmp_path, [float("inf"), 1.0, 0.0, float("nan")]))
    assert examples.labels.tolist() == [-1, 1, 0, -1]
    assert examples.classes == ("0", "1")


@pytest.mark.parametrize("classes", [("²", "③"), ("--1", "1"), ("-", "+")])
def test_names_that_only_look_like_numerals(tmp_path, classes):
    examples = open_examples(table(tmp_path, [0, 1]), classes=classes)
    assert examples.labels.tolist() == [0, 1]
    assert examples.classes == classes


def test_truth_values_among_texts_are_called_as_truth_values_alone(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"text": "a", "label": true}\n{"text": "b", "label": "maybe"}\n'
    )
    assert open_examples(tmp_path / "a.jsonl").classes == ("maybe", "true")


@pytest.mark.parametrize("names", ["null", "7", '{"x": "a"}', '"ab"', "[[], {}]", "[null, null]"])
def test_metadata_that_name_no_classes(tmp_path, names):
    metadata = {"huggingface": f'{{"info": {{"features": {{"label": {{"names": {names}}}}}}}}}'}
    frame = pl.DataFrame({"text": ["a", "b"], "label": [0, 1]})
    frame.write_parquet(tmp_path / "a.parquet", metadata=metadata)
    assert open_examples(tmp_path / "a.parquet").classes == ("0", "1")


@pytest.mark.parametrize("cell", [{"bytes": 1, "path": 2}, {"bytes": [1], "path": 3.5}])
def test_a_struct_of_no_picture(tmp_path, cell):
    pl.DataFrame({"image": [cell] * 2, "label": [0, 1]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(UsageError, match=r"column 'image' holds Struct.*, not pictures"):
        open_examples(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xef\xbb\xbf", "blank lines only"),
        (b"\n\n\r\n", "blank lines only"),
        (b"", "is empty"),
        (b"\x1f\x8b\x08\x00\x00", "compressed by gzip"),
        ("text,label\na,0\n".encode("utf-16-le"), "UTF-16"),  # without its mark
        (b"text,label,label\na,0,1\nb,1,0\n", "2 columns 'label'"),
        (b"text,text,label\na,b,1\nb,a,0\n", "2 columns 'text'"),
    ],
)
def test_csv_that_is_none(tmp_path, content, said):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(UsageError, match=said):
        open_examples(tmp_path / "a.csv")


def test_a_label_that_is_not_utf_8_is_said(tmp_path):
    (tmp_path / "a.csv").write_bytes("text,label\na,é\nb,1\nc,0\n".encode("latin1"))
    examples = open_examples(tmp_path / "a.csv")
    assert examples.labels.tolist() == [-1, 1, 0]
    assert examples.fetch(np.array([0])) == [Unreadable("its label is not UTF-8 text")]


def test_one_column_for_two_things(tmp_path):
    path = table(tmp_path, [0, 1])
    with pytest.raises(UsageError, match="both as content and as label"):
        open_examples(path, text="label", label="label")
    with pytest.raises(UsageError, match="'text' was named twice"):
        open_examples(path, text=("text", "text"))


def test_a_column_of_texts_is_not_the_label_too(tmp_path):
    (tmp_path / "a.csv").write_text("category,label\nx,0\ny,1\n")
    assert open_examples(tmp_path, text="category").classes == ("0", "1")
    (tmp_path / "a.csv").write_text("label,other\nx,0\ny,1\n")
    with pytest.raises(UsageError, match="no column is called as labels"):
        open_examples(tmp_path, text="label")


def test_names_of_files(tmp_path):
    named = table(tmp_path, [0, 1]).rename(os.fsdecode(os.fsencode(tmp_path) + b"/n\xff.parquet"))
    with pytest.raises(UsageError, match="is not UTF-8: give it another"):
        open_examples(named)
    loop = tmp_path / "loop"
    loop.mkdir()
    (loop / "a.parquet").symlink_to("a.parquet")
    with pytest.raises(UsageError, match=r"holds a.parquet"):
        open_examples(loop)
    with pytest.raises(UsageError, match="too long"):
        open_examples("a" * 5000)
    with pytest.raises(UsageError, match="is empty"):
        open_examples("")
