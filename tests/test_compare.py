"""Finished runs held against each other: what is matched, refused, found, and how it is shown."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import msgspec
import polars as pl
import pytest

import hardset
import report_runs as made
from hardset import comparing
from hardset.comparing import differences, write_comparison, write_json
from hardset.errors import UsageError
from hardset.metrics import Rates, Ratio, accuracy
from hardset.metrics.difference import Difference
from hardset.metrics.items import flips, match
from hardset.records import Metric
from hardset.reports.compared import finding, points, probability
from hardset.reports.folder import write_folder

DRAWS = 400


def compare(*runs, **more):
    return comparing.compare(*runs, draws=DRAWS, **more)


MANIFEST = {
    "hardset": "0.1.0",
    "benchmark": "mmr",
    "title": "MMR",
    "revision": "mmr.json, sha256 0123456789abcdef",
    "options": {"data": "gone.json", "blind": "True"},
    "model_options": {},
    "sampling": {"temperature": 0.0},
    "repeats": 1,
    "started": "2026-08-14T09:30:00+00:00",
    "notices": [],
}


def run(folder: Path, outcomes: pl.DataFrame, **manifest) -> Path:
    folder.mkdir(parents=True)
    write_folder(folder, {**MANIFEST, "model": folder.name, **manifest}, [], outcomes)
    return folder


def pairs(*ways: str, category: str = "number") -> pl.DataFrame:
    """MMR outcomes: each way says whether POS and NEG are right, `+-`; the paper reads the same."""
    rows = []
    for i, way in enumerate(ways):
        for role, mark in zip(("POS", "NEG"), way, strict=True):
            right = mark == "+"
            rows.append(
                {
                    "index": len(rows),
                    "item": f"{i:02d}#{role}",
                    "repeat": 0,
                    "state": "answered",
                    "answer": "A" if right else "B",
                    "rule": "the letter",
                    "evidence": "",
                    "right": right,
                    "reason": "",
                    "reply": "A" if right else "B",
                    "finish": "stop",
                    "answerable": True,
                    "gold": "A",
                    "category": category,
                    "level": "attribute",
                    "pair": f"{i:02d}",
                    "role": role,
                    "sha256": f"picture {i}",
                    "question": f"{role}: what of {i}?",
                    "paper_state": "answered",
                    "paper_answer": "A" if right else "B",
                    "paper_rule": "",
                    "paper_right": right,
                }
            )
    return pl.DataFrame(rows, schema_overrides={"index": pl.UInt32, "repeat": pl.UInt16})


def found(compared, name: str, reading: str = "default", **cut: str) -> Difference:
    (one,) = [
        d
        for d in compared.versus[0].differences
        if (d.name, d.reading, d.cut) == (name, reading, cut)
    ]
    return one


# --- what is found ----------------------------------------------------------------------------


def test_a_comparison_by_hand(tmp_path):
    # pairs:         0     1     2     3     4     5     6     7     8     9
    before = pairs("++", "++", "+-", "+-", "+-", "+-", "+-", "+-", "--", "-+")
    after = pairs("++", "+-", "++", "++", "++", "++", "++", "++", "--", "-+")
    compared = compare(run(tmp_path / "a", before), run(tmp_path / "b", after))
    # RA: pairs with both right, 2 of 10 before, 7 of 10 after; 1 pair lost, 6 gained
    robust = found(compared, "RA")
    assert (robust.first.value, robust.second.value) == (0.2, 0.7)
    assert robust.difference == pytest.approx(0.5)
    assert (robust.lost, robust.gained) == (1, 6)
    assert robust.p == pytest.approx(2 * (1 + 7) / 128)  # seven coins, one or none of a kind
    assert robust.p_holm == robust.p  # overall is a family of one
    # MR: of 8 pairs with POS right, NEG wrong in 6 before and in 1 after
    misled = found(compared, "MR")
    assert misled.difference == pytest.approx(1 / 8 - 6 / 8)
    assert misled.better == "lower"
    # accuracy over rows: 11 of 20 and 16 of 20; the two rows of a pair are swapped together
    every = found(compared, "accuracy")
    assert every.difference == pytest.approx(5 / 20)
    assert (every.lost, every.gained) == (1, 6)
    assert every.test == "exact sign-flip of clusters"
    assert found(compared, "RA", "paper").difference == pytest.approx(0.5)
    assert found(compared, "RA", level="attribute").difference == pytest.approx(0.5)
    # two slices of RA, level and category, of p = 0.125 each: 0.125 x 2
    assert found(compared, "RA", category="number").p_holm == pytest.approx(0.25)
    flipped = compared.versus[0].flips
    assert flipped.lost == ["01#NEG"]
    assert flipped.gained == [f"{i:02d}#NEG" for i in range(2, 8)]
    assert (flipped.both, flipped.neither) == (10, 3)


def test_three_runs_are_held_against_the_first_and_adjusted_together(tmp_path):
    base = pairs(*["--"] * 7)
    compared = compare(
        run(tmp_path / "a", base),
        run(tmp_path / "b", pairs(*["++"] * 7)),
        run(tmp_path / "c", pairs(*["++"] * 6, "--")),
    )
    one, two = ([d for d in v.leading if (d.name, d.reading) == ("RA", "default")]
                for v in compared.versus)  # fmt: skip
    assert one[0].p == pytest.approx(2 / 2**7)
    assert two[0].p == pytest.approx(2 / 2**6)
    assert one[0].p_holm == pytest.approx(2 * 2 / 2**7)
    assert two[0].p_holm == pytest.approx(2 / 2**6)
    assert compared.labels == ["a", "b", "c"]


def test_what_another_order_of_items_or_index_does_is_nothing(tmp_path):
    before, after = pairs("++", "+-", "--", "-+"), pairs("+-", "++", "++", "--")
    turned = after.reverse().with_columns(index=pl.int_range(pl.len(), dtype=pl.UInt32))
    straight = compare(run(tmp_path / "a", before), run(tmp_path / "b", after))
    other = compare(tmp_path / "a", run(tmp_path / "c", turned))
    assert other.versus[0].differences == straight.versus[0].differences
    assert other.versus[0].flips == straight.versus[0].flips
    assert other.versus[0].second.outcomes["index"].to_list() == list(range(8))


def test_readings_that_one_run_lacks_stand_alone():
    """A run with a judge and one without: the judge's metrics have nothing to be held against."""
    outcomes = pairs("++", "+-")

    def declared(*readings: str):
        return [
            Rates(frame=outcomes, ratios=[accuracy()], cluster="pair", reading=reading)
            for reading in readings
        ]

    both = differences(declared("default"), declared("default", "judge"), draws=200)
    assert [(d.reading, d.difference, d.note) for d in both] == [
        ("default", 0.0, "rows of one cluster are not independent, so whole clusters are swapped"),
        ("judge", None, "measured in the second run alone"),
    ]


