"""Rows of MMOOC, turned into items: one at a time, so that a large set is never held whole.

The fields are those of the record (see `mmooc`), under any name that `mmooc_names` knows. What
contradicts itself, or lacks what the scores need, is an error that names the row; what leaves
something open that the scores can do without is counted, and said in a notice.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from hardset.benchmarks.hardbench_rows import read_file
from hardset.benchmarks.mmooc_names import (
    AUTO_SHUFFLE,
    FIELDS,
    GROUPS,
    UNKNOWN,
    allowed,
    field_of,
    fields_with,
    named,
    told_by_value,
)
from hardset.errors import UsageError
from hardset.reading.lettered import LETTERS, take_apart
from hardset.reading.matching import same
from hardset.reading.refusals import read_refusal
from hardset.records import Image, Item
from hardset.sources.embedded import Picture, holds_pictures
from hardset.sources.rows import Row

NEEDED = ("image", "question", "format", "answer")
RECORD = (
    "id, image, question, format (yes_no, choice, open), options, answer, explanation, "
    "group (ooc, ic), shift (MA, VFP, USPC, ULS, MKB; MP, PA, IQM), scenario, "
    "source (generated, human, shuffle)"
)
_MARK = re.compile(r"[(\[]?([A-Z])[)\].:]{1,2}\s+(?=\S)")
_LETTER = re.compile(r"[(\[]?([A-Za-z])[)\].:]{0,2}")
_TRUTHS = {"yes": "yes", "no": "no", "true": "yes", "false": "no"}
_PARTS = re.compile(r"(?<=[.!?;])\s+|,? (?:but|and|although|though|while|whereas) ")


class Told:
    """What the rows leave open, counted as they are walked, and who made and checked them.

    Args:
        again: the rows were walked before, so that none can be a doubled one.
    """

    def __init__(self, *, again: bool = False) -> None:
        self.again = again
        self.rows = 0
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.lost: list[str] = []  # images that are not there
        self.sources: dict[str, str] = {}  # id: where its row stands
        self.roles: dict[str, dict[str, None]] = {"generator": {}, "verifier": {}}

    def count(self, what: str, where: str) -> None:
        """Count a row that leaves something open."""
        self.counts[what] += 1
        self.first.setdefault(what, where)

    def notices(self) -> Iterator[str]:
        """Say each thing once: how many rows, and which is the first."""
        for what, count in self.counts.items():
            yield f"{count:,} of {self.rows:,} rows {what} (the first is {self.first[what]})."
        if self.lost:
            some = ", ".join(self.lost[:3]) + (", ..." if len(self.lost) > 3 else "")
            yield (
                f"{len(self.lost):,} of {self.rows:,} rows have no image file in the given folder "
                f"and count as bad-media: {some}. Give their folder with --images."
            )


def read_rows(file: Path, revision: str) -> Iterator[Row]:
    """Yield the rows of a file with our names for its fields; pictures may stand in its cells."""
    column = next((name for name in FIELDS["image"] if holds_pictures(file, name)), "image")
    for where, fields in read_file(file, revision, column):
        yield Row(where, _renamed(fields))


def _renamed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Give each field our name; of several with one meaning the first in `FIELDS` that is told."""
    lettered = {name: value for name, value in fields.items() if len(name) == 1 and name in LETTERS}
    given: dict[str, tuple[int, Any]] = {}
    for name, value in fields.items():
        place = field_of(name)
        if place is None:
            continue
        field, rank = place
        if value in (None, "", []):
            rank += len(FIELDS[field])
        if field not in given or rank < given[field][0]:
            given[field] = rank, value
    found = {field: value for field, (_, value) in given.items()}
    for name, value in fields.items():
        if told_by_value(name) and isinstance(value, str):
            open_ones = [field for field in fields_with(value) if not found.get(field)]
            found |= dict.fromkeys(open_ones[:1], value)
    if not found.get("options") and lettered:  # a column for each option
        found["options"] = [lettered[one] for one in sorted(lettered) if lettered[one]]
    return found


