"""What the words around a letter make of it: the pick, ruled out, or only talked about.

Each letter is judged by what leads to it ("the answer is", "I would choose", "so", "not",
"eliminated:"), by what is said of it ("is correct", "is wrong") and by where it stands (alone on
a line, at its beginning). The result is a `Pick` of some strength, or none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hardset.reading.letters import CLOSING, Group, alone, opens_line
from hardset.reading.words import word_set, words_of

FINAL = 7  # in a box, in answer tags, "final answer:", "conclusion:"
STATED = 6  # "the answer is B", "B is correct", "I choose B", "therefore B", a line that is only B
OPENED = 5  # begins a line: "B. 4", "B: the sign is green"
LEANING = 4  # "it is B", "option B matches", "The sign is green (B)."
REFUSED = 3  # "it cannot be determined" (abstentions; no letter has it)
HEDGED = 2  # "maybe B", "it could be B"
UNSURE = 1  # "I am not sure", where nothing else is said
NOTHING = 0
RULED_OUT = -1

Verdict = tuple[int, str]  # a strength and the rule that gives it
_NONE: Verdict = (NOTHING, "")
_OUT: Verdict = (RULED_OUT, "ruled out")


class Pick(NamedTuple):
    """A group's letters, how strongly they are put forward, by which rule and words."""

    at: int
    letters: tuple[str, ...]
    strength: int
    rule: str
    evidence: str


_NOUNS = word_set(
    "answer answers ans choice option response conclusion selection pick solution verdict "
    "guess bet prediction decision result candidate final winner"
)
_FINAL_NOUNS = word_set("conclusion verdict final")
_FILL = word_set(
    "option options choice choices letter the most likely probably clearly definitely "
    "certainly indeed simply therefore thus hence so best correct right closest "
    "obviously surely actually only just either both evidently really also still maybe "
    "perhaps possibly presumably rather letters statement thing answer's ok okay well yes "
    "again now naturally apparently remaining"
)
_DOUBT = word_set("maybe perhaps possibly might could may")
_BE = word_set("is are was be being equals becomes remains it's that's its s")
_MODALS = word_set(
    "would must should could might may can will has have to only needs got probably most "
    "likely i'd it'd that'd"
)
_PRONOUNS = word_set("it this that which one these")
_CHOOSE = word_set(
    "choose chose choosing pick picking select selecting say guess think believe conclude "
    "mark suppose reckon suspect prefer favor favour answer selected chosen picked opt vote "
    "go going went lean leaning settle settled stick submit take i'd selects chooses meant "
    "mean"
)
_CHOOSE_WITH = word_set(
    "go going went opt vote lean leaning settle settled stick point decide decided"
)
_ASKING = word_set("is are was could would should can does do did what which who why how or")
_WITHDRAWN = word_set(
    "thought assumed guessed considered considering tempted was were wanted seemed about"
)
_OTHERS = word_set("some someone people others they many users somebody anyone tempted tempting")
_PREPOSITIONS = word_set("with for on towards toward to by in")
_SO = word_set(
    "so therefore thus hence leaving leaves consequently ergo accordingly meaning leave"
)
_SUPPORT = word_set(
    "matches match matching indicates supports suggests fits corresponds corresponding "
    "consistent aligns points pointing describes described reflects identifies gives "
    "identified aligned"
)
NOT = word_set(
    "not isn't wasn't aren't neither nor never cannot can't don't doesn't won't wouldn't "
    "shouldn't hardly doubt unlikely no couldn't"
)
_RULES_OUT = word_set(
    "eliminated eliminate eliminating eliminates incorrect wrong rejected reject rejecting "
    "discarded discard excluded exclude excluding false except unlike distractors distractor "
    "out dismiss dismissed than excludes invalid discarding"
)
_WRONG = word_set(
    "wrong incorrect false eliminated out excluded dismissed inaccurate rejected unlikely "
    "untrue mistaken invalid discarded inconsistent contradicts unsupported irrelevant ✗ ✘ ❌ "
    "impossible implausible"
)
_AGAINST = (NOT | _RULES_OUT) - {"no"}
_RIGHT = word_set("correct accurate true ✓ ✔ ✅ best winner right")
_RIGHT_NOUNS = word_set("answer choice option one match fit pick")
_AFTER_RIGHT = _RIGHT_NOUNS | {"too", "as", "here", "to", "also"}
_VERDICT = re.compile(r"\((no|yes|true|false|wrong|right|correct|incorrect)\)", re.IGNORECASE)
_PARTLY = word_set("partially partly almost nearly could might may")
_MODAL = word_set(
    "is are was seems appears looks would could might may must should can has isn't aren't "
    "wasn't does doesn't cannot can't couldn't won't do don't did didn't were be"
)
_SINGULAR = word_set("is was seems appears looks isn't doesn't does matches fits has")
_FITS = word_set(
    "matches fits describes corresponds aligns captures best accurately correctly reflects"
)
_CONCEDED = word_set("although though while whilst")
_AFTERTHOUGHT = word_set(
    "for sure obviously i guess think believe clearly definitely probably i'd say of course "
    "most likely please it is imo certainly my answer final choice presumably maybe perhaps "
    "possibly"
)
_SUPPOSED = word_set("if whether suppose assuming unless")
_INITIAL = word_set("first initial initially original originally previous previously")
_CONTRAST = word_set("rather instead over not")
_REASONS = word_set("because since as given -")


