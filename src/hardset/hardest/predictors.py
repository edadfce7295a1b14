"""Predictors: built, trained by their recipe, and put away, so that a stopped walk goes on."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.hardest.parts import digest, read_json, write_frame, write_json
from hardset.lowresource.checkpoints import Checkpoint, Damaged
from hardset.lowresource.difficulty import SCORES
from hardset.lowresource.dynamics import Dynamics
from hardset.lowresource.early_stopping import BestEpoch
from hardset.lowresource.examples import Examples
from hardset.lowresource.network import Network
from hardset.lowresource.networks import own, registry
from hardset.lowresource.recipes import Recipe, changed, predictor_recipe
from hardset.lowresource.training import Diverged, Trained, train
from hardset.lowresource.writing import whole

WEIGHTS, TRAINED, EPOCHS, CHECKPOINT = (
    "weights.pt",
    "trained.json",
    "epochs.parquet",
    "checkpoint.pt",
)
MINUTES = 2.0  # between checkpoints within an epoch
DEFAULTS = {"image": "ffn", "text": "bag-of-words", "tensor": "mlp"}


class HasNetwork(Protocol):
    """Examples that a user's function gave together with a network."""

    network: Any


@dataclass(frozen=True)
class Predictor:
    """A predictor that has been trained, as its folder tells.

    Attributes:
        name: as asked for.
        seed: of its weights and its training.
        family: what kind of network it is.
        recipe: how it was trained.
        facts: what its `Network` says of it.
        training: what the training was: epochs, steps, losses, accuracies, left_out, seconds.
        diverged: why it has no use; empty where it has.
        digests: SHA-256 of the files beside, by name.
        folder: where its weights are.
    """

    name: str
    seed: int
    family: str
    recipe: dict[str, Any]
    facts: dict[str, Any]
    training: dict[str, Any]
    diverged: str
    digests: dict[str, str]
    folder: Path

    def damaged(self) -> list[Path]:
        """Return its files that are not as they were written, or not there any more."""
        paths = {self.folder / name: found for name, found in self.digests.items()}
        return [path for path, found in paths.items() if digest(path) != found]


def own_name(examples: Examples) -> str:
    """Return the name of the network that came with the examples; empty where none did."""
    given = getattr(examples, "network", None)
    return "" if given is None else str(examples.source.get("place") or "given")


def own_weights(examples: Examples) -> dict[str, str]:
    """Return what tells the network that came with the examples from another; {} without one."""
    given = getattr(examples, "network", None)
    module = getattr(given, "module", given)
    if module is None:
        return {}
    found = hashlib.sha256()
    for name, value in module.state_dict().items():
        found.update(f"{name} {tuple(value.shape)} {value.dtype}".encode())
        found.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return {"network": found.hexdigest()}


def build(name: str, examples: Examples, *, seed: int, weights: str | None = None) -> Network:
    """Return a fresh network: one of `registry.names`, or the one that came with the examples.

    What came with them has the weights it came with, whatever the seed.
    """
    if name != own_name(examples):
        return registry.build(name, examples, seed=seed, weights=weights)
    given: HasNetwork = examples  # type: ignore[assignment]
    if weights not in (None, "random"):
        raise UsageError(f"{name} brings its own weights: leave --weights {weights} out")
    try:
        copied = copy.deepcopy(given.network)
    except Exception as error:  # a lock, a generator, an old weight_norm: not everything is copied
        raise UsageError(
            f"{name}: its network cannot be copied ({type(error).__name__}: {error}), so it can "
            "be trained once only; give a function that makes it, as --predictor module:function"
        ) from error
    network = own.network_of(name, copied, examples, None)
    network.module.eval()
    count = sum(weight.numel() for weight in network.module.parameters())
    network.facts = {"parameters": count, "weights": "as given", **network.facts}
    return network


def recipe_of(
    name: str, examples: Examples, overrides: Mapping[str, Any], at_epoch: int | None
) -> tuple[Recipe, bool]:
    """Return how a predictor is trained, and whether it is at all.

    Args:
        name: of the network.
        examples: what it is trained on.
        overrides: parts of the recipe that are otherwise; None leaves a part as it is.
        at_epoch: epochs of it to train: an earlier state; 0 leaves the initial weights.

    Raises:
        UsageError: the recipe has fewer epochs, or an override is none.
    """
    recipe = changed(predictor_recipe(name, examples.kind), **overrides)
    if at_epoch is None or at_epoch == recipe.epochs:
        return recipe, True
    if not 0 <= at_epoch <= recipe.epochs:
        raise UsageError(
            f"--at-epoch {at_epoch}: {name} is trained for {recipe.epochs} epochs; give 0 to "
            f"{recipe.epochs}, or more --epochs"
        )
    return (changed(recipe, epochs=at_epoch), True) if at_epoch else (recipe, False)


