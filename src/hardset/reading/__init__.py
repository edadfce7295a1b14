"""Replies to answers: one reader each for the whole program, written as rules that say their name."""
