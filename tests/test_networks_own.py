"""A network of the user's: a function by its module or file, and errors told in its lines."""

from __future__ import annotations

import numpy as np
import pytest

from hardset.errors import UsageError
from hardset.lowresource.examples import Held

torch = pytest.importorskip("torch")
from hardset.lowresource.networks.registry import build  # noqa: E402

pytestmark = pytest.mark.torch

ARRAYS = Held(np.zeros((3, 4), np.float32), np.array([0, 1, 0]), ("no", "yes"))
PICTURES = Held(np.zeros((3, 6, 6, 1), np.uint8), np.array([0, 1, 0]))
TEXTS = Held(["a", "b"], np.array([0, 1]))

GOOD = """
import torch
from torch import nn

def by_name(kind, classes):
    assert kind == "tensor" and classes == ("no", "yes")
    return nn.Linear(4, len(classes))

def by_order(names, what, width=4):
    assert what == "tensor"
    return nn.Linear(width, len(names))

def nothing():
    return nn.Linear(4, 2)

def seeded(classes):
    module = nn.Linear(4, 2)
    return module

def of_pictures(size):
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 6 * 6 if size is None else 3 * size**2, 2))

def fails(classes):
    raise KeyError("weights")  # line 24

def wrong():
    return "a network"

def three():
    return nn.Linear(4, 3)

def narrow():
    return nn.Linear(5, 2)

def unknown(classes, kind, colour):
    return nn.Linear(4, 2)

def whole():
    from hardset.lowresource.network import Network
    def collate(texts):
        return torch.tensor([[float(len(text[0]))] for text in texts])
    return Network(nn.Linear(1, 2), collate, "mine", "mine")
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_networks.py").write_text(GOOD)
    (tmp_path / "broken_networks.py").write_text("import torch\n\ndef make(:\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("function", ["by_name", "by_order", "nothing"])
def test_a_function_is_given_what_it_has_parameters_for(own, function):
    network = build(f"own_networks.py:{function}", ARRAYS, seed=0)
    assert network.module(network.collate(ARRAYS.fetch(np.arange(3)))).shape == (3, 2)
    assert network.name == f"own_networks.py:{function}"
    assert network.facts["parameters"] == 4 * 2 + 2


def test_a_module_is_found_where_one_stands(own):
    assert build("own_networks:nothing", ARRAYS, seed=0).facts["parameters"] == 10


def test_the_seed_reaches_it(own):
    first, again, other = (
        build("own_networks.py:seeded", ARRAYS, seed=seed).module.weight for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_pictures_come_in_their_own_size_or_the_one_asked_for(own):
    assert build("own_networks.py:of_pictures", PICTURES, seed=0).collate.size == (6, 6)
    assert build("own_networks.py:of_pictures", PICTURES, seed=0, size=4).collate.size == (4, 4)


def test_texts_need_a_collate(own):
    with pytest.raises(UsageError, match="collate"):
        build("own_networks.py:nothing", TEXTS, seed=0)
    network = build("own_networks.py:whole", TEXTS, seed=0)
    assert network.module(network.collate(TEXTS.fetch(np.arange(2)))).shape == (2, 2)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("fails", r"KeyError: 'weights' \(.*own_networks\.py, line 24\)"),
        ("wrong", "returned str"),
        ("three", r"outputs \(2, 3\) for 2 examples, and should give \(2, 2\)"),
        ("narrow", "does not take these examples: RuntimeError"),
        ("unknown", "parameter 'colour'"),
        ("absent", "has no function 'absent'; it has: by_name, by_order"),
    ],
)
def test_what_goes_wrong_is_told(own, function, said):
    with pytest.raises(UsageError, match=said):
        build(f"own_networks.py:{function}", ARRAYS, seed=0)


def test_a_file_that_does_not_import(own):
    with pytest.raises(UsageError, match=r"SyntaxError.*broken_networks\.py, line 3"):
        build("broken_networks.py:make", ARRAYS, seed=0)
    with pytest.raises(UsageError, match="No module named 'nowhere_at_all'"):
        build("nowhere_at_all:make", ARRAYS, seed=0)
    with pytest.raises(UsageError, match=r"FileNotFoundError"):
        build("nowhere.py:make", ARRAYS, seed=0)
