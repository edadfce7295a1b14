"""Scoring replies made elsewhere: the run's second walk, with replies out of files.

    run = hardset.score(hardset.make_benchmark("mmr", data=..., blind=True), "answers.jsonl")

The tables, the run folder and the report are those of a run; the manifest says where the replies
are from and how they were matched. No model is called, unless a judge is asked for.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hardset import consulting
from hardset.ask import Limits, Model, Store, Tally
from hardset.benchmarks import registry
from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.images import BadMedia, Library
from hardset.outcomes import read_off, settle
from hardset.records import Image, Item, Judged, Outcome, Prompt, Reply, State
from hardset.replies.formats import Recognised, recognise
from hardset.replies.found import Found
from hardset.replies.matching import Matched, match
from hardset.replies.orders import Order
from hardset.reports import folder
from hardset.run import Run, Settings, manifest, measured, write_report

if TYPE_CHECKING:
    from hardset.judging import Estimate, Panel

_ASKING = ("sampling", "blind", "first_prompt", "prompts_sha256", "model_options", "confidence")
"""What a run's manifest says of the asking, and nobody here knows."""
MADE = 2_000  # items with pictures to be drawn, beyond which they are not drawn to be hashed


@dataclass(kw_only=True)
class Scored(Run):
    """A run whose replies were made elsewhere: where they are from, and whose they are."""

    files: Sequence[Recognised] = ()
    matched: Matched = field(default_factory=lambda: Matched(replies=[], repeats=1))


def make_benchmark(name: str, **given: Any) -> Benchmark:
    """Make a benchmark to score with: without its pictures, if none are given.

    A benchmark that would insist on pictures has an option `blind` to do without. What was sent
    elsewhere is not told by that, so that it is not among the options that are written down.

    Raises:
        UsageError: as `registry.make`.
    """
    unseen = "blind" in registry.options(name) and not any(
        value is not None for option, value in given.items() if option.startswith("images")
    )
    if not unseen or "blind" in given:
        return registry.make(name, **given)
    benchmark = registry.make(name, **given, blind=True)
    benchmark.given = {key: value for key, value in benchmark.given.items() if key != "blind"}
    return benchmark


def score(
    benchmark: Benchmark,
    replies: Path | str | Sequence[Path | str],
    *,
    model: str = "",
    format: str = "",
    repeats: int | None = None,
    limit: int | None = None,
    runs: Path = Path("runs"),
    judge: Panel | Model | None = None,
    store: Path | None = None,
    judge_limits: Limits | None = None,
    allow_overlap: bool = False,
    families: Mapping[str, str] | None = None,
    judging: Callable[[Tally], None] | None = None,
    announce: Callable[[Estimate], None] | None = None,
) -> Scored:
    """Score replies made elsewhere and write `runs/<benchmark>/<model>/<time>/`.

    Args:
        benchmark: whose questions were asked.
        replies: the files that hold them.
        model: who replied; where not given, as the files say, or else the first file's name.
        format: of the files (`hardset.replies.formats`); where not given, by their content.
        repeats: how often each item was asked, where the files do not number the repeats.
        limit: score the first so many items only.
        runs: where run folders go.
        judge: who judges the replies: a panel, or one model by the benchmark's rubrics.
        store: keeps the verdicts; None: `runs/store.sqlite`.
        judge_limits: of the judges together.
        allow_overlap: whether one family may have replied and judge.
        families: of models whose names do not tell them.
        judging: is called with how far that is.
        announce: is told what all verdicts will take, before the first is asked for.

    Returns:
        The run. Items without a reply are in it, in the state request-failed.

    Raises:
        UsageError: a file is in no known format, nothing in it matches, or replies are doubled.
    """
    paths = [Path(replies)] if isinstance(replies, str | Path) else [Path(one) for one in replies]
    if not paths:
        raise UsageError("name a file of replies")
    files = [recognise(path, format) for path in paths]
    found = [one for file in files for one in file.read()]
    called = _called(paths)
    matched = match(benchmark.items(), found, files=called, limit=limit, repeats=repeats)
    named = model or _model(found)
    name = named or files[0].source.path.stem
    settings = Settings(
        repeats=matched.repeats,
        limit=limit,
        runs=runs,
        judge_limits=judge_limits,
        allow_overlap=allow_overlap,
        families=families or {},
    )
    panel = consulting.panel_of(benchmark, judge)
    roles, overlaps = consulting.roles_of(
        benchmark, name, panel, settings.families, allow=allow_overlap
    )
    if panel is not None and not named:
        overlaps = [_nobody_knows_whose(name), *overlaps]
    run = Scored(
        benchmark=benchmark,
        model=name,
        settings=settings,
        started=datetime.now(UTC),
        roles=roles,
        overlaps=overlaps,
        files=files,
        matched=matched,
    )
    run.notices = [
        f"Replies made elsewhere: {matching(run)}.",
        *(f"{one}." for one in troubles(run)),
    ]
    walk = _Walk(benchmark, run.settings)
    run.outcomes = read_off(
        benchmark,
        iter(walk),
        matched.repeats,
        lambda start, stop: matched.replies[start:stop],
        walk.pictures,
        settling=_Settling(matched),
    )
    if panel is not None:
        with Store(store or runs / "store.sqlite") as kept:
            run.outcomes, run.verdicts = consulting.consult(
                benchmark, run.outcomes, panel, kept, settings.judging, judging, announce
            )
        if run.outcomes is None:
            return run
        run.notices = [*run.notices, *consulting.notices(run.verdicts)]
    run.metrics = measured(run)
    run.manifest = _manifest(run)
    run.folder = folder.new_folder(runs, benchmark.name, run.model, run.started)
    folder.write_folder(
        run.folder, run.manifest, run.metrics, run.outcomes, consulting.texts(run.verdicts)
    )
    write_report(run.folder / folder.REPORT, [run])
    return run


