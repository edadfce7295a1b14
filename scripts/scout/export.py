"""The trained networks as ONNX files of half the size, and the card that goes with them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from hardset.models.local import CARD, EYE, MIND, Card
from hardset.sources.scenes.language import ANSWERS
from scout.examples import VOCABULARY
from scout.network import EDGE, FEATURES, SLOTS, Eye, Mind

SMALL = 64  # weights of fewer numbers stay as they are


def export(eye: Eye, mind: Mind, folder: Path) -> str:
    """Write both networks into a folder.

    Returns:
        The version of the weights: the first digits of the sha256 of the two files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    batch, words = torch.export.Dim("batch", min=1), torch.export.Dim("words", min=2, max=64)
    picture = torch.zeros(2, EDGE, EDGE, 3, dtype=torch.uint8)
    slots, text = torch.zeros(2, SLOTS, FEATURES), torch.ones(2, 9, dtype=torch.int64)
    _write(eye, (picture,), {"pictures": {0: batch}}, ["seen"], folder / EYE)
    _write(
        mind,
        (slots, text),
        {"slots": {0: batch}, "words": {0: batch, 1: words}},
        ["scores"],
        folder / MIND,
    )
    both = (folder / EYE).read_bytes() + (folder / MIND).read_bytes()
    return hashlib.sha256(both).hexdigest()[:12]


def write_card(folder: Path, version: str, threshold: float, facts: dict[str, Any]) -> None:
    """Write the card that `hardset.models.local` reads."""
    card = Card(version, EDGE, SLOTS, FEATURES, VOCABULARY, ANSWERS, threshold, facts)
    text = msgspec.json.format(msgspec.json.encode(card), indent=1)
    (folder / CARD).write_bytes(text + b"\n")


def _write(
    network: nn.Module,
    inputs: tuple[Tensor, ...],
    shapes: dict[str, Any],
    outputs: list[str],
    path: Path,
) -> None:
    network.eval()
    program = torch.onnx.export(
        network,
        inputs,
        input_names=list(shapes),
        output_names=outputs,
        dynamic_shapes=shapes,
        dynamo=True,
        optimize=True,
        verbose=False,
    )
    assert program is not None
    model = program.model_proto
    _halve(model.graph)
    for entry in (*model.graph.node, *model.graph.value_info):  # where in the code it came from
        del entry.metadata_props[:]
    del model.graph.value_info[:]
    del model.metadata_props[:]
    for node in model.graph.node:
        node.doc_string = ""
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString(deterministic=True))


def _halve(graph: onnx.GraphProto) -> None:
    """Keep the weights as 16-bit floats; they are made 32-bit again when they are loaded."""
    casts = []
    for weight in graph.initializer:
        if weight.data_type != TensorProto.FLOAT or np.prod(weight.dims) < SMALL:
            continue
        name = weight.name
        half = numpy_helper.to_array(weight).astype(np.float16)
        weight.CopyFrom(numpy_helper.from_array(half, f"{name}/half"))
        casts.append(helper.make_node("Cast", [f"{name}/half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
