"""Agreement of judges: published worked examples, brute force, and the laws they obey."""

from __future__ import annotations

from itertools import combinations, permutations
from math import nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.metrics.agreement import (
    RESCALED,
    agreement,
    cohen,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    raw_agreement,
)
from hardset.metrics.coefficients import Terms, resample
from hardset.metrics.judges import against_people, changed, confusion, error_correlations
from hardset.metrics.verbosity import verbosity

COEFFICIENTS = [raw_agreement, fleiss_kappa, gwet_ac1, krippendorff_alpha]
LEVELS = ["nominal", "ordinal", "interval"]


def spread_out(table):
    """Votes (units, raters) from how many raters chose each category, (units, categories)."""
    return np.array([np.repeat(np.arange(len(row)), row) for row in table], dtype=float)


def crossed(table):
    """The votes of two raters from their table, first down, second across."""
    cells = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return np.array(cells, dtype=float)


def by_name(found):
    return {one.name: one for one in found}


# --- published examples ---------------------------------------------------------------------

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section D: four observers,
# twelve units, one of them with a single vote.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
).T

# Fleiss 1971, table 1: thirty patients, six psychiatrists each; depression, personality disorder,
# schizophrenia, neurosis, other.
PATIENTS = [
    [int(n) for n in row]
    for row in (
        "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
        "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
    ).split()
]


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_krippendorffs_own_example(level, alpha):
    assert krippendorff_alpha(KRIPPENDORFF, level) == pytest.approx(alpha, abs=5e-4)


def test_kappa_and_ac1_with_votes_missing_as_in_gwets_irrcac():
    """The same units in irrCAC's documentation (cac.raw4raters): 0.76117 and 0.77544."""
    assert fleiss_kappa(KRIPPENDORFF) == pytest.approx(0.76117, abs=5e-6)
    assert gwet_ac1(KRIPPENDORFF) == pytest.approx(0.77544, abs=5e-6)


def test_fleiss_kappa_of_his_psychiatric_diagnoses():
    assert np.sum(PATIENTS, axis=0).tolist() == [26, 26, 30, 55, 43]  # his margins, of 180
    assert fleiss_kappa(spread_out(PATIENTS)) == pytest.approx(0.430, abs=5e-4)


def test_fleiss_kappa_of_the_encyclopedias_example():
    """Wikipedia, "Fleiss' kappa": ten subjects, fourteen raters: P 0.378, Pe 0.213, kappa 0.210."""
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    assert raw_agreement(spread_out(table)) == pytest.approx(0.378, abs=5e-4)
    assert fleiss_kappa(spread_out(table)) == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        # Cohen 1968, table 1, 200 cases: po = 140/200 = 0.70,
        # pe = 0.50 x 0.60 + 0.30 x 0.30 + 0.20 x 0.10 = 0.41, (0.70 - 0.41) / 0.59
        ([[88, 10, 2], [14, 40, 6], [18, 10, 12]], 0.29 / 0.59),
        # Wikipedia, "Cohen's kappa": po = 35/50, pe = 0.5 x 0.6 + 0.5 x 0.4, (0.7 - 0.5) / 0.5
        ([[20, 5], [10, 15]], 0.4),
    ],
)
def test_cohens_kappa_of_textbook_tables(table, kappa):
    assert cohen_kappa(*crossed(table).T) == pytest.approx(kappa)


def test_ac1_where_nearly_all_votes_are_alike():
    """118 yes-yes, 5 yes-no, 2 no-yes: the paradox that AC1 is for (Gwet 2008), by hand.

    pa = 118/125 = 0.944, the share of yes (123 + 120) / 250 = 0.972. AC1: pe = 2 x 0.972 x 0.028
    = 0.054432. Cohen: pe = 0.984 x 0.96 + 0.016 x 0.04 = 0.94528, above pa.
    """
    votes = crossed([[118, 5], [2, 0]])
    assert gwet_ac1(votes) == pytest.approx((0.944 - 0.054432) / (1 - 0.054432))
    assert cohen_kappa(*votes.T) == pytest.approx((0.944 - 0.94528) / (1 - 0.94528))


# --- what is undefined ----------------------------------------------------------------------


