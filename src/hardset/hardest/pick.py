"""Picking a training set by difficulty, and leaving it as a data set: `hardset pick`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.hardest import pick_manifest
from hardset.hardest.pick_contents import write_examples
from hardset.hardest.pick_inputs import Pool, gather
from hardset.hardest.pick_manifest import EXAMPLES, MADE_BY
from hardset.hardest.pick_review import (
    DROP,
    REVIEW,
    Decision,
    Review,
    clear_away,
    illustrate,
    read_review,
    see_undecided,
    write_review,
)
from hardset.hardest.trial_files import pretty, write_whole
from hardset.lowresource.examples import NO_LABEL, Examples
from hardset.lowresource.picking import How, Picked, pick
from hardset.lowresource.score_files import Duplicates, see_utf_8
from hardset.reports.folder import MANIFEST, make_usable

if TYPE_CHECKING:
    import polars as pl

LabelNoise = Literal["show", "drop", "review"]


@dataclass(frozen=True)
class PickedSet:
    """What was picked and left in a folder.

    Attributes:
        folder: where.
        positions: by label, the hardest first.
        manifest: what `manifest.json` holds.
    """

    folder: Path
    positions: NDArray[np.int64]
    manifest: dict[str, Any]

    def __repr__(self) -> str:
        """Return where it is, and of how many examples."""
        return f"PickedSet({str(self.folder)!r}, n={len(self.positions)})"

    @property
    def notices(self) -> list[str]:
        """What a reader of the set should know, a sentence each."""
        return list(self.manifest["notices"])


def pick_set(
    scores: str | Path,
    *,
    out: str | Path,
    k: int,
    data: Examples | str | Path | None = None,
    labels: str | Path | None = None,
    score: str | None = None,
    choose: How = "hardest",
    seed: int = 0,
    label_noise: LabelNoise | None = None,
    reviewed: str | Path | None = None,
    duplicates: Duplicates | None = None,
) -> PickedSet:
    """Pick k examples a label by difficulty, and write them as a data set.

    Args:
        scores: what `hardset difficulty` left, or a file of scores (`score_files`).
        out: the folder to leave: `examples.parquet`, `manifest.json`, and `review.csv`, where
            labels are to be reviewed. One that `pick` left is written again, another never.
        k: examples a label; of all together where labels are real numbers.
        data: the examples that were scored, or where they are; their contents are written too.
        labels: without data, a file of their labels: one a line, .npy, or a table with a column
            `label`. A difficulty folder has labels itself.
        score: which, where there are several.
        choose: hardest, easiest, random or stratified.
        seed: of ties and of what is random.
        label_noise: of suspected labels, that a difficulty folder with `--label-noise` has: show
            them (if not given, where there are any), drop them, or write a sheet to review them.
        reviewed: such a sheet, with decisions: keep, drop, or the right class.
        duplicates: of lines that repeat an index: their mean, the first or the last.

    Raises:
        UsageError: scores, labels and data do not fit together, a label has too few examples, or
            the folder is another's.
    """
    began = datetime.now(UTC)
    scores, out = Path(scores), Path(out)
    labels, reviewed = _path(labels), _path(reviewed)
    if label_noise not in (None, *get_args(LabelNoise)):
        raise UsageError(f"--label-noise takes show, drop or review, not {label_noise!r}")
    if data is not None and labels is not None:
        raise UsageError("the data have labels: give --data or --labels, not both")
    _see_free(out)
    see_undecided(out / REVIEW, reviewed)
    examples = _opened(data)
    pool = gather(scores, examples=examples, labels=labels, score=score, duplicates=duplicates)
    if label_noise and pool.noise is None:
        raise UsageError(
            f"nothing is known of wrong labels in {scores}: estimate them with "
            "`hardset difficulty --label-noise`, and give its folder as --scores"
        )
    ids = _ids(pool, examples)
    sheet = Review({}, frozenset()) if reviewed is None else read_review(reviewed, pool, ids)
    decided = sheet.decided
    suspect = _settled(pool, decided)
    given = pool.labels.copy()
    for index, made in decided.items():
        if made.label is not None:
            pool.labels[index] = made.label
    drop = suspect.copy() if label_noise == "drop" else np.zeros(len(pool), bool)
    drop[[index for index, made in decided.items() if made.what == DROP]] = True
    found = pick(
        pool.values, pool.labels, k, choose, seed,
        hard=pool.scores.hard, drop=drop, classes=pool.classes,
    )  # fmt: skip
    frame = _frame(pool, found, ids, suspect, given)
    make_usable(out)
    with _writing(out):
        # Until all is there: whose the folder is, so that the same command can be given again.
        write_whole(out / MANIFEST, pretty({"made_by": MADE_BY, "unfinished": True}))
        unreadable = write_examples(out / EXAMPLES, frame, examples, pool.classes)
        to_review = _to_review(pool, found, ids, suspect, given, decided, examples)
        if label_noise == "review":
            if examples is not None:
                illustrate(out / REVIEW, to_review, examples)
            write_review(out / REVIEW, to_review)
        else:
            clear_away(out / REVIEW, reviewed)
        manifest = pick_manifest.lay_out(
            pool, found, suspect, sheet, examples,
            settings={"k": k, "choose": choose, "seed": seed},
            scores=scores, reviewed=reviewed, label_noise=label_noise, unreadable=unreadable,
            out=out, to_review=to_review, began=began,
        )  # fmt: skip
        write_whole(out / MANIFEST, pretty(manifest))
    return PickedSet(out, found.positions, manifest)


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)


def _opened(data: Examples | str | Path | None) -> Examples | None:
    if not isinstance(data, str | Path):
        return data
    from hardset.sources.examples.opening import open_examples

    return open_examples(data)


def _see_free(out: Path) -> None:
    """See that nothing of anybody else's is where the set is to be left."""
    import msgspec

    try:
        see_utf_8(out)
        if "\0" in str(out):
            raise ValueError("there is a null character in its name")
        if not out.exists() or (out.is_dir() and all(map(_left_behind, out.iterdir()))):
            return
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{str(out)[:200]!r} cannot be a folder: {said}") from error
    try:
        manifest = msgspec.json.decode((out / MANIFEST).read_bytes())
        ours = isinstance(manifest, dict) and manifest.get("made_by") == MADE_BY
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        ours = False
    if not ours:
        raise UsageError(f"{out} is there and was not left by `hardset pick`: name another --out")


