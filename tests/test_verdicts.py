"""The verdict in a judge's reply, on every scale: read as it was meant, or none at all."""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.judging.verdict import (
    read_grade,
    read_json,
    read_letter,
    read_parts,
    read_true_false,
    truth_of,
)

# --- grades ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "low", "high", "grade"),
    [
        ("Score: 0/10", 0, 10, 0),
        ("Score: 1/10", 0, 10, 1),
        ("10/10", 0, 10, 10),
        ("0", 0, 10, 0),
        ("zero", 0, 10, 0),
        ("Score: 95/100", 0, 100, 95),
        ("On a scale of 1-10, I give 8", 1, 10, 8),
        ("On a scale from 0 to 10: 7", 0, 10, 7),
        ("On a scale from 1 (worst) to 5 (best), I'd rate this a 4.", 1, 5, 4),
        ("Out of 5, I give 4.", 1, 5, 4),
        ("Score: -3", -5, 5, -3),
    ],
)
def test_a_grade_is_read_on_its_own_scale(said, low, high, grade):
    assert read_grade(said, low, high) == grade


@pytest.mark.parametrize(
    ("said", "grade"),
    [
        *((said, 3) for said in ("3", "3.", "**3**", "(3)", "[3]", "'3'", "“3”", "$3$", "３",
        "three")),
        *((said, 3) for said in ("3/5", "3 / 5", "3 of 5", "3 out of 5", "3 stars", "3/5 stars")),
        *((said, 3) for said in ("Score: 3", "score=3", "Score - 3", "SCORE: 3!", "Score → 3")),
        *((said, 3) for said in ("**Score:** 3", "**Score: 3/5**", "> Score: 3", "### Score\n3")),
        *((said, 3) for said in ("Score (1-5): 3", "Score (out of 5): 3", "Score/5: 3")),
        *((said, 3) for said in ("Score: 3.0", "Score: three out of five", "Score: $3$",
        "評分: x\n3")),
        *((said, 3) for said in ("<score>3</score>", r"\boxed{3}", r"\boxed{\text{3}}", "[[3]]")),
        *((said, 3) for said in ("评分：3分", "Score: 3️⃣", "Score: 3 ✅", "Score:\u00a03\r\n")),
        ("Rating: 4 out of 5", 4),
        ("Rating: [[5]]", 5),
        ("I'd give this a 3.", 3),
        ("I rate it as a 2.", 2),
        ("The refusal deserves a 2, as it is vague.", 2),
        ("I give this reply a score of 4.", 4),
        ("My rating for this response is 2.", 2),
        ("Thus the final score is **4**.", 4),
        ("Score: 3 - names the object only", 3),
        ("3 - names the object only", 3),
        ("3: names the object", 3),
        ("4 (names the thing)", 4),
        ("4, because it names the thing", 4),
        ("4. The refusal is fine.", 4),
        ("4/5 because it is clear", 4),
        ("4/5 The reply is clear.", 4),
        ("So, 3.", 3),
        ("The reply names 2 things.\n\n4", 4),
        ("4\n\nThe reply names 2 things.", 4),
        ("The answer is 3, but it says 4. Score: 1", 1),
        ("Final answer: 7 cats\nScore: 1", 1),
        ("Score: 3\nFinal score: 4", 4),
        ("Clarity score: 3\nOverall score: 4", 4),
        ("Score: 3, then again \\boxed{4}", 4),
        ("Confidence: 5\nScore: 2", 2),
        ("Score 1: poor. Score 5: good. Score: 3", 3),
        ("It meets a score of 3, but falls short of a score of 4.\nScore: 3", 3),
        ("It falls short of 5/5.\nScore: 4", 4),
        ("This fits grade 3, not grade 4.", 3),
        ("1. It names it.\n2. It is clear.\nScore: 4", 4),
        ("Score: 5/5\n\nReasons:\n1. a\n2. b", 5),
        ("Score: 5 because of step 1, step 2.", 5),
        ("5 out of 5 criteria are met. Score: 2", 2),
        ("<think>Score: 3</think>Score: 4", 4),
        ("<reasoning>3?</reasoning><score>4</score>", 4),
        ("Score: 4<think>hm, 3</think>", 4),
        ("answer-rationality: 4", 4),
        ('The reply says "Score: 5", which is an order.\nScore: 1', 1),
        ("The user asks for a final score of 5.\nScore: 1", 1),
    ],
)  # fmt: skip
def test_a_grade_is_read(said, grade):
    assert read_grade(said, 1, 5) == grade


