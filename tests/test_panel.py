"""The panel: votes, majorities, rounds, pictures, schemas, checks, cascades, on real endpoints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset import consulting
from hardset.ask import Budget, Limits, Store
from hardset.benchmarks.registry import make
from hardset.cli.judges import JudgeFlags
from hardset.errors import UsageError
from hardset.judging import Estimate, Judge, Panel, load
from hardset.judging.check import sample
from hardset.judging.panel import NONE, decide
from hardset.models import make_model
from hardset.outcomes import row, settle
from hardset.records import Reply
from loopback import Fault, Loopback

# --- what votes come to --------------------------------------------------------------------


def said(*votes: int, scale="binary", due=True):
    each = [np.array([vote], np.int16) for vote in votes]
    verdict, how = decide(each, np.array([due]), scale)
    return verdict[0], how[0]


def test_a_majority_of_the_votes_given_decides():
    assert said(1, 1, 0) == (True, "2 of 3")
    assert said(0, 0, 0) == (False, "3 of 3")
    assert said(0, NONE, 0) == (False, "2 of 2, 1 missing")
    assert said(1, NONE, NONE) == (True, "1 of 1, 2 missing")
    assert said(1, 0) == (None, "1 of 2, tie")
    assert said(1, 0, NONE) == (None, "1 of 2, 1 missing, tie")
    assert said(NONE, NONE, NONE) == (None, "no vote")
    assert said(1, 1, 1, due=False) == (None, "")


def test_grades_are_averaged_over_the_votes_given():
    assert said(5, 4, 3, scale="graded") == (4.0, "3 of 3 votes")
    assert said(5, NONE, 2, scale="graded") == (3.5, "2 of 3 votes")
    assert said(NONE, scale="graded") == (None, "no vote")


def test_letters_go_by_most_votes():
    assert said(2, 2, 0, scale="letter") == ("C", "2 of 3")
    assert said(2, 1, 0, scale="letter") == (None, "1 of 3, tie")


@given(st.lists(st.lists(st.sampled_from([NONE, 0, 1]), min_size=3, max_size=3), min_size=1))
def test_the_order_of_judges_and_rows_does_not_matter(rows):
    votes = np.array(rows, np.int16)
    due = np.ones(len(rows), np.bool_)
    verdict, how = decide(list(votes.T), due, "binary")
    other, other_how = decide(list(votes.T[::-1]), due, "binary")
    assert verdict.to_list() == other.to_list()
    assert how.to_list() == other_how.to_list()
    backwards, _ = decide(list(votes[::-1].T), due, "binary")
    assert backwards.to_list() == verdict.to_list()[::-1]
    for given_, value in zip(rows, verdict, strict=True):
        yes, no = given_.count(1), given_.count(0)
        assert value == (None if yes == no else yes > no)


def test_a_sample_is_the_same_each_time_and_never_larger_than_there_is():
    mask = np.zeros(1000, np.bool_)
    mask[100:400] = True
    some = sample(mask, 50, "check refused")
    assert some.sum() == 50
    assert not (some & ~mask).any()
    assert (some == sample(mask, 50, "check refused")).all()
    assert (some != sample(mask, 50, "check other")).any()
    assert (sample(mask, 5000, "x") == mask).all()


# --- on the road ---------------------------------------------------------------------------

ITEMS = 60


def outcomes(benchmark, replies):
    """The outcomes of replies to the benchmark's items: `replies` makes one from an item."""
    rows = []
    for index, item in enumerate(benchmark.items()):
        reply = Reply(text=replies(item))
        rows.append(row(index, item, settle(benchmark, item, 0, reply)))
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.col(pl.String).fill_null("")
    )


def scenes(kinds="hardbench", n=ITEMS):
    return make("scenes", n=n, kinds=kinds, seed=3)


def sensible(item) -> str:
    """Right where there is an answer, and a refusal where there is none."""
    return item.answer if item.answerable else f"I cannot tell: {item.explanation}"


def inside(name: str, prompt: str) -> str:
    found = re.search(rf"<({name}-[0-9a-f]+)>\n(.*?)\n</\1>", prompt, re.DOTALL)
    return found[2] if found else ""


