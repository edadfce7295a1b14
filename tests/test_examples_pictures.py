"""Folders of pictures: classes, splits and order; ImageNet's layout; what cannot be read."""

from __future__ import annotations

import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from examples_made import (
    IMAGENET_NAMES,
    WORDNETS,
    class_folders,
    encoded,
    imagenet,
    shade,
)
from hardset.errors import UsageError
from hardset.lowresource.examples import Examples, Unreadable
from hardset.sources.examples import tree
from hardset.sources.examples.opening import open_examples


def only(place, **asked):
    """The one picture of a folder with one class."""
    (content,) = open_examples(place, **asked).fetch(np.array([0]))
    return content


def one(tmp_path, data: bytes, name: str = "a.png"):
    """What a file with these bytes is opened as."""
    (tmp_path / "set" / "cat").mkdir(parents=True)
    (tmp_path / "set" / "cat" / name).write_bytes(data)
    return only(tmp_path / "set")


# Folders ----------------------------------------------------------------------------------------


def test_a_folder_a_class(tmp_path):
    examples = open_examples(class_folders(tmp_path, {"dog": 2, "cat": 3}))
    assert isinstance(examples, Examples)
    assert (examples.kind, examples.classes, len(examples)) == ("image", ("cat", "dog"), 5)
    assert examples.labels.tolist() == [0, 0, 0, 1, 1]
    assert examples.id(3) == "dog/000.png"
    # Shades were given out dog first: dogs have 0 and 1, cats 2, 3, 4.
    found = examples.fetch(np.array([4, 0]))
    assert [(each.shape, each.dtype, int(each[0, 0, 0])) for each in found] == [
        ((4, 5, 3), np.uint8, 1),
        ((4, 5, 3), np.uint8, 2),
    ]
    assert examples.source["layout"] == "folders"
    order = examples.shuffled(np.random.default_rng(0))
    assert sorted(order.tolist()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("validation", ["test", "val", "validation", "dev"])
def test_splits_in_folders(tmp_path, validation):
    class_folders(tmp_path / "train", {"cat": 2, "dog": 1})
    class_folders(tmp_path / validation, {"dog": 1}, first=9)
    train = open_examples(tmp_path)
    test = open_examples(tmp_path, split="test", classes=train.classes)
    assert (len(train), len(test)) == (3, 1)
    assert test.labels.tolist() == [1]  # as in train, though no cat is here
    assert test.source["split"] == validation
    assert int(test.fetch(np.array([0]))[0][0, 0, 0]) == 9
    with pytest.raises(UsageError, match=f"no split 'other'; there are: .*{validation}"):
        open_examples(tmp_path, split="other")


def test_classes_are_held_to_those_of_the_training_set(tmp_path):
    class_folders(tmp_path, {"cat": 1, "cow": 1})
    with pytest.raises(UsageError, match="none of the 2 classes: cow"):
        open_examples(tmp_path, classes=("cat", "dog"))


def test_a_class_may_be_called_train(tmp_path):
    class_folders(tmp_path, {"train": 1, "ship": 1})
    assert open_examples(tmp_path).classes == ("ship", "train")
    whole = open_examples(tmp_path, split="test")
    assert (len(whole), whole.source["split"]) == (2, "")
    assert whole.source["notes"] == [
        "nothing there says of which split it is: all of it was taken as 'test'"
    ]


def test_what_systems_leave_behind_is_not_seen(tmp_path):
    class_folders(tmp_path, {"cat": 1, ".git": 1, "__MACOSX": 1})
    (tmp_path / "cat" / "._000.png").write_bytes(b"resource fork")
    (tmp_path / "cat" / "Thumbs.db").write_bytes(b"x")
    (tmp_path / "cat" / "notes.txt").write_text("one")
    examples = open_examples(tmp_path)
    assert (examples.classes, len(examples)) == (("cat",), 1)
    assert "1 file whose name is not of a picture was left out" in examples.source["notes"]
    assert "pictures of one class only" in examples.source["notes"]


def test_a_class_without_pictures_keeps_its_number(tmp_path):
    class_folders(tmp_path, {"ant": 0, "bee": 2})
    examples = open_examples(tmp_path)
    assert examples.labels.tolist() == [1, 1]
    assert "1 class folder has no picture: ant" in examples.source["notes"]


def test_folders_in_folders_are_in_the_order_of_torchvision(tmp_path):
    # ImageFolder: sorted(os.walk(class)), and the files of each sorted.
    for name in ("b.png", "a/z.png", "a/b/y.png", "a-c/x.png"):
        path = tmp_path / "cat" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(shade(1)))
    examples = open_examples(tmp_path)
    walked = [
        os.path.relpath(os.path.join(folder, name), tmp_path)
        for folder, _, names in sorted(os.walk(tmp_path / "cat"))
        for name in sorted(names)
    ]
    assert [examples.id(position) for position in range(4)] == walked


