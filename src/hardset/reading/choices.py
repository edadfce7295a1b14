"""Which option a reply picks: one letter, or none.

The whole reply may be an option's text. Else every letter that can be an option's is judged by
the words around it (`picks`), and the strongest decide; they must agree. A later correction
("wait, ...") withdraws what was said before it. An abstention counts as a pick of its own: as a
conclusion ("Answer: N/A") as much as a stated answer, elsewhere less than any pick but a
hedged one. An option's text counts where it is stated as the answer, or is the only option's
text that a short reply contains. Where nothing else is picked, "the second option" and "Option
2" count as letters. Where a letter stands with the text of another option, the
reply gives no single answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import msgspec

from hardset.reading.conclusions import RETRACTED, containers, stated
from hardset.reading.cues import cues, may_refuse
from hardset.reading.leads import (
    BE,
    FINAL,
    LEANING,
    NOT,
    OPENED,
    REFUSED,
    RULED_OUT,
    RULES_OUT,
    STATED,
    UNSURE,
)
from hardset.reading.letters import CLOSING, OPENING, find_groups
from hardset.reading.numbers import number_of
from hardset.reading.picks import Pick, judge
from hardset.reading.words import Sentences, plain, tidy
from hardset.reading.yes_no import read_yes_no
from hardset.records import Reading, State

_ABSTAIN = ("?",)
_DISAGREE = "letter and text disagree"
_SHORT = 300  # characters of a reply in which one option's text, found anywhere, is the answer

_QUOTED = re.compile(
    r"\b(?:says?|said|states?|claims?|claimed|reads?|asks?|suggests?|writes?|written):?,?\s"
    r"(?:that )?(?:\"[^\"\n]{2,300}\"|'[^'\n]{2,300}'(?!\w))"
)
_AGAINST = NOT | RULES_OUT
_CLAUSES = re.compile(r"([.!?;\n,](?=\s|$)|\b(?:but|however)\b)")
_CLAUSE_ENDS = frozenset(".!?;\n,") | {"but", "however"}
_FIRST = re.compile(
    r"(?![A-Za-z][:.)])[^.!?;\n,]{1,200}(?=[.!]\s|\n|,? (?:because|since|as)\b| - )"
)
_ORDINALS = {"fir": 1, "1st": 1, "sec": 2, "2nd": 2, "thi": 3, "3rd": 3, "fou": 4, "4th": 4,
             "fif": 5, "5th": 5}  # fmt: skip
_NUMBERED = re.compile(
    r"\b(?:the )?(first|second|third|fourth|fifth|last|final|1st|2nd|3rd|4th|5th)"
    r"(?: (?:option|choice|answer|one|statement|of the (?:options|choices))\b|"
    r"(?= is (?:the )?(?:right|correct|best)))|"
    r"\b(?:option|choice|answer|statement)(?: (?:number|no\.))?:? ?#?"
    r"(\d|one|two|three|four|five)\b(?![.,:]?\d)",
    re.IGNORECASE,
)
_BRIEF = 64  # characters of a reply that is judged once for all questions
_ENDS_IN_LETTER = re.compile(r"[A-Za-z' ,:\n]{2,}[ (\n]\(?[A-Z]\)?\.?")
_LABELLED = re.compile(r"[(\[]?([A-Za-z])[).:\]]{1,2}\s*(.+)")
_SO_TEXT = re.compile(
    r"(?<!n't )(?<!not )(?<!never )"
    r"\b(?:(?:so|therefore|thus|hence)[,:]?|(?:go|going) (?:with|for)|i(?:'d| would) say|i choose) "
    r"(?:(?:it's|it is|it must be|this is|that's) )?"
    r"([^.!?\n,]{1,120})[.!]?$",
    re.IGNORECASE,
)
_REPORTED = re.compile(r"\b[A-Z]\)? (?:says|states|claims|describes|mentions|suggests)\b")
_LOOKED_AGAIN = re.compile(
    RETRACTED.pattern
    + r"|\b(?:however|(?:up)?on (?:closer|further|re)|looking (?:closer|again|more closely))"
)


class _Options:
    """The options of a question, ready to be compared with."""

    __slots__ = ("letters", "longest", "numbers", "texts", "yes_no")

    def __init__(self, choices: tuple[str, ...]) -> None:
        self.letters = tuple(chr(65 + i) for i in range(len(choices)))
        self.texts = [plain(choice) for choice in choices]
        self.numbers = [number_of(choice) for choice in choices]
        self.longest = max(map(len, choices), default=0)
        self.yes_no = set(self.texts) == {"yes", "no"}

    def only(self, text: str) -> str:
        """Return the letter of the one option that a whole text is, else ""."""
        if len(text) > self.longest + 24:
            return ""
        form = plain(text)
        for near in (form, f"{form}s", form.removesuffix("s")) if len(form) > 3 else (form,):
            if near and self.texts.count(near) == 1:
                return self.letters[self.texts.index(near)]
        if len(text) < 40 and any(value is not None for value in self.numbers):
            value = number_of(text)
            if value is not None and self.numbers.count(value) == 1:
                return self.letters[self.numbers.index(value)]
        return ""


_options = lru_cache(maxsize=1024)(_Options)


def read_choice(text: str, choices: Sequence[str]) -> Reading:
    """Read the letter of the option that a reply picks.

    Args:
        text: a complete reply (one cut off by the token limit is `truncated`, not read).
        choices: the option texts; option i has the letter chr(65 + i).

    Returns:
        answered with a letter; abstained; or unparsed where there is no single pick; with the
        rule that decided and the words it fired on.
    """
    options = _options(tuple(choices))
    words = tidy(text)
    if not words:
        return Reading(state=State.UNPARSED, rule="empty")
    bare = words.strip(OPENING + CLOSING + ".:").upper()
    if bare in options.letters:
        return Reading(state=State.ANSWERED, answer=bare, rule="the letter alone", evidence=words)
    letter = options.only(words)
    if letter:
        return Reading(state=State.ANSWERED, answer=letter, rule="an option's text", evidence=words)
    label = _LABELLED.fullmatch(words) if len(words) <= options.longest + 24 else None
    if label and options.only(label[2]) == label[1].upper():
        return Reading(
            state=State.ANSWERED, answer=label[1].upper(), rule="letter and text", evidence=words
        )
    if len(words) <= _BRIEF:
        known = _brief(words, len(options.letters))
        if known is not None:
            return known
    if "\\" in text or "<" in text:
        boxed = _contained(text, choices)
        if boxed is not None:
            return boxed
    return _decide(words, options, _letters(words, options))


@lru_cache(maxsize=4096)
def _brief(text: str, count: int) -> Reading | None:
    """Read a brief reply whose picked letter ends it, whatever the options say; None for others.

    Such replies ("The answer is B.") recur in every run, so each is judged once.
    """
    if not _ENDS_IN_LETTER.fullmatch(text) or may_refuse(text.lower()):
        return None
    options = _options(("",) * count)
    picks = _letters(text, options)
    stated_once = len(picks) == 1 and picks[0].strength >= STATED
    return _decide(text, options, picks) if stated_once else None


def _contained(text: str, choices: Sequence[str]) -> Reading | None:
    """Read what stands in boxes and answer tags, which go before all else and must agree."""
    read = [(box, read_choice(box.text, choices)) for box in containers(text) if box.text.strip()]
    decided = [pair for pair in read if pair[1].state is not State.UNPARSED] or read
    if not decided:
        return None
    box, last = decided[-1]
    if len({(reading.state, reading.answer) for _, reading in decided}) > 1:
        return Reading(state=State.UNPARSED, rule="different final answers", evidence=box.evidence)
    return Reading(
        state=last.state, answer=last.answer, rule="boxed or tagged", evidence=box.evidence
    )


def _decide(text: str, options: _Options, picks: list[Pick]) -> Reading:
    """Let the strongest picks decide, once corrections have withdrawn the earlier ones."""
    picks = [pick for pick in picks if len(pick.letters) == 1 or not _narrowed(pick, picks)]
    top = max((pick.strength for pick in picks), default=0)
    if top < STATED:
        picks += _texts(text, options)
        top = max((pick.strength for pick in picks), default=0)
    picks += _abstentions(text, options, picks)
    picks = _corrected(text, picks)
    top = max((pick.strength for pick in picks), default=0)
    best = [pick for pick in picks if pick.strength == top]
    if not best and len(once := set(text.split())) == 1 and " " in text:
        return read_choice(once.pop(), options.texts)  # "C C C C"
    if not best:
        named = _by_number(text, options)
        if named != text:
            return msgspec.structs.replace(
                _decide(named, options, _letters(named, options)), evidence=text[:200]
            )
    if not best:
        return Reading(state=State.UNPARSED, rule="no option picked", evidence=text[-200:])
    last = best[-1]
    if len({pick.letters for pick in best}) > 1:
        words = " | ".join(pick.evidence for pick in best)[:200]
        return Reading(state=State.UNPARSED, rule="different picks", evidence=words)
    if last.letters == _ABSTAIN:
        return Reading(state=State.ABSTAINED, rule=last.rule, evidence=last.evidence)
    if len(last.letters) > 1 or last.rule == _DISAGREE:
        rule = last.rule if last.rule == _DISAGREE else "several options"
        return Reading(state=State.UNPARSED, rule=rule, evidence=last.evidence)
    if last.letters[0] not in options.letters:
        return Reading(state=State.UNPARSED, rule="not one of the options", evidence=last.evidence)
    return Reading(
        state=State.ANSWERED, answer=last.letters[0], rule=last.rule, evidence=last.evidence
    )


def _narrowed(several: Pick, picks: list[Pick]) -> bool:
    """Whether one of several letters is picked later: "so B or C. Considering the size, C"."""
    return any(
        pick.at > several.at
        and pick.strength >= LEANING
        and len(pick.letters) == 1
        and pick.letters[0] in several.letters
        for pick in picks
    )


def _by_number(text: str, options: _Options) -> str:
    """Write "option B" for "the second option", "Option 2", "the last one"."""

    def letter(match: re.Match[str]) -> str:
        word = (match[1] or match[2]).lower()
        last = len(options.letters)
        number = last if word in ("last", "final") else _ORDINALS.get(word[:3]) or number_of(word)
        if number is None or number.denominator != 1 or not 1 <= number <= last:
            return match[0]
        return f"option {options.letters[int(number) - 1]}"

    return _NUMBERED.sub(letter, text) if len(text) <= _SHORT else text


def _corrected(text: str, picks: list[Pick]) -> list[Pick]:
    """Drop what stands before the last correction that a pick or an abstention follows."""
    picks = sorted(picks)
    if len({pick.letters for pick in picks if pick.strength >= REFUSED}) < 2:
        return picks
    last = max((p for p in picks if p.strength >= REFUSED), key=lambda pick: pick.at)
    turns = RETRACTED if last.letters == _ABSTAIN else _LOOKED_AGAIN
    for turn in reversed(list(turns.finditer(text.lower()))):
        if turn.start() > last.at and last.letters != _ABSTAIN:
            continue
        later = [p for p in picks if p.at >= turn.start() or (p is last and p.at <= turn.start())]
        if len(later) < len(picks) and any(
            pick.at < turn.start() and pick not in later for pick in picks
        ):
            return later
    return picks


def _abstentions(text: str, options: _Options, picks: list[Pick]) -> list[Pick]:
    """Find where the reply abstains, as its conclusion or in passing."""
    lowered = text.lower()
    if not may_refuse(lowered):
        return []
    found = []
    for passage in stated(text):
        if len(passage.text) < 2:
            continue
        cue = next(cues(passage.text), None)
        if cue is not None and cue.strong and not _is_option(passage.text, options):
            strength = FINAL if passage.final else STATED
            end = passage.at + len(passage.evidence)
            if any(p.strength >= STATED and passage.at <= p.at < end for p in picks):
                continue  # "The answer is A, because it cannot be B"
            found.append(Pick(passage.at, _ABSTAIN, strength, cue.rule, passage.evidence))
    top = max((pick.strength for pick in picks), default=0)
    if found or (top > REFUSED and not RETRACTED.search(lowered)):
        return found
    for cue in cues(text):
        words = text[cue.start : cue.end].strip()
        if not _is_option(words, options):
            strength = REFUSED if cue.strong and cue.absent is None else UNSURE
            found.append(Pick(cue.start, _ABSTAIN, strength, cue.rule, words[:200]))
    return found


def _is_option(text: str, options: _Options) -> bool:
    """Whether a text is one option's, with or without its letter."""
    text = text.strip(OPENING)
    behind = text[1:].lstrip(CLOSING + ".:-,") if text[:1] in options.letters else text
    return bool(options.only(behind) or options.only(text))


