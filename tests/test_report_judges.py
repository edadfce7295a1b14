"""What the page and the terminal say of a run's judges, from columns and manifest alone."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest
from rich.console import Console

import report_runs as made
from hardset import comparing
from hardset.judging import Judge, Panel
from hardset.metrics.panel import panel
from hardset.metrics.votes import read_votes
from hardset.models import make_model
from hardset.records import Item
from hardset.reports import terminal
from hardset.reports.folder import read_folder
from hardset.reports.html import render
from hardset.reports.runs import RunView, Shown
from hardset.reports.sections.disputed import MOST, disputed
from hardset.reports.sections.judges import section
from hardset.run import evaluate
from judged_frames import judged, outcomes
from loopback import Loopback
from test_judging import HARDBench, Settings, data, judge_says, model_says

JUDGES = ("openai/gpt-4o", "b/y", "c/z")
MANIFEST = {
    "judges": [
        {
            "model": "openai/gpt-4o",
            "form": "json",
            "sees": True,
            "verdicts": {"refused": {"given": 3, "due": 4}, "k.part": {"given": 4, "due": 4}},
            "failures": {"HTTP 503": 1},
        }
    ],
    "roles": {"judge": [{"model": "openai/gpt-4o", "vendor": "OpenAI", "family": "gpt"}]},
    "rubrics": {"refused": "0123456789abcdef" * 4},
    "questions": {
        "refused": {
            "rubric": "refused",
            "about": "the reply declines",
            "values": {"TRUE": "it gives none", "FALSE": "it gives an answer"},
        }
    },
}


def view(frame, manifest=MANIFEST, **more) -> RunView:
    metrics = [one for part in panel(frame) for one in part.metrics(200)]
    about = {
        "model": "m/evaluated",
        "benchmark": "made-up",
        "title": "Made up",
        "manifest": {"started": "2026-08-14T09:30:00+00:00", **manifest},
        "metrics": metrics,
        "states": {"answered": len(frame)},
        "outcomes": frame,
        "readings": ["default"],
    }
    return RunView(**{**about, **more})


def of_three(*votes: str, key: str = "refused", frame=None, **more):
    frame = outcomes(len(votes[0])) if frame is None else frame
    return judged(frame, key, dict(zip(JUDGES, votes, strict=False)), **more)


def words(page: str) -> str:
    """The text of a page as a reader has it: no tags, and single spaces."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page)))


def judges_of(page: str) -> str:
    return words(page[page.index('<section id="judges">') : page.index('<section id="metrics">')])


def test_a_run_without_judges_has_no_such_section():
    run = view(outcomes(3))
    assert section([run], []) is None
    assert 'id="judges"' not in render([run])
    assert terminal.judges_table(run, several=False) is None


def test_the_page_says_who_judged_how_far_they_agree_and_that_this_is_not_being_right():
    page = render([view(of_three("TTF-", "TFFT", "TFFF"))])
    assert '<a href="#judges">Judges</a>' in page
    said = judges_of(page)
    assert "Agreement is not correctness." in said
    assert "hardset validate RUN --sample 200" in said
    roster = "openai/gpt-4o OpenAI gpt held to a JSON schema, sent pictures 7 of 8 1 x HTTP 503"
    assert roster in said
    assert "b/y not known not known not known 4 of 4" in said  # the manifest does not know it
    assert "rubric refused, sha256 0123456789ab…" in said
    assert "TRUE it gives none FALSE it gives an answer" in said
    # 3 of 4 rows have a verdict: on the last one says TRUE, one FALSE, and one nothing.
    assert "75.0 % have a verdict 3/4" in said
    assert "1 tie 0 without a vote" in said
    # Pairs alike: 3 of 3, 1 of 3, 3 of 3, 0 of 1.
    assert "Two votes on one row are the same in 70.0 % of all cases." in said
    assert "Fleiss' kappa" in said
    assert "Krippendorff's alpha (nominal)" in said


