"""Every format of replies, written here as its program writes it, and told by its content."""

from __future__ import annotations

import csv
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hardset.errors import UsageError
from hardset.records import State
from hardset.replies.formats import FORMATS, recognise
from hardset.replies.found import Found


def found(path: Path, format: str = "") -> list[Found]:
    return list(recognise(path, format).read())


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def state(one: Found) -> str:
    return one.reply.failure.state.value if one.reply.failure else one.reply.finish


def reason(one: Found) -> str:
    assert one.reply.failure is not None
    return one.reply.failure.reason


# The minimal schema

ROWS = [
    {"id": "a", "reply": "A\nor B", "repeat": 1, "tokens_in": 7, "tokens_out": 2},
    {"id": "b", "reply": None, "finish": "max_tokens"},
    {"id": "c", "reply": "", "error": "429 rate limit"},
]


def table(path: Path, sign: str) -> Path:
    names = ["id", "reply", "repeat", "finish", "error", "tokens_in", "tokens_out"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, delimiter=sign)
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def plain_files(folder: Path) -> list[Path]:
    (folder / "list.json").write_text(json.dumps(ROWS))
    pl.DataFrame(ROWS).write_parquet(folder / "p.parquet")
    return [
        lines(folder / "lines.jsonl", ROWS),
        folder / "list.json",
        table(folder / "comma.csv", ","),
        table(folder / "tab.tsv", "\t"),
        table(folder / "semicolon.csv", ";"),
        folder / "p.parquet",
        lines(folder / "any.name", ROWS),
    ]


def test_the_minimal_schema_is_the_same_in_every_file(tmp_path: Path):
    for path in plain_files(tmp_path):
        one, two, three = found(path)
        assert (one.ids, one.reply.text, one.repeat) == (("a",), "A\nor B", 1), path
        assert (one.reply.tokens_in, one.reply.tokens_out) == (7, 2), path
        assert (two.reply.text, two.reply.finish, two.repeat) == ("", "length", None), path
        assert state(three) == "request-failed", path
        assert reason(three) == "the request failed elsewhere: 429 rate limit", path


def test_the_minimal_schema_in_excel(tmp_path: Path):
    rows = [["id", "reply"], [1, "B"], [2, 4], [3, None], ["x_x005F_y", "_x000D_C"]]
    got = found(workbook(tmp_path / "w.xlsx", rows))
    assert [(one.ids[0], one.reply.text) for one in got[:3]] == [("1", "B"), ("2", "4"), ("3", "")]
    assert got[3].reply.text == "\rC"  # a control character, as Excel writes it


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "", "reply": "A"}, "line 1 has no id"),
        ({"id": None, "reply": "A"}, "line 1 has no id"),
        ({"id": "a", "reply": ["A"]}, "line 1: the reply is a list"),
        ({"id": "a", "reply": "A", "repeat": "first"}, "repeat is 'first'"),
        ({"id": "a", "reply": "A", "repeat": -1}, "repeat is -1"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(tmp_path: Path, row: dict[str, Any], said: str):
    with pytest.raises(UsageError, match=said):
        found(lines(tmp_path / "f.jsonl", [row]))


def test_a_row_without_the_columns_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"f.jsonl, line 2 has no reply, nor an error"):
        found(lines(tmp_path / "f.jsonl", [{"id": "a", "reply": "A"}, {"id": "b"}]))


def test_a_row_may_have_an_error_in_the_place_of_a_reply(tmp_path: Path):
    rows = [{"id": "a", "error": "timeout"}, {"id": "b", "reply": "A"}]
    one, two = found(lines(tmp_path / "f.jsonl", rows))
    assert [state(one), state(two)] == ["request-failed", "stop"]


