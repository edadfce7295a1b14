"""Learn from picked examples and from random ones: the same learners, seeds and test set.

A trial is a learner trained once: on k examples a label, of a set, with an augmentation, from a
seed. The seed sets its first weights and the order of its training, alike for all sets, so that
sets are compared in pairs; and it draws a random set of its own. Each finished trial is written at
once, so that the same call goes on where it was stopped.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import hardset
from hardset.errors import UsageError
from hardset.hardest import learn_report
from hardset.hardest.alone import alone
from hardset.hardest.devices import see_device
from hardset.hardest.learn_sets import (
    DROPPED,
    Chosen,
    Flags,
    Given,
    Way,
    held_out,
    labelled,
    labelled_anew,
    matched,
    named,
    overlaps,
    read_through,
)
from hardset.hardest.progress import Count
from hardset.hardest.trial_files import TrialFiles
from hardset.hardest.trials import Failed, Task, Training
from hardset.hardest.workers import Died, end_unguarded, in_processes
from hardset.lowresource.examples import Examples, Positions, Subset
from hardset.lowresource.learning.results import NONE, RANDOM, Result, Trial
from hardset.lowresource.learning.summary import Asked, metrics
from hardset.lowresource.picking import HOWS, How
from hardset.lowresource.score_files import Scores

AUGMENTS = (NONE, "cutmix", "mixup")
Sets = Mapping[tuple[str, int, int], Positions]


@dataclass(frozen=True)
class Learned:
    """What all trials gave.

    Attributes:
        folder: where it is written.
        metrics: what `metrics.json` holds.
        manifest: what `manifest.json` holds.
    """

    folder: Path
    metrics: dict[str, Any]
    manifest: dict[str, Any]

    def __repr__(self) -> str:
        """Return where it is, and on how many test examples."""
        return f"Learned({str(self.folder)!r}, n_test={self.metrics['n_test']})"

    @property
    def notices(self) -> list[str]:
        """What the reader must know."""
        return list(self.manifest["notices"])

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The trials that failed, each with its reason."""
        return list(self.metrics["failed"])