def test_without_variation_kappa_and_alpha_are_undefined():
    votes = np.ones((9, 3))
    assert raw_agreement(votes) == 1
    assert fleiss_kappa(votes) is None
    assert cohen_kappa(votes[:, 0], votes[:, 1]) is None
    assert gwet_ac1(votes) is None
    assert gwet_ac1(votes, categories=[0, 1]) == 1  # the scale has another category
    assert [krippendorff_alpha(votes, level) for level in LEVELS] == [None] * 3
    found = by_name(agreement(votes, draws=50))
    assert found["Fleiss' kappa"].value is None
    assert found["Fleiss' kappa"].method == "undefined"
    assert found["raw agreement"].low == pytest.approx(9 / (9 + 1.959964**2))  # Wilson at 9 of 9


@pytest.mark.parametrize(
    "votes", [np.full((4, 3), nan), np.array([[1, nan], [nan, 0]]), np.empty((0, 2))]
)
def test_without_two_votes_on_a_unit_nothing_is_defined(votes):
    assert [one(votes) for one in COEFFICIENTS] == [None] * 4
    assert cohen_kappa(votes[:, 0], votes[:, 1]) is None
    assert {one.value for one in agreement(votes, draws=20)} == {None}


def test_a_constant_judge_agrees_by_chance_alone():
    """A says yes to 3 of 4, B always: po = 3/4 = pe, kappa is 0, and defined."""
    assert cohen_kappa(np.array([1.0, 1, 1, 0]), np.ones(4)) == pytest.approx(0)


# --- laws -----------------------------------------------------------------------------------

vote = st.sampled_from([0.0, 1.0, 2.0, 3.0, nan])
panels = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(vote, min_size=raters, max_size=raters), min_size=1, max_size=12
    ).map(np.array)
)


def same(one, other):
    assert (one is None) == (other is None)
    assert one is None or one == pytest.approx(other, abs=1e-7)


@given(panels, st.randoms(use_true_random=False))
def test_the_order_of_units_and_raters_does_not_matter(votes, random):
    rows, raters = list(range(len(votes))), list(range(votes.shape[1]))
    random.shuffle(rows)
    random.shuffle(raters)
    moved = votes[rows][:, raters]
    for one in COEFFICIENTS:
        same(one(votes), one(moved))
    for level in LEVELS:
        same(krippendorff_alpha(votes, level), krippendorff_alpha(moved, level))


@given(panels, st.permutations([5.0, 7.0, 1.0, 2.5]))
def test_nominal_coefficients_do_not_see_what_categories_are_called(votes, names):
    renamed = np.where(np.isnan(votes), nan, np.array(names)[np.nan_to_num(votes).astype(int)])
    for one in COEFFICIENTS:
        same(one(votes), one(renamed))
    same(cohen_kappa(votes[:, 0], votes[:, 1]), cohen_kappa(renamed[:, 0], renamed[:, 1]))


@given(panels, st.sampled_from([0.5, 2.0, 10.0]), st.integers(-3, 3))
def test_alpha_keeps_under_what_its_level_keeps(votes, scale, shift):
    """Interval: under any line; ordinal: under any rising change, and if grades are turned."""
    same(
        krippendorff_alpha(votes, "interval"), krippendorff_alpha(scale * votes + shift, "interval")
    )
    same(krippendorff_alpha(votes, "ordinal"), krippendorff_alpha(np.exp(votes), "ordinal"))
    same(krippendorff_alpha(votes, "ordinal"), krippendorff_alpha(-votes, "ordinal"))


@given(panels)
def test_alpha_is_its_definition_pair_by_pair(votes):
    """1 - Do / De with every pair of votes looked at singly, as Krippendorff defines them."""
    units = [row[~np.isnan(row)] for row in votes]
    units = [row for row in units if len(row) > 1]
    every = np.concatenate(units) if units else np.empty(0)
    held = {c: int((every == c).sum()) for c in set(every.tolist())}

    def ordinal(a, b):
        a, b = sorted((a, b))
        return (sum(n for c, n in held.items() if a <= c <= b) - (held[a] + held[b]) / 2) ** 2

    apart = {
        "nominal": lambda a, b: float(a != b),
        "ordinal": ordinal,
        "interval": lambda a, b: (a - b) ** 2,
    }
    for level, distance in apart.items():
        found = krippendorff_alpha(votes, level)
        if len(held) < 2:
            assert found is None
            continue
        n = len(every)
        inside = sum(distance(*p) / (len(row) - 1) for row in units for p in permutations(row, 2))
        chance = sum(distance(*p) for p in permutations(every, 2)) / (n - 1)
        assert found == pytest.approx(1 - inside / chance, abs=1e-9)


