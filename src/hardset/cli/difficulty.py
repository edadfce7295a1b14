"""`hardset difficulty`: score how hard every example of a training set is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from hardset.cli.given import need_extra
from hardset.cli.status import FAILED_ROWS, INTERRUPTED, resume_command
from hardset.reports.text import visible
from hardset.streams import nobody_listening, tell

if TYPE_CHECKING:
    from hardset.hardest.difficulty import Difficulty

_DATA = Group("The training set", sort_key=1)
_PREDICTORS = Group("The predictors", sort_key=2)
_SCORES = Group("The scores", sort_key=3)
_PACE = Group("Where it is computed", sort_key=4)
STOPPED = "stopped; what is scored and trained so far is kept. To go on: "


def difficulty(
    data: str,
    /,
    *,
    out: Annotated[Path, Parameter(group=_SCORES)],
    predictor: Annotated[list[str] | None, Parameter(group=_PREDICTORS, negative="")] = None,
    seeds: Annotated[int, Parameter(group=_PREDICTORS)] = 3,
    epochs: Annotated[int | None, Parameter(group=_PREDICTORS)] = None,
    batch: Annotated[int | None, Parameter(group=_PREDICTORS)] = None,
    lr: Annotated[float | None, Parameter(group=_PREDICTORS)] = None,
    steps: Annotated[int | None, Parameter(group=_PREDICTORS)] = None,
    at_epoch: Annotated[int | None, Parameter(group=_PREDICTORS)] = None,
    weights: Annotated[str | None, Parameter(group=_PREDICTORS)] = None,
    score: Annotated[list[str] | None, Parameter(group=_SCORES, negative="")] = None,
    mode: Annotated[Literal["eval", "paper"], Parameter(group=_SCORES)] = "eval",
    label_noise: Annotated[bool, Parameter(group=_SCORES, negative="")] = False,
    folds: Annotated[int | None, Parameter(group=_SCORES)] = None,
    noise_epochs: Annotated[int | None, Parameter(group=_SCORES)] = None,
    label: Annotated[str | None, Parameter(group=_DATA)] = None,
    text: Annotated[list[str] | None, Parameter(group=_DATA, negative="")] = None,
    image: Annotated[str | None, Parameter(group=_DATA)] = None,
    split: Annotated[str, Parameter(group=_DATA)] = "train",
    layout: Annotated[str | None, Parameter(group=_DATA)] = None,
    score_batch: Annotated[int | None, Parameter(group=_PACE)] = None,
    threads: Annotated[int | None, Parameter(group=_PACE)] = None,
    device: Annotated[str, Parameter(group=_PACE)] = "cpu",
    ray: Annotated[str | None, Parameter(group=_PACE)] = None,
) -> int:
    """Score how hard every example of a training set is, by predictors trained on it.

    Hardness belongs to the scorer as much as to the example: give several predictors and seeds.
    Ranks are averaged over them, and how far they agree is printed. What is trained and scored is
    kept: run the same command again and only what is missing is done.

    Examples:

    - `hardset difficulty digits --out scored`
    - `hardset difficulty cifar-10-batches-py --predictor ffn --predictor resnet18 --out scored`
    - `hardset difficulty SST-2 --score el2n --score aum --label-noise --out scored`
    - `hardset difficulty my_module:my_function --ray auto --out scored`

    Exit status: 0; 3 a predictor failed, and the others are reported; 2 the command or the data
    cannot be used as given; 130 interrupted (the same command resumes).

    Parameters
    ----------
    data
        A folder or file of labelled pictures or texts, `hub:OWNER/NAME`, a set that a package
        ships (`digits`), or `module:function` that returns the examples, or a network and the
        examples.
    out
        The folder for the scores, the tables and the report.
    predictor
        A network, as often as you like: `ffn`, `mlp`, `resnet18`, `vit-b16`, `timm/NAME`; `bert`,
        `gpt2`, `roberta`, `transformer`, `bag-of-words`, `hf/NAME`; or `module:function`. If not
        given: the one that came with the examples; else `ffn` for pictures, `bag-of-words` for
        texts, `mlp` for arrays.
    seeds
        Train each so many times, from other weights and in another order.
    epochs
        Passes of training over the data, instead of the recipe's.
    batch
        Examples a step of training, instead of the recipe's.
    lr
        The learning rate, instead of the recipe's.
    steps
        Stop training after so many steps.
    at_epoch
        Score the predictors after so many epochs of their training; 0: untrained.
    weights
        What predictors start from: `random`, `pretrained`, or a local file or folder.
    score
        loss, gradient-norm, el2n, grand, aum, forgetting, confidence, variability; as often as
        you like. Loss and gradient-norm, if not given.
    mode
        `eval`: as the predictor is when used. `paper`: as Hard-Bench's authors score, in training
        mode, one example at a time.
    label_noise
        Also estimate which labels are wrong, by what the first predictor's network says of examples
        that it was not trained on (confident learning). It is trained anew for that, for longer
        than predictors are, to its end whatever --at-epoch says: with three folds that can cost
        sixteen times one predictor's training.
    folds
        Train it so many times for that, each time without another part of the data; 3, if not
        given.
    noise_epochs
        Epochs of these trainings at most: they end when a tenth of the examples, held out, is told
        no better. Eight times the predictor's, if not given.
    label
        The column of the labels.
    text
        The column of the texts; twice for pairs.
    image
        The column of the pictures.
    split
        Which split of the data to score.
    layout
        How the data are laid out, where that is not plain to see.
    score_batch
        Examples scored at once; as many as are trained on at once, if not given.
    threads
        Threads that torch computes with (with --ray, each worker): the last bits of a score
        depend on it. Torch's own choice if not given.
    device
        Where to compute: `cpu` or `cuda`.
    ray
        Score on a Ray cluster: its address, or `auto` for the one that runs here; where none does,
        one is started on this machine. The scores are the same to the last digit.
    """
    from hardset.reports import progress

    need_extra("torch", "torch")
    if ray is not None:
        need_extra("ray", "ray")
    from hardset.hardest.calls import difficulty as measure

    try:
        with progress.bar(f"difficulty of {data}") as shown:

            def show(title: str, count: Any) -> None:
                shown.titled(visible(title))(count)

            done = measure(
                data, out=out, predictors=predictor or (), seeds=seeds, scores=score or (),
                epochs=epochs, batch=batch, lr=lr, steps=steps, at_epoch=at_epoch, weights=weights,
                mode=mode, label_noise=label_noise, folds=folds, noise_epochs=noise_epochs,
                split=split, layout=layout, label=label, text=text or (), image=image,
                score_batch=score_batch, threads=threads, device=device, ray=ray,
                show=show, tell=tell,
            )  # fmt: skip
    except KeyboardInterrupt:
        tell(STOPPED + resume_command())
        return INTERRUPTED
    _report(done)
    return FAILED_ROWS if done.failed else 0


def _report(done: Difficulty) -> None:
    """Print the tables, and say what failed."""
    from hardset.reports import lowresource_tables
    from hardset.reports.folder import REPORT

    page = done.folder / REPORT
    made = page.is_file()
    with nobody_listening():
        if made:
            lowresource_tables.show(
                lowresource_tables.difficulty(done.folder, sys.stdout.encoding or "utf-8")
            )
        for path in (done.folder, *([page] if made else [])):
            print(visible(f"written: {path}"))
        sys.stdout.flush()
    for notice in done.manifest["notices"]:
        tell(notice)
