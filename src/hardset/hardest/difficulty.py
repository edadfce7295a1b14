"""Score the difficulty of every example of a training set, by several predictors and seeds.

Each predictor is trained, put away, and asked about every example, part by part; what is there is
not made again, so that the same call goes on where it was stopped, with the same result to the
last bit. Then ranks are averaged and scorers held against each other.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import torch

import hardset
from hardset.errors import UsageError
from hardset.hardest.alone import alone
from hardset.hardest.asked import must_be_same, versions
from hardset.hardest.data import Data
from hardset.hardest.devices import see_device
from hardset.hardest.difficulty_notices import (
    chance,
    failure,
    of_noise,
    of_trainings,
    variance,
)
from hardset.hardest.difficulty_settings import Settings, asked, check
from hardset.hardest.difficulty_table import write_table
from hardset.hardest.out_of_fold import Folds, estimate, trainings
from hardset.hardest.parts import Parts, read_json, rows_a_part, write_json
from hardset.hardest.predictors import (
    DEFAULTS,
    Predictor,
    build,
    epoch_scores,
    load,
    own_name,
    recipe_of,
    trained,
)
from hardset.hardest.progress import Show, told
from hardset.hardest.score_pass import NOT_FINITE, SCORED, ScorePass
from hardset.hardest.trouble import ENDING, UNTRAINABLE
from hardset.hardest.trouble import told as why
from hardset.hardest.workers import end_unguarded
from hardset.lowresource.difficulty import SCORES
from hardset.lowresource.examples import Examples
from hardset.lowresource.network import Network
from hardset.lowresource.stability import Pair
from hardset.lowresource.writing import Unwritable
from hardset.reports.folder import MANIFEST, REPORT, make_usable, safe_name

SCORES_FOLDER, SAID = "scores", "said.json"
Work = Iterable[tuple[int, pl.DataFrame, list[str]]]
"""Parts as they are done: number, table, and what gradient norms said."""
Shards = Callable[[ScorePass, Parts, list[int]], Work]
"""Scores the parts of some numbers elsewhere, in any order."""


@dataclass(frozen=True)
class Difficulty:
    """What the walk left.

    Attributes:
        folder: where it is.
        manifest: what `manifest.json` says.
        pairs: scorers held against each other.
        examples: the training set.
    """

    folder: Path
    manifest: dict[str, Any]
    pairs: list[Pair]
    examples: Examples

    def __repr__(self) -> str:
        """Return where it is, and of how many examples."""
        return f"Difficulty({str(self.folder)!r}, n={len(self.examples)})"

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Predictors that came to nothing: predictor, seed, reason."""
        return list(self.manifest["failed"])


def difficulty(
    data: Data,
    out: Path,
    settings: Settings,
    *,
    shards: Shards | None = None,
    workers: int = 0,
    show: Show | None = None,
) -> Difficulty:
    """Score every example of a training set, and leave all of it in a folder.

    Args:
        data: the training set.
        out: the folder; one that such a walk has begun is gone on with.
        settings: what is asked.
        shards: scores parts elsewhere; see `ray_shards`. Here, if not given.
        workers: how many that is at once, to be shown.
        show: shows how far it is.

    Raises:
        UsageError: the settings do not go with the data, or the folder holds another scoring.
    """
    end_unguarded()
    threads = torch.get_num_threads()
    try:
        return _Walk(data, out, settings, shards, workers, show).walk()
    finally:
        torch.set_num_threads(threads)


