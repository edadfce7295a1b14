"""HARDBench's published rows, turned into items: what was edited, which pairs, which images.

The columns are the published ones; see `hardbench`. What their texts leave open is read with
tolerance and said in a notice, never guessed in silence.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec

from hardset.errors import UsageError
from hardset.reading.lettered import take_apart
from hardset.reading.matching import form_due, letter_of
from hardset.records import Form, Image, Item
from hardset.sources.embedded import Picture, holds_pictures, read_pictured
from hardset.sources.hardbench_images import IMAGES
from hardset.sources.pictures import plain_name, source_of
from hardset.sources.rows import Row, read_rows

NEEDED = ("question", "answer", "image", "data_source", "is_unanswerable")
EDITS = {"O": "object", "R": "relation", "A": "attribute"}
UNKNOWN = "unknown"
LICENCE = "CC-BY-SA-4.0"
_SENTENCE = 4  # words from which on the answer of an unanswerable row is taken for a reason


class Folders:
    """The folders that the user has images in: one for all sources, or one for each.

    Args:
        images: a folder with a folder for each `data_source` in it, or the images themselves.
        each: "source=folder, source=folder": goes before `images`.

    Raises:
        UsageError: a folder that is not there, or a text that is not such a list.
    """

    def __init__(self, images: Path | None, each: str = "") -> None:
        self.images = None if images is None else Path(images)
        self.each: dict[str, Path] = {}
        for part in filter(None, (part.strip() for part in each.split(","))):
            source, _, place = part.partition("=")
            if not source.strip() or not place.strip():
                raise UsageError(
                    f"hardbench: images_from takes SOURCE=FOLDER,SOURCE=FOLDER; {part!r} is none"
                )
            self.each[plain_name(source)] = Path(place.strip())
        for folder in filter(None, (self.images, *self.each.values())):
            if not folder.is_dir():
                raise UsageError(f"hardbench: {folder}, given for its images, is not a folder")
        inside = [] if self.images is None else sorted(self.images.iterdir())
        self.inside = {plain_name(path.name): path for path in inside if path.is_dir()}

    def find(self, sources: Sequence[str], name: PurePosixPath) -> tuple[Path, bool]:
        """Return where an image is, or is first looked for, and whether it is there.

        It is looked for in the folder of the first of the sources that has one, where the leading
        folders of its path may be missing, and then in the one for all.
        """
        keys = [plain_name(source) for source in sources]
        folders = [where[key] for key in keys for where in (self.each, self.inside) if key in where]
        own = folders[0] if folders else None
        tails = [PurePosixPath(*name.parts[i:]) for i in range(len(name.parts))]
        tries = [own / tail for tail in tails] if own else []
        tries += [self.images / name] if self.images else []
        there = next((path for path in tries if path.is_file()), None)
        return there or (tries[0] if tries else Path(name)), there is not None


class Rows(NamedTuple):
    """The items of a split, and what the reader must know of them."""

    items: list[Item]
    notices: list[str]


def read_file(file: Path, revision: str, column: str = "image") -> Iterator[Row]:
    """Yield the rows of a file; where their column of images holds pictures, those stand in it."""
    if not holds_pictures(file, column):
        yield from read_rows(file)
        return
    for (where, fields), pictures in read_pictured(file, column, revision):
        held = next(iter(pictures), Picture())
        yield Row(where, {**fields, column: held if held.file else held.path})


def read_items(rows: Iterator[Row], split: str, wording: str, folders: Folders | None) -> Rows:
    """Turn the published rows of a split into items, in their order.

    Args:
        rows: with the published columns.
        split: its name, the first part of the ids (`test/17`, from 0 on).
        wording: the name of the prompt's wording.
        folders: where the images are; None: no image is sent.

    Raises:
        UsageError: a row that lacks a column, or has what it cannot have.
    """
    items = []
    missing: dict[str, list[str]] = defaultdict(list)
    for number, row in enumerate(rows):
        item, lost = _item(row, number, {"split": split, "wording": wording}, folders)
        items.append(item)
        if lost:
            missing[item.tags["data_source"]].append(lost)
    edits = {item.pair: item.tags["edit"] for item in items if item.pair and item.tags["edit"]}
    items = [_with_edit(item, edits.get(item.pair, "")) for item in items]
    notices = [*_missing(missing, len(items), split), *_edits(items), *_pairs(items)]
    return Rows(items, notices)


def check_columns(row: Row | None) -> None:
    """See that a row, if there is one, has the published columns.

    Raises:
        UsageError: it lacks one.
    """
    lacking = [name for name in NEEDED if row is not None and name not in row.fields]
    if row is not None and lacking:
        raise UsageError(
            f"{row.where}: there is no {' and no '.join(lacking)}; a row of HARDBench has "
            f"{', '.join(NEEDED)}, original_question, modifications and pair_id"
        )


def _item(
    row: Row, number: int, tags: Mapping[str, str], folders: Folders | None
) -> tuple[Item, str]:
    """Make an item of a row; and the name of its image, if that is not there."""
    check_columns(row)
    where, fields = row
    question = _text(where, fields, "question")
    unanswerable = _truth(where, fields["is_unanswerable"])
    answer = str(fields["answer"] if fields["answer"] is not None else "").strip()
    if not unanswerable and not answer:
        raise UsageError(f"{where}: answer is empty, but the row is answerable")
    source, original = _optional(fields, "data_source"), _optional(fields, "original_question")
    altered = _optional(fields, "modifications") if unanswerable else ""
    reason = answer if unanswerable and len(answer.split()) >= _SENTENCE else ""
    options = take_apart(question).options
    accepted = () if unanswerable else (answer,)
    form: Form = form_due(accepted, question)
    if options and (unanswerable or letter_of(answer, options)):
        form, answer = "choice", letter_of(answer, options)
    elif form == "yes_no":
        answer = answer.strip(" .").lower()
    images: tuple[Image, ...] = ()
    lost = ""
    picture = fields["image"]
    if isinstance(picture, Picture):
        images = (Image(where=picture.where),) if folders is not None else ()
        picture = picture.file
    elif folders is not None:
        name = _path(where, picture)
        path, there = folders.find((source, tags["split"]), name)
        images, lost = (Image(where=str(path)),), "" if there else str(name)
    pair = _pair(where, fields.get("pair_id"))
    edit = edit_of(altered) if unanswerable else ""
    return Item(
        id=f"{tags['split']}/{number}",
        question=question,
        images=images,
        form=form,
        choices=options if form == "choice" else (),
        answer="" if unanswerable else answer,
        answerable=not unanswerable,
        explanation=reason,
        category=EDITS.get(edit, ""),
        tags={
            "edit": edit,
            "data_source": source,
            "original_question": original if original != question else "",
            # The image as the rows name it: rows share it whether it is sent or there or not.
            "picture": f"{source}/{picture}" if picture else "",
            **tags,
        },
        pair=f"{tags['split']}/{pair}" if pair else "",
        role="edited" if unanswerable else "original",
        source="hyeminboo/HARDBench",
        licence=LICENCE,
        altered=altered,
    ), lost


def _with_edit(item: Item, edit: str) -> Item:
    """Put the edit of the pair on both of its members, so that both are in its slice."""
    if not edit or item.tags["edit"]:
        return item
    tags = {**item.tags, "edit": edit}
    return msgspec.structs.replace(item, tags=tags, category=EDITS.get(edit, ""))


_KIND = re.compile(r"\b(object|relation|attribute)(?:s|ship|al)?\b", re.IGNORECASE)
_LETTER = re.compile(r"[\[(\"']*([ORA])[\])\"']*", re.IGNORECASE)
_UNCHANGED = re.compile(
    r"\b(?:none|null|unchanged|same|no change|not (?:changed|modified)|kept|n/a)\b|^\W*$",
    re.IGNORECASE,
)


def edit_of(modifications: str) -> str:
    """Say which component an edit changed: O, R, A, or "unknown".

    The published text is JSON or prose: what counts is the one component that it names as
    changed, as a key with a value ({"object": "cat"}), as a value ({"type": "object"}), or as a
    word ("Object: dog -> cat; Relation: unchanged").
    """
    if letter := _LETTER.fullmatch(modifications.strip()):
        return letter[1].upper()
    try:
        named = set(_named(json.loads(modifications)))
    except (ValueError, RecursionError):
        named = {
            match[1].lower()
            for clause in re.split(r"[;\n]|,(?=\s*['\"]?\w+['\"]?\s*:)", modifications)
            for match in _KIND.finditer(clause)
            if not _UNCHANGED.search(clause[match.end() :]) or not clause[match.end() :].strip()
        }
    kinds = {name[0].upper() for name in named}
    return kinds.pop() if len(kinds) == 1 else UNKNOWN


def _named(value: Any, key: str = "") -> Iterator[str]:
    """Yield the components that a JSON value names as changed."""
    kind = _KIND.fullmatch(key.replace("_", " ").strip())
    if isinstance(value, Mapping):
        olds = [value[name] for name in ("from", "original", "before", "old") if name in value]
        news = [value[name] for name in ("to", "modified", "after", "new") if name in value]
        if kind and value and olds != news:
            yield kind[1].lower()
            return
        for name, part in value.items():
            yield from _named(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from _named(part, key)
    elif kind:
        if value and not _UNCHANGED.search(str(value)):
            yield kind[1].lower()
    elif isinstance(value, str) and re.search("type|kind|categ|compon|edit|change|^$", key, re.I):
        yield from (match[1].lower() for match in _KIND.finditer(value))
        if letter := _LETTER.fullmatch(value.strip()):
            yield EDITS[letter[1].upper()]


def _text(where: str, fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        what = "is empty" if value in (None, "") else f"is {value!r}, not a text"
        raise UsageError(f"{where}: {name} {what}")
    return value


def _optional(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _truth(where: str, value: Any) -> bool:
    known = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
    found = known.get(str(value).strip().lower())
    if found is None:
        raise UsageError(f"{where}: is_unanswerable is {value!r}, not true or false")
    return found


def _pair(where: str, value: Any) -> str:
    """Return a pair's name, "" for none: the published numbers are floats, null where none."""
    if value is None or value == "":
        return ""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    if math.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() else str(number)


