"""Runs whose folders are damaged, held against a whole one: one sentence, never a traceback."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import hardset
from hardset.comparing import compare
from hardset.errors import UsageError
from hardset.reports.folder import MANIFEST, METRICS, OUTCOMES


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    scenes = hardset.make_benchmark("scenes", n=12, kinds="plain")
    runs = tmp_path_factory.mktemp("whole")
    model = hardset.make_model("baseline/oracle")
    return hardset.evaluate(scenes, model, hardset.Settings(runs=runs)).folder


def rewritten(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], object]:
    def damage(run: Path) -> None:
        change(pl.read_parquet(run / OUTCOMES)).write_parquet(run / OUTCOMES)

    return damage


def cut_short(name: str) -> Callable[[Path], object]:
    return lambda run: (run / name).write_bytes((run / name).read_bytes()[:40])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (cut_short(OUTCOMES), "outcomes.parquet is damaged"),
        (cut_short(MANIFEST), "manifest.json is damaged"),
        (cut_short(METRICS), "metrics.json is damaged"),
        (lambda run: (run / MANIFEST).write_text("[]"), "manifest.json is damaged"),
        (rewritten(lambda table: table.drop("repeat")), "has no column 'repeat'"),
        (
            rewritten(lambda table: table.with_columns(pl.lit("x").alias("right"))),
            "column 'right' is of type String",
        ),
        (
            rewritten(lambda table: table.with_columns(pl.lit(None, pl.String).alias("item"))),
            "column 'item' has gaps",
        ),
        (
            rewritten(lambda table: table.with_columns(pl.lit("guessed").alias("state"))),
            "'guessed' is no state",
        ),
        (rewritten(lambda table: table.drop("category")), "lack a column that scenes measures"),
        (rewritten(lambda table: table.drop("scene")), "lack a column that scenes measures"),
    ],
)
def test_a_damaged_run_is_named(
    whole: Path, tmp_path: Path, damage: Callable[[Path], object], said: str
):
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    damage(run)
    with pytest.raises(UsageError, match=said):
        compare(whole, run, draws=100)


def test_notices_that_are_no_list_are_left_out(whole: Path, tmp_path: Path):
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    manifest = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps(manifest | {"notices": 5}))
    assert compare(whole, run, draws=100).versus[0].matched.items == 12
