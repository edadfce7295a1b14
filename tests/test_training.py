"""Training by hand, to the last bit, stopped and resumed; and what goes wrong, named."""

from __future__ import annotations

import numpy as np
import pytest

from hardset.errors import UsageError
from hardset.lowresource.dynamics import Dynamics
from hardset.lowresource.examples import NO_LABEL, Held, Subset, Unreadable
from hardset.lowresource.network import Network
from hardset.lowresource.recipes import Recipe, changed, predictor_recipe

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from hardset.lowresource.batches import cut  # noqa: E402
from hardset.lowresource.networks.registry import build  # noqa: E402
from hardset.lowresource.training import (  # noqa: E402
    Checkpoint,
    Diverged,
    evaluate,
    train,
)

pytestmark = pytest.mark.torch


def stacked(contents):
    return torch.from_numpy(np.stack(contents)).float()


def line(weight=0.0):
    """The network y = weight * x."""
    module = nn.Linear(1, 1, bias=False)
    nn.init.constant_(module.weight, weight)
    return Network(module, stacked, "line", "line")


def pictures(n=40, classes=4):
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (n, 16, 16, 3), dtype=np.uint8)
    return Held(pixels, generator.integers(classes, size=n), tuple("abcd"[:classes]))


def texts(n=40):
    generator = np.random.default_rng(0)
    words = np.array("a b c d e f g".split())
    return Held([" ".join(generator.choice(words, 5)) for _ in range(n)], np.arange(n) % 2)


class Damaged(Held):
    """The first two cannot be read."""

    def fetch(self, positions):
        return [
            Unreadable("truncated") if position < 2 else content
            for position, content in zip(positions, super().fetch(positions), strict=True)
        ]


def weights(network):
    return torch.cat([value.double().flatten() for value in network.module.state_dict().values()])


# --- by hand -----------------------------------------------------------------------------------


def test_two_steps_of_sgd_by_hand():
    examples = Held(np.ones((1, 1), np.float32), np.array([2.0]))
    network = line()
    # Loss (w - 2)^2, gradient 2 (w - 2). w = 0: -4, w becomes 0.4. w = 0.4: -3.2, w becomes 0.72.
    trained = train(network, examples, Recipe("hand", "sgd", lr=0.1, batch=1, epochs=2), seed=0)
    assert network.module.weight.item() == pytest.approx(0.72)
    assert trained.losses == pytest.approx([4.0, 1.6**2])
    assert np.isnan(trained.accuracies).all()
    assert (trained.epochs, trained.steps) == (2, 2)


def test_momentum_decay_and_schedule_reach_the_optimiser():
    examples = Held(np.ones((1, 1), np.float32), np.array([2.0]))
    recipe = Recipe(
        "hand", "sgd", 0.1, 1, 2, weight_decay=0.5, momentum=0.9, schedule="steps",
        milestones=(1,), gamma=0.5,
    )  # fmt: skip
    network = line(1.0)
    train(network, examples, recipe, seed=0)
    # w = 1: 2 (1 - 2) + 0.5 * 1 = -1.5, the velocity; w = 1 + 0.15 = 1.15.
    # 2 (1.15 - 2) + 0.5 * 1.15 = -1.125; velocity 0.9 * -1.5 - 1.125 = -2.475; rate 0.05.
    assert network.module.weight.item() == pytest.approx(1.15 + 0.05 * 2.475)


def test_the_accuracy_is_of_what_was_said_before_each_step():
    module = nn.Linear(1, 2, bias=False)
    nn.init.zeros_(module.weight)
    # Logits (x, -x): class 0 for x = 1. Of labels 0, 0, 1, with x = 1 throughout, 2 of 3 are right.
    module.weight.data[:] = torch.tensor([[1.0], [-1.0]])
    examples = Held(np.ones((3, 1), np.float32), np.array([0, 0, 1]))
    trained = train(Network(module, stacked, "n", "n"), examples, Recipe("hand", batch=3), seed=0)
    assert trained.accuracies == pytest.approx([2 / 3])


def test_a_last_batch_of_one_joins_the_one_before():
    assert [part.tolist() for part in cut(np.arange(5), 2)] == [[0, 1], [2, 3, 4]]
    assert [part.tolist() for part in cut(np.arange(1), 2)] == [[0]]
    assert [part.tolist() for part in cut(np.arange(4), 2)] == [[0, 1], [2, 3]]


def test_training_ends_after_so_many_steps():
    trained = train(
        build("ffn", pictures(), seed=0),
        pictures(),
        Recipe("t", batch=8, epochs=9, steps=7),
        seed=0,
    )
    # Five batches an epoch: one epoch and two steps.
    assert (trained.steps, trained.epochs) == (7, 2)


# --- the same every time -------------------------------------------------------------------------

CASES = {
    "dropout": ("transformer", texts, Recipe("t", batch=8, epochs=3)),
    "batch norm": ("timm/test_resnet", pictures, Recipe("t", "adamw", batch=16, epochs=2)),
    "cutmix": ("ffn", pictures, Recipe("t", batch=8, epochs=3, augment="cutmix")),
    "mixup": (
        "ffn",
        pictures,
        Recipe("t", "sgd", momentum=0.9, batch=8, epochs=3, augment="mixup"),
    ),
}


