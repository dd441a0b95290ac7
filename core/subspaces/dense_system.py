"""The linear system of a body in a subspace: dense, and small ([SubMFEM23] Eq. 6).

The coordinates share one basis, so the stiffness falls into blocks of coordinates i, p:

    K_ip = sum_c G_c^T Q_c,ip G_c         with Q_c,ip (3,3) the second derivatives of tet c by rows i and p of F

six of them by symmetry, and all of them one product of matrices. ``Q_c`` comes from the kernels that make element
matrices: a tet whose corners 2, 3, 4 have the shape gradients e_1, e_2, e_3 has them as its blocks.
"""

from __future__ import annotations

import numpy as np
from numba import prange
from scipy.linalg.lapack import dpotrf, dpotrs

from ..assembly.tangent_blocks import tangent_blocks
from ..energies.tangent import Tangent
from ..errors import FactorizationError
from ..forces.step_potential import StepPotential
from ..jit import parallel_kernel
from ..linear_solvers.protocol import Shortfall
from .cubature_elastic import CubatureElastic

UNIT_GRADIENTS = np.array([[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
"""Shape gradients of the tet whose corners are the origin and the ends of the axes."""


class DenseSystem:
    """Assembles, factorises and solves; the same interface as that of the full space.

    Parameters
    ----------
    elastic : CubatureElastic
    mass : (r,r) of the basis
    pinned : (p,) unknowns that are given
    """

    residual_work = 0.0
    choice = "dense Cholesky of the subspace"

    def __init__(self, elastic: CubatureElastic, mass: np.ndarray, pinned: np.ndarray) -> None:
        points, self._size = len(elastic.weights), len(mass)
        self.free = np.setdiff1d(np.arange(self._size), pinned)
        self.N = np.tile(UNIT_GRADIENTS, (points, 1, 1))
        self.masses = np.zeros(points)
        self.blocks = np.empty((points, 10, 3, 3))
        self._weights = elastic.weights
        self._G = np.ascontiguousarray(elastic.G[:, self.free])
        self._mass = mass[np.ix_(self.free, self.free)]
        f = len(self.free)
        self._products = np.empty((3 * points, 6, f))
        self._matrix = np.zeros((3, f, 3, f))
        self._factor = np.zeros((3 * f, 3 * f), order="F")

    def assemble(self, scale: float, unknowns: np.ndarray, potentials: tuple[StepPotential, ...] = ()) -> None:
        """The matrix from ``blocks``, the mass and the step's other potentials times ``scale``."""
        f = len(self.free)
        _multiply(self.blocks, self._G, self._products)
        K = (self._G.T @ self._products.reshape(-1, 6 * f)).reshape(f, 6, f)
        pair = 0
        for i in range(3):
            for p in range(i + 1):
                self._matrix[i, :, p, :] = K[:, pair]
                pair += 1
            self._matrix[i, :, i, :] += self._mass
        for potential in potentials:
            potential.add_stiffness(unknowns, scale, self._matrix)

    def assemble_tangent(
        self, tangent: Tangent, scale: float, unknowns: np.ndarray, potentials: tuple[StepPotential, ...] = ()
    ) -> None:
        """The same from a tangent of all points, Pa."""
        tangent_blocks(tangent, self.N, scale * self._weights, self.masses, self.blocks)
        self.assemble(scale, unknowns, potentials)

    def try_factorize(self) -> bool:
        """Cholesky's factor; False when the matrix is not positive definite."""
        f = len(self.free)
        self._factor, failed = dpotrf(self._matrix.reshape(3 * f, 3 * f).T, lower=False, clean=False)
        return failed == 0

    def factorize(self) -> None:
        """The same; FactorizationError when it is not."""
        if not self.try_factorize():
            raise FactorizationError(
                "The subspace's matrix is not positive definite.",
                "Use more cubature points, more substeps, or a smaller ratio of stiffnesses.",
            )

    def solve(self, right_hand_side: np.ndarray) -> np.ndarray:
        """Solution (r,3) with zeros at pinned unknowns."""
        solution, _info = dpotrs(self._factor, right_hand_side[self.free].T.ravel(), lower=False)
        out = np.zeros((self._size, 3))
        out[self.free] = solution.reshape(3, -1).T
        return out

    def shortfall(self) -> Shortfall:
        """Nothing: the solution is exact but for round-off."""
        return Shortfall(0.0, 0.0)


@parallel_kernel
def _multiply(blocks, G, out):
    """``Q_c,ip G_c`` of the pairs (1,1), (2,1), (2,2), (3,1), ... into out (3c,6,r)."""
    for c in prange(blocks.shape[0]):
        pair = 0
        for i in range(3):
            for p in range(i + 1):
                for a in range(3):
                    row = out[3 * c + a, pair]
                    row[:] = 0.0
                    for b in range(3):
                        # Element blocks stand for corners (a+1, b+1), a >= b; the others are their transposes.
                        if a >= b:
                            q = blocks[c, (a + 1) * (a + 2) // 2 + b + 1, i, p]
                        else:
                            q = blocks[c, (b + 1) * (b + 2) // 2 + a + 1, p, i]
                        for k in range(G.shape[1]):
                            row[k] += q * G[3 * c + b, k]
                pair += 1
