"""The pace against simulated endpoints: what level it finds, and when it leaves them alone."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from askers import leap
from hardset.ask.pace import START, Pace


async def drive(pace: Pace, request, requests: int) -> list[int]:
    """Send requests through the gate as the engine does; return the level after each."""
    levels: list[int] = []
    left = iter(range(requests))

    async def work():
        for _ in left:
            crowd = await pace.enter()
            strained, wait = await request(pace)
            pace.leave(crowd, strained=strained, wait=wait)
            levels.append(pace.level)

    await asyncio.gather(*[work() for _ in range(pace.most)])
    return levels


async def steady(pace):
    await asyncio.sleep(1)
    return False, None


def queueing(slots: int):
    free = asyncio.Semaphore(slots)

    async def request(pace):
        async with free:
            await asyncio.sleep(1)
        return False, None

    return request


def limited(most: int, wait: float | None = None):
    async def request(pace):
        over = pace.in_flight > most
        await asyncio.sleep(0.01 if over else 1)
        return over, wait if over else None

    return request


def test_an_endpoint_without_limits_is_asked_as_much_as_allowed():
    async def check():
        levels = await drive(Pace(64), steady, 2000)
        assert levels[0] == START
        assert levels[-1] == 64

    leap(check())


def test_a_server_that_only_queues_is_not_flooded():
    async def check():
        levels = await drive(Pace(64), queueing(4), 2000)
        # 8 out keeps 4 slots busy; doubling brings nothing, is undone, and is tried again later.
        assert max(levels) == 16
        assert levels.count(8) > levels.count(16)

    leap(check())


def test_rate_limits_hold_the_level_near_what_the_endpoint_takes():
    async def check():
        late = (await drive(Pace(64), limited(20), 4000))[1000:]
        # At 20 nothing fails; 21 fails more and more until the level is halved to 10 or so.
        assert 10 <= sum(late) / len(late) <= 32
        assert max(late) <= 40

    leap(check())


def test_a_few_failures_do_not_slow_an_endpoint_down():
    async def check():
        numbers = iter(range(10_000))

        async def one_in_fifty(pace):
            await asyncio.sleep(1)
            return next(numbers) % 50 == 0, None

        assert min(await drive(Pace(64), one_in_fifty, 2000)) == START

    leap(check())


def test_requests_that_were_out_together_halve_the_level_once():
    async def check():
        pace = Pace(64)
        crowds = [await pace.enter() for _ in range(8)]
        for crowd in crowds:
            pace.leave(crowd, strained=True, wait=0.0)
        assert pace.level == 4
        pace.leave(await pace.enter(), strained=True, wait=0.0)
        assert pace.level == 2

    leap(check())


def test_a_wait_that_is_asked_for_pauses_every_request():
    async def check():
        loop = asyncio.get_running_loop()
        pace = Pace(8)
        crowd = await pace.enter()
        begin = loop.time()
        pace.leave(crowd, strained=True, wait=30.0)
        assert 29 < pace.waits <= 30
        await pace.enter()
        assert loop.time() - begin >= 30
        assert pace.waits == 0

    leap(check())


def test_a_pause_has_a_longest():
    async def check():
        loop = asyncio.get_running_loop()
        pace = Pace(8, longest=120.0)
        begin = loop.time()
        pace.leave(await pace.enter(), wait=86_400.0)
        await pace.enter()
        assert 120 <= loop.time() - begin < 150

    leap(check())


def test_a_later_shorter_wait_does_not_end_a_pause():
    async def check():
        loop = asyncio.get_running_loop()
        pace = Pace(8)
        first, second = await pace.enter(), await pace.enter()
        begin = loop.time()
        pace.leave(first, wait=30.0)
        pace.leave(second, wait=1.0)
        await pace.enter()
        assert loop.time() - begin >= 30

    leap(check())


def test_closing_sends_everyone_away_who_waits():
    async def check():
        pace = Pace(1)
        await pace.enter()
        waiting = [asyncio.create_task(pace.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        pace.close()
        assert await asyncio.gather(*waiting) == [None, None, None]
        assert await pace.enter() is None

    leap(check())


def test_a_slot_given_to_someone_who_was_cancelled_is_given_on():
    async def check():
        pace = Pace(1)
        crowd = await pace.enter()
        first, second = (asyncio.create_task(pace.enter()) for _ in range(2))
        await asyncio.sleep(0)
        pace.leave(crowd)  # hands the slot to the first, who is cancelled before it runs
        first.cancel()
        assert await second is not None
        assert pace.in_flight == 1

    leap(check())


@settings(deadline=None)
@given(
    most=st.integers(1, 40),
    faults=st.lists(st.sampled_from(["ok", "strained", "wait"]), min_size=1, max_size=200),
)
def test_never_more_out_than_the_level_and_nobody_is_forgotten(most, faults):
    async def check():
        pace = Pace(most)
        said = iter(faults)

        async def request(pace):
            await asyncio.sleep(1)
            fault = next(said)
            return fault == "strained", 2.0 if fault == "wait" else None

        crowded = []
        enter = pace.enter

        async def watched():
            crowd = await enter()
            crowded.append(pace.in_flight > pace.most)
            return crowd

        pace.enter = watched
        levels = await drive(pace, request, len(faults))
        assert len(levels) == len(faults)
        assert not any(crowded)
        assert all(1 <= level <= most for level in levels)
        assert pace.in_flight == 0

    leap(check())
