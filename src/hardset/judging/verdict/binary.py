"""TRUE or FALSE in a judge's reply."""

from __future__ import annotations

import re

from hardset.judging.verdict.chinese import in_english
from hardset.judging.verdict.doubt import hedged, settled, supposed, ticked, turning
from hardset.judging.verdict.dress import bare, before, columns, first, negated, reported
from hardset.judging.verdict.structured import is_structured, read_json, truth_of, value_of

_VALUES = {"true": True, "yes": True, "correct": True, "right": True}
_VALUES |= {"false": False, "no": False, "incorrect": False, "wrong": False}
_NAMES = (
    frozenset(("final verdict", "verdict", "judgement", "judgment", "decision")),
    frozenset(("final answer", "answer", "result", "label", "conclusion", "value")),
)
_COLUMNS = _NAMES[0] | {"result", "conclusion", "assessment", "true/false", "verdict (true/false)"}
WORD = r"(?P<word>true|false|yes|no|correct|incorrect)(?![\w'])(?!-\w)"
_ANY = WORD.replace("true", "true|right|wrong", 1)
# "TRUE or FALSE", "yes/no", "yes and no", "true?", "TRUE -> FALSE": no verdict is given.
_OPEN = re.compile(
    r",? ?(?:or|/|\||and|but also|[-=]>|to|then) ?(?:true|false|yes|no|(?:in)?correct)\b| ?\?"
    r"|[.,;:!]* ?no[,.:;!]* (?:true|false|yes)\b|(?-i: (?:TRUE|FALSE)\b)",
    re.IGNORECASE,
)
# "TRUE if it gives an answer" repeats what was asked; it says nothing of the reply.
_IF = re.compile(r"[)\]]?,? ?(?:if|unless|only if|when|whenever|provided|assuming|in case)\b", re.I)
# After "no" or "correct" a noun may follow that makes another sentence of it: "no answer".
_ENDS = re.compile(
    r"$| ?[.,:;!()\[\]{}\n|]| - | ?(?:because|since|as|given|for|here|overall)\b", re.I
)
# A sentence may follow that has no stop before it: "TRUE it names one".
_SENTENCE = re.compile(r" (?:(?:it|they|both|this|the|there)\b|[^\w\s§])", re.I)
_SUBJECT = r"(?:it|this|that|(?:the|this) (?:\w{1,12} )?(?:reply|response|answer|model|system))"
# "yes it does", "no the reply does not"; and "yes it does not", which says two things.
_SPOKEN = re.compile(
    rf" {_SUBJECT} (?:(?:does|do|did|is|has)(?:n't)?|gives|means|says|names)\b", re.I
)
_DOES_NOT = re.compile(rf",? {_SUBJECT} (?:(?:does|do|did|is|has)(?: not\b|n't\b)|cannot)", re.I)
_DOES = re.compile(r",? (?:it|this|that) (?:does|did|has)(?! not\b|n't\b)(?= ?[.,;!\n]|$)", re.I)
_LEAD = re.compile(rf"[^\w\n¬!~≠?§|\[]{{0,6}}\[?[(\[{{:. -]*{WORD}", re.IGNORECASE)
_SAID = re.compile(
    r"\b(?P<label>verdict|answer|judge?ment|conclusion|result|decision)"
    r"(?P<of> (?:to|of|for|on|as to)(?: (?:the|this|your|my|above|first|second)){0,2} "
    r"(?:check|task|prompt|rubric|criterion|evaluation|instruction|reply|response"
    r"|whether the (?:reply|response)[^.,;:!?\n]{1,80}?(?= is )))?"
    rf"(?: would be(?=:| (?:TRUE|FALSE)\b)| ?(?:is|[:=])+| - | ?-+> ?)"
    rf"[:=]*\s?[\[({{✅✔✓❌✗✘✖ ]{{0,4}}{_ANY}",
    re.IGNORECASE,
)
# "Verdict (TRUE/FALSE): FALSE" repeats the choice.
_CHOICE = re.compile(r" ?\(?\b(?:TRUE ?(?:/|or) ?FALSE|yes ?(?:/|or) ?no)\)?(?= ?:)", re.I)
_ECHO = re.compile(r"^(?:response|output) ?: (?=\w+[.!]?$)", re.I)
# A label alone on its line has its verdict on the next.
_HEAD_LINE = re.compile(
    r"^((?:\d{1,2}[.)] )?(?:(?:the|my|final|overall) ){0,2}"
    r"(?:verdict|answer|judge?ment|conclusion|result|decision))(?: ?[:.])?\n",
    re.IGNORECASE | re.MULTILINE,
)
# Such a label is the judge's where it begins a clause: not "gives the answer: no".
_CLAUSE = re.compile(
    r"(?:^|[.!?:;,(|>#] ?|\b(?:so|thus|hence|therefore|that|then|and|means) |\d[.)] )"
    r"(?:(?:the|my|our|final|overall|short|correct) ){0,3}$",
    re.IGNORECASE,
)
_FINAL = re.compile(
    rf"\\f?boxed ?\{{ ?{_ANY} ?\}}|\[\[ ?{_ANY.replace('word', 'inner')} ?\]\]", re.I
)
# Whose answer it is that is yes or no: not the judge's.
_OTHERS = re.compile(r"(?:reference|correct|right|true|gold|expected|own|its|their|'s)[ _-]$", re.I)
_ANSWERS = re.compile(
    r"(?:(?:(?:reference|correct|right|gold|expected|own|its|their|'s)(?: final)? answer"
    r"|(?:its|their|'s|previous|prior|earlier|example|sample|expected|first|initial)(?: \w{1,9})?"
    r" (?:verdict|output))"
    r"(?: (?:is|was|of)|[:=])+|(?:reply|response|model|system)(?: was)?:) $",
    re.IGNORECASE,
)
_WHOSE = re.compile(
    r"\b(?:its|their|previous|prior|earlier|example|sample|expected|first|initial"
    r"|\w{1,12}'s)(?: (?:final|overall|own|first))?[ _-]$",
    re.I,
)
_SHOUTED = re.compile(r"(?<![\w'-])(?P<word>TRUE|FALSE)(?![\w'-])")
_MANY = 200
"""With more TRUE and FALSE than this, a reply goes round in circles: no verdict is looked for."""
# What somebody is told to say, but not "I would say TRUE".
_TOLD = re.compile(
    r"(?<!\bi)(?<!'d)(?<!would) (?:say|output|reply|respond|return|answer)(?: with)? $",
    re.IGNORECASE,
)
# What the judged reply does; and what stands at once behind such a verb.
_MOUTH = re.compile(
    r"\b(?:reply|response|model|system|assistant|answer|it|which|and|he|she|they) (?:\w{1,12}ly )?"
    r"(?:shows|suggests|indicates|believes|thinks|answers|replies|responds|notes|mentions|argues"
    r"|chooses|picks|selects|concludes|begins|starts|ends|reads|was|outputs|implies|contains"
    r"|quotes|repeats|asserts|insists|declares|confirms|denies|agrees)\b"
)
_GIVEN = re.compile(
    r"\b(?:gives|gave|chooses|chose|picks|picked|selects|answers|answered|commits to|replies"
    r"|outputs"
    r"|returns|returned|responds|responded)(?: with)?(?: an?| the)? $",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r"(?:(?:so|therefore|thus|hence),? )?(?:i(?:'d| would) say (?:that )?)?"
    r"(?:(?:it|this|that|statement|claim)(?: is|'s) (?P<word>true|false)"
    r"|(?:it|this|that)(?: is|'s) (?P<right>correct|incorrect))[.!]?",
    re.IGNORECASE,
)
_I_SAY = re.compile(
    r"\bi(?:'d| would)? (?:say|answer|conclude|go with|vote)(?: that| it is| it's|:|,)? ?"
    r"(?P<word>yes|no|true|false)(?![\w'-])",
    re.IGNORECASE,
)
# The question put to the judge, said again with its answer; in a table too.
_ASKED = re.compile(
    r"\b(?:does|is|did|has|do) (?:the|this) (?:final answer of the |model's |system's |given )?"
    rf"(?:reply|response|final answer)\b[^?\n]{{0,160}}\?[ \n|:>-]{{0,4}}{_ANY}",
    re.IGNORECASE,
)
# Such a question, or such a label, is perhaps the contrary of what the judge was asked.
_CONTRARY = re.compile(
    r"\b(?:refus\w*|declin\w*|no|not|fails?|differs?|different|none|unanswer\w*|wrong|lacks?)\b"
    r"(?!$)|n't\b",
    re.IGNORECASE,
)
_SO = re.compile(
    rf"\b(?:so|thus|hence|therefore|consequently|accordingly)[,:]? (?:it is |it's )?{WORD}", re.I
)
_TURN = turning(rf"(?:(?-i:TRUE|FALSE)|true|false|yes|no)(?![\w'-])(?:{_ENDS.pattern})")


