"""Points are projected on a surface along its interpolated normals, continuously across concave edges."""

from __future__ import annotations

import numpy as np
from sinew.core.mechanics.ties.phong_projection import project

from ..jobs import box_surface

VALLEY = np.array([[x, y, abs(x)] for x in (-1.0, 0.0, 1.0) for y in (0.0, 1.0, 2.0)])
"""Two slopes of 45 degrees that meet at x = 0."""


def projected(points, surface, triangles):
    """Projected points and normals."""
    corners, weights, normals = project(points, surface, triangles)
    return np.einsum("pc,pci->pi", weights, surface[corners]), normals, weights


def test_projection_is_continuous_above_a_concave_edge():
    low = np.array([0, 1, 3, 4])[:, None]
    triangles = np.concatenate([low + [0, 3, 1], low + [1, 3, 4]])
    x = np.linspace(-0.4, 0.4, 401)
    points = np.column_stack([x, np.full(len(x), 1.1), np.full(len(x), 0.3)])
    z, n, b = projected(points, VALLEY, triangles)
    away = points - z
    np.testing.assert_allclose(away - np.sum(away * n, axis=1)[:, None] * n, 0.0, atol=1e-9)
    assert b.min() >= -1e-9
    assert np.linalg.norm(np.diff(z, axis=0), axis=1).max() < 0.02  # the nearest point jumps by 0.3
    assert np.linalg.norm(np.diff(n, axis=0), axis=1).max() < 0.02


def test_points_on_a_surface_and_beyond_an_open_edge_are_the_nearest_ones():
    box = box_surface((1.0, 1.0, 1.0), (3, 3, 3))
    at = box.positions[box.triangles].mean(axis=1)
    z, _n, _b = projected(at, box.positions, box.triangles)
    np.testing.assert_allclose(z, at, atol=1e-12)
    sheet = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    z, n, _b = projected(np.array([[-1.0, 0.5, 2.0]]), sheet, np.array([[0, 1, 2]]))
    np.testing.assert_allclose(z, [[0.0, 0.5, 0.0]], atol=1e-12)
    np.testing.assert_allclose(n, [[0.0, 0.0, 1.0]], atol=1e-12)


def test_points_without_a_projection_get_the_nearest_point():
    """At a focal point of the normals, and where the normals of a sheet folded onto itself cancel."""
    valley = np.concatenate([np.array([0, 1, 3, 4])[:, None] + [0, 3, 1], np.array([0, 1, 3, 4])[:, None] + [1, 3, 4]])
    focal = np.column_stack([np.zeros(4), np.full(4, 1.0), [1.0, 2.0, 5.0, 1e8]])
    z, n, b = projected(focal, VALLEY, valley)
    assert np.isfinite(z).all() and b.min() >= -1e-9
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0)
    folded = np.concatenate([valley, valley[:, ::-1]])
    z, _n, _b = projected(np.array([[0.5, 0.5, 0.5], [0.4, 0.5, 0.6]]), VALLEY, folded)
    np.testing.assert_allclose(z, [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]], atol=1e-12)
