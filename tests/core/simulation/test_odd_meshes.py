"""Odd meshes by seed: those that flew farthest when points were skinned by the handles of their vertices."""

import pytest
from sinew.benchmarks.physics.zoo import flight, odd_job


@pytest.mark.parametrize("seed", [75, 127, 239, 262])
def test_none_flies_farther_than_it_can_fall(seed):
    """Nor is shown to."""
    found = flight(odd_job(seed, "subspace_mixed_fem"))
    assert max(found.moved, found.shown) < 1.0
