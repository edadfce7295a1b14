"""Text by strangers, made safe to look at: nothing invisible, nothing endless."""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls other than tab and line ends
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # direction, zero width
    "\ud800-\udfff\ufffe\uffff]"  # half characters, which no file can hold
)


def visible(text: str) -> str:
    """Write what cannot be seen, or turns text around, by its number: `[U+202E]`."""
    return _UNSEEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def clip(text: str, head: int = 8_000, tail: int = 2_000) -> str:
    """Leave the middle of an endless text out, saying how much: the answer is near an end."""
    left_out = len(text) - head - tail
    if left_out <= 0:
        return text
    return f"{text[:head]}\n[... {left_out:,} characters left out ...]\n{text[-tail:]}"


def cut(name: str, most: int = 60) -> str:
    """Keep a name on one line and its middle out where it is long: `train/00…17.png`."""
    line = " ".join(name.split())
    if len(line) <= most:
        return line
    tail = most // 3
    return f"{line[: most - tail - 1]}…{line[-tail:]}"
