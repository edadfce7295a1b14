"""Folders of pictures: ROOT/CLASS/picture, or with splits ROOT/train/CLASS/picture.

Classes are the folders, in sorted order; pictures are in the order of their folder and name, as
torchvision's `ImageFolder` has them. Only names and sizes are read until a picture is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.sources.examples import splits
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.photographs import Photographs, photographs
from hardset.sources.examples.tree import Tree, folders_in, has_pictures, sound, walk

NAME = "folders"
NEEDS = "a folder for each class with its pictures, or train/ and test/ (or val/) with these"


def recognise(place: str) -> bool:
    """Whether some class folder has a picture."""
    path = Path(place).expanduser()
    if not path.is_dir():
        return False
    return any(
        has_pictures(folder)
        for part in (path, *(path / name for name in _splits(path)))
        for folder in folders_in(part)
    )


def read(asked: Asked) -> Examples:
    """Open the split's class folders."""
    root, split = split_folder(asked)
    return classed(asked, root, split, {})


def split_folder(asked: Asked) -> tuple[Path, str]:
    """Return the folder of the split that was asked for, and what it is called there.

    Where there are no splits it is the place itself, and "".

    Raises:
        UsageError: there are other splits only.
    """
    path = asked.path
    there = _splits(path)
    if there:
        name = splits.pick(there, asked.split, path)
        return path / name, name
    return path, ""


def classed(
    asked: Asked, root: Path, split: str, names: dict[str, str], layout: str = NAME
) -> Photographs:
    """Open class folders.

    Args:
        asked: classes, if they are known.
        root: the folder of class folders.
        split: what it is called.
        names: what the classes of folders are called, where not as the folders.
        layout: as the manifest has it.

    Raises:
        UsageError: a folder cannot be read, is none of the classes, or none has a picture.
    """
    folders = folders_in(root)
    called = [names.get(folder.name, folder.name) for folder in folders]
    if unsound := [name for name in called if not sound(name)]:
        raise UsageError(f"{root}: the folder {unsound[0]!r} is not called in UTF-8: rename it")
    classes = asked.classes or tuple(called)
    number = {name: position for position, name in enumerate(classes)}
    if odd := [name for name in called if name not in number]:
        raise UsageError(
            f"{root} has folders that are none of the {len(classes)} classes: {', '.join(odd[:3])}"
            + (f" and {len(odd) - 3} more" if len(odd) > 3 else "")
        )
    trees: list[Tree] = []

    def found() -> Iterator[tuple[str, list[str], list[int], list[int]]]:
        for folder, name in zip(folders, called, strict=True):
            trees.append(walk(folder, root))
            inside, trees[-1].folders = trees[-1].folders, []  # names are kept compactly elsewhere
            for within, files, sizes in inside:
                yield within, files, sizes, [number[name]] * len(files)

    source = {"place": asked.place, "layout": layout, "split": split}
    opened = photographs(root, found(), classes, source)
    if not len(opened):
        raise UsageError(f"{root}: none of its {len(folders)} class folders has a picture")
    opened.source["notes"] = _notes(trees, called)
    return opened


def _splits(path: Path) -> list[str]:
    """Return the folders that are splits: called so, and holding folders."""
    return [
        folder.name
        for folder in folders_in(path)
        if folder.name.lower() in splits.KNOWN and folders_in(folder)
    ]


def _notes(trees: Sequence[Tree], called: Sequence[str]) -> list[str]:
    notes = []
    if empty := [name for tree, name in zip(trees, called, strict=True) if not tree.count]:
        have = "1 class folder has" if len(empty) == 1 else f"{len(empty)} class folders have"
        notes.append(
            f"{have} no picture: {', '.join(empty[:3])}" + (", ..." if len(empty) > 3 else "")
        )
    if others := sum(tree.others for tree in trees):
        files = "1 file whose name is not of a picture was"
        files = files if others == 1 else f"{others:,} files whose names are not of pictures were"
        notes.append(f"{files} left out")
    if unnamed := sum(tree.unnamed for tree in trees):
        notes.append(f"{unnamed:,} files and folders whose names are not UTF-8 were left out")
    if sum(tree.count > 0 for tree in trees) == 1:
        notes.append("pictures of one class only")
    if loops := [loop for tree in trees for loop in tree.loops]:
        notes.append(f"{len(loops)} links that lead back were not followed: {loops[0]}")
    return notes
