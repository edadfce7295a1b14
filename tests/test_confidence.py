"""How sure a reply is: from its tokens, as it states it, and on the whole road."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import replace
from math import exp, log

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import report_runs as made
from hardset.ask import Store, prompt_key
from hardset.benchmarks.declaration import Benchmark
from hardset.benchmarks.scenes import Scenes
from hardset.errors import UsageError
from hardset.images import Library
from hardset.metrics import Selective
from hardset.models import make_model
from hardset.models.logprobs import read_tokens
from hardset.outcomes import settle
from hardset.reading import read_choice, read_number, read_refusal, read_yes_no
from hardset.reading.confidence import ASK, stated, token_confidence
from hardset.records import Image, Item, Message, Prompt, Reading, Reply, Sampling, State
from hardset.reports.html import render
from hardset.run import Settings, evaluate, walk
from loopback import Fault, Loopback, chat, prompt_text

ITEM = Item(id="1", question="Is it red?")


def spelled(*tokens: tuple[str, float]) -> tuple[tuple[str, float], ...]:
    """Tokens by probability instead of its logarithm."""
    return tuple((text, log(probability)) for text, probability in tokens)


# From tokens


def test_the_answer_counts_not_the_words_around_it():
    tokens = spelled(
        ("The", 0.3), (" answer", 0.9), (" is", 0.8), (" (", 0.7), ("C", 0.6), (")", 1)
    )
    reading = read_choice("The answer is (C)", ("x", "y", "z", "w"))
    assert reading.answer == "C"
    assert token_confidence(tokens, reading) == pytest.approx(0.6)


def test_an_answer_of_several_tokens_is_their_product():
    tokens = spelled(
        ("It", 1), (" is", 1), (" a fire", 0.5), (" hyd", 0.8), ("rant", 0.9), (".", 0.1)
    )
    reading = Reading(state=State.ANSWERED, answer="fire hydrant", evidence="It is a fire hydrant.")
    assert token_confidence(tokens, reading) == pytest.approx(0.5 * 0.8 * 0.9)


def test_the_last_place_counts():
    """The first B is a guess; the one that the reader went by stands at the end."""
    tokens = spelled(("B", 0.2), ("? Hmm. Answer: ", 0.5), ("B", 0.7))
    reading = Reading(state=State.ANSWERED, answer="B", evidence="Answer: B")
    assert token_confidence(tokens, reading) == pytest.approx(0.7)


@pytest.mark.parametrize("evidence", ["B", "B! No, B"])
def test_of_several_places_of_one_answer_the_last_counts(evidence):
    tokens = spelled(("B", 0.2), ("! No, ", 0.5), ("B", 0.7))
    reading = Reading(state=State.ANSWERED, answer="B", evidence=evidence)
    assert token_confidence(tokens, reading) == pytest.approx(0.7)


def test_what_is_meant_by_other_words_is_all_of_them():
    reading = read_yes_no("There isn't any dog.", "Is there a dog?")
    assert (reading.answer, reading.evidence) == ("no", "there isn't any dog")
    tokens = spelled(("There", 0.9), (" isn’t", 0.5), (" any", 0.8), (" dog", 0.7), (".", 0.2))
    assert token_confidence(tokens, reading) == pytest.approx(0.9 * 0.5 * 0.8 * 0.7)


def test_a_number_word_is_the_evidence():
    reading = read_number("There are seven cats.", "How many cats are there?")
    tokens = spelled(("There", 0.9), (" are", 0.9), (" se", 0.5), ("ven", 0.6), (" cats.", 0.9))
    assert token_confidence(tokens, reading) == pytest.approx(0.5 * 0.6)


def test_a_number_is_no_part_of_another():
    reading = Reading(state=State.ANSWERED, answer="7", evidence="so 7, not 17 nor 7.5")
    tokens = spelled(("so ", 0.5), ("7", 0.6), (", not 17", 0.7), (" nor 7.5", 0.8))
    assert token_confidence(tokens, reading) == pytest.approx(0.6)


def test_an_article_is_no_letter():
    """Option A by its text: nothing in the reply is the letter."""
    reading = Reading(state=State.ANSWERED, answer="A", evidence="A red car")
    tokens = spelled(("A", 0.5), (" red", 0.4), (" car", 0.3))
    assert token_confidence(tokens, reading) == pytest.approx(0.5 * 0.4 * 0.3)


def test_a_refusal_has_the_probability_of_its_words():
    text = "Well. It cannot be determined."
    reading = read_refusal(text, "What is it?")
    assert reading is not None
    assert reading.evidence == "It cannot be determined."
    tokens = spelled(("Well.", 0.1), (" It cannot", 0.5), (" be determined", 0.8), (".", 0.9))
    assert token_confidence(tokens, reading) == pytest.approx(0.5 * 0.8 * 0.9)


def test_without_a_place_it_is_the_mean_of_all_tokens():
    reading = Reading(state=State.ANSWERED, answer="12", evidence="a dozen")
    assert token_confidence(spelled(("tw", 0.4), ("elve", 0.9)), reading) == pytest.approx(
        (0.4 * 0.9) ** 0.5
    )


@pytest.mark.parametrize("state", [State.UNPARSED, State.TRUNCATED, State.REQUEST_FAILED])
def test_where_nothing_was_read_there_is_nothing_to_be_sure_of(state):
    assert token_confidence(spelled(("B", 0.5)), Reading(state=state, evidence="B")) is None


def test_no_tokens_no_confidence():
    assert token_confidence((), Reading(state=State.ANSWERED, answer="B", evidence="B")) is None


pieces = st.tuples(st.text("aB (\n*’é😀", max_size=4), st.floats(-50, 0))


@given(st.lists(pieces, min_size=1, max_size=6), st.text("aB (\n", max_size=5), st.text("aB"))
def test_it_is_a_probability_whatever_was_read(tokens, evidence, answer):
    reading = Reading(state=State.ANSWERED, answer=answer, evidence=evidence)
    found = token_confidence(tokens, reading)
    assert exp(sum(said for _, said in tokens)) - 1e-12 <= found <= 1


# As stated


@pytest.mark.parametrize(
    ("text", "confidence", "rest"),
    [
        ("B\nConfidence: 85%", 0.85, "B"),
        ("B\n\nconfidence 0.85", 0.85, "B"),
        ("B\n**Confidence:** 85 %", 0.85, "B"),
        ("B\n- **Confidence**: **95%**", 0.95, "B"),
        ("B\n*My confidence is about 70 percent.*", 0.7, "B"),
        ("B\nConfidence score: 9/10\n", 0.9, "B"),
        ("B\nConfidence: 85 out of 100", 0.85, "B"),
        ("B\nConfidence = 0,7", 0.7, "B"),
        ("B\nConfidence: 85", 0.85, "B"),
        ("B\nConfidence: 0 %", 0.0, "B"),
        ("B\nConfidence: 100% (very clear)", 1.0, "B"),
        ("B\n8/10", 0.8, "B"),
        ("I'm 85% confident that it is red.", 0.85, "it is red."),
        ("It is red. I’m about 85 % sure.", 0.85, "It is red."),
        ("Red (confidence: 90%)", 0.9, "Red"),
        ("The answer is B. Confidence: 90%.", 0.9, "The answer is B."),
        ("Confidence: 90%\nB", 0.9, "B"),
        ("Confidence: 20%? No.\nB\nConfidence: 90%", 0.9, "Confidence: 20%? No.\nB"),
        ("{12}\nConfidence: 97 %", 0.97, "{12}"),
        ("Confidence: 80%", 0.8, ""),
        # No such number
        ("B\nConfidence: 150%", None, "B"),
        ("B\nConfidence: 11/10", None, "B"),
        ("B\nConfidence: high", None, "B"),
        ("B\nConfidence: N %", None, "B"),
        ("B\nConfidence: 1", None, "B"),  # 1 % or 1?
        # None at all
        ("B", None, "B"),
        ("", None, ""),
        ("8/10", None, "8/10"),  # the answer, as far as anyone can tell
        ("12 %", None, "12 %"),
        ("It says: 3 out of 10 people are wrong.", None, "It says: 3 out of 10 people are wrong."),
        ("He shows confidence 3 times.", None, "He shows confidence 3 times."),
    ],
)
def test_a_stated_confidence_is_read_and_taken_off(text, confidence, rest):
    assert stated(text) == (confidence, rest)


@given(st.text("B Confidence:%105/.\n*()", max_size=60))
def test_whatever_is_stated_lies_from_0_to_1(text):
    found, rest = stated(text)
    assert found is None or 0 <= found <= 1
    assert len(rest) <= len(text)


# The endpoint


def ask(server: Loopback, prompt: Prompt, model: str = "my/model") -> Reply:
    async def go() -> Reply:
        async with make_model(model, base_url=server.base_url) as asked:
            return await asked.reply(prompt, ITEM, Library())

    return asyncio.run(go())


def prompt(**sampling) -> Prompt:
    return Prompt(messages=(Message("user", ("Is it red?",)),), sampling=Sampling(**sampling))


def with_logprobs(text: str, logprobs: object) -> Fault:
    body = chat(text)
    body["choices"][0]["logprobs"] = logprobs
    return Fault("body", body=body)


GOOD = {
    "content": [
        {"token": "Ye", "logprob": -0.5, "bytes": [89, 101], "top_logprobs": []},
        {"token": "s", "logprob": -0.25, "bytes": None},
    ]
}


def test_log_probabilities_are_asked_for_and_read():
    with Loopback(faults=[with_logprobs("Yes", GOOD)]) as server:
        reply = ask(server, prompt(logprobs=True))
        assert server.requests[0]["logprobs"] is True
    assert reply.tokens == (("Ye", -0.5), ("s", -0.25))


def test_they_are_neither_asked_for_nor_kept_otherwise():
    with Loopback(faults=[with_logprobs("Yes", GOOD)]) as server:
        reply = ask(server, prompt())
        assert "logprobs" not in server.requests[0]
    assert (reply.text, reply.tokens) == ("Yes", ())


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        "none",
        [],
        {"content": None},
        {"content": [None]},
        {"content": ["Yes"]},
        {"content": [{"token": "Yes"}]},
        {"content": [{"token": "Yes", "logprob": None}]},
        {"content": [{"token": "Yes", "logprob": "-1"}]},
        {"content": [{"token": "Yes", "logprob": False}]},
        {"content": [{"token": "Yes", "logprob": 0.7}]},
        {"content": [{"token": None, "logprob": -1}]},
        {"content": [{"token": "Yes", "logprob": -1, "bytes": [999]}]},
        {"content": [{"token": "Yes", "logprob": -1, "bytes": ["Y"]}]},
        {"content": [{"token": "Ye", "logprob": -1}, {"token": "s"}]},
    ],
)
def test_unsound_log_probabilities_never_lose_the_reply(logprobs):
    with Loopback(faults=[with_logprobs("Yes", logprobs)]) as server:
        reply = ask(server, prompt(logprobs=True))
    assert (reply.failure, reply.text, reply.tokens) == (None, "Yes", ())


@pytest.mark.parametrize("written", [float("-inf"), float("nan"), float("inf")])
def test_what_json_does_not_have_loses_no_reply_either(written):
    """Python's own servers write -Infinity for a token that cannot be."""
    logprobs = {"content": [{"token": "Yes", "logprob": written}]}
    with Loopback(faults=[with_logprobs("Yes", logprobs)]) as server:
        reply = ask(server, prompt(logprobs=True))
    assert (reply.failure, reply.text) == (None, "Yes")
    assert all(0 <= math.exp(number) <= 1 for _, number in reply.tokens)


