"""Structured output: the JSON object a judge returns, and what its values mean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hardset.judging.verdict.dress import spoken

_START = re.compile(r'\{\s*["}]')
_MEMBER = re.compile(
    r'\s*"((?:[^"\\]|\\.)*)"\s*:\s*'
    r'(true|false|null|-?\d{1,20}(?:\.\d{1,20})?|"(?:[^"\\]|\\.)*")\s*,'
)
_TRIES = 50
"""How many braces are tried as the beginning of an object: enough, and linear."""
_REASONS = frozenset(
    "reason reasons reasoning rationale explanation explain justification thought thoughts "
    "analysis comment comments confidence evidence steps".split()
)
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


class _NotOneError(ValueError):
    """A key that is given twice with different values, or a number that JSON has not."""


def read_json(text: str) -> dict[str, Any] | None:
    """Read the one JSON object in a reply: alone, fenced, or among words.

    Of an object that was cut off, the members that are whole (a comma follows them) are given: a
    number at the cut might have had more digits. Two different objects are none, and so is a key
    with two values.
    """
    text = spoken(text)
    found: list[dict[str, Any]] = []
    at, decoder = 0, json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_refuse)
    for _ in range(_TRIES):
        start = _START.search(text, at)
        if start is None:
            break
        try:
            value, at = decoder.raw_decode(text, start.start())
        except _NotOneError:
            return None
        except (ValueError, RecursionError):
            at = start.start() + 1
            if not found and not text[: start.start()].rpartition("\n")[2].strip():
                return _whole_members(text, at)
            continue
        if value not in found:
            found.append(value)
    return found[0] if len(found) == 1 else None


def is_structured(text: str) -> bool:
    """Say whether a reply is a JSON object, or sets out to be: then only that is read."""
    body = re.sub(r"^```\w*", "", spoken(text).strip()).lstrip()
    return _START.match(body) is not None


def truth_of(value: Any) -> bool | None:
    """Return what a JSON value says: a boolean, or TRUE, FALSE, yes or no; None for all else."""
    if isinstance(value, bool):
        return value
    return _TRUTHS.get(value.strip().lower()) if isinstance(value, str) else None


def value_of(fields: Mapping[str, Any], *names: frozenset[str]) -> Any:
    """Return the value that is the verdict: of the one key so named, or the one key not a reason.

    Args:
        fields: of the object.
        names: what the key may be called, in lower case, with spaces between its words; the first
            set of which there is one decides.
    """
    keys = {key: re.sub(r"[\s_-]+", " ", key).strip().lower() for key in fields}
    groups = [[key for key, name in keys.items() if name in known] for known in names]
    groups.append([key for key, name in keys.items() if name not in _REASONS])
    named = next((group for group in groups if group), [])
    if len({repr(fields[key]) for key in named}) != 1:
        return None
    return fields[named[0]]


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields and fields[key] != value:
            raise _NotOneError(key)
        fields[key] = value
    return fields


def _refuse(constant: str) -> Any:
    raise _NotOneError(constant)


def _whole_members(text: str, at: int) -> dict[str, Any] | None:
    pairs = []
    while member := _MEMBER.match(text, at):
        try:
            pairs.append((json.loads(f'"{member[1]}"'), json.loads(member[2])))
        except ValueError:  # a line break or a bad escape inside a string
            return None
        at = member.end()
    try:
        return _pairs(pairs) or None
    except _NotOneError:
        return None
