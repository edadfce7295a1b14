"""MMOOC-like items: questions whose context has shifted, out of (ooc) or still in context (ic).

Out of context a model should refuse: MA ambiguous or spoiled picture, VFP false premise, USPC
no evidence of depth, motion or support, ULS unreadable symbols or unknown rules, MKB knowledge
that no picture holds. In context it should still answer: MP a misleading premise, PA a second
part that cannot be answered, IQM a caption that does not fit.
"""

from __future__ import annotations

from hardset.records import Form, Item
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.graph import Scene
from hardset.sources.scenes.items.outside import MAKERS
from hardset.sources.scenes.items.place import Place, options
from hardset.sources.scenes.items.plain import CHOOSABLE
from hardset.sources.scenes.language import KINDS, Question, twist

FORMS: tuple[Form, ...] = ("yes_no", "choice", "open")
OOC = tuple(MAKERS)
IC = {"MP": "premise", "PA": "partial", "IQM": "caption"}  # shift: the twist that makes it
SHIFTS = (*OOC, *IC)

_YES_NO = ("relation", "verify", "comparison", "existence")
_OPEN = ("colour", "shape", "size", "neighbour", "described")
_SCENARIO = {
    "existence": "coarse perception",
    "comparison": "coarse perception",
    "count": "logical reasoning",
    "relation": "spatial understanding",
    "neighbour": "spatial understanding",
    "described": "spatial understanding",
    "written": "symbolic reasoning",
}


def make(place: Place) -> list[Item]:
    """Make one item; shifts and formats take turns, each pair once in 24."""
    lap, nth = divmod(place.turn, len(SHIFTS))
    shift, form = SHIFTS[nth], FORMS[(lap + nth) % len(FORMS)]
    build = _in_context if shift in IC else _out_of_context
    for scene, dice in place.tries():
        item = build(place, scene, dice, shift, form)
        if item is not None:
            return [item]
    raise AssertionError("unreachable: tries never ends")


def _out_of_context(place: Place, scene: Scene, dice: Dice, shift: str, form: Form) -> Item | None:
    shifted = MAKERS[shift](scene, dice, form)
    if shifted is None:
        return None
    return place.item(
        scene,
        0,
        "mmooc",
        shifted.text,
        form,
        variant=shifted.variant,
        tags={"shift": shift, "format": form, "scenario": shifted.scenario},
        choices=tuple(dice.shuffled(shifted.choices)),
        answerable=False,
        explanation=f"{shifted.why}.",
        category=shift,
        group="ooc",
    )


def _in_context(place: Place, scene: Scene, dice: Dice, shift: str, form: Form) -> Item | None:
    core = _core(scene, dice, form)
    if core is None:
        return None
    question = twist(scene, dice, IC[shift], core)
    at = place.letter(place.turn)
    choosing = form == "choice"
    if shift == "PA":
        rest = question.text.rpartition(", and ")[2]
        why = f'nothing in the picture answers "{rest}"'
    else:
        why = f"in truth {question.reason}"
    return place.item(
        scene,
        0,
        "mmooc",
        question.text,
        form,
        tags={
            "shift": shift,
            "format": form,
            "scenario": _SCENARIO.get(core.kind, "fine-grained perception"),
        },
        choices=options(core.answer, core.options, at, dice) if choosing else (),
        answer="ABCD"[at] if choosing else core.answer,
        explanation=f"{why}.",
        category=shift,
        group="ic",
        altered=f"{question.kind}: {core.text}",
    )


def _core(scene: Scene, dice: Dice, form: Form) -> Question | None:
    """Draw a question of a form that the scene can bear."""
    kind = dice.pick({"yes_no": _YES_NO, "choice": CHOOSABLE}.get(form, _OPEN))
    return KINDS[kind](scene, dice)