@given(panels)
def test_pairs_counted_one_by_one(votes):
    pairs = [p for row in votes for p in combinations(row[~np.isnan(row)], 2)]
    same(raw_agreement(votes), np.mean([a == b for a, b in pairs]) if pairs else None)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=2, max_size=10), st.integers(2, 4))
def test_perfect_agreement_is_one_wherever_it_is_defined(truth, raters):
    votes = np.tile(np.array(truth)[:, None], raters)
    expected = 1 if len(set(truth)) > 1 else None
    for one in COEFFICIENTS[1:]:
        same(one(votes), expected)
    same(cohen_kappa(votes[:, 0], votes[:, 1]), expected)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0])] * 2), min_size=2, max_size=20))
def test_two_complete_raters(votes):
    """Fleiss' kappa is Scott's pi, alpha = 1 - (1 - pi) (N - 1) / N for N votes, AC1 by hand."""
    votes = np.array(votes)
    po, yes = float((votes[:, 0] == votes[:, 1]).mean()), float(votes.mean())
    pe, n = yes**2 + (1 - yes) ** 2, votes.size
    same(gwet_ac1(votes, [0, 1]), (po - 2 * yes * (1 - yes)) / (1 - 2 * yes * (1 - yes)))
    if pe == 1:
        return
    scott = (po - pe) / (1 - pe)
    same(fleiss_kappa(votes), scott)
    same(krippendorff_alpha(votes), 1 - (1 - scott) * (n - 1) / n)


@given(panels, st.data())
def test_a_weight_is_worth_as_many_rows(votes, data):
    weights = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=len(votes), max_size=len(votes)))
    )
    weighed = by_name(agreement(votes, weights=weights, draws=5))
    repeated = np.repeat(votes, weights, axis=0)
    same(weighed["raw agreement"].value, raw_agreement(repeated))
    same(weighed["Fleiss' kappa"].value, fleiss_kappa(repeated))
    same(weighed["Gwet's AC1"].value, gwet_ac1(repeated))
    same(
        cohen(votes[:, 0], votes[:, 1], weights=weights, draws=5).value,
        cohen_kappa(repeated[:, 0], repeated[:, 1]),
    )


# --- intervals ------------------------------------------------------------------------------


def some_panel(rows=300, missing=0.05):
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 5, rows)[:, None]
    votes = np.clip(truth + rng.integers(-1, 2, (rows, 3)) * (rng.random((rows, 3)) < 0.4), 1, 5)
    return np.where(rng.random((rows, 3)) < missing, nan, votes), np.arange(rows) // 2


def test_intervals_depend_on_neither_order_nor_names():
    votes, clusters = some_panel()
    rows = np.random.default_rng(5).permutation(len(votes))
    one = agreement(votes, clusters, names="ABC", graded=True, draws=200)
    other = agreement(
        votes[rows], [f"pair {c}" for c in clusters[rows]], names="ABC", graded=True, draws=200
    )
    assert [c.name for c in one] == [
        "raw agreement", "Fleiss' kappa", "Gwet's AC1", "Krippendorff's alpha (nominal)",
        "Krippendorff's alpha (ordinal)", "Krippendorff's alpha (interval)",
        "Cohen's kappa, A and B", "Cohen's kappa, A and C", "Cohen's kappa, B and C",
    ]  # fmt: skip
    for a, b in zip(one, other, strict=True):
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-9)
        assert a.low < a.value < a.high


