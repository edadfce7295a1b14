"""Files of replies that are damaged or odd: a row's failure or one sentence, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
    log = {"eval": {"model": "m"}, "samples": [{"id": "a", "output": output}]}
    found = reply(tmp_path / "log.json", log)
    assert (found.text, found.tokens_in, found.tokens_out) == ("A", 0, 0)
