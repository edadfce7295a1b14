"""`local/scout`: a small vision-question network that really looks at pixels, on onnxruntime.

It was trained on the `scenes` benchmark by `scripts/train_scout.py` and knows nothing else. An
eye turns the picture into up to ten soft descriptions of objects; a mind scores every answer it
knows for the words of a question, or how true a statement is. `local/scout` always answers;
`local/scout-abstain` refuses where its confidence is below a threshold, which was chosen on
scenes that it is not measured on. Both look at the prompt alone, never at the item.
"""

from __future__ import annotations

import asyncio
import io
import math
import os
import re
import time
from binascii import a2b_base64
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec
from msgspec import Struct

from hardset.errors import UsageError
from hardset.images import BadMedia, Library
from hardset.images.bounded import Bounded
from hardset.records import Failure, Image, Item, Prompt, Reply, State
from hardset.sources.scenes.language import tokens

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Slots = npt.NDArray[np.float32]

REFUSAL = "I cannot tell from the image."
NAMES = ("scout", "scout-abstain")
MOST_WORDS = 47  # of a text: with the start, as many as it was trained on
_ARTICLES = ("a", "an", "the", "it", "is")
PACKAGED = Path(__file__).parent / "weights"
EYE, MIND, CARD = "scout_eye.onnx", "scout_mind.onnx", "scout.json"
KEPT = 512  # pictures whose slots are kept: 1.6 KB each


class Card(Struct, frozen=True):
    """What `scripts/train_scout.py` writes beside the weights; `facts` are for people."""

    version: str  # of the weights: the first digits of their sha256
    edge: int  # the side of the picture as the eye gets it, in pixels
    slots: int  # objects it can list
    features: int  # numbers that describe each
    vocabulary: tuple[str, ...]  # a word's place is its id; the first three are marks
    answers: tuple[str, ...]
    threshold: float  # `local/scout-abstain` refuses below this confidence
    facts: dict[str, Any] = {}


class Asked(Struct, frozen=True):
    """What a prompt asks, as far as it matters to a scout: the words and the form wanted."""

    words: tuple[str, ...]
    options: tuple[str, ...] = ()  # as they are written, A first
    form: str = ""  # "yes_no", "number" or not known
    braces: bool = False

    def fits(self, answer: str) -> bool:
        """Say whether an answer has the form wanted."""
        if self.form == "yes_no":
            return answer in ("yes", "no")
        return self.form != "number" or answer.isdecimal()


_OPTION = re.compile(r"\s*[(\[]?([A-Z])[.):\]]+\s+(\S.*)")
_FORMS = {
    "yes_no": re.compile(r"\b(answer|reply|respond)\b.{0,20}\byes or no\b", re.I),
    "number": re.compile(r"\b(answer|reply|respond)\b.{0,20}\ba number\b", re.I),
}
_BRACES = re.compile(r"curly braces|\{[^{}\n]{0,40}\}", re.I)


def understand(text: str) -> Asked:
    """Find the question, the lettered options and the form wanted in a prompt's text.

    The question is what ends in the last question mark before the options; what follows it are
    instructions. A text without a question mark is taken whole.
    """
    lines = text.splitlines()
    question: list[str] = []
    options: list[str] = []
    for line in lines:
        found = _OPTION.fullmatch(line)
        if found and found[1] == chr(ord("A") + len(options)):
            options.append(found[2].strip())
        elif not options:
            question.append(line)
    if len(options) < 2:
        question, options = lines, []
    asked = "\n".join(question)
    last = max(asked.rfind("?"), asked.rfind("？"))
    form = next((name for name, rule in _FORMS.items() if rule.search(text)), "")
    braces = not options and bool(_BRACES.search(text[last + 1 :]))
    words = tokens(asked[: last + 1] or asked)
    return Asked(
        tuple(words[-MOST_WORDS:]),
        tuple(options),
        "number" if braces else form,
        braces,
    )


