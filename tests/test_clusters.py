"""Rows that share a pair or an image, directly or by way of others, are one cluster."""

from __future__ import annotations

from itertools import combinations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.metrics.clusters import connected


def labels(pairs: list, images: list) -> list:
    return connected(pl.DataFrame({"pair": pairs, "image": images}), ["pair", "image"]).to_list()


def test_a_pair_on_one_image_is_one_cluster():
    assert labels(["p", "p", "q", "q"], ["i", "i", "j", "j"]) == [0, 0, 1, 1]


def test_sharing_is_passed_on():
    # p over images i and j; q over j and k; r over l alone
    assert labels(["p", "p", "q", "q", "r"], ["i", "j", "j", "k", "l"]) == [0, 0, 0, 0, 1]


def test_the_two_columns_have_nothing_in_common():
    assert labels(["x", "y"], ["y", "z"]) == [0, 1]


def test_what_is_missing_ties_nothing():
    assert labels(["", "", None, "p", "p"], ["", "i", None, "", None]) == [None, 0, None, 1, 1]


def test_numbers_can_be_pairs():
    frame = pl.DataFrame({"pair": [1.0, None, 1.0, float("nan"), float("nan")]})
    assert connected(frame, ["pair"]).to_list() == [0, None, 0, None, None]


def test_a_chain_of_any_length_is_one_cluster():
    n = 1000  # row i shares an image with row i+1, or a pair, in turns
    pairs = [str(i // 2) for i in range(n)]
    images = [str((i + 1) // 2) for i in range(n)]
    assert set(labels(pairs, images)) == {0}


def test_an_empty_frame_has_no_labels():
    frame = pl.DataFrame(schema={"pair": pl.String, "image": pl.String})
    assert connected(frame, ["pair", "image"]).to_list() == []


few = st.sampled_from(["", "a", "b", "c", "d", "e"])


@settings(deadline=None)
@given(st.lists(st.tuples(few, few), max_size=12))
def test_the_labels_are_the_connected_components(rows):
    """Against the plain definition: join until nothing changes."""
    parts = [{i} for i in range(len(rows))]
    for i, j in combinations(range(len(rows)), 2):
        if any(one and one == other for one, other in zip(rows[i], rows[j], strict=True)):
            one = next(part for part in parts if i in part)
            other = next(part for part in parts if j in part)
            if one is not other:
                parts.remove(other)
                one |= other
    found = labels([row[0] for row in rows], [row[1] for row in rows]) if rows else []
    for i, j in combinations(range(len(rows)), 2):
        if any(rows[i]) and any(rows[j]):
            together = any({i, j} <= part for part in parts)
            assert (found[i] == found[j]) == together
    assert [label is None for label in found] == [not any(row) for row in rows]
