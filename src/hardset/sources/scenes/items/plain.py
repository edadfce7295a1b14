"""Plain questions: open, yes or no, a number, and every fourth with lettered options."""

from __future__ import annotations

from hardset.records import Item
from hardset.sources.scenes.items.place import Place, options
from hardset.sources.scenes.language import KINDS

CHOOSABLE = ("colour", "shape", "written", "count", "neighbour", "described")
"""The kinds of question that have four answers or more to choose from."""


def make(place: Place) -> list[Item]:
    """Make one plain item; the kinds of question take turns."""
    choosing = place.turn % 4 == 3
    wanted = CHOOSABLE if choosing else tuple(KINDS)
    kind = wanted[(place.turn // 4 if choosing else place.turn - place.turn // 4) % len(wanted)]
    for scene, dice in place.tries():
        question = KINDS[kind](scene, dice)
        if question is None:
            continue
        if not choosing:
            text, form, answer = question.text, question.form, question.answer
            item = place.item(scene, 0, "plain", text, form, answer=answer, category=kind)
            return [item]
        at = place.letter(place.turn // 4)
        choices = options(question.answer, question.options, at, dice)
        return [
            place.item(
                scene,
                0,
                "plain",
                question.text,
                "choice",
                choices=choices,
                answer="ABCD"[at],
                category=kind,
            )
        ]
    raise AssertionError("unreachable: tries never ends")
