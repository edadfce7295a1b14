"""The floors of the house: imports run only downwards, and nothing heavy is on the way in."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src" / "hardset"

FLOORS = {
    6: {"cli", "doctor", "__main__"},
    5: {
        *("streams", "asking", "run", "building", "comparing", "scoring", "fetching"),
        *("consulting", "validating", "hardest"),
    },
    4: {"judging", "agents", "review", "replies", "reports", "exports", "outcomes"},
    3: {"ask", "models", "benchmarks"},
    2: {"reading", "sources", "images"},
    1: {"records", "errors", "metrics", "lowresource"},
}
FLOOR = {room: floor for floor, rooms in FLOORS.items() for room in rooms}
# Sideways imports that have a reason, given in the commit that made them.
SIDEWAYS: set[tuple[str, str]] = {
    ("cli", "doctor"),
    ("__main__", "cli"),
    ("run", "asking"),
    ("run", "consulting"),
    ("consulting", "asking"),
    ("scoring", "consulting"),
    ("scoring", "run"),  # the same walk, run folder and report, with replies made elsewhere
    ("hardest", "validating"),  # sheets as people's spreadsheets leave them are read once
    ("metrics", "records"),
    ("lowresource", "records"),
    ("lowresource", "errors"),
    ("lowresource", "metrics"),
    ("sources", "images"),  # examples are opened as pixels, checked as images are
}


def rooms_imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import; write hardset.…"
            names = [node.module or ""]
            if node.module == "hardset":
                names = [f"hardset.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("hardset."):
                found.add(name.split(".")[1])
    return found


def room_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


MODULES = sorted(p for p in SRC.rglob("*.py") if p != SRC / "__init__.py")


def test_every_room_has_a_floor():
    unknown = {room_of(path) for path in MODULES} - set(FLOOR)
    assert not unknown, f"give these rooms a floor: {unknown}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_imports_run_downwards(path):
    room = room_of(path)
    wrong = [
        other
        for other in rooms_imported(path)
        if other in FLOOR
        and other != room
        and FLOOR[other] >= FLOOR[room]
        and (room, other) not in SIDEWAYS
    ]
    assert not wrong, f"{path.relative_to(SRC)} (floor {FLOOR[room]}) imports {wrong}"


def test_no_drawer_for_leftovers_and_no_endless_file():
    for path in MODULES:
        assert path.stem not in {"utils", "util", "helpers", "common", "misc"}, path
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= 450, f"{path.relative_to(SRC)} has {lines} lines; is it one room?"


HEAVY = (
    "polars numpy PIL aiohttp onnxruntime jinja2 torch scipy matplotlib xllamacpp huggingface_hub"
).split()


@pytest.mark.parametrize(
    "code",
    [
        "import hardset",
        "import hardset.cli",
        "import hardset.records, hardset.benchmarks.declaration, hardset.benchmarks.registry",
        "from hardset.benchmarks.registry import load; load('mmr'); load('scenes')",
        "from hardset.benchmarks.registry import load; load('hardbench'); load('zerobench')",
    ],
)
def test_the_way_in_is_light(code):
    """Nothing heavy is imported before something needs it."""
    check = f"{code}\nimport sys\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
