"""The conductor: walks a benchmark down the road with a model, and leaves a run folder.

It walks the items twice. The first walk *asks*: when it ends, every reply is in the store.
The second walk *reads*: items in order, replies from the store, outcomes into columns, metrics,
report. So nothing large is held in memory, and resuming, re-reading and scoring replies made
elsewhere are the same second walk.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

import hardset
from hardset import consulting
from hardset.ask import INTERRUPTED, Asked, Limits, Model, Store, Tally, ask
from hardset.ask.key import Identity
from hardset.asking import on_a_loop
from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.images import Library
from hardset.outcomes import read_off
from hardset.reading.confidence import ASK
from hardset.records import Image, Item, Message, Metric, Prompt, Sampling, State
from hardset.reports import folder

if TYPE_CHECKING:
    import polars as pl

    from hardset.judging import Estimate, Panel, Verdicts
    from hardset.reports.runs import RunView


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to walk: how much of the benchmark, how often, and within which limits."""

    repeats: int = 1
    limit: int | None = None  # the first so many items only
    blind: bool = False  # send no image
    sampling: Sampling | None = None  # None: the benchmark's own, for one reply or for several
    confidence: Literal["", "logprobs", "stated"] = ""  # how sure of each answer: asked how?
    price: tuple[float, float] | None = None  # dollars for a million tokens, in and out
    limits: Limits = field(default_factory=Limits)
    runs: Path = Path("runs")
    store: Path | None = None  # None: `runs/store.sqlite`
    judge_limits: Limits | None = None  # for the judges together; None: those of a model
    allow_overlap: bool = False  # whether one family may be evaluated and judge
    families: Mapping[str, str] = field(default_factory=dict)  # of models whose names do not tell

    @property
    def judging(self) -> Limits:
        """The limits of the judges together."""
        return self.judge_limits or self.limits


@dataclass(kw_only=True)
class Run:
    """One walk: what was run, what it gave, and how it ended."""

    benchmark: Benchmark
    model: str
    settings: Settings
    started: datetime
    asked: Asked | None = None
    stopped: str | None = None  # why asking ended early, if it did
    outcomes: pl.DataFrame | None = None  # None: interrupted, nothing was read off
    verdicts: Verdicts | None = None  # the judges', where there are any
    roles: Mapping[str, Any] = field(default_factory=dict)  # for the manifest: who did what
    overlaps: Sequence[str] = ()  # what the reader must know of these before anything else
    metrics: list[Metric] = field(default_factory=list)
    manifest: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    notices: Sequence[str] = ()  # what the reader must know about this run, besides the data's

    @property
    def interrupted(self) -> bool:
        """Whether a person or the system stopped the asking: there is then no report."""
        return self.outcomes is None

    @property
    def rows(self) -> int:
        """How many rows there are: items times repeats."""
        return 0 if self.outcomes is None else len(self.outcomes)

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns of the outcomes."""
        return () if self.outcomes is None else self.outcomes.columns

    def reasons(self) -> list[tuple[str, int]]:
        """Say why rows failed, and how many for each reason, most first."""
        if self.outcomes is None:
            return []
        failed = [state.value for state in State if state.failed]
        lost = self.outcomes.filter(self.outcomes["state"].is_in(failed))
        return lost["reason"].value_counts(sort=True).rows()

    def view(self) -> RunView:
        """Lay the run out for a report.

        Raises:
            ValueError: the run was interrupted, so there is nothing to lay out.
        """
        from hardset.metrics import JUDGE, tally
        from hardset.reports.runs import RunView

        if self.outcomes is None:
            raise ValueError("an interrupted run has no report")
        return RunView(
            model=self.model,
            benchmark=self.benchmark.name,
            title=self.benchmark.title,
            paper=self.benchmark.paper,
            manifest={name: part for name, part in self.manifest.items() if name != "session"},
            metrics=self.metrics,
            states=tally(self.outcomes),
            outcomes=self.outcomes,
            notices=[*self.overlaps, *self.benchmark.notices, *self.notices],
            headline=self.benchmark.headline,
            readings=(
                *self.benchmark.readings,
                *([JUDGE] if f"{JUDGE}_state" in self.columns else []),
            ),
            cuts=self.benchmark.cuts,
        )

    @property
    def title(self) -> str:
        """The model, with the wording of the prompt where one was chosen."""
        wording = self.benchmark.given.get("prompt")
        return f"{self.model}, prompt {wording}" if wording else self.model

    @property
    def failed(self) -> int:
        """How many rows failed."""
        return sum(count for _, count in self.reasons())

    @property
    def unjudged(self) -> int:
        """How many verdicts were due from the judges, if there are any, and are not there."""
        return self.verdicts.missing if self.verdicts else 0

    @property
    def undecided(self) -> int:
        """How many verdicts the panel, if there is one, did not come to."""
        return self.verdicts.undecided if self.verdicts else 0


def walk(benchmark: Benchmark, settings: Settings) -> Iterator[tuple[Item, Prompt]]:
    """Yield every item with every repeat's prompt, in the one fixed order of the run."""
    sampling = _sampling(benchmark, settings)
    items = itertools.islice(benchmark.items(), settings.limit)
    for item in items:
        messages = tuple(benchmark.prompt(item))
        if settings.blind:
            messages = tuple(_without_images(message) for message in messages)
        if settings.confidence == "stated":
            messages = _asking_how_sure(messages)
        for repeat in range(settings.repeats):
            yield item, Prompt(messages=messages, sampling=sampling, repeat=repeat)


