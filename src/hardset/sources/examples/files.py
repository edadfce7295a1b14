"""The files of a data set in a folder: visible ones, of the types wanted, of the split wanted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hardset.errors import UsageError
from hardset.sources.examples import splits
from hardset.sources.examples.asked import Asked


@dataclass(frozen=True)
class Files:
    """Files of one split.

    Attributes:
        paths: in order of their names.
        names: each as seen from the data set's folder, with slashes.
        split: what it is called there; "" where nothing says so.
    """

    paths: tuple[Path, ...]
    names: tuple[str, ...]
    split: str


def inside(folder: Path, suffixes: tuple[str, ...]) -> list[PurePosixPath]:
    """Return the visible files below a folder with one of the endings, by name."""
    found = []
    for path in folder.rglob("*"):
        within = PurePosixPath(path.relative_to(folder).as_posix())
        hidden = any(part.startswith((".", "__MACOSX")) for part in within.parts)
        if within.suffix.lower() in suffixes and not hidden and path.is_file():
            found.append(within)
    return sorted(found)


def of_split(asked: Asked, suffixes: tuple[str, ...]) -> Files:
    """Choose the files of the split asked for; a file that was named itself is any split.

    Raises:
        UsageError: there are none.
    """
    path = asked.path
    if path.is_file():
        return Files((path,), (path.name,), "")
    there = inside(path, suffixes)
    if not there:
        raise UsageError(f"{path} holds no {' or '.join(suffixes)} file")
    chosen, name = splits.of_split(there, asked.split, path)
    several = sorted({splits.config_of(there[one]) for one in chosen})
    if name and len(several) > 1:
        raise UsageError(
            f"{path} holds several data sets, each with its splits: "
            f"{', '.join(one or '(on top)' for one in several[:5])}; name one"
        )
    return Files(
        tuple(path / there[one] for one in chosen), tuple(str(there[one]) for one in chosen), name
    )
