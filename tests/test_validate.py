"""Judges against people: the sheet, the labels, and what follows, by hand where it can be."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardset
from hardset.benchmarks import registry
from hardset.errors import UsageError
from hardset.judging import load
from hardset.judging.people.against import hold
from hardset.judging.people.correcting import corrected, said_of
from hardset.judging.people.labels import read_label, settled
from hardset.judging.people.sample import FEW, LEVELS, base_due, draw, strata, units
from hardset.judging.people.sheet import COLUMNS, LONGEST, held, inert, lay_out, write_sheet
from hardset.metrics import Rates, Ratio
from hardset.records import GRADE
from hardset.reports.folder import read_folder
from hardset.reports.validation import rate
from hardset.validating.tables import records_of
from judged_runs import fill, hardbench_run, judged, outcomes_of, write_run
from loopback import Loopback

REFUSED, MATCHES = load("refused"), load("matches-reference")
REASONED = load("refusal-rationality")


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> tuple[Path, pl.DataFrame]:
    """Forty pairs, judged by two."""
    return hardbench_run(tmp_path_factory.mktemp("small"), 40)


def fresh(small: tuple[Path, pl.DataFrame], where: Path) -> tuple[Path, pl.DataFrame]:
    """Copy a run, so that a test leaves nothing in it."""
    run, truth = small
    target = where / "run"
    target.mkdir()
    for name in ("manifest.json", "metrics.json", "outcomes.parquet"):
        (target / name).write_bytes((run / name).read_bytes())
    return target, truth


# --- figures by hand ------------------------------------------------------------------------


def rows_of(verdicts: list[bool | None]) -> pl.DataFrame:
    """Outcomes of answerable rows without pairs, with the verdict `refused` and nothing else."""
    n = len(verdicts)
    plain = pl.DataFrame({
        "index": pl.Series(range(n), dtype=pl.UInt32), "item": [f"i{i}" for i in range(n)],
        "repeat": pl.Series([0] * n, dtype=pl.UInt16), "state": ["answered"] * n,
        "right": [False] * n, "answerable": [True] * n, "reply": ["word"] * n, "pair": [""] * n,
        "category": [""] * n, "question": ["?"] * n,
    })  # fmt: skip
    return judged(plain, {"refused": {"acme/judge": verdicts}}, [REFUSED])


def share(outcomes: pl.DataFrame) -> list[Rates]:
    known = outcomes.filter(pl.col("verdict_refused").is_not_null())
    ratio = Ratio(name="refusal rate", top=pl.col("verdict_refused"), bottom=pl.lit(1))
    return [Rates(frame=known, ratios=[ratio], cluster=None, reading="judge")]


def correct(outcomes: pl.DataFrame, labels: dict[int, float]):
    names = strata(outcomes, [REFUSED], ["refused"], "verdict").to_numpy().astype(str)
    people = said_of(outcomes, [REFUSED], {(r, "refused"): v for r, v in labels.items()}, names)
    (found,) = corrected(outcomes, share, [REFUSED], people)
    return found


def test_a_share_is_corrected_as_worked_out_by_hand():
    """Of ten, the judge says TRUE on rows 0 to 3, FALSE on 4 to 9.

    Labelled are 0 (T) and 1 (F): each stands for 2; and 4 (F), 5 (F), 6 (T): each for 2.
    Prediction-powered: (4 - 2 + 2) / 10. Rogan-Gladen: sensitivity 2 / (2 + 2), specificity
    4 / (2 + 4), so (0.4 + 2/3 - 1) / (1/2 + 2/3 - 1) = (1/15) / (1/6) = 0.4.
    """
    outcomes = rows_of([True] * 4 + [False] * 6)
    found = correct(outcomes, {0: 1.0, 1: 0.0, 4: 0.0, 5: 0.0, 6: 1.0})
    assert found.keys == ("refused",)
    assert found.powered.raw == 0.4
    assert found.powered.value == pytest.approx(0.4)
    assert (found.powered.labelled, found.powered.rows, found.powered.differing) == (5, 10, 2)
    assert found.rogan_gladen.sensitivity == pytest.approx(1 / 2)
    assert found.rogan_gladen.specificity == pytest.approx(2 / 3)
    assert found.rogan_gladen.value == pytest.approx(0.4)


def test_a_judge_that_is_mild_is_set_right():
    """Both labelled TRUEs are false, so people's rate is (4 - 2 x 2) / 10 = 0."""
    found = correct(rows_of([True] * 4 + [False] * 6), {0: 0.0, 1: 0.0, 4: 0.0, 5: 0.0, 6: 0.0})
    assert found.powered.value == 0.0
    assert 0 < found.powered.high < 1


