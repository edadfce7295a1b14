"""The declaration: options, prompts, readings and metrics, the last by hand."""

import pytest

from hardset.benchmarks.kinds import FORMATS
from hardset.benchmarks.scenes import Scenes
from hardset.errors import UsageError
from hardset.records import Item, Metric, State

polars = pytest.importorskip("polars")


def by_name(metrics: list[Metric], name: str, **cut: str) -> Metric:
    (found,) = [m for m in metrics if m.name == name and m.cut == cut]
    return found


def outcomes(rows):
    """Outcome columns as `run` makes them, from (item, right, state) triples."""
    keys = sorted({key for item, *_ in rows for key in item.tags})
    return polars.DataFrame(
        [
            {
                "item": item.id,
                "repeat": 0,
                "state": state.value,
                "answer": "",
                "right": right,
                "answerable": item.answerable,
                "form": item.form,
                "category": item.category,
                "pair": item.pair,
                "role": item.role,
                "parent": item.parent,
                "group": item.group,
                **{key: item.tags.get(key, "") for key in keys},
            }
            for item, right, state in rows
        ]
    )


def measured(scenes, judge):
    return scenes.measure(outcomes([(item, *judge(item)) for item in scenes.items()]))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"kinds": "plain,mrr"}, "scenes: kinds cannot be 'mrr'; use all, plain, hardbench"),
        ({"difficulty": "harder"}, "scenes: difficulty cannot be 'harder'; use easy, default"),
        ({"prompt": "rude"}, "scenes: prompt cannot be 'rude'; use plain, refusal-allowed"),
        ({"n": 0}, "n must be 1 or more for all, not 0"),
        ({"n": 2, "kinds": "zero"}, "n must be 3 or more for zero, not 2"),
        ({"seed": -1}, "seed must be from 0"),
    ],
)
def test_an_option_that_cannot_be_is_named(options, complaint):
    with pytest.raises(UsageError, match=complaint):
        Scenes(**options)


def test_kinds_are_chosen_by_name():
    assert {i.tags["kind"] for i in Scenes(n=20, kinds="mmr, zero").items()} == {"mmr", "zero"}


def test_the_prompt_is_the_picture_the_question_its_options_and_the_form():
    scenes = Scenes(n=120)
    for item in scenes.items():
        (message,) = scenes.prompt(item)
        picture, text = message.content
        assert message.role == "user"
        assert picture == item.images[0]
        lines = text.split("\n")
        assert lines[0] == item.question
        assert lines[-1] == FORMATS[item.form]
        assert lines[1:-1] == [f"{'ABCD'[i]}. {choice}" for i, choice in enumerate(item.choices)]


def test_another_wording_adds_a_line_and_changes_no_item():
    plain, allowed = Scenes(n=50), Scenes(n=50, prompt="refusal-allowed")
    assert list(plain.items()) == list(allowed.items())
    item = next(plain.items())
    before, after = (b.prompt(item)[0].content[1].split("\n") for b in (plain, allowed))
    assert [line for line in after if line not in before] == [
        "If the picture does not show what the question needs, say so instead."
    ]


@pytest.mark.parametrize(
    ("form", "question", "reply", "state", "answer"),
    [
        ("open", "What colour is the star?", "Red.", State.ANSWERED, "red"),
        ("open", "What colour is the star?", "The star is **red**.", State.ANSWERED, "red"),
        (
            "open",
            "What shape is the object left of the red star?",
            "The object left of the red star is a ring.",
            State.ANSWERED,
            "ring",
        ),
        ("open", "Is the ring small or large?", "It is large", State.ANSWERED, "large"),
        ("open", "What colour is the star?", "There is no star in the image.",
         State.ABSTAINED, ""),
        ("open", "What colour is the star?", "I can’t answer that.", State.ABSTAINED, ""),
        ("open", "What colour is the star, and who drew it?",
         "It is red. I cannot tell who drew it.", State.ANSWERED, "red"),
        ("number", "How many stars are there?", "There are 3 stars.", State.ANSWERED, "3"),
        ("number", "How many stars are there, and who drew it?",
         "Three. It is not possible to say who drew it.", State.ANSWERED, "3"),
        ("yes_no", "Is there a star?", "There is no star in the image.", State.ANSWERED, "no"),
        ("yes_no", "Is the star red?", "There is no star in the image.", State.ABSTAINED, ""),
        ("yes_no", "Is the star red, and who drew it?",
         "Yes. It is impossible to tell who drew it.", State.ANSWERED, "yes"),
        ("open", "What colour is the star, and who drew it?",
         "Red, but who drew it cannot be determined.", State.ANSWERED, "red"),
        ("open", "What colour is the star, and who drew it?",
         "I cannot tell.", State.ABSTAINED, ""),
        ("open", "What colour is the star?", "It could be red or blue.", State.UNPARSED, ""),
        ("braces", "How many?", "2 + 5, so {7}", State.ANSWERED, "7"),
    ],
)  # fmt: skip
def test_replies_are_read_by_the_question(form, question, reply, state, answer):
    reading = Scenes().read(Item(id="x", question=question, form=form), reply)["default"]
    assert (reading.state, reading.answer) == (state, answer)


