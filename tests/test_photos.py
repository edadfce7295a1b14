"""Photos: the sheet of items, the pictures behind it, and what is read and measured."""

import hashlib
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec

import pytest

from hardset.benchmarks.photos import Photos
from hardset.errors import UsageError
from hardset.records import State
from hardset.sources.photos import pictures
from hardset.sources.photos.items import KINDS, items, lines
from hardset.sources.photos.pictures import PICTURES, read_picture

WHEELS = {picture.wheel for picture in PICTURES.values()}
installed = pytest.mark.skipif(
    not all(find_spec(wheel.module) for wheel in WHEELS),
    reason="needs the packages of the extra photos",
)
ITEMS = list(items())


def of(kind):
    return [item for item in ITEMS if item.tags["kind"] == kind]


def photos(monkeypatch, **options):
    """The benchmark without its pictures, which most of what it does has no need of."""
    monkeypatch.setattr("hardset.benchmarks.photos.read_picture", lambda name: b"")
    return Photos(**options)


# the sheet


def test_there_are_enough_items_about_enough_pictures_most_of_them_photographs():
    assert len(ITEMS) >= 150
    assert {line.picture for line in lines()} == set(PICTURES)
    assert len(PICTURES) >= 20
    assert sum(picture.photograph for picture in PICTURES.values()) > len(PICTURES) / 2


def test_ids_are_unique_and_no_picture_is_asked_the_same_twice():
    assert len({item.id for item in ITEMS}) == len(ITEMS)
    assert len({(line.picture, line.question) for line in lines()}) == len(ITEMS)


def test_every_truth_was_worked_out_three_times_and_says_where_it_is_seen():
    assert min(line.checked for line in lines()) >= 3
    assert all(line.explanation.strip() for line in lines())


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_the_gold_is_one_that_the_form_can_have(item):
    assert item.question[0].isupper()
    assert item.question[-1] == "?"
    assert (item.form == "choice") == bool(item.choices)
    if item.choices:
        assert len(set(item.choices)) == 4
    if not item.answerable:
        assert (item.answer, item.accept) == ("", ())
        return
    wanted = {
        "choice": r"[ABCD]",
        "yes_no": r"yes|no",
        "number": r"\d+",
        "braces": r"\d+",
        "open": r"\S.*",
    }
    assert re.fullmatch(wanted[item.form], item.answer)


@pytest.mark.parametrize("kind", ["plain", "hardbench", "mmr", "mmooc"])
def test_the_right_letters_and_yes_and_no_are_balanced(kind):
    for form, answers in (("choice", "ABCD"), ("yes_no", ("yes", "no"))):
        golds = Counter(i.answer for i in of(kind) if i.form == form and i.answerable)
        counts = [golds[answer] for answer in answers]
        assert max(counts) - min(counts) <= 1, (form, golds)


def test_a_pair_keeps_form_and_options_and_only_its_original_has_an_answer():
    pairs = {}
    for item in of("hardbench"):
        pairs.setdefault(item.pair, {})[item.role] = item
    assert {item.tags["edit"] for item in of("hardbench")} == set("ORA")
    for pair in pairs.values():
        assert set(pair) == {"original", "edited"}
        first, second = pair["original"], pair["edited"]
        assert first.answerable
        assert not second.answerable
        assert second.altered
        assert (first.form, first.choices, first.images) == (
            second.form,
            second.choices,
            second.images,
        )


def test_a_leading_pair_offers_the_same_four_options_with_the_gold_right_for_the_right_reason():
    pairs = {}
    for item in of("mmr"):
        pairs.setdefault(item.pair, {})[item.role] = item
        mixes = item.tags["options"].split()
        assert sorted(mixes) == ["rr", "rw", "wr", "ww"]
        assert mixes["ABCD".index(item.answer)] == "rr"
    for pair in pairs.values():
        assert set(pair) == {"POS", "NEG"}
        assert set(pair["POS"].choices) == set(pair["NEG"].choices)
        assert pair["POS"].answer != pair["NEG"].answer


