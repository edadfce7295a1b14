"""The readers on the labelled replies: the floor that was measured, and what must never happen.

bench/labelled.py measures the same, with intervals; labelled_replies.md says what the labels mean.
"""

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"


@pytest.fixture(scope="module")
def labelled():
    sys.path.insert(0, str(BENCH))
    import labelled

    yield labelled
    sys.path.remove(str(BENCH))
    sys.modules.pop("labelled", None)


def test_labels_are_there_where_they_are_due_and_only_there(labelled):
    rows = [row for batch in labelled.BATCHES for row in labelled.replies(batch)]
    assert len({(row["id"], row["reply"].lower()) for row in rows}) == len(rows) == 1772
    for row in rows:
        lettered = row["form"] in ("choice", "yes_no")
        assert (row["choice"] is not None) == lettered
        assert (row["matches"] is not None) == (not lettered and row["answerable"])
        if row["refused"]:
            assert (row["choice"] or "", row["matches"] or False) == ("", False)
        if row["choice"]:
            known = "ABCD"[: len(row["options"])] if row["options"] else ("yes", "no")
            assert row["choice"] in known
    assert {row["id"] for row in labelled.replies(1)}.isdisjoint(
        row["id"] for row in labelled.replies(2)
    )


def test_labels_and_items_are_still_the_same(labelled):
    """A label is about the item as it was: its question, options and reference."""
    for row in [row for batch in labelled.BATCHES for row in labelled.replies(batch)]:
        item = labelled.item(row)
        assert (item.question, list(item.choices)) == (row["question"], row["options"])
        assert (item.answer if item.answerable else "") == row["gold"]
        assert (list(item.accept), item.answerable) == (row["accept"], row["answerable"])


@pytest.mark.parametrize("batch", [1, 2, 3, 4, 5, 6, 7, 8])
def test_no_refusal_is_taken_for_an_answer(labelled, batch):
    wrong = [
        row["reply"] for row in labelled.replies(batch) if labelled.taken(row, labelled.read(row))
    ]
    assert not wrong


@pytest.mark.parametrize("reader", ["refusal", "choice", "match"])
def test_the_floor(labelled, reader):
    """98 % of all the batches; the readers were mended on them, so new replies will do worse."""
    rows = [row for batch in labelled.BATCHES for row in labelled.replies(batch)]
    due = [outcome for outcome in map(labelled.read, rows) if reader in outcome["found"]]
    missed = [outcome["reply"] for outcome in due if reader in labelled.misses(outcome)]
    assert len(missed) <= 0.02 * len(due), missed