def _texts(text: str, options: _Options) -> list[Pick]:
    """Find an option by its text: stated as the answer, or the only one a short reply affirms."""
    for passage in reversed(stated(text)):
        letter = options.only(passage.text)
        if letter:
            strength = FINAL if passage.final else STATED
            return [
                Pick(
                    passage.at,
                    (letter,),
                    strength,
                    "the answer is an option's text",
                    passage.evidence,
                )
            ]
    form = f"{plain(text)} "
    begun = [
        letter
        for letter, option in zip(options.letters, options.texts, strict=True)
        if (option.startswith(form) and form.count(" ") > 2)
        or (option.startswith(("yes ", "no ")) and form.startswith(f"{option} "))
    ]
    if len(begun) == 1:
        return [Pick(0, (begun[0],), LEANING, "begins like an option's text", text)]
    if 0 in options.numbers and any(cue.rule == "not there" for cue in cues(text)):
        nothing = options.letters[options.numbers.index(Fraction(0))]
        return [Pick(0, (nothing,), LEANING, "none there", text)]
    closing = _SO_TEXT.search(text[-200:])
    if closing and (letter := options.only(closing[1])):
        return [Pick(len(text), (letter,), LEANING, "so an option's text", closing[0])]
    opening = _FIRST.match(text)
    if opening and (letter := options.only(opening[0])):
        return [Pick(0, (letter,), OPENED, "opens with an option's text", opening[0])]
    if len(text) > _SHORT:
        return []
    if options.yes_no:
        reading = read_yes_no(text)
        if reading.state is not State.ANSWERED:
            return []
        letter = options.only(reading.answer)
        return [Pick(0, (letter,), LEANING, f"yes or no: {reading.rule}", reading.evidence)]
    affirmed: list[int] = []
    rest = text
    denied = False
    for clause in _CLAUSES.split(text):
        if clause in _CLAUSE_ENDS:
            denied = denied and clause == ","
            continue
        if _REPORTED.search(clause):
            continue  # "Option A says that the sign is red"
        words = f" {plain(clause)} "
        denied = denied and not BE & set(words.split())  # "isn't red, green or blue"
        inside = [i for i, option in enumerate(options.texts) if option and f" {option} " in words]
        for i in inside:
            own = f" {options.texts[i]} "
            if any(i != j and own in f" {options.texts[j]} " for j in inside):
                continue  # "red" inside "dark red"
            before, _, behind = words.partition(own)
            if behind.startswith(("would ", "could ")):
                continue  # "a kitchen would have a stove"
            if denied or any(
                word in _AGAINST or word.endswith("n't") for word in before.split()[-4:]
            ):
                denied = True
                continue
            affirmed.append(i)
            rest = rest.replace(clause, " ", 1) if not words.replace(own, "").strip() else rest
    if len(set(affirmed)) != 1:
        return []
    if any(cue.absent is None and cue.strong for cue in cues(rest)):
        return []
    return [Pick(0, (options.letters[affirmed[0]],), LEANING, "one option's text", text[:200])]


