"""Holding a finished run's judges against people: `hardset validate`.

    drawn = hardset.draw_sheet("runs/hardbench/gpt-4o/20260814T0930Z", replies=200)
    ...                                            # people fill in drawn.sheet
    found = hardset.validate("runs/hardbench/gpt-4o/20260814T0930Z", ["labels.csv"])

What was drawn is kept in the run's folder, under the mark that every id of the sheet begins with.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from hardset.errors import UsageError
from hardset.reports.validated import Validated
from hardset.reports.validation import write_validation
from hardset.validating.differing import illustrated
from hardset.validating.drawing import Drawn, draw_sheet
from hardset.validating.held import held_against
from hardset.validating.judged import read_judged
from hardset.validating.sheets import read_sheets

__all__ = ["PAGE", "RESULT", "Drawn", "Validated", "draw_sheet", "validate"]

RESULT, PAGE = "validation.json", "validation.html"


def validate(
    run: str | Path,
    labels: str | Path | Sequence[str | Path],
    *,
    draws: int = 10_000,
    seed: int = 0,
) -> Validated:
    """Hold a run's judges against people's labels, and leave the result in the run's folder.

    Args:
        run: as for `draw_sheet`.
        labels: sheets as people filled them in, in whole or in part; of several people, what most
            say counts.
        draws: resamples of the bootstrap.
        seed: of the bootstrap.

    Returns:
        What is written to `validation.json` and `validation.html`.

    Raises:
        UsageError: a sheet is not of this run, or holds a label or an id that it should not.
    """
    paths = [Path(labels)] if isinstance(labels, str | Path) else [Path(one) for one in labels]
    done = read_judged(Path(run))
    sheets, sample = read_sheets(done, paths)
    try:
        found = held_against(done, sample, sheets, draws=draws, seed=seed)
    except (pl.exceptions.PolarsError, KeyError) as error:
        raise UsageError(
            f"the outcomes of {done.folder} lack a column that is measured now, or hold another in "
            f"its place ({str(error).strip().splitlines()[0]}); run it again: its replies and "
            "verdicts are in the store"
        ) from error
    found, pictures = illustrated(done, sample, found)
    encoded = msgspec.json.format(
        msgspec.json.encode(found, order="sorted", enc_hook=_plain), indent=1
    )
    try:
        (done.folder / RESULT).write_bytes(encoded + b"\n")
        write_validation(done.folder / PAGE, found, pictures)
    except OSError as error:
        raise UsageError(f"the result cannot be written into {done.folder}: {error}") from error
    return found


def _plain(number: Any) -> Any:
    """Turn one of numpy's numbers into Python's."""
    return number.item()
