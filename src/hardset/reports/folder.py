"""What a run leaves: `runs/<benchmark>/<model>/<time>/`, self-contained and diffable.

`outcomes.parquet` and `metrics.json` depend only on the items and the replies: running again,
resuming after a kill, or reading the same replies on another day gives the same bytes. All that
changes from run to run (times, tokens spent now, the host) is in `manifest.json` alone.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hardset.errors import UsageError
from hardset.records import Metric

if TYPE_CHECKING:
    import polars as pl

MANIFEST, OUTCOMES, METRICS, REPORT = (
    "manifest.json",
    "outcomes.parquet",
    "metrics.json",
    "report.html",
)


def new_folder(runs: Path, benchmark: str, model: str, started: datetime) -> Path:
    """Make and return a fresh folder for a run that started at `started` (UTC)."""
    parent = runs / safe_name(benchmark) / safe_name(model)
    stem = started.strftime("%Y%m%dT%H%M%SZ")
    parent.mkdir(parents=True, exist_ok=True)
    for number in range(1, 1000):
        folder = parent / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:  # two runs in one second
            continue
        return folder
    raise UsageError(f"{parent} already has a thousand runs of {stem}; give another --runs folder")


def safe_name(name: str) -> str:
    """Turn a name into one folder name: `openai/gpt-4o` becomes `openai--gpt-4o`."""
    return re.sub(r"[^\w.+-]+", "_", name.replace("/", "--")).strip(".") or "_"


def write_folder(
    folder: Path, manifest: dict[str, Any], metrics: list[Metric], outcomes: pl.DataFrame
) -> None:
    """Write the three machine-readable files of a run; the manifest last, as the seal."""
    outcomes.write_parquet(folder / OUTCOMES, compression="zstd", statistics=True)
    (folder / METRICS).write_bytes(_pretty(metrics))
    (folder / MANIFEST).write_bytes(_pretty(manifest))


def read_folder(folder: Path) -> tuple[dict[str, Any], list[Metric], pl.DataFrame]:
    """Read a run folder back: its manifest, metrics and outcomes.

    Raises:
        UsageError: the folder is not a finished run.
    """
    import polars as pl

    for name in (MANIFEST, METRICS, OUTCOMES):
        if not (folder / name).is_file():
            raise UsageError(f"{folder} is not a finished run: it has no {name}")
    manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=dict[str, Any])
    metrics = msgspec.json.decode((folder / METRICS).read_bytes(), type=list[Metric])
    return manifest, metrics, pl.read_parquet(folder / OUTCOMES)


def _pretty(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1) + b"\n"
