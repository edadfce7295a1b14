"""Whether a reply refuses: says it cannot tell, or that what is asked about is not there.

*Explicit*: the reply says that it cannot, does not know, has too little to go on, or that the
question cannot be answered. *Implicit*: the reply says that the asked-about thing is absent,
which refuses only a question that takes the thing for granted: "There is no dog" answers "Is
there a dog?" and "How many dogs are there?", and refuses "What colour is the dog?". A reply that
hedges and then answers is an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardset.reading.asked import presuming, proper
from hardset.reading.conclusions import stated
from hardset.reading.cue_words import BE, MADE_OUT
from hardset.reading.cues import Cue, cues
from hardset.reading.words import plain_words, tidy, word_set, words_of
from hardset.records import Reading, State

_YES_NO = word_set(
    "is are was were do does did can could has have had will would should isn't aren't "
    "doesn't don't didn't"
)
_EXISTS = word_set(
    "there visible present any see seen contain include shown exist exists appear depicted"
)
_STOP = word_set(
    "in on at of from to visible present shown seen here there anywhere is are was were do "
    "does did can and or with near under behind have has wearing"
)
_PERSON = word_set(
    "man woman person people boy girl child children men women player someone he she his her"
)
_TURN = re.compile(
    r"\b(?:but|however|although|though|nevertheless|nonetheless|still|yet|that said|while)\b|"
    r"但是?|不过|然而"
)
_LATER_TURN = re.compile(
    r"\s*(?:but|however|nevertheless|nonetheless|still|yet|that said|even so)\b|\s*(?:但|不过|然而)"
)
_GUESS = word_set(
    "looks appears seems probably likely guess maybe perhaps possibly approximately about "
    "around roughly estimate think believe suspect assume answer conclude choose pick"
)
_GUESS_LATER = word_set("probably likely guess")
_NO_ANSWER = re.compile(
    r"\b(?:there (?:is|are|was|were)|i can(?:'t|not)?\b|i could|please|if you|feel free|you can|"
    r"you could|let me know|happy to|would need|would be needed|more information|"
    r"the image (?:shows|contains|depicts)|might help|can help)"
)
_DESCRIBES = re.compile(
    r"\b(?:there (?:is|are)|there's|i (?:can )?see|"
    r"(?:image|picture|photo|photograph|drawing|diagram|scene) \w+s)\b"
)
_ANY = word_set("a an any some anything anyone anybody something someone somebody")
_HAVE = word_set("have has wear wearing contain contains show include hold holding carry carrying")
_WITNESSES = word_set(
    "scale legend signature date label caption key metadata timestamp inscription watermark ruler "
    "measurement dimension unit"
)
_TOLD = word_set("output value number name text price year result")
_INSTEAD = re.compile(r"\s*(?:they|these|those|it)(?:'re|'s| is| are)\b")
_MERE_GUESS = re.compile(r"\b(?:mere|pure|only|just|be)(?: \w+)? guess(?:ing|work)?\b")
_COURTESIES = (
    "i apologi", "i understand", "i appreciate", "i looked", "i searched", "i tried", "i've looked",
    "i checked", "i would like", "i'd like", "i'd love", "i wish", "i'm happy", "i'm sorry",
    "thank", "i'm afraid", "it seems you", "it looks like you", "you", "interesting", "i'm glad",
)  # fmt: skip
_EFFORTS = ("good question", "great question", "nice try", "of course", "sure")
_PICTURES = word_set("image picture photo photograph")
_VAGUE = word_set("something someone somebody somewhere")
_REASON = word_set(
    "image picture photo blurry blurred dark resolution quality sorry obscured unclear small "
    "far hidden apologies too"
)
_LITTLE = word_set(
    "the a an of is are was were in on at to what which who how many much when where why does "
    "do did it this that there be for with and or from i you can see any has have its his her "
    "their s image picture photo colour color"
)
_ASKED_AS = (
    (("how", "old"), "age old"),
    (("how", "tall"), "height tall"),
    (("how", "high"), "height altitude"),
    (("how", "long"), "length duration"),
    (("how", "deep"), "depth"),
    (("how", "wide"), "width"),
    (("how", "far"), "distance"),
    (("how", "heavy"), "weight mass"),
    (("how", "fast"), "speed"),
    (("how", "big"), "size"),
    (("how", "large"), "size"),
    (("what", "does"), "text writing"),
    (("what", "is", "written"), "text writing inscription lettering word"),
    (("how", "many"), "number count many"),
    (("how", "much"), "price amount cost much"),
    (
        ("who",),
        "name identity person who individual people artist author maker painter photographer owner",
    ),
    (("when",), "time date year when day"),
    (("where",), "location place where city country"),
    (("what", "time"), "time hour"),
    (("why",), "reason why"),
    (("what", "color"), "color colour"),
    (("what", "colour"), "color colour"),
    (("which", "year"), "year date"),
)


def read_refusal(text: str, question: str = "") -> Reading | None:
    """Read whether a reply to an open question refuses; None if it does not.

    Args:
        text: the reply.
        question: what was asked. Without it, "there is no dog in the image" counts as a refusal;
            with it, only where the question takes a dog for granted.

    Returns:
        A reading with state abstained, naming the rule and the words; or None: the reply
        answers, or at least does not refuse.
    """
    words = tidy(text)
    found = refusal(words, question)
    return None if found is None else abstained(words, found)


def abstained(text: str, cue: Cue) -> Reading:
    """Put a cue into a reading."""
    evidence = text[cue.start : cue.end].strip()[:200]
    return Reading(state=State.ABSTAINED, rule=cue.rule, evidence=evidence)


def refusal(text: str, question: str = "") -> Cue | None:
    """Find the cue that makes a tidy reply a refusal, unless the reply goes on to answer."""
    first: Cue | None = None
    for cue in cues(text, premises=bool(question)):
        if cue.absent is not None and not _takes_for_granted(question, cue):
            continue
        if first is None or cue.strong > first.strong:
            first = cue
        if first.strong:
            break
    if first is None or _answers_anyway(text, first, question):
        return None
    return first


def _takes_for_granted(question: str, cue: Cue) -> bool:
    """Whether the question presupposes what the cue says is absent."""
    absent = cue.absent or ()
    if not question:
        return True
    if not question.isascii():
        return _takes_for_granted_chinese(question, "".join(absent))
    asked = words_of(proper(question))
    question = presuming(question)
    stems = [stem(word) for word in words_of(question)]
    things = [stem(word) for word in absent]
    yes_no = asked[:1] and asked[0] in _YES_NO
    head = things[-1] if things else ""
    if cue.rule == "not made out":
        return not (yes_no and MADE_OUT & set(asked))
    if yes_no and _EXISTS & set(asked[:4]) and head in stems:
        return False  # "Is there a dog?"
    if asked[:2] == ["how", "many"] and head and head == counted(asked):
        return False  # "How many dogs?"
    if asked[:2] == ["how", "many"] and absent == ("none",):
        return False
    if asked[:2] == ["how", "much"] and cue.rule == "not there" and asked[2:3][0:] != [head]:
        return True  # "The picture gives no weight": a quantity that is none of nothing
    if absent == ("none",):
        return not yes_no
    if cue.rule == "asked back":
        return head in stems
    if cue.rule == "has none":
        known = _asked(question) - _LITTLE
        return not _is_asked_for(asked[1:] if yes_no else (), things) and bool(known & {*things})
    if yes_no and _is_asked_for(asked[1:], things):
        return False  # "Are flames coming out of it?": "There are no flames"
    witnesses = _WITNESSES if yes_no else _WITNESSES | _TOLD
    if {*things} & witnesses and head not in stems:
        return True  # "There is no date on it", asked for the year
    if cue.rule == "not shown":
        return not (yes_no and _EXISTS & set(asked))
    if cue.rule == "premise denied":
        denies = any(word in ("not", "or") or word.endswith("n't") for word in asked)
        known = (set(stems) | _asked(question)) - _LITTLE
        return not yes_no and not denies and head in known
    if {"nobody", "one", "person", "people"} & set(absent):
        return bool(_PERSON & {stem(word) for word in asked}) and asked[:1] != ["who"]
    return not absent or not (set(stems) - _LITTLE | _asked(question)).isdisjoint(things)


def _is_asked_for(asked: Sequence[str], things: Sequence[str]) -> bool:
    """Whether a yes/no question asks if there are such things, named as if for the first time.

    "any dogs", "a dog", "flames" before all else, and "have spots" are; "the dog" is not.
    """
    if not things:
        return False
    for i, word in enumerate(asked):
        if word in _ANY and (things[0] == word or things[-1] in map(stem, asked[i + 1 : i + 4])):
            return True
        bare = i == 0 or asked[i - 1] in _HAVE
        if bare and word != stem(word) and things[-1] == stem(word):
            return True
    return False


def _takes_for_granted_chinese(question: str, thing: str) -> bool:
    if (
        any(asks in question for asks in ("有没有", "是否有", "吗", "多少", "几"))
        and "有" in question
    ):
        return False
    return not thing or thing[:2] in question or thing[:1] in question


def counted(asked: Sequence[str]) -> str:
    """Return what "how many ..." counts: the last word before a verb or preposition."""
    if tuple(asked[:2]) != ("how", "many"):
        return ""
    last = ""
    for word in asked[2:]:
        if word in _STOP:
            break
        last = word if word[0].isalpha() else last
    return stem(last)


def stem(word: str) -> str:
    """Return a word without its plural or possessive s."""
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1]
    return word


def content(words: Sequence[str]) -> set[str]:
    """Return the stems of the words that carry content."""
    return {
        stem(word) for word in words if word not in _LITTLE and (word[0].isalnum() or len(word) > 1)
    }


def _asked(question: str) -> set[str]:
    """Return the content words of a question, with the noun that its question word stands for."""
    words = words_of(proper(question))
    found = content(words_of(presuming(question)))
    for start, nouns in _ASKED_AS:
        if tuple(words[: len(start)]) == start:
            found |= set(nouns.split())
    return found


def _answers_anyway(text: str, cue: Cue, question: str) -> bool:
    """Whether the reply, hedge and all, gives an answer."""
    said = stated(text)
    if said:
        return next(cues(said[-1].text), None) is None
    lowered = text.lower()
    asked = proper(question)
    sentence, rest = lowered[cue.start : cue.end], lowered[cue.end :]
    if any(
        s in rest or s in sentence
        for s in ("best guess", "i'd say", "i would say", "i guess", "my guess")
    ):
        return next(cues(rest), None) is None
    either = " or " in question and re.match(r"\W*(\w+(?: \w+)?)\s*[-,;:(]", sentence)
    if either and content(words_of(either[1])) & content(words_of(asked)):
        return True  # "Small - there is no large ball"
    if not cue.strong:
        return _says_more(lowered, cue)
    turn = next((match for match in _TURN.finditer(sentence) if match.start() > 0), None)
    if sentence.startswith(("although", "though", "while", "even though")):
        tail = sentence.partition(",")[2]
        return bool(tail.strip()) and next(cues(tail), None) is None
    if turn is not None:
        before, tail = sentence[: turn.start()], f"{sentence[turn.end() :]} {rest}"
        if cue.absent is not None and _DESCRIBES.search(before) and not next(cues(before), None):
            return False  # "I see a cat, but no dog"
        if before.startswith(_COURTESIES) or before.strip(" ,") in _EFFORTS:
            return False  # "I apologize, but I can't determine this"
        if _VAGUE & set(words_of(before)):
            return False  # "She holds something, but I can't tell what"
        if _DESCRIBES.search(before) and not content(words_of(before)) & _asked(question):
            about = content(words_of(tail)) & _asked(question)
            if about and cue.rule == "cannot tell":
                return False  # "I see symbols, but the formula can't be evaluated"
        contrasts = cue.rule == "premise denied" and turn[0] == "but" and not BE & {*words_of(tail)}
        if contrasts:
            return False  # "These aren't shells but pebbles"
        if next(cues(before), None) is None and content(words_of(before)):
            return True  # "It is 7, although the rest is not visible"
    elif later := _LATER_TURN.match(rest):
        tail = rest[later.end() :]
    else:
        guesses = (
            _GUESS_LATER & set(words_of(rest))
            and not _MERE_GUESS.search(rest)
            and next(cues(rest), None) is None
        )
        if cue.rule == "which is meant":
            return bool(guesses)
        if (cue.rule == "false premise" or cue.absent) and asked != question.strip():
            told = content(words_of(rest)) & _asked(question)  # the premise is not what is asked
            if told or cue.rule == "false premise":
                return bool(told) and next(cues(rest), None) is None
        if cue.absent == ("none",) and _INSTEAD.match(rest):
            denied = words_of(sentence)  # "None of the dogs is black; they are white"
            return next(cues(rest), None) is None and not {stem(denied[-1])} & _asked(question)
        if cue.absent and (_WITNESSES | _TOLD) & set(cue.absent) and next(cues(rest), None) is None:
            known = _asked(question)  # "There is no text; the sign is red"
            told = content(words_of(rest)) & known
            if told and not content(words_of(sentence)) & known:
                return True
        return bool(guesses) or _answered_before(lowered[: cue.start], sentence, question)
    head = sentence[: turn.start()] if turn else sentence
    return _is_answer(tail, head, cue, question)


def _says_more(text: str, cue: Cue) -> bool:
    """Whether anything is said beside a weak cue ("not sure"), other than why."""
    for clause in re.split(r"[,.;:!?()\n]|\b(?:but|however|although|though|yet)\b|但|不过", text):
        words = words_of(clause)
        if not words or _REASON & set(words) or words[0] in ("sorry", "i'm", "hmm", "well"):
            continue
        if next(cues(clause), None) is None and (content(words) or words[0].isdigit()):
            return True
    return False


def _answered_before(before: str, sentence: str, question: str) -> bool:
    """Whether what stands before the cue answers the question, and the cue is about more."""
    asked = _asked(question)
    said = words_of(before)
    if not before.rstrip(" ").endswith((".", "!", ";", ",", "\n")):
        return False
    if not said or not asked or next(cues(before), None) is not None or _PICTURES & {*said}:
        return False
    if len(said) <= 4 and said[0] not in (
        "sorry",
        "i",
        "hmm",
        "well",
        "unfortunately",
        "apologies",
    ):
        return True  # "Red. The other car is not visible."
    return bool(content(said) & asked) and not content(words_of(sentence)) & asked


def _is_answer(tail: str, sentence: str, cue: Cue, question: str) -> bool:
    """Whether what follows "but" answers: a guess, a count, or a fact on what was asked about."""
    words = words_of(tail)
    if not words or next(cues(tail), None) is not None:
        return False
    if _GUESS & set(words) and not _NO_ANSWER.search(tail):
        return True
    if words_of(proper(question))[:2] == ["how", "many"] and any(
        word.isdigit() for word in plain_words(tail)
    ):
        return True
    asked = _asked(question)
    says = content(words) & asked and BE & set(words) and not _NO_ANSWER.search(tail)
    if cue.rule == "cannot tell" and says and not content(words_of(sentence)) & asked:
        return True  # "I can't say who it is, but the kite is red"
    beside = proper(question) != question.strip()  # "There aren't 5 dogs, but the cat is black"
    if beside and cue.absent and says:
        return True
    sees = any(f" {verb}" in sentence for verb in ("see", "view", "read", "access"))
    if cue.absent and _WITNESSES & set(cue.absent):
        return bool(content(words) & _asked(question)) or any(word.isdigit() for word in words)
    if _NO_ANSWER.search(tail) or (
        cue.rule in ("cannot tell", "not there", "declines") and not sees
    ):
        return False
    if not question:
        return bool({"is", "are", "was", "says", "reads"} & set(words))
    return bool(content(words) & _asked(question)) or bool({"says", "reads"} & set(words))
