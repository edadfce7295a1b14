"""Differences of two runs: tests by hand and by enumeration, intervals against a plain loop."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.metrics import Rates, Ratio, accuracy
from hardset.metrics.difference import BOOTSTRAP, Difference, adjusted, beside, by_resampling
from hardset.metrics.paired import differences
from hardset.metrics.power import detectable
from hardset.metrics.signflip import EXACT, PERMUTATION, holm, mcnemar, sign_flip
from hardset.records import Metric

HIT = Ratio(name="hit", top=pl.col("hit"), bottom=pl.lit(1))


def frame(rows: list[tuple[str, str, bool]], **more) -> pl.DataFrame:
    made = pl.DataFrame(
        rows, schema={"item": pl.String, "image": pl.String, "hit": pl.Boolean}, orient="row"
    )
    return made.with_columns(**more)


def hits(*ways: tuple[bool, bool], cluster: int = 1) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two runs over items, `cluster` items an image; each way is (first right, second right)."""
    sides = [
        frame([(f"i{i}", f"p{i // cluster}", way[side]) for i, way in enumerate(ways)])
        for side in (0, 1)
    ]
    return sides[0], sides[1]


def rates(of: pl.DataFrame, *ratios: Ratio, cluster: str | None = "image", by=((),)) -> Rates:
    return Rates(frame=of, ratios=ratios or (HIT,), cluster=cluster, by=by)


def one(first: pl.DataFrame, second: pl.DataFrame, *ratios: Ratio, **more) -> Difference:
    given_draws = more.pop("draws", 2_000)
    (found,) = differences(
        rates(first, *ratios, **more), rates(second, *ratios, **more), given_draws
    )
    return found


B, L, G, N = (True, True), (True, False), (False, True), (False, False)  # both, lost, gained, none


# --- McNemar --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lost", "gained", "p"),
    [  # twice the tail of fair coins
        (0, 0, 1),
        (3, 3, 1),
        (5, 0, 2 / 32),
        (0, 6, 2 / 64),
        (1, 8, 2 * (1 + 9) / 512),
        (10, 2, 2 * (1 + 12 + 66) / 4096),
        (4, 5, 1),  # 2 x 256 / 512
    ],
)
def test_mcnemar_by_hand(lost, gained, p):
    assert mcnemar(lost, gained) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(("lost", "gained"), [(480, 560), (2000, 2200)])
