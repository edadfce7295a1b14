"""Where an image is: a file, a `data:` URL, or a scheme that makes it; and whether it changed."""

from __future__ import annotations

import binascii
import os
import stat
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from hardset.images.structure import BadMedia

MAX_BYTES = 256 * 2**20

Fresh = tuple[int, int, int]
"""What changes when a file does: size in bytes, time of change in ns, inode."""
MADE: Fresh = (0, 0, 0)  # of what its `where` alone determines

_SUFFIXES = {
    ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".jpe": "image/jpeg", ".png": "image/png",
    ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp", ".tif": "image/tiff",
    ".tiff": "image/tiff",
}  # fmt: skip


class Place(NamedTuple):
    """An image's `key` in the memory, and the file's path unless it is made."""

    key: str
    path: str | None


def name_of(where: str) -> str:
    """Name an image in a message: its `where`, without a data URL's data."""
    if len(where) <= 300 and not where.startswith("data:"):
        return where
    return f"{where.partition(',')[0][:80]},… ({len(where):,} characters)"


def freshness(path: str, where: str) -> Fresh:
    """Look whether a file is there and what it is like now; `where` names it in messages.

    Raises:
        BadMedia: it is not there, or no ordinary file.
    """
    try:
        return ordinary(os.stat(path), where)
    except (OSError, ValueError) as error:
        raise missing(where, path, error) from error


def ordinary(info: os.stat_result, where: str) -> Fresh:
    """Refuse what reading would not end on: folders, devices, pipes, enormous files."""
    if not stat.S_ISREG(info.st_mode):
        what = "a folder, not an image" if stat.S_ISDIR(info.st_mode) else "no ordinary file"
        raise BadMedia(f"{where} is {what}")
    if info.st_size > MAX_BYTES:
        raise BadMedia(f"{where} has {info.st_size:,} bytes, the limit is {MAX_BYTES:,}")
    return info.st_size, info.st_mtime_ns, info.st_ino


def without_waiting(path: str, flags: int) -> int:
    """Open a file for `open(opener=...)`; a named pipe without a writer must not hang us."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))


def stamp(fresh: Fresh) -> str:
    """Write a freshness down, for the memory."""
    return "made" if fresh is MADE else "{}.{}.{}".format(*fresh)


def missing(where: str, path: str, error: OSError | ValueError) -> BadMedia:
    """Say why a file cannot be read, and where it was looked for."""
    at = "" if where == path else f" (looked for {path})"
    if isinstance(error, IsADirectoryError):
        return BadMedia(f"{where} is a folder, not an image")
    if isinstance(error, FileNotFoundError):
        return BadMedia(f"{where} does not exist{at}")
    return BadMedia(f"{where} cannot be read{at}: {getattr(error, 'strerror', None) or error}")


def data_url(where: str) -> bytes:
    """Return the bytes of `data:[type][;base64],data` (RFC 2397)."""
    head, comma, body = where.partition(",")
    if not comma:
        raise BadMedia(f"{name_of(where)} is not a data URL: it has no comma")
    raw = unquote_to_bytes(body)
    if not head.endswith(";base64"):
        return raw
    text = b"".join(raw.split()).rstrip(b"=").translate(_URL_SAFE)
    try:
        return binascii.a2b_base64(text + b"=" * (-len(text) % 4), strict_mode=True)
    except binascii.Error as error:
        raise BadMedia(f"{name_of(where)} is not sound base64: {error}") from error


_URL_SAFE = bytes.maketrans(b"-_", b"+/")


def misnamed(where: str, kind: str) -> tuple[str, ...]:
    """Note a name that says another type than the bytes do; the bytes are believed."""
    if where.startswith("data:"):
        said = where[5:80].partition(",")[0].partition(";")[0]
    else:
        said = _SUFFIXES.get(os.path.splitext(where)[1].lower(), "")
    said = said.replace("image/jpg", "image/jpeg")
    return (f"named as {said}, but is {kind}",) if said and kind and said != kind else ()
