"""Scoring on a Ray cluster: parts go out by number, come back as tables, in any order.

Ray Data keeps a pool of workers, each of which opens the data and takes the trained predictor from
the object store once. A part lost with its worker is given to another. What a part says depends on
nothing but the part (`score_pass`), so the scores are those of one machine.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from hardset.errors import UsageError
from hardset.hardest.asked import of_data
from hardset.hardest.data import Data
from hardset.hardest.parts import Parts
from hardset.hardest.score_pass import ScorePass
from hardset.hardest.trouble import UNTRAINABLE, ClusterError, told
from hardset.lowresource.examples import Examples

LOCAL = "no Ray cluster runs here: one was started on this machine"
UNSEEN = "the data are not there as the driver sees them"
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_PROMPT_ENABLED": "0",
    "RAY_DATA_LOG_LEVEL": "ERROR",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # what the next version does; it warns otherwise
}
_PLACE = re.compile(r"(?:ray://)?\[?([^/\[\]]+?)\]?:(\d+)")
_PATIENCE = 5.0  # seconds for an address to answer


@contextmanager
def cluster(address: str, data: Data, *, device: str, threads: int | None) -> Iterator[Workers]:
    """Join a Ray cluster for a while, or start one.

    Args:
        address: of the cluster; `auto` for the one that runs on this machine, or a new one.
        data: the training set, which every worker must be able to open.
        device: torch's name of where to compute: a worker takes a GPU, or else CPUs.
        threads: CPUs that a worker takes; None for as many as torch would use here.

    Raises:
        UsageError: no cluster answers, it has no room for a worker, a worker does not see the data,
            or it failed; what was scored is kept.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import ray
    import ray.data
    import torch

    threads = threads or torch.get_num_threads()
    joined = ray.is_initialized()
    said = "" if joined else _join(address)
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield Workers.of(data.absolute(), said, threads, device)
    except ClusterError as error:
        raise UsageError(f"--ray {address}: {error}") from error
    finally:
        if not joined:
            ray.shutdown()


def _join(address: str) -> str:
    """Join a cluster or start one; say which."""
    import ray

    _see_answer(address)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        ray.init(address=address, **options)
    except (ConnectionError, ValueError) as error:
        if address != "auto":
            reason = " ".join(str(error).split())[:300]
            raise UsageError(f"--ray {address}: no Ray cluster answers there: {reason}") from error
        ray.init(include_dashboard=False, **options)
        return LOCAL
    return f"joined the Ray cluster {ray.get_runtime_context().gcs_address}"


def _see_answer(address: str) -> None:
    """See that something listens at an address with a port: Ray would ask for minutes."""
    told = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address
    place = _PLACE.fullmatch(told)
    if not place:
        return
    try:
        socket.create_connection((place[1], int(place[2])), timeout=_PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        by = " (of RAY_ADDRESS)" if address == "auto" else ""
        raise UsageError(f"--ray {told}{by}: no Ray cluster answers there: {error}") from error


@dataclass(frozen=True)
class Workers:
    """A pool of workers.

    Attributes:
        data: the training set, as a worker opens it.
        said: which cluster it is.
        count: most workers at once.
        needs: what a worker takes, as Ray names it.
    """

    data: Data
    said: str
    count: int
    needs: dict[str, Any]

    @classmethod
    def of(cls, data: Data, said: str, threads: int, device: str) -> Workers:
        """See that the cluster has room for workers."""
        import ray

        there = ray.cluster_resources()  # type: ignore[no-untyped-call]
        cuda = device.startswith("cuda")
        have, need, what = (
            (there.get("GPU", 0), 1, "GPU") if cuda else (there.get("CPU", 0), threads, "CPU")
        )
        count = int(have // need)
        if not count:
            raise ClusterError(f"a worker takes {need} {what}, and the cluster has {have:g}")
        needs = {"num_gpus": 1} if cuda else {"num_cpus": threads}
        return cls(data, said or "on the Ray cluster joined before", count, needs)

    def score(
        self, score: ScorePass, parts: Parts, numbers: list[int]
    ) -> Iterator[tuple[int, pl.DataFrame, list[str]]]:
        """Score parts on the cluster; yields them as they come back.

        Raises:
            RuntimeError: the predictor cannot score these examples.
            ClusterError: a worker cannot see the data, or the cluster failed.
        """
        import ray

        self._see_data(score.examples)
        score.network.module.cpu()
        task = ray.put(_Task.of(score, parts, self.data, os.getcwd()))
        # Not `ray.data.range`: its read tasks wait for CPUs, all of which the workers may hold.
        asked = ray.data.from_items(
            [{"part": number} for number in numbers], override_num_blocks=len(numbers)
        )
        most = min(self.count, len(numbers))
        done = asked.map_batches(
            Worker,
            fn_constructor_args=([task],),  # in a list, so that a worker fetches it only once
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=most, initial_size=most),
            **self.needs,
        )
        try:
            for batch in done.iter_batches(batch_size=None, prefetch_batches=1):
                for number, table, said in zip(
                    batch["part"], batch["table"], batch["said"], strict=True
                ):
                    if not table:
                        raise RuntimeError(said)
                    yield int(number), pl.read_ipc(io.BytesIO(table)), str(said).splitlines()
        except ray.exceptions.RayError as error:
            raise ClusterError(_short(error)) from error

    def _see_data(self, examples: Examples) -> None:
        """See that every machine of the cluster opens the same data, before work is sent out.

        Raises:
            ClusterError: it names the first machine that does not.
        """
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here, wanted = ray.get_runtime_context().get_node_id(), of_data(examples)
        look = ray.remote(num_cpus=0)(look_at)
        asked = {
            node["NodeManagerAddress"]: look.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ).remote(self.data, os.getcwd(), wanted)
            for node in ray.nodes()  # type: ignore[no-untyped-call]
            if node["Alive"] and node["NodeID"] != here
        }
        for machine, answer in asked.items():
            try:
                wrong = ray.get(answer)
            except ray.exceptions.RayError as error:
                wrong = _short(error)
            if wrong:
                raise ClusterError(
                    f"{machine}: {wrong}. Put them where every worker sees them under the same "
                    "path, or leave --ray out"
                )