def matching(run: Scored) -> str:
    """Say how many replies were matched, and in which ways."""
    matched = run.matched
    called = _called([file.source.path for file in run.files])
    said = [f"{count:,} {way}" for way, count in matched.by.items()]
    if matched.in_turn:
        said.append(f"the {matched.repeats} repeats in their order")
    if matched.beyond:
        said.append(f"{matched.beyond:,} to items behind the limit, not counted")
    return f"{_replies(matched.found)} in {called}, matched {'; '.join(said)}"


def troubles(run: Scored) -> list[str]:
    """Say each in one sentence what is missing, unknown or at odds."""
    matched = run.matched
    other, options = matched.contradicted, matched.other_options
    found = [
        (
            matched.missing,
            f"{len(matched.missing):,} of {len(matched.replies):,} rows without a reply, counted "
            "as failed",
        ),
        (other, f"{_replies(len(other))} to another question than the item's, counted as failed"),
        (options, f"{_replies(len(options))} to other options than the item's, counted as failed"),
        (
            matched.unknown,
            f"{len(matched.unknown):,} of {_replies(matched.found)} to no item, not counted",
        ),
    ]
    said = [f"{what}: {_listed(names)}" for names, what in found if names]
    if matched.orders:
        said.append(
            f"{_replies(len(matched.orders))} to the options in another order: letters are read "
            "in that order, and given in the benchmark's"
        )
    return said


def _replies(count: int) -> str:
    return f"{count:,} reply" if count == 1 else f"{count:,} replies"


class _Settling:
    """Settles replies as a run does, with what the files say of how they were made."""

    def __init__(self, matched: Matched) -> None:
        self._matched = matched

    def __call__(self, benchmark: Benchmark, item: Item, repeat: int, reply: Reply) -> Outcome:
        """Turn the reply into the row's outcome."""
        key = item.id, repeat
        order = self._matched.orders.get(key)
        if order is None:
            outcome = settle(benchmark, item, repeat, reply)
        else:
            outcome = _settle_as_shown(benchmark, item, repeat, reply, order)
        sure = self._matched.confidence.get(key)
        if sure is None or outcome.state not in (State.ANSWERED, State.ABSTAINED):
            return outcome
        return msgspec.structs.replace(outcome, confidence=sure)


def _settle_as_shown(
    benchmark: Benchmark, item: Item, repeat: int, reply: Reply, order: Order
) -> Outcome:
    """Read a reply in the order in which its options were shown; give letters in the item's own."""
    letters = {chr(65 + ours): chr(65 + shown) for shown, ours in enumerate(order)}
    as_shown = msgspec.structs.replace(
        item,
        choices=tuple(item.choices[ours] for ours in order),
        answer=letters.get(item.answer, item.answer),
        accept=tuple(letters.get(text, text) for text in item.accept),
    )
    outcome = settle(benchmark, as_shown, repeat, reply)
    back = {shown: ours for ours, shown in letters.items()}
    readings = {name: _renamed(judged, back) for name, judged in outcome.readings.items()}
    return msgspec.structs.replace(outcome, readings=readings)


