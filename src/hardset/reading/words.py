"""A reply made plain: what every reader does to a text before it reads.

`tidy` takes off what carries no meaning (thoughts, emphasis, curly quotes, full-width letters,
LaTeX's dress); `sentences` cuts; `words_of` gives lower-case words, Chinese turned into the few
English words the rules know; `plain` is the form in which two texts are the same.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise

_CHARACTERS = str.maketrans(
    {
        "‘": "'", "’": "'", "‛": "'", "ʼ": "'", "´": "'", "`": "'",
        "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "「": '"', "」": '"', "『": '"',
        "』": '"', "《": '"', "》": '"', "【": "[", "】": "]",
        "。": ". ", "、": ", ", "，": ", ", "：": ": ", "；": "; ", "！": "! ", "？": "? ",
        "—": " - ", "–": "-", "−": "-", "‑": "-", "⁄": "/",
        "\u200b": None, "\u200c": None, "\u200d": None, "\u2060": None, "\ufeff": None,
        "\xad": None, "\ufe0f": None, "\r": "\n", "\u2028": "\n", "\u2029": "\n",
    }
)  # fmt: skip

# How models mark their thinking; what stands in it is not the reply.
_THOUGHTS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
_CHANNEL = "<|channel|>final<|message|>"

_BRIEF = 400  # characters of a text whose forms are remembered
_DRESSED = re.compile(r"[*_`#>•]|- ")
_EMOJI = re.compile("[\U0001f300-\U0001faff\u263a]+")
_STRUCK = re.compile(r"~~[^~\n]{1,400}~~")
_EMPHASIS = re.compile(r"(?<![\w*_])[*_]{1,3}(?=[^\s*_])|(?<=[^\s*_])[*_]{1,3}(?![\w*_])")
_HEADING = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+•][ \t]+|```\w*$)", re.MULTILINE)
_TAG = re.compile(r"</?(?:b|i|u|em|strong|code|span|p|div|br|mark|sup|sub)\b[^<>\n]{0,80}>", re.I)
_OTHER_TAG = re.compile(r"</?[A-Za-z]\w{1,24}>")
_SPECIAL = re.compile(r"<\|[a-z_]{1,30}\|>")
_LATEX_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mbox|rm|bf)\s*\{([^{}]{0,400})\}"
)
_FRACTION = re.compile(r"\\[dt]?frac\s?\{\s?(-?\d{1,40})\s?\}\s?\{\s?(-?\d{1,40})\s?\}")
_LATEX_MARKS = re.compile(r"\\[()\[\]]|\\[,;!: ]|\\(?:quad|qquad|left|right|displaystyle)\b")


def word_set(words: str) -> frozenset[str]:
    """Return the set of words in a text: how the rules list theirs."""
    return frozenset(words.split())


def tidy(text: str) -> str:
    """Return a reply without thoughts and dress, in one set of quotes, letters and marks.

    The words and their order stay. Linear in the length of the text.
    """
    return _tidy(text) if len(text) < _BRIEF else _tidy.__wrapped__(text)


@lru_cache(maxsize=4096)
def _tidy(text: str) -> str:
    if not text.isascii():
        text = text.translate(_CHARACTERS)
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text).translate(_CHARACTERS)
            text = _EMOJI.sub(" ", text)
    elif "\r" in text:
        text = text.replace("\r", "\n")
    if "<" in text or "[/T" in text or "▷" in text:
        text = without_thoughts(text)
        if "<" in text:
            text = _OTHER_TAG.sub("\n", _SPECIAL.sub(" ", _TAG.sub(" ", text)))
    if "\\" in text:
        text = _LATEX_MARKS.sub(" ", _LATEX_TEXT.sub(r"\1", _FRACTION.sub(r"\1/\2", text)))
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    if _DRESSED.search(text):
        text = _EMPHASIS.sub("", _HEADING.sub("", text))
        text = text.replace("`", "'")
    return text.strip()


def without_thoughts(text: str) -> str:
    """Return what follows the model's thinking; nothing, if it never stopped thinking."""
    if _CHANNEL in text:
        return text.rpartition(_CHANNEL)[2]
    for opening, closing in _THOUGHTS:
        before, found, after = text.rpartition(closing)
        if found:
            # With nothing behind it, perhaps the reply stands before.
            text = after if after.strip() else before.partition(opening)[0]
        head, found, _ = text.partition(opening)
        if found:
            text = head
    return text


_END = re.compile(r"\n+|[.!?;](?=[\"')\]]{0,3}(?:\s|$))")