def fresh(case, seed=3):
    name, examples, recipe = CASES[case]
    size = 32 if name.startswith("timm") else None
    return build(name, examples(), seed=seed, size=size), examples(), recipe


@pytest.mark.parametrize("case", CASES)
def test_the_same_seed_trains_the_same_and_disturbs_nothing(case):
    torch.manual_seed(11)
    expected = torch.rand(2)
    torch.manual_seed(11)
    found = []
    for seed in (1, 1, 2):
        network, examples, recipe = fresh(case)
        train(network, examples, recipe, seed=seed)
        found.append(weights(network))
    assert torch.equal(torch.rand(2), expected)
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


class Stopped(Exception):  # noqa: N818
    """As a person stops a training."""


@pytest.mark.parametrize("minutes", [None, 0.0])
@pytest.mark.parametrize("case", CASES)
def test_a_resumed_training_is_the_unbroken_one_to_the_last_bit(case, minutes, tmp_path):
    whole, examples, recipe = fresh(case)
    watched = Dynamics(len(examples))
    unbroken = train(whole, examples, recipe, seed=1, at_batch=watched.seen)

    calls = 0

    def stop_at(batch):
        def progress(done, total):
            nonlocal calls
            calls += 1
            if calls == batch:
                raise Stopped

        return progress

    for batch in (2, 5, 7, 1000):  # of each go: in the first epoch, and in later ones
        network, _, _ = fresh(case, seed=99)  # other weights: all must come from the file
        dynamics = Dynamics(len(examples))
        checkpoint = Checkpoint(tmp_path / "c.pt", minutes, {"dynamics": dynamics})
        calls = 0
        try:
            if batch == 2:
                network, _, _ = fresh(case)
            if minutes is None and batch == 2:
                batch = 6  # nothing is put away before the first epoch ends
            trained = train(
                network, examples, recipe, seed=1,
                at_batch=dynamics.seen, progress=stop_at(batch), resume=checkpoint,
            )  # fmt: skip
            break
        except Stopped:
            pass
    assert torch.equal(weights(network), weights(whole))
    assert (trained.losses, trained.accuracies) == (unbroken.losses, unbroken.accuracies)
    assert trained.steps == unbroken.steps
    for name, column in watched.columns().items():
        assert np.array_equal(column, dynamics.columns()[name]), name


def test_a_finished_training_is_not_done_again(tmp_path):
    network, examples, recipe = fresh("cutmix")
    first = train(network, examples, recipe, seed=1, resume=Checkpoint(tmp_path / "c.pt"))
    again, _, _ = fresh("cutmix", seed=9)
    seen = []
    second = train(
        again, examples, recipe, seed=1, resume=Checkpoint(tmp_path / "c.pt"),
        after_epoch=lambda epoch, _: seen.append(epoch),
    )  # fmt: skip
    assert not seen
    assert second.losses == first.losses
    assert torch.equal(weights(again), weights(network))


def test_a_checkpoint_is_data_alone_and_whole(tmp_path, monkeypatch):
    path = tmp_path / "c.pt"
    network, examples, recipe = fresh("cutmix")
    train(network, examples, recipe, seed=1, resume=Checkpoint(path))
    assert torch.load(path, weights_only=True)["at"]["epoch"] == 3
    before = path.read_bytes()

    def full(state, path):
        path.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(UsageError, match="no space"):
        train(
            *fresh("cutmix")[:2],
            changed(recipe, lr=9e-4),
            seed=1,
            resume=Checkpoint(tmp_path / "d.pt"),
        )
    with pytest.raises(UsageError, match="no space"):
        Checkpoint(path).save({})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["c.pt"]


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    path = tmp_path / "c.pt"
    network, examples, recipe = fresh("cutmix")
    train(network, examples, recipe, seed=1, resume=Checkpoint(path))
    with pytest.raises(UsageError, match=r"another training \(it differs in seed\)"):
        train(network, examples, recipe, seed=2, resume=Checkpoint(path))
    with pytest.raises(UsageError, match="differs in recipe"):
        train(network, examples, changed(recipe, lr=1.0), seed=1, resume=Checkpoint(path))
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(UsageError, match="cannot be read as a checkpoint"):
        train(network, examples, recipe, seed=1, resume=Checkpoint(path))


# --- what callers are told -----------------------------------------------------------------------


def test_every_batch_and_epoch_is_told():
    examples = pictures(10)
    positions, epochs, done = [], [], []

    def at_batch(some, outputs, targets):
        assert outputs.shape == (len(some), 4)
        assert not outputs.requires_grad
        assert targets.tolist() == examples.labels[some].tolist()
        positions.append(some)

    def after_epoch(epoch, network):
        assert not network.module.training
        epochs.append(epoch)

    train(
        build("ffn", examples, seed=0), examples, Recipe("t", batch=4, epochs=2), seed=0,
        at_batch=at_batch, after_epoch=after_epoch, progress=lambda *so_far: done.append(so_far),
    )  # fmt: skip
    assert [sorted(np.concatenate(positions[i : i + 3])) for i in (0, 3)] == [list(range(10))] * 2
    assert not np.array_equal(np.concatenate(positions[:3]), np.concatenate(positions[3:]))
    assert epochs == [0, 1]
    assert done == [(4, 20), (8, 20), (10, 20), (14, 20), (18, 20), (20, 20)]


