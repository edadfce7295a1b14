"""Odd files of scores: none is read as something else, and none ends in a traceback."""

import os

import numpy as np
import polars as pl
import pytest

from hardset.errors import UsageError
from hardset.lowresource.ranks import averaged, normalised
from hardset.lowresource.score_files import read_scores


def file(tmp_path, text, name="scores.txt"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


@pytest.mark.parametrize("index", [2**40, 2**63 - 1])
@pytest.mark.parametrize("duplicates", [None, "first"])
def test_an_index_beyond_any_set(tmp_path, index, duplicates):
    path = file(tmp_path, f"0 1\n{index} 2\n")
    with pytest.raises(UsageError, match=rf"line 2: the index {index:,} is beyond any set"):
        read_scores(path, duplicates)


@pytest.mark.parametrize("index", [2**63, 2**64 - 1, 10**25])
def test_an_index_that_is_no_int64(tmp_path, index):
    with pytest.raises(UsageError, match=f"the index {index} is beyond any set"):
        read_scores(file(tmp_path, f"index,score\n0,1\n{index},2\n", "a.csv"))


def test_two_columns_of_one_name(tmp_path):
    with pytest.raises(UsageError, match="2 columns 'score'"):
        read_scores(file(tmp_path, "index,score,score\n0,1,2\n1,2,3\n", "a.csv"))


def test_the_mean_of_numbers_whose_sum_is_none(tmp_path):
    path = file(tmp_path, "0 1e308\n0 1.5e308\n1 3\n1 4\n1 nan\n")
    assert read_scores(path, "mean").values.tolist() == [1.25e308, 3.5]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is no ordinary file"):
        read_scores(tmp_path / "pipe")


def test_names_of_parquet_files(tmp_path):
    frame = pl.DataFrame({"index": [0, 1], "score": [1.0, 2.0]})
    frame.write_parquet(tmp_path / "a[1]*.parquet")
    assert read_scores(tmp_path / "a[1]*.parquet").values.tolist() == [1.0, 2.0]
    odd = (tmp_path / "a[1]*.parquet").rename(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.parquet"))
    with pytest.raises(UsageError, match="is not UTF-8: give it another"):
        read_scores(odd)


def test_ranks_are_scipy_s_whatever_the_ties():
    """`averaged` sorts once and touches tied places only; scipy's `rankdata` is by another way."""
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(3)
    for n in (0, 1, 2, 3, 10, 200):
        for different in (1, 2, 7, 10**6):
            values = rng.integers(different, size=n) / 3.0
            assert averaged(values).tolist() == stats.rankdata(values).tolist()
            values[rng.random(n) < 0.2] = np.nan
            there = np.isfinite(values)
            wanted = np.full(n, np.nan)
            if (many := there.sum()) > 1:
                wanted[there] = (stats.rankdata(-values[there]) - 1) / (many - 1)
            elif many:
                wanted[there] = 0.5
            np.testing.assert_allclose(normalised(values, -1), wanted, rtol=1e-15)
