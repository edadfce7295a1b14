"""What local/scout can do, measured on the road that `hardset run` takes.

Pictures go through as PNG bytes, questions as the benchmark's own prompts, replies through its
own readers. The threshold's seed and the measured seed differ from the training seed and from
each other.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from hardset.benchmarks.declaration import Opener
from hardset.benchmarks.scenes import Scenes, open_scene
from hardset.images import Library
from hardset.metrics.interval import wilson
from hardset.models.local import LocalScout, Scout, load, understand
from hardset.records import Item, Prompt, State

THRESHOLD_SEED = 2_000_003
MEASURED_SEED = 5_000_011

Say = Callable[[str], None]


def choose_threshold(folder: Path, say: Say, n: int = 3000) -> tuple[float, dict[str, Any]]:
    """Choose the confidence below which to refuse.

    It is the one, in hundredths, at which the share of plain questions answered rightly and the
    share of edited questions refused have the greatest mean; the edited ones are HARDBench-like
    questions whose premise is false.
    """
    scout = load(folder)
    bench = Scenes(n=n, seed=THRESHOLD_SEED, kinds="plain,hardbench")
    library = Library(openers=bench.openers)
    plain, edited = [], []
    for item in bench.items():
        confidence, right = _confidence(scout, bench, library, item)
        if item.answerable:
            plain.append((confidence, right))
        else:
            edited.append(confidence)
    sure, true = np.array([c for c, _ in plain]), np.array([r for _, r in plain])
    unsure = np.array(edited)
    steps = np.arange(100) / 100
    kept = np.array([(true & (sure >= t)).mean() for t in steps])
    refused = np.array([(unsure < t).mean() for t in steps])
    best = int(np.argmax(kept + refused))
    facts = {
        "seed": THRESHOLD_SEED,
        "answerable": len(plain),
        "edited": len(edited),
        "answerable right and answered": round(float(kept[best]), 4),
        "edited refused": round(float(refused[best]), 4),
    }
    say(f"threshold {steps[best]:.2f}: {facts}")
    return float(steps[best]), facts


def _confidence(scout: Scout, bench: Scenes, library: Library, item: Item) -> tuple[float, bool]:
    (message,) = bench.prompt(item)
    text = "\n".join(piece for piece in message.content if isinstance(piece, str))
    reply, confidence = scout.answer(scout.look(library.read(item.images[0])), understand(text))
    return confidence, item.answerable and bench.judge(item, reply)["default"].right


def measure(folder: Path, say: Say, n: int = 4000) -> dict[str, Any]:
    """Measure the weights in a folder on scenes of a seed that nothing was chosen by."""
    facts: dict[str, Any] = {"seed": MEASURED_SEED}

    def share(name: str, bench: Scenes, items: Sequence[Item], scout: str = "scout") -> None:
        facts[name] = _share(bench, items, _replies(folder, bench, items, scout))
        say(f"{name}: {facts[name]}")

    plain = Scenes(n=n, seed=MEASURED_SEED, kinds="plain")
    items = list(plain.items())
    facts["questions a second"] = _speed(folder, plain, items[:500])
    replies = _replies(folder, plain, items, "scout")
    facts["plain"] = _share(plain, items, replies)
    facts["plain by kind"] = _by_kind(plain, items, replies)
    for name in ("questions a second", "plain", "plain by kind"):
        say(f"{name}: {facts[name]}")
    others = [*items[1:], items[0]]
    swapped = [replace(a, images=b.images) for a, b in zip(items, others, strict=True)]
    share("plain, another scene's picture", plain, swapped)
    share("plain, no picture", plain, [replace(item, images=()) for item in items])
    share("plain, scout-abstain", plain, items, "scout-abstain")
    for difficulty in ("easy", "hard"):
        other = Scenes(n=n // 4, seed=MEASURED_SEED, kinds="plain", difficulty=difficulty)
        share(f"plain, {difficulty}", other, list(other.items()))
    for kind in ("hardbench", "mmr", "mmooc", "zero"):
        other = Scenes(n=n // 4, seed=MEASURED_SEED, kinds=kind)
        for scout in ("scout", "scout-abstain"):
            share(f"{kind}, {scout}", other, list(other.items()), scout)
    return facts


def _speed(folder: Path, bench: Scenes, items: Sequence[Item]) -> dict[str, int]:
    """Return questions a second: from the PNG's bytes, each seen for the first time, to the reply.

    Every network runs on one thread; drawing the pictures is not counted.
    """
    places = [item.images[0].where.removeprefix("scenes:") for item in items]
    drawn = {place: open_scene(place) for place in places}
    openers = {"scenes": drawn.__getitem__}
    _replies(folder, bench, items[:1], "scout", openers)
    used, begun = time.process_time(), time.perf_counter()
    _replies(folder, bench, items, "scout", openers)
    return {
        "of processor time": round(len(items) / (time.process_time() - used)),
        "as timed": round(len(items) / (time.perf_counter() - begun)),
    }


def _share(bench: Scenes, items: Sequence[Item], replies: Sequence[str]) -> dict[str, Any]:
    """Return how many items were handled rightly, of how many, with a 95 % interval."""
    judged = [bench.judge(*pair)["default"] for pair in zip(items, replies, strict=True)]
    right = sum(each.right for each in judged)
    low, high = wilson(right, len(items))
    found = {
        "right": right,
        "of": len(items),
        "rate": round(right / len(items), 4),
        "interval": [round(low, 4), round(high, 4)],
    }
    refused = sum(each.reading.state is State.ABSTAINED for each in judged)
    return found | ({"refused": refused} if refused else {})


def _by_kind(bench: Scenes, items: Sequence[Item], replies: Sequence[str]) -> dict[str, float]:
    right, total = Counter[str](), Counter[str]()
    for item, text in zip(items, replies, strict=True):
        total[item.category] += 1
        right[item.category] += bench.judge(item, text)["default"].right
    return {kind: round(right[kind] / total[kind], 3) for kind in sorted(total)}


def _replies(
    folder: Path,
    bench: Scenes,
    items: Sequence[Item],
    name: str,
    openers: Mapping[str, Opener] | None = None,
) -> list[str]:
    """Ask a model all items, one after another."""

    async def ask() -> list[str]:
        library = Library(openers=openers or bench.openers)
        async with LocalScout(name, folder) as model:
            found = []
            for item in items:
                reply = await model.reply(Prompt(messages=bench.prompt(item)), item, library)
                assert reply.failure is None, reply.failure
                found.append(reply.text)
            return found

    return asyncio.run(ask())
