"""`hardset compare`: hold finished runs against each other, item by item."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardset.cli.given import replaceable
from hardset.errors import UsageError
from hardset.streams import nobody_listening


def compare(
    baseline: Path,
    *others: Path,
    across_revisions: Annotated[bool, Parameter(negative="")] = False,
    reading: str = "",
    report: Path | None = None,
    json: Path | None = None,
    cuts: Annotated[bool, Parameter(negative="")] = False,
    draws: int = 10_000,
    seed: int = 0,
) -> int:
    """Hold finished runs of one benchmark against the first, paired on items.

    Only items that are the same in both runs count. Every metric gets its difference with a 95 %
    interval (paired cluster bootstrap), a test, and the smallest difference this set could have
    shown. With several runs each is held against the first.

    Examples:

    - `hardset compare runs/mmr/gpt-4o/20260814T0930Z runs/mmr/gpt-4o-mini/20260814T0941Z`
    - `hardset compare runs/scenes/local--scout runs/scenes/local--scout-abstain
      --report compare.html`

    Exit status: 0; 2 the runs cannot be compared as given.

    Parameters
    ----------
    baseline
        The folder of the run that the others are held against, or one that holds a single run.
    others
        The folders of one or more other runs.
    across_revisions
        Compare although the data are of different revisions: the items that are the same.
    reading
        Whose right and wrong make an item flip, as `judge`; the headline's if not given.
    report
        Also write one page to this file, with figures and every flipped item.
    json
        Also write everything to this file, machine-readable.
    cuts
        Print the tables by category and other cuts too; the report always has them.
    draws
        Resamples of the bootstrap.
    seed
        Of the bootstrap.
    """
    from hardset.comparing import compare as hold
    from hardset.comparing import write_comparison, write_json
    from hardset.reports import comparison_tables

    if not others:
        raise UsageError("compare needs two runs or more: the baseline, then what to hold to it")
    if not 100 <= draws <= 1_000_000:
        raise UsageError(f"--draws takes a whole number from 100 to 1,000,000, not {draws}")
    if report is not None:
        replaceable(report)
    compared = hold(
        baseline,
        *others,
        across_revisions=across_revisions,
        reading=reading,
        draws=draws,
        seed=seed,
    )
    if json is not None:
        write_json(json, compared)
    if report is not None:
        write_comparison(report, compared)
    with nobody_listening():
        comparison_tables.show(compared, by_cut=cuts)
        if not cuts and any(one.first.cuts for one in compared.versus):
            print(f"By {', '.join(compared.versus[0].first.cuts)}: in the report, or with --cuts.")
        for path in (report, json):
            if path is not None:
                print(f"written: {path}")
        sys.stdout.flush()
    return 0