def _path(where: str, name: Any) -> PurePosixPath:
    if isinstance(name, dict | list | bytes):
        raise UsageError(
            f"{where}: image holds a picture, and not its path: pictures inside the rows are read "
            "from parquet only"
        )
    path = PurePosixPath(name if isinstance(name, str) else "")
    if path.is_absolute() or not path.parts or ".." in path.parts or ":" in path.parts[0]:
        raise UsageError(f"{where}: image {name!r} is not a path inside an image folder")
    return path


def _missing(missing: Mapping[str, Sequence[str]], rows: int, split: str) -> Iterator[str]:
    """Say which images are missing, by source, and how to get them."""
    if not missing:
        return
    lost = sum(map(len, missing.values()))
    parts = []
    for source, names in sorted(missing.items()):
        files = list(dict.fromkeys(names))
        some = ", ".join(files[:3]) + (", ..." if len(files) > 3 else "")
        found = source_of(IMAGES, source) or source_of(IMAGES, split)
        get = f"from {found.how()}" if found else "from a source that is not a published one"
        parts.append(f"{source or 'no data_source'}: {len(files):,} ({some}), {get}")
    yield (
        f"{lost:,} of {rows:,} rows have no image file in the given folders and count as "
        f"bad-media. Missing by source: {'; '.join(parts)}. `hardset fetch hardbench --images` "
        "gets what may be fetched and prints the steps for the rest; put them into a folder for "
        "each source within --images, or name its folder with -o images_from=SOURCE=FOLDER."
    )


