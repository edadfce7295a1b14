"""A manifest in words: data, recipes and settings, a part a table, none of it endless."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from hardset.reports.text import clip

_APART = ("notices", "hardset", "versions", "started", "host")
_LONG = (300, 100)  # characters of a fact, at either end
_MOST = 40  # lines of a part


def facts(
    manifest: Mapping[str, Any], apart: Container[str] = ()
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Lay a manifest out in words, but for what the page shows `apart`."""
    parts: list[tuple[str, list[tuple[str, str]]]] = []
    single: list[tuple[str, str]] = []
    for name, value in manifest.items():
        if name in _APART or name in apart or value in (None, "", [], {}):
            continue
        spoken = name.replace("_", " ")
        if isinstance(value, Mapping):
            parts.append((spoken, list(_flat(value))[:_MOST]))
        elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            lines = [(_name(one, i), told(one)) for i, one in enumerate(value[:_MOST])]
            parts.append((spoken, lines))
        else:
            single.append((spoken, told(value)))
    return ([("run", single)] if single else []) + parts


def _name(one: Any, place: int) -> str:
    if isinstance(one, Mapping):
        for name in ("learner", "predictor", "name", "set"):
            if one.get(name):
                return str(one[name])
    return str(place + 1)


def _flat(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, one in value.items():
        if one not in (None, "", [], {}):
            yield str(name).replace("_", " "), told(one)


def told(value: Any) -> str:
    """Write any value in words, and no endless one."""
    if isinstance(value, Mapping):
        said = ", ".join(f"{name.replace('_', ' ')} {told(one)}" for name, one in _items(value))
    elif isinstance(value, (list, tuple)):
        said = ", ".join(told(one) for one in value[:50]) + (", …" if value[50:] else "")
    elif isinstance(value, float):
        said = f"{value:g}"
    else:
        said = str(value)
    return clip(said, *_LONG)


def _items(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(str(name), one) for name, one in value.items() if one not in (None, "", [], {})]


def last_part(place: str) -> str:
    """Give the last part of a path: the whole of it is among the facts."""
    return place.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or place
