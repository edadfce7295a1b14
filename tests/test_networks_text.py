"""Text networks: ours from scratch, and those of transformers from local folders."""

from __future__ import annotations

import numpy as np
import pytest

from hardset.errors import UsageError
from hardset.lowresource.examples import Held
from text_models import NUMBER, text_model

torch = pytest.importorskip("torch")
from hardset.lowresource.networks.registry import build  # noqa: E402

pytestmark = pytest.mark.torch

SINGLE = Held(["good film", "", "a very bad film", "the good good film"], np.array([1, 0, 0, 1]))
PAIRS = Held(
    [("good film", "bad"), ("", "it was"), ("a " * 300, "the " * 300)], np.array([1, 0, 2])
)
CLS, SEP, END, GOOD, FILM, BAD, IT, WAS = (
    NUMBER[word] for word in "[CLS] [SEP] </s> good film bad it was".split()
)


def batch_of(network, examples):
    return network.collate(examples.fetch(np.arange(len(examples))))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    return {kind: text_model(place / kind, kind) for kind in ("bert", "gpt2", "t5")}


@pytest.mark.parametrize("name", ["transformer", "bag-of-words"])
@pytest.mark.parametrize("examples", [SINGLE, PAIRS], ids=["single", "pairs"])
def test_networks_from_scratch_take_texts_and_pairs(name, examples):
    network = build(name, examples, seed=0)
    logits = network.module(batch_of(network, examples))
    assert logits.shape == (len(examples), len(examples.classes))
    assert logits.isfinite().all()


@pytest.mark.parametrize("name", ["transformer", "bag-of-words"])
def test_padding_changes_nothing(name):
    network = build(name, SINGLE, seed=0)
    together = network.module(batch_of(network, SINGLE))
    alone = network.module(network.collate([("good film",)]))
    assert alone[0].tolist() == pytest.approx(together[0].tolist(), abs=1e-6)


def test_a_bag_has_no_order_and_a_transformer_has():
    texts = [("good bad film",), ("film good bad",)]
    for name, same in (("bag-of-words", True), ("transformer", False)):
        network = build(name, SINGLE, seed=0)
        first, second = network.module(network.collate(texts))
        assert torch.allclose(first, second, atol=1e-6) is same


def test_bag_of_words_by_hand():
    network = build("bag-of-words", SINGLE, seed=0)
    module = network.module
    good, film = (module.embedding.weight[network.collate.known.encode((w,))[0][0]]
                  for w in ("good", "film"))  # fmt: skip
    hidden = torch.relu(module.hidden((good + good + film) / 3))
    expected = module.head(hidden)
    said = module(network.collate([("good good film",)]))[0]
    assert said.tolist() == pytest.approx(expected.tolist(), abs=1e-6)


def test_every_parameter_is_in_a_plain_layer():
    plain = (torch.nn.Linear, torch.nn.Embedding, torch.nn.LayerNorm)
    for name in ("transformer", "bag-of-words"):
        module = build(name, PAIRS, seed=0).module
        own = [
            m for m in module.modules() if next(iter(m.parameters(recurse=False)), None) is not None
        ]
        assert all(isinstance(layer, plain) for layer in own)


def test_bert_marks_pairs(folders):
    network = build("bert", PAIRS, seed=0, weights=str(folders["bert"]))
    batch = batch_of(network, PAIRS)
    assert batch["input_ids"][0, :6].tolist() == [CLS, GOOD, FILM, SEP, BAD, SEP]
    assert batch["input_ids"].shape == (3, 64)  # as many as this model bears
    # The longest, 300 and 300 words, is cut evenly: 61 words beside three marks.
    halves = [int((batch["input_ids"][2] == NUMBER[word]).sum()) for word in ("a", "the")]
    assert sum(halves) == 61
    assert abs(halves[0] - halves[1]) <= 1
    assert network.module(batch).shape == (3, 3)