def test_parts_go_together_by_what_they_measure():
    """A run of three repeats has metrics more; the parts still find each other."""
    outcomes = pairs("++", "+-", "-+")

    def part(*names: str) -> Rates:
        ratios = [Ratio(name=name, top=pl.col("right"), bottom=pl.lit(1)) for name in names]
        return Rates(frame=outcomes, ratios=ratios, cluster="pair")

    both = differences([part("x"), part("pass@1")], [part("pass@1", "pass@2"), part("x")], 200)
    assert [(d.name, d.difference) for d in both] == [("x", 0), ("pass@1", 0), ("pass@2", None)]


class Plain:
    """A plug-in's own kind of metric, which knows no differences."""

    reading = "default"

    def metrics(self, draws=10_000, seed=0):
        return [Metric(name="own", numerator=1, denominator=2, value=0.5)]


def test_a_metric_that_cannot_be_compared_is_set_side_by_side():
    (own,) = differences([Plain()], [Plain()], 200)
    assert (own.first.value, own.second.value, own.difference) == (0.5, 0.5, None)
    assert "no paired difference" in own.note


# --- what is matched --------------------------------------------------------------------------


def test_only_items_that_are_the_same_in_both_count():
    first, second = pairs("++", "+-", "--", "-+"), pairs("++", "+-", "--", "-+", "++")
    second = second.with_columns(
        gold=pl.when(item="01#POS").then(pl.lit("C")).otherwise("gold"),
        question=pl.when(pl.col("item") == "02#NEG").then(pl.lit("?")).otherwise("question"),
        sha256=pl.when(pl.col("item") == "02#NEG").then(pl.lit("?")).otherwise("sha256"),
    ).filter(pl.col("item") != "00#NEG")
    matched, one, two = match(first, second)
    assert matched.items == 5
    assert matched.first_only == ["00#NEG"]
    assert matched.second_only == ["04#POS", "04#NEG"]
    assert matched.changed == [("01#POS", "gold answer"), ("02#NEG", "question and picture")]
    assert one["item"].to_list() == two["item"].to_list()
    assert one["index"].to_list() == two["index"].to_list()
    assert one.height == 5


