"""Functions of the user's that exit, return nonsense, or give items that are none."""

import sys

import numpy as np
import pytest

from hardset.errors import UsageError
from hardset.lowresource.examples import Unreadable
from hardset.sources.examples.opening import open_examples

MODULE = """
import sys
import numpy as np
from hardset.lowresource.examples import Held

class Some:
    def __init__(self, items, length=None):
        self.items, self.length = items, length
    def __len__(self):
        return len(self.items) if self.length is None else self.length
    def __getitem__(self, position):
        if self.items[position] is None:
            sys.exit(2)
        return self.items[position]

class Guarded(Some):
    @property
    def targets(self):
        raise RuntimeError("not yet")

def leaves(): sys.exit(3)
def recurs(): return recurs()
def two(): return [("a", "x"), ("b", "y")]
def network_and_two(): return "a network", two()
def no_length(): return Some([], -1)
def leaves_later(): return Some([("a", "x"), None, ("b", "y"), None])
def guarded(): return Guarded(two())
def one_hot(): return [(np.zeros(3), np.array([0, 1]))] * 3
def surrogates(): return [("a", "x"), ("\\ud800", "y"), (("b", "\\udcff"), "y")]
def negative(): return Held(np.zeros((2, 2)), np.array([-7, 5]))
def table(): return Held(np.zeros((2, 2)), np.zeros((2, 2)))
"""


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
    (tmp_path / "odd_examples.py").write_text(MODULE)
    (tmp_path / "odd_script.py").write_text("import sys\nsys.exit('usage: no arguments')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in ("odd_examples", "odd_script"):
        sys.modules.pop(name, None)


def opened(name):
    return open_examples(f"odd_examples:{name}")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("leaves", r"odd_examples.py, line \d+: SystemExit: 3"),
        ("recurs", "RecursionError"),
        ("no_length", "has no length: ValueError"),
        ("one_hot", "item 0 has no label: .*, and no other has one"),
        ("negative", "label -7 is below 0; -1 is for none"),
        ("table", "labels are one a row, not of shape"),
    ],
)
def test_what_is_refused(name, said):
    with pytest.raises(UsageError, match=said):
        opened(name)


def test_a_script_that_exits_when_it_is_imported():
    with pytest.raises(UsageError, match=r"odd_script.py, line 2: SystemExit: usage"):
        open_examples("odd_script:main")


def test_a_list_of_two_items_is_no_network_and_examples():
    examples = opened("two")
    assert (len(examples), examples.classes) == (2, ("x", "y"))
    pair = opened("network_and_two")
    assert (len(pair), pair.network) == (2, "a network")


def test_items_that_leave_are_left_out_and_counted_in_few_words():
    examples = opened("leaves_later")
    assert examples.labels.tolist() == [0, -1, 1, -1]
    assert isinstance(examples.fetch(np.array([1]))[0], Unreadable)
    notes = examples.source["notes"]
    assert notes[1].startswith("item 1 has no label: ")
    assert notes[2:] == ["and so 1 more items", "2 of 4 rows have no label"]


def test_labels_that_cannot_be_listed_are_read_from_the_items():
    assert opened("guarded").labels.tolist() == [0, 1]


def test_texts_that_are_no_unicode():
    """Half of a pair of surrogates can be in a Python text, and in no file."""
    wanted = [("a",), Unreadable("is not UTF-8 text"), Unreadable("is not UTF-8 text")]
    assert opened("surrogates").fetch(np.arange(3)) == wanted
