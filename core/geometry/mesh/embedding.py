"""Embedding of points in tetrahedra: barycentric coordinates in the containing or nearest tet.

A point outside all tets is extrapolated from the nearest tet. Some of its barycentric coordinates are then negative.
The point still follows an affine motion of that tet exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse

from ...foundation.errors import MeshError
from ...foundation.kernels.jit import inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import cross, dot, minus, plus
from .bounding_tree import STACK_SIZE, build_tree, next_leaf
from .closest_point import closest_on_triangle
from .tet_mesh import TetMesh

FAR_OUTSIDE = -0.25
"""Barycentric coordinate below which an embedding is bad. Small rotations of the tet then move the point far."""


@dataclass(frozen=True)
class Embedding:
    """Embedding of n points in a tet mesh.

    Attributes
    ----------
    tet_indices : (n,) int32
        Index of the tet that each point follows: one that contains it, else the nearest.
    barycentric : (n, 4) float64
        Barycentric coordinates of each point in its tet. Rows sum to 1.
    outside : (n,) bool
        True if the point lies in no tet and is extrapolated.
    """

    tet_indices: np.ndarray
    barycentric: np.ndarray
    outside: np.ndarray

    @property
    def far_outside(self) -> np.ndarray:
        """Mask (n,) bool of the points well outside all tets.

        Such a point has a barycentric coordinate below ``FAR_OUTSIDE``.
        """
        return self.barycentric.min(axis=1) < FAR_OUTSIDE

    def take(self, points: np.ndarray) -> Embedding:
        """Return the embedding of a subset of the points.

        ``points``: indices, or a mask (n,).
        """
        return Embedding(self.tet_indices[points], self.barycentric[points], self.outside[points])

    def in_whole(self, mesh: TetMesh) -> Embedding:
        """Return the embedding of the points in ``mesh.whole``."""
        return replace(self, tet_indices=mesh.origins[self.tet_indices])

    def pieces(self, mesh: TetMesh) -> np.ndarray:
        """Return the piece of the ``mesh`` that each point belongs to, (n,)."""
        none = np.zeros(len(self.tet_indices), dtype=np.int64)
        return none if mesh.split is None else mesh.split.pieces[mesh.tets[self.tet_indices, 0]]

    def shifted(self, first: int) -> Embedding:
        """Return the embedding in a merged mesh in which the tets begin at the index ``first``."""
        return replace(self, tet_indices=self.tet_indices + first)

    @classmethod
    def joined(cls, several: Sequence[Embedding]) -> Embedding:
        """Return one embedding of the points of several embeddings in one mesh."""
        names = "tet_indices", "barycentric", "outside"
        return cls(*(np.concatenate([getattr(each, name) for each in several]) for name in names))

    def apply(self, tet_positions: np.ndarray, tets: np.ndarray) -> np.ndarray:
        """Return the positions (n,3) of the embedded points.

        ``tet_positions`` (v,3): positions of the tet vertices.
        ``tets`` (m,4): vertex indices.
        """
        X = np.ascontiguousarray(tet_positions, dtype=np.float64)
        points = np.empty((len(self.tet_indices), X.shape[1]))
        _interpolate(len(points), self.tet_indices, self.barycentric, X, tets, points)
        return points

    def smoothed(self, of_tets: np.ndarray, tets: np.ndarray, volumes: np.ndarray) -> np.ndarray:
        """Return values of tets, interpolated to the embedded points, (n,).

        Tet vertices get the mean of the values of their tets, weighted by volume. Values that are not finite are left
        out; a vertex without a finite value gets 0. Points outside all tets are not extrapolated.

        ``of_tets`` (m,): value of each tet.
        ``tets`` (m,4): vertex indices.
        ``volumes`` (m,): weight of each tet.
        """
        is_finite = np.isfinite(of_tets)
        weights = np.where(is_finite, volumes, 0.0)
        total = np.bincount(tets.ravel(), np.repeat(weights, 4))
        sums = np.bincount(tets.ravel(), np.repeat(weights * np.where(is_finite, of_tets, 0.0), 4))
        means = sums / np.where(total > 0.0, total, 1.0)
        inside = np.maximum(self.barycentric, 0.0)
        return (means[tets[self.tet_indices]] * inside).sum(axis=1) / inside.sum(axis=1)

    @classmethod
    def of_rows(cls, rows: scipy.sparse.csr_matrix, tets: np.ndarray) -> Embedding:
        """Return the embedding of n points from a matrix of interpolation weights.

        All vertices with a weight in a row must belong to a single tet. If several tets qualify, the first is taken.
        Raises ValueError if no tet qualifies.

        ``rows`` (n,v): row i holds the weights of the v vertices for point i.
        ``tets`` (m,4): vertex indices.
        """
        m = len(tets)
        corners = scipy.sparse.csr_matrix(
            (np.ones(tets.size), tets.ravel(), np.arange(0, tets.size + 1, 4)), shape=(m, rows.shape[1])
        )
        used = rows.copy()
        used.data = np.ones(len(rows.data))
        shared = (used @ corners.T).tocoo()
        whole = shared.data == np.diff(rows.indptr)[shared.row]
        first = np.full(rows.shape[0], m, dtype=np.int32)
        np.minimum.at(first, shared.row[whole], shared.col[whole].astype(np.int32))
        if (first == m).any():
            raise ValueError("no tet has all vertices of a row")
        point = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        corner = (tets[first[point]] == rows.indices[:, None]).argmax(axis=1)
        weights = np.zeros((rows.shape[0], 4))
        weights[point, corner] = rows.data
        return cls(first, weights, np.zeros(len(first), dtype=bool))

    def matrix(self, tets: np.ndarray, n_vertices: int) -> scipy.sparse.csr_matrix:
        """Return the sparse matrix (n,n_vertices) that interpolates vertex values to the embedded points.

        ``tets`` (m,4): vertex indices.
        """
        n = len(self.tet_indices)
        rows = np.arange(0, 4 * n + 1, 4)
        columns = tets[self.tet_indices].ravel()
        return scipy.sparse.csr_matrix((self.barycentric.ravel(), columns, rows), shape=(n, n_vertices))


def embed_in_pieces(points: np.ndarray, pieces: np.ndarray, mesh: TetMesh) -> Embedding:
    """Embed points in a tet mesh at rest, each in the tets of its own piece.

    ``points`` (n,3), m. ``pieces`` (n,): piece of each point, if the mesh is split.
    """
    if mesh.split is None:
        return embed(points, mesh)
    of_tets = mesh.split.pieces[mesh.tets[:, 0]]
    found = Embedding(np.empty(len(points), np.int32), np.empty((len(points), 4)), np.empty(len(points), dtype=bool))
    for piece in np.unique(pieces):
        own, tets = np.flatnonzero(pieces == piece), np.flatnonzero(of_tets == piece)
        at = embed(points[own], TetMesh(mesh.rest_positions, mesh.tets[tets]))
        found.tet_indices[own], found.barycentric[own] = tets[at.tet_indices], at.barycentric
        found.outside[own] = at.outside
    return found


def embed(points: np.ndarray, mesh: TetMesh) -> Embedding:
    """Embed points in a tet mesh at rest.

    If several tets contain a point, or are equally near to it, the tet of the lowest index is taken. A point outside a
    tet by no more than the round-off of coordinates counts as inside.

    ``points`` (n,3), m.

    Raises
    ------
    MeshError
        The mesh has no tets, or a point has a coordinate that is not finite.
    """
    points = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    if len(mesh.tets) == 0:
        raise MeshError("There are no tetrahedra to embed in.", "Fill the surface with tetrahedra first.")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise MeshError(
            f"Point {bad[0]} has a position that is not a number.", "Delete it, or undo the edit that made it."
        )
    rest = mesh.rest_positions
    centre = 0.5 * (rest.min(axis=0) + rest.max(axis=0))
    size = mesh.size
    corners = ((rest - centre) / size)[mesh.tets]
    # The round-off of coordinates far from the origin, as a fraction of the body's size.
    slack = 1e-12 + 4.0 * np.finfo(float).eps * float(np.abs(rest).max()) / size
    tree = build_tree(corners.min(axis=1) - slack, corners.max(axis=1) + slack)
    n = len(points)
    found = Embedding(np.empty(n, dtype=np.int32), np.empty((n, 4)), np.zeros(n, dtype=bool))
    results = found.tet_indices, found.barycentric, found.outside
    scaled = (points - centre) / size
    _embed(n, scaled, corners, tree, slack, *results)
    outside = np.flatnonzero(found.outside)
    if len(outside):  # rare with a lattice: a first bake usually need not compile this kernel
        _extrapolate(len(outside), outside, scaled, corners, tree, *results[:2])
    return found


@inner_kernel
def _barycentric(t, p, b):
    """Write the barycentric coordinates of p in tet t (4,3) to b (4,), and return the tet's least height."""
    x, y, z, r = minus(t[1], t[0]), minus(t[2], t[0]), minus(t[3], t[0]), minus(p, t[0])
    u, v, w = cross(y, z), cross(z, x), cross(x, y)
    determinant = dot(x, u)
    if determinant == 0.0:
        b[:] = -np.inf
        return 0.0
    b[1], b[2], b[3] = dot(u, r) / determinant, dot(v, r) / determinant, dot(w, r) / determinant
    b[0] = 1.0 - b[1] - b[2] - b[3]
    s = plus(plus(u, v), w)
    return abs(determinant) / np.sqrt(max(max(dot(u, u), dot(v, v)), max(dot(w, w), dot(s, s))))