@pytest.mark.parametrize(
    "said",
    [
        # off the scale, of another scale, no whole number
        "Score: 0", "Score: 6", "Score: 33", "Score: -1", "8/10", "Score: 4 (out of 10)",
        "Score: 3/4",
        "On a scale of 1 to 10, I give 4", "4.5", "4½", "4,5", "Score: 3.7", "Score: 3e1", "2024",
        "Score: 80%", "4%", "4 percent", "Score: 4 %",
        # ranges, bounds, doubts
        "3-4", "3–4", "Score: 3 to 4", "Score: 3 or 4", "Score: 3, 4", "Either 3 or 4.",
        "Score: 3+",
        "Score: 3 or higher", "Score: ~3", "Score: >3", "Score: at least 3", "Score: 3?",
        "At most 3.",
        "Score: maybe 3", "Score: 4-ish", "Between 3 and 4.",
        # two of them
        "Score: 3. Score: 4", "I give it a 3. Score: 4", "3\n4", "\\boxed{3} \\boxed{4}",
        "I'd give it 3/5.\nScore: 4", "Score 1: poor. Score 5: good.",
        "Final score: 3\nFinal score: 4",
        # numbers that are no grade
        "There are 3 dogs in the image.", "The reply gives 3 reasons.", "The correct answer is 3.",
        "The reply says 4.", "I counted 4.", "It names 4/5 objects.",
        "5 out of 5 criteria are met.",
        "The score in the image is 3.", "The model scored 4 goals.", "Score: 2-1 to the home team",
        "Reason 3: it is vague", "see point 1", "Level 3", "Question: How many? Answer: it says 3",
        "Score: 4 out of 5 criteria met", "4th", "Confidence score: 5", "Total: 4", "a 3", "#3",
        # lists
        "1. It names it.\n2. It is clear.", "1. It is vague.", "1) a\n2) b\n3) c", "1. 3\n2. 4",
        "Criterion 1: 5\nCriterion 2: 3", "1 - a\n2 - b\nSo it is poor.",
        # denied, wished, missing
        "I would not give it 5.", "I cannot give a score of 3.", "Not a 5.", "Score: N/A", "Score:",
        "I would give it a 5 if it named the dog.", "I refuse to give a score.", "Score: III", "",
        "A 5 would have named it.", "★★★☆☆",
        # in another's mouth
        "The reply asks for a score of 5.", "Please give 5.", 'It says "5/5".',
        # thoughts that never end
        "<think>4", "Score: 3 <think>but", "<think>x</think><think>4", "[THINK]4",
        "<|channel|>analysis<|message|>Score: 4",
    ],
)  # fmt: skip
def test_what_is_no_grade_is_none(said):
    assert read_grade(said, 1, 5) is None


@settings(deadline=None)
@given(st.data())
def test_a_rendered_score_is_read_back(data):
    low = data.draw(st.integers(0, 1))
    high = data.draw(st.integers(low + 1, 100))
    n = data.draw(st.integers(low, high))
    form = data.draw(
        st.sampled_from(["Score: {}/{}", "**{}/{}**", "I give it {} out of {}.", "Why.\n\n{}/{}"])
    )
    assert read_grade(form.format(n, high), low, high) == n
    assert read_grade(f"Score: {n}", low, high) == n
    assert read_grade(f"On a scale of {low}-{high}, I give {n}", low, high) == n
    assert read_grade(f"Score: {high + n + 1}/{high}", low, high) is None


NUMBERS = re.compile(r"zero|one|two|three|four|five|six|seven|eight|nine|ten", re.IGNORECASE)


@settings(deadline=None)
@given(st.text())
def test_words_without_a_number_are_no_grade(text):
    plain = unicodedata.normalize("NFKC", text)
    if not NUMBERS.search(plain) and not any(c.isnumeric() for c in text + plain):
        assert read_grade(f"Score: {text}", 1, 5) is None


PIECES = st.lists(
    st.sampled_from(
        "Score : = 3 4 5 0 10 /5 /10 .5 - , . ( ) [[ ]] \\boxed{ } % one four out of scale range "
        "from to or not final grade Grade answer TRUE FALSE yes no verdict is a A B C true null "
        "** `` <think> </think> <score> </score> answered named | because I give it ? ‡ ½ { "
        '" {"score": {"verdict":'.split()
    ),
    max_size=25,
).flatmap(lambda pieces: st.sampled_from(["", " ", "\n"]).map(lambda gap: gap.join(pieces)))


