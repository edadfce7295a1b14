"""The store: what it keeps apart, what it keeps whole, and what it says when it cannot."""

import multiprocessing
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.ask import Store, StoreError
from hardset.ask.store import MEDIA_PER_COMMIT, SCHEMA
from hardset.records import Failure, Reply, State, ToolCall

FAILED = Reply(failure=Failure(state=State.REQUEST_FAILED, reason="500", transient=True))


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "replies.sqlite"


@pytest.fixture
def store(path):
    with Store(path) as opened:
        yield opened


def test_replies_come_back_by_key(store):
    store.put([(key(n), Reply(text=f"reply {n}")) for n in range(3)], "m")
    found = store.replies([key(2), key(0), key(9)])
    assert {k: reply.text for k, reply in found.items()} == {key(2): "reply 2", key(0): "reply 0"}
    assert store.held([key(2), key(0), key(9)]) == {key(0), key(2)}


def test_more_keys_than_one_query_takes(store):
    store.put([(key(n), Reply(text=str(n))) for n in range(0, 5000, 2)], "m")
    assert store.held([key(n) for n in range(5000)]) == {key(n) for n in range(0, 5000, 2)}
    assert store.held([]) == set()


replies = st.builds(
    Reply,
    text=st.text(st.characters(exclude_categories=["Cs"])),
    finish=st.sampled_from(["stop", "length"]),
    tool_calls=st.lists(st.builds(ToolCall, st.text("ab"), st.text("ab"), st.text("ab"))).map(
        tuple
    ),
    tokens_in=st.integers(0, 10**9),
    seconds=st.floats(0, 1e6),
    attempts=st.integers(1, 9),
    sent=st.lists(st.text("ab")).map(tuple),
)
numbers = iter(range(10**9))


@settings(max_examples=30, deadline=None)
@given(st.lists(replies, max_size=20))
def test_every_reply_comes_back_as_it_was(tmp_path_factory, some):
    global_path = tmp_path_factory.mktemp("store") / "s.sqlite"
    rows = {key(next(numbers)): reply for reply in some}
    with Store(global_path) as store:
        store.put(rows.items(), "m")
    with Store(global_path) as store:
        assert store.replies(list(rows)) == rows


def test_the_first_reply_under_a_key_stands(store):
    store.put([(key(1), Reply(text="first"))], "m")
    store.put([(key(1), Reply(text="second"))], "m")
    assert store.replies([key(1)])[key(1)].text == "first"


def test_failures_are_no_replies_and_go_when_a_reply_comes(store):
    store.put([(key(1), FAILED), (key(2), FAILED)], "m")
    assert store.held([key(1), key(2)]) == set()
    assert store.replies([key(1)]) == {}
    assert store.failures([key(1), key(2)]) == {key(1): FAILED, key(2): FAILED}
    store.put([(key(1), Reply(text="B"))], "m")
    assert store.failures([key(1), key(2)]) == {key(2): FAILED}


def test_failures_of_an_earlier_run_are_told_apart(store):
    store.put([(key(1), FAILED)], "m")
    assert store.failures([key(1)], since=1e12) == {}


def test_a_providers_refusal_is_a_reply(store):
    refused = Reply(failure=Failure(state=State.PROVIDER_REFUSED, reason="policy"))
    store.put([(key(1), refused)], "m")
    assert store.replies([key(1)]) == {key(1): refused}


def test_what_is_no_reply_is_not_put(store):
    with pytest.raises(TypeError, match="int in place of a Reply"):
        store.put([(key(1), 3)], "m")
    assert store.held([key(1)]) == set()


def test_a_group_is_committed_whole_or_not_at_all(path, store, monkeypatch):
    good = [(key(1), Reply(text="B"))]

    def broken():
        yield from good
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        store.put(broken(), "m")
    assert store.held([key(1)]) == set()
    store.put(good, "m")  # and the store goes on
    assert store.held([key(1)]) == {key(1)}


def test_a_commit_waits_for_the_disk(store):
    assert store._writer.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert store._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)


# The memory of images


def test_images_are_remembered_across_runs(path):
    with Store(path) as store:
        assert store.recall_file("/a.png", "1") is None
        assert store.recall_media("aa") is None
        store.remember_file("/a.png", "1", "aa")
        store.remember_media("aa", b"\x00found")
        assert store.recall_file("/a.png", "1") == "aa"  # also before it is committed
        assert store.recall_media("aa") == b"\x00found"
    with Store(path) as store:
        assert store.recall_file("/a.png", "1") == "aa"
        assert store.recall_file("/a.png", "2") is None  # the file was changed
        assert store.recall_media("aa") == b"\x00found"


def test_what_was_found_is_committed_with_the_next_group(path, store):
    store.remember_file("/a.png", "1", "aa")
    store.put([(key(1), Reply())], "m")
    with Store(path) as other:
        assert other.recall_file("/a.png", "1") == "aa"


def test_what_was_found_does_not_pile_up(path, store):
    for number in range(2 * MEDIA_PER_COMMIT):
        store.remember_media(str(number), b"")
    assert len(store._media) < MEDIA_PER_COMMIT
    with Store(path) as other:
        assert other.recall_media("0") == b""


