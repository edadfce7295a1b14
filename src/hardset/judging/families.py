"""Which family of models a name belongs to, and whose it is: a table, one row a family.

A family is what shares training: a vendor's line of models under one name, with all its sizes and
years. What serves a model (a router, a server) says nothing of it. As of November 2026.
"""

from __future__ import annotations

import re
import unicodedata
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

from hardset.errors import UsageError


class Kin(NamedTuple):
    """What a model is of.

    Attributes:
        families: their names; none for what is no trained model at all, such as a baseline.
        vendors: who made them, as far as is known.
        known: whether the families are from the table, or the model stands for itself.
    """

    families: frozenset[str]
    vendors: frozenset[str]
    known: bool = True


class Family(NamedTuple):
    """One row: a family, whose it is, and what its models' names hold (in small letters)."""

    name: str
    vendor: str
    pattern: str


# A word of the name begins with `B`, and nothing but a digit or a mark goes on behind `E`. `^` is
# the beginning of the name, for words that are common elsewhere ("step", "seed", "nova").
_B, _E = r"(?<![a-z])", r"(?![a-z])"
_START = r"(?:^|[.:])"

FAMILIES = (
    Family(
        "GPT",
        "OpenAI",
        r"(?<![a-z0-9])(?:chat)?gpt-?(?:[45](?!all)|3\.5|35|oss)|chatgpt|^gpt-?[23]"
        rf"|{_START}o[1-9](?:-(?:mini|pro|preview|high|low|deep|\d{{4}})|$|[:@])"
        rf"|{_START}(?:codex-mini|text-davinci|davinci-00|computer-use-preview)",
    ),
    Family("Claude", "Anthropic", rf"{_B}claude{_E}"),
    Family("Gemini", "Google", rf"{_B}(?:gemini{_E}|learnlm)"),
    Family("Gemma", "Google", rf"gemma{_E}"),
    Family(
        "Llama",
        "Meta",
        rf"{_B}(?:code|meta)?llama{_E}|{_B}vicuna|{_B}alpaca{_E}|chameleon-(?:7|30)b",
    ),
    Family("Qwen", "Alibaba", rf"{_B}(?:code)?qwen|{_B}q[wv]q{_E}"),
    Family("Ovis", "Alibaba", rf"{_B}ovis{_E}"),
    Family(
        "Mistral",
        "Mistral AI",
        rf"{_B}(?:mistral|mixtral|pixtral|magistral|ministral|codestral|devstral|mathstral|voxtral)"
        r"|zephyr-7b",
    ),
    Family("Grok", "xAI", rf"{_B}grok{_E}"),
    Family("DeepSeek", "DeepSeek", rf"{_B}deepseek|^janus(?:-pro|-1|flow)"),
    Family(
        "InternVL",
        "Shanghai AI Laboratory",
        rf"{_B}(?:mini-?|mono-?)?intern-?(?:vl|lm|video|s1|xcomposer)",
    ),
    Family("Phi", "Microsoft", r"(?<![a-z0-9])phi-?[1-5](?!\d)|^phi(?:$|:)"),
    Family("Florence", "Microsoft", r"^florence-?2"),
    Family("Molmo", "Ai2", rf"{_B}(?:molmo|olmo)"),
    Family("LLaVA", "the LLaVA authors", rf"{_B}(?:bak|tiny-?)?llava"),
    Family("GLM", "Zhipu AI", rf"{_B}(?:(?:chat)?glm-?(?:\d|z1|edge)|cogvlm|cogagent|autoglm)"),
    Family("MiniCPM", "OpenBMB", rf"{_B}minicpm"),
    Family("Kimi", "Moonshot AI", rf"{_B}kimi{_E}|^moonlight-(?:16b|a3b)|^moonshot-v"),
    Family(
        "Yi",
        "01.AI",
        rf"{_START}yi-?(?:\d|vl|vision|large|medium|lightning|coder|spark)|-yi-?(?:6|9|34)b|^yi:",
    ),
    Family("Aria", "Rhymes AI", r"^aria(?:$|-(?:base|chat|ui|sequential|25b))"),
    Family(
        "Command",
        "Cohere",
        rf"{_START}command-(?:r|a|light|nightly|text|vision){_E}|c4ai-|{_B}aya(?:-(?:\d|vision|expanse)|:|$)",
    ),
    Family("Nova", "Amazon", rf"{_START}nova-(?:2-)?(?:micro|lite|pro|premier|omni|sonic){_E}"),
    Family("SmolLM", "Hugging Face", rf"{_B}smol-?(?:lm|vlm|docling)"),
    Family("Idefics", "Hugging Face", rf"{_B}idefics"),
    Family("Step", "StepFun", r"^step-?(?:[123](?![0-9])|r1|1o|1v)|stepfun"),
    Family("ERNIE", "Baidu", rf"{_B}ernie{_E}"),
    Family("Hunyuan", "Tencent", rf"{_B}hunyuan"),
    Family("Seed", "ByteDance", rf"{_B}doubao|^seed-?(?:[12]\.\d|oss|vl)"),
    Family("UI-TARS", "ByteDance", r"^ui-tars"),
    Family("Nemotron", "NVIDIA", rf"nemotron|{_B}nvlm|{_B}n?vila{_E}|^cosmos-reason"),
    Family("Granite", "IBM", rf"{_B}granite-?(?:\d|vision|code|docling|guardian)"),
    Family("Jamba", "AI21", rf"{_B}jamba"),
    Family("Reka", "Reka", rf"{_START}reka{_E}"),
    Family("Falcon", "TII", r"^falcon-?(?:\d|h1|mamba|e-|edge|vlm|perception|$|:)"),
    Family("MiMo", "Xiaomi", r"^mimo(?:$|[-:])"),
    Family("MiniMax", "MiniMax", rf"{_B}minimax{_E}|^abab\d"),
    Family("Baichuan", "Baichuan", rf"{_B}baichuan"),
    Family("Keye", "Kuaishou", r"^keye-"),
    Family("EXAONE", "LG", rf"{_B}exaone"),
    Family("Solar", "Upstage", r"^solar(?:-(?:pro|mini|open|10)|:)"),
    Family("HyperCLOVA", "Naver", r"hyperclova|^hcx-"),
    Family("LFM", "Liquid AI", r"^lfm-?[123](?!\d)"),
    Family("BLIP", "Salesforce", rf"{_B}(?:instruct)?blip{_E}|{_B}xgen-mm"),
    Family("Fuyu", "Adept", r"^fuyu-"),
    Family("Moondream", "Moondream", rf"{_B}moondream"),
    Family("Skywork", "Skywork", rf"{_B}skywork"),
    Family("Ling", "inclusionAI", r"^(?:ling|ring|ming)-(?:lite|plus|flash|mini|omni|1t|[12]\.)"),
    Family("LongCat", "Meituan", r"^longcat"),
    Family("Palmyra", "Writer", r"^palmyra"),
)

