"""Opening a labelled set, whatever its layout: `open_examples`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import cast

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.sources.examples import splits
from hardset.sources.examples.asked import Asked, Layout
from hardset.sources.examples.labelling import NoLabelsError
from hardset.sources.examples.tree import entries, is_folder

LAYOUTS = (  # in the order in which they are asked
    *("packaged", "hub", "function"),
    *("picked", "cifar", "glue", "imagenet", "folders", "parquet", "csv"),
)
_COLUMNS = ("hub", "glue", "parquet", "csv")  # layouts whose columns have names
_MODULES = {"hub": "hub_sets", "function": "functions", "csv": "delimited"}


def open_examples(
    place: str | Path,
    *,
    layout: str | None = None,
    label: str | None = None,
    text: Sequence[str] | str = (),
    image: str | None = None,
    split: str = "train",
    classes: Sequence[str] | None = None,
) -> Examples:
    """Open a labelled training or test set.

    Args:
        place: a file or folder; `hub:OWNER/NAME` or `hub:OWNER/NAME/CONFIG`; `module:function`; or
            the name of a set that an installed package ships (`digits`).
        layout: which layout it has, where what is there does not tell.
        label: the column of the labels, where its name does not tell.
        text: the column of the texts, or the two columns.
        image: the column of the pictures.
        split: `train`, `test`, `val` or another; where there is no `test`, or it has no labels,
            the validation set is taken for it, and `source["notes"]` says so. A place without
            splits, as one file is, is taken whole, whichever is asked for.
        classes: the labels' names in the order of their numbers: those of the training set, so
            that a test set has the same numbers. Empty for labels that are real numbers.

    Returns:
        The examples. Their `source["split"]` is what the split is called there, "" where there are
        none; `source["notes"]` is a list of sentences on what a reader of results should know:
        rows without label, classes without pictures, one class only. A network that a function of
        the user's gave is their `.network`.

    Raises:
        UsageError: nothing is there, it has none of the layouts, or not what was asked for.
    """
    asked = Asked(
        os.fspath(place),
        split,
        label,
        (text,) if isinstance(text, str) else tuple(text),
        image,
        None if classes is None else tuple(classes),
    )
    if layout is not None and layout not in LAYOUTS:
        raise UsageError(f"there is no layout {layout!r}; there are: {', '.join(LAYOUTS)}")
    if not asked.place.strip():
        raise UsageError("the place of the examples is empty: name a file or folder ('.' for here)")
    try:
        asked.path.exists()
    except OSError as error:
        raise UsageError(f"{asked.place[:200]} cannot be: {error.strerror or error}") from error
    module = _module(layout) if layout else _recognise(asked.place)
    _see_columns(module.NAME, asked)
    try:
        return _with_split_noted(module.read(asked), asked)
    except NoLabelsError:
        if split != "test":
            raise
        try:
            examples = module.read(replace(asked, split="val"))
        except UsageError:
            examples = None
        if examples is None:
            raise
        examples.source.setdefault("notes", []).append(
            "its test examples have no labels: these are its validation examples"
        )
        return examples


def _see_columns(layout: str, asked: Asked) -> None:
    """Refuse the name of a column where there are none.

    But not of a test set, which `classes` are of: it was asked for together with a training set.
    """
    if layout in _COLUMNS or asked.classes is not None:
        return
    for flag, given in (("label", asked.label), ("text", asked.text), ("image", asked.image)):
        if given:
            raise UsageError(
                f"{asked.place} (layout {layout}) has no columns to name: leave --{flag} out"
            )


def _with_split_noted(examples: Examples, asked: Asked) -> Examples:
    """Say where a place without splits was taken for another than the training set."""
    wanted = splits.names(asked.split)
    there = examples.source.get("split", "")
    named = splits.split_of(asked.path) in wanted
    if not there and asked.split not in splits.names("train") and not named:
        examples.source.setdefault("notes", []).append(
            f"nothing there says of which split it is: all of it was taken as {asked.split!r}"
        )
    return examples


def _module(name: str) -> Layout:
    return cast(Layout, import_module(f"hardset.sources.examples.{_MODULES.get(name, name)}"))


def _recognise(place: str) -> Layout:
    for name in LAYOUTS:
        module = _module(name)
        if module.recognise(place):
            return module
    raise UsageError(_no_layout(place))


def _no_layout(place: str) -> str:
    path = Path(place).expanduser()
    if path.is_dir():
        there = [f"{entry.name}/" if is_folder(entry) else entry.name for entry in entries(path)]
        held = ", ".join(there[:5]) + (f" and {len(there) - 5} more" if len(there) > 5 else "")
        found = f"the folder {path} holds {held or 'nothing'}"
    elif path.exists():
        found = f"{path} is a file of a kind that is not read"
    else:
        found = f"there is no file or folder {path}"
        if re.fullmatch(r"[\w.-]+/[\w.-]+", place):
            found += f" (a data set on the hub is written hub:{place})"
    return (
        f"{found}, and this fits no layout of examples. Give a folder that has one of pictures for "
        "each class; a .csv, .tsv, .jsonl or .parquet file, or a folder of them; CIFAR, ImageNet "
        "or a GLUE task, unpacked; what `hardset pick` left; hub:OWNER/NAME; module:function; or "
        "the name of a set that a package ships, digits or speeches. If it is one of these, "
        f"--layout with one of {', '.join(LAYOUTS)} says what it lacks"
    )
