"""The pictures: which wheel ships each, who made it, under which licence, and its very bytes.

They are read from the installed packages, none of which is imported, and are not copied. What
was asked of a picture is only known to be true of that picture, so its sha256 is pinned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hardset.errors import UsageError

INSTALL = "pip install 'hardset[photos]'"
CC0 = "CC0-1.0"
PUBLIC = "public domain"
FREE = "no known copyright restrictions"
BY = "CC-BY-2.0"
BSD = "BSD-3-Clause"
MATPLOTLIB = "Matplotlib licence"


class Wheel(NamedTuple):
    """A package that ships pictures: its name, the folder of its code and that of the pictures."""

    package: str
    module: str
    folder: str


SKIMAGE = Wheel("scikit-image", "skimage", "data")
SKLEARN = Wheel("scikit-learn", "sklearn", "datasets/images")
MPL = Wheel("matplotlib", "matplotlib", "mpl-data/sample_data")


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes:
        wheel: what ships it.
        file: its name in the wheel's folder of pictures.
        licence: as the package's notes or its maintainers (Matplotlib's request 1599) state it, or
            the package's own where they state none.
        origin: what it shows, and who made it as far as the package's notes tell.
        photograph: made with a camera, a microscope or a scanner, not drawn.
        size: of the file, in bytes.
        sha256: of the file.
    """

    wheel: Wheel
    file: str
    licence: str
    origin: str
    photograph: bool
    size: int
    sha256: str

    def where(self) -> str:
        """Say where it is to be found: the package and the path inside of it."""
        return f"{self.wheel.package}, {self.wheel.module}/{self.wheel.folder}/{self.file}"


