"""What a validation shows, and how it takes what spreadsheets make of a sheet."""

from __future__ import annotations

import codecs
import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import hardset
from hardset.benchmarks import registry
from hardset.errors import UsageError
from hardset.judging import load
from hardset.judging.people.correcting import Rate, corrected, said_of
from hardset.judging.people.labels import choices, meaning, on_sheet, put
from hardset.judging.people.sample import strata
from hardset.judging.people.sheet import COLUMNS, lay_out, write_sheet
from hardset.metrics import Rates, Ratio
from hardset.reports.validated import Validated
from hardset.reports.validation_tables import parts
from hardset.validating import Drawn
from hardset.validating.tables import records_of
from judged_runs import fill, hardbench_run, judged, outcomes_of, write_run

REFUSED, MATCHES = load("refused"), load("matches-reference")
REASONED, RATIONAL = load("refusal-rationality"), load("answer-rationality")
BODY = "s012345-0001{d}TRUE{d}so\r\ns012345-0002{d}{d}\r\n"


@pytest.fixture
def small(tmp_path) -> tuple[Path, pl.DataFrame]:
    """Forty pairs, judged by two."""
    return hardbench_run(tmp_path / "small", 40)


def everything(found: Validated) -> str:
    console = Console(width=80, record=True, file=open("/dev/null", "w"), highlight=False)  # noqa: SIM115
    for part in parts(found):
        console.print(part)
    return console.export_text()


# --- sheets as spreadsheets leave them ------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("excel.csv", ("sep=;\r\nid;label;note\r\n" + BODY.format(d=";")).encode()),
        ("bom.csv", ("sep=;\r\nid;label;note\r\n" + BODY.format(d=";")).encode("utf-8-sig")),
        ("quoted.csv", ('"sep=,"\r\nid,label,note\r\n' + BODY.format(d=",")).encode()),
        ("case.csv", ("ID, Label ,NOTE\r\n" + BODY.format(d=",")).encode()),
        ("unicode.txt", codecs.BOM_UTF16_LE
         + ("id\tlabel\tnote\r\n" + BODY.format(d="\t")).encode("utf-16-le")),
        ("big.txt", codecs.BOM_UTF16_BE
         + ("Id\tLabel\tNote\r\n" + BODY.format(d="\t")).encode("utf-16-be")),
        ("twice.csv", codecs.BOM_UTF8 * 2 + ("id,label,note\r\n" + BODY.format(d=",")).encode()),
        ("thrice.csv", codecs.BOM_UTF8 * 3 + ("sep=;\r\nid;label;note\r\n"
         + BODY.format(d=";")).encode()),
        ("padded.csv", ("id;label;note;\r\n" + BODY.format(d=";")).encode()),
        ("short.csv", b"id;label;note\r\ns012345-0001;TRUE;so\r\ns012345-0002;\r\n"),
    ],
)  # fmt: skip
def test_a_sheet_is_read_as_a_spreadsheet_leaves_it(tmp_path, name, raw):
    path = tmp_path / name
    path.write_bytes(raw)
    found = [
        {key: record[key] for key in ("id", "label", "note")} for _, record in records_of(path)
    ]
    assert found == [
        {"id": "s012345-0001", "label": "TRUE", "note": "so"},
        {"id": "s012345-0002", "label": "", "note": ""},
    ]