def make_item(row: Row, number: int, images: Path | None, source: str, told: Told) -> Item:
    """Make an item of a row with our names.

    Args:
        row: with the fields of the record.
        number: of the row from 0 on: its id, where it has none.
        images: the folder that images are in; None: none is sent.
        source: what the rows come from, for the record.
        told: what the row leaves open is counted there.

    Raises:
        UsageError: it lacks what is needed, or contradicts itself.
    """
    where, fields = row
    lacking = [name for name in NEEDED if name not in fields]
    if lacking:
        raise UsageError(
            f"{where}: there is no {' and no '.join(lacking)}; a row of MMOOC has {RECORD}"
        )
    told.rows += 1
    ident = _text(fields.get("id")) or str(number)
    if not told.again:
        if ident in told.sources:
            raise UsageError(f"{where}: the id {ident!r} is that of {told.sources[ident]} too")
        told.sources[ident] = where
    question = _text(fields["question"])
    if not question:
        raise UsageError(f"{where}: question is empty")
    form = named("format", _text(fields["format"]))
    if not form:
        raise UsageError(f"{where}: format is {fields['format']!r}, not {allowed('format')}")
    origin, group, shift = _context(where, fields, told)
    options: tuple[str, ...] = ()
    if form == "choice":
        question, options = _options(where, question, fields.get("options"))
    answers, explanation = _answers(fields["answer"]), _text(fields.get("explanation"))
    answer, accept = "", tuple(_answers(fields.get("accept")))
    if group == "ic":
        answer, *more = _gold(where, form, answers, options)
        accept = (*more, *accept)
        if shift == "PA":
            accept = (*accept, *_supported(fields, answer if form == "open" else ""))
    elif answers and form == "choice" and (letter := _letter(answers[0], options)):
        if not read_refusal(options[LETTERS.index(letter)]):
            told.count("are out of context, but name an option as their answer", where)
    elif answers:
        explanation = explanation or answers[0]
    unsupported = _text(fields.get("unsupported")) if shift == "PA" else ""
    if unsupported and unsupported not in explanation:  # judges see the explanation
        explanation = f"{explanation} Not to be told from the image: {unsupported}".strip()
    if not explanation:
        told.count("have no explanation, which judges of rationality need", where)
    sent, picture = _images(where, fields["image"], images, told)
    for role, field in (("generator", "generator"), ("verifier", "verifiers")):
        told.roles[role] |= dict.fromkeys(_listed(fields.get(field)))
    return Item(
        id=ident,
        question=question,
        images=sent,
        form="yes_no" if form == "yes_no" else "choice" if form == "choice" else "open",
        choices=options,
        answer=answer,
        accept=tuple(dict.fromkeys(text for text in accept if text != answer)),
        answerable=group == "ic",
        explanation=explanation,
        category=shift,
        tags={
            "shift": shift,
            "format": form,
            "scenario": _scenario(where, fields, told),
            "origin": origin,
            "picture": picture,  # as the rows name it: rows share it whether it is sent or not
            **({"unsupported": unsupported} if unsupported else {}),
        },
        group=group,
        source=source,
    )


def _context(where: str, fields: Mapping[str, Any], told: Told) -> tuple[str, str, str]:
    """Return where a row is from, its group and its shift; they must not contradict each other."""
    given = {name: _text(fields.get(name)) for name in ("source", "group", "shift")}
    origin, group, shift = (named(name, text) for name, text in given.items())
    for name, found in (("group", group), ("shift", shift)):
        if given[name] and not found:
            if name == "group" and named("shift", given[name]) == AUTO_SHUFFLE:
                shift = shift or AUTO_SHUFFLE
                continue
            raise UsageError(f"{where}: {name} is {given[name]!r}, not {allowed(name)}")
    if given["source"] and not origin:
        told.count("name a source that is not generated, human or shuffle", where)
        origin = UNKNOWN
    if AUTO_SHUFFLE in (shift, named("shift", given["group"])) and origin in ("", "shuffle"):
        origin = "shuffle"
    elif shift == AUTO_SHUFFLE:
        raise UsageError(f"{where}: it is shuffled by its shift, and by its source {origin}")
    if origin == "shuffle":
        if group == "ic":
            raise UsageError(f"{where}: it is shuffled, but its group is ic: a shuffled row is ooc")
        if shift not in ("", AUTO_SHUFFLE):
            told.count(f"are shuffled and name a shift, but count as {AUTO_SHUFFLE}", where)
        return origin, "ooc", AUTO_SHUFFLE
    if not group and not shift:
        raise UsageError(f"{where}: there is neither a group nor a shift; a row has {RECORD}")
    if shift and group and GROUPS[shift] != group:
        raise UsageError(
            f"{where}: its shift {shift} is one of {GROUPS[shift]}, but its group is {group}"
        )
    if not shift:
        told.count(f"name no shift: theirs is {UNKNOWN!r}", where)
    if not origin:
        told.count(f"name no source: theirs is {UNKNOWN!r}", where)
    return origin or UNKNOWN, group or GROUPS[shift], shift or UNKNOWN


def _scenario(where: str, fields: Mapping[str, Any], told: Told) -> str:
    text = _text(fields.get("scenario"))
    found = named("scenario", text)
    if not found:
        what = "name a scenario that is none of the six" if text else "name no scenario"
        told.count(what, where)
    return found or text or UNKNOWN


