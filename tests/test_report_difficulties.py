"""The page and the tables of `hardset difficulty`: hand-checked figures, hostile and huge data."""

from __future__ import annotations

import io
import json
import re
import struct
from html import unescape

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import lowresource_made as made
from hardset.lowresource.examples import Held, Subset, Unreadable
from hardset.reports import lowresource_tables
from hardset.reports.difficulties import (
    Specimen,
    breaking,
    chosen,
    render,
    with_contents,
    write_difficulties,
)
from hardset.reports.specimens import labels, png, telling
from hardset.reports.spreads import spread
from report_runs import HOSTILE


def words(page: str) -> str:
    """Give what a reader sees, without markup and with single spaces."""
    body = page.partition("<body>")[2].replace("<wbr>", "")  # where a name may break
    body = re.sub(r"<(style|svg).*?</\1>", " ", body, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def printed(parts) -> str:
    """Give what a terminal of 80 columns shows."""
    console = Console(width=80, file=io.StringIO(), highlight=False)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    states = ["scored"] * 600
    states[3], states[70], states[71] = "unreadable", "no label", "not finite"
    return made.difficulty_folder(tmp_path_factory.mktemp("d"), states=states)


@pytest.fixture(scope="module")
def pictures() -> Held:
    """600 pictures, each of one grey."""
    grey = np.arange(600) % 256
    return Held(np.broadcast_to(grey[:, None, None], (600, 8, 8)).astype(np.uint8), grey % 10)


def test_what_has_no_score_is_said_first(out):
    page = render(out)
    said = words(page)
    assert "3 of 600 examples have no score: 1 unreadable, 1 no label, 1 not finite." in said
    assert "train/00003.png: unreadable" in said
    assert page.index("3 of 600 examples") < page.index('id="scored"')
    assert "scored 597/600 99.5 %" in said  # 597 / 600 = 0.995


def test_hardness_belongs_to_the_scorer_with_this_runs_numbers(out):
    said = words(render(out))
    assert (
        "By gradient norm, two predictors rank the examples alike to Spearman -0.20 and share 6 % "
        "of their hardest 10 % (2 pairs); two seeds of one predictor rank the examples alike to "
        "Spearman 0.85 and share 60 % of their hardest 10 % (2 pairs). By chance they would share "
        "10 %." in said
    )


def test_the_matrix_has_means_over_pairs_of_seeds(out):
    # of families: Spearman (-0.15 - 0.25) / 2 = -0.20, overlap (0.08 + 0.04) / 2 = 6 %;
    # on the diagonal ffn's seeds, 0.90 and 65 %, and resnet18's, 0.80 and 55 %
    said = words(render(out))
    assert (
        "gradient norm predictors ffn resnet18 ffn 0.90 65 % -0.20 resnet18 6 % 0.80 55 %" in said
    )
    assert "loss seeds ffn#0 ffn#1 ffn#0 0.92 ffn#1 70 %" in said


def test_every_pair_has_its_intervals_and_counts(out):
    said = words(render(out))  # 0.65 of the hardest 60 are 39; +- 0.05
    pair = "gradient_norm@ffn#0 gradient_norm@ffn#1 600 0.90 0.88 to 0.92"
    assert f"{pair} 65.0 % (39/60) 60.0 to 70.0" in said


def test_one_predictor_with_one_seed_says_that_nothing_can_be_said(tmp_path):
    out = made.difficulty_folder(tmp_path, with_stability=False, noise=False)
    said = words(render(out))
    assert "One predictor with one seed has scored this" in said
    assert "Label noise" not in said


def test_label_noise_has_share_interval_joint_and_suspects(out):
    said = words(render(out))
    assert (
        "The predictor disagrees with an estimated 6.7 % of the labels (95 % interval 4.7 to 8.7, "
        "which leaves out the network's own errors); 40 of 600 examples are suspected of a wrong "
        "label." in said
    )
    # the last example, index 599, is of digit 9; probability 0.5 - 0.49, suggested 0.4 + 0.59
    assert "train/00599.png digit 9 digit 0 0.01 0.99" in said
    assert "The surest 30 of 40" in said
    assert "Given against estimated true label" in said


def test_of_each_label_the_hardest_and_the_easiest_are_shown(out, pictures):
    found = chosen(out, each=2)
    of_nine = [(one.index, one.end) for one in found if one.group == "digit 9"]
    assert of_nine == [(599, "hardest"), (589, "hardest"), (9, "easiest"), (19, "easiest")]
    of_three = [one.index for one in found if one.group == "digit 3" and one.end == "easiest"]
    assert of_three == [13, 23]  # 3 is unreadable
    page = render(out, with_contents(found, pictures))
    assert page.count('<img class="small" src="data:image/png;base64,') == 48  # and the 8 hardest
    assert "wrong label? rather digit 0" in words(page)


def test_pictures_become_small_pngs():
    large = png(np.zeros((300, 600, 3), np.uint8))
    assert large[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", large[16:24]) == (160, 80)  # the longer side decides
    assert struct.unpack(">II", png(np.zeros((8, 8, 1), np.uint8))[16:24]) == (8, 8)


def test_texts_arrays_and_the_unreadable_are_shown_as_such():
    texts = Held([("one", "two")], np.array([0]))
    one = Specimen(index=0, id="0", label="0", rank=1.0)
    assert with_contents([one], texts)[0].text == "one\n\ntwo"
    arrays = Held(np.zeros((1, 3, 4), np.float32), np.array([0]))
    assert with_contents([one], arrays)[0].reason == "an array of 3 × 4"

    class Broken(Subset):
        def fetch(self, positions):
            return [Unreadable("cut off") for _ in positions]

    assert with_contents([one], Broken(texts, [0]))[0].reason == "cut off"


def test_a_histogram_counts_every_example_once(out):
    frame = pl.scan_parquet(out / "difficulty.parquet")
    shown = telling(labels(frame, "gradient_norm"))
    for score, log in (("gradient_norm", True), ("loss", False), ("forgetting", False)):
        every, *each = spread(frame, score, shown)
        assert (every.n, every.log) == (597, log)
        assert sum(one.n for one in each) == 597
        counts = [int(re.search(r": ([\d,]+) of", bar.title)[1]) for bar in every.bars]
        assert sum(counts) == 597
    # floor(5 rank): 0 to 5, six whole numbers, 5 only of the hardest
    assert len(spread(frame, "forgetting", [])[0].bars) == 6
    assert spread(frame, "forgetting", [])[0].bars[-1].title.startswith("4.5 to 5.5: 1 of 597")


def test_a_thousand_labels_do_not_explode_the_page(tmp_path):
    names = [f"class {i} " + "long " * 40 for i in range(1000)]
    out = made.difficulty_folder(tmp_path, n=3000, classes=1000, names=names)
    found = chosen(out)
    assert len({one.group for one in found}) == 12
    page = render(out, found)
    said = words(page)
    assert "Shown are 12 of 1,000 labels" in said
    assert "Labels most often mistaken" in said
    assert "and 980 more pairs of labels" in said  # 1,000 of them, 20 shown
    assert len(page) < 400_000
    text = printed(lowresource_tables.difficulty(out))
    assert "988 labels are not shown." in text
    assert all(len(line) <= 80 for line in text.split("\n"))


def test_strangers_words_are_escaped_seen_and_cut(tmp_path):
    out = made.difficulty_folder(
        tmp_path, n=40, classes=2, names=[HOSTILE, "b" * 3000],
        ids=[f"{HOSTILE}{i}" + "y" * 500 for i in range(40)],
        states=["unreadable"] + ["scored"] * 39,
        manifest=made.difficulty_manifest(notices=[HOSTILE], fallbacks={HOSTILE: [HOSTILE]}),
    )  # fmt: skip
    found = [
        Specimen(index=one.index, id=one.id, label=one.label, rank=one.rank, end=one.end,
                 group=one.group, text=HOSTILE + "z" * 5000)
        for one in chosen(out)
    ]  # fmt: skip
    page = render(out, found)
    assert "<script>window" not in page
    assert "<img src=x" not in page
    assert "[U+202E]evil" in page
    assert not re.search("[\x1b\u202e]", page)
    assert "y" * 100 not in page
    assert "z" * 1000 not in page
    assert "b" * 1000 not in page
    text = printed(lowresource_tables.difficulty(out))
    assert not re.search("[\x1b\u202e]", text)
    assert all(len(line) <= 80 for line in text.split("\n"))


def test_where_nothing_was_scored_nothing_is_made_up(tmp_path):
    out = made.difficulty_folder(
        tmp_path, n=20, states=["unreadable"] * 20, noise=False, with_stability=False
    )
    assert chosen(out) == []
    said = words(render(out))
    assert "20 of 20 examples have no score: 20 unreadable." in said
    assert "no finite value" in said
    table = printed(lowresource_tables.difficulty(out))
    assert "20 of 20 examples" in table
    for one in (said, " ".join(table.split())):
        assert "Nothing was scored: of what is hard here nothing can be said." in one
        assert "has scored this" not in one


def test_labels_that_are_real_numbers_are_one_group(tmp_path):
    out = made.difficulty_folder(tmp_path, n=50, noise=False)
    frame = pl.read_parquet(out / "difficulty.parquet").with_columns(
        pl.col("label").cast(pl.Float64) / 2, pl.lit(None, pl.String).alias("class")
    )
    frame.write_parquet(out / "difficulty.parquet")
    found = chosen(out, each=3)
    assert [one.index for one in found] == [49, 48, 47, 0, 1, 2]
    assert found[0].label == "4.5"  # of index 49: 9 / 2
    said = words(render(out, found))
    assert "all examples" in said
    assert "In all, by the aggregated rank" in said
    assert "Of each label" not in said
    assert printed(lowresource_tables.difficulty(out))


def test_the_same_folder_gives_the_same_bytes(out, pictures, tmp_path):
    for name in ("a", "b"):
        write_difficulties(tmp_path / name, out, with_contents(chosen(out), pictures))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_terminal_says_the_same_within_eighty_columns(out):
    text = printed(lowresource_tables.difficulty(out))
    assert all(len(line) <= 80 for line in text.split("\n"))
    assert "3 of 600 examples have no score" in text
    assert re.search(r"gradient norm +families +-0\.20 +6\.0 % +2", text)
    once = " ".join(text.split())
    assert "disagrees with an estimated 6.7 % of the labels (95 % interval 4.7 to 8.7, " in once
    assert "ffn 0, 1 93.1, 94.2 %" in once


def test_predictors_have_their_accuracies_and_recipes(out):
    said = words(render(out))  # 2.5 + 3.5 = 6 seconds
    assert "ffn 93.1, 94.2 % conv 0, 1 6.0 62,006 optimiser adam, lr 0.001, batch 256" in said
    assert "Gradient norms: ffn: attention.bias goes by torch.func" in said


def test_predictors_that_failed_are_said_first_and_once(tmp_path):
    failed = [{"predictor": "vit-b16", "seed": 1, "reason": "the loss is not finite"}]
    manifest = made.difficulty_manifest(
        failed=failed, notices=["vit-b16, seed 1 failed: the loss is not finite", "Two notes."]
    )
    out = made.difficulty_folder(tmp_path, manifest=manifest)
    page = render(out)
    assert "1 predictor has failed, and is in no rank." in words(page)
    assert page.partition('class="manifest"')[0].count("the loss is not finite") == 1
    assert "Two notes." in page
    assert "1 FAILED, in no rank:" in printed(lowresource_tables.difficulty(out))


def test_why_an_example_has_no_score_is_read_from_the_parts(tmp_path):
    out = made.difficulty_folder(tmp_path, n=4, classes=2, states=["unreadable", *["scored"] * 3])
    part = tmp_path / "scores" / "ffn" / "seed-0" / "part-00000.parquet"
    part.parent.mkdir(parents=True)
    pl.DataFrame({"index": [0, 1, 2, 3], "reason": ["cut off", "", "", ""]}).write_parquet(part)
    assert "train/00000.png: unreadable (cut off)" in words(render(out))


def test_the_page_begins_with_the_answer_and_the_hardest_few(out, pictures):
    page = render(out, with_contents(chosen(out, each=2), pictures))
    first = page[page.index('id="answer"') : page.index('id="examples"')]
    said = words("<body>" + first)
    order = ["Hardness belongs to the scorer", "By gradient norm, two predictors", "disagrees with",
             "ffn 93.1, 94.2 %", "The hardest by gradient norm", "train/00599.png"]  # fmt: skip
    places = [said.index(one) for one in order]
    assert places == sorted(places)
    assert re.findall(r"train/(\d+)", said) == [f"{i:05}" for i in range(599, 591, -1)]
    sections = re.findall(r'<section id="(\w+)"', page)
    assert sections == ["answer", "examples", "agreement", "noise", "scored", "spread", "method"]


def test_states_that_no_example_is_in_are_not_shown(tmp_path):
    said = words(render(made.difficulty_folder(tmp_path)))
    assert "All 600 examples are scored." in said
    assert "not finite" not in said
    some = words(render(made.difficulty_folder(tmp_path, states=["no label", *["scored"] * 599])))
    assert "no label 1/600 0.2 %" in some
    assert "not finite 0" not in some


def test_more_than_ten_pairs_are_folded(tmp_path):
    out = made.difficulty_folder(tmp_path)
    assert "<details open><summary>Every pair" in render(out)  # 6 of them
    pairs = made.stability()["pairs"]
    (out / "stability.json").write_text(json.dumps(made.stability() | {"pairs": pairs * 2}))
    assert "<details><summary>Every pair" in render(out)


def test_where_scorers_agree_hardness_is_not_said_to_be_the_scorers(tmp_path):
    out = made.difficulty_folder(tmp_path)
    rows = [{"score": "gradient_norm", "between": "seeds", "pairs": 1, "spearman": 0.99,
             "overlap": 0.9}]  # fmt: skip
    (out / "stability.json").write_text(json.dumps(made.stability() | {"summary": rows}))
    said = words(render(out))
    assert "The scorers tried here largely agree on what is hard." in said
    assert "as much as to the example" not in said


def test_a_predictor_near_chance_is_warned_of_on_the_page_and_in_the_table(tmp_path):
    # ten labels alike: chance is 10 %, and a tenth of the way from there to 100 % is 19 %
    manifest = made.difficulty_manifest()
    manifest["predictors"][0]["trainings"]["1"]["accuracies"] = [0.1, 0.18]
    manifest["predictors"][1]["trainings"] = {"0": {"accuracies": [0.2]}}
    out = made.difficulty_folder(tmp_path, manifest=manifest)
    page, warned = (
        render(out),
        "seed 1 learned next to nothing (chance: 10.0 %): its ranks say little",
    )
    assert f"ffn: {warned}." in page[page.index('aria-label="Notices"') : page.index("</aside>")]
    assert f"ffn 93.1, 18.0 %: {warned}" in words(page)
    assert "resnet18 20.0 %." in words(page)
    text = " ".join(printed(lowresource_tables.difficulty(out)).split())
    assert "93.1, 18.0 % seed 1 learned next to nothing" in text


@pytest.mark.parametrize(("right", "weak"), [(534, False), (504, True), (420, True)])
def test_how_good_a_judge_of_labels_the_network_is_stands_beside_the_estimate(
    tmp_path, right, weak
):
    # 534/600 = 89 %: 11 % - 6.67 % = 4.33 % are its own errors, no more than 6.67 %;
    # 504/600 = 84 %: 16 % - 6.67 % = 9.33 % are more; 420/600 = 70 % is low
    out = made.difficulty_folder(tmp_path)
    noise = json.loads((out / "noise.json").read_text())
    noise |= {
        "predictor": "ffn",
        "out_of_fold_accuracy": {"value": right / 600, "n": 600, "right": right},
    }
    (out / "noise.json").write_text(json.dumps(noise))
    end = ": the estimate may mostly count its own errors." if weak else "."
    said = (
        f"Its answer is the label of {right / 6:.1f} % ({right}/600) of the examples that it was "
        f"not trained on{end}"
    )
    assert said in words(render(out))
    assert "ffn disagrees with an estimated 6.7 % of the labels" in words(render(out))
    assert said in " ".join(printed(lowresource_tables.difficulty(out)).split())


def test_how_data_were_read_is_a_note_and_no_warning(tmp_path):
    note = "its labels were found by reading every item once"
    manifest = made.difficulty_manifest(notices=[note, "1 file was left out"])
    manifest["data"]["source"]["notes"] = [note]
    page = render(made.difficulty_folder(tmp_path, manifest=manifest))
    warnings = page[page.index('aria-label="Notices"') : page.index("</aside>")]
    assert "1 file was left out" in warnings
    assert note not in warnings
    assert '<p class="note">Its labels were found by reading every item once.</p>' in page


def test_names_of_files_break_at_their_parts_and_stay_escaped():
    assert breaking("train/n01/00005.png") == "train/<wbr>n01/<wbr>00005<wbr>.png"
    assert breaking("<b>/x") == "&lt;b&gt;/<wbr>x"


def test_one_is_no_plural(tmp_path):
    out = made.difficulty_folder(tmp_path, n=26, classes=13, states=["scored"] * 26)
    frame = pl.read_parquet(out / "noise.parquet").with_columns(suspect=pl.col("index") == 5)
    frame.write_parquet(out / "noise.parquet")
    assert "1 of 26 examples is suspected of a wrong label." in words(render(out))
    assert "1 label is not shown." in printed(lowresource_tables.difficulty(out))


def test_a_network_that_is_hardly_ever_right_is_no_judge_however_much_it_disagrees(tmp_path):
    # 150/600 = 25 % right and 70 % estimated wrong: only 5 % are left, yet it judges nothing
    out = made.difficulty_folder(tmp_path)
    noise = json.loads((out / "noise.json").read_text()) | {"share": made.estimate(0.70)}
    noise["out_of_fold_accuracy"] = {"value": 0.25, "n": 600, "right": 150}
    (out / "noise.json").write_text(json.dumps(noise))
    assert "the estimate may mostly count its own errors." in words(render(out))