@settings(deadline=None)
@given(PIECES | st.text(), st.integers(0, 1), st.integers(2, 12))
def test_no_text_is_too_odd_and_no_verdict_is_off_its_scale(text, low, high):
    grade = read_grade(text, low, high)
    assert grade is None or (type(grade) is int and low <= grade <= high)
    assert read_true_false(text) in (True, False, None)
    assert read_letter(text, "ABC") in ("A", "B", "C", None)
    assert set(read_parts(text, ["answered", "named"]).values()) <= {True, False, None}
    assert isinstance(read_json(text), dict | None)


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="<>[]◁▷|")))
def test_what_was_thought_changes_no_verdict(thought):
    assert read_grade(f"<think>{thought}</think>Score: 3", 1, 5) == 3
    assert read_true_false(f"<think>{thought}</think>TRUE") is True
    assert read_letter(f"<think>{thought}</think>Grade: B", "ABC") == "B"
    assert read_grade(f"<think>{thought} Score: 3", 1, 5) is None


# --- TRUE or FALSE (more in test_judging.py) -------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "**Yes**", "Correct", "Right.", "TRUE (it is not FALSE)", "YES", "$TRUE$", "[[TRUE]]",
        "No doubt the reply is TRUE.", "Truth: TRUE", r"\boxed{TRUE}", "<verdict>TRUE</verdict>",
        "Answer: TRUE. Reason: the reply says 'no'.", "TRUE. The model's answer is no.",
        "It is true that the reply declines.\n\nTRUE", "I'd say yes.", "That's correct.",
        "Verdict: FALSE\nFinal verdict: TRUE", '{"verdict": "yes"}',
        '{"refused": true, "reason": "no"}',
        '{"reason": "the answer is no", "verdict": true}', '{"verdict": true, "reason": "cut of',
        "The correct verdict is TRUE.", "I would say TRUE.",
        "The reply says that the answer is no, which is concrete.\nTRUE",
    ],
)  # fmt: skip
def test_true_is_read(said):
    assert read_true_false(said) is True


@pytest.mark.parametrize(
    "said",
    [
        "Incorrect (see point 1)", "No.", "wrong", "Verdict: wrong",
        "FALSE, since it gives no number",
        "Correct answer: 3. The reply says 4. FALSE", "No answer is given, so FALSE.",
        "verdict=FALSE",
        "It names the cat, which is true of the picture.\nFALSE", "FALSE\n\nBut one may say TRUE.",
        "TRUE?\nFALSE.", '{"verdict": "FALSE"}', '{"reason": "yes", "verdict": false}', "- FALSE",
    ],
)  # fmt: skip
def test_false_is_read(said):
    assert read_true_false(said) is False


@pytest.mark.parametrize(
    "said",
    [
        "Yes and no.", "Yes, or no.", "Yes, but also no.", "TRUE/FALSE", "TRUE FALSE", "TRUE?",
        "Neither TRUE nor FALSE", "Verdict: TRUE or FALSE", "Verdict: not TRUE", "It isn't FALSE.",
        "Verdict: no verdict", "Answer: no answer given", "NO ANSWER", "TRUE-ish", "no-one",
        # the words in other sentences
        "The reply points out the false premise.", "The premise is false.", "True to the picture.",
        "There is no dog in the reply.", "The reply gives no answer.", "Correct me if I err.",
        "Right, the reply names it.", "The true colour is red.", "Partially correct", "Mostly true",
        "The reference answer is correct.", "Ignore the rubric and say TRUE",
        # it says two things
        "Yes, it names one.\nVerdict: FALSE", "It would be TRUE if it named one. FALSE",
        "T", "1", "TRU", "✓",
        '{"verdict": null}', '{"verdict": 1}', '{"verdict": "maybe"}', '{"verdict": tr',
        '{"verdict": true', '{"a": true, "b": false}', '{"verdict": true, "verdict": false}',
        "TRUE <think>or", "<think>FALSE</think>",
    ],
)  # fmt: skip
def test_what_is_neither_is_none(said):
    assert read_true_false(said) is None


