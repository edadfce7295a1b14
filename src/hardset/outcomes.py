"""Replies to outcomes, and outcomes to columns: the second walk of a run.

It needs the items and their replies, and no model: what a run asked for is read off here, and
so are replies that were made elsewhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.reading.confidence import stated, token_confidence
from hardset.records import Item, Judged, Outcome, Prompt, Reading, Reply, State

if TYPE_CHECKING:
    import polars as pl

CHUNK = 2048  # replies read off, and rows turned into columns, at a time


def settle(
    benchmark: Benchmark, item: Item, repeat: int, reply: Reply, *, asked_confidence: bool = False
) -> Outcome:
    """Turn one reply, or the failure in its place, into the row's outcome.

    Where a confidence was asked for in words, what states it is taken off before the readers see
    the reply; else the confidence is that of the reply's tokens, where it has any.
    """
    judged: dict[str, Judged] = {}
    reason = ""
    said, text = stated(reply.text) if asked_confidence else (None, reply.text)
    if reply.failure is not None:
        state, reason = reply.failure.state, reply.failure.reason
    elif reply.finish == "content_filter":
        state, reason = State.PROVIDER_REFUSED, "the endpoint's content filter ended the reply"
    elif reply.finish == "length":
        state, reason = State.TRUNCATED, "cut off by the token limit"
    else:
        try:
            judged = benchmark.judge(item, text)
            state = next(iter(judged.values())).reading.state
        except Exception as error:  # a plug-in's reader: the row is unparsed, the run goes on
            judged = {}
            state, reason = State.UNPARSED, f"the reader failed: {type(error).__name__}: {error}"
    if not judged:
        judged = {name: Judged(reading=Reading(state=state)) for name in benchmark.readings}
    headline = next(iter(judged.values())).reading
    if headline.state not in (State.ANSWERED, State.ABSTAINED):
        said = None
    elif not asked_confidence:
        said = token_confidence(reply.tokens, headline)
    return Outcome(
        item=item.id,
        repeat=repeat,
        state=state,
        readings=judged,
        reason=reason,
        text=reply.text,
        finish=reply.finish,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        confidence=said,
    )


def row(index: int, item: Item, outcome: Outcome, picture: str = "") -> dict[str, Any]:
    """Flatten an item and its outcome into one row of `outcomes.parquet`.

    `index` is the item's position; a row is one (index, repeat). The columns are these names,
    then four for each further reading, then one for each tag. `read_off` leaves `confidence` out
    where no row has one.
    """
    (_, first), *others = outcome.readings.items()
    flat: dict[str, Any] = {
        "index": index,
        "item": item.id,
        "repeat": outcome.repeat,
        "state": outcome.state.value,
        "answer": first.reading.answer,
        "rule": first.reading.rule,
        "evidence": first.reading.evidence,
        "right": first.right,
        "reason": outcome.reason,
        "reply": outcome.text,
        "finish": outcome.finish,
        "tokens_in": outcome.tokens_in,
        "tokens_out": outcome.tokens_out,
        "confidence": outcome.confidence,
        "answerable": item.answerable,
        "gold": item.answer,
        "form": item.form,
        "category": item.category,
        "pair": item.pair,
        "role": item.role,
        "parent": item.parent,
        "group": item.group,
        "source": item.source,
        "sha256": picture,
        "question": item.question,
    }
    for name, judged in others:
        flat[f"{name}_state"] = judged.reading.state.value
        flat[f"{name}_answer"] = judged.reading.answer
        flat[f"{name}_rule"] = judged.reading.rule
        flat[f"{name}_right"] = judged.right
    for tag, value in item.tags.items():
        flat.setdefault(tag, value)
    return flat


def read_off(
    benchmark: Benchmark,
    walked: Iterator[tuple[Item, Prompt]],
    repeats: int,
    replies: Callable[[int, int], Sequence[Reply]],
    pictures: Callable[[int, int], Sequence[str]],
    *,
    asked_confidence: bool = False,
    settling: Callable[[Benchmark, Item, int, Reply], Outcome] | None = None,
) -> pl.DataFrame:
    """Read every reply of a walk off: the outcomes as columns, in the order of the walk.

    `walked` yields each item `repeats` times, with its prompts; `replies(start, stop)` returns
    the replies of that stretch of it, and `pictures(start, stop)` the sha256 of each one's first
    image, "" where there is none. `asked_confidence`: see `settle`, which `settling` replaces
    where a reply was made in another way than the benchmark's.
    """
    import polars as pl

    settling = settling or partial(settle, asked_confidence=asked_confidence)
    frames = []
    start = 0
    while chunk := list(itertools.islice(walked, CHUNK)):
        stop = start + len(chunk)
        rows = [
            row(
                position // repeats,
                item,
                settling(benchmark, item, prompt.repeat, reply),
                picture,
            )
            for position, (item, prompt), reply, picture in zip(
                range(start, stop), chunk, replies(start, stop), pictures(start, stop), strict=True
            )
        ]
        names = dict.fromkeys(itertools.chain.from_iterable(rows))
        frames.append(
            pl.DataFrame(
                {name: [line.get(name, _EMPTY.get(name, "")) for line in rows] for name in names},
                schema_overrides={
                    "index": pl.UInt32,
                    "repeat": pl.UInt16,
                    "tokens_in": pl.Int64,
                    "tokens_out": pl.Int64,
                    "confidence": pl.Float64,
                },
            )
        )
        start = stop
    if not frames:
        raise UsageError(f"{benchmark.name} gave no items; check the data and --limit")
    joined = pl.concat(frames, how="diagonal")
    if joined["confidence"].is_null().all():
        joined = joined.drop("confidence")
    missing = [
        name for name in joined.select(pl.col(pl.String)).columns if joined[name].has_nulls()
    ]
    return joined.with_columns(pl.col(missing).fill_null("")) if missing else joined


_EMPTY: dict[str, Any] = {"right": False, "answerable": True}
