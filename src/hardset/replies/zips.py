"""The members of a zip archive, also those that are compressed with Zstandard.

Python's own zipfile knows Zstandard (method 93 of the zip format) from version 3.14 on.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from hardset.errors import UsageError

ZSTANDARD = 93
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OSError),  # RuntimeError: it has a password
)
_LOCAL = struct.Struct("<26xHH")  # of a member's own header: the lengths of its name and extra


def read_members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the members that are wanted, in the archive's order.

    Raises:
        UsageError: the archive is broken.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if not wanted(member.filename):
                    continue
                if member.compress_type == ZSTANDARD:
                    yield member.filename, _zstandard(file, member)
                else:
                    yield member.filename, archive.read(member)
    except _BROKEN as error:
        raise UsageError(f"{path} is a broken zip archive: {error}") from error


def _zstandard(file: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    import zstandard

    file.seek(member.header_offset)
    name, extra = _LOCAL.unpack(file.read(_LOCAL.size))
    file.seek(name + extra, 1)
    try:
        content = (
            zstandard.ZstdDecompressor().decompressobj().decompress(file.read(member.compress_size))
        )
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(f"{member.filename}: {error}") from error
    if zlib.crc32(content) != member.CRC:
        raise zipfile.BadZipFile(f"{member.filename} does not have its checksum")
    return content
