"""Linear tetrahedra: shape gradients, deformation gradients, and nodal forces from stresses.

With shape gradients ``N_a`` (constant per tet), ``F = sum_a x_a N_a^T`` and the nodal force of a stress P is ``P N_a``
times the volume. Nodal sums have a fixed order, so results are bitwise reproducible on any number of threads.
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


def deformation_gradients(positions: np.ndarray, tets: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Return the deformation gradient (m,3,3) per tet of vertex ``positions`` (n,3); ``N`` (m,4,3), shape gradients."""
    F = np.empty((len(tets), 3, 3))
    _deformation_gradients(len(tets), positions, tets, N, F)
    return F


@parallel_kernel
def _deformation_gradients(begin, end, positions, tets, N, F):
    for e in range(begin, end):
        for i in range(3):
            # Differences to the first vertex avoid cancellation far from the origin; N sums to zero.
            x0 = positions[tets[e, 0], i]
            d1 = positions[tets[e, 1], i] - x0
            d2 = positions[tets[e, 2], i] - x0
            d3 = positions[tets[e, 3], i] - x0
            for j in range(3):
                F[e, i, j] = d1 * N[e, 1, j] + d2 * N[e, 2, j] + d3 * N[e, 3, j]


class NodalGather:
    """Assembly of nodal forces: sums the forces of all tets at each vertex, in a fixed order."""

    def __init__(self, tets: np.ndarray, vertex_count: int) -> None:
        flat = tets.ravel()
        self.slots = np.argsort(flat, kind="stable").astype(np.int64)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=vertex_count))]).astype(np.int64)

    def stress_forces(self, P: np.ndarray, N: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the gradient (n,3), N, of an elastic energy by the vertex positions: ``sum_e weights_e P_e N_ea``.

        ``P`` (m,3,3), Pa: first Piola-Kirchhoff stresses; ``N`` (m,4,3), 1/m: shape gradients; ``weights`` (m,), m³:
        volumes.
        """
        forces = np.zeros((len(self.starts) - 1, 3))
        _gather_stress(len(forces), self.starts, self.slots, P, N, weights, forces)
        return forces


@parallel_kernel
def _gather_stress(begin, end, starts, slots, P, N, weights, out):
    for v in range(begin, end):
        for k in range(starts[v], starts[v + 1]):
            e = slots[k] // 4
            a = slots[k] % 4
            for i in range(3):
                out[v, i] += weights[e] * (P[e, i, 0] * N[e, a, 0] + P[e, i, 1] * N[e, a, 1] + P[e, i, 2] * N[e, a, 2])