class Scout:
    """The two networks: pictures to slots, slots and words to confidence in each answer."""

    def __init__(self, card: Card, eye: bytes, mind: bytes) -> None:
        self.card = card
        self._eye, self._mind = _session(eye), _session(mind)
        self._ids = {word: i for i, word in enumerate(card.vocabulary)}

    def look(self, data: bytes) -> Slots:
        """Look at an encoded picture of any size and mode: float32 [slots, features].

        Raises:
            Exception: whatever Pillow raises where it cannot be decoded.
        """
        slots: Slots = self._eye.run(None, {"pictures": _pixels(data, self.card.edge)[None]})[0][0]
        return slots

    def blank(self) -> Slots:
        """Return what it sees without a picture: nothing."""
        import numpy as np

        return np.zeros((self.card.slots, self.card.features), np.float32)

    def think(self, slots: Slots, texts: Sequence[Sequence[str]]) -> npt.NDArray[np.float32]:
        """Return the probability of each answer to each text, given as words.

        Returns:
            float32 [texts, answers].
        """
        import numpy as np

        longest = max(map(len, texts))
        words = np.zeros((len(texts), 1 + longest), np.int64)  # 0 pads
        words[:, 0] = self._ids["<start>"]
        unknown = self._ids["<unk>"]
        for row, text in zip(words, texts, strict=True):
            row[1 : 1 + len(text)] = [self._ids.get(word, unknown) for word in text]
        seen = np.broadcast_to(slots, (len(texts), *slots.shape))
        scores = self._mind.run(None, {"slots": np.ascontiguousarray(seen), "words": words})[0]
        odds = np.exp(scores - scores.max(-1, keepdims=True))
        found: npt.NDArray[np.float32] = odds / odds.sum(-1, keepdims=True)
        return found

    def answer(self, slots: Slots, asked: Asked) -> tuple[str, float]:
        """Return the reply and the confidence in it, from 0 to 1."""
        if asked.options:
            best, confidence = self._choose(slots, asked)
            return f"{chr(ord('A') + best)}. {asked.options[best]}", confidence
        odds = self.think(slots, [asked.words])[0]
        able = [i for i, answer in enumerate(self.card.answers) if asked.fits(answer)]
        best = max(able, key=lambda i: odds[i])
        found = self.card.answers[best]
        return f"{{{found}}}" if asked.braces else found, float(odds[best])

    def _choose(self, slots: Slots, asked: Asked) -> tuple[int, float]:
        """Choose the option whose word answers best or, as a statement, is most likely true."""
        place = {answer: i for i, answer in enumerate(self.card.answers)}
        said = [tokens(option)[:MOST_WORDS] for option in asked.options]
        bare = [[word for word in words if word not in _ARTICLES] for words in said]
        if all(len(words) == 1 and words[0] in place for words in bare):
            odds = self.think(slots, [asked.words])[0]
            scores = [float(odds[place[words[0]]]) for words in bare]
        else:
            scores = self.think(slots, said)[:, place["yes"]].tolist()
        best = max(range(len(scores)), key=scores.__getitem__)
        return best, scores[best]


