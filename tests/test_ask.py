"""The durable ask on its good days: what is asked, what is not, and in what memory."""

import asyncio
import threading
from hashlib import sha256

import pytest

from askers import Scripted, leap, pictured, prompts, quick, trouble
from hardset.ask import Limits, Store, Tally, ask
from hardset.ask.engine import CHUNK, LOW
from hardset.ask.group import MOST
from hardset.images import BadMedia, Library
from hardset.records import Image, Item, Message, Prompt, Reply, State


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "replies.sqlite") as opened:
        yield quick(opened)


def texts(asked, store):
    return [reply.text for reply in asked.replies(store)]


def run(rows, model, store, library=None, **more):
    return leap(ask(rows, model, store, library or Library(store), **more))


def test_every_prompt_has_its_reply_in_order(store):
    model = Scripted()
    asked = run(prompts(700, repeats=2), model, store)
    assert (asked.asked, asked.stored, asked.failed, asked.unasked) == (1400, 0, 0, 0)
    assert asked.stopped is None
    assert len(asked.keys) == 1400 * 32
    assert len(repr(asked)) < 1000  # asyncio makes the repr of what a run returns: keys stay out
    expected = [f"reply {number}/{repeat}" for number in range(700) for repeat in range(2)]
    assert texts(asked, store) == expected
    # 1400 replies of 9 tokens in and 1 out
    assert (asked.tokens_in, asked.tokens_out) == (12_600, 1_400)


def test_what_is_stored_is_not_asked_again(store):
    run(prompts(300), Scripted(), store)
    model = Scripted()
    asked = run(prompts(500), model, store)
    assert (asked.asked, asked.stored) == (200, 300)
    assert sorted(model.seen) == sorted((str(n), 0) for n in range(300, 500))
    assert texts(asked, store) == [f"reply {number}/0" for number in range(500)]


def test_nothing_to_ask_is_nothing_wrong(store):
    asked = run([], Scripted(), store)
    assert (asked.walked, asked.done, asked.stopped) == (0, 0, None)
    assert texts(asked, store) == []
    with pytest.raises(IndexError, match="prompt 0 of 0"):
        asked.fetch(store, 0, 1)


def test_equal_prompts_of_one_run_are_asked_once(store):
    model = Scripted(seconds=1.0)
    rows = [*prompts(20), *prompts(20), *prompts(20)]
    asked = run(rows, model, store)
    assert set(model.seen.values()) == {1}
    assert (asked.asked, asked.stored) == (20, 40)
    assert texts(asked, store) == [f"reply {number}/0" for number in range(20)] * 3


def test_equal_prompts_share_a_failure_too_whenever_they_come(store):
    # 2,000 prompts later the first one has long failed: it is still not asked again in this run.
    model = Scripted(lambda id, attempt: trouble(transient=False) if id == "0" else None)
    asked = run([*prompts(2000), *prompts(1), *prompts(1)], model, store)
    assert model.seen["0", 0] == 1
    assert (asked.asked, asked.failed) == (1999, 3)
    assert [r.failure.reason for r in asked.fetch(store, 2000, 2002)] == ["server error 500"] * 2


def test_the_stream_is_never_far_ahead_of_the_replies(store):
    model = Scripted()
    ahead, uncommitted = [], []
    tallies: list[Tally] = []

    def stream():
        for number, row in enumerate(prompts(12_000)):
            ahead.append(number - len(model.order))
            if tallies:
                uncommitted.append(number - tallies[-1].asked)
            yield row

    asked = run(stream(), model, store, progress=tallies.append)
    assert asked.asked == 12_000
    # One chunk being made ready, one ready and the rest of the one before, and what is out.
    assert max(ahead) <= 2 * CHUNK + LOW + 64
    assert max(uncommitted) <= 2 * CHUNK + LOW + 64 + MOST + 64


def test_a_model_that_takes_few_is_not_sent_more(store):
    model = Scripted(seconds=1.0, max_concurrency=3)
    run(prompts(100), model, store)
    assert model.most_out == 3


def test_the_level_climbs_to_the_limit_and_not_over_it(store):
    model = Scripted(seconds=1.0)
    run(prompts(1000), model, store, limits=Limits(concurrency=40))
    assert model.most_out == 40


