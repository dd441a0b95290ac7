"""Contact forces do not depend on the size of the collider's faces."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.core.contact.barrier.barrier_potential import Barrier
from sinew.core.contact.barrier.collision_mesh import CollisionMesh
from sinew.core.geometry.mesh.topology import boundary_triangles

DISTANCE = 1e-3
TRIANGLE = np.array([[0.0, 2.0, 0.0], [-3.0, -1.0, 0.0], [3.0, -1.0, 0.0]]), np.array([[0, 1, 2]])
SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]), [[0, 1, 2], [0, 2, 3]]


def pressed(flat, reach: float) -> float:
    """Force on a box of 10 cm and 4 cells at half of dhat above a plane, N."""
    mesh, (corners, triangles) = block((4, 4, 4), (0.1,) * 3), flat
    X, n = mesh.rest_positions - [0.05, 0.05, 0.0], len(mesh.rest_positions)
    rest = np.concatenate([X, reach * corners])
    faces = np.concatenate([boundary_triangles(mesh.tets), np.asarray(triangles) + n])
    body = (np.arange(len(rest)) >= n).astype(int)
    barrier = Barrier(CollisionMesh(rest, faces, body, body == 1), DISTANCE, 1e5, 0.0, 1e-3)
    y = rest + np.outer(body == 0, [0.0, 0.0, 0.5 * DISTANCE])
    return float(barrier.gradient(y)[n:, 2].sum())


@pytest.mark.parametrize("flat", (TRIANGLE, SQUARE))
def test_it_is_the_same_over_any_width(flat):
    assert pressed(flat, 100.0) == pytest.approx(pressed(flat, 0.5), rel=1e-6)


def test_a_diagonal_below_it_adds_no_more_than_the_box_has():
    assert pressed(TRIANGLE, 10.0) < pressed(SQUARE, 10.0) < 2.0 * pressed(TRIANGLE, 10.0)
