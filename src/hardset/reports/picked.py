"""The table in the terminal of what `hardset pick` picked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hardset.metrics.interval import wilson
from hardset.reports.numbers import magnitude
from hardset.reports.text import clip, visible

_MOST = 40  # labels; of more, the first and the last few
_NAME = (30, 10)
_COLUMNS = {
    "to pick from": "scored",
    "no score": "unscored",
    "dropped": "dropped",
    "picked": "picked",
    "suspected": "suspected",
    "tied at cut": "tied",
}
_WIDE = 100  # columns at least: folded lines are ugly


def show(manifest: Mapping[str, Any], console: Console | None = None) -> None:
    """Print a line a label, and how many of the labels picked are suspected.

    Args:
        manifest: what `manifest.json` holds.
        console: where to.
    """
    console = console or Console()
    console.width = max(_WIDE, console.width)
    counts, encoding = manifest["counts"], console.encoding
    by = str(manifest["score"]).replace("_", " ")
    by = f"mean rank of {by}, 0 to 1" if manifest["ranked"] else by
    each = f"{manifest['k']:,} " + ("a label" if manifest["data"]["classes"] else "in all")
    title = f"{counts['picked']:,} picked, {each}, {manifest['choose']} by {by}"
    console.print(_table(manifest, title, encoding))
    for line in noise_lines(manifest["label_noise"]):
        console.print(Text(line), soft_wrap=True)


def noise_lines(noise: Mapping[str, Any] | None) -> Sequence[str]:
    """Say how many of the labels picked are suspected, beside those of the whole set."""
    if noise is None:
        return ["wrong labels: not estimated (`hardset difficulty --label-noise` does)"]
    said = []
    if noise["picked_judged"]:
        said.append(
            "suspected wrong among the picked, and not decided: "
            f"{_share(noise['picked_suspected'], noise['picked_judged'])}"
        )
    if noise["judged"]:
        decided = noise["suspected"] - noise.get("undecided", noise["suspected"])
        said.append(
            f"suspected in the whole set: {_share(noise['suspected'], noise['judged'])}"
            + (f", {decided:,} of them decided by people" if decided else "")
        )
    return ["; ".join(said)] if said else []


def _share(part: int, whole: int) -> str:
    low, high = wilson(part, whole)
    return (
        f"{part:,} of {whole:,}, {100 * part / whole:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
    )


def _table(manifest: Mapping[str, Any], title: str, encoding: str) -> Table:
    made = Table(
        title=_plain(title, encoding), title_justify="left", title_style="bold",
        box=box.SIMPLE_HEAD if encoding.lower().startswith("utf") else box.ASCII, pad_edge=False,
    )  # fmt: skip
    made.add_column("label", overflow="fold")
    lines: Sequence[Mapping[str, Any]] = manifest["labels"]
    there = [
        (heading, key)
        for heading, key in _COLUMNS.items()
        if key in ("scored", "picked") or any(line[key] for line in lines)
    ]
    for heading, _ in there:
        made.add_column(heading, justify="right", no_wrap=True)
    made.add_column("lowest", justify="right", no_wrap=True)
    made.add_column("highest", justify="right", no_wrap=True)
    shown = [*lines[: _MOST - 5], None, *lines[-5:]] if len(lines) > _MOST else lines
    for line in shown:
        if line is None:
            made.add_row(f"... {len(lines) - _MOST:,} more labels ...")
            continue
        cells = ["" if line[key] is None else f"{line[key]:,}" for _, key in there]
        made.add_row(
            _plain(clip(str(line["class"]), *_NAME), encoding), *cells,
            magnitude(line["low"]), magnitude(line["high"]),
        )  # fmt: skip
    return made


def _plain(text: str, encoding: str) -> Text:
    return Text(visible(text).encode(encoding, "backslashreplace").decode(encoding))
