"""What a file really is, told from its bytes, and whether it is whole. Nothing is decoded here.

Names and servers lie: an HTML error page saved as `photo.jpg` is common. Each check reads a
header and walks to the end of the data, which finds nearly every broken download in
microseconds; what only a decoder can find is found once, by the full decode.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from msgspec import Struct


class BadMedia(Exception):  # noqa: N818 (a finding about the data, not a fault of ours)
    """An image that cannot be sent; `reason` is one sentence a person can act on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Shape(Struct, frozen=True):
    """What a header says: the size in pixels (0 where only a decoder can tell).

    `variant` names what plain readers of the type may stumble over: `cmyk`, `16-bit`,
    `animated`; `notes` say it for people.
    """

    width: int = 0
    height: int = 0
    variant: str = ""
    notes: tuple[str, ...] = ()


def check(data: bytes) -> tuple[str, Shape]:
    """Tell a file's media type and check that it is whole.

    Returns:
        The media type (`image/jpeg`) and what the header says.

    Raises:
        BadMedia: it is empty, not an image, of a kind that is not read, or incomplete.
    """
    if not data:
        raise BadMedia("is empty (0 bytes)")
    kind = sniff(data)
    if kind not in _CHECKS:
        raise BadMedia(f"is {kind}")
    try:
        return kind, _CHECKS[kind](data)
    except (struct.error, IndexError) as error:
        raise BadMedia(f"is a truncated {_short(kind)}: it ends inside its header") from error


def sniff(data: bytes) -> str:
    """Name what the bytes are: a media type we read, or in words what else (`an HTML page`)."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[:2] == b"BM" and len(data) > 26 and data[6:10] == b"\0\0\0\0":
        return "image/bmp"
    if data[4:8] == b"ftyp":
        brand = data[8:12].decode("latin-1")
        return _BRANDS.get(brand, "a video or other MP4-like file") + ", which is not read here"
    return _words(data)


def _words(data: bytes) -> str:
    """Say which text, if it is text: pages and pointers saved in an image's place."""
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    low = head.lower()
    if low.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<script")):
        return "an HTML page, not an image (an error or login page saved under its name?)"
    if b"<svg" in low:
        return "an SVG drawing, which is not read here: convert it to PNG"
    if low.startswith(b"<"):
        return "an XML or HTML text, not an image"
    if low.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer, not the image itself: run `git lfs pull`"
    try:
        text = head.decode("utf-8", errors="ignore" if len(data) > 1024 else "strict")
    except UnicodeDecodeError:
        text = "\0"
    if text.strip() and all(char.isprintable() or char in "\r\n\t" for char in text):
        return f"text, not an image (it begins {' '.join(text[:40].split())!r})"
    return f"not an image of a known kind (its first bytes are {data[:8].hex(' ')})"


def _jpeg(data: bytes) -> Shape:
    """Walk the segments to the frame header and the scan; then there must be an end."""
    at, shape = 2, None
    while True:
        if data[at] != 0xFF:
            raise BadMedia(f"is a damaged JPEG: no marker at byte {at}")
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # markers that stand alone
            at += 2
        else:
            (length,) = struct.unpack_from(">H", data, at + 2)
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                height, width, parts = struct.unpack_from(">HHB", data, at + 5)
                cmyk = parts == 4
                shape = Shape(width, height, *(("cmyk", ("CMYK",)) if cmyk else ()))
            at += 2 + length
            if marker == 0xDA:
                break
    # Only behind the scan's header: an embedded thumbnail has an end-of-image marker too.
    if data.rfind(b"\xff\xd9", at) < 0:
        raise BadMedia("is a truncated JPEG: its end-of-image marker is missing")
    if shape is None:
        raise BadMedia("is a damaged JPEG: it has no frame header")
    return shape


def _png(data: bytes) -> Shape:
    """Walk the chunks from IHDR to IEND."""
    if data[12:16] != b"IHDR":
        raise BadMedia("is a damaged PNG: its first chunk is not IHDR")
    width, height, depth = struct.unpack_from(">IIB", data, 16)
    notes: list[str] = []
    at, body = 8, False
    while True:
        if at + 12 > len(data):
            raise BadMedia("is a truncated PNG: its IEND chunk is missing")
        (length,) = struct.unpack_from(">I", data, at)
        name = data[at + 4 : at + 8]
        if name == b"IEND":
            break
        body = body or name == b"IDAT"
        if name == b"acTL":  # readers that know no animation show the still picture
            notes.append("animated PNG; the first picture counts")
        at += 12 + length
    if not body:
        raise BadMedia("is a damaged PNG: it holds no picture (no IDAT chunk)")
    if depth == 16:
        return Shape(width, height, "16-bit", ("16-bit", *notes))
    return Shape(width, height, "", tuple(notes))


