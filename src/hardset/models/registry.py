"""Models by their spec, `provider/model`; other packages add theirs (entry point `hardset.models`).

A third party adds a family of models with one factory and one line of packaging:

    [project.entry-points."hardset.models"]
    mine = "my_package.models:make"          # make(rest_of_spec, **options) -> a model

What it returns has `name`, `options`, `takes`, `max_concurrency`, is an async context manager,
and has `async reply(prompt, item, library) -> Reply`, which never raises for a failed request.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol

from hardset.errors import UsageError
from hardset.models.providers import ANY, PROVIDERS

if TYPE_CHECKING:
    from hardset.images import Library
    from hardset.records import Item, Prompt, Reply


class AnyModel(Protocol):
    """What every model here is; the engine asks for the same."""

    name: str
    options: Mapping[str, str]
    takes: frozenset[str]
    max_concurrency: int | None

    async def __aenter__(self) -> Any: ...

    async def __aexit__(self, *exc: Any) -> None: ...

    async def reply(self, prompt: Prompt, item: Item, library: Library) -> Reply:
        """Ask once; a failure is a reply too."""


GROUP = "hardset.models"
BUILT_IN = ("baseline", "llama", "local")
ALIASES = {
    "llama.cpp": "llamacpp",
    "lm-studio": "lmstudio",
    "google": "gemini",
}


def make_model(
    spec: str,
    *,
    base_url: str | None = None,
    key_env: str | None = None,
    extra: Mapping[str, Any] | None = None,
    timeout: float = 600.0,
    **options: Any,
) -> AnyModel:
    """Make the model a spec names. Nothing is started or sent before `async with`.

    Args:
        spec: `provider/model`; the model's name may hold further slashes. With `base_url`, a
            spec that begins with no known provider is the endpoint's own name for the model.
        base_url: the address of an OpenAI-compatible endpoint. This, `key_env` and `extra` mean
            nothing to `baseline`, `llama` and `local`, which may stand beside such a model.
        key_env: the environment variable with the key; `HARDSET_API_KEY` by default where
            `base_url` is given, else the provider's own.
        extra: further fields of each request body.
        timeout: seconds of silence before an attempt over HTTP is given up.
        options: for models that other packages add, and for `llama` and `local`.

    Raises:
        UsageError: there is no such model, or an option it does not take.
    """
    family, slash, rest = spec.partition("/")
    family = ALIASES.get(family, family)
    if rest and family in BUILT_IN:
        return _built_in(spec, family, rest, timeout, options)
    if base_url or (rest and family in PROVIDERS):
        return _over_http(spec, family, rest, base_url, key_env, extra, timeout, options)
    if not slash or not rest:
        raise UsageError(f"{spec!r} is no model: write provider/model, {_hint(family)}")
    for point in entry_points(group=GROUP, name=family):
        return _third_party(spec, point, rest, {"key_env": key_env, "extra": extra, **options})
    raise UsageError(f"no provider is called {family!r}: {_hint(family)}")


def names() -> tuple[str, ...]:
    """Return every first part a spec can have, those other packages add included."""
    added = entry_points(group=GROUP).names
    return tuple(sorted({*BUILT_IN, *PROVIDERS, *added}))


def describe() -> list[tuple[str, str]]:
    """Return (what a spec looks like, what it is) of every family of models, for a list."""
    ours = [
        ("local/scout", "a small network that looks; local/scout-abstain refuses if unsure"),
        ("llama/smollm2", "a real language model on llama.cpp's server (blind; extra `llama`)"),
        ("baseline/NAME", "always-refuse, never-refuse, random, majority, oracle"),
    ]
    served = [
        (f"{name}/MODEL", f"{row.title}, {row.base_url}, key in {row.key_env}")
        if row.key_needed
        else (f"{name}/MODEL", f"{row.title}, {row.base_url}")
        for name, row in PROVIDERS.items()
    ]
    added = [(f"{p.name}/...", f"added by {p.value}") for p in entry_points(group=GROUP)]
    return [*ours, *served, ("NAME --base-url URL", "any OpenAI-compatible endpoint"), *added]


def _built_in(
    spec: str, family: str, rest: str, timeout: float, options: Mapping[str, Any]
) -> AnyModel:
    if family == "baseline":
        from hardset.models.baseline import make as baseline

        return _with_options(spec, baseline, rest, options)
    if family == "llama":
        from hardset.models.llama import make as llama

        return _with_options(spec, llama, rest, {"timeout": timeout, **options})
    from hardset.models.local import LocalScout

    return _with_options(spec, LocalScout, rest, options)


def _over_http(
    spec: str,
    family: str,
    rest: str,
    base_url: str | None,
    key_env: str | None,
    extra: Mapping[str, Any] | None,
    timeout: float,
    options: Mapping[str, Any],
) -> AnyModel:
    from hardset.models.http import ChatModel

    if options:
        raise UsageError(f"{spec} has no option {', '.join(options)}: body fields go into `extra`")
    if family in PROVIDERS and rest:
        provider, model = PROVIDERS[family], rest
    else:
        provider, model = ANY, spec
    return ChatModel(
        spec, model, provider, base_url=base_url, key_env=key_env, extra=extra, timeout=timeout
    )


def _third_party(spec: str, point: Any, rest: str, options: Mapping[str, Any]) -> AnyModel:
    """Call another package's factory; its faults are told as its own."""
    try:
        factory = point.load()
    except Exception as error:
        raise UsageError(
            f"the model {spec!r} ({point.value}) does not load: {type(error).__name__}: {error}; "
            "mend or uninstall the package that adds it"
        ) from error
    given = {name: value for name, value in options.items() if value is not None}
    return _with_options(spec, factory, rest, given)


def _with_options(spec: str, factory: Any, rest: str, options: Mapping[str, Any]) -> AnyModel:
    """Call a factory with those options, or say which it does not take."""
    import inspect

    accepted = inspect.signature(factory).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
        unknown = [name for name in options if name not in accepted]
        if unknown:
            raise UsageError(f"{spec} has no option {', '.join(unknown)}")
    model: AnyModel = factory(rest, **options)
    return model


def _hint(family: str) -> str:
    near = difflib.get_close_matches(family, names(), 3, cutoff=0.5)
    if near:
        return "did you mean " + " or ".join(f"{name}/…" for name in near) + "?"
    return f"where provider is one of {', '.join(names())}, or give --base-url"
