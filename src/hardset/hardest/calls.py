"""The walks as Python calls them: sets by place or in hand, files by path, a report at the end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples, Held, Kind

if TYPE_CHECKING:
    from hardset.hardest.difficulty import Difficulty
    from hardset.hardest.learn import Learned
    from hardset.hardest.progress import Show
    from hardset.lowresource.score_files import Duplicates

K = 500
"""Examples a label, where nothing else is said: the paper's."""
LEARNER: dict[Kind, str] = {"image": "ffn", "text": "bag-of-words", "tensor": "mlp"}


def difficulty(
    data: str | Path | Examples,
    *,
    out: str | Path,
    predictors: Sequence[str] = (),
    seeds: int = 3,
    scores: Sequence[str] = ("loss", "gradient_norm"),
    split: str = "train",
    layout: str | None = None,
    label: str | None = None,
    text: Sequence[str] = (),
    image: str | None = None,
    ray: str | None = None,
    show: Show | None = None,
    tell: Callable[[str], None] | None = None,
    **more: Any,
) -> Difficulty:
    """Score how hard every example of a training set is; `hardset difficulty` in Python.

    Args:
        data: a place, as the command takes it, or examples in hand (`Held`).
        out: the folder for scores, tables and report; one that was begun is gone on with.
        predictors: networks by name; the default for the kind of data, if none.
        seeds: how often each is trained.
        scores: `loss`, `gradient_norm`, `el2n`, `grand`, `aum`, `forgetting`, `confidence`,
            `variability`.
        split: which part of the data; this, and what follows, is of data given as a place.
        layout: how they are laid out, where that is not plain to see.
        label: the column of the labels.
        text: the columns of the texts.
        image: the column of the pictures.
        ray: the address of a Ray cluster, or `auto`.
        show: shows how far it is.
        tell: is told of the cluster.
        more: other fields of `difficulty_settings.Settings`, as `label_noise=True`.

    Returns:
        What was left: folder, manifest, how far scorers agree, the examples.

    Raises:
        UsageError: the data or the settings are not usable as given.
    """
    from hardset.hardest.data import Data, InHand
    from hardset.hardest.difficulty import difficulty as walk
    from hardset.hardest.difficulty import write_report
    from hardset.hardest.difficulty_settings import Settings

    if isinstance(data, str | Path):
        asked = Data(str(data), layout, label, tuple(text), image, split)
    else:
        asked = InHand(examples=named(data))
    names = tuple(name.replace("-", "_") for name in scores)
    settings = Settings(predictors=tuple(predictors), seeds=seeds, scores=names, **more)
    if ray is None:
        done = walk(asked, Path(out), settings, show=show)
    else:
        from hardset.hardest.ray_shards import cluster

        with cluster(ray, asked, device=settings.device, threads=settings.threads) as workers:
            if tell:
                tell(workers.said)
            done = walk(
                asked, Path(out), settings, shards=workers.score, workers=workers.count, show=show
            )
    write_report(done)
    return done


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
    from hardset.sources.examples.opening import open_examples

    if (picked is None) == (scores is None):
        raise UsageError("give what to learn from: --scores, or a folder that `hardset pick` left")
    if picked is not None:
        choosing = {"--score": score, "--duplicates": duplicates, "--choose": choose}
        see_nothing_chosen(Path(picked), {**choosing, "--drop-suspects": drop_suspects})
    opened = partial(open_examples, layout=layout, label=label, text=tuple(text), image=image)
    training = opened(str(train)) if isinstance(train, str | Path) else named(train)
    if size is not None and training.kind == "text":
        raise UsageError("--size is of pictures; these are texts: leave it out")
    if isinstance(test, str | Path):
        test = opened(str(test), split="test", classes=training.classes)
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
        learners=tuple(learners) or (LEARNER[training.kind],),
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


def named(examples: Examples) -> Examples:
    """Give examples in hand the digest of their contents, by which a resumed walk knows them."""
    if isinstance(examples, Held) and "sha256" not in examples.source:
        digest = hashlib.sha256()
        for content in examples.contents:
            digest.update(
                content.tobytes() if hasattr(content, "tobytes") else repr(content).encode()
            )
        examples.source = {"place": "in memory", **examples.source, "sha256": digest.hexdigest()}
    return examples
