"""The conductor: the whole road on small benchmarks, with fake models that fail on purpose."""

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from hardset.ask import Limits
from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError
from hardset.metrics import Rates, accuracy
from hardset.models import make_model
from hardset.outcomes import settle
from hardset.records import Failure, Image, Item, Prompt, Reading, Reply, State
from hardset.reports.folder import read_folder, safe_name
from hardset.run import Settings, evaluate, walk


class Parity(Benchmark):
    """Is n even? Odd numbers are asked with an image that may be missing."""

    name = "parity"
    title = "Parity"
    readings = ("default", "shouted")

    def __init__(self, n: int = 8, image: str = "") -> None:
        self.n, self.image = n, image

    def items(self):
        for i in range(self.n):
            yield Item(
                id=f"p{i}",
                question=f"Is {i} even?",
                form="yes_no",
                answer="no" if i % 2 else "yes",
                images=(Image(where=self.image),) if self.image and i % 2 else (),
                tags={"third": str(i % 3)} if i else {},
                category="odd" if i % 2 else "even",
            )

    def total(self):
        return self.n

    def read(self, item, text):
        if "boom" in text:
            raise ZeroDivisionError("a reader's bug")
        said = text.strip(". ").lower()
        state = State.ANSWERED if said in ("yes", "no") else State.UNPARSED
        loud = (
            Reading(state=state, answer=said) if text.isupper() else Reading(state=State.UNPARSED)
        )
        return {"default": Reading(state=state, answer=said, rule="the word"), "shouted": loud}

    @classmethod
    def rates(cls, outcomes: pl.DataFrame):
        return [Rates(frame=outcomes, ratios=[accuracy()], cluster=None, by=[(), ("category",)])]


class Scripted:
    """Answers by a table from the question to a Reply or a text; counts its calls."""

    name = "test/scripted"
    takes = frozenset({"image/png"})
    max_concurrency = None

    def __init__(self, script: Mapping[str, Reply | str], otherwise: str = "yes") -> None:
        self.script, self.otherwise, self.calls = script, otherwise, 0
        self.options: dict[str, str] = {}

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc):
        pass

    async def reply(self, prompt: Prompt, item: Item, library):
        self.calls += 1
        said = self.script.get(item.id, self.otherwise)
        return Reply(text=said) if isinstance(said, str) else said


def failed(reason: str, **more) -> Reply:
    return Reply(failure=Failure(state=State.REQUEST_FAILED, reason=reason, **more))


EVERY_END = {
    "p0": "Yes.",
    "p1": "it depends",
    "p2": Reply(text="y", finish="length"),
    "p3": Reply(text="", finish="content_filter"),
    "p4": failed("the endpoint said 400: bad"),
    "p5": "boom",
    "p6": Reply(failure=Failure(state=State.PROVIDER_REFUSED, reason="policy")),
    "p7": "NO",
}


def test_every_row_ends_in_one_state_and_none_leaves_the_denominator(tmp_path):
    run = evaluate(Parity(), Scripted(EVERY_END), Settings(runs=tmp_path))
    states = dict(zip(run.outcomes["item"], run.outcomes["state"], strict=True))
    assert states == {
        "p0": "answered",
        "p1": "unparsed",
        "p2": "truncated",
        "p3": "provider-refused",
        "p4": "request-failed",
        "p5": "unparsed",  # the reader's bug is the row's, with its reason
        "p6": "provider-refused",
        "p7": "answered",
    }
    reasons = dict(zip(run.outcomes["item"], run.outcomes["reason"], strict=True))
    assert reasons["p4"] == "the endpoint said 400: bad"
    assert reasons["p5"] == "the reader failed: ZeroDivisionError: a reader's bug"
    # Right are p0 (yes) and p7 (no), of 8 rows: 2/8, not 2/2 and not 2/7.
    overall = run.metrics[0]
    assert (overall.numerator, overall.denominator, overall.value) == (2, 8, 0.25)
    assert run.failed == 1
    assert run.reasons() == [("the endpoint said 400: bad", 1)]


def test_the_second_reading_has_columns_of_its_own_and_tags_are_columns(tmp_path):
    run = evaluate(Parity(), Scripted(EVERY_END), Settings(runs=tmp_path))
    by_item = {row["item"]: row for row in run.outcomes.iter_rows(named=True)}
    assert by_item["p7"]["shouted_right"] is True
    assert by_item["p0"]["shouted_right"] is False  # "Yes." is not shouted
    assert by_item["p4"]["shouted_state"] == "request-failed"
    assert [by_item[f"p{i}"]["third"] for i in range(4)] == ["", "1", "2", "0"]


def test_the_folder_can_be_read_back_and_holds_no_more_than_it_should(tmp_path):
    run = evaluate(Parity(), Scripted(EVERY_END), Settings(runs=tmp_path))
    assert run.folder is not None
    assert sorted(path.name for path in run.folder.iterdir()) == [
        "manifest.json",
        "metrics.json",
        "outcomes.parquet",
        "report.html",
    ]
    manifest, metrics, outcomes = read_folder(run.folder)
    assert metrics == run.metrics
    assert outcomes.equals(run.outcomes)
    assert manifest["benchmark"] == "parity"
    assert manifest["rows"] == 8
    assert run.folder.parent == tmp_path / "parity" / "test--scripted"


