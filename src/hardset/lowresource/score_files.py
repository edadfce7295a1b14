"""Scores somebody has already: the published text files, a difficulty folder, CSV or parquet.

A published file has a line an example, `index score`, in any order, or the score alone, whose
index then is its line, from 0. Repeated and missing indices are never passed over: the file
published for SST-2 has 67,349 lines and 64,162 different indices.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.difficulty import SCORES
from hardset.lowresource.score_lines import Line, Read, read_lines

if TYPE_CHECKING:
    import polars as pl

Duplicates = Literal["mean", "first", "last"]
DIFFICULTY = "difficulty.parquet"
_NAMED = 5  # indices in an error
_MOST = 2**40  # an index that no set has


class Problems(NamedTuple):
    """What is not as it should be in a file of scores."""

    lines: int
    repeated: int
    """Lines beyond the first of their index."""
    repeated_first: tuple[int, ...]
    """The lowest indices that are repeated, a few."""
    differing: int
    """Repeated indices whose lines do not all have one score."""
    missing: int
    """Indices below n that are on no line."""
    missing_first: tuple[int, ...]
    not_finite: int
    """Indices whose score is NaN, infinite or empty: not scored, and never ranked."""
    duplicates: Duplicates | None
    """What was asked to be done with repeated lines."""

    def told(self) -> list[str]:
        """Say what is wrong, a sentence each; nothing where nothing is."""
        said = []
        if self.repeated:
            said.append(
                f"{self.repeated:,} of {self.lines:,} lines repeat an index "
                f"({_some(self.repeated_first, self.repeated)}); {self.differing:,} of the "
                "repeated indices have scores that differ"
            )
        if self.missing:
            are = "index is" if self.missing == 1 else "indices are"
            some = _some(self.missing_first, self.missing)
            said.append(f"{self.missing:,} {are} missing ({some}): not scored, never picked")
        if self.not_finite:
            said.append(
                f"{self.not_finite:,} scores are empty, NaN or infinite: not scored, never picked"
            )
        return said


@dataclass(frozen=True)
class Scores:
    """A score of each example that a file has a line for."""

    index: NDArray[np.int64]
    """(m,): rising, each once."""
    values: NDArray[np.float64]
    """(m,): NaN where not scored."""
    problems: Problems
    name: str
    """Of the score, as `gradient_norm`; "score" where the file does not say."""
    hard: int
    """+1 where the highest is hardest, -1 where the lowest is."""
    ranked: bool = False
    """Whether the values are ranks over predictors, 0 to 1, rather than the score itself."""

    def dense(self, n: int) -> NDArray[np.float64]:
        """Give the score of every position of a set of n examples, NaN where there is none.

        Raises:
            UsageError: the file has an index beyond the set.
        """
        if len(self.index) and self.index[-1] >= n:
            beyond = int(np.sum(self.index >= n))
            raise UsageError(
                f"the scores have {beyond:,} indices beyond the data's {n:,} examples (the highest "
                f"is {self.index[-1]:,}): they are of another set or split"
            )
        values = np.full(n, np.nan)
        values[self.index] = self.values
        return values


def read_scores(
    path: Path,
    duplicates: Duplicates | None = None,
    *,
    score: str | None = None,
    n: int | None = None,
) -> Scores:
    """Read scores from a text file, a table (CSV, TSV, parquet) or the folder of `difficulty`.

    Args:
        path: the file or folder.
        duplicates: what is made of lines that repeat an index: their mean (over finite ones), the
            first or the last of the file. Given, missing indices are no error either: they have
            no score.
        score: which, where there are several, as `gradient_norm` or `gradient-norm`; of a text
            file, which it holds, so that its hard end is known: +1 if not given.
        n: how many examples there must be; if not given, as many as there are lines, or as the
            highest index says.

    Returns:
        Of a difficulty folder, the rank aggregated over predictors (0 easiest, 1 hardest).

    Raises:
        UsageError: the file cannot be read, a line of it is none, indices are repeated or
            missing and `duplicates` is not given, or one is beyond n.
    """
    if duplicates not in (None, *get_args(Duplicates)):
        raise UsageError(f"--duplicates takes mean, first or last, not {duplicates!r}")
    path = Path(path)
    name = score.replace("-", "_") if score else None
    if path.is_dir():
        path = path / DIFFICULTY
        if not path.is_file():
            raise UsageError(
                f"{path.parent} has no {DIFFICULTY}: it is no folder of `hardset difficulty`, or "
                "scoring was stopped; run the same command again to go on"
            )
    read, name, hard, ranked = _columns(path, name)
    _see_within(path, read, n)
    index, values, problems = _each_once(read.index, read.values, duplicates, n)
    if (problems.repeated or problems.missing) and duplicates is None:
        raise UsageError(_ways_out(path, problems, n))
    return Scores(index, values, problems, name, hard, ranked)


def _columns(path: Path, name: str | None) -> tuple[Read, str, int, bool]:
    """Read a file's indices and scores as they stand; what the score is, and its hard end."""
    import polars as pl

    head = _head(path)
    if head.startswith(b"PAR1"):
        see_utf_8(path)
        try:
            frame = pl.read_parquet(path, glob=False)
        except pl.exceptions.PanicException:
            raise UsageError(
                f"{path} is a damaged parquet file: its pages cannot be read"
            ) from None
        except (pl.exceptions.PolarsError, OSError) as error:
            raise UsageError(f"{path} is a damaged parquet file: {_first(error)}") from None
        return _of_table(path, frame, name)
    for start, kind in _NO_TEXT.items():
        if head.startswith(start):
            raise UsageError(f"{path} is {kind}: give a text, CSV or parquet file of scores")
    if path.suffix.lower() == ".parquet":
        raise UsageError(f"{path} is no parquet file, though its name says so: it is broken")
    read = read_lines(path)
    if isinstance(read, Line):
        return _of_table(path, _csv(path, read), name)
    return read, name or "score", SCORES[name].hard if name in SCORES else +1, False


