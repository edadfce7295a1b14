"""Made-up results of `hardset difficulty` and `hardset learn`, as their files hold them."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl

T4 = 2.7764451051977987  # Student's t, 95 % two-sided, 4 degrees of freedom (tables: 2.776)
HARDEST = {  # accuracy of five seeds on 797 digits, last epoch, by learner and k
    "ffn": {16: (0.41, 0.38, 0.44, 0.40, 0.42), 32: (0.55, 0.57, 0.52, 0.56, 0.55),
            100: (0.90, 0.91, 0.89, 0.90, 0.90)},
    "resnet18": {16: (0.33, 0.36, 0.31, 0.35, 0.30), 32: (0.60, 0.58, 0.61, 0.57, 0.59),
                 100: (0.93, 0.94, 0.93, 0.92, 0.93)},
    "timm/vit_tiny": {16: (0.60, 0.71, 0.66, 0.75, 0.58), 32: (0.70, 0.74, 0.72, 0.69, 0.75),
                      100: (0.84, 0.86, 0.85, 0.85, 0.85)},
}  # fmt: skip
RANDOM = {
    "ffn": {16: (0.80, 0.78, 0.83, 0.79, 0.80), 32: (0.87, 0.88, 0.86, 0.87, 0.87),
            100: (0.93, 0.94, 0.93, 0.93, 0.92)},
    "resnet18": {16: (0.84, 0.85, 0.82, 0.86, 0.83), 32: (0.90, 0.91, 0.90, 0.89, 0.90),
                 100: (0.95, 0.96, 0.95, 0.95, 0.96)},
    "timm/vit_tiny": {16: (0.68, 0.66, 0.69, 0.70, 0.67), 32: (0.76, 0.77, 0.75, 0.76, 0.76),
                      100: (0.85, 0.86, 0.85, 0.84, 0.85)},
}  # fmt: skip


def spread(values, prefix=""):
    n = len(values)
    return {
        f"{prefix}mean": sum(values) / n if n else None,
        f"{prefix}std": float(np.std(values, ddof=1)) if n > 1 else None,
        f"{prefix}worst": min(values) if n else None,
    }


def difference(first, second):
    apart = np.subtract(first, second)
    n, mean = len(apart), float(apart.mean())
    reach = T4 * float(apart.std(ddof=1)) / sqrt(n) if n == 5 else None
    low, high = (None, None) if reach is None else (mean - reach, mean + reach)
    return mean, low, high, n


def metrics(seeds: int = 5, ks=(16, 32, 100), augment: bool = True, failed=()) -> dict:
    """Make `metrics.json` of three learners; with one seed no interval is there."""
    summary, gaps, augmentation = [], [], []
    for learner in HARDEST:
        for k in ks:
            sets = {"hardest": HARDEST[learner][k][:seeds], "random": RANDOM[learner][k][:seeds]}
            for kind, values in sets.items():
                best = [value + 0.02 for value in values]
                at = {"learner": learner, "k": k, "set": kind, "n": len(values)}
                summary.append(at | {"augment": "none"} | spread(values) | spread(best, "paper_"))
                if augment:
                    mixed = [value + 0.015 * (1 if i % 2 else 2) for i, value in enumerate(values)]
                    summary.append(
                        at | {"augment": "cutmix"} | spread(mixed) | spread(mixed, "paper_")
                    )
                    mean, low, high, n = difference(mixed, values)
                    augmentation.append(
                        at
                        | {"augment": "cutmix", "difference": mean, "low": low, "high": high}
                        | {"n": n}
                    )
            mean, low, high, n = difference(sets["hardest"], sets["random"])
            wide = {} if low is None else {"two_way_low": low - 0.01, "two_way_high": high + 0.01}
            gaps.append(
                {"learner": learner, "k": k, "augment": "none", "set": "hardest", "gap": mean,
                 "low": low, "high": high, "n": n, "paper_gap": mean, "paper_low": low,
                 "paper_high": high} | wide
            )  # fmt: skip
    return {
        "measure": "accuracy", "learners": list(HARDEST), "ks": list(ks),
        "sets": ["hardest", "random"], "augments": ["none", "cutmix"] if augment else ["none"],
        "n_test": 797, "summary": summary, "gaps": gaps, "augmentation": augmentation,
        "failed": list(failed),
        "curves": [
            {"learner": "ffn", "set": "hardest", "augment": "none",
             "points": [{"k": 16, "n": 5, "mean": 0.41, "low": 0.38, "high": 0.44,
                         "random_k": None},
                        {"k": 100, "n": 5, "mean": 0.9, "low": 0.89, "high": 0.91,
                         "random_k": 56.2}]},
        ],
    }  # fmt: skip


def learn_manifest(**more) -> dict:
    return {
        "hardset": "0.5.0", "started": "2026-11-29T22:10:03+00:00",
        "train": {"place": "digits", "layout": "parquet", "n": 1000, "sha256": "ab" * 32},
        "test": {"place": "digits", "split": "test", "n": 797},
        "scores": "digits-scores/difficulty.parquet, by gradient_norm",
        "sets": [
            {"set": "hardest", "k": 16, "examples": 160, "suspected_labels": 40.0},
            {"set": "random", "k": 16, "examples": 160, "suspected_labels": 4.4},
        ],
        "recipes": [
            {"learner": one, "k": k, "optimiser": "adam", "lr": 1e-3, "batch": 32, "epochs": 50,
             "milestones": [20, 40], "gamma": 0.5, "source": "Hard-Bench"}
            for one in ("ffn", "resnet18") for k in (16, 32, 100)
        ],
        "departures": ["pictures of 8 x 8 are enlarged to 32 x 32"],
        "seconds": 812.4,
    } | more  # fmt: skip


def failed_trials(n: int = 3) -> list[dict]:
    return [
        {"learner": "ffn", "k": 16, "set": "hardest", "augment": "none", "seed": seed,
         "reason": "the loss is not finite from epoch 3 on"}
        for seed in range(n)
    ]  # fmt: skip


# --- what `hardset difficulty` leaves --------------------------------------------------------


def estimate(value, reach=0.02):
    return {"value": value, "low": value - reach, "high": value + reach}


def pair(a, b, same, rho, overlap, k=60, n=600):
    score_a, score_b = a.partition("@")[0], b.partition("@")[0]
    score = score_a if score_a == score_b else f"{score_a}/{score_b}"
    return {
        "score": score, "a": a, "b": b, "a_score": score_a, "b_score": score_b, "same": same,
        "n": n, "spearman": estimate(rho), "overlap": estimate(overlap, 0.05) | {"k": k},
    }  # fmt: skip


def stability() -> dict:
    """Two predictors of two seeds; those between families are as low as CIFAR-10 has them."""
    pairs = [
        pair("gradient_norm@ffn#0", "gradient_norm@ffn#1", "seeds", 0.90, 0.65),
        pair("gradient_norm@resnet18#0", "gradient_norm@resnet18#1", "seeds", 0.80, 0.55),
        pair("gradient_norm@ffn#0", "gradient_norm@resnet18#0", "family", -0.15, 0.08),
        pair("gradient_norm@ffn#1", "gradient_norm@resnet18#1", "family", -0.25, 0.04),
        pair("gradient_norm@ffn#0", "loss@ffn#0", "score", 0.74, 0.39),
        pair("loss@ffn#0", "loss@ffn#1", "seeds", 0.92, 0.70),
    ]
    return {
        "n": 600, "share": 0.1, "pairs": pairs,
        "summary": [
            {"score": "gradient_norm", "between": "seeds", "pairs": 2, "spearman": 0.85,
             "overlap": 0.60},
            {"score": "gradient_norm", "between": "families", "pairs": 2, "spearman": -0.20,
             "overlap": 0.06},
            {"score": "gradient_norm/loss", "between": "scores", "pairs": 1, "spearman": 0.74,
             "overlap": 0.39},
            {"score": "loss", "between": "seeds", "pairs": 1, "spearman": 0.92, "overlap": 0.70},
        ],
    }  # fmt: skip


def difficulty_manifest(**more) -> dict:
    return {
        "hardset": "0.5.0", "started": "2026-11-29T22:10:03+00:00",
        "data": {"source": {"place": "digits", "layout": "parquet"}, "n": 600, "kind": "image"},
        "predictors": [
            {"name": "ffn", "family": "conv", "seeds": [0, 1],
             "recipe": {"optimiser": "adam", "lr": 1e-3, "batch": 256, "epochs": 5},
             "facts": {"parameters": 62_006, "input_size": [32, 32]},
             "trainings": {"0": {"accuracies": [0.81, 0.931], "seconds": 2.5},
                           "1": {"accuracies": [0.80, 0.942], "seconds": 3.5}}},
            {"name": "resnet18", "family": "residual", "seeds": [0, 1],
             "recipe": {"optimiser": "adam", "lr": 1e-4, "batch": 32, "epochs": 1},
             "facts": {"parameters": 11_173_962}},
        ],
        "mode": "eval", "scores": ["gradient_norm", "loss", "forgetting"], "seconds": 93.2,
        "fallbacks": {"ffn": ["attention.bias goes by torch.func"]}, "failed": [],
    } | more  # fmt: skip


def difficulty_folder(
    out: Path, n: int = 600, classes: int = 10, *, names=None, ids=None, states=None,
    noise: bool = True, with_stability: bool = True, manifest: dict | None = None,
) -> Path:  # fmt: skip
    """Write the folder; the example at index i has rank i / (n - 1), so that the last is hardest.

    Labels go round: index i has label i modulo `classes`.
    """
    out.mkdir(parents=True, exist_ok=True)
    index = np.arange(n)
    label = index % classes
    names = names or [f"digit {i}" for i in range(classes)]
    states = states or ["scored"] * n
    scored = np.array(states) == "scored"
    rank = index / max(1, n - 1)
    scores = {
        "gradient_norm": 10.0 ** (rank * 8 - 6),
        "loss": 0.01 + 4 * rank**3,
        "forgetting": np.floor(rank * 5),
    }
    frame = pl.DataFrame(
        {
            "index": index, "id": ids or [f"train/{i:05}.png" for i in index], "label": label,
            "class": [names[i] for i in label], "state": states,
            **{name: np.where(scored, values, np.nan) for name, values in scores.items()},
            **{f"rank_{name}": np.where(scored, rank, np.nan) for name in scores},
        }
    ).with_columns(pl.col(name, f"rank_{name}").fill_nan(None) for name in scores)  # fmt: skip
    frame.write_parquet(out / "difficulty.parquet")
    told = difficulty_manifest() if manifest is None else manifest
    (out / "manifest.json").write_text(json.dumps(told))
    if with_stability:
        (out / "stability.json").write_text(json.dumps(stability()))
    if noise:
        suspect = (index >= n - 40) & scored
        pl.DataFrame(
            {"index": index, "label": label, "suggested": (label + 1) % classes,
             "probability": 0.5 - 0.49 * rank, "suggested_probability": 0.4 + 0.59 * rank,
             "suspect": suspect}
        ).write_parquet(out / "noise.parquet")  # fmt: skip
        joint = [[56.0 if i == j else 4.0 if j == (i + 1) % classes else 0.0
                  for j in range(classes)] for i in range(classes)]  # fmt: skip
        (out / "noise.json").write_text(
            json.dumps({"share": estimate(0.0667, 0.02), "joint": joint, "classes": names})
        )
    return out
