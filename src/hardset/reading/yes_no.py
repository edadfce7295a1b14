"""Whether a reply says yes or no.

In order: a stated answer ("the answer is yes", boxed); a yes or no that opens the reply or ends
it; then, with no such word, the sentence itself: denied ("There isn't any dog") is no, affirmed
("There is a dog") is yes. That the reply cannot tell is an abstention.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardset.reading import refusals
from hardset.reading.conclusions import containers, stated
from hardset.reading.cues import unquoted
from hardset.reading.words import tidy, words_of
from hardset.records import Reading, State


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_YES = _set("yes yeah yep yup true correct affirmative indeed absolutely definitely certainly sure")
_NO = _set("no nope nah false incorrect negative never")
_CHINESE_YES = re.compile(r"^(?:是的?|对的?|有的?|没错|正确|可以|能)(?:$|[\s,.!])")
_CHINESE_NO = re.compile(r"^(?:不是|否|不对|没有|不|错误|不能|不可以|无|并没有|并非)")
_WORDS = {
    "yes": "yes",
    "yeah": "yes",
    "yep": "yes",
    "yup": "yes",
    "true": "yes",
    "no": "no",
    "nope": "no",
    "false": "no",
}
_TURNED = _set("wait actually correction sorry oops hmm")


def read_yes_no(text: str, question: str = "") -> Reading:
    """Read yes or no off a reply.

    Args:
        text: a complete reply.
        question: what was asked; lets "There is no dog" asked for the dog's colour abstain.

    Returns:
        answered with "yes" or "no"; abstained; or unparsed.
    """
    words = tidy(text)
    if not words:
        return Reading(state=State.UNPARSED, rule="empty")
    passages = (containers(text) if "\\" in text or "<" in text else []) or stated(words)
    said = [
        (found, p)
        for p in passages
        if (found := _word(p.text)) or (found := _first(words_of(p.text)))
    ]
    if said:
        answers = {answer for answer, _ in said if not any(p.final for _, p in said) or _.final}
        if len(answers) > 1:
            return Reading(
                state=State.UNPARSED, rule="different answers", evidence=said[-1][1].evidence
            )
        return _answer(said[-1][0], "the answer is", said[-1][1].evidence)
    tokens = words_of(words)
    opening = _chinese(words) or _first(tokens)
    closing = _last(words)
    if opening and closing and opening != closing:
        if _TURNED & set(tokens) or _weak_opening(tokens):
            return _answer(closing, "ends with", words[-60:])
        return Reading(state=State.UNPARSED, rule="both yes and no", evidence=words[:200])
    if opening:
        return _answer(opening, "opens with", words[:60])
    if closing:
        return _answer(closing, "ends with", words[-60:])
    cue = refusals.refusal(words, question)
    if cue is not None and (cue.absent is None or question):
        return refusals.abstained(words, cue)
    return _statement(words)


def _answer(answer: str, rule: str, evidence: str) -> Reading:
    return Reading(state=State.ANSWERED, answer=answer, rule=rule, evidence=evidence.strip())


def _word(text: str) -> str:
    tokens = [word for word in words_of(text) if word not in (",", ":", "-")]
    return _first(tokens) if len(tokens) <= 3 else ""


def _chinese(text: str) -> str:
    if text.isascii():
        return ""
    if _CHINESE_NO.match(text):
        return "no"
    return "yes" if _CHINESE_YES.match(text) else ""


def _first(tokens: Sequence[str]) -> str:
    """Read the word that opens a reply, behind "so", "well", "probably"."""
    for i, word in enumerate(tokens[:4]):
        after = tokens[i + 1] if i + 1 < len(tokens) else ""
        if (
            word in ("no", "yes")
            and after in ("and", "or", "/")
            and set(tokens[i + 2 : i + 3]) & (_YES | _NO)
        ):
            return ""
        if word in _WORDS:
            if word == "no" and (
                after in ("doubt", "one", "way", "answer", "information", "idea", "evidence")
                or after.isdigit()
            ):
                return ""
            return _WORDS[word]
        if word == "not" and i and tokens[i - 1] == "probably" and not after:
            return "no"
        if word in ("correct", "incorrect") and not after and not i:
            return "yes" if word == "correct" else "no"
        if word in ("definitely", "absolutely", "certainly", "of", "course") and not after:
            return "yes"
        if (
            word in ("definitely", "absolutely", "certainly", "probably", "of", "course")
            and after == "not"
        ):
            return "no"
        if word not in ("so", "well", "probably", ",", "the", "answer", "my", "likely", "definitely", "absolutely", "certainly", "hmm", "ok", "okay", "most", "therefore", "thus", "i", "think", "would", "say", "believe", "-", ":", "in", "short", "short"):  # fmt: skip
            return ""
    return ""


def _weak_opening(tokens: Sequence[str]) -> bool:
    return bool(tokens) and tokens[0] in ("well", "so", "hmm")


_END = re.compile(
    r"(?:^|[,:;.!?\n-]|\bso|\bbut|\btherefore|\bthus|\bis|\bsay|\bbecause)\s*,?\s*\"?'?\(?(yes|no|nope|yeah|yep)\)?'?\"?[\s.!]*$",
    re.I,
)


def _last(text: str) -> str:
    """Read a yes or no that ends the reply as a clause of its own: "Eyes are visible, but no"."""
    match = _END.search(text[-40:])
    return _WORDS[match[1].lower()] if match else ""


def _statement(text: str) -> Reading:
    """Read the sentence itself: its first clause, denied or affirmed."""
    lowered = unquoted(text).lower()
    clause = re.split(r"[.!?;\n]|, (?:but|however|although|though)\b", lowered, maxsplit=1)[0]
    tokens = words_of(clause)
    denied = any(
        (
            word
            in ("not", "no", "none", "nobody", "nothing", "neither", "never", "without", "cannot")
            or word.endswith("n't")
        )
        and tokens[i + 1 : i + 2] not in (["only"], ["doubt"], ["just"])
        for i, word in enumerate(tokens)
    )
    if denied:
        return _answer("no", "denied", clause)
    there = "there" in tokens[:3] and {"is", "are", "was", "were", "exists"} & set(tokens[:5])
    seen = {"visible", "present", "shown", "depicted", "see", "contains", "shows"} & set(tokens)
    if (
        there or seen or tokens[:2] in (["it", "is"], ["they", "are"]) or tokens[:1] == ["there's"]
    ) and not {"if", "might", "may", "could", "maybe", "perhaps"} & set(tokens):
        return _answer("yes", "affirmed", clause)
    return Reading(state=State.UNPARSED, rule="neither yes nor no", evidence=text[:200])