def test_the_oracle_is_right_everywhere_and_says_so_in_every_form():
    scenes = Scenes(n=240)
    for item in scenes.items():
        reply = f"{{{item.answer}}}" if item.form == "braces" else item.answer
        judged = scenes.judge(item, reply if item.answerable else "I cannot tell.")
        assert judged["default"].right, (item, judged)
        if item.answerable:  # and refusing is wrong
            assert not scenes.judge(item, "I cannot tell.")["default"].right


def test_the_metrics_of_one_who_is_always_right():
    found = measured(
        Scenes(n=240),
        lambda i: (True, State.ANSWERED if i.answerable else State.ABSTAINED),
    )
    for name in Scenes.headline:
        metric = by_name(found, name)
        assert metric.value == (0 if name in ("over-refusal", "MR") else 1), name
        assert metric.denominator > 0


def test_the_metrics_of_one_who_always_refuses():
    """240 items hold 18 hardbench pairs, 1:1, so F1 = 2 * 18 / (2 * 18 + 18) = 2/3."""
    found = measured(Scenes(n=240), lambda i: (not i.answerable, State.ABSTAINED))
    assert by_name(found, "refusal F1").value == pytest.approx(2 / 3)
    assert by_name(found, "over-refusal").value == 1
    assert by_name(found, "paired accuracy").value == 0
    assert by_name(found, "paired accuracy").denominator == 18
    assert by_name(found, "OOC refusal rate").value == 1
    assert by_name(found, "OOC refusal rate").denominator == 30  # two rounds of 5 shifts x 3
    assert by_name(found, "IC accuracy").value == 0
    assert by_name(found, "IC accuracy").denominator == 18  # 3 x 3, twice
    assert by_name(found, "MR").value is None  # nothing understood, nobody misled
    assert by_name(found, "IC accuracy", shift="MP").denominator == 6


def test_one_who_is_misled_whenever_led():
    """18 mmr pairs, every positive right and every negative wrong: RA 0 / 18, MR 18 / 18."""
    found = measured(Scenes(n=240), lambda i: (i.role != "NEG", State.ANSWERED))
    assert by_name(found, "RA").numerator == 0
    assert by_name(found, "RA").denominator == 18
    assert by_name(found, "MR").value == 1
    assert by_name(found, "MR").denominator == 18


def test_the_subquestion_score_is_a_mean_of_means():
    """A round has main questions with 2, 3 and 4 subquestions.

    With only the first subquestion of each right: (1/2 + 1/3 + 1/4) / 3 = 13/36, not 3/9.
    """
    firsts, seen = set(), set()
    for item in Scenes(n=120).items():
        if item.parent and item.parent not in seen:
            seen.add(item.parent)
            firsts.add(item.id)
    found = measured(Scenes(n=120), lambda i: (i.id in firsts, State.ANSWERED))
    score = by_name(found, "subquestion score")
    assert score.value == pytest.approx(13 / 36)
    assert score.denominator == pytest.approx(3)
    assert by_name(found, "zero accuracy").value == 0


def test_images_open_through_the_declared_scheme():
    item = next(iter(Scenes(n=1).items()))
    scheme, _, rest = item.images[0].where.partition(":")
    assert Scenes.openers[scheme](rest).startswith(b"\x89PNG\r\n\x1a\n")
