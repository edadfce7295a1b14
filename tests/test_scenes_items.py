"""The items: every gold held against a second reading of the words, and the stream's laws."""

import hashlib
import itertools
import os
import re
import subprocess
import sys
import tracemalloc
from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scenes_truth as truth
from hardset.sources.scenes.graph import DIFFICULTIES, make_scene
from hardset.sources.scenes.items import KINDS, LAYOUT, ROUND, items

FIRST_400 = "a5be086ab12d64d032e38244729c01c2dff65759d8cedc6e5e9150f94cdeebf8"
"""Of the first 400 items of seed 0, as JSON; a change asks for a new VERSION."""


def scene_of(item):
    _, difficulty, seed, index = item.images[0].where.partition("?")[0].split("/")
    return make_scene(int(seed), int(index), difficulty)


def some(kind, n=600, seed=3, difficulty="default"):
    return list(items(seed, difficulty, (kind,), n))


def in_pairs(kind, first, second, **options):
    found = some(kind, **options)
    pairs = list(zip(found[::2], found[1::2], strict=True))
    for one, other in pairs:
        assert one.pair == other.pair == one.id
        assert (one.role, other.role) == (first, second)
        assert one.images == other.images
    return pairs


def gold(item):
    return item.choices["ABCD".index(item.answer)] if item.choices else item.answer


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_plain_answers_are_true_and_no_other_option_is(difficulty):
    found = some("plain", difficulty=difficulty)
    assert {item.form for item in found} == {"open", "yes_no", "number", "choice"}
    for item in found:
        assert truth.answer(scene_of(item), item.question) == gold(item)
        if item.form == "choice":
            assert len(set(item.choices)) == 4


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_an_original_is_true_and_its_edit_names_nothing(difficulty):
    pairs = in_pairs("hardbench", "original", "edited", difficulty=difficulty)
    assert Counter(one.tags["edit"] for one, _ in pairs) == dict.fromkeys("ORA", 100)
    for one, other in pairs:
        scene = scene_of(one)
        assert one.answerable
        assert truth.answer(scene, one.question) == one.answer
        assert not other.answerable
        assert not other.answer
        name = re.search(r"(?:is|on) (the .+?)(?: in the \w+ half or.*| small or large)?\?$",
                         other.question.lower())[1]  # fmt: skip
        assert truth.called(scene, name) == []  # what is presupposed is false
        part, before, after = re.fullmatch(r"(\w+): (.+) -> (.+)", other.altered).groups()
        assert part == other.category
        assert part[0].upper() == other.tags["edit"]
        assert before in one.question
        assert other.question == one.question.replace(before, after, 1)  # one edit and no more
        assert explained(scene, other.explanation)


def explained(scene, text):
    """Whether every part of "there is no ring: the rings are ..." that is a statement is true."""
    text = text.lower().rstrip(".").replace(" in the picture", "")
    if match := re.fullmatch(r"(the .+) is not (.+) but (.+)", text):
        one = truth.one(scene, match[1])
        return one.size == match[3] != match[2]
    head, _, tail = text.partition(": ")
    if match := re.fullmatch(r"there is no object (left of|right of|above|below) (the .+)", head):
        return truth.called(scene, f"the object {match[1]} {match[2]}") == []
    if match := re.fullmatch(r"(the .+) is not ((?:left of|right of|above|below) .+)", head):
        thing = truth.one(scene, match[1])
        return not truth.predicate(scene, thing, f"is {match[2]}") and truth.predicate(
            scene, thing, tail.removeprefix("it ")
        )
    if match := re.fullmatch(r"the (\w+) are (.+)", tail):
        listed = re.split(", | and ", match[2])
        shape = truth.singular(match[1]) if match[1] != "crosses" else "cross"
        if [t.colour for t in scene.things if t.shape == shape] != listed:
            return False
        tail = ""
    return all(truth.holds(scene, head)) and (not tail or all(truth.holds(scene, tail)))


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_of_four_options_only_gold_has_answer_and_reason_right(difficulty):
    pairs = in_pairs("mmr", "POS", "NEG", difficulty=difficulty)
    for one, other in pairs:
        scene = scene_of(one)
        assert sorted(one.choices) == sorted(other.choices)
        assert len(set(one.choices)) == 4
        for item in (one, other):
            mixes = [truth.holds(scene, choice) for choice in item.choices]
            assert sorted(mixes) == [[False, False], [False, True], [True, False], [True, True]]
            assert mixes["ABCD".index(item.answer)] == [True, True]
            said = " ".join("wr"[a] + "wr"[b] for a, b in mixes)
            assert item.tags["options"] == said
        # The leading question presses what the wrong options answer.
        wrong = next(c for c in one.choices if truth.holds(scene, c) == [False, True])
        pressed = wrong.split(" and ")[0]
        assert pressed.lower() in other.question.lower()


