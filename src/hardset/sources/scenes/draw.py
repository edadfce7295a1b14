"""Scenes to pixels and to PNG, in whole-number arithmetic, so every machine draws the same.

A shape is sampled on a 4 x 4 grid within each pixel once for each size, and stamped after
that. An address may end in a variant, which spoils one object on purpose:

    ?blur=2     object 2 and its surroundings are blurred beyond recognition
    ?cover=2    object 2 is hidden behind a grey panel
    ?smudge=2   only what is written on object 2 is blurred

What is to be unrecognisable is replaced by something fixed before it is blurred, so not a
trace of it is left: of a blurred object's shape, of a smudged label's letters.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from hardset.sources.scenes import font
from hardset.sources.scenes.dice import Dice
from hardset.sources.scenes.graph import SIDE, VERSION, Scene, Thing, make_scene
from hardset.sources.scenes.png import encode_png

Pixels = npt.NDArray[np.uint8]
_Ints = npt.NDArray[np.int32]

PAINT = {
    "red": (214, 38, 44),
    "orange": (247, 138, 20),
    "yellow": (248, 214, 44),
    "green": (38, 160, 70),
    "blue": (36, 92, 214),
    "purple": (130, 54, 172),
    "pink": (247, 146, 196),
    "black": (44, 44, 50),
}
PAPER, INK, PANEL = (255, 253, 246), (24, 24, 28), (150, 152, 156)
VARIANTS = ("blur", "cover", "smudge")

_LOOK = 2  # salt
_ROUGHNESS = {"easy": 0, "default": 3, "hard": 8}  # of the paper: largest step in grey levels
_SPECKS = {"easy": 0, "default": 4, "hard": 14}
_STROKES = {"easy": 0, "default": 0, "hard": 4}

# Polygons in thousandths of the reach, x to the right and y downwards.
_STAR = (
    (0, -1000), (235, -324), (951, -309), (380, 124), (588, 809),
    (0, 400), (-588, 809), (-380, 124), (-951, -309), (-235, -324),
)  # fmt: skip
_TRIANGLE = ((0, -940), (1000, 800), (-1000, 800))
_HEART_TIP = ((-965, -160), (965, -160), (0, 960))


def open_scene(address: str) -> bytes:
    """Draw the PNG of an address such as `v1/default/0/17` or `v1/hard/0/3?blur=1`.

    Raises:
        ValueError: the address is of another version, or is not an address.
    """
    return encode_png(draw_address(address))


def draw_address(address: str) -> Pixels:
    """Draw the pixels of an address (see `open_scene`): uint8 [SIDE, SIDE, 3]."""
    path, _, variant = address.partition("?")
    parts = path.split("/")
    if len(parts) != 4 or not (parts[2].isdecimal() and parts[3].isdecimal()):
        raise ValueError(f"no scene at {address!r}: expected VERSION/DIFFICULTY/SEED/INDEX")
    if parts[0] != VERSION:
        raise ValueError(f"scene {address!r} needs version {parts[0]}, and this draws {VERSION}")
    return draw(make_scene(int(parts[2]), int(parts[3]), parts[1]), variant)


def draw(scene: Scene, variant: str = "") -> Pixels:
    """Draw a scene: uint8 [SIDE, SIDE, 3] in RGB.

    Raises:
        ValueError: the variant is unknown or names an object that is not in the scene.
    """
    if variant:
        what, k = _parsed(scene, variant)
        scene = _veiled(scene, what, k)
    canvas = _ground(scene)
    for thing in scene.things:
        _stamp(canvas, thing)
    if variant:
        _spoil(canvas, what, _box(scene, what, k))
    return canvas.astype(np.uint8)


def _ground(scene: Scene) -> _Ints:
    """Draw the paper: a pale tint, its grain, and specks and strokes that mean nothing."""
    dice = Dice(_LOOK, scene.seed, scene.index)
    tint = [dice.between(232, 246) for _ in range(3)]
    canvas = np.empty((SIDE, SIDE, 3), np.int32)
    canvas[:] = tint
    rough = _ROUGHNESS[scene.difficulty]
    if rough:
        x, y = dice.below(64), dice.below(64)
        grain = _grain()[y : y + SIDE // 2, x : x + SIDE // 2] % (2 * rough + 1) - rough
        canvas += grain.repeat(2, 0).repeat(2, 1)[:, :, None]
    for _ in range(_SPECKS[scene.difficulty]):
        x, y, grey = dice.below(SIDE - 2), dice.below(SIDE - 2), dice.between(175, 215)
        canvas[y : y + 2, x : x + 2] = grey
    for _ in range(_STROKES[scene.difficulty]):
        x, y = dice.below(SIDE - 60), dice.below(SIDE - 2)
        long, grey = dice.between(20, 60), dice.between(150, 200)
        if dice.chance(0.5):
            canvas[y : y + 1, x : x + long] = grey
        else:
            canvas[x : x + long, y : y + 1] = grey
    return np.clip(canvas, 0, 255)


@lru_cache(maxsize=1)
def _grain() -> _Ints:
    """Return a fixed field of noise, int32 [160, 160], each value from 0 to 2**15 - 1."""
    side = SIDE // 2 + 64
    mixed = np.arange(side * side, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(49)).astype(np.int32).reshape(side, side)


def _stamp(canvas: _Ints, thing: Thing) -> None:
    """Paint one object: its rim in a darker tone, its inside, and its label."""
    body, inside = _coverage(thing.shape, thing.reach)
    x, y, reach = thing.x, thing.y, thing.reach
    region = canvas[y - reach : y + reach + 1, x - reach : x + reach + 1]
    paint, rim = _paints(thing.colour)
    region += ((rim - region) * body + 8) >> 4
    region += ((paint - region) * inside + 8) >> 4
    if thing.text:
        cx, cy = thing.label
        label = _label(thing.text)
        height, width, _ = label.shape
        top, left = cy - height // 2, cx - width // 2
        canvas[top : top + height, left : left + width] = label


@cache
def _paints(colour: str) -> tuple[_Ints, _Ints]:
    """Return a colour and the darker tone of its rim, each int32 [3]."""
    paint = np.array(PAINT[colour], np.int32)
    return paint, paint * 5 // 8


@lru_cache(maxsize=1024)
def _coverage(shape: str, reach: int) -> tuple[_Ints, _Ints]:
    """Sample a shape: sixteenths of each pixel covered by it, and by it without its rim.

    Each is int32 [2 * reach + 1, 2 * reach + 1, 1]. Sample points lie at odd eighths of a pixel.
    """
    steps = np.arange(-(8 * reach) - 3, 8 * reach + 4, 2, dtype=np.int64)
    u, v = steps[None, :], steps[:, None]
    filled = _inside(shape, u, v, 8 * reach)
    eroded = filled.copy()
    padded = np.pad(filled, 6)
    size = len(steps)
    for dx, dy in ((6, 0), (-6, 0), (0, 6), (0, -6), (4, 4), (4, -4), (-4, 4), (-4, -4)):
        eroded &= padded[6 + dy : 6 + dy + size, 6 + dx : 6 + dx + size]
    side = 2 * reach + 1

    def count(samples: npt.NDArray[np.bool_]) -> _Ints:
        cells: _Ints = samples.reshape(side, 4, side, 4).sum(axis=(1, 3), dtype=np.int32)
        return cells[:, :, None]

    return count(filled), count(eroded)


def _inside(shape: str, u: Any, v: Any, r: int) -> npt.NDArray[np.bool_]:
    """Tell which sample points (u, v) lie in the shape of reach r, all in eighths of a pixel."""
    across, along = abs(u), abs(v)
    square = u * u + v * v
    inside: npt.NDArray[np.bool_]
    if shape == "circle":
        inside = square * 100 <= r * r * 96
    elif shape == "square":
        inside = np.maximum(across, along) * 100 <= r * 88
    elif shape == "diamond":
        inside = across + along <= r
    elif shape == "cross":
        inside = (np.minimum(across, along) * 100 <= r * 34) & (
            np.maximum(across, along) * 100 <= r * 96
        )
    elif shape == "ring":
        inside = (square * 100 <= r * r * 96) & (square * 100 >= r * r * 27)
    elif shape == "heart":
        lobe = (across * 2 - r) ** 2 + (v * 20 + r * 7) ** 2 // 100
        inside = (lobe * 100 <= r * r * 98) | _polygon(_HEART_TIP, u, v, r)
    elif shape == "triangle":
        inside = _polygon(_TRIANGLE, u, v, r)
    else:
        inside = _polygon(_STAR, u, v, r)
    return inside


def _polygon(corners: Any, u: Any, v: Any, r: int) -> npt.NDArray[np.bool_]:
    """Tell which points lie in a polygon, by counting the edges a ray to the right crosses."""
    inside = np.zeros(np.broadcast_shapes(u.shape, v.shape), np.bool_)
    u, v = u * 1000, v * 1000
    for (x0, y0), (x1, y1) in zip(corners, (*corners[1:], corners[0]), strict=True):
        x0, y0, x1, y1 = x0 * r, y0 * r, x1 * r, y1 * r
        if y0 == y1:
            continue
        if y0 > y1:
            x0, y0, x1, y1 = x1, y1, x0, y0
        crosses = (v >= y0) & (v < y1)
        inside ^= crosses & ((u - x0) * (y1 - y0) < (x1 - x0) * (v - y0))
    return inside


@lru_cache(maxsize=256)
def _label(text: str) -> _Ints:
    """Draw a label: int32 [height, width, 3], the fewer the letters the larger."""
    dot, pad = {1: (4, 3), 2: (3, 4)}.get(len(text), (2, 4))
    columns = len(text) * (font.WIDTH + 1) - 1
    dots = np.zeros((font.HEIGHT, columns), np.bool_)
    for i, letter in enumerate(text.upper()):
        left = i * (font.WIDTH + 1)
        dots[:, left : left + font.WIDTH] = font.GLYPHS[letter]
    inked = np.pad(dots.repeat(dot, 0).repeat(dot, 1), pad)
    label = np.where(inked[:, :, None], np.array(INK), np.array(PAPER)).astype(np.int32)
    for row in (0, -1):
        label[row] = np.array(PANEL)
    for column in (0, -1):
        label[:, column] = np.array(PANEL)
    return label


def label_box(thing: Thing) -> tuple[int, int, int, int]:
    """Return the left, top, right and bottom of an object's label, the last two exclusive."""
    x, y = thing.label
    height, width, _ = _label(thing.text).shape
    left, top = x - width // 2, y - height // 2
    return left, top, left + width, top + height


