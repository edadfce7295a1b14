"""Holding finished runs against each other, paired on items: `hardset compare`.

The module is not called `compare`, so that `hardset.compare` is the function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hardset.benchmarks import registry
from hardset.errors import UsageError
from hardset.reports import folder
from hardset.reports.compared import Compared, Versus, shown_flips
from hardset.reports.settings import differing
from hardset.reports.settings import labels as name_apart

if TYPE_CHECKING:
    import polars as pl

    from hardset.benchmarks.declaration import Benchmark
    from hardset.metrics import Measurable
    from hardset.metrics.difference import Difference
    from hardset.records import Item
    from hardset.reports.runs import RunView


class Finished(NamedTuple):
    """A run as it was left in its folder."""

    folder: Path
    manifest: dict[str, Any]
    outcomes: pl.DataFrame


def compare(
    baseline: str | Path,
    *others: str | Path,
    across_revisions: bool = False,
    reading: str = "",
    draws: int = 10_000,
    seed: int = 0,
) -> Compared:
    """Hold finished runs against a baseline, over the items they have in common.

    Args:
        baseline: the folder of a run, as `evaluate` leaves it, or one that holds a single run.
        others: the folders of at least one other run of the same benchmark.
        across_revisions: compare although the revisions of the data differ; items whose
            question, gold answer or picture is not the same are left out, as always.
        reading: whose right and wrong make an item flip, as `judge`; the headline's if empty.
        draws: resamples of the bootstrap.
        seed: of the bootstrap.

    Returns:
        For each other run the paired differences of every metric, other minus baseline.

    Raises:
        UsageError: not a finished run, other benchmarks, other revisions, or nothing in common.
    """
    from hardset.metrics.difference import adjusted

    runs = [_read(Path(one)) for one in (baseline, *others)]
    if len(runs) < 2:
        raise UsageError("compare needs two runs or more: the baseline, then what to hold to it")
    _see_comparable(runs, across_revisions)
    cls = registry.load(runs[0].manifest["benchmark"])
    labels = name_apart([run.manifest for run in runs], [run.folder.name for run in runs])
    versus = [
        _versus(cls, runs[0], other, labels[0], label, reading, draws, seed)
        for other, label in zip(runs[1:], labels[1:], strict=True)
    ]
    families = adjusted(one.differences for one in versus)
    manifest = runs[0].manifest
    return Compared(
        benchmark=cls.name,
        title=str(manifest.get("title") or cls.title),
        paper=str(manifest.get("paper") or ""),
        labels=labels,
        folders=[str(run.folder) for run in runs],
        manifests=[run.manifest for run in runs],
        versus=[
            replace(one, differences=found) for one, found in zip(versus, families, strict=True)
        ],
        notices=_notices(runs, versus),
    )


def write_comparison(path: Path, compared: Compared) -> None:
    """Write the comparison as one self-contained page.

    The pictures of the items are shown where the benchmark can be made again as the manifests
    say, from the same data.

    Raises:
        UsageError: the page cannot be written there.
    """
    from hardset.reports import comparison

    sample, why_not = _flipped_items(compared)
    if why_not:
        compared = replace(compared, notices=[*compared.notices, why_not])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        comparison.write_comparison(path, compared, sample)
    except OSError as error:
        raise UsageError(f"the report {path} cannot be written: {error}") from error


def write_json(path: Path, compared: Compared) -> None:
    """Write everything of the comparison but the replies, machine-readable.

    Raises:
        UsageError: the file cannot be written there.
    """
    import msgspec

    content = {
        "benchmark": compared.benchmark,
        "notices": compared.notices,
        "runs": [
            {"label": label, "folder": where, "manifest": manifest}
            for label, where, manifest in zip(
                compared.labels, compared.folders, compared.manifests, strict=True
            )
        ],
        "against_the_first": [
            {
                "run": one.second.model,
                "items": one.matched,
                "flips": one.flips,
                "differing": {name: both for name, *both in one.differing},
                "differences": one.differences,
            }
            for one in compared.versus
        ],
    }
    encoded = msgspec.json.format(msgspec.json.encode(content, order="sorted"), indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded + b"\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}") from error


def _read(where: Path) -> Finished:
    """Read a run's folder, or the one that holds a single run somewhere below."""
    where = folder.find_run(where)
    manifest, _, outcomes = folder.read_folder(where)
    return Finished(where, manifest, outcomes)


