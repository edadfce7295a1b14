"""Wrong labels, estimated from what a network says of examples it was not trained on.

The set is dealt into folds, each label evenly; the network is trained without each fold in turn and
asked about it. Predictors are weak by design, and a weak network's errors pass for wrong labels; so
it is trained for longer, in smaller steps where examples are few, until the loss on a tenth that is
held out from it no more falls. Probabilities go to parts as they come, so that memory does not grow
with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.hardest.parts import Parts, read_json, rows_a_part, write_frame, write_json
from hardset.hardest.predictors import TRAINED, Predictor, build, load, recipe_of, trained
from hardset.lowresource.early_stopping import BestEpoch, parted
from hardset.lowresource.examples import Examples, Positions, Subset
from hardset.lowresource.noise import ConfidentJoint, Part, confident_joint, right_of, suspects
from hardset.lowresource.training import labelled, outputs_of

NOISE, NOISE_TABLE, FOLDER = "noise.json", "noise.parquet", "noise"
TIMES = 8
"""How many times the predictor's epochs a network that judges labels may be trained."""
STEPS = 30  # an epoch, if batches of no fewer than 16 make so many
LEAST_BATCH = 16
Told = Callable[[str], Callable[[int, int], None]]
"""Given what is under way, returns what to call with examples done and in all."""


@dataclass(frozen=True)
class Folds:
    """How out-of-fold probabilities are to be had.

    Attributes:
        predictor: name of the network.
        count: of folds.
        batch: examples at once.
        overrides: of the recipe.
        epochs: to train at most; None for `TIMES` the predictor's.
        weights: what training starts from.
        device: torch's name of it.
        seed: of the folds, weights and training.
    """

    predictor: str
    count: int
    batch: int
    overrides: Mapping[str, Any]
    epochs: int | None = None
    weights: str | None = None
    device: str = "cpu"
    seed: int = 0


def deal(examples: Examples, folds: int, seed: int) -> NDArray[np.int8]:
    """Return the fold of each example, (n,); -1 where it has no label.

    Each label's examples are shuffled and dealt out one by one, going on where the last label
    ended, so that labels and folds are as even as can be.

    Raises:
        UsageError: labels are real numbers, or a label has a single example, so that nothing would
            be left to learn it from.
    """
    if not examples.classes:
        raise UsageError("--label-noise needs labels that are classes; these are real numbers")
    has = labelled(examples)
    generator = np.random.default_rng((seed, folds))
    order = generator.permutation(np.flatnonzero(has))
    order = order[np.argsort(examples.labels[order], kind="stable")]
    dealt = np.full(len(examples), -1, np.int8)
    dealt[order] = np.arange(len(order)) % folds
    counts = np.bincount(examples.labels[has], minlength=len(examples.classes))
    lonely = [examples.classes[label] for label in np.flatnonzero(counts == 1)]
    if lonely:
        have = "1 label has" if len(lonely) == 1 else f"{len(lonely):,} labels have"
        raise UsageError(
            f"--label-noise: {have} a single example ({', '.join(lonely[:3])}), so that nothing is "
            "left to learn it from; leave such out, or leave --label-noise out"
        )
    return dealt