def variant_box(scene: Scene, variant: str) -> tuple[int, int, int, int]:
    """Return the box outside which a variant changes nothing: left, top, right, bottom.

    The last two are exclusive.
    """
    what, k = _parsed(scene, variant)
    boxes = [_box(scene, what, k), _box(_veiled(scene, what, k), what, k)]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _parsed(scene: Scene, variant: str) -> tuple[str, int]:
    what, _, which = variant.partition("=")
    if what not in VARIANTS or not which.isdecimal() or int(which) >= len(scene.things):
        raise ValueError(f"no variant {variant!r} of {scene.where}: use blur=, cover= or smudge=")
    if what == "smudge" and not scene.things[int(which)].text:
        raise ValueError(f"nothing is written on object {which} of {scene.where}")
    return what, int(which)


def _veiled(scene: Scene, what: str, k: int) -> Scene:
    """Put something fixed in the place of what a variant is to make unrecognisable."""
    thing = scene.things[k]
    if what == "blur":
        thing = replace(thing, shape="circle", text="")
    elif what == "smudge":
        thing = replace(thing, text="8" if thing.text.isdecimal() else "MMMM")
    return replace(scene, things=(*scene.things[:k], thing, *scene.things[k + 1 :]))


def _box(scene: Scene, what: str, k: int) -> tuple[int, int, int, int]:
    thing = scene.things[k]
    if what == "smudge":
        return label_box(thing)
    edge = thing.reach + (8 if what == "blur" else 2)
    return (
        max(thing.x - edge, 0), max(thing.y - edge, 0),
        min(thing.x + edge + 1, SIDE), min(thing.y + edge + 1, SIDE),
    )  # fmt: skip


def _spoil(canvas: _Ints, what: str, box: tuple[int, int, int, int]) -> None:
    """Blur or cover a box, in place."""
    left, top, right, bottom = box
    region = canvas[top:bottom, left:right]
    if what == "cover":
        region[:] = PANEL
        return
    width = (right - left) // 3 | 1
    for _ in range(3):
        region[:] = _smear(_smear(region, width).transpose(1, 0, 2), width).transpose(1, 0, 2)


def _smear(region: _Ints, width: int) -> _Ints:
    """Replace each pixel by the mean of the `width` (odd) around it along the first axis."""
    half = width // 2
    sums = np.cumsum(np.pad(region, ((half + 1, half), (0, 0), (0, 0)), mode="edge"), axis=0)
    return ((sums[width:] - sums[:-width]) // width).astype(np.int32)
