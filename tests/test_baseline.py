"""What the baselines say, by form; and that chance hangs on the item and the repeat alone."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from hardset.errors import UsageError
from hardset.images import Library
from hardset.models import make_model
from hardset.models.baseline import KINDS, REFUSAL
from hardset.reading import read_choice, read_yes_no
from hardset.records import Item, Prompt, State

CHOICE = Item(id="c", question="?", form="choice", choices=("w", "x", "y", "z"), answer="C")
YES_NO = Item(id="y", question="?", form="yes_no", answer="no")
NUMBER = Item(id="n", question="?", form="number", answer="7")
BRACES = Item(id="b", question="?", form="braces", answer="11.90")
OPEN = Item(id="o", question="?", answer="a red car")
NO_ANSWER = Item(id="u", question="?", form="choice", choices=("w", "x"), answerable=False)
ALL = (CHOICE, YES_NO, NUMBER, BRACES, OPEN, NO_ANSWER)


def say(kind: str, item: Item, repeat: int = 0) -> str:
    async def go() -> str:
        async with make_model(f"baseline/{kind}") as model:
            reply = await model.reply(Prompt(messages=(), repeat=repeat), item, Library())
            assert reply.failure is None
            assert reply.finish == "stop"
            return reply.text

    return asyncio.run(go())


def test_always_refuse_abstains_from_everything():
    assert {say("always-refuse", item) for item in ALL} == {REFUSAL}


def test_the_oracle_says_the_truth_and_abstains_where_there_is_none():
    assert [say("oracle", item) for item in ALL] == [
        "C", "no", "7", "{11.90}", "a red car", REFUSAL,
    ]  # fmt: skip


def test_majority_says_the_first_option_yes_or_two():
    assert [say("majority", item) for item in ALL] == ["A", "yes", "2", "{2}", "a person", "A"]


def test_random_is_even_over_the_options_and_stays_among_them():
    items = [
        Item(id=str(i), question="?", form="choice", choices=("w", "x", "y")) for i in range(600)
    ]
    counts = Counter(say("random", item) for item in items)
    assert counts.keys() == {"A", "B", "C"}
    # 600 draws at 1/3: mean 200, standard deviation sqrt(600 * 1/3 * 2/3) = 11.5; 5 of them
    assert all(abs(count - 200) < 58 for count in counts.values())
    assert {say("random", YES_NO, r) for r in range(40)} == {"yes", "no"}
    assert {say("random", NUMBER, r) for r in range(200)} == {str(n) for n in range(10)}


def test_never_refuse_always_answers():
    for item in ALL:
        for repeat in range(5):
            assert say("never-refuse", item, repeat).startswith("The answer is ")


@pytest.mark.parametrize("kind", KINDS)
def test_chance_hangs_on_the_item_and_the_repeat_alone(kind):
    assert [say(kind, item, 1) for item in ALL] == [say(kind, item, 1) for item in ALL]
    if kind in ("random", "never-refuse"):
        assert len({say(kind, OPEN, repeat) for repeat in range(30)}) > 1


def test_baselines_see_the_item_and_cost_nothing():
    model = make_model("baseline/random")
    assert (model.name, dict(model.options), model.sees_item, model.free) == (
        "baseline/random", {}, True, True,
    )  # fmt: skip


def test_an_unknown_baseline_is_a_usage_error_with_a_hint():
    with pytest.raises(UsageError, match="did you mean oracle"):
        make_model("baseline/oracel")


def test_the_readers_take_the_baselines_at_their_word():
    read = read_choice
    assert read(say("oracle", CHOICE), CHOICE.choices).answer == "C"
    assert read(say("always-refuse", CHOICE), CHOICE.choices).state is State.ABSTAINED
    assert read(say("never-refuse", CHOICE), CHOICE.choices).state is State.ANSWERED
    assert read(say("random", CHOICE), CHOICE.choices).state is State.ANSWERED
    assert read_yes_no(say("never-refuse", YES_NO)).state is State.ANSWERED
