"""What a run leaves: `runs/<benchmark>/<model>/<time>/`, self-contained and diffable.

`outcomes.parquet` and `metrics.json` depend only on the items and the replies: running again,
resuming after a kill, or reading the same replies on another day gives the same bytes. All that
changes from run to run (times, tokens spent now, the host) is in `manifest.json` alone.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hardset.errors import UsageError
from hardset.records import Metric, State
from hardset.sources.panics import panics_told

if TYPE_CHECKING:
    import polars as pl

MANIFEST, OUTCOMES, METRICS, REPORT = (
    "manifest.json",
    "outcomes.parquet",
    "metrics.json",
    "report.html",
)
RUBRICS = "rubrics"  # a folder
LONGEST_NAME = 140  # bytes: file systems take 255, some that encrypt take 143


def new_folder(runs: Path, benchmark: str, model: str, started: datetime) -> Path:
    """Make and return a fresh folder for a run that started at `started` (UTC)."""
    parent = runs / safe_name(benchmark) / safe_name(model)
    stem = started.strftime("%Y%m%dT%H%M%SZ")
    make_usable(parent)
    for number in range(1, 1000):
        folder = parent / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:  # two runs in one second
            continue
        return folder
    raise UsageError(f"{parent} already has a thousand runs of {stem}; give another --runs folder")


def make_usable(folder: Path) -> None:
    """Make a folder if it is not there, and see that files can be put into it.

    Raises:
        UsageError: they cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror or error}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"nothing can be written into {folder}; name another folder")


def safe_name(name: str) -> str:
    """Turn a name into one folder name: `openai/gpt-4o` becomes `openai--gpt-4o`."""
    safe = re.sub(r"[^\w.+-]+", "_", name.replace("/", "--")).strip(".") or "_"
    if len(safe.encode()) <= LONGEST_NAME:
        return safe
    start = safe.encode()[: LONGEST_NAME - 9].decode("utf-8", "ignore")
    return f"{start}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def write_folder(
    folder: Path,
    manifest: dict[str, Any],
    metrics: list[Metric],
    outcomes: pl.DataFrame,
    rubrics: Mapping[str, str] | None = None,
) -> None:
    """Write the machine-readable files of a run; the manifest last, as the seal.

    `rubrics` are the texts of the rubrics that it was judged by, kept in files of their names.

    Raises:
        UsageError: the disk is full, or the folder has gone.
    """
    try:
        outcomes.write_parquet(folder / OUTCOMES, compression="zstd", statistics=True)
        (folder / METRICS).write_bytes(_pretty(metrics))
        for name, text in (rubrics or {}).items():
            (folder / RUBRICS).mkdir(exist_ok=True)
            (folder / RUBRICS / f"{name}.toml").write_bytes(text.encode())
        (folder / MANIFEST).write_bytes(_pretty(manifest))
    except OSError as error:
        raise UsageError(f"the run folder {folder} cannot be written: {error}") from error


def find_run(where: Path) -> Path:
    """Give the folder of a run: the one given, or the only one somewhere below it.

    Raises:
        UsageError: there is none, or more than one.
    """
    if not where.exists():
        raise UsageError(f"{where} does not exist; give the folder of a run")
    if where.name == MANIFEST:
        where = where.parent
    if (where / MANIFEST).is_file():
        return where
    found = sorted(path.parent for path in where.rglob(MANIFEST))
    if not found:
        raise UsageError(f"there is no run in {where}: no {MANIFEST} in it or below")
    if len(found) > 1:
        some = ", ".join(str(path) for path in found[:3]) + (", ..." if found[3:] else "")
        raise UsageError(f"{where} holds {len(found)} runs; name one of them: {some}")
    return found[0]


def read_folder(folder: Path) -> tuple[dict[str, Any], list[Metric], pl.DataFrame]:
    """Read a run folder back: its manifest, metrics and outcomes.

    Raises:
        UsageError: the folder is not a finished run.
    """
    import polars as pl

    for name in (MANIFEST, METRICS, OUTCOMES):
        if not (folder / name).is_file():
            raise UsageError(f"{folder} is not a finished run: it has no {name}")
    name = MANIFEST
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=dict[str, Any])
        name = METRICS
        metrics = msgspec.json.decode((folder / METRICS).read_bytes(), type=list[Metric])
        name = OUTCOMES
        with panics_told(folder / OUTCOMES):
            outcomes = pl.read_parquet(folder / OUTCOMES, glob=False)
    except (msgspec.DecodeError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise UsageError(f"{folder / name} is damaged: {error}") from error
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{folder / name} cannot be read: {reason}") from error
    if wrong := _wrong(outcomes):
        raise UsageError(f"{folder / OUTCOMES} is not as a run leaves it: {wrong}")
    return manifest, metrics, outcomes


def _wrong(outcomes: pl.DataFrame) -> str:
    """Say what every run's outcomes have and these have not; "" where they are whole."""
    import polars as pl

    needed = {
        "item": pl.String,
        "index": int,
        "repeat": int,
        "state": pl.String,
        "right": pl.Boolean,
    }
    for name, wanted in needed.items():
        if name not in outcomes.columns:
            return f"it has no column {name!r}"
        found = outcomes.schema[name]
        if not (found.is_integer() if wanted is int else found == wanted):
            return f"column {name!r} is of type {found}"
        if outcomes[name].has_nulls():
            return f"column {name!r} has gaps"
    strange = set(outcomes["state"].unique()) - {state.value for state in State}
    return f"{min(strange)!r} is no state" if strange else ""


def _pretty(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1) + b"\n"
