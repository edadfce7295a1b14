"""The package as others meet it: its wheel, its entry points, its promise of types."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PLUGIN = '''
from hardset import Benchmark
from hardset.records import Failure, Item, Reading, Reply, State


class Weather(Benchmark):
    """Is it raining? It always is."""

    name = "weather"
    title = "Weather"

    def __init__(self, days: int = 3) -> None:
        self.days = days

    def items(self):
        for day in range(self.days):
            yield Item(id=f"day {day}", question="Is it raining?", form="yes_no", answer="yes")

    def read(self, item, text):
        return {"default": Reading(state=State.ANSWERED, answer=text)}

    @classmethod
    def rates(cls, outcomes):
        from hardset.metrics import Rates, accuracy

        return [Rates(frame=outcomes, ratios=[accuracy()], cluster=None)]


class Parrot:
    takes = frozenset()
    max_concurrency = None

    def __init__(self, word):
        self.name, self.word, self.options = f"parrot/{word}", word, {}

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc):
        pass

    async def reply(self, prompt, item, library):
        return Reply(text=self.word)
'''

ENTRY_POINTS = """
[hardset.benchmarks]
weather = weather_plugin:Weather
broken = no_such_module:Nothing

[hardset.models]
parrot = weather_plugin:Parrot
"""


@pytest.fixture
def plugin(tmp_path):
    """Another package that is installed beside hardset, and adds a benchmark and a model."""
    site = tmp_path / "site"
    info = site / "weather_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "weather_plugin.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return site


def run(*arguments, cwd, site=None):
    env = {**os.environ, **({"PYTHONPATH": str(site)} if site else {})}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, env=env, capture_output=True, text=True
    )


def test_another_package_adds_a_benchmark_and_a_model(plugin, tmp_path):
    said = run("-m", "hardset", "list", cwd=tmp_path, site=plugin)
    assert re.search(r"weather +Weather", said.stdout)
    assert "parrot/" in said.stdout
    assert "broken" in said.stdout  # listed with what is wrong, not hidden and no crash
    command = ("-m", "hardset", "run", "weather", "-m", "parrot/yes", "-o", "days=5")
    said = run(*command, cwd=tmp_path, site=plugin)
    assert said.returncode == 0, said.stderr
    assert "5/5" in said.stdout


def test_a_plugin_that_does_not_load_is_a_usage_error_that_names_it(plugin, tmp_path):
    said = run("-m", "hardset", "run", "broken", "-m", "parrot/x", cwd=tmp_path, site=plugin)
    assert said.returncode == 2
    assert "no_such_module:Nothing" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy of the sources as they are."""
    out = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    (path,) = out.glob("*.whl")
    return path


def test_the_wheel_holds_what_a_run_needs_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in (
        "hardset/py.typed",
        "hardset/reports/templates/report.html",
        "hardset/models/weights/scout.json",
    ):
        assert needed in names
    tops = {name.split("/")[0] for name in names}
    assert all(top == "hardset" or top.endswith(".dist-info") for top in tops), tops
    assert wheel.stat().st_size < 3_000_000


def test_the_wheel_works_away_from_the_repository(wheel, tmp_path):
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    where = run("-c", "import hardset; print(hardset.__file__)", cwd=tmp_path, site=site)
    assert where.stdout.startswith(str(site))
    said = run(
        "-m", "hardset", "run", "scenes", "-m", "local/scout", "--limit", "10",
        cwd=tmp_path, site=site,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert list(tmp_path.glob("runs/scenes/local--scout/*/report.html"))
