"""Hard-Bench (arXiv 2303.03840): the hardest training examples, and what learning from them costs.

Examples are scored by a deliberately weak *predictor* (`networks`, `recipes`, `training`), by loss,
gradient norm (`norms`) and the field's other scores (`difficulty`, `dynamics`); the hardest of each
label are picked (`picking`, `ranks`, `noise`), and *learners* trained on them are compared with
learners trained on random sets of the same size (`learning`).

Torch comes with the extra `torch`. Modules that need it are imported by name, in the function that
needs them; `examples`, `difficulty`, `ranks`, `stability`, `picking`, `noise` and `score_files` do
without.
"""
