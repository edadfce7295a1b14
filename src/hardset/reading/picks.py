"""What the words around a letter make of it: the pick, ruled out, or only talked about.

Each letter is judged by what leads to it ("the answer is", "I would choose", "so", "not",
"eliminated:"), by what is said of it ("is correct", "is wrong") and by where it stands (alone on
a line, at its beginning). The result is a `Pick` of some strength, or none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hardset.reading.leads import (
    BE,
    CHOOSE,
    DOUBT,
    FILL,
    FINAL,
    HEDGED,
    LEANING,
    MODAL,
    NO_VERDICT,
    NOT,
    NOTHING,
    NOUNS,
    OPENED,
    OUT,
    RULED_OUT,
    RULES_OUT,
    STATED,
    Verdict,
    clause_start,
    lead_of,
    said_of,
)
from hardset.reading.letters import CLOSING, Group, alone, opens_line
from hardset.reading.words import word_set, words_of

_ASKING = word_set("is are was could would should can does do did what which who why how or")
_AGAINST = (NOT | RULES_OUT) - {"no"}
_SINGULAR = word_set("is was seems appears looks isn't doesn't does matches fits has")
_CONCEDED = word_set("although though while whilst")
_AFTERTHOUGHT = word_set(
    "for sure obviously i guess think believe clearly definitely probably i'd say of course "
    "most likely please it is imo certainly my answer final choice presumably maybe perhaps "
    "possibly"
)
_SUPPOSED = word_set("if whether suppose assuming unless")
_CONTRAST = word_set("rather instead over not")
_REASONS = word_set("because since as given -")


_NEXT_LABEL = re.compile(r"[,;|] ?\(?[A-Z]\)? ?[:=]")
_CLAUSES = re.compile(r"[,;.:()]+(?=\s|$)|\s-+\s|[()]")
_MARKS = frozenset("✗✘❌✓✔✅")
_JUDGES = word_set("this is the option answer choice statement that it so also therefore - , :")
_LAST_WORDS = word_set("incorrect wrong eliminated false correct")
_WORD_VERDICTS = {
    **dict.fromkeys(("correct", "right"), STATED),
    **dict.fromkeys(("incorrect", "wrong", "eliminated", "not correct"), RULED_OUT),
}


class Pick(NamedTuple):
    """A group's letters, how strongly they are put forward, by which rule and words."""

    at: int
    letters: tuple[str, ...]
    strength: int
    rule: str
    evidence: str


def judge(text: str, group: Group, start: int, end: int, own: str = "") -> list[Pick]:
    """Judge a group of letters in its sentence, text[start:end]; `own` begins the option's text."""
    stop = min(end, group.end + 100)
    raw = text[group.end : stop].lstrip(CLOSING)
    before = words_of(text[max(start, group.start - 160) : group.start])
    if not before:
        before = _heading(text, group.start)
    after = words_of(text[group.end : stop])
    while after[:1] in (["option"], ["choice"]):
        del after[0]
    if own in ("yes", "no") and after[1:2] == [own] and after[0] in (":", "-"):
        after, raw = [], ""  # "B: No, it is red" gives the option's text
    evidence = text[max(start, group.start - 60) : min(end, group.end + 40)].strip()
    letters = tuple(dict.fromkeys(group.letters))
    lead, said = lead_of(before), said_of(after, raw)

    def picks(letters: Sequence[str], verdict: Verdict) -> list[Pick]:
        if verdict[0] == RULED_OUT or len(letters) == 1:
            return [Pick(group.start, (letter,), *verdict, evidence) for letter in letters]
        if verdict[1] == "so":  # "leaving B and C" is no pick of two
            return []
        return [Pick(group.start, tuple(letters), *verdict, evidence)]

    if _is_supposed(before, after) and max(lead[0], said[0]) < FINAL:
        return []
    joins = text[group.start : group.end]
    apart = "or" not in joins and (said[0] or "and" not in joins) and lead[0] != RULED_OUT
    if len(letters) > 1 and apart and after and after[0] in _SINGULAR:
        # "The answer is B, A is wrong": what follows is said of the last one only.
        return picks(letters[:-1], _stands(text, group, before, [","], lead)) + picks(
            letters[-1:], said
        )
    if (
        len(letters) > 1
        and said[0] >= LEANING
        and before[-1:] in (["unlike"], ["not"], ["besides"])
    ):
        return picks(letters[:-1], lead) + picks(letters[-1:], said)  # "Unlike A, B is correct"
    listed = "and" in joins or "or" in joins
    if len(letters) > 1 and not listed and lead[0] >= STATED and said[0] == RULED_OUT:
        return picks(letters[:1], lead) + picks(letters[1:], said)
    if lead[1] == "all but":
        return picks(letters, (LEANING, "all but") if said[0] == RULED_OUT else OUT)
    if RULED_OUT in (said[0], lead[0]):
        return picks(letters, (RULED_OUT, said[1] or lead[1]))
    if text[max(start, end - 8) : end].rstrip().endswith("?"):
        tagged = lead[0] >= LEANING and before[0] not in _ASKING
        return picks(letters, (HEDGED, "asks")) if tagged or not (before or after[1:]) else []
    if lead[1] == "the answer is" and before[-1:] == [":"] and after and after[0] in MODAL:
        lead = NO_VERDICT  # "Long answer: A is red"
    if said[0] and lead[0] < STATED:
        return picks(letters, max(said, _stands(text, group, before, after, NO_VERDICT)))
    return picks(letters, _stands(text, group, before, after, max(lead, said)))


