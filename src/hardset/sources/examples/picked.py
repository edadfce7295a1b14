"""What `hardset pick` leaves: a folder with `examples.parquet`, which holds the contents too.

`index`, the position each example had in the set it was picked from, stays as `.index`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples, Positions
from hardset.sources.examples import digests
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.labelling import labelled
from hardset.sources.examples.rows import collect, open_rows
from hardset.sources.examples.table import Table

NAME = "picked"
NEEDS = "what `hardset pick --data` left: a folder with examples.parquet and manifest.json"
FILE, MANIFEST = "examples.parquet", "manifest.json"
_MARKS = {"index", "id", "label", "rank_in_label"}


@dataclass
class Picked(Table):
    """Picked examples.

    Attributes:
        index: (n,) int64, the position of each in the set it was picked from.
    """

    index: Positions = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def recognise(place: str) -> bool:
    """Whether it is such a folder, or its file."""
    file = _file(place)
    return file is not None and set(_columns(file)) >= _MARKS


def read(asked: Asked) -> Examples:
    """Open the picked examples; they are one set, whatever split is asked for."""
    import polars as pl

    file = _file(asked.place)
    columns = _columns(file) if file else {}
    if file is None or not set(columns) >= _MARKS:
        raise UsageError(f"{asked.place} is no picked set; a place of this layout is {NEEDS}")
    _see_finished(file)
    kind, cells = _content(file, columns)
    named = [name for name in ("index", "id", "label", "class") if name in columns]
    frame = collect(file, [pl.col(name) for name in named])
    ids = frame["id"].cast(pl.String).fill_null("").to_list()
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = [one for one in ids if one in seen or seen.add(one)]  # type: ignore[func-returns-value]
        raise UsageError(
            f"{file}: {len(twice):,} ids are there twice ({', '.join(twice[:3])}): pick again"
        )
    where = f"{file}, column 'label'"
    classes = asked.classes
    numbers = frame["label"].dtype.is_integer()
    names = _class_names(frame) if numbers and "class" in named else ()
    if names and classes not in (None, names):
        texts = [names[label] if label >= 0 else None for label in frame["label"].fill_null(-1)]
        labels = labelled(texts, where, classes=classes)
    else:
        labels = labelled(frame["label"], where, classes=classes or names or None, numbers=numbers)
    rows = open_rows([file], cells)
    return Picked(
        kind=kind,
        rows=rows,
        labels=labels.labels,
        classes=labels.classes,
        source={
            "place": asked.place,
            "layout": NAME,
            "split": "",
            "sha256": digests.of_file(file),
            "notes": list(labels.notes),
        },
        ids=ids,
        folder=str(file.parent),
        index=frame["index"].cast(pl.Int64).to_numpy().copy(),
    )


def _file(place: str) -> Path | None:
    path = Path(place).expanduser()
    if path.is_dir():
        path = path / FILE
    return path if path.name == FILE and path.is_file() else None


def _see_finished(file: Path) -> None:
    """See that the set is not an earlier one, which another was to be written over."""
    try:
        manifest = msgspec.json.decode((file.parent / MANIFEST).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return  # the file was taken elsewhere
    if isinstance(manifest, dict) and manifest.get("unfinished"):
        raise UsageError(f"{file.parent} is not finished: run its `hardset pick` again")


def _columns(file: Path) -> dict[str, Any]:
    import polars as pl

    return dict(collect(file, [pl.all()], rows=0).schema)


def _content(file: Path, columns: dict[str, Any]) -> tuple[Any, list[Any]]:
    import polars as pl

    if "image" in columns:
        image = pl.col("image")
        if isinstance(columns["image"], pl.Struct):
            return "image", [image.struct.field("bytes"), image.struct.field("path")]
        return "image", [image]
    if "text" in columns:
        texts = [pl.col("text")]
        if "text_b" in columns and not collect(file, [pl.col("text_b").is_null().all()]).item():
            texts.append(pl.col("text_b"))
        return "text", texts
    raise UsageError(
        f"{file} holds no contents, only which examples were picked: pick with --data, so that "
        "they are written too"
    )


def _class_names(frame: Any) -> tuple[str, ...]:
    """Return the names of the numbers; a number that no example has is its own name."""
    pairs = frame.select("label", "class").drop_nulls().unique()
    names = {int(label): str(name) for label, name in pairs.rows() if int(label) >= 0}
    if not names:
        return ()
    return tuple(names.get(label, str(label)) for label in range(max(names) + 1))
