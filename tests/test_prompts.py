"""Wordings of a prompt as paired runs: `hardset run --prompts`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hardset.benchmarks import registry
from hardset.errors import UsageError
from hardset.reports.folder import read_folder
from loopback import Loopback


def command(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "hardset", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


def answer(prompt: str) -> str:
    """Refuses everything where that is invited, and answers red else."""
    return "I cannot tell." if "say so instead" in prompt else "red"


def test_each_wording_is_a_line_and_the_others_are_held_against_the_first(tmp_path):
    with Loopback(answer) as server:
        done = command(
            "run", "scenes", "-m", "vlm", "--base-url", server.base_url,
            "-o", "kinds=hardbench", "-o", "n=24", "--prompts", "plain,refusal-allowed",
            "--report", "r.html",
            cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "B = vlm, prompt refusal-allowed" in done.stdout
    assert "wordings compared: r-prompts.html" in done.stdout
    page = (tmp_path / "r.html").read_text()
    assert "vlm, plain" in page
    assert "vlm, refusal-allowed" in page
    assert "prompt refusal-allowed" in (tmp_path / "r-prompts.html").read_text()
    found = {}
    for folder in sorted(tmp_path.glob("runs/scenes/*/*")):
        manifest, metrics, _ = read_folder(folder)
        rate = next(m for m in metrics if m.name == "over-refusal" and not m.cut)
        found[manifest["options"]["prompt"]] = (rate.numerator, rate.denominator)
    assert found == {"plain": (0, 12), "refusal-allowed": (12, 12)}  # half of 24 are answerable


def test_what_is_no_wording_is_said():
    assert registry.wordings("scenes", "all") == ["plain", "refusal-allowed", "step-by-step"]
    assert registry.wordings("hardbench", "plain, chain-of-thought") == [
        "plain",
        "chain-of-thought",
    ]
    with pytest.raises(UsageError, match="mmr has one wording of its prompt only"):
        registry.wordings("mmr", "all")
    for wrong in ("curt", "plain,plain", ""):
        with pytest.raises(UsageError, match="some of plain, refusal-allowed, step-by-step"):
            registry.wordings("scenes", wrong)


def test_a_wording_is_given_in_one_place(tmp_path):
    done = command(
        "run", "scenes", "-m", "local/scout", "-o", "prompt=plain", "--prompts", "all", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "give either --prompts or the option prompt, not both" in done.stderr
