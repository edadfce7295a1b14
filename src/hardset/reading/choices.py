"""Which option a reply picks: one letter, or none.

Every letter that stands alone is judged by the words around it: what leads to it ("the answer
is", "I would choose", "so", "not", "eliminated:") and what follows it ("is correct", "is wrong").
Each gives an *event* of some strength; the strongest decide, and they must agree. A later
correction ("wait, ...") withdraws what was said before it.

    FINAL     in a box, in answer tags, "final answer:", "conclusion:"
    STATED    "the answer is B", "B is correct", "I choose B", "therefore B", a line that is only B
    OPENED    a line that begins with the letter: "B. 4", "B: the sign is green"
    LEANING   "it is B", "option B matches", "The sign is green (B)."; the text of one option
    REFUSED   "cannot be determined" - an abstention counts here, and above only as a conclusion
    HEDGED    "maybe B", "it could be B"

Letters that are articles or pronouns ("A red car", "I"), belong to other names ("Image D",
"vitamin C" without a lead), are ruled out ("not A", "A is wrong") or are only talked about are
no events. Where a letter and its own text are given and the text is exactly another option's,
the reply gives no single answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from hardset.reading import refusals
from hardset.reading.conclusions import containers, stated
from hardset.reading.words import Sentences, plain, tidy, words_of
from hardset.reading.yes_no import read_yes_no
from hardset.records import Reading, State

FINAL, STATED, OPENED, LEANING, REFUSED, HEDGED = 6, 5, 4, 3, 2, 1
_NONE, _RULED_OUT = 0, -1
_ABSTAIN, _SEVERAL, _OUTSIDE = "?", "several", "outside"


class _Event(NamedTuple):
    at: int
    pick: str  # a letter, or one of the three above
    strength: int
    rule: str
    evidence: str


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NOUNS = _set("answer answers ans choice option response conclusion selection pick solution verdict guess bet prediction "
              "decision result final_answer candidate")  # fmt: skip
_FINAL_NOUNS = _set("conclusion verdict")
_FILL = _set("option options choice choices letter the most likely probably clearly definitely certainly indeed simply "
             "therefore thus best correct right closest obviously surely actually only just be both either evidently "
             "really also still maybe perhaps possibly presumably rather letters as-is statement thing hence")  # fmt: skip
_DOUBT = _set("maybe perhaps possibly might could may")
_BE = _set("is are was be being equals becomes remains it's that's")
_CHOOSE = _set("choose chose choosing pick picking select selecting say guess think believe conclude mark suppose reckon suspect "
               "prefer favor favour answer selected chosen picked opt vote go going went lean leaning settle settled "
               "stick submit take i'd")  # fmt: skip
_PREPOSITIONS = _set("with for on towards toward to that as by in")
_SO = _set("so therefore thus hence then leaving leaves consequently ergo accordingly i.e meaning")
_SUPPORT = _set("matches match matching indicates supports suggests fits corresponds corresponding consistent aligns points pointing "
                "describes described reflects identifies gives")  # fmt: skip
_NOT = _set(
    "not isn't wasn't aren't neither nor never cannot can't don't doesn't won't wouldn't shouldn't hardly doubt unlikely no"
)
_OUT = _set("eliminated eliminate eliminating eliminates incorrect wrong rejected reject rejecting discarded discard excluded exclude "
            "excluding false except unlike distractors distractor out dismiss dismissed than excludes invalid")  # fmt: skip
_WRONG = _set("wrong incorrect false eliminated out excluded dismissed inaccurate rejected unlikely untrue mistaken invalid discarded "
              "inconsistent contradicts unsupported irrelevant ✗ ✘ ❌ impossible implausible")  # fmt: skip
_RIGHT = _set("correct right best answer accurate true choice one ✓ ✔ ✅ option winner")
_JOINS = _set("and or & / nor option options choice , both either")
_BECAUSE = _set("because since as given due based , : - / so for which when i although though but and or not . ? = with if "
                "rather instead over")  # fmt: skip
_MODAL = _set("is are was seems appears looks would could might may must should can has isn't aren't wasn't does doesn't cannot can't "
              "couldn't won't do don't did didn't were be")  # fmt: skip
_FITS = _set(
    "matches fits describes corresponds aligns captures best accurately correctly reflects"
)
_SUPPOSED = _set("if whether suppose assuming unless")

_STOP = r"(?<![A-Za-z0-9_\u00c0-\u024f+#°&])(?<![A-Za-z]')(?<![A-Za-z]-)(?<![Nn]/)(?<![A-Za-z]\.)"
_LETTER = re.compile(
    _STOP + r"([A-Za-z])(?![A-Za-z0-9_\u00c0-\u024f+#]|'[a-z]|-[A-Za-z]|\.[A-Za-z]\b|&[A-Za-z])"
)
_OPEN = "([{\"'<$* "
_CLOSE = ")]}\"'>$* "
_TURNED = re.compile(
    r"\b(?:wait|actually|correction|on second thought|scratch that|let me (?:re|correct|double|look again)|i made a mistake|"
    r"my mistake|however|upon (?:closer|further|re)|looking (?:closer|again|more closely)|on closer|sorry|oops|hmm|hold on|no,|i mean)|"
    r"不对|等等|其实|更正"
)


class _Options:
    """The options of a question, ready to be compared with."""

    __slots__ = ("count", "letters", "texts", "yes_no")

    def __init__(self, choices: tuple[str, ...]) -> None:
        self.count = len(choices)
        self.letters = {chr(65 + i): i for i in range(self.count)}
        self.texts = [plain(choice) for choice in choices]
        self.yes_no = set(self.texts) == {"yes", "no"}

    def only(self, text: str) -> str:
        """Return the letter of the one option whose text this is, else ""."""
        if self.texts.count(text) == 1:
            return chr(65 + self.texts.index(text))
        return ""


_options = lru_cache(maxsize=1024)(_Options)


def read_choice(text: str, choices: Sequence[str]) -> Reading:
    """Read the letter of the option that a reply picks.

    Args:
        text: a complete reply (one cut off by the token limit is `truncated`, not read).
        choices: the option texts; option i has the letter chr(65 + i).

    Returns:
        answered with a letter; abstained; or unparsed where there is no single pick, with the
        rule that decided and the words it fired on.
    """
    options = _options(tuple(choices))
    boxes = containers(text) if "\\" in text or "<" in text else []
    words = tidy(text)
    if not words:
        return Reading(state=State.UNPARSED, rule="empty")
    letter = options.only(plain(words)) if len(words) < 400 else ""
    if letter and not (len(words) < 4 and words[:1].upper() in options.letters):
        return Reading(
            state=State.ANSWERED, answer=letter, rule="the text of one option", evidence=words
        )
    if boxes:
        readings = [read_choice(box.text, choices) for box in boxes if box.text.strip()]
        decided = [r for r in readings if r.state is not State.UNPARSED] or readings
        if decided:
            picks = {(r.state, r.answer) for r in decided}
            last = decided[-1]
            if len(picks) > 1:
                return Reading(
                    state=State.UNPARSED,
                    rule="different final answers",
                    evidence=boxes[-1].evidence,
                )
            return Reading(
                state=last.state,
                answer=last.answer,
                rule="boxed or tagged answer",
                evidence=boxes[-1].evidence,
            )
    return _decide(words, options, _letters(words, options))


def _decide(text: str, options: _Options, events: list[_Event]) -> Reading:
    """Let the strongest events decide, once corrections have withdrawn the earlier ones."""
    top = max((event.strength for event in events), default=0)
    if top < STATED:
        events += _texts(text, options)
        top = max((event.strength for event in events), default=0)
    events += _abstentions(text, options, top)
    events.sort()
    picks = {event.pick for event in events if event.strength >= LEANING}
    if len(picks) > 1:
        events = _after_corrections(text, events)
    top = max((event.strength for event in events), default=0)
    best = [event for event in events if event.strength == top]
    if not best:
        return Reading(state=State.UNPARSED, rule="no option picked", evidence=text[-200:])
    last = best[-1]
    if len({event.pick for event in best}) > 1:
        return Reading(
            state=State.UNPARSED,
            rule="different picks",
            evidence=" | ".join(e.evidence for e in best)[:200],
        )
    if last.pick == _SEVERAL:
        return Reading(state=State.UNPARSED, rule="several options", evidence=last.evidence)
    if last.pick == _OUTSIDE:
        return Reading(state=State.UNPARSED, rule="not one of the options", evidence=last.evidence)
    if last.pick == _ABSTAIN:
        return Reading(state=State.ABSTAINED, rule=last.rule, evidence=last.evidence)
    return Reading(state=State.ANSWERED, answer=last.pick, rule=last.rule, evidence=last.evidence)


def _after_corrections(text: str, events: list[_Event]) -> list[_Event]:
    """Drop what stands before the last correction that a pick follows."""
    last = max(event.at for event in events if event.strength >= REFUSED)
    for turn in reversed(list(_TURNED.finditer(text.lower(), 0, last))):
        if any(event.at < turn.start() for event in events):
            return [event for event in events if event.at >= turn.start()]
    return events


def _abstentions(text: str, options: _Options, top: int) -> list[_Event]:
    """Find where the reply abstains; as a conclusion ("Answer: N/A") it weighs as much as a pick."""
    found = []
    for passage in stated(text):
        cue = next(refusals.cues(passage.text), None)
        if (
            cue is not None
            and cue.strong
            and not cue.absent
            and not options.only(plain(passage.text))
        ):
            rule, strength = cue.rule, FINAL if passage.final else STATED
            found.append(
                _Event(text.find(passage.evidence), _ABSTAIN, strength, rule, passage.evidence)
            )
    if top <= REFUSED or found:
        for cue in refusals.cues(text):
            evidence = text[cue.start : cue.end].strip()[:200]
            strength = STATED if top == STATED and False else REFUSED
            if cue.absent is not None and cue.rule == "not there" and not cue.absent:
                continue
            found.append(_Event(cue.start, _ABSTAIN, strength, cue.rule, evidence))
            break
    return found


def _texts(text: str, options: _Options) -> list[_Event]:
    """Find an option by its text: stated as the answer, or the only one a short reply contains."""
    for passage in reversed(stated(text)):
        letter = options.only(plain(passage.text))
        if letter:
            strength = FINAL if passage.final else STATED
            return [
                _Event(
                    text.rfind(passage.evidence),
                    letter,
                    strength,
                    "the answer is an option's text",
                    passage.evidence,
                )
            ]
    if len(text) > 300:
        return []
    if options.yes_no:
        reading = read_yes_no(text)
        if reading.state is State.ANSWERED:
            letter = options.only(reading.answer)
            return [_Event(0, letter, LEANING, f"yes or no: {reading.rule}", reading.evidence)]
        return []
    reply = f" {plain(text)} "
    inside = [i for i, option in enumerate(options.texts) if option and f" {option} " in reply]
    inside = [
        i
        for i in inside
        if not any(i != j and f" {options.texts[i]} " in f" {options.texts[j]} " for j in inside)
    ]
    affirmed = [i for i in inside if not _denied(reply, options.texts[i])]
    if len(affirmed) == 1:
        only = options.texts[affirmed[0]]
        rest = reply.replace(f" {only} ", " ", 1)
        if not any(True for cue in refusals.cues(rest) if cue.absent is None and cue.strong):
            return [
                _Event(
                    0, chr(65 + affirmed[0]), LEANING, "the text of one option alone", text[:200]
                )
            ]
    return []


def _denied(reply: str, option: str) -> bool:
    before = reply.partition(f" {option} ")[0].split()[-3:]
    return any(word in _NOT or word.endswith("n't") for word in before)


def _letters(text: str, options: _Options) -> list[_Event]:
    """Judge every letter that stands alone, in groups ("A and C", "A, B or D")."""
    sentences: Sentences | None = None
    events: list[_Event] = []
    out: set[str] = set()
    groups = _groups(text, options)
    openers = set()
    for group in groups:
        sentences = sentences or Sentences(text)
        start, end = sentences.around(group.start)
        for event in _judge(text, group, start, end, options):
            if event.strength == _RULED_OUT:
                out.add(event.pick)
            elif event.strength > 0:
                events.append(event)
            if event.rule == "begins a line" or event.rule == "lists an option":
                openers.add(event.pick)
    if len(openers) > 1:  # the options are gone through one by one
        events = [e for e in events if e.rule != "begins a line" or _alone_above(text, e.at)]
    return [e for e in events if not (e.pick in out and e.strength <= OPENED)]


def _alone_above(text: str, at: int) -> bool:
    """Whether a line opens the reply and a blank line follows it."""
    return (
        not text[:at].strip(_OPEN)
        and "\n\n" in text[at:]
        and "\n" not in text[at : text.index("\n\n", at)]
    )


class _Group(NamedTuple):
    letters: tuple[str, ...]
    start: int  # of the first letter
    end: int  # past the last letter
    bracketed: bool


_BETWEEN = re.compile(
    r"[\s()\[\]\"'{}*$]*(?:(?:,|and/or|and|or|&|/|nor|和|或)[\s()\[\]\"'{}*$]*){1,2}(?:(?:also|option|choice)s?\s*)?[\s()\[\]\"'{}*$]*"
)


def _groups(text: str, options: _Options) -> list[_Group]:
    """Find the letters that can be options' letters, joined where they are listed together."""
    found: list[_Group] = []
    for match in _LETTER.finditer(text):
        letter, at, end = match[1], match.start(), match.end()
        before, after = text[at - 1 : at], text[end : end + 1]
        bracketed = (
            before in ("(", "[", "{", '"', "'")
            and before != ""
            and after != ""
            and after in ")]}\"'"
        )
        if letter.islower() and not _small(text, at, end, bracketed, found):
            continue
        if letter in "AaIi" and not bracketed and _is_word(text, letter, at, end, options):
            continue
        letter = letter.upper()
        if found:
            last = found[-1]
            gap = text[last.end : at]
            if len(gap) < 24 and _BETWEEN.fullmatch(gap):
                found[-1] = _Group((*last.letters, letter), last.start, end, bracketed)
                continue
        found.append(_Group((letter,), at, end, bracketed))
    return found