def trained(
    name: str,
    examples: Examples,
    folder: Path,
    *,
    seed: int,
    overrides: Mapping[str, Any],
    at_epoch: int | None = None,
    weights: str | None = None,
    device: str = "cpu",
    epochs: bool = False,
    best: BestEpoch | None = None,
    network: Network | None = None,
    progress: Callable[[int, int], None] | None = None,
    remade: Callable[[Path], None] | None = None,
) -> tuple[Predictor, Network | None]:
    """Train a predictor, or go on with it, or find that it is done.

    Args:
        name: of the network.
        examples: what to train on.
        folder: where it is put away.
        seed: of weights and training.
        overrides: see `recipe_of`.
        at_epoch: see `recipe_of`.
        weights: what to start from, as `registry.build` takes it.
        device: torch's name of it.
        epochs: gather the scores that the epochs of training give.
        best: ends the training when it is of no more use, and the best epoch is kept.
        network: what `build` makes of all this, if it is at hand.
        progress: called with examples done and examples in all.
        remade: called with each file that was damaged, and is made again.

    Returns:
        The predictor, and its network, to be given its weights by `load`; None where it was done
        before.
    """
    if (done := _finished(folder, remade)) is not None:
        return done, None
    network = network or build(name, examples, seed=seed, weights=weights)
    recipe, any_training = recipe_of(name, examples, overrides, at_epoch)
    said = Trained()
    dynamics = Dynamics(len(examples)) if epochs else None
    diverged = ""
    if any_training:
        carried = {"dynamics": dynamics, "best": best}
        checkpoint = Checkpoint(
            folder / CHECKPOINT, MINUTES, {key: one for key, one in carried.items() if one}
        )
        at_batch = dynamics.seen if dynamics else None

        def go() -> Trained:
            return train(
                network, examples, recipe, seed=seed, device=device, at_batch=at_batch,
                enough=best.enough if best else None, progress=progress, resume=checkpoint,
            )  # fmt: skip

        try:
            try:
                said = go()
            except Damaged:  # before anything was taken from it
                _tell(remade, checkpoint.path)
                checkpoint.path.unlink()
                said = go()
        except Diverged as error:
            diverged = str(error)
        if best and best.weights:  # what was good before it diverged is so still
            best.restore(network)
            diverged = ""
    state = {
        key: value.cpu()
        for key, value in network.module.state_dict().items()
        if isinstance(value, torch.Tensor)  # a module may add what it likes
    }
    if not diverged and not all(_finite(value) for value in state.values()):
        diverged = "its weights are no longer finite numbers: a lower learning rate may mend it"
    files: list[str] = []
    if not diverged:
        files.append(WEIGHTS)
        whole(folder / WEIGHTS, lambda part: torch.save(state, part))
        if dynamics:
            files.append(EPOCHS)
            _write_epochs(folder / EPOCHS, dynamics)
    about = {
        "name": name,
        "seed": seed,
        "family": network.family,
        "recipe": dataclasses.asdict(recipe) if any_training else {"name": "untrained"},
        "facts": network.facts,
        "training": dataclasses.asdict(said) | ({"kept_epoch": best.epochs} if best else {}),
        "diverged": diverged,
        "digests": {name: digest(folder / name) for name in files},
    }
    write_json(folder / TRAINED, about)  # the seal: what it names is there
    (folder / CHECKPOINT).unlink(missing_ok=True)
    network.module.cpu()
    found = read_json(folder / TRAINED)  # as a resumed run will read it
    assert found is not None
    return Predictor(folder=folder, **found), network


def load(predictor: Predictor, network: Network) -> Network:
    """Give a network the predictor's weights, from its folder."""
    path = predictor.folder / WEIGHTS
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        missing, unexpected = network.module.load_state_dict(state, strict=False)
        lost = [key for key in missing if not key.endswith("_extra_state")]
        if lost or unexpected:
            raise KeyError(*lost, *unexpected)
    except Exception as error:
        raise UsageError(
            f"{path} cannot be read ({type(error).__name__}): remove {predictor.folder} to train "
            "this predictor again"
        ) from error
    network.module.eval()
    return network


def epoch_scores(predictor: Predictor, names: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    """Return columns (n,) of the scores that the epochs of training gave."""
    import polars as pl

    wanted = [name for name in names if SCORES[name].needs == "epochs"]
    if not wanted:
        return {}
    frame = pl.read_parquet(predictor.folder / EPOCHS, columns=wanted, glob=False)
    return {name: frame[name].to_numpy().astype(np.float64) for name in wanted}


def _finished(folder: Path, remade: Callable[[Path], None] | None) -> Predictor | None:
    """Return the predictor that a folder holds; None where none is finished, or it is damaged."""
    seal = folder / TRAINED
    damaged: list[Path]
    try:
        if (said := read_json(seal)) is None:
            return None
        found = Predictor(folder=folder, **said)
        damaged = found.damaged()
    except (UsageError, TypeError, AttributeError):
        damaged = [seal]
    if not damaged:
        return found
    for path in damaged:
        _tell(remade, path)
    seal.unlink()
    return None


def _tell(remade: Callable[[Path], None] | None, path: Path) -> None:
    if remade:
        remade(path)


def _write_epochs(path: Path, dynamics: Dynamics) -> None:
    import polars as pl

    write_frame(path, pl.DataFrame(dynamics.columns()))


def _finite(value: torch.Tensor) -> bool:
    return not value.is_floating_point() or bool(value.isfinite().all())
