"""Files of replies that are damaged or odd: a row's failure or one sentence, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hardset.errors import UsageError
from hardset.records import Reply
from hardset.replies.formats import recognise


def reply(path: Path, line: Any) -> Reply:
    path.write_text(json.dumps(line))
    (found,) = recognise(path).read()
    return found.reply


@pytest.mark.parametrize("content", [5, 1.5, True, "A", {"text": "A"}])
def test_a_batch_whose_content_is_no_list_is_a_failed_row(tmp_path: Path, content: Any):
    message = {"content": content, "stop_reason": "end_turn"}
    bodies = (
        {"status": "completed", "output": content},
        {"status": "completed", "output": [{"type": "message", "content": content}]},
    )
    lines: list[dict[str, Any]] = [
        {"custom_id": "a", "result": {"type": "succeeded", "message": message}},
        *({"custom_id": "a", "response": {"status_code": 200, "body": body}} for body in bodies),
    ]
    for line in lines:
        failure = reply(tmp_path / "batch.jsonl", line).failure
        assert failure is not None, line
        assert "not a list" in failure.reason


@pytest.mark.parametrize("tokens", ["x", [[]], {"a": 1}, -1, None])
def test_inspects_tokens_may_be_no_number(tmp_path: Path, tokens: Any):
    output = {"completion": "A", "usage": {"input_tokens": tokens, "output_tokens": tokens}}
    log = {"status": "success", "eval": {"model": "m"}, "samples": [{"id": "a", "output": output}]}
    found = reply(tmp_path / "log.json", log)
    assert (found.text, found.tokens_in, found.tokens_out) == ("A", 0, 0)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("state", "guessed", "row 1: 'guessed' is no state"),
        ("state", None, "row 1: None is no state"),
        ("item", None, "row 1: item is None, not a text"),
        ("reply", None, "row 1: reply is None, not a text"),
        ("repeat", None, "row 1: repeat is None, not a whole number"),
        ("confidence", 7.0, "row 1: confidence is 7.0, not from 0 to 1"),
    ],
)
def test_a_damaged_row_of_a_run_is_named(tmp_path: Path, name: str, value: Any, said: str):
    row = {"item": "a", "repeat": 0, "state": "answered", "reason": "", "reply": "A"}
    row |= {"finish": "stop", "confidence": None, name: value}
    pl.DataFrame([row]).write_parquet(tmp_path / "outcomes.parquet")
    with pytest.raises(UsageError, match=said):
        list(recognise(tmp_path / "outcomes.parquet").read())
