"""Stabilization of elements that consist of several tets.

The mean strain of such an element does not resist all displacements of its nodes. The stabilization does:

    E = sum_e mu_e V_e (theta_e/2 q_e + kappa/4 q_e³/(q_e + q_0)),        q_e = 1/V_e sum_t v_t |F_t - F_e|²

over the tets t of each element e, with the tets' deformation gradients F_t and volumes v_t, their mean F_e and sum V_e,
and the shear modulus mu_e. The coefficients theta_e (``THETA``, ``THIN_THETA``), kappa (``KAPPA``) and q_0 (``ONSET``)
are dimensionless. The term with theta is the stabilization of Puso and Solberg ("A stabilized nodally integrated
tetrahedral", IJNME 67, 2006), applied to the differences F_t - F_e. Both terms vanish for affine motion and are
invariant under rotations. The term with kappa is negligible while q_e is far below q_0, and grows as q_e² above q_0.
The term prevents two failures of the quadratic term alone. First, soft tets shaken by a stiff part invert although the
mean F_e of their element does not invert. Second, Mixed FEM needs up to five times the iterations.
``docs/design/elements.md``.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import parallel_kernel
from ..assembly.elements import Elements
from .step_potential import StepPotential

THETA, THIN_THETA = 0.05, 0.5
"""Coefficients of the quadratic term of the stabilization. ``THIN_THETA`` applies where a body is one element thick
(``Elements.is_thin``), since no other term resists bending there. ``THETA`` applies elsewhere. Without the quadratic
term, bars have spurious modes below their first ones.
"""

KAPPA, ONSET = 10.0, 0.1
"""Coefficient of the stabilization's term for large deviations, and the deviation q_0 above which the term acts. The
deviation q_e of an element is the mean of ``|F_t - F_e|²`` over the element's tets t, weighted by volume. F_t is the
deformation gradient of a tet, F_e the deformation gradient of the element. In a bar bent to a radius of three cells,
q_e is about 0.01 in most elements, and at most 0.06.
"""


class Stabilization(StepPotential):
    """Potential that resists differences between the deformation gradients of an element's tets.

    ``shear_modulus`` (e,), Pa: shear modulus of each element.
    """

    def __init__(self, elements: Elements, shear_modulus: np.ndarray) -> None:
        self._elements, self.shear_modulus = elements, shear_modulus
        self._theta = np.where(elements.is_thin, THIN_THETA, THETA)
        self._last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def softened(self, ratio: np.ndarray) -> Stabilization:
        """Return a copy whose quadratic term is multiplied by the ``ratio`` (e,) of each element."""
        other = copy.copy(self)
        other._theta = ratio * self._theta
        return other

    def matrix(self) -> sp.csr_matrix:
        """Return the Hessian of the quadratic term, (n,n) N/m, the same for x, y and z."""
        elements = self._elements
        rows, columns = elements.nodes.vertex_pairs
        values = np.repeat(self._theta * self.shear_modulus, np.diff(elements.nodes.block_starts)) * elements.deviation
        lower = sp.csr_matrix((values, (rows, columns)), shape=(elements.vertex_count, elements.vertex_count))
        # Rows and columns of an element's blocks are in the order of its nodes, not of the vertices.
        return lower + sp.csr_matrix((values * (rows != columns), (columns, rows)), shape=lower.shape)

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""
        return float(self.energies(positions).sum())

    def energies(self, positions: np.ndarray) -> np.ndarray:
        """Return the potential of each element, (e,) J. ``positions`` (n,3), m: vertex positions."""
        q = self._deviations(positions)[1]
        return self.shear_modulus * self._elements.volumes * (0.5 * self._theta * q + 0.25 * KAPPA * q**3 / (q + ONSET))

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N: minus the forces."""
        pull, q = self._deviations(positions)
        factor = self.shear_modulus * self._factors(q)[0]
        return self._elements.nodal_sums(pull, factor)

    def modal_stiffness(self, modes: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the products ``u_i . K u_j`` of each mode i with the modes j >= i.

        u_i are the displacements of mode i. K is the stiffness matrix of an element from the quadratic term. Each array
        has one row per mode j, and one column per element. ``modes`` (k,n,3): displacements of the k modes.
        """
        nodes = self._elements.nodes
        pulls = np.array([self._deviations(u)[0] for u in modes])
        stiffness = self._theta * self.shear_modulus
        for i, u in enumerate(modes):
            products = (u[nodes.vertices] * pulls[i:]).sum(axis=2)
            yield stiffness * np.add.reduceat(products, nodes.starts[:-1], axis=1)

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the positive semi-definite Hessian, N/m, to the element ``blocks`` (b,3,3)."""
        pull, q = self._deviations(positions)
        nodes = self._elements.nodes
        factor, slope = self._factors(q)
        linear = scale * self.shear_modulus * factor
        bend = 2.0 * scale * self.shear_modulus * slope / self._elements.volumes
        _add_stiffness(len(q), nodes.starts, nodes.block_starts, self._elements.deviation, linear, bend, pull, blocks)

    def _factors(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the factor ``2 dE/dq / (mu V)`` of each element, (e,), and the derivative of the factor by q, (e,).

        E is the element's stabilization energy, ``q`` its deviation, mu the shear modulus, V the volume.
        """
        high = q + ONSET
        factor = self._theta + 0.5 * KAPPA * q * q * (2.0 * q + 3.0 * ONSET) / high**2
        return factor, KAPPA * q * (q * q + 3.0 * q * ONSET + 3.0 * ONSET**2) / high**3

    def _deviations(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return half the gradient of ``V_e q_e`` by the nodes of each element, (k,3) m², and the deviations q_e, (e,).

        The deviation q_e is the mean of ``|F_t - F_e|²`` over the tets t of the element, weighted by volume. F_t and
        F_e are the deformation gradients of tet and element, V_e is the volume of the element. The last results are
        kept, since value, gradient and Hessian are asked for at the same positions.
        """
        if self._last is not None and np.array_equal(self._last[0], positions):
            return self._last[1:]
        elements = self._elements
        pull, q = np.empty((len(elements.nodes.vertices), 3)), np.empty(len(elements))
        nodes = elements.nodes
        starts, blocks, vertices = nodes.starts, nodes.block_starts, nodes.vertices
        _measure(len(q), starts, blocks, vertices, elements.N, elements.arms, elements.deviation, positions, pull, q)
        self._last = positions.copy(), pull, q / elements.volumes
        return self._last[1:]


class ReducedStabilization(StepPotential):
    """Quadratic term of the stabilization of elements of several tets, as a function of a subspace's unknowns.

    The term for large deviations is omitted: in a subspace, small strains vary little within an element. All unknowns
    are 0 at rest. ``stiffness`` (r,r): Hessian with respect to the r unknowns of each of the coordinates x, y and z.
    """

    def __init__(self, stiffness: np.ndarray) -> None:
        self.stiffness = stiffness

    def value(self, unknowns: np.ndarray) -> float:
        """Return the potential, J, at the ``unknowns`` (r,3)."""
        return 0.5 * float(np.sum(unknowns * self.gradient(unknowns)))

    def gradient(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the gradient (r,3) of the potential with respect to the ``unknowns`` (r,3)."""
        return self.stiffness @ unknowns

    def add_stiffness(self, _unknowns: np.ndarray, scale: float, matrix: np.ndarray) -> None:
        """Add ``scale`` times the Hessian to the ``matrix`` (3,r,3,r)."""
        for i in range(3):
            matrix[i, :, i, :] += scale * self.stiffness


@parallel_kernel
def _measure(begin, end, starts, block_starts, vertices, N, arms, deviation, x, pull, q):
    most = 0
    for e in range(begin, end):
        most = max(most, starts[e + 1] - starts[e])
    y, F = np.empty((most, 3)), np.empty((3, 3))
    for e in range(begin, end):
        first, last = starts[e], starts[e + 1]
        x0 = x[vertices[first]]
        F[:] = 0.0
        for a in range(first, last):
            pull[a, 0] = pull[a, 1] = pull[a, 2] = 0.0
            for i in range(3):
                for j in range(3):
                    F[i, j] += (x[vertices[a], i] - x0[i]) * N[a, j]
        # Without the affine part of the motion: its energy is zero, and its round-off would exceed all decreases of
        # the merit in parts of 1e14 Pa.
        for a in range(first, last):
            for i in range(3):
                affine = F[i, 0] * arms[a, 0] + F[i, 1] * arms[a, 1] + F[i, 2] * arms[a, 2]
                y[a - first, i] = x[vertices[a], i] - x0[i] - affine
        total = 0.0
        block = block_starts[e]
        for a in range(first, last):
            for b in range(first, a + 1):
                g = deviation[block]
                block += 1
                if a == b:
                    continue
                # Rows sum to zero: only differences of positions matter.
                for i in range(3):
                    d = g * (y[b - first, i] - y[a - first, i])
                    pull[a, i] += d
                    pull[b, i] -= d
                    total += d * (y[a - first, i] - y[b - first, i])
        q[e] = total


@parallel_kernel
def _add_stiffness(begin, end, starts, block_starts, deviation, linear, bend, pull, blocks):
    for e in range(begin, end):
        block = block_starts[e]
        for a in range(starts[e], starts[e + 1]):
            for b in range(starts[e], a + 1):
                for i in range(3):
                    blocks[block, i, i] += linear[e] * deviation[block]
                    for j in range(3):
                        blocks[block, i, j] += bend[e] * pull[a, i] * pull[b, j]
                block += 1
