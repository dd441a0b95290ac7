"""A bar whose paint changes along x."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh


def box(sides=(1.0, 1.0, 1.0), corner=(0.0, 0.0, 0.0)) -> SurfaceMesh:
    """Eight vertices, twelve triangles, pointing outwards."""
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float) * sides + corner
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return SurfaceMesh(corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


@pytest.fixture(scope="session")
def make_box():
    return box


@pytest.fixture(scope="session")
def bar() -> SurfaceMesh:
    """A bar of 4 x 1 x 1, divided finely along x."""
    n = 80
    ring = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=float)
    x = np.repeat(np.linspace(0.0, 4.0, n + 1), 4)
    points = np.column_stack([x, np.tile(ring, (n + 1, 1))])
    faces = []
    for i in range(n):
        for c in range(4):
            a, b = 4 * i + c, 4 * i + (c + 1) % 4
            faces += [(a, a + 4, b), (b, a + 4, b + 4)]
    end = 4 * n
    faces += [(0, 1, 2), (0, 2, 3), (end, end + 2, end + 1), (end, end + 3, end + 2)]
    return SurfaceMesh(points, faces)