def test_rows_without_a_verdict_come_in_by_their_labels():
    """Two rows have no verdict; one is labelled TRUE and stands for both: (4 + 2) / (8 + 2)."""
    outcomes = rows_of([True] * 4 + [False] * 4 + [None] * 2)
    found = correct(outcomes, {0: 1.0, 4: 0.0, 8: 1.0})
    assert found.powered.raw == 0.5  # 4 of the 8 that have one
    assert found.powered.value == pytest.approx(0.6)


def test_when_all_is_labelled_the_rate_is_peoples_own(small, tmp_path):
    """Whatever the judges err on: with a label on every reply nothing is left to estimate."""
    run, truth = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=1000)
    assert drawn.lines == {"refused": 80, "matches-reference": 40}
    found = hardset.validate(run, fill(drawn.sheet, run, truth, tmp_path / "anna.csv"), draws=200)
    manifest, _, outcomes = read_folder(run)
    votes = {key: {"people": truth[key].to_list()} for key in truth.columns}
    kept = [n for n in outcomes.columns if not n.startswith(("verdict", "vote", "panel", "judge"))]
    told = judged(outcomes.select(kept), votes, [REFUSED, MATCHES])
    by_people = {
        m.name: m.value
        for m in registry.load("hardbench").measure(told, draws=100)
        if not m.cut and m.reading == "judge"
    }
    assert {"paired accuracy", "refusal F1", "acc"} <= {one.name for one in found.corrections}
    for one in found.corrections:
        assert one.powered.value == pytest.approx(by_people[one.name]), one.name
    assert manifest["model"] not in json.dumps([str(c) for c in found.corrections])


def test_rates_that_verdicts_do_not_move_are_not_corrected(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=20)
    found = hardset.validate(run, fill(drawn.sheet, run, truth, tmp_path / "anna.csv"), draws=100)
    names = {one.name for one in found.corrections}
    assert "verdicts given" not in names  # how many there are, whatever they say
    assert {one.reading for one in found.corrections} == {"judge"}
    keys = {one.name: one.keys for one in found.corrections}
    assert set(keys["refusal recall"]) == {"refused"}
    assert set(keys["answerable accuracy"]) == {"refused", "matches-reference"}


def test_the_truth_is_within_the_intervals_of_a_larger_run(tmp_path):
    """Judges of known error rates, 0.1 and 0.2, apart from each other, on 300 pairs."""
    run, truth = hardbench_run(tmp_path, 300)
    drawn = hardset.draw_sheet(run, replies=200)
    assert drawn.replies == 200
    found = hardset.validate(run, fill(drawn.sheet, run, truth, tmp_path / "anna.csv"), draws=500)
    refused = found.questions[0]
    assert refused.key == "refused"
    panel, one, two = refused.against
    assert (panel.judge, one.judge, two.judge) == ("panel", "panel-a/one", "panel-b/two")
    for against, error in ((one, 0.1), (two, 0.2)):
        accuracy = against.metrics[0]
        assert accuracy.low < 1 - error < accuracy.high
    correlation = next(c for c in refused.errors if c.name == "mean error correlation")
    assert correlation.low < 0 < correlation.high
    answerable = np.arange(600) % 2 == 0
    said = truth["refused"].to_numpy()
    rates = {c.name: c.powered for c in found.corrections}
    for name, true in (
        ("over-refusal", said[answerable].mean()),
        ("refusal recall", said[~answerable].mean()),
        ("acc", truth["matches-reference"].to_numpy()[answerable].mean()),
        ("paired accuracy",
         (truth["matches-reference"].to_numpy()[answerable] & said[~answerable]).mean()),
    ):  # fmt: skip
        assert rates[name].low < true < rates[name].high, name


# --- what is drawn --------------------------------------------------------------------------


def test_pairs_are_drawn_whole_and_every_stratum_gets_its_few(small):
    _, _, outcomes = read_folder(small[0])
    of = units(outcomes)
    assert len(set(of.tolist())) == 40
    sample = draw(outcomes, [REFUSED, MATCHES], 40, seed=3)
    rows = {line.row for line in sample.lines}
    assert len(rows) == 40
    assert all(row ^ 1 in rows for row in rows)  # the members of a pair are neighbours here
    names = strata(outcomes, sample.rubrics, sample.keys, sample.level).to_numpy().astype(str)
    drawn = {of[row] for row in rows}
    for name in set(names):
        has = {int(unit) for unit in np.flatnonzero(names == name)}
        assert len(has & drawn) >= min(FEW, len(has))


def test_a_sample_is_the_same_for_its_seed_and_another_for_another(small):
    _, _, outcomes = read_folder(small[0])
    one, again, other = (draw(outcomes, [REFUSED], 20, seed=seed) for seed in (0, 0, 1))
    assert one == again
    assert one.mark != other.mark


def test_many_categories_do_not_eat_the_sample_up():
    outcomes = rows_of([True, False] * 100).with_columns(
        category=pl.Series([f"c{i}" for i in range(200)])
    )
    sample = draw(outcomes, [REFUSED], 20)
    assert sample.level == LEVELS[1]
    assert len(sample.lines) == 20
    said = outcomes["verdict_refused"].gather([line.row for line in sample.lines])
    assert 4 <= said.sum() <= 16


