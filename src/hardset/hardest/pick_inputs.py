"""What is picked from: scores with the labels they belong to, held against the data they are of."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.examples import NO_LABEL, Examples
from hardset.lowresource.score_files import DIFFICULTY, Duplicates, Scores, read_scores
from hardset.reports.folder import MANIFEST
from hardset.sources.panics import panics_told

if TYPE_CHECKING:
    import polars as pl

NOISE = "noise.parquet"
_NOISE = ("index", "suspect", "suggested", "probability", "suggested_probability")
_KEPT = ("index", "id", "label", "class", "state")
_NAMED = 3  # ids in an error
_CLASSES = 2**20  # a number that no class has


@dataclass
class Pool:
    """All examples that there are, scored or not.

    Attributes:
        scores: as they were read.
        values: (n,): the score of every position, NaN where there is none.
        labels: (n,): int64, or float64 where they are real numbers.
        classes: the labels' names; empty where labels are real numbers.
        ids: (n,), where scores or labels come with ids, and no data were given.
        others: scores and ranks of a difficulty folder by column, (n,) each.
        states: how many examples are in each state of a difficulty folder.
        noise: by position, what is said of labels; None where it was not estimated.
        manifest: the difficulty folder's.
    """

    scores: Scores
    values: NDArray[np.float64]
    labels: NDArray[Any]
    classes: tuple[str, ...]
    ids: pl.Series | None = None
    others: dict[str, NDArray[Any]] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    noise: Noise | None = None
    manifest: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    def class_of(self, label: Any) -> str:
        """Give a label's name; a real one as it is, and "" for none."""
        if not self.classes:
            return "" if label != label else f"{label:g}"
        return self.classes[int(label)] if label > NO_LABEL else ""


@dataclass
class Noise:
    """What confident learning says of every label, (n,) each; NO_LABEL and NaN where nothing."""

    suspect: NDArray[np.bool_]
    suggested: NDArray[np.int64]
    probability: NDArray[np.float64]
    suggested_probability: NDArray[np.float64]
    judged: NDArray[np.bool_]


def gather(
    scores: Path,
    *,
    examples: Examples | None,
    labels: Path | None,
    score: str | None,
    duplicates: Duplicates | None,
) -> Pool:
    """Read scores and labels, and see that they are of one set.

    Raises:
        UsageError: a file cannot be read, there are no labels, or they are of different sets.
    """
    folder = scores if scores.is_dir() else None
    given = _given_labels(labels) if labels is not None else None
    known = examples if examples is not None else given
    n = None if known is None else len(known.labels)
    with panics_told(scores):
        if folder is not None and (folder / DIFFICULTY).is_file() and n is not None:
            _see_as_many(folder, n)
        read = read_scores(scores, duplicates, score=score, n=n)
        frame = _difficulty(folder) if folder is not None else None
    if frame is not None:
        n = len(frame) if n is None else n
    if n is None or (known is None and frame is None):
        raise UsageError(
            f"{scores} has no labels to pick by: give the data they are scores of (--data), or a "
            "file of labels (--labels)"
        )
    if known is not None:
        pool = Pool(read, read.dense(n), np.asarray(known.labels), tuple(known.classes))
    else:
        assert frame is not None
        made, classes = _labels_of(frame, scores)
        pool = Pool(read, read.dense(n), made, _all_classes(_manifest(scores), classes))
    if frame is not None and folder is not None:
        pool.manifest = _manifest(folder)
        if examples is not None:
            _see_same(folder, frame, pool, examples)
        pool.ids = frame["id"] if "id" in frame.columns else None
        pool.others = {
            name: frame[name].cast(_real()).fill_null(np.nan).to_numpy()
            for name in frame.columns
            if name not in _KEPT and "@" not in name and frame[name].dtype.is_numeric()
        }
        if "state" in frame.columns:
            pool.states = {
                str(state): int(many) for state, many in frame["state"].value_counts().iter_rows()
            }
        pool.noise = _noise(folder / NOISE, n, pool.classes)
    return pool


