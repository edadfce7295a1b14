"""What a training leaves so that it can go on: written whole or not at all, read as data only."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from hardset.errors import UsageError
from hardset.lowresource.writing import whole


class Damaged(UsageError):  # noqa: N818 (a state, told by its name)
    """The file is no checkpoint, or only a part of one."""


class Stateful(Protocol):
    """What can be put away with a training and taken up again, as `dynamics.Dynamics` can."""

    def state_dict(self) -> dict[str, Any]:
        """Return arrays and plain values that say it all."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Become what `state_dict` said."""
        ...


@dataclass
class Checkpoint:
    """Where a training is put away, after every epoch and, if wanted, between.

    Attributes:
        path: the file. Where there is one, the training goes on from it.
        minutes: also write within an epoch, where so many minutes have passed since the last.
        carried: what must be of the same moment as the network, by name.
    """

    path: Path
    minutes: float | None = None
    carried: Mapping[str, Stateful] = field(default_factory=dict)
    _written: float = field(default_factory=time.monotonic, init=False, repr=False)

    def due(self) -> bool:
        """Say whether it is time to write within an epoch."""
        since = time.monotonic() - self._written
        return self.minutes is not None and since >= self.minutes * 60

    def save(self, state: dict[str, Any]) -> None:
        """Write the state, and that of what is carried, in place of the last.

        Raises:
            Unwritable: the disk is full, or the folder has gone.
        """
        import torch

        state["carried"] = {name: one.state_dict() for name, one in self.carried.items()}
        plain = _plain(state)
        whole(self.path, lambda part: torch.save(plain, part))
        self._written = time.monotonic()

    def load(self, of: dict[str, Any]) -> dict[str, Any] | None:
        """Return the state put away, or None where there is none, and restore what is carried.

        Args:
            of: what the training is of; the file must say the same.

        Raises:
            UsageError: the file is of another training.
            Damaged: it is no whole checkpoint.
        """
        import torch

        if not self.path.exists():
            return None
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
            found, carried = dict(state["of"]), dict(state["carried"])
            if lost := {"at", "module", "optimiser", "random"} - state.keys():
                raise KeyError(*lost)
        except Exception as error:  # whatever bytes that are no checkpoint lead torch to
            raise Damaged(
                f"{self.path} cannot be read as a checkpoint ({type(error).__name__}): remove it "
                "to train from the beginning"
            ) from error
        differing = [name for name in of if found.get(name) != of[name]]
        if differing or set(carried) != set(self.carried):
            what = ", ".join(differing) or "what was carried along"
            raise UsageError(
                f"{self.path} is a checkpoint of another training (it differs in {what}): remove "
                "it, or train elsewhere"
            )
        for name, one in self.carried.items():
            one.load_state_dict(carried[name])
        kept: dict[str, Any] = state
        return kept


def _plain(value: Any) -> Any:
    """Return arrays as tensors, deep down: only those are read back without running code."""
    import torch

    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(one) for one in value)
    return value