@pytest.mark.parametrize("kind", ["plain", "mmr"])
def test_gold_letters_are_balanced_exactly(kind):
    """2,400 items: a fourth of plain ones are choices, 600, so 150 a letter; of mmr 600 each."""
    found = some(kind, n=2400)
    letters = Counter(item.answer for item in found if item.form == "choice")
    assert letters == dict.fromkeys("ABCD", 150 if kind == "plain" else 600)


def test_gold_letters_do_not_follow_a_rule_from_item_to_item():
    letters = [item.answer for item in some("mmr", n=2400)]
    steps = Counter((ord(b) - ord(a)) % 4 for a, b in itertools.pairwise(letters))
    assert all(steps[step] > 100 for step in range(4))  # a fixed rotation would have one only


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_shifts_and_formats_all_come_up_equally(difficulty):
    found = some("mmooc", n=480, difficulty=difficulty)
    both = Counter((item.tags["shift"], item.form) for item in found)
    shifts = ("MA", "VFP", "USPC", "ULS", "MKB", "MP", "PA", "IQM")
    assert both == {(s, f): 20 for s in shifts for f in ("yes_no", "choice", "open")}
    for item in found:
        assert item.answerable == (item.group == "ic")
        assert item.category == item.tags["shift"]
        assert item.tags["format"] == item.form
        assert len(item.choices) == len(set(item.choices)) == (4 if item.form == "choice" else 0)


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_in_context_the_core_has_its_answer_and_the_shift_is_real(difficulty):
    for item in some("mmooc", n=960, difficulty=difficulty):
        if item.group != "ic":
            continue
        scene = scene_of(item)
        assert truth.answer(scene, item.question) == gold(item)
        core = item.altered.partition(": ")[2]
        assert truth.answer(scene, core) == gold(item)
        if item.tags["shift"] == "PA":
            assert re.search(r", and (who|when|where) .+\?$", item.question)
        else:
            lie = re.match(r"(?:Since (.+?), |The caption says (.+?)\. )", item.question)
            assert truth.holds(scene, lie[1] or lie[2]) == [False]
            assert truth.holds(scene, item.explanation.lower().removeprefix("in truth ")) == [True]


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_out_of_context_nothing_in_the_picture_answers(difficulty):
    ways = Counter()
    for item in some("mmooc", n=1920, difficulty=difficulty):
        if item.group != "ooc":
            continue
        scene, question = scene_of(item), item.question.lower()
        variant = item.images[0].where.partition("?")[2]
        shift = item.tags["shift"]
        assert not item.answer
        if shift == "MA" and not variant:  # several objects fit
            shape = re.search("the ([a-z]+)", question)[1]
            assert len([t for t in scene.things if t.shape == shape]) >= 2
            ways["several"] += 1
        elif shift == "MA":
            way = variant.partition("=")[0]
            hint = {"blur": "the blurred object", "cover": "the object behind the grey panel"}[way]
            assert hint in question
            assert ("shape" if way == "blur" else "colour") in item.explanation
            ways[way] += 1
        elif shift == "VFP":
            rest = r" (?:show )?\w+" if item.form == "yes_no" else ""
            name = re.search(rf"(?:is|on|does) (the .+){rest}\?$", question)[1].removesuffix(
                " show"
            )
            assert truth.called(scene, name) == []
            assert explained(scene, item.explanation)
        elif variant:  # ULS: the only label that the name fits is the spoiled one
            assert variant.startswith("smudge=")
            thing = scene.things[int(variant.removeprefix("smudge="))]
            name = re.search(r"(?:on|does) (the .+?)(?: show \w+)?\?$", question)[1]
            assert truth.one(scene, name) is thing
            assert thing.text
            ways["smudge"] += 1
        elif shift == "ULS":
            assert "legend of this map" in question or "rules of this game" in question
        elif shift == "USPC" and ("closer" in question or "in front" in question):
            a, b = (truth.one(scene, m) for m in re.search(
                r"(?:is) (the .+?) (?:closer to the viewer than|in front of) (the .+)\?", question
            ).groups())  # fmt: skip
            apart = a.reach + b.reach + 1
            assert abs(a.x - b.x) > apart or abs(a.y - b.y) > apart  # no overlap shows depth
            ways["depth"] += 1
    assert all(ways[way] >= 10 for way in ("several", "blur", "cover", "smudge", "depth")), ways


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_many_steps_end_in_the_number_that_the_subquestions_lead_to(difficulty):
    found = some("zero", n=600, difficulty=difficulty)
    mains = [item for item in found if item.tags["part"] == "main"]
    sizes = Counter()
    for main in mains:
        scene = scene_of(main)
        subs = [item for item in found if item.parent == main.id]
        sizes[len(subs)] += 1
        assert str(truth.sums(scene, main.question)) == main.answer
        assert int(main.answer) >= 0
        assert main.tags["steps"] == str(len(subs))
        for sub in subs:
            assert sub.images == main.images
            assert truth.answer(scene, sub.question) == sub.answer
        assert len({sub.question for sub in subs}) == len(subs)
    assert set(sizes) == {2, 3, 4}
    assert max(sizes.values()) - min(sizes.values()) <= 1


