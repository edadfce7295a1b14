"""The figures of the README's table: ratios in one run on one machine, measured, not expected.

usage: python bench/all.py [text] [images] [memory] [import] [kill] [metrics] [coverage] [panel]
       [judges] [million]         (all, if none named)

Nothing here is asserted: it prints a markdown table. Each ratio is the median of rounds in which
the two sides take turns, as whole processes, with CPU and peak memory from the system's accounts.
"""

import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import HERE, cost, hardset, median, pictures, posts, questions, stub, without_times

AT_ONCE = "32"
ROUNDS = 3


def ask(data, url, work, *more, at_once=AT_ONCE):
    """The command under test: hardset's own command line, from nothing to the finished report."""
    return hardset(
        "run", "mmr", "--data", data, "-m", "stub", "--base-url", url + "/v1",
        "--concurrency", at_once, "--runs", work, *more,
    )  # fmt: skip


def text(work):
    """1: CPU a reply through a full run over a bare loop making the same posts."""
    few, many = 5000, 20_000
    small, large = questions(work / "few.json", few), questions(work / "many.json", many)
    ratios, slopes, ours = [], [], []
    with stub() as url:
        for turn in range(ROUNDS):
            bare, full = {}, {}
            for count, data in ((few, small), (many, large)):
                loop = [sys.executable, HERE / "bare.py", url + "/v1", data, AT_ONCE]
                bare[count] = cost(loop).cpu
                full[count] = cost(ask(data, url, work / f"text{turn}-{count}", "--blind")).cpu
            ratios.append(full[few] / bare[few])
            slopes.append((full[many] - full[few]) / (bare[many] - bare[few]))
            ours.append(f"{1e3 * full[few] / few:.3f} / {1e3 * bare[few] / few:.3f} ms")
    yield (
        "CPU a text reply, full run to report / bare aiohttp loop, start-up included (5,000)",
        f"{median(ratios):.2f} ({ours[ratios.index(median(ratios))]})",
        "≤ 2.5, aim 1.5",
    )
    yield (
        "each further reply, without start-up (from 5,000 to 20,000)",
        f"{median(slopes):.2f}",
        "≤ 2.5, aim 1.5",
    )


def images(work):
    """2: the same with a distinct 190 KB JPEG each; what the first full check costs beside it."""
    count = 5000
    folder = pictures(work / "images", count, distinct=count)
    data = questions(work / "images.json", count)
    again = questions(work / "again.json", count)
    again.write_text(again.read_text().replace("seen from the door", "seen from the yard"))
    ratios, firsts, ours = [], [], []
    with stub() as url:
        for turn in range(ROUNDS):
            runs = work / f"images{turn}"
            first = cost(ask(data, url, runs, "--images", folder))
            bare = cost([sys.executable, HERE / "bare.py", url + "/v1", again, AT_ONCE, folder])
            full = cost(ask(again, url, runs, "--images", folder))
            ratios.append(full.cpu / bare.cpu)
            firsts.append(1e3 * (first.cpu - full.cpu) / count)
            ours.append(f"{1e3 * full.cpu / count:.2f} / {1e3 * bare.cpu / count:.2f} ms")
    yield (
        "CPU a reply with a known-good 190 KB JPEG / bare loop that reads, base64s, posts (5,000)",
        f"{median(ratios):.2f} ({ours[ratios.index(median(ratios))]})",
        "≤ 1.5, aim 1.2",
    )
    yield (
        "the first full check of such an image (hash, structure, decode), once",
        f"{median(firsts):.1f} ms CPU",
        "beside it",
    )


def memory(work):
    """3 and 4: peak memory at ten times the items; then the stored replies to a report."""
    many, few = 41_883, 4_188
    folder = pictures(work / "memory", many, distinct=500)

    def walk(count, url, runs):
        return cost([sys.executable, HERE / "many.py", folder, count, url, work / runs])

    with stub() as url:
        little = walk(few, url, "few")
        much = walk(many, url, "many")
        again = walk(many, url, "many")
    yield (
        "peak memory, 41,883 image items / 4,188",
        f"{much.peak / little.peak:.2f} ({much.peak:.0f} / {little.peak:.0f} MB)",
        "≤ 1.3, aim 1.1",
    )
    yield (
        "41,883 stored replies to the finished report",
        f"{again.wall:.1f} s (CPU {again.cpu:.1f} s)",
        "≤ 15 s, aim 5 s",
    )


