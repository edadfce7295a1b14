"""What number a text is, and which number a reply gives.

A comma is a thousands separator only where the grouping is right: `7,200` is 7200, `1,2` is no
number. Values are exact fractions, so 11.90, 11.9 and 119/10 are equal and nothing is rounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from hardset.reading import refusals
from hardset.reading.conclusions import RETRACTED, containers, stated
from hardset.reading.cues import cues
from hardset.reading.words import CHINESE_DIGITS, NUMBER_WORDS, SCALES, tidy, words_of
from hardset.records import Reading, State

_CURRENCY = "$€£¥₹₩"
_UNIT = (
    r"%|percent|°|degrees?|°c|°f|dollars?|usd|euros?|eur|pounds?|gbp|cents?|yuan|元|人|个|"
    r"km|m|cm|mm|kg|g|mg|lb|lbs|l|ml|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|"
    r"years?|mph|km/h|kmh|feet|ft|inch|inches|in|miles?|metres?|meters?|litres?|liters?|units?|"
    r"pixels?|px|points?|times"
)
_NUMERAL = r"(?:\d{1,3}(?:,\d{3})+|\d{1,40})(?:\.\d{1,40})?|\.\d{1,40}"
_VALUE = re.compile(
    rf"(?P<sign>[-+])?\s?(?P<money>[{_CURRENCY}]|us\$|usd|eur|gbp)?\s?(?P<inner>-)?"
    rf"(?P<number>{_NUMERAL})(?P<exponent>e[-+]?\d{{1,2}})?"
    rf"(?:\s?/\s?(?P<below>\d{{1,40}}(?:\.\d{{1,40}})?))?"
    rf"(?:\s?(?P<scale>hundred|thousand|million|billion|k|bn)\b)?"
    rf"\s?(?:(?P<unit>{_UNIT}|[{_CURRENCY}])(?:\^?\{{?[23]\}}?)?)?\.?"
)
_MIXED = re.compile(r"(?P<whole>\d{1,40})\s+(?P<top>\d{1,10})/(?P<below>\d{1,10})")
_FRAC = re.compile(r"\\[dt]?frac\s*\{?\s*(-?\d{1,40})\s*\}?\s*\{?\s*(-?\d{1,40})\s*\}?")
_TIMES = re.compile(
    r"\\(?:times|cdot)\s*10\s*\^\s*\{?(-?\d{1,2})\}?|[x×*]\s*10\s*\^\s*\{?(-?\d{1,2})\}?"
)
_PART = {"t": 3, "q": 4, "f": 5}
_PARTS = re.compile(
    r"\b(one|two|three|four)[ -](thirds?|quarters?|fifths?)\b(?! of an hour)", re.IGNORECASE
)
_SCALE = {**SCALES, "k": 1000, "bn": 10**9}


def number_of(text: str) -> Fraction | None:
    """Return the number that a whole text is, or None: "$7,200", "1/2", "seven", "3.5 kg", "-2"."""
    value, _ = quantity(text)
    return value


def quantity(text: str) -> tuple[Fraction | None, str]:
    """Return the number a whole text is, and its unit or currency ("" where it has none)."""
    return _quantity(text) if len(text) <= 200 else (None, "")


@lru_cache(maxsize=4096)
def _quantity(text: str) -> tuple[Fraction | None, str]:
    text = _flat(text)
    if match := _VALUE.fullmatch(text):
        value = Fraction(match["number"].replace(",", ""))
        if match["exponent"]:
            value *= Fraction(10) ** int(match["exponent"][1:])
        if match["below"]:
            below = Fraction(match["below"])
            if not below:
                return None, ""
            value /= below
        value *= _SCALE.get(match["scale"] or "", 1)
        if (match["sign"] == "-") != bool(match["inner"]):
            value = -value
        return value, _unit(match["unit"] or match["money"] or "")
    if (match := _MIXED.fullmatch(text)) and int(match["below"]):
        return int(match["whole"]) + Fraction(int(match["top"]), int(match["below"])), ""
    words = text.replace("-", " ").split()
    while len(words) > 1 and re.fullmatch(_UNIT, words[-1]):
        unit = words.pop()
        value_of = _spoken(words)
        return (Fraction(value_of), _unit(unit)) if value_of is not None else (None, "")
    spoken = _spoken(words)
    return (None if spoken is None else Fraction(spoken)), ""


def _flat(text: str) -> str:
    """Return a text in small letters without LaTeX, wrappers and outer marks."""
    text = _parts(tidy(text).lower().strip())
    if "\\" in text:
        text = (
            _FRAC.sub(r"\1/\2", text)
            .replace("\\$", "$")
            .replace("\\%", "%")
            .replace("^\\circ", "°")
            .replace("{,}", ",")
            .replace("\\,", "")
        )
    text = (
        _TIMES.sub(lambda match: f"e{match[1] or match[2]}", text).replace(" e", "e", 1)
        if "10" in text
        else text
    )
    text = (
        re.sub(r"(?<=\d)[\u2009\u202f\u00a0 ](?=\d{3}(?:\D|$))", "", text)
        if re.fullmatch(r"[-+]?\d{1,3}(?:[\u2009\u202f\u00a0 ]\d{3})+(?:\.\d+)?", text)
        else text
    )
    if text.startswith("$") and text.endswith("$") and len(text) > 2:
        text = text[1:-1]
    return text.strip("\"' \t\n=~≈").removesuffix(".").strip()


def _parts(text: str) -> str:
    """Write "three quarters" as 3/4."""
    if "quarter" not in text and "third" not in text and "fifth" not in text:
        return text
    return _PARTS.sub(
        lambda part: f"{NUMBER_WORDS[part[1].lower()]}/{_PART[part[2][0].lower()]}", text
    )


def _unit(unit: str) -> str:
    """Return a unit's one name: "$", "USD" and "dollars" are "dollar"."""
    same = {
        "$": "dollar", "usd": "dollar", "us$": "dollar", "€": "euro", "eur": "euro", "£": "gbp",
        "pound": "gbp", "%": "percent", "°": "degree", "¥": "yuan", "元": "yuan", "sec": "s",
        "second": "s", "min": "minute", "hour": "h", "meter": "m", "metre": "m", "inch": "in",
        "inche": "in", "feet": "ft", "px": "pixel",
    }  # fmt: skip
    unit = unit if unit in ("s", "$", "us$") else unit.rstrip("s") or unit
    return same.get(unit, unit)


