"""Items of every kind about scenes, as a stream without end.

Kinds take turns in a fixed round of `ROUND` places, so that item number i depends on the
seed, the difficulty and i alone. A group (a pair, a main question with its subquestions)
takes places that follow one another and shares one scene.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from hardset.records import Item
from hardset.sources.scenes.items import hardbench, mmooc, mmr, plain, zero
from hardset.sources.scenes.items.place import Place

_GROUPS = {"plain": [1] * 48, "hardbench": [2] * 9, "mmr": [2] * 9, "mmooc": [1] * 24}
_GROUPS["zero"] = [3, 4, 5]  # a main question with two, three and four subquestions

KINDS = tuple(_GROUPS)
SMALLEST = {kind: min(sizes) for kind, sizes in _GROUPS.items()}
"""How many items the smallest group of each kind has."""
ROUND = sum(sum(sizes) for sizes in _GROUPS.values())

_MAKERS: dict[str, Callable[[Place], list[Item]]] = {
    "plain": plain.make,
    "hardbench": hardbench.make,
    "mmr": mmr.make,
    "mmooc": mmooc.make,
    "zero": zero.make,
}


def _layout() -> list[tuple[int, str, int, int]]:
    """Spread each kind's groups evenly over the round: (first place, kind, nth, size)."""
    order = sorted(
        ((2 * nth + 1) * ROUND // len(sizes), KINDS.index(kind), nth, size)
        for kind, sizes in _GROUPS.items()
        for nth, size in enumerate(sizes)
    )
    layout, place = [], 0
    for _, kind, nth, size in order:
        layout.append((place, KINDS[kind], nth, size))
        place += size
    return layout


LAYOUT = _layout()


def groups(seed: int, difficulty: str, kinds: Collection[str], room: int) -> Iterator[list[Item]]:
    """Yield the groups of the chosen kinds in order, for as long as one may still fit.

    A group too large for what is left of `room` (a number of items) is passed over, so no
    pair is ever cut.
    """
    smallest = min(SMALLEST[kind] for kind in kinds)
    lap = 0
    while room >= smallest:
        for place, kind, nth, size in LAYOUT:
            if kind not in kinds or size > room:
                continue
            turn = lap * len(_GROUPS[kind]) + nth
            yield _MAKERS[kind](Place(seed, lap * ROUND + place, difficulty, turn, size))
            room -= size
        lap += 1


def items(seed: int, difficulty: str, kinds: Collection[str], n: int) -> Iterator[Item]:
    """Yield n items of the chosen kinds; fewer only where the last places fit no whole group."""
    for group in groups(seed, difficulty, kinds, n):
        yield from group
