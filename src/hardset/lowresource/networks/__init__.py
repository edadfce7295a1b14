"""Predictors and learners by name, each with the way examples reach it (`registry.build`)."""
