"""Pictures of simple shapes, drawn on demand, with everything true about them known."""
