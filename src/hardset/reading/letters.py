"""Which single letters in a reply are options' letters: not articles, pronouns, initials, units.

Letters that are listed together ("A and C", "A, B or D", one a line) make one group.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hardset.reading.words import plain, word_set, words_of


class Group(NamedTuple):
    """Letters listed together, upper case, and where they stand in the text."""

    letters: tuple[str, ...]
    start: int  # of the first letter
    end: int  # past the last letter
    bracketed: bool


OPENING = "([{\"'<$*| \t"
CLOSING = ")]}\"'>$*| \t"

_LETTER = re.compile(r"\b[A-Za-z]\b", re.ASCII)
_WRAP = r"[\s()\[\]\"'{}*$]*"
_BETWEEN = re.compile(
    rf"{_WRAP}(?:,{_WRAP})?"
    rf"(?:(?:and/or|and|or|as well as|along with|&|/|nor|\+|和|或者?){_WRAP}"
    rf"(?:(?:also|option|choice|maybe|possibly|perhaps)\s+)?)?(?:maybe\s+)?{_WRAP}"
)
_QUESTION_ANSWER = re.compile(r"\s?:\s*[(\[*]*[A-Za-z][)\].*]*\s*(?:\n|$)")  # "A: C"
_INITIALS = re.compile(r"\.\s?(?:[A-Z]\.\s?)+[A-Z][a-z]")  # "C. S. Lewis"
_INITIAL_BEFORE = re.compile(r"(?:\b[A-Z]|Mr|Mrs|Ms|Dr|St|Fig)\.\s?$")
_UNIT_BEFORE = re.compile(r"\d\s?°?\s?$")

# What follows "A" where it is an option and not an article.
_AFTER_LABEL = word_set(
    "is was seems appears looks matches fits and or nor because since as would can cannot "
    "should must has describes states says does doesn't isn't but not over rather instead "
    "shows correctly wins best the this these those it there they he she his her their its "
    "which i we that also describes due with if only are correct wrong incorrect"
)
_AFTER_SMALL_A = ("is ", "and", "or ", "bec", "sin", "as ")
_SMALL_LEADS = (
    "answer", "answer is", "answer:", "option", "choice", "letter", ":", "=", "choose", "pick",
    "select", "it's", "it is", "with", "say", "go for", "选", "是", "为", "(", "therefore,", "so,",
    "answer would be", "is option",
)  # fmt: skip


def find_groups(text: str, texts: Sequence[str]) -> list[Group]:
    """Find the letters that can be options' letters, in order.

    Args:
        text: a tidy reply.
        texts: the options' texts in plain form; the first tells "A Hamlet" from an article.
    """
    found: list[Group] = []
    for match in _LETTER.finditer(text):
        letter, at, end = match[0], match.start(), match.end()
        if letter in "ai" and text[end : end + 1] == " " and text[end + 1 : end + 2].islower():
            if letter == "i" or text[end + 1 : end + 4] not in _AFTER_SMALL_A:
                continue
        elif _in_name(text, letter, at, end):
            continue
        bracketed = at > 0 and text[at - 1] in "([{\"'" and text[end : end + 1] in tuple(")]}\"'")
        joined = bool(found) and _joined(text, found[-1], at, end)
        if not bracketed:
            if letter.islower() and not _small_label(text, letter, at, end, joined, len(texts)):
                continue
            if letter in "AaIi" and _is_word(text, letter, end, texts):
                continue
            if letter == "A" and opens_line(text, at) and _QUESTION_ANSWER.match(text, end):
                continue
            named = _INITIAL_BEFORE.search(text, max(0, at - 5), at)
            if named and (len(named[0]) > 3 or re.match(r"\.\s?[A-Z][a-z]", text[end : end + 4])):
                continue
            if _INITIALS.match(text, end) or (at and _UNIT_BEFORE.search(text, max(0, at - 4), at)):
                continue
        if joined and letter.upper() not in found[-1].letters:
            last = found[-1]
            found[-1] = Group((*last.letters, letter.upper()), last.start, end, bracketed)
        else:
            found.append(Group((letter.upper(),), at, end, bracketed))
    return found


def _in_name(text: str, letter: str, at: int, end: int) -> bool:
    """Whether a letter is part of a word or name: "é", "I'd", "C-shaped", "A+", "U.S.A", "N/A"."""
    before, after = text[at - 1 : at], text[end : end + 1]
    if before.isalpha() and "\u00c0" <= before <= "\u024f":
        return True
    if before in ("+", "#", "°", "&", "\\") or after in ("+", "#"):
        return True
    then = text[end + 1 : end + 2]
    if after == "-" and then.isdigit():
        return True
    if after and after in "'-.&" and then.isalpha() and then.isascii():
        return after != "." or not text[end + 2 : end + 3].isalnum()
    if (
        before
        and before in "'-."
        and text[at - 2 : at - 1].isalpha()
        and text[at - 2 : at - 1].isascii()
    ):
        return True
    if letter in "Nn" and text[end : end + 2] in ("/A", "/a"):
        return True
    return before == "/" and text[at - 2 : at - 1] in ("N", "n")


def _joined(text: str, last: Group, at: int, end: int) -> bool:
    """Whether a letter continues a list: behind a comma or "and", or alone on the next line."""
    gap = text[last.end : at]
    if len(gap) > 24:
        return False
    if "\n" in gap:
        return (
            not gap.strip(OPENING + CLOSING + "\n.")
            and alone(text, at, end)
            and alone(text, last.end - 1, last.end)
        )
    return bool(gap.strip(OPENING + CLOSING)) and _BETWEEN.fullmatch(gap) is not None


def opens_line(text: str, at: int) -> bool:
    """Whether nothing but wrappers stands before a position on its line."""
    start = max(0, at - 40)
    line = text.rfind("\n", start, at) + 1
    return (line > 0 or start == 0) and not text[line:at].strip(OPENING)


def alone(text: str, at: int, end: int) -> bool:
    """Whether a letter is all there is on its line."""
    rest = text[end : end + 40].partition("\n")[0]
    return opens_line(text, at) and ".." not in rest and not rest.strip(CLOSING + ".:,!;")


def _small_label(text: str, letter: str, at: int, end: int, joined: bool, count: int) -> bool:
    """Whether a small letter can be an option's; "a" and "i" only alone, in a list, or led to."""
    if letter not in "ai":
        return ord(letter) - 97 < count
    line = text.rfind("\n", max(0, at - 24), at) + 1
    before = text[max(line, at - 24) : at].lower().strip(OPENING)
    if text[end : end + 1] == ")" and not before:
        return True
    rest = text[end : end + 12].lstrip(CLOSING)
    ends = (
        not rest or rest[0] in ".,:;!?\n-/" or rest.startswith(("because", "and ", "or ", "since"))
    )
    if not before or before in ("option", "choice"):
        return ends or rest.startswith(("is ", "seems "))
    return ends and (joined or before.endswith(_SMALL_LEADS))


def _is_word(text: str, letter: str, end: int, texts: Sequence[str]) -> bool:
    """Whether "A" or "I" is an article or a pronoun here and not a letter."""
    rest = text[end : end + 40]
    if not rest or rest[0] in "\n)]}.:;!?'\"*":
        return False
    if rest[0] != " ":
        return letter in "Ii" or rest[0] == "-"
    following = words_of(rest)
    if not following or rest.strip()[:1] in tuple("-:=>(.,;✓✔✅✗✘❌"):
        return False
    if letter in "Ii":
        return True
    if following[0] in _AFTER_LABEL or following[0].endswith("n't"):
        return letter == "a" and following[0] not in ("is", "and", "or", "because", "since", "as")
    own = texts[0].split()[:1] if texts else []
    return not (rest.strip()[:1].isupper() and plain(rest).split()[:1] == own)