def test_links_are_followed_and_loops_are_not(tmp_path):
    class_folders(tmp_path / "set", {"cat": 1})
    class_folders(tmp_path, {"elsewhere": 2}, first=5)
    (tmp_path / "set" / "cat" / "more").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "set" / "cat" / "again").symlink_to(tmp_path / "set" / "cat")
    (tmp_path / "set" / "cat" / "gone.png").symlink_to(tmp_path / "nothing.png")
    examples = open_examples(tmp_path / "set")
    assert [examples.id(each) for each in range(len(examples))] == [
        *("cat/000.png", "cat/gone.png", "cat/more/000.png", "cat/more/001.png")
    ]
    assert examples.source["notes"][-1] == "1 links that lead back were not followed: cat/again"
    (gone,) = examples.fetch(np.array([1]))
    assert isinstance(gone, Unreadable)
    assert "does not exist" in gone.reason


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    class_folders(tmp_path, {"cat": 1, "dog": 1})
    real = os.scandir

    def scandir(folder):
        if str(folder).endswith("dog"):
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(tree.os, "scandir", scandir)
    with pytest.raises(UsageError, match="dog cannot be read: Permission denied"):
        open_examples(tmp_path, layout="folders")


def test_the_digest_is_of_names_and_sizes(tmp_path):
    class_folders(tmp_path / "a", {"cat": 2})
    class_folders(tmp_path / "b", {"cat": 2})
    first = open_examples(tmp_path / "a").source["sha256"]
    assert open_examples(tmp_path / "b").source["sha256"] == first
    (tmp_path / "b" / "cat" / "001.png").write_bytes(encoded(shade(1, 40, 40)))
    longer = open_examples(tmp_path / "b").source["sha256"]
    (tmp_path / "b" / "cat" / "001.png").rename(tmp_path / "b" / "cat" / "002.png")
    assert len({first, longer, open_examples(tmp_path / "b").source["sha256"]}) == 3


# Pictures ---------------------------------------------------------------------------------------


def test_mixed_sizes_stay_as_they_are(tmp_path):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "a.png").write_bytes(encoded(shade(1, 3, 7)))
    (tmp_path / "cat" / "b.jpg").write_bytes(encoded(shade(1, 9, 2)[..., 0], "JPEG"))
    found = open_examples(tmp_path).fetch(np.array([0, 1]))
    assert [each.shape for each in found] == [(3, 7, 3), (9, 2, 1)]


def test_a_turned_photo_is_upright(tmp_path):
    pixels = shade(0, 2, 6)
    pixels[:, :3] = 250  # the left half is bright
    exif = Image.Exif()
    exif[274] = 6  # what is left belongs at the top
    turned = one(tmp_path, encoded(pixels, "JPEG", exif=exif, quality=95), "a.jpg")
    assert turned.shape == (6, 2, 3)
    assert turned[0].min() > 200 > 50 > turned[5].max()


def test_a_palette_is_looked_up_and_transparency_is_white(tmp_path):
    picture = Image.new("P", (2, 1))
    picture.putpalette([10, 20, 30, 40, 50, 60])
    picture.putpixel((1, 0), 1)
    found = one(tmp_path, encoded(picture, transparency=1))
    assert found.tolist() == [[[10, 20, 30], [255, 255, 255]]]


def test_sixteen_bits_become_eight(tmp_path):
    deep = np.array([[0, 65535, 32768]], dtype=np.uint16)
    # 32768 * 255 / 65535 = 127.5, to the even neighbour 128
    assert one(tmp_path, encoded(deep))[..., 0].tolist() == [[0, 255, 128]]


def test_cmyk_becomes_rgb(tmp_path):
    picture = Image.new("CMYK", (8, 8), (0, 255, 255, 0))  # magenta and yellow: red
    red = one(tmp_path, encoded(picture, "JPEG", quality=100), "a.jpg")
    assert red.shape == (8, 8, 3)
    assert red[0, 0, 0] > 240
    assert red[0, 0, 1:].max() < 15


def test_of_an_animation_the_first_frame_counts(tmp_path):
    frames = [Image.fromarray(shade(value)) for value in (255, 0)]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert one(tmp_path, data, "a.gif").min() == 255


def chunk(name: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + data))
    return struct.pack(">I", len(data)) + name + data + check


