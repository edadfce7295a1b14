"""Drawing the replies that people are to label, and writing the sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import polars as pl

from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.images import BadMedia, Library
from hardset.judging.people.labels import choices
from hardset.judging.people.sample import Sample, base_due, draw
from hardset.judging.people.sheet import COLUMNS, ENDINGS, LABEL, NOTE, beside, lay_out, write_sheet
from hardset.records import Image, Item
from hardset.validating.judged import items_of, kept_at, read_judged, rubrics_of, wanted_keys
from hardset.validating.tables import records_of, text_of

SHEET = "labels.csv"
_ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif"}
_UNHELD = (
    "lines with control characters or the like, which no spreadsheet holds: {:,}. They stand there "
    "as \u2400 and other signs; judges saw them as they are"
)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A sheet that was written."""

    sheet: Path
    folder: Path  # of the run
    sample: Sample
    lines: Mapping[str, int]  # by verdict
    due: Mapping[str, int]  # by verdict: replies that could have been drawn
    replies: int
    pictures: int
    notices: Sequence[str] = ()


def draw_sheet(
    run: str | Path,
    *,
    replies: int = 200,
    sheet: str | Path | None = None,
    seed: int = 0,
    rubrics: Sequence[str | Path] = (),
    only: Sequence[str] = (),
) -> Drawn:
    """Draw replies of a judged run for people to label, and write the sheet.

    Args:
        run: the folder of a run or of scored replies, or one that holds a single such.
        replies: how many to draw, about, each with all its verdicts; all where fewer were due.
        sheet: a .csv, .xlsx or .parquet file; `labels.csv` in the run's folder if not given.
        seed: of the sample.
        rubrics: the files of rubrics that are not this program's own.
        only: the rubrics or verdicts to label; all if none are named.

    Raises:
        UsageError: the run was not judged, a rubric is not the one it was judged by, or the sheet
            holds labels already.
    """
    done = read_judged(Path(run))
    path = Path(sheet) if sheet is not None else done.folder / SHEET
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path}: a sheet ends in {', '.join(ENDINGS)}")
    _see_unlabelled(path)
    asked = rubrics_of(done, rubrics)
    keys = wanted_keys(asked, only)
    sample = draw(done.outcomes, asked, replies, seed, keys=keys, outcomes_sha256=done.sha256)
    items, benchmark, notices = items_of(done, {line.row for line in sample.lines})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept_at(done, sample.mark).write_bytes(msgspec.json.encode(sample) + b"\n")
        pictures, lost = _pictures(sample, done.outcomes, items, benchmark, beside(path))
        offered = {line.id: choices(sample.rubric(line.key)) for line in sample.lines}
        unheld = write_sheet(path, lay_out(sample, done.outcomes, items, pictures), offered)
    except OSError as error:
        raise UsageError(f"the sheet {path} cannot be written: {error}") from error
    of_key = [line.key for line in sample.lines]
    return Drawn(
        sheet=path,
        folder=done.folder,
        sample=sample,
        lines={key: of_key.count(key) for key in sample.keys},
        due={key: int(base_due(done.outcomes, sample.rubric(key)).sum()) for key in sample.keys},
        replies=len({line.row for line in sample.lines}),
        pictures=len({one for shown in pictures.values() for one in shown.split("\n")}),
        notices=[*notices, *lost, *([_UNHELD.format(unheld)] * bool(unheld))],
    )


def _see_unlabelled(path: Path) -> None:
    """Refuse to write over a file that is no sheet, or one in which somebody wrote something."""
    if not path.exists():
        return
    try:
        records = [record for _, record in records_of(path)]
    except UsageError:
        records = []
    if not records or not all(name in record for record in records for name in COLUMNS):
        raise UsageError(f"{path} is there already and no empty sheet: it stays; name another")
    filled = sum(bool(text_of(record[LABEL]) or text_of(record[NOTE])) for record in records)
    if filled:
        raise UsageError(
            f"{path} holds labels or notes on {filled} of its {len(records)} lines: it stays. Read "
            f"them with --labels {path}, or name another sheet with --sheet"
        )


def _pictures(
    sample: Sample,
    outcomes: pl.DataFrame,
    items: Mapping[int, Item],
    benchmark: Benchmark | None,
    where: Path,
) -> tuple[dict[int, str], list[str]]:
    """Put the pictures that people need beside the sheet, under names that say nothing.

    Returns:
        By index, the path as the sheet names it; and what could not be put there.
    """
    if benchmark is None:
        return {}, []
    library = Library(openers=benchmark.openers)
    found: dict[int, str] = {}
    lost = 0
    shown = {line.row for line in sample.lines if sample.rubric(line.key).picture}
    for index in sorted({int(outcomes["index"][row]) for row in shown}):
        images = items[index].images
        names = [name for image in images if (name := _put(library, image, where))]
        lost += len(images) - len(names)
        if names:
            found[index] = "\n".join(f"{where.name}/{name}" for name in names)
    return found, [f"{lost} pictures could not be read, and are not beside the sheet"] * bool(lost)


def _put(library: Library, image: Image, where: Path) -> str:
    """Copy one picture; "" if it cannot be read."""
    try:
        image = library.examine(image)
        data = library.read(image)
    except BadMedia:
        return ""
    path = where / f"{image.sha256[:16]}{_ENDINGS.get(image.type, '.img')}"
    if not path.exists():
        where.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path.name
