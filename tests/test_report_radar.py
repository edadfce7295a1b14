"""The radar section: spokes where geometry says, gaps where rows lack, and the bars below."""

from __future__ import annotations

import re
import xml.etree.ElementTree as Tree
from collections.abc import Mapping, Sequence

import polars as pl
import pytest

import report_runs as made
from hardset.benchmarks.mmooc_names import AUTO_SHUFFLE, FORMATS, GROUPS, IC, OOC
from hardset.benchmarks.registry import make
from hardset.metrics import tally
from hardset.models import make_model
from hardset.records import Metric
from hardset.reports.html import render
from hardset.reports.runs import RunView
from hardset.reports.sections import radar
from hardset.run import Settings, evaluate

Values = Mapping[tuple[str, str], float | None]


def view(
    values: Values,
    groups: Mapping[str, str] = GROUPS,
    *,
    model: str = "p/model",
    name: str = "rate",
    drop: Sequence[str] = (),
    more: Sequence[Metric] = (),
    **kind: str,
) -> RunView:
    """A run whose leading metric has these values by shift and format, each of 4 rows."""
    rows = [
        {"index": i, "item": str(i), "group": groups[shift], "shift": shift, "format": form}
        for i, (shift, form) in enumerate(values)
    ]
    frame = pl.DataFrame(rows, schema_overrides={"index": pl.UInt32}).with_columns(
        state=pl.lit("answered"), right=pl.lit(True), reply=pl.lit("x"), repeat=pl.lit(0)
    )
    metrics = [
        metric(name, value, {"shift": shift, "format": form}, **kind)
        for (shift, form), value in values.items()
    ]
    return RunView(
        model=model,
        benchmark="made-up",
        title="Made up",
        metrics=[metric(name, 0.5, {}, **kind), *metrics, *more],
        states=tally(frame),
        outcomes=frame.drop(drop),
        headline=[name],
        readings=("default", "judge"),
    )


def metric(name: str, value: float | None, cut: Mapping[str, str], **kind: str) -> Metric:
    if value is None:
        return Metric(name=name, cut=dict(cut), numerator=0, denominator=0, value=None, **kind)
    return Metric(
        name=name,
        cut=dict(cut),
        numerator=4 * value,
        denominator=4,
        value=value,
        low=value / 2,
        high=(1 + value) / 2,
        **kind,
    )


def drawn(*runs: RunView) -> list[radar.Radar]:
    found = radar.section(runs, [])
    return [] if found is None else list(found.values["radars"])


FOUR = {("MA", "yes_no"): 1.0, ("MA", "open"): 0.5, ("VFP", "yes_no"): 0.25, ("VFP", "open"): 0.0}


def test_spokes_go_up_and_then_by_the_clock_and_the_rim_is_all():
    """Four spokes of radius 138 around (240, 192): up, right, down, left."""
    (only,) = drawn(view(FOUR))
    assert [spoke.end for spoke in only.spokes] == [
        ("240.0", "54.0"),  # 192 - 138
        ("378.0", "192.0"),  # 240 + 138
        ("240.0", "330.0"),
        ("102.0", "192.0"),
    ]
    (shape,) = only.shapes
    assert [dot[:2] for dot in shape.dots] == [
        ("240.0", "54.0"),  # 1
        ("309.0", "192.0"),  # 240 + 138/2
        ("240.0", "226.5"),  # 192 + 138/4
        ("240.0", "192.0"),  # 0
    ]
    assert shape.path == "M240.0,54.0L309.0,192.0L240.0,226.5L240.0,192.0Z"
    assert shape.filled


def test_spokes_are_grouped_by_shift_in_the_order_of_the_paper():
    values = {(shift, form): 0.5 for form in reversed(FORMATS) for shift in reversed([*OOC, *IC])}
    out, within = drawn(view(values))
    assert (len(out.spokes), len(within.spokes)) == (15, 9)
    assert [sector.label for sector in out.sectors] == list(OOC)
    assert [sector.label for sector in within.sectors] == list(IC)
    assert [spoke.label for spoke in out.spokes] == ["yes/no", "choice", "open"] * 5
    assert (out.name, within.name) == ("rate, out of context", "rate, in context")


def test_columns_decide_and_other_shifts_are_drawn_behind_those_known():
    values = {(shift, "open"): 0.5 for shift in ("night", "fog", "MA")}
    (only,) = drawn(view(values, {"night": "ooc", "fog": "ooc", "MA": "ooc"}))
    assert [sector.label for sector in only.sectors] == ["MA", "fog", "night"]


def test_where_a_run_lacks_a_slice_its_line_has_a_gap():
    """The second of four spokes is undefined: sides 3-4 and 4-1 are left."""
    (only,) = drawn(view(FOUR), view(FOUR | {("MA", "open"): None}, model="p/other"))
    full, gap = only.shapes
    assert full.filled
    assert not gap.filled
    assert len(gap.dots) == 3
    assert gap.path == "M240.0,192.0L240.0,54.0M240.0,226.5L240.0,192.0"


def test_the_words_say_every_value_and_the_dots_their_intervals():
    (only,) = drawn(view(FOUR))
    assert only.description == (
        "model: MA yes/no 100.0 %, MA open 50.0 %, VFP yes/no 25.0 %, VFP open 0.0 %."
    )
    assert only.shapes[0].dots[1][2] == "model, MA open: 50.0 % (25.0 to 75.0; 2/4)"


