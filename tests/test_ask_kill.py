"""Killed at random moments: what was committed is never asked again, and nothing is missing.

The child writes every request into a log before it makes the reply, as a stub server would
count them; the parent kills it when the log has reached a random length.
"""

import random
import signal
import subprocess
import sys
import time

from askers import prompts
from hardset.ask import Asked, Store, prompt_key

ITEMS = 600
KILLS = 5

CHILD = """
import asyncio, os, sys
sys.path.insert(0, sys.argv[1])
from askers import prompts
from hardset.ask import Store, ask
from hardset.images import Library
from hardset.records import Reply

log = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND)


class Model:
    name, options, takes, max_concurrency = "fake/model", {}, frozenset(), 8

    async def reply(self, prompt, item, library):
        os.write(log, f"{item.id}\\n".encode())
        await asyncio.sleep(0.02)
        return Reply(text=f"reply {item.id}", tokens_in=3, tokens_out=2)


async def main():
    with Store(sys.argv[2]) as store:
        asked = await ask(prompts(int(sys.argv[4])), Model(), store, Library(store))
    assert asked.done == int(sys.argv[4]) and asked.failed == 0, asked


asyncio.run(main())
"""


class Model:
    name, options, takes = "fake/model", {}, frozenset()


def start(here, folder, name):
    arguments = [str(here), str(folder / f"{name}.sqlite"), str(folder / name), str(ITEMS)]
    return subprocess.Popen([sys.executable, "-c", CHILD, *arguments])


def requests(folder, name):
    path = folder / name
    return path.read_text().split() if path.exists() else []


def committed(folder, name):
    """The ids whose replies are in the store, read as the next run will read them."""
    keys = {prompt_key(Model(), prompt): item.id for prompt, item in prompts(ITEMS)}
    with Store(folder / f"{name}.sqlite") as store:
        return {keys[key] for key in store.held(list(keys))}


def everything(folder, name):
    keys = b"".join(prompt_key(Model(), prompt) for prompt, _ in prompts(ITEMS))
    asked = Asked(keys=bytearray(keys), walked=ITEMS)
    with Store(folder / f"{name}.sqlite") as store:
        return list(asked.replies(store))


def test_a_run_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path, request):
    here = request.path.parent
    assert start(here, tmp_path, "undisturbed").wait() == 0

    rng = random.Random()
    most = ITEMS // (KILLS + 1)  # so that the child never ends before it is killed
    moments = [most, *[rng.randrange(1, most) for _ in range(KILLS - 1)]]
    kept: set[str] = set()
    before = 0  # requests in the log before this round
    lost = 0  # requests whose reply was not committed when the kill came
    for moment in moments:
        child = start(here, tmp_path, "killed")
        while child.poll() is None and len(requests(tmp_path, "killed")) < before + moment:
            time.sleep(0.002)
        assert child.poll() is None, "the child ended before it could be killed"
        child.send_signal(signal.SIGKILL)
        child.wait()
        log = requests(tmp_path, "killed")
        assert not kept & set(log[before:]), f"asked again; moments {moments}"
        now = committed(tmp_path, "killed")
        assert kept <= now, f"a committed reply was lost; moments {moments}"
        lost += len(log) - before - len(now - kept)
        before, kept = len(log), now
    assert start(here, tmp_path, "killed").wait() == 0

    log = requests(tmp_path, "killed")
    assert not kept & set(log[before:]), f"asked again; moments {moments}"
    assert len(kept) > 0, f"nothing was ever committed before a kill; moments {moments}"
    assert everything(tmp_path, "killed") == everything(tmp_path, "undisturbed")
    assert all(reply.failure is None for reply in everything(tmp_path, "killed"))
    assert len(log) == ITEMS + lost
