"""`hardset score`: the tables on standard output, what is wrong on standard error, the status."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hardset.benchmarks.mmr import MMR
from hardset.benchmarks.registry import make
from hardset.scoring import make_benchmark, score
from loopback import Loopback

PUBLISHED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "mmr"
PUBLISHED /= "MMR-benchmark.json"


def hardset(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hardset", "score", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def replies(folder: Path, n: int, **more: Any) -> list[dict[str, Any]]:
    """Answer the first n of the plain scenes rightly, in the benchmark's own words."""
    made = make("scenes", n=n, kinds="plain")
    return [{"id": item.id, "reply": item.answer, **more} for item in made.items()]


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    (folder / "a.jsonl").write_text("\n".join(json.dumps(row) for row in rows))


SCENES = ("scenes", "a.jsonl", "-o", "n=12", "-o", "kinds=plain")


def test_all_rows_with_a_reply_end_with_0(tmp_path: Path):
    write(tmp_path, replies(tmp_path, 12, model="m"))
    done = hardset(*SCENES, "--report", "page.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    first, second, *_ = done.stdout.splitlines()
    assert first == "a.jsonl: plain, since its rows have id and reply"
    assert second == "12 replies in a.jsonl, matched 12 by id"
    assert "plain accuracy" in done.stdout
    assert "12/12" in done.stdout
    assert (tmp_path / "page.html").is_file()
    assert list((tmp_path / "runs" / "scenes" / "m").iterdir())


def test_missing_rows_end_with_3_and_are_said_first(tmp_path: Path):
    write(tmp_path, [*replies(tmp_path, 12)[:10], {"id": "x", "reply": "A"}])
    done = hardset(*SCENES, "--cuts", folder=tmp_path)
    assert done.returncode == 3
    missing, unknown, failed = done.stderr.splitlines()
    assert missing.startswith("a: 2 of 12 rows without a reply, counted as failed: ")
    assert unknown == "a: 1 of 11 replies to no item, not counted: x"
    assert failed == "a: 2 of 12 rows failed: 2 x no reply in a.jsonl"
    assert "10/12" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scenes", "none.jsonl"), "none.jsonl does not exist"),
        (("scenes", "a.jsonl", "--format", "x"), "there is no format 'x'; there are: plain, "),
        (("scenes", "a.jsonl", "--repeats", "0"), "1 or more"),
        (("scenes", "a.jsonl", "--repeats", "70000"), "65,535 at most"),
        (("scenes", "a.jsonl"), "a.jsonl holds 1 reply, but to none of the 200 items"),
        (("mmr", "a.jsonl", "--data", "none.json"), "none.json"),
    ],
)
def test_what_cannot_be_used_ends_with_2_in_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], said: str
):
    write(tmp_path, [{"id": "x", "reply": "A"}])
    done = hardset(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("hardset: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published MMR file is not in shared/")
def test_the_mmr_authors_answers_to_the_published_questions(tmp_path: Path):
    """All A: right are 150 of 600, the A golds; ids come twice, and one pair has POS twice."""
    rows = json.loads(PUBLISHED.read_text())
    answers = [[row["id"], {"text": "A"}, row["question_type"]] for row in rows]
    (tmp_path / "result.json").write_text(json.dumps(answers))
    benchmark = make_benchmark("mmr", data=str(PUBLISHED))
    done = score(benchmark, tmp_path / "result.json", runs=tmp_path / "runs")
    assert done.matched.by == {"by pair and role": 600}
    overall = {m.name: m for m in done.metrics if not m.cut and m.reading == "paper"}
    assert (overall["accuracy"].numerator, overall["accuracy"].denominator) == (150, 600)
    assert overall["RA"].denominator == 299


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published MMR file is not in shared/")
def test_replies_in_another_order_than_the_published_file(tmp_path: Path):
    """Every gold, backwards: the pair with two POS has a prompt that tells them apart."""
    items = list(MMR(PUBLISHED, blind=True).items())
    rows = [
        {
            "question_id": item.pair,
            "prompt": item.question,
            "text": item.answer,
            "question_type": item.role,
        }
        for item in reversed(items)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    done = score(make_benchmark("mmr", data=str(PUBLISHED)), tmp_path / "a.jsonl", runs=tmp_path)
    assert done.outcomes["right"].all()
    assert done.failed == 0


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published MMR file is not in shared/")
def test_positions_are_trusted_only_with_the_questions_or_all_of_them(tmp_path: Path):
    """lmms-eval's doc_id: with the prompts; without them for 600 of 600; not for the first 50."""
    items = list(MMR(PUBLISHED, blind=True).items())

    def lines(count: int, **prompt: bool) -> Path:
        path = tmp_path / "20260101_samples_mmr.jsonl"
        rows = [
            {"doc_id": n, "filtered_resps": item.answer}
            | ({"input": f"{item.question}\nAnswer."} if prompt.get("prompt") else {})
            for n, item in enumerate(items[:count])
        ]
        path.write_text("\n".join(json.dumps(row) for row in rows))
        return path

    benchmark = make_benchmark("mmr", data=str(PUBLISHED))
    done = score(benchmark, lines(50, prompt=True), runs=tmp_path)
    assert done.matched.by == {"by position": 50}
    assert done.outcomes["right"].sum() == 50
    done = score(benchmark, lines(600), runs=tmp_path)
    assert list(done.matched.by) == ["by position alone: the files hold no question to check it by"]
    with pytest.raises(Exception, match="nor do its numbers cover all items"):
        score(benchmark, lines(50), runs=tmp_path)
    done = score(benchmark, lines(50), limit=50, runs=tmp_path)
    assert done.outcomes["right"].all()


def test_outcomes_of_nobody_knows_whom_are_judged_with_a_word_about_it(tmp_path: Path):
    """Away from its manifest, a run's file does not tell that the judge itself replied."""
    made = ["scenes", "-o", "n=4", "-o", "kinds=hardbench"]
    with Loopback(lambda _: "TRUE") as server:
        at = ["--base-url", server.base_url]
        run = subprocess.run(
            [sys.executable, "-m", "hardset", "run", *made, "-m", "vlm", *at],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        (there,) = tmp_path.glob("runs/scenes/*/*/outcomes.parquet")
        shutil.copy(there, tmp_path / "outcomes.parquet")
        asked = server.count
        judged = ["--judge", "vlm", "--judge-base-url", server.base_url, "--runs", "scored"]

        def scored(*more: str) -> subprocess.CompletedProcess[str]:
            return hardset(*made, *more, *judged, folder=tmp_path)

        # Where it is known who replied, the judge is not let judge itself.
        for known in ([str(there)], ["outcomes.parquet", "--model", "vlm"]):
            done = scored(*known)
            assert (done.returncode, server.count) == (2, asked)
            assert "vlm judges vlm: one model" in done.stderr
        done = scored("outcomes.parquet")
    said = "no file says who replied: 'outcomes' is the first file's name"
    assert done.stderr.count(said) == 1
    assert "say with --model who replied" in done.stderr
    (folder,) = tmp_path.glob("scored/scenes/*/*")
    assert said in json.loads((folder / "manifest.json").read_text())["overlaps"][0]
    page = (folder / "report.html").read_text()
    assert page.index("no file says who replied") < page.index("<h2")
    without = hardset(*made, "outcomes.parquet", folder=tmp_path)
    assert "who replied" not in without.stderr  # with no judge, nothing hangs on it