def _small(text: str, at: int, end: int, bracketed: bool, found: list[_Group]) -> bool:
    """Whether a small letter can be an option's: in brackets, alone on a line, or led to."""
    if bracketed or (text[end : end + 1] == ")" and (not at or text[at - 1] in "\n ")):
        return True
    line = text.rfind("\n", 0, at) + 1
    before = text[max(line, at - 24) : at].lower().strip(_OPEN)
    rest = text[end : end + 12].lstrip(_CLOSE)
    ends = (
        not rest or rest[0] in ".,:;!?\n-/" or rest.startswith(("because", "and ", "or ", "since"))
    )
    if not before:
        return ends
    if found and 0 <= at - found[-1].end < 12 and _BETWEEN.fullmatch(text[found[-1].end : at]):
        return ends
    return ends and before.endswith(("answer", "answer is", "option", "choice", "answer:", ":", "choose", "pick", "select", "it's", "it is", "with", "选", "是", "为", "say", "answer is:", "letter"))  # fmt: skip


_LABEL_FOLLOWERS = _set("is was seems appears looks matches fits and or nor because since as would can cannot should must has "
                        "describes states says does doesn't isn't but not over rather instead based shows correctly wins "
                        "the this these those it there they he she his her their its which i we that also describes due with if only")  # fmt: skip


