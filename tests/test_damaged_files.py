"""Files whose heads are whole and whose insides are not: one sentence, whoever reads them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest
from openpyxl import Workbook

import hardset
from hardset.errors import UsageError
from hardset.replies.formats import recognise
from hardset.sources.panics import panics_told
from hardset.validating.tables import records_of
from judged_runs import hardbench_run


def scored(path: Path) -> None:
    list(recognise(path, "plain").read())


READERS = pytest.mark.parametrize("read", [records_of, scored])


def broken(path: Path) -> Path:
    """Write a workbook of which the table's compressed stream is overwritten in its middle."""
    whole = path.with_suffix(".whole")
    book = Workbook()
    book.active.append(["id", "label", "reply"])
    for number in range(400):
        book.active.append([f"s012345-{number:04d}", "TRUE", f"reply {number * 7919}"])
    book.save(whole)
    raw = bytearray(whole.read_bytes())
    with zipfile.ZipFile(whole) as archive:
        inside = archive.getinfo("xl/worksheets/sheet1.xml")
    start = inside.header_offset + 100 + inside.compress_size // 2
    raw[start : start + 60] = b"\xff" * 60
    path.write_bytes(raw)
    return path


@READERS
def test_a_workbook_with_a_bad_stream_is_called_broken(tmp_path, read):
    path = broken(tmp_path / "a.xlsx")
    with pytest.raises(UsageError, match=r"a\.xlsx is a broken Excel workbook"):
        read(path)


@READERS
def test_a_workbook_of_charts_only_has_no_table(tmp_path, read):
    book = Workbook()
    book.remove(book.active)
    book.create_chartsheet()
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(UsageError, match="workbook without a table"):
        read(tmp_path / "a.xlsx")


def test_the_command_that_scores_says_so_too(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "hardset", "score", "scenes", str(broken(tmp_path / "a.xlsx"))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "is a broken Excel workbook" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["sheet", "outcomes"])
def test_parquet_on_which_polars_panics_is_one_sentence(tmp_path, monkeypatch, name, capfd):
    """The panic is one as polars raises it, and what it prints is what Rust prints."""

    def panic(*_: object, **__: object) -> pl.DataFrame:
        os.write(2, b"thread 'main' panicked at crates/x.rs\nstack backtrace:\n   0: x\n")
        raise pl.exceptions.PanicException("called `Result::unwrap()` on an `Err` value")

    run, _ = hardbench_run(tmp_path / "r", 4)
    sheet = tmp_path / "a.parquet"
    shutil.copy(run / "outcomes.parquet", sheet)
    monkeypatch.setattr(pl, "read_parquet", panic)
    monkeypatch.setattr(pl, "scan_parquet", panic)
    with pytest.raises(UsageError, match="damaged parquet file"):
        records_of(sheet) if name == "sheet" else hardset.draw_sheet(run)
    assert capfd.readouterr().err == ""


def test_what_else_is_written_meanwhile_stays(capfd):
    with panics_told("x"):
        os.write(2, b"a word of warning\n")
    assert capfd.readouterr().err == "a word of warning\n"


def test_bytes_in_a_parquet_sheet_may_fall_over(tmp_path, capfd):
    """Wherever its pages are overwritten, the sheet is read or refused: never a traceback."""
    path = tmp_path / "a.parquet"
    pl.DataFrame(
        {"id": [f"s012345-{n % 7:04d}" for n in range(300)], "label": ["TRUE", None, "?"] * 100}
    ).write_parquet(path, compression="uncompressed")
    whole = path.read_bytes()
    said = []
    for at in range(4, len(whole) - 8, 16):
        path.write_bytes(whole[:at] + b"\xff" * 16 + whole[at + 16 :])
        try:
            records_of(path)
        except UsageError as error:
            said.append(str(error))
    assert len(said) > 10
    assert all("a.parquet" in one for one in said)
    assert "panicked" not in capfd.readouterr().err