@inner_kernel
def _containing_tet(p, corners, tree, slack, b):
    """Return the lowest index of the tets that contain point p, or -1, and write its coordinates to b (4,)."""
    best = -1
    trial = np.empty(4)
    stack = np.zeros(STACK_SIZE, dtype=np.int32)
    leaf, depth = next_leaf(stack, 1, p, 0.0, tree)
    while leaf >= 0:
        for k in range(tree.start[leaf], tree.end[leaf]):
            tet = tree.order[k]
            if best >= 0 and tet > best:
                continue
            height = _barycentric(corners[tet], p, trial)
            least = min(min(trial[0], trial[1]), min(trial[2], trial[3]))
            if height > 0.0 and least * height >= -slack:
                best = tet
                for c in range(4):
                    b[c] = trial[c]
        leaf, depth = next_leaf(stack, depth, p, 0.0, tree)
    return best


@inner_kernel
def _nearest_tet(p, corners, tree):
    """Return the index of the tet nearest to a point p outside all tets."""
    best, best2 = -1, np.inf
    trial, w = np.empty(4), np.empty(3)
    stack = np.zeros(STACK_SIZE, dtype=np.int32)
    leaf, depth = next_leaf(stack, 1, p, best2, tree)
    while leaf >= 0:
        for k in range(tree.start[leaf], tree.end[leaf]):
            t = corners[tree.order[k]]
            d2 = min(
                min(closest_on_triangle(t[1], t[2], t[3], p, w), closest_on_triangle(t[0], t[2], t[3], p, w)),
                min(closest_on_triangle(t[0], t[1], t[3], p, w), closest_on_triangle(t[0], t[1], t[2], p, w)),
            )
            if (d2 < best2 or (d2 == best2 and tree.order[k] < best)) and _barycentric(t, p, trial) > 0.0:
                best, best2 = tree.order[k], d2
        leaf, depth = next_leaf(stack, depth, p, best2, tree)
    return best


@parallel_kernel
def _interpolate(first, last, tet_indices, barycentric, values, tets, points):
    for i in range(first, last):
        a, b, c, d = tets[tet_indices[i]]
        s, t, u, v = barycentric[i]
        for k in range(values.shape[1]):
            points[i, k] = s * values[a, k] + t * values[b, k] + u * values[c, k] + v * values[d, k]


@parallel_kernel
def _embed(first, last, points, corners, tree, slack, tets, barycentric, outside):
    """Write the containing tet of each point (-1 if none), its barycentric coordinates (n,4) and ``outside`` (n,)."""
    for i in range(first, last):
        tets[i] = _containing_tet(points[i], corners, tree, slack, barycentric[i])
        outside[i] = tets[i] < 0


@parallel_kernel
def _extrapolate(first, last, outside, points, corners, tree, tets, barycentric):
    """Write the nearest tet and the barycentric coordinates (n,4) of the points with indices ``outside``."""
    for k in range(first, last):
        i = outside[k]
        tets[i] = _nearest_tet(points[i], corners, tree)
        _barycentric(corners[tets[i]], points[i], barycentric[i])
