"""Rubrics: what a judge is asked, as files that a person can read and replace.

A rubric says which facts of a row the judge may see; only these are in its prompt, so that no gold
answer leaks into a question that must not see it. What the model under test wrote is data: it
stands between marks that it cannot have written, since they are made from a hash of it.

A rubric asks for one verdict, in one of three scales, or for several TRUE or FALSE ones:

    true = "..."      TRUE if so, and FALSE if `false = "..."` (with `negated`, what counts is the
    false = "..."     opposite of what is asked: "gives an answer" is easier to see than "declines")
    [anchors]         a whole number, with what each means: 1 = "...", 5 = "..."
    [letters]         one of some letters: A = "...", B = "..."
    [parts]           TRUE or FALSE of each part: answered = "...", named = "..."
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field

from hardset.errors import UsageError

FOLDER = Path(__file__).parent / "rubrics"
LARGEST = 64 * 1024  # bytes: it is put before a judge with every reply

Fact = Literal["question", "options", "reply", "reference", "reason"]
"""What a judge can be shown of a row, besides its picture: `reference` is the right answer,
`reason` why a question cannot be answered, or where the answer is seen."""

Condition = Literal["answerable", "unanswerable", "refused", "answered"]
"""Which rows a rubric is asked on. `refused` and `answered` (not refused) go by the verdict on the
rubric `refused` where it is asked too, and else by the rules."""

Scale = Literal["binary", "graded", "letter"]


class Rubric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question to a judge; see the module for its scales."""

    name: str
    about: str  # what the verdict says, in one line: what TRUE means, or a high grade
    sees: tuple[Fact, ...]  # in the order in which they are shown
    picture: bool = False  # whether a judge that takes pictures is sent the row's
    due: tuple[
        Condition, ...
    ] = ()  # all of these must hold; every reply is due where there is none
    where: dict[str, tuple[str, ...]] = field(default_factory=dict)  # columns and their values
    task: str  # what the judge is there for
    ask: str  # the question
    true: str = ""
    false: str = ""
    negated: bool = False
    anchors: dict[str, str] = field(default_factory=dict)
    letters: dict[str, str] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    reasons: bool = False  # whether the judge gives its reason, before its verdict
    source: str = ""  # the paper whose protocol this is
    sha256: str = ""  # of the file, for the manifest
    text: str = ""  # the file itself, for the run folder

    @property
    def scale(self) -> Scale:
        """Which values its verdicts have."""
        return "graded" if self.anchors else "letter" if self.letters else "binary"

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of its verdicts: its own, or one a part."""
        return tuple(f"{self.name}.{part}" for part in self.parts) or (self.name,)

    @property
    def low(self) -> int:
        """The lowest grade."""
        return min(map(int, self.anchors))

    @property
    def high(self) -> int:
        """The highest grade."""
        return max(map(int, self.anchors))

    @property
    def later(self) -> bool:
        """Whether it waits for the verdict on another one: whether the reply refuses."""
        return "refused" in self.due or "answered" in self.due

    @property
    def schema(self) -> str:
        """The JSON Schema that a judge is held to, where its endpoint can do that."""
        if self.anchors:
            value: dict[str, object] = {
                "score": {"type": "integer", "enum": list(range(self.low, self.high + 1))}
            }
        elif self.letters:
            value = {"verdict": {"type": "string", "enum": list(self.letters)}}
        else:
            value = {name: {"type": "boolean"} for name in self.parts or ("verdict",)}
        if self.reasons:
            value = {"reason": {"type": "string"}, **value}
        return json.dumps(
            {
                "type": "object",
                "properties": value,
                "required": list(value),
                "additionalProperties": False,
            },
            separators=(",", ":"),
        )


def packaged() -> dict[str, Path]:
    """Give the files of the rubrics that come with this package, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def load(name: str | Path) -> Rubric:
    """Read a rubric: a packaged one by its name, or a TOML file.

    Raises:
        UsageError: there is none of that name, or the file is no rubric.
    """
    path = Path(name)
    if path.suffix != ".toml":
        path = FOLDER / f"{name}.toml"
    if not path.is_file():
        if Path(name).suffix == ".toml":
            there = "is a folder, not a file" if path.is_dir() else "does not exist"
            raise UsageError(f"the rubric {path} {there}; check the path")
        there = ", ".join(packaged())
        raise UsageError(f"no rubric is called {name}; there are: {there}, or give a .toml file")
    try:
        content = path.read_bytes()
        if len(content) > LARGEST:
            raise UsageError(f"{path} is no rubric: it has {len(content):,} bytes")
        text = content.decode("utf-8-sig")
        told = {"sha256": hashlib.sha256(content).hexdigest(), "text": text}
        rubric = msgspec.convert({"name": path.stem, **tomllib.loads(text), **told}, Rubric)
    except msgspec.ValidationError as error:
        fields = ", ".join(name for name in Rubric.__struct_fields__ if name not in told)
        raise UsageError(f"{path} is no rubric: {error}; its fields are: {fields}") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is no rubric: {error}") from error
    wrong = _wrong(rubric)
    if wrong:
        raise UsageError(f"{path} is no rubric: {wrong}")
    return rubric


def _wrong(rubric: Rubric) -> str:
    """Say what a rubric lacks, or says twice; "" where it is sound."""
    scales = {
        "true and false": bool(rubric.true or rubric.false),
        "[anchors]": bool(rubric.anchors),
        "[letters]": bool(rubric.letters),
        "[parts]": bool(rubric.parts),
    }
    given = [name for name, there in scales.items() if there]
    if len(given) != 1:
        return f"it needs one of {', '.join(scales)}, and has {' and '.join(given) or 'none'}"
    if not _NAME.fullmatch(rubric.name) or not all(map(_NAME.fullmatch, rubric.parts)):
        return f"its name ({rubric.name}) and its parts take letters, digits, - and _ only"
    if rubric.name == "due":
        return "its name cannot be due"  # verdict_due says which rows were put before judges
    if not all(rubric.where.values()):
        return "where names a column without a value"
    if bool(rubric.true) != bool(rubric.false):
        return "true and false go together"
    every = (rubric.task, rubric.ask, *rubric.anchors.values(), *rubric.letters.values())
    said = (*every, *rubric.parts.values(), *((rubric.true, rubric.false) if rubric.true else ()))
    if not all(text.strip() for text in said):
        return "one of its texts is blank"
    if rubric.negated and not rubric.true:
        return "negated goes with true and false"
    if "reply" not in rubric.sees:
        return "it does not see the reply, so there is nothing to judge"
    if len(set(rubric.sees)) < len(rubric.sees):
        return "it sees a fact twice"
    if {"refused", "answered"} <= set(rubric.due) or {"answerable", "unanswerable"} <= set(
        rubric.due
    ):
        return f"no row is {' and '.join(rubric.due)}"
    if rubric.name == "refused" and (rubric.later or rubric.scale != "binary" or rubric.parts):
        return "the rubric refused is TRUE or FALSE, and does not wait for itself"
    if rubric.letters and not all(
        len(letter) == 1 and "A" <= letter <= "Z" for letter in rubric.letters
    ):
        return "its letters are single capitals"
    if len(rubric.letters) == 1:
        return "one letter is no choice"
    grades = list(rubric.anchors)
    if grades and (
        not all(grade.isascii() and grade.isdecimal() and len(grade) < 4 for grade in grades)
        or len({int(grade) for grade in grades}) < 2
    ):
        return "its anchors are two whole numbers or more, each with what it means"
    return ""


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
