"""Pictures in the cells of a parquet file: written once, byte for byte, under their content."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest

from hardset.errors import UsageError
from hardset.sources import embedded
from hardset.sources.embedded import read_pictured


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HARDSET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def table(path: Path, cells: list, **columns) -> Path:
    pl.DataFrame({"id": list(range(len(cells))), "pictures": cells, **columns}).write_parquet(path)
    return path


def held(data: bytes | None, path: str | None = None) -> dict:
    return {"bytes": data, "path": path}


def files(cache: Path) -> list[str]:
    return sorted(f.name for f in cache.rglob("*") if f.is_file() and f.suffix != ".json")


def test_a_picture_that_many_rows_show_is_one_file_byte_for_byte(tmp_path, cache):
    one, two = b"one picture", b"another"
    cells = [[held(one, "a.PNG"), held(two, "b")], [held(one, "a.PNG")], [], None]
    rows = list(read_pictured(table(tmp_path / "t.parquet", cells), "pictures", "r1"))
    assert [len(pictures) for _, pictures in rows] == [2, 1, 0, 0]
    first, second = rows[0][1]
    assert Path(first.where).read_bytes() == one  # in the order of the cell
    assert Path(second.where).read_bytes() == two
    assert rows[1][1][0].where == first.where
    names = [hashlib.sha256(one).hexdigest() + ".png", hashlib.sha256(two).hexdigest()]
    assert files(cache) == sorted(names)
    assert rows[2][0].fields == {"id": 2}  # the column itself is left out
    assert rows[2][0].where == "t.parquet, row 3"


def test_the_second_time_the_pictures_are_not_read(tmp_path, monkeypatch):
    path = table(tmp_path / "t.parquet", [[held(b"one")], [held(b"two")]])
    before = list(read_pictured(path, "pictures", "r1"))
    monkeypatch.setattr(embedded, "_unpack", None)  # calling it would raise
    assert list(read_pictured(path, "pictures", "r1")) == before


def test_another_revision_is_read_anew(tmp_path):
    path = table(tmp_path / "t.parquet", [[held(b"one")]])
    list(read_pictured(path, "pictures", "r1"))
    table(path, [[held(b"two")]])
    (_, (picture,)) = next(read_pictured(path, "pictures", "r2"))
    assert Path(picture.where).read_bytes() == b"two"


@pytest.mark.parametrize("harm", ["delete", "shorten"])
def test_what_is_gone_or_cut_short_in_the_cache_is_written_again(tmp_path, harm):
    path = table(tmp_path / "t.parquet", [[held(b"one picture")]])
    (_, (picture,)) = next(read_pictured(path, "pictures", "r1"))
    Path(picture.where).unlink() if harm == "delete" else Path(picture.where).write_bytes(b"one")
    (_, (again,)) = next(read_pictured(path, "pictures", "r1"))
    assert again == picture
    assert Path(again.where).read_bytes() == b"one picture"


def test_a_cell_may_be_one_struct_or_bare_bytes_or_hold_a_path_alone(tmp_path):
    single = table(tmp_path / "s.parquet", [held(b"one", "x.jpg")])
    bare = table(tmp_path / "b.parquet", [[b"one", b"two"]])
    alone = table(tmp_path / "p.parquet", [[held(b"", "e.png"), held(None, "x.jpg")]])
    [(_, (one,))] = read_pictured(single, "pictures", "r")
    assert Path(one.where).read_bytes() == b"one"
    [(_, pictures)] = read_pictured(bare, "pictures", "r")
    assert [Path(p.where).read_bytes() for p in pictures] == [b"one", b"two"]
    [(_, (empty, path))] = read_pictured(alone, "pictures", "r")
    assert Path(empty.where).read_bytes() == b""  # a bad picture is there, and found bad later
    assert (path.where, path.path) == ("", "x.jpg")


def test_unwanted_pictures_are_not_written(tmp_path, cache):
    path = table(tmp_path / "t.parquet", [[held(b"one")]])
    [(row, pictures)] = read_pictured(path, "pictures", "r", wanted=False)
    assert (row.fields, list(pictures)) == ({"id": 0}, [])
    assert not cache.exists()


def test_files_without_such_a_column_and_json_lines_have_no_pictures(tmp_path):
    pl.DataFrame({"id": [7]}).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text('{"id": 7, "pictures": ["x.png"]}\n')
    [(row, pictures)] = read_pictured(tmp_path / "t.parquet", "pictures", "r")
    assert (row.fields, list(pictures)) == ({"id": 7}, [])
    [(row, pictures)] = read_pictured(tmp_path / "t.jsonl", "pictures", "r")
    assert (row.fields, list(pictures)) == ({"id": 7, "pictures": ["x.png"]}, [])


def test_what_is_no_picture_and_what_is_no_parquet_are_said(tmp_path):
    path = table(tmp_path / "t.parquet", [["a text"]])
    with pytest.raises(UsageError, match=r"t.parquet, row 1: pictures does not hold pictures"):
        list(read_pictured(path, "pictures", "r"))
    path.write_bytes(b"<html>")
    with pytest.raises(UsageError, match="not a readable parquet file"):
        list(read_pictured(path, "pictures", "r"))
    with pytest.raises(UsageError, match="does not exist"):
        list(read_pictured(tmp_path / "none.parquet", "pictures", "r"))


def test_a_cache_that_cannot_be_written_says_how_to_name_another(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARDSET_CACHE", str(tmp_path / "file"))
    path = table(tmp_path / "t.parquet", [[held(b"one")]])
    with pytest.raises(UsageError, match="HARDSET_CACHE"):
        list(read_pictured(path, "pictures", "r"))