class Sentences:
    """Where the sentences of a text start and end; lines end sentences too."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        self.starts += (match.end() for match in _END.finditer(text))

    def around(self, at: int) -> tuple[int, int]:
        """Return the start and end of the sentence that position `at` is in."""
        i = bisect_right(self.starts, at)
        end = self.starts[i] if i < len(self.starts) else len(self.text)
        return self.starts[i - 1], end

    def all(self) -> list[tuple[int, int]]:
        """Return every sentence's start and end, in order."""
        bounds = [*self.starts, len(self.text)]
        return [(a, b) for a, b in pairwise(bounds) if a < b]


_CHINESE = {
    "最终答案": "final answer", "答案": "answer", "正确选项": "correct option",
    "选项": "option", "结论": "conclusion", "应该是": "is", "应当是": "is", "应为": "is",
    "就是": "is", "而不是": "not", "而是": "but", "不是": "not is", "并非": "not is",
    "是": "is", "为": "is", "不选": "not choose", "选择": "choose", "应选": "choose",
    "故选": "so choose", "选": "choose", "不正确": "incorrect", "不对": "incorrect",
    "不符合": "incorrect", "正确": "correct", "错误": "wrong", "错": "wrong", "对": "correct",
    "符合": "matches",
    "最合适": "is correct", "最准确": "is correct", "最佳": "is best",
    "排除": "eliminate", "所以": "so", "因此": "therefore",
    "综上": "therefore", "因为": "because", "由于": "because", "和": "and", "或者": "or",
    "或": "or", "以及": "and", "如果": "if", "可能": "might", "也许": "maybe",
    "我认为": "think", "我觉得": "think", "没有": "no", "不": "not", "项": "option",
    "都": "both", "但是": "but", "但": "but", "其实": "actually",
}  # fmt: skip
TRADITIONAL = str.maketrans(
    "選項擇無斷沒確錯對應該題圖識別見為認還實際結論綜",
    "选项择无断没确错对应该题图识别见为认还实际结论综",
)
_CHINESE_WORDS = re.compile("|".join(sorted(_CHINESE, key=len, reverse=True)))
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*|->|=>|[,:=?&/✓✔✅✗✘❌→-]|[^\x00-\x7f]")


def words_of(text: str) -> list[str]:
    """Return the lower-case words of a stretch of text, with the marks the rules look at."""
    if not text.isascii():
        text = text.translate(TRADITIONAL)
        text = _CHINESE_WORDS.sub(lambda match: f" {_CHINESE[match[0]]} ", text)
    return _WORD.findall(text.lower())


_UNITS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
          "fifteen sixteen seventeen eighteen nineteen").split()  # fmt: skip
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS: dict[str, int] = {
    **{word: i for i, word in enumerate(_UNITS)},
    **{word: 10 * i for i, word in enumerate(_TENS, 2)},
    "dozen": 12,
}  # fmt: skip
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
CHINESE_DIGITS = dict(zip("零一二三四五六七八九", range(10), strict=True)) | {
    "两": 2,
    "〇": 0,
    "十": 10,
}

# Nouns that end as participles do.
NOT_DOING = word_set(
    "ring king wing thing string spring building ceiling painting drawing writing clothing evening "
    "morning railing earring wedding pudding lightning something anything nothing everything bed "
    "shed sled seed weed red"
)
_ARTICLES = frozenset({"a", "an", "the"})
_PLAIN = re.compile(r"[a-z\u00c0-\u024f]+(?:'[a-z]+)?|-?\d+(?:[.,:/]\d+)*%?|[^\W\d_a-z]")


def plain(text: str) -> str:
    """Return the form in which texts are compared: no case, articles, marks; numbers as digits.

    "The two dogs." and "2 dogs" are both "2 dogs".
    """
    return _plain(text) if len(text) < _BRIEF else _plain.__wrapped__(text)


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return " ".join(plain_words(text))


def plain_words(text: str) -> list[str]:
    """Return the words of `plain`."""
    found = _PLAIN.findall(tidy(text).lower())
    words: list[str] = []
    for i, word in enumerate(found):
        if word in _ARTICLES and len(found) > 1:
            continue
        if word in NUMBER_WORDS:
            tens = NUMBER_WORDS[word]
            if words and i and found[i - 1] in _TENS and 0 < tens < 10:
                words[-1] = str(int(words[-1]) + tens)
                continue
            word = str(tens)
        words.append(word)
    return words
