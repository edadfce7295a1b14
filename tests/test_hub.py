"""Where rows come from: files, folders and splits; which image is which; what is said in trouble.

What goes over the wire is in test_fetch.py.
"""

from __future__ import annotations

import errno
import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset.errors import UsageError
from hardset.sources.downloads import Listed, Listing, _differs
from hardset.sources.hub import Hub, Snapshot, choose, matches, resolve
from hardset.sources.pictures import ImageSource, folder_name, plain_name, source_of
from hardset.sources.trouble import explain
from hardset.sources.unpacking import match, place, unpack

HUB = Hub("owner/name")


def folder(tmp_path: Path, *names: str) -> Path:
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"rows of {name}")
    return tmp_path


# Local files ------------------------------------------------------------------------------------


def test_a_file_is_named_with_its_digest(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_bytes(b"rows")
    found = resolve(path, HUB)
    assert found.files == (path,)
    assert found.revision == f"mine.jsonl, sha256 {hashlib.sha256(b'rows').hexdigest()[:16]}"
    assert found.split("whatever") == (path,)  # the user named this one


def test_a_folders_digest_is_of_names_and_contents(tmp_path):
    place_ = folder(tmp_path / "set", "data/test.parquet", "README.md", ".cache/x.parquet")
    found = resolve(str(place_), HUB)
    assert [file.name for file in found.files] == ["test.parquet"]
    inner = hashlib.sha256(b"rows of data/test.parquet").hexdigest()
    whole = hashlib.sha256(f"data/test.parquet {inner}\n".encode()).hexdigest()
    assert found.revision == f"set, sha256 {whole[:16]}"
    (place_ / "data/test.parquet").rename(place_ / "data/train.parquet")
    assert resolve(place_, HUB).revision != found.revision


def test_a_folder_without_the_published_files_gives_what_can_be_read(tmp_path):
    found = resolve(folder(tmp_path, "test.jsonl", "notes.txt"), HUB)
    assert [file.name for file in found.files] == ["test.jsonl"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("nowhere.jsonl", "does not exist"),
        ("no/such/folder", "does not exist"),
        ("no/such.parquet", "does not exist"),  # an ending of rows: no hub id
        ("./mine", "does not exist"),
        (".", "holds no"),
    ],
)
def test_what_is_not_here_is_not_asked_of_the_hub(tmp_path, monkeypatch, data, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=said):
        resolve(data, HUB)


def test_a_revision_is_the_hubs_alone(tmp_path):
    with pytest.raises(UsageError, match="leave it out"):
        resolve(folder(tmp_path, "test.parquet"), HUB, "v1")
    with pytest.raises(UsageError, match="given twice: v1 in me/mine@v1, and v2"):
        resolve("me/mine@v1", HUB, "v2")


# Splits -----------------------------------------------------------------------------------------


def split(tmp_path: Path, name: str, *files: str) -> list[str]:
    found = resolve(folder(tmp_path, *files), HUB).split(name)
    return [file.relative_to(tmp_path).as_posix() for file in found]


def test_splits_by_file_name_shard_and_folder(tmp_path):
    files = (
        "test-00000-of-00002.parquet",
        "test-00001-of-00002.parquet",
        "train.parquet",
        "data/realx/0000.parquet",
        "validation/part-3.parquet",
    )
    assert split(tmp_path, "test", *files) == list(files[:2])
    assert split(tmp_path, "train", *files) == ["train.parquet"]
    assert split(tmp_path, "realx", *files) == ["data/realx/0000.parquet"]
    assert split(tmp_path, "validation", *files) == ["validation/part-3.parquet"]


def test_a_split_is_not_another_whose_name_begins_as_its_own(tmp_path):
    files = (
        "data/zerobench-00000-of-00001.parquet",
        "data/zerobench_subquestions-00000-of-00001.parquet",
    )
    assert split(tmp_path, "zerobench", *files) == [files[0]]
    assert split(tmp_path, "zerobench_subquestions", *files) == [files[1]]


def test_a_file_name_goes_before_a_folder_of_the_same_name(tmp_path):
    assert split(tmp_path, "test", "test/train.parquet", "test/test.parquet") == [
        "test/test.parquet"
    ]


