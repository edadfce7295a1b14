r"""Where a reply states its answer: `\boxed{}`, `<answer>` tags, "the answer is", "Final answer:".

Shared by the readers of numbers, yes/no and open answers; `choices` looks at letters in their
sentences and uses only the containers.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from hardset.reading.words import without_thoughts

RETRACTED = re.compile(
    r"\b(?:wait|actually|correction|on second thoughts?|scratch that|let me "
    r"(?:re|correct|double|look again)|"
    r"i made a mistake|my mistake|sorry|oops|hmm|hold on|no,|i mean|"
    r"i take (?:it|that) back)|\.\.\. ?no\b|不对|等等|其实|更正"
)
"""Where, in lower-case text, a reply takes back what it said."""


class Passage(NamedTuple):
    """A stretch of the reply that is put forward as the answer."""

    text: str
    evidence: str
    final: bool
    at: int = 0


_TAGS = (
    ("<answer>", "</answer>"), ("<final_answer>", "</final_answer>"), ("<final>", "</final>"),
    ("<|begin_of_box|>", "<|end_of_box|>"),
)  # fmt: skip
_BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,3}\{")


def containers(text: str) -> list[Passage]:
    """Return what stands in boxes and answer tags, in order."""
    found: list[Passage] = []
    text = without_thoughts(text)
    if "\\" in text:
        pairs: dict[int, int] | None = None
        for match in _BOXED.finditer(text):
            pairs = brace_pairs(text) if pairs is None else pairs
            end = pairs.get(match.end() - 1)
            if end is not None:
                at = match.start()
                found.append(Passage(text[match.end() : end], text[at : end + 1][:200], True, at))
    if "<" in text:
        lowered = text.lower()
        for opening, closing in _TAGS:
            at = lowered.find(opening)
            while at >= 0:
                start = at + len(opening)
                end = lowered.find(closing, start)
                if end < 0:
                    break
                found.append(
                    Passage(text[start:end], text[at : end + len(closing)][:200], True, at)
                )
                at = lowered.find(opening, end)
    return sorted(found, key=lambda passage: passage.at)


def brace_pairs(text: str) -> dict[int, int]:
    """Return where each closed brace opens and closes; linear in the length of the text."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer("[{}]", text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            pairs[opened.pop()] = match.start()
    return pairs


# What a reply calls its answer, and what joins that to the answer.
_NOUNS = (
    "answer", "result", "conclusion", "verdict", "total", "prediction", "guess", "response",
    "solution", "final", "答案", "结论",
)  # fmt: skip
_JOIN = re.compile(
    r"(?:s\b)?(?![a-z])[^.:=!?\n]{0,60}?"
    r"(?:\s(?:is|are|was|would be|should be|must be|equals)\b(?!\s*:)|[\"']?\s*[:=]|\s->)\s*"
)
_JOIN_CHINESE = re.compile(r"(?:应该|应当)?(?:是|为|:)\s*:?\s*")
_BRIEF = 160  # characters of a text whose statements are remembered
_MOST, _LONGEST = 64, 1000  # statements that are looked at, and characters of each
_BREAK = re.compile(r"\n|[.!?](?=[\s\"')]|$)|; ")
_INITIAL = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Dr|St|No|vs)$")


def stated(text: str) -> list[Passage]:
    """Return what follows "the answer is", "Final answer:", "答案是", to the sentence's end.

    What is only supposed ("if the answer is") or said of a wrong answer is left out.
    """
    return list(_stated_in_brief(text)) if len(text) <= _BRIEF else _stated(text)


@lru_cache(maxsize=4096)
def _stated_in_brief(text: str) -> tuple[Passage, ...]:
    """Return what a brief text states: such replies recur in every run."""
    return tuple(_stated(text))


def _stated(text: str) -> list[Passage]:
    lowered = text.lower()
    places: dict[int, Passage] = {}
    for noun in _NOUNS:
        if noun not in lowered:
            continue
        for at in _last_places(lowered, noun):
            found = _stated_at(text, lowered, at, noun)
            if found is not None:
                end, passage = found
                if end not in places or places[end].final < passage.final:
                    places[end] = passage
    return sorted(places.values(), key=lambda passage: passage.at)


def _last_places(text: str, noun: str) -> list[int]:
    """Return the last places of a noun, in order: a reply that loops says no more than these."""
    places: list[int] = []
    at = len(text)
    while len(places) < _MOST and (at := text.rfind(noun, 0, at)) >= 0:
        places.append(at)
    return places[::-1]


def _stated_at(text: str, lowered: str, at: int, noun: str) -> tuple[int, Passage] | None:
    """Read one statement of the answer whose noun stands at a position; and where it ends."""
    ascii_noun = noun.isascii()
    if ascii_noun and at and (lowered[at - 1].isalpha() and lowered[at - 1].isascii()):
        return None
    join = (_JOIN if ascii_noun else _JOIN_CHINESE).match(lowered, at + len(noun))
    if join is None or (noun == "final" and lowered[at + 5 : at + 6] not in (":", " ", "*")):
        return None
    if noun == "final" and ":" not in join[0]:
        return None
    before = re.findall(r"[a-z]+", lowered[max(0, at - 40) : at])[-4:]
    if {"if", "whether", "suppose", "assuming", "unless", "wrong", "incorrect"} & set(before):
        return None
    if (noun == "answer" and _refuses(before)) or before[-1:] == ["your"]:
        return None  # "Your guess is as good as mine"
    passage = _sentence(text[join.end() : join.end() + _LONGEST])
    final = noun in ("conclusion", "verdict", "final", "结论") or before[-1:] in (
        ["final"],
        ["overall"],
    )
    final = final or (not ascii_noun and lowered[max(0, at - 2) : at] == "最终")
    evidence = (text[at : join.end()] + passage).strip()[:200]
    return join.end() + len(passage), Passage(passage.strip(), evidence, final, at)


def _refuses(before: list[str]) -> bool:
    """Whether "answer" is what the reply will not do: "I cannot answer that: there is no dog"."""
    if before[-1:] == ["to"]:
        return bool({"unable", "impossible", "possible", "able", "way"} & set(before))
    return before[-1:] in (["cannot"], ["not"], ["t"], ["never"])


def _sentence(text: str) -> str:
    """Return a text up to its first sentence's end; initials ("J. S. Bach") do not end one."""
    for end in _BREAK.finditer(text):
        head = text[: end.start()]
        if text[end.start()] == "." and len(head) > 1 and _INITIAL.search(head[-4:]):
            continue
        return head
    return text
