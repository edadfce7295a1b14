"""Thumbnails for the report: small, upright, and none where an image is bad."""

import io

import pytest
from PIL import Image as Pillow

from hardset.images import Library
from hardset.records import Image


def saved(path, picture, kind, **more):
    picture.save(path, kind, **more)
    return Image(where=str(path))


def opened(small: bytes) -> Pillow.Image:
    picture = Pillow.open(io.BytesIO(small))
    picture.load()
    return picture


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("RGB", "JPEG"),
        ("CMYK", "JPEG"),
        ("L", "JPEG"),
        ("RGBA", "PNG"),
        ("I;16", "PNG"),
        ("P", "GIF"),
    ],
)
def test_any_kind_becomes_a_small_jpeg(tmp_path, mode, kind):
    image = saved(tmp_path / "a", Pillow.new(mode, (900, 600)), kind)
    small = opened(Library().thumbnail(image, 300))
    assert small.format == "JPEG"
    assert small.size == (300, 200)  # 900 x 600 into 300 x 300: the longer side decides


def test_a_small_image_keeps_its_size(tmp_path):
    image = saved(tmp_path / "a.png", Pillow.new("RGB", (40, 30), "red"), "PNG")
    assert opened(Library().thumbnail(image)).size == (40, 30)


def test_a_turned_photo_is_shown_upright(tmp_path):
    picture = Pillow.new("RGB", (400, 200))
    exif = Pillow.Exif()
    exif[274] = 6  # to be turned by a quarter
    image = saved(tmp_path / "a.jpg", picture, "JPEG", exif=exif)
    assert opened(Library().thumbnail(image, 100)).size == (50, 100)


def test_what_is_bad_has_none(tmp_path):
    page = tmp_path / "page.jpg"
    page.write_text("<html></html>")
    large = saved(tmp_path / "large.png", Pillow.new("RGB", (200, 200)), "PNG")
    library = Library(max_pixels=39_999)  # 200 x 200 is one more
    assert library.thumbnail(Image(where=str(page))) is None
    assert library.thumbnail(Image(where=str(tmp_path / "gone.png"))) is None
    assert library.thumbnail(large) is None
