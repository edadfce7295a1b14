"""Whether the Hugging Face hub answers: asked once, so that a missing network is said at once.

Its client tries each file several times, with pauses: where nothing answers, half a minute a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

PATIENCE = 10.0  # seconds
UNREACHED = "the hub does not answer, and it is not in the cache"


@cache
def reached() -> bool:
    """Say whether the hub answers, through the user's proxy and mirror too; asked once."""
    from huggingface_hub import constants, get_session

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        get_session().head(constants.ENDPOINT, timeout=PATIENCE)
    except Exception:  # of whichever client it uses
        return False
    return True


@contextmanager
def cache_only_if_unreached() -> Iterator[None]:
    """Have the hub's client look into its cache alone, for a while, where the hub does not answer.

    Any answer is one: what the hub says of a file is for its client to tell.
    """
    from huggingface_hub import constants

    theirs: Any = constants
    before = theirs.HF_HUB_OFFLINE
    theirs.HF_HUB_OFFLINE = before or not reached()
    try:
        yield
    finally:
        theirs.HF_HUB_OFFLINE = before
