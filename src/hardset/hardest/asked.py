"""What was asked of a walk that can be resumed, and how another asking differs from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples

LIBRARIES = ("torch", "timm", "transformers")
"""Whose version may change the last bits of a score."""


def of_data(examples: Examples) -> dict[str, Any]:
    """Return what tells one training set from another: size, classes, labels and contents."""
    labels = hashlib.sha256(np.ascontiguousarray(examples.labels).tobytes()).hexdigest()
    names = hashlib.sha256("\0".join(examples.classes).encode(errors="surrogatepass")).hexdigest()
    return {
        "examples": len(examples),
        "kind": examples.kind,
        "classes": len(examples.classes),
        "class names": names,
        "labels": labels,
        "contents": str(examples.source.get("sha256", "")),
    }


def versions() -> dict[str, str]:
    """Return the versions of the libraries that are here."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def must_be_same(out: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with a walk of which something else was asked.

    Raises:
        UsageError: it names what differs.
    """
    differing = [key for key in dict.fromkeys((*before, *now)) if before.get(key) != now.get(key)]
    if not differing:
        return
    said = "; ".join(_told(key, before.get(key), now.get(key)) for key in differing)
    raise UsageError(
        f"{out} holds another scoring: {said}. Give the same as before to go on with it, or "
        "another --out"
    )


def _told(key: str, before: Any, now: Any) -> str:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        parts = [k for k in dict.fromkeys((*before, *now)) if before.get(k) != now.get(k)]
        return "; ".join(_told(f"{key} {part}", before.get(part), now.get(part)) for part in parts)
    return f"{key} was {_value(before)} there, and is {_value(now)} here"


def _value(value: Any) -> str:
    if value is None:
        return "not given"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "not given"
    text = str(value)
    return f"{text[:12]}..." if len(text) == 64 else text or "not given"