def _is_word(text: str, letter: str, at: int, end: int, options: _Options) -> bool:
    """Whether "A" or "I" is an article or a pronoun here and not a letter."""
    rest = text[end : end + 40]
    if not rest or rest[0] != " ":
        return (
            letter in "Ii"
            and rest[:1] not in ("", ")", ".", ":", "]", "\n")
            or (letter in "Aa" and rest[:1] == "-")
        )
    following = words_of(rest)
    if not following or rest.strip()[:1] in "-:=>(.,;":
        return False
    if letter in "Ii":
        return True
    if following[0] in _LABEL_FOLLOWERS:
        return letter == "a" and following[0] not in ("is", "and", "or", "because", "since", "as")
    first = rest.strip()[:1]
    own = options.texts[0] if options.count else ""
    if own and first.isupper() and plain(rest).split()[:1] == own.split()[:1]:
        return False
    return True


def _judge(text: str, group: _Group, start: int, end: int, options: _Options) -> list[_Event]:
    """Judge one group of letters by the words before and after it in its sentence."""
    before = words_of(text[max(start, group.start - 160) : group.start])
    after = words_of(text[group.end : min(end, group.end + 100)])
    evidence = text[max(start, group.start - 60) : min(end, group.end + 40)].strip()
    rest = text[group.end :].lstrip(_CLOSE[:-1])
    lead, rule = _lead(before)
    said, said_rule = _said_of(after, text[group.end : min(end, group.end + 100)])
    letters = list(dict.fromkeys(group.letters))
    question = text[start:end].rstrip().endswith("?")
    supposed = bool(_SUPPOSED & set(before[-7:])) and not {"answer", ","} & set(before[-3:])
    made: list[_Event] = []

    def event(pick: str, strength: int, why: str) -> None:
        made.append(_Event(group.start, pick, strength, why, evidence))

    if (
        len(letters) > 1
        and said
        and after[:1]
        and after[0]
        in ("is", "was", "seems", "appears", "looks", "isn't", "doesn't", "does", "matches", "fits")
    ):
        # "The answer is B, A is wrong": what follows is said of the last one only.
        event(letters.pop(), said if said != STATED or not question else _NONE, said_rule)
        said = _NONE
    elif len(letters) > 1 and lead >= STATED and said == _RULED_OUT:
        for letter in letters[1:]:
            event(letter, _RULED_OUT, said_rule)
        letters, said = letters[:1], _NONE
    if said == _RULED_OUT or lead == _RULED_OUT:
        for letter in letters:
            event(letter, _RULED_OUT, said_rule if said else rule)
        return made
    strength, why = (said, said_rule) if said > lead else (lead, rule)
    if said != _NONE and lead < STATED:
        strength, why = said, said_rule
    if question or (supposed and strength < FINAL):
        return made
    line = text.rfind("\n", 0, group.start) + 1
    opens = not text[line : group.start].strip(_OPEN + "\t")
    if opens:
        alone = not rest.strip(".:,!") or rest.lstrip(".:,!) ").startswith("\n")
        delimited = (
            rest[:1] in ".):,-]"
            or text[group.end : group.end + 1] in ")]:."
            or rest[:2] == " -"
            or rest[:2] == " :"
        )
        if alone:
            strength, why = max(strength, STATED), "the letter alone"
        elif strength < STATED and delimited and not _initials(rest):
            verdict = _line_verdict(text, group.end)
            if verdict:
                strength, why = verdict, "judged in its line"
            else:
                strength, why = OPENED, "begins a line"
        elif (
            strength < STATED and after[:1] and after[0] in ("because", "since", "as", "given", "-")
        ):
            strength, why = OPENED, "begins a line"
    elif strength == _NONE and not before and not after:
        strength, why = OPENED, "the letter alone in a sentence"
    elif (
        strength == _NONE
        and not after
        and before
        and (group.bracketed or before[-1] == ",")
        and not (_NOT | _OUT) & set(before)
    ):
        strength, why = LEANING, "ends a sentence"
    if strength == _RULED_OUT:
        return [
            *made,
            *(_Event(group.start, letter, _RULED_OUT, why, evidence) for letter in letters),
        ]
    if strength <= 0:
        return made
    if len(letters) > 1:
        if set(letters) < set(options.letters) or len(letters) < options.count:
            event(_SEVERAL, strength, why)
        elif strength > LEANING:
            event(_SEVERAL, strength, why)
        return made
    letter = letters[0]
    if letter not in options.letters:
        if strength >= STATED or why == "begins a line":
            event(_OUTSIDE, strength, why)
        return made
    other = options.only(plain(_line_text(text, group.end)))
    if other and other != letter:
        event(_SEVERAL, strength, "letter and text disagree")
        return made
    event(letter, strength, why)
    return made


