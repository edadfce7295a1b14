"""Replies made elsewhere: matched by id and by the fallbacks, and never guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardset.errors import UsageError
from hardset.scoring import make_benchmark, score

QUESTION = "Is the cat {what}?\nA. It is black.\nB. It is red.\nC. It is white.\nD. It is grey."


def data(folder: Path) -> Path:
    """Two pairs: gold A and B in the first, C and D in the second."""
    rows = [
        {
            "id": f"attribute/number/0{pair}",
            "image": f"{pair}.jpg",
            "question": QUESTION.format(what=f"{role} {pair}"),
            "ground_truth": gold,
            "question_type": role,
        }
        for pair, role, gold in [(1, "POS", "A"), (1, "NEG", "B"), (2, "POS", "C"), (2, "NEG", "D")]
    ]
    path = folder / "data.json"
    path.write_text(json.dumps(rows))
    return path


IDS = [f"attribute/number/0{pair}#{role}" for pair in (1, 2) for role in ("POS", "NEG")]


def scored(folder: Path, lines: list[dict[str, object]], **options: object):
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    benchmark = make_benchmark("mmr", data=str(data(folder)))
    return score(benchmark, path, runs=folder / "runs", **options)


def test_replies_matched_by_id_give_the_tables_of_a_run(tmp_path: Path):
    """First pair both right, second only its positive: RA 1/2, MR 1/2."""
    texts = ["A", "(B)", "The answer is C.", "A"]
    done = scored(tmp_path, [{"id": i, "reply": t} for i, t in zip(IDS, texts, strict=True)])
    rates = {(m.name, m.reading): (m.numerator, m.denominator) for m in done.metrics if not m.cut}
    assert rates["RA", "default"] == (1, 2)
    assert rates["MR", "default"] == (1, 2)
    assert rates["accuracy", "default"] == (3, 4)
    assert done.matched.by == {"by id": 4}
    assert not done.failed


def test_missing_replies_stay_in_the_denominator(tmp_path: Path):
    done = scored(tmp_path, [{"id": IDS[0], "reply": "A"}])
    assert done.failed == 3
    assert done.matched.missing == IDS[1:]
    assert done.reasons() == [("no reply in answers.jsonl", 3)]
    (accuracy,) = [
        m for m in done.metrics if m.name == "accuracy" and not m.cut and m.reading == "default"
    ]
    assert (accuracy.numerator, accuracy.denominator) == (1, 4)


def test_nothing_in_common_shows_ids_of_both_sides(tmp_path: Path):
    with pytest.raises(UsageError, match=r"'x1'.*'attribute/number/01#POS'"):
        scored(tmp_path, [{"id": "x1", "reply": "A"}, {"id": "x2", "reply": "B"}])