def test_a_blind_run_has_no_picture_and_is_the_same_all_the_same():
    first = pairs("++", "+-")
    matched, _, _ = match(first, first.with_columns(sha256=pl.lit("")))
    assert (matched.items, matched.changed) == (4, [])


def test_an_id_of_several_items_is_left_out():
    first = pairs("++", "+-")
    doubled = first.with_columns(item=pl.col("item").replace("01#POS", "00#POS"))
    matched, one, _ = match(first, doubled)
    assert matched.doubled == ["00#POS"]
    assert sorted(one["item"]) == ["00#NEG", "01#NEG"]


def test_repeats_make_an_item_right_by_more_than_half():
    first = pl.DataFrame(
        {"item": ["a"] * 3 + ["b"] * 3 + ["c"] * 3, "right": [1, 1, 0, 0, 1, 0, 1, 1, 1]}
    ).with_columns(pl.col("right").cast(pl.Boolean))
    second = pl.DataFrame({"item": ["a", "a", "b", "c"], "right": [True, False, True, True]})
    counted = flips(first, second)  # half of two is not more than half
    assert (counted.lost, counted.gained, counted.both) == (["a"], ["b"], 1)


def test_flips_can_go_by_another_reading_and_leave_out_what_has_no_verdict(tmp_path):
    def judged(way: str, verdicts: list[bool | None]) -> pl.DataFrame:
        right = pl.Series(verdicts, dtype=pl.Boolean)
        return pairs(way, way).with_columns(
            judge_state=pl.when(right.is_not_null()).then(pl.lit("answered")),
            judge_answer=pl.lit(""),
            judge_rule=pl.lit(""),
            judge_right=right,
        )

    first = run(tmp_path / "a", judged("++", [True, True, False, None]))
    second = run(tmp_path / "b", judged("++", [False, True, True, True]))
    assert compare(first, second).versus[0].flips.lost == []
    by_judge = compare(first, second, reading="judge").versus[0].flips
    assert (by_judge.lost, by_judge.gained) == (["00#POS"], ["01#POS"])
    assert (by_judge.both, by_judge.neither, by_judge.unknown) == (1, 0, 1)
    assert compare(first, second, reading="default").versus[0].flips.both == 4
    with pytest.raises(UsageError, match="c has no reading 'judge'; it has default, paper"):
        compare(first, run(tmp_path / "c", pairs("++", "++")), reading="judge")


# --- what is refused --------------------------------------------------------------------------


def test_other_benchmarks_and_revisions_are_refused(tmp_path):
    base, same = run(tmp_path / "a", pairs("++")), pairs("+-")
    other = run(tmp_path / "b", same, benchmark="scenes")
    newer = run(tmp_path / "c", same, revision="mmr.json, sha256 fedc")
    with pytest.raises(UsageError, match=r"of benchmark 'mmr'.*only runs of one benchmark"):
        compare(base, other, across_revisions=True)
    with pytest.raises(UsageError, match=r"revision 'mmr.json, sha256 0123.*--across-revisions"):
        compare(base, newer)
    across = compare(base, newer, across_revisions=True)
    assert across.versus[0].matched.items == 2
    assert any("different revisions" in notice for notice in across.notices)


