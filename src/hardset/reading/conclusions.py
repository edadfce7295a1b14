"""Where a reply states its answer: `\\boxed{}`, `<answer>` tags, "the answer is", "Final answer:".

Shared by the readers of numbers, yes/no and open answers; `choices` looks at letters in their
sentences and uses only the containers.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hardset.reading.words import Sentences


RETRACTED = re.compile(
    r"\b(?:wait|actually|correction|on second thoughts?|scratch that|let me (?:re|correct|double|look again)|"
    r"i made a mistake|my mistake|sorry|oops|hmm|hold on|no,|i mean|i take (?:it|that) back)|不对|等等|其实|更正"
)
"""Where, in lower-case text, a reply takes back what it said."""


class Passage(NamedTuple):
    """A stretch of the reply that is put forward as the answer."""

    text: str
    evidence: str
    final: bool
    at: int = 0


_TAGGED = re.compile(
    r"<(answer|final_answer|final answer|final)>(.{0,2000}?)</\1>|<\|begin_of_box\|>(.{0,2000}?)<\|end_of_box\|>",
    re.IGNORECASE | re.DOTALL,
)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")


def containers(text: str) -> list[Passage]:
    """Return what stands in boxes and answer tags, in order."""
    found: list[tuple[int, Passage]] = []
    if "\\" in text:
        for match in _BOXED.finditer(text):
            end = closing_brace(text, match.end())
            if end >= 0:
                found.append(
                    (
                        match.start(),
                        Passage(text[match.end() : end], text[match.start() : end + 1], True),
                    )
                )
    if "<" in text:
        for match in _TAGGED.finditer(text):
            inside = match[2] if match[2] is not None else match[3]
            found.append((match.start(), Passage(inside, match[0][:200], True)))
    return [passage for _, passage in sorted(found, key=lambda pair: pair[0])]


def closing_brace(text: str, start: int) -> int:
    """Return where the brace opened just before `start` closes, at most 2,000 characters on; or -1."""
    depth = 1
    for at in range(start, min(len(text), start + 2000)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if not depth:
                return at
    return -1


_LEAD = re.compile(
    r"(?P<final>\bfinal |\bconclusion\b|\boverall |\bverdict\b|\bin the end\b)?"
    r"(?:\b(?:answer|result|conclusion|verdict|total|prediction|guess|response|solution)\b[^.:=!?\n]{0,60}?"
    r"(?:\s(?:is|are|was|would be|should be|must be|equals)\b(?!\s*:)|[\"']?\s*[:=]|\s->)"
    r"|\bconclusion\b\s*:"
    r"|(?:最终)?(?:答案|结论)(?:应该|应当)?(?:是|为|:))\s*",
    re.IGNORECASE,
)
_BREAK = re.compile(r"\n|[.!?](?=[\s\"')]|$)|; ")
_INITIAL = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Dr|St|No|vs)$")


def stated(text: str) -> list[Passage]:
    """Return what follows "the answer is", "Final answer:", "答案是", in order, to the sentence's end.

    Statements that are denied or only supposed ("if the answer is") are left out.
    """
    found: list[Passage] = []
    lowered = text.lower()
    if not any(noun in lowered for noun in ("answer", "result", "conclusion", "verdict", "total", "prediction", "guess", "response", "solution", "答案", "结论")):  # fmt: skip
        return found
    sentences: Sentences | None = None
    at = 0
    while match := _LEAD.search(text, at):
        at = match.end()
        sentences = sentences or Sentences(text)
        start, _ = sentences.around(match.start())
        before = lowered[start : match.start()].split()[-3:]
        if {"if", "whether", "suppose", "assuming", "unless"} & set(before):
            continue
        rest = text[match.end() :].lstrip()
        passage = _sentence(rest)
        final = match["final"] is not None or "conclusion" in match[0].lower() or "最终" in match[0]
        found.append(
            Passage(passage.strip(), (match[0] + passage).strip()[:200], final, match.start())
        )
    return found


def _sentence(text: str) -> str:
    """Return a text up to its first sentence's end; initials ("J. S. Bach") do not end one."""
    for end in _BREAK.finditer(text, 0, 2000):
        head = text[: end.start()]
        if text[end.start()] == "." and len(head) > 1 and _INITIAL.search(head[-4:]):
            continue
        return head
    return text[:2000]
