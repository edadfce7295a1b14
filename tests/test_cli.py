"""The command line as a person meets it: real processes, a real endpoint on loopback."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from loopback import Fault, Loopback

KEY = "sk-test-0123456789-secret"


def hardset(*arguments, cwd, env=None):
    return subprocess.run(
        [sys.executable, "-m", "hardset", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=120,
    )


def mmr_file(folder: Path, pairs: int = 4) -> Path:
    rows = [
        {
            "id": f"attribute/number/{pair:02d}",
            "image": f"{pair}.jpg",
            "question": f"{kind}: How many cats are on mat {pair}?\n"
            f"A. {pair}\nB. none\nC. a dog\nD. nine",
            "ground_truth": "A",
            "question_type": kind,
        }
        for pair in range(10, 10 + pairs)
        for kind in ("POS", "NEG")
    ]
    path = folder / "mmr.json"
    path.write_text(json.dumps(rows))
    return path


def outcomes(folder: Path) -> pl.DataFrame:
    (path,) = folder.glob("runs/*/*/*/outcomes.parquet")
    return pl.read_parquet(path)


def test_help_shows_the_commands_and_examples(tmp_path):
    said = hardset("--help", cwd=tmp_path)
    assert said.returncode == 0
    assert all(command in said.stdout for command in ("run", "list", "doctor"))
    assert "hardset run mmr --data" in hardset("run", "--help", cwd=tmp_path).stdout


def test_list_names_benchmarks_providers_and_options(tmp_path):
    said = hardset("list", cwd=tmp_path)
    assert said.returncode == 0
    for name in ("scenes", "mmr", "openai", "ollama", "baseline", "local", "llama"):
        assert re.search(rf"\b{name}\b", said.stdout), name
    for named in ("efficientnetv2-s", "bag-of-words", "gradient-norm", "arXiv 2107.07075"):
        assert named in said.stdout
    said = hardset("list", "scenes", cwd=tmp_path)
    assert "difficulty" in said.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "scenes"], "--model"),
        (["run", "sceens", "-m", "baseline/random"], "did you mean scenes"),
        (["run", "scenes", "-m", "opnai/gpt-4o"], "openai"),
        (["run", "scenes", "-m", "gpt-4o"], "provider/model"),
        (["run", "scenes", "-m", "baseline/random", "-o", "colour=red"], "difficulty"),
        (["run", "scenes", "-m", "baseline/random", "-o", "n=many"], "n"),
        (["run", "scenes", "-m", "baseline/random", "-o", "n"], "key=value"),
        (["run", "scenes", "-m", "baseline/random", "--temperature", "warm"], "warm"),
        (["run", "scenes", "-m", "baseline/random", "--budget", "$5"], "--price 2.50,10"),
        (["run", "scenes", "-m", "baseline/random", "--budget", "lots"], "lots"),
        (["run", "scenes", "-m", "baseline/random", "--budget", "$5"], "price"),
        (["run", "mmr", "-m", "baseline/random"], "hardset fetch mmr --images"),
        (["run", "mmr", "-m", "baseline/random", "--data", "gone.json", "--blind"], "gone.json"),
        (["run", "scenes", "-m", "baseline/random", "--repeats", "0"], "repeats"),
        (["run", "scenes", "-m", "baseline/random", "--concurrency", "0"], "1"),
        (["fly"], "fly"),
    ],
)
def test_a_usage_error_is_one_clear_sentence_and_exit_2(tmp_path, arguments, words):
    said = hardset(*arguments, cwd=tmp_path)
    assert said.returncode == 2, said.stderr
    assert words in said.stderr + said.stdout
    assert "Traceback" not in said.stderr


def test_a_run_over_http_from_question_to_report(tmp_path):
    data = mmr_file(tmp_path)
    with Loopback(answer=lambda prompt: "The answer is (A).") as server:
        said = hardset(
            "run", "mmr", "--data", data, "--blind", "-m", "any-model",
            "--base-url", server.base_url, "--report", "all.html", cwd=tmp_path,
        )  # fmt: skip
        assert said.returncode == 0, said.stderr
        assert server.count == 8
        again = hardset(
            "run", "mmr", "--data", data, "--blind", "-m", "any-model",
            "--base-url", server.base_url, "--runs", "runs", cwd=tmp_path,
        )  # fmt: skip
        assert again.returncode == 0
        assert server.count == 8  # nothing is asked twice
    first, second = sorted(tmp_path.glob("runs/mmr/any-model/*"))
    assert (first / "outcomes.parquet").read_bytes() == (second / "outcomes.parquet").read_bytes()
    assert (first / "metrics.json").read_bytes() == (second / "metrics.json").read_bytes()
    # RA: 4 pairs, both right in each. Wilson, 4 of 4: low = 4 / (4 + 3.841459) = 0.5101
    assert re.search(r"RA\b.*100\.0.*51\.0", said.stdout), said.stdout
    page = (tmp_path / "all.html").read_text()
    assert "How many cats are on mat 10?" in page


def test_failed_rows_make_exit_3_with_the_reason_and_stay_in_the_denominator(tmp_path):
    data = mmr_file(tmp_path)

    def fault(number, body):
        if "mat 11" in json.dumps(body):
            return Fault("status", 400, body={"error": {"message": "this row is cursed"}})
        return None

    with Loopback(answer=lambda prompt: "A", fault=fault) as server:
        said = hardset(
            "run", "mmr", "--data", data, "--blind", "-m", "m", "--base-url", server.base_url,
            cwd=tmp_path,
        )  # fmt: skip
    assert said.returncode == 3
    assert "2 of 8 rows failed" in said.stderr
    assert "this row is cursed" in said.stderr
    frame = outcomes(tmp_path)
    assert frame["state"].value_counts(sort=True).rows() == [
        ("answered", 6),
        ("request-failed", 2),
    ]
    assert re.search(r"RA\b.*75\.0.*3/4", said.stdout), said.stdout  # 3 of 4 pairs, not 3 of 3


def test_everything_failed_is_not_success(tmp_path):
    said = hardset(
        "run", "mmr", "--data", mmr_file(tmp_path), "--blind", "-m", "m",
        "--base-url", "http://127.0.0.1:9/v1", "--retries", "0", cwd=tmp_path,
    )  # fmt: skip
    assert said.returncode == 3
    assert "8 of 8 rows failed" in said.stderr


def test_a_budget_stops_cleanly_and_says_so(tmp_path):
    with Loopback(answer=lambda prompt: "A") as server:  # 18 tokens a reply
        said = hardset(
            "run", "mmr", "--data", mmr_file(tmp_path, 20), "--blind", "-m", "m",
            "--base-url", server.base_url, "--budget", "180", cwd=tmp_path,
        )  # fmt: skip
        assert server.count == 10  # 10 x 18 = 180
    assert said.returncode == 3
    assert "the budget of 180 tokens was reached" in said.stderr
    frame = outcomes(tmp_path)
    assert len(frame) == 40
    assert frame["state"].value_counts(sort=True).rows()[0] == ("request-failed", 30)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_by_a_signal_it_keeps_the_replies_and_says_how_to_go_on(tmp_path, number):
    data = mmr_file(tmp_path, 50)
    with Loopback(answer=lambda prompt: "A", wait=0.05) as server:
        command = [
            sys.executable, "-m", "hardset", "run", "mmr", "--data", str(data), "--blind",
            "-m", "m", "--base-url", server.base_url, "--concurrency", "2",
        ]  # fmt: skip
        child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        while server.count < 10:
            time.sleep(0.01)
        child.send_signal(number)
        _, said = child.communicate(timeout=60)
        assert child.returncode == 130
        asked = server.count
        assert 10 <= asked < 100
        assert "hardset run mmr --data" in said
        assert "Traceback" not in said
        assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
        # What was in flight at the stop was given its grace, so nothing is asked again.
        assert server.count == 100
    assert len(outcomes(tmp_path)) == 100


def test_the_key_is_sent_and_is_nowhere_else(tmp_path):
    with Loopback(answer=lambda prompt: f"A {KEY}"[:1], key=KEY) as server:
        said = hardset(
            "run", "mmr", "--data", mmr_file(tmp_path), "--blind", "-m", "m",
            "--base-url", server.base_url, "--key-env", "MY_KEY", cwd=tmp_path,
            env={"MY_KEY": KEY},
        )  # fmt: skip
        assert said.returncode == 0, said.stderr
        assert all(KEY in headers["Authorization"] for headers in server.headers)
        checked = hardset(
            "doctor", "-m", "m", "--base-url", server.base_url, "--key-env", "MY_KEY",
            cwd=tmp_path, env={"MY_KEY": KEY, "OPENAI_API_KEY": KEY},
        )  # fmt: skip
    assert "OPENAI_API_KEY is set" in checked.stdout
    for text in (said.stdout, said.stderr, checked.stdout, checked.stderr):
        assert KEY not in text
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(left) >= 5
    assert not [path for path in left if KEY.encode() in path.read_bytes()]


def test_a_wrong_key_stops_at_once_and_names_the_variable(tmp_path):
    with Loopback(key=KEY) as server:
        said = hardset(
            "run", "mmr", "--data", mmr_file(tmp_path, 50), "--blind", "-m", "m",
            "--base-url", server.base_url, "--key-env", "MY_KEY", cwd=tmp_path,
            env={"MY_KEY": "sk-wrong"},
        )  # fmt: skip
        assert server.count < 50
    assert said.returncode == 3
    assert "MY_KEY" in said.stderr
    assert "sk-wrong" not in said.stdout + said.stderr


def test_doctor_tells_a_blind_endpoint_from_one_that_sees(tmp_path):
    with Loopback(answer=lambda prompt: "ready") as server:
        said = hardset("doctor", "-m", "m", "--base-url", server.base_url, cwd=tmp_path)
    assert said.returncode == 3
    assert "does not see" in said.stdout
    with Loopback() as server:
        shades: list[str] = []

        def look(prompt: str) -> str:
            shades.append("red" if len(shades) < 2 else "blue")
            return shades[-1]

        server.answer = look
        said = hardset("doctor", "-m", "m", "--base-url", server.base_url, cwd=tmp_path)
    assert said.returncode == 0, said.stdout
    assert "sees" in said.stdout


def test_a_closed_pipe_is_no_crash(tmp_path):
    command = f"{sys.executable} -m hardset list | head -1"
    said = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" not in said.stderr


def test_where_no_row_has_a_reply_no_table_of_noughts_hides_the_reason(tmp_path):
    data = mmr_file(tmp_path)
    with Loopback(key=KEY) as server:
        asked = ("run", "mmr", "--data", data, "--blind", "-m", "m", "--base-url", server.base_url)
        said = hardset(*asked, cwd=tmp_path, env={"COLUMNS": "80"})
    assert said.returncode == 3
    assert "HARDSET_API_KEY" in said.stderr
    assert "request-failed" in said.stdout
    assert "By category" not in said.stdout
    assert "HARDSET_API_KEY" in hardset("run", "--help", cwd=tmp_path).stdout
