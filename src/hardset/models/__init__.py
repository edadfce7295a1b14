"""Who answers: models over HTTP, embedded ones, baselines, and those other packages add."""

from hardset.models.registry import make_model

__all__ = ["make_model"]
