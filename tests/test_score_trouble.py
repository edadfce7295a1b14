"""Files of replies that are damaged or odd: a row's failure or one sentence, never a traceback."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hardset.errors import UsageError
from hardset.records import Item, Reply
from hardset.replies.formats import recognise
from hardset.replies.found import Found
from hardset.replies.matching import match


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


@pytest.mark.parametrize("content", ['{"a":' * 100_000, '{"id": "a", "reply": ' + "[" * 9_000])
def test_json_that_is_nested_too_deep_is_one_sentence(tmp_path: Path, content: str):
    (tmp_path / "deep.json").write_text(content)
    with pytest.raises(UsageError, match=r"deep\.json.* is not JSON"):
        list(recognise(tmp_path / "deep.json", "plain").read())


def test_a_workbook_without_its_parts_is_broken(tmp_path: Path):
    types = "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'/>"
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<a/>")
        archive.writestr("[Content_Types].xml", types)
    with pytest.raises(UsageError, match="a broken Excel workbook"):
        list(recognise(tmp_path / "a.xlsx", "plain").read())


def test_more_repeats_than_a_run_can_number_are_one_sentence():
    found = [Found(where="x", reply=Reply(), ids=("a",), repeat=n) for n in range(65_536)]
    with pytest.raises(UsageError, match="x numbers 65,536 repeats; 65,535 are the most"):
        match([Item(id="a", question="?")], found, files="x")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "replies.csv")
    with pytest.raises(UsageError, match="is no ordinary file"):
        recognise(tmp_path / "replies.csv")