def test_no_such_split_says_which_there_are(tmp_path):
    with pytest.raises(UsageError, match=r"no split 'tset'; there are: test, train$"):
        split(tmp_path, "tset", "test.parquet", "data/train-00000-of-00001.parquet")


def test_a_snapshot_without_a_root_goes_by_file_name():
    files = (Path("/a/test.parquet"), Path("/b/train.parquet"))
    assert Snapshot(files, "r").split("train") == files[1:]


def test_patterns():
    assert matches("test.parquet", "**/*.parquet")
    assert matches("a/b/test.parquet", "**/*.parquet")
    assert not matches("a/test.parquet.txt", "**/*.parquet")
    assert matches("MMR-benchmark.json", "**/MMR-benchmark.json")
    assert not matches("not-MMR-benchmark.json", "**/MMR-benchmark.json")
    assert choose(["b.json", "a.parquet", "x.md"], ("**/*.parquet",)) == ["a.parquet"]
    assert choose(["b.json", "x.md"], ("**/*.parquet",)) == ["b.json"]


# Digests ----------------------------------------------------------------------------------------


def test_gits_own_name_of_a_file_is_its_digest(tmp_path):
    """The blob id of "hello\n" is known: `echo hello | git hash-object --stdin`."""
    path = tmp_path / "x"
    path.write_bytes(b"hello\n")
    assert _differs(path, Listed("x", 6, blob="ce013625030ba8dba906f756967f9e9ca394464a")) == ""
    said = _differs(path, Listed("x", 6, blob="0" * 40))
    assert said == "has the sha1 ce013625030ba8db..., and the hub lists 0000000000000000..."
    assert _differs(path, Listed("x", 7, blob="0" * 40)) == "has 6 bytes, and the hub lists 7"
    sha = hashlib.sha256(b"hello\n").hexdigest()
    assert _differs(path, Listed("x", 6, sha256=sha)) == ""
    assert "sha256" in _differs(path, Listed("x", 6, sha256="0" * 64))


def test_a_damaged_record_is_asked_for_again_at_the_same_commit(tmp_path, monkeypatch):
    from hardset.sources import downloads

    monkeypatch.setenv("HARDSET_CACHE", str(tmp_path))
    asked = []

    def ask(hub: Hub, revision: str) -> Listing:
        asked.append(revision)
        return Listing(repo=hub.repo, commit="c" * 40, files=[])

    monkeypatch.setattr(downloads, "_ask", ask)
    first = downloads.listing(HUB, "main")
    assert downloads.listing(HUB, "main") == first
    assert downloads.listing(HUB, "c" * 40) == first  # the commit itself is known by now too
    assert asked == ["main"]
    (record,) = tmp_path.rglob("*.json")
    record.write_bytes(record.read_bytes()[:20])
    assert downloads.listing(HUB, "main") == first
    assert downloads.listing(HUB, "main", update=True) == first
    assert asked == ["main", "c" * 40, "main"]


# Images -----------------------------------------------------------------------------------------


def test_an_image_is_found_by_the_end_of_its_path():
    there = ["data/images/a/1.jpg", "data/images/b/1.jpg", "data/only.jpg"]
    wanted = ["a/1.jpg", "set/images/b/1.jpg", "elsewhere/only.jpg", "c/1.jpg", "none.jpg"]
    assert match(wanted, there) == {
        "a/1.jpg": "data/images/a/1.jpg",
        "set/images/b/1.jpg": "data/images/b/1.jpg",
        "elsewhere/only.jpg": "data/only.jpg",
    }


def test_two_images_never_become_one():
    assert match(["d/a/x.jpg", "e/a/x.jpg"], ["a/x.jpg"]) == {}
    assert match(["a/x.jpg", "b/x.jpg"], ["x.jpg"]) == {}
    assert match(["a/x.jpg", "d/a/x.jpg"], ["p/a/x.jpg"]) == {"a/x.jpg": "p/a/x.jpg"}
    assert match(["x.jpg"], ["x.jpg", "b/x.jpg"]) == {"x.jpg": "x.jpg"}
    assert match(["x.jpg"], ["a/x.jpg", "b/x.jpg"]) == {}