def _spoken(words: Sequence[str]) -> int | None:
    """Return the number that words say ("two hundred and five"), or None."""
    total, current, said = 0, 0, False
    last = 10**12
    for i, word in enumerate(words):
        if word == "and" and said and i + 1 < len(words):
            continue
        if (
            word in ("a",)
            and i + 1 < len(words)
            and (words[i + 1] in SCALES or words[i + 1] == "dozen")
        ):
            current = 1
            continue
        if word == "dozen":
            current, last, said = (current or 1) * 12, 1, True
        elif word in NUMBER_WORDS:
            value = NUMBER_WORDS[word]
            if said and not (last >= 100 or (last >= 20 and value < 10 and value)):
                return None
            current, last, said = current + value, value, True
            if value < 20:
                last = 1
        elif word in SCALES:
            scale = SCALES[word]
            if scale == 100:
                current = (current or 1) * 100
            else:
                total, current = total + (current or 1) * scale, 0
            last, said = scale, True
        elif len(words) == 1 and len(word) == 1 and word in CHINESE_DIGITS:
            return CHINESE_DIGITS[word]
        else:
            return None
    return total + current if said else None


_DIGITS = re.compile(
    rf"[{_CURRENCY}]?\d[\d,]{{0,60}}(?:\.\d{{1,40}})?(?:\s?/\s?\d{{1,40}})?%?", re.ASCII
)
_SPOKEN_WORDS = frozenset([*NUMBER_WORDS, *SCALES])
_COUNTED_CHINESE = re.compile("[零一二三四五六七八九十两](?=[个只人条张辆本名位])")
_RANGE = re.compile(r"\d\s?(?:-|to|or)\s?\d|\bbetween\b.{1,20}\band\b", re.IGNORECASE)


