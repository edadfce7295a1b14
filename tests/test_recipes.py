"""Recipes by name, as the paper's text and its published code have them."""

from __future__ import annotations

import pytest

from hardset.errors import UsageError
from hardset.lowresource.recipes import (
    OURS,
    Recipe,
    changed,
    learner_recipe,
    predictor_recipe,
    rate,
    total_steps,
)


@pytest.mark.parametrize(
    ("network", "kind", "lr", "batch", "epochs"),
    [
        ("ffn", "image", 1e-3, 256, 5),
        ("resnet18", "image", 1e-3, 256, 5),
        ("vit-b16", "image", 1e-4, 32, 1),
        ("bert", "text", 2e-5, 64, 1),
        ("hf/some/model", "text", 2e-5, 64, 1),
    ],
)
def test_predictors(network, kind, lr, batch, epochs):
    recipe = predictor_recipe(network, kind)
    assert (recipe.optimiser, recipe.lr, recipe.batch, recipe.epochs) == ("adam", lr, batch, epochs)
    assert recipe.schedule == "constant"


def test_the_imagenet_predictor_ends_after_200_steps():
    recipe = predictor_recipe("ffn-imagenet", "image")
    # 1,281,167 pictures are 5,005 batches of 256; 200 are 51,200 pictures.
    assert (recipe.batch, total_steps(recipe, 5_005)) == (256, 200)


@pytest.mark.parametrize("network", ["transformer", "bag-of-words"])
def test_what_is_ours_says_so(network):
    assert predictor_recipe(network, "text").source == OURS
    assert learner_recipe(network, "text", 16).source == OURS


@pytest.mark.parametrize(("k", "epochs"), [(16, 50), (100, 50), (101, 20), (1000, 20), (1001, 10)])
def test_text_learners_are_trained_longer_where_examples_are_few(k, epochs):
    recipe = learner_recipe("roberta", "text", k)
    assert (recipe.lr, recipe.batch, recipe.schedule) == (2e-5, 32, "linear")
    assert recipe.epochs == epochs


def test_image_learners():
    recipe = learner_recipe("resnet18", "image", 500)
    assert (recipe.lr, recipe.batch, recipe.epochs) == (1e-3, 32, 50)
    assert learner_recipe("vgg16", "image", 500).lr == 1e-4
    vit = learner_recipe("vit-b16", "image", 500)
    assert (vit.optimiser, vit.lr, vit.weight_decay, vit.epochs) == ("adam", 5e-5, 1e-4, 10)
    net = learner_recipe("efficientnetv2-s", "image", 500)
    assert (net.optimiser, net.lr, net.weight_decay, net.epochs) == ("adamw", 1e-3, 5e-3, 15)


def test_imagenet_learners():
    recipe = learner_recipe("resnet18", "image", 500, imagenet=True)
    assert (recipe.optimiser, recipe.lr, recipe.momentum) == ("sgd", 0.1, 0.9)
    assert (recipe.weight_decay, recipe.batch, recipe.epochs) == (1e-4, 256, 30)
    for network in ("ffn-imagenet", "vgg16"):
        assert learner_recipe(network, "image", 500, imagenet=True).lr == 0.01


def test_steps_halve_after_20_and_40_epochs():
    recipe = learner_recipe("resnet18", "image", 16)
    rates = {epoch: rate(recipe, epoch * 5 + 4, 5) for epoch in (0, 19, 20, 39, 40, 49)}
    assert rates == {0: 1e-3, 19: 1e-3, 20: 5e-4, 39: 5e-4, 40: 2.5e-4, 49: 2.5e-4}


def test_linear_goes_to_nothing():
    recipe = Recipe("test", lr=1.0, epochs=2, schedule="linear")
    # Two epochs of two steps: 1, 3/4, 2/4, 1/4, and 0 after the last.
    assert [rate(recipe, step, 2) for step in range(4)] == [1.0, 0.75, 0.5, 0.25]


def test_linear_ends_where_the_steps_do():
    recipe = Recipe("test", lr=1.0, epochs=2, steps=2, schedule="linear")
    assert [rate(recipe, step, 100) for step in range(2)] == [1.0, 0.5]


@pytest.mark.torch
def test_as_published_is_torchs_linear_with_its_defaults():
    torch = pytest.importorskip("torch")
    optimiser = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=2e-5)
    theirs = torch.optim.lr_scheduler.LinearLR(optimiser)
    recipe = changed(learner_recipe("bert", "text", 16), schedule="as-published")
    for epoch in range(8):
        assert rate(recipe, epoch * 3, 3) == pytest.approx(optimiser.param_groups[0]["lr"])
        optimiser.step()
        theirs.step()
    # From a third to the whole in five epochs, and no decay.
    assert rate(recipe, 0, 3) == pytest.approx(2e-5 / 3)
    assert rate(recipe, 149, 3) == pytest.approx(2e-5)


@pytest.mark.torch
@pytest.mark.parametrize("per_epoch", [1, 3, 10])
def test_one_cycle_is_torchs(per_epoch):
    torch = pytest.importorskip("torch")
    recipe = learner_recipe("efficientnetv2-s", "image", 16)
    total = recipe.epochs * per_epoch
    optimiser = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=1e-3)
    theirs = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=1e-3, total_steps=total)
    for step in range(total):
        assert rate(recipe, step, per_epoch) == pytest.approx(optimiser.param_groups[0]["lr"])
        optimiser.step()
        if step < total - 1:
            theirs.step()


def test_changed_says_what():
    recipe = changed(predictor_recipe("ffn", "image"), epochs=3, lr=None)
    assert (recipe.epochs, recipe.lr) == (3, 1e-3)
    assert recipe.source.endswith("; changed: epochs 3")
    assert changed(recipe) == recipe


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ({"epoch": 3}, "a recipe has no 'epoch'; it has: .*epochs"),
        ({"epochs": 0}, "epochs = 0 .*a whole number from 1"),
        ({"epochs": 2.5}, "a whole number"),
        ({"batch": True}, "a whole number"),
        ({"lr": -1}, "a number above 0"),
        ({"lr": float("nan")}, "a number above 0"),
        ({"momentum": 1.0}, "from 0 to below 1"),
        ({"weight_decay": -0.1}, "a number from 0"),
        ({"schedule": "cosine"}, "one of constant, steps, linear, one-cycle, as-published"),
        ({"augment": "cutout"}, "one of none, cutmix, mixup"),
        ({"milestones": (40, 20)}, "rising"),
        ({"milestones": 20}, "rising"),
    ],
)
def test_what_no_recipe_can_have(override, said):
    with pytest.raises(UsageError, match=said):
        changed(predictor_recipe("ffn", "image"), **override)