def learn(
    train: Examples,
    test: Examples | None = None,
    *,
    out: Path,
    scores: Scores | Sequence[Scores] = (),
    picked: Given | None = None,
    learners: Sequence[str] = ("ffn",),
    ks: Sequence[int] = (),
    choose: Sequence[str] = ("hardest",),
    augments: Sequence[str] = (NONE,),
    seeds: int = 5,
    hold_out: float | None = None,
    suspected: Flags | None = None,
    drop_suspects: bool = False,
    epochs: int | None = None,
    batch: int | None = None,
    lr: float | None = None,
    weights: str | None = None,
    size: int | None = None,
    device: str = "cpu",
    threads: int = 1,
    jobs: int = 1,
    progress: Callable[[Count], None] | None = None,
    origin: Mapping[str, Any] | None = None,
) -> Learned:
    """Train learners on picked sets and on random sets of the same size, and test them alike.

    Args:
        train: the training set, which is chosen from.
        test: the test set; None with `hold_out`.
        out: the folder for all that is left, and to go on from.
        scores: of the training set's examples, to choose by; one or several.
        picked: a set chosen before, in place of `scores`.
        learners: networks by name.
        ks: examples a label.
        choose: the sets, besides `random`: hardest, easiest, stratified.
        augments: none, cutmix, mixup.
        seeds: how many: 0, 1, ...
        hold_out: the share of the training set to be tested on, and chosen from by no set.
        suspected: (n,) the examples whose labels are suspected to be wrong: counted in every set.
        drop_suspects: also learn from sets chosen without them.
        epochs: in place of the recipe's, as are `batch` and `lr`.
        batch: examples a step.
        lr: the learning rate.
        weights: of the learners' beginning: random, pretrained, or a folder; None for what the
            paper has for each.
        size: of pictures, where a learner leaves it open.
        device: torch's name of it.
        threads: of a trial on the CPU. The same number gives the same figures.
        jobs: processes; 1 is this one. More of them need a script that guards its main part by
            `if __name__ == "__main__":`, as all that start processes do.
        progress: called before the first trial and after each.
        origin: what the manifest shall say besides: `command line`, and `scored by` with the
            scores' `place` and `predictors`.

    Returns:
        Figures over the trials that came to an end; the others are in `failed`.

    Raises:
        UsageError: the data, scores or settings are not usable as given, or `out` holds trials
            made with others.
    """
    end_unguarded()
    began = time.monotonic()
    started = datetime.now(UTC)
    if picked is not None and picked.labels is not None:
        train = labelled_anew(train, picked.labels)
    given = [scores] if isinstance(scores, Scores) else list(scores)
    test, keep_out = _tested(train, test, hold_out, picked)
    if picked is not None:
        ks = ks or (picked.k,)
    if drop_suspects and suspected is None:
        raise UsageError(
            "nothing says which labels are suspected, so --drop-suspects drops none: make it with "
            "`hardset difficulty --label-noise`, and give its folder as --scores"
        )
    ways = _ways(train, given, picked, choose, keep_out, suspected if drop_suspects else None)
    asked = Asked(
        learners=tuple(dict.fromkeys(learners)),
        ks=tuple(sorted(set(ks))),
        sets=named(ways),
        augments=tuple(dict.fromkeys(augments)),
        seeds=seeds,
    )
    _see_right(asked, train, threads=threads, jobs=jobs)
    see_device(device)
    sets = _sets(ways, asked)
    read = read_through(test)
    training = Training(
        train,
        test if len(read.positions) == len(test) else Subset(test, read.positions),
        {"epochs": epochs, "batch": batch, "lr": lr},
        weights,
        size,
        device,
        threads,
    )
    facts = [_facts(training, learner) for learner in asked.learners]
    settings = {
        "training set": _identity(train),
        "test set": hashlib.sha256(b"".join(read.digests)).hexdigest(),
        "test labels": _sha256(training.test.labels),
        "scores": {one.name: _sha256(one.dense(len(train))) for one in given},
        "picked": _sha256(picked.positions) if picked else None,
        "suspected": _sha256(suspected) if suspected is not None and drop_suspects else None,
        "hold-out": hold_out,
        "epochs": epochs,
        "batch": batch,
        "lr": lr,
        "weights": weights,
        "size": size,
        "device": device,
        "threads": threads,
        "hardset": hardset.__version__,
        "torch": version("torch"),
    }
    files = TrialFiles(out, settings, examples=len(read.positions), real=not train.classes)
    failed: dict[Trial, str] = {}
    with alone(out):
        found = files.found(asked.trials())
        count = Count(len(asked.trials()), len(found), len(found), len(found), level=jobs)
        if progress:
            progress(count)
        for done in _trials(training, asked, sets, found, jobs):
            if isinstance(done, Result):
                files.keep(done)
                found[done.trial] = done
            else:
                failed[done.trial] = done.reason
            count.done, count.failed = len(found) + len(failed), len(failed)
            if progress:
                progress(count)
    targets = None if train.classes else np.asarray(training.test.labels, dtype=np.float64)
    made = metrics(asked, found.values(), failed, targets, n_test=len(read.positions))
    manifest = learn_report.manifest(
        training,
        asked,
        test=test,
        read=read,
        scores=given,
        picked=picked,
        settings=settings,
        networks=facts,
        sets=learn_report.told(sets, suspected),
        overlap=overlaps(train, sets, read),
        results=found,
        jobs=jobs,
        started=started,
        seconds=time.monotonic() - began,
    )
    manifest |= {name: value for name, value in (origin or {}).items() if name not in manifest}
    learn_report.write(out, made, manifest, found.values(), sets, real=not train.classes)
    return Learned(out, made, manifest)


def _tested(
    train: Examples, test: Examples | None, share: float | None, picked: Given | None
) -> tuple[Examples, Flags]:
    """Give the test set, and the training examples that no set may hold."""
    if (test is None) == (share is None):
        raise UsageError("give a test set (--test), or a share to hold out for it (--hold-out 0.2)")
    if test is not None:
        found = matched(test, train)
        digest = train.source.get("sha256")
        same = digest is not None and digest == test.source.get("sha256")
        if same and np.array_equal(found.labels, train.labels):
            raise UsageError(
                "the test set is the training set: give another, or hold out a share of it "
                "(--hold-out 0.2)"
            )
        return found, np.zeros(len(train), bool)
    assert share is not None
    if picked is not None:
        raise UsageError(
            "a set that is picked already may hold what --hold-out keeps for testing: give "
            "--scores, to pick from the rest"
        )
    chosen = held_out(train, share)
    return Subset(train, np.flatnonzero(chosen)), chosen


