"""The trials of a folder: each is written at once, whole or not at all, and found again.

`trials/LEARNER/k-K/SET/AUGMENT/seed-S.json` holds a trial's figures. Under the same name `correct/`
holds what it got right of the test examples at the end, one bit each, or, where labels are real
numbers, the values it predicted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.learning.results import Epoch, Result, Trial
from hardset.lowresource.writing import whole
from hardset.reports.folder import make_usable, safe_name

_ROUNDING = 1e-9
SETTINGS, TRIALS, CORRECT = "settings.json", "trials", "correct"


class _Kept(msgspec.Struct):
    """The file of a finished trial."""

    trial: Trial
    epochs: list[Epoch]
    left_out: int
    seconds: float


class TrialFiles:
    """The trials in a folder, all made with the same settings.

    Args:
        folder: where; made if it is not there.
        settings: all that decides what a trial gives, besides which trial it is.
        examples: of the test set, that every trial is evaluated on.
        real: whether labels are real numbers.

    Raises:
        UsageError: the folder holds trials made with other settings, or cannot be written.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, Any], *, examples: int, real: bool
    ) -> None:
        self.folder, self.examples, self.real = folder, examples, real
        make_usable(folder)
        _same(folder / SETTINGS, settings)

    def found(self, trials: Iterable[Trial]) -> dict[Trial, Result]:
        """Read those of these trials that are finished; what is damaged is not."""
        read = ((trial, self._read(trial)) for trial in trials)
        return {trial: result for trial, result in read if result is not None}

    def keep(self, result: Result) -> None:
        """Write a finished trial; its figures last, as the seal.

        Raises:
            UsageError: the disk is full, or the folder has gone.
        """
        outputs = result.outputs if self.real else np.packbits(result.outputs == 1)
        kept = _Kept(result.trial, list(result.epochs), result.left_out, result.seconds)
        figures, right = self._places(result.trial)
        whole(right, lambda part: _save(part, outputs))
        write_whole(figures, msgspec.json.encode(kept))

    def _read(self, trial: Trial) -> Result | None:
        figures, right = self._places(trial)
        try:
            kept = msgspec.json.decode(figures.read_bytes(), type=_Kept)
            stored: NDArray[Any] = np.load(right, allow_pickle=False)
        except (OSError, ValueError, EOFError, msgspec.DecodeError):
            return None
        if not self.real and stored.dtype == np.uint8:
            stored = np.unpackbits(stored)[: self.examples]
        if kept.trial != trial or not kept.epochs or stored.shape != (self.examples,):
            return None
        outputs = stored.astype(np.float64)
        if not self.real and abs(outputs.mean() - kept.epochs[-1].test) > _ROUNDING:
            return None  # one of the two files is not what was written
        return Result(trial, tuple(kept.epochs), outputs, kept.left_out, kept.seconds)

    def _places(self, trial: Trial) -> tuple[Path, Path]:
        parts = (trial.learner, f"k-{trial.k}", trial.set, trial.augment, f"seed-{trial.seed}")
        *folders, name = (safe_name(part) for part in parts)
        return (
            self.folder.joinpath(TRIALS, *folders, f"{name}.json"),
            self.folder.joinpath(CORRECT, *folders, f"{name}.npy"),
        )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all.

    Raises:
        UsageError: the disk is full, or the folder has gone.
    """
    whole(path, lambda part: part.write_bytes(content))


def _save(part: Path, outputs: NDArray[Any]) -> None:
    with part.open("wb") as file:  # numpy would add an ending to the name
        np.save(file, outputs, allow_pickle=False)


def pretty(value: Any) -> bytes:
    """Write JSON for people and for diffs."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _same(path: Path, settings: Mapping[str, Any]) -> None:
    """See that a folder's settings are these; write them where there are none."""
    now = msgspec.json.decode(msgspec.json.encode(settings))
    try:
        before = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        write_whole(path, pretty(now))
        return
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is damaged ({error}): name another --out") from error
    differing = [
        f"{name} was {_short(before.get(name))} and is {_short(now.get(name))}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]
    if differing:
        raise UsageError(
            f"{path.parent} holds trials made with other settings: {'; '.join(differing)}. "
            "Give the same, or another --out"
        )


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode() if value is not None else "not given"
    return text if len(text) <= 80 else f"{text[:79]}…"
