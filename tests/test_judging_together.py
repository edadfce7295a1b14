"""Judges at once or in turn: who waits for whom, one stop, one count, one budget, one error."""

from __future__ import annotations

import asyncio
import threading
from itertools import groupby

import pytest

from hardset.ask import Budget, Limits, Store, Tally
from hardset.images import Library
from hardset.judging import Facts, Judge, Means, Panel, load
from hardset.judging.verdicts import judge
from hardset.models import make_model
from loopback import Loopback
from test_panel import honest, outcomes, scenes, sensible

NAMES = ("a", "b", "c")
RUBRICS = [load("refused")]


def judged(folder, servers, *, n=24, limits=None, stop=None, progress=None):
    """Have one judge at each server say of `n` replies whether they refuse."""
    benchmark = scenes(n=n)
    facts = Facts(outcomes(benchmark, sensible), benchmark.items, RUBRICS)
    judges = [
        Judge(model=make_model(name, base_url=server.base_url))
        for name, server in zip(NAMES, servers, strict=False)
    ]

    async def work():
        with Store(folder / "store.sqlite") as store:
            means = Means(
                store=store,
                library=lambda model: Library(store, openers=benchmark.openers),
                limits=limits or Limits(),
                stop=stop,
                progress=progress,
            )
            for one in judges:
                await one.model.__aenter__()
            try:
                return await judge(facts, Panel(judges=judges, rubrics=RUBRICS), means), means
            finally:
                for one in judges:
                    await one.model.__aexit__(None, None, None)

    return asyncio.run(work())


def test_judges_at_different_addresses_are_asked_at_once(tmp_path):
    """No judge says a word before all three were asked: taking turns would never come to that."""
    everyone = threading.Barrier(len(NAMES))
    met = dict.fromkeys(NAMES, False)

    def waits_for_the_others(name):
        def answer(prompt):
            if not met[name]:
                everyone.wait(60)
                met[name] = True
            return honest(prompt)

        return answer

    a, b, c = (Loopback(waits_for_the_others(name)) for name in NAMES)
    with a, b, c:
        verdicts, _ = judged(tmp_path, [a, b, c])
    assert met == dict.fromkeys(NAMES, True)
    assert verdicts.missing == 0
    assert set(verdicts.columns["panel_refused"]) == {"3 of 3"}


def in_turn(server):
    return [model for model, _ in groupby(body["model"] for body in server.requests)]


def test_judges_at_one_address_take_turns(tmp_path):
    with Loopback(honest) as server:
        verdicts, _ = judged(tmp_path, [server] * 3)
    assert in_turn(server) == ["a", "b", "c"]
    assert verdicts.missing == 0


def test_under_a_budget_all_take_turns(tmp_path):
    """A vote takes 18 tokens. What `a` leaves of 540 is `b`'s, and `c`, as last, gets the rest."""
    began = []

    def notes(name):
        return lambda prompt: began.append(name) or honest(prompt)

    a, b, c = (Loopback(notes(name)) for name in NAMES)
    with a, b, c:
        verdicts, means = judged(
            tmp_path, [a, b, c], n=12, limits=Limits(budget=Budget(tokens=540), concurrency=1)
        )
    assert [name for name, _ in groupby(began)] == ["a", "b", "c"]
    assert len(began) in (29, 30)  # 540 / 18 = 30; 36 would be due
    assert verdicts.missing == 36 - len(began)
    assert means.whole == Budget(tokens=540)


def test_one_stop_is_heard_by_all(tmp_path):
    """It comes with the 40th vote, of 3 x 600, and all three were at work then."""
    stop = asyncio.Event()

    def progress(tally):
        if tally.asked >= 40:
            stop.set()

    a, b, c = (Loopback(honest, wait=0.02) for _ in NAMES)
    with a, b, c:
        verdicts, _ = judged(
            tmp_path, [a, b, c], n=600, stop=stop, progress=progress, limits=Limits(concurrency=4)
        )
        first = [server.count for server in (a, b, c)]
        assert [ballot.stopped for ballot in verdicts.ballots] == ["interrupted"] * 3
        assert 40 <= sum(first) < 1800
        assert all(first)
        again, _ = judged(tmp_path, [a, b, c], n=600)
        assert again.missing == 0
        # Whatever was in flight had time to come in, so that all that was asked is kept.
        for server, rows in zip((a, b, c), first, strict=True):
            distinct = {str(body["messages"]) for body in server.requests}
            assert server.count == len(distinct) > rows


def test_the_count_is_of_all_judges_together(tmp_path):
    told: list[Tally] = []
    a, b, c = (Loopback(honest, wait=0.01) for _ in NAMES)
    with a, b, c:
        judged(tmp_path, [a, b, c], n=60, progress=told.append)
        asked = sum(server.count for server in (a, b, c))
    done = [tally.done for tally in told]
    assert done == sorted(done)
    # The first vote of each judge is asked for by itself, to see whether the schema is taken: it
    # is then found in the store, and counted there alone.
    assert {tally.total for tally in told} == {180}
    last = told[-1]
    assert (last.done, last.total) == (180, 180)
    assert last.asked == asked - 3
    assert last.stored == 180 - last.asked
    assert last.tokens_in == 11 * last.asked
    assert last.in_flight == 0


def test_an_error_ends_all_and_loses_nothing(tmp_path):
    def progress(tally):
        if tally.asked >= 20:
            raise RuntimeError("no terminal")

    a, b, c = (Loopback(honest, wait=0.01) for _ in NAMES)
    with a, b, c:
        with pytest.raises(RuntimeError, match="no terminal"):
            judged(tmp_path, [a, b, c], n=600, progress=progress, limits=Limits(concurrency=4))
        with Store(tmp_path / "store.sqlite") as store:
            (kept,) = store._reader().execute("SELECT count(*) FROM replies").fetchone()
        assert kept >= 20
        before = sum(server.count for server in (a, b, c))
        verdicts, _ = judged(tmp_path, [a, b, c], n=600)
        distinct = sum(
            len({str(body["messages"]) for body in server.requests}) for server in (a, b, c)
        )
        after = sum(server.count for server in (a, b, c)) - before
    assert verdicts.missing == 0
    assert after == distinct - kept


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1", False),  # it may swap models
        ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1", True),
        ("http://10.0.0.7:8000/v1", "http://10.0.0.7:8000/v1", False),
        ("http://gpu-box:8000/v1", "http://gpu-box:8000/v1", False),
        ("https://gateway.example.com/v1", "https://gateway.example.com/v1", True),
    ],
)
def test_only_judges_of_one_server_take_turns(one, other, together):
    a, b = (Judge(model=make_model(name, base_url=at)) for name, at in (("a", one), ("b", other)))
    assert (a.line != b.line) is together
