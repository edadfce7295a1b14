"""The answer files that the MMR authors' inference scripts write (arXiv:2406.10638, repository).

Two kinds. The scripts by model write a list of `[id, {"text": reply}, "POS" or "NEG"]`, with the
letter E (which no question has) or the error's code where a request failed. The general script
writes lines with `question_id`, `text`, `prompt`, `question_type` and `model_id`. An id is a
pair's, so that the role is needed to tell whose reply it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hardset.errors import UsageError
from hardset.records import Reply
from hardset.replies.found import Found, ended, failed, of_error, text_of
from hardset.replies.source import Source

NAME = "mmr-answers"
TITLE = "the MMR authors' answer files"
_ROLES = ("POS", "NEG")


def recognise(source: Source) -> str:
    """Say by what the format is recognised; "" where it is not this one."""
    first = source.first if source.kind in ("list", "lines") else None
    if isinstance(first, list) and len(first) == 3 and first[2] in _ROLES:
        return "its rows are [id, answer, POS or NEG]"
    if {"question_id", "text", "question_type"} <= source.fields:
        return "its lines have question_id, text and question_type"
    return ""


def read(source: Source) -> Iterator[Found]:
    """Yield every reply of the file.

    Raises:
        UsageError: a row is of neither kind.
    """
    for where, row in source.records():
        if isinstance(row, list) and len(row) == 3 and row[2] in _ROLES:
            yield Found(where=where, reply=_answer(where, row[1]), ids=(str(row[0]),), role=row[2])
        elif isinstance(row, dict) and "question_id" in row and "text" in row:
            yield Found(
                where=where,
                reply=ended(_text(where, row["text"]), "stop"),
                ids=(str(row["question_id"]),),
                role=str(row.get("question_type") or ""),
                question=text_of(row.get("prompt")) or "",
                model=text_of(row.get("model_id")) or "",
            )
        else:
            raise UsageError(f"{where} is not [id, answer, POS or NEG], nor has it a question_id")


def _answer(where: str, answer: Any) -> Reply:
    if isinstance(answer, dict):
        text = _text(where, answer.get("text"))
        if text == "E":
            return failed("the authors' script wrote E: its request failed")
        return ended(text, "stop")
    code = text_of(answer)
    if code is None:
        raise UsageError(f"{where}: the answer is neither a text nor has it one")
    return of_error(code, "the authors' script wrote an error's code")


def _text(where: str, value: Any) -> str:
    """Return the text; a script that decodes in batches leaves it in a list of one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    text = text_of(value)
    if text is None:
        raise UsageError(f"{where}: the answer's text is a {type(value).__name__}")
    return text
