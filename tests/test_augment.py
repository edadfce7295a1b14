"""Mixed pictures: weights are the shares that pictures have of what is seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardset.errors import UsageError

torch = pytest.importorskip("torch")
from hardset.lowresource.augment import cutmix, mixed, mixup  # noqa: E402

pytestmark = pytest.mark.torch
seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None)
@given(seeds, st.integers(1, 9), st.integers(1, 9), st.integers(1, 6))
def test_cutmix_weighs_by_the_area_that_is_left(seed, height, width, n):
    # Picture i is i everywhere: what is not its own is its partner's number.
    inputs = torch.arange(n, dtype=torch.float64).view(n, 1, 1, 1).repeat(1, 3, height, width)
    made = cutmix(inputs, np.random.default_rng(seed))
    for place, partner in enumerate(made.partner):
        own = made.inputs[place] == place
        assert (made.inputs[place][~own] == partner).all()
        if partner != place:
            assert own.double().mean().item() == pytest.approx(made.weight)
    assert 0 <= made.weight <= 1


@settings(deadline=None)
@given(seeds, st.integers(1, 6))
def test_cutmix_pastes_one_rectangle_at_its_place(seed, n):
    inputs = torch.rand(n, 2, 6, 7, generator=torch.Generator().manual_seed(seed))
    made = cutmix(inputs, np.random.default_rng(seed))
    pasted = made.inputs != inputs
    rows, columns = (pasted.any(0).any(0).any(side).nonzero().flatten() for side in (1, 0))
    if len(rows):
        top, bottom, left, right = (int(v) for v in (rows[0], rows[-1], columns[0], columns[-1]))
        box = (slice(None), slice(None), slice(top, bottom + 1), slice(left, right + 1))
        assert torch.equal(made.inputs[box], inputs[made.partner][box])
        assert (bottom - top + 1) * (right - left + 1) == pytest.approx(42 * (1 - made.weight))


@settings(deadline=None)
@given(seeds, st.sampled_from([cutmix, mixup]))
def test_mixing_keeps_the_mean_of_a_batch(seed, mix):
    # Each picture gives as much to one as it gets from another.
    inputs = torch.rand(5, 3, 4, 4, dtype=torch.float64)
    made = mix(inputs, np.random.default_rng(seed))
    assert made.inputs.mean().item() == pytest.approx(inputs.mean().item())
    assert sorted(made.partner.tolist()) == [0, 1, 2, 3, 4]


@settings(deadline=None)
@given(seeds)
def test_mixup_is_the_weighted_mean(seed):
    inputs = torch.rand(4, 1, 2, 2, dtype=torch.float64)
    made = mixup(inputs, np.random.default_rng(seed))
    expected = made.weight * inputs + (1 - made.weight) * inputs[made.partner]
    assert torch.allclose(made.inputs, expected, atol=1e-15)


def test_the_same_seed_mixes_the_same():
    inputs = torch.rand(4, 1, 8, 8)
    first, again = (mixed("cutmix", inputs, np.random.default_rng(3)) for _ in range(2))
    assert torch.equal(first.inputs, again.inputs)
    assert mixed("none", inputs, np.random.default_rng(3)) is None


def test_texts_are_not_mixed():
    with pytest.raises(UsageError, match="mixup mixes pictures only"):
        mixed("mixup", {"tokens": torch.zeros(1, 2)}, np.random.default_rng(0))
