"""`hardset pick`: a training set of the hardest examples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from hardset.errors import UsageError
from hardset.streams import nobody_listening, tell

_FROM = Group("Scores and data", sort_key=1)
_HOW = Group("What is picked", sort_key=2)
_NOISE = Group("Wrong labels", sort_key=3)


def pick(
    *,
    scores: Annotated[Path, Parameter(group=_FROM)],
    score: Annotated[str | None, Parameter(group=_FROM)] = None,
    duplicates: Annotated[Literal["mean", "first", "last"] | None, Parameter(group=_FROM)] = None,
    data: Annotated[str | None, Parameter(group=_FROM)] = None,
    split: Annotated[str | None, Parameter(group=_FROM)] = None,
    layout: Annotated[str | None, Parameter(group=_FROM)] = None,
    label: Annotated[str | None, Parameter(group=_FROM)] = None,
    text: Annotated[list[str] | None, Parameter(group=_FROM, negative="")] = None,
    image: Annotated[str | None, Parameter(group=_FROM)] = None,
    labels: Annotated[Path | None, Parameter(group=_FROM)] = None,
    k: Annotated[int, Parameter(group=_HOW)] = 500,
    choose: Annotated[
        Literal["hardest", "easiest", "random", "stratified"], Parameter(group=_HOW)
    ] = "hardest",
    seed: Annotated[int, Parameter(group=_HOW)] = 0,
    label_noise: Annotated[
        Literal["show", "drop", "review"] | None, Parameter(group=_NOISE)
    ] = None,
    reviewed: Annotated[Path | None, Parameter(group=_NOISE)] = None,
    out: Annotated[Path, Parameter(group=_HOW)] = Path("picked"),
) -> int:
    """Pick the k hardest examples of each label, and leave them as a data set.

    The folder that is left opens as a data set wherever one is taken: `examples.parquet` with
    contents, labels, scores and ranks, and `manifest.json`, which says how the scores were made.
    Examples that have no score are never picked. Ties are broken by a seeded hash of the index, and
    a smaller k is within a larger one (but for stratified).

    Examples:

    - `hardset pick --scores DIFFICULTY --score loss --data digits --k 16 --out hardest-16`
    - `hardset pick --scores gd_cifar10_train_loss_ffn.txt --data cifar-10 --k 500`
    - `hardset pick --scores scores.txt --duplicates mean --labels labels.txt --choose stratified`
    - `hardset pick --scores DIFFICULTY --score loss --data digits --k 16 --label-noise review`

    Exit status: 0; 2 something cannot be used as given.

    Parameters
    ----------
    scores
        What `hardset difficulty` left, or a file of scores: `index score` a line in any order, or
        the score alone; CSV or parquet with a column index. Its hardest end is the highest, unless
        --score names one of which it is the lowest.
    score
        Which score, where there are several: loss, gradient-norm, el2n, grand, aum, forgetting,
        confidence, variability. Of a difficulty folder its rank over all predictors is taken.
    duplicates
        What to make of lines that repeat an index: their mean, the first or the last. Without it
        repeated and missing indices are an error; with it what is missing is not picked.
    data
        The data set that was scored: a file, a folder, a name or `module:function`.
    split
        Which part of it; train, if not given.
    layout
        Of the data, where it is not clear.
    label
        The column of the labels.
    text
        The column of the texts; twice for pairs.
    image
        The column of the pictures.
    labels
        Without --data, a file of the labels: one a line, .npy, or CSV with a column label. The set
        that is left then has no contents. A difficulty folder has labels of its own.
    k
        Examples a label; in all, where labels are real numbers.
    choose
        hardest, easiest, random, or stratified: evenly over ten bins of difficulty.
    seed
        Of ties and of what is random.
    label_noise
        What to do with labels that `difficulty --label-noise` suspects: show how many there are
        among the picked, drop them, or write review.csv for people to decide. Hard examples and
        wrong labels look alike: the hardest gather both.
    reviewed
        Such a review.csv with decisions: keep, drop, or the right class.
    out
        The folder to leave. One that `hardset pick` left is written again, another never.
    """
    from hardset.hardest.pick import pick_set
    from hardset.hardest.pick_manifest import EXAMPLES
    from hardset.hardest.pick_review import REVIEW
    from hardset.reports import picked
    from hardset.sources.examples.opening import open_examples

    if data is None:
        for flag, given in (("--split", split), ("--layout", layout), ("--label", label),
                            ("--text", text), ("--image", image)):  # fmt: skip
            if given:
                raise UsageError(f"{flag} goes with --data")
    if not 0 <= seed < 2**63:
        raise UsageError(f"--seed takes a whole number of 0 or more, below 2^63, not {seed}")
    examples = data and open_examples(
        data,
        layout=layout,
        label=label,
        text=tuple(text or ()),
        image=image,
        split=split or "train",
    )
    done = pick_set(
        scores, out=out, k=k, data=examples or None, labels=labels, score=score, choose=choose,
        seed=seed, label_noise=label_noise, reviewed=reviewed, duplicates=duplicates,
    )  # fmt: skip
    with nobody_listening():
        picked.show(done.manifest)
        for name in (EXAMPLES, *((REVIEW,) if label_noise == "review" else ())):
            print(f"written: {done.folder / name}")
        sys.stdout.flush()
    for notice in done.notices:
        tell(notice)
    return 0
