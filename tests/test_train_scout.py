"""The training of local/scout on a tiny set: losses fall, and the export is what was trained."""

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the torch extra")
pytest.importorskip("onnx", reason="needs the torch extra")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from scout import examples, export, network, steps  # noqa: E402

from hardset.models.local import load  # noqa: E402
from hardset.sources.scenes.graph import SIDE, Scene, Thing, make_scene  # noqa: E402
from hardset.sources.scenes.language import ANSWERS, tokens  # noqa: E402

pytestmark = pytest.mark.torch

RED_STAR = Thing("star", "red", "large", 40, 50, 30)
BLUE_SQUARE = Thing("square", "blue", "large", 140, 150, 30, "cat")
RED_SQUARE = Thing("square", "red", "small", 100, 20, 15)
SCENE = Scene(0, 0, "default", (RED_STAR, BLUE_SQUARE, RED_SQUARE))


def test_targets_say_what_is_in_each_cell():
    # cells are 16 px: (40, 50) is column 2 of row 3, so cell 3 * 12 + 2 = 38
    assert examples.targets(SCENE)[0].tolist() == [38, 40, 50, 3, 0, 1, 0]
    # blue is the fifth colour, "cat" the third word after no text and ten digits
    assert examples.targets(SCENE)[1].tolist() == [9 * 12 + 8, 140, 150, 1, 4, 1, 13]
    assert (examples.targets(SCENE)[3:] == -9).all()


def test_what_a_variant_hides_is_not_taught():
    assert (examples.targets(SCENE, "cover=1")[1] == -9).all()
    assert examples.targets(SCENE, "blur=1")[1, 3:].tolist() == [-1, 4, 1, -1]
    assert examples.targets(SCENE, "smudge=1")[1, 3:].tolist() == [1, 4, 1, -1]


def test_nouns_mean_the_objects_they_name():
    text = "is the large red star left of the object with cat on it and is it red or red squares"
    words = ["<start>", *tokens(text)]
    meant = [(words[place], things) for place, things in examples.meant(SCENE, text)]
    assert meant == [("star", [0]), ("object", [1]), ("red", [0, 2]), ("squares", [2])]


def test_slots_are_scaled_by_presence_and_placed_by_their_cell():
    cells = torch.zeros(1, network.GRID**2, network.FEATURES)
    cells[:, :, 0] = -20.0
    cells[0, 38, :3] = torch.tensor([20.0, 0.5, 0.125])  # column 2, row 3
    slots = network.slots_of(cells)[0]
    # x: (2 + 0.5) of 12 cells, from -1 to 1; y: (3 + 0.125) of 12
    expected = [1.0, 2 * 2.5 / 12 - 1, 2 * 3.125 / 12 - 1]
    assert slots[0, :3].tolist() == pytest.approx(expected, abs=1e-5)
    assert slots[0, 3:11].tolist() == pytest.approx([1 / 8] * 8, abs=1e-5)
    assert slots[1:].abs().max() < 1e-6


def test_the_eye_learns():
    torch.manual_seed(0)
    scenes = [examples.training_scene(i) for i in range(24)]
    pictures = np.stack([examples.picture(*s) for s in scenes])
    truths = np.stack([examples.targets(*s) for s in scenes])
    assert pictures.shape == (24, network.EDGE, network.EDGE, 3)
    eye = network.Eye(width=24)
    losses = steps.train(
        eye,
        lambda batch: steps.eye_loss(eye, *batch),
        lambda step: steps.eye_batches(pictures, truths, 12, seed=step),
        30,
        3e-3,
        print,
    )
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])


def test_the_mind_learns_and_goes_on_from_its_checkpoint(tmp_path):
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    scenes = [make_scene(examples.SEED, i) for i in range(40)]
    slots = np.stack([examples.ideal_slots(s, random) for s in scenes])
    mind = small_mind()
    keep = tmp_path / "mind.pt"

    def learn(some, until):
        return steps.train(
            some,
            lambda batch: steps.mind_loss(some, *batch),
            lambda step: steps.mind_batches(scenes, slots, 32, seed=step, ground=True),
            until,
            3e-3,
            print,
            keep,
        )

    losses = learn(mind, 40)
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])
    again = small_mind()
    assert len(learn(again, 43)) == 3  # only the steps that were left
    assert learn(again, 43) == []


def test_padding_does_not_change_an_answer():
    torch.manual_seed(0)
    mind = small_mind().eval()
    slots = torch.rand(1, network.SLOTS, network.FEATURES)
    short = torch.from_numpy(examples.padded([examples.ids("is the star red")]))
    both = torch.from_numpy(examples.padded([examples.ids("is the star red"), [2] * 30]))
    with torch.inference_mode():
        alone, beside = mind(slots, short)[0], mind(slots.expand(2, -1, -1), both)[0]
    assert torch.allclose(alone, beside, atol=1e-4)


def small_mind():
    return network.Mind(len(examples.VOCABULARY), len(ANSWERS), 16, 2, 2)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("weights")
    eye, mind = network.Eye(width=24).eval(), small_mind().eval()
    version = export.export(eye, mind, folder)
    export.write_card(folder, version, 0.25, {"a": 1})
    return eye, mind, version, folder


def test_torch_and_onnx_agree(exported):
    eye, mind, version, folder = exported
    scout = load(folder)
    assert (scout.card.version, scout.card.threshold, scout.card.facts) == (version, 0.25, {"a": 1})
    scene = make_scene(5, 0)
    from hardset.sources.scenes.draw import open_scene

    seen = scout.look(open_scene(scene.where.removeprefix("scenes:")))
    texts = ["how many stars are there", "is the red star left of the blue square"]
    found = scout.think(seen, [tokens(text) for text in texts])
    with torch.inference_mode():
        slots = eye(torch.from_numpy(examples.picture(scene))[None])
        words = torch.from_numpy(examples.padded([examples.ids(text) for text in texts]))
        odds = mind(slots.expand(2, -1, -1), words).softmax(-1)
    assert np.abs(seen - slots[0].numpy()).max() < 5e-3  # weights are kept in 16 bits
    assert np.abs(found - odds.numpy()).max() < 5e-3


def test_the_grid_covers_the_picture():
    assert SIDE % network.GRID == 0
    assert SIDE % network.EDGE == 0
