"""What is around an ask: other runs on its store, a store that fails, what is left in the file."""

import asyncio
import multiprocessing
import sqlite3

import pytest

from askers import Scripted, leap, prompts
from hardset.ask import Asked, Store, StoreError, ask
from hardset.images import Library


def texts(asked: Asked, store: Store) -> list[str]:
    return [reply.text for reply in asked.replies(store)]


def test_two_runs_on_one_store_both_get_everything(tmp_path):
    model = Scripted(seconds=1.0)

    async def check():
        with Store(tmp_path / "s.sqlite") as one, Store(tmp_path / "s.sqlite") as other:
            first, second = await asyncio.gather(
                ask(prompts(600), model, one, Library(one)),
                ask(prompts(600, first=300), model, other, Library(other)),
            )
            assert (first.done, second.done) == (600, 600)
            assert texts(first, one) == [f"reply {n}/0" for n in range(600)]
            assert texts(second, other) == [f"reply {n}/0" for n in range(300, 900)]

    leap(check())
    assert max(model.seen.values()) <= 2  # each of the two asks at most once


def other_process(path: str, gate) -> None:
    model = Scripted(seconds=0.001)
    with Store(path) as store:
        gate.wait()
        asked = asyncio.run(ask(prompts(400), model, store, Library(store)))
        assert asked.done == 400
        assert asked.failed == 0
        assert texts(asked, store) == [f"reply {n}/0" for n in range(400)]


def test_two_processes_run_on_one_store(tmp_path):
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(2)
    path = str(tmp_path / "s.sqlite")
    both = [context.Process(target=other_process, args=(path, gate)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT count(*) FROM replies").fetchone() == (400,)
    raw.close()


def test_a_store_that_fills_up_ends_the_run_and_keeps_what_it_has(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
        store._writer.execute(f"PRAGMA max_page_count = {pages + 40}")
        with pytest.raises(StoreError, match=r"s\.sqlite cannot be used: database or disk is full"):
            leap(ask(prompts(5000), Scripted(), store, Library(store)))
    with Store(tmp_path / "s.sqlite") as store:
        asked = leap(ask(prompts(5000), Scripted(), store, Library(store)))
        assert 0 < asked.stored < 5000
        assert asked.done == 5000


def test_what_progress_raises_ends_the_run_after_a_commit(tmp_path):
    def progress(tally):
        if tally.asked:
            raise RuntimeError("no terminal")

    with Store(tmp_path / "s.sqlite") as store:
        with pytest.raises(RuntimeError, match="no terminal"):
            leap(ask(prompts(5000), Scripted(seconds=1), store, Library(store), progress=progress))
        assert leap(ask(prompts(5000), Scripted(), store, Library(store))).stored > 0


def test_the_file_holds_no_prompt_and_no_option(tmp_path):
    path = tmp_path / "s.sqlite"
    model = Scripted(options={"base_url": "http://internal.example"})
    with Store(path) as store:
        leap(ask(prompts(50), model, store, Library(store)))
    content = path.read_bytes()
    assert b"reply 49/0" in content
    assert b"Question" not in content
    assert b"internal.example" not in content


def test_other_options_are_another_model(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        for number in range(3):
            model = Scripted(options={"base_url": f"http://{number}.example"})
            assert leap(ask(prompts(5), model, store, Library(store))).asked == 5


def test_it_runs_on_uvloop(tmp_path):
    uvloop = pytest.importorskip("uvloop")
    with Store(tmp_path / "s.sqlite") as store:
        asked = uvloop.run(ask(prompts(500), Scripted(), store, Library(store)))
        assert texts(asked, store) == [f"reply {n}/0" for n in range(500)]


def test_a_lost_reply_is_a_failure_and_not_an_empty_answer(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        asked = leap(ask(prompts(3), Scripted(), store, Library(store)))
        store._writer.execute("DELETE FROM replies WHERE reply LIKE '%reply 1/0%'")
        first, lost, last = asked.fetch(store, 0, 3)
        assert (first.failure, last.failure) == (None, None)
        assert lost.failure.reason == "the reply is no longer in the store; run it again"