def _real() -> Any:
    import polars as pl

    return pl.Float64


@dataclass
class _Labels:
    labels: NDArray[Any]
    classes: tuple[str, ...]


def _given_labels(path: Path) -> _Labels:
    """Read labels alone: a .npy array, a table with a column `label`, or one a line."""
    import polars as pl

    from hardset.sources.examples.labelling import labelled

    ending = path.suffix.lower()
    if not path.is_file():
        raise UsageError(f"there is no file of labels {path}")
    try:
        if ending == ".npy":
            array = np.load(path, allow_pickle=False)
            if array.ndim != 1:
                raise UsageError(f"{path} has the shape {array.shape}: labels are one dimension")
            cells = pl.Series(array.tolist() if array.dtype.kind in "US" else array)
        elif ending == ".parquet":
            with panics_told(path):
                cells = _column(path, pl.read_parquet(path, glob=False))
        elif ending in (".csv", ".tsv"):
            cells = _column(
                path, pl.read_csv(path, separator="\t" if ending == ".tsv" else ",",
                                  infer_schema_length=None)
            )  # fmt: skip
        else:
            text = path.read_text(encoding="utf-8-sig")
            lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
            cells = pl.Series(lines.split("\n") if lines else [], dtype=pl.String)
    except UsageError:
        raise
    except (OSError, ValueError, EOFError, pl.exceptions.PolarsError) as error:
        raise UsageError(f"{path} is no file of labels: {_first(error)}") from error
    if not len(cells):
        raise UsageError(f"{path} is empty: there is no label in it")
    made = labelled(cells, path)
    return _Labels(made.labels, made.classes)


def _column(path: Path, frame: pl.DataFrame) -> pl.Series:
    if "label" not in frame.columns:
        some = ", ".join(map(repr, frame.columns[:8]))
        raise UsageError(f"{path} has no column 'label'; its columns are {some}")
    if "index" not in frame.columns:
        return frame["label"]
    frame = frame.sort("index")
    if frame["index"].to_list() != list(range(len(frame))):
        raise UsageError(f"{path}: the column 'index' is not every number from 0, each once")
    return frame["label"]


def _see_as_many(folder: Path, n: int) -> None:
    import polars as pl

    try:
        many = pl.scan_parquet(folder / DIFFICULTY, glob=False).select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UsageError(f"{folder / DIFFICULTY} is damaged: {_first(error)}") from error
    if many != n:
        raise UsageError(
            f"{folder} has scores of {many:,} examples, the data have {n:,}: they are another set, "
            "split or version"
        )


def _difficulty(folder: Path) -> pl.DataFrame:
    """Read a difficulty folder's table, in the order of its index: a row a position."""
    import polars as pl

    frame = pl.read_parquet(folder / DIFFICULTY, glob=False).sort("index")
    if not np.array_equal(frame["index"].to_numpy(), np.arange(len(frame))):
        raise UsageError(
            f"{folder / DIFFICULTY}: its index is not every number from 0, each once: it is damaged"
        )
    return frame


def _labels_of(frame: pl.DataFrame, where: Path) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Take labels and classes from a difficulty folder's table."""
    import polars as pl

    if "label" not in frame.columns:
        raise UsageError(f"{where / DIFFICULTY} has no column 'label'")
    column = frame["label"]
    if column.dtype.is_float():
        return column.fill_null(np.nan).to_numpy(), ()
    fits = column.dtype.is_integer() and bool((column < _CLASSES).all())
    if not fits:
        raise UsageError(f"{where / DIFFICULTY}: the column 'label' holds no numbers of classes")
    labels = column.cast(pl.Int64).fill_null(NO_LABEL).to_numpy()
    names = {number: str(number) for number in range(int(labels.max(initial=NO_LABEL)) + 1)}
    if "class" in frame.columns:
        rows = frame.select("label", "class").unique(maintain_order=True).drop_nulls()
        if rows["label"].n_unique() < len(rows):
            twice = (
                rows.filter(pl.col("label").is_duplicated()).sort("label")["class"][:2].to_list()
            )
            raise UsageError(
                f"{where / DIFFICULTY} calls one label {twice[0]!r} and {twice[1]!r}: it is damaged"
            )
        names |= {label: str(name) for label, name in rows.iter_rows() if label > NO_LABEL}
    return labels, tuple(names[number] for number in sorted(names))


