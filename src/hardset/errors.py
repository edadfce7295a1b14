"""The one error a user can mend: it names what was wrong, where, and what to do."""

from __future__ import annotations


class UsageError(ValueError):
    """The command, the options or the data are not usable as given; the command exits with 2."""
