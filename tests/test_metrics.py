"""Ratios and their intervals: published values, enumeration, and the laws they obey."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.metrics import Ratio, accuracy, estimate, wilson
from hardset.metrics import bootstrap as boot

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
    rows = [("a", True), ("a", True), ("b", False), ("c", True)]
    (m,) = estimate(table(rows), [HIT], cluster="image")
    assert (m.numerator, m.denominator, m.clusters) == (3, 4, 3)
    assert m.method == "cluster-bootstrap"


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
    # the denominator counts rows of clusters a and b (2 rows each) of the 3: a draw of three
    # times c, with the chance (1/3)^3 = 1/27, has none
    frame = pl.DataFrame(
        {"image": list("aabbcc"), "hit": [1, 1, 0, 1, 0, 0], "counts": [1, 1, 1, 1, 0, 0]}
    )
    some = Ratio(name="some", top=pl.col("hit"), bottom=pl.col("counts"))
    (m,) = estimate(frame, [some], cluster="image")
    assert m.value == 3 / 4
    undefined = int(m.method.removeprefix("cluster-bootstrap (").split()[0])
    assert undefined == pytest.approx(10_000 / 27, abs=5 * (10_000 / 27) ** 0.5)
    assert (m.low, m.high) == (0.5, 1.0)  # all b: 1/2; all a: 1


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


@pytest.mark.parametrize("clusters", CLUSTERS)
@pytest.mark.parametrize("way", ["_by_pattern", "_one_by_one"])
def test_both_ways_of_drawing_have_the_enumerated_distribution(clusters, way):
    draws, rng = 20_000, np.random.default_rng(5)
    one = pattern(clusters)
    if way == "_by_pattern":
        top, bottom = boot._by_pattern(one, draws, rng)
    else:
        top, bottom = boot._one_by_one({"x": one}, draws, rng)["x"]
    drawn = np.round(top / bottom, 9)
    exact = np.round(enumerate_draws(clusters), 9)
    assert set(drawn) == set(exact)
    for value in set(exact):
        chance = np.mean(exact == value)
        error = (chance * (1 - chance) / draws) ** 0.5
        assert np.mean(drawn == value) == pytest.approx(chance, abs=5 * error)


def test_drawing_by_pattern_equals_drawing_clusters_naively():
    rng = np.random.default_rng(11)
    bottom = rng.integers(1, 5, size=60).astype(float)
    top = np.floor(bottom * rng.random(60))
    one, draws = boot.patterns(top, bottom), 20_000
    assert len(one.counts) < 60
    drawn = rng.integers(60, size=(draws, 60))  # the textbook: n clusters with replacement
    naive = top[drawn].sum(1) / bottom[drawn].sum(1)
    pt, pb = boot._by_pattern(one, draws, np.random.default_rng(1))
    ct, cb = boot._one_by_one({"x": one}, draws, np.random.default_rng(2))["x"]
    # the standard error of a 2.5 % quantile is sqrt(.025 * .975 / draws) / density, here about
    # 1 % of the interval's width; 5 % is five of them
    width = np.ptp(np.quantile(naive, [0.025, 0.975]))
    for q in (0.025, 0.25, 0.5, 0.75, 0.975):
        want = pytest.approx(np.quantile(naive, q), abs=0.05 * width)
        assert np.quantile(pt / pb, q) == want
        assert np.quantile(ct / cb, q) == want


def test_one_by_one_copes_with_more_clusters_than_a_chunk_holds(monkeypatch):
    rng = np.random.default_rng(3)
    top, bottom = rng.random(50), rng.random(50) + 1
    one = boot.patterns(top, bottom)
    whole = boot._one_by_one({"x": one}, 30, np.random.default_rng(0))["x"][0]
    monkeypatch.setattr(boot, "_CHUNK", 7)
    small = boot._one_by_one({"x": one}, 30, np.random.default_rng(0))["x"][0]
    for sums in (whole, small):  # 50 draws of values in [0, 1)
        assert len(sums) == 30
        assert np.all((sums > 0) & (sums < 50))
    monkeypatch.setattr(boot, "_CHUNK", 50 * 10)  # ten draws a chunk
    assert np.mean(boot._one_by_one({"x": one}, 30, np.random.default_rng(0))["x"][0]) > 0


def test_the_seed_moves_the_draws_and_nothing_else_does():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"image": rng.integers(0, 40, 200).astype(str), "hit": rng.random(200) < 0.4}
    )
    first = estimate(frame, [HIT], cluster="image")
    assert estimate(frame, [HIT], cluster="image") == first
    assert estimate(frame, [HIT], cluster="image", seed=1) != first


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
