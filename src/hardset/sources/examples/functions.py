"""`module:function`: a Python function of the user's, from the working directory too.

It is called without arguments, or with `split` where it takes one, and returns an `Examples`, a
map-style torch data set whose items are (tensor, Pillow picture, array or text, label), a dict of
splits of these, or a pair (network, examples). The network stands in `.network` of what
`open_examples` returns.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import hardset
from hardset.errors import UsageError
from hardset.lowresource.examples import NO_LABEL, Examples
from hardset.sources.examples import splits
from hardset.sources.examples.asked import Asked
from hardset.sources.examples.mapped import map_style

NAME = "function"
NEEDS = "module:function, which returns the examples (a module here, or an installed one)"
_FORM = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_OWN = os.path.dirname(os.path.abspath(hardset.__file__)) + os.sep
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def recognise(place: str) -> bool:
    """Whether it is written as `module:function`, and no file is called so."""
    return _FORM.fullmatch(place) is not None and not os.path.exists(place)


def read(asked: Asked) -> Examples:
    """Call the function, and make examples of what it returns."""
    function = find(asked.place)
    try:
        takes = "split" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        takes = False
    try:
        given = function(split=asked.split) if takes else function()
    except (Exception, SystemExit) as error:
        raise UsageError(f"{asked.place} failed: {told(error)}") from error
    network, split = None, asked.split if takes else ""
    if _is_pair(given):
        network, given = given
    if isinstance(given, Mapping) and not is_examples(given):
        there = [str(name) for name in given]
        split = splits.pick(there, asked.split, asked.place)
        given = given[split]
        if _is_pair(given):
            network, given = given
    examples: Any = given if is_examples(given) else _mapped(given, asked)
    _see_labels(examples, asked.place)
    if network is not None:
        examples.network = network
    said = {"place": asked.place, "layout": NAME, "split": split, "notes": []}
    for key, value in said.items():
        examples.source.setdefault(key, value)
    if "sha256" not in examples.source:
        examples.source["sha256"] = _digest(examples)
    opened: Examples = examples
    return opened


def is_examples(given: Any) -> bool:
    """Whether something has all that `Examples` asks for."""
    return isinstance(given, Examples)


def _is_pair(given: Any) -> bool:
    """Whether it is (network, examples); a list of two is a data set of two items."""
    return isinstance(given, tuple) and len(given) == 2 and not is_examples(given)


def _see_labels(examples: Any, place: str) -> None:
    """See that an `Examples` of the user's own has labels as that asks for."""
    labels = examples.labels
    if not hasattr(labels, "dtype") or labels.shape != (len(examples),):
        raise UsageError(f"{place}: its labels are no numpy array of {len(examples)} numbers")
    if labels.dtype.kind not in "iuf":
        raise UsageError(
            f"{place}: its labels are of type {labels.dtype}, and not int64 or float64"
        )
    if labels.dtype.kind == "i" and len(labels) and labels.min() < NO_LABEL:
        raise UsageError(f"{place}: the label {labels.min()} is none: -1 stands for no label")


def find(place: str) -> Callable[..., Any]:
    """Import the module of `module:function` and return the function.

    Raises:
        UsageError: there is none of that name, or its module fails; file and line are named.
    """
    named = _FORM.fullmatch(place)
    if named is None:
        raise UsageError(f"{place!r} is not of the form module:function")
    module_name, function_name = named.groups()
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)  # and left there: the function may import from it later
        importlib.invalidate_caches()
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise UsageError(f"{place}: {module_name} cannot be imported: {told(error)}") from error
        raise UsageError(
            f"{place}: there is no module {module_name}, neither in {here} nor installed"
        ) from error
    except (Exception, SystemExit) as error:  # a script without `if __name__ == "__main__"`
        raise UsageError(f"{place}: {module_name} cannot be imported: {told(error)}") from error
    _is_the_one_here(found, module_name, here)
    for part in function_name.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{place}: {module_name} has no {function_name}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{place}: {function_name} is a {type(found).__name__}, not a function")
    function: Callable[..., Any] = found
    return function


def told(error: BaseException) -> str:
    """Say what went wrong, and at which file and line, as deep as the user's own code goes."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_OWN, "<")) and frame.lineno
    ]
    users = [
        frame
        for frame in frames
        if not frame.filename.startswith(_STANDARD)
        and "site-packages" not in frame.filename.split(os.sep)
    ] or frames
    said = str(error).strip().partition("\n")[0][:300]
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}: {what}"
    return f"{users[-1].filename}, line {users[-1].lineno}: {what}" if users else what


def _digest(examples: Any) -> str:
    """Return the SHA-256 of the labels, and of contents that are in memory."""
    found = hashlib.sha256(examples.labels.tobytes())
    contents = getattr(examples, "contents", ())
    if hasattr(contents, "tobytes"):
        found.update(contents.tobytes())
    else:
        for content in contents:
            found.update(repr(content).encode(errors="surrogatepass"))
    return found.hexdigest()


def _is_the_one_here(module: Any, name: str, here: str) -> None:
    """Refuse another module that is called as the one in the working directory."""
    top = os.path.join(here, name.partition(".")[0])
    file = getattr(module, "__file__", None)
    if file and os.path.isfile(f"{top}.py") and not os.path.abspath(file).startswith(here + os.sep):
        raise UsageError(
            f"{name} is imported from {file}, and not from {top}.py: give that another name"
        )


def _mapped(given: Any, asked: Asked) -> Any:
    if not hasattr(given, "__len__") or not hasattr(given, "__getitem__"):
        raise UsageError(
            f"{asked.place} returned a {type(given).__name__}; it is to return an Examples (see "
            "hardset.lowresource.examples.Held), a map-style torch data set, a dict of splits of "
            "these, or a pair (network, examples)"
        )
    return map_style(given, asked, told)
