"""Train local/scout from nothing, and write its weights and card.

    pip install -e '.[torch]'
    python scripts/train_scout.py --out src/hardset/models/weights

It trains the eye on drawn pictures, the mind first on what a perfect eye would see and then on
what this one sees, exports both, chooses the threshold of local/scout-abstain and measures. It
goes on from its checkpoints in --work when it is started again. About forty minutes on two
processor cores that have nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# Threads that wait for work asleep leave the machine to others; the default spins.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch
from scout import export, measure
from scout.examples import SEED, VOCABULARY, ideal_slots, picture, targets, training_scene
from scout.network import EDGE, SLOTS, Eye, Mind
from scout.steps import eye_batches, eye_loss, look, mind_batches, mind_loss, seconds, train

from hardset.sources.scenes.graph import Scene
from hardset.sources.scenes.language import ANSWERS

STAGES = ("eye", "mind", "tuned")


def main() -> None:
    """Train, export and measure."""
    options = _options()
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    options.work.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - began:6.0f} s] {text}", flush=True)

    scenes = [training_scene(index) for index in range(options.scenes)]
    pictures, truths = _drawn(scenes, options.work)
    say("pictures are drawn")
    eye = Eye().to(memory_format=torch.channels_last)
    train(
        eye,
        lambda batch: eye_loss(eye, *batch),
        lambda step: eye_batches(pictures, truths, 96, seed=step),
        options.eye_steps,
        3e-3,
        say,
        options.work / "eye.pt",
    )

    graphs = [scene for scene, _ in scenes]
    random = np.random.default_rng(0)
    ideal = np.stack([ideal_slots(scene, random) for scene in graphs]).astype(np.float16)
    mind = Mind(len(VOCABULARY), len(ANSWERS))
    train(
        mind,
        lambda batch: mind_loss(mind, *batch),
        lambda step: mind_batches(graphs, ideal, 256, seed=step, ground=True),
        options.mind_steps,
        1.5e-3,
        say,
        options.work / "mind.pt",
    )
    seen = look(eye, pictures)
    train(
        mind,
        lambda batch: mind_loss(mind, *batch),
        lambda step: mind_batches(graphs, seen, 256, seed=1_000_000 + step, ground=False),
        options.tune_steps,
        7e-4,
        say,
        options.work / "tuned.pt",
    )

    settings = {
        "seed of the scenes": SEED,
        "scenes": options.scenes,
        "eye steps": options.eye_steps,
        "mind steps": options.mind_steps,
        "tuning steps": options.tune_steps,
        "torch": str(torch.__version__),
        "seconds": {stage: seconds(options.work / f"{stage}.pt") for stage in STAGES},
    }
    finish(eye, mind, options.out, settings, say, options.measured)


def finish(
    eye: Eye, mind: Mind, out: Path, settings: dict[str, Any], say: measure.Say, measured: int
) -> None:
    """Export, choose the threshold, measure, and write the card with all of it."""
    facts: dict[str, Any] = {
        "what": "a vision-question network trained on hardset's scenes alone",
        "parameters": {
            "eye": sum(p.numel() for p in eye.parameters()),
            "mind": sum(p.numel() for p in mind.parameters()),
        },
        "training": settings,
    }
    version = export.export(eye, mind, out)
    export.write_card(out, version, 0.0, facts)
    threshold, facts["threshold"] = measure.choose_threshold(out, say)
    export.write_card(out, version, threshold, facts)
    if measured:
        facts["measured"] = measure.measure(out, say, measured)
        export.write_card(out, version, threshold, facts)
    say(f"weights {version} are in {out}")


def _drawn(scenes: list[tuple[Scene, str]], work: Path) -> tuple[Any, Any]:
    """Draw the pictures, or find those drawn before, and list what is in them."""
    truths = np.stack([targets(scene, variant) for scene, variant in scenes])
    path, finished = work / "pictures.npy", work / "pictures.done"
    if not finished.exists():
        shape = (len(scenes), EDGE, EDGE, 3)
        drawn = np.lib.format.open_memmap(path, "w+", np.uint8, shape)
        for place, (scene, variant) in zip(drawn, scenes, strict=True):
            place[:] = picture(scene, variant)
        drawn.flush()
        finished.touch()
    pictures = np.load(path, mmap_mode="r")
    if len(pictures) != len(scenes):
        sys.exit(f"{path} has {len(pictures)} pictures, not {len(scenes)}: use another --work")
    assert truths.shape == (len(scenes), SLOTS, 7)
    return pictures, truths


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    work = Path(tempfile.gettempdir()) / "hardset-scout"
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights")
    parser.add_argument("--work", type=Path, default=work, help="folder for checkpoints")
    parser.add_argument("--scenes", type=int, default=50_000)
    parser.add_argument("--eye-steps", type=int, default=1500)
    parser.add_argument("--mind-steps", type=int, default=9000)
    parser.add_argument("--tune-steps", type=int, default=1500)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--measured", type=int, default=4000, help="plain items; 0: do not")
    return parser.parse_args()


if __name__ == "__main__":
    main()
