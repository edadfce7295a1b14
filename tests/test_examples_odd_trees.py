"""Odd folders and archives of pictures."""

import gzip
import io
import os
import pickle
import tarfile

import numpy as np
import pytest

from hardset.errors import UsageError
from hardset.sources.examples import cifar, splits, tree
from hardset.sources.examples.opening import open_examples

GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00"
GIF += b"\x00\x02\x02D\x01\x00;"


def classes(root, *names):
    for name in names:
        folder = os.path.join(os.fsencode(root), name.encode(errors="surrogateescape"))
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, b"a.gif"), "wb") as file:
            file.write(GIF)
    return root


def test_names_that_are_not_utf_8(tmp_path):
    root = classes(tmp_path, "x", "y\n\u202e")
    (root / "x" / "b\udcff.gif").write_bytes(GIF)
    (root / "x" / "c\udcff").mkdir()
    examples = open_examples(root)
    assert [examples.id(i) for i in range(len(examples))] == ["x/a.gif", "y\n\u202e/a.gif"]
    wanted = "2 files and folders whose names are not UTF-8 were left out"
    assert examples.source["notes"] == [wanted]
    with pytest.raises(UsageError, match=r"the folder 'z\\udcff' is not called in UTF-8"):
        open_examples(classes(tmp_path, "z\udcff"))


def test_folders_deep_in_one_another(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "DEEPEST", 5)
    root = classes(tmp_path, "x/1/2/3/4/5", "x", "y")
    assert len(open_examples(root)) == 3
    with pytest.raises(UsageError, match="x has more than 5 folders in one another"):
        open_examples(classes(root, "x/1/2/3/4/5/6"))


def test_splits_that_differ_in_case():
    assert splits.pick(["Train", "train"], "train", "x") == "train"
    assert splits.pick(["TRAIN"], "train", "x") == "TRAIN"
    with pytest.raises(UsageError, match="has TRAIN and Train: which is the split 'train'"):
        splits.pick(["TRAIN", "Train"], "train", "x")


def archived(path, **sizes):
    """Write CIFAR-10 with two pictures a file; `sizes` are other contents by name."""
    batch = {"data": np.zeros((2, 3072), np.uint8), "labels": [0, 1]}
    contents = {f"data_batch_{number}": pickle.dumps(batch, 2) for number in range(1, 6)}
    contents["batches.meta"] = pickle.dumps({"label_names": [f"c{i}" for i in range(10)]}, 2)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in {**contents, **sizes}.items():
            member = tarfile.TarInfo(f"../../cifar-10-batches-py/{name}")  # leads nowhere
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_an_archive_with_a_wrong_checksum(tmp_path):
    """All of it can be unpacked, and it is not what was packed: gzip's last 8 bytes say so."""
    path = archived(tmp_path / "cifar.tar.gz")
    assert len(open_examples(path)) == 10
    assert not (tmp_path.parent.parent / "cifar-10-batches-py").exists()
    packed = bytearray(path.read_bytes())
    packed[-8] ^= 1
    path.write_bytes(packed)
    with pytest.raises(gzip.BadGzipFile), gzip.open(path) as file:
        file.read()
    with pytest.raises(UsageError, match=r"a damaged archive: CRC check failed"):
        open_examples(path)


def test_an_archive_that_unpacks_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(cifar, "MOST", 10**5)
    path = archived(tmp_path / "cifar.tar.gz", data_batch_3=bytes(10**6))
    with pytest.raises(UsageError, match=r"data_batch_3 has 1,000,000 bytes: not CIFAR's"):
        open_examples(path)