def test_kappas_are_no_percentages_on_the_page_nor_in_its_complete_table():
    run = view(of_three("TTFFTTFFTTFF", "TTFFTTFFTTFT", "TTFFTTFFTTTF"))
    kappa = next(one for one in run.metrics if one.name == "Fleiss' kappa")
    page = render([run])
    line = re.search(r"<tr><td>Fleiss&#39; kappa</td>.*?</tr>", page)[0]
    assert f"<b>{kappa.value:.2f}</b>" in line
    assert "%" not in line
    assert "by verdict and judges" in page  # and each two of them


def test_the_paradox_of_kappa_is_said_where_it_is():
    """Of forty rows 38 are FALSE to all; on two, one judge alone says TRUE."""
    skewed = view(of_three("F" * 38 + "TF", "F" * 38 + "FT", "F" * 40))
    assert "100.0 % of the verdicts are FALSE" in judges_of(render([skewed]))
    even = view(of_three("T" * 19 + "F" * 19 + "TF", "T" * 19 + "F" * 19 + "FT", "TF" * 20))
    assert "paradox" not in judges_of(render([even]))


def test_undefined_kappas_say_why_on_the_page():
    said = judges_of(render([view(of_three("FFF", "FFF"))]))
    why = "Kappa and alpha are undefined: all votes are FALSE, and chance would agree as well"
    assert f"{why}; AC1 is not." in said
    none = judges_of(render([view(of_three("T-", "-F"))]))
    assert "Kappa and alpha are undefined: no row has two votes." in none
    assert "kappa undefined: all votes are FALSE, and chance would agree as well." in said


def test_a_question_that_was_due_on_no_row_says_so():
    frame = of_three("..", "..", due="..")
    assert "Due on no row." in judges_of(render([view(frame)]))
    assert "undefined" in printed([view(frame)])


def test_one_judge_has_no_agreement():
    said = judges_of(render([view(of_three("TF"))]))
    assert "One judge: there is none to agree with." in said
    assert "kappa" not in said.split("The rules and the judge")[0]


def test_checks_and_a_cascade_are_shown():
    frame = of_three(
        "TTFF", "TTFF", again={"openai/gpt-4o": "TTF-"}, turned={"openai/gpt-4o": "FTF-"}
    )
    said = judges_of(render([view(frame)]))
    assert "changed when asked again" in said
    assert "33.3 %" in said  # turned round, one of three
    by = ["rule", "rule", "first judge", "panel"]
    said = judges_of(render([view(of_three("T-FT", "T--T", "T--F", by=by))]))
    assert "rule 2 first judge 1 panel 1" in said
    assert "In a cascade only some rows have several votes" in said


def test_grades_have_anchors_a_mean_and_no_ties():
    questions = {"fit": {"rubric": "fit", "values": {"1": "bad", "3": "so so", "5": "good"}}}
    frame = of_three("1255", "2254", key="fit")
    said = judges_of(render([view(frame, {"questions": questions})]))
    assert "1 bad 3 so so 5 good" in said
    assert "mean grade 3.25" in said  # 1.5, 2, 5, 4.5
    assert "ties" not in said
    assert "Krippendorff's alpha (ordinal)" in said


def test_rows_in_dispute_are_those_where_judges_or_rules_are_of_two_minds():
    """Judges differ on the first, the rules abstain on the third alone; the second is at peace."""
    frame = outcomes(3, state=["answered", "answered", "abstained"], reply=["one", "two", "three"])
    frame = of_three("TFF", "FFF", "FFF", frame=frame)
    shown, count = disputed(frame, read_votes(frame))
    assert (count, [one.reply for one in shown]) == (2, ["one", "three"])
    (vote,) = shown[0].votes
    assert (vote.verdict, vote.how) == ("FALSE", "2 of 3")
    assert [(v.name, v.said) for v in vote.voices if v.odd] == [("openai/gpt-4o", "TRUE")]
    assert [(v.name, v.said) for v in shown[1].votes[0].voices if v.odd] == [("the rules", "TRUE")]


def test_grades_are_in_dispute_from_two_points_on():
    frame = of_three("1135", "2354", key="fit")
    shown, _ = disputed(frame, read_votes(frame))
    assert [one.item for one in shown] == ["q1", "q2"]
    # Of 1 and 3 the mean is 2: both are a point from it.
    assert [voice.odd for voice in shown[0].votes[0].voices] == [True, True]


