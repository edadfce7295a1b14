"""ZeroBench: the published columns, what is sent, both readings, and every number by hand."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image as Picture

from hardset.benchmarks import registry
from hardset.benchmarks.zerobench import PICTURES, ZeroBench
from hardset.errors import UsageError
from hardset.models import make_model
from hardset.records import Item, Reply, Sampling
from hardset.reports.runs import how_asked, told_apart
from hardset.run import Settings, evaluate, walk
from hub_server import TOKEN, HubServer
from loopback import Loopback
from test_cli import hardset

ASKED = (
    "\n\n\nLet's think step by step and give the final answer in curly braces, "
    "like this: {final answer}"
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HARDSET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def png(colour: int, size: tuple[int, int] = (32, 24)) -> bytes:
    held = io.BytesIO()
    Picture.new("RGB", size, (colour, 200, 90)).save(held, "PNG")
    return held.getvalue()


def row(ident: str, gold: str, *pictures: bytes, **more) -> dict:
    """A row as published; the cells of pictures as the hub's viewer and loader write them."""
    return {
        "question_id": ident,
        "question_text": f"What about {ident}?",
        "question_images": [f"images/{ident}_{i}.png" for i in range(len(pictures))],
        PICTURES: [{"bytes": data, "path": f"{ident}_{i}.png"} for i, data in enumerate(pictures)],
        "question_answer": gold,
        "image_attribution": "drawn for this test",
        **more,
    }


def folder(path: Path, mains: list[dict], subs: list[dict]) -> Path:
    """A data set's folder, as the hub lays it out."""
    (path / "data").mkdir(parents=True)
    for split, rows in (("zerobench", mains), ("zerobench_subquestions", subs)):
        file = path / "data" / f"{split}-00000-of-00001.parquet"
        pl.DataFrame(rows, schema=SCHEMA).write_parquet(file)
    return path


SCHEMA = {
    "question_id": pl.String,
    "question_text": pl.String,
    "question_images": pl.List(pl.String),
    PICTURES: pl.List(pl.Struct({"bytes": pl.Binary, "path": pl.String})),
    "question_answer": pl.String,
    "image_attribution": pl.String,
}


@pytest.fixture
def data(tmp_path) -> Path:
    """Three main questions with one, three and two subquestions."""
    one, two = png(1), png(2)
    mains = [row("A", "Seven", one), row("B", "11.90", one, two), row("C", "7200", two)]
    subs = [row("A_1", "1", one)]
    subs += [row(f"B_{n}", str(n), one, two) for n in (1, 2, 3)]
    subs += [row(f"C_{n}", str(n), two) for n in (1, 2)]
    return folder(tmp_path / "zb", mains, subs)


def ids(benchmark: ZeroBench) -> list[str]:
    return [item.id for item in benchmark.items()]


def test_both_splits_each_main_question_before_its_own_steps(data):
    made = ZeroBench(data)
    assert ids(made) == ["A", "A_1", "B", "B_1", "B_2", "B_3", "C", "C_1", "C_2"]
    assert made.total() == 9
    by_id = {item.id: item for item in made.items()}
    assert (by_id["B_2"].parent, by_id["B_2"].category) == ("B", "subquestion")
    assert (by_id["B"].parent, by_id["B"].category) == ("", "main")
    assert by_id["B"].tags == {"part": "main", "pictures": "2"}
    assert made.revision.startswith("zb, sha256 ")  # `run` puts it in the manifest
    assert list(made.notices) == []


@pytest.mark.parametrize(
    ("split", "expected"), [("main", ["A", "B", "C"]), ("sub", "A_1 B_1 B_2 B_3 C_1 C_2".split())]
)
def test_one_split_alone(data, split, expected):
    assert ids(ZeroBench(data, split=split)) == expected


