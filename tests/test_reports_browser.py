"""The report in a real headless Chromium: filters filter, and hostile replies stay text."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import report_runs as made
from hardset.reports.html import write_report

pytestmark = pytest.mark.browser

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Two models; every reply of the second to the first pair is hostile, one is endless."""
    items = made.items(40)
    first, second = made.run(items, "openai/gpt-4o", 0.85, 1), made.run(items, "b/b", 0.6, 2)
    index = pl.col("index")
    reply = (
        pl.when(index == 0)
        .then(pl.lit(made.HOSTILE))
        .when(index == 1)
        .then(pl.lit(made.HOSTILE * 700))  # some 100 kB
        .otherwise("reply")
    )
    hostile = second.outcomes.with_columns(
        reply=reply, evidence=pl.when(index < 2).then(pl.lit(made.HOSTILE)).otherwise("evidence")
    )
    runs = [first, replace(second, outcomes=hostile)]
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, runs, made.sample(items, runs, most=80))
    return path


@pytest.fixture
def page(browser, report):
    """The open page; afterwards nothing may have been logged, raised or asked for."""
    context = browser.new_context()
    opened = context.new_page()
    trouble, asked = [], []
    opened.on("console", lambda message: trouble.append(message.text))
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(report.as_uri())
    yield opened
    assert trouble == []
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    context.close()


def shown(page) -> int:
    count = page.locator(".card:visible").count()
    assert page.locator("#filters output").inner_text() == f"{count} of 80 items"
    return count


def test_all_items_show_at_first_with_their_pictures(page):
    assert shown(page) == 80
    widths = page.eval_on_selector_all(".card img", "all => all.map(one => one.naturalWidth)")
    assert set(widths) == {160}


def test_the_state_filter_leaves_items_in_which_some_model_ended_so(page):
    page.select_option("[name=state]", "unparsed")
    replies = ".card:visible:has(.reply[data-state=unparsed])"
    assert 0 < shown(page) == page.locator(replies).count() < 80


def test_model_and_state_and_outcome_must_hold_for_one_reply(page):
    page.select_option("[name=model]", label="b/b")
    assert page.locator(".reply[data-model='0']:visible").count() == 0
    page.select_option("[name=state]", "abstained")
    page.select_option("[name=right]", "1")
    wanted = ".card:has(.reply[data-model='1'][data-state=abstained][data-right='1'])"
    assert shown(page) == page.locator(wanted).count()


def test_where_models_differ(page):
    page.select_option("[name=right]", "differ")
    differ = ".card:has(.reply[data-right='1']):has(.reply[data-right='0'])"
    assert 0 < shown(page) == page.locator(differ).count()


def test_cuts_and_words_narrow_down_and_clear_brings_all_back(page):
    page.select_option("[data-cut=level]", "context")
    by_level = shown(page)
    assert 0 < by_level < 80
    page.select_option("[data-cut=category]", "color&texture")  # of another level
    assert shown(page) == 0
    assert page.locator("#none").is_visible()
    page.select_option("[data-cut=category]", "expert")
    assert 0 < shown(page) < by_level
    page.fill("[name=text]", "PICTURE context/expert/04-neg")
    assert shown(page) == 1
    page.click("button[type=reset]")
    page.wait_for_function("document.querySelector('output').value.startsWith('80 of')")
    assert shown(page) == 80


def test_hostile_replies_are_seen_and_do_nothing(page):
    card = page.locator(".card").first
    assert "<script>window.pwned=1</script>" in card.inner_text()
    assert "[U+202E]evil" in card.inner_text()
    assert "[U+0000]" in card.inner_text()
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert page.evaluate("window.pwned") is None
    assert page.locator("img[src=x]").count() == 0
    assert page.title().startswith("Made-up pairs")


def test_even_markup_set_loose_could_not_run(browser, report, tmp_path):
    # the second wall: the page's policy, should an escape ever be forgotten
    loose = tmp_path / "loose.html"
    text = report.read_text(encoding="utf-8")
    loose.write_text(text.replace("<main>", f"<main>{made.HOSTILE}", 1), encoding="utf-8")
    opened = browser.new_page()
    refused = []
    opened.on("console", lambda message: refused.append(message.text))
    opened.goto(loose.as_uri())
    assert opened.evaluate("window.pwned") is None
    assert any("Content Security Policy" in text for text in refused)
    opened.close()


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_the_page_never_scrolls_sideways(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_all_items_show_and_no_dead_filters(browser, report):
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(report.as_uri())
    assert opened.locator(".card:visible").count() == 80
    assert not opened.locator("#filters").is_visible()
    context.close()


def test_the_keyboard_reaches_filters_and_long_replies(page):
    page.focus("[name=text]")
    page.keyboard.type("all")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "reset"
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('output').value.startsWith('80 of')")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.localName") == "summary"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open")