def test_of_many_disputes_some_of_each_question_are_shown_and_always_the_same():
    frame = of_three("T" * 60 + "F" * 3, "F" * 60 + "F" * 3, key="a")
    frame = judged(frame, "b", {"x": "F" * 60 + "TTT", "y": "F" * 63})
    votes = read_votes(frame)
    shown, count = disputed(frame, votes)
    assert (len(shown), count) == (MOST, 63)
    assert {one.item for one in shown} >= {"q60", "q61", "q62"}
    assert disputed(frame, votes)[0] == shown


def test_the_cards_of_the_sample_show_each_verdict_with_its_votes():
    frame = of_three("TF", "TT", "T-", due="xx")
    frame = judged(frame, "fit", {"b/y": "4.", "c/z": "5."}, due="x.")
    sample = [Shown(index=i, item=Item(id=f"q{i}", question="?")) for i in range(2)]
    page = render([view(frame)], sample)
    cards = words(page[page.index('<div id="cards">') :])
    assert "refused : TRUE , 3 of 3 fit : 4.5 , 2 of 2 votes · b/y 4 · c/z 5" in cards
    tied = "no verdict , 1 of 2, 1 missing, tie · openai/gpt-4o FALSE · b/y TRUE · c/z no vote"
    assert tied in cards
    assert cards.count("fit :") == 1  # not due on the second


def test_overlaps_of_roles_stand_on_the_first_screen_apart_from_the_notices():
    overlap = "openai/gpt-4o judges openai/gpt-4o-mini: one family, gpt"
    run = view(of_three("TF"), {"overlaps": [overlap]}, notices=[overlap, "One row is odd."])
    page = render([run])
    assert page.count(overlap) == 2  # there, and in the manifest
    aside = page[page.index('<aside class="overlaps"') :].split("</aside>")[0]
    assert overlap in aside
    assert page.index(overlap) < page.index('<section id="headline">')
    assert "One row is odd." in page.split('<aside class="notices"')[1].split("</aside>")[0]


def test_what_judges_are_called_and_replies_say_is_escaped():
    bad = made.HOSTILE
    frame = outcomes(2, reply=[bad, bad], question=[bad] * 2, item=[bad, "x"], gold=[bad] * 2)
    frame = judged(frame, "refused", {bad: "TF", "b": "FF"})
    manifest = {
        "judges": [{"model": bad, "form": bad, "failures": {bad: 2}, "verdicts": {}}],
        "roles": {"judge": [{"model": bad, "vendor": bad, "family": bad}]},
        "rubrics": {"refused": bad},
        "questions": {"refused": {"about": bad, "values": {bad: bad}, "rubric": "refused"}},
        "overlaps": [bad],
    }
    page = render([view(frame, manifest)], [Shown(index=0, item=Item(id=bad, question=bad))])
    assert page.count("<script") == 1
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, attributes))
    parser.feed(page)
    for tag, attributes in found:
        assert tag not in ("img", "iframe", "object", "base")
        assert not [name for name, _ in attributes if name.startswith("on")]
    assert "\x00" not in page
    assert "\u202e" not in page
    assert "\x1b" not in printed([view(frame, manifest)])


def test_several_runs_each_have_their_judges():
    one, two = view(of_three("TF", "FF")), view(of_three("TT"), model="m/other")
    said = judges_of(render([one, two, replace(one, outcomes=outcomes(2), model="m/none")]))
    assert re.search(r"evaluated judge vendor", said)
    assert re.search(r"other judge vendor", said)
    assert "none judge vendor" not in said
    assert "Judges of m/other" in printed([one, two])


def test_a_run_whose_metrics_lack_its_judges_has_them_worked_out():
    """As those of a page made from the outcomes alone."""
    run = view(of_three("TTF-", "TFFT", "TFFF"))
    assert "75.0 % have a verdict 3/4" in judges_of(render([replace(run, metrics=[])]))


# --- the terminal ---------------------------------------------------------------------------


def printed(runs, width=100):
    held = io.StringIO()
    terminal.show(runs, Console(file=held, force_terminal=True, color_system=None, width=width))
    return held.getvalue()


