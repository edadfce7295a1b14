"""Reads the replies with hardset: the readers of its benchmarks, on the road that a run walks.

usage: python read_with_hardset.py < replies.jsonl

Options: `read_choice` (mmr, scenes). Yes or no: `read_yes_no`. Open: `read_match` (hardbench,
photos). Braces: `read_braces_lenient` (zerobench's second reading).
"""

import json
import sys

from hardset import __version__
from hardset.benchmarks.declaration import Benchmark
from hardset.outcomes import settle
from hardset.reading import (
    read_braces_lenient,
    read_choice,
    read_match,
    read_yes_no,
    same_lenient,
)
from hardset.records import Item, Reply, State

UNANSWERABLE = "unanswerable"  # the reference of an open question that has no answer


class Tricky(Benchmark):
    """The forty replies as a benchmark: each form is read by the reader that is made for it."""

    name = "tricky"
    title = "Tricky replies"

    def read(self, item, text):
        if item.form == "choice":
            return {"default": read_choice(text, item.choices)}
        if item.form == "yes_no":
            return {"default": read_yes_no(text, item.question)}
        if item.form == "braces":
            return {"default": read_braces_lenient(text)}
        accepted = (item.answer,) if item.answerable else ()
        return {"default": read_match(text, accepted, item.question)}

    def right(self, item, reading):
        if item.form == "braces":
            return reading.state is State.ANSWERED and same_lenient(reading.answer, item.answer)
        return super().right(item, reading)


def read(row):
    """Read one reply: its state, its answer, whether that is right, and the rule that decided."""
    answerable = row["gold"] != UNANSWERABLE
    item = Item(
        id=row["id"],
        question=row["question"],
        form=row["form"],
        choices=tuple(row["choices"]),
        answer=row["gold"] if answerable else "",
        answerable=answerable,
    )
    outcome = settle(Tricky(), item, 0, Reply(text=row["reply"], finish=row["finish"]))
    judged = outcome.readings["default"]
    return {
        "id": row["id"],
        "by": row["form"],
        "state": outcome.state.value,
        "answer": judged.reading.answer,
        "correct": judged.right,
        "rule": judged.reading.rule or outcome.reason,
    }


if __name__ == "__main__":
    replies = [json.loads(line) for line in sys.stdin]
    json.dump({"version": __version__, "readings": [read(row) for row in replies]}, sys.stdout)