def _renamed(judged: Judged, letters: Mapping[str, str]) -> Judged:
    reading = judged.reading
    if reading.answer not in letters:
        return judged
    renamed = msgspec.structs.replace(
        reading,
        answer=letters[reading.answer],
        rule=f"{reading.rule} (options in another order)",
    )
    return msgspec.structs.replace(judged, reading=renamed)


class _Walk:
    """Walks every item with every repeat, and hashes their first pictures, as a run does.

    Pictures that a benchmark makes are hashed if its items are few: many are not made for this.
    The prompts are empty: what was sent elsewhere is not known.
    """

    def __init__(self, benchmark: Benchmark, settings: Settings) -> None:
        self._benchmark, self._settings = benchmark, settings
        self._many = (benchmark.total() or 0) > MADE
        self._library = Library(openers=benchmark.openers)
        self._known: dict[str, str] = {}
        self._walked: deque[str] = deque()

    def __iter__(self) -> Iterator[tuple[Item, Prompt]]:
        for item in islice(self._benchmark.items(), self._settings.limit):
            for repeat in range(self._settings.repeats):
                self._walked.append(self._picture(item))
                yield item, Prompt(messages=(), repeat=repeat)

    def pictures(self, start: int, stop: int) -> list[str]:
        """Give the SHA-256 of the first picture of the next rows that were walked, each once."""
        return [self._walked.popleft() for _ in range(start, stop)]

    def _picture(self, item: Item) -> str:
        where = item.images[0].where if item.images else ""
        if where and where not in self._known:
            made = where.partition(":")[0] in self._benchmark.openers
            skipped = made and self._many
            self._known[where] = "" if skipped else _hashed(self._library, item.images[0])
        return self._known.get(where, "")


def _hashed(library: Library, image: Image) -> str:
    try:
        return hashlib.sha256(library.read(image)).hexdigest()
    except BadMedia:
        return ""


def _model(found: Sequence[Found]) -> str:
    """Give the one model that the files name; "" where they name none."""
    models = Counter(one.model for one in found if one.model)
    if len(models) > 1:
        listed = ", ".join(f"{name} ({count:,})" for name, count in models.most_common(5))
        raise UsageError(
            f"the replies are of {len(models)} models: {listed}. Score them apart, or say with "
            "--model what to call them together"
        )
    return next(iter(models), "")


def _nobody_knows_whose(name: str) -> str:
    return (
        f"no file says who replied: {name!r} is the first file's name, so a judge may have judged "
        "replies of its own family, or its own, unnoticed; say with --model who replied"
    )


class _Elsewhere(NamedTuple):
    """A model that is not here, for the manifest."""

    name: str
    options: Mapping[str, str] = {}
    takes: Sequence[str] = ()


def _manifest(run: Scored) -> dict[str, Any]:
    """Say what a run's manifest says as far as it is known, and where the replies are from."""
    whole = manifest(run, _Elsewhere(run.model))
    kept = {name: part for name, part in whole.items() if name not in (*_ASKING, "session")}
    matched = run.matched
    return kept | {
        "replies": {
            "files": [
                {
                    "name": file.source.name,
                    "sha256": file.source.sha256(),
                    "format": file.format.NAME,
                    "recognised": file.why,
                }
                for file in run.files
            ],
            "found": matched.found,
            "matched": matched.by,
            "missing": len(matched.missing),
            "unknown": len(matched.unknown),
            "another_question": len(matched.contradicted),
            "other_options": len(matched.other_options),
            "options_in_another_order": len(matched.orders),
            "behind_the_limit": matched.beyond,
            "repeats_in_turn": matched.in_turn,
        }
    }


def _called(paths: Sequence[Path]) -> str:
    names = [path.name for path in paths]
    return ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more files"


def _listed(names: Sequence[str], most: int = 5) -> str:
    names = list(dict.fromkeys(names))  # an item may be asked often
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