def test_mcnemar_of_many_rows_is_exact_too(lost, gained):
    n = lost + gained
    tail = sum(Fraction(comb(n, k), 2**n) for k in range(lost + 1))
    assert mcnemar(lost, gained) == pytest.approx(float(2 * tail), rel=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(deadline=None)
def test_mcnemar_is_the_share_of_coin_throws_as_uneven(lost, gained):
    n = lost + gained
    uneven = [k for k in range(n + 1) if abs(2 * k - n) >= abs(lost - gained)]
    expected = sum(Fraction(comb(n, k), 2**n) for k in uneven)
    assert mcnemar(lost, gained) == mcnemar(gained, lost) == pytest.approx(float(expected))


# --- Holm -----------------------------------------------------------------------------------


def test_holm_by_hand():
    # sorted: 0.005 x 4 = 0.02; 0.01 x 3 = 0.03; 0.03 x 2 = 0.06; 0.04 x 1 = 0.04, not below 0.06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # no test is none: 0.02 x 2, 0.9 x 1; and 1 is the most: 0.6 x 2
    assert holm([None, 0.02, 0.9]) == [None, pytest.approx(0.04), pytest.approx(0.9)]
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
@settings(deadline=None)
def test_holm_never_lowers_a_p_nor_turns_the_order(ps):
    found = holm(ps)
    assert [p is None for p in found] == [p is None for p in ps]
    pairs = sorted((p, q) for p, q in zip(ps, found, strict=True) if p is not None)
    assert all(p <= q <= 1 for p, q in pairs)
    assert [q for _, q in pairs] == sorted(q for _, q in pairs)
    least = min((p for p, _ in pairs), default=0)
    assert not pairs or pairs[0][1] == pytest.approx(min(1, least * len(pairs)))


def test_families_are_overall_and_slices_over_all_runs():
    def some(name: str, p: float, cut: dict[str, str], reading: str = "default") -> Difference:
        metric = Metric(
            name=name, cut=cut, reading=reading, numerator=1, denominator=2, value=0.5
        )  # fmt: skip
        found = beside(metric, metric)
        return Difference(**{f: getattr(found, f) for f in found.__struct_fields__} | {"p": p})

    first = [
        some("acc", 0.01, {}),
        some("acc", 0.01, {"level": "a"}),
        some("acc", 0.02, {"kind": "b"}),
        some("acc", 0.03, {}, "paper"),
        some("F1", 0.04, {}),
    ]
    second = [some("acc", 0.04, {}), some("acc", 0.03, {"level": "a"})]
    one_run, other_run = adjusted([first, second])
    # acc overall: 0.01 x 2, 0.04 x 1. Its slices: 0.01 x 3, 0.02 x 2, 0.03 (not below 0.04).
    assert [d.p_holm for d in one_run] == pytest.approx([0.02, 0.03, 0.04, 0.03, 0.04])
    assert [d.p_holm for d in other_run] == pytest.approx([0.04, 0.04])


# --- swapping the runs within clusters -------------------------------------------------------


def flip(steps: list[tuple[float, float]], draws: int = 4_000) -> tuple[float | None, str]:
    """Clusters by (second - first) of top and of bottom, above a common (1, 4)."""
    before = np.array([(1.0, 4.0)] * len(steps))
    after = before + np.array(steps)
    rng = np.random.default_rng(0)
    return sign_flip(before, after, np.ones(len(steps), dtype=np.int64), draws, rng)


def enumerated(steps: list[tuple[float, float]]) -> float:
    before = np.array([(1.0, 4.0)] * len(steps))
    after = before + np.array(steps)
    found = []
    for swap in product([False, True], repeat=len(steps)):
        chosen = np.array(swap)[:, None]
        a, b = np.where(chosen, after, before).sum(0), np.where(chosen, before, after).sum(0)
        found.append(abs(b[0] / b[1] - a[0] / a[1]))
    return float(np.mean(np.array(found) >= found[0] - 1e-12))


def test_sign_flip_by_hand():
    # clusters differ by 2, 1, 1: of the 8 sums +-2 +-1 +-1 two are as far out as 4
    assert flip([(2, 0), (1, 0), (1, 0)]) == (pytest.approx(2 / 8), EXACT)
    # seen: 2 + 1 - 1 = 2; the sums are 4, 2, 2, 0, 0, -2, -2, -4: six of them
    assert flip([(2, 0), (1, 0), (-1, 0)]) == (pytest.approx(6 / 8), EXACT)
    # 3 and 2 have 1 in common: of +-3 +-2 two of four are as far out as 5
    assert flip([(3, 0), (2, 0)]) == (pytest.approx(2 / 4), EXACT)
    # thirds and halves, as shares of clusters are, rounded: all one way is 2 of 8
    assert flip([(0.333333333, 0), (0.5, 0), (0.666666667, 0)]) == (pytest.approx(2 / 8), EXACT)
    # halves are whole steps too: 0.5, 0.5, 1 all one way is 2 of 8
    assert flip([(0.5, 0), (0.5, 0), (1, 0)]) == (pytest.approx(2 / 8), EXACT)
    assert flip([(0, 0), (0, 0)]) == (1.0, EXACT)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
@settings(deadline=None)
def test_sign_flip_is_what_enumeration_gives(tops):
    steps = [(float(top), 0.0) for top in tops]
    p, test = flip(steps)
    assert test == EXACT
    assert p == pytest.approx(enumerated(steps))


def test_drawn_swaps_come_near_enumeration():
    steps = [(1.0, 1.0), (0.0, 1.0), (2.0, 1.0), (1.0, 0.0), (1.0, -1.0), (0.0, 2.0), (-1.0, 1.0)]
    p, test = flip(steps, draws=20_000)
    assert test == PERMUTATION
    assert p == pytest.approx(enumerated(steps), abs=0.015)  # 4 standard errors of 20,000 draws


def test_long_sums_are_worked_out_too():
    """3,000 clusters of 1 and 3,000 of 2: beyond what is convolved step by step."""
    before, counts = np.zeros((4, 2)), np.array([1600, 1400, 1450, 1550])
    after = np.array([(1.0, 0.0), (-1.0, 0.0), (2.0, 0.0), (-2.0, 0.0)])
    p, test = sign_flip(before, after, counts, 100, np.random.default_rng(0))
    assert test == EXACT
    # The sum is 200 - 200 = 0, so every swap is as far out. With 100 more the one way:
    assert p == 1
    p, _ = sign_flip(before, after, counts + np.array([100, 0, 0, 0]), 100, None)
    # sum 100 of variance 3100 + 4 x 3000; sums are even, so half a step is 1
    z = 99 / sqrt(15_100)
    assert p == pytest.approx(2 * (1 - NormalDist().cdf(z)), rel=1e-3)
    p, _ = sign_flip(before, after, np.array([3000, 0, 3000, 0]), 100, None)
    assert 0 < p <= 1e-12


def test_too_many_different_clusters_are_not_swapped():
    steps = [(float(i) ** 0.5, 0.0) for i in range(1, 3000)]
    assert flip(steps) == (None, "")


# --- which test ------------------------------------------------------------------------------


def test_single_rows_get_mcnemar():
    # 3 both, 1 lost, 8 gained, 2 neither: 14 items, difference 7/14, p = 2 x 10 / 512
    found = one(*hits(*[B] * 3, L, *[G] * 8, *[N] * 2))
    assert found.difference == pytest.approx(0.5)
    assert (found.lost, found.gained) == (1, 8)
    assert found.p == found.p_rows == pytest.approx(20 / 512)
    assert found.test == "exact McNemar"
    assert found.method == BOOTSTRAP
    assert found.clusters == 14


def test_rows_in_clusters_swap_whole_clusters_and_say_so():
    # images of two: (G G), (G G), (G L), (B B): clusters differ by 2, 2, 0, 0
    found = one(*hits(G, G, G, G, G, L, B, B, cluster=2))
    assert (found.lost, found.gained) == (1, 5)
    assert found.p == pytest.approx(0.5)  # of +-2 +-2 two of four are 4 away
    assert found.p_rows == pytest.approx(2 * (1 + 6) / 64)  # McNemar as if they were independent
    assert found.test == EXACT
    assert "not independent" in found.note


def test_repeats_are_no_binary_outcomes():
    first, second = hits(G, B, N, G, G, G, G)
    repeated = [pl.concat([side, side.with_columns(pl.lit(False).alias("hit"))]) for side in (
        first, second)]  # fmt: skip
    found = one(*repeated, cluster=None)
    assert (found.lost, found.gained, found.p_rows) == (None, None, None)
    assert found.clusters == 7
    assert found.p == pytest.approx(2 / 2**5)  # 5 items of 7 differ, all one way
    assert found.test == EXACT


def test_different_repeats_are_compared_but_not_swapped():
    first, second = hits(*[G] * 6, *[B] * 6, *[N] * 6, L)
    found = one(pl.concat([first, first]), second, cluster=None)
    assert found.first.denominator == 38
    assert found.second.denominator == 19
    assert found.difference == pytest.approx(12 / 19 - 14 / 38)
    assert found.test == "bootstrap"
    assert "different numbers of rows" in found.note


def test_a_ratio_whose_denominator_is_the_runs_own_is_permuted():
    ratio = Ratio(name="of answered", top=pl.col("hit"), bottom=pl.col("answered"))
    first, second = hits(*[B] * 20, *[L] * 4, *[N] * 6)
    first = first.with_columns(answered=pl.lit(True))
    second = second.with_columns(answered=pl.col("hit") | (pl.int_range(pl.len()) % 3 == 0))
    found = one(first, second, ratio)
    assert found.test == PERMUTATION
    assert found.lost is None
    assert found.difference == pytest.approx(20 / second["answered"].sum() - 24 / 30)


# --- the interval ----------------------------------------------------------------------------


def loop(first: pl.DataFrame, second: pl.DataFrame, top: str, bottom: str, draws: int, seed: int):
    """The paired cluster bootstrap as a book has it: draw images, take all their rows, twice."""
    images = sorted(set(first["image"]))
    sums = [
        {
            key: (rows[top].sum(), rows[bottom].sum())
            for (key,), rows in side.partition_by("image", as_dict=True).items()
        }
        for side in (first, second)
    ]
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        drawn = [images[i] for i in rng.integers(len(images), size=len(images))]
        ratios = []
        for side in sums:
            numerator = sum(side[image][0] for image in drawn)
            ratios.append(numerator / sum(side[image][1] for image in drawn))
        found.append(ratios[1] - ratios[0])
    return np.array(found)


def clustered(seed: int, values: bool = False) -> tuple[pl.DataFrame, pl.DataFrame]:
    """80 images of 1 to 4 items; what is hard is hard for both runs."""
    rng, sides = np.random.default_rng(seed), ([], [])
    number = 0
    for image in range(80):
        hard = rng.random()
        for _ in range(rng.integers(1, 5)):
            for side, skill in zip(sides, (0.0, 0.1), strict=True):
                hit = bool(rng.random() < min(1.0, 0.2 + 0.6 * hard + skill))
                tokens = float(rng.gamma(2, 50 + 40 * hard)) if values else 1.0
                side.append((f"i{number}", f"p{image:02d}", hit, tokens, bool(rng.random() < 0.7)))
            number += 1
    schema = {"item": str, "image": str, "hit": bool, "tokens": float, "counted": bool}
    return tuple(
        pl.DataFrame(side, schema=schema, orient="row").with_columns(one=pl.lit(1))
        for side in sides
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("top", "bottom", "values"),
    [("hit", "one", False), ("hit", "counted", False), ("tokens", "one", True)],
)
def test_the_interval_is_that_of_a_plain_loop(seed, top, bottom, values):
    first, second = clustered(seed, values)
    if bottom == "counted":
        first, second = (side.with_columns(hit=pl.col("hit") & pl.col("counted")) for side in (
            first, second))  # fmt: skip
    plain = loop(first, second, top, bottom, 2_000, seed)
    ratio = Ratio(name="it", top=pl.col(top), bottom=pl.col(bottom))
    found = one(first, second, ratio, draws=10_000)
    low, high = np.quantile(plain, [0.025, 0.975])
    spread = plain.std(ddof=1)
    # the quantiles of 2,000 draws are good to about 0.06 standard errors; four of those
    assert found.low == pytest.approx(low, abs=0.25 * spread)
    assert found.high == pytest.approx(high, abs=0.25 * spread)
    assert found.error == pytest.approx(spread, rel=0.08)
    assert found.difference == pytest.approx(
        second[top].sum() / second[bottom].sum() - first[top].sum() / first[bottom].sum()
    )


def test_the_error_of_single_rows_is_the_textbooks():
    first, second = hits(*[B] * 50, *[L] * 10, *[G] * 22, *[N] * 18)
    found = one(first, second, draws=20_000)
    # sqrt((b + c) - (c - b)^2 / n) / n
    expected = sqrt(32 - 12**2 / 100) / 100
    assert found.error == pytest.approx(expected, rel=0.03)


def test_pairing_takes_out_what_is_hard_for_both():
    """Two runs that mostly agree: the difference is far surer than either rate."""
    found = one(*hits(*[B] * 100, *[N] * 90, *[G] * 10))
    assert found.high - found.low < (found.first.high - found.first.low) / 1.5
    assert found.low > 0


def test_no_flip_at_all_is_no_certainty():
    # z2 = 3.8415; Wilson's bound on a share never seen among 82 is z2 / (82 + z2) = 0.04475
    first, second = hits(*[B] * 40, *[N] * 42)
    found = one(first, second)
    assert (found.low, found.high) == pytest.approx((-0.04475, 0.04475), abs=1e-5)
    assert found.method == "wilson (every cluster differs alike)"
    assert found.p == 1
    # every one gained: 1 - 2 x 0.04475; one that is not can be lost, which is 2 away
    found = one(*hits(*[G] * 82))
    assert (found.low, found.high) == pytest.approx((1 - 2 * 0.04475, 1), abs=1e-5)
    assert found.p == pytest.approx(2 / 2**82)


def test_a_mean_with_a_unit_that_differs_alike_has_no_interval():
    metric = Metric(name="tokens", numerator=500, denominator=5, value=100.0, unit="tokens")
    found = by_resampling(metric, metric, np.zeros(100), 50)
    assert (found.difference, found.low, found.high) == (0.0, None, None)


def test_undefined_draws_are_left_out_and_counted():
    metric = Metric(name="m", numerator=1, denominator=2, value=0.5)
    other = Metric(name="m", numerator=3, denominator=4, value=0.75)
    drawn = np.concatenate([np.linspace(0.0, 0.5, 101), [np.nan] * 4])
    found = by_resampling(metric, other, drawn, 30)
    # No bias, no jackknife: the ends are at t(29) sqrt(30 / 29) = 2.0452 x 1.0171 = 2.0801
    # standard errors, beyond which 1.876 % of a normal lies; 0.5 x 0.01876 on an even spread
    assert (found.low, found.high) == pytest.approx((0.00938, 0.49062), abs=1e-5)
    assert found.method == f"{BOOTSTRAP} (4 of 105 draws undefined)"
    assert found.p == pytest.approx(2 * (1 + 1) / 102)  # one draw of 101 is not above 0


# --- what could have been shown ---------------------------------------------------------------


def test_the_smallest_difference_is_2_8_standard_errors():
    # z(0.975) + z(0.80) = 1.95996 + 0.84162
    assert detectable(0.05, 1_000) == pytest.approx(2.80158 * 0.05, rel=1e-5)


@pytest.mark.parametrize("clusters", [6, 20, 82, 5_000])
def test_but_never_fewer_than_six_clusters_that_differ_one_way(clusters):
    """2 / 2^6 is the first p below 5 %: in 80 % of sets six must differ."""
    share = detectable(0.0, clusters, row=1 / clusters)
    six = 1 - sum(
        comb(clusters, k) * share**k * (1 - share) ** (clusters - k) for k in range(6)
    )  # fmt: skip
    assert six == pytest.approx(0.80, abs=1e-6)


def test_what_a_row_weighs_decides_what_six_of_them_can_show():
    alone = one(*hits(*[B] * 40, *[N] * 42)).detectable  # 82 rows, each a cluster
    assert alone == pytest.approx(detectable(0.0, 82, 1 / 82))
    # 41 clusters of two: six that differ by one row of the 82 suffice
    paired = one(*hits(*[B] * 40, *[N] * 42, cluster=2)).detectable
    assert paired == pytest.approx(detectable(0.0, 41, 1 / 82))
    assert 0.08 < paired < 0.1
    # three repeats each: a row is 1 of 246
    first, second = (pl.concat([side] * 3) for side in hits(*[B] * 40, *[N] * 42))
    assert one(first, second).detectable == pytest.approx(detectable(0.0, 82, 1 / 246))
    # F1 counts a hit twice: 2 of (40 + 40)
    f1 = Ratio(name="F1", top=2 * pl.col("hit").cast(pl.Int32),
               bottom=pl.col("hit").cast(pl.Int32) + pl.col("due").cast(pl.Int32))  # fmt: skip
    sides = [side.with_columns(due=pl.col("hit")) for side in hits(*[B] * 40, *[N] * 42)]
    assert one(*sides, f1).detectable == pytest.approx(detectable(0.0, 40, 2 / 80))
    # a mean of tokens has no such rows
    tokens = Metric(name="t", numerator=500, denominator=5, value=100.0, unit="tokens")
    assert by_resampling(tokens, tokens, np.linspace(-1, 1, 101), 50).detectable == pytest.approx(
        2.80158 * np.linspace(-1, 1, 101).std(ddof=1), rel=1e-4
    )


def test_fewer_than_six_clusters_can_show_nothing():
    assert detectable(0.1, 5) is None
    assert one(*hits(*[G] * 5)).detectable is None
    assert not one(*hits(*[G] * 5)).shown  # p = 2 / 32
    assert one(*hits(*[G] * 6)).shown


def test_a_difference_of_that_size_is_shown_in_four_of_five_sets():
    """Power, by drawing sets of 200 with 10 % lost and 10 % + what can be shown gained."""
    base = one(*hits(*[L] * 20, *[G] * 20, *[B] * 80, *[N] * 80))
    rng, shown = np.random.default_rng(7), 0
    gained = 0.10 + base.detectable
    for _ in range(400):
        lost, won, _ = rng.multinomial(200, [0.10, gained, 0.9 - gained])
        shown += mcnemar(int(lost), int(won)) <= 0.05
    # the error grows with what is gained, and the exact test is careful: below 80 %, not far
    assert 0.60 < shown / 400 < 0.86


# --- what belongs together --------------------------------------------------------------------


def test_order_and_names_of_clusters_do_not_matter():
    first, second = clustered(5)
    ratio = accuracy().__class__(name="hit", top=pl.col("hit"), bottom=pl.lit(1))
    found = one(first, second, ratio)
    shuffled = second.sample(fraction=1, shuffle=True, seed=3)
    assert one(first.reverse(), shuffled, ratio) == found
    renamed = [side.with_columns(pl.col("image").str.replace("p", "q")) for side in (first, second)]
    assert one(*renamed, ratio) == found


def what_counts(found: Difference) -> tuple[object, ...]:
    return found.difference, found.low, found.high, found.p, found.clusters, found.detectable


def test_clusters_of_both_runs_stay_together():
    """One run knows no image (it was blind): the other's images still tie its rows."""
    first, second = hits(G, G, G, G, G, L, B, B, cluster=2)
    blind = second.with_columns(image=pl.lit(""))
    expected = what_counts(one(first, second))
    assert what_counts(one(first, blind)) == expected
    numbered = second.with_columns(image=pl.Series(["7", "7", "3", "3", "1", "1", "0", "0"]))
    assert what_counts(one(first, numbered)) == expected


def test_turned_round_the_difference_turns_its_sign():
    first, second = clustered(9)
    found, turned = one(first, second), one(second, first)
    assert turned.difference == pytest.approx(-found.difference)
    assert turned.p == pytest.approx(found.p)
    assert (turned.lost, turned.gained) == (found.gained, found.lost)
    assert turned.low == pytest.approx(-found.high, abs=0.2 * found.error)


def test_slices_are_compared_each_and_what_one_run_lacks_is_said():
    first, second = hits(*[G] * 4, *[B] * 4)
    first = first.with_columns(level=pl.Series(["a", "a", "a", "a", "b", "b", "c", "c"]))
    second = second.with_columns(level=pl.Series(["a", "a", "a", "a", "b", "b", "", None]))
    other = Ratio(name="other", top=pl.col("hit"), bottom=pl.lit(1))
    found = differences(
        rates(first, HIT, by=[(), ("level",)]), rates(second, HIT, other, by=[(), ("level",)]), 500
    )
    by_cut = {(one.name, one.cut.get("level", "")): one for one in found}
    assert list(by_cut) == [
        ("hit", ""), ("hit", "a"), ("hit", "b"), ("hit", "c"),
        ("other", ""), ("other", "a"), ("other", "b"),
    ]  # fmt: skip
    assert by_cut["hit", "a"].difference == 1
    assert by_cut["hit", "b"].difference == 0
    assert by_cut["hit", "c"].difference is None
    assert by_cut["hit", "c"].note == "measured in the first run alone"
    assert by_cut["other", ""].note == "measured in the second run alone"


def test_undefined_in_a_run_is_no_difference():
    ratio = Ratio(name="r", top=pl.col("hit"), bottom=pl.col("hit"))
    found = one(*hits(*[L] * 8), ratio)
    assert found.first.value == 1
    assert found.second.value is None
    assert (found.difference, found.p, found.note) == (None, None, "undefined in one of the runs")


def test_very_few_clusters_are_no_trouble():
    for ways in ([G], [G, L], [G, G, B]):
        found = one(*hits(*ways), draws=200)
        assert found.low <= found.difference <= found.high
        assert found.detectable is None
    of = Ratio(name="r", top=pl.col("hit"), bottom=pl.col("hit"))
    found = one(*hits(L, G), of, draws=200)  # each run has one cluster: both drawn, or undefined
    # Wilson's bound on a share never seen in 2: 3.8415 / 5.8415
    assert (found.difference, found.low, found.high) == pytest.approx(
        (0, -0.65762, 0.65762), abs=1e-5
    )


def test_undefined_in_both_runs_is_no_trouble():
    of = Ratio(name="r", top=pl.col("hit"), bottom=pl.col("hit"))
    found = one(*hits(N, N), of, draws=200)
    assert (found.first.value, found.second.value, found.difference) == (None, None, None)
    assert found.note == "undefined in both runs"


def test_pairs_belong_together_by_their_pair():
    """Frames of pairs have no item: the pair is the unit, in each repeat."""
    first = pl.DataFrame({"pair": ["a", "b", "c"] * 2, "repeat": [0] * 3 + [1] * 3,
                          "hit": [True, False, False, True, True, False]})  # fmt: skip
    second = first.with_columns(hit=pl.Series([True] * 6)).reverse()
    found = one(first, second, cluster="pair")
    assert found.clusters == 3
    assert found.difference == pytest.approx(0.5)
    assert found.p == pytest.approx(2 / 4)  # clusters differ by 0, 1 and 2