def _line_text(text: str, end: int) -> str:
    """Return what stands behind a letter on its line."""
    stop = text.find("\n", end, end + 400)
    return text[end : stop if stop >= 0 else min(len(text), end + 400)].strip(" .:,-)]}\"'*;")


def _line_verdict(text: str, end: int) -> int:
    words = words_of(_line_text(text, end))[-3:]
    if set(words) & _set("✗ ✘ ❌ incorrect wrong eliminated") or (_negated_end(words)):
        return _RULED_OUT
    if set(words[-1:]) & _set("✓ ✔ ✅ correct"):
        return STATED
    return _NONE


def _negated_end(words: list[str]) -> bool:
    return "not" in words and "correct" in words


def _initials(rest: str) -> bool:
    """Whether what follows makes the letter a person's initial: ". S. Lewis"."""
    return re.match(r"\.\s?[A-Z]\.", rest) is not None


def _lead(before: list[str]) -> tuple[int, str]:
    """Say how strongly the words before a letter make it the pick."""
    k = len(before)
    doubt = False
    while k and before[k - 1] in _FILL:
        k -= 1
        doubt |= before[k] in _DOUBT
    if not k:
        if len(before) and before[0] in _DOUBT:
            return HEDGED, "maybe"
        return (LEANING, "opens with") if "correct" in before or "best" in before else (_NONE, "")
    word = before[k - 1]
    strength, rule, since = _NONE, "", k
    if (
        word in _OUT
        or word in _NOT
        or (word == "of" and before[k - 2 : k - 1] in (["instead"], ["neither"]))
    ):
        return _RULED_OUT, "ruled out"
    if word == ":" and k > 1 and (set(before[max(0, k - 4) : k - 1]) & _OUT):
        return _RULED_OUT, "ruled out"
    if word in _BE or word in (":", "=", "->", "=>", "→", "-", "to"):
        noun = _last_noun(before, k - 1)
        if noun >= 0:
            strength, rule, since = STATED, "the answer is", noun
            if before[noun] in _FINAL_NOUNS or "final" in before[max(0, noun - 2) : noun]:
                strength, rule = FINAL, "final answer"
            if set(before[max(0, noun - 2) : noun]) & _OUT:
                return _RULED_OUT, "ruled out"
        elif word in ("it's", "that's") or (
            word in _BE
            and set(before[max(0, k - 3) : k - 1]) & {"it", "this", "that", "which", "must", "one"}
        ):
            strength, rule, since = LEANING, "it is", max(0, k - 4)
        elif word == ":" and set(before[max(0, k - 4) : k - 1]) & (_SO | _CHOOSE):
            strength, rule, since = STATED, "so", max(0, k - 4)
        elif word == "to" and set(before[max(0, k - 3) : k - 1]) & _SUPPORT:
            strength, rule, since = LEANING, "matches", max(0, k - 5)
        elif word in _BE and not set(before) & _SUPPOSED and k > 1:
            strength, rule, since = HEDGED, "something is", max(0, k - 4)
    elif word in _NOUNS:
        strength, rule, since = STATED, "the answer", k - 1
        if word in _FINAL_NOUNS or "final" in before[max(0, k - 3) : k - 1]:
            strength, rule = FINAL, "final answer"
    elif word in _CHOOSE:
        strength, rule, since = STATED, "I choose", max(0, k - 4)
    elif word in _PREPOSITIONS and set(before[max(0, k - 4) : k - 1]) & (_CHOOSE | _SUPPORT):
        chosen = set(before[max(0, k - 4) : k - 1]) & _CHOOSE
        strength, rule, since = (
            (STATED, "I choose", max(0, k - 6)) if chosen else (LEANING, "matches", max(0, k - 6))
        )
    elif word in _SO:
        strength, rule, since = STATED, "so", k - 1
    elif word == "," and k > 1 and before[k - 2] in _SO:
        strength, rule, since = STATED, "so", k - 2
    elif word in _SUPPORT:
        strength, rule, since = LEANING, "matches", max(0, k - 4)
    span = before[since:k]
    if strength and (_denies(span) or _denies(before[max(0, since - 5) : since], raised=True)):
        return _RULED_OUT, "denied"
    if strength and (doubt or set(span) & _DOUBT):
        return HEDGED, "maybe"
    if (
        strength == STATED
        and rule == "I choose"
        and before[k - 1] in ("think", "believe")
        and _SUPPOSED & set(span)
    ):
        return _NONE, ""
    return strength, rule