def able(model: Model, settings: Settings) -> None:
    """See that a model can give what is asked of it, before anything is paid for.

    Raises:
        UsageError: its provider gives no log-probabilities, and they are asked for.
    """
    if settings.confidence == "logprobs" and not getattr(model, "gives_logprobs", True):
        raise UsageError(
            f"{model.name} gives no log-probabilities: run it with --confidence stated, or without"
        )


def _sampling(benchmark: Benchmark, settings: Settings) -> Sampling:
    """Give the sampling of every prompt: the user's or the benchmark's, with what was asked for."""
    own = benchmark.sampled if settings.repeats > 1 and benchmark.sampled else benchmark.sampling
    sampling = settings.sampling or own
    if settings.confidence == "logprobs":
        return msgspec.structs.replace(sampling, logprobs=True)
    return sampling


def _asking_how_sure(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Ask for a stated confidence, at the end of what the user says last."""
    last = max(i for i, message in enumerate(messages) if message.role == "user")
    *before, text = messages[last].content
    content = (*before, f"{text}\n{ASK}") if isinstance(text, str) else (*before, text, ASK)
    return (*messages[:last], Message("user", content), *messages[last + 1 :])


def _without_images(message: Message) -> Message:
    return Message(
        message.role, tuple(part for part in message.content if not isinstance(part, Image))
    )


def evaluate(
    benchmark: Benchmark,
    model: Model,
    settings: Settings | None = None,
    *,
    judge: Panel | Model | None = None,
    progress: Callable[[Tally], None] | None = None,
    judging: Callable[[Tally], None] | None = None,
    announce: Callable[[Estimate], None] | None = None,
) -> Run:
    """Run a benchmark on a model and write `runs/<benchmark>/<model>/<time>/`.

    What is already in the store is not asked again, so running the same thing twice resumes it.

    Args:
        benchmark: what is asked.
        model: who is asked.
        settings: how much, how often, within which limits.
        judge: who also judges the replies: a panel, or one model by the benchmark's rubrics.
        progress: is called with how far the asking is, about ten times a second.
        judging: the same, for the verdicts.
        announce: is told what all verdicts will take, before the first is asked for.

    Raises:
        UsageError: the data or the settings are not usable as given, or a judge is of the family
            that is evaluated and `settings.allow_overlap` is not set.
    """
    settings = settings or Settings()
    able(model, settings)
    panel = consulting.panel_of(benchmark, judge)
    roles, overlaps = consulting.roles_of(
        benchmark, model.name, panel, settings.families, allow=settings.allow_overlap
    )
    run = Run(
        benchmark=benchmark,
        model=model.name,
        settings=settings,
        started=datetime.now(UTC),
        roles=roles,
        overlaps=overlaps,
    )
    with Store(settings.store or settings.runs / "store.sqlite") as store:
        library = Library(store, openers=benchmark.openers, takes=frozenset(model.takes))
        prompts = ((prompt, item) for item, prompt in walk(benchmark, settings))
        total = benchmark.total()
        if total is not None:
            total = min(total, settings.limit or total) * settings.repeats
        asking = partial(
            ask, prompts, model, store, library, settings.limits, progress, total=total
        )
        run.asked = on_a_loop(model, lambda stop: asking(stop=stop))
        run.stopped = run.asked.stopped
        if run.stopped == INTERRUPTED:
            return run
        fetch = partial(run.asked.fetch, store)
        run.outcomes = read_off(
            benchmark,
            walk(benchmark, settings),
            settings.repeats,
            fetch,
            run.asked.first_images,
            asked_confidence=settings.confidence == "stated",
        )
        if panel is not None:
            judged = consulting.consult(
                benchmark, run.outcomes, panel, store, settings.judging, judging, announce
            )
            run.outcomes, run.verdicts = judged
    if run.outcomes is None:
        return run
    run.metrics = measured(run)
    run.notices = [*_of_repeats(benchmark, settings), *consulting.notices(run.verdicts)]
    run.manifest = manifest(run, model)
    run.folder = folder.new_folder(settings.runs, benchmark.name, model.name, run.started)
    folder.write_folder(
        run.folder, run.manifest, run.metrics, run.outcomes, consulting.texts(run.verdicts)
    )
    write_report(run.folder / folder.REPORT, [run])
    return run


def measured(run: Run) -> list[Metric]:
    """Work out what the benchmark declares, what its replies took, how far its judges agree."""
    from hardset.metrics.panel import panel
    from hardset.metrics.usage import usage

    if run.outcomes is None:
        raise ValueError("an interrupted run has nothing to measure")
    took = usage(run.outcomes, run.settings.price, run.benchmark.readings[0])
    return [
        *run.benchmark.measure(run.outcomes),
        *(metric for rates in took for metric in rates.metrics()),
        *(metric for votes in panel(run.outcomes) for metric in votes.metrics()),
    ]


def _of_repeats(benchmark: Benchmark, settings: Settings) -> list[str]:
    """Say what repeats without sampling are good for."""
    if settings.repeats == 1 or _sampling(benchmark, settings).temperature != 0:
        return []
    return [
        f"The {settings.repeats} repeats were asked for at temperature 0: what differs between "
        "them is only what the endpoint itself leaves to chance."
    ]


def manifest(run: Run, model: Identity) -> dict[str, Any]:
    """Say what was run, and no secret; `started` and `session` alone change when it is resumed."""
    asked, benchmark, settings = run.asked, run.benchmark, run.settings
    messages = next((prompt.messages for _, prompt in walk(benchmark, settings)), ())
    first = [
        # An image given as a data: URL is bytes, and bytes have no place in a log.
        {"role": turn.role, "content": [_named(part) for part in turn.content]}
        for turn in messages
    ]
    return {
        "hardset": hardset.__version__,
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "paper": benchmark.paper,
        "revision": benchmark.revision,
        "options": {key: str(value) for key, value in benchmark.given.items()},
        "model": model.name,
        "model_options": dict(model.options),
        "sampling": msgspec.structs.asdict(_sampling(benchmark, settings)),
        "repeats": settings.repeats,
        "limit": settings.limit,
        "blind": settings.blind,
        "confidence": settings.confidence,
        **({"price": list(settings.price)} if settings.price else {}),
        "first_prompt": first,
        "prompts_sha256": hashlib.sha256(asked.keys).hexdigest() if asked else "",
        "notices": list(benchmark.notices),
        "roles": run.roles,
        **({"overlaps": list(run.overlaps)} if run.overlaps else {}),
        **consulting.manifest(run.verdicts),
        "started": run.started.isoformat(timespec="seconds"),
        "stopped": run.stopped,
        "rows": run.rows,
        "session": {  # what this time took: all that resuming changes
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "asked": asked.asked if asked else 0,
            "from_store": asked.stored if asked else 0,
            "failed": asked.failed if asked else 0,
            "tokens_in": asked.tokens_in if asked else 0,
            "tokens_out": asked.tokens_out if asked else 0,
            "asking_seconds": round(asked.seconds, 3) if asked else 0.0,
        },
        "host": {
            "python": platform.python_version(),
            "system": platform.platform(),
            "cpus": os.cpu_count(),
            **{name: version(name) for name in ("aiohttp", "numpy", "pillow", "polars")},
        },
    }


def _named(part: str | Image) -> str | dict[str, str]:
    if isinstance(part, str):
        return part
    return {"image": "data:…" if part.where.startswith("data:") else part.where}


def write_report(path: Path, runs: Sequence[Run]) -> None:
    """Write one self-contained page over runs of one benchmark, with a sample of their items.

    Raises:
        UsageError: the page cannot be written there.
    """
    from hardset.reports import html
    from hardset.reports.runs import Shown
    from hardset.reports.sample import choose

    views = [run.view() for run in runs]
    wanted = set(choose([view.outcomes for view in views]))
    benchmark, settings = runs[0].benchmark, runs[0].settings
    library = Library(openers=benchmark.openers)
    sample = []
    for index, item in enumerate(itertools.islice(benchmark.items(), settings.limit)):
        if index in wanted:
            small = library.thumbnail(item.images[0]) if item.images else None
            sample.append(Shown(index=index, item=item, thumbnail=small))
            if len(sample) == len(wanted):
                break
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        html.write_report(path, views, sample)
    except OSError as error:
        raise UsageError(f"the report {path} cannot be written: {error}") from error
