"""Processes that do trials: any may die, and nothing else is lost with it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hardset.errors import UsageError
from hardset.hardest import workers
from hardset.hardest.workers import Died, in_processes


def squared(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def own_process(_):
    return os.getpid()


def test_each_is_done_once_and_a_death_costs_one():
    found = dict(in_processes(range(6), squared, 2))
    lost = found.pop(3)
    assert found == {0: 0, 1: 1, 2: 4, 4: 16, 5: 25}
    assert isinstance(lost, Died)
    assert "status -9" in lost.reason
    assert "memory" in lost.reason


def test_they_are_other_processes_and_end_with_the_iteration():
    seen = {process for _, process in in_processes(range(4), own_process, 2)}
    assert os.getpid() not in seen
    for process in seen:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_leaving_early_ends_them():
    first = in_processes([0, 3], squared, 1)
    assert next(first) == (0, 0)
    first.close()


def test_nothing_to_do_starts_nothing():
    assert list(in_processes([], squared, 4)) == []


def test_what_cannot_be_sent_is_said():
    with pytest.raises(UsageError, match=r"cannot be sent to other processes.*--jobs 1"):
        list(in_processes([1], lambda task: task, 1))


def test_a_stop_waits_until_a_process_has_all_of_its_work():
    def stop(number, frame):
        raise KeyboardInterrupt

    def send():
        with workers._undisturbed():
            signal.raise_signal(signal.SIGTERM)
            seen.append("all of it was sent")

    before = signal.signal(signal.SIGTERM, stop)
    seen = []
    try:
        with pytest.raises(KeyboardInterrupt):
            send()
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen


PARENT = """
import sys, time
from pathlib import Path
from hardset.hardest.workers import in_processes


def busy(number):
    import os
    Path(f"at-{os.getpid()}").touch()
    time.sleep(100)


if __name__ == "__main__":
    list(in_processes([1], busy, 1))
"""


def test_a_process_ends_with_a_parent_that_is_killed(tmp_path):
    """It would be at it for hours more, beside the command that goes on."""
    (tmp_path / "parent.py").write_text(PARENT)
    parent = subprocess.Popen([sys.executable, "parent.py"], cwd=tmp_path)
    ended = time.monotonic() + 60
    while not (found := list(tmp_path.glob("at-*"))) and time.monotonic() < ended:
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    child = int(found[0].name.removeprefix("at-"))
    while time.monotonic() < ended:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if "(zombie)" in Path(f"/proc/{child}/status").read_text():
            return  # ended, and whoever is to bury it is slow
        time.sleep(0.01)
    pytest.fail("it is still there")


UNGUARDED = """
from hardset.hardest.workers import end_unguarded, in_processes

end_unguarded()  # as `learn` and `difficulty` begin
list(in_processes([1, 2], abs, 2))
"""


def test_a_script_without_a_guard_is_told_so_and_not_run_again_in_each_process(tmp_path):
    (tmp_path / "script.py").write_text(UNGUARDED)
    ended = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert ended.stderr.count("Traceback") == 1
    *_, last = [line for line in ended.stderr.splitlines() if line.startswith("hardset.errors")]
    assert 'put what the script does under `if __name__ == "__main__":`' in last
