"""How things are measured: whole processes, from outside, by the operating system's accounts."""

import contextlib
import json
import os
import re
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Cost:
    """What one finished process took: CPU seconds (user + system) and peak memory in MB."""

    cpu: float
    peak: float
    wall: float


def cost(command, *, cwd=None, status=(0,), quiet=True):
    """Run a command to its end and say what it took; another exit status is an error."""
    import time

    out = subprocess.DEVNULL if quiet else None
    began = time.monotonic()
    child = subprocess.Popen([str(part) for part in command], cwd=cwd, stdout=out, stderr=out)
    _, ended, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(ended)
    if child.returncode not in status:
        raise SystemExit(f"{command} ended with {child.returncode}")
    megabytes = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    return Cost(usage.ru_utime + usage.ru_stime, megabytes, time.monotonic() - began)


@contextlib.contextmanager
def stub(delay=0.0):
    """Start the stub endpoint in a process of its own; yields its address."""
    command = [sys.executable, HERE / "stub.py", "0", "--delay", str(delay)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{child.stdout.readline().strip()}"
    finally:
        child.kill()
        child.wait()


def posts(address):
    """Say how many posts the stub has answered."""
    with urllib.request.urlopen(address + "/count") as answer:
        return json.loads(answer.read())["posts"]


def hardset(*arguments):
    """Make the command that runs hardset with these arguments."""
    return [sys.executable, "-m", "hardset", *arguments]


def questions(path, count, *, image="{:05d}.jpg"):
    """Write `count` questions in MMR's published form, in pairs; returns the path."""
    rows = []
    for number in range(count):
        pair, second = divmod(number, 2)
        kind = "color&texture"
        rows.append(
            {
                "id": f"attribute/{kind}/{pair:05d}",
                "image": image.format(number),
                "question": f"What colour is thing {number} on the table, seen from the door?\n"
                f"A. red, as the label says\nB. green, as the label says\n"
                f"C. blue, since it is day\nD. yellow, since it is day",
                "ground_truth": "ABCD"[number % 4],
                "question_type": "NEG" if second else "POS",
            }
        )
    Path(path).write_text(json.dumps(rows))
    return path


def pictures(folder, count, *, distinct, size=190_000):
    """Write `count` JPEGs of about `size` bytes; `distinct` different ones, the rest hard links."""
    import numpy as np
    from PIL import Image

    folder.mkdir()
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)
    large = np.asarray(Image.fromarray(coarse).resize((960, 640), Image.Resampling.BICUBIC))
    noisy = np.clip(large + rng.normal(0, 12, large.shape), 0, 255).astype(np.uint8)
    quality = 95
    while True:  # the quality that comes nearest from below
        Image.fromarray(noisy).save(folder / "base.jpg", quality=quality)
        if (folder / "base.jpg").stat().st_size <= size:
            break
        quality -= 1
    base = (folder / "base.jpg").read_bytes()
    for number in range(count):
        path = folder / f"{number:05d}.jpg"
        if number < distinct:  # a comment of its own makes it another file of the same picture
            comment = f"{number:08d}".encode().ljust(size - len(base), b".")[:60_000]
            mark = b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big")
            path.write_bytes(base[:2] + mark + comment + base[2:])
        else:
            os.link(folder / f"{number % distinct:05d}.jpg", path)
    return folder


def median(values):
    """The middle value."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def without_times(path):
    """A run folder's `outcomes.parquet`, `metrics.json` and report, less the report's time."""
    report = (path / "report.html").read_text()
    report = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", "TIME", report)
    return (
        (path / "outcomes.parquet").read_bytes(),
        (path / "metrics.json").read_bytes(),
        report,
    )
