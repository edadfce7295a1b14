"""The pages of `hardset difficulty` and `hardset learn` in a real headless Chromium."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lowresource_made as made
from hardset.lowresource.examples import Held
from hardset.reports.difficulties import chosen, with_contents, write_difficulties
from hardset.reports.learned import write_learned
from report_runs import HOSTILE
from test_reports_browser import FLAGS

pytestmark = pytest.mark.browser


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


def learned(path: Path) -> None:
    """Three learners, one of them of a hostile name, with failures."""
    found = made.metrics(failed=made.failed_trials(9))
    for name in ("summary", "gaps", "augmentation", "failed"):
        for row in found[name]:
            row["learner"] = HOSTILE if row["learner"] == "ffn" else row["learner"]
    found["learners"][0] = HOSTILE
    write_learned(path, found, made.learn_manifest(notices=[HOSTILE + "w" * 300]))


def difficulties(path: Path) -> None:
    """Ten labels with pictures, one of a hostile name."""
    names = [HOSTILE, "unbroken" * 20, *(f"digit {i}" for i in range(2, 10))]
    out = made.difficulty_folder(path.parent / "out", names=names)
    grey = np.arange(600) % 256
    held = Held(np.broadcast_to(grey[:, None, None], (600, 8, 8)).astype(np.uint8), grey % 10)
    write_difficulties(path, out, with_contents(chosen(out), held))


def thousand(path: Path) -> None:
    """A thousand labels, of texts."""
    names = [f"a class of things with a long name, number {i}" for i in range(1000)]
    out = made.difficulty_folder(path.parent / "many", n=3000, classes=1000, names=names)
    found = [replace(one, text=HOSTILE + "unbroken" * 200) for one in chosen(out)]
    write_difficulties(path, out, found)


@pytest.fixture(scope="module", params=[learned, difficulties, thousand], ids=lambda f: f.__name__)
def report(request, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    request.param(path)
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


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_scrolls_sideways(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_words_are_seen_and_do_nothing(page):
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert "<script>window.pwned=1" in page.inner_text("body")
    assert page.evaluate("window.pwned") is None
    assert page.locator("img[src=x]").count() == 0


def luminance(colour: str) -> float:
    """Give the relative luminance of `rgb(r, g, b)` (WCAG 2.2)."""
    parts = [int(x) / 255 for x in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_by_day_and_by_night(page, scheme):
    page.emulate_media(color_scheme=scheme)
    back = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (back < 0.1) == (scheme == "dark")
    for selector in ("body", ".note", ".claim", "td", ".badge, .specimen"):
        if page.locator(selector).count():
            ink = luminance(
                page.locator(selector).first.evaluate("one => getComputedStyle(one).color")
            )
            light, dark = max(ink, back), min(ink, back)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, selector


def test_tables_have_heads_figures_have_names_and_links_lead_somewhere(page):
    assert page.locator("table:not(:has(th[scope]))").count() == 0
    assert page.locator("svg:not([aria-hidden]):not([aria-label])").count() == 0
    assert page.locator("img:not([alt])").count() == 0
    targets = page.eval_on_selector_all("nav a", "all => all.map(one => one.hash)")
    assert targets
    assert all(page.locator(target).count() == 1 for target in targets)
    ids = page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))


def test_pictures_are_really_seen(page):
    widths = page.eval_on_selector_all("img", "all => all.map(one => one.naturalWidth)")
    assert all(width == 8 for width in widths)


def test_on_a_narrow_screen_what_matters_is_seen_first_and_what_is_cut_off_shows(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    heads = "#gaps th, #noise .metrics:last-of-type th, .predictors th"
    ends = page.eval_on_selector_all(
        heads, "all => all.map(one => [one.innerText.trim(), one.getBoundingClientRect().right])"
    )
    wanted = ("shown", "suggested label", "right in training, last epoch")
    found = [(name, right) for name, right in ends if name in wanted]
    assert found
    assert [one for one in found if one[1] > 390] == []
    hints = page.eval_on_selector_all(
        ".scroll",
        """all => all.filter(one => one.scrollWidth > one.clientWidth)
        .map(one => getComputedStyle(one).backgroundAttachment)""",
    )
    assert hints
    assert all("scroll" in one and "local" in one for one in hints)


def test_names_of_files_are_not_broken_before_their_last_letter(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    lines = page.eval_on_selector_all(
        ".specimen span b:has(wbr)",
        """all => all.map(one => {
          const range = document.createRange(), found = {};
          const walk = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
          for (let node; node = walk.nextNode();)
            for (let i = 0; i < node.length; i++) {
              range.setStart(node, i); range.setEnd(node, i + 1);
              const y = Math.round(range.getBoundingClientRect().top);
              found[y] = (found[y] || "") + node.data[i];
            }
          return Object.values(found);
        })""",
    )
    assert all(len(line.strip()) > 2 for one in lines for line in one)
