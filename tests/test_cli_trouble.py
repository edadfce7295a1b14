"""What a person can get wrong, and what can go wrong around the program: real processes.

Each test holds one kind: one sentence that says what to do, the right exit status, nothing lost.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from loopback import Fault, Loopback, chat
from test_cli import hardset, mmr_file, outcomes

BASELINE = ("run", "scenes", "-m", "baseline/random", "-o", "n=10")


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -m hardset {command}"],
        cwd=cwd, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--timeout", "0"], "timeout takes more than 0 seconds"),
        (["--timeout", "nan"], "timeout takes more than 0 seconds"),
        (["--retries", "-1"], "retries takes 0 or more"),
        (["--budget", ""], "The budget '' is not a number"),
        (["--budget", "9" * 400], "is not a number"),
        (["--price", "1,inf"], "--price takes dollars a million tokens"),
        (["--temperature", "nan"], "a number of 0 or more"),
        (["--top-p", "nan"], "above 0, up to 1"),
        (["--max-tokens", "0"], "1 or more"),
        (["--seed", "1" + "0" * 30], "64 bits"),
        (["--repeats", "70000"], "65,535 at most"),
        (["-m", "baseline/random"], "given twice"),
        (["--report", "."], "is a folder"),
        (["--report", "/dev/null"], "no ordinary file"),
        (["--runs", "/dev/null"], "/dev/null"),
        (["-m", os.fsdecode(b"a/\xff")], "no text"),
    ],
)
def test_a_value_that_makes_no_sense_is_said_before_anything_is_asked(tmp_path, arguments, words):
    said = hardset(*BASELINE, *arguments, cwd=tmp_path)
    assert said.returncode == 2, said.stderr
    assert words in said.stderr
    assert "Traceback" not in said.stderr
    assert not list(tmp_path.glob("runs/*/*"))


def test_a_limit_beyond_all_numbers_is_no_limit(tmp_path):
    said = hardset(*BASELINE, "--limit", "9" * 30, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert len(outcomes(tmp_path)) == 10


def test_a_report_never_takes_the_place_of_another_file(tmp_path):
    data = mmr_file(tmp_path)
    before = data.read_bytes()
    arguments = ("run", "mmr", "--data", data, "--blind", "-m", "baseline/random", "--report")
    said = hardset(*arguments, data, cwd=tmp_path)
    assert said.returncode == 2
    assert "no report: it stays" in said.stderr
    assert data.read_bytes() == before
    for _ in range(2):  # an older report is replaced
        assert hardset(*arguments, "all.html", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    "address",
    [
        "http://user:sk-hush-0123@127.0.0.1:9/v1",
        "user:sk-hush-0123@127.0.0.1/v1",
        "http://127.0.0.1:9/v1?auth=sk-hush-0123",
        "http://127.0.0.1:9/v1?sk-hush-0123",
        "http://[::1/sk?sk-hush-0123",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(tmp_path, address):
    said = hardset(*BASELINE, "-m", "m", "--base-url", address, cwd=tmp_path)
    assert said.returncode == 2
    assert "sk-hush" not in said.stdout + said.stderr
    assert "Traceback" not in said.stderr
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and b"sk-hush" in p.read_bytes()]


def test_a_missing_key_is_said_before_the_first_model_is_asked(tmp_path):
    env = {"OPENAI_API_KEY": ""}
    said = hardset(*BASELINE, "-m", "openai/gpt", cwd=tmp_path, env=env)
    assert said.returncode == 2
    assert "OPENAI_API_KEY" in said.stderr
    assert not list(tmp_path.glob("runs/scenes"))


def test_a_model_name_longer_than_a_file_name_loses_nothing(tmp_path):
    with Loopback(answer=lambda prompt: "A") as server:
        for tail in "ab":  # two names with one beginning do not share a folder
            said = hardset(
                "run", "mmr", "--data", mmr_file(tmp_path), "--blind", "-m", "x" * 300 + tail,
                "--base-url", server.base_url, cwd=tmp_path,
            )  # fmt: skip
            assert said.returncode == 0, said.stderr
    assert len(list(tmp_path.glob("runs/mmr/x*"))) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"<html>404", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
        ("[1]".encode("utf-16"), "UTF-16"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_a_data_file_that_is_something_else_is_named_as_that(tmp_path, content, words):
    (tmp_path / "mmr.json").write_bytes(content)
    said = hardset(
        "run", "mmr", "--data", "mmr.json", "--blind", "-m", "baseline/random", cwd=tmp_path
    )
    assert said.returncode == 2
    assert words in said.stderr
    assert "Traceback" not in said.stderr


def test_an_image_path_that_names_nothing_is_told_by_its_row(tmp_path):
    data = mmr_file(tmp_path)
    rows = json.loads(data.read_text())
    rows[1]["image"] = "."
    data.write_text(json.dumps(rows))
    said = hardset(
        "run", "mmr", "--data", data, "--images", ".", "-m", "baseline/random", cwd=tmp_path
    )
    assert said.returncode == 2
    assert "row 2: image '.' is not a path inside" in said.stderr


def test_a_strangers_text_cannot_steer_the_terminal(tmp_path):
    data = mmr_file(tmp_path)
    rows = json.loads(data.read_text())
    rows[0]["image"] = "\x1b[31mred\n\u202e.jpg"
    data.write_text(json.dumps(rows))
    with Loopback() as server:
        said = hardset(
            "run", "mmr", "--data", data, "--images", ".", "-m", "m", "--base-url",
            server.base_url, "--limit", "1", cwd=tmp_path,
        )  # fmt: skip
    assert said.returncode == 3
    assert "[U+001B]" in said.stderr
    assert "\x1b" not in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1


def test_more_reasons_than_are_told_are_counted(tmp_path):
    with Loopback() as server:
        said = hardset(
            "run", "mmr", "--data", mmr_file(tmp_path, 5), "--images", ".", "-m", "m",
            "--base-url", server.base_url, cwd=tmp_path,
        )  # fmt: skip
    assert "10 of 10 rows failed: 2 x" in said.stderr  # five missing images, two rows each
    assert "and 4 for other reasons, see runs" in said.stderr


ODD = [
    Fault("status", 429, headers={"Retry-After": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}),
    Fault("body", body=json.dumps(chat("The answer is A. \ud83d")).encode()),
    Fault("body", body={**chat("A"), "usage": {"prompt_tokens": "many"}}),
    Fault("body", body={**chat("A"), "usage": {"prompt_tokens": -5, "completion_tokens": 1e300}}),
    Fault("body", body={"error": {"code": "\u00b2", "message": "odd"}}),
]


@pytest.mark.parametrize("fault", ODD)
def test_an_odd_reply_costs_no_row(tmp_path, fault):
    with Loopback(answer=lambda prompt: "A", faults=[fault]) as server:
        said = hardset(
            "run", "mmr", "--data", mmr_file(tmp_path, 1), "--blind", "-m", "m",
            "--base-url", server.base_url, "--retries", "1", cwd=tmp_path,
        )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert outcomes(tmp_path)["answer"].to_list() == ["A", "A"]


def test_an_endpoint_that_is_gone_is_given_up(tmp_path):
    said = hardset(
        "run", "mmr", "--data", mmr_file(tmp_path, 100), "--blind", "-m", "m",
        "--base-url", "http://127.0.0.1:9/v1", "--retries", "0", cwd=tmp_path,
    )  # fmt: skip
    assert said.returncode == 3
    assert "rows in a row failed" in said.stderr
    assert "200 of 200 rows failed" in said.stderr
    frame = outcomes(tmp_path)
    asked = frame.filter(~frame["reason"].str.starts_with("not asked"))
    assert 20 <= len(asked) < 60


@pytest.mark.parametrize("to", [">&-", "2>&-", ">&- 2>&-", "| true", "| head -1"])
def test_nobody_listening_changes_neither_report_nor_status(tmp_path, to):
    said = shell(
        f"{shlex.join(BASELINE)} --report all.html {to}; exit ${{PIPESTATUS[0]}}", tmp_path
    )
    assert said.returncode == 0, said.stderr
    assert "Traceback" not in said.stderr
    assert (tmp_path / "all.html").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_standard_output_is_one_sentence(tmp_path):
    said = shell(f"{shlex.join(BASELINE)} --report all.html > /dev/full", tmp_path)
    assert said.returncode == 2
    assert "No space left on device" in said.stderr
    assert "Traceback" not in said.stderr
    assert (tmp_path / "all.html").is_file()


@pytest.mark.parametrize("arguments", [("run", "--help"), ("list",), BASELINE])
def test_a_poor_locale_and_a_narrow_terminal_lose_nothing(tmp_path, arguments):
    env = {
        "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TERM": "dumb",
        "COLUMNS": "20",
    }  # fmt: skip
    said = hardset(*arguments, cwd=tmp_path, env=env)
    assert said.returncode == 0, said.stderr
    if arguments == BASELINE:
        assert "accuracy" in said.stdout
        assert re.search(r"plain accuracy .* \d/4 ", said.stdout), said.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_asking_still_stops_and_says_how_to_go_on(tmp_path, number):
    data = mmr_file(tmp_path, 300)
    command = [sys.executable, "-m", "hardset", "run", "mmr", "--data", str(data), "--blind"]
    command += ["-m", "baseline/random"]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("runs/mmr/*/*")):  # the folder is made when all is read
        assert child.poll() is None
        time.sleep(0.001)
    child.send_signal(number)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "To go on: hardset run mmr" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("reset"), "closed the connection without an answer"),
        (Fault("cut"), "broke off before its end"),
        (Fault("body", body=b"<html>hi</html>"), "sent a web page, not a chat reply"),
        (Fault("status", 204), "answered 204, without a chat reply"),
        (Fault("message", body={}, finish="length"), "an empty text (it ended with 'length')"),
    ],
)
def test_doctor_says_in_plain_words_what_an_endpoint_does_instead(tmp_path, fault, words):
    with Loopback(fault=lambda number, body: fault) as server:
        said = hardset("doctor", "-m", "m", "--base-url", server.base_url, cwd=tmp_path)
    assert said.returncode == 3
    assert words in said.stdout
    assert "Error" not in said.stdout


def test_a_port_where_something_else_listens_is_told_as_that(tmp_path):
    import socketserver

    class Shell(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(b"SSH-2.0-OpenSSH_9\x1b[31m\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Shell) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        said = hardset(
            "doctor", "-m", "m", "--base-url", f"http://127.0.0.1:{server.server_address[1]}/v1",
            cwd=tmp_path,
        )  # fmt: skip
        server.shutdown()
    assert said.returncode == 3
    assert "does not answer in HTTP; is that its port?" in said.stdout
    assert "\x1b" not in said.stdout


def test_https_to_a_server_without_tls_is_told_to_be_http(tmp_path):
    with Loopback() as server:
        address = server.base_url.replace("http:", "https:")
        said = hardset("doctor", "-m", "m", "--base-url", address, cwd=tmp_path)
    assert said.returncode == 3
    assert "speaks no TLS: begin its address with http://" in said.stdout
