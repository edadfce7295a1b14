"""Every media fault, on real files made here."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import struct
import threading
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pil

from hardset.images import BadMedia, Library
from hardset.images.bounded import Bounded
from hardset.records import Image


def picture(kind: str = "JPEG", size=(40, 30), mode="RGB", colour=None, **options) -> bytes:
    out = io.BytesIO()
    Pil.new(mode, size, colour if colour is not None else 0).save(out, kind, **options)
    return out.getvalue()


def photo(size=(160, 120), **options) -> bytes:
    """A JPEG with enough in it that cutting it off hurts."""
    out = io.BytesIO()
    Pil.effect_noise(size, 80).convert("RGB").save(out, "JPEG", quality=90, **options)
    return out.getvalue()


def put(folder: Path, name: str, data: bytes) -> Image:
    (folder / name).write_bytes(data)
    return Image(where=str(folder / name))


def why_bad(library: Library, image: Image) -> str:
    """The reason, which must be the same when examined again."""
    with pytest.raises(BadMedia) as first:
        library.examine(image)
    with pytest.raises(BadMedia) as second:
        library.examine(image)
    assert first.value.reason == second.value.reason == str(first.value)
    return first.value.reason


class Counting:
    """A memory that counts, and survives its library as the store does."""

    def __init__(self):
        self.files, self.media, self.asked = {}, {}, 0

    def recall_file(self, where, stamp):
        self.asked += 1
        return self.files.get((where, stamp))

    def remember_file(self, where, stamp, sha256):
        self.files[where, stamp] = sha256

    def recall_media(self, sha256):
        self.asked += 1
        return self.media.get(sha256)

    def remember_media(self, sha256, found):
        assert sha256 not in self.media, "a content is decoded and remembered once"
        self.media[sha256] = found


@pytest.mark.parametrize(
    ("kind", "type_"),
    [
        ("JPEG", "image/jpeg"),
        ("PNG", "image/png"),
        ("GIF", "image/gif"),
        ("WEBP", "image/webp"),
        ("BMP", "image/bmp"),
        ("TIFF", "image/tiff"),
    ],
)
def test_types_sizes_and_hashes_are_told_from_the_bytes(tmp_path, kind, type_):
    data = picture(kind)
    image = put(tmp_path, "without_a_suffix", data)
    found = Library().examine(image)
    assert (found.type, found.width, found.height, found.size) == (type_, 40, 30, len(data))
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert found.where == image.where
    assert found.notes == ()


@pytest.mark.parametrize("options", [{"lossless": True}, {"exif": Pil.Exif()}, {"alpha": True}])
def test_every_kind_of_webp_has_its_size_read(tmp_path, options):
    mode = "RGBA" if options.pop("alpha", None) else "RGB"
    colour = (1, 2, 3, 4) if mode == "RGBA" else (1, 2, 3)
    data = picture("WEBP", (321, 123), mode, colour, **options)
    found = Library().examine(put(tmp_path, "a.webp", data))
    assert (found.width, found.height) == (321, 123)


PAGE = b"\n<!DOCTYPE html><html><body>404 Not Found</body></html>"
NOT_IMAGES = [
    (b"", "empty (0 bytes)"),
    (PAGE, "an HTML page"),
    (b"\xef\xbb\xbf<HTML>", "an HTML page"),
    (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG drawing"),
    (b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "an XML or HTML text"),
    (b"%PDF-1.7 ...", "a PDF document"),
    (b"\0\0\0\x18ftypheic\0\0\0\0", "a HEIC picture"),
    (b"\0\0\0\x1cftypavif\0\0\0\0", "an AVIF picture"),
    (b"\0\0\0\x1cftypisom\0\0\0\0", "a video"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:12", "a Git LFS pointer"),
    (b'{"error": "no such image"}', "text, not an image (it begins"),
    ("图片不存在".encode(), "text, not an image"),
    (b"\x00\x01\x02\x03\x04\x05\x06\x07\x08", "not an image of a known kind"),
    (b"\xff\xd8\xff", "a truncated JPEG"),
    (b"\x89PNG\r\n\x1a\n", "a damaged PNG"),
    (b"PK\x03\x04rest", "a ZIP archive"),
]


@pytest.mark.parametrize(("data", "said"), NOT_IMAGES)
def test_what_is_no_image_is_called_what_it_is(tmp_path, data, said):
    image = put(tmp_path, "photo.jpg", data)
    reason = why_bad(Library(), image)
    assert reason.startswith(image.where + " is ")
    assert said in reason
    assert "\n" not in reason


def test_a_missing_file_is_named_with_where_it_was_looked_for(tmp_path):
    library = Library(root=tmp_path)
    with pytest.raises(BadMedia) as failure:
        library.known(Image(where="gone/away.jpg"))
    assert failure.value.reason == (
        f"gone/away.jpg does not exist (looked for {tmp_path}/gone/away.jpg)"
    )
    assert why_bad(library, Image(where="gone/away.jpg")) == failure.value.reason


def test_folders_pipes_and_nonsense_are_bad_media_and_do_not_hang(tmp_path):
    library = Library(root=tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "is a folder" in why_bad(library, Image(where=str(tmp_path)))
    assert "is no ordinary file" in why_bad(library, Image(where="pipe"))
    assert "cannot be read" in why_bad(library, Image(where="a\0b"))
    assert "is a web address" in why_bad(library, Image(where="https://example.org/a.jpg"))
    assert "File name too long" in why_bad(library, Image(where="x" * 5000))


def test_relative_paths_stay_under_the_root(tmp_path):
    (tmp_path / "images").mkdir()
    put(tmp_path, "secret.png", picture("PNG"))
    put(tmp_path / "images", "in.png", picture("PNG"))
    library = Library(root=tmp_path / "images")
    assert library.examine(Image(where="in.png")).type == "image/png"
    assert library.examine(Image(where="sub/../in.png")).type == "image/png"
    for escape in ("../secret.png", "a/../../secret.png", "../images2/x.png"):
        assert "leads out of the image folder" in why_bad(library, Image(where=escape))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF"])
@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.97])
def test_truncated_files_of_every_kind_are_bad(tmp_path, kind, part):
    out = io.BytesIO()
    Pil.effect_noise((120, 90), 80).convert("RGB").save(out, kind)
    data = out.getvalue()
    reason = why_bad(Library(), put(tmp_path, "cut", data[: int(len(data) * part)]))
    assert any(word in reason for word in ("truncated", "damaged", "does not decode", "not an"))


def test_a_thumbnails_end_does_not_hide_that_the_photo_is_cut(tmp_path):
    """The embedded thumbnail has an end-of-image marker of its own."""
    exif = Pil.Exif()
    exif[0x010E] = "x"
    data = photo(exif=exif.tobytes() + picture("JPEG", (8, 8)))
    assert data[:-2].count(b"\xff\xd9") >= 1
    library = Library()
    assert library.examine(put(tmp_path, "whole.jpg", data)).type == "image/jpeg"
    reason = why_bad(library, put(tmp_path, "cut.jpg", data[:-200]))
    assert reason.endswith("is a truncated JPEG: its end-of-image marker is missing")


def test_bytes_behind_the_end_are_no_fault(tmp_path):
    for kind in ("JPEG", "PNG", "GIF"):
        image = put(tmp_path, f"long.{kind}", picture(kind) + b"\0" * 100)
        assert Library().examine(image).width == 40


def test_damage_only_a_decoder_sees_is_found_by_the_full_decode(tmp_path):
    data = bytearray(picture("PNG", (64, 64)))
    at = data.index(b"IDAT") + 8
    data[at : at + 8] = b"\xa5" * 8
    assert "does not decode" in why_bad(Library(), put(tmp_path, "hurt.png", bytes(data)))


def chunk(name: bytes, body: bytes) -> bytes:
    """A PNG chunk."""
    check = struct.pack(">I", zlib.crc32(name + body))
    return struct.pack(">I", len(body)) + name + body + check


def bomb(width: int, height: int) -> bytes:
    """A PNG whose header promises width x height pixels, and which is small."""

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


def test_a_decompression_bomb_is_refused_with_its_pixels_and_the_limit(tmp_path):
    reason = why_bad(Library(), put(tmp_path, "bomb.png", bomb(50_000, 40_000)))
    assert "decompression bomb" in reason
    assert "2,000,000,000 pixels" in reason  # 50,000 x 40,000
    assert "the limit is 89,478,485" in reason


def test_another_limit_gives_another_verdict_from_the_same_memory(tmp_path):
    """A limit is the user's, so what it forbade is not remembered as bad."""
    memory, image = Counting(), put(tmp_path, "big.png", picture("PNG", (100, 100)))
    assert "limit is 9,999" in why_bad(Library(memory, max_pixels=9_999), image)
    assert Library(memory, max_pixels=10_000).examine(image).width == 100
    with pytest.raises(BadMedia, match="the limit is 9,999"):
        Library(memory, max_pixels=9_999).known(image)