paths = st.lists(
    st.lists(st.sampled_from("abx"), min_size=1, max_size=4).map("/".join), unique=True, max_size=8
)


@given(wanted=paths, there=paths)
def test_a_match_is_there_alone_and_exact_ones_are_found(wanted, there):
    found = match(wanted, there)
    assert set(found.values()) <= set(there)
    assert len(set(found.values())) == len(found)
    assert all(at.rpartition("/")[2] == path.rpartition("/")[2] for path, at in found.items())
    assert {path: path for path in wanted if path in there}.items() <= found.items()


def archive(tmp_path: Path, kind: str, files: dict[str, bytes]) -> Path:
    path = tmp_path / f"x.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as zipped:
            for name, content in files.items():
                zipped.writestr(name, content)
    else:
        with tarfile.open(path, "w:gz" if kind == "tgz" else "w") as tarred:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tarred.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize("kind", ["zip", "tar", "tgz"])
def test_only_wanted_images_leave_an_archive_and_none_outside_its_place(tmp_path, kind):
    path = archive(
        tmp_path, kind, {"top/a/1.jpg": b"one", "../../evil/2.jpg": b"two", "top/other.jpg": b"x"}
    )
    out = tmp_path / "out"
    wanted = {"a/1.jpg": out / "a/1.jpg", "evil/2.jpg": out / "evil/2.jpg", "b.jpg": out / "b.jpg"}
    assert unpack(path, path.name, wanted) == {"a/1.jpg", "evil/2.jpg"}
    files = {f.relative_to(tmp_path).as_posix() for f in tmp_path.rglob("*") if f.is_file()}
    assert files == {path.name, "out/a/1.jpg", "out/evil/2.jpg"}
    assert (out / "a/1.jpg").read_bytes() == b"one"


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_a_damaged_archive_is_named(tmp_path, kind):
    path = archive(tmp_path, kind, {"a.jpg": bytes(range(256)) * 9})
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(UsageError, match=f"images.{kind} is no sound archive"):
        unpack(path, f"images.{kind}", {"a.jpg": tmp_path / "out.jpg"})
    assert not (tmp_path / "out.jpg").exists()


def test_a_placed_image_stands_by_itself(tmp_path):
    blob = tmp_path / "blob"
    blob.write_bytes(b"jpeg")
    (tmp_path / "link.jpg").symlink_to(blob)
    place(tmp_path / "link.jpg", tmp_path / "deep/er/1.jpg")
    (tmp_path / "link.jpg").unlink()
    blob.unlink()
    assert (tmp_path / "deep/er/1.jpg").read_bytes() == b"jpeg"


def test_sources_by_a_part_of_their_name():
    sources = {"star": ImageSource("V*Bench", "x"), "pixmo": ImageSource("PixMo", "y")}
    assert source_of(sources, "V*Bench") == sources["star"]
    assert source_of(sources, "v_star_bench") == sources["star"]
    assert source_of(sources, "PixMo-Count") == sources["pixmo"]
    assert source_of(sources, "coco") is None
    for name in ("V*Bench", "PixMo-Count", "a/b c"):
        assert plain_name(folder_name(name)) == plain_name(name)
    assert folder_name("..") == "unnamed"


# Trouble ----------------------------------------------------------------------------------------


def test_a_full_disk_says_where():
    error = OSError(errno.ENOSPC, "No space left on device")
    assert "the disk is full at" in str(explain(error, HUB, "main"))
    assert "HF_HOME" in str(explain(error, HUB, "main"))


def test_what_is_not_known_is_told_in_its_own_words_without_addresses():
    try:
        try:
            raise RuntimeError("odd: https://cdn.example/x?Signature=secret\nmore")
        except RuntimeError as error:
            raise ValueError("wrapped") from error
    except ValueError as error:
        said = str(explain(error, HUB, "main"))
    assert "RuntimeError: odd: (address)" in said
    assert "secret" not in said
    assert "more" not in said


def test_nothing_of_the_hub_is_imported_for_local_files(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("[]")
    code = (
        "import sys; from hardset.sources.hub import Hub, resolve; import hardset.cli;"
        f"resolve({str(path)!r}, Hub('a/b')); print('huggingface_hub' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
