"""Files from the hub: listed once, fetched by huggingface_hub, held against the hub's digests.

huggingface_hub finds the token, resumes a broken-off transfer and keeps the files in its own cache
(`HF_HOME`). It compares sizes, not contents, so each file is hashed here once: large files have
their SHA-256 in the hub's listing, small ones git's own SHA-1. What was listed and checked is
remembered in hardset's cache folder, a file a commit, so that no network is needed again.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

import msgspec

from hardset.errors import UsageError
from hardset.sources.trouble import WrongFileError, explain, transient

if TYPE_CHECKING:
    from hardset.sources.hub import Hub

T = TypeVar("T")

AT_ONCE = 8  # transfers; what huggingface_hub itself has as its default
TRIES = 2  # after its own tries within a transfer


class Listed(msgspec.Struct, frozen=True):
    """One file of a commit: SHA-256 of its content if it is large, else git's blob id."""

    path: str
    size: int
    sha256: str = ""
    blob: str = ""


class Listing(msgspec.Struct, frozen=True):
    """What a commit holds."""

    repo: str
    commit: str
    files: list[Listed]
    licence: str = ""


def cache_folder() -> Path:
    """Return where hardset keeps what it fetched: `HARDSET_CACHE`, else `~/.cache/hardset`."""
    given = os.environ.get("HARDSET_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "hardset"


def listing(hub: Hub, revision: str, *, update: bool = False) -> Listing:
    """Return what the commit behind a revision holds: as remembered, or as the hub says now.

    Raises:
        UsageError: it was never listed here and the hub does not say.
    """
    folder = _records(hub)
    name = folder / f"{quote(revision, safe='')}.revision"
    asked = revision
    if not update and name.is_file():
        asked = name.read_text(encoding="utf-8").strip() or revision
        remembered = folder / f"{asked}.json"
        if remembered.is_file():
            try:
                return msgspec.json.decode(remembered.read_bytes(), type=Listing)
            except msgspec.DecodeError:
                remembered.unlink()  # damaged: the same commit is asked for again
    with _quiet():
        found = _ask(hub, asked)
    _write(folder / f"{found.commit}.json", msgspec.json.encode(found))
    for each in {revision, found.commit}:
        _write(folder / f"{quote(each, safe='')}.revision", found.commit.encode())
    return found


def _ask(hub: Hub, revision: str) -> Listing:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    def ask() -> Listing:
        api = HfApi()
        info = api.repo_info(hub.repo, revision=revision, repo_type=hub.kind)
        commit = info.sha
        if not commit:
            raise UsageError(f"the hub names no commit for {hub.repo} at {revision!r}")
        tree = api.list_repo_tree(hub.repo, recursive=True, revision=commit, repo_type=hub.kind)
        files = [
            Listed(
                path=entry.path,
                size=entry.lfs.size if entry.lfs else entry.size,
                sha256=entry.lfs.sha256 if entry.lfs else "",
                blob="" if entry.lfs else entry.blob_id,
            )
            for entry in tree
            if isinstance(entry, RepoFile)
        ]
        card = getattr(info, "card_data", None)
        licence = str((card.get("license") if card else None) or "")
        return Listing(repo=hub.repo, commit=commit, files=files, licence=licence)

    return _trying(ask, hub, revision)


def download(hub: Hub, listed: Listing, paths: Sequence[str]) -> list[Path]:
    """Return the local paths of files of a listing, fetching those that are not here.

    Every file is held against the hub's digest before it is used for the first time; one that
    differs is deleted. What is done stays done if the rest fails.

    Raises:
        UsageError: a file cannot be had, or is not what the hub lists; one sentence says which.
    """
    by_path = {file.path: file for file in listed.files}
    marks = _records(hub) / f"{listed.commit}.checked"
    checked = set(marks.read_text(encoding="utf-8").splitlines()) if marks.is_file() else set()

    def have(path: str) -> Path:
        file = by_path[path]
        local = _cached(hub, listed.commit, file)
        if local is not None and path in checked:
            return local
        local = _trying(lambda: _get(hub, listed.commit, file), hub, listed.commit)
        _append(marks, f"{path}\n")
        return local

    with _quiet():
        if len(paths) < 2:  # here, so that Ctrl-C ends the transfer and what it left
            return [have(path) for path in paths]
        return _together(have, paths, hub.repo)


def _get(hub: Hub, commit: str, file: Listed) -> Path:
    """Fetch one file, unless it is here, and hold it against its digest; a wrong one goes."""
    from huggingface_hub import hf_hub_download

    found = hf_hub_download(hub.repo, file.path, repo_type=hub.kind, revision=commit)
    local = Path(found)
    wrong = _differs(local, file)
    if wrong:
        blob = local.resolve()
        local.unlink()
        blob.unlink(missing_ok=True)
        raise WrongFileError(f"{file.path} {wrong}")
    return local


def _cached(hub: Hub, commit: str, file: Listed) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(hub.repo, file.path, revision=commit, repo_type=hub.kind)
    if not isinstance(found, str) or Path(found).stat().st_size != file.size:
        return None
    return Path(found)


def _differs(local: Path, file: Listed) -> str:
    """Say how a file's bytes differ from what the hub lists; "" if they do not."""
    size = local.stat().st_size
    if size != file.size:
        return f"has {size:,} bytes, and the hub lists {file.size:,}"
    whole = hashlib.sha256() if file.sha256 else hashlib.sha1(usedforsecurity=False)
    if not file.sha256:
        whole.update(f"blob {size}\0".encode())  # as git names a file by its content
    with local.open("rb") as content:
        while block := content.read(1 << 20):
            whole.update(block)
    due = file.sha256 or file.blob
    if whole.hexdigest() == due:
        return ""
    return f"has the {whole.name} {whole.hexdigest()[:16]}..., and the hub lists {due[:16]}..."


def _together(have: Callable[[str], Path], paths: Sequence[str], what: str) -> list[Path]:
    """Fetch several files at once; the first that fails ends it. Many have one bar for all.

    The threads are daemons: Ctrl-C does not wait for transfers that may take hours.
    """
    from rich.console import Console
    from rich.progress import Progress

    waiting: SimpleQueue[str] = SimpleQueue()
    done: SimpleQueue[tuple[str, Path | BaseException]] = SimpleQueue()
    for path in paths:
        waiting.put(path)

    def work() -> None:
        while True:
            try:
                path = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((path, have(path)))
            except BaseException as error:  # raised again by whoever waits for the file
                done.put((path, error))

    console = Console(stderr=True)
    many = len(paths) > AT_ONCE
    bar = Progress(console=console, disable=not (many and console.is_terminal))
    local: dict[str, Path] = {}
    with bar, _bars(shown=not many):
        task = bar.add_task(what, total=len(paths))
        for _ in range(min(AT_ONCE, len(paths))):
            Thread(target=work, daemon=True).start()
        try:
            for _ in paths:
                path, found = _next(done)
                if isinstance(found, BaseException):
                    raise found
                local[path] = found
                bar.advance(task)
        finally:
            while not waiting.empty():  # nothing is begun any more
                with suppress(Empty):
                    waiting.get_nowait()
    return [local[path] for path in paths]


def _next(done: SimpleQueue[T]) -> T:
    """Wait for the next one, looking up now and then.

    A Ctrl-C that comes just as a wait without end begins is only heard when that wait ends.
    """
    while True:
        with suppress(Empty):
            return done.get(timeout=0.2)


@contextmanager
def _bars(shown: bool) -> Iterator[None]:
    """Leave out the library's bar for each file, where there are many."""
    from huggingface_hub.utils.tqdm import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    if shown or are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()


def _trying(attempt: Callable[[], T], hub: Hub, revision: str) -> T:
    """Do it, once more after a passing fault, and turn what is left into one sentence."""
    for left in reversed(range(TRIES)):
        try:
            return attempt()
        except UsageError:
            raise
        except Exception as error:
            if not (left and transient(error)):
                raise explain(error, hub, revision) from error
            time.sleep(1)
    raise AssertionError("the last try returns or raises")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library's own warnings from standard error: what matters is said in one sentence."""
    from logging import ERROR

    from huggingface_hub.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity(ERROR)
    try:
        yield
    finally:
        logging.set_verbosity(before)


def _records(hub: Hub) -> Path:
    return cache_folder() / "hub" / f"{hub.kind}s--{hub.repo.replace('/', '--')}"


def _write(path: Path, content: bytes) -> None:
    """Write a record whole or not at all."""
    with _writable(path):
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_bytes(content)
        draft.replace(path)


def _append(path: Path, line: str) -> None:
    with _writable(path), path.open("a", encoding="utf-8") as file:
        file.write(line)


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UsageError(
            f"{path.parent} cannot be written: {error.strerror or error}; set HARDSET_CACHE to a "
            "folder that can"
        ) from error
