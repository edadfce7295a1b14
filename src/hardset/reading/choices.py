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
from functools import lru_cache

import msgspec

from hardset.reading.at_odds import ANOTHER, at_odds
from hardset.reading.conclusions import RETRACTED, containers, stated
from hardset.reading.cues import cues, may_refuse
from hardset.reading.leads import (
    FINAL,
    LEANING,
    OPENED,
    REFUSED,
    RULED_OUT,
    STATED,
    UNSURE,
)
from hardset.reading.letters import CLOSING, OPENING, find_groups
from hardset.reading.nothing import HOW_MANY, nothing_there
from hardset.reading.numbers import number_of
from hardset.reading.option_texts import (
    SHORT,
    Options,
    in_bold,
    is_option,
    options_of,
    picked_by_text,
    without_echoes,
)
from hardset.reading.picks import Pick, judge
from hardset.reading.refusals import abstained, refusal
from hardset.reading.words import Sentences, plain, tidy, word_set
from hardset.records import Reading, State

_ABSTAIN = ("?",)
_DISAGREE = "letter and text disagree"
NO_PICK = "no option picked"
_IN_PASSING = ("an option's text in bold", "one option's text", "none there")
_DENIES = word_set("not no never cannot without")
_NOTHING = word_set("nothing none no nobody neither empty blank bare plain without")

_QUOTED = re.compile(
    r"\b(?:says?|said|states?|claims?|claimed|reads?|asks?|suggests?|writes?|written):?,?\s"
    r"(?:that )?(?:\"[^\"\n]{2,300}\"|'[^'\n]{2,300}'(?!\w))"
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
_LOOKED_AGAIN = re.compile(
    RETRACTED.pattern
    + r"|\b(?:however|(?:up)?on (?:closer|further|re)|looking (?:closer|again|more closely))"
)


def read_choice(text: str, choices: Sequence[str], question: str = "") -> Reading:
    """Read the letter of the option that a reply picks.

    Args:
        text: a complete reply (one cut off by the token limit is `truncated`, not read).
        choices: the option texts; option i has the letter chr(65 + i).
        question: what was asked, so that "There is no dog, only a cat", asked for the dog's
            colour, is known to refuse.

    Returns:
        answered with a letter; abstained; or unparsed where there is no single pick; with the
        rule that decided and the words it fired on.
    """
    options = options_of(tuple(choices))
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
    reading = _decide(words, options, _letters(words, options))
    if question and reading.rule == NO_PICK:
        rest = without_echoes(words, options, question)
        reading = _decide(rest, options, _letters(rest, options)) if rest != words else reading
    hedged = reading.state is State.ABSTAINED and question and refusal(words, question) is None
    if (reading.rule == NO_PICK or hedged) and "**" in text and (letter := in_bold(text, options)):
        rule = "an option's text in bold"
        reading = Reading(state=State.ANSWERED, answer=letter, rule=rule, evidence=words[:200])
    return _refused(words, options, reading, question) if question else reading


def _refused(text: str, options: Options, reading: Reading, question: str) -> Reading:
    """Let a reply refuse that says of what is asked about that it is not there.

    It does so where it picks no option, or holds one's text only in passing.
    """
    if reading.state is State.ANSWERED:
        option = options.texts[options.letters.index(reading.answer)]
        denies = any(word in _DENIES or word.endswith("n't") for word in option.split())
        denies = denies or bool(_NOTHING & set(option.split())) or any(cues(option))
        if reading.rule not in _IN_PASSING or denies:
            return reading
        if reading.rule == "none there" and HOW_MANY.search(question):
            return reading
        odd = at_odds(text, question)
        if odd is not None and odd.rule == ANOTHER and not at_odds(option, question):
            return abstained(text, odd)
    elif reading.state is State.ABSTAINED or reading.rule not in ("", NO_PICK):
        return reading
    cue = refusal(text, question)
    if cue is not None:
        lists = is_option(text[cue.start : cue.end], options)
        return reading if lists or _repeats_option(text, options) else abstained(text, cue)
    nothing = nothing_there(text, question)
    told = not nothing and reading.rule == NO_PICK and not _repeats_option(text, options)
    if told and (odd := at_odds(text, question)):
        return abstained(text, odd)
    if not nothing or reading.rule == "none there":
        return reading
    rule = "what is asked about is not there"
    return Reading(state=State.ABSTAINED, rule=rule, evidence=nothing[:200])


def _repeats_option(text: str, options: Options) -> bool:
    """Whether a reply holds an option of several words that itself denies something."""
    form = ""
    for option in options.texts:
        words = option.split()
        if len(words) > 3 and any(word in _DENIES or word.endswith("n't") for word in words):
            form = form or plain(text)
            if option in form:
                return True
    return False


@lru_cache(maxsize=4096)
def _brief(text: str, count: int) -> Reading | None:
    """Read a brief reply whose picked letter ends it, whatever the options say; None for others.

    Such replies ("The answer is B.") recur in every run, so each is judged once.
    """
    if not _ENDS_IN_LETTER.fullmatch(text) or may_refuse(text.lower()):
        return None
    options = options_of(("",) * count)
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


def _decide(text: str, options: Options, picks: list[Pick]) -> Reading:
    """Let the strongest picks decide, once corrections have withdrawn the earlier ones."""
    picks = [pick for pick in picks if len(pick.letters) == 1 or not _narrowed(pick, picks)]
    top = max((pick.strength for pick in picks), default=0)
    if top < STATED:
        picks += picked_by_text(text, options)
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
        return Reading(state=State.UNPARSED, rule=NO_PICK, evidence=text[-200:])
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


def _by_number(text: str, options: Options) -> str:
    """Write "option B" for "the second option", "Option 2", "the last one"."""

    def letter(match: re.Match[str]) -> str:
        word = (match[1] or match[2]).lower()
        last = len(options.letters)
        number = last if word in ("last", "final") else _ORDINALS.get(word[:3]) or number_of(word)
        if number is None or number.denominator != 1 or not 1 <= number <= last:
            return match[0]
        return f"option {options.letters[int(number) - 1]}"

    return _NUMBERED.sub(letter, text) if len(text) <= SHORT else text


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


def _abstentions(text: str, options: Options, picks: list[Pick]) -> list[Pick]:
    """Find where the reply abstains, as its conclusion or in passing."""
    lowered = text.lower()
    if not may_refuse(lowered):
        return []
    found = []
    for passage in stated(text):
        if len(passage.text) < 2:
            continue
        cue = next(cues(passage.text), None)
        if cue is not None and cue.strong and not is_option(passage.text, options):
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
        if not is_option(words, options):
            strength = REFUSED if cue.strong and cue.absent is None else UNSURE
            found.append(Pick(cue.start, _ABSTAIN, strength, cue.rule, words[:200]))
    return found


def _letters(text: str, options: Options) -> list[Pick]:
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


def _with_text(text: str, pick: Pick, options: Options) -> Pick:
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