# What was trained from another family's weights without saying so in its name, as the models'
# cards say it.
_BUILT_ON = (
    (r"llava-(?:v?1\.[56])?-?(?:7b|13b)|llava-v?1\.[56]-vicuna|^llava:(?:7b|13b)", "Llama"),
    (r"llava-(?:onevision|ov)", "Qwen"),
    (r"^bakllava", "Mistral"),
    (r"internvl-?3(?:[.-]5)?-(?:1b|2b|8b|14b|38b|78b|4b|30b|241b)", "Qwen"),
    (r"molmo-(?:7b-d|72b)", "Qwen"),
    (r"minicpm-?(?:v|o)-?(?:2[.-]6|4[.-]5)", "Qwen"),
    (r"^ovis-?2(?![0-9])", "Qwen"),
    (r"^idefics-?2", "Mistral"),
    (r"^idefics-?3", "Llama"),
    (r"^ui-tars", "Qwen"),
    (r"^keye-vl", "Qwen"),
    (r"^moondream-?2", "Phi"),
    (r"^deepseek-r1:(?:1\.5|7|8|14|32)b", "Qwen"),  # what Ollama serves under these are distilled
    (r"^deepseek-r1:(?:8|70)b", "Llama"),
)

_SERVING = frozenset(
    "openrouter together togethercomputer together_ai fireworks fireworks_ai groq ollama lmstudio "
    "lm-studio vllm hosted_vllm sglang llamacpp llama.cpp llama azure azure_ai azure-openai "
    "bedrock vertex vertex_ai sagemaker replicate deepinfra huggingface hf hf-inference "
    "transformers tgi mlx nebius novita siliconflow cerebras sambanova nim nvidia_nim litellm "
    "litellm_proxy anyscale baseten hyperbolic lepton modelscope volcengine github databricks "
    "watsonx perplexity dashscope chutes parasail featherless poe".split()
)
_VENDORS = {
    "openai": "OpenAI", "anthropic": "Anthropic", "gemini": "Google", "google": "Google",
    "mistral": "Mistral AI", "mistralai": "Mistral AI", "xai": "xAI", "x-ai": "xAI",
    "xai-org": "xAI", "deepseek": "DeepSeek", "deepseek-ai": "DeepSeek", "qwen": "Alibaba",
    "alibaba": "Alibaba", "aidc-ai": "Alibaba", "meta": "Meta", "meta-llama": "Meta",
    "facebook": "Meta", "microsoft": "Microsoft", "nvidia": "NVIDIA", "amazon": "Amazon",
    "cohere": "Cohere", "coherelabs": "Cohere", "cohereforai": "Cohere", "allenai": "Ai2",
    "opengvlab": "Shanghai AI Laboratory", "internlm": "Shanghai AI Laboratory",
    "z-ai": "Zhipu AI", "zai-org": "Zhipu AI", "thudm": "Zhipu AI", "zhipu": "Zhipu AI",
    "openbmb": "OpenBMB", "moonshot": "Moonshot AI", "moonshotai": "Moonshot AI",
    "01-ai": "01.AI", "huggingfacetb": "Hugging Face", "huggingfacem4": "Hugging Face",
    "stepfun": "StepFun", "stepfun-ai": "StepFun", "baidu": "Baidu", "tencent": "Tencent",
    "bytedance": "ByteDance", "bytedance-seed": "ByteDance", "ibm": "IBM", "ibm-granite": "IBM",
    "ai21": "AI21", "ai21labs": "AI21", "rekaai": "Reka", "tiiuae": "TII", "xiaomi": "Xiaomi",
    "xiaomimimo": "Xiaomi", "minimax": "MiniMax", "minimaxai": "MiniMax", "lgai-exaone": "LG",
    "upstage": "Upstage", "liquidai": "Liquid AI", "salesforce": "Salesforce",
}  # fmt: skip
_OWN = Kin(frozenset({"Scout"}), frozenset({"hardset"}))
_NOTHING = Kin(frozenset(), frozenset())