class _Walk:
    def __init__(
        self,
        data: Data,
        out: Path,
        settings: Settings,
        shards: Shards | None,
        workers: int,
        show: Show | None,
    ) -> None:
        self.out, self.settings, self.show = out, settings, show
        self.shards, self.workers = shards, workers
        self.examples = data.open()
        self.names = settings.predictors or _default(self.examples)
        self.threads = settings.threads or torch.get_num_threads()
        self.recipes = {
            name: recipe_of(name, self.examples, settings.overrides, settings.at_epoch)
            for name in self.names
        }
        self.batch = {name: self._batch(name) for name in self.names}
        self.epochs = any(SCORES[name].needs == "epochs" for name in settings.scores)
        self.asked = asked(settings, data, self.examples, self.names, self.threads)
        self.began, self.started = time.monotonic(), datetime.now(UTC)
        self.failed: list[dict[str, Any]] = []
        self.remade: list[str] = []
        self.said: list[str] = []
        self.noise: dict[str, Any] | None = None
        self.built: dict[tuple[str, int], Network] = {}

    def _batch(self, name: str) -> int:
        if self.settings.mode == "paper":
            return 1
        return self.settings.batch or self.recipes[name][0].batch

    def walk(self) -> Difficulty:
        """Walk from examples to tables."""
        see_device(self.settings.device)
        torch.set_num_threads(self.threads)
        make_usable(self.out)
        with alone(self.out):
            return self._walk()

    def _walk(self) -> Difficulty:
        before = self._begin()
        predictors: dict[tuple[str, int], Predictor] = {}
        made: dict[tuple[str, int, str], Parts] = {}
        pairs = [(name, seed) for name in self.names for seed in range(self.settings.seeds)]
        for number, (name, seed) in enumerate(pairs, 1):
            title = f"{name}, seed {seed} ({number} of {len(pairs)})"
            try:
                predictor, parts = self._one(name, seed, title)
            except ENDING:
                raise
            except UNTRAINABLE as error:
                self._fail(name, seed, error)
                continue
            finally:
                self.built.pop((name, seed), None)
            predictors[name, seed] = predictor
            if predictor.diverged:
                self._fail(name, seed, predictor.diverged)
            elif unscored := _unscored(parts):
                self._fail(name, seed, unscored)
            else:
                made[name, seed, predictor.family] = parts
        counts: dict[str, int] = {}
        stable: list[Pair] = []
        if made:
            counts, stable = write_table(
                self.out, made, self.settings.scores, self.examples.classes
            )
        if self.settings.label_noise:
            self._estimate_noise()
        self.said += of_trainings(predictors, chance(self.examples), variance(self.examples))
        manifest = self._manifest(before, predictors, counts)
        write_json(self.out / MANIFEST, manifest)
        return Difficulty(self.out, manifest, stable, self.examples)

    def _one(self, name: str, seed: int, title: str) -> tuple[Predictor, Parts]:
        """Train one predictor and have it score every example."""
        settings, examples = self.settings, self.examples
        folder = self.out / SCORES_FOLDER / safe_name(name) / f"seed-{seed}"
        parts = Parts(folder, len(examples), rows_a_part(len(examples), self.batch[name]))
        for number in parts.remove_damaged():
            self._remade(parts.path(number))
        predictor, network = trained(
            name, examples, folder, seed=seed, overrides=settings.overrides,
            at_epoch=settings.at_epoch, weights=settings.weights, device=settings.device,
            epochs=self.epochs, network=self.built.get((name, seed)),
            progress=told(self.show, f"{title}: training"), remade=self._remade,
        )  # fmt: skip
        todo = parts.missing()
        if predictor.diverged or not todo:
            return predictor, parts
        if network is None:
            network = build(name, examples, seed=seed, weights=settings.weights)
        score = ScorePass(
            load(predictor, network), examples, settings.scores,
            epoch_scores(predictor, settings.scores), self.batch[name], settings.mode,
            settings.device, self.threads, seed,
        )  # fmt: skip
        progress = told(self.show, f"{title}: scoring", self.workers)
        progress(parts.done(), parts.n)
        said = _said(folder)
        for number, frame, more in (self.shards or here)(score, parts, todo):
            if new := [one for one in more if one not in said]:
                said += new
                write_json(folder / SAID, {"said": said})
            parts.write(number, frame)
            progress(parts.done(), parts.n)
        if not (self.out / MANIFEST).exists():
            raise Unwritable(
                f"{self.out} was taken away while it was written into: run the same command again"
            )
        return predictor, parts

    def _remade(self, path: Path) -> None:
        """Note a file that was damaged, and is made again."""
        self.remade.append(f"{path} was damaged or not finished: it was made again")

    def _estimate_noise(self) -> None:
        settings = self.settings
        how = Folds(
            self.names[0], settings.folds, settings.batch or self.recipes[self.names[0]][0].batch,
            settings.overrides, settings.noise_epochs, settings.weights, settings.device,
        )  # fmt: skip
        try:
            said, many = estimate(
                self.out, self.examples, how, lambda title: told(self.show, title), self._remade
            )
        except ENDING:
            raise
        except UNTRAINABLE as error:
            self._fail("label noise", None, error)
            return
        self.noise = {name: said[name] for name in ("share", "out_of_fold_accuracy", "of")}
        self.noise |= {"suspects": many, "trainings": trainings(self.out, settings.folds)}
        self.said += of_noise(said)

    def _fail(self, name: str, seed: int | None, error: BaseException | str) -> None:
        self.failed.append({"predictor": name, "seed": seed, "reason": why(error)})

    def _begin(self) -> dict[str, Any]:
        """See that the folder is new, or holds this very scoring; return its manifest."""
        path = self.out / MANIFEST
        try:
            before = read_json(path)
        except UsageError as error:
            raise UsageError(
                f"{path} is damaged, and nothing else says what {self.out} holds: name another "
                "--out, or empty it"
            ) from error
        if before is not None:
            if "asked" not in before:
                raise UsageError(f"{self.out} holds something else: name another --out")
            must_be_same(self.out, before["asked"], self.asked)
            for pieces in self.out.glob(".pieces.*"):  # and what else a kill left half written
                shutil.rmtree(pieces, ignore_errors=True)
            for stale in (*self.out.rglob(".*.*"), *self.out.rglob("*.part")):
                stale.unlink(missing_ok=True)
            return before
        held = [one.name for one in self.out.iterdir() if not one.name.startswith(".")]
        if held:
            raise UsageError(
                f"{self.out} holds {', '.join(sorted(held)[:3])} and no {MANIFEST}: name another "
                "--out, or empty it"
            )
        check(self.settings, self.examples, self.recipes)
        for name in reversed(self.names):  # the last must not fail when all others are trained
            network = build(name, self.examples, seed=0, weights=self.settings.weights)
        self.built = {(self.names[0], 0): network}
        first = {
            "asked": self.asked,
            "state": "begun",
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": 0.0,
        }
        write_json(path, first)
        return first

    def _manifest(
        self,
        before: dict[str, Any],
        predictors: Mapping[tuple[str, int], Predictor],
        counts: Mapping[str, int],
    ) -> dict[str, Any]:
        settings, examples = self.settings, self.examples
        return {
            "hardset": hardset.__version__,
            "versions": versions(),
            "state": "finished",
            "started": before["started"],
            "seconds": round(before.get("seconds", 0.0) + time.monotonic() - self.began, 3),
            "data": {
                "source": examples.source,
                "n": len(examples),
                "kind": examples.kind,
                "classes": list(examples.classes),
                "chance": chance(examples),
                "variance": variance(examples),
            },
            "predictors": [self._about(name, predictors) for name in self.names],
            "failed": self.failed,
            "mode": settings.mode,
            "scores": list(settings.scores),
            "at_epoch": settings.at_epoch,
            "batch": self.batch,
            "threads": self.threads,
            "device": settings.device,
            "counts": dict(counts),
            "label_noise": self.noise,
            "fallbacks": {name: said for name in self.names if (said := self._said(name))},
            "notices": self._notices(),
            "asked": self.asked,
        }

    def _about(self, name: str, predictors: Mapping[tuple[str, int], Predictor]) -> dict[str, Any]:
        mine = {seed: one for (other, seed), one in predictors.items() if other == name}
        first = next(iter(mine.values()), None)
        return {
            "name": name,
            "family": first.family if first else "",
            "seeds": sorted(mine),
            "recipe": first.recipe if first else {},
            "facts": first.facts if first else {},
            "trainings": {str(seed): one.training for seed, one in mine.items()},
        }

    def _said(self, name: str) -> list[str]:
        """Return what gradient norms said of a predictor, each sentence once."""
        said: dict[str, None] = {}
        for seed in range(self.settings.seeds):
            folder = self.out / SCORES_FOLDER / safe_name(name) / f"seed-{seed}"
            said |= dict.fromkeys(_said(folder))
        return list(said)

    def _notices(self) -> list[str]:
        notes = self.examples.source.get("notes") or ()
        return [*map(str, notes), *self.remade, *map(failure, self.failed), *self.said]


