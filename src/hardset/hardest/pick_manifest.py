"""What `hardset pick` says of a set: its manifest, and the sentences that go with it."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hardset
from hardset.hardest.pick_inputs import Noise, Pool
from hardset.hardest.pick_review import DROP, KEEP, REVIEW, Review
from hardset.lowresource.examples import Examples
from hardset.lowresource.picking import Picked
from hardset.lowresource.score_files import DIFFICULTY

EXAMPLES = "examples.parquet"
MADE_BY = "hardset pick"


def lay_out(
    pool: Pool,
    found: Picked,
    suspect: NDArray[np.bool_],
    sheet: Review,
    examples: Examples | None,
    *,
    settings: Mapping[str, Any],
    scores: Path,
    reviewed: Path | None,
    label_noise: str | None,
    unreadable: Sequence[tuple[str, str]],
    out: Path,
    to_review: Sequence[Mapping[str, Any]],
    began: datetime,
) -> dict[str, Any]:
    """Lay out `manifest.json`.

    Args:
        pool: what was picked from.
        found: what was picked.
        suspect: (n,) whose labels are suspected and not decided about.
        sheet: what people decided, and what they left undecided.
        examples: the data, if they were given.
        settings: k, choose and seed.
        scores: where the scores were.
        reviewed: the sheet of decisions.
        label_noise: what was asked for.
        unreadable: ids of picked examples without content, and why.
        out: the folder.
        to_review: the lines of the sheet.
        began: when the picking did.
    """
    manifest: dict[str, Any] = {
        "made_by": MADE_BY,
        "hardset": hardset.__version__,
        "python": platform.python_version(),
        "started": began.isoformat(timespec="seconds"),
        "seconds": round((datetime.now(UTC) - began).total_seconds(), 3),
        **settings,
        "score": pool.scores.name,
        "hard": pool.scores.hard,
        "ranked": pool.scores.ranked,
        "scores": _of_scores(scores, pool),
        "data": _of_data(pool, examples),
        "counts": {
            "picked": len(found.positions),
            "scored": int(np.isfinite(pool.values).sum()),
            "unscored": int((~np.isfinite(pool.values)).sum()),
            "unlabelled": found.unlabelled,
            "dropped": sum(taken.dropped for taken in found.labels),
        },
        "states": pool.states,
        "labels": _of_labels(pool, found, suspect),
        "label_noise": _of_noise(pool, found, suspect, label_noise),
        "reviewed": _of_review(reviewed, sheet),
        "unreadable": [{"id": name, "reason": reason} for name, reason in unreadable],
        "difficulty": pool.manifest or None,
    }
    manifest["notices"] = _notices(manifest, pool, examples, out, label_noise, to_review)
    return manifest


def _of_scores(scores: Path, pool: Pool) -> dict[str, Any]:
    from hardset.sources.examples.digests import of_file

    file = scores / DIFFICULTY if scores.is_dir() else scores
    return {
        "path": _written(scores),
        "sha256": of_file(file),
        **pool.scores.problems._asdict(),
    }


def _written(path: Path) -> str:
    """Give a path as text; bytes of it that are not UTF-8 as a sign for what is unknown."""
    return os.fsencode(path).decode("utf-8", "replace")


def _of_data(pool: Pool, examples: Examples | None) -> dict[str, Any]:
    return {
        "n": len(pool),
        "kind": None if examples is None else examples.kind,
        "classes": list(pool.classes),
        "source": {} if examples is None else dict(examples.source),
    }


def _of_labels(pool: Pool, found: Picked, suspect: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Give a line a label: what there was, and what was picked."""
    picked = pool.labels[found.positions]
    lines = []
    for taken in found.labels:
        its = found.positions if taken.label is None else found.positions[picked == taken.label]
        lines.append({
            **taken._asdict(),
            "class": "all" if taken.label is None else pool.class_of(taken.label),
            "suspected": None if pool.noise is None else int(suspect[its].sum()),
        })  # fmt: skip
    return lines