def test_what_has_no_label_or_cannot_be_read_is_left_out_and_counted():
    whole = pictures(12)
    labels = whole.labels.copy()
    labels[[5, 6, 7]] = NO_LABEL
    seen = set()
    trained = train(
        build("ffn", whole, seed=0), Damaged(whole.contents, labels, whole.classes),
        Recipe("t", batch=3, epochs=2), seed=0,
        at_batch=lambda positions, *_: seen.update(positions.tolist()),
    )  # fmt: skip
    assert seen == {2, 3, 4, 8, 9, 10, 11}
    assert trained.left_out == {"unreadable": 2, "no label": 3}


def test_a_batch_of_nothing_readable_is_passed_over():
    damaged = Damaged(np.ones((4, 1), np.float32), np.ones(4))
    trained = train(line(), Subset(damaged, np.arange(4)), Recipe("t", "sgd", batch=1), seed=0)
    assert trained.steps == 2  # of four batches of one
    assert trained.left_out["unreadable"] == 2


def test_nothing_to_train_on():
    with pytest.raises(UsageError, match="no example of the training set has a label"):
        train(
            line(), Held(np.ones((2, 1), np.float32), np.array([np.nan] * 2)), Recipe("t"), seed=0
        )


def test_a_loss_that_is_not_finite_is_named():
    examples = Held(np.ones((4, 1), np.float32), np.full(4, 1e30))
    # Two steps an epoch: the squared error overflows at once.
    with pytest.raises(Diverged, match=r"inf in epoch 1, step 1") as raised:
        train(line(), examples, Recipe("t", "sgd", batch=2), seed=0)
    assert (raised.value.epoch, raised.value.step) == (0, 0)


def test_divergence_later_says_when():
    # w' = w - 4 (w - 2) * 10 = 2 - 39 (w - 2): the distance from 2 grows 19-fold with lr 10.
    # 2 * 19^n exceeds the square root of float32's greatest, 1.8e19, at n = 15: 2 * 19^15 = 3.0e19.
    examples = Held(np.ones((2, 1), np.float32), np.full(2, 2.0))
    with pytest.raises(Diverged) as raised:
        train(line(), examples, Recipe("t", "sgd", lr=10.0, batch=1, epochs=20), seed=0)
    assert (raised.value.epoch, raised.value.step) == (7, 15)


# --- evaluating ----------------------------------------------------------------------------------


def test_evaluation_is_in_order_and_without_the_unreadable():
    examples = Damaged(np.arange(5, dtype=np.float32)[:, None], np.full(5, np.nan))
    found = evaluate(line(2.0), examples, batch=2)
    assert found.positions.tolist() == [2, 3, 4]
    assert found.outputs.tolist() == [4.0, 6.0, 8.0]  # (m,) for real labels
    assert found.left_out == {"unreadable": 2}


def test_evaluation_does_not_depend_on_the_batch():
    network = build("ffn", pictures(), seed=0)
    one, many = (evaluate(network, pictures(), batch=batch) for batch in (1, 64))
    assert one.outputs == pytest.approx(many.outputs, abs=1e-6)
    assert one.outputs.shape == (40, 4)


class FromDisk:
    """The same examples, but not known to be in memory: read ahead in a thread."""

    def __init__(self, held):
        self.held = held

    def __getattr__(self, name):
        return getattr(self.held, name)

    def __len__(self):
        return len(self.held)


def test_reading_ahead_changes_nothing():
    found = []
    for examples in (pictures(), FromDisk(pictures())):
        network = build("ffn", examples, seed=0)
        train(network, examples, Recipe("t", batch=7), seed=0)
        found.append(evaluate(network, examples, batch=6).outputs)
    assert np.array_equal(*found)


def test_trouble_while_reading_ahead_is_not_lost():
    class Gone(FromDisk):
        def fetch(self, positions):
            raise PermissionError("the disk went away")

    with pytest.raises(PermissionError, match="went away"):
        evaluate(build("ffn", pictures(), seed=0), Gone(pictures()))


def test_evaluation_of_nothing():
    nothing = Subset(pictures(), np.empty(0, np.int64))
    assert evaluate(build("ffn", pictures(), seed=0), nothing).outputs.shape == (0, 4)


def test_a_predictor_learns_digits():
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    examples = Held((digits.images * 15.9375).astype(np.uint8), digits.target)
    training, test = Subset(examples, np.arange(1200)), Subset(examples, np.arange(1200, 1797))
    network = build("mlp", training, seed=0)
    trained = train(network, training, predictor_recipe("mlp", "image"), seed=0)
    found = evaluate(network, test)
    right = found.outputs.argmax(1) == test.labels[found.positions]
    assert right.mean() > 0.85  # 0.1 by chance
    assert trained.losses[-1] < trained.losses[0] / 3