def test_what_is_no_run_is_said(tmp_path):
    base = run(tmp_path / "runs" / "mmr" / "a" / "1", pairs("++"))
    assert compare(tmp_path / "runs", run(tmp_path / "b", pairs("++"))).folders[0] == str(base)
    with pytest.raises(UsageError, match="given twice"):
        compare(base, tmp_path / "runs")
    with pytest.raises(UsageError, match="two runs or more"):
        compare(base)
    run(tmp_path / "runs" / "mmr" / "a" / "2", pairs("++"))
    with pytest.raises(UsageError, match="holds 2 runs; name one of them"):
        compare(tmp_path / "runs", tmp_path / "b")
    (tmp_path / "empty").mkdir()
    for folder, why in ((tmp_path / "empty", "no run in"), (tmp_path / "x", "does not exist")):
        with pytest.raises(UsageError, match=why):
            compare(base, folder)
    shutil.copytree(base, tmp_path / "broken")
    (tmp_path / "broken" / "outcomes.parquet").unlink()
    with pytest.raises(UsageError, match="not a finished run"):
        compare(base, tmp_path / "broken")
    old = run(tmp_path / "old", pairs("++").drop("level"))
    with pytest.raises(UsageError, match=r"lack a column that mmr measures now.*level"):
        compare(base, old)


def test_nothing_in_common_is_said(tmp_path):
    others = pairs("++").with_columns(item=pl.format("x{}", "item"))
    with pytest.raises(UsageError, match="no item in common: 2 and 2 items"):
        compare(run(tmp_path / "a", pairs("++")), run(tmp_path / "b", others))


# --- how it is said ---------------------------------------------------------------------------


def test_runs_of_one_model_are_told_apart_by_what_differs(tmp_path):
    runs = [
        run(tmp_path / name, pairs("++"), model="m/m", options={"prompt": wording})
        for name, wording in (("a", "plain"), ("b", "step-by-step"))
    ]
    compared = compare(*runs)
    assert compared.labels == ["m/m, prompt plain", "m/m, prompt step-by-step"]
    assert compared.versus[0].differing == [("options: prompt", "plain", "step-by-step")]
    again = run(tmp_path / "c", pairs("++"), model="m/m", options={"prompt": "plain"})
    assert compare(runs[0], again).labels == ["m/m, a", "m/m, c"]


def test_what_is_left_out_and_failed_is_said(tmp_path):
    first = pairs("++", "+-").with_columns(
        state=pl.when(pl.col("item") == "01#NEG").then(pl.lit("request-failed")).otherwise("state")
    )
    compared = compare(
        run(tmp_path / "a", first, stopped="the budget is spent"),
        run(tmp_path / "b", pairs("++", "+-", "--"), notices=["Mind the gap."]),
    )
    assert compared.notices == [
        "2 items in b alone, left out: 02#POS, 02#NEG",
        "a: asking stopped early: the budget is spent; "
        "1 of 4 rows have no reply and count as wrong",
        "Mind the gap.",
    ]


def test_no_difference_is_said_with_what_could_have_been_shown(tmp_path):
    compared = compare(
        run(tmp_path / "a", pairs(*["++"] * 50, *["--"] * 32)),
        run(tmp_path / "b", pairs(*["++"] * 51, *["--"] * 31)),
    )
    versus = compared.versus[0]
    said = finding(found(compared, "RA"), versus)
    # one flip in 82: the error is small, but six must differ: 7.8 in 82 on average
    assert said == "RA: no difference shown; this set could have shown 9.5 points"
    better = compare(tmp_path / "a", run(tmp_path / "c", pairs(*["++"] * 82)))
    assert finding(found(better, "RA"), better.versus[0]) == "RA: higher in c, which is better"
    # MR is 0 of 50 and 0 of 82
    assert "MR: no difference shown" in finding(found(better, "MR"), better.versus[0])


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0316, "", "+3.2"), (-0.5, "", "-50.0"), (0.0, "", "0.0"), (-0.0001, "", "0.0"),
        (1234.5, "tokens", "+1,234"), (-0.01234, "$", "-0.0123"), (None, "", ""),
    ],
)  # fmt: skip
def test_differences_are_written_in_points(value, unit, text):
    assert points(value, unit) == text
    assert points(value, unit, signed=False) == text.lstrip("+-")


