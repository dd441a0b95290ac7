"""Quality measures of tetrahedra for simulation.

Dihedral angles near 0 or 180 degrees make the stiffness matrix ill conditioned and the interpolation of strains wrong
[Shewchuk, What Is a Good Linear Element?, 2002]. The radius ratio ``3 r_in / r_out`` of the inscribed and circumscribed
spheres is 1 for a regular tet and goes to 0 for every kind of flat tet.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .tet_mesh import TetMesh
from .topology import components


@dataclass(frozen=True)
class Quality:
    """Quality of a tet mesh at rest.

    Attributes
    ----------
    vertices, tets, components : int
        Numbers of vertices, tets and face-connected components.
    min_dihedral, max_dihedral : float, degrees
        Extreme angles between faces: 70.5 in a regular tet, 60 and 90 in the lattice, near 0 or 180 in a sliver.
    worst_radius_ratio : float
        Smallest value of :func:`radius_ratios`: 1 for a regular tet, 0 for a flat one.
    volume : float, m³
        Sum of the tets' volumes, including the parts of tets outside the body.
    body_volume : float, m³
        Volume of the body within the tets (``TetMesh.body_volumes``).
    min_volume : float, m³
        Volume of the smallest tet, including its part outside the body.
    inverted : int
        Number of tets whose volume is not positive.
    """

    vertices: int
    tets: int
    components: int
    min_dihedral: float
    max_dihedral: float
    worst_radius_ratio: float
    volume: float
    body_volume: float
    min_volume: float
    inverted: int


def mesh_quality(mesh: TetMesh) -> Quality:
    """Return the quality of a tet mesh.

    The mesh must have at least one tet.
    """
    volumes = mesh.volumes
    dihedral = dihedral_angles(mesh)
    return Quality(
        vertices=len(mesh.rest_positions),
        tets=len(mesh.tets),
        components=int(components(mesh.tets, len(mesh.rest_positions)).max()) + 1,
        min_dihedral=float(dihedral.min()),
        max_dihedral=float(dihedral.max()),
        worst_radius_ratio=float(radius_ratios(mesh).min()),
        volume=float(volumes.sum()),
        body_volume=float(mesh.body_volumes.sum()),
        min_volume=float(volumes.min()),
        inverted=int((volumes <= 0.0).sum()),
    )


def _area_normals(mesh: TetMesh) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges (m,3,3) of each tet from corner 0, and the inward normals (m,4,3) of its faces.

    The mesh is scaled to size 1. Row k belongs to the face opposite to corner k. The length of a normal is twice the
    face's area.
    """
    p = mesh.rest_positions[mesh.tets]
    e = (p[:, 1:] - p[:, :1]) / mesh.size
    inner = np.stack([np.cross(e[:, 1], e[:, 2]), np.cross(e[:, 2], e[:, 0]), np.cross(e[:, 0], e[:, 1])], axis=1)
    return e, np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)


def dihedral_angles(mesh: TetMesh) -> np.ndarray:
    """Return the six dihedral angles of each tet, (m,6), degrees.

    The angle at the edge of a face without area is 0.
    """
    _, n = _area_normals(mesh)
    length = np.linalg.norm(n, axis=2)
    cosines = []
    for a, b in combinations(range(4), 2):
        scale = length[:, a] * length[:, b]
        dot = np.einsum("ni,ni->n", n[:, a], n[:, b])
        cosines.append(np.divide(-dot, scale, out=np.ones_like(dot), where=scale > 0.0))
    return np.degrees(np.arccos(np.clip(np.stack(cosines, axis=1), -1.0, 1.0)))


def radius_ratios(mesh: TetMesh) -> np.ndarray:
    """Return three times the ratio of inscribed to circumscribed radius of each tet, (m,).

    The ratios are in [0, 1], and 0 for a flat tet. The inscribed radius is ``d / sum A_i`` and the circumscribed radius
    is ``|sum |e_i|^2 n_i| / (2 |d|)``. Here ``d`` is six times the volume. ``A_i`` is twice the area of face i, and
    ``n_i`` the normal vector of this length. ``e_i`` are the edges that begin at corner 0.
    """
    e, n = _area_normals(mesh)
    d = np.abs(np.einsum("ni,ni->n", e[:, 0], n[:, 1]))
    areas = np.linalg.norm(n, axis=2).sum(axis=1)
    circle = np.linalg.norm(np.einsum("nc,nci->ni", np.einsum("nci,nci->nc", e, e), n[:, 1:]), axis=1)
    scale = areas * circle
    return np.divide(6.0 * d * d, scale, out=np.zeros_like(d), where=scale > 0.0)