def test_a_round_is_laid_out_without_gaps():
    assert sum(size for *_, size in LAYOUT) == ROUND == 120
    at = 0
    for place, _, _, size in LAYOUT:
        assert place == at
        at += size


def test_two_hundred_items_hold_every_kind_and_whole_groups():
    found = list(items(0, "default", KINDS, 200))
    assert len({item.id for item in found}) == 200
    kinds = Counter(item.tags["kind"] for item in found)
    assert set(kinds) == set(KINDS)
    assert all(kinds[kind] >= 12 for kind in KINDS)
    assert set(Counter(item.pair for item in found if item.pair).values()) == {2}
    mains = {item.id: int(item.tags["steps"]) for item in found if item.tags["kind"] == "zero"
             and item.tags["part"] == "main"}  # fmt: skip
    assert Counter(item.parent for item in found if item.parent) == mains


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.sampled_from(DIFFICULTIES),
    st.sets(st.sampled_from(KINDS), min_size=1),
    st.integers(1, 120),
)
def test_the_number_of_items_changes_none_of_them(seed, difficulty, kinds, n):
    """A shorter run holds items of a longer one only, unchanged, and is n long if it can be."""
    short = list(items(seed, difficulty, kinds, n))
    long = {item.id: item for item in items(seed, difficulty, KINDS, n + 130 + 40 * n)}
    assert all(long[item.id] == item for item in short)
    smallest = 1 if kinds & {"plain", "mmooc"} else 2 if kinds & {"hardbench", "mmr"} else 3
    assert n - smallest < len(short) <= n


def test_the_first_items_are_those_of_this_version():
    lines = b"\n".join(msgspec.json.encode(i) for i in items(0, "default", KINDS, 400))
    assert hashlib.sha256(lines).hexdigest() == FIRST_400


SCRIPT = """
import hashlib, msgspec
from hardset.sources.scenes.draw import open_scene
from hardset.sources.scenes.items import KINDS, items
digest = hashlib.sha256()
for item in items(5, "hard", KINDS, 150):
    digest.update(msgspec.json.encode(item))
    digest.update(open_scene(item.images[0].where.removeprefix("scenes:")))
print(digest.hexdigest())
"""


def test_two_processes_make_the_same_bytes():
    printed = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert len(printed[0].strip()) == 64


def test_a_long_stream_holds_nothing_back():
    """Ten times the items must not need more memory: the stream keeps none of them."""

    def peak(n):
        tracemalloc.start()
        count = sum(1 for _ in items(1, "default", KINDS, n))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count == n
        return most

    peak(200)  # caches fill
    few, many = peak(500), peak(5000)
    assert many < 1.2 * few + 10_000
