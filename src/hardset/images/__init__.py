"""Images: told by their bytes, checked once, encoded as sent. Nothing here trusts a name.

A `Library` stands between a benchmark's `Image.where` and what an endpoint is sent. It checks
every image's structure, decodes each content once (remembered by hash, in the run's store),
and keeps base64 payloads for the next repeat in bounded memory.
"""

from __future__ import annotations

import binascii
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct

from hardset.images.bounded import Bounded
from hardset.images.pixels import convert, decode, guard, thumbnail
from hardset.images.places import (
    MADE,
    Fresh,
    Place,
    data_url,
    freshness,
    misnamed,
    missing,
    name_of,
    ordinary,
    stamp,
    without_waiting,
)
from hardset.images.structure import BadMedia, Shape, check
from hardset.records import Image

__all__ = ["BadMedia", "Library", "Memory", "Payload"]

DEFAULT_TAKES = frozenset({"image/jpeg", "image/png", "image/webp", "image/gif"})
"""Media types nearly every endpoint takes. `image/jpeg;cmyk`, `image/png;16-bit` and
`image/gif;animated` are separate entries: what does not list them gets a plain picture."""
MAX_PIXELS = 89_478_485  # Pillow's own limit: a quarter of a GiB of RGB
SEEN = 4096  # images whose last check is kept in memory; the rest are in the store


class Memory(Protocol):
    """What was found out about images, kept from run to run. Called from several threads."""

    def recall_file(self, where: str, stamp: str) -> str | None:
        """Return the sha256 of the file at `where`, if it was seen with this stamp."""

    def remember_file(self, where: str, stamp: str, sha256: str) -> None:
        """Keep the sha256 of a file with its stamp."""

    def recall_media(self, sha256: str) -> bytes | None:
        """Return what was found about this content."""

    def remember_media(self, sha256: str, found: bytes) -> None:
        """Keep what was found about this content, good or bad."""


class Payload(Struct, frozen=True):
    """An image as it is sent: `base64` of the original bytes, or of what `notes` says."""

    type: str
    base64: bytes
    notes: tuple[str, ...] = ()  # what was changed before sending; empty for the original


