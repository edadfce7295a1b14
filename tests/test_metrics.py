"""Ratios and their intervals: published values, enumeration, and the laws they obey."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.metrics import Ratio, accuracy, estimate, refusal_f1, wilson
from hardset.metrics import bootstrap as boot
from hardset.metrics.interval import bca, student, wilson_clustered
from hardset.metrics.repeats import by_item, pass_hat

HIT = Ratio(name="hit", top=pl.col("hit"), bottom=pl.lit(1))


def table(rows: list[tuple[str, bool]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"image": pl.String, "hit": pl.Boolean}, orient="row")


# --- Wilson ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [  # Newcombe 1998, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_values(k, n, low, high):
    assert wilson(k, n) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_wilson_by_hand():
    # z = 1.96 (1.959964), n = 4, k = 2: middle (2 + z2/2)/(4 + z2) = 3.9207/7.8415 = 0.5;
    # spread z sqrt(2*2/4 + z2/4)/(4 + z2) = 1.959964 * sqrt(1.96037)/7.8415 = 0.34996
    assert wilson(2, 4) == (pytest.approx(0.15004, abs=1e-5), pytest.approx(0.84996, abs=1e-5))


@pytest.mark.parametrize(("k", "n"), [(0, 0), (-1, 4), (5, 4)])
def test_wilson_refuses_what_is_no_proportion(k, n):
    with pytest.raises(ValueError, match="0 <= k <= n"):
        wilson(k, n)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_value_and_mirrors(case):
    k, n = case
    low, high = wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert wilson(n - k, n) == (pytest.approx(1 - high), pytest.approx(1 - low))


# --- clustered rows -------------------------------------------------------------------------


@pytest.mark.parametrize(  # any table of t, 97.5 %
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (29, 2.045), (10**9, 1.960)],
)
def test_students_quantiles(freedom, quantile):
    assert student(0.95, freedom) == pytest.approx(quantile, abs=0.0005)


def test_students_quantiles_are_scipys():
    scipy_t = pytest.importorskip("scipy.stats").t
    for level in (0.8, 0.95, 0.999):
        for freedom in (*range(1, 31), 31, 100, 1000):
            exact = scipy_t.ppf((1 + level) / 2, freedom)
            assert student(level, freedom) == pytest.approx(exact, rel=1e-6), (level, freedom)


def test_clustered_wilson_by_hand():
    # 8 clusters of 4 rows, 2 all right: p = 8/32. With one all right and one all wrong added:
    # p = 12/40 = 0.3, ten clusters of one size, 3 all right: variance 0.3 * 0.7 / 10 * 10/9,
    # so 0.3 * 0.7 / variance = 9 and the clusters are worth 9 * 8/10 = 7.2 rows
    arrays = np.array([4.0, 0.0]), np.array([4.0, 4.0]), np.array([2, 6])
    z, n, k = 2.3646, 7.2, 7.2 / 4  # Student's for 7
    middle, spread = k + z * z / 2, z * (k * (n - k) / n + z * z / 4) ** 0.5
    low, high = wilson_clustered(*arrays)
    assert low == pytest.approx((middle - spread) / (n + z * z), abs=1e-4)
    assert high == pytest.approx((middle + spread) / (n + z * z), abs=1e-4)


def test_rows_that_cluster_little_are_worth_more_than_the_clusters():
    one_right_of_four = np.array([1.0, 2.0]), np.array([4.0, 4.0]), np.array([20, 4])
    low, high = wilson_clustered(*one_right_of_four)
    loose_low, loose_high = wilson(28 / 96 * 24, 24)
    assert loose_low < low < 28 / 96 < high < loose_high


EVEN = np.linspace(-1, 1, 2001)  # resamples, evenly about 0


def test_bca_of_even_resamples_is_the_percentile_interval_widened_for_few():
    # no bias, no pull: the levels are Phi(-+ t sqrt(n / (n - 1))); 10 clusters: 2.262 * 1.0541
    # = 2.3845, Phi(-2.3845) = 0.00855
    low, high = bca(EVEN, 0.0, np.array([-1.0, 1.0]), np.array([5, 5]))
    assert low == pytest.approx(-1 + 2 * 0.00855, abs=1e-4)
    assert high == pytest.approx(1 - 2 * 0.00855, abs=1e-4)
    low, high = bca(EVEN, 0.0, np.array([-1.0, 1.0]), np.array([10**7, 10**7]))
    assert (low, high) == (pytest.approx(-0.95, abs=1e-4), pytest.approx(0.95, abs=1e-4))


def test_bca_moves_by_bias_and_acceleration():
    # 60 % of the resamples are below the value 0.2: bias Phi^-1(0.6) = 0.25335. One cluster in
    # four pulls by 3/4, three by -1/4 (times n = 4e6): acceleration sum d^3 / 6 (sum d^2)^1.5
    # = n (27/256 - 3/256) / (6 (n * 12/64)^1.5) = 0.19245 / sqrt(n) ~ 0.0001, so no matter
    low, high = bca(EVEN, 0.2, np.array([-0.75, 0.25]), np.array([10**6, 3 * 10**6]))
    # Phi(2 * 0.25335 -+ 1.95996) = Phi(-1.45326), Phi(2.46666) = 0.07308, 0.99318
    assert low == pytest.approx(2 * 0.07308 - 1, abs=2e-4)
    assert high == pytest.approx(2 * 0.99318 - 1, abs=2e-4)
    # of 16 clusters it is 0.05, and moves both ends up
    few = bca(EVEN, 0.0, np.array([-0.75, 0.25]), np.array([4, 12]))
    even = bca(EVEN, 0.0, np.array([-0.5, 0.5]), np.array([8, 8]))
    assert few[0] > even[0]
    assert few[1] > even[1]


def test_bca_holds_the_value_even_where_all_resamples_lie_beside_it():
    low, high = bca(EVEN, 1.5, np.array([0.0, 1.0]), np.array([5, 5]))
    assert low <= 1.5 == high


# --- which interval -------------------------------------------------------------------------


def test_rows_on_their_own_get_wilson():
    (m,) = estimate(table([(str(i), i < 3) for i in range(10)]), [HIT], cluster="image")
    assert (m.numerator, m.denominator, m.value, m.clusters) == (3, 10, 0.3, 10)
    assert (m.low, m.high) == wilson(3, 10)
    assert m.method == "wilson"


def test_rows_without_a_cluster_are_each_their_own():
    rows = [("", True), ("", False), (None, True), ("a", False)]
    (m,) = estimate(table(rows), [HIT], cluster="image")
    assert (m.clusters, m.method) == (4, "wilson")
    (m,) = estimate(table([("a", True)] * 3), [HIT], cluster=None)
    assert (m.clusters, m.method) == (3, "wilson")


def test_clusters_of_several_rows_get_the_bootstrap():
    # 10 clusters of two right, 10 of one right, 10 of none
    rows = [(str(i), j < i % 3) for i in range(30) for j in range(2)]
    (m,) = estimate(table(rows), [HIT], cluster="image")
    assert (m.numerator, m.denominator, m.clusters) == (30, 60, 30)
    assert m.method == "cluster-bootstrap, BCa"
    # a cluster's share is 0, 1/2 or 1: variance 1/6, of the mean of 30 1/180 and with n - 1 for n
    # 1/174; times 2.045, Student's for 29, 0.155 (resamples take steps of 1/60, their tails vary)
    assert m.low == pytest.approx(0.5 - 0.155, abs=0.012)
    assert m.high == pytest.approx(0.5 + 0.155, abs=0.012)


def test_where_few_clusters_have_or_lack_something_wilson_counts_what_they_are_worth():
    rows = [("a", True), ("a", True), ("b", False), ("c", True)]
    (m,) = estimate(table(rows), [HIT], cluster="image")
    assert (m.numerator, m.denominator, m.clusters) == (3, 4, 3)
    assert m.method == "wilson (effective rows)"
    for some, method in ((9, "wilson (effective rows)"), (10, "cluster-bootstrap, BCa")):
        # of 41 clusters of two rows, `some` with one right (so that all lack one)
        rows = [(str(i), j == 0 and i < some) for i in range(41) for j in range(2)]
        assert estimate(table(rows), [HIT], cluster="image")[0].method == method
        turned = table([(image, not hit) for image, hit in rows])
        assert estimate(turned, [HIT], cluster="image")[0].method == method


def test_where_all_clusters_agree_wilson_counts_clusters():
    # 5 clusters of 2 rows, every row right: the bootstrap would say [1, 1]
    rows = [(str(i // 2), True) for i in range(10)]
    (m,) = estimate(table(rows), [HIT], cluster="image")
    assert (m.value, m.method) == (1.0, "wilson (clusters)")
    assert (m.low, m.high) == wilson(5, 5)
    # 5 clusters, each 1 of 2 right: the value is 1/2, from 5 clusters
    rows = [(str(i // 2), i % 2 == 0) for i in range(10)]
    (m,) = estimate(table(rows), [HIT], cluster="image")
    assert (m.low, m.high) == wilson(2.5, 5)


def test_an_empty_denominator_is_undefined_not_zero():
    never = Ratio(name="never", top=pl.col("hit"), bottom=pl.lit(0))
    (m,) = estimate(table([("a", False), ("a", False)]), [never], cluster="image")
    assert (m.value, m.low, m.high, m.denominator, m.method) == (None, None, None, 0, "")


def test_an_empty_frame_has_an_undefined_whole_and_no_slices():
    found = estimate(table([]), [HIT], cluster="image", by=[(), ("image",)])
    assert [(m.cut, m.value) for m in found] == [({}, None)]


def test_draws_without_a_denominator_are_left_out_and_said():
    # a mean of counts, no share: rows of clusters a and b (2 rows each) of the 3 count; a draw of
    # three times c, with the chance (1/3)^3 = 1/27, has none
    frame = pl.DataFrame(
        {"image": list("aabbcc"), "hit": [3, 3, 0, 3, 0, 0], "counts": [1, 1, 1, 1, 0, 0]}
    )
    some = Ratio(name="some", top=pl.col("hit"), bottom=pl.col("counts"))
    (m,) = estimate(frame, [some], cluster="image")
    assert m.value == 9 / 4
    undefined = int(m.method.removeprefix("cluster-bootstrap, BCa (").split()[0])
    assert undefined == pytest.approx(10_000 / 27, abs=5 * (10_000 / 27) ** 0.5)
    assert (m.low, m.high) == (1.5, 3.0)  # all b: 3/2; all a: 6/2


def test_one_cluster_among_many_and_few_draws_may_leave_no_interval():
    # only a counts, with 6 / 2; a draw of 40 clusters has none of it with (39/40)^40 = 0.36
    frame = pl.DataFrame({"image": [str(i) for i in range(40)]}).with_columns(
        hit=pl.when(pl.col("image") == "7").then(6).otherwise(0),
        counts=pl.when(pl.col("image") == "7").then(2).otherwise(0),
    )
    some = Ratio(name="some", top=pl.col("hit"), bottom=pl.col("counts"))
    found = [estimate(frame, [some], cluster="image", draws=1, seed=seed)[0] for seed in range(20)]
    assert {(m.value, m.low, m.high) for m in found} == {(3.0, 3.0, 3.0), (3.0, None, None)}
    without = next(m for m in found if m.low is None)
    assert without.method == "cluster-bootstrap, BCa (1 of 1 draws undefined)"


def test_nulls_add_nothing_but_stay_in_the_denominator():
    frame = pl.DataFrame({"hit": [True, None, False, None]})
    (m,) = estimate(frame, [HIT], cluster=None)
    assert (m.numerator, m.denominator) == (1, 4)


def test_two_ratios_of_one_name_are_refused():
    with pytest.raises(ValueError, match="share a name"):
        estimate(table([("a", True)]), [HIT, HIT], cluster=None)


# --- cuts -----------------------------------------------------------------------------------


def test_cuts_are_sorted_crossed_and_skip_rows_without_a_value():
    frame = pl.DataFrame(
        {
            "hit": [True, False, True, True, False],
            "level": ["b", "a", "b", "", None],
            "kind": ["x", "x", "y", "x", "x"],
        }
    )
    found = estimate(frame, [HIT], cluster=None, by=[(), ("level",), ("level", "kind")])
    assert [(m.cut, m.numerator, m.denominator) for m in found] == [
        ({}, 3, 5),
        ({"level": "a"}, 0, 1),
        ({"level": "b"}, 2, 2),
        ({"level": "a", "kind": "x"}, 0, 1),
        ({"level": "b", "kind": "x"}, 1, 1),
        ({"level": "b", "kind": "y"}, 1, 1),
    ]


def test_accuracy_reads_the_columns_of_its_reading():
    frame = pl.DataFrame({"right": [True, True], "paper_right": [True, False]})
    found = estimate(frame, [accuracy(), accuracy("paper", "paper accuracy")], cluster=None)
    assert [m.value for m in found] == [1.0, 0.5]


# --- the bootstrap's distribution -----------------------------------------------------------


def enumerate_draws(clusters: list[tuple[float, float]]) -> list[float]:
    """Every one of the n^n equally likely resamples, as its ratio."""
    every = product(clusters, repeat=len(clusters))
    return [sum(t for t, _ in draw) / sum(b for _, b in draw) for draw in every]


CLUSTERS = [
    [(1.0, 2.0), (2.0, 2.0)],
    [(0.0, 1.0), (1.0, 3.0), (3.0, 3.0)],
    [(0.5, 1.0), (2.0, 2.0), (2.0, 2.0)],
]


def pattern(clusters):
    top, bottom = np.array(clusters).T
    return boot.patterns(top, bottom)


def by_pattern(one, draws, seed):
    return boot._by_pattern(one, draws, np.random.default_rng(seed))


def from_halves(one, draws, seed):
    (drawn,) = boot.draw([one], draws, seed)  # so few clusters a pattern are never chained
    return drawn


@pytest.mark.parametrize("clusters", CLUSTERS)
@pytest.mark.parametrize("way", [by_pattern, from_halves])
def test_both_ways_of_drawing_have_the_enumerated_distribution(clusters, way):
    draws = 20_000
    top, bottom = way(pattern(clusters), draws, 5)
    drawn = np.round(top / bottom, 9)
    exact = np.round(enumerate_draws(clusters), 9)
    assert set(drawn) == set(exact)
    for value in set(exact):
        chance = np.mean(exact == value)
        error = (chance * (1 - chance) / draws) ** 0.5
        assert np.mean(drawn == value) == pytest.approx(chance, abs=5 * error)


@pytest.mark.parametrize("way", [by_pattern, from_halves])
def test_both_ways_equal_drawing_clusters_naively(way):
    rng = np.random.default_rng(11)
    bottom = rng.integers(1, 5, size=60).astype(float)
    top = np.floor(bottom * rng.random(60))
    one, draws = boot.patterns(top, bottom), 20_000
    assert len(one.counts) < 60
    drawn = rng.integers(60, size=(draws, 60))  # the textbook: n clusters with replacement
    naive = top[drawn].sum(1) / bottom[drawn].sum(1)
    ours_top, ours_bottom = way(one, draws, 1)
    # the standard error of a 2.5 % quantile is sqrt(.025 * .975 / draws) / density, here about
    # 1 % of the interval's width; 5 % is five of them
    width = np.ptp(np.quantile(naive, [0.025, 0.975]))
    for q in (0.025, 0.25, 0.5, 0.75, 0.975):
        want = pytest.approx(np.quantile(naive, q), abs=0.05 * width)
        assert np.quantile(ours_top / ours_bottom, q) == want


def test_resamples_from_halves_have_multinomial_moments():
    # 300 clusters: the first 100 drawn N ~ Binomial(300, 1/3) times, variance 300 * 1/3 * 2/3, and
    # -300 * 1/3 * 1/3 the covariance with the next 100
    n, draws = 300, 20_000
    counts = np.full(3, 100)
    first, second, whole = boot.draw(
        [
            boot.Patterns(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), counts),
            boot.Patterns(np.array([0, 0, 1.0]), np.ones(3), counts),
            boot.Patterns(np.array([1.0]), np.array([2.0]), np.array([n])),
        ],
        draws,
        seed=3,
    )
    assert (first[0] + first[1] + second[0] == n).all()  # one ratio's draws are another's
    assert (second[1] == n).all()
    assert (whole == [[n], [2 * n]]).all()
    spread = np.cov(first)
    variance, covariance = n * 2 / 9, -n / 9
    # the standard error of a variance is sqrt(2 / draws) = 1 % of it; 5 % is five of them
    assert spread[0, 0] == pytest.approx(variance, rel=0.05)
    assert spread[1, 1] == pytest.approx(variance, rel=0.05)
    assert spread[0, 1] == pytest.approx(covariance, abs=0.05 * variance)
    assert np.mean(first, axis=1) == pytest.approx(100, abs=5 * (variance / draws) ** 0.5)
    # one resample says nothing about the next, within a pool of halves or beyond
    assert abs(np.corrcoef(first[0, 1:], first[0, :-1])[0, 1]) < 5 / draws**0.5


def test_what_a_ratio_draws_does_not_depend_on_the_others(monkeypatch):
    rng = np.random.default_rng(3)
    several = [boot.patterns(rng.random(n), rng.random(n) + 1) for n in (50, 700, 50, 20)]
    together = list(boot.draw(several, 600, 0))
    for one, drawn in zip(several, together, strict=True):
        assert (next(boot.draw([one], 600, 0)) == drawn).all()
    monkeypatch.setattr(boot, "_HELD", 1)  # one ratio held at a time
    assert all((a == b).all() for a, b in zip(boot.draw(several, 600, 0), together, strict=True))


def test_many_clusters_are_drawn_with_fewer_halves_at_a_time(monkeypatch):
    assert [boot._pool(n) for n in (1, 1 << 15, (1 << 15) + 1, 1 << 16, 1 << 17, 1 << 40)] == [
        512, 512, 256, 256, 128, 16
    ]  # fmt: skip
    monkeypatch.setattr(boot, "_LARGE", 100)
    one = pattern([(float(i), 1.0) for i in range(400)])
    top, bottom = next(boot.draw([one], 5_000, 0))
    assert (bottom == 400).all()
    # the mean of 0 ... 399 is 199.5, their standard deviation 115.5, that of a mean 115.5 / 20
    assert np.mean(top / bottom) == pytest.approx(199.5, abs=5 * 5.77 / 5_000**0.5)
    assert np.std(top / bottom) == pytest.approx(5.77, rel=0.05)


def test_the_seed_moves_the_draws_and_nothing_else_does():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"image": rng.integers(0, 40, 200).astype(str), "hit": rng.random(200) < 0.4}
    )
    first = estimate(frame, [HIT], cluster="image")
    assert estimate(frame, [HIT], cluster="image") == first
    assert estimate(frame, [HIT], cluster="image", seed=1) != first


# --- coverage (bench/coverage.py has the whole of it) ---------------------------------------


def test_intervals_hold_the_truth_and_those_that_ignore_clusters_do_not():
    # 300 data sets of 40 clusters of 12 unanswerable and 12 answerable rows. A cluster refuses the
    # ones with a chance from Beta(2, 1), mean 2/3, the others with one from Beta(1, 4), mean 1/5:
    # refusal F1 = 2 * 2/3 / (2/3 + 1/5 + 1) = 5/7; accuracy with every answer right =
    # (2/3 + 4/5) / 2 = 11/15. pass^5 of Beta(2, 1) is its fifth moment, 2 / (2 + 5) = 2/7.
    rng, sets, clusters, rows = np.random.default_rng(8), 300, 40, 12
    shape = sets, clusters, 2, rows
    chance = np.stack([rng.beta(2, 1, shape[:2]), rng.beta(1, 4, shape[:2])], axis=2)
    refused = (rng.random(shape) < chance[..., None]).ravel()
    at = np.indices(shape).reshape(4, -1)
    frame = pl.DataFrame(
        {
            "set": at[0],
            "cluster": at[0] * clusters + at[1],
            "answerable": at[2] == 1,
            "state": np.where(refused, "abstained", "answered"),
            "right": refused == (at[2] == 0),
        }
    ).with_columns(item=pl.format("{} {}", "cluster", "answerable"))
    counted = by_item(frame.filter(~pl.col("answerable")), keep=["set"])

    def held(frame, ratio, cluster, truth):
        found = estimate(frame, [ratio], cluster=cluster, by=[("set",)], draws=500)
        assert len(found) == sets
        return sum(m.low <= truth <= m.high for m in found) / sets

    # 95 %, give or take three standard errors of 1.3 %
    assert held(frame, accuracy(), "cluster", 11 / 15) == pytest.approx(0.95, abs=0.038)
    assert held(frame, refusal_f1(), "cluster", 5 / 7) == pytest.approx(0.95, abs=0.038)
    assert held(counted, pass_hat(5), None, 2 / 7) == pytest.approx(0.95, abs=0.038)
    alone = frame.drop("item")  # every row its own cluster
    assert held(alone, refusal_f1(), None, 5 / 7) < 0.85


# --- laws -----------------------------------------------------------------------------------

rows = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.booleans(), st.booleans()), min_size=1, max_size=40
)
PART = Ratio(name="part", top=pl.col("hit") & pl.col("counts"), bottom=pl.col("counts"))


def framed(rows):
    return pl.DataFrame(rows, schema=["image", "hit", "counts"], orient="row")


def measured(frame):
    return estimate(frame, [HIT, PART], cluster="image", draws=500)


@settings(max_examples=60, deadline=None)
@given(rows)
def test_the_value_lies_in_its_interval(rows):
    for m in measured(framed(rows)):
        if m.value is None:
            assert m.denominator == 0
            continue
        assert m.low is not None
        assert m.high is not None
        assert 0 <= m.low <= m.value <= m.high <= 1


@settings(max_examples=40, deadline=None)
@given(rows, st.randoms(), st.permutations("abcdef"))
def test_row_order_and_cluster_names_do_not_matter(rows, random, names):
    renamed = dict(zip("abcdef", names, strict=True))
    other = [(renamed[image], hit, counts) for image, hit, counts in rows]
    random.shuffle(other)
    assert measured(framed(other)) == measured(framed(rows))


@settings(max_examples=40, deadline=None)
@given(rows)
def test_doubling_every_row_in_its_cluster_leaves_value_and_bootstrap(rows):
    once, twice = measured(framed(rows)), measured(framed(rows + rows))
    for a, b in zip(once, twice, strict=True):
        assert (b.value, b.numerator, b.clusters) == (a.value, 2 * a.numerator, a.clusters)
        if a.method.startswith("cluster-bootstrap"):
            assert (b.low, b.high) == (pytest.approx(a.low), pytest.approx(a.high))