def test_a_wrong_name_is_noted_and_the_true_type_is_sent(tmp_path):
    data = picture("PNG")
    library = Library()
    found = library.examine(put(tmp_path, "photo.jpg", data))
    assert found.type == "image/png"
    assert found.notes == ("named as image/jpeg, but is image/png",)
    payload = library.payload(found)
    assert (payload.type, base64.b64decode(payload.base64), payload.notes) == (
        "image/png",
        data,
        (),
    )


def test_exif_orientation_is_noted_and_the_original_sent(tmp_path):
    exif = Pil.Exif()
    exif[274] = 6
    data = picture("JPEG", exif=exif)
    library = Library()
    found = library.examine(put(tmp_path, "turned.jpg", data))
    assert found.notes == ("EXIF orientation 6",)
    assert base64.b64decode(library.payload(found).base64) == data


def sent(library: Library, image: Image):
    payload = library.payload(library.examine(image))
    return payload, Pil.open(io.BytesIO(base64.b64decode(payload.base64)))


def test_cmyk_is_converted_to_rgb_jpeg_and_recorded(tmp_path):
    image = put(tmp_path, "print.jpg", picture("JPEG", mode="CMYK", colour=(0, 255, 255, 0)))
    library = Library()
    assert library.examine(image).notes == ("CMYK",)
    payload, picture_sent = sent(library, image)
    assert payload.type == "image/jpeg"
    assert payload.notes == ("converted from image/jpeg (CMYK) to image/jpeg",)
    assert picture_sent.mode == "RGB"
    red, green, blue = picture_sent.getpixel((5, 5))
    assert red > 200 > 60 > max(green, blue)  # no cyan, all magenta and yellow: red


