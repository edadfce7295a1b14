"""Let timm and transformers be imported where torchvision's compiled part does not fit torch.

Both import torchvision, which registers a part of itself with torch on import and fails where the
operators are not known. Nothing of ours calls these operators; to know their names is enough.
"""

from __future__ import annotations

from typing import Any

_SCHEMAS = (
    ("nms", "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"),
    ("qnms", "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"),
)
_kept: list[Any] = []  # torch forgets the operators of a library that is collected


def declare() -> None:
    """Declare the operators that torchvision misses; nothing is done where it works.

    Call it before every import of timm or transformers.
    """
    if _kept:
        return
    import torch

    try:
        import torchvision  # noqa: F401
    except (RuntimeError, ImportError, OSError, AttributeError):
        pass
    else:
        return
    missing = [schema for name, schema in _SCHEMAS if not hasattr(torch.ops.torchvision, name)]
    libraries: Any = torch.library
    library = libraries.Library("torchvision", "FRAGMENT")
    for schema in missing:
        library.define(schema)
    _kept.append(library)
