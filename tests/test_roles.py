"""Families of models by their names, and roles that one family has twice."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset.cli.judges import JudgeFlags
from hardset.errors import UsageError
from hardset.judging.families import FAMILIES, kin, said_to_be
from hardset.judging.roles import Kin, Roles

# --- names ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "families", "vendors"),
    [
        ("openai/gpt-4o-2024-08-06", "GPT", "OpenAI"),
        ("openai/chatgpt-4o-latest", "GPT", "OpenAI"),
        ("azure/gpt-35-turbo", "GPT", "OpenAI"),
        ("openai/ft:gpt-4o-mini:acme::1", "GPT", "OpenAI"),
        ("groq/openai/gpt-oss-120b", "GPT", "OpenAI"),
        ("o1", "GPT", "OpenAI"),
        ("openai/o3-mini-high", "GPT", "OpenAI"),
        ("openrouter/openai/o4-mini", "GPT", "OpenAI"),
        ("openrouter/anthropic/claude-3.5-sonnet", "Claude", "Anthropic"),
        ("bedrock/us.anthropic.claude-sonnet-4-v1:0", "Claude", "Anthropic"),
        ("gemini/gemini-2.5-pro", "Gemini", "Google"),
        ("vllm/google/gemma-3-27b-it", "Gemma", "Google"),
        ("google/paligemma2-3b-mix", "Gemma", "Google"),
        ("ollama/llama3.2-vision:11b", "Llama", "Meta"),
        ("together/meta-llama/Llama-4-Scout-17B-16E-Instruct", "Llama", "Meta"),
        ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", "Qwen", "Alibaba"),
        ("Qwen3.5-122B-A10B", "Qwen", "Alibaba"),
        ("dashscope/qwq-plus", "Qwen", "Alibaba"),
        ("Qwen/QVQ-72B-Preview", "Qwen", "Alibaba"),
        ("fireworks/accounts/fireworks/models/qwen2p5-vl-32b-instruct", "Qwen", "Alibaba"),
        ("vllm//models/Qwen2.5-VL-7B/snapshots/0a1b", "Qwen", "Alibaba"),
        ("pixtral", "Mistral", "Mistral AI"),
        ("mistral/pixtral-large-latest", "Mistral", "Mistral AI"),
        ("mixtral-8x22b", "Mistral", "Mistral AI"),
        ("ministral-8b", "Mistral", "Mistral AI"),
        ("magistral-small", "Mistral", "Mistral AI"),
        ("codestral-latest", "Mistral", "Mistral AI"),
        ("xai/grok-4", "Grok", "xAI"),
        ("deepseek/deepseek-chat", "DeepSeek", "DeepSeek"),
        ("deepseek-ai/Janus-Pro-7B", "DeepSeek", "DeepSeek"),
        ("internlm/internlm3-8b-instruct", "InternVL", "Shanghai AI Laboratory"),
        ("microsoft/Phi-4-multimodal-instruct", "Phi", "Microsoft"),
        ("ollama/phi:latest", "Phi", "Microsoft"),
        ("allenai/Molmo-7B-O-0924", "Molmo", "Ai2"),
        ("allenai/OLMo-2-1124-13B", "Molmo", "Ai2"),
        ("z-ai/glm-4.6v", "GLM", "Zhipu AI"),
        ("THUDM/cogvlm2-chat", "GLM", "Zhipu AI"),
        ("moonshotai/kimi-k2.5", "Kimi", "Moonshot AI"),
        ("Moonlight-16B-A3B", "Kimi", "Moonshot AI"),
        ("01-ai/Yi-VL-34B", "Yi", "01.AI"),
        ("cohere/command-a-vision-07-2025", "Command", "Cohere"),
        ("CohereLabs/aya-vision-8b", "Command", "Cohere"),
        ("bedrock/us.amazon.nova-pro-v1:0", "Nova", "Amazon"),
        ("smolvlm", "SmolLM", "Hugging Face"),
        ("llama/smollm2", "SmolLM", "Hugging Face"),  # llama.cpp serves it here
        ("stepfun-ai/step3", "Step", "StepFun"),
        ("baidu/ernie-4.5-vl-424b-a47b", "ERNIE", "Baidu"),
        ("tencent/Hunyuan-A13B", "Hunyuan", "Tencent"),
        ("doubao-seed-1-6-vision", "Seed", "ByteDance"),
        ("bytedance/seed1.5-vl", "Seed", "ByteDance"),
        ("ibm-granite/granite-vision-3.3-2b", "Granite", "IBM"),
        ("ai21/jamba-large", "Jamba", "AI21"),
        ("reka-flash-3", "Reka", "Reka"),
        ("tiiuae/falcon-11B-vlm", "Falcon", "TII"),
        ("XiaomiMiMo/MiMo-VL-7B-RL", "MiMo", "Xiaomi"),
        ("local/scout-abstain", "Scout", "hardset"),
        # Two families: what it is, and what it was trained from.
        ("deepseek-r1-distill-qwen-32b", "DeepSeek Qwen", "DeepSeek|Alibaba"),
        ("ollama/deepseek-r1:70b", "DeepSeek Llama", "DeepSeek|Meta"),
        ("nvidia/llama-3.1-nemotron-70b-instruct", "Nemotron Llama", "NVIDIA|Meta"),
        ("openbmb/MiniCPM-Llama3-V-2_5", "MiniCPM Llama", "OpenBMB|Meta"),
        ("openbmb/MiniCPM-V-2_6", "MiniCPM Qwen", "OpenBMB|Alibaba"),
        ("allenai/Molmo-72B-0924", "Molmo Qwen", "Ai2|Alibaba"),
        ("AIDC-AI/Ovis2-8B", "Ovis Qwen", "Alibaba"),
    ],
)
def test_a_name_tells_its_families_and_vendors(spec, families, vendors):
    found = kin(spec)
    assert found.families == set(families.split())
    assert found.vendors == set(vendors.split("|"))
    assert found.known


@pytest.mark.parametrize("spec", ["internvl3-8b", "OpenGVLab/InternVL3_5-8B"])
def test_a_vision_model_is_kin_of_the_language_model_it_was_built_on(spec):
    assert kin(spec).families == {"InternVL", "Qwen"}  # by its card
    assert kin("llava-v1.6-mistral-7b").families == {"LLaVA", "Mistral"}  # by its name
    assert kin("llava-hf/llava-1.5-7b-hf").families == {"LLaVA", "Llama"}  # Vicuna, of Llama 2
    assert kin("llava-onevision-qwen2-7b-ov").families == {"LLaVA", "Qwen"}


@pytest.mark.parametrize(
    "spec",
    "my-model my-o1 marco-o1 video-o1-vl o10k gpt4all minigpt-4 sharegpt4v-7b stepwise "
    "train-step-100 footstep-2 my-model-seed-42 seedling delphi-2 phillip phi-lite yilmaz "
    "novanet supernova-pro ariana aria-net command-line-helper falconer mimosa tinyllama "
    "moonlight-sonata reykjavik parakeet solaris rings-of-saturn kimiko groqqer geminis "
    "claudette grokking".split(),
)
def test_a_word_inside_a_name_is_no_family(spec):
    assert kin(spec) == Kin(frozenset({spec}), frozenset(), known=False)


def test_what_only_serves_a_model_tells_nothing_and_a_vendors_own_tells_the_vendor():
    assert kin("vllm/my-model") == kin("ollama/my-model") == kin("my-model")
    assert kin("openai/my-model").vendors == {"OpenAI"}
    assert not kin("openai/my-model").known
    # An endpoint that only speaks as OpenAI's does is not OpenAI's model.
    assert kin("openai/Qwen2.5-VL-7B").vendors == {"Alibaba"}
    assert kin("groq/llama-3.3-70b").families == {"Llama"}
    assert kin("llama/my-model").families == {"my-model"}


def test_a_baseline_is_of_no_family():
    assert kin("baseline/random") == Kin(frozenset(), frozenset(), known=True)


def test_no_row_of_the_table_matches_everything_and_each_can_be_said():
    names = [row.name for row in FAMILIES]
    assert len(set(names)) == len(names)
    for row in FAMILIES:
        assert re.compile(row.pattern).search("") is None
        assert said_to_be("x", row.name) == Kin(frozenset({row.name}), frozenset({row.vendor}))


@given(st.text(min_size=1).map(str.strip).filter(lambda name: name and "/" not in name))
def test_what_serves_a_model_never_changes_its_family(name):
    assert kin(f"vllm/{name}").families == kin(name).families != frozenset()


# --- roles ----------------------------------------------------------------------------------


def test_one_family_in_two_roles_is_said_in_a_sentence():
    roles = Roles(
        evaluated=("openai/gpt-4o",), judge=("openai/gpt-4o-mini", "openrouter/x-ai/grok-4")
    )
    assert roles.overlaps() == ["openai/gpt-4o-mini judges openai/gpt-4o: one family, GPT"]
    assert roles.warnings() == []


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        (("generator", "verifier"), "o1 verifies what gpt-4o generated"),
        (("generator", "judge"), "o1 judges replies to what gpt-4o generated"),
        (("generator", "evaluated"), "o1 is evaluated on what gpt-4o generated"),
        (("verifier", "judge"), "o1 judges replies to what gpt-4o verified"),
        (("verifier", "evaluated"), "o1 is evaluated on what gpt-4o verified"),
        (("judge", "evaluated"), "gpt-4o judges o1"),
    ],
)
def test_every_pair_of_roles_is_looked_at(roles, sentence):
    one, other = roles
    assert Roles(**{one: ("gpt-4o",), other: ("o1",)}).overlaps() == [
        f"{sentence}: one family, GPT"
    ]
    assert Roles(**{one: ("gpt-4o", "o1")}).overlaps() == []  # one role, twice
    assert Roles(**{one: ("gpt-4o",), other: ("claude-3",)}).overlaps() == []


def test_the_study_that_the_specification_names_overlaps_in_every_way():
    """GPT-4o and o1 generate, verify and judge: 2 x 2 for each of the 3 pairs of roles."""
    both = ("openai/gpt-4o", "openai/o1")
    found = Roles(generator=both, verifier=both, judge=both).overlaps()
    assert len(found) == 12
    assert "openai/gpt-4o judges replies to what openai/gpt-4o generated: one model" in found


def test_a_distilled_model_overlaps_with_either_parent():
    student = "deepseek-r1-distill-qwen-32b"
    for parent, family in (("qwen-max", "Qwen"), ("deepseek-chat", "DeepSeek")):
        roles = Roles(evaluated=(student,), judge=(parent,))
        assert roles.overlaps() == [f"{parent} judges {student}: one family, {family}"]


def test_two_families_of_one_vendor_warn():
    roles = Roles(evaluated=("gemma-3",), judge=("gemini/gemini-2.5-pro",))
    assert roles.overlaps() == []
    assert roles.warnings() == [
        "gemini/gemini-2.5-pro judges gemma-3: two families of one vendor, Google"
    ]


def test_a_panel_of_one_vendor_warns():
    three = ("openai/gpt-4o", "openai/o3", "openai/gpt-5")
    assert Roles(judge=three).warnings() == [
        "all three judges are OpenAI's: their errors are likely to agree"
    ]
    assert Roles(judge=("gemma-3", "gemini-2.5-pro")).warnings() == [
        "both judges are Google's: their errors are likely to agree"
    ]
    assert Roles(verifier=three[:2]).warnings() == [
        "both verifiers are OpenAI's: their errors are likely to agree"
    ]
    assert Roles(judge=(*three, "claude-3")).warnings() == []
    assert Roles(judge=three[:1]).warnings() == []
    assert Roles(judge=("a-model", "b-model")).warnings() == []  # nobody knows whose they are


def test_a_family_that_is_not_known_is_said_where_there_is_something_to_check():
    unknown = (
        "the family of my-model is not known: it was not checked against the others "
        "(--family my-model=NAME says it)"
    )
    assert Roles(evaluated=("my-model",), judge=("openai/gpt-4o",)).warnings() == [unknown]
    assert Roles(evaluated=("my-model",)).warnings() == []
    assert Roles(evaluated=("baseline/random",), judge=("my-model",)).warnings() == []
    again = Roles(evaluated=("my-model",), judge=("my-model",))
    assert again.overlaps() == ["my-model judges my-model: one model"]
    served = Roles(evaluated=("vllm/my-model",), judge=("ollama/my-model",))
    assert served.overlaps() == ["ollama/my-model judges vllm/my-model: one model by its name"]


def test_baselines_overlap_with_nothing():
    roles = Roles(evaluated=("baseline/random",), judge=("baseline/random",))
    assert roles.overlaps() == roles.warnings() == []


def test_an_overlap_is_an_error_unless_allowed():
    roles = Roles(
        evaluated=("openai/gpt-4o", "my-model"), judge=("openai/o1", "openai/gpt-5"),
        generator=("claude-3",),
    )  # fmt: skip
    with pytest.raises(UsageError) as caught:
        roles.check(allow=False)
    for part in ("openai/o1 judges openai/gpt-4o", "openai/gpt-5 judges", "--allow-overlap"):
        assert part in str(caught.value)
    assert roles.check(allow=True) == [
        "openai/o1 judges openai/gpt-4o: one family, GPT",
        "openai/gpt-5 judges openai/gpt-4o: one family, GPT",
        "both judges are OpenAI's: their errors are likely to agree",
        "the family of my-model is not known: it was not checked against the others "
        "(--family my-model=NAME says it)",
    ]
    assert Roles(evaluated=("gpt-4o",), judge=("claude-3",)).check(allow=False) == []


def test_the_manifest_resolves_every_role():
    roles = Roles(evaluated=("my-model",), judge=("deepseek-r1-distill-llama-8b",))
    assert roles.manifest() == {
        "generator": [],
        "verifier": [],
        "judge": [
            {
                "model": "deepseek-r1-distill-llama-8b",
                "family": "DeepSeek, Llama",
                "vendor": "DeepSeek, Meta",
                "known": True,
            }
        ],
        "evaluated": [{"model": "my-model", "family": "my-model", "vendor": "", "known": False}],
    }


def test_a_user_may_say_the_family_of_a_fine_tune():
    roles = Roles(evaluated=("my-vlm",), judge=("qwen-max",), said={"my-vlm": "qwen"})
    assert roles.overlaps() == ["qwen-max judges my-vlm: one family, Qwen"]
    assert roles.warnings() == []
    assert roles.manifest()["evaluated"] == [
        {"model": "my-vlm", "family": "Qwen", "vendor": "Alibaba", "known": True, "said": True}
    ]
    two = Roles(evaluated=("my-vlm",), judge=("gpt-5",), said={"my-vlm": "Qwen, LLaVA"})
    assert two.kin("my-vlm").families == {"Qwen", "LLaVA"}


def test_a_family_that_is_none_and_a_model_without_a_role_are_refused():
    with pytest.raises(UsageError, match=r"my-vlm is said .* 'qwne': is Qwen meant\?"):
        Roles(evaluated=("my-vlm",), said={"my-vlm": "qwne"})
    own = Roles(evaluated=("my-vlm",), judge=("gpt-5",), said={"my-vlm": "Ours"})
    assert own.check(allow=False) == []  # a family of one's own is known, and overlaps with none
    assert own.manifest()["evaluated"][0]["family"] == "Ours"
    with pytest.raises(UsageError, match="ours judges my-vlm: one family, Ours"):
        Roles(
            evaluated=("my-vlm",), judge=("ours",), said={"my-vlm": "Ours", "ours": "Ours"}
        ).check(allow=False)
    with pytest.raises(UsageError, match=r"family of my-vml is given, .* there are: my-vlm"):
        Roles(evaluated=("my-vlm",), said={"my-vml": "qwen"})


@pytest.mark.parametrize(("one", "other"), [("Foo", "foo"), ("Foo-7B", "Foo 7B"), ("Ö-x", "ö_X")])
def test_own_names_that_differ_in_case_or_marks_are_one_family(one, other):
    roles = Roles(evaluated=("my-vlm",), judge=("ours",), said={"my-vlm": one, "ours": other})
    assert roles.overlaps() == [f"ours judges my-vlm: one family, {one}"]
    assert roles.manifest()["judge"][0]["family"] == one  # as it is first written
    assert roles.manifest()["judge"][0]["vendor"] == one
    apart = Roles(evaluated=("my-vlm",), judge=("ours",), said={"my-vlm": one, "ours": "Bar"})
    assert apart.check(allow=False) == []


@pytest.mark.parametrize(
    ("said", "family"),
    [
        ("Qwen2.5-VL", "Qwen"), ("qwen 3", "Qwen"), ("Llama 3", "Llama"), ("GPT 4", "GPT"),
        ("Vicuna", "Llama"), ("Deep Seek", "DeepSeek"), ("intern-vl", "InternVL"),
        ("Step 3", "Step"), ("mixtral", "Mistral"),
    ],
)  # fmt: skip
def test_a_name_that_the_table_knows_is_of_its_family(said, family):
    assert said_to_be("x", said) == said_to_be("x", family)
    assert said_to_be("x", f"Foo, {said}").families == {"Foo", family}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("GTP", "GPT"), ("gtp-4", "GPT"), ("Lama 3", "Llama"), ("Lama", "Llama"),
        ("Qwem 2", "Qwen"), ("Claud", "Claude"), ("Gemni 2.5", "Gemini"),
        ("Grock", "Grok"), ("Nova 2", "Nova"),
    ],
)  # fmt: skip
def test_a_slip_in_a_familys_name_is_an_error_that_names_it(said, meant):
    with pytest.raises(UsageError, match=rf"x is said .* '{re.escape(said)}': is {meant} meant\?"):
        said_to_be("x", said)


@pytest.mark.parametrize(
    "own", ["Ours", "Foo-7B", "Acme VL", "Mini-VLM", "The Lab", "Mono", "K2", "?"]
)
def test_a_name_of_ones_own_is_no_slip(own):
    assert said_to_be("x", own) == Kin(frozenset({own}), frozenset({own}))


def test_one_model_cannot_be_given_two_families_one_by_one():
    with pytest.raises(UsageError, match=r"twice for a/b, as Qwen and as Foo: .* a/b=Qwen,Foo"):
        _ = JudgeFlags(family=["a/b=Qwen", "a/b=Foo"]).families
    assert JudgeFlags(family=["a/b=Qwen,Foo"] * 2).families == {"a/b": "Qwen,Foo"}


def test_an_overlap_that_came_with_the_data_is_said_and_stops_nobody():
    """No choice of model mends it; one that is evaluated or judges besides is still refused."""
    data = {"generator": ("openai/gpt-4o",), "verifier": ("openai/o1",)}
    said = Roles(evaluated=("anthropic/claude-sonnet-4",), **data).check(allow=False)
    assert said[0] == "openai/o1 verifies what openai/gpt-4o generated: one family, GPT"
    with pytest.raises(UsageError, match="openai/gpt-5 is evaluated on what openai/gpt-4o gener"):
        Roles(evaluated=("openai/gpt-5",), **data).check(allow=False)
