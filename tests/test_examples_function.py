"""`module:function`: what it may return, from where it is imported, and errors told by line."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples, Unreadable
from hardset.sources.examples.opening import open_examples

MODULE = '''
import numpy as np
from PIL import Image
from hardset.lowresource.examples import Held


def held(label=0):
    return Held(np.full((3, 2, 2), 7, np.uint8), np.array([label, 1, 0]), ("no", "yes"))


def pair():
    return "the network", held()


def parts():
    return {"train": held(0), "test": held(1)}


def told(split):
    return held(1 if split == "test" else 0)


def fails():
    return 1 / 0


def uneven():
    return Held(np.zeros((3, 2, 2), np.uint8), np.array([1]))


def nothing():
    return None


class Listed:
    """A map-style data set, as torch's are."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, position):
        item = self.items[position]
        if item is None:
            raise RuntimeError("the disk is gone")
        return item


def pictures():
    data = Listed([(Image.new("L", (3, 2), 9), 1), (Image.new("RGB", (3, 2)), 0)])
    data.classes, data.targets = ["ant", "bee", "cow"], [1, 0]
    return data


def texts():
    return Listed([(("a", "b"), "x"), None, (["c", "d"], "w")])


def real():
    return "a network", Listed([(np.zeros(3), 0.5), (np.ones(3), 1.5)])


def singles():
    return Listed(["a", "b"])


def empty():
    return Listed([])


contents = 3
'''


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "examples_of_mine", raising=False)
    (tmp_path / "examples_of_mine.py").write_text(MODULE)
    yield tmp_path
    sys.modules.pop("examples_of_mine", None)


def opened(name, **asked):
    return open_examples(f"examples_of_mine:{name}", **asked)


def line_of(text: str) -> int:
    return MODULE[: MODULE.index(text)].count("\n") + 1


@pytest.mark.usefixtures("here")
def test_examples_as_they_are():
    examples = opened("held")
    assert isinstance(examples, Examples)
    assert (examples.classes, examples.labels.tolist()) == (("no", "yes"), [0, 1, 0])
    assert examples.source["place"] == "examples_of_mine:held"
    assert len(examples.source["sha256"]) == 64
    assert getattr(examples, "network", None) is None


@pytest.mark.usefixtures("here")
def test_a_pair_gives_the_network_too():
    assert opened("pair").network == "the network"
    examples = opened("real")
    assert examples.network == "a network"
    assert (examples.kind, examples.classes) == ("tensor", ())
    assert examples.labels.tolist() == [0.5, 1.5]


@pytest.mark.usefixtures("here")
def test_splits_by_key_and_by_argument():
    for name in ("parts", "told"):
        assert opened(name).labels[0] == 0
        assert opened(name, split="test").labels[0] == 1
    with pytest.raises(UsageError, match="has no split 'other'; there are: train, test"):
        opened("parts", split="other")


@pytest.mark.usefixtures("here")
def test_a_map_style_set_of_pictures():
    examples = opened("pictures")
    assert (examples.kind, examples.classes) == ("image", ("ant", "bee", "cow"))
    assert examples.labels.tolist() == [1, 0]
    grey, colour = examples.fetch(np.array([0, 1]))
    assert (grey.shape, colour.shape, grey[0, 0, 0]) == ((2, 3, 1), (2, 3, 3), 9)


@pytest.mark.usefixtures("here")
def test_an_item_that_fails_is_unreadable_and_says_where():
    examples = opened("texts")
    assert (examples.kind, examples.classes) == ("text", ("w", "x"))
    assert examples.labels.tolist() == [1, -1, 0]
    first, failed, last = examples.fetch(np.arange(3))
    assert (first, last) == (("a", "b"), ("c", "d"))
    line = line_of('raise RuntimeError("the disk')
    assert isinstance(failed, Unreadable)
    assert failed.reason.endswith(
        f"examples_of_mine.py, line {line}: RuntimeError: the disk is gone"
    )
    assert "its labels were found by reading every item once" in examples.source["notes"]


def test_a_torch_data_set(here):
    pytest.importorskip("torch")
    (here / "examples_of_mine.py").write_text(
        "import torch\n"
        "from torch.utils.data import TensorDataset\n"
        "def floats():\n"
        "    return TensorDataset(torch.arange(24.).reshape(2, 3, 2, 2), torch.tensor([1, 0]))\n"
        "def bytes_():\n"
        "    pixels = torch.arange(24, dtype=torch.uint8).reshape(2, 3, 2, 2)\n"
        "    return TensorDataset(pixels, torch.tensor([1, 0]))\n"
    )
    floats = opened("floats")
    assert (floats.kind, floats.labels.tolist()) == ("tensor", [1, 0])
    (second,) = floats.fetch(np.array([1]))
    assert (second.shape, second.dtype, second[2, 1, 1]) == ((3, 2, 2), np.float32, 23.0)
    pictures = opened("bytes_")
    # Channels first in torch: value 12 n + 4 c + 2 y + x.
    assert pictures.kind == "image"
    assert pictures.fetch(np.array([1]))[0][1, 0].tolist() == [14, 18, 22]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("examples_of_mine:none", "examples_of_mine has no none"),
        ("examples_of_mine:contents", "contents is a int, not a function"),
        ("examples_of_mine:nothing", "returned a NoneType; it is to return an Examples"),
        ("examples_of_mine:singles", "item 0 is a str of 1"),
        ("examples_of_mine:empty", "the data set is empty"),
        ("no_such_module:held", "there is no module no_such_module, neither in .* nor installed"),
    ],
)
def test_what_is_wrong_is_said(place, said):
    with pytest.raises(UsageError, match=said):
        open_examples(place)


def test_errors_name_file_and_line(here):
    with pytest.raises(UsageError) as raised:
        opened("fails")
    line = line_of("return 1 / 0")
    assert f"{here / 'examples_of_mine.py'}, line {line}: ZeroDivisionError" in str(raised.value)


@pytest.mark.usefixtures("here")
def test_errors_of_ours_name_the_line_that_called():
    with pytest.raises(UsageError, match=rf"mine.py, line {line_of('return Held(np.zeros')}: Val"):
        opened("uneven")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = 1\ny = (", r"examples_of_mine.py, line 2: SyntaxError"),
        ("import numpy\nimport not_there_at_all", r"line 2: ModuleNotFoundError.*not_there_at_all"),
        ("x = 1\n\n{}['key']", r"examples_of_mine.py, line 3: KeyError"),
    ],
)
def test_a_module_that_cannot_be_imported(here, code, said):
    (here / "examples_of_mine.py").write_text(code)
    with pytest.raises(UsageError, match=said):
        opened("held")


def test_another_module_of_the_name_is_not_taken_for_it(here):
    (here / "json.py").write_text("def held(): pass")
    with pytest.raises(UsageError, match=r"json is imported from .*, and not from .*json.py"):
        open_examples("json:held")