def _session(weights: bytes) -> Any:
    """Load a network to run on one thread: the questions are what runs side by side."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _pixels(data: bytes, edge: int) -> npt.NDArray[np.uint8]:
    """Decode a picture to uint8 [edge, edge, 3]; what is see-through is on white.

    Each pixel is the mean of those it stands for, so a drawn scene is simply halved.
    """
    import numpy as np
    from PIL import Image as Pillow

    with Pillow.open(io.BytesIO(data)) as opened:
        opened.draft("RGB", (2 * edge, 2 * edge))  # JPEG: decode no more than is needed
        picture: Any = opened
        if picture.mode in ("I;16", "I;16B", "I", "F"):
            picture = picture.convert("I").point(lambda value: value / 256).convert("L")
        if picture.has_transparency_data:
            over = picture.convert("RGBA")
            picture = Pillow.new("RGBA", over.size, "white")
            picture.alpha_composite(over)
        small = picture.convert("RGB").resize((edge, edge), Pillow.Resampling.BOX)
        return np.asarray(small, np.uint8)


class LocalScout:
    """The model `local/scout` or `local/scout-abstain`.

    Args:
        name: "scout" or "scout-abstain".
        weights: the folder of other weights than the package's, as the training writes them.

    Raises:
        UsageError: it is neither, or the weights are not in the installation.
    """

    takes = frozenset({"image/jpeg", "image/png", "image/webp", "image/gif"})
    free = True  # it costs nothing, so no budget applies

    def __init__(self, name: str, weights: str | Path | None = None) -> None:
        if name not in NAMES:
            raise UsageError(
                f"no local model is called {name!r}: use local/{' or local/'.join(NAMES)}"
            )
        self._weights = Path(weights) if weights else PACKAGED
        card = read_card(self._weights)
        self.name = f"local/{name}"
        self.options: Mapping[str, str] = {"weights": card.version}
        self.max_concurrency: int | None = os.cpu_count() or 1
        self._threshold = card.threshold if name == "scout-abstain" else 0.0
        if self._threshold:
            self.options = {**self.options, "threshold": f"{self._threshold:g}"}
        self._kept: Bounded[str, Slots] = Bounded(KEPT)

    def __repr__(self) -> str:
        return f"LocalScout({self.name.removeprefix('local/')!r})"

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(load, self._weights)
        return self

    async def __aexit__(self, *exc: Any) -> None:
        return None

    async def reply(self, prompt: Prompt, item: Item, library: Library) -> Reply:
        """Answer what the prompt asks of its first picture; without one, what is usual."""
        return await asyncio.to_thread(self._reply, prompt, library)

    def _reply(self, prompt: Prompt, library: Library) -> Reply:
        begun = time.perf_counter()
        pieces = [piece for message in prompt.messages for piece in message.content]
        image = next((piece for piece in pieces if isinstance(piece, Image)), None)
        scout = load(self._weights)
        try:
            slots = scout.blank() if image is None else self._look(scout, image, library)
        except BadMedia as bad:
            return Reply(failure=Failure(state=State.BAD_MEDIA, reason=bad.reason))
        texts = [piece for piece in pieces if isinstance(piece, str)]
        text, confidence = scout.answer(slots, understand("\n".join(texts)))
        if confidence < self._threshold:
            text, confidence = REFUSAL, 1 - confidence  # the answer would have been wrong
        tokens = ((text, math.log(max(confidence, 1e-300))),) if prompt.sampling.logprobs else ()
        return Reply(text=text, seconds=time.perf_counter() - begun, tokens=tokens)

    def _look(self, scout: Scout, image: Image, library: Library) -> Slots:
        """Look at a picture, once as long as its slots are kept."""
        kept: Slots | None = self._kept.get(image.sha256) if image.sha256 else None
        if kept is not None:
            return kept
        data = a2b_base64(library.payload(image).base64)
        try:
            slots = scout.look(data)
        except Exception as error:  # Pillow raises many kinds where a picture is broken
            said = f"{type(error).__name__}: {error}"
            raise BadMedia(f"{image.where[:80]} cannot be decoded: {said}") from error
        if image.sha256:
            self._kept.put(image.sha256, slots)
        return slots


@cache
def load(weights: Path = PACKAGED) -> Scout:
    """Load the networks of a folder, once a process.

    Raises:
        UsageError: they are not there.
    """
    return Scout(read_card(weights), _bytes(weights / EYE), _bytes(weights / MIND))


def read_card(weights: Path = PACKAGED) -> Card:
    """Read the card of a folder of weights.

    Raises:
        UsageError: it is not there, or it is not such a card.
    """
    try:
        return msgspec.json.decode(_bytes(weights / CARD), type=Card)
    except msgspec.DecodeError as error:
        raise UsageError(f"{weights / CARD} is no card of local/scout: {error}") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"local/scout's weights are missing ({path}): install hardset anew, or train them "
            "with scripts/train_scout.py"
        ) from error
