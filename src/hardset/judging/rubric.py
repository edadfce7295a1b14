"""Rubrics: what a judge is asked, as files that a person can read and replace.

A rubric says which facts of a row the judge may see; only these can be in its prompt, so that no
gold answer leaks into a question that must not see it. What the model under test wrote is data: it
stands between marks that it cannot have written, since they are made from a hash of it.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from hardset.errors import UsageError

FOLDER = Path(__file__).parent / "rubrics"

Fact = Literal["question", "reply", "reference"]


class Rubric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question to a judge, answered TRUE or FALSE.

    `prompt` names the facts it shows in braces, `{reply}`, and must name exactly those of `sees`.
    """

    name: str
    about: str  # what TRUE means, in one line
    sees: tuple[Fact, ...]
    due: Literal["all", "answerable"]  # the rows it is asked on
    prompt: str
    again: str  # what is added when the first verdict could not be read
    source: str = ""  # the paper whose protocol this is
    sha256: str = ""  # of the file, for the manifest


def load(name: str | Path) -> Rubric:
    """Read a rubric: a packaged one by its name, or a TOML file.

    Raises:
        UsageError: there is none of that name, or the file is no rubric.
    """
    path = Path(name)
    if path.suffix != ".toml":
        path = FOLDER / f"{name}.toml"
    if not path.is_file():
        packaged = ", ".join(sorted(found.stem for found in FOLDER.glob("*.toml")))
        raise UsageError(f"no rubric is called {name}; there are: {packaged}, or give a .toml file")
    content = path.read_bytes()
    try:
        fields = tomllib.loads(content.decode())
        rubric = msgspec.convert(
            {"name": path.stem, **fields, "sha256": hashlib.sha256(content).hexdigest()}, Rubric
        )
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path} is no rubric: {error}") from error
    named = set(_NAMES.findall(rubric.prompt))
    if named != set(rubric.sees):
        raise UsageError(
            f"{path}: its prompt shows {_listed(named)}, but it says that it sees "
            f"{_listed(rubric.sees)}; the two must be the same"
        )
    return rubric


def render(rubric: Rubric, facts: Mapping[str, str], *, again: bool = False) -> str:
    """Write the prompt of one verdict.

    Args:
        rubric: what is asked.
        facts: the row's facts by name; those the rubric does not see are not looked at.
        again: whether the first verdict could not be read, so that this is the other form.
    """
    text = _NAMES.sub(lambda found: fenced(found[1], facts[found[1]]), rubric.prompt.strip())
    return f"{text}\n\n{rubric.again.strip()}" if again else text


def fenced(name: str, text: str) -> str:
    """Put a text between marks that it cannot hold: they are made from its own hash."""
    mark = f"{name}-{hashlib.blake2b(text.encode(errors='replace'), digest_size=6).hexdigest()}"
    return f"<{mark}>\n{text}\n</{mark}>"


_NAMES = re.compile(r"\{(question|reply|reference)\}")


def _listed(names: tuple[str, ...] | set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