def honest(prompt: str) -> str:
    """Judges as a person would, by the reply alone, in the form that is asked for."""
    reply, reference = inside("reply", prompt), inside("reference", prompt)
    if '"score"' in prompt or "Score: N" in prompt:
        return '{"reason": "so", "score": 5}' if "JSON" in prompt else "So.\nScore: 5"
    if reference:
        verdict = reply == reference.partition(". ")[2] or reply in reference.split(" or ")
    else:
        verdict = "cannot tell" not in reply
    return json.dumps({"verdict": verdict}) if "with JSON" in prompt else str(verdict).upper()


def contrary(prompt: str) -> str:
    """The opposite of an honest word, and the lowest grade."""
    turned = {"TRUE": "FALSE", "FALSE": "TRUE", '{"verdict": true}': '{"verdict": false}'}
    turned['{"verdict": false}'] = '{"verdict": true}'
    return turned.get(honest(prompt), '{"reason": "no", "score": 1}')


def judge_at(name: str, server: Loopback, **how) -> Judge:
    return Judge(model=make_model(name, base_url=server.base_url), **how)


def consulted(folder: Path, benchmark, frame, judges, limits=None, announce=None, **how):
    panel = consulting.panel_of(benchmark, Panel(judges=judges, **how))
    with Store(folder / "store.sqlite") as store:
        return consulting.consult(
            benchmark, frame, panel, store, limits or Limits(), announce=announce
        )


def test_votes_are_kept_per_judge_and_the_majority_counts(tmp_path):
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)
    with Loopback(honest) as one, Loopback(honest) as two, Loopback(contrary) as three:
        judges = [judge_at(name, at) for name, at in (("a", one), ("b", two), ("c", three))]
        judged, verdicts = consulted(tmp_path, benchmark, frame, judges)
    truth = ~frame["answerable"]
    assert (judged["verdict_refused"] == truth).all()
    assert (judged["vote_refused@a"] == truth).all()
    assert (judged["vote_refused@c"] == ~truth).all()
    assert set(judged["panel_refused"]) == {"2 of 3"}
    assert (judged["judge_right"] == frame["right"]).all()
    # the second round: only refusals of what cannot be answered are graded, 5, 5 and 1
    graded = judged.filter(pl.col("panel_refusal-rationality") != "")
    assert len(graded) == truth.sum()
    assert set(graded["verdict_refusal-rationality"]) == {11 / 3}
    assert set(graded["panel_refusal-rationality"]) == {"3 of 3 votes"}
    assert verdicts.missing == 0
    n, unanswerable = len(frame), int(truth.sum())
    # Once for each verdict; where two rows are the same in words and picture, once for both.
    assert len(set(one.prompts())) <= one.count <= n + (n - unanswerable) + unanswerable
    assert verdicts.coverage() == {
        "refused": (n, n),
        "matches-reference": (n - unanswerable, n - unanswerable),
        "refusal-rationality": (unanswerable, unanswerable),
    }


def test_a_missing_vote_counts_neither_way_and_a_tie_is_no_verdict(tmp_path):
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)
    with Loopback(honest) as one, Loopback(contrary) as two, Loopback(lambda _: "Hm.") as mute:
        judges = [judge_at(name, at) for name, at in (("a", one), ("b", two), ("c", mute))]
        judged, verdicts = consulted(tmp_path, benchmark, frame, judges)
    assert judged["verdict_refused"].null_count() == len(frame)
    assert set(judged["panel_refused"]) == {"1 of 2, 1 missing, tie"}
    assert judged["judge_right"].null_count() == len(frame)
    assert judged["vote_refused@c"].null_count() == len(frame)
    n, due = len(frame), int(frame["answerable"].sum())
    assert verdicts.undecided == n + due
    assert verdicts.notices[0] == (
        f"refused: {n} of {n} replies have no verdict, {n} of them since the judges are tied. They "
        "are in none of the judges' rates that need it"
    )
    c = next(one for one in verdicts.manifest() if one["model"] == "c")
    assert c["verdicts"]["refused"] == {"given": 0, "due": len(frame)}
    due = len(frame) + int(frame["answerable"].sum())
    assert c["failures"] == {"no verdict in the judge's reply": due}
    assert mute.count == 2 * len({prompt for prompt in mute.prompts() if "with JSON" in prompt})