def longer(how: Folds, examples: Examples) -> tuple[dict[str, Any], int]:
    """Return what of the predictor's recipe is otherwise for judging labels, and the patience.

    Args:
        how: as of `estimate`.
        examples: what is trained on.

    Returns:
        All of it; and after how many epochs without a better one to stop.
    """
    recipe, _ = recipe_of(how.predictor, examples, how.overrides, None)
    epochs = how.epochs or TIMES * recipe.epochs
    batch = min(recipe.batch, max(LEAST_BATCH, len(examples) // STEPS))
    return {
        **how.overrides,
        "epochs": epochs,
        "batch": how.overrides.get("batch") or batch,
        "steps": recipe.steps and -(-recipe.steps * epochs // recipe.epochs),
    }, max(2, epochs // TIMES)


def estimate(
    out: Path,
    examples: Examples,
    how: Folds,
    told: Told,
    remade: Callable[[Path], None] = lambda path: None,
) -> tuple[dict[str, Any], int]:
    """Estimate wrong labels, and write `noise.parquet` and `noise.json`.

    Args:
        out: the folder.
        examples: the training set.
        how: folds, and by whom.
        told: says how far it is.
        remade: called with each file that was damaged, and is made again.

    Returns:
        What `noise.json` says, and how many labels are suspected.

    Raises:
        UsageError: it cannot be done on these examples.
        ArithmeticError: the predictor diverged in a fold.
    """
    dealt = deal(examples, how.count, how.seed)
    stores = []
    for fold in range(how.count):
        held = Subset(examples, np.flatnonzero(dealt == fold))
        parts = Parts(out / FOLDER / f"fold-{fold}", len(held), rows_a_part(len(held), how.batch))
        stores.append(parts)
        for number in parts.remove_damaged():
            remade(parts.path(number))
        if not parts.missing():
            continue
        known, judge = parted(
            Subset(examples, np.flatnonzero((dealt >= 0) & (dealt != fold))), how.seed
        )
        overrides, patience = longer(how, known)
        title = f"label noise, fold {fold + 1} of {how.count}"
        predictor, network = trained(
            how.predictor, known, parts.folder, seed=how.seed, overrides=overrides,
            weights=how.weights, device=how.device, progress=told(f"{title}: training"),
            best=BestEpoch(judge, patience, how.batch, how.device), remade=remade,
        )  # fmt: skip
        if predictor.diverged:
            raise ArithmeticError(f"{how.predictor}, fold {fold + 1}: {predictor.diverged}")
        if network is None:
            network = build(how.predictor, known, seed=how.seed, weights=how.weights)
        _ask(predictor, network, held, parts, how, told(f"{title}: probabilities"))

    def every() -> Iterator[Part]:
        for parts in stores:
            for path in parts.paths():
                yield _read(path)

    joint = confident_joint(every, len(examples.classes))
    found = suspects(every, joint)
    write_frame(out / NOISE_TABLE, _table(every(), found.index, found.suggested))
    said = _said(joint, examples, how, len(found.index), right_of(every))
    write_json(out / NOISE, said)
    return said, len(found.index)


def _ask(
    predictor: Predictor,
    network: Any,
    held: Subset,
    parts: Parts,
    how: Folds,
    progress: Callable[[int, int], None],
) -> None:
    """Write what a predictor says of the examples held out from it."""
    load(predictor, network)
    for number in parts.missing():
        here = np.arange(parts.range(number).start, parts.range(number).stop)
        probabilities = np.full((len(here), len(held.classes)), np.nan, np.float32)
        done: Positions
        asked = outputs_of(network, Subset(held, here), batch=how.batch, device=how.device)
        for read, outputs in asked:
            done = read.positions
            if outputs is not None:
                probabilities[done] = outputs.double().softmax(1).float().cpu().numpy()
        frame = pl.DataFrame(
            {
                "index": held.positions[here],
                "label": held.labels[here],
                "probabilities": pl.Series(
                    probabilities, dtype=pl.Array(pl.Float32, probabilities.shape[1])
                ),
            }
        )
        parts.write(number, frame)
        progress(parts.done(), parts.n)


def _read(path: Path) -> Part:
    frame = pl.read_parquet(path, glob=False)
    return Part(
        frame["index"].to_numpy(), frame["label"].to_numpy(), frame["probabilities"].to_numpy()
    )


def _table(parts: Iterable[Part], index: Positions, suggested: NDArray[np.int64]) -> pl.DataFrame:
    """Return a row an example: of what is not suspected, the most probable label is suggested."""
    frames = []
    for part in parts:
        p = part.probabilities.astype(np.float64)
        rows = np.arange(len(p))
        good = np.asarray(np.isfinite(p).all(axis=1))
        best = np.where(good, np.where(good[:, None], p, 0).argmax(axis=1), part.labels)
        place = np.searchsorted(index, part.index)
        suspect = np.isin(part.index, index)
        best = np.where(suspect, np.append(suggested, 0)[place], best)
        frames.append(
            pl.DataFrame(
                {
                    "index": part.index,
                    "label": part.labels,
                    "suggested": pl.Series(best).set(pl.Series(~good), None),
                    "probability": pl.Series(p[rows, part.labels], nan_to_null=True),
                    "suggested_probability": pl.Series(p[rows, best], nan_to_null=True),
                    "suspect": suspect,
                }
            )
        )
    return pl.concat(frames).sort("index")


def trainings(out: Path, folds: int) -> list[dict[str, Any]]:
    """Return how long the network of each fold was trained, and which epoch of it was kept."""
    found = []
    for fold in range(folds):
        try:
            said = read_json(out / FOLDER / f"fold-{fold}" / TRAINED) or {}
        except UsageError:  # damaged, and its probabilities are here: it is needed no more
            said = {}
        training = said.get("training") or {}
        found.append({name: training.get(name) for name in ("epochs", "kept_epoch", "seconds")})
    return found


def _said(
    joint: ConfidentJoint, examples: Examples, how: Folds, many: int, right: int
) -> dict[str, Any]:
    n = int(joint.labelled.sum())
    share = joint.share()._asdict()
    return {
        "share": share,
        "out_of_fold_accuracy": {"value": right / n, "right": right, "n": n},
        "suspects": many,
        "of": n,
        "predictor": how.predictor,
        "folds": how.count,
        "classes": list(examples.classes),
        "confident_joint": joint.counts.tolist(),
        "calibrated": joint.calibrated().tolist(),
        "thresholds": [t if np.isfinite(t) else None for t in joint.thresholds.tolist()],
        "unlearned": joint.unlearned.tolist(),
        "source": "confident learning: Northcutt, Jiang and Chuang 2021, JAIR 70",
    }
