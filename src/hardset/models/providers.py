"""Who answers OpenAI-compatible chat over HTTP: addresses, key variables and quirks, as a table.

Adding a provider is adding a row. Addresses and fields are the providers' published ones.
"""

from __future__ import annotations

from dataclasses import dataclass

_JPEG_PNG = frozenset({"image/jpeg", "image/png"})
_WEBP = _JPEG_PNG | {"image/webp"}
_COMMON = _WEBP | {"image/gif"}


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One row: where it is, which variable holds its key, and where it is peculiar."""

    title: str
    base_url: str
    key_env: str
    key_needed: bool = True
    takes: frozenset[str] = _COMMON
    max_tokens_field: str = "max_tokens"
    seed_field: str = "seed"  # empty: it takes none
    logprobs: bool = True  # False: it gives no log-probabilities of chat tokens
    json_schema: bool = True  # False: it holds no reply to a schema (`response_format`)
    fixed_temperature: tuple[str, ...] = ()
    """Beginnings of the names of models that refuse a temperature or top_p."""


def _local(title: str, port: int, key_env: str, takes: frozenset[str] = _COMMON) -> Provider:
    address = f"http://127.0.0.1:{port}/v1"
    return Provider(title=title, base_url=address, key_env=key_env, key_needed=False, takes=takes)


PROVIDERS: dict[str, Provider] = {
    "openai": Provider(
        title="OpenAI",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        max_tokens_field="max_completion_tokens",
        fixed_temperature=("o1", "o3", "o4", "gpt-5"),
    ),
    "anthropic": Provider(
        title="Anthropic",
        base_url="https://api.anthropic.com/v1",
        key_env="ANTHROPIC_API_KEY",
        seed_field="",
        logprobs=False,
        json_schema=False,
    ),
    "gemini": Provider(
        title="Gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_env="GEMINI_API_KEY",
        takes=_WEBP,
        seed_field="",
        logprobs=False,
    ),
    "mistral": Provider(
        title="Mistral",
        base_url="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        seed_field="random_seed",
        logprobs=False,
    ),
    "xai": Provider(
        title="xAI", base_url="https://api.x.ai/v1", key_env="XAI_API_KEY", takes=_JPEG_PNG
    ),
    "deepseek": Provider(
        title="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        key_env="DEEPSEEK_API_KEY",
        seed_field="",
        json_schema=False,
    ),
    "dashscope": Provider(  # outside China: --base-url with its -intl address
        title="DashScope",
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        key_env="DASHSCOPE_API_KEY",
        json_schema=False,
    ),
    "together": Provider(
        title="Together", base_url="https://api.together.xyz/v1", key_env="TOGETHER_API_KEY"
    ),
    "groq": Provider(
        title="Groq",
        base_url="https://api.groq.com/openai/v1",
        key_env="GROQ_API_KEY",
        logprobs=False,
    ),
    "fireworks": Provider(
        title="Fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
        key_env="FIREWORKS_API_KEY",
    ),
    "openrouter": Provider(
        title="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
    ),
    "ollama": _local("Ollama", 11434, "OLLAMA_API_KEY", _JPEG_PNG),
    "lmstudio": _local("LM Studio", 1234, "LMSTUDIO_API_KEY", _WEBP),
    "vllm": _local("vLLM", 8000, "VLLM_API_KEY"),
    "sglang": _local("SGLang", 30000, "SGLANG_API_KEY"),
    "llamacpp": _local("llama.cpp", 8080, "LLAMA_API_KEY", _JPEG_PNG),
}

ANY = Provider(title="the endpoint", base_url="", key_env="HARDSET_API_KEY", key_needed=False)
"""An endpoint that is given by its address alone."""
