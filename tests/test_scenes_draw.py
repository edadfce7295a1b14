"""Pixels: the right colour in the right place, the same everywhere, spoiled only where asked."""

import hashlib
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.sources.scenes import font
from hardset.sources.scenes.draw import (
    INK,
    PAINT,
    draw,
    draw_address,
    label_box,
    open_scene,
    variant_box,
)
from hardset.sources.scenes.graph import DIFFICULTIES, SHAPES, SIDE, Scene, Thing, make_scene
from hardset.sources.scenes.png import compress, encode_png

GOLDEN = {  # sha256 of the pixels of the first scene of seed 0; a change asks for a new VERSION
    "easy": "7fd0f8414f4686103b5a4c0301a3986e0321c08d2551f4ca826090523dfcbe51",
    "default": "f2c786621d653bb23e13bbab8c157d3feee81a32fbf3c0ebb14941f3c4b9efad",
    "hard": "a45ceb391f91c541bfefd38ed73bc2443d44fe92ba89fb00d99392a3744a3a33",
}


def decode(png: bytes) -> np.ndarray:
    """Undo `encode_png` for a PNG whose first row is unfiltered and whose others go upwards."""
    size = struct.unpack(">II", png[16:24])
    (length,) = struct.unpack(">I", png[33:37])
    assert png[37:41] == b"IDAT"
    rows = np.frombuffer(zlib.decompress(png[41 : 41 + length]), np.uint8)
    rows = rows.reshape(size[1], -1)
    assert (rows[:, 0] == 2).all()
    return np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).reshape(size[1], size[0], 3)


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_the_pixels_are_those_of_this_version(difficulty):
    pixels = draw(make_scene(0, 0, difficulty))
    assert hashlib.sha256(pixels.tobytes()).hexdigest() == GOLDEN[difficulty]


def test_png_keeps_every_pixel_and_other_readers_agree():
    import io

    from PIL import Image

    pixels = draw(make_scene(5, 6, "hard"))
    png = encode_png(pixels)
    assert (decode(png) == pixels).all()
    assert (np.asarray(Image.open(io.BytesIO(png)).convert("RGB")) == pixels).all()


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 255), st.integers(1, 1200)), min_size=1, max_size=30))
def test_what_is_compressed_comes_back(runs):
    data = np.repeat(*(np.array(part) for part in zip(*runs, strict=True))).astype(np.uint8)
    assert zlib.decompress(compress(data)) == data.tobytes()


@pytest.mark.parametrize("length", [*range(1, 24), *range(30, 40), *range(250, 270), 516, 517, 518])
def test_runs_of_every_awkward_length_come_back(length):
    for value in (0, 143, 144, 255):
        data = np.array([7] + [value] * length + [7], np.uint8)
        assert zlib.decompress(compress(data)) == data.tobytes()


def test_a_stream_by_hand():
    """One byte 0: header 78 01; bits 1, 10 (fixed, last), 00110000, 0000000; its checksum.

    Bits in the order sent: 110 00110000 0000000 is 11000110 00000000 00, from the lowest bit
    up 0x63 0x00 0x00; Adler-32 of one zero byte is 00 01 00 01.
    """
    assert compress(np.zeros(1, np.uint8)).hex() == "7801" + "630000" + "00010001"


def test_an_address_draws_its_scene():
    assert (draw_address("v1/hard/5/6") == draw(make_scene(5, 6, "hard"))).all()
    scene = make_scene(5, 6, "hard")
    assert open_scene(scene.where.removeprefix("scenes:")) == encode_png(draw(scene))


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("v1/default/0", "no scene at 'v1/default/0': expected VERSION/DIFFICULTY/SEED/INDEX"),
        ("v1/default/0/-1", "no scene at"),
        ("v0/default/0/1", "needs version v0, and this draws v1"),
        ("v1/harder/0/1", "no difficulty 'harder'"),
        ("v1/default/0/1?blur=99", "no variant 'blur=99'"),
        ("v1/default/0/1?paint=0", "no variant 'paint=0'"),
    ],
)
def test_a_wrong_address_is_refused_in_words(address, complaint):
    with pytest.raises(ValueError, match=complaint.replace("?", r"\?")):
        open_scene(address)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 10**6), st.sampled_from(("easy", "default")))
