"""The pairs' part of the page: the 2x2 by hand, both questions side by side, nothing unescaped."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import report_runs as made
from hardset.records import Item
from hardset.reports.html import render
from hardset.reports.runs import Shown
from hardset.reports.sections import sections
from hardset.reports.sections.pairs import changed_words, section

BASE = made.run(made.items(4), "p/one", 0.9, 1)


def of(rows: list[dict], model: str = "p/one", **more):
    """A run whose outcomes are these; what a row does not say is the same for all."""
    common = {"repeat": 0, "state": "answered", "answer": "x", "gold": "x", "answerable": True}
    common |= {"reply": "said x", "reason": "", "question": "What is it?", "sha256": "s"}
    lines = [{"index": i, **common, **row} for i, row in enumerate(rows)]
    lines = [{"item": f"item {line['index']}", **line} for line in lines]
    return replace(BASE, model=model, outcomes=pl.DataFrame(lines), **more)


def pair(name, first, second, edit="O", **more):
    return [
        {"pair": name, "role": "original", "right": first, "edit": edit, **more},
        {
            "pair": name,
            "role": "edited",
            "right": second,
            "edit": edit,
            "answerable": False,
            "gold": "",
            **more,
        },
    ]


# 5 pairs: both 2, original only 1, edited only 1, neither 1; edit O has the first three.
ROWS = [
    *pair("a", True, True),
    *pair("b", True, True),
    *pair("c", True, False),
    *pair("d", False, True, "R"),
    *pair("e", False, False, "R"),
    {"pair": "broken", "role": "original", "right": True, "edit": "A"},
    {"pair": "", "role": "original", "right": True, "edit": ""},
]


def couples(*runs, sample=()):
    found = section(list(runs), list(sample))
    assert found is not None
    return found.values["couples"]


def test_the_two_by_two_counts_the_sound_pairs():
    (couple,) = couples(of(ROWS))
    assert couple.roles == ("original", "edited")
    (whole,) = couple.whole
    assert whole.pairs == 5
    assert [(cell.key, cell.count, cell.share) for cell in whole.cells] == [
        ("both", 2, "40.0%"),
        ("first_only", 1, "20.0%"),
        ("second_only", 1, "20.0%"),
        ("neither", 1, "20.0%"),
    ]


def test_and_by_the_kind_of_the_pair():
    (couple,) = couples(of(ROWS))
    assert couple.kind == "edit"
    kinds = {name: [cell.count for cell in counted[0].cells] for name, counted in couple.kinds}
    assert kinds == {"object": [2, 1, 0, 0], "relation": [0, 0, 1, 1]}


def test_every_repeat_counts_and_the_first_is_shown():
    rows = [{"index": i, "repeat": 1, **row} for i, row in enumerate(pair("a", False, True))]
    rows += [{"index": i, "repeat": 0, **row} for i, row in enumerate(pair("a", True, True))]
    (couple,) = couples(of(rows))
    assert [cell.count for cell in couple.whole[0].cells] == [1, 0, 1, 0]
    assert couple.total == 1
    (replies,) = couple.shown[0].rows
    assert [told.right for told in replies] == [True, True]


def test_all_runs_are_side_by_side():
    other = [*pair("a", False, False), *ROWS[2:]]
    (couple,) = couples(of(ROWS), of(other, "p/two"))
    assert [counted.cells[0].count for counted in couple.whole] == [2, 1]
    first = next(pair for pair in couple.shown if pair.name == "a")
    assert [[told.right for told in row] for row in first.rows] == [[True, True], [False, False]]
    assert [row[0].name for row in first.rows] == ["one", "two"]


def test_any_two_roles_make_pairs_and_several_couples_are_apart():
    roles = ("POS", "NEG", "before", "after")
    rows = [{"pair": "m" if r in roles[:2] else "n", "role": r, "right": True} for r in roles]
    found = couples(of(rows, cuts=()))
    assert [couple.roles for couple in found] == [("POS", "NEG"), ("before", "after")]
    assert [couple.kind for couple in found] == ["", ""]


@pytest.mark.parametrize(
    "rows",
    [
        [{"pair": "", "role": "", "right": True}],
        [{"pair": "p", "role": "original", "right": True}],
        [{"right": True}],
    ],
)
def test_without_a_sound_pair_there_is_no_section(rows):
    run = of(rows)
    assert section([run], []) is None
    assert "pairs" not in [found.anchor for found in sections([run], [])]


def test_the_pick_has_every_kind_and_every_outcome():
    rows = []
    for i in range(200):  # but for three, all are right and of one kind
        rows += pair(f"p{i:03d}", True, True)
    rows[100]["right"], rows[201]["right"] = False, False
    rows[300]["edit"] = rows[301]["edit"] = "A"
    (couple,) = couples(of(rows))
    shown = {one.name for one in couple.shown}
    assert len(shown) == 18
    assert {"p050", "p100", "p150"} <= shown


def test_pairs_with_a_picture_go_first_and_show_it():
    rows = [row for i in range(60) for row in pair(f"p{i:02d}", True, True)]
    item = Item(id="7", question="?", altered="object: cat -> dog", explanation="There is no dog.")
    sample = [Shown(index=2 * 37 + 1, item=item, thumbnail=b"png", type="image/png")]
    (couple,) = couples(of(rows), sample=sample)
    (pictured,) = [one for one in couple.shown if one.picture]
    assert pictured.name == "p37"
    assert pictured.picture == "data:image/png;base64,cG5n"
    assert (pictured.altered, pictured.why) == ("object: cat -> dog", "There is no dog.")


def test_an_option_that_is_right_is_named_with_its_text():
    rows = pair("a", True, True)
    rows[0]["gold"] = "B"
    item = Item(id="0", question="?", choices=("left", "right"), answer="B")
    (couple,) = couples(of(rows), sample=[Shown(index=0, item=item)])
    assert [member.gold for member in couple.shown[0].members] == ["B. right", "to refuse"]


def test_two_pictures_stand_with_their_own_question():
    rows = pair("a", True, True)
    rows[1]["sha256"] = "another"
    items = [Item(id=str(i), question="?") for i in range(2)]
    sample = [Shown(index=i, item=items[i], thumbnail=bytes([i])) for i in range(2)]
    (couple,) = couples(of(rows), sample=sample)
    assert couple.shown[0].picture == ""
    assert len({member.picture for member in couple.shown[0].members} - {""}) == 2


def test_an_edit_without_a_pair_stands_beside_the_words_of_its_original():
    rows = [
        {"pair": "", "role": "edited", "right": True, "original_question": "Is the dog in?"},
        {"pair": "", "role": "original", "right": True, "original_question": ""},
    ]
    run = of(rows, cuts=())
    run = replace(run, outcomes=run.outcomes.with_columns(question=pl.lit("Is the cat in?")))
    found = section([run, replace(run, model="p/two")], [])
    assert found is not None
    assert found.values["couples"] == []
    (alone,) = found.values["alone"]
    assert [member.pieces[1] for member in alone.members] == [("dog", True), ("cat", True)]
    assert [row[0] for row in alone.rows] == [None, None]
    page = render([run])
    part = page[page.index("Edits without a pair") : page.index('<section id="metrics">')]
    assert part.count('<p class="goldline">') == 1  # the original has none that is known


def test_a_pair_that_the_first_run_lacks_is_left_out():
    rows = [*pair("a", True, True), *pair("b", True, True)]
    less, more = of(rows[:2]), of(rows, "p/two")
    (couple,) = couples(less, more)
    assert [one.name for one in couple.shown] == ["a"]
    assert [counted.pairs for counted in couple.whole] == [1, 2]


def test_the_changed_words_are_marked():
    one, other = changed_words("What colour is the dog?", "What colour is the red cat?")
    assert one == [("What colour is the ", False), ("dog", True), ("?", False)]
    assert other == [("What colour is the ", False), ("red cat", True), ("?", False)]
    one, other = changed_words("Is the big dog in?", "Is the dog  in it?")
    assert one == [("Is the ", False), ("big", True), (" ", False), ("dog in", False), ("?", False)]
    assert other == [("Is the ", False), ("dog  in ", False), ("it", True), ("?", False)]
    assert changed_words("", "new") == ([], [("new", True)])


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_marking_loses_no_letter(one, other):
    for text, pieces in zip((one, other), changed_words(one, other), strict=True):
        assert "".join(piece for piece, _ in pieces) == text
    assert all(not changed for _, changed in changed_words(one, one)[0])


def test_the_page_has_it_and_escapes_what_strangers_wrote():
    rows = pair("<b>p</b>", True, False, question=made.HOSTILE, reply=made.HOSTILE)
    run = of(rows)
    page = render([run])
    assert '<a href="#pairs">Pairs</a>' in page
    part = page[page.index('<section id="pairs">') : page.index('<section id="metrics">')]
    assert "<script>" not in part
    assert "<b>p</b>" not in part
    assert "<img src=x" not in part
    assert "&lt;script&gt;" in part
