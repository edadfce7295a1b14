"""Rows from files: every type gives the same rows, and what is malformed is named with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardset.errors import UsageError
from hardset.sources.rows import read_rows

ROWS = [{"id": "1", "text": "a, “b”"}, {"id": "2", "text": "c\nd"}, {"id": "3", "text": ""}]


def test_every_type_gives_the_same_rows(tmp_path: Path):
    import csv

    import polars as pl

    (tmp_path / "a.json").write_text("\ufeff" + json.dumps(ROWS), encoding="utf-8")
    lines = "\n".join(json.dumps(row) for row in ROWS)
    (tmp_path / "a.jsonl").write_text(f"{lines}\n\n", encoding="utf-8")
    pl.DataFrame(ROWS).write_parquet(tmp_path / "a.parquet")
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
        with (tmp_path / name).open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.DictWriter(file, ["id", "text"], delimiter=delimiter)
            writer.writeheader()
            writer.writerows(ROWS)
    for name in ("a.json", "a.jsonl", "a.parquet", "a.csv", "a.tsv"):
        found = list(read_rows(tmp_path / name))
        assert [row.fields for row in found] == ROWS, name
        assert found[1].where.startswith(f"{name}, ")
        assert found[1].where.endswith("4" if "sv" in name else "2"), name  # the row's last line


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": \n', r"a.jsonl, line 2 is not JSON"),
        ("a.jsonl", b'{"a": 1}\n[1]\n', r"a.jsonl, line 2 is a list"),
        ("a.json", b'{"a": "\xff"}', r"a.json is not JSON"),
        ("a.json", b"", r"a.json is not JSON"),
        ("a.csv", b"a,b\n1,2\n3\n", r"a.csv, line 3 has 1 cells, the header 2"),
        ("a.csv", b"", r"no header"),
        ("a.csv", b"a,a\n1,2\n", r"two columns"),
        ("a.csv", b'a,b\n"1,2\n', r"a.csv, line 2"),
        ("a.csv", b"a,b\n\xff,2\n", r"not UTF-8"),
        ("a.parquet", b"PAR?", r"not a readable parquet"),
        ("a.xlsx", b"", r"cannot tell its type"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, name: str, content: bytes, message: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message):
        list(read_rows(tmp_path / name))


def test_a_missing_file_and_a_folder(tmp_path: Path):
    with pytest.raises(UsageError, match="does not exist"):
        list(read_rows(tmp_path / "none.json"))
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        list(read_rows(tmp_path / "folder.json"))


def test_json_lines_under_the_name_json_are_read_as_what_they_are(tmp_path: Path):
    (tmp_path / "pope.json").write_text("\n".join(json.dumps(row) for row in ROWS))
    assert [row.fields for row in read_rows(tmp_path / "pope.json")] == ROWS
    (tmp_path / "pope.json").write_text(json.dumps(ROWS[0]) + '\n{"id": ')
    with pytest.raises(UsageError, match=r"pope.json, line 2 is not JSON"):
        list(read_rows(tmp_path / "pope.json"))


def test_a_cell_may_hold_an_image(tmp_path: Path):
    (tmp_path / "a.tsv").write_text(f"id\timage\n1\t{'A' * 2**18}\n")
    ((_, fields),) = read_rows(tmp_path / "a.tsv")
    assert len(fields["image"]) == 2**18
    first, second = read_rows(tmp_path / "a.tsv"), read_rows(tmp_path / "a.tsv")
    next(first)
    first.close()  # a walk that ends early takes nothing from another
    assert len(next(second).fields["image"]) == 2**18
