"""The scores of difficulty: what each is, from where, and which end of it is hard.

Columns of score files carry these names; the command line writes them with a hyphen.
"""

from __future__ import annotations

from typing import NamedTuple


class Score(NamedTuple):
    """One score of an example's difficulty."""

    name: str
    hard: int
    """+1: the highest is hardest; -1: the lowest is."""
    needs: str
    """`final`: a pass over the trained predictor; `gradients`: that with a backward pass;
    `epochs`: what every epoch of training leaves; `seeds`: several predictors."""
    source: str


SCORES: dict[str, Score] = {
    score.name: score
    for score in (
        Score("loss", +1, "final", "Hard-Bench (Loss), arXiv 2303.03840"),
        Score("gradient_norm", +1, "gradients", "Hard-Bench (GradNorm): squared, all parameters"),
        Score("el2n", +1, "final", "Paul et al. 2021, arXiv 2107.07075"),
        Score("grand", +1, "seeds", "Paul et al. 2021: the norm, its mean over seeds"),
        Score("aum", -1, "epochs", "Pleiss et al. 2020, arXiv 2001.10528"),
        Score("forgetting", +1, "epochs", "Toneva et al. 2019, arXiv 1812.05159"),
        Score("confidence", -1, "epochs", "Swayamdipta et al. 2020, arXiv 2009.10795"),
        Score("variability", +1, "epochs", "Swayamdipta et al. 2020"),
    )
}
