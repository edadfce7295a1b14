"""The walks as Python calls them: sets by place or in hand, files by path, a report at the end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples, Held

if TYPE_CHECKING:
    from hardset.hardest.difficulty import Difficulty
    from hardset.hardest.learn import Learned
    from hardset.hardest.progress import Show
    from hardset.lowresource.score_files import Duplicates

K = 500
"""Examples a label, where nothing else is said: the paper's."""


def difficulty(
    data: str | Path | Examples,
    *,
    out: str | Path,
    predictors: Sequence[str] = (),
    seeds: int = 3,
    scores: Sequence[str] = (),
    epochs: int | None = None,
    batch: int | None = None,
    lr: float | None = None,
    steps: int | None = None,
    at_epoch: int | None = None,
    weights: str | None = None,
    mode: Literal["eval", "paper"] = "eval",
    label_noise: bool = False,
    folds: int | None = None,
    noise_epochs: int | None = None,
    split: str = "train",
    layout: str | None = None,
    label: str | None = None,
    text: Sequence[str] = (),
    image: str | None = None,
    score_batch: int | None = None,
    threads: int | None = None,
    device: str = "cpu",
    ray: str | None = None,
    show: Show | None = None,
    tell: Callable[[str], None] | None = None,
) -> Difficulty:
    """Score how hard every example of a training set is; `hardset difficulty` in Python.

    Args:
        data: a place, as the command takes it, or examples in hand (`Held`).
        out: the folder for scores, tables and report; one that was begun is gone on with.
        predictors: networks by name; the default for the kind of data, if none.
        seeds: how often each is trained.
        scores: loss and gradient_norm, if none; `el2n`, `grand`, `aum`, `forgetting`,
            `confidence`, `variability`.
        epochs: in place of the recipe's, as are `batch`, `lr` and `steps`.
        batch: examples a step of training.
        lr: the learning rate.
        steps: the most steps of training.
        at_epoch: score the state after so many epochs; 0: untrained.
        weights: what predictors start from: random, pretrained, or a file or folder.
        mode: `eval`, or `paper`: training mode, one example at a time.
        label_noise: estimate wrong labels, out of fold, by the first predictor.
        folds: how many for that, 3 if not given.
        noise_epochs: the most epochs of each fold.
        split: which part of the data; this, and the next four, are of data given as a place.
        layout: how they are laid out, where that is not plain to see.
        label: the column of the labels.
        text: the columns of the texts.
        image: the column of the pictures.
        score_batch: examples scored at once.
        threads: that torch computes with.
        device: torch's name of it.
        ray: the address of a Ray cluster, or `auto`.
        show: shows how far it is.
        tell: is told of the cluster.

    Returns:
        What was left: folder, manifest, how far scorers agree, the examples.

    Raises:
        UsageError: the data or the settings are not usable as given.
    """
    from hardset.hardest.data import Data, InHand
    from hardset.hardest.difficulty import difficulty as walk
    from hardset.hardest.difficulty import write_report
    from hardset.hardest.difficulty_settings import Settings, score_names
    from hardset.hardest.score_pass import Mode

    several(predictors, "predictors")
    several(scores, "scores")
    several(text, "text")
    whole(seeds=seeds, epochs=epochs, batch=batch, steps=steps, score_batch=score_batch,
          threads=threads, noise_epochs=noise_epochs)  # fmt: skip
    if folds is not None and (not isinstance(folds, int) or not 2 <= folds <= 100):
        raise UsageError(f"--folds takes a whole number from 2 to 100, not {folds}")
    if mode not in get_args(Mode):
        raise UsageError(f"--mode takes {' or '.join(get_args(Mode))}, not {mode!r}")
    if mode == "paper" and score_batch is not None:
        raise UsageError("--mode paper scores one example at a time: leave --score-batch out")
    if again := [name for name in predictors if list(predictors).count(name) > 1]:
        raise UsageError(
            f"the predictor {again[0]} is given twice; --seeds trains it several times"
        )
    _see_used(
        label_noise,
        at_epoch,
        {"--folds": folds, "--noise-epochs": noise_epochs},
        {"--epochs": epochs, "--lr": lr, "--steps": steps},
    )
    if isinstance(data, str | Path):
        asked = Data(str(data), layout, label, tuple(text), image, split)
    else:
        asked = InHand(examples=in_hand(data, "data"))
        if layout or label or text or image or split != "train":
            raise UsageError("split, layout and columns are of data given as a place: leave them")
    settings = Settings(
        predictors=tuple(predictors),
        seeds=seeds,
        scores=score_names(scores),
        overrides={"epochs": epochs, "batch": batch, "lr": lr, "steps": steps},
        at_epoch=at_epoch,
        weights=weights,
        batch=score_batch,
        threads=threads,
        device=device,
        mode=mode,
        label_noise=label_noise,
        folds=folds or 3,
        noise_epochs=noise_epochs,
    )
    if ray is None:
        done = walk(asked, Path(out), settings, show=show)
    else:
        from hardset.hardest.ray_shards import cluster

        with cluster(ray, asked, device=device, threads=threads) as workers:
            if tell:
                tell(workers.said)
            done = walk(
                asked, Path(out), settings, shards=workers.score, workers=workers.count, show=show
            )
    write_report(done)
    return done


