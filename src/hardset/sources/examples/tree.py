"""Walking folders of pictures: hidden files left out, links followed, loops not."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from hardset.errors import UsageError

DEEPEST = 400  # folders in folders
PICTURES = (".png", ".jpg", ".jpeg", ".jpe", ".webp", ".gif", ".bmp", ".tif", ".tiff")


@dataclass
class Tree:
    """What a class's folder holds.

    Attributes:
        folders: those with pictures, sorted, each as seen from the root, with the pictures' names,
            sorted, and their sizes in bytes (-1 for a link that leads nowhere).
        count: how many pictures there are.
        others: how many other visible files there are.
        loops: links that lead back to a folder they are in.
        unnamed: how many files and folders have names that are not UTF-8.
    """

    folders: list[tuple[str, list[str], list[int]]] = field(default_factory=list)
    count: int = 0
    others: int = 0
    loops: list[str] = field(default_factory=list)
    unnamed: int = 0


def hidden(name: str) -> bool:
    """Whether a name is one that systems leave behind unseen."""
    return name.startswith(".") or name in ("__MACOSX", "Thumbs.db", "desktop.ini")


def is_picture(name: str) -> bool:
    """Whether a file's name is a picture's."""
    return name.lower().endswith(PICTURES) and not hidden(name)


def entries(folder: Path | str) -> list[os.DirEntry[str]]:
    """Return a folder's visible entries, by name.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with os.scandir(folder) as found:
            there = [entry for entry in found if not hidden(entry.name)]
    except OSError as error:
        raise UsageError(
            f"the folder {folder} cannot be read: {error.strerror or error}; give yourself the "
            "right to read it, or move it away"
        ) from error
    return sorted(there, key=lambda entry: entry.name)


def sound(name: str) -> bool:
    """Whether a name or text is UTF-8: another cannot be written into a table."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or a link to one; a link that leads nowhere or round is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def folders_in(folder: Path) -> list[Path]:
    """Return the visible folders in a folder, by name; none where it is no folder."""
    if not folder.is_dir():
        return []
    return [folder / entry.name for entry in entries(folder) if is_folder(entry)]


def has_pictures(folder: Path, deep: int = 2) -> bool:
    """Whether a folder, or one a few levels down, holds a file that is called as a picture."""
    there = entries(folder)
    if any(is_picture(entry.name) and not is_folder(entry) for entry in there):
        return True
    return deep > 0 and any(
        has_pictures(folder / entry.name, deep - 1) for entry in there if is_folder(entry)
    )


def walk(folder: Path, root: Path) -> Tree:
    """Find the pictures below a class's folder.

    Raises:
        UsageError: a folder cannot be read.
    """
    tree = Tree()
    _walk(folder, os.path.relpath(folder, root), (), tree)
    tree.folders.sort(key=lambda found: found[0])
    return tree


def _walk(folder: Path, within: str, above: tuple[tuple[int, int], ...], tree: Tree) -> None:
    if len(above) > DEEPEST:
        raise UsageError(
            f"{within.partition('/')[0]} has more than {DEEPEST} folders in one another"
        )
    info = os.stat(folder)
    here = (info.st_dev, info.st_ino)
    if here in above:
        tree.loops.append(within)
        return
    names: list[str] = []
    sizes: list[int] = []
    for entry in entries(folder):
        if not sound(entry.name):
            tree.unnamed += 1
        elif is_folder(entry):
            _walk(folder / entry.name, f"{within}/{entry.name}", (*above, here), tree)
        elif is_picture(entry.name):
            names.append(entry.name)
            try:
                sizes.append(entry.stat().st_size)
            except OSError:  # a link to what is not there: said when it is fetched
                sizes.append(-1)
        else:
            tree.others += 1
    if names:
        tree.folders.append((within, names, sizes))
        tree.count += len(names)
