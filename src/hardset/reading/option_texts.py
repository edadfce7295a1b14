"""Options by their texts: which one a reply is, states as its answer, or alone affirms."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from hardset.reading.conclusions import stated
from hardset.reading.cues import cues
from hardset.reading.leads import BE, FINAL, LEANING, NOT, OPENED, RULES_OUT, STATED
from hardset.reading.letters import CLOSING, OPENING
from hardset.reading.numbers import number_of
from hardset.reading.picks import Pick
from hardset.reading.words import Sentences, plain
from hardset.reading.yes_no import read_yes_no
from hardset.records import State

SHORT = 300  # characters of a reply in which one option's text, found anywhere, is the answer
_SENTENCE = "a sentence is an option's text"
_PHRASE = 20  # characters from which an option's text is more than a name
_AGAINST = NOT | RULES_OUT
_CLAUSES = re.compile(r"([.!?;\n,](?=\s|$)|\b(?:but|however)\b)")
_CLAUSE_ENDS = frozenset(".!?;\n,") | {"but", "however"}
_FIRST = re.compile(
    r"(?![A-Za-z][:.)])[^.!?;\n,]{1,200}(?=[.!]\s|\n|,? (?:because|since|as)\b| - )"
)
_SO_TEXT = re.compile(
    r"(?<!n't )(?<!not )(?<!never )"
    r"\b(?:(?:so|therefore|thus|hence)[,:]?|(?:go|going) (?:with|for)|i(?:'d| would) say|i choose) "
    r"(?:(?:it's|it is|it must be|this is|that's) )?"
    r"([^.!?\n,]{1,120})[.!]?$",
    re.IGNORECASE,
)
_THAT_FITS = re.compile(
    r"\b(?:option|choice|answer|statement|one) (?:that|which) [^.!?\n]{1,60}? (?:is|would be) "
    r"([^.!?\n]{1,120})",
    re.IGNORECASE,
)
_OPENING_WORDS = re.compile(
    r"^(?:(?:it|they|he|she|there|this) (?:is|are) |it's |in |at |on |from )"
)
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
_DENIED = re.compile(r"(?:n't|\bnot|\bno|\bnor|\bneither|\bnever|\bthan|\bof)(?: \w+){0,2} $", re.I)
_CONCEDED = re.compile(
    r"\s*(?:even though|even if|although|though|while|whereas|despite|contrary|unlike)\b", re.I
)
_SUPPOSED = re.compile(r"\b(?:might|could|may|would|at first)\b", re.IGNORECASE)
_REPORTED = re.compile(r"\b[A-Z]\)? (?:says|states|claims|describes|mentions|suggests)\b")


class Options:
    """The options of a question, ready to be compared with."""

    __slots__ = ("cores", "heads", "letters", "longest", "numbers", "pronouns", "texts", "yes_no")

    def __init__(self, choices: tuple[str, ...]) -> None:
        self.letters = tuple(chr(65 + i) for i in range(len(choices)))
        self.texts = [plain(choice) for choice in choices]
        # What stands before a colon: "neither" of "neither: it lies on the table".
        self.heads = [f"{plain(c.partition(':')[0])} " if ":" in c else "" for c in choices]
        self.pronouns = all(text.startswith(("it is ", "they are ")) for text in self.texts)
        self.cores = [_OPENING_WORDS.sub("", text) for text in self.texts]
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
        core = _OPENING_WORDS.sub("", form)
        if " " in core and self.cores.count(core) == 1:
            return self.letters[self.cores.index(core)]
        if len(text) < 40 and any(value is not None for value in self.numbers):
            value = number_of(text)
            if value is not None and self.numbers.count(value) == 1:
                return self.letters[self.numbers.index(value)]
        return ""


options_of = lru_cache(maxsize=1024)(Options)


def is_option(text: str, options: Options) -> bool:
    """Whether a text is one option's, with or without its letter."""
    text = text.strip(OPENING)
    behind = text[1:].lstrip(CLOSING + ".:-,") if text[:1] in options.letters else text
    return bool(options.only(behind) or options.only(text))


