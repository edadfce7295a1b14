"""HARDBench-like pairs: a question the picture answers, and one edit away, one it cannot.

See HARDBench: the edit changes the object, the relation or the attribute (ORA).
"""

from __future__ import annotations

from hardset.records import Item
from hardset.sources.scenes.items.place import Place
from hardset.sources.scenes.premises import PREMISES

EDITS = tuple(PREMISES)


def make(place: Place) -> list[Item]:
    """Make an original and its edited partner; the three edits take turns."""
    edit = EDITS[place.turn % len(EDITS)]
    tags = {"edit": edit[0].upper()}
    pair = place.name()
    for scene, dice in place.tries():
        premise = PREMISES[edit](scene, dice, "")
        if premise is None:
            continue
        answer, _, form = premise.answer(scene)
        original = place.item(
            scene,
            0,
            "hardbench",
            premise.question(scene, premise.true_name),
            form,
            tags=tags,
            answer=answer,
            category=edit,
            pair=pair,
            role="original",
        )
        edited = place.item(
            scene,
            1,
            "hardbench",
            premise.question(scene, premise.false_name),
            form,
            tags=tags,
            answerable=False,
            explanation=f"{premise.explanation}.",
            category=edit,
            pair=pair,
            role="edited",
            altered=premise.altered,
        )
        return [original, edited]
    raise AssertionError("unreachable: tries never ends")
