"""What may go wrong in a walk: what one predictor fails of, and what ends all of it."""

from __future__ import annotations

from hardset.lowresource.writing import Unwritable

LONGEST = 500  # characters of a reason


class ClusterError(Exception):
    """The cluster failed, and no predictor is to blame."""


UNTRAINABLE = (Exception, SystemExit)
"""What a predictor may fail of, and the others go on: a user's module raises what it likes."""
ENDING = (Unwritable, ClusterError)
"""What is no predictor's fault; to be caught before `UNTRAINABLE`."""


def told(error: BaseException | str) -> str:
    """Say what a predictor failed of, in a line."""
    said = " ".join(str(error).split())
    if isinstance(error, str | RuntimeError | ValueError | ArithmeticError) and said:
        return said[:LONGEST]  # torch's and ours say what they mean
    name = type(error).__name__
    return f"{name}: {said}"[:LONGEST] if said else name