_ROWS = tuple((re.compile(row.pattern), row) for row in FAMILIES)
_BASES = tuple((re.compile(pattern), name) for pattern, name in _BUILT_ON)
_BY_NAME = {row.name.lower(): row for row in FAMILIES}
_FIRST_WORD = re.compile(r"[^\W\d_]{3,}")


@lru_cache
def kin(spec: str) -> Kin:
    """Say of which families and vendors a model is, by its spec.

    A model that was trained from another's weights is of both families, where its name tells it
    (`deepseek-r1-distill-qwen-32b`) or its card does. A model of no family in the table is a family
    of its own, by its name without what serves it, and of the vendor whose own provider serves it.

    Args:
        spec: `provider/model`, or a model's name alone.
    """
    provider, _, rest = spec.partition("/")
    if provider == "baseline" and rest:
        return _NOTHING
    if provider == "local" and rest.startswith("scout"):
        return _OWN
    parts = _parts(spec)
    vendor = _VENDORS.get(parts[0].lower()) if len(parts) > 1 else None
    for part in reversed(parts[1:] if vendor else parts):
        if names := _named(part.lower().replace("_", "-")):
            return _of(names)
    return Kin(frozenset({"/".join(parts)}), frozenset({vendor} if vendor else ()), known=False)


def said_to_be(spec: str, names: str) -> Kin:
    """Return the kin of a model whose families the user says.

    Args:
        spec: of the model, for the message.
        names: of families, with commas between them: as in the table, whatever case and marks they
            are written with; of a model of such a family (`Llama 3`); or of one's own, which then
            has its own name as its vendor.

    Raises:
        UsageError: a name is empty, or nearly that of a family in the table: a slip would let an
            overlap pass.
    """
    families, vendors = set[str](), set[str]()
    for name in (name.strip() for name in names.split(",")):
        found = _known(name)
        if found is None:
            near = _near(name)
            if near or not name:
                meant = f": is {near} meant?" if near else ""
                raise UsageError(f"{spec} is said to be of the family {name!r}{meant}")
            found = Kin(frozenset({name}), frozenset({name}))
        families |= found.families
        vendors |= found.vendors
    return Kin(frozenset(families), frozenset(vendors))


