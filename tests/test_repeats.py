"""pass@k and pass^k: by hand, against every subset, and as laws."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.metrics import estimate
from hardset.metrics.repeats import by_item, pass_at, pass_hat, pass_ratios


def counted(*pairs):
    """Items with these (n, c)."""
    return pl.DataFrame(
        [(f"q{i}", n, c) for i, (n, c) in enumerate(pairs)],
        schema={"item": pl.String, "n": pl.Int64, "c": pl.Int64},
        orient="row",
    )


def value(items, ratio):
    (metric,) = estimate(items, [ratio], cluster=None, draws=10)
    return metric.value


def test_items_are_counted_with_every_row_and_a_null_is_wrong():
    frame = pl.DataFrame(
        {
            "item": ["b", "a", "b", "a", "b", "a"],
            "repeat": [0, 0, 1, 1, 2, 2],
            "state": [
                "answered",
                "answered",
                "truncated",
                "request-failed",
                "answered",
                "unparsed",
            ],
            "right": [True, True, False, None, True, False],
            "paper_right": [False, True, False, False, False, True],
            "category": ["x", "y", "x", "y", "x", "y"],
        }
    )
    assert by_item(frame, keep=["category", "item"]).rows() == [("b", 3, 2, "x"), ("a", 3, 1, "y")]
    assert by_item(frame, "paper").rows() == [("b", 3, 0), ("a", 3, 2)]


def test_five_samples_two_right_by_hand():
    one = counted((5, 2))
    # of the C(5,2) = 10 pairs of samples, C(3,2) = 3 hold no right one, C(2,2) = 1 only right ones
    assert value(one, pass_at(2)) == pytest.approx(7 / 10)
    assert value(one, pass_hat(2)) == pytest.approx(1 / 10)
    # of the C(5,3) = 10 triples, C(3,3) = 1 holds none; none holds three right ones
    assert value(one, pass_at(3)) == pytest.approx(9 / 10)
    assert value(one, pass_hat(3)) == 0.0
    assert value(one, pass_at(5)) == 1.0


def test_the_mean_is_over_items_not_rows():
    # 1 of 1 and 1 of 9: (1 + 1/9) / 2 = 5/9, where rows would give 2/10
    items = counted((1, 1), (9, 1))
    (metric,) = estimate(items, [pass_at(1)], cluster=None, draws=10)
    assert (metric.value, metric.denominator) == (pytest.approx(5 / 9), 2)


def test_an_item_with_too_few_rows_is_left_out_of_the_denominator_and_said():
    items = counted((5, 5), (5, 0), (2, 2))
    ratios = {ratio.name: ratio for ratio in pass_ratios(items)}
    assert list(ratios) == [
        *("pass@1", "pass@2", "pass^2", "pass@3", "pass^3"),
        *("pass@4", "pass^4", "pass@5", "pass^5"),
    ]
    (two, five) = estimate(items, [ratios["pass^2"], ratios["pass^5"]], cluster=None, draws=10)
    assert (two.numerator, two.denominator) == (2, 3)  # 1 + 0 + 1
    assert (five.numerator, five.denominator) == (1, 2)  # 1 + 0, the third unknown
    assert "1 items with fewer than 5 rows have no estimate" in five.about
    assert "left out" not in two.about
    (none,) = estimate(items, [pass_at(6)], cluster=None, draws=10)
    assert (none.value, none.denominator) == (None, 0)


def test_no_items_have_no_rates():
    assert pass_ratios(counted()) == []


@pytest.mark.parametrize("ratio", [pass_at, pass_hat])
def test_k_below_one_is_refused(ratio):
    with pytest.raises(ValueError, match="k >= 1"):
        ratio(0)


def test_large_counts_neither_overflow_nor_lose_digits():
    # one right of n: pass@k = 1 - C(n-1,k)/C(n,k) = k/n; all but one right: pass^k = 1 - k/n
    assert value(counted((10_000, 1)), pass_at(3_000)) == pytest.approx(0.3, rel=1e-9)
    assert value(counted((10_000, 9_999)), pass_hat(3_000)) == pytest.approx(0.7, rel=1e-9)


def test_greedy_and_sampled_are_one_frame_filtered():
    frame = pl.DataFrame({"item": ["a"] * 3, "right": [True, False, False], "line": list("gss")})
    sampled = by_item(frame.filter(pl.col("line") == "s"))
    assert value(sampled, pass_at(1)) == 0.0


samples = st.lists(st.booleans(), min_size=1, max_size=8)


@settings(max_examples=80, deadline=None)
@given(samples, st.data())
def test_both_are_shares_of_the_subsets(rights, data):
    k = data.draw(st.integers(1, len(rights)))
    subsets = list(combinations(rights, k))
    items = counted((len(rights), sum(rights)))
    assert value(items, pass_at(k)) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    assert value(items, pass_hat(k)) == pytest.approx(sum(map(all, subsets)) / len(subsets))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_at_rises_and_hat_falls_with_k_from_the_mean(cs):
    items = counted(*((6, c) for c in cs))
    found = {m.name: m.value for m in estimate(items, pass_ratios(items), cluster=None, draws=10)}
    assert found["pass@1"] == pytest.approx(sum(cs) / 6 / len(cs))
    assert value(items, pass_hat(1)) == pytest.approx(found["pass@1"])
    at = [found[f"pass@{k}"] for k in range(1, 7)]
    hat = [found["pass@1"], *(found[f"pass^{k}"] for k in range(2, 7))]
    assert at == sorted(at)
    assert hat == sorted(hat, reverse=True)
    assert at[-1] == pytest.approx(sum(c > 0 for c in cs) / len(cs))  # 6 of 6: right in any
    assert hat[-1] == pytest.approx(sum(c == 6 for c in cs) / len(cs))  # right in all