def test_what_is_found_anew_during_a_commit_is_not_forgotten(path, store):
    class Meddling:
        """The writing connection, with another thread's find in the middle of a commit."""

        def __init__(self, writer):
            self.writer = writer

        def executemany(self, *arguments):
            store.remember_file("/a.png", "2", "bb")
            return self.writer.executemany(*arguments)

        def __getattr__(self, name):
            return getattr(self.writer, name)

    store.remember_file("/a.png", "1", "aa")
    writer = store._writer
    store._writer = Meddling(writer)
    store.put([(key(1), Reply())], "m")
    store._writer = writer
    assert store.recall_file("/a.png", "2") == "bb"
    store.close()
    with Store(path) as other:
        assert other.recall_file("/a.png", "2") == "bb"


def test_many_threads_remember_while_groups_are_committed(path, store):
    start = threading.Barrier(5)

    def look(thread: int) -> None:
        start.wait()
        for number in range(300):
            store.remember_file(f"/{thread}/{number}", "1", f"{thread}.{number}")
            assert store.recall_file(f"/{thread}/{number}", "1") == f"{thread}.{number}"

    def commit() -> None:
        start.wait()
        for number in range(30):
            store.put([(key(number), Reply())], "m")

    with ThreadPoolExecutor(5) as pool:
        done = [pool.submit(look, n) for n in range(4)] + [pool.submit(commit)]
        for future in done:
            future.result()
    store.close()
    with Store(path) as other:
        for thread in range(4):
            for number in range(300):
                assert other.recall_file(f"/{thread}/{number}", "1") == f"{thread}.{number}"


# Two processes


def fill(path: str, first: int, start) -> None:
    start.wait()
    with Store(path) as store:
        for number in range(first, first + 400, 10):
            store.put([(key(n), Reply(text=str(n))) for n in range(number, number + 10)], "m")


def test_two_processes_fill_one_new_store(path):
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(2)
    # They overlap in 200 of 600 keys.
    workers = [context.Process(target=fill, args=(str(path), n, start)) for n in (0, 200)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    with Store(path) as store:
        found = store.replies([key(n) for n in range(600)])
        assert {k: reply.text for k, reply in found.items()} == {key(n): str(n) for n in range(600)}


def test_what_one_process_commits_another_sees_at_once(path, store):
    with Store(path) as other:
        assert other.held([key(1)]) == set()
        store.put([(key(1), Reply())], "m")
        assert other.held([key(1)]) == {key(1)}


# Files that are no good


def test_another_versions_store_is_named_as_such(path):
    Store(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    raw.close()
    with pytest.raises(StoreError, match=rf"replies.sqlite is a store of version {SCHEMA + 1}"):
        Store(path)


def test_somebody_elses_database_is_left_alone(path):
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE mine (x)")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a store of replies"):
        Store(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(path):
    path.write_text("notes about replies\n" * 100)
    with pytest.raises(StoreError, match=r"replies.sqlite is damaged or is no SQLite file"):
        Store(path)
    assert path.read_text().startswith("notes")


def test_a_damaged_store_says_so_in_one_sentence(path):
    with Store(path) as store:
        store.put([(key(n), Reply(text="x" * 500)) for n in range(500)], "m")
    size = path.stat().st_size
    with path.open("r+b") as file:  # all but the first page is overwritten
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))
    with pytest.raises(StoreError, match="damaged") as said, Store(path) as store:
        store.replies([key(n) for n in range(500)])
    assert "move it away" in str(said.value)


def test_a_damaged_reply_says_so(path):
    with Store(path) as store:
        store.put([(key(1), Reply())], "m")
        store._writer.execute("UPDATE replies SET reply = '{\"text\":'")
        with pytest.raises(StoreError, match="damaged"):
            store.replies([key(1)])


def test_a_folder_is_made_for_a_new_store(tmp_path):
    with Store(tmp_path / "runs" / "new" / "replies.sqlite") as store:
        assert store.held([key(1)]) == set()


@pytest.mark.parametrize("place", ["folder", "file/inside.sqlite"])
def test_a_place_where_no_file_can_be_is_named(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=place.partition("/")[0]):
        Store(tmp_path / place)


def test_a_store_held_by_another_for_too_long_is_an_error(path, store, monkeypatch):
    monkeypatch.setattr("hardset.ask.store.BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="database is locked"):
        Store(path)
    holder.execute("ROLLBACK")
    holder.close()


def test_a_failed_commit_loses_nothing_that_was_found(path, store):
    store.remember_file("/a.png", "1", "aa")
    store._writer.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match="cannot be used"):
        store.put([(key(1), Reply())], "m")
    store._writer.execute("PRAGMA query_only = OFF")
    store.put([(key(1), Reply())], "m")
    with Store(path) as other:
        assert other.recall_file("/a.png", "1") == "aa"


def test_closing_leaves_one_file(path):
    with Store(path) as store:
        store.put([(key(1), Reply())], "m")
    store.close()
    assert os.listdir(path.parent) == ["replies.sqlite"]


def test_a_store_that_cannot_be_used_says_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr("hardset.ask.store.BUSY_SECONDS", 0.01)
    Store(tmp_path / "s.sqlite").close()
    holder = sqlite3.connect(tmp_path / "s.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="another program holds it"):
        Store(tmp_path / "s.sqlite")
    holder.close()
    with pytest.raises(StoreError, match="it is a folder"):
        Store(tmp_path)


def test_a_thread_that_leaves_may_read_again(tmp_path):
    """Each connection is an open file or two: those of threads that have ended do not pile up."""
    key = b"k" * 32
    with Store(tmp_path / "s.sqlite") as store:
        store.put([(key, Reply(text="hello"))], "fake/model")
        assert store.held([key]) == {key}
        store.leave()
        store.leave()  # leaving twice is leaving once
        assert len(store._opened) == 1  # what it writes by
        assert store.replies([key]) == {key: Reply(text="hello")}
