"""Squared gradient norms of the field's networks, small ones with random weights."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from gradient_oracle import Logits, agree  # noqa: E402
from hardset.lowresource.networks.torchvision_ops import declare  # noqa: E402

WORDS, LABELS = 50, 3
TARGETS = [0, 1, 2, 0]
BERT = {
    "vocab_size": WORDS,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "num_labels": LABELS,
    "max_position_embeddings": 32,
}
GPT2 = {
    "vocab_size": WORDS,
    "n_embd": 16,
    "n_layer": 2,
    "n_head": 2,
    "n_positions": 32,
    "num_labels": LABELS,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
T5 = {
    "vocab_size": WORDS,
    "d_model": 16,
    "d_kv": 8,
    "d_ff": 24,
    "num_layers": 2,
    "num_heads": 2,
    "num_labels": LABELS,
    "decoder_start_token_id": 0,
    "pad_token_id": 0,
    "eos_token_id": 1,
}
TEXT = {
    "Bert": BERT,
    "Roberta": BERT,
    "Albert": BERT | {"embedding_size": 8},
    "GPT2": GPT2,
    "T5": T5,
}


@pytest.mark.parametrize("length", [4, 7, 8])  # as many positions as examples; odd; a multiple
@pytest.mark.parametrize("name", TEXT)
def test_transformers(name, length):
    declare()
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**TEXT[name])
    model = getattr(transformers, f"{name}ForSequenceClassification")(config)
    ids = torch.randint(3, WORDS, (4, length))
    if name == "T5":
        ids[:, -1] = 1  # it asks for the end of the text
    attended = torch.ones_like(ids)
    if name != "T5":
        ids[1, 2:], attended[1, 2:] = 0, 0
    inputs = {"input_ids": ids, "attention_mask": attended}
    methods = agree(Logits(model), inputs, torch.tensor(TARGETS))
    kinds = set(methods.values()) - {"linear", "bias", "embedding"}
    assert kinds <= ({"scale", "derived"} if name == "T5" else {"norm"})


IMAGES = {
    "vit_tiny_patch16_224": {"depth": 2, "embed_dim": 24, "num_heads": 2, "img_size": 32},
    "resnet10t": {},
    "densenet121": {"growth_rate": 4, "block_config": (2, 2)},
    "tf_efficientnetv2_b0": {},
    "convnext_atto": {"depths": (1, 1, 1, 1), "dims": (8, 8, 16, 16)},
    "mobilenetv3_small_050": {},
    "swin_tiny_patch4_window7_224": {
        "img_size": 28,
        "depths": (2,),
        "num_heads": (2,),
        "embed_dim": 8,
    },
}


@pytest.mark.parametrize("name", IMAGES)
def test_timm(name):
    declare()
    timm = pytest.importorskip("timm")
    torch.manual_seed(0)
    model = timm.create_model(name, num_classes=LABELS, **IMAGES[name])
    side = IMAGES[name].get("img_size", 32)
    methods = agree(model, torch.randn(4, 3, side, side), torch.tensor(TARGETS))
    assert "unused" not in methods.values()
