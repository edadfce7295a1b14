"""Models in this process for the tests of `ask`, and an event loop whose time is not real."""

import asyncio
import selectors
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from hardset.ask import Store
from hardset.images import Library
from hardset.records import Failure, Image, Item, Message, Prompt, Reply, State


class _Leaping(selectors.DefaultSelector):
    """Where nothing but a timer is due, leaps to it instead of waiting."""

    leapt = 0.0

    def select(self, timeout=None):
        events = super().select(0 if timeout is not None else None)
        if not events and timeout:
            self.leapt += timeout
        return events


class _LeapingLoop(asyncio.SelectorEventLoop):
    def __init__(self):
        self._leaping = _Leaping()
        super().__init__(self._leaping)

    def time(self):
        return super().time() + self._leaping.leapt


def leap(work: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end; every wait for a time is over at once, but lasts as long by the loop."""
    with asyncio.Runner(loop_factory=_LeapingLoop) as runner:
        return runner.run(work)


def quick(store: Store) -> Store:
    """Let commits not wait for the disk: most tests are not about losing power."""
    store._writer.execute("PRAGMA synchronous = OFF")
    return store


def prompts(count: int, *, repeats: int = 1, first: int = 0) -> Iterator[tuple[Prompt, Item]]:
    for number in range(first, first + count):
        for repeat in range(repeats):
            message = Message("user", (f"Question {number}?",))
            item = Item(id=str(number), question=f"Question {number}?")
            yield Prompt(messages=(message,), repeat=repeat), item


def pictured(*places: str) -> list[tuple[Prompt, Item]]:
    return [
        (
            Prompt(messages=(Message("user", (Image(where=where), "What is it?")),)),
            Item(id=where, question="What is it?"),
        )
        for where in places
    ]


def trouble(reason: str = "server error 500", **more: Any) -> Reply:
    more = {"transient": True, **more}
    return Reply(failure=Failure(state=State.REQUEST_FAILED, reason=reason, **more))


class Scripted:
    """Says "reply ID/REPEAT ATTEMPT", unless `script(id, attempt)` says otherwise.

    A script returns a Reply, raises, or returns None for the usual reply. `seen` counts the
    attempts of each (id, repeat); `order` lists them.
    """

    name = "fake/scripted"
    takes = frozenset({"image/png"})

    def __init__(
        self,
        script: Callable[[str, int], Any] = lambda id, attempt: None,
        *,
        seconds: float = 0.0,
        tokens: int = 10,
        max_concurrency: int | None = None,
        options: dict[str, str] | None = None,
    ):
        self.script, self.seconds, self.tokens = script, seconds, tokens
        self.max_concurrency = max_concurrency
        self.options = options or {}
        self.seen: Counter[tuple[str, int]] = Counter()
        self.order: list[str] = []
        self.times: list[float] = []
        self.prompts: list[Prompt] = []
        self.out = self.most_out = 0

    async def reply(self, prompt: Prompt, item: Item, library: Library) -> Reply:
        self.seen[item.id, prompt.repeat] += 1
        self.order.append(item.id)
        self.times.append(asyncio.get_running_loop().time())
        self.prompts.append(prompt)
        self.out += 1
        self.most_out = max(self.most_out, self.out)
        try:
            await asyncio.sleep(self.seconds)
            said = self.script(item.id, self.seen[item.id, prompt.repeat])
            if asyncio.iscoroutine(said):
                said = await said
        finally:
            self.out -= 1
        if said is not None:
            return said
        text = f"reply {item.id}/{prompt.repeat}"
        return Reply(text=text, tokens_in=self.tokens - 1, tokens_out=1)
