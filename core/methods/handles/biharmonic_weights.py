"""Sparse weights of handles from localised biharmonic solves ([SMS25] Sec. 3.5).

Each cluster of the partition has one weight. Its subdomain T consists of the cluster and of the clusters that share a
face with it. The weight solves ``K u = 0`` in T (Eq. 8) with ``K = L D^-1 L``: L is the Laplacian weighted by the
stiffness, D the lumped volumes. Dirichlet conditions are

1. u = 1 at the vertex nearest to the cluster's centre,
2. u = 0 at the centres of the other clusters in T,
3. u = 0 on the boundary of T inside the body,
4. u = 0 at pinned vertices (Sec. 3.5.1).

Negative values are clipped. The weights are divided by their sum (Eqs. 9, 11), to which pinned vertices contribute a
weight of their own. Vertices outside every support, which the construction permits, belong to the handle of their
cluster alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...geometry.mesh.topology import face_neighbours
from ...mechanics.assembly.deformation_gradient import shape_gradients
from ...numerics.linear_solvers.factorized import factorized
from ...numerics.linear_solvers.registry import fastest

STIFFEST = 1e4
"""Largest stiffness in the Laplacian, relative to the softest tet. K has the square of this ratio."""

UNCOVERED = 1e-6
"""Sum of the clipped solutions below which a vertex counts as outside every support."""


class HandleWeights(NamedTuple):
    """Weights of m handles at n vertices.

    Attributes
    ----------
    weights : (n,m) sparse; the rows sum to 1, or to 1 minus ``pinned``
    pinned : (n,) weight of the pinned vertices, 1 there
    centres : (m,) vertex of each handle, at which its weight is 1
    """

    weights: sp.csr_matrix
    pinned: np.ndarray
    centres: np.ndarray


class _Subdomain(NamedTuple):
    """Biharmonic operator K on a part of a body, and its vertices.

    ``vertices`` (v,): vertices of the part. ``edge`` (b,): those on its boundary inside the body.
    """

    vertices: np.ndarray
    edge: np.ndarray
    K: sp.csr_matrix

    def solve(self, values: np.ndarray, fixed: np.ndarray) -> np.ndarray:
        """Return the solution (v,) of ``K u = 0`` with u = ``values`` (v,) where ``fixed`` (v,) is True."""
        u, free, held = values.copy(), np.flatnonzero(~fixed), np.flatnonzero(fixed)
        if len(free):
            rows = self.K[free]
            factor = factorized(rows[:, free].tocsc(), fastest())
            u[free] = factor.solve(-(rows[:, held] @ values[held]))
        return u


class _Operators:
    """Builder of the biharmonic operators on parts of a body."""

    def __init__(self, rest_positions: np.ndarray, tets: np.ndarray, stiffness: np.ndarray) -> None:
        self._tets, self._beside = tets, face_neighbours(tets)
        N = shape_gradients(rest_positions, tets)
        p = rest_positions[tets]
        self._volumes = np.abs(np.linalg.det(p[:, 1:] - p[:, :1])) / 6.0
        E = np.minimum(stiffness, STIFFEST * stiffness.min())
        self._laplacian = (E * self._volumes)[:, None, None] * (N @ N.transpose(0, 2, 1))

    def on(self, inside: np.ndarray) -> _Subdomain:
        """Return the operator on the tets of the mask ``inside`` (m,)."""
        tets = self._tets[inside]
        vertices, local = np.unique(tets, return_inverse=True)
        local = local.reshape(tets.shape)
        blocks = self._laplacian[inside]
        rows, columns = np.repeat(local, 4, axis=1), np.tile(local, (1, 4))
        shape = (len(vertices), len(vertices))
        L = sp.csr_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=shape)
        # Relative to its own scale, so that K is well scaled for any unit of length.
        L.data /= np.abs(L.data).max()
        D = np.bincount(local.ravel(), np.repeat(self._volumes[inside], 4))
        beside = self._beside[inside]
        tet, face = np.nonzero((beside >= 0) & ~inside[beside])
        corners = np.arange(4)[None, :] != face[:, None]
        edge = np.unique(local[tet][corners])
        return _Subdomain(vertices, edge, (L @ sp.diags(D.mean() / D) @ L).tocsr())


def biharmonic_weights(
    rest_positions: np.ndarray, tets: np.ndarray, stiffness: np.ndarray, labels: np.ndarray, pinned: np.ndarray
) -> HandleWeights:
    """Return the weights of the handles of a partition.

    Parameters
    ----------
    rest_positions : (n,3) m; tets : (m,4)
    stiffness : (m,) relative to the softest tet
    labels : (m,) cluster of each tet, from :func:`.partition.partition`
    pinned : (p,) vertices with prescribed positions

    A cluster of pinned vertices alone has no handle.
    """
    n, count = len(rest_positions), int(labels.max()) + 1
    own = _clusters_of_vertices(tets, labels, n)
    centres = _central_vertices(rest_positions, tets, labels, own, pinned)
    near, is_pinned = _adjacent_clusters(tets, labels, count), np.zeros(n, dtype=bool)
    is_pinned[pinned] = True
    operators, columns = _Operators(rest_positions, tets, stiffness), []
    is_centre = np.zeros(n, dtype=bool)
    is_centre[centres[centres >= 0]] = True
    for cluster, centre in enumerate(centres):
        if centre >= 0:
            part = operators.on(near[cluster][labels])
            columns.append(_clipped(part, part.vertices == centre, is_centre | is_pinned, n))
    held = np.zeros(n)
    if len(pinned):
        touching = np.zeros(count, dtype=bool)
        touching[labels[is_pinned[tets].any(axis=1)]] = True
        part = operators.on(near[touching].any(axis=0)[labels])
        held = _clipped(part, is_pinned[part.vertices], is_centre, n).toarray().ravel()
    kept = centres[centres >= 0]
    raw = sp.hstack([sp.csc_matrix((n, 0)), *columns], format="csr") if columns else sp.csr_matrix((n, 0))
    return _normalised(raw, held, is_pinned, kept, _fallback(rest_positions, own, centres))


def _clipped(part: _Subdomain, one: np.ndarray, zero: np.ndarray, n: int) -> sp.csc_matrix:
    """Return the non-negative values (n,1) of the biharmonic function of a subdomain.

    ``one`` (v,): vertices of the subdomain at which the function is 1. ``zero`` (n,): vertices at which it is 0, beside
    the inner boundary.
    """
    fixed = one | zero[part.vertices]
    fixed[part.edge] = True
    u = np.clip(part.solve(one.astype(np.float64), fixed), 0.0, None)
    present = np.flatnonzero(u > 0.0)
    return sp.csc_matrix((u[present], (part.vertices[present], np.zeros(len(present), dtype=int))), shape=(n, 1))


def _normalised(
    raw: sp.csr_matrix, held: np.ndarray, is_pinned: np.ndarray, centres: np.ndarray, fallback: np.ndarray
) -> HandleWeights:
    """Return the clipped solutions ``raw`` (n,m) and ``held`` (n,) divided by their sum (Eqs. 9, 11)."""
    whole = np.asarray(raw.sum(axis=1)).ravel() + held
    lost = np.flatnonzero((whole < UNCOVERED) & ~is_pinned)
    share = np.zeros(len(whole))
    np.divide(1.0, whole, out=share, where=whole >= UNCOVERED)
    n, m = raw.shape
    lost = lost if m else lost[:0]
    given = sp.csr_matrix((np.ones(len(lost)), (lost, fallback[lost])), shape=(n, m))
    weights = (sp.diags(share) @ raw + given).tocsr()
    weights.sum_duplicates()
    weights.eliminate_zeros()
    return HandleWeights(weights, share * held, centres)


def _clusters_of_vertices(tets: np.ndarray, labels: np.ndarray, n: int) -> np.ndarray:
    """Return the cluster (n,) to which most tets of each vertex belong."""
    count = int(labels.max()) + 1
    shared = sp.csr_matrix((np.ones(tets.size), (tets.ravel(), np.repeat(labels, 4))), shape=(n, count))
    return np.asarray(shared.argmax(axis=1)).ravel()


def _central_vertices(
    rest_positions: np.ndarray, tets: np.ndarray, labels: np.ndarray, own: np.ndarray, pinned: np.ndarray
) -> np.ndarray:
    """Return the vertex (m,) of each cluster that is nearest to the cluster's centre of volume; -1 without one.

    Candidates are the vertices of ``own`` (n,) clusters that are not pinned. Those inside the cluster, which no other
    cluster touches, come first.
    """
    count = int(labels.max()) + 1
    p = rest_positions[tets]
    volumes = np.abs(np.linalg.det(p[:, 1:] - p[:, :1]))
    weighted = volumes[:, None] * p.mean(axis=1)
    mean = np.stack([np.bincount(labels, weighted[:, i], count) for i in range(3)], axis=1)
    mean /= np.bincount(labels, volumes, count)[:, None]
    outer = np.zeros(len(own), dtype=bool)
    outer[tets[own[tets] != labels[:, None]]] = True
    away = np.sum((rest_positions - mean[own]) ** 2, axis=1)
    order = np.lexsort((away, outer, own))
    order = order[~np.isin(order, pinned)]
    at = np.searchsorted(own[order], np.arange(count))
    found = np.full(count, -1, dtype=np.int64)
    present = np.isin(np.arange(count), own[order])
    found[present] = order[at[present]]
    return found


def _adjacent_clusters(tets: np.ndarray, labels: np.ndarray, count: int) -> np.ndarray:
    """Return the mask (m,m) of the clusters that share a face with each cluster, and of the cluster itself."""
    beside = face_neighbours(tets)
    tet, face = np.nonzero(beside >= 0)
    near = np.eye(count, dtype=bool)
    near[labels[tet], labels[beside[tet, face]]] = True
    return near


def _fallback(rest_positions: np.ndarray, own: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the handle (n,) of each vertex's cluster, or the handle of the nearest centre if the cluster has none."""
    kept = np.flatnonzero(centres >= 0)
    if len(kept) == 0:
        return np.zeros(len(own), dtype=np.int64)
    number = np.full(len(centres), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    found = number[own]
    for vertex in np.flatnonzero(found < 0):
        away = np.sum((rest_positions[centres[kept]] - rest_positions[vertex]) ** 2, axis=1)
        found[vertex] = int(np.argmin(away))
    return found
