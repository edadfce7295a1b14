"""ZeroBench's `{final answer}`: read as its authors do, and read with sense.

Source: "ZeroBench: An Impossible Visual Benchmark for Contemporary Large Multimodal Models",
Roberts et al. 2025, evaluation protocol: the lower-cased reply's last `{...}` must equal the
lower-cased answer exactly. `read_braces_official` keeps the gaps of that rule (spaces, currency,
thousands commas, nested braces, line breaks); `read_braces_lenient` with `same_lenient` closes
them, and no others.
"""

from __future__ import annotations

import re
from fractions import Fraction

from hardset.reading.conclusions import brace_pairs, stated
from hardset.reading.numbers import number_of, quantity
from hardset.reading.open_answers import normalise
from hardset.reading.refusals import abstained, refusal
from hardset.reading.words import tidy, without_thoughts
from hardset.records import Reading, State

_LABEL = re.compile(
    r"(?:.*,)?\s*[\"']?(?:the )?(?:final[ _])?answer[\"']?\s*(?:is\b|[:=])\s*",
    re.IGNORECASE,
)


_ABOUT = re.compile(r"\s*(?:approximately|approx\.?|about|around|roughly)\s+", re.IGNORECASE)
_THINGS = re.compile(r"(-?\d[\d,./]{0,40}|[a-z]{1,20}) ((?:(?!or |and |to )[a-z]{3,20} ?){1,3})")


def read_braces_official(text: str) -> Reading:
    """Return what the authors' parser takes: lower case, the last `{...}` on one line, verbatim.

    The answer is to be compared with the lower-cased gold answer, character by character.
    """
    inside: str | None = None
    for line in text.lower().split("\n"):
        at = 0
        while True:
            opening = line.find("{", at)
            closing = line.find("}", opening + 1) if opening >= 0 else -1
            if closing < 0:
                break
            inside, at = line[opening + 1 : closing], closing + 1
    if inside is None:
        return Reading(state=State.UNPARSED, rule="no braces", evidence=text[-100:].strip())
    return Reading(
        state=State.ANSWERED, answer=inside, rule="last braces", evidence=f"{{{inside}}}"
    )


def read_braces_lenient(text: str) -> Reading:
    r"""Return what stands in the last braces, nested ones and line breaks included.

    Braces that belong to a LaTeX command (`\frac{1}{2}`, `\text{cm}`) are part of what is
    written and not the answer's, except `\boxed{}`. Without braces, an answer stated in words
    counts, and so does a reply that is nothing but an answer of at most five words.
    """
    reply = without_thoughts(text)
    if not reply.strip():
        return Reading(state=State.UNPARSED, rule="empty")
    spans = _groups(reply)
    if spans:
        start, end, evidence = spans[-1]
        inside = reply[start:end].strip()
        if inside.startswith("{") and inside.endswith("}"):
            inside = inside.strip("{} ")
        boxed = _groups(inside)
        if inside.startswith(("\\boxed", "\\fbox")) and boxed:
            inside = inside[boxed[-1][0] : boxed[-1][1]].strip()
        inside = _LABEL.sub("", inside, count=1).strip("\"'")
        if not inside:
            return Reading(state=State.UNPARSED, rule="empty braces", evidence=evidence)
        cue = refusal(tidy(inside))
        if cue is not None and (cue.absent is None or " " in inside):
            return abstained(tidy(inside), cue)
        return Reading(state=State.ANSWERED, answer=inside, rule="last braces", evidence=evidence)
    words = tidy(text)
    passages = stated(words)
    final = [p for p in passages if p.final] or passages
    if final and len({normalise(p.text) for p in final}) == 1 and final[-1].text:
        return Reading(
            state=State.ANSWERED,
            answer=final[-1].text,
            rule="stated, no braces",
            evidence=final[-1].evidence,
        )
    cue = refusal(words)
    if cue is not None:
        return abstained(words, cue)
    if len(words.split()) <= 5:
        return Reading(
            state=State.ANSWERED,
            answer=words,
            rule="the whole reply, no braces",
            evidence=words[:200],
        )
    return Reading(state=State.UNPARSED, rule="no braces", evidence=words[-100:])


def _groups(text: str) -> list[tuple[int, int, str]]:
    """Return the outermost brace groups that are no LaTeX argument: inside start, end, evidence."""
    found = []
    past = -1
    for opening, closing in sorted(brace_pairs(text).items()):
        if opening < past:
            continue
        past = closing
        command = _command(text, opening)
        if command in ("", "boxed", "fbox"):
            start = opening - len(command) - 1 if command else opening
            found.append((opening + 1, closing, text[start : closing + 1][:200]))
    return found


def _command(text: str, opening: int) -> str:
    """Return the LaTeX command whose argument opens here, "" for none."""
    start = opening
    if start and text[start - 1] == "}":
        return "argument"
    while (
        start and text[start - 1].isalpha() and text[start - 1].isascii() and opening - start < 20
    ):
        start -= 1
    if start and text[start - 1] == "\\" and start < opening:
        return text[start:opening]
    return "script" if start == opening and start and text[start - 1] in "^_" else ""


def same_lenient(answer: str, gold: str) -> bool:
    """Whether a lenient answer is the gold answer: by value for numbers, else by normal form.

    `11.90`, `$11.90` and ` 11.9 ` are the same, and so are 7,200 and 7200, 1/2 and 0.5; a unit
    may be left out on one side but not differ. Lists are compared item by item, in order.
    """
    one, one_unit = _counted(answer)
    other, other_unit = _counted(gold)
    if one is not None and other is not None:
        return one == other and (one_unit == other_unit or not one_unit or not other_unit)
    if one is not None or other is not None:
        return False
    ones, others = _items(answer), _items(gold)
    if len(ones) > 1 or len(others) > 1:
        return len(ones) == len(others) and all(map(same_lenient, ones, others))
    left, right = normalise(answer), normalise(gold)
    return bool(left) and left == right


def _counted(text: str) -> tuple[Fraction | None, str]:
    """Return a number and its unit, or what is counted: "15 apples" is 15 of "apple"."""
    text = _ABOUT.sub("", text)
    value, unit = quantity(text)
    if value is None and (match := _THINGS.fullmatch(tidy(text).lower().rstrip("."))):
        return number_of(match[1]), normalise(match[2])
    return value, unit


def _items(text: str) -> list[str]:
    return [part for part in tidy(text).strip("()[] ").replace(";", ",").split(",") if part.strip()]