@pytest.mark.parametrize(
    ("split", "expected"),
    [("all", ["A", "A_1", "B", "B_1", "B_2", "B_3"]), ("sub", ["A_1", "B_1", "B_2", "B_3"])],
)
def test_in_a_single_file_the_ids_tell_what_is_a_step(tmp_path, split, expected):
    names = ["A_1", "B_1", "A", "B_2", "B", "B_3"]
    file = tmp_path / "mine.parquet"
    pl.DataFrame([row(name, "1", png(3)) for name in names], schema=SCHEMA).write_parquet(file)
    assert ids(ZeroBench(file, split=split)) == expected


def test_in_the_file_of_main_questions_an_underscore_is_only_a_part_of_a_name(tmp_path):
    made = ZeroBench(folder(tmp_path / "d", [row("q_1", "1", png(1))], [row("q_1_1", "2", png(1))]))
    assert [(item.id, item.parent) for item in made.items()] == [("q_1", ""), ("q_1_1", "q_1")]


def test_pictures_come_first_in_their_order_then_the_exact_words(data):
    made = ZeroBench(data)
    item = next(item for item in made.items() if item.id == "B")
    (message,) = made.prompt(item)
    assert message.role == "user"  # and no system prompt
    first, second, text = message.content
    assert [Path(part.where).read_bytes() for part in (first, second)] == [png(1), png(2)]
    assert text == "What about B?" + ASKED


def test_a_picture_that_many_questions_share_is_kept_once(data, cache):
    ZeroBench(data)
    kept = list((cache / "pictures").rglob("*.png"))
    assert sorted(file.read_bytes() for file in kept) == sorted([png(1), png(2)])


def test_the_largest_picture_is_sent_byte_for_byte_and_unshrunk(tmp_path):
    huge, small = png(5, (5559, 4070)), png(6)
    made = ZeroBench(folder(tmp_path / "d", [row("1", "4", huge, small, png(7))], []), split="main")
    with Loopback(answer=lambda prompt: "It is {4}") as server:
        model = make_model("m", base_url=server.base_url)
        run = evaluate(made, model, Settings(runs=tmp_path / "runs"))
        (body,) = server.requests
    (message,) = body["messages"]
    *pictures, text = message["content"]
    sent = [base64.b64decode(part["image_url"]["url"].partition(",")[2]) for part in pictures]
    assert sent == [huge, small, png(7)]
    assert text == {"type": "text", "text": "What about 1?" + ASKED}
    assert (body["temperature"], body["max_tokens"]) == (0.0, 16_384)
    assert run.outcomes["right"].to_list() == [True]
    assert run.manifest["revision"] == made.revision


def test_paths_start_from_the_folder_that_is_named_or_one_above(tmp_path):
    rows = [row("1", "4", png(1), **{PICTURES: None})]
    data = folder(tmp_path / "d", rows, [])
    with pytest.raises(UsageError, match=r"hold paths of pictures only, like images/1_0.png.*DIR"):
        ZeroBench(data, split="main")
    place = tmp_path / "there"
    (place / "images").mkdir(parents=True)
    file = place / "images" / "1_0.png"
    file.write_bytes(png(1))
    for given in (place, place / "images"):
        (item,) = ZeroBench(data, split="main", images=given).items()
        assert item.images[0].where == str(file)
    (item,) = ZeroBench(data, split="main", blind=True).items()
    assert item.images == ()