# Where a verdict stands: at the beginning of a line or a clause, or behind words that give one.
_STANDS = re.compile(
    r"(?:^[^\w¬≠]{0,12}|[.:;,!?)(|>=§-] ?|\b(?:so|thus|hence|therefore|say|answer|conclude|as"
    r"|with|vote"
    r"|marked|labell?ed|mark|label|i\.e|(?:verdict|label|answer|result|judge?ment|conclusion"
    r"|decision"
    r"|check|output|criterion|statement|reply|response|it|this|that)(?: [^\s.;!?,:]{1,24}){0,12}"
    r" (?:is|be)(?: (?:therefore|thus|hence|clearly|then))?|^(?:it|this|that|which) (?:is"
    r"|would be))"
    r" )$",
    re.IGNORECASE,
)
_THEIRS = re.compile(
    r"\b(?:premise|assumption|presupposition|question|claim|title|caption|sign)s?"
    r"\b[^.;!?,:]{0,60} (?:is|be) $"
    r"|\b(?:reads|written|printed|caption|first (?:glance|sight|impression)|example"
    r"|instance|e\.g\.?"
    r"|previous|earlier|expected|colleague|others?|disagree)\b[^.;!?]{0,60}$|(?:回复|回答|模型"
    r"|参考)[^.,;!?]{0,12}$",
    re.IGNORECASE,
)
_NAMED = re.compile(r"[^.,;!?:]{0,60}[:=?] ?$")


