"""Selective prediction: every figure by hand, and the laws that hold for any answers."""

from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.metrics.ranked import bins, calibration_gaps, coarse, curve, figures, rank
from hardset.metrics.selective import Selective, ranked_answers, resample, second_half

RISKS = (0.01, 0.05, 0.1, 0.2, 0.25, 0.4)
COSTS = (1, 10, 100)


def ranked(answers, *, never=0, second=()):
    """Rank (confidence, right) answers, each its own cluster, and rows that are not answered."""
    confidence = np.array([sure for sure, _ in answers], float)
    right = np.array([right for _, right in answers], bool)
    clusters = len(answers) + never
    in_second = np.isin(np.arange(clusters), list(second))
    return rank(confidence, right, np.arange(len(answers)), np.ones(clusters), in_second)


def work(answers, *, never=0, second=(), weights=None, bins=15):
    order = ranked(answers, never=never, second=second)
    weights = np.ones((1, len(order.rows))) if weights is None else np.array([weights], float)
    found = figures(order, weights, RISKS, COSTS, calibration_gaps(order, bins))
    return {key: (float(top[0]), float(bottom[0])) for key, (top, bottom) in found.items()}


def value(found, kind, number=0.0):
    top, bottom = found[kind, number]
    return top / bottom


# Right, wrong and right are at .8, .8 and .6: the tie at .8 is one right and one wrong answer.
TIED = [(0.9, True), (0.8, True), (0.8, False), (0.6, True), (0.5, False)]


def test_the_curve_has_a_point_for_each_confidence():
    drawn = curve(ranked(TIED))
    assert drawn.threshold.tolist() == [0.9, 0.8, 0.6, 0.5]
    assert drawn.coverage.tolist() == [1 / 5, 3 / 5, 4 / 5, 5 / 5]
    assert drawn.risk.tolist() == [0, 1 / 3, 1 / 4, 2 / 5]


def test_the_area_is_the_mean_over_the_orders_of_a_tie():
    """Risks after each row: 0, 0, 1/3, 1/4, 2/5, or with the tie turned 0, 1/2, 1/3, 1/4, 2/5.

    Their mean is 0, 1/4, 1/3, 1/4, 2/5, with trapezoids of width 1/5:
    (1/8 + 7/24 + 7/24 + 13/40) / 5 = (31/30) / 5.
    """
    top, bottom = work(TIED)["aurc", 0]
    assert top == pytest.approx(31 / 30)
    assert bottom == 5


def test_no_threshold_parts_a_tie():
    """At the tie the risk is 1/3; below it 1/4, at 4/5 of the rows; then 2/5."""
    found = work(TIED)
    assert [found["coverage", risk] for risk in RISKS] == [
        (1, 5), (1, 5), (1, 5), (1, 5), (4, 5), (5, 5),
    ]  # fmt: skip


def test_no_answer_is_sure_enough():
    assert work([(0.9, False), (0.1, True)])["coverage", 0.2] == (0, 2)


def test_auroc_counts_pairs():
    """Right .9, .8, .6 against wrong .8, .5: 1 + 1, 1/2 + 1, 0 + 1 of 6."""
    assert work(TIED)["auroc", 0] == (4.5, 6)


def test_auroc_needs_both_kinds():
    assert work([(0.9, True)])["auroc", 0] == (0, 0)


def test_calibration_by_hand():
    """Bins of 1/15: .9 is right (gap .1); .8 twice, half right (.3 each); .6 (.4); .5 (.5)."""
    top, bottom = work(TIED)["ece", 0]
    assert top == pytest.approx(0.1 + 2 * 0.3 + 0.4 + 0.5)
    assert bottom == 5


def test_bins_have_their_upper_edge_and_the_first_has_zero():
    sorted_in = bins(ranked([(0.0, True), (0.5, False), (0.51, True), (1.0, True)]), 2)
    assert sorted_in.answers.tolist() == [2, 2]
    assert sorted_in.confidence.tolist() == [0.5, 1.51]
    assert sorted_in.right.tolist() == [1, 2]


