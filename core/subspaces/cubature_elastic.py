"""The elastic potential of a body in a subspace, integrated by cubature ([SubMFEM23] Eqs. 2, 3).

The coordinates share one basis, so its stiffness falls into blocks of coordinates i, p:

    K_ip = sum_c G_c^T Q_c,ip G_c         with Q_c,ip (3,3) the second derivatives of tet c by rows i and p of F

six of them by symmetry, and all of them one product of matrices, with a third of the arithmetic of ``B^T Q B``. The
second derivatives come from the kernels that make element matrices: a tet whose corners 2, 3, 4 have the shape
gradients e_1, e_2, e_3 has them as its blocks.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dgemm

from ..energies.kinematics import Deformation
from ..forces.elastic import ElasticDensity, ElasticPotential
from ..jit import inlined, parallel_kernel

CHUNK = 96
"""Cubature points that are multiplied and summed at once: they stay in the processor's cache between the two."""

UNIT_GRADIENTS = np.array([[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
"""Shape gradients of the tet whose corners are the origin and the ends of the axes."""


class CubatureElastic(ElasticDensity):
    """``sum_c w_c psi_c(F_c(U))`` with ``F_c = I + U^T G_c``: G holds the basis's gradients at the cubature tets.

    Parameters
    ----------
    elastic : ElasticPotential of the body
    basis : (n,r) scalar basis, ``x = X + basis U``
    tets : (c,) chosen tets; weights : (c,) m³

    ``N`` (c,4,3) and ``masses`` (c,) are what element kernels are given for :meth:`assemble`: unit shape gradients, and
    zeros, for the mass is the basis's.
    """

    def __init__(self, elastic: ElasticPotential, basis: np.ndarray, tets: np.ndarray, weights: np.ndarray) -> None:
        super().__init__(weights, elastic.energies, elastic.energy_of_tet[tets], elastic.parameters[tets])
        corners = basis[elastic.tets[tets]]
        self.G = np.ascontiguousarray(np.einsum("caj,car->cjr", elastic.N[tets], corners)).reshape(3 * len(tets), -1)
        self.N, self.masses = np.tile(UNIT_GRADIENTS, (len(tets), 1, 1)), np.zeros(len(tets))
        self._products = np.empty((3 * min(CHUNK, len(tets)), 6, self.G.shape[1]))

    def gradients(self, U: np.ndarray) -> np.ndarray:
        """Deformation gradients of unknowns (r,3), (c,3,3)."""
        return np.eye(3) + self.change(U)

    def change(self, dU: np.ndarray) -> np.ndarray:
        """What changes (r,3) of the unknowns do to the deformation gradients, (c,3,3)."""
        # SciPy's BLAS: the NumPy that comes with Blender may bring one that is older than the processor.
        products = dgemm(1.0, dU.T, self.G.T)
        return np.ascontiguousarray(products.T.reshape(-1, 3, 3).transpose(0, 2, 1))

    def deformation(self, U: np.ndarray, near: Deformation | None = None) -> Deformation:
        """Deformation gradients of unknowns (r,3), decomposed; quicker with a deformation that is ``near``."""
        return Deformation.of(self.gradients(U), None if near is None else near.V)

    def nodal(self, stress: np.ndarray) -> np.ndarray:
        """Gradient by the unknowns of stresses (c,3,3), (r,3), N times the unit of the basis."""
        weighted = (self.weights[:, None, None] * stress).transpose(0, 2, 1).reshape(-1, 3)
        return dgemm(1.0, weighted.T, self.G.T, trans_b=True).T

    def assemble(self, blocks: np.ndarray, matrix: np.ndarray) -> None:
        """The stiffness into the lower blocks of a matrix (3,r,3,r), from second derivatives by F in the blocks
        (c,10,3,3) of tets with unit shape gradients.
        """
        r = self.G.shape[1]
        total = np.zeros((6 * r, r), order="F")
        for begin in range(0, len(blocks), CHUNK):
            points = slice(begin, begin + CHUNK)
            some, G = blocks[points], self.G[3 * begin : 3 * (begin + CHUNK)]
            products = self._products[: len(G)]
            _multiply(len(some), some, G, products)
            total = dgemm(1.0, products.reshape(-1, 6 * r).T, G.T, 1.0, total, trans_b=True, overwrite_c=True)
        K = total.T.reshape(r, 6, r)
        pair = 0
        for i in range(3):
            for p in range(i + 1):
                matrix[i, :, p, :] = K[:, pair]
                pair += 1


@parallel_kernel
def _multiply(begin, end, blocks, G, out):
    """``Q_c,ip G_c`` of the pairs (1,1), (2,1), (2,2), (3,1), ... into out (3c,6,r)."""
    for c in range(begin, end):
        pair = 0
        for i in range(3):
            for p in range(i + 1):
                for a in range(3):
                    x, y, z = (
                        _entry(blocks[c], a, 0, i, p),
                        _entry(blocks[c], a, 1, i, p),
                        _entry(blocks[c], a, 2, i, p),
                    )
                    for k in range(G.shape[1]):
                        out[3 * c + a, pair, k] = x * G[3 * c, k] + y * G[3 * c + 1, k] + z * G[3 * c + 2, k]
                pair += 1


@inlined
def _entry(block, a, b, i, p):
    """Second derivative by columns a, b of rows i, p of F: element blocks stand for corners (a+1, b+1), a >= b, and the
    others are their transposes.
    """
    if a >= b:
        return block[(a + 1) * (a + 2) // 2 + b + 1, i, p]
    return block[(b + 1) * (b + 2) // 2 + a + 1, p, i]