@pytest.mark.parametrize(
    ("error", "ends"),
    [
        ({"code": "content_filter", "message": "no"}, "provider-refused"),
        ("Error code: 400, content_policy_violation: no", "request-failed"),
        ("content_policy_violation", "provider-refused"),
        ({"error": {"message": "over content policy"}}, "provider-refused"),
        (float("nan"), "stop"),
        (False, "stop"),
    ],
)
def test_what_an_error_means(tmp_path: Path, error: Any, ends: str):
    (one,) = found(lines(tmp_path / "f.jsonl", [{"id": "a", "reply": "A", "error": error}]))
    assert state(one) == ends


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("[REQUEST_FAILED after 5 tries]", "request-failed"),
        ("API ERROR: 500", "request-failed"),
        (" Failed to obtain answer via bailingMM API.", "request-failed"),
        ("The request failed, says the sign: D", "stop"),
        ("[REQUEST] D", "stop"),
    ],
)
def test_an_error_in_the_place_of_a_reply_is_no_answer(tmp_path: Path, text: str, ends: str):
    (one,) = found(lines(tmp_path / "f.jsonl", [{"id": "a", "reply": text}]))
    assert state(one) == ends
    (one,) = found(lines(tmp_path / "g.jsonl", [{"doc_id": 0, "filtered_resps": text}]))
    assert state(one) == ends


def test_half_an_emoji_and_a_reply_longer_than_csv_takes(tmp_path: Path):
    path = tmp_path / "f.jsonl"
    path.write_text('{"id": "a", "reply": "so \\ud83d", "score": NaN}\n')
    assert found(path)[0].reply.text == "so \ufffd"
    (tmp_path / "f.csv").write_text("id,reply\na," + "x" * 200_000)
    assert len(found(tmp_path / "f.csv")[0].reply.text) == 200_000


# Inspect


def sample(ident: str | int, text: str, stop: str = "stop", **more: Any) -> dict[str, Any]:
    return {
        "id": ident,
        "epoch": 1,
        "input": "What is it?",
        "target": "A",
        "messages": [{"role": "user", "content": "What is it?"}],
        "output": {
            "model": "mockllm/model",
            "choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": stop}],
            "completion": text,
            "usage": {"input_tokens": 11, "output_tokens": 3, "input_tokens_cache_read": 5},
        },
        "events": [{"anything": 1}],
        **more,
    }


HEADER = {"version": 2, "status": "success", "eval": {"model": "openai/gpt-4o", "task": "t"}}
SAMPLES = [
    sample("q/1", "B"),
    sample(7, "The answer", "max_tokens", epoch=2),
    sample("c", "", "content_filter"),
    sample("d", "", error={"message": "TimeoutError()", "traceback": "…"}),
    sample("e", "B", limit={"type": "token", "limit": 100}),
]


def zstandard_member(name: str, content: bytes) -> tuple[bytes, bytes]:
    """Make a zip member compressed by method 93: its own header and content; its entry's start."""
    import zstandard

    packed = zstandard.ZstdCompressor().compress(content)
    crc, raw = zlib.crc32(content), name.encode()
    facts = struct.pack(
        "<HHHHHIIIHH", 20, 0, 93, 0, 33, crc, len(packed), len(content), len(raw), 0
    )
    return b"PK\3\4" + facts + raw + packed, facts


def zstandard_zip(path: Path, members: dict[str, bytes]) -> Path:
    body, entries = b"", b""
    for name, content in members.items():
        member, facts = zstandard_member(name, content)
        entries += b"PK\1\2" + struct.pack("<H", 20) + facts
        entries += struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += member
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(entries), len(body), 0)
    path.write_bytes(body + entries + b"PK\5\6" + end)
    return path


def eval_members(header: str = "header.json") -> dict[str, bytes]:
    content = {header: HEADER, "summaries.json": [], "_journal/summaries/1.json": []}
    content |= {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in SAMPLES}
    return {name: json.dumps(value).encode() for name, value in content.items()}


