"""TRUE or FALSE in a judge's reply."""

from __future__ import annotations

import re

from hardset.judging.verdict.dress import bare, before, first, negated, reported
from hardset.judging.verdict.structured import is_structured, read_json, truth_of, value_of

_VALUES = {"true": True, "yes": True, "correct": True, "right": True}
_VALUES |= {"false": False, "no": False, "incorrect": False, "wrong": False}
_NAMES = (
    frozenset(("final verdict", "verdict", "judgement", "judgment", "decision")),
    frozenset(("final answer", "answer", "result", "label", "conclusion", "value")),
)
WORD = r"(?P<word>true|false|yes|no|correct|incorrect)(?![\w'])(?!-\w)"
_ANY = WORD.replace("true", "true|right|wrong", 1)
# "TRUE or FALSE", "yes/no", "yes and no", "true?": no verdict is given.
_OPEN = re.compile(
    r",? ?(?:or|/|\||and|but also) ?(?:true|false|yes|no|(?:in)?correct)\b| ?\?"
    r"|(?-i: (?:TRUE|FALSE)\b)",
    re.IGNORECASE,
)
# After "no" or "correct" a noun may follow that makes another sentence of it: "no answer".
_ENDS = re.compile(r"$| ?[.,:;!()\[\]{}\n|]| - | ?(?:because|since|as|given|for)\b", re.I)
_LEAD = re.compile(rf"[(\[{{:. -]*{WORD}", re.IGNORECASE)
_SAID = re.compile(
    r"(?P<label>verdict|answer|judge?ment|conclusion|result|decision) ?(?:is|[:=])+\s?[\[({]*"
    rf"{_ANY}",
    re.IGNORECASE,
)
_FINAL = re.compile(
    rf"\\f?boxed ?\{{ ?{_ANY} ?\}}|\[\[ ?{_ANY.replace('word', 'inner')} ?\]\]", re.I
)
# Whose answer it is that is yes or no: not the judge's.
_OTHERS = re.compile(r"(?:reference|correct|right|true|gold|expected|own|its|their|'s)[ _-]$", re.I)
_SHOUTED = re.compile(r"(?<![\w'-])(?P<word>TRUE|FALSE)(?![\w'-])")
# What somebody is told to say, but not "I would say TRUE".
_TOLD = re.compile(
    r"(?<!\bi)(?<!'d)(?<!would) (?:say|output|reply|respond|return|answer)(?: with)? $",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r"\b(?:(?:it|this|that|statement|claim)(?: is|'s) (?P<word>true|false)"
    r"|(?:reply|response|answer|it|this|that)(?: is|'s) (?P<right>correct|incorrect)"
    r"|i(?:'d| would)? say (?P<said>yes|no|true|false))(?![\w'-])",
    re.IGNORECASE,
)


def read_true_false(text: str) -> bool | None:
    """Read TRUE or FALSE (or yes or no, correct or incorrect) from a judge's reply.

    What is marked final decides. Then the word that leads the reply, what is called the verdict or
    the answer, and the word alone on the last line: these must agree, but that after a leading TRUE
    or FALSE the words of another ("the model's answer is no") count for nothing. Last comes the
    only such word there is. Right and wrong count where they are called the verdict or stand
    alone. A verdict that is negated ("not true"), or said both ways, is none.

    Returns:
        The verdict, or None where there is none to be read.
    """
    if is_structured(text):
        return truth_of(value_of(read_json(text) or {}, *_NAMES))
    text = bare(text)
    if not text:
        return None
    return first([lambda: _finals(text), lambda: _plain(text), lambda: _only(text)])


def _finals(text: str) -> list[bool | None]:
    boxed: list[bool | None] = [
        _VALUES[(m["word"] or m["inner"]).lower()] for m in _FINAL.finditer(text)
    ]
    final = [
        _meant(m)
        for m in _SAID.finditer(text)
        if re.search(r"\b(?:final|overall)[ _-]$", before(m), re.I)
        and not reported(m)
        and (
            m["label"].lower() != "answer"
            or before(m).lower().strip(" _-") in ("final", "my final")
        )
    ]
    return boxed or final


def _plain(text: str) -> list[bool | None]:
    lead = _lead(text)
    alone = re.fullmatch(_ANY, text.splitlines()[-1].strip(" .!()[]{}|"), re.IGNORECASE)
    said = [m for m in _SAID.finditer(text) if not _OTHERS.search(before(m)) and not reported(m)]
    if lead is not None and text.lstrip("([{:. -")[:4] in ("TRUE", "FALS"):
        said = [m for m in said if m["label"].lower() == "verdict"]
    claims = [] if lead is None else [lead]
    claims += [_VALUES[alone["word"].lower()]] if alone else []
    return [*claims, *(_meant(m) for m in said)]


def _lead(text: str) -> bool | None:
    lead = _LEAD.match(text)
    if lead is None or _OPEN.match(text, lead.end()):
        return None
    if not lead["word"].isupper() and not _ENDS.match(text, lead.end()):
        return None  # "no doubt", "correct answer: 3", "true to the picture"
    if lead["word"].upper() == "NO" and not _ENDS.match(text, lead.end()):
        return None
    return _VALUES[lead["word"].lower()]


def _meant(said: re.Match[str]) -> bool | None:
    """Return what stands behind a label; None where it is left open or is another sentence."""
    word, rest = said["word"].lower(), said.end()
    if _OPEN.match(said.string, rest):
        return None
    if word not in ("true", "false") and not _ENDS.match(said.string, rest):
        return None
    return _VALUES[word]


def _only(text: str) -> list[bool | None]:
    claims: list[bool | None] = []
    for found in (*_SHOUTED.finditer(text), *_PREDICATE.finditer(text)):
        word = found[found.lastgroup or "word"]
        if not word.isupper() and not _ENDS.match(text, found.end()):
            continue  # "the true colour", "it is true that"
        doubtful = negated(found) or _OPEN.match(text, found.end())
        others = reported(found) or any(p.search(before(found)) for p in (_OTHERS, _TOLD))
        claims.append(None if doubtful or others else _VALUES[word.lower()])
    return claims
