"""What a judge's reply holds of another's words: these are no verdict of the judge's."""

from __future__ import annotations

import re

GAP = "§"
"""Stands where another's words were: no word, no number and no stop."""

_MARK = re.compile(r"<((?:question|options|reference|reason|reply)-[0-9a-f]{12})>")
_BLOCK = re.compile(r"[ ]{0,3}>")
_LABEL = (
    r"(?:(?:my|the|final|overall) ){0,3}"
    r"(?:verdict|score|rating|grade|judge?ment|decision|conclusion|result|answer|结论|答案|判断)"
)
_HEADS = re.compile(rf"\W*(?:\d{{1,2}}\W{{1,3}})?{_LABEL}\W*", re.IGNORECASE)
_SHOWN = re.compile(
    r"(?<!\bmy )\b(?:reply|response|model|system|output|reference|says|said|reads|wrote|states)\b"
    r"[^\n]{0,60}:[*_ ]*$",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r'["“„][^"“”„\n]{2,400}["”]|[«「『][^«»「」『』\n]{2,400}[»」』]'
    r"|(?<![\w'])'(?:[^'\n]|(?<=\w)'(?=\w)){2,400}'(?![\w'])"
)
_KEPT = re.compile(
    rf"(?:^|\b(?:{_LABEL}|therefore|thus|hence|so|conclude with))(?: is)?[ ,:=*_`>#-]*$",
    re.IGNORECASE,
)


def own(text: str) -> str:
    """Return a judge's reply without the words it quotes; a quoted verdict of its own stays.

    What goes: facts of the prompt repeated between their marks; block quotes and code fences that
    show the reply that is judged; several words in quotes inside a sentence. What stays: a quote
    that is the whole text, that stands under a heading such as "Verdict", or behind such a label;
    and single words, of which the readers see who says them. Linear in the length of the text.
    """
    if "<re" in text or "<question-" in text or "<options-" in text:
        text = _unmarked(text)
    lines = _unshown(text.split("\n"))
    last = max((n for n, line in enumerate(lines) if line.strip()), default=0)
    for n, line in enumerate(lines):
        if not line.isascii() or '"' in line or "'" in line:
            above = _above(lines, n)
            shown = n not in (0, last) or _SHOWN.search(above) is not None
            lines[n] = _SPAN.sub(lambda span, shown=shown: _cut(span, shown), line)  # type: ignore[misc]
    return "\n".join(lines)


def _unmarked(text: str) -> str:
    parts, at = [], 0
    for mark in _MARK.finditer(text):
        if mark.start() < at:
            continue
        end = text.find(f"</{mark[1]}>", mark.end())
        if end < 0:
            break
        parts.append(text[at : mark.start()] + GAP)
        at = end + len(mark[1]) + 3
    return "".join(parts) + text[at:]


def _unshown(lines: list[str]) -> list[str]:
    """Take out block quotes, unless there is nothing else, and fences that show the reply."""
    kept: list[str] = []
    only_quotes = all(_BLOCK.match(line) for line in lines if line.strip())
    above = ""
    quoting = fenced = shown = False
    for line in lines:
        if line.lstrip().startswith("```"):
            shown = not fenced and _SHOWN.search(above) is not None
            fenced = not fenced
            kept.append(line)
            continue
        if fenced and shown:
            continue
        block = not fenced and _BLOCK.match(line) is not None
        if block and not only_quotes and not quoting and not _HEADS.fullmatch(above):
            continue
        quoting = block
        kept.append(line)
        if line.strip() and not block:
            above = line.rstrip()[-200:]
    return kept


def _above(lines: list[str], n: int) -> str:
    for line in reversed(lines[max(0, n - 3) : n]):
        if line.strip():
            return line.rstrip()[-200:]
    return ""


def _cut(span: re.Match[str], shown: bool) -> str:
    line, inner = span.string, span[0][1:-1].strip()
    if not re.search(r"\w\W+\w", inner):
        return span[0]
    whole = not re.search(r"\w", line[: span.start()]) and not re.search(r"\w", line[span.end() :])
    if whole:
        return GAP if shown else span[0]
    return span[0] if _KEPT.search(line[max(0, span.start() - 60) : span.start()]) else GAP
