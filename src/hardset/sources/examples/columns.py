"""Which columns of a table hold the content and the label: by the names the field uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hardset.errors import UsageError
from hardset.lowresource.examples import Kind
from hardset.sources.examples.asked import Asked

TEXTS: tuple[tuple[str, ...], ...] = (
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("premise", "hypothesis"),
    ("question", "sentence"),
    ("question", "passage"),
    ("#1 string", "#2 string"),
    ("text", "text_b"),
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("sentence",),
    ("text",),
    ("content",),
    ("review",),
    ("title", "description"),
)
IMAGES = ("image", "img", "picture", "photo", "file_name", "image_path")
LABELS = (
    *("label", "labels", "class", "gold_label", "fine_label", "is_duplicate", "quality"),
    *("target", "category", "sentiment", "intent", "emotion", "topic", "score"),
)


@dataclass(frozen=True)
class Columns:
    """The columns of a table that matter: one of pictures, or one or two of texts, and labels."""

    kind: Kind
    content: tuple[str, ...]
    label: str


def choose(there: Sequence[str], asked: Asked, where: object) -> Columns:
    """Choose the columns: those that were named, else those with names the field uses.

    Raises:
        UsageError: a named column is not there, or none has a known name.
    """
    for name in (*asked.text, *filter(None, (asked.image, asked.label))):
        if name not in there:
            raise UsageError(f"{where} has no column {name!r}; it has {_listed(there)}")
    if asked.text and asked.image:
        raise UsageError("name a column of pictures (--image) or of texts (--text), not both")
    if len(asked.text) > 2:
        raise UsageError(f"{len(asked.text)} columns of text were named; an example has one or two")
    if len(set(asked.text)) < len(asked.text):
        raise UsageError(f"the column {asked.text[0]!r} was named twice; an example's texts differ")
    if asked.label and asked.label in (*asked.text, asked.image):
        raise UsageError(f"the column {asked.label!r} was named both as content and as label")
    label = asked.label or _first(there, LABELS, but=(*asked.text, asked.image or ""))
    if asked.image or not asked.text:
        image = asked.image or _first(there, IMAGES, but=(label,))
        if image:
            return _once(Columns("image", (image,), _label(label, there, where)), there, where)
    text = asked.text or _known_texts(there, label)
    if not text:
        raise UsageError(
            f"{where}: no column is called as texts or pictures mostly are; it has "
            f"{_listed(there)}; name it with --text or --image"
        )
    return _once(Columns("text", text, _label(label, there, where)), there, where)


def _once(chosen: Columns, there: Sequence[str], where: object) -> Columns:
    for name in (*chosen.content, chosen.label):
        if there.count(name) > 1:
            raise UsageError(f"{where} has {there.count(name)} columns {name!r}: name them apart")
    return chosen


def _label(label: str, there: Sequence[str], where: object) -> str:
    if not label:
        raise UsageError(
            f"{where}: no column is called as labels mostly are; it has {_listed(there)}; "
            "name it with --label"
        )
    return label


def _known_texts(there: Sequence[str], label: str) -> tuple[str, ...]:
    for wanted in TEXTS:
        found = tuple(_first(there, (name,), but=(label,)) for name in wanted)
        if all(found):
            return found
    return ()


def _first(there: Sequence[str], wanted: Sequence[str], but: Sequence[str] = ()) -> str:
    by_name = {name.strip().lower(): name for name in reversed(there) if name not in but}
    return next((by_name[name] for name in wanted if name in by_name), "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
