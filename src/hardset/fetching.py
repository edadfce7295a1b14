"""Getting a benchmark's data ahead: the rows, and the images that the rows need.

`hardset fetch` is this, from the command line.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from hardset.errors import UsageError
from hardset.sources import downloads
from hardset.sources.hub import Hub, Snapshot, matches, resolve
from hardset.sources.pictures import ImageSource, pictures_folder, plain_name, source_of
from hardset.sources.rows import read_rows
from hardset.sources.unpacking import match, place, unpack

if TYPE_CHECKING:
    from hardset.benchmarks.declaration import Benchmark


@dataclass(frozen=True)
class Pictures:
    """The images of one source, as far as they are here now.

    Attributes:
        name: the rows' `data_source`.
        source: who publishes it; None: nobody that the benchmark knows of.
        folder: where they are put.
        wanted: how many different images the rows name.
        missing: those that are not in the folder, by their paths in the rows.
        stated: the licence that the source's page states, where it is another than `source` has.
    """

    name: str
    source: ImageSource | None
    folder: Path
    wanted: int
    missing: Sequence[str] = ()
    stated: str = ""

    @property
    def here(self) -> int:
        """How many are in the folder."""
        return self.wanted - len(self.missing)


def fetch_rows(
    benchmark: type[Benchmark], data: str | None = None, revision: str = "", update: bool = False
) -> Snapshot:
    """Fetch a benchmark's rows from the hub, unless they are here.

    Raises:
        UsageError: its data are not on the hub, or cannot be had from it.
    """
    if benchmark.hub is None:
        raise UsageError(
            f"{benchmark.name} has no data set on the hub: there is nothing to fetch for it"
        )
    return resolve(data, benchmark.hub, revision, update=update)


def fetch_pictures(
    benchmark: type[Benchmark], files: Iterable[Path], update: bool = False
) -> list[Pictures]:
    """Fetch the images that rows name, from the sources that may be fetched from.

    Args:
        benchmark: whose `image_sources` says where images are.
        files: of rows with the columns `image` and, if there are several sources, `data_source`.
        update: ask the hub what each source's revision is now.

    Returns:
        One record for each source in the rows, those not fetchable included.

    Raises:
        UsageError: a source's files cannot be had from the hub.
    """
    if not benchmark.image_sources:
        return []
    found = []
    for name, paths in wanted_pictures(files).items():
        source = source_of(benchmark.image_sources, name)
        folder = pictures_folder(benchmark.name, name)
        places = {path: folder / path for path in paths}
        stated = ""
        if source is not None and source.fetchable:
            stated = _fetch(source, places, update)
        missing = [path for path, at in places.items() if not at.is_file()]
        found.append(Pictures(name, source, folder, len(places), missing, stated))
    return found


def wanted_pictures(files: Iterable[Path]) -> dict[str, list[str]]:
    """Return the paths of the images that rows name, by `data_source` ("" where they have none)."""
    wanted: dict[str, dict[str, None]] = {}
    for file in files:
        for where, fields in read_rows(file):
            path = fields.get("image")
            if not path:
                continue
            if not isinstance(path, str) or not _inside(path):
                raise UsageError(
                    f"{where}: image {reprlib.repr(path)} is not a path inside an image folder"
                )
            wanted.setdefault(str(fields.get("data_source") or ""), {})[path] = None
    return {name: list(paths) for name, paths in wanted.items()}


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not (
        path.is_absolute() or ".." in path.parts or ":" in path.parts[0] or "\\" in name
    )


def _fetch(source: ImageSource, places: Mapping[str, Path], update: bool) -> str:
    """Get what is lacking: first as loose files, then out of archives that may hold it.

    Returns:
        The licence that the source's page states now, if it is not the one known here.
    """
    lacking = {path: at for path, at in places.items() if not at.is_file()}
    if not lacking:
        return ""
    hub = Hub(source.repo, licence=source.licence)
    listed = downloads.listing(hub, hub.revision, update=update)
    there = [file.path for file in listed.files]
    loose = match(lacking, there)
    local = downloads.download(hub, listed, list(dict.fromkeys(loose.values())))
    by_path = dict(zip(dict.fromkeys(loose.values()), local, strict=True))
    for path, at_hub in loose.items():
        place(by_path[at_hub], lacking.pop(path))
    for archive in [path for path in there if any(matches(path, p) for p in source.archives)]:
        if not lacking:
            break
        (file,) = downloads.download(hub, listed, [archive])
        for path in unpack(file, archive, lacking):
            del lacking[path]
    same = plain_name(listed.licence) == plain_name(source.licence)
    return "" if same else listed.licence
