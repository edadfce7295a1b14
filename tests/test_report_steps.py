"""Three sections of the report: steps under failed main questions, repeats, and what was spent."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest
from msgspec import structs

import report_runs as made
from hardset.benchmarks.scenes import Scenes
from hardset.metrics import tally
from hardset.metrics.usage import usage
from hardset.models import make_model
from hardset.reports.html import render
from hardset.reports.runs import RunView, leading
from hardset.reports.sections import repeats, spent, steps
from hardset.run import Settings, evaluate


def view(frame: pl.DataFrame, model: str = "p/model", **more) -> RunView:
    return RunView(
        model=model,
        benchmark="made-up",
        title="Made up",
        metrics=[],
        states=tally(frame),
        outcomes=frame,
        **more,
    )


def outcomes(rights: dict[str, str], said: str = "no {good}") -> pl.DataFrame:
    """Rows of items whose right replies are 1s: "M": "010"; `M_1` is a step of `M`."""
    return pl.DataFrame(
        [
            {
                "index": index,
                "item": item,
                "repeat": repeat,
                "state": "answered",
                "answer": "gold" if right == "1" else said,
                "right": right == "1",
                "reply": "a reply",
                "question": f"What is {item}?",
                "gold": "gold",
                "parent": item.partition("_")[0] if "_" in item else "",
            }
            for index, (item, marks) in enumerate(rights.items())
            for repeat, right in enumerate(marks)
        ],
        schema_overrides={"index": pl.UInt32},
    )


ENDS = {
    "A": "1", "A_1": "0",  # right, whatever became of the step
    "B": "0", "B_1": "1", "B_2": "1",  # wrong over right steps
    "C": "0", "C_1": "1", "C_2": "0",  # some steps wrong
    "D": "0", "D_1": "0", "D_2": "0",  # every step wrong
    "E": "0",  # has no steps: not a main question
}  # fmt: skip


def test_failed_main_questions_by_what_became_of_their_steps():
    values = steps.section([view(outcomes(ENDS))], []).values
    (tallied,) = values["tallies"]
    assert {end.key: end.count for end in tallied.ends} == {
        "solved": 1,
        "steps-right": 1,
        "some-wrong": 1,
        "all-wrong": 1,
    }
    assert (tallied.mains, tallied.failed) == (4, 3)
    assert [main.step.ident for main in values["mains"]] == ["B", "C", "D"]
    failed = {
        main.step.ident: [step.ident for step in main.steps if not step.told[0].right]
        for main in values["mains"]
    }
    assert failed == {"B": [], "C": ["C_2"], "D": ["D_1", "D_2"]}
    answer = values["mains"][0].step.told[0]
    assert (answer.answer, answer.of, answer.right) == ("no {good}", "", False)


def test_with_repeats_more_than_half_must_be_right_and_c_of_n_stands_there():
    frame = outcomes({"A": "0110", "A_1": "1101", "A_2": "1000"})
    (main,) = steps.section([view(frame)], []).values["mains"]
    assert (main.step.told[0].of, main.step.told[0].right) == ("2/4", False)
    assert [(step.told[0].of, step.told[0].right) for step in main.steps] == [
        ("3/4", True),
        ("1/4", False),
    ]


def test_two_runs_side_by_side_and_what_failed_in_either():
    one = outcomes({"A": "1", "A_1": "1", "B": "1", "B_1": "1"})
    two = outcomes({"A": "1", "A_1": "1", "B": "0", "B_1": "0"})
    values = steps.section([view(one, "p/one"), view(two, "p/two")], []).values
    (main,) = values["mains"]
    assert [(told.name, told.right) for told in main.step.told] == [("one", True), ("two", False)]
    assert [tallied.failed for tallied in values["tallies"]] == [0, 1]


def test_nothing_to_show_without_steps_and_nothing_failed_without_a_list():
    assert steps.section([view(outcomes({"A": "1", "B": "0"}))], []) is None
    assert steps.section([view(outcomes({"A": "1"}).drop("parent"))], []) is None
    values = steps.section([view(outcomes({"A": "1", "A_1": "0"}))], []).values
    assert values["mains"] == []


def test_of_very_many_failed_main_questions_some_are_shown_and_the_number_said():
    many = {f"{i:03d}{part}": "0" for i in range(130) for part in ("", "_1")}
    run = view(outcomes(many))
    assert len(steps.section([run], []).values["mains"]) == steps.MOST
    assert "100 of the 130" in render([run])


def test_a_reply_cannot_put_anything_into_the_page():
    frame = outcomes({"A": "0", "A_1": "0"}, said="<script>alert(1)</script>")
    page = render([view(frame)])
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_scenes_has_steps_too(tmp_path):
    settings = Settings(runs=tmp_path, limit=30)
    run = evaluate(Scenes(n=40, kinds="zero"), make_model("baseline/random"), settings)
    (tallied,) = steps.section([run.view()], []).values["tallies"]
    frame = run.outcomes
    mains = frame.filter(pl.col("parent") == "")
    assert tallied.mains == mains["item"].n_unique() > 2
    assert tallied.failed == mains.filter(~pl.col("right")).height


REPEATED = {"A": "11111", "B": "01001", "C": "00000", "C_1": "11111"}


def test_the_curves_are_those_of_the_questions_without_their_steps():
    (drawn,) = repeats.section([view(outcomes(REPEATED))], []).values["repeated"]
    # A: 5 of 5, B: 2 of 5, C: 0 of 5. See test_zerobench for the arithmetic.
    assert (drawn.items, drawn.n) == (3, 5)
    rows = [(k, at, hat) for k, at, _, hat, _ in drawn.rows]
    assert rows == [
        (1, "46.7 %", "46.7 %"),  # 1.4 / 3
        (2, "56.7 %", "36.7 %"),  # 1.7 / 3, 1.1 / 3
        (3, "63.3 %", "33.3 %"),  # 1.9 / 3, 1 / 3
        (4, "66.7 %", "33.3 %"),
        (5, "66.7 %", "33.3 %"),
    ]
    assert [(bar.right, bar.count) for bar in drawn.bars] == [
        ("0", 1), ("1", 0), ("2", 1), ("3", 0), ("4", 0), ("5", 1),
    ]  # fmt: skip


def test_pass_at_k_only_rises_on_the_page_and_pass_hat_only_falls():
    (drawn,) = repeats.section([view(outcomes(REPEATED))], []).values["repeated"]
    heights = {
        curve.key: [float(point.split(",")[1]) for point in curve.line.split()]
        for curve in drawn.curves
    }
    assert heights["at"] == sorted(heights["at"], reverse=True)  # up is a smaller y
    assert heights["hat"] == sorted(heights["hat"])
    assert heights["at"][0] == heights["hat"][0]
    assert all(0 <= y <= repeats.HEIGHT for curve in heights.values() for y in curve)


def test_runs_without_repeats_have_no_such_section():
    assert repeats.section([view(outcomes({"A": "1", "B": "0"}))], []) is None
    both = [view(outcomes({"A": "1"}), "p/one"), view(outcomes({"A": "101"}), "p/two")]
    assert [one.name for one in repeats.section(both, []).values["repeated"]] == ["two"]


@pytest.mark.parametrize("n", [2, 30])
def test_any_number_of_repeats_has_a_page(n):
    frame = outcomes({"A": "1" * n, "B": "0" * (n - 1) + "1", "C": "0" * n})
    page = render([view(frame)])
    assert 'id="repeats"' in page
    assert len(re.findall(r"<circle[^>]*><title>pass", page)) == 2 * n
    (drawn,) = repeats.section([view(frame)], []).values["repeated"]
    assert sum(bar.count for bar in drawn.bars) == 3
    assert len(drawn.across) <= repeats._LABELS + 2


def test_any_benchmark_with_repeats_has_the_section():
    items = made.items(6)
    run = made.run(items, "openai/gpt-4o", 0.8, 1, repeats=3)
    (drawn,) = repeats.section([run], []).values["repeated"]
    assert (drawn.n, drawn.items) == (3, len(items))


def took(*tokens: tuple[int, int], price=(2.0, 10.0)) -> RunView:
    """A run whose replies took so many tokens, in and out; (0, 0) is not known."""
    sent, received = zip(*tokens, strict=True)
    frame = outcomes({str(i): "1" for i in range(len(tokens))}).with_columns(
        tokens_in=pl.Series(sent), tokens_out=pl.Series(received)
    )
    metrics = [m for rates in usage(frame, price, "default") for m in rates.metrics(draws=200)]
    return replace(view(frame), metrics=metrics)


def test_tokens_and_cost_are_means_over_the_replies_that_are_known():
    run = took((1000, 100), (3000, 500), (0, 0))
    (row,) = spent.section([run], []).values["spent"]
    assert row.replies == 2
    # 4000 / 2; 600 / 2; (4000 x 2 + 600 x 10) / 1e6 = 0.014 dollars, of 2
    assert [mean.value for mean in row.means] == ["2,000 tokens", "300 tokens", "0.007 $"]
    assert [mean.total for mean in row.means] == ["4,000", "600", "0.01 $"]
    assert "the 2 replies with a number" in run.metrics[0].about
    assert 'id="spent"' in render([run])


def test_without_a_price_there_is_no_cost_and_without_tokens_no_section():
    found = spent.section([took((10, 1), (10, 1), price=None)], [])
    assert found.values["names"] == ["tokens in", "tokens out"]
    assert found.title == "Tokens"
    assert spent.section([took((0, 0))], []) is None
    assert spent.section([view(outcomes({"A": "1"}))], []) is None


def test_what_is_counted_is_never_drawn_on_a_scale_of_shares():
    page = render([replace(took((1000, 100), (3000, 500)), headline=["tokens in"])])
    assert '<figure class="dots">' not in page


def test_a_mean_of_one_question_has_no_interval():
    run = took((1000, 100))
    assert [(m.low, m.high) for m in run.metrics] == [(None, None)] * 3


def test_the_headline_ends_with_the_largest_k_of_all_runs():
    few, many = (
        replace(view(outcomes(REPEATED), name), headline=["pass@1", "pass@n", "pass^n"])
        for name in ("p/few", "p/many")
    )
    measured = made.run(made.items(2), "p/x", 0.8, 1).metrics[0]
    many = replace(many, metrics=[structs.replace(measured, name=f"pass@{k}") for k in (1, 2, 7)])
    assert leading([few, many]) == ["pass@1", "pass@7", "pass^7"]