def test_the_threshold_is_chosen_on_the_other_half():
    """First half: .9 right, .7 wrong, .5 right; second: .8 right, .6 right, .4 wrong.

    Cost 1. First half: 1, 0, 1 is best at .9 and .5, and the lowest counts: the second half gives
    1 + 1 at .5. Second half: 1, 2, 1 is best at .6: the first gives 1 - 1. Together 2 of 6.
    Cost 10. First: 1, -9, -8: .9, where the second answers nothing. Second: 1, 2, -8: .6, and the
    first gives 1 - 10.
    """
    answers = [(0.9, True), (0.7, False), (0.5, True), (0.8, True), (0.6, True), (0.4, False)]
    found = work(answers, second=(3, 4, 5))
    assert found["phi", 1] == (2, 6)
    assert found["phi", 10] == (-9, 6)
    assert found["phi", 100] == (-99, 6)


def test_a_threshold_answers_a_whole_tie():
    """In the first half .9 (right) and the tie at .5 (right, wrong) give 1 and 1 + 1 - 1: .5.

    The second half answers its .5 with that, which is wrong; its own .5 chooses -1, the only
    confidence there is, so the first half answers all: 1 + 1 - 1. Together -1 + 1.
    """
    answers = [(0.9, True), (0.5, True), (0.5, False), (0.5, False)]
    assert work(answers, second=(3,))["phi", 1] == (0, 4)


def test_a_threshold_is_the_confidence_of_someone_drawn():
    """Without the wrong answer at .3, .9 is the lowest that there is; the other half's .5 waits.

    The .5 alone chooses -1, its only confidence, and the .9 is answered with it: 1 in all of 2.
    """
    answers = [(0.9, True), (0.3, False), (0.5, False)]
    assert work(answers, second=(2,), weights=[1, 0, 1])["phi", 1] == (1, 2)


def test_effective_reliability_needs_two_halves():
    assert work(TIED)["phi", 1] == (0, 0)


def test_whoever_never_answers_has_no_reliability_to_lose():
    found = work([], never=4, second=(0, 1))
    assert found["phi", 100] == (0, 4)
    assert found["coverage", 0.2] == (0, 4)
    assert value(found, "aurc") == 3 / 4  # risk 1 from coverage 1/4 to 1
    assert found["auroc", 0] == found["ece", 0] == (0, 0)


def test_nothing_at_all():
    assert {bottom for _, bottom in work([]).values()} == {0}


def test_what_is_never_answered_comes_last_and_as_wrong():
    """Two right answers and two refusals: risks 0, 0, 1/3, 2/4; the trapezoids add up to 7/12."""
    found = work([(0.9, True), (0.8, True)], never=2)
    assert found["aurc", 0] == (pytest.approx(1 / 6 + 5 / 12), 4)
    assert found["coverage", 0.4] == (2, 4)  # though two errors in four rows would come later


# Laws

answered = st.lists(st.tuples(st.integers(0, 6).map(lambda i: i / 6), st.booleans()), max_size=7)


