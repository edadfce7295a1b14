"""Ends before the end: Ctrl-C, and budgets in tokens and dollars."""

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askers import Scripted, leap, prompts, quick, trouble
from hardset.ask import INTERRUPTED, Budget, Limits, Store, ask
from hardset.errors import UsageError
from hardset.images import Library
from hardset.records import Reply


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "replies.sqlite") as opened:
        yield quick(opened)


def interrupted(rows, model, store, after: int, **limits):
    """Run, and set `stop` when request number `after` is sent."""

    async def check():
        stop = asyncio.Event()
        script = model.script

        def counting(id, attempt):
            if len(model.order) >= after:
                stop.set()
            return script(id, attempt)

        model.script = counting
        return await ask(rows, model, store, Library(store), Limits(**limits), stop=stop)

    return leap(check())


def within(budget, rows, model, store, **limits):
    return leap(ask(rows, model, store, Library(store), Limits(budget=budget, **limits)))


def reasons(asked, store, count):
    return [reply.failure and reply.failure.reason for reply in asked.fetch(store, 0, count)]


# Stopping


def test_stopping_asks_nothing_more_and_keeps_what_came(store):
    model = Scripted(seconds=1.0)
    asked = interrupted(prompts(2000), model, store, after=300, concurrency=16)
    assert asked.stopped == INTERRUPTED
    assert 300 <= len(model.order) <= 300 + 16
    assert asked.asked == len(model.order)  # what was out came in within the grace
    assert asked.walked < 2000
    texts = reasons(asked, store, 2000)
    assert texts.count(None) == asked.asked
    assert texts.count("not asked: interrupted") == 2000 - asked.asked


def test_a_stopped_run_goes_on_where_it_was(store):
    first = Scripted(seconds=1.0)
    interrupted(prompts(500), first, store, after=200)
    second = Scripted()
    asked = leap(ask(prompts(500), second, store, Library(store)))
    assert not set(first.seen) & set(second.seen)
    assert (asked.asked + asked.stored, asked.stopped) == (500, None)


def test_what_does_not_come_within_the_grace_is_cancelled(store):
    model = Scripted(lambda id, attempt: asyncio.sleep(1e6) if int(id) >= 50 else None)
    asked = interrupted(prompts(1000), model, store, after=55, concurrency=8, timeout=None)
    assert asked.stopped == INTERRUPTED
    assert asked.asked == 50
    assert model.out == 0


def test_stopping_does_not_wait_for_a_pause_or_a_backoff(store):
    model = Scripted(lambda id, attempt: trouble("429", retry_after=100.0), seconds=1.0)
    asked = interrupted(prompts(100), model, store, after=8, retries=50)
    assert asked.stopped == INTERRUPTED
    assert len(model.order) == 8
    # Those that were tried have their own reason; the rest were not asked.
    texts = reasons(asked, store, 100)
    assert texts.count("not asked: interrupted") == 92
    assert texts.count("429") == 8


def test_a_stop_before_the_start_asks_nothing(store):
    async def check():
        stop = asyncio.Event()
        stop.set()
        return await ask(prompts(10), model, store, Library(store), stop=stop)

    model = Scripted()
    asked = leap(check())
    assert (asked.stopped, len(model.order)) == (INTERRUPTED, 0)
    assert reasons(asked, store, 10) == ["not asked: interrupted"] * 10


def test_a_stop_that_comes_with_the_last_reply_changes_nothing(store):
    model = Scripted(max_concurrency=1)
    asked = interrupted(prompts(20), model, store, after=20)
    assert (asked.asked, asked.unasked, asked.stopped) == (20, 0, None)


def test_no_reply_that_came_is_lost_when_there_is_no_grace(store, monkeypatch):
    monkeypatch.setattr("hardset.ask.engine.BREATH", -1.0)
    came = []
    model = Scripted(lambda id, attempt: came.append(id))
    asked = interrupted(prompts(1000), model, store, after=100, grace=0.0)
    assert asked.asked == len(came) < 1000


def test_who_stops_a_run_that_is_ending_by_itself_has_stopped_it(store):
    wrong = trouble("401", transient=False, hopeless=True)
    model = Scripted(lambda id, attempt: wrong, seconds=1.0)
    asked = interrupted(prompts(100), model, store, after=8)
    assert asked.stopped == INTERRUPTED


def test_the_first_of_an_endpoints_reasons_stands(store):
    def script(id, attempt):
        return trouble(f"401 for {id}", transient=False, hopeless=True)

    asked = leap(ask(prompts(100), Scripted(script, seconds=1.0), store, Library(store)))
    assert asked.failed == 8
    assert asked.stopped == "401 for 0"


# Budgets


def test_a_budget_in_tokens_is_kept(store):
    # A reply takes 10 tokens: 1,000 tokens are 100 replies, and all replies cost the mean.
    model = Scripted(seconds=1.0, tokens=10)
    asked = within(Budget(tokens=1000), prompts(5000), model, store)
    assert len(model.order) == 100
    assert (asked.asked, asked.spent, asked.walked) == (100, 1000, 5000)
    assert asked.stopped == "the budget of 1,000 tokens was reached"
    texts = reasons(asked, store, 5000)
    assert texts.count("not asked: the budget of 1,000 tokens was reached") == 4900


