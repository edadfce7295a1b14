"""The settings of runs, as their manifests know them: what can explain that they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_APART = ("session", "host", "started", "stopped", "rows", "notices", "first_prompt", "title",
          "paper", "prompts_sha256", "replies", "questions", "verdicts", "roles",
          "overlaps")  # fmt: skip


def settings(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Flatten what of a manifest can explain a difference: model, options, sampling, ..."""
    flat: dict[str, str] = {}
    for name, value in manifest.items():
        if name in _APART:
            continue
        if name == "judges" and isinstance(value, list):  # how each was asked is in the report
            value = [one.get("model", "") if isinstance(one, Mapping) else one for one in value]
        if isinstance(value, Mapping):
            flat.update({f"{name}: {part}": str(one) for part, one in value.items()})
        else:
            flat[name] = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return flat


def differing(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield what is not the same of two runs: the setting, and its values, "" where it is not."""
    one, two = settings(first), settings(second)
    for name in dict.fromkeys([*one, *two]):
        if one.get(name) != two.get(name):
            yield name, one.get(name, ""), two.get(name, "")


def labels(manifests: Sequence[Mapping[str, Any]], folders: Sequence[str]) -> list[str]:
    """Name runs apart: by model; else also by the settings that differ; else by folder."""
    models = [
        str(manifest.get("model", "")) or folder
        for manifest, folder in zip(manifests, folders, strict=True)
    ]
    if len(set(models)) == len(models):
        return models
    flat = [settings(manifest) for manifest in manifests]
    names = [
        name
        for name in dict.fromkeys(name for one in flat for name in one)
        if len({one.get(name) for one in flat}) > 1
        and name not in ("model", "revision", "hardset")
        and not any(len(one.get(name, "")) > 40 for one in flat)
    ]
    told = [
        ", ".join(
            [
                model,
                *(
                    f"{name.partition(': ')[2] or name} {one[name]}"
                    for name in names
                    if name in one
                ),
            ]
        )
        for model, one in zip(models, flat, strict=True)
    ]
    if len(set(told)) == len(told):
        return told
    return [f"{label}, {folder}" for label, folder in zip(told, folders, strict=True)]
