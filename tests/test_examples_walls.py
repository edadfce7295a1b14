"""The walls: examples in memory, and a part of a set."""

import numpy as np
import pytest

from hardset.lowresource.examples import Held, Subset


class Backwards(Held):
    """A set that can only be read well from its end."""

    def shuffled(self, generator):
        return np.arange(len(self))[::-1]


def backwards(n):
    return Backwards(np.zeros((n, 1), np.float32), np.zeros(n, int))


def test_a_large_part_is_read_in_the_order_that_suits_the_whole():
    part = Subset(backwards(6), np.array([4, 1, 5]))
    # The whole is read 5 4 3 2 1 0: of it the part has 5, its third, 4, its first, 1, its second.
    assert part.shuffled(np.random.default_rng(0)).tolist() == [2, 0, 1]


def test_a_small_part_is_shuffled_by_itself():
    part = Subset(backwards(100), np.arange(9))
    order = part.shuffled(np.random.default_rng(0))
    assert sorted(order.tolist()) == list(range(9))
    assert order.tolist() == np.random.default_rng(0).permutation(9).tolist()


def test_labels_need_a_name_and_an_example_each():
    with pytest.raises(ValueError, match="2 examples and 3 labels"):
        Held(np.zeros((2, 1), np.float32), np.zeros(3, int))
    with pytest.raises(ValueError, match="label 2 has no name"):
        Held(["a", "b"], np.array([0, 2]), classes=("x", "y"))


def test_labels_may_be_names_or_truths():
    named = Held(["a", "b", "c"], np.array(["dog", "cat", "dog"]))
    assert named.classes == ("cat", "dog")  # sorted
    assert named.labels.tolist() == [1, 0, 1]
    assert Held(["a", "b"], np.array([True, False])).labels.tolist() == [1, 0]
    assert repr(named) == "Held(n=3, kind='text')"


@pytest.mark.parametrize(
    ("labels", "classes", "said"),
    [
        (np.array([0, -2]), (), "label -2 is below 0"),
        (np.array([[0], [1]]), (), "not of shape"),
        (np.array(["a", "z"]), ("a", "b"), "'z' is none of the classes"),
    ],
)
def test_labels_that_are_none_are_refused(labels, classes, said):
    with pytest.raises(ValueError, match=said):
        Held(["x", "y"], labels, classes)
