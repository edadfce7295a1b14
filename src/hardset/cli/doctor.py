"""`hardset doctor`: what is installed, which keys are set, whether a model answers and sees."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter


def doctor(
    *,
    model: Annotated[list[str] | None, Parameter(name=["--model", "-m"], negative="")] = None,
    base_url: str | None = None,
    key_env: str | None = None,
) -> int:
    """Say what is installed, which keys are set, and whether a model answers and sees images.

    Examples:

    - `hardset doctor`
    - `hardset doctor -m openai/gpt-4o`
    - `hardset doctor -m my-model --base-url http://localhost:8000/v1`

    Parameters
    ----------
    model
        Also ask this model three small questions, one without an image and two with one.
    base_url
        The address of any OpenAI-compatible endpoint, up to and with `/v1`.
    key_env
        The environment variable that holds the key for `--base-url`; `HARDSET_API_KEY` if not
        given.
    """
    from hardset import doctor

    return doctor.examine(model or [], base_url=base_url, key_env=key_env)