def judge(text: str, group: Group, start: int, end: int) -> list[Pick]:
    """Judge a group of letters in its sentence, which is text[start:end]."""
    stop = min(end, group.end + 100)
    raw = text[group.end : stop].lstrip(CLOSING)
    before = words_of(text[max(start, group.start - 160) : group.start])
    if not before:
        before = _heading(text, group.start)
    after = words_of(text[group.end : stop])
    while after[:1] in (["option"], ["choice"]):
        del after[0]
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
    either = " or " in text[group.start : group.end]
    if len(letters) > 1 and not either and lead[0] != RULED_OUT and said[0] and after[0] in _SINGULAR:
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
    if len(letters) > 1 and lead[0] >= STATED and said[0] == RULED_OUT:
        return picks(letters[:1], lead) + picks(letters[1:], said)
    if lead[1] == "all but":
        return picks(letters, (LEANING, "all but") if said[0] == RULED_OUT else _OUT)
    if RULED_OUT in (said[0], lead[0]):
        return picks(letters, (RULED_OUT, said[1] or lead[1]))
    if text[max(start, end - 8) : end].rstrip().endswith("?"):
        tagged = lead[0] >= LEANING and before[0] not in _ASKING
        return picks(letters, (HEDGED, "asks")) if tagged or not (before or after[1:]) else []
    if lead[1] == "the answer is" and before[-1:] == [":"] and after and after[0] in _MODAL:
        lead = _NONE  # "Long answer: A is red"
    if said[0] and lead[0] < STATED:
        return picks(letters, max(said, _stands(text, group, before, after, _NONE)))
    return picks(letters, _stands(text, group, before, after, max(lead, said)))


def _heading(text: str, at: int) -> list[str]:
    """Return the words of the line above, where it ends with a colon: "Final answer:"."""
    above = text[max(0, at - 80) : at].rstrip("([{\"'<$*| \t\n")
    if not above.endswith(":") or "\n" not in text[max(0, at - 80) : at]:
        return []
    words = words_of(above[above.rfind("\n") + 1 :])
    return (
        []
        if {"each", "every", "options", "choices", "option", "choice"} & set(words[:-2])
        else words
    )


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
            delimited = rest.lstrip()[:1] in tuple(".):,-]([=|/") or text[group.end] in ")]:."
            if delimited:
                return _line_verdict(rest) or (OPENED, "begins a line")
            if after and set(after) <= _AFTERTHOUGHT:
                return (HEDGED, "maybe") if _DOUBT & set(after) else (OPENED, "begins a line")
            if after[:1] and (after[0] in _REASONS or _contrasts(after)):
                return (OPENED, "begins a line")
    if strength != NOTHING:
        return verdict
    led = set(before) <= _FILL
    if (
        led
        and before
        and (
            not after
            or after[0] in (",", ":", "-", "because", "since", "as")
            or after[0] in _CONTRAST
        )
    ):
        return (HEDGED, "maybe") if set(before) & _DOUBT else (LEANING, "names an option")
    if not before and (not after or _contrasts(after)):
        return OPENED, "the letter alone in a sentence"
    if not after and before[-1:] == [":"]:
        return LEANING, "behind a colon"
    ends = group.bracketed or before[-1:] in ([","], ["but"])
    against = before[_clause(before, 0, len(before) - 1) :] if before else []
    if not after and ends and not _AGAINST & set(against):
        return LEANING, "ends a sentence"
    return _NONE


