"""Ten metrics over 754,000 outcomes, in 122 slices, each with a 10,000-draw cluster bootstrap.

usage: python bench/metrics_scale.py [item] [image]      (the clusters; both, if none named)

The outcomes are made up, the same every time: 41,883 items on about 26,000 images, each asked 18
times (three prompts, six repeats), with the columns of a run. Making them is not measured; a
process of its own reads them from parquet and works everything out.
"""

import sys
import tempfile
from pathlib import Path

from measure import cost

ITEMS = 41_883
IMAGES = 26_000
PROMPTS = ("plain", "refusal", "cot")
REPEATS = 6
SHIFTS = ("MA", "VFP", "USPC", "ULS", "MKB", "MP", "PA", "IQM")
FORMS = ("yes_no", "choice", "open")
SCENARIOS = ("coarse", "fine", "spatial", "physical", "logical", "symbolic")
CUTS = (  # 1 + 8 + 3 + 6 + 3 + 2 + 9 + 24 + 18 + 48 = 122 slices
    (), ("shift",), ("form",), ("scenario",), ("prompt",), ("origin",), ("prompt", "form"),
    ("shift", "form"), ("form", "scenario"), ("shift", "scenario"),
)  # fmt: skip


def outcomes(path, items=ITEMS, images=IMAGES):
    """Write the outcomes: items differ in difficulty, images too, so that clusters matter."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(754)
    each = len(PROMPTS) * REPEATS
    rows = items * each
    item = np.repeat(np.arange(items), each)
    of_item = {
        "item": np.char.mod("q%05d", np.arange(items)),
        "sha256": np.char.mod("%064x", rng.integers(images, size=items)),
        "answerable": rng.random(items) < 0.5,
        "shift": np.array(SHIFTS)[rng.integers(8, size=items)],
        "form": np.array(FORMS)[rng.integers(3, size=items)],
        "scenario": np.array(SCENARIOS)[rng.integers(6, size=items)],
        "origin": np.array(["generated", "human"])[rng.integers(2, size=items)],
    }
    prompt = np.tile(np.repeat(np.arange(len(PROMPTS)), REPEATS), items)
    ease = rng.normal(0, 1.5, items)[item] + np.array([0.0, 0.3, 0.6])[prompt]
    refuses = rng.normal(-1, 1.5, items) + np.where(of_item["answerable"], -0.5, 1.5)
    abstained = rng.logistic(size=rows) < refuses[item] + np.array([0.0, 0.8, 0.4])[prompt]
    knows = rng.logistic(size=rows) < ease
    answerable = of_item["answerable"][item]
    fate = rng.random(rows)
    state = np.where(abstained, "abstained", "answered").astype("U14")
    state[fate < 0.04], state[fate < 0.025], state[fate < 0.01] = (
        "unparsed", "truncated", "request-failed",
    )  # fmt: skip
    right = np.where(answerable, (state == "answered") & knows, state == "abstained")
    frame = pl.DataFrame({name: values[item] for name, values in of_item.items()}).with_columns(
        repeat=pl.Series(np.tile(np.arange(each), items).astype(np.uint16)),
        prompt=pl.Series(np.array(PROMPTS)[prompt]),
        state=pl.Series(state),
        right=pl.Series(right),
        paper_right=pl.Series(right | (fate > 0.99)),
    )
    frame.write_parquet(path)


def measure(path, cluster):
    """What is measured: read the outcomes, declare ten ratios, work them out."""
    import polars as pl

    from hardset.metrics import Rates, accuracy, in_state, refusal_ratios
    from hardset.records import State

    ratios = [
        accuracy(),
        accuracy("paper", "paper accuracy"),
        *refusal_ratios(),
        *(in_state(state) for state in (State.ABSTAINED, State.TRUNCATED, State.UNPARSED)),
    ]
    found = Rates(
        frame=pl.read_parquet(path), ratios=ratios, cluster=cluster or None, by=CUTS
    ).metrics()
    assert len(found) == 1220
    assert all(one.low is not None for one in found)


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--measure":
        measure(*sys.argv[2:])
        return
    for row in rows(sys.argv[1:] or ("item", "image")):
        print("  ".join(row), flush=True)


def rows(clusters=("item", "image")):
    """Yield (what, figures, bound) for each kind of cluster."""
    with tempfile.TemporaryDirectory(prefix="hardset-bench-") as folder:
        path = Path(folder) / "outcomes.parquet"
        # in a process of its own: a child starts as large as what it was forked from
        cost([sys.executable, "-c", f"import metrics_scale as m; m.outcomes({str(path)!r})"],
             cwd=Path(__file__).parent)  # fmt: skip
        for cluster in clusters:
            column = {"item": "", "image": "sha256"}[cluster]
            took = cost([sys.executable, __file__, "--measure", path, column], quiet=False)
            yield (
                "754,000 outcomes, 122 slices x 10 metrics, 10,000-draw cluster bootstrap "
                f"(clusters: {cluster}s)",
                f"{took.wall:.1f} s (CPU {took.cpu:.1f} s), {took.peak:.0f} MB",
                "≤ 15 s, aim 5 s; 1,500 MB",
            )


if __name__ == "__main__":
    main()