class Found(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of one content, whatever its name: this is what `Memory` keeps."""

    type: str = ""
    width: int = 0
    height: int = 0
    size: int = 0
    variant: str = ""
    notes: tuple[str, ...] = ()
    bad: str = ""  # why it cannot be sent; empty when it decoded


class _Seen(NamedTuple):
    place: Place
    fresh: Fresh
    image: Image
    bad: str


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Found).decode


class Library:
    """Looks images up, checks them, and encodes them for an endpoint.

    Args:
        memory: where findings are kept; in this process only, if None.
        openers: for each scheme, what makes the bytes from the rest of `where`. The bytes
            must depend on nothing else.
        root: the folder relative paths start from, and may not leave.
        takes: the media types the endpoint takes.
        max_pixels: images of more pixels are refused before they are decoded.
        cache_bytes: the bound of the base64 payloads kept.
    """

    def __init__(
        self,
        memory: Memory | None = None,
        *,
        openers: Mapping[str, Callable[[str], bytes]] | None = None,
        root: Path | None = None,
        takes: frozenset[str] = DEFAULT_TAKES,
        max_pixels: int = MAX_PIXELS,
        cache_bytes: int = 64 * 2**20,
    ) -> None:
        self.takes = takes
        self.max_pixels = max_pixels
        self._memory: Memory = memory if memory is not None else _Forgetful()
        self._openers = dict(openers or {})
        self._root = os.path.abspath(root) if root is not None else None
        self._seen: Bounded[str, _Seen] = Bounded(SEEN)
        self._found: Bounded[str, Found] = Bounded(SEEN)
        self._payloads: Bounded[str, Payload] = Bounded(cache_bytes)

    def known(self, image: Image) -> Image | None:
        """Return the filled-in image if this very file was found good before: cheap.

        Returns:
            None if it must be examined.

        Raises:
            BadMedia: it is not there, or it is known to be bad.
        """
        seen = self._seen.get(image.where)
        if seen is not None:
            path = seen.place.path
            if path is None or freshness(path, image.where) == seen.fresh:
                return _good(seen)
            self._seen.drop(image.where)
        place = self._place(image.where)
        fresh = MADE if place.path is None else freshness(place.path, image.where)
        sha256 = self._memory.recall_file(place.key, stamp(fresh))
        found = None if sha256 is None else self._recall(sha256)
        if sha256 is None or found is None:
            return None
        return self._settle(image, place, fresh, sha256, found)

    def examine(self, image: Image) -> Image:
        """Read an image, check it, decode its content if no one has, and remember.

        Returns:
            The image with sha256, true type, size and notes filled in.

        Raises:
            BadMedia: with the reason, naming the image.
        """
        place = self._place(image.where)
        data, fresh = self._open(image.where, place)
        sha256 = hashlib.sha256(data).hexdigest()
        found = self._recall(sha256)
        if found is None:
            found = _inspect(data, self.max_pixels)
            if found.width * found.height <= self.max_pixels:  # else: another limit may differ
                self._memory.remember_media(sha256, _encode(found))
                self._found.put(sha256, found)
        self._memory.remember_file(place.key, stamp(fresh), sha256)
        return self._settle(image, place, fresh, sha256, found)

    def read(self, image: Image) -> bytes:
        """Return the image's original bytes.

        Raises:
            BadMedia: it cannot be read, or it is no longer what was examined.
        """
        place = self._place(image.where)
        data, fresh = self._open(image.where, place)
        if image.sha256 and not self._unchanged(image, place, fresh):
            now = hashlib.sha256(data).hexdigest()
            if now != image.sha256:
                raise BadMedia(
                    f"{name_of(image.where)} was changed after it was examined (sha256 "
                    f"{image.sha256[:12]} then, {now[:12]} now): run again"
                )
        return data

    def converts(self, image: Image) -> bool:
        """Say whether `payload` must decode and encode it anew: work for a thread."""
        if image.sha256 in self._payloads:
            return False
        found = self._recall(image.sha256)
        return found is None or _form(found) not in self.takes

    def payload(self, image: Image) -> Payload:
        """Return the image as it is sent: the original bytes wherever the endpoint takes them.

        Raises:
            BadMedia: it is bad, was changed meanwhile, or cannot be made into what is taken.
        """
        kept = self._payloads.get(image.sha256)
        if kept is not None:
            return kept
        found = self._recall(image.sha256)
        if found is None:
            image = self.examine(image)
            found = self._recall(image.sha256)
            assert found is not None  # examine just put it there
        if found.bad:
            raise BadMedia(f"{name_of(image.where)} {found.bad}")
        data, kind = self.read(image), found.type
        notes: tuple[str, ...] = ()
        if _form(found) not in self.takes:
            try:
                kind, data, note = convert(data, found.type, self.takes)
            except BadMedia as bad:
                raise BadMedia(f"{name_of(image.where)} {bad.reason}") from bad
            notes = (note,)
        made = Payload(kind, binascii.b2a_base64(data, newline=False), notes)
        self._payloads.put(image.sha256, made, len(made.base64))
        return made

    def thumbnail(self, image: Image, side: int = 320) -> bytes | None:
        """Return a small JPEG to look at, or None where the image is bad.

        Only what a thumbnail needs is decoded: whether the image is sound was found before.
        """
        try:
            data = self.read(image)
            _, shape = check(data)
            guard(shape.width, shape.height, self.max_pixels)
            return thumbnail(data, side)
        except BadMedia:
            return None  # its row says why

    def _place(self, where: str) -> Place:
        scheme, colon, _ = where.partition(":")
        if colon and scheme in self._openers:
            return Place(where, None)
        if scheme == "data":
            return Place("data:" + hashlib.sha256(where.encode()).hexdigest(), None)
        if where.startswith(("http://", "https://")):
            raise BadMedia(f"{name_of(where)} is a web address: download it and give its path")
        if self._root is None:
            path = os.path.abspath(where)
        else:
            path = os.path.normpath(os.path.join(self._root, where))
            inside = path.startswith(os.path.join(self._root, "")) or os.path.isabs(where)
            if not inside:
                raise BadMedia(f"{where} leads out of the image folder {self._root}")
        return Place(path, path)

    def _open(self, where: str, place: Place) -> tuple[bytes, Fresh]:
        """Return the bytes, and the freshness of the very file they were read from."""
        scheme, _, rest = where.partition(":")
        if place.path is None and scheme in self._openers:
            try:
                return self._openers[scheme](rest), MADE
            except BadMedia:
                raise
            except Exception as error:  # a benchmark's own code
                said = f"{type(error).__name__}: {error}"
                raise BadMedia(f"{name_of(where)} could not be made: {said}") from error
        if place.path is None:
            return data_url(where), MADE
        try:
            with open(place.path, "rb", buffering=0, opener=without_waiting) as file:
                info = os.fstat(file.fileno())
                fresh = ordinary(info, where)
                data = file.read()
                while len(data) < info.st_size and (more := file.read()):
                    data += more
        except (OSError, ValueError) as error:
            raise missing(where, place.path, error) from error
        return data, fresh

    def _unchanged(self, image: Image, place: Place, fresh: Fresh) -> bool:
        if fresh is MADE:
            return True
        seen = self._seen.get(image.where)
        if seen is not None and seen.fresh == fresh:
            return seen.image.sha256 == image.sha256
        return self._memory.recall_file(place.key, stamp(fresh)) == image.sha256

    def _recall(self, sha256: str) -> Found | None:
        if not sha256:
            return None
        found = self._found.get(sha256)
        if found is None and (kept := self._memory.recall_media(sha256)) is not None:
            try:
                found = _decode(kept)
            except msgspec.DecodeError:  # kept by another version: found out anew
                return None
            self._found.put(sha256, found)
        return found

    def _settle(self, image: Image, place: Place, fresh: Fresh, sha256: str, found: Found) -> Image:
        """Put what is known of the file and of its content together, and keep it at hand."""
        bad = found.bad
        if not bad:
            try:
                guard(found.width, found.height, self.max_pixels)
            except BadMedia as error:
                bad = error.reason
        filled = Image(
            where=image.where,
            sha256=sha256,
            type=found.type,
            width=found.width,
            height=found.height,
            size=found.size,
            notes=(*found.notes, *misnamed(image.where, found.type)),
        )
        seen = _Seen(place, fresh, filled, bad and f"{name_of(image.where)} {bad}")
        self._seen.put(image.where, seen)
        return _good(seen)


class _Forgetful:
    """A memory for one process, where no store is given."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, str], str] = {}
        self._media: dict[str, bytes] = {}

    def recall_file(self, where: str, stamp: str) -> str | None:
        return self._files.get((where, stamp))

    def remember_file(self, where: str, stamp: str, sha256: str) -> None:
        self._files[where, stamp] = sha256

    def recall_media(self, sha256: str) -> bytes | None:
        return self._media.get(sha256)

    def remember_media(self, sha256: str, found: bytes) -> None:
        self._media[sha256] = found


def _good(seen: _Seen) -> Image:
    if seen.bad:
        raise BadMedia(seen.bad)
    return seen.image


def _inspect(data: bytes, max_pixels: int) -> Found:
    """Find out about one content: its structure, then the full decode."""
    shape = Shape()
    try:
        kind, shape = check(data)
        guard(shape.width, shape.height, max_pixels)
        shape = decode(data, shape, max_pixels)
    except BadMedia as bad:
        return Found(width=shape.width, height=shape.height, size=len(data), bad=bad.reason)
    return Found(
        type=kind,
        width=shape.width,
        height=shape.height,
        size=len(data),
        variant=shape.variant,
        notes=shape.notes,
    )


def _form(found: Found) -> str:
    return f"{found.type};{found.variant}" if found.variant else found.type
