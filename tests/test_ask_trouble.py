"""The durable ask on its bad days: retries, storms, hopeless endpoints, faulty plug-ins."""

import asyncio
import random

import pytest

from askers import Scripted, leap, prompts, quick, trouble
from hardset.ask import Limits, Store, ask
from hardset.errors import UsageError
from hardset.images import Library
from hardset.records import Failure, Reply, State


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "replies.sqlite") as opened:
        yield quick(opened)


def run(rows, model, store, seed=0, **limits):
    library = Library(store)
    return leap(ask(rows, model, store, library, Limits(**limits), rng=random.Random(seed)))


def failures(asked, store):
    return [reply.failure for reply in asked.replies(store)]


# Transient failures


def test_a_transient_failure_is_tried_again(store):
    model = Scripted(lambda id, attempt: trouble() if attempt < 3 else None)
    asked = run(prompts(50), model, store)
    assert set(model.seen.values()) == {3}
    assert (asked.asked, asked.failed) == (50, 0)
    assert {reply.attempts for reply in asked.replies(store)} == {3}


def test_after_the_last_attempt_the_failure_stands_with_its_count(store):
    model = Scripted(lambda id, attempt: trouble() if id == "3" else None)
    asked = run(prompts(10), model, store, retries=4)
    assert model.seen["3", 0] == 5
    assert (asked.asked, asked.failed, asked.stopped) == (9, 1, None)
    reply = asked.fetch(store, 3, 4)[0]
    assert reply.attempts == 5
    assert reply.failure.state is State.REQUEST_FAILED
    assert reply.failure.reason == "server error 500 (5 attempts)"


def test_no_retries_means_one_attempt(store):
    model = Scripted(lambda id, attempt: trouble())
    run(prompts(5), model, store, retries=0)
    assert set(model.seen.values()) == {1}


def test_waits_grow_exponentially_and_are_spread(store):
    model = Scripted(lambda id, attempt: trouble(), max_concurrency=1)
    waits: list[list[float]] = [[] for _ in range(6)]
    for number in range(40):
        model.times.clear()
        run(prompts(1, first=number), model, store, seed=number, retries=6)
        for wait, begin, end in zip(waits, model.times, model.times[1:], strict=False):
            wait.append(end - begin)
    # The wait before attempt n+1 is anywhere up to 1 s doubled n - 1 times.
    for number, spread in enumerate(waits):
        longest = 2**number
        assert 0.6 * longest < max(spread) <= longest * 1.01 + 0.01
        assert min(spread) < 0.4 * longest


def test_a_failure_that_is_not_transient_is_not_tried_again(store):
    model = Scripted(lambda id, attempt: trouble("400: too long", transient=False))
    asked = run(prompts(5), model, store)
    assert set(model.seen.values()) == {1}
    assert [f.reason for f in failures(asked, store)] == ["400: too long"] * 5


def test_failures_are_asked_again_by_the_next_run_and_gone_on_success(store):
    first = run(prompts(30), Scripted(lambda id, a: trouble(transient=False)), store)
    assert first.failed == 30
    second = run(prompts(30), Scripted(), store)
    assert (second.asked, second.stored, second.failed) == (30, 0, 0)
    assert failures(second, store) == [None] * 30
    keys = [bytes(first.keys[at : at + 32]) for at in range(0, 960, 32)]
    assert store.failures(keys) == {}


def test_a_providers_refusal_is_a_reply_and_not_asked_again(store):
    refused = Reply(failure=Failure(state=State.PROVIDER_REFUSED, reason="content policy"))
    asked = run(prompts(4), Scripted(lambda id, attempt: refused), store)
    assert (asked.asked, asked.failed) == (4, 0)
    again = Scripted()
    assert run(prompts(4), again, store).stored == 4
    assert not again.seen
    assert {f.state for f in failures(asked, store)} == {State.PROVIDER_REFUSED}


# Storms


def test_a_storm_of_429_passes_and_nobody_asks_while_told_to_wait(store):
    """From request 100 on the endpoint says 429 for a minute, with Retry-After."""
    told: list[float] = []

    def script(id, attempt):
        now = asyncio.get_running_loop().time()
        if len(model.order) >= 100:
            told.append(told[0] if told else now + 60.0)
            if now < told[0]:
                return trouble("429", retry_after=told[0] - now)
        return None

    model = Scripted(script, seconds=1.0)
    asked = run(prompts(400), model, store)
    assert (asked.asked, asked.failed) == (400, 0)
    silence = [time for time in model.times if told[0] - 58.0 < time < told[0]]
    assert silence == []
    assert max(model.seen.values()) == 2  # everyone met the storm once at most


def test_a_storm_halves_what_is_out_at_once(store):
    def script(id, attempt):
        if len(model.order) > 500:
            after.append(model.out)
            return trouble("429", retry_after=0.0) if model.out > 4 else None
        return None

    after: list[int] = []
    model = Scripted(script, seconds=1.0)
    asked = run(prompts(1500), model, store, retries=20)
    assert asked.failed == 0
    assert model.most_out > 30
    assert sum(after[-500:]) / 500 < 8


