"""How predictors and learners are trained: the recipes of Hard-Bench by name, each with its source.

"Paper" is arXiv 2303.03840; where it is silent or its published code differs, the recipe says so.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from hardset.errors import UsageError
from hardset.lowresource.examples import Kind

Optimiser = Literal["adam", "adamw", "sgd"]
Schedule = Literal["constant", "steps", "linear", "one-cycle", "as-published"]
Augment = Literal["none", "cutmix", "mixup"]

PAPER = "Hard-Bench, arXiv 2303.03840"
OURS = "our choice: the paper has no such network"
_SCRATCH_TEXT = ("transformer", "bag-of-words")
_VIT = ("vit-b16", "timm/vit_", "timm/deit")
_EFFICIENT = ("efficientnetv2-s", "timm/tf_efficientnetv2", "timm/efficientnetv2")
_LOW_RATE = ("ffn-imagenet", "ffn", "vgg16", "timm/vgg")  # 0.01 rather than 0.1 on ImageNet


@dataclass(frozen=True)
class Recipe:
    """How a network is trained.

    Attributes:
        name: what the manifest calls it.
        optimiser: `adam`, `adamw` or `sgd`, with torch's defaults but for what is said here.
        lr: the learning rate that the schedule scales.
        batch: examples a step.
        epochs: passes over the training set.
        steps: end after so many steps, if that comes first.
        weight_decay: as the optimiser means it.
        momentum: of sgd.
        schedule: what becomes of the learning rate, see `rate`.
        milestones: epochs after which `steps` multiplies the rate by `gamma`.
        gamma: that factor.
        augment: what is done to batches of pictures, see `augment`.
        source: who trains so.
    """

    name: str
    optimiser: Optimiser = "adam"
    lr: float = 1e-3
    batch: int = 32
    epochs: int = 1
    steps: int | None = None
    weight_decay: float = 0.0
    momentum: float = 0.0
    schedule: Schedule = "constant"
    milestones: tuple[int, ...] = ()
    gamma: float = 1.0
    augment: Augment = "none"
    source: str = field(default=PAPER)


def predictor_recipe(network: str, kind: Kind) -> Recipe:
    """Return how a predictor is trained before it scores (paper, section 3; the spec's table).

    Args:
        network: its name, as `networks.registry.build` takes it.
        kind: of the examples.
    """
    if network == "ffn-imagenet":
        return Recipe("predictor-imagenet", batch=256, steps=200)
    if kind == "text":
        if network in _SCRATCH_TEXT:
            return Recipe("predictor-scratch-text", batch=64, epochs=5, source=OURS)
        return Recipe("predictor-text", lr=2e-5, batch=64)
    if network.startswith(_VIT):
        return Recipe("predictor-vit", lr=1e-4)
    known = kind == "image" and network in ("ffn", "resnet18")
    return Recipe("predictor-images", batch=256, epochs=5, source=PAPER if known else OURS)


def learner_recipe(network: str, kind: Kind, k: int, *, imagenet: bool = False) -> Recipe:
    """Return how a learner is trained on k examples a label (paper, section 4 and appendix).

    Text decays linearly from 2e-5, as the paper says, and so does ViT here. For both the authors'
    published code calls torch's `LinearLR` with its defaults instead, which climbs from a third of
    the rate to the whole over five epochs and never decays: that is schedule "as-published". Their
    one-cycle for EfficientNetV2 is laid out for 3,120 steps and taken once an epoch, so that their
    rate barely leaves its start; here one cycle spans the training.

    Args:
        network: its name, as `networks.registry.build` takes it.
        kind: of the examples.
        k: examples a label; text is trained longer where they are few.
        imagenet: the set is ImageNet or like it, large pictures of very many classes.
    """
    if kind == "text":
        if network in _SCRATCH_TEXT:
            return Recipe("learner-scratch-text", epochs=_text_epochs(k), source=OURS)
        return Recipe("learner-text", lr=2e-5, epochs=_text_epochs(k), schedule="linear")
    if imagenet or network == "ffn-imagenet":
        return Recipe(
            "learner-imagenet",
            optimiser="sgd",
            lr=0.01 if network.startswith(_LOW_RATE) else 0.1,
            batch=256,
            epochs=30,
            weight_decay=1e-4,
            momentum=0.9,
            schedule="steps",
            milestones=(10, 20),
            gamma=0.1,
        )
    if network.startswith(_VIT):
        return Recipe("learner-vit", lr=5e-5, epochs=10, weight_decay=1e-4, schedule="linear")
    if network.startswith(_EFFICIENT):
        return Recipe(
            "learner-efficientnet", "adamw", epochs=15, weight_decay=5e-3, schedule="one-cycle"
        )
    return Recipe(
        "learner-images",
        lr=1e-4 if network.startswith(("vgg16", "timm/vgg")) else 1e-3,
        epochs=50,
        schedule="steps",
        milestones=(20, 40),
        gamma=0.5,
        source=PAPER if kind == "image" else OURS,
    )


def _text_epochs(k: int) -> int:
    return 50 if k <= 100 else 20 if k <= 1000 else 10


def changed(recipe: Recipe, **overrides: Any) -> Recipe:
    """Return a recipe with some of it otherwise; None leaves it as it was.

    Raises:
        UsageError: there is no such part of a recipe, or the value is not one it can have.
    """
    overrides = {name: value for name, value in overrides.items() if value is not None}
    parts = [part.name for part in dataclasses.fields(Recipe)]
    for name, value in overrides.items():
        if name not in parts:
            raise UsageError(f"a recipe has no {name!r}; it has: {', '.join(parts)}")
        if (wrong := _wrong(name, value)) is not None:
            raise UsageError(f"{name} = {value!r} in a recipe: give {wrong}")
    if "milestones" in overrides:
        overrides["milestones"] = tuple(overrides["milestones"])
    if overrides and "source" not in overrides:
        said = ", ".join(f"{name} {value}" for name, value in overrides.items())
        overrides["source"] = f"{recipe.source}; changed: {said}"
    return dataclasses.replace(recipe, **overrides)


_CHOICES = {"optimiser": Optimiser, "schedule": Schedule, "augment": Augment}


def _wrong(name: str, value: Any) -> str | None:
    """Say what a part of a recipe should be, or None where this value will do."""
    if name in _CHOICES:
        known = get_args(_CHOICES[name])
        return None if value in known else f"one of {', '.join(known)}"
    if name in ("name", "source"):
        return None if isinstance(value, str) and value else "a text"
    if name == "milestones":
        try:
            fine = all(isinstance(epoch, int) and epoch > 0 for epoch in value)
            fine = fine and list(value) == sorted(set(value))
        except TypeError:
            fine = False
        return None if fine else "epochs, rising, each a whole number from 1"
    if name in ("batch", "epochs", "steps"):
        fine = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        return None if fine else "a whole number from 1"
    fine = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if name in ("lr", "gamma"):
        return None if fine and value > 0 else "a number above 0"
    if name == "momentum":
        return None if fine and 0 <= value < 1 else "a number from 0 to below 1"
    return None if fine and value >= 0 else "a number from 0"


def rate(recipe: Recipe, step: int, per_epoch: int) -> float:
    """Return the learning rate of one step; a function of nothing else, so resuming needs no state.

    `constant` stays. `steps` multiplies by `gamma` after each of the `milestones` (in epochs).
    `linear` goes from `lr` towards 0, which it would reach after the last step. `one-cycle` rises
    by a half cosine from lr / 25 to lr over 30 % of the steps, and falls to lr / 250,000 (Smith &
    Topin 2018, with torch's shape; momentum stays as it is). `as-published` climbs from lr / 3 to
    lr over five epochs and stays there (torch's `LinearLR` as the authors call it).

    Args:
        recipe: what is trained by.
        step: the step, from 0.
        per_epoch: steps an epoch.
    """
    epoch = step // per_epoch
    total = total_steps(recipe, per_epoch)
    if recipe.schedule == "steps":
        return recipe.lr * recipe.gamma ** sum(epoch >= mark for mark in recipe.milestones)
    if recipe.schedule == "linear":
        return recipe.lr * (1 - step / total)
    if recipe.schedule == "as-published":
        return recipe.lr * (1 / 3 + 2 / 3 * min(epoch, 5) / 5)
    if recipe.schedule == "one-cycle":
        top = 0.3 * total - 1
        if step <= top:
            return _cosine(recipe.lr / 25, recipe.lr, step / top if top else 1.0)
        return _cosine(recipe.lr, recipe.lr / 250_000, (step - top) / (total - 1 - top))
    return recipe.lr


def total_steps(recipe: Recipe, per_epoch: int) -> int:
    """Return how many steps a training takes in all."""
    total = recipe.epochs * per_epoch
    return total if recipe.steps is None else min(total, recipe.steps)


def _cosine(start: float, end: float, done: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * done)) / 2