def test_parts_of_a_character_are_put_together():
    rows = [
        {"token": "\\xe7", "bytes": [0xE7], "logprob": -0.5},
        {"token": "\\xad\\x94", "bytes": [0xAD, 0x94], "logprob": -0.25},
        {"token": "B", "bytes": [0x42], "logprob": -1},
    ]
    assert read_tokens({"content": rows}) == (("答", -0.75), ("B", -1.0))
    alone = read_tokens({"content": rows[:1]})
    assert alone == (("\ufffd", -0.5),)
    half = read_tokens({"content": [{"token": "\ud83d", "logprob": -0.5}]})
    assert json.dumps([text for text, _ in half]).isascii()
    assert "\ud83d" not in half[0][0]


@pytest.mark.parametrize("status", [400, 403, 404, 422])
def test_an_endpoint_that_refuses_them_says_what_to_do(status):
    refused = {"error": {"message": "'logprobs' is not supported with this model", "code": "x"}}
    with Loopback(faults=[Fault("status", status, body=refused)]) as server:
        failure = ask(server, prompt(logprobs=True)).failure
    assert failure.hopeless
    assert f"gives no log-probabilities for 'my/model' ({status})" in failure.reason
    assert "--confidence stated" in failure.reason


def test_a_provider_that_has_none_is_not_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-0123456789")
    model = make_model("groq/some-model")
    with pytest.raises(UsageError, match="groq/some-model gives no log-probabilities"):
        evaluate(Parity(), model, Settings(confidence="logprobs", runs=tmp_path))
    body = b"".join(model._body(prompt(logprobs=True), lambda image: ("", b"")))
    assert b"logprobs" not in body
    assert "logprobs left out: the provider gives none" in model._body.left_out(
        Sampling(logprobs=True)
    )