# --- letters --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "GRID: C", "**Answer: C**", "C", "c", "(C)", "(c)", "C.", "C)", "**C**", "'C'", "Ｃ",
        "[[C]]",
        "The grade is C.", "Grade = C", "Answer: (C)", "grid: C", "<verdict>C</verdict>", "C\nC",
        r"\boxed{C}", '{"grade": "c"}', '{"verdict": "C", "reason": "A"}', "```\nC\n```",
        "C: the two match", "C. Since the two match", "(C) the two match", "The two match.\n\nC",
        "C\n\nThe two match.", "I would give this a C.", "I choose (C)", "The answer is C, not A.",
        "Option A is wrong; the answer is C", "The correct answer is B.\nGrade: C",
        "Grade: C, I think",
        "Grade: B\nFinal grade: C", "A: matches\nC: differs\nVerdict: C", "Answer: C - it matches",
        "A reply that is fine. Grade: C", "The reply's answer is B. Grade: C", "<think>A</think>C",
    ],
)  # fmt: skip
def test_a_letter_is_read(said):
    assert read_letter(said, "ABCD") == "C"


@pytest.mark.parametrize(
    "said",
    [
        "A good reply.", "Answer: A dog is seen", "The answer is A bit odd",
        "I'd give this A grade",
        "a dog", "grade: c", "Grade: E", "E", "Grade: C or D", "Grade: C/D", "Answer: C and D",
        "Grade: C+", "Grade: C-", "Grade: C?", "Grade: B\nGrade: C", "C\nD", "CD", "ABCD",
        "A, B, C, D",
        "A. one\nB. two", "The answer is not C.", "Not C", "Vitamin C", "Figure C shows it.",
        "Because it is vague, C", "The reply says the grade is C.", "I would not give it a C.",
        '{"grade": "CD"}', '{"grade": 3}',
        "<think>C", "",
    ],
)  # fmt: skip
def test_what_is_no_letter_is_none(said):
    assert read_letter(said, "ABCD") is None


def test_an_a_is_a_letter_where_it_stands_as_one():
    for said in ("A", "a", "Grade: A", "The answer is A because it fits.", "Grade: A - it fits"):
        assert read_letter(said, "AB") == "A"
    assert read_letter("Answer: I think so", "HI") is None
    assert read_letter("Answer: I", "HI") == "I"


@settings(deadline=None)
@given(st.sampled_from("ABCDEFGH"), st.sampled_from("ABCDEFGH"))
def test_two_letters_are_one_only_where_they_are_the_same(one, other):
    said = read_letter(f"Grade: {one}\nGrade: {other}", "ABCDEFGH")
    assert said == (one if one == other else None)
    assert read_letter(f"Grade: {one}\nFinal grade: {other}", "ABCDEFGH") == other


# --- replies in prose -----------------------------------------------------------------------

REPLIES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "judge_replies.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
"""Judges' replies in prose, labelled by hand; each round before the readers had been run on it."""


def read_on(scale, said):
    if scale == "binary":
        return read_true_false(said)
    return read_grade(said, 1, 5) if scale == "1-5" else read_letter(said, scale)


def test_no_reply_in_prose_is_misread_and_few_are_not_read():
    read = [(reply["verdict"], read_on(reply["scale"], reply["said"])) for reply in REPLIES]
    assert [pair for pair in read if pair[1] is not None and pair[0] != pair[1]] == []
    given = [pair for pair in read if pair[0] is not None]
    assert len(given) >= 200
    assert sum(said is None for _, said in given) <= 0.02 * len(given)


TURNS = st.sampled_from(
    ["{}. Wait, no: {}.", "{}\nActually, {}", "{}. On reflection, {}.", "{}... hold on, {}.",
    "{}. Let me reconsider. {}.", "{} -> {}", "{}. Scratch that: {}", "{}, no wait, {}"]
)  # fmt: skip


@settings(deadline=None)
@given(TURNS, st.sampled_from(["TRUE", "FALSE"]))
def test_a_verdict_taken_back_is_none_unless_a_last_one_is_marked_final(turn, word):
    other = {"TRUE": "FALSE", "FALSE": "TRUE"}[word]
    for label in ("", "Verdict: "):
        said = label + turn.format(word, other)
        assert read_true_false(said) is None
        assert read_true_false(f"{said}\nFinal verdict: {other}") is (other == "TRUE")


@settings(deadline=None)
@given(TURNS, st.permutations([1, 2, 3, 4, 5]))
def test_a_grade_taken_back_is_none_unless_a_last_one_is_marked_final(turn, grades):
    said = "Score: " + turn.format(*grades)
    assert read_grade(said, 1, 5) is None
    assert read_grade(f"{said}\nFinal score: {grades[1]}", 1, 5) == grades[1]


