"""The walks of Hard-Bench: score the difficulty of a training set, pick from it, learn from it."""
