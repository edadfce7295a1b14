"""Squared gradient norms, example by example, without a gradient per example."""

from hardset.lowresource.norms.gradient_norms import GradientNorms, Measured, Planned
from hardset.lowresource.norms.paper import paper_score

__all__ = ["GradientNorms", "Measured", "Planned", "paper_score"]