@pytest.mark.parametrize(
    "given",
    [
        ["--sample", "1.5"], ["--sample", "0.9"], ["--sample", "5", "--seed", "1.5"],
        ["--sample", "5", "--seed", "-1"], ["--labels", "labels.csv", "--seed", "-1"],
        ["--labels", "labels.csv", "--draws", "150.5"],
    ],
)  # fmt: skip
def test_what_is_no_whole_number_is_not_taken_for_one(small, tmp_path, given):
    done = subprocess.run(
        [sys.executable, "-m", "hardset", "validate", str(small[0]), *given],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert "whole number" in done.stdout + done.stderr
    assert not list(small[0].glob("validation*"))


def test_a_line_is_named_as_it_stands_in_the_file(tmp_path):
    path = tmp_path / "sep.csv"
    path.write_text("sep=;\nid;label\na;b\n")
    assert [where for where, _ in records_of(path)] == ["sep.csv, line 3"]


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("header.csv", b"id,label\n", "no line below its header"),
        ("empty.csv", b"", "is empty"),
        ("blank.csv", b"\xef\xbb\xbf \r\n", "is empty"),
        ("garbage.xlsx", b"id,label\nx,y\n", "no Excel workbook, though its name says so"),
        ("cut.xlsx", b"PK\x03\x04" + b"\0" * 99, "cut off or broken"),
        ("old.xls", b"\xd0\xcf\x11\xe0" + b"\0" * 99, "old Excel"),
        ("no.parquet", b"id,label\n", "no parquet file, though its name says so"),
        ("half.parquet", b"PAR1" + b"\0" * 99, "not a readable parquet file"),
        ("odd.csv", codecs.BOM_UTF16_LE + b"abc", "not UTF-16 text"),
        ("nul.csv", b"id,label\n" + b"x" * 70_000 + b"\0,no\n", "NUL"),
        ("twice.csv", b"id,label,Label \nx,a,b\n", "two columns are called 'label'"),
        ("long.csv", b"id,label\nx,a,b\n", "line 2 has 3 cells, the header 2"),
        ("open.csv", b'id,label\n"x,a\n', "line 2: unexpected end"),
        ("list.csv", b'[{"id": "x"}]', "a JSON list"),
    ],
)
def test_what_is_no_sheet_is_refused_with_its_reason(tmp_path, name, raw, said):
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(UsageError, match=re.escape(said)):
        records_of(path)


def test_a_sheet_without_its_columns_says_which_it_has(small, tmp_path):
    run, _ = small
    hardset.draw_sheet(run, replies=10)
    path = tmp_path / "other.csv"
    path.write_text("name,label\nx,TRUE\n")
    with pytest.raises(UsageError, match="it has no column 'id'; its columns are name, label"):
        hardset.validate(run, path)


def test_a_sheet_of_which_one_column_was_sorted_is_refused(small, tmp_path):
    run, truth = small
    path = fill(hardset.draw_sheet(run, replies=40).sheet, run, truth, tmp_path / "anna.csv")
    rows = [record for _, record in records_of(path)]
    replies = sorted(row["reply"] for row in rows)
    moved = [row | {"reply": reply} for row, reply in zip(rows, replies, strict=True)]
    pl.DataFrame(moved).write_csv(path)
    with pytest.raises(UsageError, match="stands the reply of another line"):
        hardset.validate(run, path)
    pl.DataFrame([row | {"reply": ""} for row in rows]).write_csv(path)  # says nothing
    assert hardset.validate(run, path, draws=100)


# --- sheets as they are written -------------------------------------------------------------


def test_a_workbook_offers_the_labels_of_each_line_and_links_its_picture(tmp_path):
    from openpyxl import load_workbook

    lines = [
        dict.fromkeys(COLUMNS, "") | {"id": f"s012345-000{n}", "picture": picture}
        for n, picture in enumerate(("s-files/a.png", "s-files/b.png\ns-files/c.png", ""), 1)
    ]
    offered = {
        lines[0]["id"]: choices(REFUSED),
        lines[1]["id"]: choices(REASONED),
        lines[2]["id"]: choices(MATCHES),
    }
    write_sheet(tmp_path / "s.xlsx", lines, offered)
    page = load_workbook(tmp_path / "s.xlsx").active
    lists = {str(one.sqref): one.formula1 for one in page.data_validations.dataValidation}
    assert lists == {"B2 B4": '"TRUE,FALSE,?"', "B3": '"-,1,2,3,4,5,?"'}
    assert page.freeze_panes == "C2"
    picture = COLUMNS.index("picture") + 1
    targets = [page.cell(row, picture).hyperlink for row in (2, 3, 4)]
    assert [one and one.target for one in targets] == ["s-files/a.png", "s-files/b.png", None]
    assert all(page.cell(2, n).alignment.wrap_text for n in range(1, len(COLUMNS) + 1))


def test_a_question_for_refusals_takes_nothing_for_granted_when_put_to_a_person():
    for rubric, not_so in ((REASONED, "answers"), (RATIONAL, "declines")):
        said = put(rubric, rubric.name)
        first, rest = said.split("\n\n", 1)
        assert first.startswith("First see whether the reply")
        assert f"If it {not_so}, put - (does not apply)" in first
        assert rest.startswith("If it ")  # what the judges' task takes for granted is a condition
        assert choices(rubric)[0] == "-"
    assert "-" not in choices(REFUSED)
    assert put(REFUSED, "refused").startswith(REFUSED.task.strip())


