"""Dynamic nodes as balls: means of what of them lies in the body."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.methods.model.nodes import LARGEST, islands, node_regions

NONE = np.zeros(0, dtype=np.int64)


def test_a_ball_that_reaches_into_a_neighbouring_part_has_nothing_of_it():
    """Two cubes a twentieth of their side apart."""
    one = block((4, 4, 4), (1.0, 1.0, 1.0))
    n = len(one.rest_positions)
    beside = one.rest_positions + [1.05, 0.0, 0.0]
    two = TetMesh(np.concatenate([one.rest_positions, beside]), np.concatenate([one.tets, one.tets + n]))
    centre = np.argmin(np.linalg.norm(one.rest_positions - [1.0, 0.5, 0.5], axis=1))
    row = node_regions(two, np.array([centre]), NONE).rows
    reached = np.linalg.norm(beside - one.rest_positions[centre], axis=1) < LARGEST * two.size
    assert reached.any() and len(np.unique(islands(two))) == 2
    assert row.sum() == pytest.approx(1.0) and np.abs(row[:, n:]).sum() == 0.0 and row.nnz > 20
    far = node_regions(two, np.array([centre, n + centre]), NONE).rows
    assert np.abs(far[0, n:]).sum() == 0.0 == np.abs(far[1, :n]).sum()