def _contrasts(after: Sequence[str]) -> bool:
    """Whether a letter is set against others: "B, not A", "B rather than A"."""
    return (bool(after) and after[0] in _CONTRAST) or after[:2] in (["and", "not"], [",", "not"])


def _line_verdict(rest: str) -> Verdict | None:
    """Read the verdict that ends a line about one option: "B. green - correct"."""
    line = rest.partition("\n")[0]
    if re.search(r"\b[A-Z]\b", line, re.ASCII):
        return None  # another option is spoken of
    words = words_of(line)
    tail = [word for word in words[-3:] if word not in (",", "-", ":")]
    if set(tail) & {"✗", "✘", "❌"} or tail[-1:] in (
        ["incorrect"],
        ["wrong"],
        ["eliminated"],
        ["false"],
    ):
        return RULED_OUT, "judged in its line"
    if tail[-1:] == ["correct"]:
        return (RULED_OUT if NOT & set(tail) else STATED), "judged in its line"
    if set(tail) & {"✓", "✔", "✅"}:
        return STATED, "judged in its line"
    if [word for word in words if word not in (",", "-", ":")] in (["no"], ["false"]):
        return RULED_OUT, "judged in its line"
    if [word for word in words if word not in (",", "-", ":")] in (["yes"], ["true"]):
        return STATED, "judged in its line"
    return None


