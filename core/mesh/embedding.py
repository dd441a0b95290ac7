"""Points tied to tetrahedra: barycentric coordinates in the tet that contains them, or in the nearest one.

A point outside every tet is extrapolated from the tet nearest to it by distance; its coordinates are then partly
negative, and an affine motion of the tet still carries it exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ..errors import MeshError
from ..jit import kernel, parallel_kernel
from .bounding_tree import STACK_SIZE, build_tree, next_leaf
from .closest_point import closest_on_triangle
from .tet_mesh import TetMesh

FAR_OUTSIDE = -0.25
"""Barycentric coordinate under which an extrapolated point is badly embedded: it turns about its tet as on a lever."""


@dataclass(frozen=True)
class Embedding:
    """How n points follow the vertices of a tet mesh.

    Attributes
    ----------
    tet_indices : (n,) int32
    barycentric : (n, 4) float64
        Rows sum to 1.
    outside : (n,) bool
        The point lies in no tet and is extrapolated.
    """

    tet_indices: np.ndarray
    barycentric: np.ndarray
    outside: np.ndarray

    @property
    def far_outside(self) -> np.ndarray:
        """(n,) bool: badly embedded, well outside all tets."""
        return self.barycentric.min(axis=1) < FAR_OUTSIDE

    def take(self, points: np.ndarray) -> Embedding:
        """That of some of the points."""
        return Embedding(self.tet_indices[points], self.barycentric[points], self.outside[points])

    def apply(self, tet_positions: np.ndarray, tets: np.ndarray) -> np.ndarray:
        """The points, (n,3), when the tet vertices are at ``tet_positions`` (v,3); same unit."""
        corners = tets[self.tet_indices]
        points = self.barycentric[:, :1] * tet_positions[corners[:, 0]]
        for c in range(1, 4):
            points += self.barycentric[:, c : c + 1] * tet_positions[corners[:, c]]
        return points

    def matrix(self, tets: np.ndarray, n_vertices: int) -> scipy.sparse.csr_matrix:
        """The same linear map as a sparse matrix, (n, n_vertices)."""
        n = len(self.tet_indices)
        rows = np.arange(0, 4 * n + 1, 4)
        columns = tets[self.tet_indices].ravel()
        return scipy.sparse.csr_matrix((self.barycentric.ravel(), columns, rows), shape=(n, n_vertices))


def embed(points: np.ndarray, mesh: TetMesh) -> Embedding:
    """Tie points (n,3), metres, to a tet mesh at rest.

    Where several tets contain a point, or are equally near to it, the lowest index wins. A point counts as inside
    within round-off of the coordinates.

    Raises
    ------
    MeshError
        The mesh has no tets, or a point is not a number.
    """
    points = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    if len(mesh.tets) == 0:
        raise MeshError("There are no tetrahedra to embed in.", "Fill the mesh first.")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise MeshError(f"Point {bad[0]} is not a number.", "Delete it, or undo the edit that made it.")
    rest = mesh.rest_positions
    centre = 0.5 * (rest.min(axis=0) + rest.max(axis=0))
    size = mesh.size
    corners = ((rest - centre) / size)[mesh.tets]
    # Round-off of coordinates that lie far from the origin, in units of the body.
    slack = 1e-12 + 4.0 * np.finfo(float).eps * float(np.abs(rest).max()) / size
    tree = build_tree(corners.min(axis=1) - slack, corners.max(axis=1) + slack)
    n = len(points)
    found = Embedding(np.empty(n, dtype=np.int32), np.empty((n, 4)), np.zeros(n, dtype=bool))
    places = found.tet_indices, found.barycentric, found.outside
    _embed(n, (points - centre) / size, corners, *tree, slack, *places)
    return found


@kernel
def _barycentric(t, p, b):
    """Write p's barycentric coordinates in a tet into b (4,); returns the tet's smallest height (0: flat)."""
    x0, x1, x2 = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[1, 2] - t[0, 2]
    y0, y1, y2 = t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2]
    z0, z1, z2 = t[3, 0] - t[0, 0], t[3, 1] - t[0, 1], t[3, 2] - t[0, 2]
    r0, r1, r2 = p[0] - t[0, 0], p[1] - t[0, 1], p[2] - t[0, 2]
    u0, u1, u2 = y1 * z2 - y2 * z1, y2 * z0 - y0 * z2, y0 * z1 - y1 * z0
    v0, v1, v2 = z1 * x2 - z2 * x1, z2 * x0 - z0 * x2, z0 * x1 - z1 * x0
    w0, w1, w2 = x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0
    determinant = x0 * u0 + x1 * u1 + x2 * u2
    if determinant == 0.0:
        for c in range(4):
            b[c] = -np.inf
        return 0.0
    b[1] = (u0 * r0 + u1 * r1 + u2 * r2) / determinant
    b[2] = (v0 * r0 + v1 * r1 + v2 * r2) / determinant
    b[3] = (w0 * r0 + w1 * r1 + w2 * r2) / determinant
    b[0] = 1.0 - b[1] - b[2] - b[3]
    s0, s1, s2 = u0 + v0 + w0, u1 + v1 + w1, u2 + v2 + w2
    largest = max(
        max(u0 * u0 + u1 * u1 + u2 * u2, v0 * v0 + v1 * v1 + v2 * v2),
        max(w0 * w0 + w1 * w1 + w2 * w2, s0 * s0 + s1 * s1 + s2 * s2),
    )
    return abs(determinant) / np.sqrt(largest)


@kernel
def _containing_tet(p, corners, order, start, end, child, low, high, slack, b):
    """Lowest index of the tets that contain p, or -1; its coordinates are left in b."""
    best = -1
    trial = np.empty(4)
    stack = np.zeros(STACK_SIZE, dtype=np.int32)
    leaf, depth = next_leaf(stack, 1, p, 0.0, child, low, high)
    while leaf >= 0:
        for k in range(start[leaf], end[leaf]):
            tet = order[k]
            if best >= 0 and tet > best:
                continue
            height = _barycentric(corners[tet], p, trial)
            least = min(min(trial[0], trial[1]), min(trial[2], trial[3]))
            if height > 0.0 and least * height >= -slack:
                best = tet
                for c in range(4):
                    b[c] = trial[c]
        leaf, depth = next_leaf(stack, depth, p, 0.0, child, low, high)
    return best


@kernel
def _nearest_tet(p, corners, order, start, end, child, low, high):
    """The tet nearest to a point outside all of them; flat tets do not count."""
    best, best2 = -1, np.inf
    trial, w = np.empty(4), np.empty(3)
    stack = np.zeros(STACK_SIZE, dtype=np.int32)
    leaf, depth = next_leaf(stack, 1, p, best2, child, low, high)
    while leaf >= 0:
        for k in range(start[leaf], end[leaf]):
            t = corners[order[k]]
            d2 = min(
                min(closest_on_triangle(t[1], t[2], t[3], p, w), closest_on_triangle(t[0], t[2], t[3], p, w)),
                min(closest_on_triangle(t[0], t[1], t[3], p, w), closest_on_triangle(t[0], t[1], t[2], p, w)),
            )
            if (d2 < best2 or (d2 == best2 and order[k] < best)) and _barycentric(t, p, trial) > 0.0:
                best, best2 = order[k], d2
        leaf, depth = next_leaf(stack, depth, p, best2, child, low, high)
    return best


@parallel_kernel
def _embed(first, last, points, corners, order, start, end, child, low, high, slack, tets, barycentric, outside):
    """Containing or else nearest tet of each point."""
    for i in range(first, last):
        p = points[i]
        tet = _containing_tet(p, corners, order, start, end, child, low, high, slack, barycentric[i])
        if tet < 0:
            outside[i] = True
            tet = _nearest_tet(p, corners, order, start, end, child, low, high)
            _barycentric(corners[tet], p, barycentric[i])
        tets[i] = tet