def test_p_is_never_nought():
    assert [probability(p) for p in (1e-9, 0.0123, 0.5, 1.0, None)] == [
        "<0.001", "0.012", "0.50", "1.00", "",
    ]  # fmt: skip


def test_json_holds_everything(tmp_path):
    compared = compare(
        run(tmp_path / "a", pairs("++", "+-")), run(tmp_path / "b", pairs("++", "++", "--"))
    )
    write_json(tmp_path / "out" / "c.json", compared)
    content = json.loads((tmp_path / "out" / "c.json").read_text())
    (against,) = content["against_the_first"]
    assert against["items"]["second_only"] == ["02#POS", "02#NEG"]
    assert against["flips"] == {
        "both": 3,
        "neither": 0,
        "lost": [],
        "gained": ["01#NEG"],
        "unknown": 0,
        "reading": "",
    }
    assert against["differing"]["model"] == ["a", "b"]
    back = msgspec.convert(against["differences"], list[Difference])
    assert back == list(compared.versus[0].differences)
    assert content["runs"][0]["manifest"]["revision"] == MANIFEST["revision"]
    with pytest.raises(UsageError, match="cannot be written"):
        write_json(tmp_path / "out", compared)


# --- the page ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    """A page of many flips whose replies, ids and questions mean harm."""
    folder = tmp_path_factory.mktemp("hostile")
    items = made.items(60)
    frames = [
        made.outcomes(items, skill, seed).with_columns(
            reply=pl.lit(made.HOSTILE), question=pl.format("{} {}", pl.lit(made.HOSTILE), "index")
        )
        for skill, seed in ((0.8, 1), (0.6, 2))
    ]
    evil = frames[0]["item"][0]
    frames = [
        frame.with_columns(item=pl.col("item").replace(evil, evil + made.HOSTILE))
        for frame in frames
    ]
    runs = [run(folder / f"<i>{name}", frame) for name, frame in zip("ab", frames, strict=True)]
    compared = compare(*runs)
    assert compared.versus[0].flips.lost
    write_comparison(folder / "page.html", compared)
    return folder / "page.html"


def test_the_page_links_every_flip_and_trusts_no_text(hostile):
    page = hostile.read_text(encoding="utf-8")
    links = re.findall(r'href="#(flip-[\d-]+)"', page)
    assert links
    assert sorted(links) == sorted(re.findall(r'<article class="card" id="([^"]+)"', page))
    assert page.count("<script>") == 1
    assert "<script>window" not in page
    assert "<i>a" not in page.replace("&lt;i&gt;a", "")
    assert "default-src 'none'" in page
    assert "shown without pictures and options: " in page


def test_pictures_are_shown_where_the_benchmark_can_be_made_again(tmp_path):
    scenes = hardset.make_benchmark("scenes", n=8, kinds="plain")
    settings = hardset.Settings(runs=tmp_path / "runs")
    folders = [
        hardset.evaluate(scenes, hardset.make_model(name), settings).folder
        for name in ("baseline/oracle", "baseline/always-refuse")
    ]
    compared = hardset.compare(*folders)
    hardset.write_comparison(tmp_path / "page.html", compared)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(compared.versus[0].flips.lost) == 8
    assert page.count('<img src="data:image/') == 8
    assert not any("pictures" in notice for notice in compared.notices)


def test_a_page_of_no_flips_says_none(tmp_path):
    same = pairs("++", "--")
    compared = compare(run(tmp_path / "a", same), run(tmp_path / "b", same))
    write_comparison(tmp_path / "page.html", compared)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'id="items"' not in page
    assert 'class="card"' not in page
