"""The README's forty tricky replies: what hardset makes of them, and that the table holds."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

PEERS = Path(__file__).resolve().parents[1] / "bench" / "peers"
ROWS = [json.loads(line) for line in (PEERS / "replies.jsonl").read_text("utf-8").splitlines()]
MISREAD = {"r10"}  # "At first glance A seems right, but ..., so it's C": left in the table as wrong


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(str(PEERS))
    import read_with_hardset
    import run
    import table

    yield read_with_hardset, run, table
    for name in ("read_with_hardset", "run", "table"):
        sys.modules.pop(name, None)


def test_there_are_forty_of_eight_kinds():
    kinds = Counter(row["kind"] for row in ROWS)
    assert len({row["reply"] for row in ROWS}) == len({row["id"] for row in ROWS}) == 40
    assert sorted(kinds.values()) == [2, 4, 4, 5, 5, 5, 6, 9]  # 40
    assert Counter(row["state"] == "answered" for row in ROWS) == {True: 26, False: 14}  # 9 + 5


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_what_hardset_makes_of_a_reply(peers, row):
    ours, run, _ = peers
    reading = ours.read(row)
    assert run.sound(row, reading) == (row["id"] not in MISREAD), reading
    assert not run.taken(row, reading)


def test_an_answer_out_of_a_refusal_is_no_right_reading_though_its_score_is(peers):
    _, run, _ = peers
    refusal = {"state": "abstained", "form": "choice", "choices": list("wxyz"), "right": False}
    letter = {"answer": "D", "correct": False}
    nothing = {"answer": "Z", "correct": False}
    assert run.taken(refusal, letter)
    assert not run.sound(refusal, letter)
    assert not run.taken(refusal, nothing)
    assert run.sound(refusal, nothing)


def test_the_results_are_of_these_replies_and_the_table_says_them(peers):
    import hashlib

    _, run, table = peers
    results = json.loads((PEERS / "results.json").read_text("utf-8"))
    assert results["replies"] == hashlib.sha256(run.REPLIES.read_bytes()).hexdigest()[:16]
    assert set(results["harnesses"]) == {"hardset", "Inspect", "lmms-eval", "VLMEvalKit"}
    for harness in results["harnesses"].values():
        truth = {row["id"]: row for row in ROWS}
        right = [run.sound(truth[i], reading) for i, reading in harness["readings"].items()]
        assert len(right) == 40
        assert harness["read"] == sum(right)
    assert results["harnesses"]["hardset"]["read"] == 40 - len(MISREAD)
    text = table.markdown(ROWS, results)
    total = next(line for line in text.splitlines() if "read right" in line)
    assert total.split("|")[2].strip() == f"**{40 - len(MISREAD)}**"
