"""Finding a row's image among a data set's files, and taking it out of an archive."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from hardset.errors import UsageError


def match(wanted: Iterable[str], there: Iterable[str]) -> dict[str, str]:
    """Return, for each wanted path, the one path there that is it, or ends as it does.

    Data sets move: the folders before an image's name may be other ones, or missing. So the
    longest end of a wanted path that any path there has is looked for. It counts if only one has
    it, and if that one answers to no other wanted path as well: no two images become one.
    """
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in there:
        by_name[PurePosixPath(path).name].append(path)
    claims: dict[str, dict[tuple[int, int], list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in dict.fromkeys(wanted):
        parts = PurePosixPath(path).parts
        for start in range(len(parts)):
            end = "/".join(parts[start:])
            same = [p for p in by_name.get(parts[-1], ()) if p == end or p.endswith(f"/{end}")]
            if end in same:
                same = [end]
            if len(same) == 1:
                claims[same[0]][start - len(parts), start].append(path)
            if same:
                break
    found = {}
    for at, by_rank in claims.items():
        closest = by_rank[min(by_rank)]  # that share most parts with it, and have least besides
        if len(closest) == 1:
            found[closest[0]] = at
    return found


def place(source: Path, target: Path) -> None:
    """Put a file of the cache where an image is looked for: a second name, or a copy."""
    with _whole(target) as draft:
        try:
            os.link(source.resolve(), draft)
        except OSError:  # another disk, or a file system without hard links
            shutil.copyfile(source, draft)


def unpack(archive: Path, name: str, wanted: Mapping[str, Path]) -> set[str]:
    """Take wanted images out of an archive, each to its own place, and return which were in it.

    Args:
        archive: the file; `name` is what it is called, since a cache may call it otherwise.
        name: ends with .zip, .tar, .tar.gz or .tgz.
        wanted: where to put each image, by its path in the rows.

    Raises:
        UsageError: it is no such archive, or it is damaged.
    """
    try:
        if name.lower().endswith(".zip"):
            with zipfile.ZipFile(archive) as zipped:
                members = [info.filename for info in zipped.infolist() if not info.is_dir()]
                found = match(wanted, members)
                for path, member in found.items():
                    with zipped.open(member) as content:
                        _save(content, wanted[path])
            return set(found)
        with tarfile.open(archive) as tarred:
            found = match(wanted, [info.name for info in tarred if info.isfile()])
        targets = {member: wanted[path] for path, member in found.items()}
        with tarfile.open(archive) as tarred:
            for info in tarred:
                inside = tarred.extractfile(info) if info.name in targets else None
                if inside is not None:
                    _save(inside, targets[info.name])
        return set(found)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise UsageError(f"{name} is no sound archive: {error}; fetch it again") from error


def _save(content: IO[bytes], target: Path) -> None:
    with _whole(target) as draft, draft.open("wb") as file:
        shutil.copyfileobj(content, file, 1 << 20)


@contextmanager
def _whole(target: Path) -> Iterator[Path]:
    """Give a draft's place, and make it the file only when it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    try:
        yield draft
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
