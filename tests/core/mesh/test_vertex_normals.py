"""Normals at vertices."""

import numpy as np
import pytest
from sinew.core.geometry.mesh.vertex_normals import vertex_normals


def test_normals_point_outwards_and_are_none_without_faces():
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [5.0, 5.0, 5.0]])
    normals = vertex_normals(x, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    assert normals[0] == pytest.approx(-np.full(3, 0.5 * np.pi)) and not normals[4].any()