def _see_used(
    label_noise: bool,
    at_epoch: int | None,
    of_noise: dict[str, int | None],
    of_training: dict[str, float | None],
) -> None:
    """Refuse what would be of no effect."""
    if label_noise:
        return
    for flag, given in of_noise.items():
        if given is not None:
            raise UsageError(f"{flag} goes with --label-noise: add it, or leave {flag} out")
    for flag, value in of_training.items():
        if at_epoch == 0 and value is not None:
            raise UsageError(f"--at-epoch 0 trains nothing: leave {flag} out")


def learn(
    train: str | Path | Examples,
    test: str | Path | Examples | None = None,
    *,
    out: str | Path,
    scores: str | Path | None = None,
    score: Sequence[str] = (),
    duplicates: Duplicates | None = None,
    picked: str | Path | None = None,
    ks: Sequence[int] = (),
    choose: Sequence[str] = (),
    learners: Sequence[str] = (),
    drop_suspects: bool = False,
    size: int | None = None,
    layout: str | None = None,
    label: str | None = None,
    text: Sequence[str] = (),
    image: str | None = None,
    command_line: str | None = None,
    **more: Any,
) -> Learned:
    """Learn from the hardest examples and from random ones; `hardset learn` in Python.

    Args:
        train: the training set that was scored: a place, or examples in hand.
        test: the test set; None with `hold_out`.
        out: the folder for figures and report; one that was begun is gone on with.
        scores: what `difficulty` left, or a file of scores.
        score: which of its scores; several to compare them.
        duplicates: of lines of a file that repeat an index: `mean`, `first` or `last`.
        picked: a folder that `pick_set` left, in place of scores.
        ks: examples a label; 500, or as many as were picked, if none.
        choose: the sets besides random ones: `hardest` if none, `easiest`, `stratified`.
        learners: networks by name; the default for the kind of data, if none.
        drop_suspects: also learn from sets chosen without the labels that are suspected.
        size: of pictures, where a learner leaves it open.
        layout: of data given as places, as are the next three.
        label: the column of the labels.
        text: the columns of the texts.
        image: the column of the pictures.
        command_line: what the manifest says this was asked by.
        more: the other arguments of `hardest.learn.learn`: `augments`, `seeds`, `hold_out`,
            `epochs`, `batch`, `lr`, `weights`, `device`, `threads`, `jobs`, `progress`.

    Returns:
        Folder, metrics and manifest; trials that failed are in `failed`.

    Raises:
        UsageError: data, scores or settings are not usable as given.
    """
    from hardset.hardest.learn import learn as walk
    from hardset.hardest.learn_sets import read_picked, see_nothing_chosen
    from hardset.hardest.pick_inputs import gather
    from hardset.hardest.predictors import DEFAULTS
    from hardset.sources.examples.opening import open_examples

    for name, given in (("score", score), ("ks", ks), ("choose", choose), ("learners", learners)):
        several(given, name)
    several(text, "text")
    whole(seeds=more.get("seeds"), ks=ks, epochs=more.get("epochs"), batch=more.get("batch"),
          threads=more.get("threads"), jobs=more.get("jobs"), size=size)  # fmt: skip
    if (picked is None) == (scores is None):
        raise UsageError("give what to learn from: --scores, or a folder that `hardset pick` left")
    if picked is not None:
        choosing = {"--score": score, "--duplicates": duplicates, "--choose": choose}
        see_nothing_chosen(Path(picked), {**choosing, "--drop-suspects": drop_suspects})
    opened = partial(open_examples, layout=layout, label=label, text=tuple(text), image=image)
    training = opened(str(train)) if isinstance(train, str | Path) else in_hand(train, "train")
    if size is not None and training.kind == "text":
        raise UsageError("--size is of pictures; these are texts: leave it out")
    if isinstance(test, str | Path):
        test = opened(str(test), split="test", classes=training.classes)
    elif test is not None:
        test = in_hand(test, "test")
    origin: dict[str, Any] = {"command line": command_line} if command_line else {}
    if picked is not None:
        more["picked"] = read_picked(Path(picked), training)
        origin["scored by"] = {"place": str(picked)}
    if scores is not None:
        names: list[str | None] = [name.replace("-", "_") for name in score]
        pools = [
            gather(Path(scores), examples=training, labels=None, score=name, duplicates=duplicates)
            for name in names or [None]
        ]
        more["scores"] = [pool.scores for pool in pools]
        more["suspected"] = None if pools[0].noise is None else pools[0].noise.suspect
        origin["scored by"] = {"place": str(scores), "predictors": _scorers(pools[0].manifest)}
    return walk(
        training,
        test,
        out=Path(out),
        ks=tuple(ks) or (() if picked else (K,)),
        choose=tuple(choose) or ("hardest",),
        learners=tuple(learners) or (DEFAULTS[training.kind],),
        drop_suspects=drop_suspects,
        size=size,
        origin=origin,
        **more,
    )