def eval_files(folder: Path) -> list[Path]:
    with zipfile.ZipFile(folder / "d.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in eval_members().items():
            archive.writestr(name, content)
    whole, one_line = folder / "l.json", folder / "o.json"
    whole.write_text(json.dumps({**HEADER, "samples": SAMPLES}, indent=2))
    one_line.write_text(json.dumps({**HEADER, "samples": SAMPLES}))
    started = zstandard_zip(folder / "s.eval", eval_members("_journal/start.json"))
    return [
        folder / "d.eval",
        whole,
        one_line,
        zstandard_zip(folder / "z.eval", eval_members()),
        started,
    ]


def test_inspects_logs_are_the_same_whatever_they_are_packed_in(tmp_path: Path):
    for path in eval_files(tmp_path):
        assert recognise(path).format.NAME == "inspect", path
        got = found(path)
        assert [one.ids[0] for one in got] == ["q/1", "7", "c", "d", "e"], path
        assert [one.repeat for one in got] == [1, 2, 1, 1, 1]
        ends = ["stop", "length", "content_filter", "request-failed", "truncated"]
        assert [state(one) for one in got] == ends
        assert reason(got[3]) == "Inspect: the sample ended with an error: TimeoutError()"
        assert reason(got[4]) == "stopped by Inspect's token limit"
        assert (got[0].reply.tokens_in, got[0].reply.tokens_out) == (16, 3)
        assert {one.model for one in got} == {"openai/gpt-4o"}
        assert got[0].question == "What is it?"


def test_inspects_prompt_is_that_of_the_user_and_may_lie_apart(tmp_path: Path):
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "image", "image": "attachment://i"},
                                     {"type": "text", "text": "attachment://t"}]},
        {"role": "assistant", "content": "B"},
        {"role": "user", "content": "Sure?"},
    ]  # fmt: skip
    one = sample(
        "a", "B", messages=turns, attachments={"t": "What?\nA) x\nB) y"}, choices=["y", "x"]
    )
    path = tmp_path / "l.json"
    path.write_text(json.dumps({**HEADER, "samples": [one]}))
    (got,) = found(path)
    assert got.question == "What?\nA) x\nB) y"
    assert got.options == ("y", "x")


def test_a_broken_archive_is_said_to_be_one(tmp_path: Path):
    path = zstandard_zip(tmp_path / "z.eval", eval_members())
    content = bytearray(path.read_bytes())
    at = content.index(b"samples/q/1_epoch_1.json") + 40  # inside that member's content
    content[at : at + 8] = bytes(8)
    path.write_bytes(content)
    with pytest.raises(UsageError, match="broken zip archive"):
        found(path)
    path.write_bytes(content[:300])
    with pytest.raises(UsageError, match="cut off or broken"):
        found(path)


def test_inspects_tokens_and_a_completion_that_stands_in_its_message_alone(tmp_path: Path):
    one = sample("a", "B")
    one["output"]["completion"] = ""
    one["output"]["choices"][0]["logprobs"] = {"content": [{"token": "B", "logprob": -0.5}]}
    path = tmp_path / "l.json"
    path.write_text(json.dumps({**HEADER, "samples": [one]}))
    (got,) = found(path)
    assert got.reply.text == "B"
    assert got.reply.tokens == (("B", -0.5),)


# lmms-eval and lm-evaluation-harness


def test_lmms_evals_lines_have_the_reply_flat_or_in_lists(tmp_path: Path):
    path = lines(
        tmp_path / "20260101_000000_samples_mmr.jsonl",
        [
            {"doc_id": 0, "input": "What?", "filtered_resps": "B", "score": float("nan"),
             "token_counts": [{"input_tokens": 9, "output_tokens": 1}]},
            {"doc_id": 1, "input": "What?", "resps": ["It is B"], "filtered_resps": "B"},
            {"doc_id": 2, "input": "What?", "resps": [["x"], ["y"]], "filtered_resps": ["x", "y"]},
        ],
    )  # fmt: skip
    assert recognise(path).format.NAME == "lmms-eval"
    got = found(path)
    assert [one.reply.text for one in got] == ["B", "It is B", "x", "y"]
    assert [one.position for one in got] == [0, 1, 2, 2]
    assert [one.repeat for one in got] == [None, None, 0, 1]
    assert got[0].question == "What?"
    assert (got[0].reply.tokens_in, got[0].reply.tokens_out) == (9, 1)


