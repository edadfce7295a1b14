"""What a training leaves so that it can go on: written whole or not at all, read as data only."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from hardset.errors import UsageError


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
        """Write the state, and that of what is carried, in place of the last."""
        import torch

        state["carried"] = {name: one.state_dict() for name, one in self.carried.items()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with part.open("wb") as file:
                torch.save(_plain(state), file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
            self._written = time.monotonic()
        finally:
            part.unlink(missing_ok=True)

    def load(self, of: dict[str, Any]) -> dict[str, Any] | None:
        """Return the state put away, or None where there is none, and restore what is carried.

        Args:
            of: what the training is of; the file must say the same.

        Raises:
            UsageError: the file is of another training, or damaged.
        """
        import torch

        if not self.path.exists():
            return None
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
            found, carried = state["of"], state["carried"]
        except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, TypeError) as error:
            raise UsageError(
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
