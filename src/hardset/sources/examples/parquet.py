"""Parquet: one file, or a folder of them as the hub has it (`data/train-00000-of-00001.parquet`).

A picture is a struct of `bytes` and `path`, bytes, or the path of a file. The names of whole-number
labels come from the `huggingface` metadata of the first file, where it has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.sources.examples import digests, files
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.columns import Columns, choose
from hardset.sources.examples.labelling import Labelled, labelled
from hardset.sources.examples.rows import collect, height_of, open_rows
from hardset.sources.examples.table import Places, Table

if TYPE_CHECKING:
    import polars as pl

NAME = "parquet"
NEEDS = "a .parquet file, or a folder of them, such as data/train-00000-of-00001.parquet"
SUFFIXES = (".parquet",)


def recognise(place: str) -> bool:
    """Whether it is a parquet file, or a folder that holds some."""
    path = Path(place).expanduser()
    if path.is_file():
        return path.suffix.lower() in SUFFIXES
    return path.is_dir() and bool(files.inside(path, SUFFIXES))


def read(asked: Asked) -> Examples:
    """Open the files of a split."""
    return read_files(asked, files.of_split(asked, SUFFIXES))


def read_files(asked: Asked, chosen: files.Files, **facts: Any) -> Table:
    """Open parquet files as one set.

    Args:
        asked: columns and classes.
        chosen: the files.
        facts: more of what the manifest says of them.

    Raises:
        UsageError: one is damaged, they differ in their columns, or these are not understood.
    """
    first = chosen.paths[0]
    schema = _schema(first)
    columns = choose(list(schema), asked, first)
    wanted = (*columns.content, columns.label)
    for path in chosen.paths[1:]:
        other = _schema(path)
        if odd := [name for name in wanted if other.get(name) != schema[name]]:
            raise UsageError(
                f"{path} has another column {odd[0]!r} ({other.get(odd[0], 'none')}) than "
                f"{first} ({schema[odd[0]]}): they are not one data set; name one file or folder"
            )
    cells = [cell for name in columns.content for cell in _cells(name, schema, columns, first)]
    labels = _labels(asked, chosen.paths, columns)
    heights = [height_of(path) for path in chosen.paths]
    starts = [0, *np.cumsum(heights).tolist()][:-1]
    return Table(
        kind=columns.kind,
        rows=open_rows(chosen.paths, cells),
        labels=labels.labels,
        classes=labels.classes,
        source={
            "place": asked.place,
            "layout": NAME,
            "split": chosen.split,
            "files": list(chosen.names),
            "columns": {"content": list(columns.content), "label": columns.label},
            "sha256": digests.of_files(zip(chosen.names, chosen.paths, strict=True)),
            "notes": list(labels.notes),
            **facts,
        },
        ids=Places(chosen.names, starts),
        folder=str(first.parent),
    )


def _schema(path: Path) -> dict[str, Any]:
    import polars as pl

    return dict(collect(path, [pl.all()], rows=0).schema)


def _cells(name: str, schema: dict[str, Any], columns: Columns, where: Path) -> list[pl.Expr]:
    """Return what to read of a column of content."""
    import polars as pl

    kind, column = schema[name], pl.col(name)
    if columns.kind == "text":
        if kind.is_nested() or kind == pl.Binary:
            raise UsageError(f"{where}: column {name!r} holds {kind}, not texts; name another")
        return [column if kind == pl.String else column.cast(pl.String)]
    if kind in (pl.Binary, pl.String):
        return [column]
    inside = kind.fields if isinstance(kind, pl.Struct) else ()
    fields = {field.name: field.dtype for field in inside}
    wanted = {"bytes": pl.Binary, "path": pl.String}
    parts = [field for field, right in wanted.items() if fields.get(field) == right]
    if not parts:
        raise UsageError(
            f"{where}: column {name!r} holds {kind}, not pictures: a picture is its bytes, a "
            "struct of `bytes` and `path`, or the path of a file"
        )
    return [column.struct.field(part).alias(f"{name}.{part}") for part in parts]


def _labels(asked: Asked, paths: Sequence[Path], columns: Columns) -> Labelled:
    import polars as pl

    where = f"{paths[0]}, column {columns.label!r}"
    cells = pl.concat([collect(path, [pl.col(columns.label)]) for path in paths])[columns.label]
    named = class_names(paths[0], columns.label)
    if not named or not cells.dtype.is_integer() or asked.classes == ():
        return labelled(cells, where, classes=asked.classes)
    known = labelled(cells, where, classes=named, numbers=True)
    if asked.classes in (None, named):
        return known
    texts = [named[label] if label >= 0 else None for label in known.labels.tolist()]
    return labelled(texts, where, classes=asked.classes)


def class_names(path: Path, column: str) -> tuple[str, ...]:
    """Return the names that the hub's metadata in a file give a column's numbers; or none."""
    import polars as pl

    try:
        said = pl.read_parquet_metadata(path).get("huggingface", "{}")
        features = msgspec.json.decode(said)["info"]["features"]
        names = features[column]["names"]
    except (KeyError, TypeError, msgspec.DecodeError, pl.exceptions.PolarsError):
        return ()
    if isinstance(names, dict):  # as older files have them: number to name
        names = [names.get(str(number)) for number in range(len(names))]
    if not isinstance(names, list) or not all(isinstance(name, str | int) for name in names):
        return ()
    return tuple(map(str, names))
