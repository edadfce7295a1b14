"""`hardset learn`: what learning from the hardest examples costs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from hardset.cli.given import need_extra
from hardset.cli.status import FAILED_ROWS, INTERRUPTED, resume_command
from hardset.streams import nobody_listening, tell

_DATA = Group("Training and test set", sort_key=1)
_SETS = Group("What is learned from", sort_key=2)
_LEARNERS = Group("Who learns, and how", sort_key=3)
_PACE = Group("Pace, and what is left", sort_key=4)

Name = Literal["loss", "gradient-norm", "el2n", "grand", "aum", "forgetting", "confidence",
               "variability"]  # fmt: skip


def learn(
    picked: Path | None = None,
    /,
    *,
    train: Annotated[str, Parameter(group=_DATA)],
    test: Annotated[str | None, Parameter(group=_DATA)] = None,
    hold_out: Annotated[float | None, Parameter(group=_DATA)] = None,
    layout: Annotated[str | None, Parameter(group=_DATA)] = None,
    label: Annotated[str | None, Parameter(group=_DATA)] = None,
    text: Annotated[list[str] | None, Parameter(group=_DATA, negative="")] = None,
    image: Annotated[str | None, Parameter(group=_DATA)] = None,
    scores: Annotated[Path | None, Parameter(group=_SETS)] = None,
    score: Annotated[list[Name] | None, Parameter(group=_SETS, negative="")] = None,
    duplicates: Annotated[
        Literal["mean", "first", "last"] | None, Parameter(group=_SETS, negative="")
    ] = None,
    k: Annotated[list[int] | None, Parameter(group=_SETS, negative="")] = None,
    choose: Annotated[
        list[Literal["hardest", "easiest", "stratified"]] | None,
        Parameter(group=_SETS, negative=""),
    ] = None,
    drop_suspects: Annotated[bool, Parameter(group=_SETS, negative="")] = False,
    learner: Annotated[list[str] | None, Parameter(group=_LEARNERS, negative="")] = None,
    seeds: Annotated[int, Parameter(group=_LEARNERS)] = 5,
    augment: Annotated[
        list[Literal["none", "cutmix", "mixup"]] | None, Parameter(group=_LEARNERS, negative="")
    ] = None,
    epochs: Annotated[int | None, Parameter(group=_LEARNERS)] = None,
    batch: Annotated[int | None, Parameter(group=_LEARNERS)] = None,
    lr: Annotated[float | None, Parameter(group=_LEARNERS)] = None,
    weights: Annotated[str | None, Parameter(group=_LEARNERS)] = None,
    size: Annotated[int | None, Parameter(group=_LEARNERS)] = None,
    device: Annotated[str, Parameter(group=_PACE)] = "cpu",
    jobs: Annotated[int | None, Parameter(group=_PACE)] = None,
    threads: Annotated[int, Parameter(group=_PACE)] = 1,
    out: Annotated[Path, Parameter(group=_PACE)] = Path("learned"),
) -> int:
    """Train learners on the hardest examples and on random ones, and report the gap.

    Every learner is trained from every seed on k examples a label of each set, and tested on the
    same test set. A seed gives the same first weights and order to all sets, and a random set of
    its own: the gap is over these pairs, with its interval. Reported are the last epoch, and the
    best one, as the paper has it and named so.

    Each finished trial is written at once: after Ctrl-C the same command goes on.

    Examples:

    - `hardset learn --train digits --test digits --scores DIFFICULTY --score loss --k 16`
    - `hardset learn PICKED --train cifar-10 --test cifar-10 --learner resnet18 --augment cutmix`
    - `hardset learn --train train.tsv --hold-out 0.2 --scores scores.txt --learner bag-of-words`

    Exit status: 0; 2 something cannot be used as given; 3 some trials failed; 130 stopped.

    Parameters
    ----------
    picked
        A folder that `hardset pick` left, instead of --scores. Its k is taken.
    train
        The training set that was scored: a file, a folder, a name or `module:function`.
    test
        The test set, the same way; of a set with parts, its test part.
    hold_out
        In place of --test: the share of every label to keep for testing, as 0.2. No set holds any
        of it.
    layout
        Of the data, where it is not clear.
    label
        The column of the labels.
    text
        The column of the texts; twice for pairs.
    image
        The column of the pictures.
    scores
        What `hardset difficulty` left, or a file of scores: `index score` a line, CSV or parquet.
    score
        Which of its scores to choose by; several times to compare them.
    duplicates
        What to make of lines that repeat an index; without it they are an error.
    k
        Examples a label, 500 if not given; several times for a curve.
    choose
        The sets besides random ones, hardest if not given; several times for several.
    drop_suspects
        Also learn from sets chosen without the labels that `difficulty --label-noise` suspects.
    learner
        ffn, mlp, vgg16, resnet18, ..., timm/NAME, hf/NAME, a folder of transformers, or your
        `module:function`; several times for several. If not given: ffn for pictures, bag-of-words
        for texts, mlp for arrays.
    seeds
        How many.
    augment
        none, cutmix or mixup; several times to see the difference that they make.
    epochs
        In place of the recipe's, as --batch and --lr are; the manifest says so.
    batch
        Examples a step.
    lr
        The learning rate.
    weights
        random, pretrained, or a folder; as the paper has it for each learner if not given.
    size
        Side of the pictures as learners get them, in pixels.
    device
        cpu, cuda, ...
    jobs
        Trials at once, in processes: as many as there are cores if not given, one on a GPU. It
        makes no difference to the figures.
    threads
        Of each trial on the CPU.
    out
        The folder for everything that is left, and to go on from.
    """
    need_extra("torch", "torch")
    from hardset.hardest.calls import learn as walk
    from hardset.reports import lowresource_tables
    from hardset.reports.folder import REPORT
    from hardset.reports.progress import bar

    try:
        with bar("learning") as shown:
            done = walk(
                train, test, out=out, scores=scores, score=score or (), duplicates=duplicates,
                picked=picked, ks=k or (), choose=choose or (), learners=learner or (),
                augments=augment or ["none"], drop_suspects=drop_suspects, seeds=seeds,
                hold_out=hold_out, epochs=epochs, batch=batch, lr=lr, weights=weights, size=size,
                device=device, threads=threads,
                jobs=_jobs(device, threads) if jobs is None else jobs,
                layout=layout, label=label, text=text or (), image=image,
                command_line=resume_command(), progress=shown,
            )  # fmt: skip
    except KeyboardInterrupt:
        tell(f"stopped; every finished trial is kept. To go on: {resume_command()}")
        return INTERRUPTED
    with nobody_listening():
        lowresource_tables.show(
            lowresource_tables.learned(done.metrics, done.manifest, sys.stdout.encoding)
        )
        print(f"written: {done.folder / REPORT}")
        sys.stdout.flush()
    if done.failed:
        tell(f"{len(done.failed)} trials failed; the same command tries them again")
    return FAILED_ROWS if done.failed else 0


def _jobs(device: str, threads: int) -> int:
    """Say how many trials go at once: as the cores allow; one on a GPU, which it fills."""
    from hardset.hardest.workers import cores

    return max(1, cores() // max(1, threads)) if device == "cpu" else 1