def read_true_false(text: str) -> bool | None:
    """Read TRUE or FALSE (or yes or no, correct or incorrect, 是 or 否) from a judge's reply.

    What is marked final decides. Then the word that leads the reply, what is called the verdict or
    the answer, the question said again with its answer, a verdict column, "so FALSE", and the word
    alone in the last line or sentence: these must agree, but that after a leading TRUE or FALSE the
    words of another ("the model's answer is no") count for nothing. Last comes the only such word
    there is. Right and wrong count where they are called the verdict or stand alone. A verdict that
    is negated ("not true"), supposed ("if ..."), weakened ("possibly"), said both ways, or taken
    back (see `doubt`) is none.

    Returns:
        The verdict, or None where there is none to be read.
    """
    if is_structured(text):
        return truth_of(value_of(read_json(text) or {}, *_NAMES))
    text = _ECHO.sub("", bare(text))
    text = _HEAD_LINE.sub(r"\1: ", _CHOICE.sub("", in_english(text)))
    return settled(text, _read, _finals, _TURN) if text else None


def _read(text: str) -> bool | None:
    if sum(1 for _ in _SHOUTED.finditer(text)) > _MANY:
        return None
    said = first([lambda: _finals(text), lambda: _plain(text), lambda: _only(text)])
    ticks, crosses = ticked(text)
    return None if crosses and (ticks or said) else said


def _finals(text: str) -> list[bool | None]:
    boxed: list[bool | None] = [
        _VALUES[(m["word"] or m["inner"]).lower()] for m in _FINAL.finditer(text)
    ]
    final = [
        _meant(m)
        for m in _SAID.finditer(text)
        if re.search(r"\b(?:final|overall)[ _-]$", before(m), re.I)
        and not _of_others(m)
        and (
            m["label"].lower() != "answer"
            or before(m).lower().strip(" _-#|") in ("final", "my final")
        )
    ]
    return boxed or final


def _plain(text: str) -> list[bool | None]:
    lead = _lead(text)
    said = [m for m in _SAID.finditer(text) if _own(m)]
    if lead is not None and _LEAD.match(text)["word"] in ("TRUE", "FALSE"):  # type: ignore[index]
        said = [m for m in said if m["label"].lower() == "verdict"]
    claims = [*([] if lead is None else [lead]), *_last(text)]
    claims += [_VALUES.get(cell.strip(" .!()[]✅❌").lower()) for cell in columns(text, _COLUMNS)]
    for found in _ASKED.finditer(text):
        if not reported(found):
            claims.append(None if _CONTRARY.search(found[0]) else _meant(found))
    for found in _SO.finditer(text):
        if _ENDS.match(text, found.end()):
            claims.append(None if _said_by_others(found) or supposed(found) else _meant(found))
    claims += [None if supposed(m) or hedged(m) else _meant(m) for m in said]
    if claims:  # what is stated elsewhere may gainsay it, but not hold it up
        claims += [v for m in _SHOUTED.finditer(text) if (v := _stated(m)) is not None]
    return claims