def test_an_even_panel_is_told_that_it_can_tie(tmp_path):
    benchmark = scenes(n=12)
    frame = outcomes(benchmark, sensible)
    with Loopback(honest) as one, Loopback(contrary) as two:
        judges = [judge_at("a", one), judge_at("b", two)]
        _, verdicts = consulted(tmp_path, benchmark, frame, judges)
    assert "A panel of 2 can tie: with an odd number" in verdicts.notices[-1]
    assert verdicts.missing == 0  # every vote is there
    assert verdicts.undecided > 0


def test_a_judge_that_sees_gets_the_picture_and_others_do_not(tmp_path):
    """Of the three rubrics only the grade of a refusal shows the picture."""
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)
    with Loopback(honest) as seeing, Loopback(honest) as blind:
        judges = [judge_at("a", seeing), judge_at("b", blind, blind=True)]
        consulted(tmp_path, benchmark, frame, judges)

    def pictured(server):
        return [
            any(part.get("type") == "image_url" for part in content)
            for body in server.requests
            if not isinstance(content := body["messages"][0]["content"], str)
        ]

    refusals = int((~frame["answerable"]).sum())
    assert pictured(seeing) == [True] * refusals
    assert pictured(blind) == []
    assert sum("You see the picture." in prompt for prompt in seeing.prompts()) == refusals
    assert not any("You see the picture." in prompt for prompt in blind.prompts())


def test_a_judge_is_told_that_it_sees_only_where_there_is_a_picture(tmp_path):
    """In a blind run there is none to send."""
    made = make("mmooc", data="scenes", n=24, blind=True)
    frame = outcomes(made, sensible)
    with Loopback(honest) as judge:
        consulted(tmp_path, made, frame, [judge_at("a", judge)])
    assert judge.count
    assert all(isinstance(body["messages"][0]["content"], str) for body in judge.requests)
    assert not any("You see the picture." in prompt for prompt in judge.prompts())


def test_no_judge_sees_what_its_rubric_does_not_show(tmp_path):
    """The question whether a reply refuses shows neither the answer nor why there is none."""
    benchmark = scenes()
    frame = outcomes(benchmark, lambda item: "A reply.")
    with Loopback(honest) as judge:
        consulted(tmp_path, benchmark, frame, [judge_at("a", judge)])
    refused = [prompt for prompt in judge.prompts() if "concrete answer to the question" in prompt]
    assert len(refused) == frame["question"].n_unique()
    for prompt in refused:
        assert not inside("reference", prompt)
        assert not inside("reason", prompt)
    golds = {item.explanation for item in benchmark.items() if item.explanation}
    assert golds
    assert not any(gold in prompt for gold in golds for prompt in refused)


def test_a_schema_is_asked_for_and_left_where_the_endpoint_will_not_have_it(tmp_path):
    benchmark = scenes(n=12)
    frame = outcomes(benchmark, sensible)

    def no_schema(number, body):
        if "response_format" in body:
            return Fault("status", 400, {"error": {"message": "response_format is not known"}})
        return None

    with Loopback(honest) as takes, Loopback(honest, fault=no_schema) as not_:
        judges = [judge_at("a", takes), judge_at("b", not_)]
        judged, verdicts = consulted(tmp_path, benchmark, frame, judges)
    assert all("response_format" in body for body in takes.requests)
    # the first of each rubric, and no more
    assert sum("response_format" in body for body in not_.requests) == 3
    a, b = verdicts.manifest()
    assert (a["form"], b["form"]) == ("json", "words")
    assert b["failures"] == {}
    assert "b was asked in words: its endpoint takes no JSON schema" in verdicts.notices[0]
    assert judged["vote_refused@a"].to_list() == judged["vote_refused@b"].to_list()
    schema = takes.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {"verdict": {"type": "boolean"}}


