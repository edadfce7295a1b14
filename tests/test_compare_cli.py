"""`hardset compare` as a person meets it, and its page in a real browser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import hardset
from test_cli import hardset as command
from test_compare import pairs, run

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Three runs of scenes: one that knows all, one that always refuses, one that never does."""
    folder = tmp_path_factory.mktemp("compared")
    scenes = hardset.make_benchmark("scenes", n=60, kinds="plain,hardbench")
    for name in ("oracle", "always-refuse", "never-refuse"):
        model = hardset.make_model(f"baseline/{name}")
        hardset.evaluate(scenes, model, hardset.Settings(runs=folder / "runs"))
    return folder


def one(name: str) -> str:
    return f"runs/scenes/baseline--{name}"


def test_it_says_what_differs_and_who_flipped(runs):
    said = command("compare", one("oracle"), one("always-refuse"), cwd=runs)
    assert (said.returncode, said.stderr) == (0, "")
    lines = said.stdout.splitlines()
    assert lines[0].startswith("Scenes: ")
    assert lines[0].endswith(" items in both runs")
    assert lines[1:4] == [
        "A = baseline/oracle",
        "B = baseline/always-refuse",
        "What differs: model",
    ]
    assert "plain accuracy: lower in B, which is worse" in lines
    assert any("could show" in line for line in lines)
    assert "0 in B alone (gained)." in lines
    assert any(line.startswith("Exact McNemar over the items") for line in lines)


def test_it_fits_into_80_columns_and_plain_ascii(runs):
    env = {"COLUMNS": "80", "PYTHONIOENCODING": "ascii"}
    said = command(
        "compare", one("oracle"), one("always-refuse"), one("never-refuse"), "--cuts",
        cwd=runs, env=env,
    )  # fmt: skip
    assert said.returncode == 0
    assert said.stdout.isascii()
    assert max(map(len, said.stdout.splitlines())) <= 80
    assert said.stdout.count("B = baseline/") == 2
    assert "-100.0*" in said.stdout  # no digit is lost
    assert "By category" in said.stdout
    assert "over the runs" in said.stdout


def test_it_writes_a_page_and_json(runs):
    said = command(
        "compare", one("oracle"), one("always-refuse"), "--report", "out/page.html",
        "--json", "out/all.json", "--draws", "500", cwd=runs,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[-2:] == ["written: out/page.html", "written: out/all.json"]
    page = (runs / "out" / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    content = json.loads((runs / "out" / "all.json").read_text())
    names = {one["name"] for one in content["against_the_first"][0]["differences"]}
    assert {"plain accuracy", "paired accuracy", "over-refusal", "refusal F1"} <= names
    # The page replaces itself, and no other file.
    (runs / "notes.txt").write_text("mine")
    said = command(
        "compare", one("oracle"), one("always-refuse"), "--report", "notes.txt", cwd=runs
    )
    assert said.returncode == 2
    assert (runs / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([one("oracle")], "needs two runs or more"),
        ([one("oracle"), "nowhere"], "nowhere does not exist"),
        ([one("oracle"), one("oracle")], "is given twice"),
        ([one("oracle"), "runs"], "holds 3 runs; name one of them"),
        ([one("oracle"), one("always-refuse"), "--draws", "3"], "--draws takes a whole number"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence_and_status_2(runs, arguments, why):
    said = command("compare", *arguments, cwd=runs)
    assert said.returncode == 2
    assert said.stdout == ""
    assert why in said.stderr
    assert len(said.stderr.splitlines()) == 1


def test_revisions_need_a_flag(tmp_path):
    run(tmp_path / "a", pairs("++", "+-"))
    run(tmp_path / "b", pairs("++", "--"), revision="another")
    said = command("compare", "a", "b", cwd=tmp_path)
    assert said.returncode == 2
    assert "--across-revisions" in said.stderr
    said = command("compare", "a", "b", "--across-revisions", "--draws", "200", cwd=tmp_path)
    assert said.returncode == 0
    assert "different revisions" in said.stdout


def test_python_has_the_same(runs):
    folders = [next((runs / one(name)).iterdir()) for name in ("oracle", "always-refuse")]
    compared = hardset.compare(*folders, draws=300)
    assert compared.labels == ["baseline/oracle", "baseline/always-refuse"]
    assert callable(hardset.compare)  # and is still no module once the command's code is loaded


@pytest.mark.browser
def test_the_page_in_a_browser(runs, tmp_path):
    """Nothing is logged or fetched; a flip's link leads to its card; the filters filter."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    folders = [next((runs / one(name)).iterdir()) for name in ("never-refuse", "always-refuse")]
    compared = hardset.compare(*folders, draws=300)
    flipped = compared.versus[0].flips
    assert flipped.lost
    assert flipped.gained
    path = tmp_path / "page.html"
    hardset.write_comparison(path, compared)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 420, "height": 900})
        trouble, asked = [], []
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        many = len(flipped.lost) + len(flipped.gained)
        assert page.locator(".card:visible").count() == many
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        page.locator(".flips a").first.click()
        anchor = page.url.partition("#")[2]
        assert flipped.lost[0] in page.locator(f"#{anchor}").inner_text()
        page.select_option("select[data-cut=flip]", "gained")
        assert page.locator(".card:visible").count() == len(flipped.gained)
        assert trouble == []
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        browser.close()
