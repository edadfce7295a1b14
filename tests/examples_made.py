"""Little labelled sets in every layout, made for tests: as published, a hundredth of the size."""

from __future__ import annotations

import io
import json
import pickle
import struct
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

# Pictures ---------------------------------------------------------------------------------------


def shade(value: int, height: int = 4, width: int = 5) -> np.ndarray:
    """A grey picture (height, width, 3) whose every value is `value`."""
    return np.full((height, width, 3), value, dtype=np.uint8)


def encoded(pixels: Any, kind: str = "PNG", **settings: Any) -> bytes:
    """The bytes of an image file with these pixels, or of a Pillow picture."""
    picture = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    out = io.BytesIO()
    picture.save(out, kind, **settings)
    return out.getvalue()


def class_folders(root: Path, counts: dict[str, int], first: int = 0) -> Path:
    """ROOT/CLASS/000.png, ...: shades first, first+1, ... in order."""
    value = first
    for name, count in counts.items():
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (folder / f"{number:03}.png").write_bytes(encoded(shade(value)))
            value += 1
    return root


WORDNETS = ("n01440764", "n01443537", "n02012849", "n03126707")
IMAGENET_NAMES = ("tench, Tinca tinca", "goldfish, Carassius auratus", "crane", "crane")


def imagenet(root: Path, per_class: int = 2) -> Path:
    """ILSVRC's train, and a flat val of one picture a class, in the order 3, 1, 0, 2."""
    for number, wordnet in enumerate(WORDNETS):
        folder = root / "train" / wordnet
        folder.mkdir(parents=True)
        for one in range(per_class):
            (folder / f"{wordnet}_{one}.JPEG").write_bytes(encoded(shade(10 * number), "JPEG"))
    (root / "val").mkdir()
    for one, number in enumerate((3, 1, 0, 2), 1):
        path = root / "val" / f"ILSVRC2012_val_{one:08}.JPEG"
        path.write_bytes(encoded(shade(10 * number), "JPEG"))
    return root


# CIFAR ------------------------------------------------------------------------------------------

CIFAR10 = "airplane automobile bird cat deer dog frog horse ship truck".split()


def cifar_rows(n: int, seed: int) -> np.ndarray:
    """(n, 3072) bytes, channels first."""
    return np.random.default_rng(seed).integers(0, 256, (n, 3072), dtype=np.uint8)


def python2(value: Any) -> bytes:
    """A pickle as Python 2 wrote it, protocol 2: texts as BINSTRING, numpy by its old names."""
    return b"\x80\x02" + _python2(value) + b"."


def _python2(value: Any) -> bytes:
    if isinstance(value, dict):
        items = b"".join(_python2(k) + _python2(v) + b"s" for k, v in value.items())
        return b"}" + items
    if isinstance(value, list | tuple):
        inner = b"".join(map(_python2, value))
        return b"(" + inner + (b"l" if isinstance(value, list) else b"t")
    if isinstance(value, bool):
        return b"\x88" if value else b"\x89"
    if value is None:
        return b"N"
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        return b"T" + struct.pack("<i", len(data)) + data
    kind = b"cnumpy\ndtype\n" + _python2(("u1", 0, 1)) + b"R"
    kind += _python2((3, "|", None, None, None, -1, -1, 0)) + b"b"
    made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n"
    made += _python2((0,)) + _python2("b") + b"tR"
    state = b"(" + _python2(1) + _python2(value.shape) + kind + b"\x89"
    return made + state + _python2(value.tobytes()) + b"tb"


def cifar10(root: Path, n: int = 20, *, old: bool = True) -> Path:
    """CIFAR-10's pickles with n pictures in each batch; labels count up: 0, 1, ..., 9, 0, ..."""
    root.mkdir(parents=True, exist_ok=True)
    dump = python2 if old else (lambda value: pickle.dumps(value, protocol=2))
    names = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]
    for number, name in enumerate(names):
        held = {
            "batch_label": f"training batch {number + 1} of 5",
            "labels": [(number + one) % 10 for one in range(n)],
            "data": cifar_rows(n, number),
            "filenames": [f"thing_s_{one:06}.png" for one in range(n)],
        }
        (root / name).write_bytes(dump(held))
    meta = {"num_cases_per_batch": n, "label_names": CIFAR10, "num_vis": 3072}
    (root / "batches.meta").write_bytes(dump(meta))
    return root


def cifar10_binary(root: Path, n: int = 20) -> Path:
    """The binary version of the same pictures."""
    root.mkdir(parents=True, exist_ok=True)
    names = [f"data_batch_{number}.bin" for number in range(1, 6)] + ["test_batch.bin"]
    for number, name in enumerate(names):
        labels = np.array([[(number + one) % 10] for one in range(n)], dtype=np.uint8)
        (root / name).write_bytes(np.hstack([labels, cifar_rows(n, number)]).tobytes())
    (root / "batches.meta.txt").write_text("\n".join(CIFAR10) + "\n\n")
    return root