def test_replies_with_tokens_have_keys_and_places_of_their_own(tmp_path):
    class Model:
        name, options, takes = "fake/model", {}, frozenset()

    plain, asked = prompt(), prompt(logprobs=True)
    assert prompt_key(Model(), plain) != prompt_key(Model(), asked)
    with Store(tmp_path / "store.sqlite") as store:
        reply = Reply(text="Yes", tokens=(("Yes", -0.5),))
        store.put([(prompt_key(Model(), asked), reply)], "fake/model")
        assert list(store.replies([prompt_key(Model(), asked)]).values()) == [reply]
        assert store.replies([prompt_key(Model(), plain)]) == {}


# The road


class Parity(Benchmark):
    """Is n even?"""

    name = "parity"
    title = "Parity"

    def items(self):
        for i in range(6):
            answer = "no" if i % 2 else "yes"
            yield Item(id=f"p{i}", question=f"Is {i} even?", form="yes_no", answer=answer)

    def read(self, item, text):
        return {"default": read_yes_no(text, item.question)}

    @classmethod
    def rates(cls, outcomes: pl.DataFrame):
        if "confidence" in outcomes.columns:
            yield Selective(frame=outcomes, cluster=None)


def run_on(server: Loopback, tmp_path, confidence, **settings):
    model = make_model("my/model", base_url=server.base_url)
    return evaluate(Parity(), model, Settings(confidence=confidence, runs=tmp_path, **settings))


