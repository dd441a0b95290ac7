"""Principal stretches of a surface against the singular values of known deformations."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from sinew.core.geometry.mesh.surface_stretch import principal_stretches

from ..jobs import box_surface

SHEAR = np.array([[1.3, 0.4, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 1.0]])


def test_a_sheared_and_turned_sheet_has_the_singular_values_of_its_gradient():
    x, y = (each.ravel() for each in np.meshgrid(np.arange(4.0), np.arange(3.0), indexing="ij"))
    flat = np.column_stack([x, y, np.zeros(12)])
    cells = np.array([(k, k + 3, k + 4, k + 1) for k in range(9) if k % 3 < 2])
    triangles = np.concatenate([cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]])
    turn = Rotation.from_rotvec([0.7, -0.4, 0.3]).as_matrix()
    found = principal_stretches(flat, triangles, flat @ (turn @ SHEAR).T + 5.0)
    expected = np.linalg.svd(SHEAR[:2, :2], compute_uv=False)
    np.testing.assert_allclose(found, np.tile(expected, (12, 1)), rtol=1e-12)


def test_flat_triangles_and_loose_vertices_count_as_unstretched():
    rest = np.vstack([box_surface().positions, [[9.0, 9.0, 9.0], [9.0, 9.0, 10.0]]])
    loose = len(rest) - 2
    triangles = np.vstack([box_surface().triangles, [[loose, loose, loose + 1]]])
    found = principal_stretches(rest, triangles, np.zeros_like(rest))  # all points in one
    assert (found[:loose] == 0.0).all() and (found[loose:] == 1.0).all()