def test_all_eight_shifts_come_in_all_three_formats():
    found = Counter((i.group, i.tags["shift"], i.tags["format"]) for i in of("mmooc"))
    wanted = {"ooc": "MA VFP USPC ULS MKB", "ic": "MP PA IQM"}
    assert found == {
        (group, shift, form): 2
        for group, shifts in wanted.items()
        for shift in shifts.split()
        for form in ("yes_no", "choice", "open")
    }
    for item in of("mmooc"):
        assert item.answerable == (item.group == "ic")
        assert item.form == item.tags["format"]
        assert item.tags["scenario"]


def test_the_many_step_questions_come_to_what_their_steps_make():
    values = {}
    for item in of("zero"):
        if item.tags["part"] == "sub":
            values.setdefault(item.parent, []).append(int(item.answer))
    # (a * b) + c, or (a * b) - c, as each question says
    worked_out = {
        parent: a * b + (-c if parent.startswith(("coins", "horse")) else c)
        for parent, (a, b, c) in values.items()
    }
    mains = {i.id: int(i.answer) for i in of("zero") if i.tags["part"] == "main"}
    assert mains == worked_out


# the pictures


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_whose_it_is_under_which_licence_and_where_it_lies(name):
    picture = PICTURES[name]
    assert picture.licence
    assert "; " in picture.origin
    assert re.fullmatch("[0-9a-f]{64}", picture.sha256)
    assert all(i.licence == picture.licence for i in ITEMS if i.tags["scene"] == name)


@installed
@pytest.mark.parametrize("name", PICTURES)
def test_the_installed_wheel_ships_the_very_picture(name):
    data = read_picture(name)
    assert len(data) == PICTURES[name].size
    assert hashlib.sha256(data).hexdigest() == PICTURES[name].sha256


def test_an_unknown_picture_is_named():
    with pytest.raises(UsageError, match="no picture is called 'lena'; there are astronaut, "):
        read_picture("lena")


def test_without_the_packages_it_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    with pytest.raises(UsageError, match=re.escape("pip install 'hardset[photos]'")):
        Photos()


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"another", "ships another file under this name"), (None, "does not ship it")],
)
def test_another_file_than_was_looked_at_is_refused_with_the_version(
    monkeypatch, tmp_path, content, said
):
    monkeypatch.setattr(pictures, "_folder", lambda wheel: tmp_path)
    monkeypatch.setattr("importlib.metadata.version", lambda package: "9.9.9")
    if content is not None:
        (tmp_path / PICTURES["china"].file).write_bytes(content)
    with pytest.raises(UsageError, match=rf"china\.jpg.*scikit-learn 9\.9\.9 {said}"):
        read_picture("china")


def test_a_changed_picture_stops_the_benchmark(monkeypatch, tmp_path):
    changed = replace(PICTURES["brick"], sha256="0" * 64)
    monkeypatch.setattr(pictures, "PICTURES", {**PICTURES, "brick": changed})
    monkeypatch.setattr(pictures, "_folder", lambda wheel: tmp_path)
    (tmp_path / changed.file).write_bytes(b"a picture")
    with pytest.raises(UsageError, match="checked on a file with sha256 0000000000000000"):
        read_picture("brick")


@installed
def test_nothing_heavy_is_imported_to_read_them():
    code = (
        "import sys; from hardset.benchmarks.registry import make; list(make('photos').items());"
        "print([m for m in 'skimage sklearn matplotlib numpy polars PIL'.split()"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_list_tells_every_picture_s_licence_and_origin(capsys):
    from hardset.cli.listing import list_

    list_("photos")
    said = capsys.readouterr().out
    assert "CC-BY-2.0: a tower by a lake; danielbuechele, flickr 6061409035" in said
    assert all(picture.where() in said for picture in PICTURES.values())


# asking, reading, measuring


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"kinds": "plain,mrr"}, "photos: kinds cannot be 'mrr'; use all, plain, hardbench"),
        ({"prompt": "rude"}, "photos: prompt cannot be 'rude'; use plain, refusal-allowed"),
    ],
)
def test_an_option_that_cannot_be_is_named(options, complaint):
    with pytest.raises(UsageError, match=complaint):
        Photos(**options)


