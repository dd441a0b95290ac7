"""A few points that stand for many."""

import numpy as np
from sinew.core.geometry.mesh.farthest_points import farthest_points


def test_corners_come_first_and_none_is_far_from_all():
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 9)] * 3, indexing="ij"), -1).reshape(-1, 3)
    chosen = farthest_points(grid, 8)
    assert {tuple(p) for p in grid[chosen.points]} == {(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)}
    many = farthest_points(grid, 200)
    assert (np.diff(many.points) > 0).all()
    away = np.linalg.norm(grid[:, None] - grid[many.points], axis=2)
    assert (away.min(axis=1) == away[np.arange(len(grid)), many.nearest]).all()
    assert away.min(axis=1).max() <= 2.0 * (1.0 / 200) ** (1 / 3)


def test_all_where_there_are_no_more_and_no_point_twice():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0]])
    assert farthest_points(points, 3).points.tolist() == [0, 1, 2]
    twice = farthest_points(np.repeat(points, 3, axis=0), 5)
    assert len(twice.points) == 2
    assert len(np.unique(twice.nearest[:3])) == 1
