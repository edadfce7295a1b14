"""Where a benchmark's rows are: a local file or folder, or a data set on the Hugging Face hub.

Nothing here touches the network until `resolve` is called for data that are not on this machine,
and then only once: the commit that a revision named when it was first fetched is remembered, so
that the same command reads the same bytes again, with or without a network. `update=True` asks the
hub anew.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from hardset.errors import UsageError

READABLE = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv")


@dataclass(frozen=True)
class Hub:
    """A published data set.

    Attributes:
        repo: its id, `owner/name`.
        files: patterns of the files that hold its rows; `**/` is any folders or none.
        revision: the branch, tag or commit read if the user names none.
        gated: its terms have to be accepted on its page first.
        licence: what its publishers give, as an SPDX name where there is one.
        kind: "dataset" or "model", as the hub has them.
    """

    repo: str
    files: tuple[str, ...] = ("**/*.parquet",)
    revision: str = "main"
    gated: bool = False
    licence: str = ""
    kind: str = "dataset"


@dataclass(frozen=True)
class Snapshot:
    """The files of one revision, on this machine.

    Attributes:
        files: paths, sorted by name.
        revision: "owner/name@commit" from the hub, "name, sha256 of 16 hex digits" from elsewhere.
        notice: what the reader of a report must know about where they come from; mostly nothing.
        root: the folder that the files' names count from.
        named: the user named this one file, so that it is whatever split is asked for.
        licence: what the page on the hub states, "" if nothing.
    """

    files: tuple[Path, ...]
    revision: str
    notice: str = ""
    root: Path | None = None
    named: bool = False
    licence: str = ""

    def split(self, name: str) -> tuple[Path, ...]:
        """Return the files of a split, told by file name or folder.

        `test.parquet`, `test-00000-of-00001.parquet` and `data/test/0000.parquet` are of "test".

        Raises:
            UsageError: there are none; it says which splits there are.
        """
        if self.named:
            return self.files
        splits = [_splits(self._within(file)) for file in self.files]
        found = tuple(f for f, names in zip(self.files, splits, strict=True) if name in names[:1])
        found = found or tuple(f for f, n in zip(self.files, splits, strict=True) if name in n)
        if not found:
            there = ", ".join(sorted({names[0] for names in splits}))
            raise UsageError(f"{self.revision} has no split {name!r}; there are: {there or 'none'}")
        return found

    def _within(self, file: Path) -> PurePosixPath:
        within = file.relative_to(self.root) if self.root else Path(file.name)
        return PurePosixPath(within.as_posix())


_SHARD = re.compile(r"[-_]\d+[-_]of[-_]\d+.*$")
_NUMBERED = re.compile(r"(?:part|shard|data|chunk)?[-_.]?\d*")


def _splits(path: PurePosixPath) -> list[str]:
    """Return the names of the split that a file may be of, the likeliest first."""
    stem = _SHARD.sub("", path.name.partition(".")[0])
    folders = list(reversed(path.parts[:-1]))
    return [*folders, stem] if _NUMBERED.fullmatch(stem) and folders else [stem, *folders]


_ID = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w.\-/]+))?")


def on_the_hub(data: str | Path | None) -> bool:
    """Whether data are to be fetched: the published set, or a hub id that is no file here."""
    if data is None:
        return True
    path, text = Path(data), data if isinstance(data, str) else data.as_posix()
    return not (path.exists() or path.suffix.lower() in READABLE or _ID.fullmatch(text) is None)


def resolve(
    data: str | Path | None, hub: Hub, revision: str = "", *, update: bool = False
) -> Snapshot:
    """Return the files of a benchmark's data, fetched from the hub if they are not here yet.

    Args:
        data: a file, a folder, a hub id (`owner/name`, or `owner/name@revision`), or None for the
            published set.
        hub: the published set; a hub id in `data` takes its patterns.
        revision: a branch, tag or commit instead of the default; only for the hub.
        update: ask the hub what the revision is now, and fetch that.

    Raises:
        UsageError: there is no such data, or it cannot be had; one sentence says why and what to
            do.
    """
    if data is not None:
        text = data if isinstance(data, str) else data.as_posix()
        named = _ID.fullmatch(text)
        if named is None or not on_the_hub(data):
            if revision or update:
                raise UsageError(
                    f"a revision is one of the hub's, and {data} is not on the hub: leave it out"
                )
            return _local(Path(data), hub.files)
        if revision and named[2] and revision != named[2]:
            raise UsageError(f"the revision is given twice: {named[2]} in {text}, and {revision}")
        hub, revision = replace(hub, repo=named[1], gated=False), revision or named[2] or ""
    from hardset.sources import downloads

    listing = downloads.listing(hub, revision or hub.revision, update=update)
    chosen = choose([file.path for file in listing.files], hub.files)
    at = f"{hub.repo}@{listing.commit}"
    if not chosen:
        raise UsageError(
            f"{at} on the hub holds no {' or '.join(hub.files)}, and nothing else that can be "
            "read as rows: is this the right data set, or revision?"
        )
    files = downloads.download(hub, listing, chosen)
    root = files[0].parents[len(PurePosixPath(chosen[0]).parts) - 1]
    return Snapshot(tuple(files), at, root=root, licence=listing.licence)


def choose(paths: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """Return the paths that match the patterns; where none does, all that can be read as rows."""
    paths = sorted(paths)
    matching = [path for path in paths if any(matches(path, pattern) for pattern in patterns)]
    return matching or [path for path in paths if PurePosixPath(path).suffix.lower() in READABLE]


def matches(path: str, pattern: str) -> bool:
    """Say whether a path, with slashes, matches a pattern whose `**/` may stand for no folder."""
    return fnmatchcase(path, pattern) or fnmatchcase(f"/{path}", pattern)


def _local(path: Path, patterns: Sequence[str]) -> Snapshot:
    if path.is_dir():
        inside = [
            file.relative_to(path).as_posix()
            for file in path.rglob("*")
            if file.is_file() and not any(p.startswith(".") for p in file.relative_to(path).parts)
        ]
        chosen = choose(inside, patterns)
        if not chosen:
            raise UsageError(
                f"the folder {path} holds no {' or '.join(patterns)}, and nothing else that can "
                f"be read as rows ({', '.join(READABLE)}); check the path"
            )
        whole = hashlib.sha256()
        for name in chosen:
            whole.update(f"{name} {digest(path / name)}\n".encode())
        revision = f"{path.resolve().name}, sha256 {whole.hexdigest()[:16]}"
        return Snapshot(tuple(path / name for name in chosen), revision, root=path)
    if not path.exists():
        raise UsageError(
            f"{path} does not exist; check the path (a data set on the hub is written owner/name)"
        )
    if not path.is_file():
        raise UsageError(f"{path} is no ordinary file; check the path")
    revision = f"{path.name}, sha256 {digest(path)[:16]}"
    return Snapshot((path,), revision, root=path.parent, named=True)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