def test_kinds_are_chosen_by_name_and_counted(monkeypatch):
    benchmark = photos(monkeypatch, kinds="mmr, zero")
    found = list(benchmark.items())
    assert {item.tags["kind"] for item in found} == {"mmr", "zero"}
    assert benchmark.total() == len(found) < len(ITEMS)
    assert {item.tags["kind"] for item in ITEMS} == set(KINDS)


def test_the_notice_names_whom_the_attribution_licence_asks_to_name(monkeypatch):
    (notice,) = photos(monkeypatch).notices
    assert "danielbuechele" in notice
    assert "vultilion" in notice


def test_the_prompt_shows_picture_question_options_and_form(monkeypatch):
    item = next(item for item in of("plain") if item.form == "choice")
    (message,) = photos(monkeypatch, prompt="refusal-allowed").prompt(item)
    image, text = message.content
    assert image.where == f"photos:{item.tags['scene']}"
    assert text.startswith(item.question)
    assert "\nA. " in text
    assert "say so instead" in text
    assert text.endswith("Answer with the letter of one option.")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_the_truth_is_read_as_right_and_a_refusal_only_where_it_is_due(monkeypatch, item):
    benchmark = photos(monkeypatch)
    refused = benchmark.judge(item, "I cannot tell that from the picture.")["default"]
    assert refused.reading.state is State.ABSTAINED
    assert refused.right == (not item.answerable)
    braced = f"So it is {{{item.answer}}}." if item.form == "braces" else item.answer
    if item.answerable:
        assert benchmark.judge(item, braced)["default"].right
        for other in item.accept:
            assert benchmark.judge(item, f"It is {other}.")["default"].right


@pytest.mark.parametrize(
    ("id", "reply", "right"),
    [
        ("chelsea-hardbench-1-original", "The cat's eyes are yellowish green.", True),
        ("chelsea-hardbench-1-original", "They are blue.", False),
        ("chelsea-hardbench-1-edited", "There is no parrot in the picture.", True),
        ("chelsea-hardbench-1-edited", "The parrot's eyes are green.", False),
        ("hopper-mmooc-2", "The wall is blue. I cannot tell who took the photograph.", True),
        ("hopper-mmooc-2", "The wall is red, but I cannot tell who took the photograph.", False),
        ("hopper-mmooc-2", "I cannot tell.", False),
        ("coins-mmooc-2", "No inscription can be read, so I can't say.", True),
        ("coins-plain-1", "There are twenty-four coins.", True),
        ("coins-plain-1", "There are 23 coins.", False),
        ("rocket-zero-1", "4 x 2 = 8, 8 + 5 = {13}", True),
        ("rocket-zero-1", "{12}", False),
    ],
)
def test_replies_as_models_write_them(monkeypatch, id, reply, right):
    (item,) = [item for item in ITEMS if item.id == id]
    assert photos(monkeypatch).judge(item, reply)["default"].right == right


def test_pairs_about_one_picture_are_one_cluster():
    polars = pytest.importorskip("polars")
    chosen = [i for i in of("hardbench") if i.tags["scene"] in ("rocket", "coffee", "cell")]
    # rocket and coffee bear two pairs each, cell one: five pairs, three pictures
    rows = [
        {
            "item": i.id, "repeat": 0, "state": "answered", "answer": "", "right": i.answerable,
            "answerable": i.answerable, "form": i.form, "category": i.category, "pair": i.pair,
            "role": i.role, "parent": "", "group": "", **i.tags,
        }
        for i in chosen
    ]  # fmt: skip
    metrics = {m.name: m for m in Photos.measure(polars.DataFrame(rows), draws=50) if not m.cut}
    paired, refused = metrics["paired accuracy"], metrics["over-refusal"]
    assert (paired.numerator, paired.denominator, paired.clusters) == (0, 5, 3)
    assert (refused.numerator, refused.denominator, refused.clusters) == (0, 5, 3)