def _edits(items: Sequence[Item]) -> Iterator[str]:
    edited = [item for item in items if not item.answerable]
    unknown = [item for item in edited if item.tags["edit"] == UNKNOWN]
    if unknown:
        yield (
            f"{len(unknown):,} of {len(edited):,} edited questions do not say in `modifications` "
            "which one component (object, relation or attribute) was changed: their edit is "
            f"{UNKNOWN!r} (the first is {unknown[0].id})."
        )


def _pairs(items: Sequence[Item]) -> Iterator[str]:
    """Say which pairs are broken, and how many edited questions stand alone."""
    roles: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if item.pair:
            roles[item.pair].append(item.role)
    broken = {pair: have for pair, have in roles.items() if sorted(have) != ["edited", "original"]}
    alone = Counter(item.role for item in items if not item.pair)["edited"]
    if broken:
        named = "; ".join(f"{pair} ({', '.join(have)})" for pair, have in list(broken.items())[:3])
        more = f" and {len(broken) - 3:,} more" if len(broken) > 3 else ""
        yield (
            f"{len(broken):,} of {len(roles):,} pairs are not one original and one edited "
            f"question: {named}{more}. The paired rates are over the {len(roles) - len(broken):,} "
            "sound pairs; the questions of the others count everywhere else."
        )
    if alone:
        yield (
            f"{alone:,} edited questions have no pair_id: they count in every rate but the paired."
        )
