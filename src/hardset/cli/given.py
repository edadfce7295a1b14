"""What was given on the command line, as the rest of the program takes it, or one sentence."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hardset.errors import UsageError

if TYPE_CHECKING:
    from hardset.benchmarks.declaration import Benchmark
    from hardset.records import Sampling


def options_of(pairs: list[str] | None, **given: Any) -> dict[str, Any]:
    """Gather a benchmark's options: `key=value` texts, and flags that were given a value."""
    options = {key: value for key, value in given.items() if value is not None}
    for pair in pairs or []:
        key, sign, value = pair.partition("=")
        if not sign:
            raise UsageError(f"--option takes key=value, not {pair!r}")
        options[key.strip().replace("-", "_")] = value
    return options


def replaceable(report: Path) -> None:
    """Refuse a report's place that would cost another file, before anything is paid for."""
    from hardset.reports.folder import make_usable

    if report.is_dir():
        raise UsageError(f"--report {report} is a folder: name a file, like report.html")
    if report.exists() and not report.is_file():
        raise UsageError(f"--report {report} is no ordinary file: name one, like report.html")
    if report.exists():
        with report.open("rb") as file:
            start = file.read(64).lstrip().lower()
        if start and not start.startswith(b"<!doctype html"):
            raise UsageError(f"--report {report} is a file, and no report: it stays; name another")
    make_usable(report.parent)


def sampling_of(
    base: Sampling,
    temperature: str | None,
    top_p: float | None,
    max_tokens: int | None,
    seed: int | None,
) -> Sampling:
    """Lay what the user gave over the benchmark's own sampling."""
    import msgspec

    if top_p is not None and not 0 < top_p <= 1:
        raise UsageError(f"--top-p takes a number above 0, up to 1, not {top_p:g}")
    if max_tokens is not None and not 1 <= max_tokens < 2**31:
        raise UsageError(f"--max-tokens takes a whole number of 1 or more, not {max_tokens}")
    if seed is not None and not -(2**63) <= seed < 2**63:
        raise UsageError(f"--seed takes a whole number of at most 64 bits, not {seed}")
    given: dict[str, Any] = {"top_p": top_p, "max_tokens": max_tokens, "seed": seed}
    changes = {name: value for name, value in given.items() if value is not None}
    if temperature is not None:
        try:
            number = None if temperature == "default" else float(temperature)
        except ValueError:
            number = -1.0
        if number is not None and not 0 <= number < 100:  # NaN is not within either
            raise UsageError(
                f"--temperature takes a number of 0 or more, or `default`, not {temperature!r}"
            )
        changes["temperature"] = number
    return msgspec.structs.replace(base, **changes)


def ways(declared: Benchmark, repeats: int, temperature: str | None) -> list[tuple[int, Sampling]]:
    """Say how often to ask, and how to sample: once greedily too where a benchmark has it so."""
    if repeats > 1 and declared.sampled is not None and temperature is None:
        return [(1, declared.sampling), (repeats, declared.sampled)]
    return [(repeats, declared.sampling)]


def prices(text: str | None, flag: str = "--price") -> tuple[float, float] | None:
    """Read dollars a million tokens, in and out: `2.50,10`, as the flag was given them."""
    if text is None:
        return None
    try:
        price_in, price_out = (float(part.strip().removeprefix("$")) for part in text.split(","))
    except ValueError:
        price_in = price_out = -1.0
    if not (0 <= price_in < math.inf and 0 <= price_out < math.inf):
        raise UsageError(
            f"{flag} takes dollars a million tokens in and out, like 2.50,10, not {text!r}"
        )
    return price_in, price_out


def need_extra(module: str, extra: str) -> None:
    """Refuse to begin where an extra of hardset's is not installed."""
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise UsageError(
            f"this needs {module}, which is not installed: pip install 'hardset[{extra}]'"
        )


@runtime_checkable
class Checked(Protocol):
    """A model that can tell before it is asked that it cannot be: its key is missing."""

    def check(self) -> object:
        """Raise `UsageError` if it cannot be asked."""