_TOTAL = re.compile(
    r"(?:=|\b(?:total|sum)(?: of)?:?|\baltogether,?|\bmak(?:ing|es)|\bgiv(?:ing|es)|\bequals?)"
    r"\s*([\w.,/$-]{1,40})"
    rf"|(\d[\d.,]{{0,40}}|{'|'.join(NUMBER_WORDS)})\s(?:\w{{1,20}}\s)?"
    r"(?:in (?:all|total)|altogether)\b"
    r"|\b(?:so|hence|thus|therefore),?(?: there (?:are|is)| that's| it's| that makes)?"
    r"\s+([\w.,/-]{1,40})$",
    re.IGNORECASE,
)
_NOT_ONE = re.compile(r"(?:n't|\bnot)\s+a single\b")
_PRONOUN_ONE = re.compile(
    r"\b(?:no|any|every|some|the|this|that|which|each|another|other|first|last)[ -]one\b|"
    r"\bone of (?:the|these|those|them)\b",
    re.IGNORECASE,
)


_ASIDE = re.compile(r"\([^()\n]{0,200}\)")


def read_number(text: str, question: str = "") -> Reading:
    """Read the number that a reply gives.

    A stated answer first ("the answer is 7", boxed, "in total 7"); else the reply's only number;
    "there are no dogs" asked how many is 0. Two different numbers are no single answer.

    Returns:
        answered with the number in plain decimals (or as a fraction that has none); abstained;
        or unparsed.
    """
    words = _parts(tidy(text))
    if not words:
        return Reading(state=State.UNPARSED, rule="empty")
    whole = number_of(words)
    if whole is None and "(" in words:  # "24 (6 in each of 4 rows)"
        whole = number_of(_ASIDE.sub("", words).strip())
    if whole is not None:
        return _answer(whole, "the number alone", words)
    if words.strip(" .!").lower() in ("none", "nothing", "nobody", "no one", "not a single one"):
        return _answer(Fraction(0), "none there", words)
    passages = (containers(text) if "\\" in text or "<" in text else []) or stated(words)
    final = [p for p in passages if p.final] or passages
    values = [(value, p) for p in final if (value := _in_passage(p.text)) is not None]
    if values:
        if len({value for value, _ in values}) > 1:
            return Reading(
                state=State.UNPARSED, rule="different answers", evidence=values[-1][1].evidence
            )
        return _answer(values[-1][0], "the answer is", values[-1][1].evidence)
    cue = refusals.refusal(words, question or "how many")
    if cue is not None and (cue.absent is None or question):
        return refusals.abstained(words, cue)
    mentions = _mentions(words)
    found = set(mentions.values())
    if _RANGE.search(words[:2000]):
        return Reading(state=State.UNPARSED, rule="a range", evidence=words[:200])
    if len(found) == 1:
        return _answer(found.pop(), "the only number", next(iter(mentions)))
    if len(found) > 1:
        head = number_of(words.partition("\n")[0])
        if head is not None:
            return _answer(head, "the first line", words)
        turn = max((match.end() for match in RETRACTED.finditer(words.lower())), default=0)
        later = _mentions(words[turn:])
        if turn and len(set(later.values())) == 1:
            return _answer(next(iter(later.values())), "corrected", words[turn:])
        for total in reversed(list(_TOTAL.finditer(words))):
            value = number_of((total[1] or total[2] or total[3]).rstrip(".,"))
            if value is not None:
                return _answer(value, "the total", total[0])
        counted = _counted(words, question) if len(question) < 1000 else set()
        if len(counted) == 1:
            return _answer(counted.pop(), "the number of what is counted", words)
        return Reading(
            state=State.UNPARSED, rule="different numbers", evidence=" | ".join(mentions)[:200]
        )
    nothing = next((c for c in cues(words) if c.absent is not None), None)
    if nothing is not None or re.search(
        r"\b(?:none|no|nobody|nothing|zero)\b|没有|无", words[:300], re.IGNORECASE
    ):
        return _answer(Fraction(0), "none there", words[:200])
    return Reading(state=State.UNPARSED, rule="no number", evidence=words[:200])