def test_the_other_harness_repeats_a_line_for_each_filter(tmp_path: Path):
    row = {
        "doc_id": 0,
        "doc": {"question_id": 12, "question": "What?", "options": "['x', 'y']"},
        "target": "A",
        "arguments": {"gen_args_0": {"arg_0": "Q: What?", "arg_1": {"until": []}}},
        "resps": [["It is B"]],
        "filtered_resps": ["B"],
    }
    path = lines(tmp_path / "samples_t.jsonl", [{**row, "filter": f} for f in ("none", "strict")])
    (got,) = found(path)
    assert got.reply.text == "It is B"
    assert got.ids == ("12",)
    assert got.question == "What?"
    assert got.options == ("x", "y")
    del row["doc"]
    (got,) = found(lines(tmp_path / "samples_u.jsonl", [row]))
    assert got.question == "Q: What?"


def test_log_probabilities_are_no_replies(tmp_path: Path):
    row = {"doc_id": 0, "resps": [["-1.25", "False"], ["-0.5", "True"]], "filtered_resps": []}
    with pytest.raises(UsageError, match="log-probabilities of the options"):
        found(lines(tmp_path / "samples_t.jsonl", [row]))


# VLMEvalKit


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


TABLE = [
    ["index", "question", "A", "B", "C", "D", "answer", "prediction"],
    [0, "What?", "x", "y", None, None, "A", "B. y"],
    [1, "Who?", "x", "y", "z", "w", "B", "Failed to obtain answer via API."],
    [2, "Why?", "x", "y", "z", "w", "B", None],
]


def vlmeval_files(folder: Path) -> list[Path]:
    files = [workbook(folder / "m_MMR.xlsx", TABLE)]
    for name, sign in (("m_MMR.tsv", "\t"), ("m_MMR.csv", ",")):
        with (folder / name).open("w", newline="") as file:
            csv.writer(file, delimiter=sign, quoting=csv.QUOTE_ALL).writerows(
                [["" if cell is None else cell for cell in row] for row in TABLE]
            )
        files.append(folder / name)
    records = [dict(zip(TABLE[0], row, strict=True)) for row in TABLE[1:]]
    nan = {"C": float("nan"), "D": float("nan")}
    (folder / "m_MMR.json").write_text(json.dumps([{**records[0], **nan}, *records[1:]], indent=4))
    return [*files, folder / "m_MMR.json"]


def test_vlmevalkits_tables_are_the_same_in_every_file(tmp_path: Path):
    for path in vlmeval_files(tmp_path):
        assert recognise(path).format.NAME == "vlmevalkit", path
        one, two, three = found(path)
        assert (one.ids, one.position, one.question) == (("0",), 0, "What?")
        assert one.options == ("x", "y"), path
        assert one.reply.text == "B. y"
        assert state(two) == "request-failed"
        assert reason(two) == "VLMEvalKit: Failed to obtain answer via API."
        assert two.options == ("x", "y", "z", "w")
        assert (three.reply.text, state(three)) == ("", "stop")


def test_a_reply_as_long_as_an_excel_cell_was_cut_off(tmp_path: Path):
    rows = [[*TABLE[0][:1], "prediction"], [0, "x" * 32_767], [1, "x" * 32_766]]
    one, two = found(workbook(tmp_path / "w.xlsx", rows))
    assert state(one) == State.TRUNCATED.value
    assert "32,767 characters" in reason(one)
    assert state(two) == "stop"


# Batches


def chat(text: Any, finish: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None, **more}
    return {
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }


