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
from hardset.errors import UsageError
from hardset.judging.people.sheet import COLUMNS, held, write_sheet
from hardset.validating.tables import records_of
from hardset.validating.texts import same
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


# --- texts that are not those of their lines ------------------------------------------------


@pytest.mark.parametrize(
    ("known", "cell"),
    [
        ("It is\r\nred.", "'It  is red"), ("=I cannot tell", "#NAME?"), ("red", ""),
        ("1/2", "2024-01-02 00:00:00"), ("3 March", "3-Mar"), ("007", "7"), ("1e5", "100000.0"),
        ("TRUE", "WAHR"), ("édité", "Ã©ditÃ©"), ("caf\u00e9", "cafe\u0301"), ("红色", "??"),
        ("红色", "çº¢è‰²"), ("word " * 9_000, ("word " * 9_000)[:32_767]), ("a\0b", "a␀b"),
    ],
)  # fmt: skip
def test_what_spreadsheets_do_to_a_text_is_no_change(known, cell):
    assert same(known, cell)


@pytest.mark.parametrize(
    ("known", "cell"),
    [("A", "B"), ("It is red", "It is blue"), ("红色", "蓝色"), ("", "red"), ("red", "3.5"),
     ("gold1", "gold2"), ("it is red", "it is"), ("3", "three"), ("word " * 9_000, "other")],
)  # fmt: skip
def test_another_text_is_one(known, cell):
    assert not same(known, cell)


@given(ANY)
def test_a_text_is_the_same_as_it_is_shown(text):
    assert same(text, held(text).strip())
    assert same(text, f"'{text}".replace("\r", " "))


def permuted(rows: list[dict[str, str]], *names: str) -> list[dict[str, str]]:
    """Shift some columns by a line, and leave the others."""
    return [
        row | {name: rows[i - 1][name] for name in names} for i, row in enumerate(rows)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [row | {"reply": "zzz", "question": "changed"} for row in rows],
         "another question than was drawn"),
        (lambda rows: [row | {"reply": "zzz"} for row in rows], "another reply than was drawn"),
        (lambda rows: permuted(rows, "id"), "stands the question of another line"),
        (lambda rows: permuted(rows, "id", "label"), "of another line"),
        (lambda rows: permuted(rows, "reply"), "stands the reply of another line"),
        (lambda rows: [row | {"reply": ""} for row in permuted(rows, "asked", "label")],
         "stands the asked of another line"),
    ],
)  # fmt: skip
def test_labels_beside_texts_of_other_lines_are_refused(tmp_path, change, said):
    run, truth = hardbench_run(tmp_path / "r", 12)
    drawn = hardset.draw_sheet(run, replies=16)
    anna = fill(drawn.sheet, run, truth, tmp_path / "anna.csv")
    rows = [record for _, record in records_of(anna)]
    pl.DataFrame(change(rows)).write_csv(anna)
    with pytest.raises(UsageError, match=said):
        hardset.validate(run, anna, draws=100)
    pl.DataFrame(rows).select("id", "label").write_csv(anna)  # without texts there is no telling
    assert hardset.validate(run, anna, draws=100)
