"""Whether a reply gives one of the accepted answers, where no judge is asked.

First whether it refuses; that does not depend on the accepted answers, but for two things. A
reply that is an accepted answer word for word ("unknown") never refuses. And "nothing", or "there
are no dogs" asked how many there are, answers where that, or 0, is accepted, and refuses where it
is not, as it says that what is asked about is absent. Then the answer that the reply gives
is read in the form that is due (a letter, yes or no, a number, a text) and compared.

Two answers are the same if their normal forms are, in which

- case, marks, articles and a plural do not count ("The Dogs." is "dog", "two men" is "2 man");
- number words are numerals, however written ("1,200", "twelve hundred", "1200.0");
- a unit has one name and counts only where both have one ("5 m" is "five metres" and "5", and
  is not "5 cm");
- a space, a hyphen and one spelling or the other ("t-shirt", "grey") do not count;
- the order of a list does not count ("red and white" is "white, red");
- words that the question itself says add nothing ("the blue shirt", asked of which shirt: "blue").

An answer in a sentence ("The man is holding a red umbrella.") matches where the sentence holds
it word for word, affirms it, and leaves no other choice open ("red or blue" gives no answer).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from hardset.reading.at_odds import at_odds
from hardset.reading.choices import read_choice
from hardset.reading.clauses import LITTLE, holds, leading, normal, telling
from hardset.reading.conclusions import containers, stated
from hardset.reading.lettered import LETTERS, Lettered, take_apart
from hardset.reading.nothing import HOW_MANY, is_nothing, nothing_there
from hardset.reading.numbers import number_of, quantity, read_number
from hardset.reading.open_answers import read_open, read_short
from hardset.reading.refusals import abstained, read_refusal
from hardset.reading.words import tidy
from hardset.reading.yes_no import read_yes_no
from hardset.records import Form, Reading, State

ANSWERED = State.ANSWERED
MATCHED = "an accepted answer"
_BRIEF = 80  # characters of a reply that may be the words of an option

_LIST = re.compile(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*")
_OPEN_CHOICE = re.compile(r"\b(?:or|either|maybe|perhaps|possibly|might|may)\b", re.IGNORECASE)
_HEADED = re.compile(r"^\W*final answer\W*\n\s*(\S[^\n]*)", re.IGNORECASE | re.MULTILINE)
_CONTRAST = re.compile(
    r",?\s+(?:rather than|as opposed to|instead of)\s+[^,.;:!?\n]{1,40}", re.IGNORECASE
)
_SEVERAL = re.compile(  # "black and white"; "red, white and blue"
    r"(?:\w+ )?\w+(?:, (?:\w+ )?\w+)*,? (?:and|&) (?:\w+ )?\w+[.!]?", re.IGNORECASE
)
_PREDICATE = re.compile(
    r"[^,;:\n]{0,100}?\b(?:is|are|was|were|says|reads|it's|they're)\s+", re.IGNORECASE
)
_YES_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should)\b", re.IGNORECASE
)
_UNIT_BEHIND = re.compile(r"\s?([^\W\d]+(?:/h)?|%|°[cf]?)", re.IGNORECASE)


def read_match(text: str, accepted: Sequence[str], question: str = "") -> Reading:
    r"""Read a reply to an open question, and whether its answer is one of the accepted.

    Args:
        text: a complete reply; the final answer counts where it is marked (`\boxed{}`, answer
            tags, "Final answer: ...").
        accepted: the answers that are right, the one to be named first; empty where none is.
        question: what was asked, its lettered options included if it has any.

    Returns:
        answered with `accepted[0]` if the answer is one of them, else with what the reply
        answers instead (a letter, yes or no, a number, the stated text); abstained; or unparsed
        where there is no single answer.
    """
    words = tidy(text)
    if not words:
        return Reading(state=State.UNPARSED, rule="empty")
    asked = take_apart(question)
    if asked.options and (not accepted or any(letter_of(a, asked.options) for a in accepted)):
        return _option(text, accepted, asked)
    said = _final(text) or text
    if any(same(said, answer) for answer in accepted):
        evidence = tidy(said)[:200]
        return Reading(state=ANSWERED, answer=accepted[0], rule=MATCHED, evidence=evidence)
    if nothing := nothing_there(said, question):
        if any(_is_nothing(answer) for answer in accepted):
            return Reading(
                state=ANSWERED, answer=accepted[0], rule="none there", evidence=nothing[:200]
            )
        rule = "what is asked about is not there"
        return Reading(state=State.ABSTAINED, rule=rule, evidence=nothing[:200])
    refused = read_refusal(said, question)
    if refused is not None:
        return refused
    form = form_due(accepted, question)
    if form == "yes_no":
        return _named(read_yes_no(said, question), accepted, yes_no=True)
    if form == "number":
        return _number(said, accepted, question)
    return _text(said, accepted, question)


def same(one: str, other: str, question: str = "") -> bool:
    """Whether two answers to a question are the same; see the module for what does not count."""
    (value, unit), (other_value, other_unit) = quantity(one), quantity(other)
    if value is not None and other_value is not None:
        return value == other_value and len({unit, other_unit} - {""}) < 2
    left, right = normal(one), normal(other)
    if left == right or not left or not right:
        return left == right != []
    letters = "".join(left), "".join(right)
    if letters[0] == letters[1] and not any(letter.isdigit() for letter in letters[0]):
        return True
    lists = sorted(_LIST.split(one.strip(" ."))), sorted(_LIST.split(other.strip(" .")))
    if len(lists[0]) == len(lists[1]) > 1:
        return sorted(map(normal, lists[0])) == sorted(map(normal, lists[1]))
    return _same_beside(left, right, question)


def _same_beside(left: Sequence[str], right: Sequence[str], question: str) -> bool:
    """Whether two answers are the same beside the words of the question."""
    if not question or re.search(r"\bor\b", question, re.IGNORECASE):
        return False  # "Is it dark red or dark blue?": there the question's words are the answers
    known = {*normal(question), *LITTLE}
    rest = [[word for word in words if word not in known] for words in (left, right)]
    return rest[0] == rest[1] != []


def form_due(accepted: Sequence[str], question: str) -> Form:
    """Say in which form an answer is due: by the accepted ones, without them by the question."""
    if accepted:
        if all(answer.strip(" .").lower() in ("yes", "no") for answer in accepted):
            return "yes_no"
        return "number" if all(quantity(answer)[0] is not None for answer in accepted) else "open"
    if _YES_NO.match(question.strip()) and not re.search(r"\bor\b", question):
        return "yes_no"
    return "number" if HOW_MANY.search(question) else "open"


def _final(text: str) -> str:
    """Return the final answer where a reply marks one, and only one; else ""."""
    found = [box.text for box in containers(text)] if "\\" in text or "<" in text else []
    words = tidy(text)
    found = found or [passage.text for passage in stated(words) if passage.final]
    found = found or [heading[1] for heading in _HEADED.finditer(words)]
    different = {" ".join(normal(one)) for one in found}
    return found[-1] if len(different) == 1 and found[-1].strip() else ""


def _named(reading: Reading, accepted: Sequence[str], *, yes_no: bool = False) -> Reading:
    """Give a reading's answer the name of the accepted one, where it is one of them."""
    right = any(same(reading.answer, answer) for answer in accepted)
    if reading.state is not ANSWERED or not right:
        return reading
    return msgspec.structs.replace(reading, answer=accepted[0])