def _all_classes(manifest: dict[str, Any], found: tuple[str, ...]) -> tuple[str, ...]:
    """Take the classes of the manifest, which has those of no example too."""
    data = manifest.get("data")
    said = data.get("classes") if isinstance(data, dict) else None
    fits = isinstance(said, list) and len(said) >= len(found) > 0
    return tuple(map(str, said)) if fits and said else found


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{folder / MANIFEST} is damaged: {_first(error)}") from error


def _see_same(folder: Path, frame: pl.DataFrame, pool: Pool, examples: Examples) -> None:
    """See that the data are those that were scored: their digest, ids and labels."""
    data = pool.manifest.get("data")
    data = data if isinstance(data, dict) else {}
    inner = data.get("source")
    scored = (inner if isinstance(inner, dict) else data).get("sha256")
    now = examples.source.get("sha256")
    if scored and now and scored != now:
        raise UsageError(
            f"{folder} has scores of other data: their sha256 is {str(scored)[:12]}..., that of "
            f"the data given {str(now)[:12]}...; they changed, or are another set or split: score "
            "them again"
        )
    if "id" in frame.columns:
        ids = frame["id"].to_list()
        wrong = [i for i, known in enumerate(ids) if known is not None and known != examples.id(i)]
        if wrong:
            some = "; ".join(
                f"{i} is {examples.id(i)!r} and was {ids[i]!r}" for i in wrong[:_NAMED]
            )
            raise UsageError(
                f"{folder} has scores of other data, or in another order: {len(wrong):,} of "
                f"{len(ids):,} ids differ ({some})"
            )
    if "label" in frame.columns:
        before, _ = _labels_of(frame, folder)
        same = before.dtype == pool.labels.dtype and np.array_equal(
            before, pool.labels, equal_nan=before.dtype.kind == "f"
        )
        if not same:
            raise UsageError(
                f"the labels of the data are not those that {folder} was scored with: were their "
                "columns or classes named otherwise?"
            )


def _noise(path: Path, n: int, classes: tuple[str, ...]) -> Noise | None:
    """Read what is said of labels; None where it was not estimated."""
    import polars as pl

    if not path.is_file():
        return None
    try:
        with panics_told(path):
            frame = pl.read_parquet(path, columns=list(_NOISE), glob=False)
        kinds = (("index", frame["index"].dtype.is_integer()),
                 ("suspect", frame["suspect"].dtype == pl.Boolean))  # fmt: skip
        if odd := [name for name, right in kinds if not right]:
            raise UsageError(f"{path} is damaged: its column {odd[0]!r} is of another type")
        index = frame["index"].to_numpy()
        if len(index) and not 0 <= index.min() <= index.max() < n:
            raise UsageError(f"{path} has indices beyond the {n:,} examples: it is of another set")
        suggested = frame["suggested"].cast(pl.Int64).fill_null(NO_LABEL).to_numpy()
        if len(suggested) and int(suggested.max()) >= len(classes):
            raise UsageError(f"{path} suggests a class that there is none of: it is of another set")
        found = Noise(
            np.zeros(n, bool), np.full(n, NO_LABEL), np.full(n, np.nan), np.full(n, np.nan),
            np.zeros(n, bool),
        )  # fmt: skip
        found.suspect[index] = frame["suspect"].fill_null(False).to_numpy()
        found.suggested[index] = suggested
        found.judged[index] = frame["probability"].is_not_null().to_numpy()
        for name in ("probability", "suggested_probability"):
            getattr(found, name)[index] = frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UsageError(f"{path} is damaged: {_first(error)}") from error
    return found


def _first(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