def test_repeating_every_row_in_its_cluster_adds_no_certainty():
    """Twice the rows, the same clusters: kappa's interval stays; without clusters it narrows."""
    votes, clusters = some_panel(missing=0)
    once, twice, alone = (
        by_name(agreement(v, c, draws=400))["Fleiss' kappa"]
        for v, c in (
            (votes, clusters),
            (np.repeat(votes, 2, axis=0), np.repeat(clusters, 2)),
            (np.repeat(votes, 2, axis=0), None),
        )
    )
    assert (once.low, once.high) == pytest.approx((twice.low, twice.high), abs=1e-9)
    assert alone.high - alone.low < 0.85 * (once.high - once.low)


def test_no_disagreement_seen_is_not_none_there():
    """Twenty units, all agree, half of them yes: raw agreement's Wilson bound, rescaled.

    Its lower end is 20 / (20 + 1.96²) = 0.8389; by chance half agree: 1 - 0.1611 / 0.5.
    """
    votes = np.tile(np.repeat([0.0, 1.0], 10)[:, None], 3)
    kappa = by_name(agreement(votes, draws=100))["Fleiss' kappa"]
    low = 20 / (20 + 1.959964**2)
    assert (kappa.value, kappa.high, kappa.method) == (1, 1, RESCALED)
    assert kappa.low == pytest.approx(1 - (1 - low) / 0.5, abs=1e-6)


@pytest.mark.parametrize("counts", [(400, 500, 100), (1,) * 40])
def test_resamples_are_multinomial_drawn_in_either_way(counts):
    """One pattern's total is binomial: n p on average, n p (1 - p) its variance."""
    counts = np.array(counts)
    n, k = counts.sum(), counts[0]
    drawn = resample(Terms(np.eye(len(counts)), counts), 20_000, seed=1)
    assert (drawn.sum(axis=1) == n).all()
    assert drawn[:, 0].mean() == pytest.approx(k, abs=5 * np.sqrt(k / 20_000))
    assert drawn[:, 0].var() == pytest.approx(k * (1 - k / n), rel=0.06)


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"\(units, raters\)"):
        agreement(np.ones(3))
    with pytest.raises(ValueError, match="3 units need as many cluster labels"):
        agreement(np.ones((3, 2)), [1, 2])
    with pytest.raises(ValueError, match="at most 64 categories"):
        fleiss_kappa(np.arange(140.0).reshape(70, 2))


# --- judges against people ------------------------------------------------------------------

PEOPLE = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, nan])
A = np.array([1, 1, 1, 0, 0, 0, 0, 1, nan, 1.0])  # misses one of four; one false of four
B = np.array([1, 1, 0, 1, 0, 0, 0, 1, 0, 1.0])


def test_rates_against_people_by_hand():
    found = against_people(np.stack([A, B], axis=1), PEOPLE, names=["a", "b"])
    values = {(m.cut["judge"], m.name): (m.numerator, m.denominator) for m in found}
    assert values["a", "accuracy"] == (6, 8)  # nine labels, one of them without a vote
    assert values["a", "error rate"] == (2, 8)
    assert values["a", "sensitivity"] == (3, 4)
    assert values["a", "specificity"] == (3, 4)
    assert values["b", "specificity"] == (4, 5)
    table = confusion(A, PEOPLE)
    assert table.categories.tolist() == [0, 1]
    assert table.counts.tolist() == [[3, 1], [1, 3]]


def test_grades_against_people_by_hand():
    """4, 2, 5 where people say 3, 4, 5: errors 1, -2, 0."""
    found = against_people(
        np.array([[4.0], [2], [5]]), np.array([3.0, 4, 5]), names=["a"], kind="graded", draws=50
    )
    values = {m.name: m.value for m in found}
    assert values == {
        "accuracy": pytest.approx(1 / 3), "error rate": pytest.approx(2 / 3),
        "mean absolute error": pytest.approx(1), "mean error": pytest.approx(-1 / 3),
    }  # fmt: skip


def test_without_a_label_no_rate_is_defined():
    found = against_people(np.ones((3, 1)), np.full(3, nan), names=["a"], draws=20)
    assert {m.value for m in found} == {None}
    assert {m.cut["judge"] for m in found} == {"a"}