def test_an_endpoint_that_takes_cmyk_gets_the_original(tmp_path):
    data = picture("JPEG", mode="CMYK")
    library = Library(takes=frozenset({"image/jpeg", "image/jpeg;cmyk"}))
    payload, _ = sent(library, put(tmp_path, "print.jpg", data))
    assert base64.b64decode(payload.base64) == data


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bits_are_scaled_to_eight_not_clipped(tmp_path, kind):
    data = picture(kind, mode="I;16", colour=32768)  # half of 65535
    payload, picture_sent = sent(Library(), put(tmp_path, "deep", data))
    assert payload.type == "image/png"
    assert "converted" in payload.notes[0]
    assert picture_sent.mode == "L"
    assert picture_sent.getpixel((0, 0)) == 128  # 32768 / 65535 * 255 = 127.5, rounded to even


def test_sixteen_bit_rgb_png_becomes_eight_bit(tmp_path):
    row = b"\0" + struct.pack(">HHH", 65535, 32896, 0) * 2
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 16, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(row))
        + chunk(b"IEND", b"")
    )
    library = Library()
    found = library.examine(put(tmp_path, "deep.png", data))
    assert found.notes == ("16-bit",)
    payload, picture_sent = sent(library, Image(where=found.where))
    assert payload.notes
    assert picture_sent.getpixel((0, 0)) == (255, 128, 0)  # 32896 = 128 * 257


def moving(kind: str) -> bytes:
    frames = [Pil.new("RGB", (20, 10), colour) for colour in ("red", "lime", "blue")]
    out = io.BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], duration=100, lossless=True)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["GIF", "WEBP"])
def test_an_animation_is_noted_and_its_first_frame_sent(tmp_path, kind):
    library = Library()
    image = put(tmp_path, "moving", moving(kind))
    assert "animated" in library.examine(image).notes[0]
    payload, picture_sent = sent(library, image)
    assert payload.type == "image/png"
    assert picture_sent.convert("RGB").getpixel((3, 3)) == (255, 0, 0)
    if kind == "GIF":
        assert library.examine(image).notes == ("animated, 3 frames",)


def test_an_animated_png_is_sent_as_it_is_and_noted(tmp_path):
    data = moving("PNG")
    library = Library()
    image = put(tmp_path, "moving.png", data)
    assert library.examine(image).notes == ("animated PNG; the first picture counts",)
    assert base64.b64decode(sent(library, image)[0].base64) == data


