"""Networks by name: their shapes, how pictures reach them, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from hardset.errors import UsageError
from hardset.lowresource.examples import Held, Unreadable

torch = pytest.importorskip("torch")
from hardset.lowresource.networks import registry  # noqa: E402
from hardset.lowresource.networks.pictures import CIFAR, HALF, Pictures  # noqa: E402
from hardset.lowresource.networks.registry import build  # noqa: E402

pytestmark = pytest.mark.torch


def pictures(n=4, size=(32, 32), channels=3, classes=10):
    pixels = np.random.default_rng(0).integers(0, 256, (n, *size, channels), dtype=np.uint8)
    return Held(pixels, np.arange(n) % classes, tuple(map(str, range(classes))))


def run(network, examples, n=2):
    with torch.no_grad():
        return network.module(network.collate(examples.fetch(np.arange(n))))


def test_the_cifar_net_has_the_papers_parameters():
    # conv 3*6*25+6 = 456; conv 6*16*25+16 = 2,416; fc 400*800+800 = 320,800;
    # fc 800*100+100 = 80,100; fc 100*10+10 = 1,010. In all 404,782.
    network = build("ffn", pictures(), seed=0)
    assert network.facts["parameters"] == 456 + 2_416 + 320_800 + 80_100 + 1_010
    assert run(network, pictures()).shape == (2, 10)


def test_the_imagenet_net_has_the_papers_parameters():
    # 224 -> 222 -> 55 -> 53 -> 13, and 16 * 13 * 13 = 2,704, as the paper has it.
    # conv 3*6*9+6 = 168; conv 6*16*9+16 = 880; fc 2704*2000+2000; 2000*1000+1000; 1000*10+10.
    network = build("ffn-imagenet", pictures(size=(70, 90)), seed=0)
    linear = 2_704 * 2_000 + 2_000 + 2_000 * 1_000 + 1_000 + 1_000 * 10 + 10
    assert network.facts["parameters"] == 168 + 880 + linear
    assert run(network, pictures(size=(70, 90))).shape == (2, 10)


def test_the_seed_makes_the_weights_and_nothing_else_is_disturbed():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, again, other = (build("ffn", pictures(), seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(first.module.fc1.weight, again.module.fc1.weight)
    assert not torch.equal(first.module.fc1.weight, other.module.fc1.weight)
    assert not first.module.training


def test_pixels_are_normalised():
    # A pixel of 51 is 0.2: (0.2 - 0.5) / 0.5 = -0.6. For CIFAR, red: (0.2 - 0.4914) / 0.2023.
    grey = np.full((2, 2, 3), 51, np.uint8)
    assert Pictures((2, 2), HALF)([grey]).numpy() == pytest.approx(-0.6, abs=1e-6)
    red = Pictures((2, 2), CIFAR)([grey])[0, 0].numpy()
    assert red == pytest.approx((0.2 - 0.4914) / 0.2023, abs=1e-6)


def test_one_channel_is_repeated_and_sizes_may_differ():
    one = np.full((8, 8, 1), 255, np.uint8)
    three = np.full((5, 9, 3), 0, np.uint8)
    batch = Pictures((4, 4), HALF)([one, three, one])
    assert batch.shape == (3, 3, 4, 4)
    assert batch.mean((1, 2, 3)).tolist() == pytest.approx([1, -1, 1])


def test_resizing_is_pillows():
    from PIL import Image

    pixels = np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    theirs = np.asarray(Image.fromarray(pixels).resize((16, 16), Image.Resampling.BILINEAR))
    ours = (Pictures((16, 16), HALF)([pixels])[0].permute(1, 2, 0).numpy() * 0.5 + 0.5) * 255
    assert np.abs(ours - theirs).max() < 1.01  # Pillow rounds after each of its two passes


def test_the_centre_is_cut_from_the_middle():
    pixels = np.zeros((10, 20, 3), np.uint8)
    pixels[:, 5:15] = 255  # the middle square
    assert Pictures((10, 10), HALF, centre=1.0)([pixels]).unique().tolist() == [1]
    assert len(Pictures((10, 10), HALF)([pixels]).unique()) > 1


def test_a_perceptron_over_arrays_and_pictures():
    arrays = Held(np.zeros((3, 2, 5), np.float32), np.array([0, 1, 0]))
    network = build("mlp", arrays, seed=0)
    assert run(network, arrays).shape == (2, 2)
    # 10*512+512 + 512*512+512 + 512*2+2
    assert network.facts["parameters"] == 10 * 512 + 512 + 512 * 512 + 512 + 512 * 2 + 2
    assert run(build("mlp", pictures(size=(8, 8)), seed=0), pictures(size=(8, 8))).shape == (2, 10)


def test_real_labels_have_one_output():
    examples = Held(np.zeros((3, 4), np.float32), np.array([0.5, 1.0, 2.0]))
    assert run(build("mlp", examples, seed=0), examples).shape == (2, 1)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        # torchvision's ResNet18 has 11,689,512 with 1,000 classes: less 513,000 for the head is
        # 11,176,512; the stem 3*64*49 becomes 3*64*9 (-7,680); the head 512*10+10.
        ("resnet18", 11_176_512 - 7_680 + 5_130),
        # Convolutions 14,714,688 (torchvision's VGG16, 138,357,544 less 123,642,856 of linear
        # layers); batch normalisation 2 * 4,224; head 512*10+10.
        ("vgg16", 14_714_688 + 8_448 + 5_130),
        # torchvision's DenseNet121: 7,978,856 less 1,025,000 of the head; -7,680; 1024*10+10.
        ("densenet121", 7_978_856 - 1_025_000 - 7_680 + 10_250),
    ],
)
def test_small_pictures_get_the_cifar_form(name, parameters):
    network = build(name, pictures(), seed=0)
    assert network.facts["parameters"] == parameters
    assert network.facts["form"].startswith("CIFAR")
    assert network.collate.size == (32, 32)
    assert run(network, pictures()).shape == (2, 10)


def test_large_pictures_get_the_imagenet_form():
    network = build("resnet18", pictures(size=(80, 100)), seed=0)
    assert "form" not in network.facts
    assert network.collate.size == (224, 224)
    # torchvision's, with ten classes.
    assert network.facts["parameters"] == 11_176_512 + 5_130


def test_vit_b16_is_that_of_timm():
    # Dosovitskiy et al.: 86 million; timm's 85,798,656 without head, which is 768*10+10.
    network = build("vit-b16", pictures(n=2), seed=0, weights="random", size=32)
    # At 32 pixels there are 4 + 1 positions of 768, at 224 there are 197.
    assert network.facts["parameters"] == 85_798_656 - (197 - 5) * 768 + 7_690


def test_any_of_timm_at_its_own_size_or_another():
    assert build("timm/test_resnet", pictures(), seed=0).collate.size == (160, 160)
    network = build("timm/test_vit", pictures(), seed=0, size=32)
    assert run(network, pictures()).shape == (2, 10)
    assert network.family == "vision_transformer"


def test_timms_weights_from_a_file(tmp_path):
    from safetensors.torch import save_file

    given = build("timm/test_resnet", pictures(classes=3), seed=1).module.state_dict()
    save_file(given, tmp_path / "model.safetensors")
    torch.save(given, tmp_path / "model.pth")
    for file in ("", "model.safetensors", "model.pth"):
        network = build("timm/test_resnet", pictures(), seed=0, weights=str(tmp_path / file))
        new = network.module.state_dict()
        assert torch.equal(new["conv1.0.weight"], given["conv1.0.weight"])
        assert new["fc.weight"].shape[0] == 10  # other classes: a new head
        assert network.facts["normalised_by"] == "the weights' own"
        assert len(network.facts["weights_sha256"]) == 64
    with pytest.raises(UsageError, match="of another network"):
        build("timm/test_vit", pictures(), seed=0, weights=str(tmp_path / "model.pth"))


def test_weights_that_cannot_be_had(monkeypatch):
    from hardset.lowresource.networks import timm_models

    def unreachable(name, pretrained, **options):
        raise OSError("no route to host")

    monkeypatch.setattr(timm_models.timm, "create_model", unreachable)
    monkeypatch.setattr(timm_models, "reached", lambda: True)
    with pytest.raises(UsageError, match=r"no route to host.*HF_HOME.*random"):
        build("vit-b16", pictures(), seed=0)


def test_a_hub_that_does_not_answer_is_asked_once_and_its_cache_alone_looked_into(monkeypatch):
    from huggingface_hub import constants

    from hardset.lowresource.networks import hub_reach, timm_models

    asked, offline = [], []

    class Session:
        def head(self, place, timeout):
            asked.append(timeout)
            raise OSError("no route to host")

    def create(name, pretrained, **options):
        offline.append(constants.HF_HUB_OFFLINE)
        raise OSError("not in the cache")

    monkeypatch.setattr("huggingface_hub.get_session", Session)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(timm_models.timm, "create_model", create)
    hub_reach.reached.cache_clear()
    try:
        for _ in range(2):
            with pytest.raises(UsageError, match="the hub does not answer, and it is not in the"):
                build("vit-b16", pictures(), seed=0)
    finally:
        hub_reach.reached.cache_clear()
    assert asked == [hub_reach.PATIENCE]
    assert offline == [True, True]
    assert constants.HF_HUB_OFFLINE is False


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("resnet19", {}, "did you mean resnet18"),
        ("bert", {}, "bert takes examples of kind text, and these are of kind image"),
        ("ffn", {"weights": "pretrained"}, "random weights only"),
        ("ffn", {"size": 8}, "too small"),
        ("ffn", {"size": 0}, "in pixels"),
        ("timm/resnet81", {}, "did you mean timm/resnet"),
        ("timm/test_vit", {"size": 33}, "no multiple"),
        ("timm/test_resnet", {"weights": "/nowhere/w.pth"}, "no such file"),
    ],
)
def test_what_cannot_be_is_refused(name, options, said):
    with pytest.raises(UsageError, match=said):
        build(name, pictures(), seed=0, **options)


def test_names_by_kind():
    assert "resnet18" in registry.names("image")
    assert "bert" not in registry.names("image")
    assert registry.names("tensor") == ("mlp", "module:function")


def test_the_first_picture_may_be_unreadable():
    class Damaged(Held):
        def fetch(self, positions):
            found = super().fetch(positions)
            return [
                Unreadable("truncated") if position == 0 else content
                for position, content in zip(positions, found, strict=True)
            ]

    whole = pictures(size=(8, 8))
    assert build("mlp", Damaged(whole.contents, whole.labels), seed=0).collate.size == (8, 8)
