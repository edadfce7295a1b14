"""`hub:OWNER/NAME`, `hub:OWNER/NAME/CONFIG`: a data set on the Hugging Face hub, as parquet.

`@REVISION` behind it names a branch, tag or commit. Only the files of the split that is asked for
are fetched, held against the hub's digests and kept. Examples: `hub:uoft-cs/cifar10`,
`hub:uoft-cs/cifar100`, `hub:nyu-mll/glue/sst2`.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from hardset.errors import UsageError
from hardset.lowresource.examples import Examples
from hardset.sources import downloads
from hardset.sources.examples import files, parquet, splits
from hardset.sources.examples.asked import Asked
from hardset.sources.hub import Hub

NAME = "hub"
NEEDS = "hub:OWNER/NAME or hub:OWNER/NAME/CONFIG, which holds parquet files"
_PLACE = re.compile(r"hub:([\w.-]+/[\w.-]+)(?:/([\w.-]+))?(?:@([\w./-]+))?")


def recognise(place: str) -> bool:
    """Whether it begins with `hub:`."""
    return place.startswith("hub:")


def read(asked: Asked) -> Examples:
    """Fetch a split's files, unless they are here, and open them."""
    named = _PLACE.fullmatch(asked.place)
    if named is None:
        raise UsageError(f"{asked.place!r} is not of the form hub:OWNER/NAME or .../CONFIG")
    repo, config, revision = named[1], named[2] or "", named[3] or "main"
    hub = Hub(repo)
    listing = downloads.listing(hub, revision)
    there = [
        path
        for file in sorted(listing.files, key=lambda file: file.path)
        if (path := PurePosixPath(file.path)).suffix == ".parquet"
        and not any(part.startswith(".") for part in path.parts)
    ]
    where = f"{repo}@{listing.commit[:12]}"
    if not there:
        raise UsageError(
            f"{where} on the hub holds no parquet files: try {asked.place.partition('@')[0]}"
            "@refs/convert/parquet, or download it and name a file of it"
        )
    mine = _of_config(there, config, where)
    chosen, split = splits.of_split(mine, asked.split, where)
    names = [str(mine[number]) for number in chosen]
    paths = downloads.download(hub, listing, names)
    opened = parquet.read_files(
        asked,
        files.Files(tuple(paths), tuple(names), split),
        revision=f"{repo}@{listing.commit}",
        licence=listing.licence,
    )
    opened.source["layout"] = NAME
    return opened


def _of_config(there: list[PurePosixPath], config: str, where: str) -> list[PurePosixPath]:
    """Return the files of a configuration: a folder, or the beginning of a folder's name.

    Without one, the files of the only one there is, or of the default.
    """
    configs = sorted({splits.config_of(path) for path in there})
    if config:
        mine = [
            path for path in there if splits.config_of(path) == config or config in path.parts[:-1]
        ]
        if not mine:
            raise UsageError(f"{where} has no configuration {config!r}; it has {_said(configs)}")
        return mine
    if len(configs) > 1:
        wanted = next((one for one in ("", "default", "plain_text") if one in configs), None)
        if wanted is None:
            raise UsageError(
                f"{where} has several configurations: {_said(configs)}; name one behind a slash"
            )
        return [path for path in there if splits.config_of(path) == wanted]
    return there


def _said(configs: list[str]) -> str:
    named = [config for config in configs if config]
    return ", ".join(named[:12]) + (f" and {len(named) - 12} more" if len(named) > 12 else "")
