"""Consulting judges on a run's replies: the road once more, with other models.

What a run and a score share: which panel it is, whose roles overlap, the verdicts, and what the
manifest says of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from hardset.ask import INTERRUPTED, Limits, Model, Store, Tally
from hardset.asking import on_a_loop
from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.images import Library

if TYPE_CHECKING:
    import polars as pl

    from hardset.judging import Estimate, Panel, Rubric, Verdicts


def panel_of(benchmark: Benchmark, judge: Panel | Model | None) -> Panel | None:
    """Make the panel whole: its rubrics are the benchmark's, but for those given with it.

    A rubric of a name that the benchmark has takes its place; others are asked too.

    Raises:
        UsageError: there is nothing to ask, or a judge is in the panel twice.
    """
    if judge is None:
        return None
    from hardset.judging import Judge, Panel, load

    panel = judge if isinstance(judge, Panel) else Panel(judges=[Judge(model=judge)])
    if not panel.judges:
        raise UsageError("a panel needs a judge")
    for each in panel.judges:
        if each.name.partition("/")[0] in ("baseline", "local"):
            raise UsageError(
                f"{each.name} cannot judge: it answers its own items, and reads nothing"
            )
    names = [each.name for each in panel.judges]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"the judge {twice} is given twice")
    rubrics = {name: load(name) for name in benchmark.rubrics}
    given = [rubric.name for rubric in panel.rubrics]
    if len(set(given)) < len(given):
        raise UsageError(f"two rubrics have one name: {', '.join(sorted(given))}")
    for rubric in panel.rubrics:
        _see_alike(rubric)
    rubrics |= {rubric.name: rubric for rubric in panel.rubrics}
    if not rubrics:
        raise UsageError(f"{benchmark.name} has no rubrics for a judge: give one, or no judge")
    return Panel(
        judges=panel.judges,
        rubrics=list(rubrics.values()),
        check=panel.check,
        cascade=panel.cascade,
    )


def _see_alike(rubric: Rubric) -> None:
    """See that a rubric of a packaged one's name has its scale too: metrics rest on that.

    Raises:
        UsageError: it has another.
    """
    from hardset.judging.rubric import load, packaged

    if rubric.name not in packaged():
        return
    own, given = load(rubric.name), rubric
    if (own.scale, own.keys) != (given.scale, given.keys) or (
        own.anchors and (own.low, own.high) != (given.low, given.high)
    ):
        raise UsageError(
            f"the rubric {rubric.name} has another scale than the packaged one, on which metrics "
            f"rest: {_scale(own)}, not {_scale(given)}. Give it another name, or that scale"
        )


def _scale(rubric: Rubric) -> str:
    if rubric.anchors:
        return f"grades from {rubric.low} to {rubric.high}"
    if rubric.letters:
        return f"the letters {', '.join(rubric.letters)}"
    if rubric.parts:
        return f"the parts {', '.join(rubric.parts)}"
    return "TRUE or FALSE"


def roles_of(
    benchmark: Benchmark,
    evaluated: str,
    panel: Panel | None,
    families: Mapping[str, str],
    *,
    allow: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Say who did what, for the manifest, and what of it the reader must know first.

    Raises:
        UsageError: one family has two roles, and that is not allowed.
    """
    from hardset.judging.roles import Roles

    filled = {
        "evaluated": (evaluated,),
        "judge": tuple(each.name for each in panel.judges) if panel else (),
        "generator": tuple(benchmark.roles.get("generator", ())),
        "verifier": tuple(benchmark.roles.get("verifier", ())),
    }
    everyone = {spec for specs in filled.values() for spec in specs}
    # Of several models that are run one after the other, each has its own roles.
    said = {spec: family for spec, family in families.items() if spec in everyone}
    roles = Roles(**filled, said=said)
    return roles.manifest(), roles.check(allow)


class _All:
    """Several models as one to be entered."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._models, self._stack = models, AsyncExitStack()

    async def __aenter__(self) -> _All:
        await self._stack.__aenter__()
        try:
            for model in self._models:
                await self._stack.enter_async_context(model)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *exc: Any) -> bool | None:
        return await self._stack.__aexit__(*exc)


def consult(
    benchmark: Benchmark,
    outcomes: pl.DataFrame,
    panel: Panel,
    store: Store,
    limits: Limits,
    progress: Callable[[Tally], None] | None = None,
    announce: Callable[[Estimate], None] | None = None,
) -> tuple[pl.DataFrame | None, Verdicts]:
    """Have a panel judge the replies.

    Args:
        benchmark: whose items were asked.
        outcomes: the outcome columns.
        panel: who judges; see `panel_of`.
        store: keeps the verdicts beside the replies.
        limits: of all judges together.
        progress: see `ask`.
        announce: is told what all verdicts will take, before the first is asked for.

    Returns:
        The outcomes with the verdicts' columns, and the verdicts; no outcomes where a person or
        the system stopped the asking.
    """
    from hardset.judging import Facts, Means, judge, rule

    facts = Facts(outcomes, benchmark.items, panel.rubrics)

    def library(model: Model) -> Library:
        return Library(store, openers=benchmark.openers, takes=frozenset(model.takes))

    means = Means(store=store, library=library, limits=limits, progress=progress)

    async def judged(stop: Any) -> Verdicts:
        means.stop = stop
        return await judge(facts, panel, means, announce)

    verdicts = on_a_loop(_All([each.model for each in panel.judges]), judged)
    if verdicts.stopped == INTERRUPTED:
        return None, verdicts
    return rule(outcomes, verdicts), verdicts


def notices(verdicts: Verdicts | None) -> list[str]:
    """Say what the reader must know of the verdicts."""
    return list(verdicts.notices) if verdicts is not None else []


def texts(verdicts: Verdicts | None) -> dict[str, str]:
    """Give the rubrics' files by their names: the run folder keeps them."""
    return {rubric.name: rubric.text for rubric in verdicts.rubrics} if verdicts is not None else {}


def manifest(verdicts: Verdicts | None) -> dict[str, Any]:
    """Say for the manifest who judged, by which rubrics, and how many verdicts there are."""
    if verdicts is None:
        return {}
    return {
        "judges": verdicts.manifest(),
        "rubrics": {rubric.name: rubric.sha256 for rubric in verdicts.rubrics},
        "questions": {
            key: _meaning(rubric, key) for rubric in verdicts.rubrics for key in rubric.keys
        },
        "verdicts": {
            key: {"given": given, "due": due} for key, (given, due) in verdicts.coverage().items()
        },
    }


def _meaning(rubric: Rubric, key: str) -> dict[str, Any]:
    """Say what a verdict's values mean, so that a report needs no rubric to say it."""
    if rubric.parts:
        values = {"TRUE": rubric.parts[key.removeprefix(f"{rubric.name}.")]}
    elif rubric.scale == "binary":
        yes, no = (rubric.false, rubric.true) if rubric.negated else (rubric.true, rubric.false)
        values = {"TRUE": yes, "FALSE": no}
    else:
        values = dict(rubric.anchors or rubric.letters)
    return {"rubric": rubric.name, "scale": rubric.scale, "about": rubric.about, "values": values}