def _gif(data: bytes) -> Shape:
    """Walk the blocks to the trailer, counting frames."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    at, frames = 13 + _palette(flags), 0
    while True:
        if at >= len(data):
            raise BadMedia(f"is a truncated GIF: no trailer after {frames} frames")
        block = data[at]
        if block == 0x3B:
            break
        if block == 0x2C:
            frames += 1
            at += 10 + _palette(data[at + 9]) + 1
        elif block == 0x21:
            at += 2
        else:
            raise BadMedia(f"is a damaged GIF: unknown block {block:#04x} at byte {at}")
        while at < len(data) and data[at]:  # sub-blocks, each with its length in front
            at += data[at] + 1
        at += 1
    if not frames:
        raise BadMedia("is a damaged GIF: it holds no picture")
    if frames > 1:
        return Shape(width, height, "animated", (f"animated, {frames} frames",))
    return Shape(width, height)


def _palette(flags: int) -> int:
    """Return a GIF palette's length in bytes, from the flags in front of it."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _webp(data: bytes) -> Shape:
    """Hold the RIFF length against the file's, and read the size from the first chunk."""
    (length,) = struct.unpack_from("<I", data, 4)
    if length + 8 > len(data):
        raise BadMedia(f"is a truncated WebP: {len(data)} of {length + 8} bytes")
    chunk = data[12:16]
    if chunk == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        height = int.from_bytes(data[27:30], "little") + 1
        moving = bool(data[20] & 0x02)
        return Shape(width, height, *(("animated", ("animated",)) if moving else ()))
    if chunk == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return Shape((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if chunk == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return Shape(width & 0x3FFF, height & 0x3FFF)
    raise BadMedia("is a damaged WebP: its first chunk is none of VP8, VP8L, VP8X")


def _bmp(data: bytes) -> Shape:
    """Hold the offset of the pixels against the file's length; the rest is for the decoder."""
    offset, header = struct.unpack_from("<II", data, 10)
    if header == 12:
        width, height = struct.unpack_from("<HH", data, 18)
    else:
        width, height = struct.unpack_from("<ii", data, 18)
    if offset >= len(data):
        raise BadMedia("is a truncated BMP: it ends before its pixels")
    return Shape(abs(width), abs(height))


def _tiff(data: bytes) -> Shape:
    """Check that the first directory lies in the file, and read the size from it."""
    end = "<" if data[:2] == b"II" else ">"
    version, offset = struct.unpack_from(end + "HI", data, 2)
    if version == 43:  # BigTIFF: left to the decoder
        return Shape()
    if offset + 2 > len(data):
        raise BadMedia("is a truncated TIFF: its directory lies beyond the end of the file")
    (count,) = struct.unpack_from(end + "H", data, offset)
    size = {256: 0, 257: 0}
    for entry in range(offset + 2, offset + 2 + 12 * count, 12):
        tag, kind = struct.unpack_from(end + "HH", data, entry)
        if tag in size:
            (size[tag],) = struct.unpack_from(end + ("H" if kind == 3 else "I"), data, entry + 8)
    return Shape(size[256], size[257])


def _short(kind: str) -> str:
    return kind.removeprefix("image/").upper().replace("WEBP", "WebP")


_CHECKS: dict[str, Callable[[bytes], Shape]] = {
    "image/jpeg": _jpeg,
    "image/png": _png,
    "image/gif": _gif,
    "image/webp": _webp,
    "image/bmp": _bmp,
    "image/tiff": _tiff,
}
_MAGIC = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"II+\0", "image/tiff"),
    (b"MM\0+", "image/tiff"),
    (b"%PDF", "a PDF document, which is not read here: convert its page to PNG"),
    (b"\0\0\x01\0", "an icon (ICO), which is not read here: convert it to PNG"),
    (b"\0\0\0\x0cjP  ", "a JPEG 2000 picture, which is not read here: convert it to PNG"),
    (b"PK\x03\x04", "a ZIP archive, not an image"),
    (b"\x1f\x8b", "gzip-compressed data, not an image"),
)
_BRANDS = {
    "heic": "a HEIC picture",
    "heix": "a HEIC picture",
    "hevc": "a HEIC picture",
    "mif1": "a HEIF picture",
    "msf1": "a HEIF picture",
    "avif": "an AVIF picture",
    "avis": "an AVIF picture",
}