def _option(text: str, accepted: Sequence[str], asked: Lettered) -> Reading:
    """Read the letter of an option within the question; a refusal is known by its stem."""
    reading = read_choice(text, asked.options)
    if reading.state is State.UNPARSED:
        refused = read_refusal(text, asked.stem)
        if refused is not None:
            return refused
        reading = _by_words(_final(text) or tidy(text), asked.options) or reading
    if reading.state is ANSWERED:
        letters = {letter_of(answer, asked.options) for answer in accepted}
        if reading.answer in letters:
            return msgspec.structs.replace(reading, answer=accepted[0])
    return reading


def _by_words(said: str, options: Sequence[str]) -> Reading | None:
    """Read "red", or "It is red.", as the only option with that in it: "The dress is red."."""
    if len(said) > _BRIEF:
        return None
    for words in (said, _PREDICATE.sub("", said, count=1)):
        found = [
            letter for letter, text in zip(LETTERS, options, strict=False) if holds(text, words)
        ]
        if len(found) == 1:
            rule = "the only option that says so"
            return Reading(state=ANSWERED, answer=found[0], rule=rule, evidence=said)
    return None


def letter_of(answer: str, options: Sequence[str]) -> str:
    """Return the letter that an accepted answer means: "B", "(b)", "B. red" or "red"; else ""."""
    bare = answer.strip(" ().:[]")
    if len(bare) == 1 and bare.upper() in LETTERS[: len(options)]:
        return bare.upper()
    found = [LETTERS[i] for i, option in enumerate(options) if same(option, answer)]
    if len(found) == 1:
        return found[0]
    reading = read_choice(answer, options) if answer.strip() else None
    return reading.answer if reading and reading.state is ANSWERED else ""