def test_a_model_that_never_waits_does_not_stop_the_rest(store, monkeypatch):
    monkeypatch.setattr("hardset.ask.engine.BREATH", -1.0)  # it is always time for a breath

    async def check():
        turns, marks = 0, []

        class Busy(Scripted):
            async def reply(self, prompt, item, library):
                marks.append(turns)
                return Reply(text="computed at once")

        async def turning():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        other = asyncio.create_task(turning())
        await ask(prompts(200), Busy(max_concurrency=1), store, Library(store))
        other.cancel()
        assert len(set(marks)) == 200  # the loop turned between any two replies

    asyncio.run(check())


class Watched(Store):
    """Says how many entries are durable, and commits only while the gate is open."""

    def __init__(self, path):
        super().__init__(path)
        self.durable = 0
        self.gate = threading.Event()
        self.gate.set()

    def commit(self, entries):
        self.gate.wait()
        super().commit(entries)
        self.durable += len(entries)


def test_nothing_counts_before_it_is_committed(tmp_path):
    counted = []

    def progress(tally):
        counted.append(tally.asked)
        assert tally.asked <= watched.durable

    with Watched(tmp_path / "s.sqlite") as watched:
        run(prompts(3000), Scripted(seconds=1.0), watched, progress=progress)
    assert counted[-1] == 3000


def test_a_slow_disk_holds_the_asking_back(tmp_path):
    async def check():
        model = Scripted()
        watched.gate.clear()
        asking = asyncio.create_task(ask(prompts(5000), model, watched, Library(watched)))
        quiet, last = 0, -1
        while quiet < 1000:  # turns of the loop in which nothing was asked
            quiet, last = (quiet + 1 if last == len(model.order) > 0 else 0), len(model.order)
            await asyncio.sleep(0)
        assert 0 < len(model.order) <= MOST + 64
        watched.gate.set()
        assert (await asking).asked == 5000

    with Watched(tmp_path / "s.sqlite") as watched:
        asyncio.run(check())


def test_progress_counts_up_to_the_total(store):
    seen = []
    run(
        prompts(200),
        Scripted(seconds=1.0),
        store,
        progress=lambda tally: seen.append((tally.done, tally.total, tally.level)),
        total=200,
    )
    assert seen[0] == (0, 200, 8)
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[-1][:2] == (200, 200)


def test_what_a_stream_raises_ends_the_run_after_a_commit(store):
    model = Scripted()

    def stream():
        yield from prompts(1000)
        raise ValueError("row 1001 of data.json is no item")

    with pytest.raises(ValueError, match="row 1001"):
        run(stream(), model, store)
    again = Scripted()
    asked = run(prompts(1000), again, store)
    assert asked.stored >= len(model.order) - 64  # all but what was out is there
    assert asked.stored + asked.asked == 1000


def test_cancelling_an_ask_commits_what_was_received(store):
    async def check():
        held = asyncio.Event()

        async def hang():
            held.set()
            await asyncio.Event().wait()

        model = Scripted(lambda id, attempt: hang() if int(id) == 100 else None, max_concurrency=1)
        task = asyncio.create_task(ask(prompts(200), model, store, Library(store)))
        await held.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    leap(check())
    assert run(prompts(200), Scripted(), store).stored == 100


def test_no_thread_is_left_behind(store):
    before = threading.active_count()
    run(prompts(100), Scripted(), store)
    assert threading.active_count() <= before


# Images


def digest(where: str) -> str:
    """The content at a place: what stands before an @ is what is there."""
    return sha256(where.partition("@")[0].encode()).hexdigest()


class Shelf:
    """A library of images by name: `good...` are good, `gone...` raise on sight, others are bad."""

    def __init__(self):
        self.examined, self.lock = [], threading.Lock()
        self.at_once = self.most_at_once = 0

    def known(self, image):
        if image.where.startswith("gone"):
            raise BadMedia(f"{image.where} is not there")
        return None if image.where not in self.examined else self.filled(image)

    def examine(self, image):
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if image.where.startswith("odd"):
                raise RuntimeError("the decoder broke")
            if not image.where.startswith("good"):
                raise BadMedia(f"{image.where} ends in the middle")
            with self.lock:
                self.examined.append(image.where)
            return self.filled(image)
        finally:
            with self.lock:
                self.at_once -= 1

    @staticmethod
    def filled(image):
        return Image(where=image.where, sha256=digest(image.where), type="image/png")