def test_gpt2_is_given_padding_and_a_mark_between(folders):
    network = build(f"hf/{folders['gpt2']}", PAIRS, seed=0)
    batch = batch_of(network, PAIRS)
    assert batch["input_ids"][0, :5].tolist() == [GOOD, FILM, END, BAD, END]
    assert batch["attention_mask"][0].sum() == 4
    assert batch["input_ids"][1, :3].tolist() == [END, IT, WAS]
    assert network.module(batch).shape == (3, 3)


def test_gpt2_reads_the_last_word_and_not_the_padding(folders):
    network = build(f"hf/{folders['gpt2']}", SINGLE, seed=0)
    together = network.module(batch_of(network, SINGLE))
    alone = network.module(network.collate([("good film",)]))
    assert alone[0].tolist() == pytest.approx(together[0].tolist(), abs=1e-5)


def test_t5_is_its_encoder_and_a_head(folders):
    network = build(f"hf/{folders['t5']}", SINGLE, seed=0)
    together = network.module(batch_of(network, SINGLE))
    alone = network.module(network.collate([("good film",)]))
    assert together.shape == (4, 2)
    assert alone[0].tolist() == pytest.approx(together[0].tolist(), abs=1e-5)
    assert not any("decoder" in name for name, _ in network.module.named_parameters())


def test_weights_are_the_folders_and_the_head_is_the_seeds(folders):
    from safetensors.torch import load_file

    stored = load_file(folders["bert"] / "model.safetensors")
    name = "bert.embeddings.word_embeddings.weight"
    first, again, other = (
        build(f"hf/{folders['bert']}", PAIRS, seed=seed).module.model for seed in (0, 0, 1)
    )
    assert torch.equal(first.state_dict()[name], stored[name])
    assert torch.equal(first.classifier.weight, again.classifier.weight)
    assert not torch.equal(first.classifier.weight, other.classifier.weight)
    assert first.classifier.out_features == 3  # the stored head has two


def test_random_weights_only_where_they_are_asked_for(tmp_path, folders):
    empty = text_model(tmp_path / "empty", "bert", weights=False)
    with pytest.raises(UsageError, match=r"holds no weights.*random"):
        build(f"hf/{empty}", SINGLE, seed=0)
    network = build(f"hf/{empty}", SINGLE, seed=3, weights="random")
    assert (network.facts["weights"], network.facts["weights_seed"]) == ("random", 3)
    assert network.module(batch_of(network, SINGLE)).shape == (4, 2)


def test_weights_of_another_model_are_refused(tmp_path, folders):
    wrong = text_model(tmp_path / "wrong", "bert", weights=False)
    (wrong / "model.safetensors").write_bytes((folders["gpt2"] / "model.safetensors").read_bytes())
    with pytest.raises(UsageError, match="are not this model's"):
        build(f"hf/{wrong}", SINGLE, seed=0)


@pytest.mark.parametrize("kind", ["bert", "t5", "gpt2"])
def test_a_folder_without_its_tokenizer_is_refused(tmp_path, folders, kind):
    """Transformers makes one without words, to which all texts are the same."""
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((folders[kind] / name).read_bytes())
    with pytest.raises(UsageError, match=r"holds no tokenizer|does not load as a text classifier"):
        build(f"hf/{tmp_path}", SINGLE, seed=0)


def test_a_hub_out_of_reach(monkeypatch):
    from hardset.lowresource.networks import hub_models

    def unreachable(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(hub_models.AutoConfig, "from_pretrained", unreachable)
    monkeypatch.setattr(hub_models, "reached", lambda: False)
    with pytest.raises(UsageError, match=r"bert-base-uncased.*the hub does not answer.*HF_HOME"):
        build("bert", SINGLE, seed=0)
    monkeypatch.setattr(hub_models, "reached", lambda: True)
    with pytest.raises(UsageError, match=r"bert-base-uncased.*no route.*folder.*HF_HOME"):
        build("bert", SINGLE, seed=0)
    with pytest.raises(UsageError, match="there is no folder"):
        build("hf/./nowhere", SINGLE, seed=0)
    with pytest.raises(UsageError, match="there is no folder"):
        build("bert", SINGLE, seed=0, weights="nowhere")