def _ways(
    train: Examples,
    scores: Sequence[Scores],
    picked: Given | None,
    choose: Sequence[str],
    keep_out: Flags,
    suspected: Flags | None,
) -> dict[str, Way]:
    """Give every set's way, by name; `random` chooses from all that have a score."""
    if (picked is None) == (not scores):
        raise UsageError("give scores to choose by (--scores), or a picked folder: one of them")
    if picked is not None:
        if suspected is not None:
            raise UsageError(
                "--drop-suspects goes with --scores: picked examples are what they are"
            )
        pool = np.where(labelled(train), 0.0, np.nan)
        return {
            picked.name: picked,
            RANDOM: Chosen(train, "random", pool, +1, keep_out),
        }
    unknown = [how for how in choose if how not in HOWS]
    if unknown:
        raise UsageError(f"--choose takes {', '.join(HOWS)}, not {unknown[0]!r}")
    ways: dict[str, Way] = {}
    values = {one.name: one.dense(len(train)) for one in scores}
    if len(values) != len(scores):
        raise UsageError("two of the scores have one name: give each once")
    drops = {"": keep_out}
    if suspected is not None:
        drops[f", {DROPPED}"] = keep_out | suspected
    for how, one in product(choose, scores):
        if how != RANDOM:
            name = how if len(scores) == 1 else f"{how} by {one.name.replace('_', ' ')}"
            for added, drop in drops.items():
                ways[name + added] = Chosen(train, cast(How, how), values[one.name], one.hard, drop)
    pool = np.where(np.all([np.isfinite(each) for each in values.values()], axis=0), 0.0, np.nan)
    ways[RANDOM] = Chosen(train, "random", pool, +1, keep_out)
    return ways


def _sets(ways: Mapping[str, Way], asked: Asked) -> Sets:
    """Take every set of every k and seed; one that does not differ by seed is taken once."""
    sets: dict[tuple[str, int, int], Positions] = {}
    for name, k in product(asked.sets, asked.ks):
        way = ways[name]
        for seed in range(asked.seeds):
            again = seed and not way.drawn
            sets[name, k, seed] = sets[name, k, 0] if again else way.take(k, seed)
    return sets


def _see_right(asked: Asked, train: Examples, **numbers: int) -> None:
    """See that what is asked for can be, before anything is trained."""
    if len(train.classes) == 1:
        raise UsageError(f"all labels are of one class, {train.classes[0]!r}: nothing is to learn")
    for name, values in (
        ("--learner", asked.learners),
        ("--k", asked.ks),
        ("--augment", asked.augments),
    ):
        if not values:
            raise UsageError(f"give at least one {name}")
    for name, number in {"seeds": asked.seeds, **numbers}.items():
        if number < 1:
            raise UsageError(f"--{name} takes a whole number of 1 or more, not {number}")
    for augment in asked.augments:
        if augment not in AUGMENTS:
            raise UsageError(f"--augment takes {', '.join(AUGMENTS)}, not {augment!r}")
        if augment != NONE and train.kind != "image":
            raise UsageError(f"--augment {augment} mixes pictures; these are {train.kind} examples")


def _trials(
    training: Training, asked: Asked, sets: Sets, found: Mapping[Trial, Result], jobs: int
) -> Iterator[Result | Failed]:
    """Do the trials that are not there yet."""
    tasks = [
        Task(trial, sets[trial.set, trial.k, trial.seed])
        for trial in asked.trials()
        if trial not in found
    ]
    if jobs == 1:
        yield from map(training, tasks)
        return
    for task, done in in_processes(tasks, training, jobs):
        yield Failed(task.trial, done.reason) if isinstance(done, Died) else done


def _facts(training: Training, learner: str) -> dict[str, Any]:
    """Build a learner once: a name that is none is said now, and not by every trial.

    What goes wrong otherwise, in a module of the user's say, is the trials' to say.
    """
    try:
        network = training.network(learner, 0)
    except UsageError:
        raise
    except Exception as error:
        return {"learner": learner, "error": f"{type(error).__name__}: {error}"}
    facts = {name: value for name, value in network.facts.items() if name != "weights_seed"}
    return {"learner": learner, "family": network.family, **facts}


def _identity(examples: Examples) -> dict[str, Any]:
    """Say what tells a set from another."""
    return {
        "sha256": examples.source.get("sha256"),
        "n": len(examples),
        "labels": _sha256(examples.labels),
    }


def _sha256(values: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()