def start(work):
    """5: importing hardset over bare Python; the help beside it."""
    pairs = [
        (
            cost([sys.executable, "-c", "import hardset"]).wall,
            cost([sys.executable, "-c", "pass"]).wall,
            cost(hardset("--help")).wall,
        )
        for _ in range(31)
    ]
    imported, bare, helped = (median(column) for column in zip(*pairs, strict=True))
    yield "`import hardset` / bare Python start", f"{imported / bare:.2f}", "≤ 3, aim 2"
    yield "`hardset --help`", f"{1e3 * helped:.0f} ms (bare Python {1e3 * bare:.0f} ms)", "light"


def kill(work, times=100, count=400):
    """6: SIGKILL at random moments, then the same command again."""
    rng = random.Random(6)
    data = questions(work / "kill.json", count)
    lost = doubled = different = cut = 0
    with stub(delay=0.05) as url:
        began = time.monotonic()
        calm = work / "calm"
        cost(ask(data, url, calm, "--blind", at_once="8"))
        whole = time.monotonic() - began
        wanted = without_times(next(calm.glob("mmr/*/*")))
        for number in range(times):
            runs = work / f"kill{number}"
            command = [str(part) for part in ask(data, url, runs, "--blind", at_once="8")]
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, whole))
            child.kill()
            child.wait()
            kept = committed(runs / "store.sqlite")
            cut += 0 < kept < count
            before = posts(url)
            cost(command)
            asked = posts(url) - before
            doubled += asked > count - kept
            lost += committed(runs / "store.sqlite") < count
            last = max(runs.glob("mmr/*/*"), key=lambda folder: folder.name)
            different += without_times(last) != wanted
            shutil.rmtree(runs)
    yield (
        f"SIGKILL at {times} random moments ({cut} in mid-asking), resumed: "
        "runs with a reply lost / asked again / a different result",
        f"{lost} / {doubled} / {different}",
        "0 / 0 / 0",
    )


def committed(store):
    """How many replies a store holds, as another process sees it."""
    if not store.exists():
        return 0
    with sqlite3.connect(store) as connection:
        try:
            return connection.execute("SELECT count(*) FROM replies").fetchone()[0]
        except sqlite3.OperationalError:  # killed before the tables were made
            return 0


def metrics(_):
    """7: ten metrics in 122 slices over 754,000 outcomes, clustered by item and by image."""
    import metrics_scale

    yield from metrics_scale.rows()


def held(_):
    """8: how often the intervals hold the truth; bench/coverage.py prints the whole table."""
    import coverage

    for one in coverage.simulate():
        share, low, high = one.share
        yield (
            f"the 95 % interval of {one.metric} holds the truth ({one.clusters} clusters, "
            f"{one.sets:,} data sets)",
            f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})",
            "93 to 97 %",
        )


def judged(_):
    """9: the same of a panel's agreement and of corrected rates; bench/panel.py prints it all."""
    import panel

    for one in panel.simulate():
        share, low, high = one.share
        labels = f", {one.labels} labels" if one.labels else ""
        yield (
            f"the 95 % interval of {one.metric} holds the truth ({one.rows:,} rows{labels})",
            f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})",
            "93 % or more",
        )


def judges(work):
    """10: what three judges' verdicts cost, in CPU and memory, and what a kill does to them."""
    import judging

    yield from judging.rows(work)


def million(_):
    """A million examples scored by loss: memory beside that of a hundred thousand, and the pace."""
    import million

    yield from million.rows()


def gradient_norms(_):
    """11: every example's gradient norm over one plain pass; bench/gradients.py has the rest."""
    import gradients

    yield from gradients.rows()


FIGURES = {
    "text": text, "images": images, "memory": memory, "import": start, "kill": kill,
    "metrics": metrics, "coverage": held, "panel": judged, "judges": judges, "million": million,
}  # fmt: skip


def main():
    named = sys.argv[1:] or list(FIGURES)
    print("| what | measured | bound |\n| --- | --- | --- |", flush=True)
    for name in named:
        work = Path(tempfile.mkdtemp(prefix="hardset-bench-"))
        try:
            for row in FIGURES[name](work):
                print("| " + " | ".join(row) + " |", flush=True)
        finally:
            shutil.rmtree(work)


if __name__ == "__main__":
    main()
