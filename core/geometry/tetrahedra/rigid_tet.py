"""Rigid method: one tetrahedron with the mass, centre of mass and moments of inertia of a closed surface's interior.

A tet of uniform density and mass m with the corners x_a has the consistent mass matrix ``m (1 + delta_ab) / 20``, which
is exact for affine motions. With the mean c of the corners and ``d_a = x_a - c``, its covariance is
``sum_a d_a d_a^T / 20``. The corners

    x_a = c + sqrt(5) L t_a,    t_a = (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1),    L L^T = C

have the covariance C, since ``sum_a t_a t_a^T`` is 4 times the identity. So with the centre of mass c and the
covariance C of the interior, the matrix is the interior's 4 x 4 moment matrix, the integral of ``rho b b^T`` with the
barycentric coordinates b. The tet's ``fill`` gives it the interior's volume; it is 1.39 for a box and 1.57 for a ball.
"""

from __future__ import annotations

import numpy as np

from ...foundation.errors import MeshError
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.tet_mesh import TetMesh

CORNERS = np.array([(1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, -1.0, 1.0), (-1.0, 1.0, -1.0)])
"""Corners of a regular tet whose covariance is one fifth of the identity."""

CLOSED = 1e-6
"""Largest norm of the sum of all face normals times areas, relative to the total area, of a closed surface."""

FLAT = 1e-9
"""Least volume relative to the cube of the size."""


def rigid_tet(surface: SurfaceMesh, *_resolution: object) -> TetMesh:
    """Return one tet with the mass and the moments of inertia of the interior of a closed surface.

    Raises MeshError if the surface is open, or encloses no volume.
    """
    origin = surface.positions[surface.triangles].mean(axis=(0, 1))
    corners = surface.positions[surface.triangles] - origin
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if np.linalg.norm(normals.sum(axis=0)) > CLOSED * np.linalg.norm(normals, axis=1).sum():
        raise MeshError("A rigid body's mesh is open, so it has no volume and mass.", "Fill its holes.")
    volumes, sums = np.einsum("ti,ti->t", corners[:, 0], normals) / 6.0, corners.sum(axis=1)
    volume = float(volumes.sum())
    if abs(volume) < FLAT * surface.size**3:
        raise MeshError("A rigid body's mesh encloses no volume.", "Give it a thickness (Solidify).")
    centre = volumes @ sums / (4.0 * volume)
    squares = np.einsum("t,tci,tcj->ij", volumes, corners, corners) + np.einsum("t,ti,tj->ij", volumes, sums, sums)
    spread = np.linalg.cholesky(squares / (20.0 * volume) - np.outer(centre, centre))
    mesh = TetMesh(origin + centre + np.sqrt(5.0) * CORNERS @ spread.T, np.arange(4)[None])
    return TetMesh(mesh.rest_positions, mesh.tets, abs(volume) / mesh.volumes)


def principal_moments(mesh: TetMesh) -> np.ndarray:
    """Return the principal moments of inertia of a rigid tet about its centre of mass, per density, (3,) m⁵, ascending.

    The moment about a principal axis is the sum of the other two principal second moments of mass.
    """
    away = mesh.rest_positions - mesh.rest_positions.mean(axis=0)
    second = np.linalg.eigvalsh(away.T @ away) * float(mesh.fill @ mesh.volumes) / 20.0
    return second.sum() - second[::-1]
