"""ImageNet (ILSVRC 2012) as it unpacks: train/n01440764/*.JPEG, val in such folders or flat.

Classes are in sorted order of their WordNet ids, as everywhere in the field; their names come from
`LOC_synset_mapping.txt` or `words.txt` where one is there. A flat val has its labels, by WordNet
id, in `LOC_val_solution.csv`, or, as numbers in an order of their own, in
`ILSVRC2012_validation_ground_truth.txt`; `map_clsloc.txt` or the devkit's `meta.mat` has their ids.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.sources.examples import digests, splits
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.folders import classed
from hardset.sources.examples.labelling import labelled
from hardset.sources.examples.photographs import photographs
from hardset.sources.examples.tree import entries, folders_in, is_picture, sound

NAME = "imagenet"
NEEDS = "train/n01440764/*.JPEG and the like, val/ in such folders or flat with its list of labels"
_WORDNET = re.compile(r"n\d{8}")
_INNER = ("", "ILSVRC/Data/CLS-LOC", "Data/CLS-LOC", "CLS-LOC", "ILSVRC2012")
_LISTS = (
    "",
    "ILSVRC",
    "ILSVRC2012_devkit_t12",
    "ILSVRC2012_devkit_t12/data",
    "devkit/data",
    "data",
)
_TRUTH = ("ILSVRC2012_validation_ground_truth.txt", "LOC_val_solution.csv")


def recognise(place: str) -> bool:
    """Whether there are class folders called by WordNet ids."""
    path = Path(place).expanduser()
    return path.is_dir() and _root(path) is not None


def read(asked: Asked) -> Examples:
    """Open a split."""
    path = asked.path
    root = _root(path)
    if root is None:
        raise UsageError(f"{path} is not laid out as ImageNet; a place of this layout has {NEEDS}")
    split = ""
    if _classes(root):
        folder = root  # the split itself
    else:
        there = [one.name for one in folders_in(root) if one.name.lower() in splits.KNOWN]
        wanted = asked.split
        if wanted == "test":  # its pictures come without labels
            there = [name for name in there if name != "test"] or there
        split = splits.pick(there, wanted, root)
        folder = root / split
    names = _names(path, folder)
    if _classes(folder):
        return classed(asked, folder, split, names, NAME)
    return _flat(asked, folder, split, names)


def _root(path: Path) -> Path | None:
    for inner in _INNER:
        root = path / inner
        if not root.is_dir():
            continue
        if _classes(root) or any(_classes(root / name) for name in splits.KNOWN):
            return root
        if any((place / truth).is_file() for truth in _TRUTH for place in _around(path, root)) and (
            any((root / name).is_dir() for name in splits.KNOWN)
        ):
            return root
    return None


def _classes(folder: Path) -> list[str]:
    return [one.name for one in folders_in(folder) if _WORDNET.fullmatch(one.name)]


def _around(path: Path, folder: Path) -> list[Path]:
    """Return where the lists may lie: at the place, above the split, in a devkit beside it."""
    starts = dict.fromkeys(
        (path, folder, *list(folder.resolve().parents)[:4], path.resolve().parent)
    )
    return [start / inner for start in starts for inner in _LISTS]


def _find(name: str, path: Path, folder: Path) -> Path | None:
    return next((at / name for at in _around(path, folder) if (at / name).is_file()), None)


def _names(path: Path, folder: Path) -> dict[str, str]:
    """Return the names of WordNet ids, each once: two classes are called "crane"."""
    file = _find("LOC_synset_mapping.txt", path, folder) or _find("words.txt", path, folder)
    if file is None:
        return {}
    found = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        wordnet, _, name = line.strip().replace("\t", " ", 1).partition(" ")
        if _WORDNET.fullmatch(wordnet) and name.strip():
            found[wordnet] = name.strip()
    there = set(_classes(folder)) or set(_classes(folder.parent / "train")) or set(found)
    often = Counter(name for wordnet, name in found.items() if wordnet in there)
    return {
        wordnet: f"{name} ({wordnet})" if often[name] > 1 else name
        for wordnet, name in found.items()
    }


def _flat(asked: Asked, folder: Path, split: str, names: dict[str, str]) -> Examples:
    pictures = [entry for entry in entries(folder) if is_picture(entry.name) and sound(entry.name)]
    if not pictures:
        raise UsageError(f"{folder} holds neither class folders nor pictures")
    files = [entry.name for entry in pictures]
    wordnets, truth = _truth(asked.path, folder, files)
    train = next(
        (found for name in splits.names("train") if (found := _classes(folder.parent / name))), None
    )
    classes = asked.classes or tuple(
        names.get(wordnet, wordnet) for wordnet in train or sorted(set(wordnets))
    )
    texts = [names.get(wordnet, wordnet) for wordnet in wordnets]
    labels = labelled(texts, truth, classes=classes)
    sizes = [entry.stat().st_size for entry in pictures]
    opened = photographs(
        folder,
        [(".", files, sizes, labels.labels.tolist())],
        labels.classes,
        {"place": asked.place, "layout": NAME, "split": split, "notes": list(labels.notes)},
    )
    both = [("pictures", opened.source["sha256"]), ("labels", digests.of_file(truth))]
    opened.source["sha256"] = digests.of_listing(both)
    return opened


def _truth(path: Path, folder: Path, files: list[str]) -> tuple[list[str], Path]:
    """Return the WordNet id of each picture of a flat folder, and the list it stands in."""
    solution = _find("LOC_val_solution.csv", path, folder)
    if solution is not None:
        with solution.open(encoding="utf-8-sig", newline="") as file:
            rows = {row[0]: row[1].split(" ")[0] for row in csv.reader(file) if len(row) == 2}
        missing = [name for name in files if name.rpartition(".")[0] not in rows]
        if missing:
            raise UsageError(
                f"{solution} has no label for {len(missing):,} of {len(files):,} pictures, the "
                f"first: {missing[0]}"
            )
        return [rows[name.rpartition(".")[0]] for name in files], solution
    truth = _find("ILSVRC2012_validation_ground_truth.txt", path, folder)
    if truth is None:
        raise UsageError(
            f"the pictures in {folder} are in no class folders, and no list of their labels is "
            f"there: put {' or '.join(_TRUTH)} beside it"
        )
    said = truth.read_text(encoding="utf-8").split()
    if len(said) != len(files):
        raise UsageError(f"{truth} has {len(said):,} labels, {folder} {len(files):,} pictures")
    if all(_WORDNET.fullmatch(one) for one in said):
        return said, truth
    wordnet = _numbered(path, folder, truth)
    odd = [one for one in said if one not in wordnet]
    if odd:
        raise UsageError(f"{truth}: the label {odd[0]} is none of the {len(wordnet)} classes")
    return [wordnet[one] for one in said], truth


def _numbered(path: Path, folder: Path, truth: Path) -> dict[str, str]:
    """Return the WordNet id that each number of the list of labels stands for."""
    readers: tuple[tuple[str, Callable[[Path], dict[str, str]]], ...] = (
        ("map_clsloc.txt", _mapped),
        ("meta.mat", _matlab),
    )
    for name, reader in readers:
        if file := _find(name, path, folder):
            return reader(file)
    raise UsageError(
        f"{truth} has numbers, which are not the order of the class folders: put the devkit's "
        "map_clsloc.txt or meta.mat beside it, or take LOC_val_solution.csv"
    )


def _mapped(file: Path) -> dict[str, str]:
    rows = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    return {row[1]: row[0] for row in rows if len(row) >= 2}


def _matlab(file: Path) -> dict[str, str]:
    try:
        from scipy.io import loadmat  # type: ignore[import-untyped]
    except ImportError as error:
        raise UsageError(f"{file} is read with scipy: pip install scipy") from error
    synsets = loadmat(file, squeeze_me=True)["synsets"]
    return {str(int(one["ILSVRC2012_ID"])): str(one["WNID"]) for one in synsets}