def _last_noun(before: list[str], end: int) -> int:
    for i in range(end - 1, max(-1, end - 18), -1):
        if before[i] in _NOUNS:
            return i
    return -1


def _denies(span: Sequence[str], *, raised: bool = False) -> bool:
    """Whether the span denies what follows; `raised`: only as in "I don't think the answer is"."""
    joined = list(span)
    if "doubt" in joined and "no" in joined:
        return False
    if any(a in ("but", "other") for a in joined):
        return False
    if raised:
        return (
            any(
                (word in _NOT or word.endswith("n't"))
                and set(joined[i + 1 : i + 3]) & {"think", "believe", "say", "agree", "that"}
                for i, word in enumerate(joined)
            )
            or "doubt" in joined
        )
    return any(word in _NOT or word.endswith("n't") for word in joined)


def _said_of(after: list[str], raw: str) -> tuple[int, str]:
    """Say what the words after a letter say of it: right, wrong, or nothing."""
    if not after:
        return _NONE, ""
    first = after[0]
    if first in _WRONG:
        return _RULED_OUT, "said to be wrong"
    if first in ("✓", "✔", "✅", "correct"):
        return STATED, "said to be right"
    if first in _FITS and raw.lstrip(_CLOSE).startswith(first):
        return LEANING, "said to fit"
    if first not in _MODAL or not raw.lstrip(_CLOSE)[:1].isalpha():
        return _NONE, ""
    span: list[str] = []
    for word in after[:9]:
        if word in (",", "because", "since", "as", "but", "if", ":", "and", "-"):
            break
        span.append(word)
    denied = any(word in _NOT or word.endswith("n't") for word in span)
    wrong = bool(set(span) & _WRONG)
    if denied and wrong:
        return _NONE, ""
    if denied or wrong:
        return _RULED_OUT, "said to be wrong"
    if set(span) & _RIGHT:
        if set(span) & {"partially", "partly", "almost", "nearly", "could", "might", "may"}:
            return HEDGED, "maybe right"
        if "if" in after[: len(span) + 1]:
            return _NONE, ""
        return STATED, "said to be right"
    if set(span) & {"supported", "consistent", "likely", "matches"}:
        return LEANING, "said to fit"
    return _NONE, ""