def test_retry_after_beyond_all_patience_ends_in_failures_not_in_waiting(store):
    model = Scripted(lambda id, attempt: trouble("429: try tomorrow", retry_after=86_400.0))
    asked = run(prompts(3), model, store, retries=2, pause=60.0)
    assert asked.failed == 3
    # Three attempts with two pauses of 60 s, and not of a day, between them.
    assert model.times[-1] - model.times[0] < 600


# Timeouts


def test_a_request_without_end_is_given_up_and_tried_again(store):
    def script(id, attempt):
        return asyncio.sleep(1e9) if id == "2" and attempt < 3 else None

    model = Scripted(script)
    asked = run(prompts(5), model, store, timeout=20.0)
    assert asked.asked == 5
    assert model.seen["2", 0] == 3


def test_a_timeout_says_how_long_it_was(store):
    asked = run(
        prompts(1), Scripted(lambda i, a: asyncio.sleep(1e9)), store, timeout=20.0, retries=1
    )
    assert failures(asked, store)[0].reason == "no reply within 20 s (2 attempts)"


def test_no_timeout_waits(store):
    asked = run(prompts(2), Scripted(seconds=1e6), store, timeout=None)
    assert asked.asked == 2


# Hopeless


def test_a_wrong_key_stops_the_run_and_says_so_of_the_rest(store):
    wrong = trouble("401: the key is not accepted", transient=False, hopeless=True)
    model = Scripted(lambda id, attempt: wrong if int(id) >= 500 else None, seconds=1.0)
    asked = run(prompts(5000), model, store, concurrency=16)
    assert asked.stopped == "401: the key is not accepted"
    assert len(model.order) <= 500 + 16
    assert (asked.asked, asked.walked) == (500, 5000)
    assert asked.unasked == 4500 - asked.failed
    reasons = [f and f.reason for f in failures_of(asked, store, 5000)]
    assert reasons[:500] == [None] * 500
    assert reasons.count("401: the key is not accepted") == asked.failed
    assert reasons.count("not asked: 401: the key is not accepted") == asked.unasked


def failures_of(asked, store, count):
    return [reply.failure for reply in asked.fetch(store, 0, count)]


def test_a_stopped_run_still_finds_what_is_stored(store):
    run(prompts(100, first=900), Scripted(), store)
    wrong = trouble("401", transient=False, hopeless=True)
    asked = run(prompts(1000), Scripted(lambda id, attempt: wrong), store)
    assert asked.stored == 100
    assert failures_of(asked, store, 1000)[900:] == [None] * 100


def test_an_earlier_runs_failure_is_not_this_runs(store):
    run(prompts(300), Scripted(lambda i, a: trouble("old", transient=False)), store)
    wrong = trouble("401", transient=False, hopeless=True)
    asked = run(prompts(300), Scripted(lambda id, attempt: wrong), store)
    assert {f.reason for f in failures_of(asked, store, 300)} == {"401", "not asked: 401"}


# Plug-ins


class OddError(Exception):
    pass


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (lambda: (_ for _ in ()).throw(OddError("no such thing")), "OddError: no such thing"),
        (lambda: (_ for _ in ()).throw(OddError()), "OddError"),
        (lambda: (_ for _ in ()).throw(TimeoutError()), "TimeoutError"),
        (lambda: (_ for _ in ()).throw(asyncio.CancelledError()), "CancelledError"),
        (lambda: "B", "TypeError: str in place of a Reply"),
        (lambda: Reply(text=None), "ValidationError: Expected `str`, got `null` - at `$.text`"),
        (lambda: Reply(tokens_in=None), "ValidationError: Expected `int`"),
        (lambda: Reply(failure="broken"), "ValidationError: Expected `object | null`"),
        (lambda: Reply(text=object()), "TypeError: Encoding objects of type object"),
    ],
)
def test_a_plug_ins_fault_is_that_rows_failure(store, fault, reason):
    model = Scripted(lambda id, attempt: fault() if id == "1" else None)
    asked = run(prompts(3), model, store)
    assert model.seen["1", 0] == 1
    assert (asked.asked, asked.failed, asked.stopped) == (2, 1, None)
    first, failure, last = failures(asked, store)
    assert (first, last) == (None, None)
    assert failure.state is State.REQUEST_FAILED
    assert failure.reason.startswith(reason)


def test_half_a_surrogate_pair_in_a_reply_does_not_lose_it(store):
    asked = run(prompts(1), Scripted(lambda i, a: Reply(text="B \ud83d\ude00 \ud83d")), store)
    assert asked.asked == 1
    assert next(asked.replies(store)).text == "B \U0001f600 \ufffd"


def test_limits_that_make_no_sense_are_the_users_to_change(store):
    for limits in ({"concurrency": 0}, {"retries": -1}):
        with pytest.raises(UsageError, match="or more"):
            run(prompts(1), Scripted(), store, **limits)