def _of_noise(
    pool: Pool, found: Picked, suspect: NDArray[np.bool_], asked: str | None
) -> dict[str, Any] | None:
    """Count suspected labels among the picked and among all."""
    if pool.noise is None:
        return None
    noise: Noise = pool.noise
    return {
        "asked": asked or "show",
        "suspected": int(noise.suspect.sum()),
        "undecided": int(suspect.sum()),
        "judged": int(noise.judged.sum()),
        "picked_suspected": int(suspect[found.positions].sum()),
        "picked_judged": int(noise.judged[found.positions].sum()),
    }


def _of_review(reviewed: Path | None, sheet: Review) -> dict[str, Any] | None:
    if reviewed is None:
        return None
    from hardset.sources.examples.digests import of_file

    decided = sheet.decided
    return {
        "path": _written(reviewed),
        "sha256": of_file(reviewed),
        "kept": sorted(index for index, made in decided.items() if made.what == KEEP),
        "dropped": sorted(index for index, made in decided.items() if made.what == DROP),
        "relabelled": [
            {"index": index, "label": made.label}
            for index, made in sorted(decided.items())
            if made.label is not None
        ],
        "undecided": sorted(sheet.blank),
    }


def _notices(
    manifest: Mapping[str, Any],
    pool: Pool,
    examples: Examples | None,
    out: Path,
    label_noise: str | None,
    to_review: Sequence[Mapping[str, Any]],
) -> list[str]:
    """Say what a reader of the set should know."""
    said = pool.scores.problems._replace(not_finite=0).told()
    counts = manifest["counts"]
    unscored = counts["unscored"] - pool.scores.problems.missing
    if unscored:
        states = {s: n for s, n in pool.states.items() if s != "scored"}
        why = f" ({', '.join(f'{n:,} {state}' for state, n in states.items())})" if states else ""
        said.append(f"{unscored:,} of {len(pool):,} examples have no score{why}: never picked")
    if counts["unlabelled"]:
        said.append(f"{counts['unlabelled']:,} examples have no label: never picked")
    tied = [line for line in manifest["labels"] if line["tied"]]
    if tied:
        said.append(
            f"the cut goes through equal scores in {len(tied):,} label"
            f"{'s' if len(tied) > 1 else ''}, of {sum(line['tied'] for line in tied):,} examples "
            "in all: taken by a hash of the index"
        )
    if many := len(manifest["unreadable"]):
        first = manifest["unreadable"][0]
        said.append(
            f"{many:,} of the picked examples cannot be read and have no content; the first: "
            f"{first['id']}: {first['reason']}"
        )
    if examples is None or examples.kind == "tensor":
        why = "no data were given" if examples is None else "its data are arrays"
        said.append(f"{out / EXAMPLES} holds no contents: {why}")
    reviewed = manifest["reviewed"]
    if reviewed and reviewed["relabelled"]:
        said.append(
            f"{len(reviewed['relabelled']):,} examples have another label now, and are ranked by "
            "the score that they had with the one before"
        )
    said += _of_decisions(reviewed)
    if label_noise == "review":
        waiting = {line["index"] for line in to_review if not line["decision"]}
        new = len(waiting.difference(reviewed["undecided"])) if reviewed else 0
        sheet = out / REVIEW
        said.append(
            f"{_suspected(len(waiting))} to be decided in {sheet}"
            + (f", {new:,} of them picked now and on no sheet before" if new else "")
            + ": write keep, drop or the right class into `decision`, and pick again with "
            f"--reviewed {sheet}; what is picked in place of others is on the next sheet"
            if waiting else f"all suspected labels among the picked are decided; see {sheet}"
        )  # fmt: skip
    elif reviewed and (left := manifest["label_noise"]) and left["picked_suspected"]:
        said.append(
            f"{_suspected(left['picked_suspected'])} among the picked and not decided: "
            "--label-noise review with this --reviewed leaves a sheet of them"
        )
    return said


def _of_decisions(reviewed: Mapping[str, Any] | None) -> list[str]:
    """Say what of a sheet that came back is not decided."""
    if not reviewed or not (blank := len(reviewed["undecided"])):
        return []
    done = sum(len(reviewed[what]) for what in ("kept", "dropped", "relabelled"))
    return [
        f"{blank:,} of {blank + done:,} examples on {reviewed['path']} have no decision: they are "
        "picked from with the labels they have"
    ]


def _suspected(many: int) -> str:
    return "1 suspected label is" if many == 1 else f"{many:,} suspected labels are"