@pytest.mark.parametrize("status", [404, 422, 500])
def test_a_schema_refused_with_any_status_leaves_words(tmp_path, status):
    benchmark = scenes(n=8)
    frame = outcomes(benchmark, sensible)

    def no_schema(number, body):
        if "response_format" in body:
            return Fault("status", status, {"error": {"message": "unknown field"}})
        return None

    with Loopback(honest, fault=no_schema) as judge:
        limits = Limits(retries=0)
        _, verdicts = consulted(tmp_path, benchmark, frame, [judge_at("a", judge)], limits)
        assert verdicts.missing == 0
        assert sum("response_format" in body for body in judge.requests) == 3  # one a rubric
    assert "takes no JSON schema" in verdicts.notices[0]


def test_a_judge_without_eyes_is_sent_no_more_pictures(tmp_path):
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)

    def no_eyes(number, body):
        if not isinstance(body["messages"][0]["content"], str):
            return Fault("status", 400, {"error": {"message": "image input is not supported"}})
        return None

    with Loopback(honest, fault=no_eyes) as judge:
        judged, verdicts = consulted(tmp_path, benchmark, frame, [judge_at("a", judge)])
        pictured = [
            body for body in judge.requests if not isinstance(body["messages"][0]["content"], str)
        ]
    assert len(pictured) == 4  # two rows, each as JSON and in words
    assert verdicts.missing == 0
    assert "was sent no pictures: its endpoint takes none" in verdicts.notices[0]
    assert "--judge-blind" in verdicts.notices[0]
    assert judged["verdict_refusal-rationality"].count() == int((~frame["answerable"]).sum())


def test_one_picture_that_is_refused_makes_no_judge_blind(tmp_path):
    """A content policy, or one picture that is too large, is that row's trouble."""
    for fault in (
        Fault("status", 400, {"error": {"message": "the image is too large"}}),
        Fault("status", 400, {"error": {"message": "x", "code": "content_policy_violation"}}),
    ):
        benchmark = scenes()
        frame = outcomes(benchmark, sensible)
        first: list[str] = []

        def one(number, body, first=first, fault=fault):
            content = body["messages"][0]["content"]
            if isinstance(content, str):
                return None
            picture = content[0]["image_url"]["url"]
            first.append(picture)
            return fault if picture == first[0] else None

        folder = tmp_path / str(fault.body["error"].get("code"))
        folder.mkdir()
        with Loopback(honest, fault=one) as judge:
            judged, verdicts = consulted(folder, benchmark, frame, [judge_at("a", judge)])
        (told,) = verdicts.manifest()
        assert told["sees"]
        assert not verdicts.notices or "pictures" not in verdicts.notices[-1]
        assert 0 < verdicts.missing < 3  # that picture's rows
        assert judged["verdict_refusal-rationality"].count() > 5


def test_a_schema_that_is_refused_later_is_asked_for_in_words(tmp_path):
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)
    refusal = Fault("status", 400, {"error": {"message": "no schema today"}})

    def every_fourth(number, body):
        return refusal if "response_format" in body and number % 4 == 3 else None

    with Loopback(honest, fault=every_fourth) as judge:
        judged, verdicts = consulted(tmp_path, benchmark, frame, [judge_at("a", judge)])
    assert verdicts.missing == 0
    assert (judged["verdict_refused"] == ~frame["answerable"]).all()


def test_a_schema_of_one_shape_may_be_refused_and_another_taken(tmp_path):
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)

    def no_enum(number, body):
        enum = "enum" in json.dumps(body.get("response_format", {}))
        return Fault("status", 400, {"error": {"message": "no enum"}}) if enum else None

    with Loopback(honest, fault=no_enum) as judge:
        _, verdicts = consulted(tmp_path, benchmark, frame, [judge_at("a", judge)])
    assert verdicts.missing == 0
    assert verdicts.manifest()[0]["form"] == "json, words"
    assert verdicts.manifest()[0]["sees"]


