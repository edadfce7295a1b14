"""Laws of reading: dress does not matter, options keep their meaning, nothing crashes a reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.reading import (
    read_braces_lenient,
    read_braces_official,
    read_choice,
    read_number,
    read_open,
    read_refusal,
    read_yes_no,
    same_lenient,
)
from hardset.records import State

SIGNS = ("the sign is red", "the sign is green", "the sign is blue", "there is no sign")
REPLIES = [
    json.loads(line)[0]
    for line in (Path(__file__).parent / "data/replies/choices.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
LETTERS = "ABCD"
FRAMES = [
    "{}", "({})", "**{}**", "{}.", "Answer: {}", "The answer is {}.", "I would choose {}.",
    "\\boxed{{{}}}", "<answer>{}</answer>", "Final answer: {}", "{} is correct.", "Option {}",
    "答案是{}", "选{}", '{{"answer": "{}"}}', "It's {}.", "Therefore, {}.",
    "<think>A? B?</think>{}",
]  # fmt: skip

# Text that looks like replies: words that the rules know, letters, marks, and anything else.
pieces = st.sampled_from(
    "A B C D E a b i I the answer is not no yes option correct wrong cannot determine there isn't "
    "know . , : ; ? ! ( ) [ ] { } \\boxed{ } <answer> </answer> <think> </think> \n \n\n ** ' \" "
    "$ / - 7 7,200 1/2 seven because so therefore but wait actually 答案 是 选 不 无法判断 最终 "
    "： （ ）".split(" ")
)  # fmt: skip
texts = st.one_of(st.text(max_size=200), st.lists(pieces, max_size=30).map(" ".join))


@given(texts, st.lists(st.text(max_size=20), min_size=1, max_size=10))
@settings(max_examples=400, deadline=None)
def test_a_choice_is_one_of_the_options_or_none(text: str, choices: list[str]):
    reading = read_choice(text, choices)
    if reading.state is State.ANSWERED:
        assert reading.answer in [chr(65 + i) for i in range(len(choices))]
    else:
        assert reading.state in (State.ABSTAINED, State.UNPARSED)
        assert reading.answer == ""
    assert reading.rule


@given(texts, st.one_of(st.just(""), texts))
@settings(max_examples=400, deadline=None)
def test_no_text_crashes_a_reader(text: str, question: str):
    assert read_yes_no(text, question).answer in ("yes", "no", "")
    number = read_number(text, question)
    assert (number.state is State.ANSWERED) == bool(number.answer)
    read_refusal(text, question)
    read_open(text, ("red", "7", ""), question)
    official, lenient = read_braces_official(text), read_braces_lenient(text)
    assert official.rule
    assert lenient.rule
    same_lenient(text, question)


@given(st.sampled_from(REPLIES), st.sampled_from(["{}\n", "  {}", "\n\n{}\n\n", "{} ", "\ufeff{}"]))
def test_space_around_a_reply_changes_nothing(reply: str, frame: str):
    one, other = read_choice(reply, SIGNS), read_choice(frame.format(reply), SIGNS)
    assert (one.state, one.answer) == (other.state, other.answer)


@given(
    st.sampled_from(LETTERS),
    st.sampled_from(FRAMES),
    st.sampled_from(["{}", "**{}**", "{}\n", "> {}", "# {}", "- {}", "__{}__", "<b>{}</b>"]),
)
def test_emphasis_changes_no_pick(letter: str, frame: str, dress: str):
    reply = dress.format(frame.format(letter))
    assert read_choice(reply, SIGNS).answer == letter


REFUSALS = [
    "I can't choose between {} and {}.", "I am unable to see Image {}.", "N/A, neither {} nor {}.",
    "I'm sorry, I can't tell whether {} or {} is right.", "Unable to determine ({} and {}).",
    "I cannot see the image, so {} or {} would be a guess.", "无法确定是{}还是{}",
    "It is impossible to say if the answer is {} or {}.", "Answer: cannot be determined",
    "There is not enough information to decide on {}.", "I lack the information to answer ({}-{}).",
    "I don't see an image. Please upload it so I can choose among {} and {}.",
    "The colour can't be determined, so options {} and {} can't be told apart.",
    "I won't be able to answer, whether {} or {}.",
    "Without the image I can't say if {} is correct.",
]  # fmt: skip


@given(
    st.sampled_from(REFUSALS),
    st.sampled_from(LETTERS),
    st.sampled_from(LETTERS),
    st.sampled_from(["{}", "**{}**", "Sorry! {}", "{} Please try another picture.", "\n{}\n"]),
)
def test_no_refusal_is_read_as_an_option(refusal: str, one: str, other: str, dress: str):
    if one == other:
        return
    reading = read_choice(dress.format(refusal.format(one, other)), SIGNS)
    assert reading.state is State.ABSTAINED, reading


@given(st.permutations(SIGNS), st.sampled_from(SIGNS), st.sampled_from(FRAMES))
def test_relabelling_the_options_relabels_the_answer(order: list[str], pick: str, frame: str):
    letter = LETTERS[order.index(pick)]
    assert read_choice(frame.format(letter), order).answer == letter
    assert read_choice(pick, order).answer == letter
    assert read_choice(f"{letter}. {pick}", order).answer == letter
    assert read_choice(f"The answer is: {pick}", order).answer == letter


@given(st.sampled_from(LETTERS), st.sampled_from(LETTERS), st.sampled_from(FRAMES))
def test_full_width_and_lower_case_letters_are_the_same(letter: str, other: str, frame: str):
    wide = chr(ord(letter) + 0xFEE0)
    assert read_choice(frame.format(wide), SIGNS).answer == letter
    if frame not in ("{} is correct.",):
        assert read_choice(frame.format(letter.lower()), SIGNS).answer == letter
    reply = f"{frame.format(letter)} Not {other}."
    if letter != other and "<" not in frame:
        assert read_choice(reply, SIGNS).answer in (letter, "")


@given(
    st.integers(-(10**9), 10**9),
    st.sampled_from(["{}", "The answer is {}.", "{{{}}}", "\\boxed{{{}}}"]),
)
def test_numbers_keep_their_value(number: int, frame: str):
    if not frame.startswith("{{"):
        assert read_number(frame.format(number)).answer == str(number)
        assert read_number(frame.format(f"{number:,}")).answer == str(number)
    assert same_lenient(f"{number:,}", str(number))
    assert same_lenient(f"${number}.00" if number >= 0 else f"{number}.00", str(number))
    assert not same_lenient(str(number), str(number + 1))
    assert not same_lenient(f"{number}0", str(number)) or number == 0


@given(texts)
def test_the_official_braces_are_the_last_on_a_line(text: str):
    import re

    found = re.findall(r"\{(.*?)\}", text.lower())
    reading = read_braces_official(text)
    if found:
        assert (reading.state, reading.answer) == (State.ANSWERED, found[-1])
    else:
        assert reading.state is State.UNPARSED


@given(texts, texts)
def test_lenient_sameness_is_symmetric(one: str, other: str):
    assert same_lenient(one, other) == same_lenient(other, one)


# What has undone regular expressions, by the thousand.
HOSTILE = [
    "{", "}", "{}", "\\boxed{", "(", "((A", "A, ", "A ", "* ", "**", "_", "`", "'", '"', "' ",
    ".", ". ", "!", "? ", "\n", "- ", "<", "<answer>", "<think>", "</think>", "</answer>",
    "not ", "no ", "answer ", "answer: ", "final ", "the answer is ", "1", "1,", "7 or ", "1/",
    "seven ", "hundred ", "答", "答案", "不", "无法", " ", "\t", "\\frac{1}{", "$", "~~", "|",
    "I can't ", "but ", "wait ", "a.", "A.B", "A and ", "if ", "-", "yes ", "yes/", "no, ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.timeout(60)
def test_long_hostile_replies_are_read_all_the_same(piece: str):
    text = piece * (40_000 // len(piece))
    for reader in (read_yes_no, read_number, read_refusal, read_open, read_braces_lenient):
        reader(text)
        reader(f"{text} The answer is 7.")
    read_braces_official(text)
    read_choice(text, SIGNS)
    read_choice(f"x{text}", SIGNS)
