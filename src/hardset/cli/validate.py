"""`hardset validate`: hold a run's judges against people."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from hardset.errors import UsageError
from hardset.streams import nobody_listening, tell


def _whole(_type: Any, tokens: Sequence[Any]) -> int:
    """Read a whole number; 1.5 is none, and is not taken for 1."""
    try:
        return int(tokens[0].value)
    except ValueError as error:
        raise ValueError(f"{tokens[0].value!r} is no whole number") from error


_SHEET = Group("Draw a sheet", sort_key=1)
_LABELS = Group("Read labels", sort_key=2)


def validate(
    run: Path,
    /,
    *,
    sample: Annotated[int | None, Parameter(group=_SHEET, converter=_whole)] = None,
    sheet: Annotated[Path | None, Parameter(group=_SHEET)] = None,
    only: Annotated[list[str] | None, Parameter(group=_SHEET, negative="")] = None,
    rubric: Annotated[list[Path] | None, Parameter(group=_SHEET, negative="")] = None,
    seed: Annotated[int, Parameter(converter=_whole)] = 0,
    labels: Annotated[list[Path] | None, Parameter(group=_LABELS, negative="")] = None,
    draws: Annotated[int, Parameter(group=_LABELS, converter=_whole)] = 10_000,
) -> int:
    """Hold a run's judges against people: draw a sheet of replies to label, then read it back.

    The sheet is blind: it shows what the judges saw, and no verdict, vote or model's name. Read
    back, it gives accuracy, kappa, AC1 and confusion of the panel and of each judge, how far
    judges err together, and the run's rates corrected for judges' errors: in short in the
    terminal, and in whole in the run's folder as `validation.html` and `validation.json`, with
    every line on which judges and people differ.

    Examples:

    - `hardset validate runs/hardbench/gpt-4o/20260814T0930Z --sample 200`
    - `hardset validate runs/hardbench/gpt-4o/20260814T0930Z --labels labels.csv`
    - `hardset validate runs/hardbench/gpt-4o --labels anna.csv --labels ben.xlsx`

    Exit status: 0; 2 the run or a sheet cannot be used as given.

    Parameters
    ----------
    run
        The folder of a run, or of scored replies, that were judged; or one that holds a single one.
    sample
        Draw about so many replies, to be labelled on all their verdicts: at random within strata by
        verdict and category, a few of every stratum at least. Of a benchmark of pairs, whole pairs
        are drawn. For more labels of a verdict that is due on few replies, see --only.
    sheet
        Where to write the sheet: .csv, .xlsx or .parquet; `labels.csv` in the run's folder if not
        given. Its pictures go into a folder beside it. A sheet with labels in it is never
        overwritten.
    only
        Draw for this rubric or verdict only, as `refused`; several times for several.
    rubric
        The file of a rubric of yours that the run was judged by.
    seed
        Of the sample; with --labels, of the bootstrap.
    labels
        A sheet as it was filled in, in whole or in part: CSV, Excel's CSV or Unicode text, .xlsx or
        parquet; only its columns id and label are needed, but where questions and replies are
        still beside them, they must be those that were drawn. Several times for several people:
        what most say counts, and lines on which they are split are in no figure until they are
        settled.

        A label is TRUE or FALSE (or yes or no, y or n, t or f, 1 or 0, in any case), a grade as a
        whole number, or a letter, as the line's column `asked` says; `?` where one cannot tell;
        `-` (or n/a) where the question does not apply, of questions about refusals or about
        answers only; blank where not labelled.
    draws
        Resamples of the bootstrap.
    """
    if (sample is None) == (labels is None):
        raise UsageError(
            "give --sample N to draw a sheet, or --labels SHEET to read one that is filled in"
        )
    if not 0 <= seed < 2**63:
        raise UsageError(f"--seed takes a whole number of 0 or more, below 2^63, not {seed}")
    if labels is None:
        assert sample is not None
        return _draw(run, sample, sheet, seed, rubric or [], only or [])
    for flag, given in (("--sheet", sheet), ("--only", only), ("--rubric", rubric)):
        if given is not None:
            raise UsageError(f"{flag} goes with --sample")
    if not 100 <= draws <= 1_000_000:
        raise UsageError(f"--draws takes a whole number from 100 to 1,000,000, not {draws}")
    from hardset.reports import validation_tables
    from hardset.validating import PAGE, RESULT
    from hardset.validating import validate as hold

    found = hold(run, labels, draws=draws, seed=seed)
    with nobody_listening():
        validation_tables.show(found)
        for name in (RESULT, PAGE):
            print(f"written: {Path(found.folder) / name}")
        sys.stdout.flush()
    return 0


def _draw(
    run: Path, sample: int, sheet: Path | None, seed: int, rubrics: list[Path], only: list[str]
) -> int:
    from hardset.judging.people.labels import takes
    from hardset.judging.people.sheet import beside
    from hardset.validating import draw_sheet

    if not 1 <= sample <= 100_000:
        raise UsageError(f"--sample takes a whole number from 1 to 100,000, not {sample}")
    drawn = draw_sheet(run, replies=sample, sheet=sheet, seed=seed, rubrics=rubrics, only=only)
    with nobody_listening():
        total = sum(drawn.lines.values())
        print(f"{total:,} lines about {drawn.replies:,} replies: {drawn.sheet}")
        for key, count in drawn.lines.items():
            print(f"  {key}: {count:,} of the {drawn.due[key]:,} that could be drawn")
        if drawn.pictures:
            print(f"{drawn.pictures:,} pictures: {beside(drawn.sheet)}")
        print("Fill in the column label; `asked` says what is asked of each line. It takes:")
        for answer in dict.fromkeys(takes(drawn.sample.rubric(key)) for key in drawn.lines):
            print(f"  {answer}")
        print(
            "Let two people label a copy each, if you can: how far they agree is reported. "
            "What judges said is in the run's report: better not looked at before.\n"
            f"Then: hardset validate {drawn.folder} --labels {drawn.sheet}"
        )
        sys.stdout.flush()
    for notice in drawn.notices:
        tell(notice)
    return 0