def _scorers(manifest: dict[str, Any]) -> list[str]:
    """Name the predictors that a difficulty folder's scores are of, with their seeds."""
    said = []
    for one in manifest.get("predictors") or ():
        seeds = ", ".join(map(str, one.get("seeds") or ()))
        said.append(f"{one.get('name')} (seeds {seeds})" if seeds else str(one.get("name")))
    return said


def several(given: Sequence[Any], name: str) -> None:
    """Refuse a text, or a number, where several are meant: its letters would be taken for them."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise UsageError(f"{name} takes a list, as [{given!r}], not {given!r}")


def whole(**numbers: Any) -> None:
    """Refuse what is no whole number of 1 or more; None is not given."""
    for name, given in numbers.items():
        for one in given if isinstance(given, Sequence) else (given,):
            if one is None or (isinstance(one, int) and not isinstance(one, bool) and one >= 1):
                continue
            flag = "--k" if name == "ks" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} takes a whole number of 1 or more, not {one}")


def in_hand(examples: Any, name: str) -> Examples:
    """Return examples in hand, known by the digest of their contents where a walk is resumed.

    Raises:
        UsageError: they are no examples.
    """
    if not isinstance(examples, Examples):
        raise UsageError(
            f"{name} takes a place, or examples as hardset.open_examples and hardset.Held give "
            f"them, not {type(examples).__name__}: hardset.Held(contents, labels) makes them of "
            "arrays and lists"
        )
    if isinstance(examples, Held) and "sha256" not in examples.source:
        digest = hashlib.sha256()
        for content in examples.contents:
            told = content.tobytes() if isinstance(content, np.ndarray) else repr(content).encode()
            digest.update(told)
        examples.source = {"place": "in memory", **examples.source, "sha256": digest.hexdigest()}
    given: Examples = examples
    return given
