"""Text networks by transformers: the paper's by name, any other as `hf/NAME` or `hf/FOLDER`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from hardset.errors import UsageError
from hardset.lowresource.examples import Content
from hardset.lowresource.network import Network
from hardset.lowresource.networks import torchvision_ops
from hardset.lowresource.networks.hub_reach import UNREACHED, reached
from hardset.lowresource.tokens import MOST_TOKENS

torchvision_ops.declare()
import torch  # noqa: E402 (the operators first)
from transformers import (  # noqa: E402
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    T5EncoderModel,
)

NAMES = {
    "bert": "bert-base-uncased",
    "gpt2": "gpt2",
    "roberta": "roberta-base",
    "t5": "t5-base",
}
_WEIGHT_FILES = ("*.safetensors", "pytorch_model*.bin")


class Classifier(nn.Module):
    """A model for sequence classification, which gives its logits and nothing else."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return logits (batch, outputs)."""
        logits: Tensor = self.model(**inputs).logits
        return logits


class T5Classifier(nn.Module):
    """T5's encoder; the mean of its states goes through one linear layer."""

    def __init__(self, encoder: Any, outputs: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(encoder.config.dropout_rate)
        self.head = nn.Linear(encoder.config.d_model, outputs)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return logits (batch, outputs)."""
        states = self.encoder(**inputs).last_hidden_state
        real = inputs["attention_mask"].to(states.dtype)
        mean = torch.einsum("blw,bl->bw", states, real) / real.sum(1, keepdim=True).clamp(min=1)
        logits: Tensor = self.head(self.dropout(mean))
        return logits


@dataclass(frozen=True)
class Tokens:
    """Collate texts, or pairs of texts, by a model's own tokenizer, padded to the longest.

    What is too long loses words at the end of the longer text.

    Attributes:
        tokenizer: of transformers.
        most: tokens of an example at most.
        between: the number of the mark put between two texts, where the tokenizer puts none
            (GPT-2's); None where it does.
    """

    tokenizer: Any
    most: int
    between: int | None = None

    def __call__(self, contents: Sequence[Content]) -> dict[str, Tensor]:
        """Return the batch: `input_ids`, `attention_mask` and what else the model is given."""
        texts: Any = contents
        first = [text[0] for text in texts]
        second = [text[1] for text in texts] if len(texts[0]) == 2 else None
        if self.between is None:
            batch = self.tokenizer(
                first,
                second,
                truncation=True,
                max_length=self.most,
                padding=True,
                return_tensors="pt",
            )
        else:
            batch = self._joined(first, second)
        return dict(batch)

    def _joined(self, first: list[str], second: list[str] | None) -> Any:
        """Tokenise where the tokenizer adds no marks: a text without words is one mark."""
        assert self.between is not None
        lists = [self.tokenizer(part)["input_ids"] for part in (first, second) if part]
        rows = [ids[: self.most] for ids in lists[0]]
        if len(lists) == 2:
            room = self.most - 1
            rows = []
            for one, other in zip(*lists, strict=True):
                kept = one[: max(room - len(other), room - room // 2)]
                rows.append([*kept, self.between, *other[: room - len(kept)]])
        rows = [row or [self.between] for row in rows]
        return self.tokenizer.pad({"input_ids": rows}, padding=True, return_tensors="pt")


def build(name: str, outputs: int, weights: str | None) -> Network:
    """Return one of `NAMES`, or `hf/NAME` of the hub, or `hf/FOLDER`, as a classifier.

    Raises:
        UsageError: the hub cannot be reached, the folder lacks something, or what is there is no
            model for this.
    """
    place, local = _place(name, weights)
    said = {"model": place}
    if local and weights != "random":
        said |= {"weights": place, "weights_sha256": _sha256(name, Path(place))}
    given = {"local_files_only": local or not reached()}
    try:
        with _quietly():
            config = AutoConfig.from_pretrained(place, num_labels=outputs, **given)
            tokenizer = AutoTokenizer.from_pretrained(place, **given)
            _see_words(name, place, tokenizer)
            between = _mend_padding(name, config, tokenizer)
            module = _module(name, place, config, outputs, weights == "random", given)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(_trouble(name, place, local, error)) from error
    if not local and weights != "random":
        revision = getattr(config, "_commit_hash", None)
        said |= {"weights": place, "weights_revision": str(revision)}
    collate = Tokens(tokenizer, _most(config, tokenizer), between)
    return Network(
        module, collate, name, str(config.model_type), said | {"most_tokens": collate.most}
    )


def _place(name: str, weights: str | None) -> tuple[str, bool]:
    """Return the folder or the hub's name, and whether it is a folder."""
    place = NAMES.get(name, name.removeprefix("hf/"))
    if weights not in (None, "random", "pretrained"):
        place = str(weights)
    folder = Path(place).expanduser()
    if folder.is_dir():
        return str(folder), True
    if weights == place or place.startswith((".", "/", "~")) or place.count("/") > 1:
        raise UsageError(
            f"{name}: there is no folder {place} (as a model's `save_pretrained` leaves)"
        )
    return place, False


def _sha256(name: str, folder: Path) -> str:
    """Return the digest of a folder's weights, file after file in the order of their names."""
    files = next((found for kind in _WEIGHT_FILES if (found := sorted(folder.glob(kind)))), None)
    if files is None:
        raise UsageError(
            f"{name}: {folder} holds no weights (model.safetensors): put them there, or give "
            'weights "random" to train from scratch'
        )
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def _see_words(name: str, place: str, tokenizer: Any) -> None:
    """See that a tokenizer has words: without its files transformers makes one of marks alone.

    Raises:
        UsageError: it has none, and every text would be the same.
    """
    if len(tokenizer) - len(set(tokenizer.all_special_ids)) < 2:  # T5's keeps its mark of a space
        raise UsageError(
            f"{name}: {place} holds no tokenizer (tokenizer.json, or a vocabulary): put there what "
            "its `save_pretrained` leaves"
        )


def _mend_padding(name: str, config: Any, tokenizer: Any) -> int | None:
    """Give a tokenizer without padding, as GPT-2's, its end mark to pad by.

    Returns:
        The mark to put between two texts, where the tokenizer puts none.
    """
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            raise UsageError(f"{name}: its tokenizer has no padding token and no end token")
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "right"
    config.pad_token_id = tokenizer.pad_token_id
    if tokenizer.num_special_tokens_to_add(pair=True) == 0:
        mark = tokenizer.eos_token_id
        return int(mark if mark is not None else tokenizer.pad_token_id)
    return None


def _module(
    name: str, place: str, config: Any, outputs: int, random: bool, given: dict[str, Any]
) -> nn.Module:
    t5 = "t5" in str(config.model_type)
    kind: Any = T5EncoderModel if t5 else AutoModelForSequenceClassification
    if random:
        model = T5EncoderModel(config) if t5 else kind.from_config(config)
    else:
        model, said = kind.from_pretrained(
            place,
            config=config,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,  # another number of classes: the head stays new
            output_loading_info=True,
            **given,
        )
        _all_there(name, place, model, said)
    return T5Classifier(model, outputs) if t5 else Classifier(model)


def _all_there(name: str, place: str, model: Any, said: dict[str, Any]) -> None:
    """See that only the head, or what is above the last layer, is new.

    Raises:
        UsageError: the weights are of another model, and would silently be random.
    """
    new = [*said["missing_keys"], *(key for key, *_ in said["mismatched_keys"])]
    body = (
        ("encoder.block",) if "t5" in model.config.model_type else (model.base_model_prefix + ".",)
    )
    lost = sorted(key for key in new if key.startswith(body) and "pooler" not in key)
    if lost:
        raise UsageError(
            f"{name}: the weights in {place} are not this model's: {len(lost)} are missing or of "
            f"another size, as {', '.join(lost[:3])}"
        )


@contextmanager
def _quietly() -> Iterator[None]:
    """Have transformers say nothing of what is looked at here anyway."""
    from transformers.utils import logging as theirs

    logging: Any = theirs
    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def _most(config: Any, tokenizer: Any) -> int:
    """Return how many tokens of an example are kept: the paper's 256, or what the model bears."""
    bears = getattr(config, "max_position_embeddings", None) or MOST_TOKENS
    if "roberta" in str(config.model_type):
        bears -= config.pad_token_id + 1  # its positions begin after the padding's number
    return int(min(MOST_TOKENS, bears, tokenizer.model_max_length))


def _trouble(name: str, place: str, local: bool, error: Exception) -> str:
    said = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    if local:
        return f"{name}: the folder {place} does not load as a text classifier ({said})"
    if not reached():
        said = UNREACHED
    return (
        f"{name}: {place} cannot be had from the hub ({said}): give a local folder as weights, or "
        "as hf/FOLDER, or set HF_HOME to a folder where it is cached"
    )