@pytest.mark.parametrize(("kind", "type_"), [("BMP", "image/bmp"), ("TIFF", "image/tiff")])
def test_formats_not_taken_become_png_with_the_same_pixels(tmp_path, kind, type_):
    image = put(tmp_path, "old", picture(kind, colour=(10, 20, 30)))
    payload, picture_sent = sent(Library(), image)
    assert payload.type == "image/png"
    assert payload.notes == (f"converted from {type_} (RGB) to image/png",)
    assert picture_sent.getpixel((7, 7)) == (10, 20, 30)


def test_conversion_turns_upright_since_the_tag_is_lost(tmp_path):
    exif = Pil.Exif()
    exif[274] = 6
    upright = picture("TIFF", (40, 30), exif=exif)
    payload, picture_sent = sent(Library(), put(tmp_path, "turned.tif", upright))
    assert picture_sent.size == (30, 40)
    assert "turned upright from EXIF orientation 6" in payload.notes[0]


def test_transparency_becomes_white_where_only_jpeg_is_taken(tmp_path):
    image = put(tmp_path, "clear.png", picture("PNG", mode="RGBA", colour=(255, 0, 0, 0)))
    payload, picture_sent = sent(Library(takes=frozenset({"image/jpeg"})), image)
    assert payload.type == "image/jpeg"
    assert min(picture_sent.getpixel((5, 5))) > 250


def test_an_endpoint_that_takes_nothing_we_can_make_is_said(tmp_path):
    library = Library(takes=frozenset({"image/gif"}))
    found = library.examine(put(tmp_path, "a.jpg", picture()))
    with pytest.raises(BadMedia, match="takes only image/gif"):
        library.payload(found)


def test_data_urls_are_read_in_every_spelling():
    data = picture("PNG")
    plain = base64.b64encode(data).decode()
    safe = base64.urlsafe_b64encode(data).decode().rstrip("=")
    percent = "".join(f"%{byte:02x}" for byte in data)
    for url in (
        f"data:image/png;base64,{plain}",
        f"data:image/png;charset=x;base64,{plain[:40]}\n {plain[40:]}",
        f"data:;base64,{safe}",
        f"data:image/png,{percent}",
    ):
        library = Library()
        found = library.examine(Image(where=url))
        assert (found.type, found.size) == ("image/png", len(data))
        assert library.known(Image(where=url)) == found
        assert base64.b64decode(library.payload(found).base64) == data
    wrong = Library().examine(Image(where=f"data:image/jpeg;base64,{plain}"))
    assert wrong.notes == ("named as image/jpeg, but is image/png",)


@pytest.mark.parametrize(
    "url",
    ["data:image/png;base64", "data:image/png;base64,§§§§", "data:,", "data:text/html,<html>"],
)
def test_bad_data_urls_are_bad_media(url):
    assert why_bad(Library(), Image(where=url))


def test_a_reason_never_repeats_a_data_urls_data():
    url = "data:image/png;base64," + base64.b64encode(picture("PNG")[:-20] * 50).decode()
    reason = why_bad(Library(), Image(where=url))
    assert len(reason) < 250
    assert url[40:80] not in reason


def test_openers_make_images_and_their_failures_are_bad_media():
    drawn = []

    def draw(rest: str) -> bytes:
        drawn.append(rest)
        if rest == "broken":
            raise ValueError("no such scene")
        return picture("PNG", colour=(1, 2, int(rest)))

    memory = Counting()
    library = Library(memory, openers={"scenes": draw})
    assert library.known(Image(where="scenes:7")) is None
    found = library.examine(Image(where="scenes:7"))
    assert (found.type, library.known(Image(where="scenes:7"))) == ("image/png", found)
    assert Library(memory, openers={"scenes": draw}).known(Image(where="scenes:7")) == found
    assert drawn == ["7"]
    assert why_bad(library, Image(where="scenes:broken")) == (
        "scenes:broken could not be made: ValueError: no such scene"
    )


def test_known_is_none_then_the_image_and_a_new_library_remembers(tmp_path):
    memory, image = Counting(), put(tmp_path, "a.jpg", picture())
    first = Library(memory)
    assert first.known(image) is None
    found = first.examine(image)
    assert first.known(image) == found
    asked = memory.asked
    first.known(image)
    assert memory.asked == asked, "what was just seen needs no lookup"
    assert Library(memory).known(image) == found


