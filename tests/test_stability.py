"""How far rankings agree: against scipy, by hand, and with coverage where the truth is known."""

from __future__ import annotations

import itertools
import json
from math import asin, atanh, pi, sqrt, tanh
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset.lowresource import stability
from hardset.lowresource.score_files import read_scores
from hardset.lowresource.stability import Column, document, overlap, spearman, table

PUBLISHED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "hard-bench"


@pytest.fixture(scope="module")
def stats():
    return pytest.importorskip("scipy.stats")


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published score files are not in shared/")
@pytest.mark.parametrize(
    ("other", "rho", "share"),
    [
        ("ls_cifar10_train_loss_ffn", 0.74, 0.39),
        ("gd_cifar10_train_loss_ViT", 0.31, 0.17),
        ("gd_cifar10_train_loss_resnet18", -0.15, 0.08),
    ],
)
def test_the_published_scores_agree_as_the_specification_says(other, rho, share):
    ffn = read_scores(PUBLISHED / "gd_cifar10_train_loss_ffn.txt").dense(50_000)
    scores = read_scores(PUBLISHED / f"{other}.txt").dense(50_000)
    found, top = spearman(ffn, scores), overlap(ffn, scores)
    assert round(found.value, 2) == rho
    assert round(top.value, 2) == share
    assert top.k == 5_000
    assert found.low < found.value < found.high < found.low + 0.02
    assert top.low < top.value < top.high < top.low + 0.03


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=40).filter(
        lambda pairs: all(len(set(side)) > 1 for side in zip(*pairs, strict=True))
    )
)
def test_the_correlation_is_scipys_whatever_the_ties(stats, pairs):
    a, b = zip(*pairs, strict=True)
    found = spearman(a, b)
    assert found.value == pytest.approx(stats.spearmanr(a, b).statistic)
    assert found.low <= found.value <= found.high


def test_the_interval_is_never_narrower_than_bonett_and_wrights():
    """By hand for 1..5 against 2, 1, 4, 3, 5: sum of d^2 = 4, r = 1 - 6 x 4 / (5 x 24) = 0.8."""
    found = spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    reach = 1.959964 * sqrt((1 + 0.8**2 / 2) / (5 - 3))
    assert found.value == pytest.approx(0.8)
    assert found.low <= tanh(atanh(0.8) - reach) + 1e-7
    assert found.high >= tanh(atanh(0.8) + reach) - 1e-7


def test_where_no_correlation_is_defined_there_is_none():
    for a, b in (([1, 2, 3], [1, 2, 3]), ([1, 1, 1, 1], [1, 2, 3, 4]), ([], [])):
        assert all(np.isnan(value) for value in spearman(a, b))
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == (-1, -1, -1)


def test_unscored_examples_are_left_out_of_both():
    a, b = [1, 2, 3, 4, 5, np.nan, 9], [2, 1, 4, 3, 5, 7, np.inf]
    assert spearman(a, b) == spearman(a[:5], b[:5])
    assert overlap(a, b, 0.4) == overlap(a[:5], b[:5], 0.4)


def test_overlap_by_hand():
    """The top two of five are {4, 3} and {4, 2} by position: one of two in common."""
    found = overlap([1, 2, 3, 4, 5], [1, 2, 4, 3, 5], 0.4)
    assert (found.value, found.k) == (0.5, 2)
    assert overlap([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], 0.4).value == 0
    assert overlap([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], 0.4).value == 1


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=3, max_size=5),
    st.integers(1, 3),
)
def test_ties_at_the_cut_count_as_often_as_chance_takes_them(pairs, k):
    """The mean over every order in which the ties of either can be broken."""
    a, b = zip(*pairs, strict=True)
    n = len(pairs)
    orders = list(itertools.permutations(range(n)))
    tops = [
        [set(sorted(order, key=lambda i: -values[i])[:k]) for order in orders] for values in (a, b)
    ]
    share = [np.mean([[i in top for i in range(n)] for top in side], axis=0) for side in tops]
    expected = float(share[0] @ share[1]) / k
    assert overlap(a, b, k / n).value == pytest.approx(expected)


def copula(rng: np.random.Generator, n: int, rho: float) -> tuple[np.ndarray, np.ndarray]:
    a = rng.normal(size=n)
    return a, rho * a + sqrt(1 - rho * rho) * rng.normal(size=n)


@pytest.mark.parametrize("rho", [-0.2, 0.0, 0.74, 0.95])
def test_coverage_on_a_gaussian_copula(stats, rho):
    """True: rho_S = 6 / pi asin(rho / 2); the overlap P(both in the top tenth) / 0.1.

    400 samples: 95 % is within 4 standard errors, 4 x sqrt(0.95 x 0.05 / 400) = 4.4 points. A
    Wilson interval of k trials covers 98 to 99 % at 0.74 and 0.95: wide for nothing.
    """
    cut = stats.norm.ppf(0.9)
    both = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([-cut, -cut])
    rng = np.random.default_rng(1)
    hits = np.zeros(2)
    for _ in range(400):
        a, b = copula(rng, 1_000, rho)
        r, top = spearman(a, b), overlap(a, b)
        hits += [r.low <= 6 / pi * asin(rho / 2) <= r.high, top.low <= both / 0.1 <= top.high]
    assert (np.abs(hits / 400 - 0.95) < 0.044).all(), hits / 400


