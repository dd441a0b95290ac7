"""Odd meshes by seed: those that flew farthest when points were skinned by the handles of their vertices."""

import numpy as np
import pytest
from sinew.benchmarks.physics.zoo import flight, odd_job, prepared


@pytest.mark.parametrize("seed", [75, 127, 239, 262])
def test_none_flies_farther_than_it_can_fall(seed):
    """Nor is shown to."""
    found = flight(odd_job(seed, "subspace_mixed_fem"))
    assert max(found.moved, found.shown) < 1.0


@pytest.mark.parametrize("seed", [132, 171, 240])
def test_a_first_shape_throws_no_inside_away(seed):
    """Tet vertices with little influence on the surface are not moved far to fit the initial shape."""
    job = odd_job(seed, "subspace_mixed_fem")
    X, size = job.body.surface.positions, job.body.surface.size
    at = (X - X.mean(axis=0)) / size
    moved = 0.2 * size * np.column_stack([0.0 * at[:, 0], at[:, 0] ** 2, np.sin(3.0 * at[:, 1])])
    ready = prepared(job.with_body(initial_shape=X + moved))
    vertices = ready.space.basis @ ready.start
    assert np.abs(vertices).max() <= 50.0 * np.abs(moved).max()
