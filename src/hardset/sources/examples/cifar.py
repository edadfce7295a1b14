"""CIFAR-10 and CIFAR-100 as published: the Python pickles, the binary version, or either's archive.

Positions are the official order, data_batch_1 to 5, which are the indices of Hard-Bench's score
files. CIFAR-100 has its fine labels. No code of the pickles is run.
"""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zlib
from collections.abc import Mapping
from io import BufferedReader
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.sources.examples import splits
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.labelling import labelled
from hardset.sources.examples.named import Named
from hardset.sources.examples.plain_pickles import loads
from hardset.sources.examples.table import Places

NAME = "cifar"
NEEDS = (
    "CIFAR's data_batch_1 to 5, test_batch and batches.meta (CIFAR-100: train, test, meta), the "
    "same as .bin, or the .tar.gz of either"
)
SIDE = 32
PIXELS = 3 * SIDE * SIDE
MOST = 2**28  # bytes of a file: the largest of the published has 156 million
_ARCHIVES = (".tar.gz", ".tgz", ".tar")


class Version(NamedTuple):
    """One of the four ways CIFAR is published.

    Attributes:
        files: of each split.
        names: the file of the classes' names, and its key in a pickle.
        labels: the key of the labels in a pickle; of a binary record, how many bytes are labels,
            the last of which is the one wanted.
    """

    title: str
    files: Mapping[str, tuple[str, ...]]
    names: tuple[str, str]
    labels: str | int
    classes: int


def _batches(suffix: str) -> tuple[str, ...]:
    return tuple(f"data_batch_{number}{suffix}" for number in range(1, 6))


VERSIONS = (
    Version(
        "CIFAR-10",
        {"train": _batches(""), "test": ("test_batch",)},
        *(("batches.meta", "label_names"), "labels", 10),
    ),
    Version(
        "CIFAR-10, binary",
        {"train": _batches(".bin"), "test": ("test_batch.bin",)},
        *(("batches.meta.txt", ""), 1, 10),
    ),
    Version(
        "CIFAR-100",
        {"train": ("train",), "test": ("test",)},
        *(("meta", "fine_label_names"), "fine_labels", 100),
    ),
    Version(
        "CIFAR-100, binary",
        {"train": ("train.bin",), "test": ("test.bin",)},
        *(("fine_label_names.txt", ""), 2, 100),
    ),
)


def recognise(place: str) -> bool:
    """Whether it is a folder with CIFAR's files, or an archive with "cifar" in its name."""
    path = Path(place).expanduser()
    if path.is_file():
        return path.name.endswith(_ARCHIVES) and "cifar" in path.name.lower()
    return path.is_dir() and _in_folder(path) is not None


