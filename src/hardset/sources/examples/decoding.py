"""Cells and files made into contents: upright pixels, or what is wrong."""

from __future__ import annotations

import os
from typing import Any

from hardset.images import MAX_PIXELS, BadMedia
from hardset.images.pixels import read_pixels
from hardset.images.places import MAX_BYTES, missing, ordinary, without_waiting
from hardset.lowresource.examples import Content, Unreadable
from hardset.sources.examples.tree import sound

LONGEST_TEXT = 2**24  # characters: a hundred novels; more is a fault of the file


def picture(data: bytes) -> Content:
    """Return an image file's pixels (height, width, 1 or 3), uint8, or why it has none."""
    try:
        return read_pixels(data, MAX_PIXELS)
    except BadMedia as bad:
        return Unreadable(bad.reason)


def picture_at(path: str) -> Content:
    """Return the pixels of the image file at a path, or why it has none."""
    try:
        with open(path, "rb", buffering=0, opener=without_waiting) as file:
            ordinary(os.fstat(file.fileno()), "it")
            data = file.read()
            while more := file.read():
                data += more
    except BadMedia as bad:
        return Unreadable(bad.reason.removeprefix("it "))
    except (OSError, ValueError) as error:
        said = error if isinstance(error, OSError) else OSError(str(error))
        return Unreadable(missing("it", path, said).reason.removeprefix("it "))
    return picture(data)


def picture_of(cell: Any, folder: str) -> Content:
    """Return the pixels of a cell: bytes, or the path of a file, from a folder if relative."""
    if cell is None or cell == "":
        return Unreadable("its cell holds no picture")
    if isinstance(cell, str):
        return picture_at(os.path.join(folder, cell))
    if len(cell) > MAX_BYTES:
        return Unreadable(f"has {len(cell):,} bytes, the limit is {MAX_BYTES:,}")
    return picture(cell)


def text_of(cells: tuple[Any, ...]) -> Content:
    """Return the texts of a row's cells, or why it has none."""
    for cell in cells:
        if cell is None:
            return Unreadable("its cell holds no text")
        if not sound(cell):
            return Unreadable("is not UTF-8 text")
        if len(cell) > LONGEST_TEXT:
            return Unreadable(f"has {len(cell):,} characters, the limit is {LONGEST_TEXT:,}")
    return cells
