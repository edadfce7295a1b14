"""GLUE's own files: headers, quotes, label names and numbers as on the hub, broken lines."""

from __future__ import annotations

import numpy as np
import pytest

from examples_made import GLUE, QUOTED, glue
from hardset.errors import UsageError
from hardset.lowresource.examples import Unreadable
from hardset.sources.examples.opening import open_examples

# What examples_made.GLUE holds, by the class names and numbers of nyu-mll/glue.
EXPECTED = {
    "CoLA": (("unacceptable", "acceptable"), [1, 0, 1], (f"{QUOTED}.",)),
    "SST-2": (("negative", "positive"), [0, 1, 1], ("hide new secretions ",)),
    "MRPC": (("not_equivalent", "equivalent"), [1, 0], (QUOTED, "He denied it")),
    "QQP": (("not_duplicate", "duplicate"), [0, -1, 1], ("How is it?", "What is it?")),
    "MNLI": (
        ("entailment", "neutral", "contradiction"),
        [1, 0, 2, -1],
        ("A man sings.", "He hums."),
    ),
    "QNLI": (("entailment", "not_entailment"), [0, 1], ("When?", "In 1914.")),
    "RTE": (("entailment", "not_entailment"), [1, 0], ("No weapons.", "Weapons.")),
    "WNLI": (("not_entailment", "entailment"), [1, 0], ("I stuck a pin.", "The pin.")),
    "STS-B": ((), [5.0, 2.75], ("A plane takes off.", "A plane flies.")),
}


@pytest.mark.parametrize("task", GLUE)
def test_every_task(tmp_path, task):
    train = open_examples(glue(tmp_path, task))
    classes, labels, first = EXPECTED[task]
    assert (train.kind, train.classes, train.labels.tolist()) == ("text", classes, labels)
    assert train.fetch(np.array([0])) == [first]
    assert (train.source["layout"], train.source["task"]) == ("glue", task)
    assert train.id(0) == f"train.tsv, line {1 if task == 'CoLA' else 2}"


@pytest.mark.parametrize("task", GLUE)
def test_the_test_set_is_the_validation_set(tmp_path, task):
    folder = glue(tmp_path, task)
    train = open_examples(folder)
    test = open_examples(folder, split="test", classes=train.classes)
    assert test.labels.tolist() == train.labels[-2:].tolist()
    name = "dev_matched.tsv" if task == "MNLI" else "dev.tsv"
    assert test.source["notes"][-1] == (
        f"GLUE's test labels are not published: this is its validation set ({name})"
    )
    assert open_examples(folder, split="val").labels.tolist() == test.labels.tolist()


def test_a_broken_line_keeps_its_position(tmp_path):
    train = open_examples(glue(tmp_path, "QQP"))
    broken, last = train.fetch(np.array([1, 2]))
    # Its line has four of the six cells: 14, 3, 4 and one question.
    assert broken == Unreadable("its line has 4 cells, and should have 6")
    assert last == ("Why?", "How come?")


def test_mrpcs_own_files(tmp_path):
    folder = tmp_path / "MRPC"
    folder.mkdir()
    header, rows = GLUE["MRPC"]
    for name, row in (("train", rows[0]), ("test", rows[1])):
        path = folder / f"msr_paraphrase_{name}.txt"
        path.write_text(f"{header}\n{row}\n", encoding="utf-8")
    assert open_examples(folder).labels.tolist() == [1]
    test = open_examples(folder, split="test")  # these have labels
    assert test.labels.tolist() == [0]
    assert test.source["files"] == ["msr_paraphrase_test.txt"]


def test_mismatched_by_its_name(tmp_path):
    folder = glue(tmp_path, "MNLI")
    header, rows = GLUE["MNLI"]
    (folder / "dev_mismatched.tsv").write_text(f"{header}\n{rows[0]}\n")
    assert len(open_examples(folder, split="val")) == 2
    assert len(open_examples(folder, split="dev_mismatched")) == 1


def test_one_file(tmp_path):
    folder = glue(tmp_path, "RTE")
    assert open_examples(folder / "dev.tsv").labels.tolist() == [1, 0]
    with pytest.raises(UsageError, match="is no file of GLUE with labels"):
        open_examples(folder / "test.tsv", layout="glue")


def test_a_label_that_is_none_of_the_tasks(tmp_path):
    folder = glue(tmp_path, "QNLI")
    path = folder / "train.tsv"
    path.write_text(path.read_text().replace("\tentailment", "\tperhaps"))
    with pytest.raises(UsageError, match=r"none of the 2 classes \(entailment, not_entailment\)"):
        open_examples(folder)


def test_anybodys_sentences_are_no_sst2(tmp_path):
    (tmp_path / "train.tsv").write_text("sentence\tlabel\nhello\t0\nbuy now\t1\n")
    examples = open_examples(tmp_path)
    assert (examples.source["layout"], examples.classes) == ("csv", ("0", "1"))