def _lead(text: str) -> bool | None:
    lead = _LEAD.match(text)
    if lead is None or _OPEN.match(text, lead.end()) or _IF.match(text, lead.end()):
        return None
    word, ends = lead["word"], _ENDS.match(text, lead.end()) is not None
    if word.lower() in ("yes", "no"):
        ends = ends or _SPOKEN.match(text, lead.end()) is not None
        other = _DOES if word.lower() == "no" else _DOES_NOT
        if other.match(text, lead.end()):
            return None
    if not ends and not (word in ("TRUE", "FALSE") and _SENTENCE.match(text, lead.end())):
        return None  # "no doubt", "correct answer: 3", "true to the picture", "TRUE would be wrong"
    return _VALUES[word.lower()]


def _last(text: str) -> list[bool | None]:
    """Return the word alone in the last line, or TRUE or FALSE alone in the last sentence."""
    above, _, line = text.rstrip().rpartition("\n")
    line = line.strip(" .!()[]{}|✅❌*:")
    if re.search(r"\b(?:otherwise|else|then|or|not|if|and|says|said|replied)[ ,:]*$", above, re.I):
        return []
    if alone := re.fullmatch(_ANY, line, re.IGNORECASE):
        return [_VALUES[alone["word"].lower()]]
    sentence = re.split(r"[.!?:;)] ", line[-40:])
    if len(sentence) < 2 or sentence[-1] not in ("TRUE", "FALSE"):
        return []
    shouted = list(_SHOUTED.finditer(text))
    beside = {m["word"] for m in shouted if m.start() >= len(above)}
    return [_stated(shouted[-1]) if len(beside) == 1 else None]


def _own(said: re.Match[str]) -> bool:
    """Say whether what is called a verdict or an answer is the judge's."""
    if _of_others(said):
        return False
    if said["label"].lower() == "verdict":
        return True
    return not _OTHERS.search(before(said)) and _CLAUSE.search(before(said, 48)) is not None


def _of_others(said: re.Match[str]) -> bool:
    of = (said["of"] or "").lower()
    whose = said["label"].lower() == "answer" and of.endswith(("reply", "response"))
    whose = whose or _WHOSE.search(before(said)) is not None
    return whose or _said_by_others(said)


def _said_by_others(match: re.Match[str]) -> bool:
    ahead = re.split(r"[.;!?]", before(match, 100).lower())[-1]
    return reported(match) or _MOUTH.search(ahead) is not None


def _meant(said: re.Match[str]) -> bool | None:
    """Return what stands behind a label; None where it is left open or is another sentence."""
    word, rest = said["word"].lower(), said.end()
    if _OPEN.match(said.string, rest) or _IF.match(said.string, rest):
        return None
    if not _ENDS.match(said.string, rest) and not _SENTENCE.match(said.string, rest):
        return None
    return _VALUES[word]


def _only(text: str) -> list[bool | None]:
    if predicate := _PREDICATE.fullmatch(text.strip()):
        return [_VALUES[(predicate["word"] or predicate["right"]).lower()]]
    said = [m for m in _I_SAY.finditer(text) if m["word"].isupper() or _ENDS.match(text, m.end())]
    return [_stated(m) for m in (*_SHOUTED.finditer(text), *said)]


def _stated(found: re.Match[str]) -> bool | None:
    """Return TRUE or FALSE of a word that stands where a verdict does; None for all others."""
    ahead, word = before(found, 120), found["word"]
    if word == "FALSE" and re.search(r"\b(?:does not|doesn't|none) \($", ahead, re.I):
        return False  # "it does not (FALSE)"
    doubtful = negated(found) or supposed(found) or hedged(found)
    others = _said_by_others(found) or any(
        p.search(ahead) for p in (_OTHERS, _TOLD, _ANSWERS, _GIVEN, _THEIRS)
    )
    if doubtful or others or not _STANDS.search(ahead):
        return None
    if (named := _NAMED.search(ahead)) and _CONTRARY.search(named[0]):
        return None
    return _meant(found)
