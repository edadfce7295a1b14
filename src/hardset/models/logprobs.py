"""The tokens of a chat reply with their log-probabilities, out of what endpoints send.

The shape is OpenAI's, `choices[0].logprobs.content`: a list of `{token, logprob, bytes}`. A token
may hold a part of a character only; such tokens are put together, and their logarithms added, so
that the texts are sound and their probability is what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Tokens = tuple[tuple[str, float], ...]
_LONGEST = 4  # bytes of a character in UTF-8


def read_tokens(logprobs: Any, scrub: Callable[[str], str] = str) -> Tokens:
    """Read the tokens of a reply: text and natural log-probability of each, in order.

    Args:
        logprobs: what stands at `choices[0].logprobs`, of whatever shape.
        scrub: takes secrets out of a text.

    Returns:
        The tokens; none where there are none, or where one is not a text with a number of zero
        or less: half of them would make a confidence that nobody gave.
    """
    found = logprobs if isinstance(logprobs, dict) else {}
    rows = [*_rows(found.get("content")), *_rows(found.get("refusal"))]
    try:
        return tuple((scrub(text), said) for text, said in _whole([_token(row) for row in rows]))
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return ()


def _rows(part: Any) -> list[Any]:
    return part if isinstance(part, list) else []


def _token(row: Any) -> tuple[bytes, float]:
    """Read one token: its bytes where they are said, else its text."""
    raw = row.get("bytes")
    if not isinstance(raw, list):  # some endpoints leave them out
        raw = row["token"].encode("utf-8", "replace")
    said = row["logprob"]
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise TypeError(f"no log-probability: {said!r}")
    said = float(said)
    if not -1e9 < said < 1e-3:  # nor NaN; rounding may leave a little above zero
        raise ValueError(f"no log-probability: {said}")
    return bytes(raw), min(said, 0.0)


def _whole(tokens: list[tuple[bytes, float]]) -> Iterator[tuple[str, float]]:
    """Put tokens together until what they spell is whole characters."""
    raw, total = b"", 0.0
    for piece, said in tokens:
        raw, total = raw + piece, total + said
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            if error.end == len(raw) and len(raw) - error.start < _LONGEST:
                continue  # the rest of the character is in the next token
            text = raw.decode("utf-8", "replace")
        yield text, total
        raw, total = b"", 0.0
    if raw:
        yield raw.decode("utf-8", "replace"), total
