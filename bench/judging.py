"""What judging costs: three judges, two rubrics, on replies that are in hand already.

usage: python bench/judging.py                       (prints the table, writes bench/judging.json)
       python bench/judging.py panel URL ITEMS RUNS             (a part: the path under test)
       python bench/judging.py prompts ITEMS FILE               (a part: what that path asks)
       python bench/judging.py bare URL FILE CONCURRENCY        (a part: the floor)

The path under test begins with items and their replies. It reads them off, writes every judge's
prompts, asks through the durable store, reads the verdicts, brings the panel together, and ends
with its columns in a file. The floor posts the same bodies and keeps the texts. Each ratio is the
median of rounds in which the two take turns, as whole processes.
"""

import asyncio
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import HERE, cost, posts, stub

FEW, MANY = 4188, 41_883  # items
JUDGES = ("one", "two", "three")
RUBRICS = ("refused", "matches-reference")
EACH = len(JUDGES) * len(RUBRICS)  # verdicts an item
AT_ONCE = "32"
ROUNDS = 3
KILLS = 20
RESULT = HERE / "judging.json"


# The parts, each a process of its own


def replied(count):
    """Make a benchmark of so many answerable questions, and the reply to each."""
    import hardset
    from hardset.reading import read_choice
    from hardset.records import Item, Reply

    class Replied(hardset.Benchmark):
        name, title, rubrics = "replied", "Replies in hand", RUBRICS

        def items(self):
            for number in range(count):
                yield Item(
                    id=f"{number:06d}",
                    question=f"What colour is thing {number} on the table, seen from the door?",
                    form="choice",
                    choices=("red, as its label says", "green", "blue, since it is day", "grey"),
                    answer="ABCD"[number % 4],
                )

        def total(self):
            return count

        def read(self, item, text):
            return {"default": read_choice(text, item.choices)}

    def reply(number):
        letter = "ABCD"[number * 7 % 5 % 4]
        text = f"The label of thing {number} is in view, so that the answer is {letter}."
        return Reply(text=text, tokens_in=60, tokens_out=20)

    return Replied(), reply


def outcomes_of(benchmark, reply):
    """Read the replies off, as a run and a score do."""
    from hardset.outcomes import read_off
    from hardset.records import Prompt

    return read_off(
        benchmark,
        ((item, Prompt(messages=())) for item in benchmark.items()),
        1,
        lambda start, stop: [reply(number) for number in range(start, stop)],
        lambda start, stop: [""] * (stop - start),
    )


def panel(url, count, runs):
    """The path under test: from replies in hand to the columns of the panel's verdicts."""
    from hardset import consulting, make_model
    from hardset.ask import Limits, Store
    from hardset.judging import Judge, Panel

    benchmark, reply = replied(count)
    judges = [Judge(model=make_model(name, base_url=url + "/v1")) for name in JUDGES]
    whole = consulting.panel_of(benchmark, Panel(judges=judges))
    outcomes = outcomes_of(benchmark, reply)
    with Store(Path(runs) / "store.sqlite") as store:
        limits = Limits(concurrency=int(AT_ONCE))
        judged, verdicts = consulting.consult(
            benchmark, outcomes, whole, store, limits, announce=lambda estimate: None
        )
    assert verdicts.missing == 0, verdicts.failures
    # In small groups, since it is the panel's memory that is measured, not that of a writer.
    judged.write_parquet(Path(runs) / "outcomes.parquet", row_group_size=8192)


def prompts(count, path):
    """Write what every judge is asked, a text a line."""
    from hardset import consulting, make_model
    from hardset.judging import Facts, Judge, Panel
    from hardset.judging.prompts import prompts_of

    benchmark, reply = replied(count)
    judge = Judge(model=make_model(JUDGES[0], base_url="http://127.0.0.1:1/v1"))
    whole = consulting.panel_of(benchmark, Panel(judges=[judge]))
    facts = Facts(outcomes_of(benchmark, reply), benchmark.items, whole.rubrics)
    wanted = {rubric.name: facts.spoken for rubric in whole.rubrics}
    with open(path, "w") as file:
        for prompt, _ in prompts_of(judge, facts, wanted, dict.fromkeys(wanted, "json")):
            file.write(json.dumps(prompt.messages[0].content[0]) + "\n")


async def bare(url, path, concurrency):
    """The floor: `bare.py`'s loop with a schema, once for each judge."""
    import aiohttp

    from hardset.judging import load

    kind = {"content-type": "application/json"}
    schema = load("refused").schema.encode()
    form = b',"response_format":{"type":"json_schema","json_schema":'
    form += b'{"name":"reply","strict":true,"schema":' + schema + b"}}"
    got = []

    async def worker(session, rows, name):
        for row in rows:
            text = json.dumps(json.loads(row))
            body = b'{"model":"' + name.encode() + b'","messages":[{"role":"user","content":'
            body += text.encode() + b"}]" + form + b',"temperature":0.0,"max_tokens":1024}'
            async with session.post(url + "/v1/chat/completions", data=body, headers=kind) as found:
                reply = json.loads(await found.read())
                got.append(reply["choices"][0]["message"]["content"])

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        for name in JUDGES:
            with path.open() as rows:
                await asyncio.gather(*(worker(session, rows, name) for _ in range(concurrency)))
    print(len(got))


# What is measured


def part(name, *arguments):
    """Make the command that runs a part."""
    return [sys.executable, HERE / "judging.py", name, *arguments]