def test_the_model_gets_images_filled_in(store):
    model, shelf = Scripted(), Shelf()
    asked = run(pictured("good1", "good2"), model, store, shelf)
    assert asked.asked == 2
    sent = [prompt.messages[0].content[0] for prompt in model.prompts]
    assert {image.sha256 for image in sent} == {digest("good1"), digest("good2")}
    assert [prompt.messages[0].content[1] for prompt in model.prompts] == ["What is it?"] * 2


def test_equal_bytes_at_two_places_are_one_prompt(store):
    model = Scripted()
    asked = run(pictured("good1@here", "good1@there"), model, store, Shelf())
    assert (len(model.order), asked.asked, asked.stored) == (1, 1, 1)


def test_an_image_in_many_prompts_is_looked_into_once(store):
    shelf, image = Shelf(), Image(where="good1")
    rows = [
        (Prompt(messages=(Message("user", (image, str(n))),)), Item(id=str(n), question=str(n)))
        for n in range(500)
    ]
    assert run(rows, Scripted(), store, shelf).asked == 500
    assert shelf.examined == ["good1"]


def test_a_bad_image_is_that_rows_failure_and_is_not_sent(store):
    model = Scripted()
    asked = run(pictured("good1", "torn", "gone1", "odd1", "good2"), model, store, Shelf())
    assert sorted(model.order) == ["good1", "good2"]
    assert (asked.asked, asked.failed, asked.stopped) == (2, 3, None)
    named = [digest("good1"), "", "", "", digest("good2")]
    assert asked.first_images(0, 5) == named
    assert asked.first_images(3, 5) == named[3:]
    replies = list(asked.replies(store))
    assert [r.failure and r.failure.state for r in replies] == [
        None, State.BAD_MEDIA, State.BAD_MEDIA, State.BAD_MEDIA, None,
    ]  # fmt: skip
    assert replies[1].failure.reason == "torn ends in the middle"
    assert replies[2].failure.reason == "gone1 is not there"
    assert replies[3].failure.reason == "image: RuntimeError: the decoder broke"


def test_the_first_bad_image_of_a_prompt_is_its_reason(store):
    images = tuple(Image(where=where) for where in ("good1", "torn", "cut"))
    prompt = Prompt(messages=(Message("user", images),))
    asked = run([(prompt, Item(id="1", question="?"))], Scripted(), store, Shelf())
    assert next(asked.replies(store)).failure.reason == "torn ends in the middle"


def test_a_mended_image_is_asked_by_the_next_run(store):
    class Mended(Shelf):
        def examine(self, image):
            return self.filled(image)

    run(pictured("torn"), Scripted(), store, Shelf())
    asked = run(pictured("torn"), Scripted(), store, Mended())
    assert (asked.asked, asked.failed) == (1, 0)
    assert texts(asked, store) == ["reply torn/0"]


def test_an_image_that_goes_bad_when_it_is_sent_is_bad_media(store):
    def script(id, attempt):
        raise BadMedia("good1 was changed after it was examined")

    asked = run(pictured("good1"), Scripted(script), store, Shelf())
    (reply,) = asked.replies(store)
    assert reply.failure.state is State.BAD_MEDIA


def test_looking_at_images_is_bounded(store, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    shelf = Shelf()
    run(pictured(*[f"good{n}" for n in range(600)]), Scripted(), store, shelf)
    assert 1 <= shelf.most_at_once <= 3


def test_a_prompt_that_cannot_be_written_is_that_rows_failure(store):
    lone = Prompt(messages=(Message("user", ("half a pair: \ud83d",)),))
    odd = Prompt(messages=(Message("user", ("x",)),), tools=({"x": object()},))
    item = Item(id="odd", question="?")
    asked = run([(lone, item), *prompts(1), (odd, item)], Scripted(), store)
    assert (asked.asked, asked.failed) == (1, 2)
    replies = list(asked.replies(store))
    assert "cannot be sent: UnicodeEncodeError" in replies[0].failure.reason
    assert "cannot be sent: TypeError" in replies[2].failure.reason
