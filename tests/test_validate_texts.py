"""Any text that a run may hold goes onto a sheet and comes back, with its label."""

from __future__ import annotations

import csv
import re
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hardset
from hardset.judging.people.sheet import COLUMNS, held, write_sheet
from hardset.validating.tables import records_of
from judged_runs import fill, hardbench_run

ENDINGS = pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
ANY = st.text(st.characters(codec="utf-8"), max_size=40)  # what polars can hold
RARE = st.text(
    st.sampled_from(
        "\0\x01\x0b\x0c\r\n\t\x1a\x1b\x1c\x7f\x85\u2028\ufeff\ufffd\ufffe"
        "\uffff\U0001fffe\ud800\udfff_x0041_,;\"'=+-@ a"
    ),
    max_size=12,
)


@ENDINGS
@settings(deadline=None, max_examples=60)
@given(st.lists(ANY | RARE, min_size=1, max_size=4))
@example(["\0", "a\x1ab", "\ufffe\uffff\ufffd", "\ud800", "_x0041_", "_x000D_\r", "'", "\ufeff"])
def test_any_text_comes_back_with_its_label(ending, texts):
    lines = [
        dict.fromkeys(COLUMNS, "")
        | {"id": f"s000000-{i:04d}", "label": "TRUE" if i % 2 else "FALSE", "reply": text}
        for i, text in enumerate(texts, 1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{ending}"
        write_sheet(path, lines)
        records = [record for _, record in records_of(path)]
    assert [(one["id"], one["label"]) for one in records] == [
        (one["id"], one["label"]) for one in lines
    ]
    for text, record in zip(texts, records, strict=True):
        back = record["reply"] or ""
        if ending == "parquet":
            assert back == re.sub("[\ud800-\udfff]", "\ufffd", text)
        else:
            back = back.removeprefix("'") if ending == "csv" else back
            assert back == held(text)


def test_what_stands_for_a_character_is_seen_and_does_nothing():
    assert held("a\0b\x1b[31m\x7f\x85\ufffe\ud800\t\r\n") == "a␀b␛[31m␡\ufffd\ufffd\ufffd\t\r\n"


@ENDINGS
def test_a_run_with_odd_replies_is_drawn_told_of_once_and_read_back(tmp_path, ending):
    run, truth = hardbench_run(tmp_path / "r", 6)
    path = run / "outcomes.parquet"
    odd = pl.lit("It is\0red\x1a \ufffe\uffff \x1b[2J ") + pl.col("index").cast(pl.String)
    pl.read_parquet(path).with_columns(reply=odd).write_parquet(path)
    drawn = hardset.draw_sheet(run, sheet=tmp_path / f"a.{ending}")
    told = [one for one in drawn.notices if "control characters" in one]
    assert len(told) == (0 if ending == "parquet" else 1)
    anna = fill(drawn.sheet, run, truth, tmp_path / "anna.csv")
    if ending == "parquet":  # as a CSV it cannot be: a person would have to save it as it is
        with anna.open(newline="") as file:
            rows = list(csv.DictReader(file))
        pl.DataFrame(rows).write_parquet(anna := tmp_path / "anna.parquet")
    found = hardset.validate(run, anna, draws=100)
    assert sum(one.labelled for one in found.questions) == len(drawn.sample.lines)
