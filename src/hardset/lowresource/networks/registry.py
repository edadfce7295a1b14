"""Networks by name: the paper's, ours, any of timm or transformers, and the user's own."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import NamedTuple

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples, Kind
from hardset.lowresource.network import Network

IMAGES, TEXTS, ARRAYS = ("image",), ("text",), ("tensor",)


class Wanted(NamedTuple):
    """What a network is built for."""

    name: str
    examples: Examples
    outputs: int
    """Classes, or 1 where labels are real numbers."""
    size: int | None
    weights: str | None


def _ffn(wanted: Wanted) -> Network:
    from hardset.lowresource.networks.conv import ffn

    return ffn(wanted.outputs, wanted.size)


def _ffn_imagenet(wanted: Wanted) -> Network:
    from hardset.lowresource.networks.conv import ffn_imagenet

    return ffn_imagenet(wanted.outputs, wanted.size)


def _mlp(wanted: Wanted) -> Network:
    from hardset.lowresource.networks.mlp import mlp

    return mlp(wanted.examples, wanted.outputs, wanted.size)


def _bag_of_words(wanted: Wanted) -> Network:
    from hardset.lowresource.networks.words import bag_of_words

    return bag_of_words(wanted.examples, wanted.outputs)


def _transformer(wanted: Wanted) -> Network:
    from hardset.lowresource.networks.words import transformer

    return transformer(wanted.examples, wanted.outputs)


def _timm(wanted: Wanted) -> Network:
    from hardset.lowresource.networks.timm_models import build

    return build(wanted.name, wanted.examples, wanted.outputs, wanted.size, wanted.weights)


def _hub(wanted: Wanted) -> Network:
    from hardset.lowresource.networks.hub_models import build

    return build(wanted.name, wanted.outputs, wanted.weights)


def _own(wanted: Wanted) -> Network:
    from hardset.lowresource.networks.own import build

    return build(wanted.name, wanted.examples, wanted.size)


class Known(NamedTuple):
    """A network's maker and the kinds of examples it takes."""

    build: Callable[[Wanted], Network]
    kinds: tuple[str, ...]
    weights: bool = False
    """It can start from weights trained elsewhere."""


NETWORKS: dict[str, Known] = {
    "ffn": Known(_ffn, IMAGES),
    "ffn-imagenet": Known(_ffn_imagenet, IMAGES),
    "mlp": Known(_mlp, IMAGES + ARRAYS),
    "vgg16": Known(_timm, IMAGES, weights=True),
    "resnet18": Known(_timm, IMAGES, weights=True),
    "densenet121": Known(_timm, IMAGES, weights=True),
    "vit-b16": Known(_timm, IMAGES, weights=True),
    "efficientnetv2-s": Known(_timm, IMAGES, weights=True),
    "bert": Known(_hub, TEXTS, weights=True),
    "gpt2": Known(_hub, TEXTS, weights=True),
    "roberta": Known(_hub, TEXTS, weights=True),
    "t5": Known(_hub, TEXTS, weights=True),
    "transformer": Known(_transformer, TEXTS),
    "bag-of-words": Known(_bag_of_words, TEXTS),
}
PREFIXES: dict[str, Known] = {
    "timm/": Known(_timm, IMAGES, weights=True),
    "hf/": Known(_hub, TEXTS, weights=True),
}
OWN = Known(_own, IMAGES + TEXTS + ARRAYS)


def names(kind: Kind) -> tuple[str, ...]:
    """Return the names of the networks for a kind of examples, forms as `timm/NAME` at the end."""
    known = [name for name, network in NETWORKS.items() if kind in network.kinds]
    known += [f"{prefix}NAME" for prefix, network in PREFIXES.items() if kind in network.kinds]
    return (*known, "module:function")


def _known(name: str, kind: Kind) -> Known:
    known = NETWORKS.get(name) or next(
        (network for prefix, network in PREFIXES.items() if name.startswith(prefix)), None
    )
    if known is None and ":" in name:
        known = OWN
    if known is None:
        near = difflib.get_close_matches(name, NETWORKS, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(
            f"no network is called {name!r}; {hint}there are: {', '.join(names(kind))}"
        )
    if kind not in known.kinds:
        raise UsageError(
            f"{name} takes examples of kind {' or '.join(known.kinds)}, and these are of kind "
            f"{kind}: for them there are {', '.join(names(kind))}"
        )
    return known


def build(
    name: str,
    examples: Examples,
    *,
    seed: int,
    size: int | None = None,
    weights: str | None = None,
) -> Network:
    """Return a network for these examples, on the CPU, in evaluation mode.

    Initial weights depend on the seed and nothing else; torch's own random numbers are left as they
    were.

    Args:
        name: one of `names`.
        examples: what it is trained on: their classes, the size of their pictures, their words.
        seed: of the initial weights.
        size: side of the pictures as the network gets them, in pixels; its own, if not given.
        weights: `random`, `pretrained` (from the hub, or its cache), or a local file (timm)
            or folder. If not given: pretrained where the paper has it so (ViT-B/16,
            EfficientNetV2 and all of transformers), else random.

    Raises:
        UsageError: there is no such network, it does not take this kind of examples, or its weights
            cannot be had.
    """
    from hardset.lowresource.seeding import seeded

    known = _known(name, examples.kind)
    if weights not in (None, "random") and not known.weights:
        raise UsageError(f"{name} starts from random weights only: leave weights={weights!r} out")
    if size is not None and size < 1:
        raise UsageError(f"size = {size}: give the side of the pictures in pixels")
    outputs = len(examples.classes) or 1
    with seeded(seed):
        network = known.build(Wanted(name, examples, outputs, size, weights))
    network.module.eval()
    network.facts = {
        "parameters": sum(parameter.numel() for parameter in network.module.parameters()),
        "outputs": outputs,
        "weights": "random",
        "weights_seed": seed,
        **network.facts,
    }
    return network
