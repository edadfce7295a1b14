"""Files of scores, whole and broken: no line is passed over, and none is ranked in silence."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset.errors import UsageError
from hardset.lowresource.score_files import read_scores

PUBLISHED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "hard-bench"
NAN = float("nan")


@pytest.fixture
def write(tmp_path):
    def writer(text: str | bytes, name: str = "gd.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return writer


def same(found: np.ndarray, wanted: list[float]) -> bool:
    return np.array_equal(found, wanted, equal_nan=True)


@pytest.mark.parametrize(
    "text",
    [
        "2 0.5\n0 1e-3\n1 7\n",
        "2 0.5\r\n0 1e-3\r\n1 7\r\n",
        "2\t0.5\n0\t1e-3\n1\t7",
        "2,0.5\n0,1e-3\n1,7\n\n\n",
        "  2   0.5 \n0  0.001\n1 \t 7\n",
        "\ufeff2 0.5\n0 1e-3\n1 7\n",
        b"\xff\xfe" + "2 0.5\n0 1e-3\n1 7\n".encode("utf-16-le"),
        "index,loss\n2,0.5\n0,1e-3\n1,7\n",
        "loss\tindex\tid\n0.5\t2\ta\n1e-3\t0\tb\n7\t1\tc\n",
    ],
)
def test_any_order_and_what_editors_make_of_a_file(write, text):
    found = read_scores(write(text))
    assert found.index.tolist() == [0, 1, 2]
    assert found.values.tolist() == [0.001, 7, 0.5]
    assert found.problems.told() == []


def test_scores_alone_are_numbered_by_their_lines(write):
    found = read_scores(write("0.5\n7\n1e-3\n"))
    assert found.index.tolist() == [0, 1, 2]
    assert found.values.tolist() == [0.5, 7, 0.001]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20),
       st.randoms())  # fmt: skip
def test_every_float_is_read_to_the_last_digit(tmp_path_factory, values, random):
    lines = [f"{number} {value!r}" for number, value in enumerate(values)]
    random.shuffle(lines)
    path = tmp_path_factory.mktemp("s") / "a.txt"
    path.write_text("\n".join(lines))
    assert read_scores(path).values.tolist() == values


def test_nan_and_infinity_are_a_state_and_counted(write):
    found = read_scores(write("0 nan\n1 inf\n2 -Infinity\n3 1.5\n"))
    assert same(found.values, [NAN, NAN, NAN, 1.5])
    assert found.problems.not_finite == 3
    assert found.problems.told() == [
        "3 scores are empty, NaN or infinite: not scored, never picked"
    ]


REPEATED = "0 1\n3 4\n1 2\n3 6\n1 2\n5 1\n"


def test_repeated_and_missing_indices_are_an_error_that_says_how_to_go_on(write):
    with pytest.raises(UsageError) as error:
        read_scores(write(REPEATED))
    said = str(error.value)
    assert "2 of 6 lines repeat an index (1, 3); 1 of the repeated indices have scores" in said
    assert "2 indices are missing (2, 4)" in said
    assert "--duplicates mean (or first, or last)" in said
    assert "hardset difficulty" in said


@pytest.mark.parametrize(("how", "third"), [("mean", 5.0), ("first", 4.0), ("last", 6.0)])
def test_going_on_leaves_the_missing_ones_unscored(write, how, third):
    found = read_scores(write(REPEATED), how)
    assert found.index.tolist() == [0, 1, 3, 5]
    assert found.values.tolist() == [1, 2, third, 1]
    assert same(found.dense(6), [1, 2, NAN, third, NAN, 1])
    assert (found.problems.repeated, found.problems.differing, found.problems.missing) == (2, 1, 2)
    assert found.problems.duplicates == how


def test_a_mean_is_over_what_is_finite(write):
    found = read_scores(write("0 nan\n0 4\n1 nan\n1 inf\n0 2\n"), "mean", n=2)
    assert same(found.values, [3, NAN])
    assert found.problems.not_finite == 1
    assert found.problems.differing == 1  # NaN, 4 and 2 differ; both of index 1 are no score


def test_missing_ones_alone_are_an_error_too(write):
    with pytest.raises(UsageError, match=r"1 index is missing \(1\).*--duplicates first leaves"):
        read_scores(write("0 1\n2 3\n"))
    with pytest.raises(UsageError, match=r"2 indices are missing \(3, 4\)"):
        read_scores(write("0 1\n1 2\n2 3\n"), n=5)


def test_few_scores_for_many_examples_are_of_another_set(write):
    said = r"has 3 scores for 100 examples: is it another set's file\?"
    with pytest.raises(UsageError, match=said):
        read_scores(write("0 1\n1 2\n2 3\n"), n=100)
    with pytest.raises(UsageError, match=r"has 1 score \(and 1 line that repeats"):
        read_scores(write("0 1\n0 2\n"), n=100)


def test_an_index_of_another_world_takes_no_memory(write):
    with pytest.raises(UsageError, match="999,999,999,999 indices are missing"):
        read_scores(write("0 1\n1000000000000 3\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1\n1 x\n", r"gd\.txt, line 2: '1 x': 'x' is no number"),
        ("0 1\none 2\n", r"gd\.txt, line 2: 'one 2': 'one' is no whole number"),
        ("0 1\n1.5 2\n", r"line 2: '1\.5 2': '1\.5' is no whole number"),
        ("0 1\n1\n", r"line 2: '1' has 1 values, and the first line 2"),
        ("0 1\n1 2 3\n", r"line 2: '1 2 3' has 3 values; a line is `index score`"),
        ("0 1 2\n1 2 3\n", r"line 1: '0 1 2' has 3 values; a line is `index score`"),
        ("0 1\n\n1 2\n", r"line 2: is blank"),
        ("0 1\n1 1_000\n", r"line 2: .*'1_000' is no number"),
        ("0.5\nx\n", r"line 2: 'x': 'x' is no number"),
        ("0 1\n-1 2\n", r"line 2: the index -1 is negative \(1 such lines\)"),
        ("0 1\n1 \x00\n", r"line 2: "),
        ("0 1\n99999999999999999999 1\n", r"line 2: .* is no whole number"),
        ("Traceback\n", r"line 1: 'Traceback': 'Traceback' is no number"),
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("\ufeff", "is empty"),
        (b"0 1\n1 2\xff\n", r"gd\.txt, line 2: no UTF-8 text"),
        (b"\xff\xfe0\x00\x00\xd8", r"gd\.txt: no UTF-16 text"),
        (b"\x1f\x8b\x08\x00abc", "is compressed by gzip"),
        (b"PK\x03\x04abc", "is a zip archive or a workbook"),
        ("index,loss\n", "has no line below its header"),
        ("index,loss\n0,1\n1,x\n", r"column 'loss' is no column of numbers: line 3 has 'x'"),
        ("index,loss\n0,1\n1.5,2\n", "column 'index' is no column of whole numbers"),
        ("index,loss\n0,1\n,2\n", "column 'index' is empty on 1 lines"),
        ("id,loss\n0,1\n", "has no column 'index'; its columns are 'id', 'loss'"),
        ("index,loss,aum\n0,1,2\n", "say with --score which score of .* it has loss, aum"),
        ("index,speed\n0,1\n", "say with --score .*; its columns are 'index', 'speed'"),
        ("index,loss\n0,1,2,3\n", "is no table that can be read"),
    ],
)  # fmt: skip
def test_what_is_no_file_of_scores_is_one_sentence(write, text, said):
    with pytest.raises(UsageError, match=said):
        read_scores(write(text))


def test_an_index_beyond_the_data(write):
    path = write("0 1\n1 2\n7 3\n9 3\n")
    with pytest.raises(UsageError, match=r"line 3: the index 7 is beyond the data's 3 examples, 0 "
                       r"to 2 \(2 such lines\)"):  # fmt: skip
        read_scores(path, n=3)
    with pytest.raises(UsageError, match="2 indices beyond the data's 3 examples"):
        read_scores(path, "first").dense(3)


def test_a_file_that_is_not_there_or_a_folder_of_something_else(tmp_path):
    with pytest.raises(UsageError, match="there is no file or folder"):
        read_scores(tmp_path / "a.txt")
    with pytest.raises(UsageError, match=r"has no difficulty\.parquet"):
        read_scores(tmp_path)
    with pytest.raises(UsageError, match="--duplicates takes mean, first or last, not 'max'"):
        read_scores(tmp_path, "max")


def difficulty(folder: Path) -> Path:
    pl.DataFrame({
        "index": [0, 1, 2], "id": ["a", "b", "c"], "label": [0, 1, 0], "class": ["x", "y", "x"],
        "state": ["scored", "unreadable", "scored"],
        "loss": [0.5, None, 3.0], "rank_loss": [0.0, None, 1.0],
        "aum": [2.0, None, -1.0], "rank_aum": [0.0, None, 1.0],
    }).write_parquet(folder / "difficulty.parquet")  # fmt: skip
    return folder


def test_a_difficulty_folder_gives_its_aggregated_ranks(tmp_path):
    found = read_scores(difficulty(tmp_path), score="aum")
    assert same(found.values, [0, NAN, 1])
    assert (found.name, found.hard, found.problems.not_finite) == ("aum", +1, 1)
    with pytest.raises(UsageError, match="it has loss, aum"):
        read_scores(tmp_path)
    with pytest.raises(UsageError, match="no column 'gradient_norm'; it has loss, aum"):
        read_scores(tmp_path, score="gradient-norm")


def test_the_hard_end_of_a_score_without_ranks(write):
    assert read_scores(write("index,aum\n0,1\n"), score="aum").hard == -1
    assert read_scores(write("0 1\n"), score="forgetting").hard == +1
    assert read_scores(write("0 1\n"), score="confidence").hard == -1
    assert read_scores(write("0 1\n")).hard == +1


def test_bytes_in_a_parquet_file_may_fall_over(tmp_path, write, capfd):
    """Wherever it is overwritten, it is read or refused: never a traceback or a backtrace."""
    whole = (difficulty(tmp_path) / "difficulty.parquet").read_bytes()
    said = []
    for at in range(4, len(whole) - 8, 64):
        path = write(whole[:at] + b"\xff" * 64 + whole[at + 64 :], "a.parquet")
        try:
            read_scores(path, "first", score="loss")
        except UsageError as error:
            said.append(str(error))
    assert len(said) > 5
    assert all("a.parquet" in one for one in said)
    assert "panicked" not in capfd.readouterr().err
    with pytest.raises(UsageError, match="is no parquet file, though its name says so"):
        read_scores(write(b"XXXX" + whole[4:], "a.parquet"))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(write):
    path = write("0 1\n")
    path.chmod(0)
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        read_scores(path)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published score files are not in shared/")
class TestPublished:
    def test_the_one_of_sst2_repeats_and_lacks_3187(self):
        path = PUBLISHED / "gd_sst2_train_loss_bbu.txt"
        with pytest.raises(UsageError) as error:
            read_scores(path, n=67_349)
        assert "3,187 of 67,349 lines repeat an index (22449, 22450," in str(error.value)
        assert "3,187 indices are missing (41712, 41713," in str(error.value)
        found = read_scores(path, "mean", n=67_349)
        assert len(found.index) == 64_162
        assert found.problems.differing == 0
        assert np.isnan(found.dense(67_349)).sum() == 3_187

    @pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*.txt")), ids=lambda path: path.name)
    def test_every_one_is_read_as_a_plain_loop_reads_it(self, path):
        wanted = {}
        for line in path.read_text().splitlines():
            index, score = line.split()
            wanted[int(index)] = float(score)
        found = read_scores(path, "last")
        assert dict(zip(found.index.tolist(), found.values.tolist(), strict=True)) == wanted
