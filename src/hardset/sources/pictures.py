"""Where a benchmark's images are published, under which licence, and the folder they are put in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hardset.sources.downloads import cache_folder

ARCHIVES = ("**/*.zip", "**/*.tar", "**/*.tar.gz", "**/*.tgz")


@dataclass(frozen=True)
class ImageSource:
    """One publisher of images.

    Attributes:
        title: what it is called.
        licence: what its publishers give, as an SPDX name where there is one.
        repo: its id on the hub, if it is there.
        fetchable: its image files are on the hub under a licence that lets anyone fetch them
            without having to agree to terms that a person must read first.
        steps: what to do where they are not fetched: one or more sentences.
        archives: patterns of the archives that may hold them, where they are not loose files.
    """

    title: str
    licence: str
    repo: str = ""
    fetchable: bool = False
    steps: str = ""
    archives: Sequence[str] = ARCHIVES

    def how(self) -> str:
        """Say in one sentence where the images are to be had, and under which licence."""
        place = f"{self.repo} on the hub" if self.repo else self.title
        return f"{place}, {self.licence}"


def plain_name(source: str) -> str:
    """Return a source's name without what is written now so, now so: "V*Bench" is "vstarbench"."""
    return re.sub(r"[^a-z0-9]", "", source.lower().replace("*", "star"))


def source_of(sources: Mapping[str, ImageSource], name: str) -> ImageSource | None:
    """Return the source whose key is a part of a row's `data_source`; the key "" fits all."""
    plain = plain_name(name)
    return next((found for key, found in sources.items() if key in plain), None)


def pictures_folder(benchmark: str, source: str = "") -> Path:
    """Return the folder of a benchmark's fetched images, or of one source's among them."""
    folder = cache_folder() / "images" / benchmark
    return folder / folder_name(source) if source else folder


def folder_name(source: str) -> str:
    """Return a source's name as a folder may be called anywhere; `plain_name` is the same."""
    return re.sub(r"[^\w.-]+", "-", source.replace("*", "star")).strip(".-") or "unnamed"


def fetched_pictures(benchmark: str) -> Path | None:
    """Return the folder of a benchmark's fetched images, if there is one."""
    folder = pictures_folder(benchmark)
    return folder if folder.is_dir() else None
