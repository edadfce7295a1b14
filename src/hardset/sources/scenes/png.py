"""Pixels to PNG with a small deflate of our own, so that no version of zlib changes a byte.

Runs of one value become a literal and a match at distance 1, in the fixed Huffman code of
RFC 1951. With each row stored as its difference to the one above, drawn scenes are mostly runs.
"""

from __future__ import annotations

import struct
import zlib
from functools import cache

import numpy as np
import numpy.typing as npt

_LONGEST = 258  # bytes a match can copy


def encode_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Encode uint8 [H, W, 3] as a PNG without metadata."""
    height, width, _ = pixels.shape
    flat = pixels.reshape(height, width * 3)
    rows = np.empty((height, 1 + width * 3), np.uint8)
    rows[:, 0] = 2  # the filter: difference to the row above, the first one's being zero
    rows[0, 1:] = flat[0]
    np.subtract(flat[1:], flat[:-1], out=rows[1:, 1:])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", compress(rows.reshape(-1))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def compress(data: npt.NDArray[np.uint8]) -> bytes:
    """Compress bytes, uint8 [n] with n of 1 or more, to a zlib stream (RFC 1950)."""
    starts = np.flatnonzero(np.concatenate(([True], data[1:] != data[:-1])))
    lengths = np.diff(np.append(starts, len(data)))
    pieces = -(-lengths // (_LONGEST + 1))  # a run too long for one match is cut
    values = np.repeat(data[starts], pieces)
    sizes = np.full(len(values), _LONGEST + 1)
    ends = np.cumsum(pieces) - 1
    sizes[ends] = lengths - (pieces - 1) * (_LONGEST + 1)
    literals, literal_bits, tails, tail_bits = _codes()
    code, bits = literals[values], literal_bits[values]
    twice = np.where(sizes > 2, code << bits, 0)  # a tail of one or two is spelt out
    short = sizes <= 3
    tail = np.where(short, np.where(sizes > 1, code, 0) | twice, tails[sizes - 1])
    width = np.where(short, (sizes - 1) * bits, tail_bits[sizes - 1])
    stream = np.concatenate(([3], code | tail << bits, [0]))  # 3: a last block, fixed code
    widths = np.concatenate(([3], bits + width, [7]))  # seven zeros end the block
    offsets = np.cumsum(widths) - widths
    within = np.arange(int(widths.sum())) - np.repeat(offsets, widths)
    packed = np.packbits((np.repeat(stream, widths) >> within & 1).astype(bool), bitorder="little")
    return b"\x78\x01" + packed.tobytes() + struct.pack(">I", zlib.adler32(data.tobytes()))


@cache
def _codes() -> tuple[npt.NDArray[np.int64], ...]:
    """Return the codes, first bit lowest, and their bits: of literals, of matches by length."""
    literals = [_reversed(*((48 + v, 8) if v < 144 else (256 + v, 9))) for v in range(256)]
    literal_bits = [8 if v < 144 else 9 for v in range(256)]
    tails, tail_bits = [0] * 3, [0] * 3  # no match is shorter than three
    for length in range(3, _LONGEST + 1):
        symbol, extra, extra_bits = _length(length)
        value, bits = (symbol - 256, 7) if symbol < 280 else (symbol - 88, 8)
        tails.append(_reversed(value, bits) | extra << bits)
        tail_bits.append(bits + extra_bits + 5)  # distance 1 is five zeros
    return tuple(np.array(part) for part in (literals, literal_bits, tails, tail_bits))


def _length(length: int) -> tuple[int, int, int]:
    """Return the symbol of a match's length, its extra value and that value's bits."""
    if length == _LONGEST:
        return 285, 0, 0
    if length < 11:
        return 254 + length, 0, 0
    extra_bits = (length - 3).bit_length() - 3
    step = (length - 3) >> extra_bits  # 4 to 7
    return 257 + 4 * extra_bits + step, (length - 3) & ((1 << extra_bits) - 1), extra_bits


def _reversed(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)
