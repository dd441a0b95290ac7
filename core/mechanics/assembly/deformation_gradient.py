"""Gradients of linear shape functions, deformation gradients, and nodal forces from stresses.

With shape gradients ``N_a`` (constant per element), ``F = sum_a x_a N_a^T`` and the nodal force of a stress P is
``P N_a`` times the volume. Nodal sums have a fixed order, so results are bitwise reproducible on any number of threads.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import parallel_kernel


def shape_gradients(rest_positions: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Return the gradients (m,4,3), 1/m, of the four barycentric coordinates of each tet at rest."""
    p = rest_positions[tets]
    edges = (p[:, 1:] - p[:, :1]).transpose(0, 2, 1)
    last = np.linalg.inv(edges)
    return np.ascontiguousarray(np.concatenate([-last.sum(axis=1, keepdims=True), last], axis=1))


def deformation_gradients(positions: np.ndarray, starts: np.ndarray, vertices: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Return the deformation gradient (e,3,3) of each element.

    ``positions`` (n,3), m: vertex positions; ``starts`` (e+1,), ``vertices`` (k,): nodes of the elements as in
    :class:`.elements.ElementNodes`; ``N`` (k,3), 1/m: shape gradients of the nodes.
    """
    F = np.empty((len(starts) - 1, 3, 3))
    _deformation_gradients(len(F), positions, starts, vertices, N, F)
    return F


@parallel_kernel
def _deformation_gradients(begin, end, positions, starts, vertices, N, F):
    for e in range(begin, end):
        first = starts[e]
        for i in range(3):
            # Differences to the first vertex avoid cancellation far from the origin; N sums to zero.
            x0 = positions[vertices[first], i]
            x = y = z = 0.0
            for a in range(first + 1, starts[e + 1]):
                d = positions[vertices[a], i] - x0
                x += d * N[a, 0]
                y += d * N[a, 1]
                z += d * N[a, 2]
            F[e, i, 0], F[e, i, 1], F[e, i, 2] = x, y, z


class NodalGather:
    """Assembly of nodal forces from all elements, in a fixed order of summation.

    ``starts`` (e+1,), ``vertices`` (k,): nodes of the elements as in :class:`.elements.ElementNodes`.
    """

    def __init__(self, starts: np.ndarray, vertices: np.ndarray, vertex_count: int) -> None:
        self._nodes = np.argsort(vertices, kind="stable").astype(np.int64)
        self._elements = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[self._nodes]
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(vertices, minlength=vertex_count))]).astype(np.int64)

    def stress_forces(self, P: np.ndarray, N: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the gradient of an elastic energy by the vertex positions, ``sum_e weights_e P_e N_ea``.

        The result is (n,3), N. ``P`` (e,3,3), Pa: first Piola-Kirchhoff stresses. ``N`` (k,3), 1/m: shape gradients.
        ``weights`` (e,), m³: volumes.
        """
        forces = np.zeros((len(self._starts) - 1, 3))
        _gather_stress(len(forces), self._starts, self._nodes, self._elements, P, N, weights, forces)
        return forces

    def nodal_sums(self, vectors: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the sum of the nodes' ``vectors`` (k,3) at each vertex, (n,3), times the ``weights`` (e,) of their
        elements.
        """
        out = np.zeros((len(self._starts) - 1, 3))
        _gather_vectors(len(out), self._starts, self._nodes, self._elements, vectors, weights, out)
        return out


@parallel_kernel
def _gather_vectors(begin, end, starts, nodes, elements, vectors, weights, out):
    for v in range(begin, end):
        for k in range(starts[v], starts[v + 1]):
            a, e = nodes[k], elements[k]
            for i in range(3):
                out[v, i] += weights[e] * vectors[a, i]


@parallel_kernel
def _gather_stress(begin, end, starts, nodes, elements, P, N, weights, out):
    for v in range(begin, end):
        for k in range(starts[v], starts[v + 1]):
            a, e = nodes[k], elements[k]
            for i in range(3):
                out[v, i] += weights[e] * (P[e, i, 0] * N[a, 0] + P[e, i, 1] * N[a, 1] + P[e, i, 2] * N[a, 2])
