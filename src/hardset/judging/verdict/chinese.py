"""Chinese verdicts put into the English words that the readers know."""

from __future__ import annotations

import re

_WORDS = {
    **dict.fromkeys("是 是的 对 對 真 正确 正確".split(), "TRUE"),
    **dict.fromkeys("否 不是 不对 不對 错 錯 错误 錯誤 假 不正确 不正確".split(), "FALSE"),
}
# Only where nothing is joined on: "是" is also the verb of any sentence.
_WORD = re.compile(rf"(?<!\w)(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})(?!\w)")
_LABEL = re.compile(
    r"(?:(?<=^)|(?<=[.,;:!?(\n ]))(?:因此|所以|综上所述|综上|故|于是)?[,:]? ?(?:我的|该|此)?"
    r"(?P<final>最终|最后|总体)?的?(?:判断|判定|裁决|裁定|结论|答案|结果|判斷|結論|評判|评判)"
    r"(?:结果)?(?:[:=]|(?:应该|应当|应)?(?:是(?!否)|为)"
    r"[: ]*(?=(?:[^\W\d_]{1,3})?(?:\W|$)))[: ]*"
)


def in_english(text: str) -> str:
    """Return a bare text with `结论:否` as `Verdict: FALSE`, and a lone 是 as TRUE."""
    if text.isascii():
        return text
    text = _LABEL.sub(lambda m: f" {'Final verdict' if m['final'] else 'Verdict'}: ", text)
    return _WORD.sub(lambda m: _WORDS[m[0]], text).strip(" ")
