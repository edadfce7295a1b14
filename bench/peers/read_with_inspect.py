"""Reads the replies with Inspect: a whole `eval` on its mock model, scored by its own scorers.

usage: python read_with_inspect.py < replies.jsonl     (pip install inspect-ai==0.3.285)

The mock model says each reply, with its stop reason; `multiple_choice` and `choice` read options,
`match` and `includes` the rest, and `pattern` the braces with ZeroBench's own expression.
"""

import json
import sys
import tempfile
from importlib.metadata import version

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import answer, choice, includes, match, pattern
from inspect_ai.solver import generate, multiple_choice

WAYS = {  # by the form of the item: a name, solver and scorer, all Inspect's own, with its defaults
    "choice": [
        ("choice()", multiple_choice, choice),
        ("answer('letter')", multiple_choice, lambda: answer("letter")),
        ("match()", generate, match),
    ],
    "yes_no": [
        ("match()", generate, match),
        ("includes()", generate, includes),
        ("answer('word')", generate, lambda: answer("word")),
    ],
    "open": [
        ("match()", generate, match),
        ("includes()", generate, includes),
        ("answer('line')", generate, lambda: answer("line")),
    ],
    "braces": [
        ("match(numeric=True)", generate, lambda: match(numeric=True)),
        (r"pattern(r'\{(.*?)\}')", generate, lambda: pattern(r"\{(.*?)\}")),
    ],
}


def said(row):
    stop = "max_tokens" if row["finish"] == "length" else "stop"
    output = ModelOutput.from_content("mockllm/model", row["reply"], stop_reason=stop)
    output.usage = ModelUsage()  # without it the mock counts tokens, by a table it downloads
    return output


def read(rows, way, solver, scorer, logs):
    """Run one task over the rows of one form; yields what its scorer made of each."""
    samples = [
        Sample(
            id=row["id"], input=row["question"], target=row["gold"], choices=row["choices"] or None
        )
        for row in rows
    ]
    (log,) = eval(
        Task(dataset=samples, solver=solver(), scorer=scorer()),
        model=get_model("mockllm/model", custom_outputs=[said(row) for row in rows], memoize=False),
        max_samples=1,  # so that the mock's outputs come in the order of the samples
        log_dir=logs,
        display="none",
    )
    if log.status != "success":
        raise SystemExit(f"Inspect's {way} ended as {log.status}: {str(log.error)[:500]}")
    for row, sample in zip(rows, log.samples, strict=True):
        assert sample.id == row["id"]
        assert sample.output.completion == row["reply"]
        (score,) = sample.scores.values()
        correct = score.value == "C"
        # match() and includes() pick nothing out: what they found is the target, or nothing
        whole = way in ("match()", "includes()")
        found = (row["gold"] if correct else "") if whole else (score.answer or "")
        yield {"id": row["id"], "by": way, "answer": found, "correct": correct}


def main():
    rows = [json.loads(line) for line in sys.stdin]
    readings = []
    with tempfile.TemporaryDirectory() as logs:
        for form, ways in WAYS.items():
            of_form = [row for row in rows if row["form"] == form]
            for way, solver, scorer in ways:
                readings += read(of_form, way, solver, scorer, logs)
    json.dump({"version": version("inspect-ai"), "readings": readings}, sys.stdout)


main()