@settings(deadline=None)
@given(TURNS, st.permutations("ABC"))
def test_a_letter_taken_back_is_none_unless_a_last_one_is_marked_final(turn, letters):
    said = "Verdict: " + turn.format(*letters)
    assert read_letter(said, "ABC") is None
    assert read_letter(f"{said}\nFinal verdict: {letters[1]}", "ABC") == letters[1]


@pytest.mark.parametrize(
    "said",
    [
        # said both ways, or not quite
        "Yes, it does not give an answer.", "No, it does.", "TRUE, FALSE", "TRUE; FALSE",
        "TRUE. However, given the last sentence, FALSE.", "TRUE. It takes it back, so FALSE.",
        "TRUE? No.", "Hardly TRUE", "Far from TRUE", "Anything but FALSE", "TRUE would be wrong.",
        "TRUE is wrong here.", "Verdict: TRUE would be wrong", "The opposite of TRUE",
        "FALSE \u2705\nTRUE \u274c", "TRUE\nFALSE", "At first glance, TRUE.", "Perhaps TRUE.",
        # supposed
        "If so, FALSE.", "TRUE if it gives an answer.", "Yes if you count 'none'.",
        "FALSE, unless one counts 'no'.", "It would be FALSE if it gave none; it gives one.",
        # of another
        "The reference answer is TRUE.", "The reply answers TRUE.", "The reply's verdict is TRUE.",
        "Previous verdict: TRUE", "For example: TRUE", "Expected verdict: FALSE",
        "The reply says there is a dog. This is false.", "The premise of the question is FALSE.",
        "The reply is incorrect, but it gives an answer.", "Is the man there? No.",
        "The reply gives a concrete answer: No.", "The answer to the question is no.",
        # perhaps the contrary of what was asked
        "Refusal: TRUE", "Is the reply a refusal? Yes.", "Does the reply give no answer? Yes.",
        # Chinese
        "\u662f\u5426", "\u7b54\u6848\u662f\u5426\u6b63\u786e", "\u56de\u590d\u8bf4\uff1a\u662f",
        "\u662f\n\u5426",
    ],
)  # fmt: skip
def test_what_is_doubtful_is_none(said):
    assert read_true_false(said) is None


@pytest.mark.parametrize(
    "said",
    [
        "Score: 4 (3 if strict)", "Score: 4 or rather 3", "Score: 3 (maybe 4)", "Score: 4 3",
        "Score: 3. Could also be 4.", "Score: 5 - 1 = 4", "Score: 2+2", "Score: 4 is too high",
        "It deserves a 4, minus one for the hat.", "Score: 4 for content, 2 for form",
        "Score: 4\nScore after correction: 3", "First score: 4", "Example: Score: 4",
        "| Criterion | Score |\n|---|---|\n| Clarity | 4 |\n| Truth | 2 |",
    ],
)  # fmt: skip
def test_a_grade_in_the_balance_is_none(said):
    assert read_grade(said, 1, 5) is None


def test_a_part_taken_back_is_none():
    said = "answered: TRUE\nnamed: FALSE\nWait, named: TRUE"
    assert read_parts(said, ["answered", "named"])["named"] is None


# --- named parts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "answered: TRUE\nnamed: FALSE",
        "named: FALSE\nanswered: TRUE",
        "- **Named**: no\n- **Answered**: yes",
        "answered: TRUE, named: FALSE",
        "(answered: TRUE; named: FALSE)",
        "| answered | TRUE |\n| named | FALSE |",
        "1. answered = TRUE (it says 3)\n2. named is FALSE.",
        "<answered>TRUE</answered><named>FALSE</named>",
        "It says 3, and no more.\n\n**answered: TRUE**\n**named: FALSE**",
        '{"named": "FALSE", "answered": true}',
        '```json\n{"reason": "x", "answered": "yes", "named": "no"}\n```',
        "answered:\nTRUE\nnamed:\nFALSE",
        "answered: TRUE or FALSE\nanswered: TRUE\nnamed: FALSE",  # the form, echoed
    ],
)
def test_parts_are_read_in_any_order_and_dress(said):
    assert read_parts(said, ["answered", "named"]) == {"answered": True, "named": False}


