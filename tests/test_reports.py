"""Reports without a browser: the choice of the sample, the page's text, the terminal's tables."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import report_runs as made
from hardset.records import Item, Metric, State
from hardset.reports import numbers, terminal, view
from hardset.reports.html import render, write_report
from hardset.reports.runs import RunView, Shown
from hardset.reports.sample import choose
from hardset.reports.text import clip, visible


@pytest.fixture(scope="module")
def items():
    return made.items(40)


@pytest.fixture(scope="module")
def runs(items):
    return [
        made.run(items, "openai/gpt-4o", 0.85, 1),
        made.run(items, "local/scout", 0.6, 2),
    ]


# --- the sample -----------------------------------------------------------------------------


def frame(rows):
    return pl.DataFrame(rows, schema=["index", "state", "right", "category"], orient="row")


def test_the_sample_holds_the_rare_before_more_of_the_common():
    rows = [(i, "answered", True, "a") for i in range(1000)]
    rows[500] = (500, "bad-media", False, "a")
    rows[700] = (700, "answered", True, "rare")
    rows[900] = (900, "answered", False, "a")
    chosen = choose([frame(rows)], most=10)
    assert {500, 700, 900} <= set(chosen)
    assert len(chosen) == 10


def test_the_sample_holds_where_models_disagree():
    one = [(i, "answered", True, "a") for i in range(300)]
    two = list(one)
    two[123] = (123, "answered", False, "a")
    assert 123 in choose([frame(one), frame(two)], most=4)


def test_the_sample_is_by_the_first_repeat_and_without_doubles():
    rows = frame([(0, "answered", True, "a"), (0, "unparsed", False, "a")] * 2)
    assert choose([rows.with_columns(repeat=pl.Series([0, 1, 0, 1]))], most=5) == [0]


def test_no_outcomes_no_sample():
    assert choose([], most=5) == []
    assert choose([frame([])], most=5) == []


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([s.value for s in State]), st.booleans(), st.sampled_from("abc")),
        max_size=60,
    ),
    st.integers(1, 30),
    st.integers(0, 5),
)
def test_the_sample_is_a_choice_of_the_rows_whatever_their_order(kinds, most, seed):
    rows = [(i, *kind) for i, kind in enumerate(kinds)]
    chosen = choose([frame(rows)], most, seed)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(most, len(rows))
    assert set(chosen) <= set(range(len(rows)))
    assert choose([frame(rows[::-1])], most, seed) == chosen
    seen = {rows[i][1:3] for i in chosen}
    if most >= 17:  # at most 14 state-and-right kinds and 3 categories, each with one turn
        assert seen == {kind[:2] for kind in kinds}


# --- text and numbers -----------------------------------------------------------------------


def test_what_cannot_be_seen_is_written_out():
    assert visible("a\x00b\u202ec\ud800d\x1b[0m") == "a[U+0000]b[U+202E]c[U+D800]d[U+001B][0m"
    assert visible("line\n\ttab, ünï, 中文, ‘quotes’") == "line\n\ttab, ünï, 中文, ‘quotes’"


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_visible_text_can_be_written_and_is_stable(text):
    assert visible(visible(text)) == visible(text)
    visible(text).encode()


def test_endless_text_keeps_both_ends_and_says_what_is_missing():
    text = "a" * 8_000 + "b" * 500 + "c" * 2_000
    assert clip(text) == "a" * 8_000 + "\n[... 500 characters left out ...]\n" + "c" * 2_000
    assert clip("short") == "short"


def metric(**more):
    return Metric(**{"name": "m", "numerator": 1, "denominator": 4, "value": 0.25, **more})


def test_numbers_are_written_alike():
    assert numbers.percent(0.25) == "25.0 %"
    assert numbers.percent(None) == "undefined"
    assert numbers.fraction(metric()) == "1/4"
    assert numbers.fraction(metric(numerator=0.8333)) == "0.83/4"
    assert numbers.interval(metric(low=0.046, high=0.699)) == "4.6 to 69.9"
    assert numbers.interval(metric()) == ""


# --- the page -------------------------------------------------------------------------------


def test_the_same_input_gives_the_same_bytes(tmp_path, items, runs):
    for name in ("one.html", "two.html"):
        write_report(tmp_path / name, runs, made.sample(items, runs))
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.html", "two.html"]


def test_the_page_refers_to_nothing_outside_itself(items, runs):
    page = render(runs, made.sample(items, runs))
    sources = re.findall(r'\b(?:src|href|action|data)="([^"]*)"', page)
    assert {s for s in sources if not s.startswith(("#", "data:"))} == {"https://example.org/paper"}
    assert not re.search(r"@import|url\(", page)


def test_every_state_has_its_row_the_zeros_too(items, runs):
    page = render(runs)
    for state in State:
        assert f"</i>{state.value}</th>" in page
    assert runs[0].states["bad-media"] == 0
    assert '<td class="number zero">0</td>' in page


def test_every_rate_stands_with_numerator_denominator_and_method(runs):
    page = render(runs)
    for one in runs[0].metrics:
        assert numbers.fraction(one) in page
        assert one.method in page
    rows = [row for _, part in view.metric_tables(runs) for row in part]
    assert len(rows) == sum(len(run.metrics) for run in runs)


def test_undefined_is_written_and_not_drawn(items, runs):
    nothing = metric(name="MR", numerator=0, denominator=0, value=None)
    page = render([replace(runs[0], metrics=[nothing], headline=["MR"])])
    assert "<b>undefined</b>" in page
    assert "0/0" in page
    assert "<circle" not in page


def test_a_paper_that_is_no_web_address_is_no_link(runs):
    page = render([replace(runs[0], paper="javascript:alert(1)")])
    assert "javascript:alert(1)</span>" in page
    assert 'href="javascript' not in page


def test_a_run_that_lacks_replies_says_how_many_and_why(runs):
    states = {"answered": 3, "request-failed": 1_200, "bad-media": 1}  # 1,201 of 1,204
    manifest = {"stopped": "the budget of 100 tokens is spent"}
    assert (
        "openai/gpt-4o: asking stopped early: the budget of 100 tokens is spent; "
        "1,201 of 1,204 rows have no reply and count as wrong"
    ) in render([replace(runs[0], manifest=manifest, states=states)])
    assert "openai/gpt-4o: 1,201 of 1,204 rows" in render([replace(runs[0], states=states)])
    assert "no reply" not in render([replace(runs[0], states={"answered": 3})])


def test_how_was_asked_stands_at_the_top(runs):
    manifest = {
        "blind": True,
        "limit": 50,
        "repeats": 3,
        "options": {"data": "a.json", "blind": "True", "difficulty": "hard"},
    }
    page = render([replace(run, manifest=manifest) for run in runs])
    head = page.partition("<main>")[0]
    said = ("blind: no image was sent", "difficulty hard", "the first 50 items only", "3 repeats")
    assert all(head.count(f"<b>{condition}</b>") == 1 for condition in said)
    assert "data a.json" in head  # a file of one's own is not the published set
    # A benchmark made blind from Python, beside one that sees: each says its own.
    blind = replace(runs[0], manifest={"options": {"blind": "True"}})
    head = render([blind, *runs[1:]]).partition("<main>")[0]
    assert head.count("<small>blind: no image was sent</small>") == 1
    assert head.count("<small>as usual</small>") == len(runs) - 1


def tags(page):
    """Every start tag of a page with its attributes, as a parser finds them."""
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, attributes))
    parser.feed(page)
    return found


def test_what_strangers_wrote_is_escaped_wherever_it_stands(items):
    bad = made.HOSTILE
    item = Item(
        id=bad,
        question=bad,
        form="choice",
        choices=(bad, "x"),
        answer="A",
        explanation=bad,
        category=bad,
        tags={bad: bad},
        pair=bad,
        role=bad,
        source=bad,
    )
    row = {"index": 0, "state": "answered", "right": False, "category": bad}
    row |= dict.fromkeys(["reply", "answer", "rule", "evidence", "reason", "finish"], bad)
    run = RunView(
        model=bad,
        benchmark=bad,
        title=bad,
        paper=bad,
        manifest={"started": bad, bad: bad},
        metrics=[metric(name=bad, about=bad, method=bad, cut=c) for c in ({}, {"category": bad})],
        states={"answered": 1},
        outcomes=pl.DataFrame([row]),
        notices=[bad],
        headline=[bad],
    )
    page = render([run], [Shown(index=0, item=item)])
    own = page[page.rindex("<script>") :]
    assert page.count("<script") == 1
    assert "pwned=1" not in own
    assert "<img" not in page
    assert "\x00" not in page
    assert "\u202e" not in page
    for tag, attributes in tags(page):
        assert tag not in ("img", "iframe", "object", "base")
        assert not [name for name, _ in attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in page  # shown, not worked out


def test_lone_halves_of_characters_do_not_stop_the_page(tmp_path, items, runs):
    # polars holds no such text, but an item or a manifest may
    odd = Item(id="odd \ud800", question="\udfff?")
    index = runs[0].outcomes["index"][0]
    write_report(tmp_path / "r.html", runs, [Shown(index=index, item=odd)])
    assert "odd [U+D800]" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_report_without_sample_metrics_or_date_is_still_a_report(runs):
    bare = replace(runs[0], metrics=[], manifest={}, notices=[], headline=[])
    page = render([bare])
    assert 'id="sample"' not in page
    with pytest.raises(ValueError, match="at least one run"):
        render([])


# --- the terminal ---------------------------------------------------------------------------


def printed(runs, width=80, encoding="utf-8", tty=True):
    held = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    options = {"force_terminal": True, "color_system": None, "width": width} if tty else {}
    terminal.show(runs, Console(file=held, **options))
    held.seek(0)
    return held.read()


def test_one_run_prints_value_interval_fraction_and_method(runs):
    text = printed(runs[:1])
    first = next(m for m in runs[0].metrics if m.name == "RA" and not m.cut)
    line = next(line for line in text.splitlines() if " RA " in line and "default" in line)
    for part in (numbers.percent(first.value), numbers.interval(first), numbers.fraction(first)):
        assert part in line
    assert "wilson" in line
    assert "By category" in text
    assert "By level" in text
    for state in State:
        assert re.search(rf"{state.value} +{runs[0].states[state.value]}\b", text)


def test_methods_and_slices_fold_between_words(runs):
    text = printed(runs[:1])
    assert "color&texture" in text
    assert re.search(r"\bcluster +$", text, re.MULTILINE)  # "bootstrap" is on the next line
    assert "bootst " not in text


def test_how_was_asked_and_what_is_odd_in_the_data_are_printed(runs):
    odd = replace(runs[0], manifest={"blind": True, "repeats": 3}, notices=["One pair is broken."])
    text = printed([odd, odd], width=120)
    assert re.search(r": [0-9]+ rows; blind: no image was sent; 3 repeats", text)
    assert text.count("One pair is broken.") == 1


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_several_runs_stand_side_by_side_and_lose_nothing(items, runs, width):
    many = [replace(runs[i % 2], model=f"provider/model-{i}") for i in range(5)]
    text = printed(many, width)
    assert max(map(len, text.splitlines())) <= max(width, 80)  # below 80, digits would be lost
    for run in many:
        assert run.model.split("/")[1] in text
        for one in run.metrics:
            if one.reading == "default" and len(one.cut) < 2:
                assert numbers.fraction(one) in text
                assert numbers.interval(one) in text
    assert "wilson" in text


def test_a_pipe_gets_wide_plain_lines(runs, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    text = printed(runs, tty=False)
    assert "\x1b" not in text
    assert re.search(r"RA +default .*\[.*\].*\[.*\]", text)  # both models on one line


def test_no_encoding_and_no_name_spoils_the_tables(runs):
    odd = replace(runs[0], model="[red]x/模型\u202e\x1b[0m")
    text = printed([odd], encoding="ascii")
    assert "[red]x" in text
    assert "\\u6a21" in text
    assert "[U+202E]" in text
    assert "\x1b" not in text


def test_what_a_run_did_not_measure_is_said(runs):
    less = replace(runs[1], metrics=[m for m in runs[1].metrics if m.name != "MR"])
    assert "not measured" in printed([runs[0], less], width=150)


def test_small_sums_of_money_keep_their_digits():
    """15 questions at 0.000193 dollars each are 0.0029 dollars, and not 0.00."""
    spent = Metric(name="cost", numerator=0.002895, denominator=15, value=0.000193, unit="$")
    assert numbers.fraction(spent) == "$0.0029/15"
    assert numbers.percent(spent.value, spent.unit) == "0.000193 $"


def test_a_metric_with_two_methods_is_named_once_under_both():
    def rate(name, method):
        return Metric(name=name, numerator=1, denominator=2, value=0.5, method=method)

    rows = [[rate("F1", "wilson"), rate("F1", "wilson (clusters)")], [rate("acc", "wilson")]]
    said = terminal._methods(rows, "utf-8").plain
    assert said == "95 % intervals: wilson or wilson (clusters) for F1; wilson for acc"
