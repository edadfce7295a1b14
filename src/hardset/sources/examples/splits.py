"""The parts of a data set: by which names they go, and which files are of which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from hardset.errors import UsageError

_TRAIN = ("train", "training")
_VALIDATION = ("val", "validation", "valid", "dev")
KNOWN = (*_TRAIN, "test", *_VALIDATION)
_SHARD = re.compile(r"[-_.]\d+[-_]of[-_]\d+.*$")
_WORD = re.compile(rf"(?:^|[-_.])({'|'.join(KNOWN)})(?:[-_.](?:matched|mismatched))?$")


def names(split: str) -> tuple[str, ...]:
    """Return the names a split may go by, the likeliest first.

    Where nothing is called "test", what is called "val" is: ImageNet and GLUE keep their test
    labels to themselves.
    """
    if split in _TRAIN:
        return _TRAIN
    if split == "test":
        return ("test", *_VALIDATION)
    if split in _VALIDATION:
        return (split, *(name for name in _VALIDATION if name != split))
    return (split,)


def split_of(path: PurePath) -> str:
    """Return the split that a file or folder says it is of, in its own words; "" if none.

    `train-00000-of-00002.parquet`, `data/train/0.parquet` and `msr_paraphrase_train.txt` are of
    "train", `validation_matched.parquet` is of "validation_matched".
    """
    stem = _SHARD.sub("", path.name.partition(".")[0].lower())
    for name in (stem, *(part.lower() for part in reversed(path.parts[:-1]))):
        if found := _WORD.search(name):
            return name[found.start(1) :]
    return ""


def of_split(paths: Iterable[PurePath], split: str, where: object) -> tuple[list[int], str]:
    """Choose the files of a split.

    Args:
        paths: relative to the data set's folder.
        split: what is asked for.
        where: the data set, for the error.

    Returns:
        Their positions among the paths, and what the split is called there; "" where no file
        says that it is of any split, so that all of them are the set.

    Raises:
        UsageError: there are splits, and not this one.
    """
    said = [split_of(path) for path in paths]
    if not any(said):
        return list(range(len(said))), ""
    found = pick(sorted(set(said) - {""}), split, where)
    return [number for number, name in enumerate(said) if name == found], found


def pick(there: Sequence[str], split: str, where: object) -> str:
    """Return which of the splits that are there is the one asked for.

    Raises:
        UsageError: none is.
    """
    for name in names(split):
        alike = [candidate for candidate in there if candidate.lower() == name]
        if len(alike) > 1 and name not in alike:
            raise UsageError(f"{where} has {' and '.join(alike)}: which is the split {split!r}?")
        if alike:
            return name if name in alike else alike[0]
        for candidate in there:  # validation_matched before validation_mismatched
            if candidate.lower().startswith((f"{name}_", f"{name}-")):
                return candidate
    raise UsageError(f"{where} has no split {split!r}; there are: {', '.join(there)}")


def config_of(path: PurePath) -> str:
    """Return the folder of a file that is no split and no mere "data"; "" for none.

    Data sets that come in several configurations have a folder for each: `sst2/train-....parquet`.
    """
    folders = [part for part in path.parts[:-1] if part != "data" and part not in KNOWN]
    return folders[0] if folders else ""


def train_or_test(split: str, where: object) -> str:
    """Return "train" or "test", of a set that has these two; "val" is its test set.

    Raises:
        UsageError: another split is asked for.
    """
    return pick(("train", "test"), "test" if split in _VALIDATION else split, where)