def test_json_lines_with_paths(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text(
        '{"question_id": 12, "question_text": "How many?", "question_images": ["x.png"], '
        '"question_answer": 3}\n'
    )
    (item,) = ZeroBench(file, images=tmp_path).items()
    assert (item.id, item.answer, item.images[0].where) == ("12", "3", str(tmp_path / "x.png"))


def test_a_missing_or_broken_picture_is_its_rows_outcome_and_stays_in_the_denominator(tmp_path):
    broken = row("2", "1", png(1)[:40])
    gone = row("3", "1", png(1), **{PICTURES: [{"bytes": None, "path": "nowhere.png"}]})
    both = row("4", "1", png(1), png(1))
    both[PICTURES][1]["bytes"] = None  # one of two is not there
    data = folder(tmp_path / "d", [row("1", "1", png(1)), broken, both], [])
    run = evaluate(ZeroBench(data, split="main"), Told("{1}"), Settings(runs=tmp_path / "runs"))
    assert run.outcomes["state"].to_list() == ["answered", "bad-media", "bad-media"]
    assert values(run)["pass@1", "official"] == (1, 3)
    alone = folder(tmp_path / "e", [gone], [])
    with pytest.raises(UsageError, match="paths of pictures only"):
        ZeroBench(alone, split="main")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row("1", "")], r"zerobench-00000-of-00001.parquet, row 1: question_answer is ''"),
        ([row("1", "2", question_text=None)], "question_text is missing"),
        ([row("1", "2", png(1)), row("1", "3", png(1))], "question_id 1 is that of .* row 1 too"),
    ],
)
def test_rows_that_are_not_as_published_are_said_with_their_place(tmp_path, rows, words):
    with pytest.raises(UsageError, match=words):
        ZeroBench(folder(tmp_path / "d", rows, []), split="main")


def test_a_step_that_names_no_main_question_is_refused_in_its_own_file(tmp_path):
    data = folder(tmp_path / "d", [row("1", "2", png(1))], [row("7", "2", png(1))])
    with pytest.raises(UsageError, match="'7' is no subquestion's"):
        ZeroBench(data)


def test_steps_without_a_main_question_and_questions_without_a_picture_are_said(tmp_path):
    data = folder(tmp_path / "d", [row("1", "2")], [row("9_1", "2", png(1))])
    orphans, bare = ZeroBench(data).notices
    assert orphans == "1 subquestions have no main question in these data: 9_1"
    assert bare == "1 questions have no picture and are asked without: 1"


READ = [  # reply, gold, official, lenient
    ("So it is {11.90}", "11.90", True, True),
    ("So it is {SEVEN}.", "Seven", True, True),
    ("{3} no, wait: {4}", "4", True, True),
    ("{4} no, wait: {3}", "4", False, False),
    ("{ 11.90 }", "11.90", False, True),
    ("{$11.90}", "11.90", False, True),
    ("{11.9}", "11.90", False, True),
    ("{7,200}", "7200", False, True),
    (r"\boxed{\frac{1}{2}}", "1/2", False, True),
    ("{\n7\n}", "7", False, True),
    ("{17}", "7", False, False),
    ("{100}", "10", False, False),
    ("{not 7}", "7", False, False),
    ("{12}", "1,2", False, False),
    ("", "7", False, False),
    ("I cannot see it.", "7", False, False),
]


@pytest.mark.parametrize(("reply", "gold", "official", "lenient"), READ)
def test_the_official_and_the_lenient_reading(reply, gold, official, lenient):
    made = object.__new__(ZeroBench)
    judged = made.judge(Item(id="1", question="?", answer=gold), reply)
    assert list(judged) == ["official", "lenient"]  # the official one leads
    assert {name: one.right for name, one in judged.items()} == {
        "official": official,
        "lenient": lenient,
    }


class Told:
    """Says what it is told for an item and repeat, else for the item, else one text."""

    name = "test/told"
    takes = frozenset({"image/png"})
    max_concurrency = None

    def __init__(self, otherwise: str = "", said: dict | None = None) -> None:
        self.otherwise, self.said = otherwise, said or {}
        self.options: dict[str, str] = {}
        self.sampling: list[Sampling] = []

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc):
        pass

    async def reply(self, prompt, item, library):
        self.sampling.append(prompt.sampling)
        for part in prompt.messages[0].content:
            if not isinstance(part, str):
                library.payload(part)
        told = self.said.get((item.id, prompt.repeat), self.said.get(item.id, self.otherwise))
        if isinstance(told, Reply):
            return told
        return Reply(text=told, tokens_in=1000, tokens_out=100)


def values(run) -> dict[tuple[str, str], tuple[float, float]]:
    return {
        (m.name, m.reading): (pytest.approx(m.numerator), m.denominator)
        for m in run.metrics
        if not m.cut
    }