def test_a_run_with_log_probabilities(tmp_path):
    """p0 has sound tokens, p1 none, p2 unsound ones; each reply is read all the same."""

    def answer(number, body):
        which = prompt_text(body)
        good = {"content": [{"token": "yes", "logprob": log(0.8)}]}
        given = {"Is 0 even?": good, "Is 2 even?": {"content": 3}}.get(which)
        return with_logprobs("yes", given)

    with Loopback(fault=answer) as server:
        run = run_on(server, tmp_path, "logprobs")
    assert run.outcomes["state"].to_list() == ["answered"] * 6
    assert run.outcomes["confidence"].to_list() == [pytest.approx(0.8), *[None] * 5]
    known = next(metric for metric in run.metrics if metric.name == "confidence known")
    assert (known.numerator, known.denominator) == (1, 6)
    assert run.manifest["confidence"] == "logprobs"
    assert run.manifest["sampling"]["logprobs"] is True


def test_a_run_with_a_stated_confidence(tmp_path):
    said = {"0": "Yes.\nConfidence: 90 %", "1": "No\nConfidence: 0.7", "2": "Confidence: 60%"}

    def answer(text):
        assert text.endswith("\n" + ASK)
        return said.get(text[3], "Yes, 100 % yes")

    with Loopback(answer) as server:
        run = run_on(server, tmp_path, "stated")
    assert run.outcomes["confidence"].to_list() == [0.9, 0.7, None, None, None, None]
    assert run.outcomes["answer"].to_list() == ["yes", "no", "", "yes", "yes", "yes"]
    assert run.outcomes["state"].to_list()[2] == "unparsed"  # sure, but of nothing
    assert run.outcomes["reply"][0] == "Yes.\nConfidence: 90 %"  # what came is kept whole
    assert ASK in run.manifest["first_prompt"][-1]["content"][-1]
    assert run.manifest["confidence"] == "stated"


