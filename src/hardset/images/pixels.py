"""The places where an image is decoded: the check once a hash, a conversion, a thumbnail."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from hardset.images.structure import BadMedia, Shape, check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image as Pil

ORIENTATION = 274  # the EXIF tag


def guard(width: int, height: int, max_pixels: int) -> None:
    """Refuse an image whose header promises more pixels than the limit.

    Raises:
        BadMedia: it would be a decompression bomb.
    """
    if width * height > max_pixels:
        raise BadMedia(
            f"is a decompression bomb or too large: {width} x {height} = {width * height:,} "
            f"pixels, the limit is {max_pixels:,}"
        )


def decode(data: bytes, shape: Shape, max_pixels: int) -> Shape:
    """Decode the whole (first) picture, and complete what the header said.

    Raises:
        BadMedia: it does not decode.
    """
    try:
        with _open(data) as picture:
            width, height = picture.size
            guard(width, height, max_pixels)
            turned = _turned(picture)
            picture.load()
            deep = shape.variant or _variant(picture)
            notes = shape.notes or ((deep.upper() if deep == "cmyk" else deep,) if deep else ())
            turned = turned or _turned(picture)  # a PNG may say it behind its pixels
    except BadMedia:
        raise
    except Exception as error:  # a decoder fed with anything may raise anything
        raise BadMedia(f"does not decode: {_first_line(error)}") from error
    if turned:
        notes += (f"EXIF orientation {turned}",)
    return Shape(width, height, deep, notes)


def convert(data: bytes, from_type: str, takes: frozenset[str]) -> tuple[str, bytes, str]:
    """Make an 8-bit picture of a type the endpoint takes: PNG, or JPEG where JPEG came in.

    Transparency stays in PNG and becomes white in JPEG; the EXIF orientation is carried out,
    since the tag is lost; of an animation the first frame counts.

    Returns:
        The new media type, its bytes, and what was done in words.

    Raises:
        BadMedia: the endpoint takes neither PNG nor JPEG, or the image does not decode.
    """
    from PIL import ImageOps

    wanted = (
        ("image/jpeg", "image/png") if from_type == "image/jpeg" else ("image/png", "image/jpeg")
    )
    to_type = next((kind for kind in wanted if kind in takes), None)
    if to_type is None:
        raise BadMedia(f"is {from_type}, and the endpoint takes only {', '.join(sorted(takes))}")
    out = io.BytesIO()
    try:
        with _open(data) as picture:
            turned = _turned(picture)  # asked first: some decoders turn while they load
            picture.load()
            turned = turned or _turned(picture)
            plain = _eight_bit(ImageOps.exif_transpose(picture))
            was = picture.mode
        if to_type == "image/jpeg":
            _opaque(plain).save(out, "JPEG", quality=95, subsampling=0)
        else:
            plain.save(out, "PNG", compress_level=3)
    except Exception as error:
        raise BadMedia(f"cannot be converted: {_first_line(error)}") from error
    note = f"converted from {from_type} ({was}) to {to_type}"
    if turned:
        note += f", turned upright from EXIF orientation {turned}"
    return to_type, out.getvalue(), note


def pixels(picture: Pil.Image) -> NDArray[np.uint8]:
    """Return a picture's pixels: upright, 8 bits, grey or RGB, transparent ones on white.

    Args:
        picture: as Pillow has it; of an animation, the frame that it stands at.

    Returns:
        (height, width, 1 or 3).
    """
    import numpy as np
    from PIL import ImageOps

    turned = _turned(picture)  # asked first: some decoders turn while they load
    picture.load()
    plain = ImageOps.exif_transpose(picture) if turned or _turned(picture) else picture
    plain = _opaque(_eight_bit(plain))
    values = np.array(plain, dtype=np.uint8)
    return values[..., None] if values.ndim == 2 else values


def read_pixels(data: bytes, max_pixels: int) -> NDArray[np.uint8]:
    """Decode an image file to what `pixels` returns.

    Raises:
        BadMedia: it is not an image, incomplete, damaged, or has more pixels than the limit.
    """
    _, shape = check(data)
    guard(shape.width, shape.height, max_pixels)
    try:
        with _open(data) as picture:
            guard(*picture.size, max_pixels)
            return pixels(picture)
    except BadMedia:
        raise
    except Exception as error:  # a decoder fed with anything may raise anything
        raise BadMedia(f"does not decode: {_first_line(error)}") from error


def thumbnail(data: bytes, side: int) -> bytes:
    """Make a small upright JPEG, at most `side` pixels wide and high, to be looked at.

    Raises:
        BadMedia: the image does not decode.
    """
    from PIL import ImageOps

    out = io.BytesIO()
    try:
        with _open(data) as picture:
            picture.draft("RGB", (side, side))  # a JPEG is decoded at a fraction of its size
            small = _eight_bit(picture)  # before it is made small: 16-bit ones cannot be
            small.thumbnail((side, side), reducing_gap=1.5)
            small = _opaque(ImageOps.exif_transpose(small))
        small.save(out, "JPEG", quality=82)
    except Exception as error:
        raise BadMedia(f"does not decode: {_first_line(error)}") from error
    return out.getvalue()


def _open(data: bytes) -> Pil.Image:
    from PIL import Image

    return Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF"))


def _turned(picture: Pil.Image) -> int:
    """Return the EXIF orientation where it is not upright (2 to 8), else 0."""
    said = picture.getexif().get(ORIENTATION, 1)
    return said if said in range(2, 9) else 0


def _variant(picture: Pil.Image) -> str:
    if picture.mode == "CMYK":
        return "cmyk"
    return "16-bit" if picture.mode.startswith(("I", "F")) else ""


def _eight_bit(picture: Pil.Image) -> Pil.Image:
    """Bring any mode to L, RGB or RGBA; 16-bit and deeper values are scaled, never clipped."""
    if picture.mode in ("L", "RGB", "RGBA"):
        return picture
    if picture.mode == "1":
        return picture.convert("L")
    if picture.mode.startswith(("I", "F")):
        import numpy as np
        from PIL import Image

        values = np.asarray(picture, dtype=np.float64)
        low, high = (0.0, 65535.0) if picture.mode.startswith("I;16") else _span(values)
        scaled = np.round((values - low) * (255.0 / (high - low)))
        return Image.fromarray(scaled.astype(np.uint8), "L")
    clear = "transparency" in picture.info or picture.mode in ("LA", "PA", "La", "RGBa")
    return picture.convert("RGBA" if clear else "RGB")


def _span(values: object) -> tuple[float, float]:
    """Return the range to scale from: 16 bits where the values fit, else what occurs."""
    import numpy as np

    low, high = float(np.nanmin(values)), float(np.nanmax(values))  # type: ignore[call-overload]
    if low >= 0 and 1 < high <= 65535:
        return (0.0, 255.0) if high <= 255 else (0.0, 65535.0)
    return low, high if high > low else low + 1


def _opaque(picture: Pil.Image) -> Pil.Image:
    from PIL import Image

    if picture.mode != "RGBA":
        return picture
    white = Image.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def _first_line(error: Exception) -> str:
    said = str(error).strip().splitlines()
    return (said[0] if said else type(error).__name__).replace("<_io.BytesIO object", "<bytes")[
        :200
    ]
