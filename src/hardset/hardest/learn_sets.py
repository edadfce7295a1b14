"""What learners are trained on and tested on: picked and random sets, and a test set apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.examples import (
    NO_LABEL,
    Content,
    Examples,
    Positions,
    Subset,
    Unreadable,
)
from hardset.lowresource.learning.results import RANDOM
from hardset.lowresource.picking import How, hashed, pick
from hardset.reports.folder import MANIFEST

Flags = NDArray[np.bool_]
DROPPED = "suspects dropped"
PICKED = "examples.parquet"
_HELD_OUT = 2  # a stream of the hash, beside those of picking
_READ = 1024


class Way(Protocol):
    """A way to come to a training set of k examples a label."""

    @property
    def drawn(self) -> bool:
        """Whether it is another set for each seed."""
        ...

    def take(self, k: int, seed: int) -> Positions:
        """Give the positions in the training set, rising: training must not know their ranks."""
        ...


@dataclass(frozen=True)
class Chosen:
    """A set chosen by a score.

    Attributes:
        examples: the training set.
        how: which end of the score, or none.
        values: (n,) the score; NaN where an example is never taken.
        hard: +1 where the highest is hardest.
        drop: (n,) examples that are not to be taken.
    """

    examples: Examples
    how: How
    values: NDArray[np.float64]
    hard: int
    drop: Flags

    @property
    def drawn(self) -> bool:
        """Whether it is another set for each seed: random and stratified ones are."""
        return self.how in ("random", "stratified")

    def take(self, k: int, seed: int) -> Positions:
        """Give the positions in the training set."""
        found = pick(
            self.values,
            self.examples.labels,
            k,
            self.how,
            seed if self.drawn else 0,
            hard=self.hard,
            drop=self.drop,
            classes=self.examples.classes,
        )
        return np.sort(found.positions)


@dataclass(frozen=True)
class Given:
    """A set that was picked before, of one k.

    Attributes:
        name: how it was picked: `hardest`, ...
        positions: in the training set.
        k: examples a label.
        labels: (n,) of the whole training set, where some were put right in a review.
        relabelled: how many were.
    """

    name: str
    positions: Positions
    k: int
    labels: NDArray[Any] | None = None
    relabelled: int = 0

    @property
    def drawn(self) -> bool:
        """Whether it is another set for each seed: it is one."""
        return False

    def take(self, k: int, seed: int) -> Positions:
        """Give the positions in the training set."""
        if k != self.k:
            raise UsageError(f"the picked set has {self.k} examples a label: --k {k} cannot be met")
        return np.sort(self.positions)


def see_nothing_chosen(picked: Path, given: Mapping[str, Any]) -> None:
    """Refuse what chooses sets, beside one that is chosen.

    Args:
        picked: the folder that `hardset pick` left.
        given: what was given, by flag; what is empty was not.
    """
    for flag, value in given.items():
        if value:
            raise UsageError(
                f"{flag} goes with --scores; what is in {picked} is chosen already, and learned "
                "from as it is"
            )


def read_picked(folder: Path, train: Examples) -> Given:
    """Read what `hardset pick` chose from a training set.

    Raises:
        UsageError: the folder holds no such set, or one of other examples.
    """
    import polars as pl

    file = folder / PICKED if folder.is_dir() else folder
    if not file.is_file():
        raise UsageError(f"{folder} is no set that `hardset pick` left: it has no {PICKED}")
    try:
        frame = pl.read_parquet(file, glob=False)
        positions, names, given = (frame[one].to_numpy() for one in ("index", "id", "label"))
        manifest = msgspec.json.decode((file.parent / MANIFEST).read_bytes(), type=dict[str, Any])
        k, how = int(manifest["k"]), str(manifest["choose"])
    except (pl.exceptions.PolarsError, OSError, msgspec.DecodeError, KeyError, ValueError) as error:
        raise UsageError(
            f"{folder} is not as `hardset pick` leaves it: {str(error).partition(chr(10))[0]}"
        ) from error
    changed = np.zeros(len(frame), bool)
    if "relabelled" in frame.columns:
        changed = frame["relabelled"].to_numpy().astype(bool)
    wrong = (positions < 0) | (positions >= len(train))
    if not wrong.any():
        own = np.array([train.id(int(position)) for position in positions], dtype=object)
        wrong = (own != names) | ((train.labels[positions] != given) & ~changed)
    if wrong.any():
        raise UsageError(
            f"{folder} was picked from another set: {int(wrong.sum()):,} of its {len(frame):,} "
            f"examples, like {names[int(np.argmax(wrong))]!r}, are not at their place in it"
        )
    labels = train.labels.copy()
    labels[positions] = given
    return Given(
        how if how != RANDOM else "one random draw",
        positions.astype(np.int64),
        k,
        labels if changed.any() else None,
        int(changed.sum()),
    )


def labelled_anew(examples: Examples, labels: NDArray[Any]) -> Examples:
    """Give the same examples with other labels, (n,), of the same classes."""
    renewed = Subset(examples, np.arange(len(examples)))
    renewed.labels = labels
    return renewed


def labelled(examples: Examples) -> Flags:
    """Say which examples have a label, (n,)."""
    if examples.classes:
        return np.asarray(examples.labels != NO_LABEL)
    return np.asarray(np.isfinite(examples.labels))


def held_out(examples: Examples, share: float, seed: int = 0) -> Flags:
    """Choose a share of every label's examples to be tested on, the same for every trial.

    Args:
        examples: the training set.
        share: of it, above 0 and below 1.
        seed: of the choice.

    Returns:
        (n,): the share of each label, to the nearest whole number and at least one; of all
        together, where labels are real numbers.

    Raises:
        UsageError: the share is none, or a label has a single example.
    """
    if not 0 < share < 1:
        raise UsageError(f"--hold-out takes a share above 0 and below 1, like 0.2, not {share:g}")
    has_label = labelled(examples)
    groups = examples.labels if examples.classes else np.zeros(len(examples), np.int64)
    by_chance = hashed(np.arange(len(examples)), seed, _HELD_OUT)
    chosen = np.zeros(len(examples), bool)
    for group in np.unique(groups[has_label]):
        members = np.flatnonzero(has_label & (groups == group))
        many = max(1, round(share * len(members)))
        if many >= len(members):
            name = examples.classes[int(group)] if examples.classes else "the set"
            raise UsageError(
                f"--hold-out {share:g} leaves nothing of {name!r} to learn from: it has "
                f"{len(members)} examples"
            )
        chosen[members[np.argsort(by_chance[members], kind="stable")[:many]]] = True
    return chosen


def matched(test: Examples, train: Examples) -> Examples:
    """Give the test set with labels numbered as the training set's.

    Raises:
        UsageError: its labels are not among the training set's, or it holds another kind.
    """
    if test.kind != train.kind:
        raise UsageError(f"the training set holds {train.kind} examples, the test set {test.kind}")
    if bool(test.classes) != bool(train.classes):
        of = ("classes", "real numbers") if train.classes else ("real numbers", "classes")
        raise UsageError(f"the training set's labels are {of[0]}, the test set's {of[1]}")
    if test.classes == train.classes:
        return test
    unknown = [name for name in test.classes if name not in train.classes]
    if unknown:
        are = (
            "1 label of the test set is"
            if len(unknown) == 1
            else f"{len(unknown)} labels of the test set are"
        )
        raise UsageError(
            f"{are} not among the training set's "
            f"{len(train.classes)}: {', '.join(map(repr, unknown[:5]))}"
        )
    numbers = np.array([*map(train.classes.index, test.classes), NO_LABEL], dtype=np.int64)
    renumbered = Subset(test, np.arange(len(test)))
    renumbered.labels = numbers[test.labels]  # NO_LABEL is -1, the last of them
    renumbered.classes = train.classes
    return renumbered


class Read(NamedTuple):
    """The test examples that can be used, and what tells their contents."""

    positions: Positions
    digests: list[bytes]
    unreadable: int
    unlabelled: int


def read_through(test: Examples) -> Read:
    """Read a test set once: what is unreadable or has no label is left out and counted."""
    has_label = np.flatnonzero(labelled(test))
    kept, digests = [], []
    for position, digest in _digests(test, has_label):
        if digest:
            kept.append(position)
            digests.append(digest)
    unreadable = len(has_label) - len(kept)
    if not kept:
        raise UsageError(
            f"no example of the test set can be used: {unreadable:,} cannot be read, "
            f"{len(test) - len(has_label):,} have no label"
        )
    return Read(np.array(kept, np.int64), digests, unreadable, len(test) - len(has_label))


def overlaps(
    train: Examples, sets: Mapping[tuple[str, int, int], Positions], test: Read
) -> list[dict[str, Any]]:
    """Count the test examples whose content is also in a training set, set by set.

    Args:
        train: the training set.
        sets: (set, k, seed) to its positions.
        test: the test set as it was read.

    Returns:
        set, k, n and of: n test examples of so many; of sets that differ by seed, the most. Only
        sets that have any.
    """
    tested: dict[bytes, int] = {}
    for digest in test.digests:
        tested[digest] = tested.get(digest, 0) + 1
    wanted = np.unique(np.concatenate([*sets.values(), np.empty(0, np.int64)]))
    shared = {at: digest for at, digest in _digests(train, wanted) if digest in tested}
    most: dict[tuple[str, int], int] = {}
    for (name, k, _), positions in sets.items():
        same = {shared[int(at)] for at in positions if int(at) in shared}
        many = sum(tested[digest] for digest in same)
        if many:
            most[name, k] = max(many, most.get((name, k), 0))
    return [
        {"set": name, "k": k, "n": many, "of": len(test.digests)}
        for (name, k), many in most.items()
    ]


def named(sets: Iterable[str]) -> tuple[str, ...]:
    """Give sets' names in the order of tables: as chosen, and random last."""
    return (*(name for name in dict.fromkeys(sets) if name != RANDOM), RANDOM)


def _digests(examples: Examples, positions: Positions) -> Iterable[tuple[int, bytes]]:
    """Yield positions with what tells contents apart; nothing of what is unreadable."""
    for start in range(0, len(positions), _READ):
        part = positions[start : start + _READ]
        for position, content in zip(part, examples.fetch(part), strict=True):
            yield int(position), _digest(content)


def _digest(content: Content) -> bytes:
    if isinstance(content, Unreadable):
        return b""
    found = hashlib.blake2b(digest_size=16)
    if isinstance(content, tuple):
        for text in content:
            found.update(f"{len(text)}\0{text}".encode(errors="surrogatepass"))
    else:
        found.update(f"{content.shape}{content.dtype}".encode())
        found.update(np.ascontiguousarray(content).tobytes())
    return found.digest()