def _left_behind(path: Path) -> bool:
    """Whether a file is of no account: a system's, or of a writing that was broken off."""
    return path.name.startswith(".") and path.is_file()


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    """Say in a sentence what is wrong with the folder, as a full disk."""
    import polars as pl

    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        said = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
        raise UsageError(
            f"{out} cannot be written: {said}; mend that, and give the same command again"
        ) from error


def _ids(pool: Pool, examples: Examples | None) -> Callable[[int], str]:
    if examples is not None:
        return examples.id
    if pool.ids is not None:
        known = pool.ids
        return lambda position: str(known[position])
    return str


def _settled(pool: Pool, decided: Mapping[int, Decision]) -> NDArray[np.bool_]:
    """Say whose labels are still suspected, (n,): not those that somebody decided about."""
    suspect = np.zeros(len(pool), bool) if pool.noise is None else pool.noise.suspect.copy()
    suspect[list(decided)] = False
    return suspect


def _frame(
    pool: Pool,
    found: Picked,
    ids: Callable[[int], str],
    suspect: NDArray[np.bool_],
    given: NDArray[Any],
) -> pl.DataFrame:
    """Lay out the picked examples, all but their contents."""
    import polars as pl

    at = found.positions
    labels = pool.labels[at]
    none = pool.noise is None
    suggested = np.full(len(at), NO_LABEL) if pool.noise is None else pool.noise.suggested[at]
    return pl.DataFrame({
        "index": at,
        "id": pl.Series([ids(int(i)) for i in at], dtype=pl.String),
        "label": labels,
        "class": pl.Series([pool.class_of(label) for label in labels], dtype=pl.String),
        "rank_in_label": found.ranks_within_label,
        "score": pool.values[at],
        **{name: column[at] for name, column in pool.others.items() if name != "score"},
        "suspect": pl.Series([None] * len(at) if none else suspect[at], dtype=pl.Boolean),
        "suggested": pl.Series(
            [pool.class_of(each) or None for each in suggested], dtype=pl.String
        ),
        "relabelled": (given[at] != labels) & ~(np.isnan(labels) & np.isnan(given[at])),
    })  # fmt: skip


def _to_review(
    pool: Pool,
    found: Picked,
    ids: Callable[[int], str],
    suspect: NDArray[np.bool_],
    given: NDArray[Any],
    decided: Mapping[int, Decision],
    examples: Examples | None,
) -> list[dict[str, Any]]:
    """Give the lines of the sheet: suspects that were picked, then what is decided already."""
    noise = pool.noise
    if noise is None:
        return []
    ranks = dict(zip(found.positions.tolist(), found.ranks_within_label.tolist(), strict=True))
    wanted = [index for index in ranks if suspect[index]]
    lines = []
    for index in [*wanted, *decided]:
        made = decided.get(index)
        texts: Any = ()
        if examples is not None and examples.kind == "text":
            (content,) = examples.fetch(np.asarray([index]))
            texts = content if isinstance(content, tuple) else ()
        lines.append({
            "index": index, "id": ids(index), "decision": made.written if made else "",
            "class": pool.class_of(given[index]),
            "suggested": pool.class_of(noise.suggested[index]),
            "probability": noise.probability[index],
            "suggested_probability": noise.suggested_probability[index],
            "rank_in_label": ranks.get(index, ""), "score": pool.values[index],
            **dict(zip(("text", "text_b"), texts, strict=False)),
        })  # fmt: skip
    return lines