@pytest.fixture
def five(data, tmp_path):
    """Five repeats. Right: A in 5, B in 2, C in none; steps: A_1 and C_1 always, else never."""
    said = {
        "A": "{seven}",
        ("B", 1): "{11.90}",
        ("B", 4): "{11.90}",
        ("B", 0): "{ 11.90 }",  # right in the lenient reading alone
        ("C", 0): Reply(text="so {7200}", finish="length", tokens_in=1000, tokens_out=3000),
        ("C", 1): Reply(text="", tokens_in=1000, tokens_out=3000),
        "A_1": "{1}",
        "C_1": "{1}",
    }
    settings = Settings(runs=tmp_path / "runs", repeats=5, price=(2.0, 10.0))
    return evaluate(ZeroBench(data), Told("{0}", said), settings)


def test_pass_at_k_and_pass_hat_k_by_hand(five):
    found = values(five)
    # A: c = 5, so 1 throughout. B: c = 2 of n = 5; C(5,2) = C(5,3) = 10. C: c = 0, so 0.
    assert found["pass@1", "official"] == (1 + 2 / 5, 3)
    assert found["pass@2", "official"] == (1 + 1 - 3 / 10, 3)  # C(3,2) = 3
    assert found["pass@3", "official"] == (1 + 1 - 1 / 10, 3)  # C(3,3) = 1
    assert found["pass@4", "official"] == (2, 3)  # C(3,4) = 0
    assert found["pass@5", "official"] == (2, 3)
    assert found["pass^2", "official"] == (1 + 1 / 10, 3)  # C(2,2) = 1
    assert found["pass^3", "official"] == (1, 3)
    assert found["pass^5", "official"] == (1, 3)
    # the lenient reading has one more of B right: c = 3
    assert found["pass@1", "lenient"] == (1 + 3 / 5, 3)
    assert found["pass^3", "lenient"] == (1 + 1 / 10, 3)


def test_the_subquestion_score_is_the_mean_of_means(five):
    # A: 1 of 1. B: 0 of 3. C: 1 of 2. So (1 + 0 + 1/2) / 3 = 1/2, where 2 of all 6 would be 1/3.
    assert values(five)["subquestion score", "official"] == (1.5, 3)
    steps = five.outcomes.filter(pl.col("parent") != "")
    assert steps["right"].mean() == pytest.approx(1 / 3)


def test_cut_off_and_empty_replies_are_wrong_and_counted_apart(five):
    # 9 questions x 5 repeats = 45 rows; the cut-off reply held the right answer.
    found = values(five)
    assert found["truncated", "official"] == (1, 45)
    assert found["empty", "official"] == (1, 45)
    assert not five.outcomes.filter(pl.col("item") == "C")["right"].any()
    assert not five.outcomes.filter(pl.col("item") == "C")["lenient_right"].any()


def test_tokens_and_cost_a_question(five):
    found = values(five)
    assert found["tokens in", "official"] == (45 * 1000, 45)
    out = 43 * 100 + 2 * 3000
    assert found["tokens out", "official"] == (out, 45)
    assert found["cost", "official"] == ((45_000 * 2 + out * 10) / 1e6, 45)
    units = {m.name: m.unit for m in five.metrics}
    assert (units["tokens in"], units["cost"], units["pass@1"]) == ("tokens", "$", "")
    assert five.manifest["price"] == [2.0, 10.0]
    mains = [m for m in five.metrics if m.name == "tokens out" and m.cut == {"category": "main"}]
    assert mains[0].numerator == 13 * 100 + 2 * 3000


def test_intervals_are_by_main_question(five):
    clusters = {m.name: m.clusters for m in five.metrics if not m.cut}
    assert clusters["pass@5"] == clusters["subquestion score"] == clusters["truncated"] == 3


def test_without_a_price_there_is_no_cost_and_without_repeats_no_pass_hat(data, tmp_path):
    run = evaluate(ZeroBench(data), Told("{1}"), Settings(runs=tmp_path / "runs"))
    names = {m.name for m in run.metrics}
    assert "cost" not in names
    assert "price" not in run.manifest
    assert {name for name in names if name.startswith("pass")} == {"pass@1"}


