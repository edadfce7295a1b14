"""What stands for a data set's content in the manifest: cheap, and changed when it changes.

A file of up to 64 MiB is hashed whole. Of a larger one its size and 64 blocks of 64 KiB are, evenly
spaced from its first to its last byte: a parquet file ends with the statistics and places of all
its columns, so that another content hardly leaves it the same. Of a folder of pictures the sorted
names and sizes are. No times are in it: a copy elsewhere has the same digest.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from hardset.errors import UsageError

WHOLE = 64 * 2**20
_BLOCKS, _BLOCK = 64, 64 * 2**10


def of_file(path: Path) -> str:
    """Return the SHA-256 that stands for a file, in hex.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= WHOLE:
                return hashlib.file_digest(file, "sha256").hexdigest()
            found = hashlib.sha256(f"{size}\0".encode())
            for number in range(_BLOCKS):
                file.seek((size - _BLOCK) * number // (_BLOCKS - 1))
                found.update(file.read(_BLOCK))
            return found.hexdigest()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def of_files(named: Iterable[tuple[str, Path]]) -> str:
    """Return what stands for several files, by name; for one file, its own digest."""
    digests = [(name, of_file(path)) for name, path in named]
    if len(digests) == 1:
        return digests[0][1]
    return of_listing(digests)


def of_listing(entries: Iterable[tuple[str, object]]) -> str:
    """Return the SHA-256 of names, each with its size or digest, in sorted order."""
    found = hashlib.sha256()
    for name, what in sorted(entries):
        found.update(f"{name}\0{what}\n".encode(errors="surrogateescape"))
    return found.hexdigest()