def _options(where: str, question: str, given: Any) -> tuple[str, tuple[str, ...]]:
    """Return the question without its options, and these without their letters."""
    if isinstance(given, str) and given.strip()[:1] in ("[", "{"):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = re.findall(r"""(['"])(.*?)\1(?=\s*[,\]])""", given)
            given = [text for _, text in given]
    if isinstance(given, Mapping):
        given = [given[letter] for letter in sorted(given) if given[letter] is not None]
    elif isinstance(given, str):
        given = take_apart(f"?\n{given}").options or given.splitlines()
    listed = given if isinstance(given, list | tuple) else [] if given is None else [given]
    options = [_text(one) for one in listed]
    if not options:
        question, inside = take_apart(question)
        options = list(inside)
    marks = [_MARK.match(text) for text in options]
    if all(mark and mark[1] == LETTERS[i : i + 1] for i, mark in enumerate(marks)):
        options = [text[mark.end() :] for text, mark in zip(options, marks, strict=True) if mark]
    if len(options) < 2:
        raise UsageError(
            f"{where}: its format is choice, but it has {'one option' if options else 'no options'}"
        )
    if len(options) > len(LETTERS) or not all(options):
        what = "an empty option" if len(options) <= len(LETTERS) else f"{len(options)} options"
        raise UsageError(f"{where}: it has {what}; a choice has 2 to {len(LETTERS)} with a text")
    return question, tuple(options)


def _gold(where: str, form: str, answers: Sequence[str], options: Sequence[str]) -> tuple[str, ...]:
    """Return the right answer of a row in context, and others that are as right."""
    if not answers:
        raise UsageError(f"{where}: answer is empty, but the row is in context (ic)")
    if form == "choice":
        letter = _letter(answers[0], options)
        if not letter:
            raise UsageError(
                f"{where}: the answer {answers[0][:80]!r} is none of its options "
                f"(A to {LETTERS[len(options) - 1]})"
            )
        return (letter,)
    if form == "yes_no":
        first = re.findall(r"[a-z]+", answers[0].lower())
        if not first or first[0] not in _TRUTHS:
            raise UsageError(f"{where}: the answer {answers[0][:80]!r} is not yes or no")
        return (_TRUTHS[first[0]],)
    return tuple(answers)


def _letter(answer: str, options: Sequence[str]) -> str:
    """Return the letter that an answer names or whose text it is; "" for none, or two."""
    letters = LETTERS[: len(options)]
    if answer in letters and all(len(text) > 1 for text in options):
        return answer
    texts = {LETTERS[i] for i, text in enumerate(options) if same(text, answer)}
    if (bare := _LETTER.fullmatch(answer)) and not texts:
        return bare[1].upper() if bare[1].upper() in letters else ""
    if mark := _MARK.match(answer):
        rest = answer[mark.end() :]
        own = mark[1] in letters and same(options[LETTERS.index(mark[1])], rest)
        return mark[1] if own else ""
    return texts.pop() if len(texts) == 1 else ""


def _supported(fields: Mapping[str, Any], answer: str) -> Iterator[str]:
    """Yield what else answers the part that can be: as told, or the reference without refusals."""
    yield from _answers(fields.get("supported"))
    parts = [part.strip() for part in _PARTS.split(answer) if part.strip()]
    rest = [part for part in parts if not read_refusal(part)]
    if len(rest) == 1 and len(parts) > 1:
        yield rest[0].rstrip(";,")


def _images(
    where: str, cell: Any, folder: Path | None, told: Told
) -> tuple[tuple[Image, ...], str]:
    """Return the images to send, and what the rows call them."""
    cells = cell if isinstance(cell, list) else [cell]
    sent, names = [], []
    for one in cells:
        if isinstance(one, Picture):
            sent.append(Image(where=one.where))
            names.append(one.file)
            continue
        if isinstance(one, str) and one.startswith("data:image/"):
            sent.append(Image(where=one))
            names.append(hashlib.sha256(one.encode()).hexdigest())
            continue
        name = _path(where, one)
        names.append(str(name))
        if folder is not None:
            path = folder / name
            if not told.again and not path.is_file():
                told.lost.append(str(name))
            sent.append(Image(where=str(path)))
    if not names and folder is not None:
        raise UsageError(f"{where}: image is empty; pass --blind to ask without images")
    return tuple(sent) if folder is not None else (), ", ".join(names)


def _path(where: str, name: Any) -> PurePosixPath:
    if isinstance(name, dict | bytes):
        raise UsageError(
            f"{where}: image holds a picture, and not its path: pictures inside the rows are read "
            "from parquet only"
        )
    path = PurePosixPath(name if isinstance(name, str) else "")
    if path.is_absolute() or not path.parts or ".." in path.parts or ":" in path.parts[0]:
        said = repr(name) if len(repr(name)) < 100 else f"{repr(name)[:100]}..."
        raise UsageError(f"{where}: image {said} is not a path inside an image folder")
    return path


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value, ensure_ascii=False, default=str)  # parquet has dates, and bytes


def _answers(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text for text in map(_text, values) if text]


def _listed(value: Any) -> list[str]:
    """Return the names of models in a list, or in a text with commas."""
    values = value if isinstance(value, list) else _text(value).split(",")
    return [text for text in map(_text, values) if text]
