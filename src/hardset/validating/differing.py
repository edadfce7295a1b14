"""The lines on which judges and people differ, with all that is needed to settle them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from hardset.images import Library
from hardset.judging.facts import facts_of
from hardset.judging.people.against import SAME
from hardset.judging.people.labels import write_label
from hardset.judging.people.sample import Sample
from hardset.reports.validated import Disagreement, Validated
from hardset.reports.validation import MOST_SHOWN
from hardset.validating.judged import Judged, items_of
from hardset.validating.lines import Lines
from hardset.validating.sheets import Filled

SIDE = 240  # pixels of a picture's longer side


def disagreements(
    outcomes: pl.DataFrame, every: Sequence[Lines], sheets: Sequence[Filled]
) -> list[Disagreement]:
    """List the lines that people must settle, then those on which the panel and people differ.

    Last come those on which only people differ, and most of them settle it.
    """
    found: list[tuple[tuple[bool, bool, float, str], Disagreement]] = []
    for lines in every:
        same = SAME if lines.rubric.scale == "graded" else 0.0
        for i, line in enumerate(lines.lines):
            told, said = float(lines.people[i]), float(lines.panel[i])
            given = [label for label in lines.labels[i] if label not in ("", "?")]
            among = len({str(label) for label in given}) > 1
            apart = abs(told - said)
            differ = apart > same
            if not among and not differ and not (told == told and said != said):
                continue
            known = outcomes.row(line.row, named=True)
            one = _disagreement(lines, i, known, sheets, same, among)
            size = apart if differ else 0.0
            found.append(((not one.split, not differ, -size, line.id), one))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _disagreement(
    lines: Lines,
    i: int,
    known: Mapping[str, Any],
    sheets: Sequence[Filled],
    same: float,
    among: bool,
) -> Disagreement:
    line, scale, told = lines.lines[i], lines.rubric.scale, float(lines.people[i])
    how = str(known.get(f"panel_{line.key}") or "")
    others = str(known.get(f"by_{line.key}") or "") in ("rule", "first judge")
    why = "not asked" if not how or others else "no vote that could be read"
    together = lines.together(i)
    return Disagreement(
        id=line.id,
        item=line.item,
        repeat=line.repeat,
        index=int(known["index"]),
        key=line.key,
        question=str(known.get("question") or ""),
        reply=str(known["reply"] or ""),
        verdict=write_label(float(lines.panel[i]), scale),
        how=how or "not asked",
        votes={
            name: why if votes[i] != votes[i] else write_label(float(votes[i]), scale)
            for name, votes in lines.votes.items()
        },
        apart=[
            name for name, votes in lines.votes.items() if abs(float(votes[i]) - told) > same
        ],
        split=bool(lines.split[i]),
        label="-" if together == "-" else write_label(told, scale) if told == told else "open",
        labels={
            sheet.name: write_label(label, scale) if isinstance(label, float) else label
            for sheet, label in zip(sheets, lines.labels[i], strict=True)
        },
        written={sheet.name: sheet.written.get(line.id, "") for sheet in sheets},
        notes={sheet.name: sheet.notes[line.id] for sheet in sheets if line.id in sheet.notes},
        among_people=among,
    )  # fmt: skip


def illustrated(
    done: Judged, sample: Sample, found: Validated
) -> tuple[Validated, dict[int, bytes]]:
    """Add what the rubrics show of the lines that differ, and make small pictures.

    Returns:
        The validation; and by index of the item, a small JPEG, where the benchmark can be made
        again and has pictures.
    """
    if not found.disagreements:
        return found, {}
    row_of = {line.id: line.row for line in sample.lines}
    items, benchmark, lacking = items_of(done, {row_of[one.id] for one in found.disagreements})
    told = []
    for one in found.disagreements:
        facts: dict[str, str] = facts_of(items[one.index], one.reply)
        rubric = sample.rubric(one.key)
        shown: dict[str, str] = {
            name: facts[name]
            for name in ("options", "reference", "reason")
            if name in rubric.sees and facts[name]
        }
        told.append(replace(one, facts=shown, picture_asked=rubric.picture))
    pictures: dict[int, bytes] = {}
    if benchmark is not None:
        library = Library(openers=benchmark.openers)
        for index in dict.fromkeys(one.index for one in told[:MOST_SHOWN]):
            images = items[index].images
            small = library.thumbnail(images[0], SIDE) if images else None
            if small:
                pictures[index] = small
    notices = [*found.notices, *(f"Where they differ, {why}" for why in lacking)]
    return replace(found, disagreements=told, notices=notices), pictures
