"""How often the readers read what a careful person reads: on tests/data/labelled_replies.jsonl.

usage: python bench/labelled.py [--batch N] [--keep NAME]

Each reply goes through its benchmark's own `read`, as a user's would. Three rates, by batches
(see labelled_replies.md), with 95 % intervals over clusters of items:

- refusal: the row ends abstained where the reply refuses, and not so where it does not;
- choice: the letter, yes or no is the one that the reply commits to, none where there is none;
- match: the answer counts as right where it means the same as the reference, and only there.

Every miss is listed. --keep puts the figures into bench/labelled.json under a name ("before the
readers were mended"), for every batch, and prints the table of all that are kept there.
"""

import argparse
import json
from functools import cache
from pathlib import Path

import polars as pl

from hardset.benchmarks.registry import make
from hardset.metrics import Ratio, estimate
from hardset.records import State

HERE = Path(__file__).resolve().parent
REPLIES = HERE.parent / "tests" / "data" / "labelled_replies.jsonl"
KEPT = HERE / "labelled.json"
BATCHES = (1, 2, 3, 4, 5, 6, 7, 8)
READERS = {
    "refusal": "refuses or not",
    "choice": "the option, or yes or no",
    "match": "means the reference or not",
}


def replies(batch):
    """Return the labelled replies of a batch."""
    rows = map(json.loads, REPLIES.read_text("utf-8").splitlines())
    return [row for row in rows if row["batch"] == batch]


@cache
def _items(source):
    benchmark = make(source)
    return benchmark, {item.id: item for item in benchmark.items()}


def item(row):
    """Return the item that a reply is to."""
    return _items(row["source"])[1][row["id"]]


def read(row):
    """Read one reply: for each reader that is due, what was due and what was read, as words."""
    benchmark, _ = _items(row["source"])
    judged = benchmark.judge(item(row), row["reply"])["default"]
    reading = judged.reading
    answer = reading.answer if reading.state is State.ANSWERED else ""
    found = {"refusal": (_refuses(row["refused"]), _refuses(reading.state is State.ABSTAINED))}
    if row["choice"] is not None:
        found["choice"] = (row["choice"] or "none", answer or "none")
    if row["matches"] is not None:
        found["match"] = (_matches(row["matches"]), _matches(judged.right))
    return {
        "id": row["id"],
        "reply": row["reply"],
        "note": row.get("note", ""),
        "state": str(reading.state),
        "answer": reading.answer,
        "rule": reading.rule,
        "right": judged.right,
        "found": found,
    }


def _refuses(refused):
    return "refuses" if refused else "does not"


def _matches(matches):
    return "matches" if matches else "does not"


def taken(row, outcome):
    """Whether a refusal is taken for an option, or for an answer that counts as right."""
    answered = outcome["state"] == State.ANSWERED
    return row["refused"] and answered and (row["choice"] is not None or outcome["right"])


def misses(outcome):
    """Return the readers that read a reply otherwise than the label says."""
    return [reader for reader, (due, got) in outcome["found"].items() if due != got]


def measure(batch):
    """Return each reader's rate with its interval and confusion counts, and every miss."""
    rows = replies(batch)
    outcomes = [read(row) for row in rows]
    figures = {}
    for reader in READERS:
        due = [outcome for outcome in outcomes if reader in outcome["found"]]
        frame = pl.DataFrame(
            {
                "item": [outcome["id"] for outcome in due],
                "same": [reader not in misses(outcome) for outcome in due],
            }
        )
        (rate,) = estimate(
            frame,
            [Ratio(name=reader, top=pl.col("same"), bottom=pl.col("same").is_not_null())],
            cluster="item",
        )
        confusion = {}
        for outcome in due:
            pair = " read as ".join(outcome["found"][reader])
            confusion[pair] = confusion.get(pair, 0) + 1
        figures[reader] = {
            "right": int(frame["same"].sum()),
            "of": frame.height,
            "items": frame["item"].n_unique(),
            "rate": rate.value,
            "low": rate.low,
            "high": rate.high,
            "method": rate.method,
            "confusion": dict(sorted(confusion.items())),
        }
    return {
        "figures": figures,
        "refusals": sum(row["refused"] for row in rows),
        "refusals taken for answers": sum(map(taken, rows, outcomes)),
        "misses": [
            {**outcome, "missed": missed} for outcome in outcomes if (missed := misses(outcome))
        ],
    }


def listed(measured):
    """Return the figures and every miss of one measurement, as text."""
    lines = []
    for reader, figure in measured["figures"].items():
        lines.append(
            f"{reader:8} {figure['right']}/{figure['of']} = {figure['rate']:.1%} "
            f"[{figure['low']:.1%}, {figure['high']:.1%}], {figure['method']}, "
            f"{figure['items']} items; {READERS[reader]}"
        )
        lines += [f"    {count:4}  {pair}" for pair, count in figure["confusion"].items()]
    lines.append(
        f"refusals taken for an option or a right answer: "
        f"{measured['refusals taken for answers']} of {measured['refusals']}"
    )
    for miss in measured["misses"]:
        due = ", ".join(
            f"{reader}: {miss['found'][reader][0]}, read: {miss['found'][reader][1]}"
            for reader in miss["missed"]
        )
        lines += [
            f"\n{miss['id']}: {due}",
            f"    {miss['reply'][:700]!r}",
            f"    {miss['state']} {miss['answer'][:80]!r} by {miss['rule']!r}",
        ]
    return "\n".join(lines)


def table(kept):
    """Return the kept figures as a table in Markdown, a line each name and batch."""
    lines = ["| Readers | Replies | " + " | ".join(READERS) + " | Refusals taken for answers |"]
    lines.append("| --- | --- |" + " ---: |" * (len(READERS) + 1))
    for name, batches in kept.items():
        for batch, measured in batches.items():
            cells = [
                f"{figure['right']} of {figure['of']}: {figure['rate']:.1%} "
                f"[{figure['low']:.1%}, {figure['high']:.1%}]"
                for figure in measured["figures"].values()
            ]
            taken_ = f"{measured['refusals taken for answers']} of {measured['refusals']}"
            lines.append(f"| {name} | batch {batch} | " + " | ".join([*cells, taken_]) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, choices=BATCHES, help="list its misses too")
    parser.add_argument("--keep", metavar="NAME", help="keep the figures of all batches")
    given = parser.parse_args()
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if given.keep:
        kept[given.keep] = {str(batch): measure(batch) for batch in BATCHES}
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(table(kept))
    if given.batch or not given.keep:
        print(listed(measure(given.batch or 1)))


if __name__ == "__main__":
    main()