@given(answered, st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_the_area_is_the_mean_over_all_orders(answers, never):
    """By brute force: all orders by confidence, a risk after each row, trapezoids."""
    rows = [*answers, *[(-1.0, False)] * never]
    if not 2 <= len(rows) <= 6:
        return
    count = total = Fraction(0)
    for order in permutations(range(len(rows))):
        row = [rows[i] for i in order]
        if any(a[0] < b[0] for a, b in pairwise(row)):
            continue
        wrong, risks = Fraction(0), []
        for i, (_, right) in enumerate(row):
            wrong += not right
            risks.append(wrong / (i + 1))
        area = sum(((a + b) / 2 for a, b in pairwise(risks)), Fraction(0)) / len(row)
        count, total = count + 1, total + area
    assert value(work(answers, never=never), "aurc") == pytest.approx(float(total / count))


@given(answered, st.integers(0, 3))
@settings(deadline=None)
def test_coverage_is_the_most_that_any_threshold_reaches(answers, never):
    found = work(answers, never=never)
    for risk in RISKS:
        best = 0
        for threshold in {sure for sure, _ in answers}:
            above = [right for sure, right in answers if sure >= threshold]
            if above.count(False) / len(above) <= risk:
                best = max(best, len(above))
        assert found["coverage", risk] == (best, len(answers) + never)


@given(answered.filter(bool), st.randoms())
@settings(deadline=None)
def test_the_order_of_rows_does_not_matter(answers, rng):
    second = list(range(len(answers) // 2))
    turned = list(range(len(answers)))
    rng.shuffle(turned)
    moved = [new for new, old in enumerate(turned) if old in second]
    once, again = work(answers, second=second), work([answers[i] for i in turned], second=moved)
    for key, pair in once.items():
        assert again[key] == pytest.approx(pair)


@given(answered.filter(bool))
@settings(deadline=None)
def test_a_monotone_map_of_the_confidence_changes_only_the_calibration(answers):
    mapped = [(sure**3 / 2 + 0.1, right) for sure, right in answers]
    second = range(0, len(answers), 2)
    once, again = work(answers, second=second), work(mapped, second=second)
    for key in once.keys() - {("ece", 0.0)}:
        assert again[key] == pytest.approx(once[key])


@given(answered.filter(lambda answers: len(answers) > 1))
@settings(deadline=None)
def test_an_oracle_has_the_least_area_and_every_right_answer(answers):
    rights = [right for _, right in answers]
    oracle = work([(float(right), right) for right in rights])
    assert value(oracle, "aurc") <= value(work(answers), "aurc") + 1e-12
    assert oracle["coverage", 0.01][0] == sum(rights)


@given(answered.filter(bool), st.integers(0, 2), st.randoms())
@settings(deadline=None)
def test_a_cluster_drawn_twice_counts_as_two(answers, never, rng):
    """Weights are copies: the figures under them are those of the copied rows."""
    size = len(answers) + never
    weights = [rng.randrange(4) for _ in range(size)]
    second = [i for i in range(size) if i % 2]
    copies = [i for i in range(len(answers)) for _ in range(weights[i])]
    rest = [i for i in range(len(answers), size) for _ in range(weights[i])]
    moved = [new for new, old in enumerate([*copies, *rest]) if old % 2]
    weighted = work(answers, never=never, second=second, weights=weights)
    copied = work([answers[i] for i in copies], never=len(rest), second=moved)
    for key, pair in copied.items():
        assert weighted[key] == pytest.approx(pair), key


def test_resamples_draw_as_many_clusters_as_there_are():
    drawn = resample(7, 50, np.random.default_rng(0))
    assert drawn.shape == (50, 7)
    assert set(drawn.sum(axis=1)) == {7}


def test_halves_are_equal_and_go_by_the_label():
    labels = pl.Series([f"cluster {i}" for i in range(101)])
    later = second_half(labels)
    assert later.sum() == 50
    assert not (later == np.arange(101) % 2).all()
    again = second_half(labels.gather(list(range(100, -1, -1))))
    assert (again[::-1] == later).all()


def test_many_confidences_are_told_apart_in_groups():
    """Of seven, three are kept: ends at 1/3, 2/3 and all of them, and rows go to the next below."""
    order = ranked([(i / 7, i % 2 > 0) for i in range(7, 0, -1)])
    fewer = coarse(order, 3)
    assert (fewer.confidence * 7).round().tolist() == [5, 5, 5, 3, 3, 1, 1]
    assert coarse(order, 7) is order
    assert fewer.right.sum() == order.right.sum()


# On a frame


def frame(rows):
    """Outcome columns from (item, state, right, confidence, answerable)."""
    names = ("item", "state", "right", "confidence", "answerable")
    schema = {"item": pl.String, "state": pl.String, "right": pl.Boolean}
    return pl.DataFrame(
        rows, schema={**schema, "confidence": pl.Float64, "answerable": pl.Boolean}, orient="row"
    ).select(names)


ROWS = [
    ("a", "answered", True, 0.9, True),
    ("b", "answered", False, 0.8, True),
    ("c", "answered", True, None, True),  # no confidence: covered at no threshold
    ("d", "abstained", False, 0.7, True),  # a refusal's own confidence does not answer
    ("e", "request-failed", False, None, True),
    ("f", "abstained", True, 0.6, False),  # handled right, and still no answer
    ("g", "answered", False, 0.5, False),
]


def by_name(metrics, name, **cut):
    (found,) = [metric for metric in metrics if metric.name == name and metric.cut == cut]
    return found


def test_what_counts_as_an_answer():
    found = Selective(frame=frame(ROWS), cluster=None).metrics(draws=50)
    known = by_name(found, "confidence known")
    assert (known.numerator, known.denominator) == (3, 4)
    # .9 right, .8 wrong, .5 wrong of 7 rows
    twenty = by_name(found, "coverage at 20 % risk")
    assert (twenty.numerator, twenty.denominator) == (1, 7)
    auroc = by_name(found, "AUROC")
    assert (auroc.numerator, auroc.denominator) == (2, 2)
    assert by_name(found, "ECE").denominator == 3
    assert by_name(found, "AURC").better == by_name(found, "ECE").better == "lower"


def test_the_answerable_rows_are_also_given_alone():
    found = Selective(frame=frame(ROWS), cluster=None).metrics(draws=50)
    assert by_name(found, "coverage at 20 % risk", answerable="true").denominator == 5
    alone = Selective(frame=frame(ROWS[:5]), cluster=None).metrics(draws=50)
    assert {tuple(metric.cut) for metric in alone} == {()}


def test_a_right_refusal_is_no_right_answer():
    """Abstaining where that is right is worth 0, as any abstaining is; answering there costs."""
    rows = [(str(i), "abstained", True, None, False) for i in range(4)]
    found = Selective(frame=frame(rows), cluster=None).metrics(draws=20)
    assert by_name(found, "Φ at cost 1").value == 0
    wrong = [(str(i), "answered", True, 0.9, False) for i in range(4)]  # whatever `right` says
    found = Selective(frame=frame(wrong), cluster=None).metrics(draws=20)
    assert by_name(found, "Φ at cost 10").value == -10
    assert by_name(found, "coverage at 20 % risk").value == 0


def test_slices_and_other_readings_have_their_own():
    rows = frame(ROWS[:3]).with_columns(
        kind=pl.Series(["x", "y", ""]),
        judge_state=pl.lit("answered"),
        judge_right=pl.lit(False),
    )
    measured = Selective(
        frame=rows, cluster=None, by=[("kind",)], reading="judge", prefix="judge", prepend="plain "
    ).metrics(draws=20)
    twenty = [metric for metric in measured if metric.name == "plain coverage at 20 % risk"]
    assert [(m.cut["kind"], m.numerator, m.denominator) for m in twenty] == [
        ("x", 0, 1),  # right in the headline's reading, not in the judge's
        ("y", 0, 1),
    ]
    assert {metric.reading for metric in measured} == {"judge"}


def test_rows_of_one_cluster_are_drawn_together_and_stay_in_one_half():
    rows = frame([(f"i{i}", "answered", i % 3 > 0, i / 40, True) for i in range(40)])
    labelled = rows.with_columns(pair=pl.Series([f"p{i // 2}" for i in range(40)]))
    (_, laid_out), *_ = Selective(frame=labelled, cluster="pair").slices()
    order = ranked_answers(laid_out)
    assert order.rows.tolist() == [2.0] * 20
    for metric in Selective(frame=labelled, cluster="pair").metrics(draws=20):
        assert metric.clusters == 20
    unlabelled = labelled.with_columns(pair=pl.lit(""))
    for metric in Selective(frame=unlabelled, cluster="pair").metrics(draws=20):
        assert metric.clusters == 40  # each item by itself


def test_the_names_of_clusters_do_not_matter():
    rng = np.random.default_rng(6)
    rows = frame([(f"i{i}", "answered", i % 3 > 0, float(rng.random()), True) for i in range(60)])
    some, others = ([f"{prefix}{i // 2 % 7 * 31}-{i // 2}" for i in range(60)] for prefix in "ab")
    one, two = (
        Selective(frame=rows.with_columns(pair=pl.Series(names)), cluster="pair").metrics(draws=50)
        for names in (some, [name[::-1] for name in others])
    )
    assert [(m.value, m.low, m.high) for m in one] == [(m.value, m.low, m.high) for m in two]


def test_a_calibration_error_is_never_below_zero():
    """Of answers at .5 half are right: an error of 0, which every resample only makes larger."""
    rows = frame([(f"i{i}", "answered", i % 2 > 0, 0.5, True) for i in range(40)])
    ece = by_name(Selective(frame=rows, cluster=None).metrics(draws=100), "ECE")
    assert (ece.value, ece.low) == (0, 0)
    assert 0.05 < ece.high < 0.25  # |mean - 1/2| of 40: 0.158 is twice its standard error
    assert ece.method == "cluster-bootstrap (symmetric)"


def test_intervals_hold_the_value_and_come_again():
    rng = np.random.default_rng(5)
    sure = rng.random(400)
    right = rng.random(400) < sure
    rows = frame([(f"i{i}", "answered", bool(right[i]), float(sure[i]), True) for i in range(400)])
    once = Selective(frame=rows, cluster=None).metrics(draws=200)
    again = Selective(frame=rows.sample(fraction=1, shuffle=True, seed=1), cluster=None)
    for one, other in zip(once, again.metrics(draws=200), strict=True):
        assert one.low <= one.value <= one.high, one.name
        assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high))
    auroc = by_name(once, "AUROC")  # of this law 5/6: P(u > v) for densities 2u and 2(1 - v)
    assert auroc.low < 5 / 6 < auroc.high
    assert auroc.method == "cluster-bootstrap"


def test_where_no_resample_differs_wilson_speaks():
    rows = frame([(f"i{i}", "answered", True, 0.9, True) for i in range(20)])
    found = Selective(frame=rows, cluster=None).metrics(draws=50)
    coverage = by_name(found, "coverage at 1 % risk")
    assert (coverage.value, coverage.high, coverage.method) == (1, 1, "wilson (clusters)")
    assert coverage.low == pytest.approx(20 / (20 + 1.959964**2))  # n / (n + z²) at k = n


def test_a_frame_without_rows():
    found = Selective(frame=frame([]), cluster=None).metrics(draws=20)
    assert {metric.value for metric in found} == {None}


def test_effective_reliability_below_zero_is_shown_as_it_is():
    rows = frame([(f"i{i}", "answered", False, 0.9 - i / 100, True) for i in range(10)])
    phi = by_name(Selective(frame=rows, cluster=None).metrics(draws=50), "Φ at cost 10")
    assert phi.value is not None
    assert phi.value < 0


# Two runs


def one_of(confidence, right, **columns):
    rows = [(f"i{i}", "answered", bool(r), float(c), True) for i, (c, r) in
            enumerate(zip(confidence, right, strict=True))]  # fmt: skip
    return Selective(frame=frame(rows).with_columns(**columns), cluster=None)


def test_a_run_does_not_differ_from_itself():
    rng = np.random.default_rng(1)
    run = one_of(rng.random(60), rng.random(60) < 0.7)
    for found in run.differences(run, draws=100):
        assert found.difference == 0, found.name
        assert found.p in (1.0, None)


def test_a_difference_is_that_of_the_metrics_and_its_interval_is_paired():
    """The same answers; the second run is sure of the right ones, the first of nothing."""
    rng = np.random.default_rng(2)
    right = rng.random(200) < 0.7
    vague, sharp = one_of(rng.random(200), right), one_of(right * 0.5 + rng.random(200) / 4, right)
    before, after = ({m.name: m for m in run.metrics(draws=100)} for run in (vague, sharp))
    found = {one.name: one for one in vague.differences(sharp, draws=200)}
    assert list(found) == list(before)
    for name, one in found.items():
        assert one.first.value == before[name].value
        assert one.second.value == after[name].value
        assert one.difference == pytest.approx(after[name].value - before[name].value)
    auroc = found["AUROC"]
    assert 0 < auroc.low <= auroc.difference <= auroc.high
    assert auroc.p < 0.05
    assert found["confidence known"].difference == 0


def test_what_either_run_ties_together_is_drawn_together():
    """Ten items; pairs in the first run, by another column in both: five clusters, not ten."""
    rng = np.random.default_rng(3)
    rows = frame([(f"i{i}", "answered", i % 3 > 0, float(rng.random()), True) for i in range(10)])
    tied = rows.with_columns(pair=pl.Series([f"p{i // 2}" for i in range(10)]))
    one, two = Selective(frame=tied, cluster="pair"), Selective(frame=rows, cluster=None)
    assert {found.clusters for found in one.differences(two, draws=20)} == {5}
    assert {found.clusters for found in two.differences(one, draws=20)} == {5}


def test_the_order_of_a_runs_rows_does_not_reach_a_difference():
    rng = np.random.default_rng(4)
    one = one_of(rng.random(50), rng.random(50) < 0.6)
    two = one_of(rng.random(50), rng.random(50) < 0.6)
    turned = Selective(frame=two.frame.reverse(), cluster=None)
    for a, b in zip(one.differences(two, draws=50), one.differences(turned, draws=50), strict=True):
        assert (a.difference, a.low, a.high) == pytest.approx((b.difference, b.low, b.high)), a.name


def test_a_slice_of_one_run_alone_says_so():
    rng = np.random.default_rng(5)
    kinds = pl.Series(["x", "y"] * 10)
    one = one_of(rng.random(20), rng.random(20) < 0.6, kind=kinds)
    two = one_of(rng.random(20), rng.random(20) < 0.6, kind=pl.lit("x"))
    by_kind = [Selective(frame=run.frame, cluster=None, by=[("kind",)]) for run in (one, two)]
    found = by_kind[0].differences(by_kind[1], draws=20)
    alone = [each for each in found if each.cut == {"kind": "y"} and each.name == "AURC"]
    assert [(each.difference, each.note) for each in alone] == [
        (None, "measured in the first run alone")
    ]
