"""A judged run that is killed, again and again, ends with the bytes of one that was not.

The judges are a server that outlives every child; it counts, and the store says what was
committed. Only what was on its way when a kill came may be asked again.
"""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
import zlib

from loopback import Loopback

ITEMS = 30
KILLS = 2
JUDGES = ("one", "two", "three")
DUE = ITEMS * len(JUDGES) * 2  # refused and matches-reference, of answerable questions

CHILD = """
import sys
from pathlib import Path

import hardset
from hardset.ask import Limits
from hardset.judging import Judge, Panel
from hardset.models import make_model
from hardset.reading import read_match
from hardset.records import Item, Reply


class Seen(hardset.Benchmark):
    name, title, rubrics = "seen", "Seen", ("refused", "matches-reference")

    def items(self):
        for n in range(int(sys.argv[3])):
            yield Item(id=str(n), question=f"Which number is thing {n}?", answer=str(n))

    def read(self, item, text):
        return {"default": read_match(text, (item.answer,), item.question)}

    @classmethod
    def rates(cls, outcomes):
        return []


class Replies:
    name, options, takes, max_concurrency, free = "local/replies", {}, frozenset(), None, True

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc):
        return None

    async def reply(self, prompt, item, library):
        return Reply(text=f"It is number {int(item.id) // 2 * 2}.")


limits = Limits(concurrency=4)
judges = [Judge(model=make_model(name, base_url=sys.argv[1])) for name in sys.argv[4:]]
settings = hardset.Settings(runs=Path(sys.argv[2]), limits=limits)
run = hardset.evaluate(Seen(), Replies(), settings, judge=Panel(judges=judges))
assert run.unjudged == 0 and run.failed == 0
"""


def verdict(prompt: str) -> str:
    """TRUE or FALSE by the prompt alone, so that whoever asks gets the same."""
    return json.dumps({"verdict": zlib.crc32(prompt.encode()) % 3 > 0})


def start(server, runs):
    command = [sys.executable, "-c", CHILD, server.base_url, str(runs), str(ITEMS), *JUDGES]
    return subprocess.Popen(command)


def votes(runs):
    """How many of the judges' replies are committed, as the next run will find them."""
    store = runs / "store.sqlite"
    if not store.exists():
        return 0
    connection = sqlite3.connect(store)
    try:
        query = "SELECT count(*) FROM replies WHERE model != 'local/replies'"
        return connection.execute(query).fetchone()[0]
    finally:
        connection.close()


def left(runs):
    """What the last run leaves: all of it, but for the times and what they are in."""
    folder = max((runs / "seen").glob("*/*"), key=lambda path: path.stat().st_mtime_ns)
    manifest = json.loads((folder / "manifest.json").read_text())
    return (
        (folder / "outcomes.parquet").read_bytes(),
        (folder / "metrics.json").read_bytes(),
        {name: manifest[name] for name in ("judges", "rubrics", "verdicts", "prompts_sha256")},
    )


def test_a_judged_run_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path):
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    with Loopback(verdict, wait=0.01, keep=False) as server:
        assert start(server, calm).wait() == 0
        assert server.count == DUE

        rng = random.Random()
        most = DUE // (KILLS + 1)  # so that the child never ends before it is killed
        moments = [most, *(rng.randrange(1, most) for _ in range(KILLS - 1))]
        kept = lost = 0
        for moment in moments:
            before = server.count
            child = start(server, killed)
            while child.poll() is None and server.count < before + moment:
                time.sleep(0.002)
            assert child.poll() is None, "the child ended before it could be killed"
            child.send_signal(signal.SIGKILL)
            child.wait()
            time.sleep(0.2)  # what it had sent may still arrive
            now = votes(killed)
            assert kept <= now, f"a committed verdict was lost; moments {moments}"
            lost += server.count - before - (now - kept)
            kept = now
        assert 0 < kept < DUE, f"moments {moments}"
        assert start(server, killed).wait() == 0
        assert server.count == DUE + DUE + lost, f"asked again; moments {moments}"
        assert left(killed) == left(calm)

        before = server.count
        assert start(server, killed).wait() == 0
        assert server.count == before  # and once more: all of it is in the store
        assert left(killed) == left(calm)
