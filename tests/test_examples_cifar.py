"""CIFAR as published: pickles that run no code, binary records, archives; the official order."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from examples_made import (
    CIFAR10,
    archive,
    cifar10,
    cifar10_binary,
    cifar100,
    cifar_rows,
    python2,
)
from hardset.errors import UsageError
from hardset.sources.examples.opening import open_examples
from hardset.sources.examples.plain_pickles import loads


def is_cifar10(train, test):
    """Hold a set against what examples_made put in: 20 a batch, labels counting up."""
    assert (train.kind, train.classes, len(train), len(test)) == ("image", tuple(CIFAR10), 100, 20)
    # Position 43 is number 3 of data_batch_3, whose labels begin at 2: (2 + 3) mod 10.
    assert train.labels[43] == 5
    row = cifar_rows(20, seed=2)[3]
    # Channels first in the file: value 1024 c + 32 y + x.
    pixels = train.fetch(np.array([43]))[0]
    assert pixels.shape == (32, 32, 3)
    assert pixels[7, 9].tolist() == [row[1024 * c + 32 * 7 + 9] for c in range(3)]
    assert test.labels[0] == 5
    assert train.source["layout"] == "cifar"


@pytest.mark.parametrize("old", [True, False], ids=["Python 2", "Python 3"])
def test_the_pickles(tmp_path, old):
    place = cifar10(tmp_path, old=old)
    train = open_examples(place)
    is_cifar10(train, open_examples(place, split="test"))
    assert train.id(43) == "data_batch_3, row 4"


def test_the_binary_version_is_the_same_set(tmp_path):
    place = cifar10_binary(tmp_path / "cifar-10-batches-bin").parent
    is_cifar10(open_examples(place), open_examples(place, split="val"))


@pytest.mark.parametrize("make", [cifar10, cifar10_binary])
def test_an_archive_is_read_in_place(tmp_path, make):
    folder = make(tmp_path / "cifar-10-batches")
    place = archive(folder, tmp_path / "cifar-10.tar.gz")
    before = sorted(tmp_path.rglob("*"))
    is_cifar10(open_examples(place), open_examples(place, split="test"))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("binary", [False, True])
def test_cifar100_has_its_fine_labels(tmp_path, binary):
    train = open_examples(cifar100(tmp_path, binary=binary))
    assert len(train.classes) == 100
    assert train.labels[:4].tolist() == [0, 5, 10, 15]
    assert train.classes[5] == "fine_05"


def test_pickles_name_only_plain_things():
    class Bad:
        def __reduce__(self):
            return print, ("this ran",)

    for protocol in (0, 2, 4, 5):
        with pytest.raises(UsageError, match=r"names .*print, which is no plain value"):
            loads(pickle.dumps({"data": Bad()}, protocol), "data_batch_1")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (pickle.dumps(np.array([print], dtype=object), 2), "no plain value|which are no numbers"),
        (b"cnumpy\nload\n(S'x'\ntR.", "names numpy.load"),
        (b"cnumpy\nndarray\n(I100000000000\ntR.", "not a pickle of plain values"),
        (b"c_codecs\nencode\n(Vx\nS'rot13'\ntR.", "encodes text as"),
        (b"\x80\x02}q", "not a pickle of plain values"),
        (b"<html>", "not a pickle of plain values"),
    ],
)
def test_other_pickles_are_refused(data, said):
    with pytest.raises(UsageError, match=said):
        loads(data, "data_batch_1")


def test_no_types_state_is_changed():
    # A pickle that sets the byte order of uint8's own type would change it for the whole process.
    held = loads(pickle.dumps(np.arange(3, dtype=">i4"), 2), "x")
    assert held.tolist() == [0, 1, 2]
    assert np.dtype("i4").byteorder == "="


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda place: (place / "data_batch_3").unlink(), "lacks data_batch_3 of CIFAR-10"),
        (lambda place: (place / "data_batch_2").write_bytes(b"\x80\x02}"), "data_batch_2 is not a"),
        (
            lambda place: (place / "data_batch_2").write_bytes(
                python2({"data": cifar_rows(3, 0), "labels": [1, 2]})
            ),
            "data_batch_2 has 3 pictures and 2 labels",
        ),
        (
            lambda place: (place / "data_batch_2").write_bytes(
                python2({"data": cifar_rows(2, 0), "labels": [1, 12]})
            ),
            "label 12 has no name: there are 10 classes",
        ),
    ],
)
def test_what_is_damaged_is_named(tmp_path, spoil, said):
    place = cifar10(tmp_path)
    spoil(place)
    with pytest.raises(UsageError, match=said):
        open_examples(place)


def test_a_binary_file_that_broke_off(tmp_path):
    place = cifar10_binary(tmp_path)
    whole = (place / "data_batch_1.bin").read_bytes()
    (place / "data_batch_1.bin").write_bytes(whole[:-1])
    with pytest.raises(UsageError, match="61,459 bytes, which are no whole records of 3073"):
        open_examples(place)  # 20 * 3073 - 1


def test_an_archive_that_broke_off(tmp_path):
    path = archive(cifar10(tmp_path / "cifar-10-batches-py"), tmp_path / "cifar-10-python.tar.gz")
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(UsageError, match=r"damaged archive|holds no CIFAR"):
        open_examples(path)
