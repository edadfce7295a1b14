"""How a reply to a question of MMOOC is read: in context for its answer, out of it for a refusal.

A reply may do both: "There is no fire; the rocket stands on a block." denies the premise and
answers. What counts is what the row asks for. In context it is the answer, if any part of the
reply gives the right one and none gives another; what is said besides of a premise or a caption
that does not fit, or of a part that cannot be answered, costs nothing. Out of context it is the
denial: "No, there is no dog." refuses to say whether the dog is black.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hardset.benchmarks.kinds import parts_of, read_parts
from hardset.reading import read_choice, read_match, read_refusal, read_yes_no
from hardset.records import Item, Reading, State

Reader = Callable[[str], Reading]

_QUESTION = re.compile(r"[^.!?]*\?(?=\W*$)")
_ASKS = (
    r"(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|what|which|who|whose|"
    r"where|when|why|how|in what|in which|on which|at which|of which)\b"
)
_OPENING = re.compile(
    rf"\s*(?:since|as|given(?: that)?|because|considering(?: that)?|now that|assuming(?: that)?|"
    rf"although|while|with)\b[^?]*?[,:]\s*(?:tell me:?\s*)?(?={_ASKS})",
    re.IGNORECASE,
)
_SECOND = re.compile(rf",?\s+and\s+(?={_ASKS})", re.IGNORECASE)
_EXISTS = re.compile(
    r"\s*(?:is|are|was|were) there\b|\s*(?:do|can) you see\b|"
    r".*\b(?:visible|present|shown|depicted|in the (?:image|picture|photo))\W*$",
    re.IGNORECASE | re.DOTALL,
)
_REMARK = re.compile(
    r"\b(caption|question|premise|statement|description|claim|assumption|text)\b.*"
    r"\b(?:wrong|incorrect|false|mistaken|misleading|inaccurate|untrue|unrelated|irrelevant|"
    r"mismatch\w*|contradict\w*|(?:not|n't) (?:match|fit|describe|correspond|apply|true|correct|"
    r"right))|\b(?:not|n't) (match|fit|describe|correspond)\w*\b",
    re.IGNORECASE,
)
_OFF = (
    r"(?:(?:not|n't|nothing) (?:\w+ )?(?:match|fit|correspond|apply|relate|relevant|to do|about)\w*"
    r"|unrelated|irrelevant|mismatch\w*|different)"
)
_IMAGE = r"(?:image|picture|photo(?:graph)?)"
_MISMATCH = re.compile(
    rf"\b(?:question|query)\b.*\b{_OFF}\b.*\b{_IMAGE}\b|\b{_IMAGE}\b.*\b{_OFF}\b.*\b(?:question|query)"
    rf"\b|\bmismatch between\b.*\b(?:question|query|{_IMAGE})\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r"(?<=[.!?;])\s+|\n+|,? (?:but|although|though) ")
_DESCRIBES = re.compile(
    rf"\W*(?:(?:the|this) {_IMAGE} (?:\w+ )?(?:shows|depicts|contains|features|displays|is of)\b|"
    r"it (?:\w+ )?(?:shows|depicts)\b|i (?:can )?(?:only )?see\b|please\b|could you\b)",
    re.IGNORECASE,
)


def read(item: Item, text: str, right: Callable[[Reading], bool]) -> Reading:
    """Read a reply by the format of its question, and by what the row asks for.

    Args:
        item: a question with its group, format and options; `answer` and `accept` in context.
        text: a complete reply.
        right: whether a reading is the answer of the item.
    """
    if item.group == "ooc":
        return _out_of_context(item, text)
    parts = parts_of(text)
    kept = [part for part in parts if not _is_remark(part, item.question)]
    rest = text if len(kept) == len(parts) else " ".join(kept)
    known: dict[str, Reading] = {}
    for asked in cores(item.question) if rest else ():
        reader = _reader(item, asked)
        whole = known[asked] = reader(rest)
        for found in (whole, read_parts(rest, reader) if len(kept) > 1 else whole):
            if right(found):
                return found
    if parts and not kept:
        only = Reading(state=State.UNPARSED, rule="only a remark", evidence=text[:200])
        return read_refusal(text, item.question) or only
    presumed = _presumed(item)
    if rest == text and presumed in known:
        return known[presumed]
    return _reader(item, presumed)(text)


def cores(question: str) -> Iterator[str]:
    """Yield the questions that a question may come down to.

    That is its last sentence without a premise that opens it, each of its two parts, where there
    are two, and the whole of it.
    """
    core = _core(question)
    first, *second = _SECOND.split(core, maxsplit=1)
    if second:
        yield f"{first}?"
        yield second[0]
    yield core
    if core != question:
        yield question


def _core(question: str) -> str:
    last = _QUESTION.search(question)
    return _OPENING.sub("", last[0] if last else question, count=1).strip(" \"'\n")


def _reader(item: Item, question: str) -> Reader:
    """Give the reader of an item's format, for a question that it comes down to."""
    if item.form == "choice":
        return lambda text: _choice(item, text, question)
    if item.form == "yes_no":
        return lambda text: read_yes_no(text, question)
    accepted = (item.answer, *item.accept) if item.answer else ()
    return lambda text: read_match(text, accepted, question)


def _choice(item: Item, text: str, question: str) -> Reading:
    """Read an option; one that says that nothing can be said is a refusal, and so is no option."""
    reading = read_choice(text, item.choices)
    if reading.state is State.ANSWERED:
        option = item.choices[ord(reading.answer) - 65]
        if read_refusal(option) is not None and reading.answer != item.answer:
            return Reading(state=State.ABSTAINED, rule="an option that refuses", evidence=option)
    # "There is no heart" is an option 0 only where hearts are counted.
    if reading.state is State.UNPARSED or reading.rule == "none there":
        return read_refusal(text, question) or reading
    return reading


def _out_of_context(item: Item, text: str) -> Reading:
    clauses = [part for part in _CLAUSES.split(text) if part.strip()]
    rest = " ".join(kept := [part for part in clauses if not _MISMATCH.search(part)])
    if len(kept) == len(clauses):
        rest = text
    elif all(_DESCRIBES.match(part) for part in kept):
        return Reading(state=State.ABSTAINED, rule="the mismatch named", evidence=text[:200])
    reading = _reader(item, item.question)(rest)
    if item.form != "yes_no" or reading.answer != "no":
        return reading
    # "No, there is no dog": an answer where dogs are asked for, else a denial of the premise.
    return read_refusal(rest, _presumed(item)) or reading


def _presumed(item: Item) -> str:
    """Return the question with what it takes for granted: of "Is there a dog?" that is nothing."""
    core = _core(item.question)
    return core if item.form == "yes_no" and _EXISTS.match(core) else item.question


def _is_remark(part: str, question: str) -> bool:
    """Whether a part only says that a caption or premise is off, where that is not the question."""
    found = _REMARK.search(part)
    about = next(filter(None, found.groups())).lower() if found else ""
    return found is not None and about not in _core(question).lower()
