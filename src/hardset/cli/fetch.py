"""`hardset fetch`: a benchmark's data and images, ahead of a run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hardset.cli.status import FAILED_ROWS
from hardset.errors import UsageError

if TYPE_CHECKING:
    from hardset.fetching import Pictures


def fetch(
    benchmark: str,
    /,
    *,
    images: Annotated[bool, Parameter(negative="")] = False,
    split: str | None = None,
    data: str | None = None,
    revision: str = "",
    update: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Get a benchmark's data from the Hugging Face hub ahead of a run, and say where they are.

    What is fetched stays: a run reads it without a network, at the same commit, until you ask for
    a newer one with --update. For gated data, accept their terms on their page and set HF_TOKEN.

    Examples:

    - `hardset fetch mmr --images`
    - `hardset fetch hardbench --images --split test`

    Exit status: 0 it is here, or the steps to get the rest are printed; 3 images that should have
    been at their source were not; 2 it could not be had.

    Parameters
    ----------
    benchmark
        Its name; `hardset list` shows them.
    images
        Also get the images that the rows need, from the sources whose licence lets you; for the
        others, print the steps.
    split
        With --images: only those that the rows of this split need.
    data
        Another data set of the same form on the hub, `owner/name`.
    revision
        A branch, tag or commit instead of the default.
    update
        Ask the hub for the newest commit instead of keeping to the one that is here.
    """
    from hardset.benchmarks import registry
    from hardset.fetching import fetch_pictures, fetch_rows
    from hardset.reports.text import visible

    if split is not None and not images:
        raise UsageError("--split goes with --images: the rows of all splits are fetched anyway")
    cls = registry.load(benchmark)
    rows = fetch_rows(cls, data, revision, update)
    licence = rows.licence or (cls.hub.licence if cls.hub else "") or "not stated on its page"
    print(visible(f"data:     {rows.root}"))
    print(visible(f"          {_amount(rows.files)}: {', '.join(f.name for f in rows.files[:5])}"))
    print(visible(f"licence:  {licence}"))
    print(visible(f"revision: {rows.revision}"))
    if not images:
        return 0
    if not cls.image_sources:
        print("images:   none apart from the data")
        return 0
    files = rows.files if split is None else rows.split(split)
    found = fetch_pictures(cls, files, update)
    for each in found:
        print(visible(_line(each)))
    if any(each.here for each in found):
        from hardset.sources.pictures import pictures_folder

        folder = shlex.quote(str(pictures_folder(benchmark)))
        print(f"A run looks there by itself; to name them: --images {folder}")
    lost = any(each.source and each.source.fetchable and each.missing for each in found)
    return FAILED_ROWS if lost else 0


def _line(found: Pictures) -> str:
    """Say of one source what is here, under which licence, and how to get what is not."""
    source, name = found.source, found.name or "all rows"
    if source is None:
        return f"images:   {name}: {_files(found.wanted)}; who publishes them is not known here"
    said = f"images:   {name}: {found.here:,} of {_files(found.wanted)} in {found.folder} "
    said += f"({source.how()}{f'; its page states {found.stated}' if found.stated else ''})"
    if not found.missing:
        return said
    if source.fetchable:
        some = ", ".join(found.missing[:3]) + (", ..." if len(found.missing) > 3 else "")
        return said + f"\n          not at {source.repo}: {_files(len(found.missing))}: {some}"
    return said + f"\n          {source.steps} Put them into {found.folder}"


def _amount(files: tuple[Path, ...]) -> str:
    size = sum(file.stat().st_size for file in files) / 1e6
    return f"{_files(len(files))}, {size:,.1f} MB"


def _files(count: int) -> str:
    return f"{count:,} {'file' if count == 1 else 'files'}"
