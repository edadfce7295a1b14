"""The page and the tables of `hardset learn`: hand-checked figures, every way it can go wrong."""

from __future__ import annotations

import io
import itertools
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import lowresource_made as made
from hardset.lowresource.learning.results import Epoch, Result, Trial
from hardset.lowresource.learning.summary import Asked
from hardset.lowresource.learning.summary import metrics as real_metrics
from hardset.reports import lowresource_tables
from hardset.reports.learned import render, write_learned
from hardset.reports.learned_claims import augmentation_claims, claims
from hardset.reports.learning_curves import BOTTOM, TOP, panels
from hardset.reports.measures import Measure, interval_of_mean
from hardset.reports.numbers import magnitude
from report_runs import HOSTILE


def words(page: str) -> str:
    """Give what a reader sees, without markup and with single spaces."""
    body = re.sub(r"<(style|svg).*?</\1>", " ", page.partition("<body>")[2], flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def printed(parts) -> str:
    """Give what a terminal of 80 columns shows."""
    console = Console(width=80, file=io.StringIO(), highlight=False)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


def test_each_learner_has_its_gap_its_interval_and_its_pairs():
    # ffn, k = 16: hardest 0.41 0.38 0.44 0.40 0.42, mean 0.41; random 0.80 0.78 0.83 0.79 0.80,
    # mean 0.80. Differences -.39 -.40 -.39 -.39 -.38: mean -0.39, their squares about it sum to
    # 2e-4, s = sqrt(2e-4 / 4) = 0.00707; reach 2.776 x 0.00707 / sqrt(5) = 0.00878.
    said = words(render(made.metrics(), made.learn_manifest()))
    assert (
        "k = 16: 41.0 % from the hardest, 80.0 % from random; gap -39.0 points "
        "(95 % interval -39.9 to -38.1; n = 5 pairs)." in said
    )
    assert (
        "At k = 16 and k = 100, on this test set, the hardest examples teach less for 2 of 3 learners than random examples do (for 1 no difference is shown)."  # noqa: E501
        in said
    )
    assert "-2.0 points, not shown" in said  # timm/vit_tiny, -10.4 to +6.4


def test_the_table_has_mean_std_worst_last_and_paper():
    # 0.41 0.38 0.44 0.40 0.42: squares about 0.41: 0, 9, 9, 1, 1 (e-4), s = sqrt(20e-4 / 4) = .0224
    said = words(render(made.metrics(), made.learn_manifest()))
    assert "16 hardest 41.0 ± 2.2 % 38.0 % 43.0 ± 2.2 % 40.0 % 5" in said


def test_the_wider_interval_and_what_it_is_worth_in_random_examples_are_said():
    page = render(made.metrics(), made.learn_manifest())
    assert "-40.9 to -37.1" in page  # a point wider on either side
    assert "as much as about 56 random ones a label" in words(page)


def test_the_page_is_made_of_what_the_command_writes():
    asked = Asked(("ffn",), (2, 4), ("hardest", "random"), ("none",), 2)
    results = [
        Result(trial, (Epoch(1.0, right / 4, 0.5),), made.np.array([1.0] * right + [0.0] * (4 - right)))  # noqa: E501
        for trial in asked.trials()
        for right in [trial.k // 2 + (trial.set == "random")]
    ]  # fmt: skip
    failed = {Trial("ffn", 2, "hardest", "none", 1): "out of memory"}
    results = [one for one in results if one.trial not in failed]
    found = real_metrics(asked, results, failed, n_test=4)
    said = words(render(found, {}))
    # k = 2: 1/4 right of the hardest, 2/4 of random; seed 1 of the hardest failed: one pair
    assert (
        "k = 2: 25.0 % from the hardest, 50.0 % from random; gap -25.0 points (n = 1 pair: no interval, it may be chance)"  # noqa: E501
        in said
    )
    assert "1 training failed and is in no mean; 7 of 8 trainings finished." in said
    assert "ffn, k = 2, hardest, seed 1: out of memory" in said
    assert "1 of 2, 1 failed" in said


def test_one_seed_has_no_interval_and_says_so():
    page = render(made.metrics(seeds=1), made.learn_manifest())
    said = words(page)
    assert "n = 1 pair: no interval, it may be chance" in said
    assert "with one seed there is no interval, so it may be chance" in said
    assert 'class="ends" x1="8"' in page  # the key alone: no interval is drawn
    assert page.count('class="ends"') == 1


def alike(gaps, seeds=2):
    """Make results of one learner, `ffn` at k = 16: each set's gap, from all seeds the same."""
    rows = [{"learner": "ffn", "k": 16, "set": kind, "augment": "none", "n": seeds, "gap": gap,
             "low": None, "high": None} for kind, gap in gaps.items()]  # fmt: skip
    return {"measure": "accuracy", "learners": ["ffn"], "ks": [16], "augments": ["none"],
            "sets": [*gaps, "random"], "gaps": rows, "summary": []}  # fmt: skip


@pytest.mark.parametrize(
    ("gap", "seeds", "said"),
    [
        (0.5, 2, "come out 50.0 points above random examples with the one learner; the 2 seeds differ alike, so there is no interval."),  # noqa: E501
        (-0.5, 3, "come out 50.0 points below random examples with the one learner; the 3 seeds differ alike, so there is no interval."),  # noqa: E501
        (0.0, 2, "come out level with random examples with the one learner; the 2 seeds differ alike"),  # noqa: E501
        (0.5, 1, "with the one learner; with one seed there is no interval, so it may be chance."),
    ],
)  # fmt: skip
def test_without_an_interval_the_claim_says_which_way_and_why(gap, seeds, said):
    found = str(claims(alike({"hardest": gap}, seeds))[0])
    assert said in found
    assert found.startswith("At k = 16, on this test set, the hardest examples come out")
    assert "0 of 1" not in words(render(alike({"hardest": gap}, seeds), {}))


def test_the_claim_goes_through_every_set_and_says_alike_what_is_alike():
    gaps = {"hardest by loss": 0.5, "hardest by gradient norm": 0.5, "easiest by loss": -0.25}
    found = alike(gaps)
    found["gaps"][2] |= {"low": -0.3, "high": -0.2}
    claim = claims(found)[0]
    assert list(claim.parts) == [
        "the sets “hardest by loss” and “hardest by gradient norm” come out 50.0 points above "
        "random examples with the one learner; the 2 seeds differ alike, so there is no interval",
        "the examples “easiest by loss” teach less for the one learner than random examples do",
    ]
    said = words(render(found, {}))
    assert all(part in said for part in claim.parts)
    assert "hardest by loss, k = 16: +50.0 points, no interval" in said


def spans(*gaps):
    """Make results of one learner, `ffn`: a k a gap, with its interval and its wider one."""
    rows = [{"learner": "ffn", "k": k, "set": "hardest", "augment": "none", "n": 5, "gap": gap,
             "low": gap - 0.01, "high": gap + 0.01,
             "two_way_low": gap - wide, "two_way_high": gap + wide}
            for k, gap, wide in gaps]  # fmt: skip
    return alike({"hardest": 0.0}) | {"ks": [k for k, _, _ in gaps], "gaps": rows}


def test_what_other_test_examples_may_undo_is_said_to_be_of_this_test_set():
    found = spans((16, -0.03, 0.05))
    assert str(claims(found)[0]) == (
        "At k = 16, on this test set, the hardest examples teach less for the one learner than "
        "random examples do, not shown over other test examples."
    )
    said = words(render(found, {}))
    assert "k = 16: -3.0 points, shown on this test set alone" in said
    assert "other test examples" not in str(claims(spans((16, -0.03, 0.02)))[0])
    found["gaps"].append(found["gaps"][0] | {"learner": "cnn", "two_way_high": -0.01})
    assert str(claims(found)[0]).endswith(
        "teach less for 2 of 2 learners than random examples do, not shown over other test "
        "examples for 1 of these 2."
    )


def test_what_augmentation_changes_on_this_test_set_alone_is_said_so():
    found = spans((16, 0.03, 0.05))
    [row] = found["gaps"]
    found |= {"augments": ["none", "cutmix"]}
    found["augmentation"] = [row | {"augment": "cutmix", "difference": row["gap"]}]
    assert str(augmentation_claims(found)[0]) == (
        "With cutmix, at k = 16, learning from hardest goes better for the one learner, "
        "not shown over other test examples."
    )


def test_a_badge_says_that_a_gap_turns_with_k():
    page = render(spans((16, -0.03, 0.02), (100, 0.04, 0.02)), {})
    assert "k = 16: -3.0 points, turns with k" in words(page)
    assert 'class="badge "' in page  # of neither colour
    assert "turns" not in words(render(spans((16, -0.03, 0.02), (100, -0.04, 0.02)), {}))


def test_the_claim_says_of_how_many_gaps_and_what_is_counted_apart():
    # vit at k = 32: -.06 -.03 -.03 -.07 -.01, mean -.04, s = sqrt(24e-4 / 4) = .0245; reach
    # 2.776 x .0245 / sqrt(5) = .0304: shown, as all of the two others, 6; vit's others are not
    *_, last = claims(made.metrics(augment=False))
    assert str(last) == "Of 9 gaps looked at, 7 are shown, at 95 % each and not together."
    *_, last = claims(five_sets())  # 4 sets of 3 learners at 2 k, and as many with cutmix
    assert str(last) == (
        "Of 24 gaps looked at, 16 are shown, at 95 % each and not together; augmented sets "
        "(24 gaps) are counted apart."
    )
    assert len(claims(alike({"hardest": 0.5}))) == 1


def test_what_augmentation_changes_is_said_at_once_and_before_all_results():
    # hardest, ffn: three seeds gain 3 points and two 1.5, so the interval leaves zero out
    page = render(made.metrics(), made.learn_manifest())
    better = "learning from hardest and random goes better for 3 of 3 learners."
    assert f"With cutmix, at k = 16 and k = 100, {better}" in words(page)
    assert page.index("With cutmix, at k") < page.index("<figure")
    assert page.index('id="augmentation"') < page.index('id="results"')


def test_no_interval_goes_beyond_what_a_difference_can_be():
    measure = Measure()
    assert measure.between(-3.34, 2.85) == "all possible"
    assert measure.between(-3.34, 0.285) == "-100.0 to +28.5"
    assert measure.between(-0.1, 0.2) == "-10.0 to +20.0"
    assert Measure("pearson").between(-2.5, 0.5) == "-2.00 to +0.50"
    assert measure.between(-0.1, -0.00004) == "-10.0 to -0.0"  # leaves zero out: the sign says so
    assert measure.between(0.00004, 0.1) == "+0.0 to +10.0"
    assert measure.between(0.0, 0.1) == "0.0 to +10.0"
    found = alike({"hardest": -0.244})
    found["gaps"][0] |= {"low": -3.34, "high": 2.85}
    assert "n = 2 pairs: too few, the 95 % interval holds all that is possible" in words(
        render(found, {})
    )
    table = printed(lowresource_tables.learned(found))
    assert "-24.4 [all possible]" in table
    assert "-334" not in table


def test_a_bar_that_goes_on_beyond_the_axis_has_a_tip():
    # n = 2: reach 12.706 x 0.01 / 1.4142 = 0.09 of the first, 12.706 x 0.1 / 1.4142 = 0.9 of both
    # ends of the second; the axis goes 0.1 beyond the means, 0.4 and 0.6 in steps of 0.05
    rows = [{"k": 2**i, "set": "hardest", "n": 2, "mean": 0.5, "std": std}
            for i, std in enumerate((0.01, 0.1))]  # fmt: skip
    few, many = panels({"a": rows}, ["hardest"], [1, 2], Measure())["a"].lines[0].points
    assert (len(few.cut), len(many.cut)) == (0, 2)
    assert many.title.endswith("95 % interval 0.0 to 100.0 %")
    assert (float(many.high), float(many.low)) == (TOP, BOTTOM)


def five_sets():
    """Make what two scores, suspects dropped and cutmix give, out of its order."""
    kinds = ["hardest by loss", "hardest by loss, suspects dropped", "hardest by gradient norm",
             "hardest by gradient norm, suspects dropped"]  # fmt: skip
    found = made.metrics(ks=(16, 100))
    for name in ("summary", "gaps"):
        some = [row for row in found[name] if row["set"] == "hardest"]
        more = [row | {"set": kind, "augment": mixed} for mixed in ("cutmix", "none")
                for kind in kinds[::-1] for row in some[::-1]]  # fmt: skip
        found[name] = [row for row in found[name] if row["set"] == "random"] + more
    return found | {"sets": [*kinds, "random"]}


def test_the_table_of_several_sets_goes_by_learner_k_and_set_and_breaks_no_word():
    text = printed(lowresource_tables.learned(five_sets()))
    assert all(len(line) <= 80 for line in text.split("\n"))
    table = text[text.index("Accuracy of 797") : text.index("With augmentation minus without")]
    assert [table.index(f"\n{one}\n") for one in ("ffn", "resnet18", "timm/vit_tiny")] == sorted(
        table.index(f"\n{one}\n") for one in ("ffn", "resnet18", "timm/vit_tiny")
    )
    ffn = table[: table.index("\nresnet18\n")]
    order = ["16   hardest by loss ", "hardest by loss, no", "hardest by gradient norm ",
             "norm, no suspects", "  random ", "hardest by loss, cutmix"]  # fmt: skip
    places = [ffn.index(one) for one in order]
    assert places == sorted(places)
    assert ffn.index("random") < ffn.index("100   hardest by loss ")
    words_of = set(re.findall(r"[a-z]+", ffn))
    assert not words_of & {"harde", "hardes", "gradie", "suspec", "rando"}


def test_lines_whose_names_have_no_room_are_named_in_the_chart_s_own_legend():
    page = render(five_sets(), {})
    chart = page[page.index('<div class="chart">') : page.index("</figure>")]
    assert [name for name in five_sets()["sets"] if f"</svg>{name}</span>" not in chart] == []


def test_marks_in_tables_are_the_legend_s():
    page = render(five_sets(), {})
    gaps = page[page.index('id="gaps"') : page.index('id="results"')]
    assert 'class="key' not in gaps.replace('class="key-shape', "").replace("mark key-shape", "")
    assert '<circle class="dot"' not in gaps


def test_the_badge_says_of_which_k():
    assert "k = 16: -39.0 points, shown" in words(render(made.metrics(), {}))


def test_the_method_names_what_the_sets_were_chosen_by():
    manifest = made.learn_manifest(
        scores=[{"name": "gradient_norm", "problems": []}],
        settings={"epochs": 5}, threads=1,
        **{"command line": "hardset learn --train digits",
           "scored by": {"place": "runs/scored", "predictors": ["ffn, seeds 0, 1"]}},
    )  # fmt: skip
    page = render(made.metrics(), manifest)
    said = words(page)
    assert "scores in runs/scored by score gradient norm scored by ffn, seeds 0, 1" in said
    assert "command line hardset learn --train digits" in said
    assert page.count("<h3>settings</h3>") == 1


def test_failures_come_first_loudly_and_in_few_lines():
    page = render(made.metrics(failed=made.failed_trials(40)), made.learn_manifest())
    said = words(page)
    assert "40 trainings failed and are in no mean; 180 of 220 trainings finished." in said
    assert "seeds 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 30 more: the loss is not finite" in said
    assert page.index("40 trainings failed") < page.index('id="answer"')


@pytest.mark.parametrize("metrics", [{}, {"summary": [], "gaps": [], "failed": []}])
def test_nothing_is_said_to_be_nothing(metrics):
    said = words(render(metrics, {}))
    assert "No gap could be measured" in said
    assert "No learner has a result." in said
    assert "No training came to an end." in said
    assert printed(lowresource_tables.learned(metrics))


def test_where_everything_failed_no_number_is_made_up():
    asked = Asked(("ffn",), (16,), ("hardest", "random"), ("none",), 2)
    failed = dict.fromkeys(asked.trials(), "no such device")
    found = real_metrics(asked, [], failed, n_test=797)
    said = words(render(found, {}))
    assert "4 trainings failed and are in no mean; 0 of 4 trainings finished." in said
    assert "no pair of hardest and random was trained to the end, so no gap" in said
    assert "0 of 2, 2 failed" in said
    assert "4 FAILED" in printed(lowresource_tables.learned(found))


def test_correlations_are_no_percentages():
    found = made.metrics(augment=False) | {"measure": "pearson"}
    found["also"] = {"measure": "spearman", "gaps": found["gaps"]}
    said = words(render(found, {}))
    assert (
        "k = 16: 0.41 from the hardest, 0.80 from random; gap -0.39 (95 % interval -0.40 to -0.38; n = 5 pairs)"  # noqa: E501
        in said
    )
    assert "Gaps in Spearman's correlation" in said
    assert "points" not in said
    assert "label" not in re.sub("suspected labels|its labels", "", said)
    assert "as many in all, paired by seed" in said
    assert "random ones in all" in said
    assert "k examples in all (log)" in render(found, {})
    assert "k examples per label (log)" in render(made.metrics(), {})


def test_other_sets_stand_beside_the_hardest():
    found = made.metrics(ks=(16,), augment=False)
    found["sets"] = ["easiest", "hardest, suspects dropped", "hardest", "random"]
    more = [row | {"set": name} for row in found["summary"] if row["set"] == "hardest"
            for name in found["sets"][:2]]  # fmt: skip
    gaps = [row | {"set": name} for row in found["gaps"] for name in found["sets"][:2]]
    found |= {"summary": found["summary"] + more, "gaps": found["gaps"] + gaps}
    said = words(render(found, made.learn_manifest()))
    assert "hardest, suspects dropped" in said
    less = "teach less for 2 of 3 learners than random examples do (for 1 no difference is shown)."
    several = "the sets hardest, easiest and “hardest, suspects dropped”"
    assert f"At k = 16, on this test set, {several} {less}" in said
    assert all(len(line) <= 80 for line in printed(lowresource_tables.learned(found)).split("\n"))


def test_what_the_sets_hold_and_how_many_labels_are_suspected():
    said = words(render(made.metrics(), made.learn_manifest()))
    assert "hardest 16 160 40/160 (25.0 %)" in said  # 40 / 160 = 0.25
    assert (
        "random 16 160 2.8 %, in the mean 4.4 of 160" in said
    )  # the mean of draws: 4.4 / 160 = 0.0275
    assert "pictures of 8 x 8 are enlarged to 32 x 32" in said
    assert "optimiser adam, lr 0.001, batch 32, epochs 50" in said


def test_strangers_words_are_escaped_seen_and_cut():
    found = made.metrics(failed=[made.failed_trials(1)[0] | {"reason": HOSTILE + "x" * 5000}])
    found = _renamed(found, "ffn", HOSTILE)
    page = render(found, {"train": {"place": HOSTILE}, "notices": [HOSTILE], HOSTILE: HOSTILE})
    assert "<script>window" not in page
    assert "<img src=x" not in page
    assert "[U+202E]evil" in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "x" * 500 not in page.partition('class="manifest"')[0]
    table = printed(lowresource_tables.learned(found))
    assert "\x1b" not in table
    assert "\u202e" not in table


def _renamed(found, old, new):
    for name in ("summary", "gaps", "augmentation", "failed", "curves"):
        for row in found[name]:
            row["learner"] = new if row["learner"] == old else row["learner"]
    found["learners"] = [new if one == old else one for one in found["learners"]]
    return found


def test_the_same_input_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_learned(tmp_path / name, made.metrics(), made.learn_manifest())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_tables_fit_eighty_columns_and_have_both_means():
    text = printed(lowresource_tables.learned(made.metrics(), made.learn_manifest()))
    assert all(len(line) <= 80 for line in text.split("\n"))
    assert re.search(
        r"ffn +16 +41\.0 \(2\.2\) +80\.0 \(1\.9\) +-39\.0 \[-39\.9 to -38\.1\] +5", text
    )


def test_the_interval_of_a_mean_is_students():
    # n = 2: t = 12.706; std 0.1: reach 12.706 x 0.1 / 1.4142 = 0.8985
    low, high = interval_of_mean({"n": 2, "mean": 0.5, "std": 0.1})
    assert (low, high) == pytest.approx((0.5 - 0.8985, 0.5 + 0.8985), abs=1e-4)
    assert interval_of_mean({"n": 1, "mean": 0.5, "std": None}) is None


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.5)), min_size=1, max_size=8))
def test_every_mark_is_on_the_field(means):
    rows = [
        {"learner": "a", "k": 2**i, "set": "hardest", "n": 5, "mean": mean, "std": std,
         "paper_mean": min(1.0, mean + std)}
        for i, (mean, std) in enumerate(means)
    ]  # fmt: skip
    panel = panels({"a": rows}, ["hardest"], [2**i for i in range(len(rows))], Measure())["a"]
    for point in panel.lines[0].points:
        assert all(TOP <= float(y) <= BOTTOM for y in (point.y, point.low, point.high))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.0, "0"), (1234567.0, "1.23e6"), (4.56e-9, "4.56e-9"), (0.0123, "0.0123"),
     (1230.0, "1,230"), (-0.5, "-0.5"), (float("inf"), "inf"), (None, "undefined"), (1e-7, "1e-7")],
)  # fmt: skip
def test_numbers_of_any_size_are_short(value, text):
    assert magnitude(value) == text


def test_each_colour_has_a_shape_of_its_own_and_no_two_names_cover_each_other():
    sets = ["hardest", "no suspects", "easiest", "stratified", "mine", "random"]
    rows = [{"k": 16, "set": one, "n": 5, "mean": 0.5, "std": 0.01} for one in sets]
    lines = panels({"a": rows}, sets, [16], Measure())["a"].lines
    assert len({re.sub(r"[-\d. ]", "", line.points[0].mark) for line in lines}) >= 4
    assert all(line.name_at for line in lines)
    heights = sorted(float(line.name_at[1]) for line in lines if line.name_at)
    assert all(b - a >= 12 for a, b in itertools.pairwise(heights))
    assert len({line.colour for line in lines}) == 6
