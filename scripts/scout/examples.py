"""What local/scout learns from: pictures with their graphs, and questions with their answers.

Scenes of `SEED` and above are for training alone; the threshold and the tests use others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.draw import draw
from hardset.sources.scenes.facts import RELATIONS, beside, matching, names, plural
from hardset.sources.scenes.graph import (
    COLOURS,
    DIGITS,
    SHAPES,
    SIDE,
    SIZES,
    WORDS_SHOWN,
    Scene,
    make_scene,
)
from hardset.sources.scenes.language import ANSWERS, WORDS, ask, state, tokens, twist
from hardset.sources.scenes.premises import PREMISES
from scout.network import EDGE, FEATURES, GRID, PARTS, SLOTS, START, TEXTS, UNKNOWN

SEED = 1_000_001  # of the training scenes
MOST_WORDS = 48  # of a text, the start counted
VOCABULARY = ("<pad>", "<unk>", "<start>", *WORDS)
_ID = {word: i for i, word in enumerate(VOCABULARY)}
_ANSWER = {answer: i for i, answer in enumerate(ANSWERS)}
_SHAPE_OF = (
    {word: word for word in SHAPES}
    | {plural({"shape": shape}): shape for shape in SHAPES}
    | {"object": "", "objects": ""}
)
_HAS = {
    **dict.fromkeys(COLOURS, "colour"),
    **dict.fromkeys(SIZES, "size"),
    **dict.fromkeys((*DIGITS, *WORDS_SHOWN), "text"),
}
_SPOIL, _QUESTION = 101, 102  # salts

_SLOW = ("position", "relation", "neighbour", "verify", "verify")

Floats = npt.NDArray[np.float32]


def training_scene(index: int, seed: int = SEED) -> tuple[Scene, str]:
    """Return a training scene and a variant: 7 in 10 of default difficulty, 1 in 12 spoiled."""
    dice = Dice(_SPOIL, seed, index)
    difficulty = ("default",) * 7 + ("easy", "hard", "hard")
    scene = make_scene(seed, index, dice.pick(difficulty))
    if not dice.chance(1 / 12):
        return scene, ""
    what, k = dice.pick(("blur", "cover", "smudge")), dice.below(len(scene.things))
    return scene, "" if what == "smudge" and not scene.things[k].text else f"{what}={k}"


def picture(scene: Scene, variant: str = "") -> npt.NDArray[np.uint8]:
    """Draw a scene and halve it, as the eye gets it: uint8 [EDGE, EDGE, 3]."""
    pixels = draw(scene, variant).reshape(EDGE, SIDE // EDGE, EDGE, SIDE // EDGE, 3)
    mean: npt.NDArray[np.uint8] = ((pixels.sum((1, 3), dtype=np.uint16) + 2) // 4).astype(np.uint8)
    return mean


def targets(scene: Scene, variant: str = "") -> npt.NDArray[np.int16]:
    """List what the eye should see: int16 [SLOTS, 1 + 2 + 4], a row of -9 where no object is.

    A row holds the cell, the centre's x and y in pixels, and the class of each part; -1 where
    the picture no longer shows it.
    """
    rows = np.full((SLOTS, 7), -9, np.int16)
    what, _, which = variant.partition("=")
    for k, thing in enumerate(scene.things):
        shape, colour = SHAPES.index(thing.shape), COLOURS.index(thing.colour)
        size, text = SIZES.index(thing.size), TEXTS.index(thing.text)
        if which == str(k):
            if what == "cover":
                continue
            text = -1 if what == "blur" or thing.text else text
            shape = -1 if what == "blur" else shape
        cell = thing.y * GRID // SIDE * GRID + thing.x * GRID // SIDE
        rows[k] = cell, thing.x, thing.y, shape, colour, size, text
    return rows


def ideal_slots(scene: Scene, random: np.random.Generator) -> Floats:
    """Make the slots that a nearly perfect eye would make of a scene: [SLOTS, FEATURES]."""
    slots = np.zeros((SLOTS, FEATURES), np.float32)
    for k, (_, x, y, *classes) in enumerate(targets(scene)[: len(scene.things)]):
        doubt = random.random(len(PARTS)) ** 4 * 0.2
        row = [1.0, x / SIDE * 2 - 1, y / SIDE * 2 - 1]
        row[1:] = np.array(row[1:]) + random.normal(0, 0.012, 2)
        for part, chosen, spread in zip(PARTS, classes, doubt, strict=True):
            odds = np.full(part, spread / part)
            odds[chosen] += 1 - spread
            row.extend(odds)
        slots[k] = np.array(row) * (1 - random.random() ** 4 * 0.1)
    return slots


class Example(Struct, frozen=True):
    """A text and its answer, or the answers among which nothing in the picture decides."""

    kind: str
    text: str
    answers: Sequence[str]


def example(scene: Scene, dice: Dice) -> Example:
    """Draw a question or a statement; a question with a false premise has many answers.

    What is slowest to learn is asked more often than a benchmark would.
    """
    if dice.chance(0.25):
        question = ask(scene, dice, dice.pick(_SLOW))
        return Example(question.kind, question.text, (question.answer,))
    roll = dice.below(100)
    if roll < 52:
        question = ask(scene, dice)
        return Example(question.kind, question.text, (question.answer,))
    if roll < 78:
        said = state(scene, dice)
        facts = said.kind.count("+") + 1
        return Example(f"state {facts}", said.text, ("yes" if said.truth else "no",))
    if roll < 86:
        question = twist(scene, dice)
        return Example(question.kind, question.text, (question.answer,))
    if roll < 89:
        for _ in range(8):
            k, relation = dice.below(len(scene.things)), dice.pick(RELATIONS)
            found = beside(scene, k, relation)
            if found is not None:
                name = dice.pick(names(scene, k))
                text = f"how many objects {relation} {name} are there?"
                return Example("beside", text, (str(len(found)),))
    for _ in range(8):
        edit = dice.pick(tuple(PREMISES))
        premise = PREMISES[edit](scene, dice, "")
        if premise is not None:
            answer, like, _ = premise.answer(scene)
            if dice.chance(0.3):
                text = premise.question(scene, premise.true_name)
                return Example(f"true {edit}", text, (answer,))
            return Example(f"false {edit}", premise.question(scene, premise.false_name), like)
    return example(scene, dice)


def ids(text: str) -> list[int]:
    """Turn a text into word ids, START first; unknown words are UNKNOWN."""
    return [START, *(_ID.get(word, UNKNOWN) for word in tokens(text)[: MOST_WORDS - 1])]


def meant(scene: Scene, text: str) -> list[tuple[int, list[int]]]:
    """Say which objects each noun of a text means, by the words around it: (place, objects).

    A colour, a size or a writing that stands alone means all that have it. The place counts as
    in `ids`. What a clause adds ("left of ...") is not heeded.
    """
    words = tokens(text)
    found = []
    for i, word in enumerate(words):
        shape = _SHAPE_OF.get(word)
        if shape is None:
            alone = not {*words[i + 1 : i + 3]} & {*_SHAPE_OF} and words[i - 1 : i] != ["with"]
            if word in _HAS and alone:
                has = _HAS[word]
                things = [k for k, t in enumerate(scene.things) if getattr(t, has) == word]
                found.append((i + 1, things))
            continue
        named = {"shape": shape}
        for before in words[max(i - 2, 0) : i]:
            if before in COLOURS:
                named["colour"] = before
            elif before in SIZES:
                named["size"] = before
            else:
                named = {"shape": shape}
        things = matching(scene, **named)
        if words[i + 1 : i + 2] == ["with"]:
            things = [k for k in things if scene.things[k].text == words[i + 2]]
        found.append((i + 1, things))
    return found


def padded(rows: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    """Stack word ids: int64 [rows, longest], PAD at the end."""
    words = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for row, found in zip(words, rows, strict=True):
        row[: len(found)] = found
    return words


def wanted(examples: Sequence[Example]) -> Floats:
    """Stack the answers as distributions: [examples, len(ANSWERS)]."""
    odds = np.zeros((len(examples), len(ANSWERS)), np.float32)
    for row, found in zip(odds, examples, strict=True):
        for answer in found.answers:
            row[_ANSWER[answer]] = 1 / len(found.answers)
    return odds


def rounds(count: int, seed: int) -> Iterator[tuple[int, Dice]]:
    """Yield scene indices below `count` in drawn order without end, with fresh dice for each."""
    random = np.random.default_rng(seed)
    lap = 0
    while True:
        for index in random.permutation(count).tolist():
            yield index, Dice(_QUESTION, seed, lap, index)
        lap += 1
