"""GLUE as its own download has it: a folder a task, with train.tsv, dev.tsv and test.tsv.

Quotes in these files are plain characters. Label numbers and names are those of the hub's
`nyu-mll/glue`, so that both are one data set. Test labels are not published: `test` is the
validation set. A line with too few or too many cells (QQP has some) keeps its position as
`Unreadable`; the hub's files leave such lines out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.sources.examples import files, splits
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.delimited import Line, as_table, unquoted
from hardset.sources.examples.gathering import gather
from hardset.sources.examples.tree import entries

NAME = "glue"
NEEDS = "a GLUE task's folder, with train.tsv and dev.tsv (MRPC: msr_paraphrase_train.txt too)"
_SUFFIXES = (".tsv", ".txt")

_YES_NO = ("entailment", "not_entailment")


class Task(NamedTuple):
    """A task of GLUE.

    Attributes:
        name: as GLUE calls it.
        content: the columns of its texts.
        label: the column of its labels.
        classes: their names, in the hub's order; empty for real numbers.
        said: what the file has for each class; None where it has the names.
    """

    name: str
    content: tuple[str, ...]
    label: str
    classes: tuple[str, ...]
    said: tuple[str, ...] | None = None


_BITS = ("0", "1")
TASKS = (
    Task("CoLA", ("sentence",), "label", ("unacceptable", "acceptable"), _BITS),
    Task("SST-2", ("sentence",), "label", ("negative", "positive"), _BITS),
    Task("MRPC", ("#1 String", "#2 String"), "Quality", ("not_equivalent", "equivalent"), _BITS),
    Task(
        *("QQP", ("question1", "question2"), "is_duplicate"),
        *(("not_duplicate", "duplicate"), _BITS),
    ),
    Task(
        *("MNLI", ("sentence1", "sentence2"), "gold_label"),
        ("entailment", "neutral", "contradiction"),
    ),
    Task("QNLI", ("question", "sentence"), "label", _YES_NO),
    Task("RTE", ("sentence1", "sentence2"), "label", _YES_NO),
    Task("WNLI", ("sentence1", "sentence2"), "label", ("not_entailment", "entailment"), _BITS),
    Task("STS-B", ("sentence1", "sentence2"), "score", ()),
)
_BY_NAME = {task.name: task for task in TASKS}
_COLA = ("source", "label", "mark", "sentence")  # its files have no header


def recognise(place: str) -> bool:
    """Whether it is a task's folder, or one of its files."""
    path = Path(place).expanduser()
    if path.is_file():
        return path.suffix.lower() in _SUFFIXES and _is_glue(path)
    return path.is_dir() and any(_is_glue(path / one) for one in _there(path))


def read(asked: Asked) -> Examples:
    """Read a split of a task."""
    path, split = asked.path, asked.split
    if path.is_file():
        chosen = files.Files((path,), (path.name,), "")
    else:
        there = _there(path)
        wanted = "val" if split == "test" and not _has_labels(path, there) else split
        found, name = splits.of_split(there, wanted, path)
        best = [number for number in found if there[number].suffix == ".tsv"] or found
        chosen = files.Files(
            *((path / there[best[0]],), (str(there[best[0]]),), name),
        )
    file = chosen.paths[0]
    task = _task(file)
    if task is None:
        raise UsageError(
            f"{file} is no file of GLUE with labels; a place of this layout has {NEEDS}"
        )
    columns = asked.text or task.content
    label = asked.label or task.label
    rows = _rows(file, task, (*columns, label))
    opened = as_table(
        asked,
        chosen,
        gather(rows, len(columns)),
        "text",
        labels_in=label,
        layout=NAME,
        classes=task.classes,
    )
    opened.source["task"] = task.name
    if split == "test" and chosen.split not in ("", "test"):
        opened.source["notes"].append(
            f"GLUE's test labels are not published: this is its validation set ({file.name})"
        )
    return opened


def _is_glue(path: Path) -> bool:
    task = _task(path)
    # Anybody may have texts called "sentence" with labels 0 and 1.
    return task is not None and (task.name != "SST-2" or "sst" in str(path.absolute()).lower())


def _there(folder: Path) -> list[PurePosixPath]:
    return [
        path
        for entry in entries(folder)
        if (path := PurePosixPath(entry.name)).suffix.lower() in _SUFFIXES
        and splits.split_of(path)
        and entry.is_file()
    ]


def _has_labels(folder: Path, there: Sequence[PurePosixPath]) -> bool:
    """Whether a test file has labels: MRPC's own has."""
    return any(
        splits.split_of(one) == "test" and one.suffix == ".txt" and _task(folder / one) is not None
        for one in there
    )


def _task(path: Path) -> Task | None:
    """Tell the task of a file from its first two lines; None if it is none, or has no labels."""
    lines = unquoted(path)
    first = next(lines, (0, []))[1]
    second = next(lines, (0, []))[1]
    if len(first) == 4 and first[1] in _BITS and first[2] in ("", "*"):
        return _BY_NAME["CoLA"]
    there = set(first)
    if {"sentence1", "sentence2", "label"} <= there and "index" in there:
        said = second[first.index("label")] if len(second) == len(first) else ""
        return _BY_NAME["WNLI" if said in _BITS else "RTE"] if said in (*_BITS, *_YES_NO) else None
    if there == {"sentence", "label"}:
        said = second[first.index("label")] if len(second) == 2 else ""
        return _BY_NAME["SST-2"] if said in _BITS else None
    for name, marks in (
        ("MRPC", {"Quality", "#1 String", "#2 String"}),
        ("QQP", {"qid1", "question1", "question2", "is_duplicate"}),
        ("MNLI", {"pairID", "sentence1", "sentence2", "gold_label"}),
        ("QNLI", {"index", "question", "sentence", "label"}),
        ("STS-B", {"old_index", "sentence1", "sentence2", "score"}),
    ):
        if marks <= there:
            return _BY_NAME[name]
    return None


def _rows(path: Path, task: Task, wanted: Sequence[str]) -> Iterator[Line | None]:
    yield None
    lines = unquoted(path)
    header = list(_COLA) if task.name == "CoLA" else next(lines)[1]
    if odd := [name for name in wanted if name not in header]:
        raise UsageError(f"{path} has no column {odd[0]!r}; it has {', '.join(header)}")
    *content, label = (header.index(name) for name in wanted)
    named = dict(zip(task.said or task.classes, task.classes, strict=True))
    for number, cells in lines:
        if len(cells) != len(header):
            wrong = f"its line has {len(cells)} cells, and should have {len(header)}"
            yield Line(number, (), None, wrong)
            continue
        said = cells[label].strip()
        if said in ("", "-"):  # MNLI: those who labelled it did not agree
            said = ""
        yield Line(number, [cells[one] for one in content], named.get(said, said))
