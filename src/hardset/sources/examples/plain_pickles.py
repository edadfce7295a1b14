"""Pickles of plain values and numpy arrays, read without running anything that they name.

A pickle is a program that may call any function. CIFAR's are lists, texts, numbers and arrays of
numbers, so that three names are all they need, and every other is refused.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from hardset.errors import UsageError


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        core = module in ("numpy.core.multiarray", "numpy._core.multiarray")
        if core and name == "_reconstruct":
            return _empty
        if (module, name) == ("numpy", "ndarray"):
            return _Array
        if (module, name) == ("numpy", "dtype"):
            return _dtype
        if (module, name) == ("_codecs", "encode"):  # how Python 3 writes bytes for Python 2
            return _latin1
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is no plain value or array")


class _Array:
    """What stands for numpy's array type: it is named, and never called."""

    __slots__ = ()


def loads(data: bytes, where: object) -> Any:
    """Return what a pickle holds; texts of Python 2 as bytes.

    Args:
        data: the pickle, of Python 2 or 3.
        where: its file, for errors.

    Raises:
        UsageError: it is damaged, or names anything but arrays and plain values.
    """
    try:
        return _Plain(io.BytesIO(data), encoding="bytes").load()
    except Exception as error:  # a damaged pickle may raise anything
        said = str(error).partition("\n")[0][:200]
        raise UsageError(
            f"{where} is not a pickle of plain values: {said or type(error).__name__}; "
            "download it again, or take the binary version"
        ) from error


def _empty(kind: Any, shape: Any, code: Any) -> np.ndarray[Any, Any]:
    """Make the array whose state follows; only `ndarray` itself, and empty."""
    if kind is not _Array:
        raise pickle.UnpicklingError("it makes an array of a type that is no array")
    return np.ndarray((0,), dtype=np.uint8)


def _dtype(code: Any, *rest: Any) -> np.dtype[Any]:
    """Make a type of numbers, and no type of objects."""
    text = code.decode("ascii") if isinstance(code, bytes) else str(code)
    made: np.dtype[Any] = np.dtype(text, align=False, copy=True)  # its state is set next
    if made.kind not in "biuf":
        raise pickle.UnpicklingError(f"it holds an array of {text}, which are no numbers")
    return made


def _latin1(text: str, encoding: str) -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"it encodes text as {encoding}")
    return text.encode("latin-1")
