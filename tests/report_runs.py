"""Made-up finished runs for the report's tests: hundreds of outcomes of every kind, seeded."""

from __future__ import annotations

import io
import random

import polars as pl
from PIL import Image as Picture

from hardset.metrics import accuracy, estimate, misleading_rate, pair_up, robustness_accuracy, tally
from hardset.records import Item
from hardset.reports.runs import RunView, Shown
from hardset.reports.sample import choose

HOSTILE = (
    '<script>window.pwned=1</script><img src=x onerror="window.pwned=2"> & \'quoted\' "too" '
    "]]> --> </textarea></style></title>{{ 7*7 }} \x00\x1b[31m \u202eevil\u202c"
)
CATEGORIES = {
    "character": "character",
    "existence": "attribute",
    "color&texture": "attribute",
    "number": "attribute",
    "expert": "context",
    "activity": "context",
}
THINGS = ["a red bus", "two dogs", "a street sign", "an open book", "a wooden chair", "a kite"]


def items(pairs: int = 100, seed: int = 0) -> list[Item]:
    """Pairs of four-option questions, one in ten unanswerable."""
    rng, made = random.Random(seed), []
    for i in range(pairs):
        category = list(CATEGORIES)[i % len(CATEGORIES)]
        for role in ("POS", "NEG"):
            thing = rng.choice(THINGS)
            ask = "Is there" if role == "POS" else "Isn't it obvious that there is no sign of"
            options = [f"Yes, {thing} is plainly in view", "No, the scene is empty"]
            options += ["Yes, because of the long shadow", "It stands behind the wall"]
            rng.shuffle(options)
            made.append(
                Item(
                    id=f"{CATEGORIES[category]}/{category}/{i:02d}-{role}",
                    question=f"{ask} {thing} in this picture?",
                    form="choice",
                    choices=tuple(options),
                    answer="" if i % 10 == 9 else rng.choice("ABCD"),
                    answerable=i % 10 != 9,
                    category=category,
                    tags={"level": CATEGORIES[category]},
                    pair=f"{i:03d}",
                    role=role,
                )
            )
    return made


def outcomes(all_items: list[Item], skill: float, seed: int, repeats: int = 1) -> pl.DataFrame:
    """Outcome rows with the columns the road makes; the tenth reply of each kind is odd."""
    rng, rows = random.Random(seed), []
    for index, item in enumerate(all_items):
        for repeat in range(repeats):
            row = _outcome(item, rng, skill)
            rows.append({"index": index, "item": item.id, "repeat": repeat, **row})
    return pl.DataFrame(rows, schema_overrides={"index": pl.UInt32}, infer_schema_length=None)


def _outcome(item: Item, rng: random.Random, skill: float) -> dict[str, object]:
    chance = rng.random()
    letter = item.answer if rng.random() < skill and item.answer else rng.choice("ABCD")
    state, reply, reason, rule = "answered", f"The answer is ({letter}).", "", "the answer is"
    if chance < 0.06:
        state, letter, rule = "abstained", "", "cannot be determined"
        reply = "It cannot be determined from this image; nothing in it shows what is asked."
    elif chance < 0.08:
        state, letter, reply, rule = "truncated", "", "Let me look at the picture. First, ", ""
    elif chance < 0.11:
        state, letter, reply, rule = "unparsed", "", "Both A and C could be meant here.", ""
    elif chance < 0.12:
        state, letter, reply, rule = "request-failed", "", "", ""
        reason = "HTTP 503 from the endpoint, after 5 attempts: upstream connect error"
    elif chance < 0.13:
        state, letter, reply, rule = "provider-refused", "", "", ""
        reason = "the provider's content filter stopped the reply"
    elif chance < 0.3:
        steps = " ".join(f"Step {i}: I look at part {i} of the image." for i in range(1, 25))
        reply = f"{steps}\n\nSo the answer is ({letter})."
    right = letter == item.answer if item.answerable else state == "abstained"
    paper = "A" if reply.startswith(("A", "Both A")) else letter
    return {
        "state": state,
        "answer": letter,
        "rule": rule,
        "evidence": f"answer is ({letter})" if letter else "",
        "right": right,
        "paper_state": "answered" if state == "unparsed" else state,
        "paper_answer": paper,
        "paper_rule": "first letter" if paper else "",
        "paper_right": paper == item.answer and item.answerable and rng.random() < 0.9,
        "reason": reason,
        "reply": reply,
        "finish": "length" if state == "truncated" else "stop",
        "answerable": item.answerable,
        "gold": item.answer,
        "form": item.form,
        "category": item.category,
        "level": item.tags["level"],
        "pair": item.pair,
        "role": item.role,
        "question": item.question,
    }


def run(all_items: list[Item], model: str, skill: float, seed: int, **more) -> RunView:
    """A run with RA, MR and accuracy in two readings, by level and category."""
    frame = more.pop("outcomes", None)
    if frame is None:
        frame = outcomes(all_items, skill, seed, more.pop("repeats", 1))
    by = [(), ("level",), ("category",)]
    metrics = []
    for reading, prefix in (("default", ""), ("paper", "paper_")):
        column = f"{prefix}right"
        pairs = pair_up(
            frame, first="POS", second="NEG", columns=[column], keep=["level", "category"]
        )
        ratios = [robustness_accuracy(column), misleading_rate(column)]
        metrics += estimate(
            pairs.sound, ratios, cluster="pair", by=by, reading=reading, draws=2_000
        )
        metrics += estimate(
            frame, [accuracy(prefix[:-1])], cluster="pair", by=by, reading=reading, draws=2_000
        )
    about = {
        "model": model,
        "benchmark": "made-up",
        "title": "Made-up pairs for looking at reports",
        "paper": "https://example.org/paper",
        "manifest": {"started": "2026-08-14T09:30:00+00:00", "hardset": "0.1.0", "model": model},
        "metrics": metrics,
        "states": tally(frame),
        "outcomes": frame,
        "notices": ["The pair attribute/number/04 has two positive members and is left out."],
        "headline": ["RA", "MR", "accuracy"],
        "readings": ["default", "paper"],
        "cuts": ["category", "level"],
    }
    return RunView(**{**about, **more})


def picture(seed: int) -> bytes:
    """A small image of coloured fields."""
    rng = random.Random(seed)
    image = Picture.new("RGB", (160, 120), tuple(rng.randrange(256) for _ in range(3)))
    for _ in range(5):
        x, y, side = rng.randrange(120), rng.randrange(90), rng.randrange(10, 50)
        image.paste(tuple(rng.randrange(256) for _ in range(3)), (x, y, x + side, y + side))
    held = io.BytesIO()
    image.save(held, "PNG")
    return held.getvalue()


def sample(all_items: list[Item], runs: list[RunView], most: int = 60) -> list[Shown]:
    """What a report of these runs shows; every fifth item has no picture."""
    return [
        Shown(
            index=index,
            item=all_items[index],
            thumbnail=None if index % 5 == 4 else picture(index),
            type="image/png",
        )
        for index in choose([run.outcomes for run in runs], most)
    ]
