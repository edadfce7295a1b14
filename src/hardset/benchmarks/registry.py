"""Benchmarks by name: ours, and those that other packages add (entry point `hardset.benchmarks`).

A third party adds a benchmark with one class and one line of packaging:

    [project.entry-points."hardset.benchmarks"]
    pope = "my_package.pope:Pope"
"""

from __future__ import annotations

import difflib
import importlib
import inspect
from importlib.metadata import entry_points
from typing import Any, Literal, get_args, get_origin

from hardset.benchmarks.declaration import Benchmark
from hardset.errors import UsageError

GROUP = "hardset.benchmarks"
BUILT_IN = {
    "hardbench": "hardset.benchmarks.hardbench:HARDBench",
    "mmooc": "hardset.benchmarks.mmooc:MMOOC",
    "mmr": "hardset.benchmarks.mmr:MMR",
    "photos": "hardset.benchmarks.photos:Photos",
    "scenes": "hardset.benchmarks.scenes:Scenes",
    "zerobench": "hardset.benchmarks.zerobench:ZeroBench",
}


def names() -> dict[str, str]:
    """Return every benchmark's name and where its class is (`module:Class`)."""
    return {**{point.name: point.value for point in entry_points(group=GROUP)}, **BUILT_IN}


def load(name: str) -> type[Benchmark]:
    """Return the benchmark class called `name`.

    Raises:
        UsageError: there is none of that name, or the package that adds it does not import.
    """
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(known))}"
        raise UsageError(f"no benchmark is called {name!r}; {hint}")
    module, _, attribute = known[name].partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        if name in BUILT_IN:
            raise
        raise UsageError(
            f"the benchmark {name!r} ({known[name]}) does not load: "
            f"{type(error).__name__}: {error}; mend or uninstall the package that adds it"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Benchmark)):
        raise UsageError(f"the benchmark {name!r} ({known[name]}) is not a hardset Benchmark class")
    return found


def options(name: str) -> dict[str, inspect.Parameter]:
    """Return the options of a benchmark: the parameters of its `__init__`, with types."""
    return dict(inspect.signature(load(name), eval_str=True).parameters)


def wordings(name: str, asked: str) -> list[str]:
    """Say which wordings of a benchmark's prompt are asked for: `all`, or some joined by commas.

    Raises:
        UsageError: it has one wording only, or none of that name.
    """
    option = options(name).get("prompt")
    known = get_args(option.annotation) if option is not None else ()
    if not known:
        raise UsageError(f"{name} has one wording of its prompt only: leave --prompts out")
    picked = list(known) if asked == "all" else [one.strip() for one in asked.split(",")]
    wrong = next((one for one in picked if one not in known), None)
    if wrong is not None or len(set(picked)) < len(picked):
        raise UsageError(
            f"--prompts takes `all`, or some of {', '.join(known)}, each once, not {asked!r}"
        )
    return picked


def describe() -> list[tuple[str, str]]:
    """Return (name, title and what it is) of every benchmark; one that does not load says so."""
    rows = []
    for name in sorted(names()):
        try:
            cls = load(name)
            what = (cls.__doc__ or "").strip().partition("\n")[0]
            rows.append((name, f"{cls.title}: {what}" if what else cls.title))
        except UsageError as error:
            rows.append((name, str(error)))
    return rows


def describe_options(name: str) -> list[tuple[str, str]]:
    """Return (option, type, default and what its class says of it) of every option."""
    said = _arguments(load(name))
    rows = []
    for option, parameter in options(name).items():
        kind = _kind(parameter.annotation)
        default = "needed" if parameter.default is parameter.empty else repr(parameter.default)
        about = f": {said[option]}" if option in said else ""
        rows.append((option, f"{kind}, {default}{about}"))
    return rows


def _arguments(cls: type) -> dict[str, str]:
    """Read what the `Args:` of a class's docstring say of each, in one line."""
    found: dict[str, str] = {}
    _, _, rest = inspect.cleandoc(cls.__doc__ or "").partition("\nArgs:\n")
    for line in rest.splitlines():
        if not line.startswith("    "):
            break
        name, colon, text = line.strip().partition(": ")
        if colon and not line.startswith("     "):
            found[name] = text
        elif found:
            found[next(reversed(found))] += " " + line.strip()
    return found


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return " or ".join(map(str, get_args(annotation)))
    parts = get_args(annotation) or (annotation,)
    return " or ".join(part.__name__ for part in parts if part is not type(None))


def make(name: str, **given: Any) -> Benchmark:
    """Make a benchmark with its options; texts are turned into the types its `__init__` asks for.

    Raises:
        UsageError: an unknown name, an option the benchmark does not have, one it needs, or a
            value of the wrong type.
    """
    cls = load(name)
    accepted = inspect.signature(cls, eval_str=True).parameters
    ready: dict[str, Any] = {}
    for key, value in given.items():
        if key not in accepted:
            has = ", ".join(accepted) or "none"
            raise UsageError(f"{name} has no option {key!r}; its options are: {has}")
        ready[key] = _typed(name, key, value, accepted[key].annotation)
    missing = [k for k, p in accepted.items() if p.default is p.empty and k not in ready]
    if missing:
        raise UsageError(f"{name} needs {' and '.join('--' + key for key in missing)}")
    benchmark = cls(**ready)
    benchmark.given = ready
    return benchmark


def _typed(name: str, key: str, value: Any, annotation: Any) -> Any:
    import msgspec

    if not isinstance(value, str) or annotation is inspect.Parameter.empty:
        return value
    try:
        return msgspec.convert(value, annotation, strict=False, dec_hook=lambda to, text: to(text))
    except (msgspec.ValidationError, TypeError) as error:
        wanted = _kind(annotation)
        raise UsageError(f"{name}: option {key} takes {wanted}, not {value!r}") from error