def _head(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # of a pipe, what is read once is gone
            raise UsageError(f"{path} is no ordinary file: save the scores into one")
        with path.open("rb") as file:
            return file.read(8)
    except FileNotFoundError:
        raise UsageError(f"there is no file or folder {path}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


_NO_TEXT = {
    b"PK\x03\x04": "a zip archive or a workbook",
    b"\x1f\x8b": "compressed by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"\x93NUMPY": "a numpy array",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF",
}


def _csv(path: Path, header: Line) -> pl.DataFrame:
    """Read a table whose first line names its columns."""
    import polars as pl

    names = header.text.partition("\n")[0].split(header.separator)
    if twice := [name for name in names if name.strip() and names.count(name) > 1]:
        raise UsageError(
            f"{path} has {names.count(twice[0])} columns {twice[0]!r}: name them apart"
        )
    try:
        return pl.read_csv(
            header.text.encode(), separator=header.separator, infer_schema_length=None
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UsageError(f"{path} is no table that can be read: {_first(error)}") from None


def _of_table(path: Path, frame: pl.DataFrame, name: str | None) -> tuple[Read, str, int, bool]:
    import polars as pl

    if not frame.height:
        raise UsageError(f"{path} has no line below its header: there is nothing to read")
    if "index" not in frame.columns:
        some = ", ".join(map(repr, frame.columns[:8]))
        raise UsageError(f"{path} has no column 'index'; its columns are {some}")
    name = name or _only_score(path, frame.columns)
    column, hard = name, SCORES[name].hard if name in SCORES else +1
    if f"rank_{name}" in frame.columns:
        column, hard = f"rank_{name}", +1
    if column not in frame.columns:
        raise UsageError(f"{path} has no column {name!r}; {_has(frame.columns)}")
    for each, right in (("index", frame.schema["index"].is_integer()),
                        (column, frame.schema[column].is_numeric())):  # fmt: skip
        if not right:
            raise UsageError(
                f"{path}: column {each!r} is no column of "
                f"{'whole ' if each == 'index' else ''}numbers{_strange(frame, each)}"
            )
    empty = frame["index"].null_count()
    if empty:
        raise UsageError(f"{path}: column 'index' is empty on {empty:,} lines")
    values = frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    index = frame["index"].cast(pl.Int64, strict=False)
    if index.has_nulls():
        wrong = frame["index"].filter(index.is_null())[0]
        raise UsageError(f"{path}: the index {wrong} is beyond any set")
    return Read(index.to_numpy(), values), name, hard, column != name


def _only_score(path: Path, columns: list[str]) -> str:
    there = [name for name in columns if name in SCORES or name == "score"]
    if len(there) == 1:
        return there[0]
    raise UsageError(f"say with --score which score of {path} is meant; {_has(columns)}")


def _has(columns: list[str]) -> str:
    there = [name.replace("_", "-") for name in columns if name in SCORES or name == "score"]
    if there:
        return f"it has {', '.join(there)}"
    return f"its columns are {', '.join(map(repr, columns[:8]))}"


def _strange(frame: pl.DataFrame, column: str) -> str:
    """Name the first cell that is no number, by its line where it is a line of a text file."""
    import polars as pl

    if frame.schema[column] != pl.String:
        return f", but of {frame.schema[column]}"
    bare = frame[column].str.strip_chars()
    wrong = (bare.cast(pl.Float64, strict=False).is_null() & bare.is_not_null()).arg_true()
    return f": line {wrong[0] + 2} has {frame[column][wrong[0]]!r}" if len(wrong) else ""


def see_utf_8(path: Path) -> None:
    """See that the name of a parquet file, or of its folder, is one that polars can take.

    Raises:
        UsageError: it is not UTF-8.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError(f"the name of {path} is not UTF-8: give it another") from None


def _first(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]


def _each_once(
    index: NDArray[np.int64], values: NDArray[np.float64], how: Duplicates | None, n: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64], Problems]:
    """Sort by index, make repeated lines one, and count what is not as it should be."""
    values = np.where(np.isfinite(values), values, np.nan)
    lines = len(index)
    order = np.argsort(index, kind="stable")
    index, values = index[order], values[order]
    starts = np.flatnonzero(np.concatenate(([True], index[1:] != index[:-1])))
    sizes = np.diff(np.append(starts, lines))
    again = np.flatnonzero(sizes > 1)
    unlike = (values[1:] != values[:-1]) & ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
    unlike &= index[1:] == index[:-1]
    differing = len(np.unique(index[1:][unlike]))
    if how == "mean" and len(again):
        there = ~np.isnan(values)
        counts = np.add.reduceat(there.astype(np.int64), starts)
        scale = (
            2.0**-40 if np.nanmax(np.abs(values), initial=0) > 1e290 else 1.0
        )  # sums stay finite
        sums = np.add.reduceat(np.where(there, values * scale, 0.0), starts)
        once = np.divide(sums, counts, out=np.full(len(starts), np.nan), where=counts > 0) / scale
        once[sizes == 1] = values[starts[sizes == 1]]
    else:
        once = values[starts + sizes - 1 if how == "last" else starts]
    distinct = index[starts]
    whole = n if n is not None else max(lines, int(distinct[-1]) + 1)
    within = int(np.sum((distinct >= 0) & (distinct < whole)))
    problems = Problems(
        lines, lines - len(starts), tuple(map(int, distinct[again[:_NAMED]])), differing,
        whole - within, _gaps(distinct, whole), int(np.isnan(once).sum()), how,
    )  # fmt: skip
    return distinct, once, problems


def _gaps(distinct: NDArray[np.int64], whole: int) -> tuple[int, ...]:
    """Find the lowest few numbers below `whole` that are not there."""
    found: list[int] = []
    bounds = np.concatenate(([-1], distinct[(distinct >= 0) & (distinct < whole)], [whole]))
    for at in np.flatnonzero(np.diff(bounds) > 1)[:_NAMED]:
        found += range(bounds[at] + 1, min(bounds[at + 1], bounds[at] + 1 + _NAMED - len(found)))
        if len(found) >= _NAMED:
            break
    return tuple(map(int, found))


def _see_within(path: Path, read: Read, n: int | None) -> None:
    """Name the first line with an index that no example has."""
    wrong = (read.index < 0) | (read.index >= (_MOST if n is None else n))
    if not wrong.any():
        return
    at = int(np.argmax(wrong))
    where = f"line {at + 1}" if read.lines is not None else f"row {at}"
    what = "is negative"
    if read.index[at] >= 0:
        what = "is beyond any set" if n is None else f"is beyond the data's {n:,} examples"
        what += f", 0 to {n - 1:,}" if n else ""
    raise UsageError(
        f"{path}, {where}: the index {read.index[at]:,} {what} ({int(wrong.sum()):,} such lines)"
    )


def _ways_out(path: Path, problems: Problems, n: int | None) -> str:
    said = "; ".join(problems._replace(not_finite=0).told())
    if n is not None and problems.missing > n // 2:  # nobody leaves out the most of a set
        scores, repeated = problems.lines - problems.repeated, problems.repeated
        lines = "line that repeats" if repeated == 1 else "lines that repeat"
        again = f" (and {repeated:,} {lines} an index)" if repeated else ""
        many = f"{scores:,} score{'s' if scores != 1 else ''}{again}"
        return (
            f"{path} has {many} for {n:,} examples: is it another set's file? If it is of a part "
            "of this set, --duplicates first leaves the others unscored"
        )
    if problems.repeated:
        go_on = "--duplicates mean (or first, or last) makes one score of repeated lines and leaves"
    else:
        go_on = "--duplicates first leaves"
    return (
        f"{path} is not a score for every example: {said}. To go on, {go_on} missing examples "
        "unscored; or score the set anew: hardset difficulty"
    )


def _some(first: tuple[int, ...], many: int) -> str:
    return ", ".join(map(str, first)) + (", ..." if many > len(first) else "")