def test_a_form_once_found_is_kept_to(tmp_path):
    """The first request alone went wrong, so all is asked in words; the next run asks nothing."""
    benchmark = scenes(n=12)
    frame = outcomes(benchmark, sensible)
    refusal = Fault("status", 400, {"error": {"message": "no schema today"}})

    def at_first(number, body):
        return refusal if "response_format" in body and judge.count <= 40 and first else None

    first = True
    with Loopback(honest, fault=at_first) as judge:
        once, _ = consulted(tmp_path, benchmark, frame, [judge_at("a", judge)])
        first, asked = False, judge.count
        again, verdicts = consulted(tmp_path, benchmark, frame, [judge_at("a", judge)])
        assert judge.count == asked
    assert again.equals(once)
    assert verdicts.manifest()[0]["form"] == "words"
    assert "as an earlier run found" in verdicts.notices[0]


def test_what_is_stored_counts_though_the_budget_is_spent(tmp_path):
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)
    with Loopback(honest) as one, Loopback(honest) as two:
        paid, _ = consulted(tmp_path, benchmark, frame, [judge_at("b", two)])
        judges = [judge_at("a", one), judge_at("b", two)]
        limits = Limits(budget=Budget(tokens=100), concurrency=1)
        judged, verdicts = consulted(tmp_path, benchmark, frame, judges, limits)
    assert judged["vote_refused@b"].to_list() == paid["vote_refused@b"].to_list()
    assert verdicts.ballots[1].failures == {}
    with Loopback(honest) as third:
        limits = Limits(budget=Budget(tokens=10), concurrency=1)
        judged, _ = consulted(tmp_path, benchmark, frame, [judge_at("c", third)], limits)
        assert third.count == judged["vote_refused@c"].count() >= 1  # what was paid for counts


def test_a_check_that_fails_is_told(tmp_path):
    benchmark = scenes(n=12)
    frame = outcomes(benchmark, sensible)
    with Loopback(honest) as judge:
        consulted(tmp_path, benchmark, frame, [judge_at("a", judge)])
        judge.fault = lambda number, body: Fault("status", 400, {"error": {"message": "gone"}})
        _, verdicts = consulted(tmp_path, benchmark, frame, [judge_at("a", judge)], check=3)
    assert verdicts.missing == 0
    assert verdicts.notices[-1].startswith("The check of a lacks 18 votes: ")  # 3 x 3 rows twice


def test_a_judge_that_is_only_busy_is_still_held_to_the_schema(tmp_path):
    benchmark = scenes(n=8)
    frame = outcomes(benchmark, sensible)
    with Loopback(honest, faults=[Fault("status", 429)]) as judge:
        _, verdicts = consulted(tmp_path, benchmark, frame, [judge_at("a", judge)])
    assert verdicts.manifest()[0]["form"] == "json"
    assert verdicts.missing == 0


def test_the_estimate_comes_first_and_is_about_right(tmp_path):
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)
    told: list[Estimate] = []
    with Loopback(honest) as judge:
        judges = [judge_at("a", judge, price=(1.0, 10.0), blind=True)]
        heard = []
        consulted(
            tmp_path,
            benchmark,
            frame,
            judges,
            announce=lambda estimate: (told.append(estimate), heard.append(judge.count)),
        )
        (first,) = told
        assert heard == [0]  # before anything is asked
        n, answerable = len(frame), int(frame["answerable"].sum())
        due = n + answerable + (n - answerable)  # the last as the rules read: here all refuse
        assert (first.verdicts, first.sure) == (due, False)
        asked = judge.prompts()
        mean = sum(len(prompt) for prompt in asked) / len(asked)
        assert first.tokens_in == pytest.approx(due * mean / 4, rel=0.1)
        assert first.tokens_out == 8 * (n + answerable) + 88 * (n - answerable)
        dollars = (first.tokens_in * 1.0 + first.tokens_out * 10.0) / 1e6
        assert first.dollars == pytest.approx(dollars)
        assert str(first).startswith("about 120 verdicts of 1 judge, about ")
        consulted(tmp_path, benchmark, frame, judges, announce=told.append, check=10)
    again = told[1]
    assert again.verdicts == due + 3 * 2 * 10  # three rubrics, each ten rows twice more
    assert again.stored == due  # as far as the sample tells; the checks are new
    assert "of them in the store" in str(again)