def test_one_reply_is_greedy_and_several_are_sampled_as_at_release(data):
    def how(**more) -> Sampling:
        return next(walk(ZeroBench(data), Settings(**more)))[1].sampling

    assert how() == Sampling(temperature=0.0, max_tokens=16_384)
    assert how(repeats=5) == Sampling(temperature=0.7, top_p=0.95, max_tokens=16_384)
    assert how(repeats=5, sampling=Sampling()) == Sampling()  # the user's own goes first


def test_repeats_without_sampling_say_what_they_are_good_for(data, tmp_path):
    settings = Settings(runs=tmp_path / "runs", repeats=2, sampling=Sampling())
    run = evaluate(ZeroBench(data, split="main"), Told("{1}"), settings)
    assert any("temperature 0" in notice for notice in run.view().notices)


def test_greedy_and_sampled_runs_stand_as_separate_lines(data, tmp_path):
    made = ZeroBench(data, split="main")
    runs = [
        evaluate(made, Told("{1}"), Settings(runs=tmp_path / "runs", repeats=repeats)).view()
        for repeats in (1, 5)
    ]
    assert [run.model for run in told_apart(runs)] == ["test/told, greedy", "test/told, sampled"]
    assert [run.model for run in told_apart(runs[:1])] == ["test/told"]
    assert how_asked(runs[0]) == ()
    assert how_asked(runs[1]) == ("5 repeats", "temperature 0.7, top-p 0.95")


def test_the_command_line_gives_both_lines_at_once(data, tmp_path):
    with Loopback(answer=lambda prompt: "{1}") as server:
        common = ["-m", "m", "--base-url", server.base_url, "--price", "1,1", "--report", "r.html"]
        given = ["run", "zerobench", "--data", str(data), "-o", "split=main", "--repeats", "3"]
        said = hardset(*given, *common, cwd=tmp_path)
        asked = [(body["temperature"], body.get("top_p")) for body in server.requests]
    assert sorted(asked, key=str) == [(0.0, None)] * 3 + [(0.7, 0.95)] * 9
    assert said.returncode == 0, said.stderr
    assert "m, greedy" in said.stdout
    assert "m, sampled" in said.stdout
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "m, greedy" in page
    assert "m, sampled" in page
    assert 'id="repeats"' in page


def test_it_is_found_by_name_and_its_docstring_names_the_paper(data):
    made = registry.make("zerobench", data=str(data), split="main")
    assert (made.name, made.total()) == ("zerobench", 3)
    assert "2502.09696" in made.paper


def test_the_published_set_is_read_at_a_commit_once_its_terms_are_accepted(data, tmp_path):
    files = {
        file.relative_to(data).as_posix(): file.read_bytes() for file in data.rglob("*.parquet")
    }
    env = {"HF_HOME": str(tmp_path / "hf"), "HARDSET_CACHE": str(tmp_path / "cache")}
    command = ("run", "zerobench", "-m", "baseline/oracle")
    with HubServer() as hub:
        published = hub.add(ZeroBench.hub.repo, files, gated=True, licence="mit")
        env |= {"HF_ENDPOINT": hub.url, "HF_TOKEN": ""}
        refused = hardset(*command, cwd=tmp_path, env=env)
        done = hardset(*command, cwd=tmp_path, env=env | {"HF_TOKEN": TOKEN})
    assert (refused.returncode, done.returncode) == (2, 0), refused.stderr + done.stderr
    assert ZeroBench.hub.repo in refused.stderr
    (manifest,) = (tmp_path / "runs").rglob("manifest.json")
    told = json.loads(manifest.read_text(encoding="utf-8"))
    assert told["revision"] == f"{ZeroBench.hub.repo}@{published.refs['main']}"
    again = hardset(*command, cwd=tmp_path, env=env)  # the hub is gone, the data are here
    assert again.returncode == 0, again.stderr