def openai(ident: str, body: Any, status: int = 200, error: Any = None) -> dict[str, Any]:
    response = None if body is None else {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": ident, "response": response, "error": error}


def test_openais_batches(tmp_path: Path):
    responses = {
        "object": "response",
        "model": "gpt-5",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "content": [{"type": "output_text", "text": "It "}]},
            {"type": "message", "content": [{"type": "output_text", "text": "is"}]},
        ],
        "usage": {"input_tokens": 4, "output_tokens": 3},
    }
    done = {**responses, "status": "completed", "incomplete_details": None}
    refused = {
        **done,
        "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}],
    }
    expired = {"code": "batch_expired", "message": "This request could not be executed in time."}
    path = lines(
        tmp_path / "out.jsonl",
        [
            openai("a", chat("B")),
            openai("b", chat(None, "length")),
            openai("c", chat(None, refusal="I can't help.")),
            openai("d", None, error=expired),
            openai("e", {"error": {"message": "Bad image", "code": "invalid_image"}}, 400),
            openai("f", {"error": {"message": "no", "code": "content_policy_violation"}}, 400),
            openai("g", responses),
            openai("h", done),
            openai("i", refused),
            openai(
                "j", {**done, "status": "failed", "error": {"code": "server_error", "message": "x"}}
            ),
            openai("k", None),
        ],
    )
    assert recognise(path).format.NAME == "openai-batch"
    got = {one.ids[0]: one for one in found(path)}
    texts = {name: one.reply.text for name, one in got.items() if not one.reply.failure}
    assert texts == {
        "a": "B",
        "b": "",
        "c": "I can't help.",
        "g": "It is",
        "h": "It is",
        "i": "No.",
    }
    ends = {name: state(one) for name, one in got.items()}
    assert ends == {
        "a": "stop", "b": "length", "c": "stop", "d": "request-failed", "e": "request-failed",
        "f": "provider-refused", "g": "length", "h": "stop", "i": "stop", "j": "request-failed",
        "k": "request-failed",
    }  # fmt: skip
    assert reason(got["d"]) == (
        "the batch: batch_expired: This request could not be executed in time."
    )
    assert reason(got["e"]) == "the batch (400): invalid_image: Bad image"
    assert (got["a"].reply.tokens_in, got["a"].reply.tokens_out) == (5, 2)
    assert (got["h"].reply.tokens_in, got["h"].reply.tokens_out) == (4, 3)
    assert got["a"].model == "gpt-4o-2024-08-06"


def test_openais_tokens(tmp_path: Path):
    body = chat("B")
    body["choices"][0]["logprobs"] = {"content": [{"token": "B", "logprob": -0.5, "bytes": [66]}]}
    (got,) = found(lines(tmp_path / "out.jsonl", [openai("a", body)]))
    assert got.reply.tokens == (("B", -0.5),)


def test_anthropics_batches(tmp_path: Path):
    def succeeded(stop: str, *blocks: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 3}
        message = {"model": "claude", "content": list(blocks), "stop_reason": stop, "usage": usage}
        return {"type": "succeeded", "message": message}

    thought = {"type": "thinking", "thinking": "A or B?"}
    text = {"type": "text", "text": "B"}
    invalid = {"type": "error", "error": {"type": "invalid_request_error", "message": "too large"}}
    results = {
        "a": succeeded("end_turn", thought, text),
        "b": succeeded("max_tokens", text),
        "c": succeeded("refusal"),
        "d": {"type": "errored", "error": invalid},
        "e": {"type": "expired"},
        "f": {"type": "canceled"},
        "g": succeeded("model_context_window_exceeded", text),
    }
    path = lines(tmp_path / "r.jsonl", [{"custom_id": i, "result": r} for i, r in results.items()])
    assert recognise(path).format.NAME == "anthropic-batch"
    got = found(path)
    assert [state(one) for one in got] == [
        "stop", "length", "content_filter", "request-failed", "request-failed", "request-failed",
        "length",
    ]  # fmt: skip
    assert got[0].reply.text == "B"
    assert (got[0].reply.tokens_in, got[0].reply.tokens_out) == (10, 3)
    assert got[0].model == "claude"
    assert reason(got[3]) == "the batch: invalid_request_error: too large"
    assert reason(got[4]) == "the batch: the request is expired"


