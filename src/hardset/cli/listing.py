"""`hardset list`: what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardset.lowresource.examples import Kind


def list_(name: str | None = None, /) -> int:
    """Show the benchmarks, models, rubrics, networks and scores there are, or one of them.

    Examples:

    - `hardset list`
    - `hardset list mmr`
    - `hardset list refused > mine.toml` (a rubric, to be changed and given with --rubric)

    Parameters
    ----------
    name
        A benchmark, to show its options and rubrics, and the licence and origin of each of its
        pictures; or a rubric, to show its file.
    """
    from hardset.benchmarks import registry
    from hardset.judging.rubric import load, packaged
    from hardset.lowresource.difficulty import SCORES
    from hardset.lowresource.networks.registry import names
    from hardset.models.registry import describe

    rubrics = packaged()
    if name in rubrics:
        print(rubrics[name].read_text(encoding="utf-8"), end="")
        return 0
    if name is not None:
        _columns(f"Options of {name} (-o option=value)", registry.describe_options(name))
        if credits := registry.load(name).credits:
            _columns("Pictures", list(credits))
        if asked := registry.load(name).rubrics:
            _columns("Rubrics of --judge", [(each, load(each).about) for each in asked])
        return 0
    _columns("Benchmarks", registry.describe())
    _columns("Models (-m provider/model)", describe())
    _columns("Rubrics (--judge)", [(each, load(each).about) for each in rubrics])
    kinds: dict[str, Kind] = {"pictures": "image", "texts": "text", "arrays": "tensor"}
    _columns(
        "Networks (difficulty --predictor, learn --learner; extra `torch`)",
        [(each, ", ".join(names(kind))) for each, kind in kinds.items()],
    )
    _columns(
        "Scores of difficulty (--score)",
        [(name.replace("_", "-"), score.source) for name, score in SCORES.items()],
    )
    return 0


def _columns(title: str, rows: list[tuple[str, str]]) -> None:
    print(title)
    width = max((len(left) for left, _ in rows), default=0)
    for left, right in rows:
        print(f"  {left:<{width}}  {right}")