def _see_comparable(runs: Sequence[Finished], across_revisions: bool) -> None:
    """Refuse runs that cannot be held against each other."""
    first = runs[0]
    seen: set[Path] = set()
    for run in runs:
        if run.folder.resolve() in seen:
            raise UsageError(f"the run {run.folder} is given twice")
        seen.add(run.folder.resolve())
        for name in ("benchmark", "revision"):
            if not isinstance(run.manifest.get(name), str):
                raise UsageError(f"{run.folder / folder.MANIFEST} names no {name}")
        for name, way_out in (
            ("benchmark", "only runs of one benchmark can be compared"),
            ("revision", "--across-revisions compares the items that are the same in both"),
        ):
            if name == "revision" and across_revisions:
                continue
            if run.manifest[name] != first.manifest[name]:
                raise UsageError(
                    f"{first.folder} is of {name} {first.manifest[name]!r}, {run.folder} of "
                    f"{run.manifest[name]!r}: {way_out}"
                )


def _versus(
    cls: type[Benchmark],
    first: Finished,
    second: Finished,
    label: str,
    other_label: str,
    reading: str,
    draws: int,
    seed: int,
) -> Versus:
    """Hold one run against the baseline."""
    from hardset.metrics.items import flips, match

    matched, before, after = match(first.outcomes, second.outcomes)
    if not matched.items:
        raise UsageError(
            f"{first.folder} and {second.folder} have no item in common: "
            f"{first.outcomes['item'].n_unique()} and {second.outcomes['item'].n_unique()} items"
        )
    views = (_view(cls, first, before, label), _view(cls, second, after, other_label))
    for view in views:
        if reading and reading not in view.readings:
            raise UsageError(
                f"{view.model} has no reading {reading!r}; it has {', '.join(view.readings)}"
            )
    return Versus(
        first=views[0],
        second=views[1],
        matched=matched,
        differences=_differences(cls, (first, before), (second, after), draws, seed),
        flips=flips(before, after, "" if reading == cls.readings[0] else reading),
        differing=list(differing(first.manifest, second.manifest)),
    )


def _differences(
    cls: type[Benchmark],
    first: tuple[Finished, pl.DataFrame],
    second: tuple[Finished, pl.DataFrame],
    draws: int,
    seed: int,
) -> list[Difference]:
    """Work out the differences of what the benchmark measures today, in each run's columns."""
    import polars as pl

    try:
        declared = [list(cls.rates(outcomes)) for _, outcomes in (first, second)]
        return differences(declared[0], declared[1], draws, seed)
    except (pl.exceptions.PolarsError, KeyError) as error:
        made = " or ".join(
            f"{run.folder} (written by hardset {run.manifest.get('hardset', 'unknown')})"
            for run, _ in (first, second)
        )
        what = str(error).strip().splitlines()[0]
        raise UsageError(
            f"the outcomes of {made} lack a column that {cls.name} measures now, or hold another "
            f"in its place ({what}); run it again: its replies are in the store"
        ) from error


def differences(
    first: Iterable[Measurable], second: Iterable[Measurable], draws: int = 10_000, seed: int = 0
) -> list[Difference]:
    """Hold what is declared of two runs against each other, part by part.

    What cannot be compared, or is declared of one run alone, is set side by side.
    """
    from hardset.metrics.difference import Comparable, beside
    from hardset.reports.runs import key

    found: list[Difference] = []
    for one, two in _parts(list(first), list(second)):
        if one is not None and two is not None and isinstance(one, Comparable):
            found += one.differences(two, draws, seed)
            continue
        lists = [part.metrics(draws, seed) if part else [] for part in (one, two)]
        before, after = ({key(metric): metric for metric in metrics} for metrics in lists)
        found += [
            beside(before.get(name), after.get(name), "its kind of metric has no paired difference")
            for name in dict.fromkeys([*before, *after])
        ]
    return found


