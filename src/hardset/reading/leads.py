"""What leads to a letter ("the answer is", "not", "so") and what is said of it ("is wrong").

Words in, a `Verdict` out: how strongly a letter is put forward, and the rule that says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardset.reading.words import word_set

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
NO_VERDICT: Verdict = (NOTHING, "")
OUT: Verdict = (RULED_OUT, "ruled out")

NOUNS = word_set(
    "answer answers ans choice option response conclusion selection pick solution verdict "
    "antwort respuesta risposta guess bet prediction decision result candidate final winner"
)
_FINAL_NOUNS = word_set("conclusion verdict final")
FILL = word_set(
    "option options choice choices letter the most likely probably clearly definitely "
    "certainly indeed simply therefore thus hence so best correct right closest "
    "obviously surely actually only just either both evidently really also still maybe "
    "perhaps possibly presumably rather letters statement thing answer's ok okay well yes "
    "again now naturally apparently remaining correcta"
)
DOUBT = word_set("maybe perhaps possibly might could may")
BE = word_set("ist es is are was be being equals becomes remains it's that's its s")
_MODALS = word_set(
    "would must should could might may can will has have to only needs got probably most "
    "likely i'd it'd that'd"
)
_PRONOUNS = word_set("it this that which one these")
CHOOSE = word_set(
    "choose chose choosing pick picking select selecting say guess think believe conclude "
    "mark suppose reckon suspect prefer favor favour answer selected chosen picked opt vote "
    "go going went lean leaning settle settled stick submit take i'd selects chooses meant "
    "mean"
)
_CHOOSE_WITH = word_set(
    "go going went opt vote lean leaning settle settled stick point decide decided"
)
_WITHDRAWN = word_set(
    "thought assumed guessed considered considering tempted was were wanted seemed about"
)
_OTHERS = word_set("some someone people others they many users somebody anyone tempted tempting")
_PREPOSITIONS = word_set("with for on towards toward to by in")
_SO = word_set("so therefore thus hence leaving leaves consequently ergo accordingly meaning leave")
_SUPPORT = word_set(
    "matches match matching indicates supports suggests fits corresponds corresponding "
    "consistent aligns points pointing describes described reflects identifies gives "
    "identified aligned suggest indicate support match fit"
)
NOT = word_set(
    "not isn't wasn't aren't neither nor never cannot can't don't doesn't won't wouldn't "
    "shouldn't hardly doubt unlikely no couldn't"
)
RULES_OUT = word_set(
    "eliminated eliminate eliminating eliminates incorrect wrong rejected reject rejecting "
    "discarded discard excluded exclude excluding false except unlike distractors distractor "
    "out dismiss dismissed than excludes invalid discarding"
)
_WRONG = word_set(
    "wrong incorrect false eliminated out excluded dismissed inaccurate rejected unlikely "
    "untrue mistaken invalid discarded inconsistent contradicts unsupported irrelevant ✗ ✘ ❌ "
    "impossible implausible"
)
_RIGHT = word_set("correct accurate true ✓ ✔ ✅ best winner right")
_RIGHT_NOUNS = word_set("answer choice option one match fit pick")
_AFTER_RIGHT = _RIGHT_NOUNS | {"too", "as", "here", "to", "also"}
_VERDICT = re.compile(r"\((no|yes|true|false|wrong|right|correct|incorrect)\)", re.IGNORECASE)
_PARTLY = word_set("partially partly almost nearly could might may")
MODAL = word_set(
    "is are was seems appears looks would could might may must should can has isn't aren't "
    "wasn't does doesn't cannot can't couldn't won't do don't did didn't were be"
)
_FITS = word_set(
    "matches fits describes corresponds aligns captures best accurately correctly reflects"
)
_GUESSED = word_set("guess guesses guesswork speculation speculative arbitrary random")
_LIKELY = word_set(
    "supported consistent likely matches plausible appropriate suitable fitting probable reasonable"
)
_SEEMS = word_set("seems seemed appears appeared looks looked")
_INITIAL = word_set("first initial initially original originally previous previously")


def lead_of(before: list[str]) -> Verdict:
    """Say what the words before a letter make of it."""
    end = len(before)
    k = end
    while k and before[k - 1] in FILL:
        k -= 1
    skipped = set(before[k:end])
    so = (STATED, "so") if skipped & _SO else NO_VERDICT
    if not k:
        return so
    word = before[k - 1]
    if word == ":" and k > 1 and (before[k - 2] in BE or before[k - 2] in FILL):
        inner = lead_of(before[: k - 1])
        if inner[0]:
            return inner
    found, since = _lead_by(word, before, k)
    if found[0] <= NOTHING:
        return found if found[0] == RULED_OUT else so
    span = before[since:k]
    if _INITIAL & set(before[max(0, since - 2) : k]):
        return NO_VERDICT
    if _denies(span) or _denies_thinking(
        before[clause_start(before, max(0, since - 5), since) : since]
    ):
        return RULED_OUT, "denied"
    supposed = found[1] == "matches" and "would" in span  # "this would suggest B"
    if (DOUBT & (skipped | set(span)) and found[0] < FINAL) or (
        supposed or ("can" in span and "only" not in before[since:])
    ):
        return HEDGED, "maybe"
    return found


def _lead_by(word: str, before: list[str], k: int) -> tuple[Verdict, int]:
    """Say what the last telling word, before[k - 1], makes of a letter, and where it begins."""
    near = before[max(0, k - 4) : k - 1]
    if word == "but":
        return _contrasted(before, k)
    if word == "doubt" and {"no", "without"} & set(near[-2:]):
        return (LEANING, "no doubt"), k
    if word == "except":
        return ((RULED_OUT, "all but") if {"all", "everything", "any"} & set(before) else OUT), k
    if (
        word in RULES_OUT
        or word in NOT
        or (word == "of" and {"instead", "neither", "none"} & set(near[-1:]))
    ):
        return OUT, k
    if word == ":" and (RULES_OUT - {"than"}) & set(near):
        return OUT, k
    if word in BE:
        return _is(before, k)
    if word in (":", "=", "->", "=>", "→", "-"):
        noun = _last_noun(before[:k], 5)
        if noun >= 0 and "," not in before[noun:k]:
            return _noun(before, noun), noun
        if word != "-" and (_SO | CHOOSE) & set(near):
            return (STATED, "so"), max(0, k - 4)
        if word in ("->", "=>", "→"):
            return (LEANING, "an arrow to"), k
        return NO_VERDICT, k
    if word in NOUNS:
        return _noun(before, k - 1), k - 1
    if (
        word in CHOOSE
        or (word in _PREPOSITIONS and _CHOOSE_WITH & set(near))
        or (word == "that" and CHOOSE & set(near))
    ):
        since = clause_start(before, max(0, k - 6), k)
        chosen = not (_OTHERS | _WITHDRAWN) & set(before[since:k])
        return ((STATED, "I choose") if chosen else NO_VERDICT), since
    if word == "like" and {"looks", "seems", "sounds", "look", "seem"} & set(near):
        return (LEANING, "it is"), max(0, k - 4)
    if word in ("✓", "✔", "✅", "✗", "✘", "❌"):
        return ((STATED, "marked right") if word in "✓✔✅" else OUT), k
    if word == "in" and (noun := _last_noun(before[:k], 7)) >= 0 and "," not in before[noun:k]:
        return (LEANING, "the answer is"), noun
    if word in _SUPPORT or (word in _PREPOSITIONS and _SUPPORT & set(near)):
        return (LEANING, "matches"), max(0, k - 6)
    if word == "with" and _SO & set(near):
        return (STATED, "so"), k
    if word in _SO or (word == "," and k > 1 and before[k - 2] in _SO):
        return (STATED, "so"), k
    return NO_VERDICT, k


def clause_start(before: Sequence[str], start: int, end: int) -> int:
    """Return where the clause that ends at `end` begins, at `start` or behind a comma or "but"."""
    for i in range(end - 1, start - 1, -1):
        if before[i] in (",", "but", "though", "although", "however"):
            return i + 1
    return start


def _noun(before: list[str], noun: int) -> Verdict:
    """Say what "the answer", "final answer", "wrong answer" at before[noun] makes of a letter."""
    near = before[max(0, noun - 2) : noun]
    if RULES_OUT & set(near):
        return OUT
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
    if subject in NOT:  # "it can't be B", "the answer cannot be B"
        return OUT, k
    pronoun = before[k - 1] in ("it's", "that's", "its") or (
        subject in _PRONOUNS or before[at] in ("it'd", "that'd")
    )
    if pronoun and (noun < 0 or "," in before[noun:at]):
        since = clause_start(before, max(0, at - 5), at)
        thought = {"thought", "assumed", "guessed"} & set(before[since:at])
        return (NO_VERDICT if thought else (LEANING, "it is")), since
    if noun >= 0:
        return _noun(before, noun), noun
    return (HEDGED, "something is"), at


def _last_noun(before: Sequence[str], reach: int) -> int:
    """Return where the last word for an answer stands, within reach; else -1."""
    for i in range(len(before) - 1, max(-1, len(before) - 1 - reach), -1):
        if before[i] in NOUNS:
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
            return NO_VERDICT, k
    return NO_VERDICT, k


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
        return NO_VERDICT
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
        return (
            (RULED_OUT, "said to be wrong")
            if match[1] in _WRONG | {"no"}
            else (STATED, "said to be right")
        )
    if after[:3] == ["it", "is"]:
        return STATED, "said to be right"
    if after[:2] == ["the", "most"] and _LIKELY & set(after[2:3]):
        return STATED, "said to be right"  # "I find B the most plausible"
    first = after[0]
    if first in _WRONG:
        return RULED_OUT, "said to be wrong"
    if first in ("✓", "✔", "✅", "correct", "accurate"):
        return STATED, "said to be right"
    if raw.isascii() and not raw.startswith(first):
        return NO_VERDICT
    if first in _FITS:
        return LEANING, "said to fit"
    if first not in MODAL:
        return NO_VERDICT
    span: list[str] = []
    for word in after[:9]:
        if word in (",", "because", "since", "as", "but", "if", ":", "and", "-"):
            break
        span.append(word)
    if _GUESSED & set(span) and not {"my", "best", "the"} & set(span):
        return RULED_OUT, "only a guess"
    denied = any(word in NOT or word.endswith("n't") for word in span)
    wrong = bool(_WRONG & set(span))
    if denied or wrong:
        return NO_VERDICT if denied and wrong else (RULED_OUT, "said to be wrong")
    if "than" in span:
        better = {"better", "more", "closer", "stronger", "likelier", "rather"} & set(span)
        return (LEANING, "said to fit better") if better else NO_VERDICT
    if span[1:2] == ["what"]:
        return LEANING, "said to fit"
    right = _right(span)
    if right[0] and _PARTLY & set(span):
        return (HEDGED, "maybe right") if DOUBT & set(span) else NO_VERDICT
    if right[0] and "if" in after[: len(span) + 1]:
        return NO_VERDICT
    if right[0] == STATED and first in _SEEMS and "but" in after[len(span) : len(span) + 2]:
        return HEDGED, "said to seem right, but"  # anything said of another letter outweighs it
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
    if _LIKELY & set(span):
        return LEANING, "said to fit"
    return NO_VERDICT