# --- what each value means ------------------------------------------------------------------


def test_a_verdict_and_its_sheet_are_said_in_words_that_cannot_be_turned_round():
    """The sheet asks whether the reply answers; the verdict is whether it refuses."""
    assert meaning(REFUSED, "refused") == {"TRUE": "refuses", "FALSE": "gives an answer"}
    assert on_sheet(REFUSED, "refused") == {"TRUE": "gives an answer", "FALSE": "refuses"}
    assert on_sheet(MATCHES, "matches-reference") == meaning(MATCHES, "matches-reference")
    assert on_sheet(REASONED, "refusal-rationality") == {}


def labelled_by(
    sheet: Path, target: Path, label: dict[str, str], change: dict[int, str] | None = None
) -> Path:
    """Label the lines of some questions, told by words in what is asked."""
    rows = []
    for number, (_, record) in enumerate(records_of(sheet)):
        said = next((one for words, one in label.items() if words in record["asked"]), "")
        rows.append({"id": record["id"], "label": (change or {}).get(number, said)})
    pl.DataFrame(rows).write_csv(target)
    return target


@pytest.fixture
def photos(tmp_path) -> tuple[Path, Drawn]:
    """Replies to the embedded photographs, all taken for refusals and graded 3, but for two votes
    that are missing.
    """  # fmt: skip
    benchmark = registry.make("mmooc", data="photos")
    outcomes = outcomes_of(benchmark, lambda row: f"I cannot tell {row}")
    rows = len(outcomes)
    votes = {
        "refused": {"acme/a": [True] * rows, "acme/b": [None] * rows},
        "refusal-rationality": {"acme/a": [3] * rows, "acme/b": [3] * rows},
    }
    rubrics = [REFUSED, REASONED]
    run = write_run(tmp_path / "run", benchmark, judged(outcomes, votes, rubrics), rubrics)
    return run, hardset.draw_sheet(run, replies=10, sheet=tmp_path / "sheet.csv")


def test_where_they_differ_shows_what_is_needed_to_settle_it(photos, tmp_path):
    """Anna takes all for answers; so each line on `refused` differs, and no grade applies."""
    run, drawn = photos
    anna = labelled_by(drawn.sheet, tmp_path / "anna.csv", {"concrete answer": "yes", "good": "4"})
    found = hardset.validate(run, anna, draws=100)
    one = next(one for one in found.disagreements if one.key == "refused")
    assert (one.verdict, one.label) == ("TRUE", "FALSE")
    assert one.written == {"anna": "yes"}
    assert one.votes == {"acme/a": "TRUE", "acme/b": "no vote that could be read"}
    graded = next(one for one in found.disagreements if one.key == "refusal-rationality")
    item = next(i for i in registry.make("mmooc", data="photos").items() if i.id == graded.item)
    assert graded.facts["reason"] == item.explanation
    assert "reason" not in one.facts  # the rubric does not show it
    page = (run / "validation.html").read_text()
    assert page.count("data:image/jpeg;base64,") == len(found.disagreements)
    for said in ("panel: refuses", "anna: gives an answer (wrote yes)", item.explanation[:20],
                 "On the sheet TRUE means: gives an answer; FALSE means: refuses.",
                 "acme/b: no vote that could be read"):  # fmt: skip
        assert said in page
    printed = everything(found)
    assert "TRUE means: gives an answer" in printed
    assert "x 'refuses' where people say 'gives an answer'" in " ".join(printed.split())


def test_people_who_are_split_are_told_of_loudly_and_listed_first(photos, tmp_path):
    run, drawn = photos
    keys = [line.key for line in drawn.sample.lines]
    two = [number for number, key in enumerate(keys) if key == "refused"][:2]
    says = {"concrete answer": "no", "good": "3"}
    anna = labelled_by(drawn.sheet, tmp_path / "anna.csv", says)
    ben = labelled_by(drawn.sheet, tmp_path / "ben.csv", says, dict.fromkeys(two, "yes"))
    found = hardset.validate(run, [anna, ben], draws=100)
    refused = next(one for one in found.questions if one.key == "refused")
    count = keys.count("refused")
    assert (refused.ties, refused.labelled) == (2, count - 2)
    assert refused.against[0].lines == count - 2
    assert [one.split for one in found.disagreements] == [True, True]
    assert found.notices[0].startswith(
        f"PEOPLE ARE SPLIT on 2 of the {len(keys)} lines that they labelled (refused 2)"
    )
    ids = [drawn.sample.lines[number].id for number in two]
    assert f"To be settled, 2 lines: {', '.join(ids)}" in everything(found)
    page = (run / "validation.html").read_text()
    assert f"2 of {count} labelled lines are left out of these figures" in page
    assert page.index('id="settle"') < page.index('id="differ"')


