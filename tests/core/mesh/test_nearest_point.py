"""The nearest places of a surface: those of the nearest triangle, whichever points are asked before."""

from __future__ import annotations

import numpy as np
from sinew.core.geometry.mesh.nearest_point import NearestPointSearch


def test_nearest_places_are_of_the_nearest_triangle_in_any_order():
    rng = np.random.default_rng(4)
    positions = rng.normal(size=(60, 3))
    triangles = rng.permuted(np.tile(np.arange(60), (40, 1)), axis=1)[:, :3].astype(np.int32)
    triangles = np.concatenate([triangles, triangles[:5, ::-1]])  # as near as the first ones
    on = positions[triangles].mean(axis=1)
    points = np.concatenate([on, positions, rng.normal(size=(300, 3)), 1e3 * rng.normal(size=(30, 3))])
    search = NearestPointSearch(positions, triangles)
    found = search.nearest(points)

    alone = [NearestPointSearch(positions, triangle[None]).nearest(points).points for triangle in triangles]
    least = np.linalg.norm(alone - points, axis=2).min(axis=0)
    np.testing.assert_allclose(np.linalg.norm(found.points - points, axis=1), least, rtol=1e-14, atol=1e-14)
    order = rng.permutation(len(points))
    again = search.nearest(points[order])
    np.testing.assert_array_equal(again.points, found.points[order])
    np.testing.assert_array_equal(again.normals, found.normals[order])
