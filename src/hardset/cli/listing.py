"""`hardset list`: what there is."""

from __future__ import annotations


def list_(name: str | None = None, /) -> int:
    """Show the benchmarks and models there are, or one benchmark's options and pictures.

    Examples:

    - `hardset list`
    - `hardset list mmr`

    Parameters
    ----------
    name
        A benchmark, to show its options, and the licence and origin of each of its pictures.
    """
    from hardset.benchmarks import registry
    from hardset.models.registry import describe

    if name is not None:
        _columns(f"Options of {name} (-o option=value)", registry.describe_options(name))
        if credits := registry.load(name).credits:
            _columns("Pictures", list(credits))
        return 0
    _columns("Benchmarks", registry.describe())
    _columns("Models (-m provider/model)", describe())
    return 0


def _columns(title: str, rows: list[tuple[str, str]]) -> None:
    print(title)
    width = max((len(left) for left, _ in rows), default=0)
    for left, right in rows:
        print(f"  {left:<{width}}  {right}")
