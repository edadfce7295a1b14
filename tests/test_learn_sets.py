"""What learners are trained and tested on: held-out shares, overlaps, labels by their names."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardset.errors import UsageError
from hardset.hardest.learn_sets import (
    Chosen,
    held_out,
    labelled_anew,
    matched,
    overlaps,
    read_picked,
    read_through,
)
from hardset.lowresource.examples import NO_LABEL, Held, Subset, Unreadable


def words(*labels, classes=("a", "b"), prefix="text"):
    return Held([f"{prefix} {i}" for i in range(len(labels))], np.array(labels), classes)


@given(st.integers(2, 60), st.integers(2, 60), st.sampled_from([0.1, 0.2, 0.5]), st.integers(0, 9))
def test_a_share_of_every_label_is_held_out(first, second, share, seed):
    examples = words(*[0] * first, *[1] * second, NO_LABEL)
    chosen = held_out(examples, share, seed)
    for label, many in ((0, first), (1, second)):
        assert chosen[examples.labels == label].sum() == max(1, round(share * many))
    assert not chosen[-1]  # without a label there is nothing to test
    assert (chosen == held_out(examples, share, seed)).all()


def test_where_all_would_be_held_out_it_is_said():
    with pytest.raises(UsageError, match="leaves nothing of 'b'"):
        held_out(words(0, 0, 0, 1), 0.5)


def test_of_real_labels_a_share_of_all_is_held_out():
    examples = Held(["x"] * 10, np.array([0.5] * 8 + [np.nan] * 2))
    chosen = held_out(examples, 0.25)
    assert chosen.sum() == 2
    assert not chosen[8:].any()


def test_a_random_set_differs_by_seed_and_the_hardest_does_not():
    examples = words(*[0, 1] * 20)
    values = np.arange(40.0)
    drop = np.zeros(40, bool)
    drop[39] = True
    hardest = Chosen(examples, "hardest", values, +1, drop)
    assert hardest.take(2, 0).tolist() == hardest.take(2, 7).tolist() == [35, 36, 37, 38]
    random = Chosen(examples, "random", values, +1, drop)
    draws = [tuple(random.take(2, seed)) for seed in range(8)]
    assert len(set(draws)) > 1
    assert all(list(draw) == sorted(draw) for draw in draws)
    easiest = Chosen(examples, "easiest", values, -1, drop)
    assert easiest.take(1, 0).tolist() == [37, 38]  # where the lowest is hardest


def test_labels_of_a_test_set_go_by_their_names():
    train = words(0, 1, 1, classes=("ham", "spam"))
    test = words(0, 1, NO_LABEL, classes=("spam", "ham"))
    renumbered = matched(test, train)
    assert renumbered.labels.tolist() == [1, 0, NO_LABEL]
    assert renumbered.classes == ("ham", "spam")
    fewer = matched(words(0, classes=("spam",)), train)
    assert fewer.labels.tolist() == [1]
    with pytest.raises(UsageError, match=r"1 label of the test set .* 'eggs'"):
        matched(words(0, classes=("eggs",)), train)
    with pytest.raises(UsageError, match="text examples, the test set image"):
        matched(Held(np.zeros((2, 4, 4), np.uint8), np.array([0, 1])), train)
    with pytest.raises(UsageError, match="real numbers"):
        matched(Held(["x"], np.array([0.5])), train)


class Torn(Held):
    """Examples of which one cannot be read."""

    def fetch(self, positions):
        return [
            Unreadable("torn") if at == 1 else content
            for at, content in zip(positions, super().fetch(positions), strict=True)
        ]


def test_a_test_set_is_read_once_and_counted():
    read = read_through(Torn(["x", "y", "z"], np.array([0, 1, NO_LABEL])))
    assert read.positions.tolist() == [0]
    assert (read.unreadable, read.unlabelled) == (1, 1)
    with pytest.raises(UsageError, match="1 cannot be read, 1 have no label"):
        read_through(Subset(Torn(["x", "y", "z"], np.array([0, 1, NO_LABEL])), np.array([1, 2])))


def test_overlaps_count_test_examples_by_content():
    train = Held(["one", "two", "three", "two"], np.array([0, 1, 0, 1]))
    test = read_through(Held(["two", "two", "four", "one"], np.array([0, 1, 0, 1])))
    sets = {
        ("hardest", 2, 0): np.array([1, 2]),
        ("random", 2, 0): np.array([2]),
        ("random", 2, 1): np.array([0, 1, 3]),
    }
    assert overlaps(train, sets, test) == [
        {"set": "hardest", "k": 2, "n": 2, "of": 4},  # "two" is there twice
        {"set": "random", "k": 2, "n": 3, "of": 4},  # of its draws the most
    ]
    assert overlaps(train, {("hardest", 2, 0): np.array([2])}, test) == []


def test_the_same_bytes_of_another_shape_are_another_picture():
    picture = np.arange(8, dtype=np.uint8)
    train = Held(picture.reshape(1, 2, 4, 1), np.array([0]))
    sets = {("hardest", 1, 0): np.array([0])}
    assert (
        overlaps(train, sets, read_through(Held(picture.reshape(1, 4, 2, 1), train.labels))) == []
    )
    same = read_through(Held(picture.reshape(1, 2, 4, 1), train.labels))
    assert overlaps(train, sets, same)[0]["n"] == 1


def picked(folder, index, labels, **manifest):
    pl.DataFrame({"index": index, "id": [str(i) for i in index], "label": labels}).write_parquet(
        folder / "examples.parquet"
    )
    (folder / "manifest.json").write_text(json.dumps({"k": 2, "choose": "hardest"} | manifest))


def test_a_picked_folder_is_read_back(tmp_path):
    train = words(0, 0, 0, 1, 1)
    picked(tmp_path, [2, 1, 3, 4], [0, 0, 1, 1])
    found = read_picked(tmp_path, train)
    assert (found.name, found.k, found.drawn) == ("hardest", 2, False)
    assert found.take(2, 0).tolist() == [1, 2, 3, 4]
    with pytest.raises(UsageError, match="has 2 examples a label: --k 3"):
        found.take(3, 0)


def test_labels_put_right_in_a_review_are_right_in_the_whole_set(tmp_path):
    train = words(0, 0, 0, 1, 1)
    picked(tmp_path, [2, 1, 3, 4], [1, 0, 1, 1], choose="random")
    frame = pl.read_parquet(tmp_path / "examples.parquet")
    frame.with_columns(relabelled=pl.Series([True, False, False, False])).write_parquet(
        tmp_path / "examples.parquet"
    )
    found = read_picked(tmp_path, train)
    assert found.labels.tolist() == [0, 0, 1, 1, 1]
    assert found.relabelled == 1
    assert found.name != "random"  # it is one draw, and no other for each seed
    renewed = labelled_anew(train, found.labels)
    assert renewed.labels.tolist() == [0, 0, 1, 1, 1]
    assert train.labels.tolist() == [0, 0, 0, 1, 1]


def test_a_picked_folder_of_another_set_is_refused(tmp_path):
    picked(tmp_path, [2, 1, 3, 4], [0, 0, 0, 1])
    with pytest.raises(UsageError, match="picked from another set: 1 of its 4 examples, like '3'"):
        read_picked(tmp_path, words(0, 0, 0, 1, 1))
    with pytest.raises(UsageError, match="picked from another set"):
        read_picked(tmp_path, words(0, 0, 1))
    with pytest.raises(UsageError, match=r"no examples\.parquet"):
        read_picked(tmp_path / "nowhere", words(0, 0, 1))