# The MMR authors' files


def test_the_mmr_authors_lists(tmp_path: Path):
    path = tmp_path / "result.json"
    answers = [
        {"text": "B."},
        {"text": "E"},
        {"text": ["C"]},
        "DataInspectionFailed",
        {"text": None},
    ]
    path.write_text(json.dumps([["a/b/01", answer, "NEG"] for answer in answers]))
    assert recognise(path).format.NAME == "mmr-answers"
    got = found(path)
    assert [one.role for one in got] == ["NEG"] * 5
    assert [state(one) for one in got] == [
        "stop", "request-failed", "stop", "provider-refused", "stop"
    ]  # fmt: skip
    assert [one.reply.text for one in got] == ["B.", "", "C", "", ""]


def test_the_mmr_authors_lines(tmp_path: Path):
    row = {
        "question_id": "a/b/01",
        "prompt": "Is it?\nA. x",
        "text": "B",
        "groundtruth": "A",
        "question_type": "POS",
        "answer_id": "z",
        "model_id": "phi-2",
        "metadata": {},
    }
    (got,) = found(lines(tmp_path / "answers.jsonl", [row]))
    assert (got.ids, got.role, got.reply.text) == (("a/b/01",), "POS", "B")
    assert (got.question, got.model) == ("Is it?\nA. x", "phi-2")


# Which one it is


def test_a_name_tells_nothing(tmp_path: Path):
    path = lines(tmp_path / "log.eval", [{"id": "a", "reply": "A"}])
    assert recognise(path).format.NAME == "plain"
    assert recognise(path).why == "its rows have id and reply"


def test_what_may_be_two_is_asked_about(tmp_path: Path):
    path = lines(tmp_path / "f.jsonl", [{"id": "a", "reply": "A", "index": 0, "prediction": "B"}])
    with pytest.raises(UsageError, match=r"might be plain .* or vlmevalkit .* --format"):
        recognise(path)
    assert found(path, "vlmevalkit")[0].reply.text == "B"
    assert found(path, "plain")[0].reply.text == "A"


def test_what_is_none_is_told_with_what_was_seen(tmp_path: Path):
    path = lines(tmp_path / "f.jsonl", [{"name": "a", "said": "A"}])
    with pytest.raises(UsageError, match="JSON Lines with name, said") as told:
        recognise(path)
    for name in FORMATS:
        assert name in str(told.value)
    with pytest.raises(UsageError, match="no format 'nonsense'; there are: plain, inspect"):
        recognise(path, "nonsense")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"  \n ", "is empty"),
        (b"<html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"\x7fELF\0\0", "no text, JSON, parquet, Excel or Inspect"),
        (b"PK\x03\x04 and no more", "cut off or broken"),
        (b"id;reply\nx\n", "line 2 has 1 cells, the header 2"),
        (b"id,reply\n\xff\xfe,A\n", "is not UTF-8"),
        (b"[1, 2", "is not JSON"),
        (b'{"id": "a", "reply": "b"}\n{"id": \n', "line 2 is not JSON"),
        (b"id,reply,id\n1,2,3\n", "two columns have the same name"),
        (b"[]", "a JSON list without a record"),
        (b"hello\n", "a table of texts that ends after its first line, 'hello'"),
    ],
)
def test_what_is_no_file_of_replies(tmp_path: Path, content: bytes, said: str):
    path = tmp_path / "f.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said):
        found(path)


def test_no_file_and_a_folder(tmp_path: Path):
    with pytest.raises(UsageError, match="does not exist"):
        recognise(tmp_path / "none")
    with pytest.raises(UsageError, match="is a folder: name the files"):
        recognise(tmp_path)