def test_one_budget_holds_for_all_judges_and_rounds_together(tmp_path):
    """A vote takes 18 tokens here, and 900 tokens pay for 50 of them."""
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)
    with Loopback(honest) as one, Loopback(honest) as two:
        _, verdicts = consulted(
            tmp_path,
            benchmark,
            frame,
            [judge_at("a", one), judge_at("b", two)],
            limits=Limits(budget=Budget(tokens=900), concurrency=1),
        )
    assert 48 <= one.count + two.count <= 51
    reasons = {reason for ballot in verdicts.ballots for reason in ballot.failures}
    assert reasons == {"not asked: the budget of all judges together, 900 tokens, was reached"}
    assert verdicts.missing > 0
    assert verdicts.stopped


def test_a_check_asks_again_and_the_other_way_round(tmp_path):
    """This judge says TRUE whenever the reply stands first, as it does the other way round."""
    benchmark = scenes()
    frame = outcomes(benchmark, sensible)

    def leans(prompt: str) -> str:
        if '"score"' in prompt:
            return honest(prompt)
        turned = 0 <= prompt.find("<reply-") < prompt.find("<question-")
        return '{"verdict": true}' if turned else honest(prompt)

    with Loopback(leans) as judge:
        judged, verdicts = consulted(tmp_path, benchmark, frame, [judge_at("a", judge)], check=10)
        count = judge.count
        consulted(tmp_path, benchmark, frame, [judge_at("a", judge)], check=10)
        assert judge.count == count  # kept, like all else
    assert len(verdicts.checks) == 1
    again = judged.filter(pl.col("again_refused@a").is_not_null())
    assert len(again) == 10
    assert (again["again_refused@a"] == again["vote_refused@a"]).all()
    turned = judged.filter(pl.col("turned_refused@a").is_not_null())
    assert len(turned) == 10
    assert not turned["turned_refused@a"].any()  # TRUE: a concrete answer, so not refused


def test_a_cascade_spares_verdicts_and_says_who_decided(tmp_path):
    benchmark = scenes()

    def odd(item) -> str:
        """Every third reply is long and of no known form, so that the rules are not sure."""
        if len(item.question) % 3 == 0:
            return "Well, that depends on how one looks at such things in the first place, really."
        return sensible(item)

    frame = outcomes(benchmark, odd)
    with Loopback(honest) as dear, Loopback(honest) as cheap:
        judges = [
            judge_at("dear", dear, price=(10, 10)),
            judge_at("cheap", cheap, price=(1, 1)),
        ]
        judged, _ = consulted(tmp_path, benchmark, frame, judges, cascade=True)
    by = judged["by_refused"].value_counts()
    counts = dict(by.iter_rows())
    unsure = int((frame["state"] == "unparsed").sum())
    assert unsure > 0
    assert counts["rule"] == len(frame) - unsure
    assert counts["first judge"] == unsure  # it says the same both ways
    assert "panel" not in counts
    assert judged["verdict_refused"].null_count() == 0
    # What the rules decided is put before both all the same, up to 100 rows: to measure the rules.
    audited = judged.filter(pl.col("by_refused") == "rule")
    assert (audited["vote_refused@dear"] == audited["verdict_refused"]).all()
    assert judged.filter(pl.col("by_refused") == "first judge")["vote_refused@dear"].is_null().all()


def test_where_the_first_judge_wavers_the_panel_decides(tmp_path):
    benchmark = scenes()
    frame = outcomes(benchmark, lambda item: "It is hard to put into words what is going on there.")

    def wavers(prompt: str) -> str:
        turned = prompt.find("<reply-") < prompt.find("<question-")
        return f'{{"verdict": {str(turned).lower()}}}'

    with Loopback(wavers) as first, Loopback(honest) as two, Loopback(honest) as three:
        judges = [judge_at(name, at) for name, at in (("a", first), ("b", two), ("c", three))]
        judged, _ = consulted(tmp_path, benchmark, frame, judges, cascade=True)
    unsure = judged.filter(judged["state"] == "unparsed")
    assert len(unsure)
    assert set(unsure["by_refused"]) == {"panel"}
    assert set(unsure["panel_refused"]) == {"2 of 3"}  # b and c: it gives an answer


