"""Labels that were picked: of one side of a verdict, with gaps, or slipped by a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import hardset
from hardset.judging import load
from hardset.judging.people.sides import unlabelled
from hardset.reports.validated import Validated
from hardset.validating.tables import records_of
from judged_runs import fill, hardbench_run

REFUSED, GRADE = load("refused"), load("answer-rationality")


def of(text: str) -> np.ndarray:
    return np.array([sign == "x" for sign in text])


def test_a_side_is_unlabelled_where_its_lines_or_its_strata_have_no_label():
    """Six replies: the panel says TRUE (refuses) of the first three, FALSE of the others."""
    said = np.array([1.0, 1, 1, 0, 0, 0])
    own, one = np.array(list("aaabbb")), np.array(list("cccccc"))

    def sides(labelled: str, drawn: str, stratum: np.ndarray) -> list[tuple[str, int]]:
        return unlabelled(said, REFUSED, "refused", labelled=of(labelled), drawn=of(drawn),
                          stratum=stratum)  # fmt: skip

    assert sides("x..x..", "x..x..", own) == []
    assert sides("...x..", "x..x..", one) == [("refuses", 3)]  # drawn, and passed over
    assert sides("...x..", "...x..", own) == [("refuses", 3)]  # no label in its stratum
    assert sides("...x..", "...xxx", one) == []  # chance drew none, of all alike
    assert sides("x.....", "x..x..", own) == [("gives an answer", 3)]


def test_grades_have_an_upper_and_a_lower_half():
    said = np.array([1.0, 2, 5, np.nan])
    found = unlabelled(said, GRADE, "answer-rationality", labelled=of("xx.."), drawn=of("xxx."),
                       stratum=np.array(list("aaaa")))  # fmt: skip
    assert found == [("more than 3", 1)]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Path, pl.DataFrame]:
    """Sixty pairs, judged by two."""
    return hardbench_run(tmp_path_factory.mktemp("run"), 60)


def held(
    run: tuple[Path, pl.DataFrame], where: Path, keep: Callable[[str, bool, bool, int], bool]
) -> Validated:
    """Label the lines of which `keep(verdict, panel says, people say, number)` is so."""
    folder, truth = run
    anna = fill(hardset.draw_sheet(folder, replies=100, sheet=where / "s.csv").sheet, folder,
                truth, where / "anna.csv")  # fmt: skip
    (kept,) = folder.glob("validation-s*.json")
    lines = {one["id"]: one for one in json.loads(kept.read_text())["lines"]}
    panel = pl.read_parquet(folder / "outcomes.parquet")
    rows = []
    for number, (_, record) in enumerate(records_of(anna)):
        key, row = lines[record["id"]]["key"], lines[record["id"]]["row"]
        kept_here = keep(key, panel[f"verdict_{key}"][row], truth[key][row], number)
        rows.append({"id": record["id"], "label": record["label"] if kept_here else ""})
    pl.DataFrame(rows).write_csv(anna)
    return hardset.validate(folder, anna, draws=100)


def test_labels_of_one_side_correct_no_rate_that_needs_both(run, tmp_path):
    found = held(run, tmp_path, lambda key, panel, people, n: not (key == "refused" and panel))
    (loud,) = [one for one in found.notices if one.startswith("ONE SIDE OF refused")]
    panel = pl.read_parquet(run[0] / "outcomes.parquet")["verdict_refused"]
    assert f"'refuses' (of {panel.sum()} replies)" in loud
    over = next(one for one in found.corrections if one.name == "over-refusal")
    assert over.powered is None
    said = pl.read_parquet(run[0] / "outcomes.parquet").filter("answerable")["verdict_refused"]
    assert over.note == f"none of {said.sum()} that the panel says 'refuses' of is labelled"
    page = (run[0] / "validation.html").read_text()
    assert "ONE SIDE OF refused IS NOT LABELLED" in page
    assert "NOTHING is labelled of what the panel calls" in page


def test_a_side_counts_on_the_rows_that_a_rate_is_over(run, tmp_path):
    """Refusals are labelled where they are right, and over-refusal is where they are not."""
    rows = pl.read_parquet(run[0] / "outcomes.parquet")
    asked = set(rows.filter("answerable")["index"].to_list())
    found = held(run, tmp_path, lambda key, panel, people, n: True)
    folder = run[0]
    (kept,) = folder.glob("validation-s*.json")
    lines = {one["id"]: one for one in json.loads(kept.read_text())["lines"]}
    anna = tmp_path / "anna.csv"
    table = [
        record | {"label": ""}
        if (line := lines[record["id"]])["key"] == "refused"
        and line["row"] in asked
        and rows["verdict_refused"][line["row"]]
        else record
        for _, record in records_of(anna)
    ]
    pl.DataFrame(table).write_csv(anna)
    picked = hardset.validate(folder, anna, draws=100)
    notes = {one.name: one.note for one in picked.corrections}
    assert {one.name: one.note for one in found.corrections}["over-refusal"] == ""
    assert "'refuses'" in notes["over-refusal"]
    assert not [one for one in picked.notices if "ONE SIDE" in one]  # of the others there are some


def test_labels_of_both_sides_correct_it_and_say_nothing(run, tmp_path):
    found = held(run, tmp_path, lambda key, panel, people, n: n < 60)  # the rest is for tomorrow
    over = next(one for one in found.corrections if one.name == "over-refusal")
    assert over.powered is not None
    assert not [one for one in found.notices if "ONE SIDE" in one or "BLANK" in one]
    assert not [one for one in found.notices if "SLIPPED" in one]


def test_lines_passed_over_where_people_and_panel_differ_are_told_of(run, tmp_path):
    found = held(run, tmp_path, lambda key, panel, people, n: panel == people)
    told = [one for one in found.notices if "BLANK between" in one]
    assert {one.split(":")[0] for one in told} == {"refused", "matches-reference"}
    assert all("every label is as the panel's verdict" in one for one in told)


def test_labels_that_slipped_by_a_line_are_told_of(run, tmp_path):
    folder, truth = run
    anna = fill(hardset.draw_sheet(folder, replies=100, sheet=tmp_path / "s.csv").sheet, folder,
                truth, tmp_path / "anna.csv")  # fmt: skip
    rows = [record for _, record in records_of(anna)]
    for by, way in ((1, "below"), (-1, "above")):
        moved = [row | {"label": rows[(i + by) % len(rows)]["label"]} for i, row in enumerate(rows)]
        pl.DataFrame(moved).write_csv(anna)
        found = hardset.validate(folder, anna, draws=100)
        (told,) = [one for one in found.notices if "SLIPPED" in one]
        assert f"of the line {way}" in told


def turned(rows: list[dict], keys: set[str], of: dict[str, str]) -> list[dict]:
    """Write TRUE for FALSE and the other way round, on the lines of these verdicts."""
    other = {"TRUE": "FALSE", "FALSE": "TRUE"}
    return [
        row | {"label": other.get(row["label"].upper(), row["label"])} if of[row["id"]] in keys
        else row
        for row in rows
    ]  # fmt: skip


@pytest.mark.parametrize(
    "keys", [{"refused"}, {"matches-reference"}, {"refused", "matches-reference"}]
)
@pytest.mark.parametrize("most", [None, 24])
def test_labels_that_are_turned_round_are_told_of_first_and_have_not_slipped(
    run, tmp_path, keys, most
):
    """The panel is right on nine lines of ten, so of labels turned round one in ten is as its."""
    folder, truth = run
    anna = fill(hardset.draw_sheet(folder, replies=100, sheet=tmp_path / "s.csv").sheet, folder,
                truth, tmp_path / "anna.csv")  # fmt: skip
    (kept,) = folder.glob("validation-s*.json")
    of = {one["id"]: one["key"] for one in json.loads(kept.read_text())["lines"]}
    rows = [record for _, record in records_of(anna)]
    straight = hardset.validate(folder, anna, draws=100)
    assert not [one for one in straight.notices if "TURNED" in one]
    pl.DataFrame(turned(rows, keys, of)[: most and 2 * most]).write_csv(anna)
    found = hardset.validate(folder, anna, draws=100)
    told = [one for one in found.notices if "TURNED ROUND" in one]
    assert list(found.notices[: len(keys)]) == told  # before everything else
    assert {one.split("of ", 1)[1].split(",")[0] for one in told} == keys
    assert not [one for one in found.notices if "SLIPPED" in one]
    if "refused" in keys:  # its rubric asks the opposite
        assert any("TRUE means 'gives an answer', FALSE 'refuses'" in one for one in told)
    assert found.corrections  # they stay, behind the notice


def test_labels_that_agree_by_chance_alone_or_are_few_are_not_called_turned_round(run, tmp_path):
    folder, truth = run
    anna = fill(hardset.draw_sheet(folder, replies=100, sheet=tmp_path / "s.csv").sheet, folder,
                truth, tmp_path / "anna.csv")  # fmt: skip
    (kept,) = folder.glob("validation-s*.json")
    of = {one["id"]: one["key"] for one in json.loads(kept.read_text())["lines"]}
    rows = [record for _, record in records_of(anna)]
    drawn = np.random.default_rng(1).permutation([row["label"] for row in rows])
    pl.DataFrame(
        [row | {"label": label} for row, label in zip(rows, drawn.tolist(), strict=True)]
    ).write_csv(anna)
    assert "TURNED" not in "".join(hardset.validate(folder, anna, draws=100).notices)
    pl.DataFrame(turned(rows, set(truth.columns), of)[:4]).write_csv(anna)
    assert "TURNED" not in "".join(hardset.validate(folder, anna, draws=100).notices)