def _letters(text: str, options: _Options) -> list[Pick]:
    """Judge every letter, and drop the picks that the reply itself rules out or only lists."""
    groups = find_groups(text, options.texts)
    if not groups:
        return []
    sentences = Sentences(text)
    picks: list[Pick] = []
    has_quotes = '"' in text or "'" in text
    quoted = [match.span() for match in _QUOTED.finditer(text)] if has_quotes else []
    for group in groups:
        if any(start < group.start < end for start, end in quoted):
            continue
        place = ord(group.letters[-1]) - 65
        own = options.texts[place].partition(" ")[0] if place < len(options.texts) else ""
        picks += judge(text, group, *sentences.around(group.start), own)
    out = {pick.letters for pick in picks if pick.strength == RULED_OUT}
    listed = len({pick.letters for pick in picks if pick.rule == "begins a line"}) > 1
    kept = []
    for pick in picks:
        if pick.strength <= 0 or (pick.letters in out and pick.strength <= OPENED):
            continue
        if set(pick.letters) == set(options.letters) and len(pick.letters) > 1:
            continue  # all of them: the options are named, none is picked
        if listed and pick.rule == "begins a line" and not _heads(text, pick.at):
            continue  # the options are gone through one by one
        kept.append(_with_text(text, pick, options))
    return kept


