"""Who scored: predictors with their recipes and trainings, what failed, what fell back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hardset.reports.facts import told
from hardset.reports.measures import number
from hardset.reports.text import clip

MOST_FAILED = 20
NEAR_CHANCE = 0.1  # of the way from chance to all right: less is next to nothing
_LONG = (300, 100)  # characters of a reason, at either end


@dataclass(frozen=True)
class Predictor:
    """One predictor, laid out."""

    name: str
    family: str
    seeds: str
    accuracy: str  # on its training set in the last epoch, a seed after the other
    seconds: str
    parameters: str
    recipe: str
    facts: str
    weak: str  # a warning; empty where all of its seeds have learned something


def predictors(manifest: Mapping[str, Any], chance: float | None = None) -> list[Predictor]:
    """Lay out what the manifest says of its predictors.

    Args:
        manifest: the folder's.
        chance: the share of the largest class, to see who has learned next to nothing.
    """
    made = []
    for one in manifest.get("predictors") or ():
        if not isinstance(one, Mapping):
            made.append(Predictor(str(one), *[""] * 8))
            continue
        facts = dict(one.get("facts") or {})
        parameters = number(facts, "parameters")
        facts.pop("parameters", None)
        trainings: Mapping[str, Any] = one.get("trainings") or {}
        last = [x for each in trainings.values() if (x := _last(each)) is not None]
        seconds = [x for each in trainings.values() if (x := number(each, "seconds")) is not None]
        made.append(
            Predictor(
                name=str(one.get("name", "")),
                family=str(one.get("family", "")),
                seeds=told(one.get("seeds", "")),
                accuracy=_accuracies(last),
                seconds=f"{sum(seconds):,.1f}" if seconds else "",
                parameters=f"{parameters:,.0f}" if parameters is not None else "",
                recipe=recipe(one.get("recipe") or {}),
                facts=told(facts) if facts else "",
                weak=_weak(trainings, chance),
            )
        )
    return made


def _last(training: Mapping[str, Any]) -> float | None:
    """Give the accuracy of the last epoch of a training; None where there is none."""
    found = [one for one in training.get("accuracies") or () if isinstance(one, (int, float))]
    return found[-1] if found and found[-1] == found[-1] else None


def _accuracies(last: Sequence[float]) -> str:
    return f"{', '.join(f'{100 * one:.1f}' for one in last)} %" if last else ""


def _weak(trainings: Mapping[str, Any], chance: float | None) -> str:
    """Warn of seeds whose accuracy is hardly above what one answer to everything gets."""
    if chance is None or chance >= 1:
        return ""
    least = chance + NEAR_CHANCE * (1 - chance)
    seeds = [seed for seed, one in trainings.items() if (x := _last(one)) is not None and x < least]
    if not seeds:
        return ""
    of = "" if len(seeds) == len(trainings) else f"seed {', '.join(seeds)} "
    return f"{of}learned next to nothing (chance: {100 * chance:.1f} %): its ranks say little"


def warnings(manifest: Mapping[str, Any], scorers: Sequence[Predictor]) -> list[str]:
    """Give what a reader must know before any figure, each once."""
    said = [one for one in notices(manifest) if one not in notes(manifest)]
    for one in scorers:
        if one.weak and not any(each.startswith(f"{one.name}, seed") for each in said):
            said.append(f"{one.name}: {one.weak}.")
    return said


def notes(manifest: Mapping[str, Any]) -> list[str]:
    """Give what the data's reader noted: how they were read, which is no warning."""
    data = manifest.get("data")
    source = data.get("source") if isinstance(data, Mapping) else None
    return [str(one) for one in source.get("notes") or ()] if isinstance(source, Mapping) else []


_USUAL = {"momentum": 0, "weight_decay": 0, "schedule": "constant", "augment": "none", "gamma": 1}


def recipe(given: Mapping[str, Any] | str) -> str:
    """Write a recipe in words, without what is as usual; where it is from stands last."""
    if not isinstance(given, Mapping):
        return str(given)
    kept = {
        name: value
        for name, value in given.items()
        if name not in ("name", "source") and value != _USUAL.get(name, ...)
    }
    said = told(kept)
    return f"{said}; {told(given['source'])}" if given.get("source") else said


def failures(manifest: Mapping[str, Any]) -> tuple[int, list[str], int]:
    """Say which predictors came to nothing: how many, the first, how many are not shown."""
    failed = [one for one in manifest.get("failed") or () if isinstance(one, Mapping)]
    said = [
        f"{one.get('predictor')}, seed {one.get('seed')}: {clip(str(one.get('reason')), *_LONG)}"
        for one in failed[:MOST_FAILED]
    ]
    return len(failed), said, len(failed) - len(said)


def notices(manifest: Mapping[str, Any]) -> list[str]:
    """Give the manifest's notices but for failures, which are shown by themselves."""
    reasons = [str(one["reason"]) for one in manifest.get("failed") or () if one.get("reason")]
    said = [str(one) for one in manifest.get("notices") or ()]
    return [one for one in said if not any(one.endswith(reason) for reason in reasons)]


def fallbacks(manifest: Mapping[str, Any]) -> list[str]:
    """Give what the gradient norms said of layers that have no quick way."""
    given = manifest.get("fallbacks") or ()
    if isinstance(given, Mapping):
        return [f"{name}: {told(said)}" for name, said in given.items() if said]
    return [told(one) for one in given]