def picked_by_text(text: str, options: Options) -> list[Pick]:
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
        if (option.startswith(form) and (form.count(" ") > 2 or options.heads.count(form) == 1))
        or (option.startswith(("yes ", "no ")) and form.startswith(f"{option} "))
    ]
    if len(begun) == 1:
        return [Pick(0, (begun[0],), LEANING, "begins like an option's text", text)]
    if 0 in options.numbers and any(cue.rule == "not there" for cue in cues(text)):
        nothing = options.letters[options.numbers.index(Fraction(0))]
        return [Pick(0, (nothing,), LEANING, "none there", text)]
    for fits in reversed(list(_THAT_FITS.finditer(text))):
        if letter := options.only(fits[1]):
            return [Pick(fits.start(), (letter,), STATED, "the option that fits", fits[0])]
    closing = _SO_TEXT.search(text[-200:])
    if closing and (letter := options.only(closing[1])):
        return [Pick(len(text), (letter,), LEANING, "so an option's text", closing[0])]
    opening = _FIRST.match(text)
    if opening and (letter := options.only(opening[0])):
        return [Pick(0, (letter,), OPENED, "opens with an option's text", opening[0])]
    padded = f" {form}"
    listed = sum(f" {option} " in padded for option in options.texts if option)
    if options.longest > _PHRASE and len(text) <= 4 * SHORT and listed == 1:
        spans = [text[a:b].strip() for a, b in Sentences(text).all() if b - a > _PHRASE]
        whole = {options.only(span) for span in spans} - {""}
        if len(whole) == 1:
            return [Pick(0, (*whole,), LEANING, _SENTENCE, text[:200])]
    if len(text) > SHORT:
        start, end = Sentences(text.rstrip()).all()[-1]
        last = text[start:end].strip()
        told = picked_by_text(last, options) if len(last) <= SHORT else []
        told = [pick for pick in told if pick.rule != _SENTENCE or listed < 2]
        return [pick._replace(at=start, rule="ends with an option's text") for pick in told]
    if options.yes_no:
        reading = read_yes_no(text)
        if reading.state is not State.ANSWERED:
            return []
        letter = options.only(reading.answer)
        return [Pick(0, (letter,), LEANING, f"yes or no: {reading.rule}", reading.evidence)]
    affirmed: list[int] = []
    supposed: list[int] = []
    rest = text
    denied, begins = False, True
    for clause in _CLAUSES.split(text):
        if clause in _CLAUSE_ENDS:
            denied = denied and clause == ","
            begins = clause != ","
            continue
        if _REPORTED.search(clause) or (begins and _CONCEDED.match(clause)):
            continue  # "Option A says that the sign is red", "Although it is said to be red, ..."
        words = f" {plain(clause)} "
        denied = denied and not BE & set(words.split())  # "isn't red, green or blue"
        texts = options.cores if options.pronouns else options.texts
        inside = [i for i, option in enumerate(texts) if option and f" {option} " in words]
        for i in inside:
            own = f" {texts[i]} "
            if any(i != j and own in f" {texts[j]} " for j in inside):
                continue  # "red" inside "dark red"
            before, _, behind = words.partition(own)
            if behind.startswith(("would ", "could ")):
                continue  # "a kitchen would have a stove"
            if denied or any(
                word in _AGAINST or word.endswith("n't") for word in before.split()[-4:]
            ):
                denied = True
                continue
            (supposed if _SUPPOSED.search(clause) else affirmed).append(i)
            rest = rest.replace(clause, " ", 1) if not words.replace(own, "").strip() else rest
    affirmed = affirmed or supposed
    if len(set(affirmed)) != 1:
        return []
    if any(cue.absent is None and cue.strong for cue in cues(rest)):
        return []
    return [Pick(0, (options.letters[affirmed[0]],), LEANING, "one option's text", text[:200])]


def in_bold(text: str, options: Options) -> str:
    """Return the letter of the one option whose text a reply sets in bold; else ""."""
    found = {
        options.only(match[1])
        for match in _BOLD.finditer(text)
        if not _DENIED.search(text[max(0, match.start() - 40) : match.start()])
    } - {""}
    return found.pop() if len(found) == 1 else ""


def without_echoes(text: str, options: Options, question: str) -> str:
    """Return a reply without the options' texts that it only repeats from the question.

    "What is left of the red box?" puts "the red box" into replies that do not answer "red".
    """
    words = plain(question).split()
    for text_, after in pairwise(words):
        if text_ in options.texts:
            text = re.sub(rf"\b{re.escape(text_)} {re.escape(after)}\b", after, text, flags=re.I)
    return text
