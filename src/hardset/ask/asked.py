"""What an ask is told and what it tells: its limits, how far it is, and what it ended with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from hardset.ask.budget import Budget
from hardset.ask.key import KEY_BYTES
from hardset.ask.store import Store
from hardset.errors import UsageError
from hardset.records import Failure, Reply, State

INTERRUPTED = "interrupted"
NO_KEY = bytes(KEY_BYTES)  # a prompt that was not looked at closely enough to have one


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How hard a run may ask. Times are in seconds."""

    concurrency: int = 64  # requests out at once, at most: the level is found below it
    retries: int = 5  # further attempts after a transient failure
    timeout: float | None = 300.0  # for one attempt; None leaves it to the model
    grace: float = 2.0  # for what is in flight when the run is told to stop
    pause: float = 120.0  # the longest wait an endpoint may ask for
    budget: Budget | None = None

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise UsageError(f"concurrency takes 1 or more requests, not {self.concurrency}")
        if self.retries < 0:
            raise UsageError(f"retries takes 0 or more, not {self.retries}")
        if self.timeout is not None and not self.timeout > 0:  # NaN is not above 0 either
            raise UsageError(f"timeout takes more than 0 seconds, not {self.timeout:g}")


@dataclass(kw_only=True)
class Tally:
    """How far a run is. Counts are of prompts; `asked` and `failed` are committed already."""

    total: int | None = None
    walked: int = 0  # prompts taken from the iterable so far
    stored: int = 0  # replies found in the store, or shared with an equal prompt of this run
    asked: int = 0  # replies received now
    failed: int = 0  # bad media, or no reply after the last attempt
    tokens_in: int = 0
    tokens_out: int = 0
    spent: float = 0.0  # of the budget, in its unit
    rate: float = 0.0  # replies and failures a second, lately
    seconds: float = 0.0
    level: int = 0  # requests that may be out at once
    in_flight: int = 0
    waits: float = 0.0  # seconds the endpoint still wants to be left alone for

    @property
    def done(self) -> int:
        """Prompts that have a reply or a failure."""
        return self.stored + self.asked + self.failed


@dataclass(kw_only=True)
class Asked(Tally):
    """What a run of `ask` ended with, and the way to every prompt's reply.

    `keys` holds 32 bytes a prompt, in the order of the prompts, and `pictures` the SHA-256 of
    each prompt's first image (zeros where there is none, or none that can be sent). A run that
    was interrupted did not walk all prompts; every other one did.
    """

    keys: bytearray = field(default_factory=bytearray, repr=False)  # a repr would be megabytes
    pictures: bytearray = field(default_factory=bytearray, repr=False)
    stopped: str | None = None  # why it ended before all was asked
    began: float = 0.0  # seconds since the epoch

    @property
    def unasked(self) -> int:
        """Prompts walked that have neither reply nor failure, because the run was stopped."""
        return self.walked - self.done

    def fetch(self, store: Store, start: int, stop: int) -> list[Reply]:
        """Read the replies of prompts `start` to `stop` (not included), in order.

        A prompt without reply gets one that holds its failure. Where the run was stopped, that
        is also true of prompts that were never walked.

        Raises:
            IndexError: the run walked all prompts, and they are fewer than `stop`.
        """
        if stop > self.walked and self.stopped is None:
            raise IndexError(f"prompt {stop - 1} of {self.walked}")
        part = self.keys[start * KEY_BYTES : stop * KEY_BYTES]
        keys = [bytes(part[at : at + KEY_BYTES]) for at in range(0, len(part), KEY_BYTES)]
        wanted = list({key for key in keys if key != NO_KEY})
        replies = store.replies(wanted)
        lost = [key for key in wanted if key not in replies]
        replies |= store.failures(lost, since=self.began)
        none = self._none()
        return [replies.get(key, none) for key in keys] + [none] * (stop - start - len(keys))

    def first_images(self, start: int, stop: int) -> list[str]:
        """Name the content of the first image of prompts `start` to `stop`; "" for none."""
        part = self.pictures[start * KEY_BYTES : stop * KEY_BYTES]
        found = [
            bytes(part[at : at + KEY_BYTES]).hex() if any(part[at : at + KEY_BYTES]) else ""
            for at in range(0, len(part), KEY_BYTES)
        ]
        return found + [""] * (stop - start - len(found))

    def replies(self, store: Store, chunk: int = 500) -> Iterator[Reply]:
        """Read every reply in the order of the prompts, in bounded memory.

        Where the run was stopped there is no last one: the prompts that were never walked have
        their failure too, however many they are.
        """
        for start in count(0, chunk):
            stop = start + chunk
            if self.stopped is None:
                stop = min(stop, self.walked)
            if start >= stop:
                return
            yield from self.fetch(store, start, stop)

    def _none(self) -> Reply:
        reason = (
            "the reply is no longer in the store; run it again"
            if self.stopped is None
            else f"not asked: {self.stopped}"
        )
        return Reply(attempts=0, failure=Failure(state=State.REQUEST_FAILED, reason=reason))