def _is_supposed(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the letter is only supposed: "if the answer is A", "the answer would be A if"."""
    if "if" in after[:1] and "guess" not in after[:7] and "choose" not in after[:7]:
        return True
    conceded = max((i for i, word in enumerate(before) if word in _CONCEDED), default=-1)
    if conceded >= 0 and "," not in before[conceded:]:
        return True
    at = max((i for i, word in enumerate(before) if word in _SUPPOSED), default=-1)
    if at < 0 or before[at + 1 : at + 3] in (
        ["i", "had"],
        ["i", "must"],
        ["i", "were"],
        ["forced", "to"],
        ["i", "have"],
    ):
        return False
    rest = before[at:]
    if "," not in rest:
        return True
    main = rest[rest.index(",") :]
    return bool({"would", "could"} & set(main)) or not (set(main) & (_NOUNS | _CHOOSE | _BE))


def lead_of(before: list[str]) -> Verdict:
    """Say what the words before a letter make of it."""
    end = len(before)
    k = end
    while k and before[k - 1] in _FILL:
        k -= 1
    skipped = set(before[k:end])
    so = (STATED, "so") if skipped & _SO else _NONE
    if not k:
        return so
    word = before[k - 1]
    if word == ":" and k > 1 and (before[k - 2] in _BE or before[k - 2] in _FILL):
        inner = lead_of(before[: k - 1])
        if inner[0]:
            return inner
    found, since = _lead_by(word, before, k)
    if found[0] <= NOTHING:
        return found if found[0] == RULED_OUT else so
    span = before[since:k]
    if _INITIAL & set(before[max(0, since - 2) : k]):
        return _NONE
    if _denies(span) or _denies_thinking(before[_clause(before, max(0, since - 5), since) : since]):
        return RULED_OUT, "denied"
    if (_DOUBT & (skipped | set(span)) and found[0] < FINAL) or (
        "can" in span and "only" not in before[since:]
    ):
        return HEDGED, "maybe"
    return found


def _lead_by(word: str, before: list[str], k: int) -> tuple[Verdict, int]:
    """Say what the last telling word, before[k - 1], makes of a letter; and where its lead begins."""
    near = before[max(0, k - 4) : k - 1]
    if word == "but":
        return _contrasted(before, k)
    if word == "except":
        return ((RULED_OUT, "all but") if {"all", "everything", "any"} & set(before) else _OUT), k
    if (
        word in _RULES_OUT
        or word in NOT
        or (word == "of" and {"instead", "neither", "none"} & set(near[-1:]))
    ):
        return _OUT, k
    if word == ":" and _RULES_OUT & set(near):
        return _OUT, k
    if word in _BE:
        return _is(before, k)
    if word in (":", "=", "->", "=>", "→", "-"):
        noun = _last_noun(before[:k], 5)
        if noun >= 0 and "," not in before[noun:k]:
            return _noun(before, noun), noun
        if word != "-" and (_SO | _CHOOSE) & set(near):
            return (STATED, "so"), max(0, k - 4)
        if word in ("->", "=>", "→"):
            return (LEANING, "an arrow to"), k
        return _NONE, k
    if word in _NOUNS:
        return _noun(before, k - 1), k - 1
    if (
        word in _CHOOSE
        or (word in _PREPOSITIONS and _CHOOSE_WITH & set(near))
        or (word == "that" and _CHOOSE & set(near))
    ):
        since = _clause(before, max(0, k - 6), k)
        chosen = not (_OTHERS | _WITHDRAWN) & set(before[since:k])
        return ((STATED, "I choose") if chosen else _NONE), since
    if word == "like" and {"looks", "seems", "sounds", "look", "seem"} & set(near):
        return (LEANING, "it is"), max(0, k - 4)
    if word in ("✓", "✔", "✅", "✗", "✘", "❌"):
        return ((STATED, "marked right") if word in "✓✔✅" else _OUT), k
    if word == "in" and (noun := _last_noun(before[:k], 7)) >= 0 and "," not in before[noun:k]:
        return (LEANING, "the answer is"), noun
    if word in _SUPPORT or (word in _PREPOSITIONS and _SUPPORT & set(near)):
        return (LEANING, "matches"), max(0, k - 6)
    if word == "with" and _SO & set(near):
        return (STATED, "so"), k
    if word in _SO or (word == "," and k > 1 and before[k - 2] in _SO):
        return (STATED, "so"), k
    return _NONE, k


def _clause(before: Sequence[str], start: int, end: int) -> int:
    """Return where the clause that ends at `end` begins, at `start` or behind a comma or "but"."""
    for i in range(end - 1, start - 1, -1):
        if before[i] in (",", "but", "though", "although", "however"):
            return i + 1
    return start


def _noun(before: list[str], noun: int) -> Verdict:
    """Say what "the answer", "final answer", "wrong answer" at before[noun] makes of a letter."""
    near = before[max(0, noun - 2) : noun]
    if _RULES_OUT & set(near):
        return _OUT
    if before[noun] in _FINAL_NOUNS or "final" in near:
        return FINAL, "final answer"
    return STATED, "the answer is"


def _is(before: list[str], k: int) -> tuple[Verdict, int]:
    """Say what "... is" before a letter makes of it: the answer is, it must be, the man is."""
    at = k - 1
    while at and before[at - 1] in _MODALS:
        at -= 1
    subject = before[at - 1] if at else ""
    noun = _last_noun(before[:at], 18)
    if before[k - 1] in ("it's", "that's", "its") or (
        subject in _PRONOUNS or before[at] in ("it'd", "that'd")
    ):
        if noun < 0 or "," in before[noun:at]:
            since = _clause(before, max(0, at - 5), at)
            return (
                _NONE
                if {"thought", "assumed", "guessed"} & set(before[since:at])
                else (LEANING, "it is")
            ), since
    elif noun < 0 and subject in NOT:  # "it can't be B", "this isn't B"
        return _OUT, k
    if noun >= 0:
        return _noun(before, noun), noun
    return (HEDGED, "something is"), at


def _last_noun(before: Sequence[str], reach: int) -> int:
    """Return where the last word for an answer stands, within reach; else -1."""
    for i in range(len(before) - 1, max(-1, len(before) - 1 - reach), -1):
        if before[i] in _NOUNS:
            return i
    return -1


def _contrasted(before: list[str], k: int) -> tuple[Verdict, int]:
    """Say what "not A but", "anything but" makes of the letter behind it."""
    for i in range(k - 2, max(-1, k - 9), -1):
        if before[i] in ("nothing", "none") or (before[i] == "anything" and _denies(before[:i])):
            return (LEANING, "nothing but"), k
        if before[i] in ("anything", "everything", "all"):
            return (RULED_OUT, "all but"), k
        if before[i] in NOT or before[i].endswith("n't"):
            if any(len(word) == 1 and word.isalpha() for word in before[i + 1 : k - 1]):
                lead = lead_of(before[:i]) if before[i] in ("not", "neither") else (STATED, "")
                return (max(lead[0], LEANING), "not A but"), k
            return _NONE, k
    return _NONE, k


def _denies(span: Sequence[str]) -> bool:
    """Whether a lead is denied: "the answer is not"; but not by "no doubt that the answer is"."""
    if "no" in span and {"doubt", "question"} & set(span):
        return False
    return any(word in NOT or word.endswith("n't") for word in span)


def _denies_thinking(words: Sequence[str]) -> bool:
    """Whether what comes is not thought: "I don't think", "I doubt"."""
    if "doubt" in words:
        return "no" not in words
    return any(
        (word in NOT or word.endswith("n't"))
        and {"think", "believe", "say", "agree", "sure"} & set(words[i + 1 : i + 3])
        for i, word in enumerate(words)
    )


def said_of(after: Sequence[str], raw: str) -> Verdict:
    """Say what the words behind a letter say of it: right, wrong, fitting, or nothing."""
    if not after:
        return _NONE
    if (
        after[0] in (":", "-")
        and len(after) > 1
        and (len(after) == 2 or after[2] in (",", "-", "because"))
    ):
        if after[1] in _WRONG or after[1] == "no":
            return RULED_OUT, "said to be wrong"
        if after[1] in ("yes", "true", "correct", "right", "✓", "✔", "✅"):
            return STATED, "said to be right"
    if after[:1] == ["the"] and _RIGHT & set(after[1:2]) and _RIGHT_NOUNS & set(after[2:4]):
        return STATED, "said to be right"  # "which makes B the correct answer"
    if match := _VERDICT.match(raw):
        return (RULED_OUT, "said to be wrong") if match[1] in _WRONG | {"no"} else (STATED, "said to be right")
    if after[:3] == ["it", "is"]:
        return STATED, "said to be right"
    first = after[0]
    if first in _WRONG:
        return RULED_OUT, "said to be wrong"
    if first in ("✓", "✔", "✅", "correct"):
        return STATED, "said to be right"
    if raw.isascii() and not raw.startswith(first):
        return _NONE
    if first in _FITS:
        return LEANING, "said to fit"
    if first not in _MODAL:
        return _NONE
    span: list[str] = []
    for word in after[:9]:
        if word in (",", "because", "since", "as", "but", "if", ":", "and", "-"):
            break
        span.append(word)
    denied = any(word in NOT or word.endswith("n't") for word in span)
    wrong = bool(_WRONG & set(span))
    if denied or wrong:
        return _NONE if denied and wrong else (RULED_OUT, "said to be wrong")
    if "than" in span:
        better = {"better", "more", "closer", "stronger", "likelier", "rather"} & set(span)
        return (LEANING, "said to fit better") if better else _NONE
    if span[1:2] == ["what"]:
        return LEANING, "said to fit"
    right = _right(span)
    if right[0] and _PARTLY & set(span):
        return (HEDGED, "maybe right") if _DOUBT & set(span) else _NONE
    if right[0] and "if" in after[: len(span) + 1]:
        return _NONE
    return right


def _right(span: Sequence[str]) -> Verdict:
    """Say whether "is the correct answer", "is right", "is the one" is in a predicate."""
    for i, word in enumerate(span):
        following = span[i + 1] if i + 1 < len(span) else ""
        if word in _RIGHT and not (
            word in ("right", "best") and following and following not in _AFTER_RIGHT
        ):
            return STATED, "said to be right"
        if word in _RIGHT_NOUNS and {"the", "my"} & set(span[:i]):
            return (
                (LEANING, "said to fit")
                if following in ("that", "which")
                else (STATED, "said to be right")
            )
    if {"supported", "consistent", "likely", "matches"} & set(span):
        return LEANING, "said to fit"
    return _NONE