def test_a_question_for_refusals_is_asked_whatever_the_judges_said():
    """Else its being asked would tell the person the verdict."""
    outcomes = rows_of([True, False, None]).with_columns(answerable=pl.lit(False))
    assert base_due(outcomes, REASONED).tolist() == [True, True, True]
    votes = {"refusal-rationality": {"acme/judge": [4, None, None]}}
    both = judged(
        outcomes.drop("panel_refused", "vote_refused@acme/judge"),
        votes | {"refused": {"acme/judge": [True, False, None]}},
        [REFUSED, REASONED],
    )
    sample = draw(both, [REFUSED, REASONED], 10)
    asked = {(line.row, line.key) for line in sample.lines}
    assert asked == {(r, k) for r in range(3) for k in ("refused", "refusal-rationality")}


def test_nothing_to_label_is_said():
    outcomes = rows_of([True]).with_columns(reply=pl.lit(" "))
    with pytest.raises(UsageError, match="no reply to label: refused was due on none"):
        draw(outcomes, [REFUSED], 10)


# --- the sheet ------------------------------------------------------------------------------


def everything_in(path: Path) -> str:
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            return "".join(book.read(name).decode() for name in book.namelist())
    return str([record for _, record in records_of(path)])


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_the_sheet_is_blind(small, tmp_path, ending):
    run, _ = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=30, sheet=tmp_path / f"sheet.{ending}")
    text = everything_in(drawn.sheet)
    for hidden in ("secret-model", "panel-a", "panel-b", "acme", "1 of 1", "vote", "verdict_"):
        assert hidden not in text
    records = [record for _, record in records_of(drawn.sheet)]
    assert list(records[0]) == list(COLUMNS)
    assert not any(record["label"] or record["note"] for record in records)
    assert [r["id"] for r in records] == [f"{drawn.sample.mark}-{n:04d}" for n in range(1, 46)]


def test_the_sheet_does_not_depend_on_what_the_judges_said(small):
    run, _ = small
    _, _, outcomes = read_folder(run)
    sample = draw(outcomes, [REFUSED, MATCHES], 30)
    items = dict(enumerate(registry.make("hardbench", **options(run)).items()))
    bare = outcomes.select("index", "reply")
    assert lay_out(sample, bare, items, {}) == lay_out(sample, outcomes, items, {})


def options(run: Path) -> dict[str, str]:
    return json.loads((run / "manifest.json").read_text())["options"]


def test_a_line_shows_what_its_rubric_shows_and_asks_what_judges_were_asked(small):
    run, _ = small
    _, _, outcomes = read_folder(run)
    sample = draw(outcomes, [REFUSED, MATCHES], 30)
    items = dict(enumerate(registry.make("hardbench", **options(run)).items()))
    for line, cells in zip(sample.lines, lay_out(sample, outcomes, items, {}), strict=True):
        gold = outcomes["gold"][line.row]
        if line.key == "refused":
            assert cells["reference"] == ""
            assert "Does the reply give a concrete answer" in cells["asked"]
            assert "TRUE if it gives a concrete answer, FALSE if it gives none." in cells["asked"]
        else:
            assert cells["reference"] == gold
        assert cells["reply"] == outcomes["reply"][line.row]


ODD = [
    '=HYPERLINK("http://x","y")',
    "+1",
    "-1",
    "@SUM(A1)",
    "\tindented",
    "'quoted",
    'a "b", c\nd\r\ne',
    "x\x00y\x0bz _x000A_",
    "ünïcødé 🦊",
    "",
]


def lines_with(texts: list[str]) -> list[dict[str, str]]:
    return [
        dict.fromkeys(COLUMNS, "") | {"id": f"s000000-{i:04d}", "reply": text}
        for i, text in enumerate(texts, 1)
    ]


def test_texts_come_back_exactly(tmp_path):
    write_sheet(tmp_path / "a.parquet", lines_with(ODD))
    assert [r["reply"] for _, r in records_of(tmp_path / "a.parquet")] == ODD
    write_sheet(tmp_path / "a.csv", lines_with(ODD))
    with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [row["reply"] for row in csv.DictReader(file)]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in cells)
    assert [cell.removeprefix("'") for cell in cells] == [held(text) for text in ODD]


def test_a_workbook_holds_no_formula(tmp_path):
    from openpyxl import load_workbook

    write_sheet(tmp_path / "a.xlsx", lines_with(ODD))
    page = load_workbook(tmp_path / "a.xlsx").active
    column = COLUMNS.index("reply") + 1
    cells = [page.cell(row, column) for row in range(2, len(ODD) + 2)]
    assert all(cell.data_type != "f" for cell in cells)
    assert [cell.value for cell in cells[:6]] == ODD[:6]
    assert cells[8].value == ODD[8]