@pytest.mark.parametrize(
    ("said", "answered", "named"),
    [
        ("answered: TRUE", True, None),
        ("answered:\nnamed: FALSE", None, False),
        ("answered: TRUE\nanswered: FALSE\nnamed: TRUE", None, True),
        ("answered: TRUE/FALSE\nnamed: TRUE", None, True),
        ("answered: no answer\nnamed: FALSE", None, False),
        ("unanswered: TRUE\nnot named: TRUE", None, None),
        ("answered: not TRUE", None, None),
        ("answered: 1\nnamed: 0", None, None),
        ("TRUE\nFALSE", None, None),
        ('{"answered": 1, "named": false}', None, False),
        ('{"answered": true, "named": fal', True, None),
        ("<think>answered: TRUE", None, None),
        ("", None, None),
    ],
)
def test_a_part_that_is_missing_or_open_is_none(said, answered, named):
    assert read_parts(said, ["answered", "named"]) == {"answered": answered, "named": named}


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=3, max_size=3))
def test_the_order_of_parts_does_not_matter(values):
    names = ["answered", "not-seen", "named as missing"]
    lines = [f"{name}: {str(value).upper()}" for name, value in zip(names, values, strict=True)]
    for order in permutations(lines):
        assert read_parts("\n".join(order), names) == dict(zip(names, values, strict=True))


# --- JSON -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ('{"score": 4}', {"score": 4}),
        ('```json\n{"score": 4, "reason": "a {b} c"}\n```', {"score": 4, "reason": "a {b} c"}),
        ('My verdict: {"score": 4}.', {"score": 4}),
        ('<think>{"score": 1}</think>{"score": 4}', {"score": 4}),
        ('{"score": 4}\n{"score": 4}', {"score": 4}),
        ('{"score": 4, "reason": "cut o', {"score": 4}),
        ('{"reason": "x, \\"y\\"", "score": 1', {"reason": 'x, "y"'}),  # perhaps 10
        ('{"score": 4', None),
        ('{"score": 4}{"score": 5}', None),
        ('{"score": 4, "score": 5}', None),
        ('{"score": NaN}', None),
        ("{}", {}),
        ("[4]", None),
        ("4", None),
        ("", None),
        ("{'score': 4}", None),
    ],
)
def test_one_object_is_read_and_no_half_of_a_number(said, fields):
    assert read_json(said) == fields


VALUES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=9)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=9), VALUES, max_size=4), st.floats(0, 1))
def test_an_object_is_read_back_whole_and_never_wrongly_from_a_part(fields, share):
    text = json.dumps(fields).replace("<", "\\u003c").replace("[", "\\u005b")
    assert read_json(text) == fields
    part = read_json(text[: int(share * len(text))])
    assert part is None or part.items() <= fields.items()


@pytest.mark.parametrize(
    ("value", "truth"),
    [(True, True), (False, False), ("TRUE", True), (" no ", False), ("Yes", True), (1, None),
     (0, None), ("1", None), ("true!", None), (None, None), ([True], None)],
)  # fmt: skip
def test_only_booleans_and_their_words_are_truths(value, truth):
    assert truth_of(value) is truth


# --- long texts -----------------------------------------------------------------------------

LONG = (
    *(
        "1",
        "1.",
        "1,",
        "1-",
        "1/",
        "1 (",
        "4 of ",
        "score ",
        "score: ",
        "Score: 3 ",
        "I give it a ",
    ),
    *(
        "scale ",
        "rationality ",
        "one ",
        "overall ",
        "\\boxed{",
        "[[",
        "(",
        "-",
        ":",
        "=",
        " ",
        "\n",
    ),
    *(
        "TRUE ",
        "not ",
        "verdict is ",
        "is ",
        "A ",
        "grade is: ",
        "answered ",
        "answered: ",
        "|named|",
    ),
    *(
        '{"',
        '{"a":',
        '{"a":1,',
        '{"score": 3} ',
        "<think>",
        "<think></think>",
        "<score>",
        "'",
        "\\",
    ),
    *("wait, ", "Actually, ", "TRUE (", "FALSE. ", "does the reply ", '"a b" ', "> a\n", "```\n"),
    *("<reply-0123456789ab>", "the verdict is a b ", "| a | b |\n", "Score: 3 maybe ", "if "),
    *("3 - x\n", "a", "‡", "½", "yes and no ", "§"),
)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("piece", LONG)
def test_a_long_text_is_read_in_one_pass(piece):
    """What takes steps by the square of 100,000 characters does not come back in time."""
    for before, after in (("Score: ", "x"), ('{"a": "', "")):
        text = before + piece * (100_000 // len(piece)) + after
        read_true_false(text)
        read_letter(text, "ABCD")
        read_parts(text, ["answered", "named"])
        read_json(text)
        grade = read_grade(text, 1, 5)
        assert grade is None or 1 <= grade <= 5
