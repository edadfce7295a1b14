"""Who scored: predictors with their recipes and trainings, what failed, what fell back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hardset.reports.facts import told
from hardset.reports.measures import number
from hardset.reports.text import clip

MOST_FAILED = 20
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


def predictors(manifest: Mapping[str, Any]) -> list[Predictor]:
    """Lay out what the manifest says of its predictors."""
    made = []
    for one in manifest.get("predictors") or ():
        if not isinstance(one, Mapping):
            made.append(Predictor(str(one), *[""] * 7))
            continue
        facts = dict(one.get("facts") or {})
        parameters = number(facts, "parameters")
        facts.pop("parameters", None)
        trainings = list((one.get("trainings") or {}).values())
        last = [each["accuracies"][-1] for each in trainings if each.get("accuracies")]
        seconds = [x for each in trainings if (x := number(each, "seconds")) is not None]
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
            )
        )
    return made


def _accuracies(last: Sequence[float]) -> str:
    known = [f"{100 * one:.1f}" for one in last if isinstance(one, float) and one == one]
    return f"{', '.join(known)} %" if known else ""


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
