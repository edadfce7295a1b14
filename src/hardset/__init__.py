"""hardset builds, runs and scores hard sets for vision-language models."""

from __future__ import annotations

__version__ = "0.1.0"
