"""What a panel's votes say of its judges: votes written down, figures worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.metrics.panel import cell, panel
from hardset.metrics.votes import clusters_of, keys, read_votes
from hardset.records import COEFFICIENT, Metric
from hardset.reports.numbers import fraction, interval, percent
from judged_frames import judged, outcomes

THREE = {"a/x": "TTFFT-.", "b/y": "TTFFF-.", "c/z": "TFFF--."}
"""Seven rows: all agree on three; one against two; a tie of two; no vote; not due."""


def measured(frame: pl.DataFrame, draws: int = 200) -> dict[tuple[str, ...], Metric]:
    """The metrics by name and whatever else they are of."""
    return {
        (one.name, *(of for cut, of in one.cut.items() if cut != "verdict")): one
        for part in panel(frame)
        for one in part.metrics(draws)
    }


@pytest.fixture(scope="module")
def three() -> dict[tuple[str, ...], Metric]:
    states = ["abstained", "answered", "abstained", "answered", "answered", "answered", "answered"]
    frame = outcomes(7, state=states)
    return measured(judged(frame, "refused", THREE, due="xxxxxx."))


def counts(metric: Metric) -> tuple[float, float]:
    return metric.numerator, metric.denominator


def test_verdicts_ties_and_rows_without_a_vote(three):
    assert counts(three["verdict coverage",]) == (4, 6)  # of seven, one was not due
    assert counts(three["ties",]) == (1, 6)
    assert counts(three["rows without a vote",]) == (1, 6)
    assert counts(three["share of TRUE",]) == (2, 4)


def test_agreement_of_three_judges_with_votes_missing(three):
    # Pairs that agree: 3 of 3, 1 of 3, 3 of 3, 3 of 3, 0 of 1.
    assert counts(three["raw agreement",]) == (10, 13)
    # Fleiss, after Gwet: pa = (1 + 1/3 + 1 + 1 + 0) / 5 = 2/3; TRUE in (1 + 2/3 + 0 + 0 + 1/2) / 5
    # = 13/30, so that pe = (13² + 17²) / 900 = 458/900, and (2/3 - 458/900) / (442/900) = 142/442.
    assert three["Fleiss' kappa",].value == pytest.approx(142 / 442)
    # AC1: pe = 2 x 13/30 x 17/30 = 442/900, and (600 - 442) / (900 - 442) = 158/458.
    assert three["Gwet's AC1",].value == pytest.approx(158 / 458)
    # Alpha: 14 pairable votes, 6 TRUE and 8 FALSE. Disagreeing: 2 x 2 x 1 / 2 + 2 x 1 x 1 / 1 = 4
    # of 14; by chance 2 x 6 x 8 / (14 x 13): 1 - (4 / 14) / (96 / 182) = 1 - 52/96.
    assert three["Krippendorff's alpha (nominal)",].value == pytest.approx(44 / 96)
    assert {three[name,].unit for name in ("Fleiss' kappa", "Gwet's AC1")} == {COEFFICIENT}
    assert three["raw agreement",].unit == ""


def test_each_two_judges(three):
    pair = "a/x and b/y"
    assert counts(three["raw agreement", pair]) == (4, 5)
    # TRUE in 3/5 and 2/5: pe = .6 x .4 + .4 x .6 = .48, and (.8 - .48) / .52.
    assert three["Cohen's kappa", pair].value == pytest.approx(0.32 / 0.52)
    assert counts(three["raw agreement", "b/y and c/z"]) == (3, 4)


def test_each_judge(three):
    given_ = {judge: counts(three["votes given", judge]) for judge in THREE}
    assert given_ == {"a/x": (5, 6), "b/y": (5, 6), "c/z": (4, 6)}
    says = {judge: counts(three["share of TRUE", judge]) for judge in THREE}
    assert says == {"a/x": (3, 5), "b/y": (2, 5), "c/z": (1, 4)}
    # Ties have no majority to be against: four rows are left, and c is alone on the second.
    outvoted = {judge: counts(three["outvoted", judge]) for judge in THREE}
    assert outvoted == {"a/x": (0, 4), "b/y": (0, 4), "c/z": (1, 4)}


def test_the_rules_against_the_panel(three):
    """The rules say the first and the third refuse, the panel the first and the second."""
    assert counts(three["rules and panel agree",]) == (2, 4)
    cells = {(r, p): counts(three[cell(r, p),]) for r in (True, False) for p in (True, False)}
    assert cells == dict.fromkeys(cells, (1, 4))
    assert three["kappa, rules and panel",].value == pytest.approx(0)  # as chance: 1/2 of 1/2


def test_the_rules_match_the_reference_where_they_answer_and_are_right():
    frame = outcomes(4, state=["answered", "answered", "abstained", "unparsed"])
    frame = frame.with_columns(right=pl.Series([True, False, True, False]))
    found = measured(judged(frame, "matches-reference", {"j": "TFFT"}))
    assert counts(found["rules and panel agree",]) == (3, 4)  # an unparsed reply is none
    assert counts(found[cell(False, True),]) == (1, 4)
    other = measured(judged(frame, "my-own", {"j": "TFFT"}))
    assert ("rules and panel agree",) not in other  # the rules have no view on it


def test_grades():
    frame = outcomes(3, reply=["a", "bb", "ccc"])
    found = measured(judged(frame, "rational", {"a": "125", "b": "324"}))
    assert counts(found["mean grade",]) == (8.5, 3)  # 2, 2, 4.5
    assert counts(found["mean grade", "a"]) == (8, 3)
    assert counts(found["raw agreement",]) == (1, 3)
    # A point or more from the mean: both on the first row.
    assert counts(found["outvoted", "a"]) == (1, 3) == counts(found["outvoted", "b"])
    # Interval: squared gaps 4, 0, 1, so 2 x 5 / 6 observed; of all six votes, 6 x 59 - 17² = 65
    # for pairs, so 2 x 65 / (6 x 5) by chance.
    assert found["Krippendorff's alpha (interval)",].value == pytest.approx(1 - 50 / 130)
    assert ("Krippendorff's alpha (nominal)",) not in found
    assert ("ties",) not in found
    assert percent(found["mean grade",].value, found["mean grade",].unit) == "2.83"


def test_longer_replies_and_verdicts():
    """Ranks 1 to 4 against 1.5, 1.5, 3.5, 3.5: 4 / sqrt(5 x 4)."""
    frame = outcomes(4, reply=["a", "bb", "ccc", "dddd"])
    found = measured(judged(frame, "refused", {"j": "FFTT"}))
    assert found["verbosity correlation",].value == pytest.approx(4 / 20**0.5)
    assert found["verbosity correlation", "j"].value == pytest.approx(4 / 20**0.5)


def test_two_judges_have_cohens_kappa_and_nobody_is_outvoted():
    found = measured(judged(outcomes(4), "refused", {"a": "TTFF", "b": "TFFF"}))
    # TRUE in 1/2 and 1/4: pe = 1/8 + 3/8, and (3/4 - 1/2) / (1/2).
    assert found["Cohen's kappa",].value == pytest.approx(0.5)
    assert not {name for name, *_ in found} & {"Fleiss' kappa", "outvoted"}


def test_what_is_undefined_says_why():
    same = measured(judged(outcomes(3), "refused", {"a": "FFF", "b": "FFF"}))
    assert same["Cohen's kappa",].value is None
    assert same["Cohen's kappa",].method == (
        "undefined: all votes are FALSE, and chance would agree as well"
    )
    assert same["Gwet's AC1",].value == 1
    assert same["verbosity correlation",].method == "undefined: all are FALSE"
    apart = measured(judged(outcomes(2), "refused", {"a": "T-", "b": "-F"}))
    assert apart["Cohen's kappa",].method == "undefined: no row has two votes"
    assert apart["raw agreement",].value is None
    flat = measured(judged(outcomes(2), "refused", {"a": "TF"}))
    assert flat["verbosity correlation",].method == "undefined: all replies are of one length"


def test_one_judge_agrees_with_nobody():
    found = measured(judged(outcomes(2), "refused", {"a": "TF"}))
    assert not [name for name, *_ in found if "Fleiss" in name or name == "raw agreement"]


def test_a_judge_asked_again():
    frame = judged(
        outcomes(4),
        "refused",
        {"a": "TTFF", "b": "TTFF"},
        again={"a": "TTF-", "b": "----"},
        turned={"a": "TFF-"},
    )
    found = measured(frame)
    assert counts(found["changed when asked again", "a"]) == (0, 3)
    assert counts(found["changed when turned round", "a"]) == (1, 3)
    # TRUE in 2/3 and 1/3: pe = 4/9, and (6/9 - 4/9) / (5/9).
    assert found["kappa, changed when turned round", "a"].value == pytest.approx(0.4)
    assert ("changed when asked again", "b") not in found  # no vote came


def test_a_cascade_says_who_decided_and_holds_the_rules_against_the_panel():
    """The panel was asked about two of the four that the rules decided, and once says no."""
    frame = judged(
        outcomes(7, state=["abstained"] * 4 + ["answered"] * 3),
        "refused",
        {"a": "TF--FFT", "b": "TF---FT", "c": "TT---TF"},
        by=["rule"] * 4 + ["first judge", "panel", "panel"],
    ).with_columns(verdict_refused=pl.Series([True] * 4 + [False, False, True]))
    found = measured(frame)
    decided = [counts(found["decided", by]) for by in ("rule", "first judge", "panel")]
    assert decided == [(4, 7), (1, 7), (2, 7)]
    assert counts(found["rules and panel agree, audited",]) == (1, 2)
    # All rows the panel has a word on: audited TRUE and FALSE, then FALSE, FALSE, TRUE.
    assert counts(found["rules and panel agree",]) == (3, 5)
    # A judge that was not asked has not failed to vote: a was asked about five, b about four.
    assert counts(found["votes given", "a"]) == (5, 5)
    assert counts(found["votes given", "b"]) == (4, 4)
    assert counts(found["verdict coverage",]) == (7, 7)


def test_rows_of_one_pair_or_picture_and_the_parts_of_a_question_are_one_cluster():
    frame = outcomes(
        6,
        item=["a", "b", "b", "main", "part", "c"],
        pair=["p", "p", "", "", "", ""],
        parent=["", "", "", "", "main", ""],
    )
    assert clusters_of(frame).to_list() == [0, 0, 0, 1, 1, 2]
    found = measured(judged(frame, "refused", {"j": "TFTFTF"}))
    assert found["verdict coverage",].clusters == 3
    pictures = frame.with_columns(picture=pl.Series(["x", "y", "y", "z", "w", "x"]))
    assert clusters_of(pictures).to_list() == [0, 0, 0, 1, 1, 0]


def test_names_with_every_mark_are_read_off_the_columns():
    judge = "http://host:1/v1 model@2 / x"
    frame = judged(outcomes(2), "parts.named", {judge: "TF"})
    assert keys(frame.columns) == ["parts.named"]
    assert read_votes(frame)[0].judges == [judge]
    assert list(panel(outcomes(2))) == []
    older = outcomes(1).with_columns(verdict_refused=True, verdict_due=True)
    assert list(panel(older)) == []  # of a run before there were panels


def test_letters():
    frame = outcomes(3).with_columns(
        pl.Series("vote_kind@a", ["A", "C", None]),
        pl.Series("vote_kind@b", ["A", "B", "B"]),
        pl.Series("verdict_kind", ["A", None, "B"]),
        pl.Series("panel_kind", ["2 of 2", "1 of 2, tie", "1 of 1, 1 missing"]),
    )
    found = measured(frame)
    assert counts(found["verdict coverage",]) == (2, 3)
    assert counts(found["ties",]) == (1, 3)
    assert counts(found["raw agreement",]) == (1, 2)
    assert ("share of TRUE",) not in found


def test_kappas_are_written_as_numbers_and_not_per_cent():
    kappa = Metric(
        name="kappa",
        numerator=0.7123 * 200,
        denominator=200,
        value=0.7123,
        low=-0.004,
        high=0.75,
        unit=COEFFICIENT,
    )
    assert percent(kappa.value, kappa.unit) == "0.71"
    assert interval(kappa) == "0.00 to 0.75"
    assert fraction(kappa) == "200"


SIGNS = st.lists(st.tuples(*[st.sampled_from("TF-")] * 3), min_size=2, max_size=12)


@settings(deadline=None, max_examples=25)
@given(SIGNS)
def test_the_order_of_the_judges_changes_nothing_of_the_panel(rows):
    signs = ["".join(row) for row in zip(*rows, strict=True)]
    frame = outcomes(len(rows))
    one = measured(judged(frame, "k", dict(zip("abc", signs, strict=True))), 50)
    other = measured(judged(frame, "k", dict(zip("cab", signs[2:] + signs[:2], strict=True))), 50)
    for name in ("raw agreement", "Fleiss' kappa", "Gwet's AC1", "Krippendorff's alpha (nominal)"):
        assert one[name,].value == pytest.approx(other[name,].value)
        assert one[name,].method == other[name,].method
    for judge in "abc":
        assert counts(one["outvoted", judge]) == counts(other["outvoted", judge])