BOMB = (
    b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(bytes(1000)))
    + chunk(b"IEND", b"")
)
DAMAGED = bytearray(encoded(np.random.default_rng(0).integers(0, 256, (16, 16, 3), np.uint8)))
DAMAGED[60:90] = bytes(30)  # within the pixels


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty (0 bytes)"),
        (encoded(shade(9))[:50], "is a truncated PNG"),
        (encoded(shade(9, 90, 90), "JPEG")[:-40], "is a truncated JPEG"),
        (bytes(DAMAGED), "does not decode"),
        (BOMB, "is a decompression bomb or too large: 60000 x 60000"),
        (b"<!doctype html><html></html>", "is an HTML page, not an image"),
    ],
    ids=["empty", "cut", "cut jpeg", "damaged", "bomb", "page"],
)
def test_what_cannot_be_read_says_why(tmp_path, data, reason):
    found = one(tmp_path, data)
    assert isinstance(found, Unreadable)
    assert reason in found.reason


def test_a_pipe_called_as_a_picture_does_not_hang(tmp_path):
    (tmp_path / "cat").mkdir()
    os.mkfifo(tmp_path / "cat" / "a.png")
    assert only(tmp_path) == Unreadable("is no ordinary file")


# ImageNet ---------------------------------------------------------------------------------------


@pytest.fixture
def ilsvrc(tmp_path):
    return imagenet(tmp_path / "ILSVRC" / "Data" / "CLS-LOC").parents[2]


def name_classes(place):
    lines = [f"{one} {name}" for one, name in zip(WORDNETS, IMAGENET_NAMES, strict=True)]
    (place / "LOC_synset_mapping.txt").write_text("\n".join(lines) + "\n")


def test_imagenets_train(ilsvrc):
    examples = open_examples(ilsvrc)
    assert (examples.source["layout"], examples.classes) == ("imagenet", WORDNETS)
    assert examples.labels.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert examples.id(2) == "n01443537/n01443537_0.JPEG"
    name_classes(ilsvrc)
    named = open_examples(ilsvrc)
    assert named.classes == (  # the bird and the machine have one name
        *("tench, Tinca tinca", "goldfish, Carassius auratus"),
        *("crane (n02012849)", "crane (n03126707)"),
    )


def test_a_flat_val_with_kaggles_list(ilsvrc):
    name_classes(ilsvrc)
    rows = [f"ILSVRC2012_val_{one:08},{WORDNETS[number]} 1 2 3 4 {WORDNETS[number]} 5 6 7 8"
            for one, number in ((2, 1), (1, 3), (4, 2), (3, 0))]  # fmt: skip
    text = "ImageId,PredictionString\n" + "\n".join(rows)
    (ilsvrc / "LOC_val_solution.csv").write_text(text)
    test = open_examples(ilsvrc, split="test", classes=open_examples(ilsvrc).classes)
    assert test.labels.tolist() == [3, 1, 0, 2]
    assert test.source["split"] == "val"
    assert [int(each.mean().round()) for each in test.fetch(np.arange(4))] == [30, 10, 0, 20]


def test_a_flat_val_with_the_devkits_numbers(ilsvrc):
    truth = ilsvrc / "ILSVRC2012_validation_ground_truth.txt"
    truth.write_text("2\n4\n1\n3\n")
    with pytest.raises(UsageError, match="numbers, which are not the order of the class folders"):
        open_examples(ilsvrc, split="val")
    # ILSVRC's own order: 1 is WORDNETS[0], 2 is [3], 3 is [2], 4 is [1].
    order = (0, 3, 2, 1)
    lines = [f"{WORDNETS[one]} {number} name" for number, one in enumerate(order, 1)]
    (ilsvrc / "map_clsloc.txt").write_text("\n".join(lines))
    assert open_examples(ilsvrc, split="val").labels.tolist() == [3, 1, 0, 2]
    (ilsvrc / "map_clsloc.txt").unlink()
    io = pytest.importorskip("scipy.io")
    kit = ilsvrc / "ILSVRC2012_devkit_t12" / "data"
    kit.mkdir(parents=True)
    synsets = np.array(
        [(number, WORDNETS[one]) for number, one in enumerate(order, 1)],
        dtype=[("ILSVRC2012_ID", "O"), ("WNID", "O")],
    )
    io.savemat(kit / "meta.mat", {"synsets": synsets})
    assert open_examples(ilsvrc, split="val").labels.tolist() == [3, 1, 0, 2]
    truth.write_text("2\n4\n1\n")
    with pytest.raises(UsageError, match=r"3 labels, .* 4 pictures"):
        open_examples(ilsvrc, split="val")


def test_a_flat_val_without_a_list(ilsvrc):
    with pytest.raises(UsageError, match=r"no list of their labels is there: put ILSVRC2012_val"):
        open_examples(ilsvrc, split="val")
