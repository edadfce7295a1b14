"""Answers in free text: their normal form, when two are the same, and the answer in a reply.

The normal form drops what does not distinguish answers: case, articles, marks, a plural s;
number words become digits. It keeps word order and every other word, so it never makes two
different facts the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from hardset.reading import refusals
from hardset.reading.conclusions import containers, stated
from hardset.reading.numbers import number_of
from hardset.reading.words import plain_words, tidy, word_set
from hardset.records import Reading, State

_KEEP_S = word_set(
    "is was this his its yes glasses bus gas class glass grass dress cross news series species "
    "lens us plus less business always perhaps tennis chess james texas paris"
)


NO_CANDIDATE = "no candidate"
"""The rule of a reading that found none of the candidates in a reply."""

_BRIEF = 400  # characters of a text whose normal form is remembered
_SHORT = 4  # words of a short answer
_SAYS = re.compile(r"[^,;:\n]{0,100}?(?:\b(?:is|are|was|were|says|reads)|\bit's)\s+", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()\n]{0,200}\)")
_SET_AGAINST = (("rather", "than"), ("instead", "of"), ("opposed", "to"), ("unlike",))
_SEVERAL = re.compile(r"\b(?:or|and|but|maybe)\b|[,;/?\n]|[.!](?=\s)", re.IGNORECASE)


def normalise(text: str) -> str:
    """Return the form in which open answers are compared: "The two Dogs." is "2 dog"."""
    return _normal(text) if len(text) < _BRIEF else _normal.__wrapped__(text)


@lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    return " ".join(map(_singular, plain_words(text)))


def _singular(word: str) -> str:
    if (
        len(word) < 4
        or not word.endswith("s")
        or word.endswith(("ss", "us", "is"))
        or word in _KEEP_S
    ):
        return word.removesuffix("'s") if word.endswith("'s") else word
    if word.endswith("'s"):
        return word[:-2]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes", "oes")):
        return word[:-2]
    return word[:-1]


def same_answer(one: str, other: str) -> bool:
    """Whether two open answers are the same in normal form, or the same number."""
    left, right = normalise(one), normalise(other)
    if left == right:
        return bool(left)
    value = number_of(one)
    return value is not None and value == number_of(other)


def read_open(text: str, candidates: Sequence[str] = (), question: str = "") -> Reading:
    """Read the answer off a reply to an open question.

    Args:
        text: a complete reply.
        candidates: the answers that come into question, where the list is closed (all colours
            of a generator, say); the answer is then the only one of them that the reply affirms.
        question: what was asked, so that "there is no dog" is known as a refusal or an answer.

    Returns:
        answered with a candidate (as given), or without candidates with the stated answer or
        the whole reply; abstained; or unparsed where a reply has none or several candidates.
    """
    words = tidy(text)
    if not words:
        return Reading(state=State.UNPARSED, rule="empty")
    for candidate in candidates if len(words) < 200 else ():
        if same_answer(words, candidate):
            return Reading(
                state=State.ANSWERED,
                answer=candidate,
                rule="the answer alone",
                evidence=words[:200],
            )
    passages = [
        p
        for p in (containers(text) if "\\" in text or "<" in text else []) or stated(words)
        if p.text
    ]
    final = [p for p in passages if p.final] or passages
    for passage in reversed(final):
        if not candidates:
            cue = refusals.refusal(passage.text, question)
            if cue is not None:
                return refusals.abstained(passage.text, cue)
            return Reading(
                state=State.ANSWERED,
                answer=tidy(passage.text).rstrip("."),
                rule="the answer is",
                evidence=passage.evidence,
            )
        inside = _among(passage.text, candidates)
        if len(inside) == 1:
            return Reading(
                state=State.ANSWERED,
                answer=inside[0],
                rule="the answer is",
                evidence=passage.evidence,
            )
    cue = refusals.refusal(words, question)
    if cue is not None:
        return refusals.abstained(words, cue)
    if not candidates:
        return Reading(
            state=State.ANSWERED, answer=words, rule="the whole reply", evidence=words[:200]
        )
    inside = _among(words, candidates)
    if len(inside) == 1:
        return Reading(
            state=State.ANSWERED, answer=inside[0], rule="the only candidate", evidence=words[:200]
        )
    rule = "several candidates" if inside else NO_CANDIDATE
    return Reading(state=State.UNPARSED, rule=rule, evidence=words[:200])


def read_short(text: str, question: str = "") -> Reading:
    """Read the one short answer that a reply to an open question states, whatever it says.

    Returns:
        answered with what is stated or what "it is" ("The answer is a table.", "It's pink.");
        abstained; or unparsed where that is not one answer of at most four words.
    """
    whole = read_open(text, (), question)
    if whole.state is not State.ANSWERED:
        return whole
    answer = whole.answer.strip(" .!\"'")
    said = _SAYS.match(answer)
    if said and whole.rule == "the whole reply":
        answer = answer[said.end() :].strip(" \"'")
    if _SEVERAL.search(answer) or not 0 < len(plain_words(answer)) <= _SHORT:
        return Reading(state=State.UNPARSED, rule="no short answer", evidence=whole.evidence[:200])
    return msgspec.structs.replace(whole, answer=answer)


def _among(text: str, candidates: Sequence[str]) -> list[str]:
    """Return the candidates that a text affirms; one inside a longer one counts only by itself.

    What stands in brackets counts only if nothing else does.
    """
    if "(" in text and (found := _among(_ASIDE.sub(" ", text).replace("(", " "), candidates)):
        return found
    reply = normalise(text).split()
    spans: list[tuple[int, int, str]] = []
    for candidate in dict.fromkeys(candidates):
        wanted = normalise(candidate).split()
        size = len(wanted)
        for i in range(len(reply) - size + 1) if size else ():
            if reply[i : i + size] == wanted and not _denied(reply[:i]):
                spans.append((i, i + size, candidate))
    found = [
        candidate
        for a, b, candidate in spans
        if not any(c <= a and b <= d and d - c > b - a for c, d, _ in spans)
    ]
    return list(dict.fromkeys(found))


def _denied(before: Sequence[str]) -> bool:
    return (
        any(
            word in ("not", "no", "never", "neither", "nor", "cannot") or word.endswith("n't")
            for word in before[-2:]
        )
        or tuple(before[-2:]) in _SET_AGAINST
    )