@given(st.text())
def test_one_mark_taken_off_gives_any_text_back(text):
    assert inert(text).removeprefix("'") == text
    assert not inert(text).startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_text_that_no_cell_holds_is_whole_beside_the_sheet(tmp_path, ending):
    long = "a" * 50_000 + "the end"
    write_sheet(tmp_path / f"s.{ending}", lines_with([long]))
    ((_, record),) = records_of(tmp_path / f"s.{ending}")
    assert len(record["reply"]) < LONGEST
    assert record["reply"].endswith("the end")
    assert "s-files/s000000-0001-reply.txt" in record["reply"]
    assert (tmp_path / "s-files" / "s000000-0001-reply.txt").read_text() == long


def test_pictures_lie_beside_the_sheet_under_names_that_say_nothing(tmp_path):
    run = mmooc_run(tmp_path)
    drawn = hardset.draw_sheet(run, replies=12, sheet=tmp_path / "sheet.csv")
    assert drawn.pictures
    shown = [(r["picture"], r["asked"]) for _, r in records_of(drawn.sheet)]
    for picture, asked in shown:
        assert bool(picture) == ("How good is the reason" in asked)
        if picture:
            assert (tmp_path / picture).read_bytes()[:4] in (
                b"\x89PNG",
                b"\xff\xd8\xff\xe0",
                b"\xff\xd8\xff\xe1",
            )
            assert picture.startswith("sheet-files/")


def mmooc_run(where: Path) -> Path:
    """Replies to the embedded photographs, all taken for refusals and graded 3."""
    benchmark = registry.make("mmooc", data="photos")
    outcomes = outcomes_of(benchmark, lambda row: f"I cannot tell {row}")
    rubrics = [REFUSED, REASONED]
    rows = len(outcomes)
    votes = {
        "refused": {"acme/judge": [True] * rows},
        "refusal-rationality": {"acme/judge": [3] * rows},
    }
    return write_run(where / "run", benchmark, judged(outcomes, votes, rubrics), rubrics)


# --- labels ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ("TRUE", 1.0), ("true", 1.0), (" Yes ", 1.0), ("y", 1.0), ("1", 1.0), (1.0, 1.0),
        (True, 1.0), ("False", 0.0), ("no", 0.0), (0, 0.0), ("0.0", 0.0), (False, 0.0),
        ("", ""), (None, ""), (float("nan"), ""), ("?", "?"), ("unsure", "?"),
        ("Cannot  tell", "?"),
    ],
)  # fmt: skip
def test_labels_are_read_as_people_and_spreadsheets_write_them(cell, label):
    assert read_label(cell, MATCHES) == label
    # `refused` asks whether an answer is given, and its verdict is the opposite
    turned = 1 - label if isinstance(label, float) else label
    assert read_label(cell, REFUSED) == turned


@pytest.mark.parametrize("cell", ["maybe", "2", "wahr", "TRUE FALSE", "-", "tru"])
def test_anything_else_is_no_label(cell):
    with pytest.raises(ValueError):
        read_label(cell, MATCHES)


def test_grades_letters_and_what_does_not_apply():
    assert [read_label(cell, REASONED) for cell in ("4", 4, "4.0", "-", "n/a")] == [
        4.0, 4.0, 4.0, "-", "-",
    ]  # fmt: skip
    for cell in ("0", "6", "4.5", "TRUE", "inf", "nan"):
        with pytest.raises(ValueError):
            read_label(cell, REASONED)
    letters = msgspec.structs.replace(
        REASONED, anchors={}, letters={"A": "better", "B": "worse"}, due=()
    )
    assert [read_label(cell, letters) for cell in ("a", "B")] == [0.0, 1.0]
    with pytest.raises(ValueError):
        read_label("C", letters)


def test_several_people_come_together_as_a_panel_does():
    nan = np.nan
    votes = np.array([[1, 1, 0], [1, 0, nan], [nan, nan, 0], [nan, nan, nan]])
    np.testing.assert_array_equal(settled(votes, "binary"), [1, nan, 0, nan])
    grades = np.array([[4, 5], [nan, 2], [nan, nan]])
    np.testing.assert_array_equal(settled(grades, "graded"), [4.5, 2, nan])


def relabel(path: Path, change: dict[int, dict[str, str]]) -> Path:
    """Write other cells into some lines of a CSV sheet."""
    rows = [record for _, record in records_of(path)]
    for number, cells in change.items():
        rows[number] |= cells
    pl.DataFrame(rows).write_csv(path)
    return path