def test_running_again_asks_only_what_failed_and_gives_the_same_bytes(tmp_path):
    first = evaluate(Parity(), Scripted(EVERY_END), Settings(runs=tmp_path))
    model = Scripted(EVERY_END)
    second = evaluate(Parity(), model, Settings(runs=tmp_path))
    assert model.calls == 1  # p4 alone: a failure is asked again, a reply never
    for name in ("outcomes.parquet", "metrics.json"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()
    pages = [(run.folder / "report.html").read_text() for run in (first, second)]
    dates = [run.manifest["started"] for run in (first, second)]
    assert pages[0].replace(dates[0], "") == pages[1].replace(dates[1], "")
    assert (first.manifest["session"]["asked"], second.manifest["session"]["asked"]) == (7, 0)
    assert second.manifest["session"]["from_store"] == 7


def test_tokens_are_the_replies_own_whenever_they_were_asked(tmp_path):
    script = {"p0": Reply(text="yes", tokens_in=11, tokens_out=2)}
    for _ in range(2):  # asked, then from the store
        run = evaluate(Parity(2), Scripted(script), Settings(runs=tmp_path))
        assert run.outcomes["tokens_in"].to_list() == [11, 0]
        assert run.outcomes["tokens_out"].to_list() == [2, 0]


def test_repeats_are_asked_apart(tmp_path):
    model = Scripted({})
    run = evaluate(Parity(4), model, Settings(runs=tmp_path, repeats=3))
    assert model.calls == 12
    assert run.outcomes["repeat"].to_list() == [0, 1, 2] * 4
    assert run.outcomes["index"].to_list() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert run.metrics[0].denominator == 12


def test_a_missing_image_is_its_rows_outcome(tmp_path):
    gone = tmp_path / "gone.png"
    run = evaluate(Parity(image=str(gone)), Scripted({}), Settings(runs=tmp_path / "runs"))
    assert run.outcomes["state"].to_list() == ["answered", "bad-media"] * 4
    assert str(gone) in run.reasons()[0][0]
    assert run.failed == 4
    # All "yes": right are the 4 even ones, over all 8 rows.
    assert run.metrics[0].value == 0.5


def test_blind_sends_no_image(tmp_path):
    settings = Settings(runs=tmp_path, blind=True)
    benchmark = Parity(image="/nowhere/gone.png")
    for _, prompt in walk(benchmark, settings):
        assert not any(isinstance(part, Image) for m in prompt.messages for part in m.content)
    run = evaluate(benchmark, Scripted({}), settings)
    assert run.failed == 0
    assert set(run.outcomes["sha256"]) == {""}


def test_limit_takes_the_first_items(tmp_path):
    run = evaluate(Parity(), Scripted({}), Settings(runs=tmp_path, limit=3))
    assert run.outcomes["item"].to_list() == ["p0", "p1", "p2"]


def test_no_items_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no items"):
        evaluate(Parity(0), Scripted({}), Settings(runs=tmp_path))


def test_a_hopeless_failure_leaves_every_row_with_its_reason(tmp_path):
    script = {"p0": failed("401: wrong key", hopeless=True)}
    settings = Settings(runs=tmp_path, limits=Limits(concurrency=1))
    run = evaluate(Parity(), Scripted(script), settings)
    assert run.failed == 8
    assert run.stopped
    assert any(reason.startswith("not asked") for reason, _ in run.reasons())


def test_the_oracle_is_always_right_and_its_interval_says_how_sure_that_is(tmp_path):
    run = evaluate(Parity(10), make_model("baseline/oracle"), Settings(runs=tmp_path))
    overall = run.metrics[0]
    # Wilson, 10 of 10: low = 10 / (10 + 1.959964²) = 10 / 13.841459 = 0.722467
    assert overall.value == 1
    assert overall.low == pytest.approx(0.722467, abs=1e-6)


def test_a_manifest_never_holds_the_bytes_of_a_data_url(tmp_path):
    dot = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg"
    benchmark = Parity(2, image=dot)
    benchmark.items = lambda: iter(list(Parity(2, image=dot).items())[1:])  # the one with an image
    run = evaluate(benchmark, Scripted({}), Settings(runs=tmp_path))
    text = (run.folder / "manifest.json").read_text()
    assert "iVBOR" not in text
    assert json.loads(text)["first_prompt"][0]["content"][0] == {"image": "data:…"}


def test_settle_keeps_what_was_said_in_a_truncated_reply():
    item = Item(id="x", question="?", form="yes_no", answer="yes")
    outcome = settle(Parity(), item, 0, Reply(text="yes", finish="length"))
    assert outcome.state is State.TRUNCATED
    assert outcome.text == "yes"
    assert not any(judged.right for judged in outcome.readings.values())


def test_names_become_one_folder_each():
    assert safe_name("openai/gpt-4o") == "openai--gpt-4o"
    assert safe_name("../..") == "--"
    assert safe_name("a b:c") == "a_b_c"
    assert Path(safe_name("..")).name == "_"


def test_in_a_notebook_where_a_loop_runs_already_it_runs_all_the_same(tmp_path):
    async def cell():
        return evaluate(Parity(), Scripted(EVERY_END), Settings(runs=tmp_path))

    assert asyncio.run(cell()).metrics[0].numerator == 2  # as without a loop: p0 and p7


def test_ctrl_c_in_a_notebook_stops_and_keeps_what_came(tmp_path):
    class Interrupting(Scripted):
        async def reply(self, prompt: Prompt, item: Item, library):
            self.calls += 1
            if self.calls == 3:
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0.5)
            return Reply(text="yes")

    async def cell():
        # As a notebook's kernel has it while a cell runs; `asyncio.run` puts its own in place.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        one = Settings(runs=tmp_path, limits=Limits(concurrency=1))
        return evaluate(Parity(n=50), Interrupting({}), one)

    stopped = asyncio.run(cell())
    assert stopped.interrupted
    model = Scripted({})
    assert evaluate(Parity(n=50), model, Settings(runs=tmp_path)).rows == 50
    assert 40 < model.calls < 50