def test_that_it_does_not_apply_counts_as_a_label_when_people_come_together(photos, tmp_path):
    """One grades, one says that it does not apply: split; two say so: it does not."""
    run, drawn = photos
    at = next(n for n, one in enumerate(drawn.sample.lines) if one.key == "refusal-rationality")
    paths = []
    for name, label in (("anna", "4"), ("ben", "-"), ("cem", "-")):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"id,label\n{drawn.sample.lines[at].id},{label}\n")
        paths.append(path)
    counts = []
    for sheets in (paths[:1], paths[:2], paths):
        found = hardset.validate(run, sheets, draws=100)
        one = next(q for q in found.questions if q.key == "refusal-rationality")
        counts.append((one.labelled, one.ties, one.not_applicable))
    assert counts == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


# --- why there is no Rogan-Gladen -----------------------------------------------------------


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


def correct(verdicts: list[bool | None], labels: dict[int, float]) -> Rate:
    outcomes = rows_of(verdicts)

    def declare(rows: pl.DataFrame) -> list[Rates]:
        known = rows.filter(pl.col("verdict_refused").is_not_null())
        ratio = Ratio(name="refusal rate", top=pl.col("verdict_refused"), bottom=pl.lit(1))
        return [Rates(frame=known, ratios=[ratio], cluster=None, reading="judge")]

    names = strata(outcomes, [REFUSED], ["refused"], "verdict").to_numpy().astype(str)
    people = said_of(outcomes, [REFUSED], {(r, "refused"): v for r, v in labels.items()}, names)
    (found,) = corrected(outcomes, declare, [REFUSED], people)
    return found


@pytest.mark.parametrize(
    ("verdicts", "labels", "why"),
    [
        ([True] * 4 + [False] * 4, {0: 1.0, 1: 0.0, 4: 0.0}, ""),
        ([True] * 4 + [False] * 4 + [None] * 3, {0: 1.0, 1: 0.0, 4: 0.0, 8: 1.0},
         "leaves out 3 replies that have no verdict"),
        ([True] * 4 + [False] * 4, {0: 1.0, 4: 1.0}, "people's labels are all alike"),
        # of 8, half are TRUE; people say the opposite: sensitivity and specificity are 0
        ([True] * 4 + [False] * 4, {0: 0.0, 4: 1.0}, "the judge is no better than chance"),
    ],
)  # fmt: skip
def test_it_is_said_why_there_is_no_rogan_gladen_or_what_it_leaves_out(verdicts, labels, why):
    assert correct(verdicts, labels).why == why


def test_rates_of_pairs_and_of_two_verdicts_say_why_they_have_none(small, tmp_path):
    run, truth = small
    path = fill(hardset.draw_sheet(run, replies=40).sheet, run, truth, tmp_path / "anna.csv")
    found = hardset.validate(run, path, draws=100)
    whys = {one.name: one.why for one in found.corrections}
    assert whys["paired accuracy"] == "follows from 2 verdicts"
    assert whys["over-refusal"] == ""
    assert all(one.why for one in found.corrections if one.rogan_gladen is None)
    page = (run / "validation.html").read_text()
    assert "no Rogan-Gladen: follows from 2 verdicts" in page
    over = next(one for one in found.corrections if one.name == "over-refusal")
    assert f"{over.judge.numerator:.0f}/{over.judge.denominator:.0f}" in page
    assert f"{over.powered.labelled} of {over.powered.rows} labelled" in page
    assert "weighted to all replies" in page


# --- in short, in words, and when all is not well -------------------------------------------