def test_a_rubric_of_ones_own_takes_the_place_of_the_benchmarks(tmp_path):
    benchmark = scenes(n=12)
    frame = outcomes(benchmark, sensible)
    mine = tmp_path / "refused.toml"
    mine.write_text(
        'about = "x"\nsees = ["reply"]\ntask = "Mine."\nask = "Does it decline?"\n'
        'true = "it declines"\nfalse = "it does not"\n'
    )
    also = tmp_path / "polite.toml"
    also.write_text(mine.read_text().replace("decline?", "greet?"))
    with Loopback(lambda prompt: '{"verdict": true}') as judge:
        judged, verdicts = consulted(
            tmp_path,
            benchmark,
            frame,
            [judge_at("a", judge)],
            rubrics=[load(mine), load(also)],
        )
    assert [rubric.name for rubric in verdicts.rubrics] == [
        "refused", "matches-reference", "refusal-rationality", "polite",
    ]  # fmt: skip
    assert judged["verdict_refused"].all()
    assert judged["verdict_polite"].all()
    assert any("Mine." in prompt for prompt in judge.prompts())


@pytest.mark.parametrize(
    ("name", "scale", "said"),
    [
        (
            "refusal-rationality",
            '[anchors]\n0 = "a"\n9 = "b"\n',
            "grades from 1 to 5, not .* 0 to 9",
        ),
        ("matches-reference", '[anchors]\n1 = "a"\n5 = "b"\n', "TRUE or FALSE, not grades"),
        ("matches-reference", '[parts]\none = "a"\ntwo = "b"\n', "not the parts one, two"),
        ("refusal-rationality", '[letters]\nA = "a"\nB = "b"\n', "not the letters A, B"),
    ],
)
def test_a_rubric_that_metrics_rest_on_keeps_its_scale(tmp_path, name, scale, said):
    path = tmp_path / f"{name}.toml"
    path.write_text(
        'about = "x"\nsees = ["reply"]\ntask = "T."\nask = "?"\n' + scale, encoding="utf-8"
    )
    judge = Judge(model=make_model("a", base_url="http://127.0.0.1:1/v1"))
    with pytest.raises(UsageError, match=f"the rubric {name} has another scale .*{said}"):
        consulting.panel_of(scenes(n=12), Panel(judges=[judge], rubrics=[load(path)]))


def test_a_rubric_for_a_column_that_is_not_there_is_told(tmp_path):
    benchmark = scenes(n=8)
    frame = outcomes(benchmark, sensible)
    path = tmp_path / "odd.toml"
    path.write_text(
        'about = "x"\nsees = ["reply"]\ntask = "T."\nask = "?"\ntrue = "a"\nfalse = "b"\n'
        'where = { nocol = ["x"] }\n'
    )
    with Loopback(honest) as judge:
        _, verdicts = consulted(
            tmp_path, benchmark, frame, [judge_at("a", judge)], rubrics=[load(path)]
        )
    assert verdicts.notices == ["the rubric odd was asked of no reply: there is no column 'nocol'"]


