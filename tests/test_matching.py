"""Free answers held against the accepted ones: every rule of the normal form, and its ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.reading import read_match
from hardset.reading.lettered import take_apart
from hardset.reading.matching import letter_of, same
from hardset.reading.nothing import is_nothing
from hardset.records import State

ANSWERED, ABSTAINED, UNPARSED = State.ANSWERED, State.ABSTAINED, State.UNPARSED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7", "seven"),
        ("twenty-one", "21"),
        ("1,200", "1200"),
        ("twelve hundred", "1,200.0"),
        ("a dozen", "12"),
        ("1/2", "0.5"),
        ("The dog.", "dog"),
        ("an apple", "Apple!"),
        ("'STOP'", "stop"),
        ("dogs", "dog"),
        ("two men", "2 man"),
        ("boxes", "a box"),
        ("children", "child"),
        ("5 m", "five metres"),
        ("5 m", "5"),
        ("$7,200", "7200 dollars"),
        ("20%", "20 percent"),
        ("t-shirt", "T shirt"),
        ("tshirt", "t-shirt"),
        ("grey", "gray"),
        ("red and white", "white, red"),
        ("red, white and blue", "blue, white, and red"),
    ],
)
def test_the_same(one, other):
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7", "17"),
        ("1,2", "12"),
        ("5 m", "5 cm"),
        ("$5", "5 %"),
        ("dog", "hot dog"),
        ("red", "not red"),
        ("red and white", "red"),
        ("left of the car", "car of the left"),
        ("glass", "glas"),
        ("1 2", "12"),
        ("", ""),
        ("the", "7"),
    ],
)
def test_not_the_same(one, other):
    assert not same(one, other)
    assert not same(other, one)


def test_the_words_of_the_question_add_nothing():
    assert same("the blue shirt", "blue", "What colour is the shirt?")
    assert not same("the blue shirt", "blue")
    assert not same("the blue shirt", "red", "What colour is the shirt?")
    # There the words of the question are the answers.
    assert not same("dark red", "dark blue", "Is it dark red or dark blue?")


@settings(deadline=None)
@given(st.integers(0, 10**9))
def test_a_number_is_the_same_however_it_is_grouped(value):
    assert same(str(value), f"{value:,}")
    assert not same(str(value), str(value + 1))


HOW_MANY = "How many dogs are there?"
COLOUR = "What colour is the shirt?"
HOLDS = "What is the man holding?"

CASES = [
    # question, reply, accepted, state, answer
    (HOW_MANY, "There are three dogs.", ["3"], ANSWERED, "3"),
    (HOW_MANY, "3", ["three"], ANSWERED, "three"),
    (HOW_MANY, "I count 4 dogs.", ["3"], ANSWERED, "4"),
    (HOW_MANY, "Two or three.", ["3"], UNPARSED, ""),
    (HOW_MANY, "0", ["3"], ANSWERED, "0"),
    (HOW_MANY, "Several.", ["3"], ANSWERED, "Several"),
    # "none" is the answer where it is accepted, and else names what is asked about as absent
    (HOW_MANY, "There are no dogs.", ["0"], ANSWERED, "0"),
    (HOW_MANY, "There are no dogs.", ["3"], ABSTAINED, ""),
    (HOW_MANY, "There are no dogs.", [], ABSTAINED, ""),
    (HOW_MANY, "None.", [], ABSTAINED, ""),
    (HOW_MANY, "There are no dogs, but there are 3 cats.", ["3"], ABSTAINED, ""),
    (HOW_MANY, "There are no dogs on the left, but 3 on the right.", ["3"], ANSWERED, "3"),
    (HOW_MANY, "There are no cats; there are 3 dogs.", ["3"], ANSWERED, "3"),
    ("How many umbrellas are open?", "I cannot see any umbrellas.", ["2"], ABSTAINED, ""),
    (HOW_MANY, "None of the animals are dogs.", [], ABSTAINED, ""),
    ("How many people wear hats?", "No one is wearing a hat.", [], ABSTAINED, ""),
    ("How many cars are there?", "It cannot be answered as there is no bus.", [], ABSTAINED, ""),
    ("What is left of the car?", "Nothing is to the left of it.", [], ABSTAINED, ""),
    ("What is left of the car?", "There is nothing.", ["nothing"], ANSWERED, "nothing"),
    ("What is left of the car?", "Nothing but a tree.", ["a tree"], ANSWERED, "a tree"),
    # a reply that is accepted as it stands is no refusal
    ("What is the mood?", "Unknown", ["unknown"], ANSWERED, "unknown"),
    ("What is the mood?", "Unknown", ["calm"], ABSTAINED, ""),
    # units
    ("How long is it?", "It is about 5 metres long.", ["5 m"], ANSWERED, "5 m"),
    ("How long is it?", "5", ["5 m"], ANSWERED, "5 m"),
    ("How long is it?", "It is 5 cm long.", ["5 m"], ANSWERED, "5 cm"),
    ("What does it cost?", "It costs $7,200.", ["7200 dollars"], ANSWERED, "7200 dollars"),
    # texts
    (COLOUR, "The shirt is blue.", ["blue"], ANSWERED, "blue"),
    (COLOUR, "Blue shirt", ["blue"], ANSWERED, "blue"),
    (COLOUR, "**Blue**", ["navy", "blue"], ANSWERED, "navy"),
    (COLOUR, "It is red or blue.", ["blue"], UNPARSED, ""),
    (COLOUR, "It is not blue, it's red.", ["blue"], ANSWERED, "It is not blue, it's red."),
    (COLOUR, "The shirt is red and white.", ["white and red"], ANSWERED, "white and red"),
    (COLOUR, "The shoes are blue and the shirt is red.", ["red"], ANSWERED, "red"),
    (
        COLOUR,
        "The shoes are blue and the shirt is red.",
        ["blue"],
        ANSWERED,
        "The shoes are blue and the shirt is red.",
    ),
    (COLOUR, "The answer is red.", ["blue"], ANSWERED, "red"),
    (HOLDS, "The man is holding a red umbrella.", ["umbrella"], ANSWERED, "umbrella"),
    (HOLDS, "There is no man in the image.", ["umbrella"], ABSTAINED, ""),
    (HOLDS, "I can't tell from the image.", [], ABSTAINED, ""),
    ("What is written there?", "The sign says 'STOP'.", ["stop"], ANSWERED, "stop"),
    ("Where is the cat?", "The cat is on the mat.", ["on the mat"], ANSWERED, "on the mat"),
    # yes and no
    ("Is the door open?", "Yes, it is.", ["yes"], ANSWERED, "yes"),
    ("Is the door open?", "No.", ["Yes"], ANSWERED, "no"),
    ("Is the dog red?", "There is no dog.", ["no"], ABSTAINED, ""),
    # the final answer counts, whatever was said on the way
    (HOLDS, "I see no hat. He holds a cup or a mug. Final answer: a mug", ["mug"], ANSWERED, "mug"),
    (HOLDS, "A cup, I think.\nFinal answer: there is no man.", ["cup"], ABSTAINED, ""),
    (HOW_MANY, "2 on the left, 1 on the right.\nFinal answer: 3", ["3"], ANSWERED, "3"),
    (HOW_MANY, "2 and 1.\n\n### Final Answer\n\n**3**", ["3"], ANSWERED, "3"),
    (HOLDS, "No hat, 1 cup.\n**Final answer**\nThere is no man.", ["cup"], ABSTAINED, ""),
    (HOW_MANY, "I do not see well. \\boxed{3}", ["3"], ANSWERED, "3"),
    (HOW_MANY, "<think>maybe 4</think><answer>two</answer>", ["2"], ANSWERED, "2"),
    ("", "", ["x"], UNPARSED, ""),
]


@pytest.mark.parametrize(("question", "reply", "accepted", "state", "answer"), CASES)
def test_replies(question, reply, accepted, state, answer):
    reading = read_match(reply, accepted, question)
    assert (reading.state, reading.answer) == (state, answer), reading


LETTERED = "What colour is the dog?\n(A) red\n(B) light blue\nAnswer with the option's letter."


@pytest.mark.parametrize(
    ("reply", "accepted", "state", "answer"),
    [
        ("B", ["B"], ANSWERED, "B"),
        ("(B)", ["(B) light blue"], ANSWERED, "(B) light blue"),
        ("The answer is B.", ["light blue"], ANSWERED, "light blue"),
        ("light blue", ["B"], ANSWERED, "B"),
        ("A", ["B"], ANSWERED, "A"),
        ("There is no dog in the picture.", ["B"], ABSTAINED, ""),
        ("I cannot determine the colour.", [], ABSTAINED, ""),
        ("A, B", ["B"], UNPARSED, ""),
    ],
)
def test_options_within_the_question(reply, accepted, state, answer):
    reading = read_match(reply, accepted, LETTERED)
    assert (reading.state, reading.answer) == (state, answer), reading


SENTENCES = "Which?\n(A) The dress is red.\n(B) The dress is blue.\n(C) The red one is torn."


@pytest.mark.parametrize(
    ("reply", "state", "answer"),
    [
        ("blue", ANSWERED, "B"),
        ("It is blue.", ANSWERED, "B"),
        ("The dress is red.", ANSWERED, "A"),
        ("red", UNPARSED, ""),  # two options have it
        ("green", UNPARSED, ""),
    ],
)
def test_an_option_is_known_by_what_only_it_says(reply, state, answer):
    reading = read_match(reply, ["B"], SENTENCES)
    assert (reading.state, reading.answer) == (state, answer), reading


def test_an_answer_that_is_none_of_the_options_is_a_text():
    assert read_match("It is green.", ["green"], LETTERED).answer == "green"
    assert read_match("B", ["green"], LETTERED).answer == "B"


@pytest.mark.parametrize(
    ("question", "stem", "options"),
    [
        (LETTERED, "What colour is the dog?", ("red", "light blue")),
        ("Which? A. red, B. blue, C. green.", "Which?", ("red", "blue", "green.")),
        ("Which one?\nA) 1\nB) 2\nC) 3\nD) 4", "Which one?", ("1", "2", "3", "4")),
        ("Options: A. x; B. y. Please answer with the letter.", "Options:", ("x", "y.")),
    ],
)
def test_a_question_is_taken_apart(question, stem, options):
    assert take_apart(question) == (stem, options)


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between (A) and (B)?",
        "What does panel A. show?",
        "Which of these?\nA. red\nC. blue",
        "Plain?",
        "",
    ],
)
def test_these_are_no_options(question):
    assert take_apart(question) == (question, ())


def test_the_letter_that_an_answer_means():
    options = ("red", "light blue")
    for answer in ("B", "b", "(B)", "B.", "B. light blue", "Light Blue"):
        assert letter_of(answer, options) == "B", answer
    assert letter_of("green", options) == ""
    assert letter_of("", options) == ""


@settings(deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=3), st.text(max_size=60))
def test_any_text_is_read(text, accepted, question):
    """It ends in a state, and is called right only by the name of the first accepted answer."""
    reading = read_match(text, accepted, question)
    assert reading.state in (ANSWERED, ABSTAINED, UNPARSED)
    assert bool(reading.answer) <= (reading.state is ANSWERED)


@settings(deadline=None)
@given(st.sampled_from([case[1] for case in CASES]), st.lists(st.text(max_size=8), max_size=2))
def test_whether_it_refuses_does_not_depend_on_what_is_accepted(reply, accepted):
    """But where it is accepted as it stands, or where an accepted "none" is what it says."""
    if any(same(answer, "0") or is_nothing(answer) or same(answer, reply) for answer in accepted):
        return
    for question in (HOW_MANY, COLOUR, HOLDS, "Is the door open?"):
        refused = read_match(reply, [], question).state is ABSTAINED
        assert (read_match(reply, accepted, question).state is ABSTAINED) == refused


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ("I cannot answer that: no cloth hangs over the model.", ABSTAINED),
        ("I can't answer the question: the page ends there.", ABSTAINED),
        ("I am unable to answer: the hands are hidden.", ABSTAINED),
        ("To answer your question: black.", ANSWERED),
        ("The answer: black", ANSWERED),
    ],
)
def test_what_follows_a_refusal_to_answer_is_no_answer(reply, state):
    assert read_match(reply, ["black"], "What colour is the cloth?").state is state