def test_a_bad_image_is_remembered_as_bad_with_its_reason(tmp_path):
    memory, image = Counting(), put(tmp_path, "cut.jpg", photo()[:-300])
    reason = why_bad(Library(memory), image)
    for library in (Library(memory), Library(memory)):
        with pytest.raises(BadMedia) as again:
            library.known(image)
        assert again.value.reason == reason


def test_one_content_under_two_names_is_decoded_once(tmp_path):
    memory = Counting()  # asserts that a content is remembered once
    library = Library(memory)
    one = library.examine(put(tmp_path, "a.jpg", picture()))
    two = library.examine(put(tmp_path, "b.png", picture()))
    assert one.sha256 == two.sha256
    assert two.notes == ("named as image/png, but is image/jpeg",)
    assert len(memory.media) == 1


def test_a_file_that_changed_is_examined_anew(tmp_path):
    library, image = Library(), put(tmp_path, "a.png", picture("PNG", (10, 10)))
    assert library.examine(image).width == 10
    put(tmp_path, "a.png", picture("PNG", (20, 20)))
    assert library.known(image) is None
    assert library.examine(image).width == 20


def test_what_changed_between_examining_and_sending_is_not_sent(tmp_path):
    library, image = Library(), put(tmp_path, "a.png", picture("PNG", (10, 10)))
    found = library.examine(image)
    put(tmp_path, "a.png", picture("PNG", (20, 20)))
    with pytest.raises(BadMedia, match="was changed after it was examined"):
        library.payload(found)


def test_a_touched_file_with_the_same_bytes_is_sent(tmp_path):
    library, image = Library(), put(tmp_path, "a.png", picture("PNG"))
    found = library.examine(image)
    os.utime(image.where, ns=(1, 1))
    assert base64.b64decode(library.payload(found).base64) == picture("PNG")


def test_payloads_are_kept_within_their_bound(tmp_path):
    library = Library(cache_bytes=30_000)
    images = [library.examine(put(tmp_path, f"{i}.jpg", photo((60, 60 + i)))) for i in range(12)]
    for image in images * 2:
        library.payload(image)
        assert library._payloads.weight <= 30_000
    assert 1 < len(library._payloads) < 12


def test_a_payload_kept_needs_no_file(tmp_path):
    library, image = Library(), put(tmp_path, "a.png", picture("PNG"))
    found = library.examine(image)
    first = library.payload(found)
    os.remove(image.where)
    assert library.payload(found) is first


def test_converts_says_which_payloads_are_work(tmp_path):
    library = Library()
    plain = library.examine(put(tmp_path, "a.png", picture("PNG")))
    old = library.examine(put(tmp_path, "a.bmp", picture("BMP")))
    assert not library.converts(plain)
    assert library.converts(old)
    library.payload(old)
    assert not library.converts(old)


def test_many_threads_agree(tmp_path):
    library = Library(cache_bytes=20_000)
    images = [put(tmp_path, f"{i}.jpg", photo((50, 50 + i))) for i in range(8)]
    wrong: list[str] = []

    def work() -> None:
        for image in images * 3:
            found = library.known(image) or library.examine(image)
            data = base64.b64decode(library.payload(found).base64)
            if hashlib.sha256(data).hexdigest() != found.sha256:
                wrong.append(image.where)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=60))
def test_a_bounded_cache_never_weighs_more_than_its_bound(puts):
    cache: Bounded[int, int] = Bounded(20)
    last: dict[int, int] = {}
    for key, weight in puts:
        cache.put(key, weight, weight)
        last[key] = weight
        assert cache.weight == sum(w for k in last if (w := cache.get(k)) is not None) <= 20
        assert all(cache.get(k) in (None, last[k]) for k in last)
        assert cache.get(key) == weight


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF"]), st.data())
def test_no_damage_whatever_raises_anything_but_bad_media(kind, data):
    raw = bytearray(picture(kind, (24, 16), colour=(200, 30, 90)))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    url = "data:;base64," + base64.b64encode(bytes(raw[:cut])).decode()
    library = Library(max_pixels=10_000)
    with suppress(BadMedia):
        found = library.examine(Image(where=url))
        assert found.width > 0 < found.height
        assert library.payload(found).base64
