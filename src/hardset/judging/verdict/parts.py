"""Several named verdicts in one reply of a judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from hardset.judging.verdict.chinese import in_english
from hardset.judging.verdict.doubt import settled, turning
from hardset.judging.verdict.dress import bare, one
from hardset.judging.verdict.structured import is_structured, read_json, truth_of

_VALUES = {"true": True, "yes": True, "false": False, "no": False}
_WORD = r"(?P<word>true|false|yes|no)(?![\w'])(?!-\w)"
_OPEN = r"(?! ?(?:or|/|\||and) ?(?:true|false|yes|no)\b| ?\?)"
_ENDS = r"(?=$| ?[.,:;!()\[\]{}\n|]| - | ?(?:because|since|as|and)\b)"

_TURN = turning(_WORD + _ENDS)


def read_parts(text: str, names: Sequence[str]) -> dict[str, bool | None]:
    """Read `answered: TRUE` and the like, one for each name, in any order, or as JSON.

    A name stands at the beginning of a line or behind a comma, a bar or a bracket; case, and which
    of space, hyphen and underscore is between its words, do not matter. A part that is missing, or
    said both ways or taken back (see `doubt`), is None.

    Args:
        text: the judge's reply.
        names: of the parts.
    """
    if is_structured(text):
        fields = {_flat(key): value for key, value in (read_json(text) or {}).items()}
        return {name: truth_of(fields.get(_flat(name))) for name in names}
    text = in_english(bare(text))
    return {name: settled(text, partial(_part, name=name), _none_final, _TURN) for name in names}


def _none_final(_: str) -> list[bool | None]:
    return []


def _part(text: str, name: str) -> bool | None:
    words = r"[ _-]".join(map(re.escape, re.split(r"[\s_-]+", name.strip())))
    found = re.finditer(
        rf"(?:^|[,;|({{.)\]]|\band) ?(?:part )?{words}[\])]?(?: ?[:=|]| is| was| ->| -)\s?[\[({{]*"
        rf"{_WORD}{_OPEN}{_ENDS}",
        text,
        re.IGNORECASE | re.MULTILINE,
    )
    return one(_VALUES[m["word"].lower()] for m in found)


def _flat(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().lower()