def read(asked: Asked) -> Examples:
    """Read a split; the whole of it is held (150 MB for 50,000 pictures)."""
    path = asked.path
    split = splits.train_or_test(asked.split, path)
    if path.is_file():
        version, data = _from_archive(path, split)
    else:
        found = _in_folder(path)
        if found is None:
            raise UsageError(f"{path} holds no CIFAR; a place of this layout has {NEEDS}")
        folder, version = found
        data = _from_folder(folder, version, split)
    names = _names(_bytes(data.pop(version.names[0])), version, path)
    files = version.files[split]
    digest = hashlib.sha256()
    # Room for all, filled file by file: no file's bytes are kept longer than they are needed.
    whole = np.empty((sum(map(_size, data.values())) // PIXELS, SIDE, SIDE, 3), dtype=np.uint8)
    numbers: list[int] = []
    starts: list[int] = []
    for file in files:
        content = _bytes(data.pop(file))
        digest.update(content)
        rows, labels = _batch(content, version, f"{path}, {file}")
        del content
        at = len(numbers)
        starts.append(at)
        numbers += labels
        # As people see them: channels last.
        whole[at : len(numbers)] = rows.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)
        del rows
    known = labelled(numbers, f"{path}, labels", classes=names, numbers=True)
    if asked.classes and asked.classes != names:
        texts = [names[label] for label in known.labels]
        known = labelled(texts, f"{path}, labels", classes=asked.classes)
    return Named(
        whole[: len(numbers)],
        known.labels,
        known.classes,
        {
            "place": asked.place,
            "layout": NAME,
            "version": version.title,
            "split": split,
            "files": list(files),
            "sha256": digest.hexdigest(),
            "notes": list(known.notes),
        },
        ids=Places(files, starts),
    )


def _in_folder(path: Path) -> tuple[Path, Version] | None:
    """Return the folder that holds the files, the place itself or one in it, and which they are."""
    inner = [
        path / name
        for name in (
            "cifar-10-batches-py",
            "cifar-10-batches-bin",
            "cifar-100-python",
            "cifar-100-binary",
        )
    ]
    for folder in (path, *inner):
        for version in VERSIONS:
            named = (folder / version.names[0]).is_file()
            if named and any((folder / name).is_file() for name in _all_files(version)):
                return folder, version
    return None


def _all_files(version: Version) -> list[str]:
    return [name for files in version.files.values() for name in files]


def _from_folder(folder: Path, version: Version, split: str) -> dict[str, bytes | Path]:
    wanted = (*version.files[split], version.names[0])
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        raise UsageError(f"{folder} lacks {', '.join(missing)} of {version.title}")
    return {name: folder / name for name in wanted}


def _bytes(held: bytes | Path) -> bytes:
    if isinstance(held, bytes):
        return held
    try:
        return held.read_bytes()
    except OSError as error:
        raise UsageError(f"{held} cannot be read: {error.strerror or error}") from error


def _size(held: bytes | Path) -> int:
    return len(held) if isinstance(held, bytes) else held.stat().st_size


def _unzipped(path: Path) -> gzip.GzipFile | BufferedReader:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if zipped else path.open("rb")


def _from_archive(path: Path, split: str) -> tuple[Version, dict[str, bytes | Path]]:
    wanted = {name for version in VERSIONS for name in version.files[split]}
    wanted |= {version.names[0] for version in VERSIONS}
    data: dict[str, bytes | Path] = {}
    try:
        # Read once through, nothing is unpacked. tarfile itself does not look at gzip's checksum.
        with _unzipped(path) as stream, tarfile.open(fileobj=stream, mode="r|*") as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                if member.isreg() and name in wanted:
                    if member.size > MOST:
                        raise UsageError(f"{path}: {name} has {member.size:,} bytes: not CIFAR's")
                    file = archive.extractfile(member)
                    data[name] = file.read() if file else b""
            while stream.read(2**20):
                pass
    except (tarfile.TarError, OSError, EOFError, zlib.error, LZMAError) as error:
        raise UsageError(f"{path} is a damaged archive: {error}; download it again") from error
    for version in VERSIONS:
        if version.names[0] in data and any(name in data for name in version.files[split]):
            missing = [name for name in version.files[split] if name not in data]
            if missing:
                raise UsageError(f"{path} lacks {', '.join(missing)} of {version.title}")
            return version, data
    raise UsageError(f"{path} holds no CIFAR; a place of this layout has {NEEDS}")


def _batch(content: bytes, version: Version, where: str) -> tuple[NDArray[np.uint8], list[int]]:
    """Return pictures (n, 3072), channels first, and their labels."""
    if isinstance(version.labels, int):
        record = version.labels + PIXELS
        if not content or len(content) % record:
            raise UsageError(
                f"{where} has {len(content):,} bytes, which are no whole records of {record}: it "
                "broke off, or is another version of CIFAR; download it again"
            )
        rows = np.frombuffer(content, dtype=np.uint8).reshape(-1, record)
        return rows[:, version.labels :], rows[:, version.labels - 1].tolist()
    held = _keys(loads(content, where), where)
    pixels: Any = held.get("data")
    labels: Any = held.get(version.labels)
    fits = isinstance(pixels, np.ndarray) and pixels.dtype == np.uint8 and pixels.ndim == 2
    if not fits or pixels.shape[1] != PIXELS or not isinstance(labels, list):
        raise UsageError(f"{where} lacks `data` (n, {PIXELS}) of bytes, or `{version.labels}`")
    if len(labels) != len(pixels) or not all(isinstance(label, int) for label in labels):
        raise UsageError(f"{where} has {len(pixels)} pictures and {len(labels)} labels")
    return pixels, labels


def _names(content: bytes, version: Version, path: Path) -> tuple[str, ...]:
    where = f"{path}, {version.names[0]}"
    if isinstance(version.labels, int):
        found = content.decode("utf-8", "replace").split()
    else:
        listed = _keys(loads(content, where), where).get(version.names[1])
        found = [_text(name) for name in listed] if isinstance(listed, list) else []
    if len(found) != version.classes:
        raise UsageError(f"{where} names {len(found)} classes, {version.title} has them all")
    return tuple(found)


def _keys(held: Any, where: str) -> dict[str, Any]:
    if not isinstance(held, dict):
        raise UsageError(f"{where} holds a {type(held).__name__}, not a dict as CIFAR's files do")
    return {_text(key): value for key, value in held.items()}


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
