"""Which clause of a reply answers an open question, and whether it holds an accepted answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from hardset.reading.asked import first_part
from hardset.reading.open_answers import normalise
from hardset.reading.presumed import asked_about
from hardset.reading.words import Sentences, word_set

_ONE_WORD = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "geese": "goose", "leaves": "leaf", "knives": "knife",
    "shelves": "shelf", "wolves": "wolf", "halves": "half",
    "colour": "color", "grey": "gray", "centre": "center", "metre": "meter",
}  # fmt: skip
_DENIALS = word_set("not no never neither nor cannot without")
LITTLE = word_set("is are was were be of in on at to it its this that there he she they his her")
_CLAUSE = re.compile(
    r"[,;]?\s+(?:and|but|while|whereas)\s+(?=[^,;]{0,60}\b(?:is|are|was|were|has|have)\b)|[,;]\s+"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|might|may|shows?|reads|"
    r"says|it's|they're|that's|there's|\w+ing)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:(?:but|so|and) )?(?:i (?:think|believe|guess|suppose|would say|'d say) )?"
    r"(?:it|they|this|these|that|he|she|both|all|each)(?:'s|'re| is| are| was)\b",
    re.IGNORECASE,
)
_THERE = re.compile(r"(?:there(?:'s| is| are)|i (?:can )?(?:only )?see)\b", re.IGNORECASE)
_BESIDE = re.compile(r"\b(?:caption|premise|statement|description)\b", re.IGNORECASE)
_ASIDE = re.compile(r", (?:which|who) [^,.;\n]{1,60},")
_SO = re.compile(r"(?:so|hence|thus|therefore),? (?:it|they|this|that)\b", re.IGNORECASE)
_JOINS = word_set("not no but and or like with without though although as because since which so")
_OPEN_CHOICE = re.compile(r"\b(?:or|either|maybe|perhaps|possibly|might|may)\b", re.IGNORECASE)


def normal(text: str) -> list[str]:
    """Return the words of an answer's normal form."""
    return [_ONE_WORD.get(word, word) for word in normalise(text).split()]


def leading(text: str) -> str:
    """Return what stands before the first comma of a reply that begins with its answer.

    "Orange, going from pale to deep" begins with "Orange"; "Orange, or maybe red" does not.
    """
    first = text.partition("\n")[0]
    head, comma, rest = first.partition(",")
    if not comma or _VERB.search(head) or len(head.split()) > 4 or _OPEN_CHOICE.search(rest):
        return ""
    if rest.split()[:1] and rest.split()[0].lower() in ("like", "as", "just", "similar", "not"):
        return head
    short = len(rest.split()) < 4 and not _VERB.search(rest)  # "red, white and blue" is a list
    return "" if short or rest.split()[:1] in (["and"], ["but"]) else head


def telling(text: str, accepted: Sequence[str], question: str) -> str:
    """Return the clause that says most of what was asked, the first of them.

    What is accepted is no part of what was asked ("the red cup", asked for the saucer, which is
    red). Where the clause only denies, or leads to "so it's red", the next one tells.
    """
    told = _clauses(_ASIDE.sub("", text))
    if not _BESIDE.search(first_part(question)):
        told = [clause for clause in told if not _BESIDE.search(clause)] or told
    known = {words[0] for words in map(normal, accepted) if len(words) == 1}
    asked = set(normal(first_part(question))) - LITTLE - known

    head = asked_about(first_part(question))

    def about(clause: str) -> int:
        words = set(normal(clause))
        return 2 * len(asked & words) + (head in words)

    if not told:
        return text
    at = max(range(len(told)), key=lambda i: about(told[i]))
    if not about(told[at]):  # "I'd disagree: it's a horse"
        at = next((i for i, clause in enumerate(told) if _GOES_ON.match(clause)), at)
    rest = [clause for clause in told[1:] if about(clause) and not _denies(clause)]
    if len(told[0].split()) < 4 and not _VERB.search(told[0]) and not rest:
        at = 0  # "Red. There is no other kite."
    clause = told[at]
    if any(holds(clause, answer, question) for answer in accepted):
        return clause
    if _denies(clause) or clause.lower().startswith(
        ("none", "nothing")
    ):  # "It's orange; none of the flowers is blue"
        said = [one for one in told[:at] if not _denies(one) and _GOES_ON.match(one)]
        clause = said[-1] if said else clause
    for later in told[at + 1 :]:
        goes_on = _GOES_ON.match(later) or about(later)
        if (
            (_THERE.match(clause) and _GOES_ON.match(later))
            or (_denies(clause) and goes_on and not _denies(later))
            or _SO.match(later)
        ):
            return later
    return clause


def _clauses(text: str) -> list[str]:
    """Return the clauses of a text; "a deep, dark blue" is within one."""
    told: list[str] = []
    for start, end in Sentences(text).all():
        parts: list[str] = []
        for part in _CLAUSE.split(text[start:end]):
            words = part.split()
            if not words:
                continue
            fragment = len(words) < 5 and not _VERB.search(part)
            if parts and words[0].lower() in ("or", "maybe", "perhaps"):
                parts[-1] = f"{parts[-1]}, {part.strip()}"  # leaves a choice open
            elif parts and fragment and words[0].lower() not in _JOINS and _VERB.search(parts[-1]):
                parts[-1] = f"{parts[-1]}, {part.strip()}"
            else:
                parts.append(part.strip())
        told += parts
    return told


def _denies(clause: str) -> bool:
    return any(word in _DENIALS or word.endswith("n't") for word in normal(clause))


def holds(clause: str, answer: str, question: str = "") -> bool:
    """Whether a clause holds an answer word for word, and neither denies nor merely repeats it.

    "The saucer under the red cup is odd" repeats the "red cup" of the question.
    """
    wanted, words = normal(answer), normal(clause)
    size = len(wanted)
    echoed = set(pairwise(normal(question)))
    for i in range(len(words) - size + 1) if size else ():
        if words[i : i + size] != wanted or tuple(words[i + size - 1 : i + size + 1]) in echoed:
            continue
        before = words[max(0, i - 3) : i]
        if "but" in before:
            before = before[before.index("but") :]  # "neither red nor blue but green"
        if not any(word in _DENIALS or word.endswith("n't") for word in before):
            return True
    return False
