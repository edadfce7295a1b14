"""Whether a reply says yes or no.

In order of weight: what stands in a box or answer tags; a stated answer ("the answer is yes"); a
yes or no that opens a sentence, stands alone or ends one as a clause of its own ("Eyes are
visible, but no"). They must agree, unless a correction ("wait, ...") withdraws the earlier ones.
With no such word the statement itself decides: denied ("There isn't any dog") is no, affirmed
("There is a dog") is yes. That the reply cannot tell is an abstention.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hardset.reading.asked import first_part
from hardset.reading.at_odds import at_odds
from hardset.reading.conclusions import RETRACTED, containers, stated
from hardset.reading.cues import cues, unquoted
from hardset.reading.refusals import abstained, content, refusal, stem
from hardset.reading.words import Sentences, plain_words, tidy, word_set, words_of
from hardset.records import Reading, State

FINAL, STATED, SAID = 3, 2, 1

_WORDS = {"yes": "yes", "yeah": "yes", "yep": "yes", "yup": "yes", "true": "yes",
          "no": "no", "nope": "no", "nah": "no", "false": "no"}  # fmt: skip
_ALONE = {
    **dict.fromkeys(
        "correct affirmative absolutely definitely certainly indeed sure right".split(), "yes"
    ),
    **dict.fromkeys("incorrect negative never".split(), "no"),
}
_TELLING = (*_WORDS, *_ALONE, "course", "not")
_BEFORE = word_set(
    "so well probably , the answer my likely definitely absolutely certainly hmm ok okay most "
    "therefore thus i think would say believe - : in short hence wait actually oh sorry "
    "correction conclusion final guess it's it is mean meant that's"
)
_BEHIND_NO = word_set(
    "it there the they i he she this that we you these those its his her not dogs"
)
_DENIALS = word_set(
    "not no none nobody nothing neither never without cannot nowhere absent missing"
)
_AFFIRMS = word_set("visible present shown depicted see contains shows seen")
_HEDGES = word_set("if might may could maybe perhaps whether possibly")
_PRONOUNS = word_set("it they he she there this that i we you")
_AUXILIARIES = word_set("is are was were does do did has have can could will would")
_BOTH = re.compile(r"\byes\s*(?:and|or|/|&)\s*no\b|\bno\s*(?:and|or|/)\s*yes\b|是.{0,2}也不是")
_NUMBERED = re.compile(r"no\.\s*\d+\W*", re.IGNORECASE)
_CLOSING = re.compile(
    r"(?:[,:;-]|\b(?:so|but|therefore|thus|say|because|hence|actually|wait|then|like)\b)[\s,]*[\"'(]?"
    r"(yes|no|nope|yeah|yep)[\"')]?[\s.!]*$",
    re.IGNORECASE,
)
_BUT = re.compile(r"\bbut,?\s+(yes|no)\b(?=\s*[,.!;]|\s*$)", re.IGNORECASE)
_IS_A = re.compile(r"\b(?:is|that's|it's) an? (?:\w+ )?(yes|no)[\s.!]*$", re.IGNORECASE)
_OPPOSITES = (
    "open closed", "open shut", "day night", "daytime nighttime", "full empty", "wet dry",
    "on off", "left right", "top bottom", "above below", "indoors outdoors", "inside outside",
    "same different", "bigger smaller", "larger smaller", "taller shorter", "higher lower",
    "lighter darker", "brighter darker", "horizontal vertical", "asleep awake", "sitting standing",
    "new old", "young old", "large small", "big small", "light dark", "clean dirty",
    "colour grayscale", "color grayscale", "colour monochrome", "male female", "more fewer",
)  # fmt: skip
_CONTRASTED = re.compile(r"\b(?:rather than|instead of)\b[^?]*")
_RELATIONS = word_set("between than among behind under over near beside next inside do look")
_UNCLOTHED = word_set("bare bareheaded barefoot uncovered unmarked")
_ECHO = re.compile(r"\(?\byes\s*(?:/|or)\s*no\b\)?\s*:\s*", re.IGNORECASE)  # "Answer (yes or no):"
_JUDGED = {
    "correct": "yes",
    "true": "yes",
    "right": "yes",
    "incorrect": "no",
    "false": "no",
    "wrong": "no",
}
_PARTICLES = word_set("on off up down in out over")
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")
_CHINESE_YES = re.compile(r"(?:是的?|对的?|有的?|没错|正确|可以|能|存在)(?:$|[\s,.!])")
_CHINESE_NO = re.compile(r"(?:不是|否|不对|没有|不(?!过)|错误|无|并没有|并非)")


class _Said(NamedTuple):
    at: int
    answer: str
    strength: int
    rule: str
    evidence: str


def read_yes_no(text: str, question: str = "") -> Reading:
    """Read yes or no off a reply.

    Args:
        text: a complete reply.
        question: what was asked; lets "There is no dog" asked for the dog's collar abstain, and
            "The dog is red" asked whether it is red be yes.

    Returns:
        answered with "yes" or "no"; abstained; or unparsed.
    """
    words = _ECHO.sub(": ", tidy(text), count=1)
    if not words:
        return Reading(state=State.UNPARSED, rule="empty")
    if words.lower().rstrip(".!") in ("nobody", "no one"):
        return _answer("no", "none there", words)
    if words.lower() in ("y", "n"):
        return _answer("yes" if words in "yY" else "no", "the letter alone", words)
    if _NUMBERED.fullmatch(words):
        return Reading(state=State.UNPARSED, rule="a number, not no", evidence=words)
    if _BOTH.search(words[:200].lower()):
        cue = refusal(words, question)
        if cue is not None:
            return abstained(words, cue)
        return Reading(state=State.UNPARSED, rule="both yes and no", evidence=words[:200])
    boxes = containers(text) if "\\" in text or "<" in text else []
    said = [
        _Said(i, answer, FINAL, "boxed or tagged", box.evidence)
        for i, box in enumerate(boxes)
        if (answer := _opening(tidy(box.text)))
    ] or _everything_said(words)
    if said:
        return _decide(words, said)
    cue = refusal(words, question)
    if cue is not None and (cue.absent is None or question):
        return abstained(words, cue)
    if question and (odd := at_odds(words, question)):
        return abstained(words, odd)
    return _statement(words, question)


def _decide(text: str, said: list[_Said]) -> Reading:
    """Let the strongest decide; they must agree, unless what came before was withdrawn."""
    said = sorted(said)
    if len({one.answer for one in said}) > 1:
        for turn in reversed(list(RETRACTED.finditer(text.lower()))):
            later = [one for one in said if one.at >= turn.start() or one is said[-1]]
            if turn.start() <= said[-1].at + len(said[-1].evidence) and len(later) < len(said):
                said = later
                break
    top = max(one.strength for one in said)
    best = [one for one in said if one.strength == top]
    if len({one.answer for one in best}) > 1:
        words = " | ".join(one.evidence for one in best)[:200]
        return Reading(state=State.UNPARSED, rule="both yes and no", evidence=words)
    return _answer(best[-1].answer, best[-1].rule, best[-1].evidence)


def _answer(answer: str, rule: str, evidence: str) -> Reading:
    return Reading(state=State.ANSWERED, answer=answer, rule=rule, evidence=evidence.strip()[:200])


def _everything_said(text: str) -> list[_Said]:
    """Find every yes and no that is put forward as an answer."""
    said = []
    for passage in stated(text):
        answer = _opening(passage.text.lstrip(":\"'( "))
        if answer:
            strength = FINAL if passage.final else STATED
            said.append(_Said(passage.at, answer, strength, "the answer is", passage.evidence))
    lowered = text.lower()
    if text.isascii() and not any(word in lowered for word in _TELLING):
        return said
    for start, end in Sentences(text).all():
        sentence = text[start:end].strip()
        if end - start > 60 and text.isascii():
            edges = lowered[start : start + 40] + lowered[max(start, end - 24) : end]
            if not any(word in edges for word in _TELLING) and not _BUT.search(lowered, start, end):
                continue
        if not sentence or sentence.endswith("?"):
            continue
        answer = _opening(sentence)
        if answer:
            said.append(_Said(start, answer, SAID, "opens with", sentence[:80]))
        if len(sentence) > 4 and (
            match := _CLOSING.search(sentence[-24:])
            or _BUT.search(sentence[-80:])
            or _IS_A.search(sentence[-40:])
        ):
            answer = _WORDS[match[1].lower()]
            said.append(_Said(end - 1, answer, SAID, "ends with", sentence[-80:]))
    return said


def _opening(sentence: str) -> str:
    """Read the word that opens a sentence, perhaps behind "so", "well", "I would say"."""
    if _IDEOGRAPH.search(sentence):
        return _chinese(sentence)
    words = words_of(sentence[:120])
    for i, word in enumerate(words[:6]):
        after = words[i + 1] if i + 1 < len(words) else ""
        if word == "no" and after:
            determiner = after not in _BEHIND_NO and not re.search(
                r"\bno\s*[^\w\s]", sentence[:120], re.IGNORECASE
            )
            return "" if determiner else "no"
        if word in ("true", "false") and after and after not in (",", "-", ":", "because", "since"):
            return ""
        if word in _WORDS:
            return _WORDS[word]
        if (
            after == "not"
            and len(words) == i + 2
            and word in ("definitely", "certainly", "absolutely", "probably", "course")
        ):
            return "no"
        if word in _ALONE and (not after or (after == "," and word != "sure")):
            return _ALONE[word]
        if word == "course" and i and words[i - 1] == "of":
            return "no" if after == "not" else "yes"
        if word == "not" and words[i : i + 3] == ["not", "at", "all"]:
            return "no"
        if word not in _BEFORE and word != "of":
            return ""
    return ""


def _chinese(text: str) -> str:
    if any(cue.absent is None for cue in cues(text)):
        return ""
    text = text.strip(" \"'()")
    if _CHINESE_NO.match(text):
        return "no"
    return "yes" if _CHINESE_YES.match(text) else ""


def _statement(text: str, question: str) -> Reading:
    """Read the statement itself: its first clause, denied or affirmed."""
    unparsed = Reading(state=State.UNPARSED, rule="neither yes nor no", evidence=text[:200])
    lowered = unquoted(text).lower()
    question = first_part(question)
    asked = content(words_of(question))
    clauses = re.split(r"[.!;\n]+(?=\s|$)|, (?:but|however|although|though)\b", lowered[:1000])
    told = [clause for clause in clauses if clause.strip()] or [""]
    first = words_of(told[0])
    if len(first) == 2 and first[0] in _PRONOUNS and len(told) > 1:
        verb = first[1].removesuffix("n't")
        if verb in _AUXILIARIES or verb == "ca":
            return _answer("no" if first[1] != verb else "yes", "said shortly", told[0])
    # The clause that says most of what was asked, the first of them.
    clause = max(told, key=lambda words: len(asked & content(words_of(words))))
    if "?" in clause:
        return unparsed
    if _IDEOGRAPH.search(clause):
        denied = re.search("没|不|无|否", clause)
        if denied:
            return _answer("no", "denied", clause)
        return _answer("yes", "affirmed", clause) if re.search("有|是", clause) else unparsed
    words = words_of(clause)
    if words[:2] == ["not", "only"] or words[:3] in (["i", "think", "so"], ["i", "believe", "so"]):
        return _answer("yes", "affirmed", clause)
    if len(words) < 2 or (words[0] == "no" and words[1].isdigit()):
        return unparsed
    if _HEDGES & set(words):
        return unparsed
    if (
        len(words) <= 5
        and words[-1] in _JUDGED
        and words[0] in ("this", "that", "that's", "the", "it", "it's")
    ):
        judged = _JUDGED[words[-1]]
        return _answer("no" if _is_denied(words) else judged, "judged", clause)
    if _is_denied(words):
        beside = words[0] == "nobody" or words[:2] == ["none", "of"] or "nothing" in words
        exists = {"there", "any", "anything", "anyone", "see"} & {*words_of(question)}
        if question and beside and not exists and not asked & content(words):
            return unparsed  # "A silhouette tells nothing"
        return _answer("no", "denied", clause)
    if question and _is_opposite(words, words_of(question)):
        return unparsed  # "It is closed" denies that it is open, but in no word of yes or no
    counts, wanted = _numbers(lowered), _numbers(question)
    if counts and wanted and counts.isdisjoint(wanted):
        return _answer("no", "another number", clause)
    there = "there" in words[:3] and bool({"is", "are", "was", "were"} & set(words[:5]))
    short = len(words) == 2 and words[0] in _PRONOUNS and words[1] in _AUXILIARIES
    particle = words_of(question.rstrip("? "))[-1:]  # "Is the light on?": "It is off"
    kept = particle[0] in words if particle and particle[0] in _PARTICLES else True
    needed = content(words_of(_CONTRASTED.sub("", question))) - _RELATIONS
    if (
        words[0] in _PRONOUNS and words[1] in _AUXILIARIES
    ):  # "He is wearing gloves", asked of the man
        subject = next((stem(word) for word in words_of(question) if stem(word) in needed), "")
        needed = needed - {subject} or needed
        last = [stem(word) for word in words_of(question) if stem(word) in needed][-1:]
        said = content(words)
        if last and last[0] in said and said <= asked and words[0] in ("it", "they", "he", "she"):
            needed = set(last)  # "It is red", asked whether the box by the wall is
    same = kept and bool(needed) and needed <= content(words)
    if there or short or same or words[0] == "there's" or (_AFFIRMS & set(words) and not question):
        return _answer("yes", "affirmed", clause)
    if _AFFIRMS & set(words) and asked & content(words):
        return _answer("yes", "affirmed", clause)
    return unparsed


def _is_opposite(words: Sequence[str], asked: Sequence[str]) -> bool:
    """Whether a clause says the opposite of what is asked, and not that itself."""
    if _UNCLOTHED & set(words) and not _UNCLOTHED & set(asked):
        return True
    for pair in _OPPOSITES:
        one, other = pair.split()
        for asked_word, said in ((one, other), (other, one)):
            if asked_word in asked and said not in asked and said in words:
                return asked_word not in words
    return False


def _numbers(text: str) -> set[str]:
    return {word for word in plain_words(text) if word.isdigit()}


def _is_denied(words: Sequence[str]) -> bool:
    return any(
        (word in _DENIALS or word.endswith("n't"))
        and words[i + 1 : i + 2] not in (["only"], ["doubt"], ["just"], ["question"])
        for i, word in enumerate(words)
    )