def _heading(text: str, at: int) -> list[str]:
    """Return the words of the line above, where it ends with a colon: "Final answer:"."""
    above = text[max(0, at - 80) : at].rstrip("([{\"'<$*| \t\n")
    if not above.endswith(":") or "\n" not in text[max(0, at - 80) : at]:
        return []
    words = words_of(above[above.rfind("\n") + 1 :])
    listed = {"each", "every", "options", "choices", "one"} & set(words)
    answers = (NOUNS - {"option", "choice", "candidate"}) | RULES_OUT | {"correct", "right", "best"}
    return words if answers & set(words) and not listed else []


def _stands(
    text: str, group: Group, before: list[str], after: list[str], verdict: Verdict
) -> Verdict:
    """Strengthen a verdict by where the letter stands: alone, opening a line, ending a sentence."""
    strength, _ = verdict
    rest = text[group.end : group.end + 200].lstrip(CLOSING[:-2])
    if opens_line(text, group.start):
        if alone(text, group.start, group.end):
            return max(verdict, (STATED, "the letter alone"))
        if strength < STATED:
            if text[group.end : group.end + 2] == '":' and text[:1] == "{":
                return NO_VERDICT  # a key: {"A": 0.1, "B": 0.8}
            if _NEXT_LABEL.search(rest.partition("\n")[0]):
                return NO_VERDICT  # "A: 5%, B: 90%"
            delimited = rest.lstrip()[:1] in tuple(".):,-]([=|/") or text[group.end] in ")]:."
            if delimited:
                return _line_verdict(rest) or (OPENED, "begins a line")
            if after and set(after) <= _AFTERTHOUGHT:
                return (HEDGED, "maybe") if DOUBT & set(after) else (OPENED, "begins a line")
            if after[:1] and (after[0] in _REASONS or _contrasts(after)):
                return (OPENED, "begins a line")
    if strength != NOTHING:
        return verdict
    led = set(before) <= FILL
    if (
        led
        and before
        and (
            not after
            or after[0] in (",", ":", "-", "because", "since", "as")
            or after[0] in _CONTRAST
        )
    ):
        return (HEDGED, "maybe") if set(before) & DOUBT else (LEANING, "names an option")
    if not before and (not after or _contrasts(after)):
        return OPENED, "the letter alone in a sentence"
    if not after and before[-1:] == [":"]:
        return LEANING, "behind a colon"
    ends = group.bracketed or before[-1:] in ([","], ["but"]) or before[-2:] == [",", "option"]
    against = before[clause_start(before, 0, len(before) - 1) :] if before else []
    if not after and ends and not _AGAINST & set(against):
        return LEANING, "ends a sentence"
    return NO_VERDICT


def _contrasts(after: Sequence[str]) -> bool:
    """Whether a letter is set against others: "B, not A", "B rather than A"."""
    return (bool(after) and after[0] in _CONTRAST) or after[:2] in (["and", "not"], [",", "not"])


def _line_verdict(rest: str) -> Verdict | None:
    """Read the verdict that ends a line about one option: "B. green - correct"."""
    line = rest.partition("\n")[0]
    if re.search(r"\b[A-Z]\b", line, re.ASCII):
        return None  # another option is spoken of
    clauses = [words_of(clause) for clause in _CLAUSES.split(line)]
    for words in clauses:
        if marks := _MARKS & set(words):
            return (RULED_OUT if marks & set("✗✘❌") else STATED), "judged in its line"
        judged = [word for word in words if word not in _JUDGES]
        verdict = _WORD_VERDICTS.get(" ".join(judged))
        if words is clauses[-1] and judged in (["yes"], ["true"], ["no"], ["false"]):
            verdict = STATED if judged[0] in ("yes", "true") else RULED_OUT
        if verdict is None and words is clauses[-1] and set(words[-1:]) & _LAST_WORDS:
            wrong = words[-1] != "correct" or NOT & set(words)
            verdict = RULED_OUT if wrong else STATED
        if verdict is not None:
            return verdict, "judged in its line"
    return None


def _is_supposed(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the letter is only supposed: "if the answer is A", "the answer would be A if"."""
    if before[:1] == ["had"] and {"been", "had"} & set(before[1:]):
        return max((i for i, word in enumerate(before) if word == ","), default=0) > len(before) - 5
    if "if" in after[:1] and "guess" not in after[:7] and "choose" not in after[:7]:
        return True
    conceded = max((i for i, word in enumerate(before) if word in _CONCEDED), default=-1)
    if conceded >= 0 and "," not in before[conceded:]:
        return True
    at = max((i for i, word in enumerate(before) if word in _SUPPOSED), default=-1)
    by = before[at + 1 : at + 3]
    pressed = by[:1] in (["forced"], ["pressed"], ["needed"]) or (
        by[:1] == ["i"] and by[1:] in (["had"], ["must"], ["were"], ["have"])
    )
    if at < 0 or pressed:
        return False
    rest = before[at:]
    if "," not in rest:
        return True
    main = rest[rest.index(",") :]
    return bool({"would", "could", "i'd"} & set(main)) or not (set(main) & (NOUNS | CHOOSE | BE))
