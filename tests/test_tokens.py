"""Words to numbers: what is known, what is cut, and that memory is bounded."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.lowresource.examples import Held, Unreadable
from hardset.lowresource.tokens import BETWEEN, UNKNOWN, Vocabulary, vocabulary, words


def held(*texts):
    return Held(list(texts), np.zeros(len(texts), np.int64))


KNOWN = Vocabulary(("a", "b", "c"))  # 3, 4, 5 after the three marks


def test_words_are_found_without_regard_to_case():
    assert words("It isn't GOOD, is it?") == "it isn ' t good , is it ?".split()
    assert words("Straße 7") == ["strasse", "7"]


def test_the_most_frequent_come_first_and_ties_by_the_alphabet():
    # b three times, a and c twice, d once.
    made = vocabulary(held("b a c", "b c a", "d b"), most=3)
    assert made.known == ("b", "a", "c")
    assert len(made) == 6


def test_it_is_the_same_in_any_order_of_texts():
    texts = ["x y z", "z y", "z"]
    assert vocabulary(held(*texts)).sha256 == vocabulary(held(*texts[::-1])).sha256


def test_both_of_a_pair_are_read_and_the_unreadable_left_out():
    class Damaged(Held):
        def fetch(self, positions):
            return [Unreadable("damaged"), *super().fetch(positions)[1:]]

    made = vocabulary(Damaged([("q", "q"), ("a", "b")], np.array([0, 0])))
    assert made.known == ("a", "b")


def test_rare_words_are_forgotten_where_there_are_too_many():
    # Four words are held at most; "often" is in every text and stays, beside the last rare ones.
    texts = [f"often rare{number}" for number in range(100)]
    made = vocabulary(held(*texts), most_counted=4)
    assert made.known[0] == "often"
    assert len(made.known) <= 4


def test_encoding_by_hand():
    assert KNOWN.encode(("c A x",)) == ([5, 3, UNKNOWN], [0, 0, 0])
    assert KNOWN.encode(("a", "b c")) == ([3, BETWEEN, 4, 5], [0, 0, 1, 1])
    assert KNOWN.encode(("",)) == ([UNKNOWN], [0])
    assert KNOWN.encode(("", "b")) == ([UNKNOWN, BETWEEN, 4], [0, 0, 1])


def test_the_longer_text_loses_words():
    assert KNOWN.encode(("a b c a",), most=3)[0] == [3, 4, 5]
    # Five tokens, one of them the mark: 2 and 2; and where the second has one, 3 and 1.
    assert KNOWN.encode(("a a a a", "b b b b"), most=5) == (
        [3, 3, BETWEEN, 4, 4],
        [0, 0, 0, 1, 1],
    )
    assert KNOWN.encode(("a a a a", "b"), most=5)[0] == [3, 3, 3, BETWEEN, 4]
    assert KNOWN.encode(("a", "b b b b"), most=5)[0] == [3, BETWEEN, 4, 4, 4]


@settings(deadline=None)
@given(st.lists(st.text("ab cé,", max_size=30), min_size=1, max_size=2), st.integers(3, 20))
def test_never_too_long_and_every_number_known(texts, most):
    numbers, segments = KNOWN.encode(tuple(texts), most)
    assert 1 <= len(numbers) == len(segments) <= most
    assert all(UNKNOWN <= number < len(KNOWN) for number in numbers)
    assert segments == sorted(segments)
    assert set(segments) == set(range(len(texts)))
