"""How sure a reply is of its answer: by its tokens' probabilities, or by what it says itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp

from hardset.records import Reading, State

ASK = 'On the last line write "Confidence: N %", where N, from 0 to 100, is how sure you are.'
"""What is added to a question to have a confidence stated."""

# From tokens

Span = tuple[int, int]
_STRAIGHT = str.maketrans("‘’“”\u00a0", "''\"\" ")
_LETTER = re.compile(r"[A-Z]")
_ARTICLE = r"(?!\s+[a-z])"  # "A" and "I" before a word are no letters of options, mostly


def token_confidence(tokens: Sequence[tuple[str, float]], reading: Reading) -> float | None:
    """Give the probability with which the model wrote the answer that was read.

    It is the joint probability, given what stands before, of the tokens that spell the answer:
    the last place where the reply has the words that the reader went by (`Reading.evidence`), and
    in them the last place of the answer itself. Where the answer is not in them by its own name
    (`no`, read from "there isn't any dog"; a refusal has none), it is all of these words. Where
    the words are not to be found, it is the last place of the answer, else the geometric mean
    over all tokens of the reply: their product would tell how long a reply is.

    Args:
        tokens: text and natural log-probability of each token of the reply, in order.
        reading: what was read from the reply.

    Returns:
        From 0 to 1; None without tokens, or where neither an answer nor a refusal was read.
    """
    if not tokens or reading.state not in (State.ANSWERED, State.ABSTAINED):
        return None
    text = "".join(token for token, _ in tokens).translate(_STRAIGHT)
    span = _spelled(text, reading)
    if span is None:
        return exp(sum(said for _, said in tokens) / len(tokens))
    total, start = 0.0, 0
    for token, said in tokens:
        stop = start + len(token)
        if start < span[1] and span[0] < stop:
            total += said
        start = stop
    return exp(total)


def _spelled(text: str, reading: Reading) -> Span | None:
    """Find where the text spells what was read."""
    words = _last(text, reading.evidence)
    within = words or (0, len(text))
    answer = _last_word(text[within[0] : within[1]], reading.answer)
    if answer is not None:
        return within[0] + answer[0], within[0] + answer[1]
    return words


def _last(text: str, words: str) -> Span | None:
    """Find the last place of some words, whatever stands between them and in whatever case."""
    words = words.translate(_STRAIGHT).strip()
    if not words:
        return None
    at = text.rfind(words)
    if at >= 0:
        return at, at + len(words)
    pattern = r"[\s*_`]+".join(map(re.escape, words.split()))
    found = list(re.finditer(pattern, text, re.I))
    return found[-1].span() if found else None


def _last_word(text: str, answer: str) -> Span | None:
    """Find the last place of an answer that is no part of a longer word or number."""
    answer = answer.translate(_STRAIGHT).strip()
    if not answer:
        return None
    letter = _LETTER.fullmatch(answer)
    after = _ARTICLE if answer in ("A", "I") else ""
    words = r"\s+".join(map(re.escape, answer.split()))
    pattern = rf"(?<!\w)(?<!\d[.,]){words}(?!\w)(?![.,]\d){after}"
    found = list(re.finditer(pattern, text, 0 if letter else re.I))
    return found[-1].span() if found else None


# As stated

_NUMBER = r"(?P<number>\d{1,4}(?:[.,]\d{1,6})?)(?![\d.,]\d)"
_PERCENT = r"\s?(?:%|％|per ?cent\b)"
_UNIT = rf"(?P<unit>{_PERCENT}|\s?/\s?100?(?!\d)|\s(?:out )?of 100?(?!\d))"
_MARK = r"[*_`\s]{0,6}"
_LEAD = r"[(\[*_`#>\-–—•\t ]{0,8}"
_TAIL = rf"{_MARK}[)\]]?[*_`]{{0,2}}(?:[ \t]*\([^()\n]{{0,80}}\))?[.]?[*_`]{{0,3}}"
_LABEL = r"\b(?:my |overall )?confidence(?: (?:level|score|rating))?(?: (?:in|of) (?:this|the|my) answer)?"  # noqa: E501
_ABOUT = r"(?:(?:about|around|roughly|approximately|some)\s|~\s?)?"
_SAID = re.compile(
    rf"{_LEAD}{_LABEL}{_MARK}(?P<is>[:=：]|\bis\b)?{_MARK}{_ABOUT}{_NUMBER}{_UNIT}?{_TAIL}", re.I
)
_SURE = re.compile(
    rf"{_LEAD}\b(?:I(?:'m| am)\s|with\s)?{_ABOUT}{_NUMBER}(?P<unit>{_PERCENT})\s?"
    r"(?:confident|certain|sure|confidence|certainty)\b(?: (?:in|of|about) (?:this|the|my) answer)?"
    rf"(?:\sthat\b)?{_TAIL}",
    re.I,
)
_OTHERWISE = re.compile(rf"^{_LEAD}{_LABEL}{_MARK}[:=：][^\n]*$", re.I | re.M)
_BARE = re.compile(rf"{_LEAD}{_NUMBER}(?P<unit>\s?/\s?100?){_MARK}\.?$")


def stated(text: str) -> tuple[float | None, str]:
    """Take the confidence that a reply states out of it.

    Read are `Confidence: 85%`, `confidence 0.85`, `**Confidence:** 8/10`, `I'm 85% confident`,
    and a last line that is nothing but `8/10`; the last of them counts. A number without a unit
    is a share where it has decimals and is at most 1, and per cent where it is above 1: `1` by
    itself may be either, and is neither.

    Args:
        text: the reply.

    Returns:
        The confidence, from 0 to 1, and the text without the words that state it. None where
        none is stated, or where it is no such number (`150 %`, `high`).
    """
    found = _last_statement(text.replace("’", "'"))  # one for one: places stay
    if found is None:
        return None, text
    before, after = text[: found.start()].rstrip(), text[found.end() :].lstrip()
    apart = "\n" if "\n" in text[len(before) : len(text) - len(after)] else " "
    return _share(found), before + (apart if before and after else "") + after


def _last_statement(text: str) -> re.Match[str] | None:
    """Find the statement that stands last in the text."""
    said = [m for m in _SAID.finditer(text) if m["is"] or m["unit"] or not m["number"].isdecimal()]
    several = [*said[-1:], *list(_SURE.finditer(text))[-1:]]
    if several:
        return max(several, key=lambda m: m.end())
    if others := list(_OTHERWISE.finditer(text)):
        return others[-1]
    text = text.rstrip()
    start = text.rfind("\n") + 1
    return _BARE.match(text, start) if text[:start].strip() else None


def _share(found: re.Match[str]) -> float | None:
    """Turn what was stated into a number from 0 to 1."""
    groups = found.groupdict()
    if not groups.get("number"):
        return None
    written, unit = groups["number"].replace(",", "."), (groups["unit"] or "").strip()
    number = float(written)
    if not unit and number == 1 and "." not in written:
        return None
    tenths = re.search(r"(?<!\d)10$", unit) is not None
    share = number / 10 if tenths else number / 100 if unit or number > 1 else number
    return share if share <= 1 else None
