"""The records that travel the road, and nothing else.

    rows -> Item -> Prompt -> Reply -> Outcome -> Metric -> Report

Every room speaks in these. They are immutable, typed and serialisable (msgspec), hold no
behaviour beyond small facts about themselves, and never hold image bytes or secrets.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct, field

Form = Literal["choice", "yes_no", "number", "open", "braces"]
"""How an item's reply is to be read: a letter, yes or no, a number, free text, `{braces}`."""


MOST_REPEATS = 65_535
"""Of one item: the column of repeats has 16 bits."""


class State(StrEnum):
    """Where a row ended. Every row ends in exactly one, and every one is counted."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    PROVIDER_REFUSED = "provider-refused"  # a content filter spoke, not the model
    TRUNCATED = "truncated"  # cut off by the token limit: never an answer
    UNPARSED = "unparsed"  # a reply, but no single answer in it
    BAD_MEDIA = "bad-media"  # an image that cannot be sent
    REQUEST_FAILED = "request-failed"

    @property
    def failed(self) -> bool:
        """Whether the row failed, rather than the model: such rows make a run exit with 3."""
        return self in (State.BAD_MEDIA, State.REQUEST_FAILED)


class Image(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where an image's bytes are and, once `images.Library` has looked at them, what they are.

    `where` is a path, a `data:` URL, or `scheme:rest` for a scheme whose opener the benchmark
    declares (`scenes:` images are drawn when they are opened). Bytes are never kept here.
    """

    where: str
    sha256: str = ""
    type: str = ""  # true media type, from the bytes: image/jpeg, image/png, ...
    width: int = 0
    height: int = 0
    size: int = 0  # bytes
    notes: tuple[str, ...] = ()  # "EXIF orientation 6", "animated, 12 frames", ...


class Item(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question about zero or more images, with its truth and where it came from."""

    id: str
    question: str
    images: tuple[Image, ...] = ()
    form: Form = "open"
    choices: tuple[str, ...] = ()  # option texts; option i has the letter chr(65 + i)
    answer: str = ""  # a letter for `choice`, yes/no for `yes_no`; empty where unanswerable
    accept: tuple[str, ...] = ()  # other texts that are as right as `answer`
    answerable: bool = True  # False: the right thing to do is to abstain
    explanation: str = ""
    category: str = ""
    tags: dict[str, str] = field(default_factory=dict)  # further cuts: level, edit, shift, ...
    group: str = ""
    pair: str = ""  # the pair's id; both members share it
    role: str = ""  # the role in the pair: POS/NEG, original/edited
    parent: str = ""  # for a subquestion: the main question's id
    source: str = ""
    licence: str = ""
    altered: str = ""  # how it was made from what it was made from


class Message(Struct, frozen=True):
    """One turn of a conversation: texts and images in the order they are sent."""

    role: Literal["system", "user", "assistant", "tool"]
    content: tuple[str | Image, ...]


class Sampling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the model is to sample. `None` leaves a setting to the provider's default."""

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = 2048
    seed: int | None = None
    logprobs: bool = False  # ask for the log-probability of every token of the reply


class Prompt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Exactly what is sent: the messages, tools, sampling, the reply's form and which repeat."""

    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] = ()
    sampling: Sampling = Sampling()
    repeat: int = 0
    schema: str = ""  # the JSON Schema, as JSON, that the reply must fit; "" for free text


class ToolCall(Struct, frozen=True):
    """A tool the model asked for; `arguments` is the model's text, never evaluated."""

    id: str
    name: str
    arguments: str


class Failure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why there is no reply. `transient` failures are worth asking again."""

    state: State
    reason: str
    transient: bool = False
    retry_after: float | None = None  # seconds, where the server said so
    hopeless: bool = False  # no other request can fare better (a wrong key, no such model)


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came back: text and how it ended, or the failure."""

    text: str = ""
    finish: str = "stop"  # the endpoint's word: stop, length, content_filter, tool_calls
    tool_calls: tuple[ToolCall, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0  # from the first byte sent to the last received, the last attempt
    attempts: int = 1
    sent: tuple[str, ...] = ()  # what was changed in the media before sending, if anything
    tokens: tuple[tuple[str, float], ...] = ()  # text and natural log-probability, if asked for
    failure: Failure | None = None


class Reading(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a reader took from a reply: a state, the answer, and the rule that decided."""

    state: State
    answer: str = ""
    rule: str = ""  # the name of the rule that fired
    evidence: str = ""  # the words it fired on


class Judged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reading held against the truth, under the name of the reading (`default`, `paper`)."""

    reading: Reading
    right: bool = False  # handled right: the right answer, or abstained where that is right


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one item, on one repeat, ended; the first entry of `readings` is the headline's."""

    item: str
    repeat: int = 0
    state: State
    readings: dict[str, Judged] = field(default_factory=dict)
    reason: str = ""  # of a failure
    text: str = ""
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    confidence: float | None = None  # from 0 to 1 in the headline reading; None: not known


class Metric(Struct, frozen=True, kw_only=True):
    """A rate with everything needed to check it: numerator, denominator, interval, method.

    With a `unit` it is a mean of something counted: numerator and denominator make it up all the
    same. `value` is None where the rate is undefined (an empty denominator): never zero.
    """

    name: str
    cut: dict[str, str] = field(default_factory=dict)  # {} is overall; {"level": "context"}
    reading: str = "default"
    numerator: float
    denominator: float
    value: float | None
    low: float | None = None  # 95 % interval
    high: float | None = None
    method: str = ""  # "wilson", "cluster-bootstrap", ...
    clusters: int = 0
    better: Literal["higher", "lower", ""] = "higher"
    about: str = ""  # the definition in words, with its source
    unit: str = ""  # "" for a share of 1; else what it counts: "tokens", "$", or one of the below


COEFFICIENT = "coefficient"
"""The unit of kappas and correlations, which are no shares: numerator = value x denominator."""

GRADE = "grade"
"""The unit of a mean of grades."""
