"""Image networks by timm: the paper's by name, and any other as `timm/NAME`."""

from __future__ import annotations

import difflib
import hashlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.lowresource.network import Network
from hardset.lowresource.networks import torchvision_ops
from hardset.lowresource.networks.hub_reach import UNREACHED, cache_only_if_unreached, reached
from hardset.lowresource.networks.pictures import (
    CIFAR,
    IMAGENET,
    SMALL,
    Norm,
    Pictures,
    longest_side,
)

torchvision_ops.declare()
import timm  # noqa: E402 (its operators first)

NAMES = {
    "vgg16": "vgg16",
    "resnet18": "resnet18",
    "densenet121": "densenet121",
    "vit-b16": "vit_base_patch16_224",
    "efficientnetv2-s": "tf_efficientnetv2_s",
}
CIFAR_FORM = {  # what the authors change for pictures of 32 pixels
    "vgg16": "CIFAR: with batch normalisation, one linear layer after 512 features",
    "resnet18": "CIFAR: stem of 3x3 with stride 1, no pooling after it",
    "densenet121": "CIFAR: stem of 3x3 with stride 1, no pooling after it",
}
FROM_PRETRAINED = ("vit-b16", "efficientnetv2-s")  # in the paper; the others start from nothing
SIDE = 224


def build(
    name: str, examples: Examples, outputs: int, size: int | None, weights: str | None
) -> Network:
    """Return one of `NAMES`, or `timm/NAME`.

    For pictures up to 64 pixels a side, or `size` up to that, VGG16, ResNet18 and DenseNet121 from
    random weights take the form that the authors give them on CIFAR (`CIFAR_FORM`). Everything else
    gets pictures of 224 pixels, or of the size timm has the network at.

    Raises:
        UsageError: timm has no such network, or its weights cannot be had.
    """
    weights = weights or ("pretrained" if name in FROM_PRETRAINED else "random")
    longest = longest_side(examples)
    side = size or longest
    if name in CIFAR_FORM and side <= SMALL and weights == "random":
        side = size or (32 if side <= 32 else SMALL)
        collate = Pictures((side, side), CIFAR, None if longest <= SMALL else 0.875)
        facts = {**collate.facts(), "form": CIFAR_FORM[name]}
        return Network(_cifar_form(name, outputs), collate, name, _family(name), facts)
    known = NAMES.get(name, name.removeprefix("timm/"))
    if not timm.is_model(known):
        near = difflib.get_close_matches(known, timm.list_models(), 3)
        raise UsageError(
            f"timm {timm.__version__} has no model {known!r}"
            + (f"; did you mean timm/{', timm/'.join(near)}?" if near else "")
        )
    module, said = _created(name, known, outputs, size, weights)
    cfg = dict(module.pretrained_cfg)
    own = SIDE if name in NAMES else int(cfg["input_size"][-1])
    norm = IMAGENET
    if weights != "random":
        norm = Norm("the weights' own", tuple(cfg["mean"]), tuple(cfg["std"]))
    edge = size or own
    centre = None if longest <= SMALL else float(cfg.get("crop_pct", 0.875))
    collate = Pictures((edge, edge), norm, centre)
    facts = {**collate.facts(), **said, "timm": timm.__version__, "model": known}
    return Network(module, collate, name, _family(known), facts)


def _family(known: str) -> str:
    """Return the family of architectures that timm puts a model in: `resnet`, `vgg`, ..."""
    entry = timm.model_entrypoint(known)
    return str(entry.__module__.rsplit(".", 1)[-1])


def _cifar_form(name: str, outputs: int) -> nn.Module:
    if name == "vgg16":
        return _vgg16(outputs)
    module: nn.Module = timm.create_model(name, num_classes=outputs)
    stem = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    if name == "resnet18":
        module.conv1, module.maxpool = stem, nn.Identity()
    else:
        features: Any = module.features
        features.conv0, features.pool0 = stem, nn.Identity()
    return module


def _vgg16(outputs: int) -> nn.Module:
    """Return VGG16's convolutions with batch normalisation, and one linear layer after them."""
    layers: list[nn.Module] = []
    width = 3
    for repeats, wide in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(repeats):
            layers += [nn.Conv2d(width, wide, 3, padding=1), nn.BatchNorm2d(wide), nn.ReLU()]
            width = wide
        layers.append(nn.MaxPool2d(2))
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, outputs)]
    return nn.Sequential(*layers, *head)


def _created(
    name: str, known: str, outputs: int, size: int | None, weights: str
) -> tuple[Any, dict[str, Any]]:
    """Return the network with its weights, and what the manifest says of them."""
    options: dict[str, Any] = {"num_classes": outputs}
    if name == "vgg16":
        options["drop_rate"] = 0.5  # as torchvision's, which the authors take
    if size is not None:
        options["img_size"] = size
    from_hub = weights == "pretrained"
    try:
        with cache_only_if_unreached() if from_hub else nullcontext():
            try:
                module: Any = timm.create_model(known, pretrained=from_hub, **options)
            except TypeError:  # a network of any size: it knows no img_size
                options.pop("img_size", None)
                module = timm.create_model(known, pretrained=from_hub, **options)
    except Exception as error:
        if not from_hub:
            raise UsageError(f"timm does not build {known} at size {size}: {error}") from error
        why = f"{type(error).__name__}: {str(error)[:200]}" if reached() else UNREACHED
        raise UsageError(
            f"the weights of timm's {known} cannot be had from the hub ({why}): give a local file "
            "of them as weights (model.safetensors), set HF_HOME to a folder where they are "
            'cached, or give weights "random" to train from scratch'
        ) from error
    patches = getattr(module, "patch_embed", None)
    patch = getattr(patches, "patch_size", None)
    if size is not None and patch is not None and size % int(patch[0]):
        raise UsageError(
            f"{name} cuts pictures in patches of {patch[0]} pixels: size {size} is no "
            "multiple of that"
        )
    if from_hub:
        cfg = module.pretrained_cfg
        return module, {"weights": f"{cfg.get('hf_hub_id') or cfg.get('url')}", "tag": cfg["tag"]}
    if weights != "random":
        return module, _load(module, Path(weights).expanduser())
    return module, {}


def _load(module: Any, path: Path) -> dict[str, Any]:
    """Load a file of timm's weights, or the one in a folder as the hub has it.

    The classifier stays new where its classes are others.
    """
    if path.is_dir():
        path = path / "model.safetensors"
    if not path.is_file():
        raise UsageError(f"weights {path}: there is no such file")
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            state = load_file(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
        wanted = module.state_dict()
        other = [
            name for name in state if name in wanted and state[name].shape != wanted[name].shape
        ]
        lost = [name for name in wanted if name not in state]
    except Exception as error:
        raise UsageError(
            f"weights {path} cannot be read: {type(error).__name__}: {error}"
        ) from error
    heads = module.pretrained_cfg.get("classifier", ())
    heads = (heads,) if isinstance(heads, str) else tuple(heads)
    wrong = [name for name in (*other, *lost) if not name.startswith(heads)]
    if wrong:
        raise UsageError(
            f"weights {path} are of another network: {len(wrong)} of {len(wanted)} do not fit, as "
            f"{', '.join(wrong[:3])}"
        )
    module.load_state_dict({k: v for k, v in state.items() if k not in other}, strict=False)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"weights": str(path), "weights_sha256": digest}
