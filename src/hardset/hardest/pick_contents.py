"""A picked set as a parquet file that opens as a data set, written part by part."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from hardset.images.places import without_waiting
from hardset.lowresource.examples import Content, Examples, Positions, Unreadable
from hardset.sources.examples.tree import sound

if TYPE_CHECKING:
    import polars as pl

_READ = 256  # examples fetched at once
_PART = 16 * 2**20  # bytes of content held


def write_examples(
    path: Path,
    frame: pl.DataFrame,
    examples: Examples | None,
    classes: tuple[str, ...],
) -> list[tuple[str, str]]:
    """Write a picked set, with its contents where there are data; whole or not at all.

    Pictures are the bytes of their files, where they come from files, and else PNG, which loses
    nothing. What cannot be read has no content. The labels' names are where the hub's libraries
    look for them.

    Args:
        path: of the file.
        frame: a row an example, with `index` in the order to be written.
        examples: what to take contents from, by index.
        classes: the labels' names, none for real ones.

    Returns:
        The id of each example that cannot be read, and why.
    """
    import polars as pl

    unfinished = path.with_name(f".{path.name}.new")
    metadata = _features(classes, examples)
    if examples is None or examples.kind == "tensor":
        frame.write_parquet(unfinished, compression="zstd", metadata=metadata)
        unfinished.replace(path)
        return []
    parts = path.with_name(f".{path.name}.parts")
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir()
    unreadable: list[tuple[str, str]] = []
    try:
        files = []
        for number, part in enumerate(_parts(frame, examples, unreadable)):
            files.append(parts / f"{number:06d}.parquet")
            part.write_parquet(files[-1], compression="uncompressed")
        pl.scan_parquet(files, glob=False).sink_parquet(
            unfinished, compression="zstd", row_group_size=_READ, metadata=metadata
        )
        unfinished.replace(path)
    finally:
        shutil.rmtree(parts, ignore_errors=True)
        unfinished.unlink(missing_ok=True)
    return unreadable


def _features(classes: tuple[str, ...], examples: Examples | None) -> dict[str, str]:
    """Say what the hub's library `datasets` would: names of classes, and what is a picture."""
    features: dict[str, Any] = {}
    if classes:
        features["label"] = {"names": list(classes), "_type": "ClassLabel"}
    if examples is not None and examples.kind == "image":
        features["image"] = {"_type": "Image"}
    if not features:
        return {}
    return {"huggingface": msgspec.json.encode({"info": {"features": features}}).decode()}


def _parts(
    frame: pl.DataFrame, examples: Examples, unreadable: list[tuple[str, str]]
) -> Iterator[pl.DataFrame]:
    """Yield the rows with their contents, as many at a time as memory is meant for."""
    import polars as pl

    index = frame["index"].to_numpy()
    held: list[Any] = []
    size = begin = 0
    two = examples.kind == "text" and _have_two(examples, index)
    for start in range(0, len(index), _READ):
        positions = index[start : start + _READ]
        for position, content in zip(positions, fetched(examples, positions), strict=True):
            if isinstance(content, Unreadable):
                unreadable.append((examples.id(int(position)), content.reason))
                held.append(None)
            else:
                held.append(content)
                size += sum(map(len, content)) if isinstance(content, tuple) else len(content)
        end = min(start + _READ, len(index))
        if size < _PART and end < len(index):
            continue
        if examples.kind == "image":
            pictures = [None if one is None else {"bytes": one, "path": None} for one in held]
            kind = pl.Struct({"bytes": pl.Binary, "path": pl.String})
            columns = [pl.Series("image", pictures, dtype=kind)]
        else:
            columns = [
                pl.Series(name, [None if one is None else one[at] for one in held], dtype=pl.String)
                for at, name in enumerate(("text", "text_b")[: 2 if two else 1])
            ]
        yield frame[begin:end].with_columns(columns)
        held, size, begin = [], 0, end


def _have_two(examples: Examples, index: Positions) -> bool:
    """Say whether the examples are pairs of texts, as the first that can be read has it."""
    for start in range(0, len(index), _READ):
        for content in examples.fetch(index[start : start + _READ]):
            if isinstance(content, tuple):
                return len(content) > 1
    return False


def fetched(examples: Examples, positions: Positions) -> list[bytes | tuple[str, ...] | Unreadable]:
    """Give texts, or pictures as the bytes of image files."""
    contents = examples.fetch(positions)
    if examples.kind == "text":
        return [_text(content) for content in contents]
    files = _files(examples, positions)
    return [
        content if isinstance(content, Unreadable) else file or png(content)
        for content, file in zip(contents, files, strict=True)
    ]


def _text(content: Content) -> tuple[str, ...] | Unreadable:
    assert isinstance(content, tuple | Unreadable)
    if isinstance(content, tuple) and not all(map(sound, content)):
        return Unreadable("is not UTF-8 text")
    return content


def png(pixels: Any) -> bytes:
    """Make a PNG file of pixels (height, width, 1 or 3), uint8."""
    from PIL import Image

    out = io.BytesIO()
    array = np.asarray(pixels)
    Image.fromarray(array[..., 0] if array.shape[-1] == 1 else array).save(out, "PNG")
    return out.getvalue()


def _files(examples: Examples, positions: Positions) -> list[bytes | None]:
    """Give the image files behind pictures, as they are; None where there are none."""
    from hardset.lowresource.examples import Subset
    from hardset.sources.examples.photographs import Photographs
    from hardset.sources.examples.table import Table

    if isinstance(examples, Subset):
        return _files(examples.whole, examples.positions[positions])
    if isinstance(examples, Photographs):
        return [_file(examples.root / examples.id(int(position))) for position in positions]
    if isinstance(examples, Table):
        found: list[bytes | None] = []
        for row in examples.rows.fetch(positions):
            cells = () if isinstance(row, Unreadable) else row
            cell = next((cell for cell in cells if cell is not None), None)
            is_path = isinstance(cell, str)
            found.append(_file(Path(examples.folder) / cell) if is_path and cell else
                         cell if isinstance(cell, bytes) else None)  # fmt: skip
        return found
    return [None] * len(positions)


def _file(path: Path) -> bytes | None:
    try:
        with open(path, "rb", opener=without_waiting) as file:
            return file.read()
    except OSError:
        return None  # gone since it was fetched: its pixels are there
