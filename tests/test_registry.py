"""Benchmarks by name: what the list says of them and of their options."""

import pytest

from hardset.benchmarks import registry
from hardset.errors import UsageError


def test_a_benchmark_is_listed_with_what_it_is():
    listed = dict(registry.describe())
    assert listed["scenes"] == "Scenes: The embedded benchmark of drawn scenes."
    assert listed["mmr"].startswith("MMR: ")


@pytest.mark.parametrize("name", ["mmr", "scenes"])
def test_every_option_is_listed_with_its_default_and_its_meaning(name):
    described = registry.describe_options(name)
    assert [option for option, _ in described] == list(registry.options(name))
    assert all(": " in text and text.endswith(".") for _, text in described), described


def test_a_meaning_of_several_lines_is_one():
    described = dict(registry.describe_options("scenes"))
    assert described["difficulty"] == (
        "easy or default or hard, 'default': how crowded and cluttered the pictures are."
    )
    assert described["prompt"].endswith("asks for the reasoning first.")
    assert "Raises" not in described["prompt"]
    assert "\n" not in described["prompt"]


@pytest.mark.parametrize(
    ("option", "value", "takes"), [("n", "abc", "int"), ("difficulty", "x", "easy or default or")]
)
def test_a_value_of_the_wrong_type_is_told_the_right_one(option, value, takes):
    with pytest.raises(UsageError, match=f"option {option} takes {takes}.*, not '{value}'"):
        registry.make("scenes", **{option: value})