def test_the_terminal_has_a_line_a_verdict():
    frame = of_three("TTF-", "TFFT", "TFFF")
    frame = judged(frame, "k.part", {"a": "FFFF", "b": "FFFF"})
    frame = judged(frame, "fit", {"a": "125.", "b": "324."}, due="xxx.")
    text = printed([view(frame)])
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    # kappa: pa = (1 + 1/3 + 1 + 0) / 4 = 7/12; TRUE in (1 + 1/3 + 0 + 1/2) / 4 = 11/24, so that
    # pe = (121 + 169) / 576 and (336 - 290) / (576 - 290) = 0.16; AC1: pe = 286/576, and
    # (336 - 286) / (576 - 286) = 0.17.
    assert lines["refused"] == ["refused", "3/4", "70.0", "%", "0.16", "0.17"]
    assert lines["k.part"] == ["k.part", "4/4", "100.0", "%", "undefined", "1.00"]
    # Of grades alpha, marked: 1 - 50/130. Nominal pa = 1/3; of five grades 1, 3, 4, 5 have 1/6
    # and 2 has 2/6, so that AC1's pe = (4 x 5/36 + 8/36) / 4 = 28/144, and 20/116.
    assert lines["fit"] == ["fit", "3/3", "33.3", "%", "0.62*", "0.17"]
    assert "kappa, alpha*" in text
    assert "* of grades Krippendorff's alpha (interval)" in text
    assert "one judge: no agreement" in printed([view(of_three("TF"))])


# --- the whole road -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """Two judged runs of four pairs; the third judge finds a refusal in every reply."""
    folder = tmp_path_factory.mktemp("judged")
    data(folder)

    def odd(prompt: str) -> str:
        if '"score"' in prompt or "Score: N" in prompt:
            return '{"reason": "?", "score": 1}'
        return "FALSE"

    found = []
    with Loopback(judge_says) as one, Loopback(judge_says) as two, Loopback(odd) as three:
        judges = [
            Judge(model=make_model(name, base_url=server.base_url, key_env=None))
            for name, server in (("first", one), ("second", two), ("third", three))
        ]
        for name in ("vlm", "other"):
            with Loopback(model_says) as server:
                found.append(
                    evaluate(
                        HARDBench(data=folder / "test.parquet", blind=True),
                        make_model(name, base_url=server.base_url),
                        Settings(runs=folder / "runs"),
                        judge=Panel(judges=judges),
                    )
                )
    return found


def test_a_judged_run_holds_its_judges_figures_in_its_folder_and_on_its_page(walked):
    manifest, metrics, frame = read_folder(walked[0].folder)
    found = {(m.name, m.cut.get("judge", "")): m for m in metrics if m.cut.get("verdict")
             == "refused" and "judges" not in m.cut}  # fmt: skip
    # Seven replies with words. Two judges find three refusals; the third finds seven, and is
    # outvoted on four: 3 x 3 + 4 x 1 of 7 x 3 pairs agree.
    raw = found["raw agreement", ""]
    assert (raw.numerator, raw.denominator) == (13, 21)
    outvoted = found["outvoted", "third"]
    assert (outvoted.numerator, outvoted.denominator) == (4, 7)
    assert raw.clusters == 4  # pairs
    assert read_votes(frame)[0].judges == ["first", "second", "third"]
    said = judges_of((walked[0].folder / "report.html").read_text(encoding="utf-8"))
    assert "hardset validate RUN" in said
    assert manifest["rubrics"]["refused"][:12] in said
    # What TRUE means of a rubric that asks for the opposite: a refusal gives no answer.
    assert manifest["questions"]["refused"]["values"]["TRUE"] == "it gives none"
    assert "TRUE it gives none" in said


def test_judged_runs_are_compared_without_harm(walked):
    compared = comparing.compare(walked[0].folder, walked[1].folder, draws=200)
    (versus,) = compared.versus
    assert versus.differences
    assert not [one.name for one in versus.differences if "kappa" in one.name]
    assert "judges" not in {name for name, *_ in versus.differing}  # the same ones
