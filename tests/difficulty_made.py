"""Sets and networks for the tests of `hardset difficulty`, as a user's module would give them."""

HAND = '''
import numpy as np
import torch
from hardset.lowresource.examples import Held, Unreadable


class Some(Held):
    """Arrays of which one cannot be read."""

    def fetch(self, positions):
        return [
            Unreadable("torn off") if position == 3 else self.contents[int(position)]
            for position in positions
        ]


def linear(weight, bias):
    module = torch.nn.Linear(len(weight[0]), len(weight))
    with torch.no_grad():
        module.weight.copy_(torch.tensor(weight))
        module.bias.copy_(torch.tensor(bias))
    return module


def classes():
    """Logits are the two numbers of an example, whatever they are."""
    x = np.array([[3, 0], [0, 3], [1, 1], [0, 0], [5, 5], [np.inf, 0], [2, 4]], np.float32)
    labels = np.array([0, 0, 1, 1, -1, 0, 1])
    return linear([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), Some(x, labels, ("left", "right"))


def real():
    """The value said is twice the number of an example."""
    x = np.array([[1], [2], [0.5], [3]], np.float32)
    return linear([[2.0]], [0.0]), Held(x, np.array([1.5, 4.0, np.nan, 7.0]))


def tiny(n=60):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 4)).astype(np.float32) + labels[:, None]
    return Held(x, labels)


def other():
    made = tiny()
    made.labels[7] = (made.labels[7] + 1) % 3
    return made


def with_dropout(classes):
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.ReLU(), torch.nn.Linear(8, 3)
    )


class NotFinite(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x) * float("nan")


def not_finite(classes):
    return NotFinite(4, 3)


def wants_more(classes):
    """Takes a couple of examples, and no batch of them."""

    class Picky(torch.nn.Linear):
        def forward(self, x):
            if len(x) > 3:
                raise RuntimeError("out of memory")
            return super().forward(x)

    return Picky(4, 3)
'''
