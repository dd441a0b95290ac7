"""Stiffness at a surface's vertices follows paint, maps, and what lies over them there."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import DepthSettings, MaterialSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.mechanics.materials.layer import Layer
from sinew.core.mechanics.materials.surface_stiffness import surface_stiffness

FLESH, BONE = MaterialSettings("flesh", 1e4), MaterialSettings("bone", 1e8)
RANGED = MaterialSettings("ranged", 1e4, painted_modulus=1e6)


def test_paint_is_blended_in_the_logarithm(bar):
    weights = np.tile([0.0, 0.5], (len(bar.positions), 1))
    weights[0] = 0.0, 1.0
    found = surface_stiffness(bar, weights, (FLESH, BONE))
    assert found[0] == 1e8 and found[1:] == pytest.approx(1e6)


def test_a_stiffness_map_counts(bar):
    n = len(bar.positions)
    found = surface_stiffness(bar, np.zeros((n, 1)), (RANGED,), stiffness_maps=np.linspace(0.0, 1.0, n)[:, None])
    assert found[[0, -1]] == pytest.approx([1e4, 1e6]) and (np.diff(found) > 0.0).all()


def test_what_lies_over_the_paint_covers_it(bar):
    """A shell everywhere its map says, a core nowhere, a region where it is."""
    X, plain = bar.positions, np.zeros((len(bar.positions), 2))
    middle = X.mean(axis=0)
    half = SurfaceMesh(middle + 1.5 * (X - middle) + [np.ptp(X[:, 0]) * 0.75, 0.0, 0.0], bar.triangles)
    map_ = (X[:, 1] > middle[1]).astype(float)
    for layer, covered in (
        (Layer(1, (), DepthSettings("shell", 0.0, 0.1)), np.ones(len(X), dtype=bool)),
        (Layer(1, (), DepthSettings("core", 0.0)), np.zeros(len(X), dtype=bool)),
        (Layer(1, (), None, map_), map_ > 0.0),
        (Layer(1, (half,)), X[:, 0] > half.positions[:, 0].min()),
    ):
        assert np.array_equal(surface_stiffness(bar, plain, (FLESH, BONE), (layer,)) == 1e8, covered)
