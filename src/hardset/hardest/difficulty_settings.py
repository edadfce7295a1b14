"""What is asked of `difficulty`, what makes no sense to ask, and what a resumed walk must match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hardset.errors import UsageError
from hardset.hardest.asked import of_data, versions
from hardset.hardest.data import Data
from hardset.hardest.out_of_fold import deal
from hardset.hardest.predictors import own_weights
from hardset.hardest.score_pass import Mode
from hardset.lowresource.difficulty import SCORES
from hardset.lowresource.examples import Examples
from hardset.lowresource.training import labelled

MOST_CLASSES = 2000
"""Of label noise: its tables hold classes squared numbers, a few gigabytes for ten thousand."""


@dataclass(frozen=True)
class Settings:
    """What is asked.

    Attributes:
        predictors: names of networks; empty for the one that came with the examples, or else the
            default for their kind.
        seeds: how many of each: 0 to seeds - 1.
        scores: names in `SCORES`.
        overrides: parts of the recipes that are otherwise: epochs, batch, lr, steps.
        at_epoch: score the state after so many epochs; None for the last.
        weights: what predictors start from, as `registry.build` takes it.
        batch: examples scored at once; None for as many as the recipe trains on at once.
        threads: that torch computes with; None for its own choice.
        device: torch's name of it.
        mode: `eval`, or `paper`: training mode, one example at a time.
        label_noise: estimate wrong labels, out of fold, by the first predictor.
        folds: how many.
        noise_epochs: to train for each at most; None for `out_of_fold.TIMES` the predictor's.
    """

    predictors: tuple[str, ...] = ()
    seeds: int = 3
    scores: tuple[str, ...] = ("loss", "gradient_norm")
    overrides: Mapping[str, Any] = field(default_factory=dict)
    at_epoch: int | None = None
    weights: str | None = None
    batch: int | None = None
    threads: int | None = None
    device: str = "cpu"
    mode: Mode = "eval"
    label_noise: bool = False
    folds: int = 3
    noise_epochs: int | None = None


def score_names(given: Sequence[str]) -> tuple[str, ...]:
    """Return scores' names as files have them; loss and gradient norm, if none is given.

    Raises:
        UsageError: there is no such score.
    """
    names = tuple(dict.fromkeys(str(one).strip().lower().replace("-", "_") for one in given))
    for name in names:
        if name not in SCORES:
            known = ", ".join(SCORES).replace("_", "-")
            raise UsageError(f"--score takes one of {known}; not {name.replace('_', '-')!r}")
    return names or ("loss", "gradient_norm")


def check(settings: Settings, examples: Examples, recipes: Mapping[str, Any]) -> None:
    """Refuse what cannot come to anything, before anything is trained."""
    if not len(examples):
        raise UsageError("there is no example in the training set")
    if not labelled(examples).any():
        raise UsageError("no example of the training set has a label: there is nothing to train on")
    if len(examples.classes) == 1:
        raise UsageError(
            f"all labels are of one class, {examples.classes[0]!r}: nothing is to be told apart, "
            "and every example is as easy as the next"
        )
    of_epochs = [name for name in settings.scores if SCORES[name].needs == "epochs"]
    if of_epochs and not all(any_training for _, any_training in recipes.values()):
        raise UsageError(
            f"--score {of_epochs[0]} is what the epochs of training say, and --at-epoch 0 has none"
        )
    of_classes = [name for name in of_epochs if name != "variability"]
    if of_classes and not examples.classes:
        raise UsageError(
            f"--score {of_classes[0]} has no meaning for labels that are real numbers; of the "
            "scores that training leaves, variability has"
        )
    if settings.label_noise:
        if len(examples.classes) > MOST_CLASSES:
            raise UsageError(
                f"--label-noise counts every label against every other: up to {MOST_CLASSES:,} "
                f"classes, and there are {len(examples.classes):,}; leave it out"
            )
        deal(examples, settings.folds, 0)


def asked(
    settings: Settings, data: Data, examples: Examples, names: Sequence[str], threads: int
) -> dict[str, Any]:
    """Return all that must be the same for a walk to be gone on with, by flag.

    Args:
        settings: what is asked.
        data: how the examples were opened.
        examples: the training set.
        names: of the predictors, defaults filled in.
        threads: that torch computes with, the default filled in.
    """
    return {
        "data": of_data(examples) | own_weights(examples),
        **data.flags(),
        "--predictor": list(names),
        "--seeds": settings.seeds,
        "--score": list(settings.scores),
        "--mode": settings.mode,
        **{
            f"--{name}": settings.overrides.get(name) for name in ("epochs", "batch", "lr", "steps")
        },
        "--at-epoch": settings.at_epoch,
        "--weights": settings.weights,
        "--score-batch": settings.batch,
        "--threads": threads,
        "--device": settings.device,
        "--label-noise": settings.label_noise,
        "--folds": settings.folds if settings.label_noise else None,
        "--noise-epochs": settings.noise_epochs if settings.label_noise else None,
        "library": versions(),
    }
