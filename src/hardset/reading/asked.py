"""What a question asks, apart from what it says before it asks.

"The caption says: "A puppy." What animal is it?" and "Since it rains, what colour is the car?"
take for granted what stands before the question proper, and a reply may deny that and answer.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ASKS = (
    r"(?:(?:on|in|at|to|of|from|with|by|for|behind|under|along) )?"
    r"(?:what|which|who|whose|whom|where|when|why|how|is|are|was|were|do|does|did|can|could|has|"
    r"have|had|will|would|should)\b"
)
_PROPER = re.compile(rf"(?:(?<=[.!:]) |(?<=[.!][\"']) |\n)\s*(?={_ASKS})", re.IGNORECASE)
_SUBORDINATE = re.compile(
    r"(?:since|as|given|because|although|though|considering|knowing|assuming|seeing|now that)\b"
    rf"[^?]*?, (?={_ASKS})",
    re.IGNORECASE,
)
_MEANS_BEFORE = re.compile(
    r"\b(?:it|its|they|their|them|he|she|his|her|him|these|those)\b", re.IGNORECASE
)
_SECOND = re.compile(rf",? and (?={_ASKS})[^?]*", re.IGNORECASE)


@lru_cache(maxsize=1024)
def proper(question: str) -> str:
    """Return the question proper: what follows a statement or a subordinate clause before it."""
    head = question.strip()
    starts = [match.end() for match in _PROPER.finditer(head)]
    head = head[starts[-1] :] if starts and head.rstrip().endswith("?") else head
    clause = _SUBORDINATE.match(head)
    return head[clause.end() :] if clause else head


@lru_cache(maxsize=1024)
def presuming(question: str) -> str:
    """Return the part of a question whose words it takes for granted.

    That is the question proper, unless it says "it" or "they" of what stands before it; what
    it only quotes ("The caption says: ...") it never takes for granted.
    """
    asked = proper(question)
    quoted = '"' in question.removesuffix(asked)
    return question if _MEANS_BEFORE.search(asked) and not quoted else asked


@lru_cache(maxsize=1024)
def first_part(question: str) -> str:
    """Return the first of two questions in one: "Is it red, and who made it?"."""
    asked = proper(question)
    return f"{_SECOND.sub('', asked).rstrip('?')}?" if _SECOND.search(asked) else asked