def paid(work, url):
    """CPU a verdict and the floor's, start-up included and not; peak memory; the store alone."""
    few, many = work / "few.jsonl", work / "many.jsonl"
    cost(part("prompts", FEW, few))
    cost(part("prompts", MANY, many))
    rounds = []
    for turn in range(ROUNDS):
        floor = cost(part("bare", url, few, AT_ONCE))
        rounds.append((floor, cost(part("panel", url, FEW, work / f"few{turn}"))))
    rounds.sort(key=lambda pair: pair[1].cpu / pair[0].cpu)
    floor, ours = rounds[len(rounds) // 2]
    large_floor = cost(part("bare", url, many, AT_ONCE))
    large = cost(part("panel", url, MANY, work / "many"))
    before = posts(url)
    again = cost(part("panel", url, MANY, work / "many"))
    return {
        "ratio": ours.cpu / floor.cpu,
        "ratios": [pair[1].cpu / pair[0].cpu for pair in rounds],
        "ratio_further": (large.cpu - ours.cpu) / (large_floor.cpu - floor.cpu),
        "ms": 1e3 * ours.cpu / (FEW * EACH),
        "ms_bare": 1e3 * floor.cpu / (FEW * EACH),
        "ms_many": 1e3 * large.cpu / (MANY * EACH),
        "ms_many_bare": 1e3 * large_floor.cpu / (MANY * EACH),
        "wall_many": large.wall,
        "peak": ours.peak,
        "peak_many": large.peak,
        "again_wall": again.wall,
        "again_cpu": again.cpu,
        "again_asked": posts(url) - before,
        "load": os.getloadavg()[0],
    }


def killed(work, times=KILLS, count=60):
    """SIGKILL at random moments, then the same command again: what is lost, what is different.

    What was committed when the kill came must not be asked again; what was on its way may be.
    """
    rng = random.Random(4)
    verdicts = count * EACH
    found = dict.fromkeys(("kills", "in_mid_asking", "lost", "asked_again", "different"), 0)
    with stub(delay=0.05) as url:
        command = [str(word) for word in part("panel", url, count)]
        began = time.monotonic()
        cost([*command, work / "calm"])
        whole = time.monotonic() - began
        wanted = (work / "calm" / "outcomes.parquet").read_bytes()
        for number in range(times):
            runs = work / f"kill{number}"
            child = subprocess.Popen(
                [*command, str(runs)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(rng.uniform(0.3 * whole, 0.9 * whole))  # before is start-up
            child.kill()
            child.wait()
            time.sleep(0.1)  # what it had sent may still arrive
            kept = committed(runs / "store.sqlite")
            before = posts(url)
            cost([*command, runs])
            asked = posts(url) - before
            found["kills"] += 1
            found["in_mid_asking"] += 0 < kept < verdicts
            found["asked_again"] += max(0, asked - (verdicts - kept))
            found["lost"] += verdicts - committed(runs / "store.sqlite")
            found["different"] += (runs / "outcomes.parquet").read_bytes() != wanted
            shutil.rmtree(runs)
    return found


def rows(work):
    """Measure everything, write it down, and yield the rows of the README's table."""
    with stub() as url:
        found = paid(work, url)
    found |= killed(work)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    yield (
        "CPU a verdict, from replies in hand to the panel's columns / bare aiohttp loop, start-up "
        f"included ({FEW:,} replies, 3 judges, 2 rubrics)",
        f"{found['ratio']:.2f} ({found['ms']:.3f} / {found['ms_bare']:.3f} ms)",
        "≤ 2.5, aim 1.5",
    )
    yield (
        f"each further verdict, without start-up (to {MANY:,} replies, {MANY * EACH:,} verdicts)",
        f"{found['ratio_further']:.2f}",
        "≤ 2.5, aim 1.5",
    )
    yield (
        f"peak memory, judging {MANY:,} replies / {FEW:,}",
        f"{found['peak_many'] / found['peak']:.2f} ({found['peak_many']:.0f} / "
        f"{found['peak']:.0f} MB)",
        "≤ 1.3",
    )
    yield (
        f"{MANY * EACH:,} stored verdicts to the panel's columns",
        f"{found['again_wall']:.1f} s (CPU {found['again_cpu']:.1f} s), "
        f"{found['again_asked']} asked",
        "seconds, 0 asked",
    )
    yield (
        f"judges: SIGKILL at {found['kills']} random moments ({found['in_mid_asking']} in "
        "mid-asking), resumed: verdicts lost / asked again / runs with a different result",
        f"{found['lost']} / {found['asked_again']} / {found['different']}",
        "0 / 0 / 0",
    )


def committed(store):
    """How many verdicts a store holds, as another process sees it."""
    if not store.exists():
        return 0
    connection = sqlite3.connect(store)
    try:
        return connection.execute("SELECT count(*) FROM replies").fetchone()[0]
    except sqlite3.OperationalError:  # killed before the tables were made
        return 0
    finally:
        connection.close()


def main(given):
    """Run a part, or measure."""
    if given[:1] == ["panel"]:
        panel(given[1], int(given[2]), given[3])
    elif given[:1] == ["prompts"]:
        prompts(int(given[1]), given[2])
    elif given[:1] == ["bare"]:
        import uvloop

        uvloop.run(bare(given[1], Path(given[2]), int(given[3])))
    else:
        work = Path(tempfile.mkdtemp(prefix="hardset-bench-"))
        try:
            print("| what | measured | bound |\n| --- | --- | --- |", flush=True)
            for row in rows(work):
                print("| " + " | ".join(row) + " |", flush=True)
        finally:
            shutil.rmtree(work)


if __name__ == "__main__":
    main(sys.argv[1:])