def test_a_budget_in_dollars_is_kept_at_the_prices_given(store):
    # 9 tokens in at $1 and 1 out at $11 a million: $20 a million replies, $0.002 for 100.
    budget = Budget(dollars=0.002, price_in=1.0, price_out=11.0)
    asked = within(budget, prompts(1000), Scripted(tokens=10), store)
    assert asked.asked == 100
    assert asked.spent == pytest.approx(0.002)


def test_stored_replies_are_free(store):
    leap(ask(prompts(100), Scripted(), store, Library(store)))
    asked = within(Budget(tokens=500), prompts(200), Scripted(tokens=10), store)
    assert (asked.stored, asked.asked, asked.unasked) == (100, 50, 50)


def test_a_budget_that_is_enough_stops_nothing(store):
    asked = within(Budget(tokens=1000), prompts(100), Scripted(tokens=10), store)
    assert (asked.asked, asked.stopped) == (100, None)


def test_failed_attempts_cost_what_they_say(store):
    def script(id, attempt):
        if attempt == 1:
            reply = trouble()
            return Reply(failure=reply.failure, tokens_in=10)
        return None

    # 20 tokens an item, half of them for the attempt that failed.
    asked = within(Budget(tokens=1000), prompts(500), Scripted(script), store, concurrency=1)
    assert asked.asked == 50
    assert asked.tokens_in + asked.tokens_out == 1000


def test_an_endpoint_that_counts_no_tokens_is_stopped_at_once_and_loudly(store):
    model = Scripted(lambda id, attempt: Reply(text="B"), seconds=1.0)
    asked = within(Budget(tokens=1000), prompts(100), model, store)
    assert len(model.order) == 1
    assert asked.asked == 1
    assert asked.stopped == (
        "the endpoint does not say how many tokens a reply took, "
        "so the budget of 1,000 tokens cannot be kept"
    )


def test_a_model_that_costs_nothing_has_no_budget(store):
    class Free(Scripted):
        free = True

    model = Free(lambda id, attempt: Reply(text="B"))
    assert within(Budget(tokens=1), prompts(100), model, store).asked == 100


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 400), min_size=1, max_size=80),
    limit=st.integers(1, 5000),
    concurrency=st.integers(1, 12),
)
def test_a_budget_is_passed_by_what_was_out_at_most(tmp_path_factory, sizes, limit, concurrency):
    def script(id, attempt):
        return Reply(text="B", tokens_in=sizes[int(id)])

    model = Scripted(script, seconds=1.0)
    path = tmp_path_factory.mktemp("budget") / "s.sqlite"
    with quick(Store(path)) as store:
        asked = within(
            Budget(tokens=limit), prompts(len(sizes)), model, store, concurrency=concurrency
        )
    over = asked.spent - limit
    assert over <= model.most_out * max(sizes)
    if sum(sizes) <= limit - max(sizes) * concurrency:
        assert asked.unasked == 0
    assert asked.spent == sum(sizes[int(id)] for id in model.order)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("50000", 50_000), ("50,000", 50_000), ("200k", 200_000), ("1.5M", 1_500_000)],
)
def test_budgets_in_tokens_are_read(text, tokens):
    assert Budget.parse(text) == Budget(tokens=tokens)


def test_budgets_in_dollars_are_read():
    budget = Budget.parse("$2.50", (0.15, 0.6))
    assert budget == Budget(dollars=2.5, price_in=0.15, price_out=0.6)
    assert str(budget) == "$2.50"
    # 2 million in and half a million out: 2 x 0.15 + 0.5 x 0.6
    assert budget.cost(2_000_000, 500_000) == pytest.approx(0.6)


@pytest.mark.parametrize("text", ["", "many", "-5", "0", "$", "$5k", "$5", "1e5", "5 dollars"])
def test_what_is_no_budget_is_the_users_to_change(text):
    with pytest.raises(UsageError, match="budget"):
        Budget.parse(text)


def test_what_was_received_is_committed_though_the_end_is_cancelled_too(tmp_path):
    """As where several askings run at once, one fails, and the others are told to end twice."""

    class Slow(Store):
        def commit(self, entries):
            time.sleep(0.2)  # as a disk may take
            super().commit(entries)

    async def go(store):
        every = asyncio.Event()
        model = Scripted(lambda id, attempt: every.set() if len(model.order) == 50 else None)
        asking = asyncio.ensure_future(ask(prompts(50), model, store, Library(store)))
        await every.wait()
        await asyncio.sleep(0.05)
        for _ in range(3):
            asking.cancel()
            await asyncio.sleep(0.01)
        with pytest.raises(asyncio.CancelledError):
            await asking

    with Slow(tmp_path / "replies.sqlite") as store:
        asyncio.run(go(store))
    with Store(tmp_path / "replies.sqlite") as store:
        (kept,) = store._reader().execute("SELECT count(*) FROM replies").fetchone()
    assert kept == 50