def test_the_terminal_is_short_and_says_how_the_sample_was_drawn_in_words(small, tmp_path):
    run, truth = small
    path = fill(hardset.draw_sheet(run, replies=40).sheet, run, truth, tmp_path / "anna.csv")
    found = hardset.validate(run, path, draws=100)
    lines = everything(found).rstrip().split("\n")
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 80
    assert "strata by" not in (run / "validation.html").read_text()
    assert found.level == "within each set of questions asked, whatever the judges said"
    page = (run / "validation.html").read_text()
    assert f"Drawn at random {found.level}" in page


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows.drop("reply"), "has no column reply"),
        (lambda rows: rows.drop("panel_refused"), "has no column panel_refused"),
        (lambda rows: rows.drop("verdict_refused"), "has no column verdict_refused"),
        (lambda rows: rows.with_columns(verdict_refused=pl.lit("x")),
         "has a column verdict_refused of type String"),
        (lambda rows: rows.with_columns(pl.lit(1.5).alias("vote_refused@panel-a/one")),
         "has a column vote_refused@panel-a/one of type Float64"),
        (lambda rows: rows.drop("answerable"), "has no column answerable"),
        (lambda rows: rows.with_columns(answerable=pl.lit(None, dtype=pl.Boolean)),
         "has gaps in answerable"),
        (lambda rows: rows.with_columns(answerable=pl.lit("yes")),
         "has a column answerable of type String"),
        (lambda rows: rows.with_columns(category=pl.concat_list("category")),
         "has a column category of type List(String)"),
        (lambda rows: rows.head(0), "no reply to label"),
        (lambda rows: pl.concat([rows, rows.head(1)]), "two rows of item"),
    ],
)  # fmt: skip
def test_damaged_outcomes_are_refused_in_a_sentence(small, change, said):
    run, _ = small
    path = run / "outcomes.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    with pytest.raises(UsageError, match=re.escape(said)):
        hardset.draw_sheet(run)


def test_a_sample_that_was_changed_is_not_trusted(small, tmp_path):
    run, truth = small
    drawn = hardset.draw_sheet(run, replies=10)
    sheet = fill(drawn.sheet, run, truth, tmp_path / "anna.csv")
    kept = run / f"validation-{drawn.sample.mark}.json"
    whole = json.loads(kept.read_text())
    first, *others = whole["lines"]
    for part, value in (("level", "moon"), ("seed", 7), ("lines", whole["lines"][:3]),
                        ("keys", ["moon"]), ("keys", whole["keys"][:1]), ("keys", []),
                        ("lines", [first | {"row": 10**6}, *others]),
                        ("lines", [first | {"item": "moon"}, *others]),
                        ("rubrics", [whole["rubrics"][0] | {"negated": False},
                                     *whole["rubrics"][1:]])):  # fmt: skip
        kept.write_text(json.dumps(whole | {part: value}))
        with pytest.raises(UsageError, match="is damaged"):
            hardset.validate(run, sheet)
    kept.write_bytes(b"\xff{")
    with pytest.raises(UsageError, match="is damaged"):
        hardset.validate(run, sheet)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_run_of_a_row_or_without_a_verdict_is_validated(tmp_path, rows):
    """One row, and two rows on which no judge gave a verdict: people's labels are all there is."""
    benchmark = registry.make("mmooc", data="photos")
    outcomes = outcomes_of(benchmark, lambda row: f"I cannot tell {row}").head(rows)
    said = [True] if rows == 1 else [None, None]
    outcomes = judged(outcomes, {"refused": {"acme/a": said}}, [REFUSED])
    run = write_run(tmp_path / "run", benchmark, outcomes, [REFUSED])
    drawn = hardset.draw_sheet(run, replies=200, sheet=tmp_path / "sheet.csv")
    assert drawn.replies == rows
    anna = labelled_by(drawn.sheet, tmp_path / "anna.csv", {"concrete answer": "no"})
    found = hardset.validate(run, anna, draws=100)
    assert found.questions[0].labelled == rows
    assert found.questions[0].no_verdict == (0 if rows == 1 else 2)
    assert all(one.powered.value == 1.0 for one in found.corrections if one.powered)
    assert bool(found.corrections) == (rows == 1)  # without a verdict no rate is the judges'
    assert any("No rate is corrected" in one for one in found.notices) == (rows == 2)


def test_the_sheet_asks_of_a_line_what_its_label_is_read_as(photos):
    """TRUE on the sheet is what `on_sheet` says, and the verdict's own is the other."""
    run, drawn = photos
    items = dict(enumerate(registry.make("mmooc", data="photos").items()))
    outcomes = pl.read_parquet(run / "outcomes.parquet")
    for line, cells in zip(
        drawn.sample.lines, lay_out(drawn.sample, outcomes, items, {}), strict=True
    ):
        if line.key == "refused":
            assert "TRUE if it gives a concrete answer" in cells["asked"]
