"""Whether a reply says that there is nothing of what is asked for.

"Nothing is behind it" answers "What is behind it?" where that is the answer, and refuses it where
something else is: who reads for a reference decides.
"""

from __future__ import annotations

import re
from itertools import pairwise

from hardset.reading.asked import proper
from hardset.reading.cues import cues, unquoted
from hardset.reading.numbers import number_of
from hardset.reading.refusals import counted, stem
from hardset.reading.words import tidy, word_set, words_of

HOW_MANY = re.compile(r"\bhow (?:many|much)\b|\bnumber of\b", re.IGNORECASE)
_ASKS_FOR = re.compile(
    r"(?:on |in |at |to |of |from |with |behind )?(?:what|which|who|whose|where)\b", re.I
)
_NOTHING = re.compile(
    r"(?:there(?: is|'s| are) )?(?:none(?! of the (?:above|options|choices))|nothing|nobody|no one)"
    r"(?:$|[\s.!,](?!.*\b(?:but|except|other than|besides|more than)\b).*)",
    re.IGNORECASE | re.DOTALL,
)
_NOT_ANYTHING = re.compile(
    r"(?:n't|\bnot)(?: \w+){1,4} (?:anything|anyone|anybody)\b(?! (?:but|else|other|special|more))",
    re.IGNORECASE,
)
_NOTHING_WITHIN = re.compile(
    r"(?:\b(?:has|have|with|there's|there is|there was|i see|can see)|[;:.,]|\band)\s+nothing\b"
    r"(?! (?:but|else|special|unusual|more|wrong|except|other))"
    r"(?![^.!?]*\b(?:but|except|other than|besides|apart from|more than)\b)",
    re.IGNORECASE,
)
_NO_NOUN = word_set("in on at of to from near is are and or , . : - there on, with by for")


def nothing_there(text: str, question: str) -> str:
    """Return where a reply says that there is none of what is asked about, else "".

    "Nothing is behind it", "No one is", and asked how many dogs there are, "There are no dogs".
    """
    words = tidy(text)
    if not _ASKS_FOR.match(proper(question)) and not HOW_MANY.search(question):
        return ""
    found = _NOTHING.match(words)
    if found and (HOW_MANY.search(question) or not words.lower().startswith("none of")):
        return words[: found.end()]
    own = unquoted(words)
    if found := _NOTHING_WITHIN.search(own) or _NOT_ANYTHING.search(own):
        return words[found.start() : found.end()]
    thing = counted(words_of(question[question.lower().find("how many") :]))
    for cue in cues(words) if thing else ():
        seen = cue.rule == "not made out"
        if cue.absent and not seen and thing in map(stem, cue.absent) and not _counts(words, thing):
            return words[cue.start : cue.end].strip()
    return ""


def is_nothing(answer: str) -> bool:
    """Whether an answer is that there is nothing."""
    return _NOTHING.fullmatch(answer.strip(" .")) is not None


def _counts(text: str, thing: str) -> bool:
    """Whether a text gives a number of the thing or of nothing named: "3 dogs", "3 on it"."""
    for word, after in pairwise([*words_of(text), ""]):
        if number_of(word) is None or word in ("one", "0", "zero"):
            continue
        if not after or after in _NO_NOUN or stem(after) == thing or not after[0].isalpha():
            return True
    return False