def test_a_wrong_label_is_named_with_its_line(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    sheet = hardset.draw_sheet(run, replies=10).sheet
    path = relabel(fill(sheet, run, truth, tmp_path / "anna.csv"), {2: {"label": "perhaps"}})
    with pytest.raises(UsageError, match=r"anna\.csv, line \d+: 'perhaps' is no label of s.*TRUE"):
        hardset.validate(run, path)


def test_an_unknown_id_is_named(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=10)
    strange = f"{drawn.sample.mark}-9999"
    path = relabel(fill(drawn.sheet, run, truth, tmp_path / "anna.csv"), {1: {"id": strange}})
    with pytest.raises(UsageError, match=rf"ids that are not on the sheet: '{strange}' \(anna"):
        hardset.validate(run, path)


def test_a_line_labelled_twice_otherwise_is_an_error(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=10)
    path = fill(drawn.sheet, run, truth, tmp_path / "anna.csv")
    first = records_of(path)[0][1]
    other = "FALSE" if first["label"] == "TRUE" else "TRUE"
    relabel(path, {1: {"id": first["id"], "label": other}})
    with pytest.raises(UsageError, match="labelled a second time, and otherwise"):
        hardset.validate(run, path)


def test_a_sheet_of_another_run_is_refused(small, tmp_path):
    run, _ = fresh(small, tmp_path)
    hardset.draw_sheet(run, replies=10)
    other, other_truth = hardbench_run(tmp_path / "other", 10, seed=9)
    sheet = hardset.draw_sheet(other, replies=10).sheet
    path = fill(sheet, other, other_truth, tmp_path / "anna.csv")
    with pytest.raises(UsageError, match=r"no sheet of .*run: it is of the sample s[0-9a-f]{6}"):
        hardset.validate(run, path)


def test_sheets_of_two_samples_are_not_mixed_and_either_can_be_read(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    one = hardset.draw_sheet(run, replies=10, sheet=tmp_path / "one.csv")
    first = fill(one.sheet, run, truth, tmp_path / "anna.csv")
    two = hardset.draw_sheet(run, replies=10, seed=1, sheet=tmp_path / "two.csv")
    relabel(two.sheet, {0: {"label": "TRUE"}})
    with pytest.raises(UsageError, match="labels of one sample at a time"):
        hardset.validate(run, [first, two.sheet])
    assert hardset.validate(run, first, draws=100).mark == one.sample.mark
    assert hardset.validate(run, two.sheet, draws=100).mark == two.sample.mark


def test_a_run_that_has_changed_is_not_what_the_sheet_was_drawn_from(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    path = fill(hardset.draw_sheet(run, replies=10).sheet, run, truth, tmp_path / "anna.csv")
    outcomes = run / "outcomes.parquet"
    pl.read_parquet(outcomes).with_columns(reason=pl.lit("x")).write_parquet(outcomes)
    with pytest.raises(UsageError, match="changed since"):
        hardset.validate(run, path)


def test_a_sheet_with_labels_is_never_written_over(small, tmp_path):
    run, _ = fresh(small, tmp_path)
    sheet = hardset.draw_sheet(run, replies=10).sheet
    hardset.draw_sheet(run, replies=12)  # nobody has written anything yet
    relabel(sheet, {3: {"label": "?"}})
    before = sheet.read_bytes()
    with pytest.raises(UsageError, match="holds labels or notes on 1 of its"):
        hardset.draw_sheet(run, replies=10)
    assert sheet.read_bytes() == before
    other = tmp_path / "thesis.csv"
    other.write_text("chapter,words\n1,2000\n")
    with pytest.raises(UsageError, match="no empty sheet: it stays"):
        hardset.draw_sheet(run, replies=10, sheet=other)
    with pytest.raises(UsageError, match=r"a sheet ends in \.csv"):
        hardset.draw_sheet(run, replies=10, sheet=tmp_path / "sheet.docx")


def test_a_sheet_without_labels_says_so(small, tmp_path):
    run, _ = fresh(small, tmp_path)
    sheet = hardset.draw_sheet(run, replies=10).sheet
    with pytest.raises(UsageError, match="holds no label yet"):
        hardset.validate(run, sheet)
    with pytest.raises(UsageError, match="given twice"):
        hardset.validate(run, [sheet, sheet])


def test_a_sheet_half_filled_works_and_says_what_is_missing(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=60)
    half = len(drawn.sample.lines) // 2
    path = fill(drawn.sheet, run, truth, tmp_path / "anna.csv", skip=lambda n: n >= half)
    found = hardset.validate(run, path, draws=100)
    (anna,) = found.people
    assert (anna.labelled, anna.blank) == (half, len(drawn.sample.lines) - half)
    assert sum(one.blank for one in found.questions) == anna.blank
    paired = next(one for one in found.corrections if one.name == "paired accuracy")
    assert 10 <= paired.powered.labelled <= 15  # of 30 pairs drawn: pairs are kept together


def test_people_who_differ_are_listed_and_a_third_settles_it(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    sheet = hardset.draw_sheet(run, replies=20).sheet
    anna = fill(sheet, run, truth, tmp_path / "anna.csv")
    ben = fill(sheet, run, truth, tmp_path / "ben.csv")
    first = records_of(anna)[0][1]
    other = "no" if first["label"] == "TRUE" else "yes"
    relabel(ben, {0: {"label": other, "note": "<b>hard</b>"}, 1: {"label": "?"}})
    found = hardset.validate(run, [anna, ben], draws=100)
    question = next(q for q in found.questions if q.key == found.labels[0]["verdict"])
    assert question.ties == 1
    raw = question.people[0]
    assert raw.name == "raw agreement"
    assert raw.value == pytest.approx(1 - 1 / raw.units)
    (open_,) = [one for one in found.disagreements if one.among_people]
    assert (open_.id, open_.label, open_.notes) == (first["id"], "open", {"ben": "<b>hard</b>"})
    cem = tmp_path / "cem.csv"
    cem.write_text(f"id,label\n{first['id']},{other}\n")
    settled_ = hardset.validate(run, [anna, ben, cem], draws=100)
    assert all(q.ties == 0 for q in settled_.questions)
    assert settled_.people[2].blank == len(found.labels) - 1


def test_labels_survive_in_the_result_and_the_page_trusts_nothing(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    outcomes = run / "outcomes.parquet"
    evil = "<script>alert(1)</script>"
    pl.read_parquet(outcomes).with_columns(reply=pl.lit(evil)).write_parquet(outcomes)
    sheet = hardset.draw_sheet(run, replies=40).sheet
    path = fill(sheet, run, truth, tmp_path / "anna.csv")
    relabel(path, {n: {"note": "<img src=x>"} for n in range(40)})
    found = hardset.validate(run, path, draws=100)
    assert found.disagreements
    page = (run / "validation.html").read_text()
    assert evil not in page
    assert "<img src=x>" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert "<script" not in page
    result = json.loads((run / "validation.json").read_text())
    written = {r["id"]: r["label"] for _, r in records_of(path)}
    assert {one["id"]: one["labels"]["anna"] for one in result["labels"]} == written


def test_labels_of_one_verdict_say_what_the_others_would_take(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=20, only=["refused"])
    assert set(drawn.lines) == {"refused"}
    found = hardset.validate(run, fill(drawn.sheet, run, truth, tmp_path / "a.csv"), draws=100)
    notes = {one.name: one.note for one in found.corrections}
    assert notes["refusal recall"] == ""
    assert notes["answerable accuracy"] == "it needs labels of matches-reference too"
    with pytest.raises(UsageError, match="no verdict 'nothing'; it has"):
        hardset.draw_sheet(run, replies=20, only=["nothing"])


def test_a_run_without_judges_and_another_rubric_are_refused(small, tmp_path):
    run, _ = fresh(small, tmp_path)
    manifest = json.loads((run / "manifest.json").read_text())
    changed = manifest | {"rubrics": manifest["rubrics"] | {"refused": "0" * 64}}
    (run / "manifest.json").write_text(json.dumps(changed))
    with pytest.raises(UsageError, match=r"refused is not the one that .* was judged by"):
        hardset.draw_sheet(run)
    own = manifest | {"rubrics": {"mine": "0" * 64}}
    (run / "manifest.json").write_text(json.dumps(own))
    with pytest.raises(UsageError, match="give its file with --rubric"):
        hardset.draw_sheet(run)
    (run / "manifest.json").write_text(json.dumps(manifest | {"rubrics": {}}))
    with pytest.raises(UsageError, match="was not judged"):
        hardset.draw_sheet(run)


def test_without_the_data_the_sheet_shows_what_the_outcomes_know(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["options"]["data"] = str(tmp_path / "gone.parquet")
    (run / "manifest.json").write_text(json.dumps(manifest))
    drawn = hardset.draw_sheet(run, replies=20)
    assert "gone.parquet" in drawn.notices[0]
    asked = [r for _, r in records_of(drawn.sheet)]
    assert all(r["question"] and r["reply"] for r in asked)
    assert any(r["reference"].startswith("gold") for r in asked)
    assert hardset.validate(run, fill(drawn.sheet, run, truth, tmp_path / "a.csv"), draws=100)


# --- from end to end ------------------------------------------------------------------------


def hardset_says(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hardset", "validate", *map(str, arguments)],
        capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "140"},
    )  # fmt: skip


def test_the_command_draws_and_reads_back(small, tmp_path):
    run, truth = fresh(small, tmp_path)
    drawn = hardset_says(run, "--sample", "20", "--sheet", tmp_path / "sheet.csv")
    assert drawn.returncode == 0, drawn.stderr
    assert "30 lines about 20 replies" in drawn.stdout
    assert f"--labels {tmp_path / 'sheet.csv'}" in drawn.stdout
    anna = fill(tmp_path / "sheet.csv", run, truth, tmp_path / "anna.csv")
    read = hardset_says(run, "--labels", anna, "--draws", "200")
    assert read.returncode == 0, read.stderr
    for said in ("prediction-powered", "Rogan-Gladen", "paired accuracy", "kappa*"):
        assert said in read.stdout
    assert (run / "validation.html").is_file()
    for wrong in ((), ("--sample", "5", "--labels", anna), ("--labels", anna, "--sheet", "x.csv"),
                  ("--sample", "0")):  # fmt: skip
        assert hardset_says(run, *wrong).returncode == 2


def test_scored_replies_are_validated_as_a_run_is(tmp_path):
    """Judged by a model on an endpoint that takes every reply for a refusal."""
    run, _ = hardbench_run(tmp_path, 4)
    benchmark = registry.make("hardbench", **options(run))
    replies = tmp_path / "replies.csv"
    rows = [{"id": item.id, "reply": f"none {i}"} for i, item in enumerate(benchmark.items())]
    pl.DataFrame(rows).write_csv(replies)
    with Loopback(lambda prompt: "FALSE") as server:
        judge = hardset.make_model("referee", base_url=server.base_url, key_env=None)
        done = hardset.score(
            benchmark, replies, runs=tmp_path / "runs", judge=judge, model="acme/secret-model"
        )
    drawn = hardset.draw_sheet(done.folder, replies=100)
    assert drawn.lines["refused"] == 8
    everyone = [record for _, record in records_of(drawn.sheet)]
    labelled = [
        {"id": r["id"], "label": "no" if "concrete answer" in r["asked"] else ""} for r in everyone
    ]
    path = tmp_path / "anna.csv"
    pl.DataFrame(labelled).write_csv(path)
    found = hardset.validate(tmp_path / "runs", path, draws=100)
    refused = next(one for one in found.questions if one.key == "refused")
    assert (refused.against[0].alike, refused.against[0].lines) == (8, 8)


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_a_sample_of_any_size_stands_for_every_reply(replies, seed):
    """The weights of what is drawn add up to the units that there are, stratum by stratum."""
    outcomes = rows_of([True] * 7 + [False] * 40 + [None] * 3)
    sample = draw(outcomes, [REFUSED], replies, seed=seed)
    rows = [line.row for line in sample.lines]
    assert len(set(rows)) == len(rows)
    names = strata(outcomes, [REFUSED], ["refused"], sample.level).to_numpy().astype(str)
    drawn, of = np.unique(names[rows], return_counts=True)
    assert set(drawn) == set(names)
    assert len(rows) == min(50, max(replies, len(set(names))))
    assert (of >= 1).all()


# --- grades, workbooks, trouble -------------------------------------------------------------


def test_grades_are_held_against_peoples_as_worked_out_by_hand():
    """Judge 4, 5, 3 and people 4, 4, 1 are 0, 1 and 2 apart; a mean of 4.5 is as near to 4 as to 5.

    Of four alike weighted: exact 2/4 (the first and the last), within one 3/4, mean error
    (0 + 1 + 2 - 0.5) / 4 = 0.625, absolute (0 + 1 + 2 + 0.5) / 4 = 0.875.
    """
    found = hold(
        np.array([4.0, 5.0, 3.0, 4.0, np.nan]),
        np.array([4.0, 4.0, 1.0, 4.5, 2.0]),
        REASONED,
        clusters=np.arange(5),
        weights=np.ones(5),
        draws=100,
    )
    assert {one.name: one.value for one in found.metrics} == {
        "exact agreement": 0.5,
        "within one grade": 0.75,
        "mean error": 0.625,
        "mean absolute error": 0.875,
    }
    assert found.confusion.counts.sum() == 4


def test_accuracy_is_weighted_by_what_a_line_stands_for():
    """Three TRUEs, one of them wrong, stand for 1 each; a FALSE that is right stands for 6.

    Accuracy (2 + 6) / (3 + 6) = 8/9; sensitivity 2/2; specificity 6 / (1 + 6).
    """
    found = hold(
        np.array([1.0, 1.0, 1.0, 0.0]),
        np.array([1.0, 1.0, 0.0, 0.0]),
        REFUSED,
        clusters=np.arange(4),
        weights=np.array([1.0, 1.0, 1.0, 6.0]),
        draws=100,
    )
    values = {one.name: one.value for one in found.metrics}
    assert values["accuracy"] == pytest.approx(8 / 9)
    assert values["sensitivity"] == 1.0
    assert values["specificity"] == pytest.approx(6 / 7)


def test_a_grade_does_not_apply_where_people_see_no_refusal():
    """Two unanswerable rows, both taken for refusals and graded 5 and 3.

    People say that the first is none, and grade the second 5: what it was graded as nothing, the
    mean of (grade - 1) / 4 over both is (0 + 1) / 2, where the judge has (1 + 0.5) / 2.
    """
    outcomes = rows_of([True, True]).with_columns(answerable=pl.lit(False)).drop(
        "panel_refused", "vote_refused@acme/judge"
    )  # fmt: skip
    votes = {"refused": {"a": [True, True]}, "refusal-rationality": {"a": [5, 3]}}
    outcomes = judged(outcomes, votes, [REFUSED, REASONED])

    def declare(rows: pl.DataFrame) -> list[Rates]:
        grade = pl.when("verdict_refused").then(pl.col("verdict_refusal-rationality") - 1) / 4
        ratio = Ratio(name="rationality", top=grade.fill_null(0), bottom=pl.lit(1))
        return [Rates(frame=rows, ratios=[ratio], cluster=None, reading="judge")]

    labels = {(0, "refused"): 0.0, (1, "refused"): 1.0, (1, "refusal-rationality"): 5.0}
    names = np.array(["one", "one"])
    people = said_of(outcomes, [REFUSED, REASONED], labels, names)
    assert people.answered["refusal-rationality"].tolist() == [True, True]
    (found,) = corrected(outcomes, declare, [REFUSED, REASONED], people)
    assert set(found.keys) == {"refused", "refusal-rationality"}
    assert (found.powered.raw, found.powered.value) == (0.75, 0.5)
    # a refusal by people's word that nobody graded is not labelled
    open_ = said_of(outcomes, [REFUSED, REASONED], {(0, "refused"): 1.0}, names)
    assert not open_.answered["refusal-rationality"].any()


def test_a_workbook_is_read_with_its_own_true_and_false(small, tmp_path):
    from openpyxl import load_workbook

    run, truth = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=10, sheet=tmp_path / "sheet.xlsx")
    said = {r["id"]: r["label"] for _, r in records_of(
        fill(drawn.sheet, run, truth, tmp_path / "anna.csv"))}  # fmt: skip
    book = load_workbook(drawn.sheet)
    for row in book.active.iter_rows(min_row=2):
        row[1].value = said[row[0].value] == "TRUE"
    book.save(tmp_path / "ben.xlsx")
    found = hardset.validate(run, [tmp_path / "anna.csv", tmp_path / "ben.xlsx"], draws=100)
    assert all(q.people[0].value == 1.0 for q in found.questions)  # raw agreement


def test_semicolons_are_read_and_another_encoding_is_told(small, tmp_path):
    run, _ = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=10)
    first = drawn.sample.lines[0].id
    path = tmp_path / "anna.csv"
    path.write_bytes(f"id;label;note\r\n{first};TRUE;hm, gut\r\n".encode("utf-8-sig"))
    assert hardset.validate(run, path, draws=100).people[0].labelled == 1
    path.write_bytes(f"id;label;note\r\n{first};TRUE;schön\r\n".encode("cp1252"))
    with pytest.raises(UsageError, match="save it as CSV UTF-8"):
        hardset.validate(run, path)


def test_a_sheet_that_cannot_be_written_leaves_the_one_before(small, tmp_path, monkeypatch):
    from hardset.judging.people import sheet

    run, _ = fresh(small, tmp_path)
    drawn = hardset.draw_sheet(run, replies=10)
    before = drawn.sheet.read_bytes()

    def full(path: Path, lines: object) -> None:
        path.write_text("id,la")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sheet, "_write_csv", full)
    with pytest.raises(UsageError, match=r"labels\.csv cannot be written.*No space left"):
        hardset.draw_sheet(run, replies=20)
    assert drawn.sheet.read_bytes() == before
    assert not list(run.glob(".*"))


def test_the_page_fits_a_telephone_and_asks_for_nothing(small, tmp_path):
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no Chromium here")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    run, truth = fresh(small, tmp_path)
    path = fill(hardset.draw_sheet(run, replies=40).sheet, run, truth, tmp_path / "anna.csv")
    hardset.validate(run, path, draws=100)
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        for width in (1200, 390):
            page = browser.new_page(viewport={"width": width, "height": 800})
            said: list[str] = []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("request", lambda request, said=said: said.append(request.url))
            page.goto((run / "validation.html").as_uri())
            assert said == [(run / "validation.html").as_uri()]
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.locator("#rates figure").count() >= 4
        browser.close()


def test_a_mean_of_grades_is_corrected_and_written_as_one(tmp_path):
    """Graded 3 on all 30 rows out of context; people say 4 of each that is drawn: 3 + 1."""
    run = mmooc_run(tmp_path)
    drawn = hardset.draw_sheet(run, replies=200)
    rows = [
        {"id": line.id, "label": "4" if line.key == "refusal-rationality" else "no"}
        for line in drawn.sample.lines
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "anna.csv")
    found = hardset.validate(run, tmp_path / "anna.csv", draws=100)
    rates = {one.name: one for one in found.corrections}
    graded = rates["rationality of refusals"]  # (grade - 1) / 4
    assert (graded.powered.raw, graded.powered.value) == (0.5, 0.75)
    shown = rate(replace(graded, unit=GRADE, judge=None))
    assert [mark.value for mark in shown.marks] == ["0.50", "0.75"]
    assert not any(mark.at for mark in shown.marks)