def _heads(text: str, at: int) -> bool:
    """Whether a letter's line opens the reply and a blank line follows it."""
    if at > 16 or text[:at].strip(OPENING):
        return False
    blank = text.find("\n\n", at)
    return blank >= 0 and text.find("\n", at) == blank


def _with_text(text: str, pick: Pick, options: _Options) -> Pick:
    """Check a letter against the text that stands with it: "B. 4" where 4 is option C."""
    if len(pick.letters) > 1:
        return pick
    stop = text.find("\n", pick.at, pick.at + 400)
    behind = text[pick.at + 1 : stop if stop >= 0 else pick.at + 400].strip(
        CLOSING + OPENING + ".:,-;"
    )
    other = options.only(behind) if behind else ""
    if other and other != pick.letters[0]:
        return pick._replace(rule=_DISAGREE)
    place = ord(pick.letters[0]) - 65
    own = options.texts[place] if place < len(options.texts) else ""
    given = other or (own and plain(behind).startswith(own))
    if pick.rule == "begins a line" and len(behind) < 60 and not given:
        cue = next(cues(behind), None) if may_refuse(behind.lower()) else None
        if cue is not None and cue.strong and cue.absent is None:
            return pick._replace(letters=_ABSTAIN, rule=cue.rule)  # "A. I don't know"
    return pick