def test_without_asking_nothing_changes(tmp_path):
    with Loopback(lambda text: "Yes.\nConfidence: 90 %") as server:
        run = run_on(server, tmp_path, "")
        assert "Confidence" not in server.prompts()[0]
    assert "confidence" not in run.outcomes.columns
    assert "AURC" not in {metric.name for metric in run.metrics}


def test_it_is_asked_for_after_the_last_words_to_the_user():
    class Pictured(Parity):
        def prompt(self, item):
            return (
                Message("system", ("Look.",)),
                Message("user", (item.question, Image(where="a.png"))),
            )

    ((_, first), *_) = walk(Pictured(), Settings(confidence="stated"))
    assert first.messages[0].content == ("Look.",)
    assert first.messages[1].content == ("Is 0 even?", Image(where="a.png"), ASK)


def test_a_failed_row_has_no_confidence():
    cut_off = Reply(text="Yes", finish="length", tokens=(("Yes", -0.1),))
    assert settle(Parity(), ITEM, 0, cut_off).confidence is None
    sound = Reply(text="Yes", tokens=(("Yes", -0.1),))
    assert settle(Parity(), ITEM, 0, sound).confidence == pytest.approx(exp(-0.1))


def test_scout_is_as_sure_as_its_network(tmp_path):
    settings = Settings(confidence="logprobs", runs=tmp_path, limit=30)
    run = evaluate(Scenes(n=60), make_model("local/scout"), settings)
    assert run.outcomes["confidence"].is_between(0, 1).all()
    assert run.outcomes["confidence"].null_count() == 0
    assert any(metric.name == "AURC" for metric in run.metrics)
    wary = evaluate(Scenes(n=60), make_model("local/scout-abstain"), settings)
    both = run.outcomes.join(wary.outcomes, on="item", suffix="_wary")
    refused = both.filter(pl.col("state_wary") == "abstained")
    assert len(refused)
    assert (refused["confidence"] + refused["confidence_wary"]).to_list() == pytest.approx(
        [1.0] * len(refused)
    )


# The report


def sure(view, seed=0):
    """The same run with a confidence."""
    confidence = pl.Series(
        "confidence", [(i * 7 + seed) % 20 / 20 for i in range(len(view.outcomes))]
    )
    return replace(view, outcomes=view.outcomes.with_columns(confidence))


def test_the_report_draws_whoever_has_a_confidence():
    items = made.items(20)
    runs = [sure(made.run(items, "a/first", 0.8, 1)), made.run(items, "b/second", 0.6, 2)]
    page = render(runs)
    assert '<section id="confidence">' in page
    assert "No confidence is known of second." in page
    assert page.count("<polyline") == 1
    assert page.count('class="reliability') == 1
    assert '<section id="confidence">' not in render([runs[1]])


def test_a_run_that_answers_nothing_is_drawn_too():
    items = made.items(4)
    view = sure(made.run(items, "a/first", 0.8, 1))
    refusing = view.outcomes.with_columns(state=pl.lit("abstained"), right=pl.lit(False))
    page = render([replace(view, outcomes=refusing)])
    assert '<section id="confidence">' in page
    assert "nan" not in page.lower().split("<main>")[1].split('<section id="metrics">')[0]


def test_marks_stand_where_the_coverage_is():
    """Ten answers, the surest eight right: 80 % at no risk, 8/9 at 1/9 risk, all at 20 %."""
    items = made.items(5)
    view = made.run(items, "a/first", 0.8, 1)
    rows = view.outcomes.head(10).with_columns(
        state=pl.lit("answered"),
        answerable=pl.lit(True),
        right=pl.Series([True] * 8 + [False] * 2),
        confidence=pl.Series([1 - i / 10 for i in range(10)]),
    )
    page = render([replace(view, outcomes=rows)])
    assert page.count('class="dot m0" cx="80.00%" cy="100.00%"') == 3  # at most 1, 5 and 10 %
    assert (
        page.count('class="dot m0" cx="100.00%" cy="20.00%"') == 1
    )  # 20 % of an axis that ends at 25 %