def test_the_bars_say_the_same_with_intervals():
    (alone,) = drawn(view(FOUR))
    assert [name for name, _ in alone.bars.groups] == ["MA", "VFP"]
    marks = [mark for _, group in alone.bars.groups for mark in group]
    assert [mark.label for mark in marks] == ["yes/no", "open"] * 2
    assert [mark.interval for mark in marks] == [
        "50.0 to 100.0", "25.0 to 75.0", "12.5 to 62.5", "0.0 to 50.0"
    ]  # fmt: skip
    (both,) = drawn(view(FOUR), view(FOUR, model="p/other"))
    assert [name for name, _ in both.bars.groups] == [
        "MA yes/no",
        "MA open",
        "VFP yes/no",
        "VFP open",
    ]
    assert [mark.label for mark in both.bars.groups[0][1]] == ["model", "other"]


def test_auto_shuffle_has_no_spoke_and_is_said_beside():
    values = FOUR | {(AUTO_SHUFFLE, "open"): 0.75}
    (only,) = drawn(view(values, more=[metric("rate", 0.75, {"shift": AUTO_SHUFFLE})]))
    assert len(only.spokes) == 4
    assert only.beside == [(0, "model", "75.0 % (37.5 to 87.5; 3/4)")]
    assert AUTO_SHUFFLE not in {sector.label for sector in only.sectors}
    page = render([view(values, more=[metric("rate", 0.75, {"shift": AUTO_SHUFFLE})])])
    assert "Auto-Shuffle, which has no spoke" in page


def test_a_metric_of_judges_is_drawn_by_their_reading():
    (only,) = drawn(view(FOUR, name="OOC score", reading="judge"))
    assert only.name == "OOC score, out of context, judge reading"
    assert [mark.label for mark in only.bars.groups[0][1]] == ["yes/no", "open"]


@pytest.mark.parametrize(
    "run",
    [
        view(FOUR, drop=["format"]),
        view(FOUR, drop=["group"]),
        view(dict(list(FOUR.items())[:2])),  # two spokes make no figure
        view(FOUR, better="lower"),
        view(FOUR, unit="tokens"),
    ],
)
def test_nothing_where_there_is_nothing_to_draw(run):
    assert radar.section([run], []) is None


def test_nothing_in_other_reports():
    assert radar.section([made.run(made.items(10), "p/m", 0.8, 1)], []) is None


def svgs(page: str) -> list[Tree.Element]:
    return [
        Tree.fromstring(found) for found in re.findall(r"<svg xmlns=.*?</svg>", page, re.DOTALL)
    ]


def test_each_figure_is_a_whole_svg_with_a_title_and_words_and_its_own_colours():
    values = {(shift, form): 0.5 for shift in (*OOC, *IC) for form in FORMATS}
    found = svgs(render([view(values), view(values, model="p/other")]))
    assert len(found) == 2
    names = [element.get("id") for svg in found for element in svg.iter() if element.get("id")]
    assert len(set(names)) == len(names) == 4
    for svg in found:
        assert svg.get("role") == "img"
        own = [element.get("id") for element in svg.iter() if element.get("id")]
        assert (svg.get("aria-labelledby") or "").split() == own
        shapes = [one for one in svg.iter() if (one.get("class") or "").startswith("shape filled")]
        assert [one.get("stroke") for one in shapes] == ["#0072b2", "#d55e00"]
        assert [one.get("stroke-dasharray") for one in shapes] == [None, "7 3"]  # in grey print too
        texts = {"".join(one.itertext()) for one in svg.iter() if one.tag.endswith("}text")}
        assert {"model", "other", "yes/no", "100"} <= texts  # the legend is inside


def test_a_model_s_name_cannot_put_anything_into_the_figure():
    page = render([view(FOUR, model=f"p/{made.HOSTILE}")])
    (svg,) = svgs(page)
    assert {one.tag.rpartition("}")[2] for one in svg.iter()} == {
        "svg", "title", "desc", "path", "circle", "line", "g", "text"
    }  # fmt: skip
    assert "<script>window.pwned" not in page


def test_more_models_than_colours_and_a_name_without_end():
    runs = [view(FOUR, model=f"p/{i}{'x' * 300}") for i in range(10)]
    (only,) = drawn(*runs)
    assert len(only.shapes) == 10
    assert all(len(shape.name) <= 52 for shape in only.shapes)
    found = radar.section(runs, [])
    assert found is not None
    assert found.values["height"] > only.shapes[-1].foot


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mmooc", {"data": "scenes", "n": 24}),
        ("scenes", {"n": 24, "kinds": "mmooc"}),
        ("photos", {"kinds": "mmooc"}),
    ],
)
def test_every_run_with_such_rows_has_it(tmp_path, name, options):
    made_ = make(name, **options)
    run = evaluate(made_, make_model("baseline/oracle"), Settings(runs=tmp_path))
    out, within = drawn(run.view())
    assert [len(out.spokes), len(within.spokes)] == [15, 9]
    for figure in (out, within):
        assert all(" 100.0 %" in dot[2] for dot in figure.shapes[0].dots)