def _is_nothing(answer: str) -> bool:
    """Whether an accepted answer is that there is none."""
    return number_of(answer) == 0 or is_nothing(answer)


def _number(text: str, accepted: Sequence[str], question: str) -> Reading:
    """Read the number that a reply gives; its unit counts where the accepted answer has one."""
    reading = read_number(text, question)
    if reading.state is not ANSWERED:
        if reading.rule == "no number":
            return _text(text, (), question)
        return reading
    value = number_of(reading.answer)
    for answer in accepted:
        wanted, unit = quantity(answer)
        if wanted == value:
            other = _other_unit(text, reading.answer, unit) if unit else ""
            found = accepted[0] if not other else f"{reading.answer} {other}"
            return msgspec.structs.replace(reading, answer=found)
    return reading


def _other_unit(text: str, value: str, unit: str) -> str:
    """Return the unit that stands behind the number in a reply, if it is another than is due."""
    words = tidy(text)
    for match in re.finditer(rf"(?<![\d.,]){re.escape(value)}(?![\d])", words):
        behind = _UNIT_BEHIND.match(words, match.end())
        _, found = quantity(f"{value} {behind[1]}") if behind else (None, "")
        if found:
            return "" if found == unit else found
    return ""


def _text(text: str, accepted: Sequence[str], question: str) -> Reading:
    """Read an answer in words: the one stated, or the sentence that holds an accepted one."""
    whole = read_open(text, (), question)
    short = read_short(text, question)
    if whole.state is not ANSWERED:
        return whole
    said = _CONTRAST.sub(" ", whole.answer)
    bare = _PREDICATE.sub("", said, count=1)
    alike = [said, bare, leading(said), leading(bare)]
    if any(same(one, answer, question) for one in alike for answer in accepted):
        return msgspec.structs.replace(whole, answer=accepted[0], rule=MATCHED)
    clause = telling(said, accepted, question)
    if any(holds(clause, answer, question) for answer in accepted):
        listed = (_PREDICATE.sub("", one, count=1) for one in (clause, said))
        each = [  # "light orange or peach", where both are accepted
            any(holds(part, answer, question) for answer in accepted)
            for part in re.split(r"\bor\b|/", clause)
        ]
        several = _OPEN_CHOICE.search(re.sub(r"\bor\b", "", clause)) or not all(each)
        if several or any(map(_SEVERAL.fullmatch, listed)):
            return Reading(state=State.UNPARSED, rule="several answers", evidence=clause[:200])
        return msgspec.structs.replace(
            whole, answer=accepted[0], rule=f"{MATCHED}, in a sentence", evidence=clause[:200]
        )
    if cue := at_odds(whole.answer, question):
        return abstained(whole.answer, cue)
    if short.state is ANSWERED:
        return short
    return msgspec.structs.replace(whole, answer=whole.answer[:200])