def _parts(
    first: list[Measurable], second: list[Measurable]
) -> Iterator[tuple[Measurable | None, Measurable | None]]:
    """Put the parts of two declarations together: of one kind, reading and most metrics' names."""
    left = list(second)
    for one in first:
        alike = [two for two in left if type(two) is type(one) and two.reading == one.reading]
        best = max(alike, key=lambda two: _shared(one, two), default=None)
        if best is not None and not _shared(one, best):
            best = None
        if best is not None:
            left = [two for two in left if two is not best]
        yield one, best
    for two in left:
        yield None, two


def _shared(one: Measurable, two: Measurable) -> float:
    """Count the names that two parts have in common; parts that name none have one in common."""
    names, others = ({each.name for each in getattr(part, "ratios", ())} for part in (one, two))
    return len(names & others) if names or others else 0.5


def _view(cls: type[Benchmark], run: Finished, outcomes: pl.DataFrame, label: str) -> RunView:
    """Lay a run out for the report, cut down to what is compared."""
    from hardset.metrics import tally
    from hardset.reports.runs import RunView

    return RunView(
        model=label,
        benchmark=cls.name,
        title=cls.title,
        manifest=run.manifest,
        metrics=[],
        states=tally(outcomes),
        outcomes=outcomes,
        headline=cls.headline,
        readings=(*cls.readings, *_judged(cls, outcomes)),
        cuts=[cut for cut in cls.cuts if cut in outcomes.columns],
    )


def _judged(cls: type[Benchmark], outcomes: pl.DataFrame) -> list[str]:
    """Name the readings that are no rule's: a judge's, by their columns."""
    names = [name.removesuffix("_state") for name in outcomes.columns if name.endswith("_state")]
    columns = ("state", "answer", "rule", "right")
    return [
        name
        for name in names
        if name not in cls.readings
        and all(f"{name}_{part}" in outcomes.columns for part in columns)
    ]


def _notices(runs: Sequence[Finished], versus: Sequence[Versus]) -> list[str]:
    """Say once what the reader must know before believing a difference."""
    from hardset.reports import view
    from hardset.reports.compared import left_out

    said: list[str] = []
    for one in versus:
        said += left_out(one)
        said += view.notices([one.first, one.second])
        repeats = [int(each.manifest.get("repeats") or 1) for each in (one.first, one.second)]
        if len(set(repeats)) > 1:
            said.append(
                f"{one.first.model}: {_rows_of_each(repeats[0])}; {one.second.model}: "
                f"{_rows_of_each(repeats[1])}; a rate is over all of a run's own rows"
            )
    revisions = list(dict.fromkeys(str(run.manifest["revision"]) for run in runs))
    if len(revisions) > 1:
        said.append(f"the runs are on different revisions of the data: {'; '.join(revisions)}")
    told = [run.manifest.get(part) for part in ("overlaps", "notices") for run in runs]
    said += [str(one) for notices in told if isinstance(notices, list) for one in notices]
    return list(dict.fromkeys(said))


def _rows_of_each(repeats: int) -> str:
    return f"{repeats} {'row' if repeats == 1 else 'rows'} of each item"


def _flipped_items(compared: Compared) -> tuple[dict[str, tuple[Item, bytes | None]], str]:
    """Gather the flipped items and their pictures, if the benchmark can be made again.

    Returns:
        Items and thumbnails by id; and, where there are none, why.
    """
    from hardset.images import Library

    wanted = {ident for one in compared.versus for ident in shown_flips(one)}
    if not wanted:
        return {}, ""
    manifest = compared.manifests[0]
    found: dict[str, tuple[Item, bytes | None]] = {}
    try:
        made = registry.make(compared.benchmark, **manifest.get("options") or {})
        if made.revision != manifest["revision"]:
            raise UsageError(f"the data are of another revision now: {made.revision}")
        library = Library(openers=made.openers)
        for item in made.items():
            if item.id in wanted and item.id not in found:
                small = library.thumbnail(item.images[0]) if item.images else None
                found[item.id] = item, small
                if len(found) == len(wanted):
                    break
    except Exception as error:  # whatever a plug-in or its data do: the page needs no pictures
        return {}, f"the items are shown without pictures and options: {error}"
    return found, ""
