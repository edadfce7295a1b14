"""Rates, pairs, intervals: small pure pieces on columns, never row by row."""
