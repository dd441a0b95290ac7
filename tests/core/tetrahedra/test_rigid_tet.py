"""The one tet of a rigid body has the mass and the moments of inertia of the interior of its surface."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sinew.core.foundation.errors import MeshError
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.rigid_tet import rigid_tet
from sinew.core.mechanics.assembly.mass import element_mass

from ..jobs import box_surface


def moments(tet, density=1.0) -> np.ndarray:
    """Integral of (1, x) (1, x)^T over the mass of a tet, by its mass matrix."""
    X = np.column_stack([np.ones(4), tet.rest_positions])
    return X.T @ element_mass(density * tet.corner_volumes)[0] @ X


@pytest.mark.parametrize("inwards", [False, True])
def test_a_turned_box_has_its_moments(inwards):
    size, at = np.array([0.6, 0.2, 0.1]), np.array([3.0, -2.0, 1.0])
    R = Rotation.from_rotvec([0.3, -1.0, 0.7]).as_matrix()
    box = box_surface(tuple(size), (3, 2, 1))
    faces = box.triangles[:, ::-1] if inwards else box.triangles
    tet = rigid_tet(SurfaceMesh((box.positions - 0.5 * size) @ R.T + at, faces))
    tet.validate()
    volume = size.prod()
    expected = np.outer([1.0, *at], [1.0, *at])
    expected[1:, 1:] += R @ np.diag(size**2 / 12.0) @ R.T
    np.testing.assert_allclose(moments(tet), volume * expected, atol=1e-13)
    assert tet.body_volumes == pytest.approx(volume)


def test_a_concave_surface_has_the_sum_of_its_parts():
    one, other = box_surface((0.3, 0.1, 0.1), (1, 1, 1)), box_surface((0.1, 0.2, 0.1), (1, 1, 1))
    apart = SurfaceMesh(other.positions + [0.35, -0.05, 0.2], other.triangles)
    both = SurfaceMesh(
        np.concatenate([one.positions, apart.positions]), np.concatenate([one.triangles, apart.triangles + 8])
    )
    parts = moments(rigid_tet(one)) + moments(rigid_tet(apart))
    np.testing.assert_allclose(moments(rigid_tet(both)), parts, atol=1e-14)


def test_what_has_no_volume_is_told():
    box = box_surface()
    with pytest.raises(MeshError, match="open"):
        rigid_tet(SurfaceMesh(box.positions, box.triangles[1:]))
    with pytest.raises(MeshError, match="no volume"):
        rigid_tet(SurfaceMesh(box.positions * [1.0, 1.0, 0.0], box.triangles))