@dataclass(frozen=True)
class _Task:
    """What a worker needs to score any part."""

    network: bytes  # it may be of a user's class, which is found in `folder` only
    settings: dict[str, Any]
    parts: Parts
    data: Data
    folder: str  # the working directory, where a user's modules are
    wanted: dict[str, Any]

    @classmethod
    def of(cls, score: ScorePass, parts: Parts, data: Data, folder: str) -> _Task:
        from ray import cloudpickle

        names = "scores epochs batch mode device threads seed".split()
        return cls(
            cloudpickle.dumps(score.network),  # type: ignore[no-untyped-call]
            {name: getattr(score, name) for name in names},
            parts,
            data,
            folder,
            of_data(score.examples),
        )


class Worker:
    """Scores parts in a process of the cluster."""

    def __init__(self, task: list[Any]) -> None:
        import ray

        given: _Task = ray.get(task[0])
        examples = opened(given.data, given.folder, given.wanted)
        network = pickle.loads(given.network)
        self.parts = given.parts
        self.score = ScorePass(network, examples, **given.settings)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Return the table of the part asked for, as Arrow bytes, so that no type changes.

        Where the predictor fails there are no bytes, and `said` is why: an exception would end
        the whole pool.
        """
        table = io.BytesIO()
        try:
            ((_, frame),) = self.score.run(self.parts, map(int, batch["part"]))
            frame.write_ipc(table)
            said = "\n".join(self.score.said)
        except UNTRAINABLE as error:
            said = told(error)
        return {
            "part": batch["part"],
            "table": np.array([table.getvalue()], dtype=object),
            "said": np.array([said], dtype=object),
        }


def opened(data: Data, folder: str, wanted: dict[str, Any]) -> Examples:
    """Open the data where this runs.

    Raises:
        ClusterError: they cannot be opened, or are not those that are wanted.
    """
    if os.path.isdir(folder) and folder not in sys.path:
        os.chdir(folder)
        sys.path.append(folder)
    try:
        examples = data.open()
    except (UsageError, OSError, ImportError) as error:
        raise ClusterError(f"{UNSEEN} ({error})") from error
    found = of_data(examples)
    if differing := [name for name in wanted if found.get(name) != wanted[name]]:
        raise ClusterError(f"{UNSEEN}: they differ in {', '.join(differing)}")
    return examples


def look_at(data: Data, folder: str, wanted: dict[str, Any]) -> str:
    """Say why the data cannot be had where this runs; nothing where they can."""
    try:
        opened(data, folder, wanted)
    except ClusterError as error:
        return str(error)
    return ""


def _short(error: BaseException) -> str:
    """Return what went wrong in a line: the end of a remote traceback says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if UNSEEN in line] or [
        line for line in lines if re.match(r"[\w.]*(Error|Exception|Died)\b", line)
    ]
    return [type(error).__name__, *lines[:1], *telling][-1][:400]