def plain(name: str) -> str:
    """Give a name without case, spaces and marks: two that differ in these alone are one."""
    letters = unicodedata.normalize("NFKC", name).casefold()
    return "".join(letter for letter in letters if letter.isalnum()) or name


def _known(name: str) -> Kin | None:
    """Find what a name is of, where the table has it or knows models of that name."""
    whole = next((row.name for row in FAMILIES if plain(row.name) == plain(name)), None)
    if whole is not None:
        return _of({whole})
    found = kin("-".join(name.split()) or name)
    return found if found.known and found.families else None


def _near(name: str) -> str:
    """Name the family in the table that a name is a slip of; "" if it is of none."""
    word = _FIRST_WORD.match(name)  # without the size or year behind it
    written = {plain(name), plain(word[0]) if word else plain(name)}
    for row in FAMILIES:
        if any(len(one) > 2 and _one_slip(one, plain(row.name)) for one in written):
            return row.name
    near = get_close_matches(plain(name), list(_BY_NAME), n=1, cutoff=0.75)
    return _BY_NAME[near[0]].name if near else ""


def _one_slip(one: str, other: str) -> bool:
    """Say whether one letter is too many, missing, or another one, or two have changed places."""
    start = _begin_alike(one, other)
    one, other = one[start:], other[start:]
    end = _begin_alike(one[::-1], other[::-1])
    one, other = one[: len(one) - end], other[: len(other) - end]
    return max(len(one), len(other)) < 2 or (len(one) == 2 and one == other[::-1])


def _begin_alike(one: str, other: str) -> int:
    """Count the letters with which two words begin alike."""
    apart = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(apart, min(len(one), len(other)))


def _parts(spec: str) -> list[str]:
    """Return the parts of a model's name, without what only serves it."""
    parts = [part for part in spec.strip().split("/") if part] or [spec]
    while len(parts) > 1 and parts[0].lower() in _SERVING:
        parts = parts[1:]
    return parts


def _named(name: str) -> set[str]:
    found = {row.name for pattern, row in _ROWS if pattern.search(name)}
    return found | {base for pattern, base in _BASES if pattern.search(name)}


def _of(names: set[str]) -> Kin:
    vendors = frozenset(_BY_NAME[name.lower()].vendor for name in names)
    return Kin(frozenset(names), vendors)