def _counted(text: str, question: str) -> set[Fraction]:
    """Return the numbers that stand before what is counted: "8 birds: 3 white, 5 black"."""
    asked = refusals.counted(words_of(question))
    if not asked:
        return set()
    words = words_of(text[:2000])
    before = [one for one, other in pairwise(words) if refusals.stem(other) == asked]
    return {value for word in before if (value := number_of(word)) is not None}


def _in_passage(text: str) -> Fraction | None:
    value = number_of(text)
    if value is not None:
        return value
    if _RANGE.search(text):
        return None
    found = set(_mentions(text).values())
    return found.pop() if len(found) == 1 else None


def _mentions(text: str) -> dict[str, Fraction]:
    """Return the numbers that a text mentions, in digits or words, by how they are written."""
    found: dict[str, Fraction] = {}
    for match in _DIGITS.finditer(text):
        at, end = match.span()
        written = match[0].rstrip(",")
        before, after = text[at - 1 : at], text[end : end + 1]
        if before in ("_", ".", ",", "/") or (before.isascii() and before.isalnum()):
            continue
        if after.isascii() and after.isalnum():
            continue
        if after in (".", ",", "/") and text[end + 1 : end + 2].isdigit():
            continue
        if before == "-" and not text[at - 2 : at - 1].isalnum():
            written = f"-{written}"
        value = number_of(written)
        if value is not None:
            found[written] = value
    lowered = _PRONOUN_ONE.sub(" - ", text.lower())
    lowered = _NOT_ONE.sub("none", lowered)
    lowered = lowered.replace("a couple of", "two").replace("a single", "one")
    words = re.findall(r"[a-z]+", lowered)
    if not _SPOKEN_WORDS.isdisjoint(words):
        found |= _spoken_in(words)
    if not text.isascii():
        found |= {m[0]: Fraction(CHINESE_DIGITS[m[0]]) for m in _COUNTED_CHINESE.finditer(text)}
    return found


def _spoken_in(words: Sequence[str]) -> dict[str, Fraction]:
    """Return the numbers said in words: runs of number words, "and" inside them."""
    found: dict[str, Fraction] = {}
    run: list[str] = []
    for word in [*words, ""]:
        if word in _SPOKEN_WORDS or (word == "and" and run):
            run.append(word)
        elif run:
            written = " ".join(run).removesuffix(" and")
            for part in [written] if number_of(written) is not None else written.split(" and "):
                value = number_of(part)
                if value is not None:
                    found[part] = value
            run = []
    return found


def _answer(value: Fraction, rule: str, evidence: str) -> Reading:
    return Reading(
        state=State.ANSWERED, answer=show(value), rule=rule, evidence=evidence.strip()[:200]
    )


def show(value: Fraction) -> str:
    """Write a fraction in decimals where it has them, else as top/bottom."""
    bottom = value.denominator
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    if bottom != 1 or value.denominator > 10**60:
        return f"{value.numerator}/{value.denominator}"
    if value.denominator == 1:
        return str(value.numerator)
    digits = 0
    scaled = value
    while scaled.denominator != 1:
        scaled *= 10
        digits += 1
    sign = "-" if value < 0 else ""
    body = str(abs(scaled.numerator)).rjust(digits + 1, "0")
    return f"{sign}{body[:-digits]}.{body[-digits:]}"