PICTURES: Mapping[str, Picture] = {
    "astronaut": Picture(
        SKIMAGE,
        "astronaut.png",
        PUBLIC,
        "an astronaut in a studio; NASA Great Images database",
        True,
        791555,
        "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
    ),
    "brick": Picture(
        SKIMAGE,
        "brick.png",
        CC0,
        "a paving of bricks; CC0Textures, Bricks25",
        True,
        106634,
        "7966caf324f6ba843118d98f7a07746d22f6a343430add0233eca5f6eaaa8fcf",
    ),
    "camera": Picture(
        SKIMAGE,
        "camera.png",
        CC0,
        "a man with a camera; Lav Varshney",
        True,
        139512,
        "b0793d2adda0fa6ae899c03989482bff9a42d3d5690fc7e3648f2795d730c23a",
    ),
    "cell": Picture(
        SKIMAGE,
        "cell.png",
        CC0,
        "a cell in saline, phase image; P. Müller and others, 2018",
        True,
        74183,
        "8d23a7fb81f7cc877cd09f330357fc7f595651306e84e17252f6e0a1b3f61515",
    ),
    "chelsea": Picture(
        SKIMAGE,
        "chelsea.png",
        CC0,
        "a cat; Stefan van der Walt",
        True,
        240512,
        "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
    ),
    "china": Picture(
        SKLEARN,
        "china.jpg",
        BY,
        "a tower by a lake; danielbuechele, flickr 6061409035",
        True,
        196653,
        "8378025ad2519d649d02e32bd98990db4ab572357d9f09841c2fbfbb4fefad29",
    ),
    "clock": Picture(
        SKIMAGE,
        "clock_motion.png",
        PUBLIC,
        "a clock, moved; Stefan van der Walt",
        True,
        58784,
        "f029226b28b642e80113d86622e9b215ee067a0966feaf5e60604a1e05733955",
    ),
    "coffee": Picture(
        SKIMAGE,
        "coffee.png",
        CC0,
        "a cup of coffee; Rachel Michetti, Pikolo Espresso Bar",
        True,
        466706,
        "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
    ),
    "coins": Picture(
        SKIMAGE,
        "coins.png",
        FREE,
        "Greek coins; Brooklyn Museum Collection",
        True,
        75825,
        "f8d773fc9cfa6f4d8e5942dc34d0a0788fcaed2a4fefbbed0aef5398d7ef4cba",
    ),
    "color": Picture(
        SKIMAGE,
        "color.png",
        BSD,
        "a wheel of colours; the scikit-image team",
        False,
        85584,
        "7d2df993de2b4fa2a78e04e5df8050f49a9c511aa75e59ab3bd56ac9c98aef7e",
    ),
    "flower": Picture(
        SKLEARN,
        "flower.jpg",
        BY,
        "a dahlia; vultilion, flickr 6056698931",
        True,
        142987,
        "a77f6ec41e353afdf8bdff2ea981b2955535d8d83294f8cfa49cf4e423dd5638",
    ),
    "grass": Picture(
        SKIMAGE,
        "grass.png",
        CC0,
        "a lawn; linolafett, DeviantArt, Grass-01",
        True,
        217893,
        "b6b6022426b38936c43a4ac09635cd78af074e90f42ffa8227ac8b7452d39f89",
    ),
    "gravel": Picture(
        SKIMAGE,
        "gravel.png",
        CC0,
        "gravel; CC0Textures, Gravel04",
        True,
        194247,
        "c48615b451bf1e606fbd72c0aa9f8cc0f068ab7111ef7d93bb9b0f2586440c12",
    ),
    "hopper": Picture(
        MPL,
        "grace_hopper.jpg",
        PUBLIC,
        "a naval officer; U.S. Navy",
        True,
        61306,
        "a8ca6d734765703b09728ab47fe59f473d93ae3967fc24c7c0288c3c7adb7130",
    ),
    "horse": Picture(
        SKIMAGE,
        "horse.png",
        CC0,
        "a silhouette; Andreas Preuss (marauder), openclipart 158377",
        False,
        16633,
        "c7fb60789fe394c485f842291ea3b21e50d140f39d6dcb5fb9917cc178225455",
    ),
    "hubble": Picture(
        SKIMAGE,
        "hubble_deep_field.jpg",
        PUBLIC,
        "the eXtreme Deep Field; NASA, HubbleSite 2012/37",
        True,
        527940,
        "3a19c5dd8a927a9334bb1229a6d63711b1c0c767fb27e2286e7c84a3e2c2f5f4",
    ),
    "ihc": Picture(
        SKIMAGE,
        "ihc.png",
        FREE,
        "stained tissue; Center for Microscopy And Molecular Imaging",
        True,
        477916,
        "f8dd1aa387ddd1f49d8ad13b50921b237df8e9b262606d258770687b0ef93cef",
    ),
    "logo": Picture(
        SKIMAGE,
        "logo.png",
        BSD,
        "the logo of scikit-image; the scikit-image team",
        False,
        179723,
        "f2c57fe8af089f08b5ba523d95573c26e62904ac5967f4c8851b27d033690168",
    ),
    "logo2": Picture(
        MPL,
        "logo2.png",
        MATPLOTLIB,
        "the logo of Matplotlib; the Matplotlib team",
        False,
        22279,
        "0d7371e055decaac47cb6e809af3442e9c1ecd02f1c1e2d063d1cfee4b4a21d7",
    ),
    "minduka": Picture(
        MPL,
        "Minduka_Present_Blue_Pack.png",
        MATPLOTLIB,
        "a wrapped box; Minduka, as the name of the file tells",
        False,
        13634,
        "5e72868826a7a4329a950e5a9efa393594807833fb7f27e5cd001a8afb9cd081",
    ),
    "moon": Picture(
        SKIMAGE,
        "moon.png",
        BSD,
        "the ground of the moon; the scikit-image team",
        True,
        50177,
        "78739619d11f7eb9c165bb5d2efd4772cee557812ec847532dbb1d92ef71f577",
    ),
    "page": Picture(
        SKIMAGE,
        "page.png",
        BSD,
        "a page of scikit-image's guide; the scikit-image team",
        True,
        47679,
        "341a6f0a61557662b02734a9b6e56ec33a915b2c41886b97509dedf2a43b47a3",
    ),
    "retina": Picture(
        SKIMAGE,
        "retina.jpg",
        CC0,
        "a retina; Mikael Häggström, Wikimedia Commons",
        True,
        269564,
        "38a07f36f27f095e818aea7b96d34202c05176d30253c66733f2e00379e9e0e6",
    ),
    "rocket": Picture(
        SKIMAGE,
        "rocket.jpg",
        PUBLIC,
        "a rocket on its pad; SpaceX, flickr 16511594820",
        True,
        112525,
        "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
    ),
    "text": Picture(
        SKIMAGE,
        "text.png",
        PUBLIC,
        "a handwritten formula; Wikipedia, Corner.png",
        True,
        42704,
        "bd84aa3a6e3c9887850d45d606c96b2e59433fbef50338570b63c319e668e6d1",
    ),
}


def read_picture(name: str) -> bytes:
    """Return the bytes of a picture (`Image.where` behind `photos:`).

    Raises:
        UsageError: there is none of that name, its package is not installed, or the installed
            version ships another file.
    """
    if name not in PICTURES:
        raise UsageError(f"photos: no picture is called {name!r}; there are {', '.join(PICTURES)}")
    picture = PICTURES[name]
    path = _folder(picture.wheel) / picture.file
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(_other(picture, "does not ship it")) from None
    if hashlib.sha256(data).hexdigest() != picture.sha256:
        raise UsageError(_other(picture, "ships another file under this name"))
    return data


def _folder(wheel: Wheel) -> Path:
    """Return the folder of a wheel's pictures, without importing the package."""
    from importlib.util import find_spec

    spec = find_spec(wheel.module)
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise UsageError(
            f"photos: the pictures are read from {wheel.package}, which is not installed; {INSTALL}"
        )
    return Path(next(iter(places))) / wheel.folder


def _other(picture: Picture, what: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    package = picture.wheel.package
    try:
        found = f"{package} {version(package)}"
    except PackageNotFoundError:
        found = package
    return (
        f"photos: the questions about {picture.where()} were checked on a file with sha256 "
        f"{picture.sha256[:16]}, and the installed {found} {what}; "
        f"{INSTALL.replace('install', 'install --force-reinstall')}, "
        f"or install another version of {package}"
    )
