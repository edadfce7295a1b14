"""Sample files of lmms-eval and of lm-evaluation-harness (`--log_samples`).

JSON Lines named `…_samples_<task>.jsonl`. A line has `doc_id`, the row of the task's data;
`resps`, what the model replied, as it was, and `filtered_resps`, what the task took from it
(lmms-eval leaves `resps` out where they are equal); and the prompt as `input`, or `arguments`.
Older files, and the other harness's, hold the data's own row as `doc`. The reply taken is the one
in `resps`: this program reads it itself. Several replies of a line are repeats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hardset.errors import UsageError
from hardset.replies.found import Found, ended, id_of, number_of, options_of, text_of
from hardset.replies.source import Source

NAME = "lmms-eval"
TITLE = "sample files of lmms-eval and lm-evaluation-harness (--log_samples)"
IDS = ("id", "question_id", "questionId", "sample_id", "uid", "qid", "index")
QUESTIONS = ("question", "query", "prompt", "problem")


def recognise(source: Source) -> str:
    """Say by what the format is recognised; "" where it is not this one."""
    for name in ("resps", "filtered_resps"):
        if {"doc_id", name} <= source.fields:
            return f"its lines have doc_id and {name}"
    return ""


def read(source: Source) -> Iterator[Found]:
    """Yield every reply of the file; of a line that several filters repeat, the first.

    Raises:
        UsageError: a line has no replies, or the log-probabilities of given options instead.
    """
    wanted: Any = None
    for number, (where, row) in enumerate(source.records()):
        if not isinstance(row, dict) or "doc_id" not in row:
            raise UsageError(f"{where} has no doc_id")
        if number == 0:
            wanted = row.get("filter")
        if row.get("filter") != wanted:
            continue
        replies = _leaves(where, row["resps"] if "resps" in row else row.get("filtered_resps"))
        doc: Mapping[str, Any] = row["doc"] if isinstance(row.get("doc"), Mapping) else {}
        tokens = row.get("token_counts")
        for repeat, text in enumerate(replies):
            told = tokens[repeat] if isinstance(tokens, list) and repeat < len(tokens) else None
            told = told if isinstance(told, Mapping) else {}
            yield Found(
                where=where,
                reply=ended(text, "stop", told.get("input_tokens"), told.get("output_tokens")),
                ids=tuple(found for name in IDS if (found := id_of(doc.get(name)))),
                repeat=repeat if len(replies) > 1 else None,
                question=_question(row, doc),
                role=text_of(doc.get("question_type") or doc.get("role")) or "",
                position=number_of(row["doc_id"]),
                options=options_of(doc.get("options")) or options_of(doc.get("choices")),
            )


def _leaves(where: str, value: Any) -> list[str]:
    """Return the replies out of lists in lists."""
    if isinstance(value, list):
        if _is_likelihood(value):
            raise UsageError(
                f"{where} holds log-probabilities of the options, not replies: the task let the "
                "model choose among given texts; run one that generates (generate_until)"
            )
        return [text for part in value for text in _leaves(where, part)]
    text = text_of(value)
    if text is None:
        raise UsageError(f"{where}: the reply is a {type(value).__name__}, not a text")
    return [text]


def _is_likelihood(pair: list[Any]) -> bool:
    """Whether a list is one option's [log-probability, is it the likeliest?]."""
    if len(pair) != 2 or str(pair[1]) not in ("True", "False"):
        return False
    try:
        return float(pair[0]) <= 0
    except (TypeError, ValueError):
        return False


def _question(row: Mapping[str, Any], doc: Mapping[str, Any]) -> str:
    for name in QUESTIONS:
        if isinstance(doc.get(name), str):
            return str(doc[name])
    for prompt in (row.get("input"), row.get("arguments")):
        if text := _first_text(prompt):
            return text
    return ""


def _first_text(prompt: Any) -> str:
    """Return the first text of a prompt, however deep it lies."""
    if isinstance(prompt, str):
        return prompt
    parts = prompt.values() if isinstance(prompt, Mapping) else prompt
    return next((t for p in parts if (t := _first_text(p))), "") if isinstance(
        prompt, Mapping | list
    ) else ""  # fmt: skip