@pytest.mark.parametrize("world", ["mixture", "counts"])
def test_coverage_where_dependence_is_not_normal(world):
    """Three tenths turned round; or counts, most of them 0, as forgetting events are.

    There Bonett and Wright's standard error alone covers 79 to 85 %.
    """

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        a, b = copula(rng, n, 0.9)
        if world == "mixture":
            return a, np.where(rng.random(n) < 0.3, -b, b)
        return np.floor(np.maximum(0, 1.2 * a)), np.floor(np.maximum(0, 1.5 * b - 0.5))

    rng = np.random.default_rng(2)
    a, b = draw(rng, 400_000)
    truth = spearman(a, b).value, overlap(a, b).value
    hits = np.zeros(2)
    for _ in range(300):
        a, b = draw(rng, 600)
        hits += [
            found.low <= true <= found.high
            for found, true in zip((spearman(a, b), overlap(a, b)), truth, strict=True)
        ]
    assert (hits / 300 > 0.95 - 0.05).all(), hits / 300


def test_the_table_pairs_what_differs_in_one_thing():
    rng = np.random.default_rng(0)
    names = [
        ("loss", "ffn", 0, "conv"), ("loss", "ffn", 1, "conv"), ("loss", "vit", 0, "transformer"),
        ("loss", "vit", 1, "transformer"), ("aum", "ffn", 0, "conv"),
    ]  # fmt: skip
    columns = {Column(*name): rng.random(50) for name in names}
    columns[Column("aum", "ffn", 0, "conv")][:3] = np.nan
    pairs = table(columns)
    assert [(pair.a, pair.b, pair.same, pair.n) for pair in pairs] == [
        ("loss@ffn#0", "loss@ffn#1", "seeds", 50),
        ("loss@ffn#0", "loss@vit#1", "family", 50),
        ("loss@ffn#0", "aum@ffn#0", "score", 47),
        ("loss@ffn#1", "loss@vit#0", "family", 50),
        ("loss@vit#0", "loss@vit#1", "seeds", 50),
    ]
    told = document(pairs, 50)
    assert [(s["score"], s["between"], s["pairs"]) for s in told["summary"]] == [
        ("loss", "seeds", 2), ("loss", "families", 2), ("loss/aum", "scores", 1)
    ]  # fmt: skip
    seeds = [pairs[0].spearman.value, pairs[4].spearman.value]
    assert told["summary"][0]["spearman"] == pytest.approx(sum(seeds) / 2)
    assert told["pairs"][0]["overlap"]["k"] == 5


def test_families_are_held_against_each_other_by_unequal_seeds():
    """As the seeds of one are; by equal ones only where there are no others."""

    def between(ffn: range, vit: range) -> list[tuple[int, int]]:
        names = [("ffn", seed) for seed in ffn] + [("vit", seed) for seed in vit]
        columns = {Column("loss", name, seed, name): np.arange(9.0) for name, seed in names}
        pairs = [pair for pair in table(columns) if pair.same == "family"]
        return [(int(pair.a[-1]), int(pair.b[-1])) for pair in pairs]

    several = between(range(3), range(3))
    assert several == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert between(range(1), range(1)) == [(0, 0)]
    assert between(range(1), range(3)) == [(0, 1), (0, 2)]
    assert between(range(1), range(1, 2)) == [(0, 1)]


def test_what_is_not_defined_is_null_in_json():
    columns = {Column("loss", "ffn", seed, "conv"): np.ones(9) for seed in (0, 1)}
    told = json.loads(json.dumps(document(table(columns), 9), allow_nan=False))
    assert told["pairs"][0]["spearman"] == {"value": None, "low": None, "high": None}
    assert told["summary"][0]["spearman"] is None


def test_columns_sorted_anew_for_want_of_memory_say_the_same(monkeypatch):
    """Two sorted columns of 40 examples take 3,200 bytes; kept are those of 1, of 2, and all."""
    rng = np.random.default_rng(4)
    columns = {
        Column(score, name, seed, name): rng.integers(9, size=40).astype(float)
        for score in ("loss", "aum")
        for name in ("ffn", "vit")
        for seed in (0, 1)
    }
    whole = table(columns)
    for kept in (1, 3200):
        monkeypatch.setattr(stability, "_SORTED", kept)
        assert table(columns) == whole
    for pair in whole:
        a, b = (next(v for c, v in columns.items() if c.name == name) for name in (pair.a, pair.b))
        assert pair.spearman == pytest.approx(spearman(a, b))