def test_error_correlation_and_effective_number_by_hand():
    """A errs in rows 1 and 2, B in 1 and 3 of four, C as A.

    phi(A, B) = (1/4 - 1/2 x 1/2) / (1/4) = 0, phi(A, C) = 1, phi(B, C) = 0: the mean is 1/3, and
    3 / (1 + 2/3) = 1.8 judges.
    """
    a, b = np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 1, 0])
    found = [
        one.value
        for one in error_correlations(
            np.stack([a, b, a], axis=1), np.zeros(4), names="ABC", draws=50
        )
    ]
    assert found == pytest.approx([0, 1, 0, 1 / 3, 1.8])


def test_of_grades_the_signed_errors_correlate():
    """Two judges with errors 1, -1, 2, 0 and their opposites cancel in the mean: r = -1.

    1 + (2 - 1) x -1 = 0: no number of independent judges is as good. Their absolute errors are
    the same all along.
    """
    people, errors = np.array([3.0, 3, 3, 4]), np.array([1.0, -1, 2, 0])
    votes = np.stack([people + errors, people - errors], axis=1)
    pair, mean, number = error_correlations(votes, people, names="AB", graded=True, draws=50)
    assert (pair.value, mean.value) == pytest.approx((-1, -1))
    assert number.value is None


def test_a_judge_without_error_has_no_correlation():
    votes = np.stack([np.zeros(6), np.tile([1.0, 0], 3), np.tile([1.0, 0], 3)], axis=1)
    found = error_correlations(votes, np.zeros(6), names="ABC", draws=50)
    assert [one.value for one in found] == [None, None, pytest.approx(1), pytest.approx(1), 1]
    assert "2 of 3 pairs have none" in found[-1].about


# --- a judge with itself, and with length ---------------------------------------------------


def test_asked_again_by_hand():
    """Nine rows with both votes, five yes of each; they differ in two."""
    rate, kappa = changed(A, B)
    assert (rate.numerator, rate.denominator) == (2, 9)
    po, pe = 7 / 9, (5 * 5 + 4 * 4) / 81
    assert kappa.value == pytest.approx((po - pe) / (1 - pe))


def test_rank_correlation_by_hand():
    """Spearman 1 - 6 Σd² / (n (n² - 1)) = 1 - 24/120; with ties, Pearson's of average ranks."""
    assert verbosity(np.arange(5.0), np.array([2.0, 1, 4, 3, 5])).value == pytest.approx(0.8)
    # ranks 1, 2.5, 2.5, 4 and 1.5, 1.5, 3.5, 3.5: 3 / sqrt(4.5 x 4)
    tied = verbosity(np.array([10.0, 20, 20, 30, 99]), np.array([0.0, 0, 1, 1, nan]))
    assert tied.value == pytest.approx(3 / np.sqrt(18))
    assert tied.units == 4


def test_rank_correlation_undefined_or_perfect():
    assert verbosity(np.ones(5), np.arange(5.0)).value is None
    assert verbosity(np.arange(5.0), np.ones(5)).value is None
    perfect = verbosity(np.arange(5.0), np.arange(5.0))
    assert perfect.value == pytest.approx(1)
    assert perfect.low is None


def test_its_spread_is_that_of_leaving_clusters_out():
    """The influence of ranks and values against a jackknife that ranks anew each time."""
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(150), 2)
    lengths = rng.integers(5, 60, 300) + 10.0 * rng.integers(0, 2, 150)[clusters]
    grades = np.clip(np.round(lengths / 20 + rng.normal(size=300)), 1, 5)
    found = verbosity(lengths, grades, clusters)
    left = [verbosity(lengths[k], grades[k]).value for k in (clusters != c for c in range(150))]
    jackknife = np.sqrt(149 / 150 * np.sum((np.array(left) - np.mean(left)) ** 2))
    width = np.arctanh(found.high) - np.arctanh(found.low)
    assert width / (2 * 1.976) * (1 - found.value**2) == pytest.approx(jackknife, rel=0.03)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=3, max_size=20))
def test_rank_correlation_turns_with_its_sides(rows):
    x, y = np.array(rows, dtype=float).T
    one, other, turned = verbosity(x, y), verbosity(np.exp(y), x), verbosity(x, -y)
    same(one.value, other.value)
    same(one.value, None if turned.value is None else -turned.value)
    if one.low is not None:
        assert one.low == pytest.approx(-turned.high, abs=1e-9)