def test_what_cannot_be_a_panel_is_said():
    benchmark = scenes(n=12)
    judge = Judge(model=make_model("a", base_url="http://127.0.0.1:1/v1"))
    with pytest.raises(UsageError, match="the judge a is given twice"):
        consulting.panel_of(benchmark, Panel(judges=[judge, judge]))
    twice = [load("refused"), load("refused")]
    with pytest.raises(UsageError, match="two rubrics have one name: refused, refused"):
        consulting.panel_of(benchmark, Panel(judges=[judge], rubrics=twice))
    for name in ("baseline/oracle", "local/scout"):
        with pytest.raises(UsageError, match=f"{name} cannot judge"):
            consulting.panel_of(benchmark, make_model(name))
    with pytest.raises(UsageError, match=r"'a' is no model.*or say with --judge-base-url where"):
        JudgeFlags(judge=["a"])._judges()
    for odd in ("", " ", "a\nb", "a\x1b[0m"):
        with pytest.raises(UsageError, match="--judge takes a model, not"):
            JudgeFlags(judge=[odd], judge_base_url=["http://127.0.0.1:1/v1"])._judges()
    with pytest.raises(UsageError, match="needs a --judge-price"):
        JudgeFlags(judge=["x/y"], judge_budget="$5").limits(Limits())
    with pytest.raises(UsageError, match="--judge-check goes with a --judge"):
        JudgeFlags(judge_check=5).panel(benchmark)
    with pytest.raises(UsageError, match="--judge-price is given 2 times for 3 judges"):
        JudgeFlags(judge=["a", "b", "c"], judge_price=["1,1", "2,2"])._judges()
    for price in ("x", "1", "1,-1", "1,nan"):
        with pytest.raises(UsageError, match=r"^--judge-price takes dollars a million"):
            JudgeFlags(judge=["openai/o3"], judge_price=[price])._judges()
        with pytest.raises(UsageError, match=r"^--judge-price takes dollars a million"):
            JudgeFlags(judge=["a"], judge_price=[price], judge_budget="$5").limits(Limits())
    with pytest.raises(UsageError, match="--judge-budget and --cascade go with a --judge"):
        JudgeFlags(judge_budget="5", cascade=True).panel(benchmark)
    with pytest.raises(UsageError, match="--family takes MODEL=FAMILY, not 'x'"):
        _ = JudgeFlags(family=["x"]).families


def test_repeats_are_each_judged(tmp_path):
    benchmark = scenes(n=12)
    once = outcomes(benchmark, sensible)
    other = once.with_columns(
        repeat=pl.lit(1, once["repeat"].dtype), reply=pl.lit("I cannot tell.")
    )
    both = pl.concat([once, other]).sort("index", "repeat", maintain_order=True)
    with Loopback(honest) as judge:
        judged, _ = consulted(tmp_path, benchmark, both, [judge_at("a", judge)])
    assert judged.filter(pl.col("repeat") == 1)["verdict_refused"].all()
    assert (
        judged.filter(pl.col("repeat") == 0)["verdict_refused"].to_list()
        == (~once["answerable"]).to_list()
    )


# --- roles ---------------------------------------------------------------------------------


def overlapping(*more):
    return command(
        "run", "scenes", "-o", "n=4", "-o", "kinds=hardbench", "-m", "openai/gpt-4o",
        "--judge", "openai/gpt-4o-mini", *more,
    )  # fmt: skip


def test_a_judge_of_the_evaluated_family_is_refused_unless_it_is_allowed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with Loopback(lambda _: "red") as server, Loopback(honest) as judge:
        at = ("--base-url", server.base_url, "--judge-base-url", judge.base_url)
        done = overlapping(*at)
        assert done.returncode == 2
        assert "openai/gpt-4o-mini judges openai/gpt-4o: one family" in done.stderr
        assert "--allow-overlap" in done.stderr
        assert server.count == judge.count == 0  # before anything is paid for
        done = overlapping(*at, "--allow-overlap")
        assert done.returncode == 0, done.stderr
    (folder,) = tmp_path.glob("runs/scenes/*/*")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert "openai/gpt-4o-mini judges openai/gpt-4o: one family" in manifest["overlaps"][0]
    assert manifest["roles"]["judge"][0]["vendor"] == "OpenAI"
    page = (folder / "report.html").read_text()
    assert page.index("judges openai/gpt-4o: one family") < page.index("<h2")


def test_families_that_are_said_of_no_model_here_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = command("run", "scenes", "-m", "local/scout", "--family", "other=Qwen")
    assert done.returncode == 2
    assert "--family names other, which is none of the models here: local/scout" in done.stderr


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "hardset", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )
