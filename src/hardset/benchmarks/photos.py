"""Photos: real pictures with questions of every kind, written and checked by looking at them.

The pictures, most of them photographs, are those that scikit-image, scikit-learn and Matplotlib
ship in their wheels under free licences. They are read from there; none is copied.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from hardset.benchmarks.declaration import Opener
from hardset.benchmarks.kinds import WORDINGS, KindsBenchmark, allow, chosen, read_parts
from hardset.records import Item, Reading
from hardset.sources.photos.items import KINDS, items, lines
from hardset.sources.photos.pictures import BY, PICTURES, read_picture

_TWO_PARTS = re.compile(r", and (?:what|who|where|when|which|how|why)\b[^,]*\?$")


class Photos(KindsBenchmark):
    """Real pictures from the packages of the extra `photos`, asked about in every kind.

    Args:
        kinds: "all", or some of plain, hardbench, mmr, mmooc and zero, joined by commas.
        prompt: "plain" says nothing of refusing, "refusal-allowed" invites it where it is due,
            "step-by-step" asks for the reasoning first.

    Raises:
        UsageError: an option has a value that it cannot have, or a picture is not there.
    """

    name = "photos"
    title = "Photos"
    shared = True
    openers: ClassVar[Mapping[str, Opener]] = {"photos": read_picture}
    credits: ClassVar[Sequence[tuple[str, str]]] = tuple(
        (name, f"{picture.licence}: {picture.origin} ({picture.where()})")
        for name, picture in PICTURES.items()
    )

    def __init__(
        self,
        kinds: str = "all",
        prompt: Literal["plain", "refusal-allowed", "step-by-step"] = "plain",
    ) -> None:
        self.kinds = chosen("photos", kinds, KINDS)
        allow("photos", "prompt", prompt, WORDINGS)
        self.wording = prompt
        for name in PICTURES:
            read_picture(name)  # every one must be there, and be the one that was looked at
        self.revision = f"{len(lines())} items about {len(PICTURES)} pictures, v1"
        self.notices = [_licences()]

    def items(self) -> Iterator[Item]:
        """Yield the items, in the order of the file."""
        return items(self.kinds)

    def total(self) -> int:
        """Count the items."""
        return sum(line.kind in self.kinds for line in lines())

    def read(self, item: Item, text: str) -> dict[str, Reading]:
        """Read a reply; a question in two parts is answered by the one that can be."""
        if _TWO_PARTS.search(item.question):
            return {"default": read_parts(text, lambda part: _read(item, part))}
        return {"default": _read(item, text)}


def _read(item: Item, text: str) -> Reading:
    from hardset import reading
    from hardset.reading.matching import read_match

    question = item.question
    if item.form == "choice":
        return reading.read_choice(text, item.choices, item.question)
    if item.form == "braces":
        return reading.read_braces_lenient(text)
    if item.form == "yes_no":
        return reading.read_yes_no(text, question)
    if item.form == "number":
        return reading.read_refusal(text, question) or reading.read_number(text, question)
    return read_match(text, (item.answer, *item.accept) if item.answer else (), question)


def _licences() -> str:
    """Say under which licences the pictures are, and whom the attribution licence names."""
    counted = Counter(picture.licence for picture in PICTURES.values())
    named = [
        f"{p.file} by {p.origin.partition('; ')[2]}" for p in PICTURES.values() if p.licence == BY
    ]
    told = ", ".join(f"{licence} ({n})" for licence, n in counted.most_common())
    return f"pictures: {told}; {BY}: {' and '.join(named)}; each one's origin: hardset list photos"