def here(
    score: ScorePass, parts: Parts, numbers: list[int]
) -> Iterator[tuple[int, Any, list[str]]]:
    """Score parts in this process."""
    for number, frame in score.run(parts, numbers):
        yield number, frame, score.said


def write_report(done: Difficulty) -> Path | None:
    """Write the page of what was found, and return its place; None where nothing was scored."""
    from hardset.reports.difficulties import chosen, with_contents, write_difficulties

    page = done.folder / REPORT
    if not done.manifest["counts"]:
        page.unlink(missing_ok=True)  # of an earlier call, that had something to show
        return None
    try:
        write_difficulties(page, done.folder, with_contents(chosen(done.folder), done.examples))
    except OSError as error:
        raise Unwritable(
            f"{page} cannot be written: {error.strerror or error}; all scores are kept"
        ) from error
    return page


def _said(folder: Path) -> list[str]:
    """Return what gradient norms said of a predictor; nothing where that is lost."""
    try:
        return [str(one) for one in (read_json(folder / SAID) or {}).get("said") or ()]
    except UsageError:
        return []


def _unscored(parts: Parts) -> str:
    """Say why a predictor scored nothing; nothing where it did, or had nothing to score."""
    reasons: Counter[str] = Counter()
    for path in parts.paths():
        frame = pl.read_parquet(path, columns=["state", "reason"], glob=False)
        if (frame["state"] == SCORED).any():
            return ""
        reasons.update(frame.filter(pl.col("state") == NOT_FINITE)["reason"])
    if not reasons:
        return ""
    most = min(reasons, key=lambda reason: (-reasons[reason], reason))
    return f"no example has a finite score by it ({most})"


def _default(examples: Examples) -> tuple[str, ...]:
    return (own_name(examples) or DEFAULTS[examples.kind],)