def cifar100(root: Path, n: int = 20, *, binary: bool = False) -> Path:
    """CIFAR-100: fine labels 0, 5, 10, ..., coarse labels all 7."""
    root.mkdir(parents=True, exist_ok=True)
    fine = [5 * one % 100 for one in range(n)]
    names = [f"fine_{number:02}" for number in range(100)]
    for seed, name in enumerate(("train", "test")):
        rows = cifar_rows(n, seed)
        if binary:
            both = np.array([[7, label] for label in fine], dtype=np.uint8)
            (root / f"{name}.bin").write_bytes(np.hstack([both, rows]).tobytes())
        else:
            held = {"fine_labels": fine, "coarse_labels": [7] * n, "data": rows}
            (root / name).write_bytes(python2(held))
    if binary:
        (root / "fine_label_names.txt").write_text("\n".join(names))
    else:
        (root / "meta").write_bytes(python2({"fine_label_names": names}))
    return root


def archive(folder: Path, path: Path) -> Path:
    """FOLDER as PATH, a .tar.gz."""
    with tarfile.open(path, "w:gz") as made:
        made.add(folder, folder.name)
    return path


# Tables -----------------------------------------------------------------------------------------


def hub_parquet(path: Path, columns: dict[str, Any], names: dict[str, Sequence[str]]) -> Path:
    """A parquet file as the hub has them: the names of labels in its `huggingface` metadata."""
    import polars as pl

    features = {
        name: {"names": list(names[name]), "_type": "ClassLabel"}
        if name in names
        else {"dtype": "string", "_type": "Value"}
        for name in columns
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    said = {"huggingface": json.dumps({"info": {"features": features}})}
    pl.DataFrame(columns).write_parquet(path, metadata=said)
    return path


def picture_cells(values: Sequence[int]) -> list[dict[str, Any]]:
    """Cells of a column of pictures, as the hub has them."""
    return [{"bytes": encoded(shade(value)), "path": f"{value}.png"} for value in values]


# GLUE -------------------------------------------------------------------------------------------

QUOTED = 'He said "no'  # one quote: a reader that takes it for more swallows the next lines

GLUE = {
    "CoLA": (
        "",
        [
            f"gj04\t1\t\t{QUOTED}.",
            "gj04\t0\t*\tThey drank the pub.",
            "cj99\t1\t\tThe more the merrier.",
        ],
    ),
    "SST-2": (
        "sentence\tlabel",
        ["hide new secretions \t0", f"{QUOTED} wit \t1", "that loves its characters \t1"],
    ),
    "MRPC": (
        "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String",
        [f"1\t70\t71\t{QUOTED}\tHe denied it", "0\t30\t31\tYucaipa owned it\tIt was sold"],
    ),
    "QQP": (
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate",
        [
            "13\t1\t2\tHow is it?\tWhat is it?\t0",
            "14\t3\t4\tbroken",
            "15\t5\t6\tWhy?\tHow come?\t1",
        ],
    ),
    "MNLI": (
        "index\tpromptID\tpairID\tgenre\tsentence1\tsentence2\tlabel1\tgold_label",
        [
            "0\t3\t3n\tfiction\tA man sings.\tHe hums.\tneutral\tneutral",
            "1\t3\t3e\tfiction\tA man sings.\tSomebody sings.\tentailment\tentailment",
            "2\t3\t3c\tfiction\tA man sings.\tNobody sings.\tcontradiction\tcontradiction",
            "3\t3\t3x\tfiction\tA man sings.\tHe may sing.\tneutral\t-",
        ],
    ),
    "QNLI": (
        "index\tquestion\tsentence\tlabel",
        ["0\tWhen?\tIn 1914.\tentailment", "1\tWho?\tIt rained.\tnot_entailment"],
    ),
    "RTE": (
        "index\tsentence1\tsentence2\tlabel",
        ["0\tNo weapons.\tWeapons.\tnot_entailment", "1\tA and B.\tA.\tentailment"],
    ),
    "WNLI": (
        "index\tsentence1\tsentence2\tlabel",
        ["0\tI stuck a pin.\tThe pin.\t1", "1\tShe saw him.\tHe saw.\t0"],
    ),
    "STS-B": (
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore",
        [
            "0\tmain\tMSR\t2012\t1\tnone\tnone\tA plane takes off.\tA plane flies.\t5.000",
            "1\tmain\tMSR\t2012\t4\tnone\tnone\tA man plays.\tA man sings.\t2.75",
        ],
    ),
}


def glue(root: Path, task: str) -> Path:
    """A task's folder: the rows above as train.tsv, the last two as its validation set."""
    header, rows = GLUE[task]
    folder = root / task
    folder.mkdir(parents=True)
    begin = [header] if header else []
    validation = "dev_matched.tsv" if task == "MNLI" else "dev.tsv"
    (folder / "train.tsv").write_text("\n".join([*begin, *rows]) + "\n", encoding="utf-8")
    (folder / validation).write_text("\n".join([*begin, *rows[-2:]]) + "\n", encoding="utf-8")
    (folder / "test.tsv").write_text("index\tsentence\n0\tno label here\n", encoding="utf-8")
    return folder