def test_every_object_has_its_colour_where_it_is(seed, index, difficulty):
    scene = make_scene(seed, index, difficulty)
    pixels = draw(scene)
    for thing in scene.things:
        if thing.text:
            left, top, right, bottom = label_box(thing)
            label = pixels[top:bottom, left:right].reshape(-1, 3)
            assert (label == INK).all(axis=1).any()
            # Just above a word, just left of a digit: within every shape that bears them.
            x, y = (thing.x, top - 3) if len(thing.text) > 1 else (left - 3, thing.label[1])
        elif thing.shape == "ring":
            x, y = thing.x - thing.reach * 3 // 4, thing.y  # within the band
        else:
            x, y = thing.x, thing.y
        assert tuple(pixels[y, x]) == PAINT[thing.colour], thing


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_fills_its_bounding_square_and_nothing_outside(shape):
    thing = Thing(shape, "blue", "large", 90, 80, 30)
    empty = draw(Scene(0, 0, "easy", ()))
    pixels = draw(Scene(0, 0, "easy", (thing,)))
    ys, xs = np.nonzero((pixels != empty).any(axis=2))
    assert 60 <= xs.min() <= 64
    assert 116 <= xs.max() <= 120
    assert 50 <= ys.min() <= 55
    assert 102 <= ys.max() <= 110
    assert (pixels[:, 60:121] == pixels[:, 60:121][:, ::-1]).all()  # each is its own mirror image


def test_written_letters_are_the_font_enlarged():
    thing = Thing("square", "blue", "large", 90, 80, 33, "7")
    pixels = draw(Scene(0, 0, "easy", (thing,)))
    left, top, _, _ = label_box(thing)
    inked = (pixels == INK).all(axis=2)
    for row, bits in enumerate(font.GLYPHS["7"]):
        for column, bit in enumerate(bits):
            y, x = top + 3 + 4 * row, left + 3 + 4 * column  # 3 pixels of paper, 4 a dot
            assert (inked[y : y + 4, x : x + 4] == bit).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(("blur", "cover", "smudge")), st.integers(0, 10**6))
def test_a_variant_spoils_its_object_and_nothing_else(index, what, pick):
    scene = make_scene(1, index)
    able = [k for k, t in enumerate(scene.things) if t.text or what != "smudge"]
    if not able:
        return
    k = able[pick % len(able)]
    variant = f"{what}={k}"
    plain, spoiled = draw(scene), draw(scene, variant)
    left, top, right, bottom = variant_box(scene, variant)
    changed = (plain != spoiled).any(axis=2)
    inside = np.zeros((SIDE, SIDE), bool)
    inside[top:bottom, left:right] = True
    assert changed.any()
    assert not changed[~inside].any()
    if what == "cover":
        assert len(np.unique(spoiled[inside], axis=0)) == 1  # nothing at all shows through
    elif what == "blur":  # no sharp edge is left: neighbours differ by under a quarter
        region = spoiled[top:bottom, left:right].astype(int)
        assert max(np.abs(np.diff(region, axis=a)).max() for a in (0, 1)) < 64


@pytest.mark.parametrize("variant", ["", "blur=0", "cover=0", "smudge=0"])
def test_what_is_spoiled_leaves_no_trace(variant):
    """Objects that differ in what a variant hides give the very same pixels."""

    def pixels(**changes: str) -> bytes:
        thing = {"shape": "circle", "colour": "blue", "size": "large", "text": "7"} | changes
        return draw(Scene(0, 0, "default", (Thing(x=90, y=90, reach=30, **thing),)), variant).data

    hidden = {
        "": [],
        "blur=0": [{"shape": "square"}, {"text": "4"}, {"shape": "heart", "text": ""}],
        "cover=0": [{"colour": "red"}, {"shape": "star", "text": ""}],
        "smudge=0": [{"text": "4"}],
    }[variant]
    assert all(pixels(**changes) == pixels() for changes in hidden)
    shown = [{"colour": "red"}] if variant != "cover=0" else []
    shown += [{"text": "4"}] if variant == "" else [{"shape": "square"}] * (variant == "smudge=0")
    assert all(pixels(**changes) != pixels() for changes in shown)


def test_a_smudged_word_does_not_even_show_its_length():
    one, other = (
        draw(Scene(0, 0, "easy", (Thing("square", "blue", "large", 90, 90, 30, text),)), "smudge=0")
        for text in ("go", "milk")
    )
    assert (one == other).all()


def test_the_font_has_no_two_letters_alike():
    assert len(font.GLYPHS) == 36
    assert len(set(font.GLYPHS.values())) == 35  # 0 and O are one
    assert all(len(rows) == 7 and {len(r) for r in rows} == {5} for rows in font.GLYPHS.values())
