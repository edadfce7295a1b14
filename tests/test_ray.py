"""Scoring on a local Ray cluster of two workers: the same bits, whoever dies."""

from __future__ import annotations

import re
import socket
import sys
import time

import polars as pl
import pytest

pytest.importorskip("torch", reason="needs the torch extra")
pytest.importorskip("ray.data", reason="needs the ray extra")
pytestmark = [pytest.mark.ray, pytest.mark.torch]

from hardset.cli.difficulty import difficulty as command  # noqa: E402
from hardset.errors import UsageError  # noqa: E402
from hardset.hardest.data import Data  # noqa: E402
from hardset.hardest.difficulty import difficulty  # noqa: E402
from hardset.hardest.difficulty_settings import Settings  # noqa: E402
from hardset.hardest.ray_shards import _join, cluster  # noqa: E402

FOR_RAY = """
import os
import signal
from pathlib import Path

import numpy as np
import torch
from hardset.lowresource.examples import Held, Unreadable

HERE = Path(__file__).parent
DRIVER = int((HERE / "driver").read_text())


class Some(Held):
    def fetch(self, positions):
        worker = os.getpid() != DRIVER
        if worker:
            (HERE / f"worker-{os.getpid()}").touch()
        if worker and 50 in positions and not (HERE / "died").exists():
            (HERE / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        found = super().fetch(positions)
        return [Unreadable("torn") if p == 13 else one for p, one in zip(positions, found)]


def some():
    rng = np.random.default_rng(5)
    labels = rng.integers(-1, 3, 96)
    labels[[13, 50]] = 0
    return Some(rng.normal(size=(96, 4)).astype(np.float32), labels)


def net(classes):
    return torch.nn.Sequential(
        torch.nn.Linear(4, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 3)
    )


class Picky(torch.nn.Linear):
    def forward(self, x):
        if len(x) > 2 and not torch.is_grad_enabled():
            raise RuntimeError("out of memory")
        return super().forward(x)


def picky(classes):
    return Picky(4, 3)


def not_the_same():
    rng = np.random.default_rng(os.getpid())
    return Held(rng.normal(size=(20, 4)).astype(np.float32), np.arange(20) % 3)
"""


@pytest.fixture(scope="module")
def two_workers():
    import os

    import ray

    from hardset.hardest import ray_shards

    os.environ.update(ray_shards._QUIET)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture
def made(tmp_path, monkeypatch):
    import os

    (tmp_path / "for_ray.py").write_text(FOR_RAY)
    (tmp_path / "driver").write_text(str(os.getpid()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "for_ray", raising=False)
    yield tmp_path
    sys.modules.pop("for_ray", None)


class Stop(BaseException):
    """A kill, as far as one process can have it."""


def stopping(at):
    """Return what shows progress until so many examples are scored."""

    def show(title, count):
        if "scoring" in title and count.done >= at:
            raise Stop

    return show


def test_a_killed_worker_loses_nothing_and_the_bits_are_those_of_one_machine(made, two_workers):
    data = Data("for_ray:some")
    settings = Settings(("for_ray:net",), 1, overrides={"epochs": 1}, batch=4, threads=1)
    with cluster("auto", data, device="cpu", threads=1) as workers:
        assert workers.count == 2
        with pytest.raises(Stop):  # the driver dies when it has some of the 24 parts
            difficulty(data, made / "ray", settings, shards=workers.score, show=stopping(96 // 3))
        assert 0 < len(list(made.glob("ray/scores/*/seed-0/part-*"))) < 24
        done = difficulty(data, made / "ray", settings, shards=workers.score)
    assert (made / "died").exists()
    assert len(list(made.glob("worker-*"))) >= 2  # the one that died, and another
    assert not done.failed
    difficulty(data, made / "here", settings)
    parts = [sorted((made / name).rglob("*.parquet")) for name in ("ray", "here")]
    assert len(parts[0]) == len(parts[1]) == 24 + 1  # of 4 examples each; the table of all
    for one, other in zip(*parts, strict=True):
        assert one.read_bytes() == other.read_bytes()
    states = pl.read_parquet(made / "ray/difficulty.parquet")["state"].value_counts()
    assert dict(states.rows())["unreadable"] == 1


def test_other_data_are_an_error_and_a_predictor_that_fails_is_said(made, two_workers):
    data = Data("for_ray:not_the_same")
    settings = Settings(("mlp",), 1, ("loss",), at_epoch=0, threads=1)
    with (
        pytest.raises(UsageError, match="the data are not there as the driver sees them"),
        cluster("auto", data, device="cpu", threads=1) as workers,
    ):
        difficulty(data, made / "out", settings, shards=workers.score)
    assert not list(made.glob("out/scores/mlp/seed-0/part-*"))
    (made / "died").touch()
    data, settings = Data("for_ray:some"), Settings(("for_ray:picky",), 1, ("loss",), threads=1)
    with cluster("auto", data, device="cpu", threads=1) as workers:
        done = difficulty(data, made / "picky", settings, shards=workers.score)
    assert done.failed == [{"predictor": "for_ray:picky", "seed": 0, "reason": "out of memory"}]
    with (
        pytest.raises(UsageError, match="a worker takes 3 CPU, and the cluster has 2"),
        cluster("auto", data, device="cpu", threads=3),
    ):
        pass


def test_without_ray_the_command_says_what_to_install(monkeypatch, tmp_path):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "ray" else found(name)
    )
    with pytest.raises(UsageError, match=r"pip install 'hardset\[ray\]'"):
        command("digits", out=tmp_path / "out", ray="auto")


@pytest.mark.parametrize("address", ["nope.invalid:1", "ray://127.0.0.1:{}", "[::1]:{}", "auto"])
def test_an_address_where_nothing_listens_is_said_at_once(address, monkeypatch):
    with socket.socket() as taken:  # bound, and listens to nobody
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        address, began = address.format(port), time.monotonic()
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{port}")
        named = rf"127\.0\.0\.1:{port}" if address == "auto" else re.escape(address)
        with pytest.raises(UsageError, match=rf"^--ray {named}.*: no Ray cluster answers there: "):
            _join(address)
    assert time.monotonic() - began < 15
