"""`hardset fetch` and runs on fetched data, against a loopback server that speaks the hub's API."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from hub_server import TOKEN, WEAK_TOKEN, HubServer

MMR = "BAAI/Multimodal-Robustness-Benchmark"
OPTIONS = "\nA. red\nB. green\nC. blue\nD. white"


@pytest.fixture
def hub():
    with HubServer() as server:
        yield server


def environment(tmp_path: Path, url: str, **more: str) -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT", "TMPDIR") if key in os.environ}
    return {
        **kept,
        "HF_ENDPOINT": url,
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_DISABLE_XET": "1",
        "HARDSET_CACHE": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
        **more,
    }


def hardset(tmp_path: Path, url: str, *arguments: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "hardset", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env=environment(tmp_path, url, **env),
    )


def picture(colour: str) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (32, 32), colour).save(content, "JPEG")
    return content.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return content.getvalue()


def rows(pairs: int) -> bytes:
    return json.dumps(
        [
            {
                "id": f"context/relation/{pair:02}",
                "image": f"context/relation/{pair:02}.jpg",
                "question": f"Which colour is thing {pair}, {role}?{OPTIONS}",
                "ground_truth": "A" if role == "POS" else "B",
                "question_type": role,
            }
            for pair in range(1, pairs + 1)
            for role in ("POS", "NEG")
        ]
    ).encode()


def mmr(hub: HubServer, pairs: int = 2, **settings: object):
    members = {
        f"MMR-benchmark-images/context/relation/{n:02}.jpg": picture("red")
        for n in range(1, pairs + 1)
    }
    files = {
        "README.md": b"# MMR",
        "MMR-benchmark.json": rows(pairs),
        "MMR-benchmark-images.zip": zipped(members | {"MMR-benchmark-images/other.jpg": b"x"}),
        "MMR-data.zip": b"not wanted",
    }
    return hub.add(MMR, files, **settings)


def sentence(done: subprocess.CompletedProcess) -> str:
    """What was said on standard error: one line, exit status 2, and never a token."""
    assert done.returncode == 2, done.stderr
    assert TOKEN not in done.stdout + done.stderr
    assert WEAK_TOKEN not in done.stdout + done.stderr
    assert "Signature" not in done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("hardset: ")
    return line


def test_fetch_gets_only_the_rows_and_says_what_they_are(hub, tmp_path):
    commit = mmr(hub).refs["main"]
    done = hardset(tmp_path, hub.url, "fetch", "mmr")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no bar where no terminal is
    said = dict(line.split(":", 1) for line in done.stdout.splitlines() if line[0] != " ")
    assert said["revision"].strip() == f"{MMR}@{commit}"
    assert said["licence"].strip() == "apache-2.0"
    folder = Path(said["data"].strip())
    assert (folder / "MMR-benchmark.json").read_bytes() == rows(2)
    assert hub.got("MMR-benchmark.json") == 1
    assert hub.got("MMR-benchmark-images.zip") == hub.got("README.md") == 0


def test_a_fetched_benchmark_runs_whole_and_needs_no_network_again(hub, tmp_path):
    commit = mmr(hub, pairs=3).refs["main"]
    done = hardset(tmp_path, hub.url, "fetch", "mmr", "--images")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "cache/images/mmr"
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        "01.jpg",
        "02.jpg",
        "03.jpg",
    ]
    assert f"3 of 3 files in {folder} ({MMR} on the hub, Apache-2.0)" in done.stdout
    assert f"--images {folder}" in done.stdout
    seen = len(hub.seen)
    done = hardset(tmp_path, hub.url, "run", "mmr", "-m", "baseline/oracle", "--runs", "runs")
    assert done.returncode == 0, done.stderr
    assert len(hub.seen) == seen  # not one request: what is here is read
    (manifest,) = (tmp_path / "runs").rglob("manifest.json")
    assert f"{MMR}@{commit}" in manifest.read_text()
    (metrics,) = (tmp_path / "runs").rglob("metrics.json")
    found = json.loads(metrics.read_text())
    found = found["metrics"] if isinstance(found, dict) else found
    ra = next(m for m in found if m["name"] == "RA" and not m.get("cut"))
    assert (ra["numerator"], ra["denominator"]) == (3, 3)  # the oracle is right on every pair


def test_a_run_without_data_reads_the_hub_and_keeps_to_its_commit(hub, tmp_path):
    repo = mmr(hub, pairs=1)
    first = repo.refs["main"]
    run = ("run", "mmr", "--blind", "-m", "baseline/oracle", "--runs", "runs")
    done = hardset(tmp_path, hub.url, *run)
    assert done.returncode == 0, done.stderr
    second = repo.push({"MMR-benchmark.json": rows(4)})
    done = hardset(tmp_path, "http://127.0.0.1:9", *run)  # nothing listens there
    assert done.returncode == 0, done.stderr
    manifests = [path.read_text() for path in (tmp_path / "runs").rglob("manifest.json")]
    assert len(manifests) == 2
    assert all(f"{MMR}@{first}" in text for text in manifests)
    done = hardset(tmp_path, hub.url, "fetch", "mmr", "--update")
    assert f"{MMR}@{second}" in done.stdout
    done = hardset(tmp_path, "http://127.0.0.1:9", "fetch", "mmr")  # and that is now the one
    assert f"{MMR}@{second}" in done.stdout
    done = hardset(tmp_path, "http://127.0.0.1:9", "fetch", "mmr", "--revision", first)
    assert f"{MMR}@{first}" in done.stdout
    done = hardset(tmp_path, "http://127.0.0.1:9", *run, "-o", f"revision={first}")
    assert done.returncode == 0, done.stderr


def test_another_data_set_of_the_same_form(hub, tmp_path):
    commit = hub.add("me/mine", {"sub/MMR-benchmark.json": rows(1)}, licence="").refs["main"]
    done = hardset(tmp_path, hub.url, "fetch", "mmr", "--data", "me/mine")
    assert f"revision: me/mine@{commit}" in done.stdout
    arguments = ("run", "mmr", "--blind", "--data", "me/mine", "-m", "baseline/oracle")
    assert hardset(tmp_path, hub.url, *arguments).returncode == 0


def test_images_of_several_sources_each_by_its_licence(hub, tmp_path):
    """Loose files, an archive, steps instead of files, and a source that nobody knows."""
    named = {
        "RealX-Bench": [f"realx/{n:03}.jpg" for n in range(150)],  # more than a listing's page
        "ArxivQA": ["images/0704.0001_1.jpg", "images/0704.0001_2.jpg"],
        "V*Bench": ["direct_attributes/sa_1.jpg"],
        "mine": ["x.jpg"],
    }
    table = pl.DataFrame(
        [
            {
                "question": f"What is in {path}?",
                "answer": "one",
                "image": path,
                "data_source": source,
                "is_unanswerable": False,
                "original_question": "",
                "modifications": "",
                "pair_id": None,
            }
            for source, paths in named.items()
            for path in paths
        ],
        schema_overrides={"pair_id": pl.Float64},
    )
    content = io.BytesIO()
    table.write_parquet(content)
    few = io.BytesIO()
    table.filter(pl.col("data_source") == "V*Bench").write_parquet(few)
    hub.add(
        "hyeminboo/HARDBench",
        {
            "data/test-00000-of-00001.parquet": content.getvalue(),
            "data/vstar-00000-of-00001.parquet": few.getvalue(),
        },
        licence="cc-by-sa-4.0",
    )
    picked = {f"data/images/{n:03}.jpg": b"jpeg %d" % n for n in range(150)}
    hub.add("glowol/RealXBench", picked | {"data/images/more.jpg": b"not wanted"})
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        for name in ("images/0704.0001_1.jpg", "images/0704.0001_2.jpg", "images/other.jpg"):
            info = tarfile.TarInfo(name)
            info.size = len(name)
            archive.addfile(info, io.BytesIO(name.encode()))
    repo = hub.add("MMInstruction/ArxivQA", {"images.tgz": tar.getvalue(), "a.jsonl": b"{}"})
    repo.licence = "mit"  # changed since: said, not hidden
    done = hardset(tmp_path, hub.url, "fetch", "hardbench", "--images")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "cache/images/hardbench"
    assert len(list((folder / "RealX-Bench/realx").iterdir())) == 150
    assert (folder / "RealX-Bench/realx/149.jpg").read_bytes() == b"jpeg 149"
    arxiv = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("0704*"))
    assert arxiv == ["ArxivQA/images/0704.0001_1.jpg", "ArxivQA/images/0704.0001_2.jpg"]
    assert (folder / arxiv[1]).read_bytes() == b"images/0704.0001_2.jpg"
    assert hub.got("more.jpg") == hub.got("a.jsonl") == 0
    assert not any("vstar_bench" in path for _, path in hub.seen)  # its licence is for a person
    said = done.stdout
    assert "RealX-Bench: 150 of 150 files" in said
    assert "(glowol/RealXBench on the hub, Apache-2.0)" in said
    assert "(MMInstruction/ArxivQA on the hub, CC-BY-SA-4.0; its page states mit)" in said
    assert "(craigwu/vstar_bench on the hub, SA-1B research licence)" in said
    assert "hf download craigwu/vstar_bench --repo-type dataset" in said
    assert f"Put them into {folder / 'VstarBench'}" in said
    assert "mine: 1 file; who publishes them is not known" in said
    seen = len(hub.seen)
    done = hardset(tmp_path, hub.url, "fetch", "hardbench", "--images", "--split", "vstar")
    assert done.returncode == 0, done.stderr
    assert len(hub.seen) == seen
    assert "RealX" not in done.stdout
    done = hardset(tmp_path, hub.url, "fetch", "hardbench", "--images", "--split", "tset")
    assert "has no split 'tset'; there are: test, vstar" in sentence(done)


# Trouble ----------------------------------------------------------------------------------------


def test_no_network(tmp_path):
    line = sentence(hardset(tmp_path, "http://127.0.0.1:9", "run", "mmr", "--blind", "-m", "x/y"))
    assert "the hub cannot be reached" in line
    assert "--data" in line
    assert "hardset fetch" in line


def test_no_such_host(tmp_path):
    assert "the hub cannot be reached" in sentence(
        hardset(tmp_path, "http://hub.invalid", "fetch", "mmr")
    )


def test_told_to_stay_offline(hub, tmp_path):
    mmr(hub)
    line = sentence(hardset(tmp_path, hub.url, "fetch", "mmr", HF_HUB_OFFLINE="1"))
    assert "HF_HUB_OFFLINE" in line
    assert hub.seen == []


def test_gated_without_a_token(hub, tmp_path):
    mmr(hub, gated=True)
    line = sentence(hardset(tmp_path, hub.url, "fetch", "mmr"))
    assert f"accept its terms at {hub.url}/datasets/{MMR}" in line
    assert "HF_TOKEN" in line


def test_gated_with_a_token_that_may_not_read_it(hub, tmp_path):
    mmr(hub, gated=True)
    line = sentence(hardset(tmp_path, hub.url, "fetch", "mmr", HF_TOKEN=WEAK_TOKEN))
    assert "the token that is set may not read it" in line


def test_gated_with_a_token(hub, tmp_path):
    mmr(hub, gated=True, large=("MMR-benchmark.json",))
    done = hardset(tmp_path, hub.url, "fetch", "mmr", HF_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    assert TOKEN not in done.stdout + done.stderr
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(TOKEN.encode() in path.read_bytes() for path in kept)
    sent = {path.split("/")[1]: token for path, token in hub.tokens}
    assert sent["datasets"] == f"Bearer {TOKEN}"
    assert sent["cdn"] == ""  # the token is the hub's alone


@pytest.mark.parametrize("token", ["", TOKEN])
def test_no_such_data_set(hub, tmp_path, token):
    env = {"HF_TOKEN": token} if token else {}
    line = sentence(hardset(tmp_path, hub.url, "fetch", "mmr", "--data", "no/such", **env))
    assert "no dataset no/such on the hub" in line


def test_no_such_revision(hub, tmp_path):
    mmr(hub)
    line = sentence(hardset(tmp_path, hub.url, "fetch", "mmr", "--revision", "v9"))
    assert "no revision 'v9'" in line


def test_no_such_file(hub, tmp_path):
    hub.add(MMR, {"README.md": b"moved", "picture.png": b"x"})
    line = sentence(hardset(tmp_path, hub.url, "fetch", "mmr"))
    assert "holds no **/MMR-benchmark.json" in line


def test_a_file_that_is_listed_and_not_given(hub, tmp_path):
    mmr(hub).faults["MMR-benchmark.json"] = "gone"
    assert "404" in sentence(hardset(tmp_path, hub.url, "fetch", "mmr"))


@pytest.mark.parametrize(
    ("path", "status"), [("MMR-benchmark.json", 403), ("", 403), ("", 500), ("", 429), ("", 401)]
)
def test_a_hub_in_trouble(hub, tmp_path, path, status):
    mmr(hub).faults[path] = f"status {status}"
    assert f"status {status}" in sentence(hardset(tmp_path, hub.url, "fetch", "mmr"))


def test_a_broken_off_download_goes_on_where_it_stopped(hub, tmp_path):
    whole = rows(2) + b" " * 24_000_000  # a library may keep what comes in pieces of 10 MB
    repo = hub.add(MMR, {"MMR-benchmark.json": whole}, large=("MMR-benchmark.json",))
    repo.faults["MMR-benchmark.json"] = "broken 1"
    done = hardset(tmp_path, hub.url, "fetch", "mmr")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (asked,) = hub.ranges  # once, and not from the start: what had come was not sent again
    assert 0 < int(asked.removeprefix("bytes=").removesuffix("-")) <= len(whole) // 2
    (found,) = (tmp_path / "hf").rglob("MMR-benchmark.json")
    assert found.read_bytes() == whole


def test_a_download_that_breaks_off_for_good(hub, tmp_path):
    mmr(hub).faults["MMR-benchmark.json"] = "broken 0"
    line = sentence(hardset(tmp_path, hub.url, "fetch", "mmr"))
    assert "broke off" in line
    assert not list(tmp_path.rglob("MMR-benchmark.json"))


@pytest.mark.parametrize("fault", ["wrong", "short"])
@pytest.mark.parametrize("large", [(), ("MMR-benchmark.json",)], ids=["git", "lfs"])
def test_other_bytes_than_listed_are_thrown_away(hub, tmp_path, large, fault):
    repo = mmr(hub, large=large)
    repo.faults["MMR-benchmark.json"] = fault
    line = sentence(hardset(tmp_path, hub.url, "fetch", "mmr"))
    assert "MMR-benchmark.json" in line or fault == "short"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"quest" in _read(path)]
    repo.faults.clear()
    done = hardset(tmp_path, hub.url, "fetch", "mmr")
    assert done.returncode == 0, done.stderr


def _read(path: Path) -> bytes:
    return bytes(byte ^ 1 for byte in path.read_bytes()) + path.read_bytes()


def test_a_cached_file_that_was_damaged_before_it_was_first_used_is_fetched_again(hub, tmp_path):
    mmr(hub)
    assert hardset(tmp_path, hub.url, "fetch", "mmr").returncode == 0
    (found,) = (tmp_path / "hf").rglob("MMR-benchmark.json")
    found.resolve().write_bytes(b"cut")
    done = hardset(tmp_path, hub.url, "fetch", "mmr")
    assert done.returncode == 0, done.stderr
    assert found.read_bytes() == rows(2)
    assert hub.got("MMR-benchmark.json") == 2


def test_a_cache_that_cannot_be_written(hub, tmp_path):
    mmr(hub)
    (tmp_path / "file").write_text("")
    line = sentence(hardset(tmp_path, hub.url, "fetch", "mmr", HARDSET_CACHE="file/in"))
    assert "HARDSET_CACHE" in line


def test_images_that_are_not_at_their_source(hub, tmp_path):
    repo = mmr(hub, pairs=2)
    repo.push({"MMR-benchmark.json": rows(2), "images.zip": zipped({"relation/02.jpg": b"x"})})
    done = hardset(tmp_path, hub.url, "fetch", "mmr", "--images")
    assert done.returncode == 3
    assert "1 of 2 files" in done.stdout
    assert f"not at {MMR}: 1 file: context/relation/01.jpg" in done.stdout


def test_ctrl_c_ends_a_download_at_once_and_the_next_one_goes_through(hub, tmp_path):
    mmr(hub).faults["MMR-benchmark.json"] = "slow"
    process = subprocess.Popen(
        [sys.executable, "-m", "hardset", "fetch", "mmr"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(tmp_path, hub.url),
    )
    assert hub.halfway.wait(60)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert not hub.go_on.is_set()
    assert (process.returncode, said) == (130, "stopped\n")
    assert not list((tmp_path / "hf").rglob("*.incomplete"))
    hub.repos[MMR].faults.clear()
    assert hardset(tmp_path, hub.url, "fetch", "mmr").returncode == 0


def test_ctrl_c_ends_several_downloads_at_once(hub, tmp_path):
    repo = hub.add("me/two", {"a/MMR-benchmark.json": rows(1), "b/MMR-benchmark.json": rows(1)})
    repo.faults |= {"a/MMR-benchmark.json": "slow", "b/MMR-benchmark.json": "slow"}
    process = subprocess.Popen(
        [sys.executable, "-m", "hardset", "fetch", "mmr", "--data", "me/two"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(tmp_path, hub.url),
    )
    assert hub.halfway.wait(60)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert not hub.go_on.is_set()
    assert (process.returncode, said) == (130, "stopped\n")


def test_a_benchmark_that_is_not_on_the_hub(tmp_path):
    line = sentence(hardset(tmp_path, "http://127.0.0.1:9", "fetch", "scenes"))
    assert "nothing to fetch" in line
