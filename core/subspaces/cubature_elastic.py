"""The elastic potential of a body in a subspace, integrated by cubature ([SubMFEM23] Eqs. 2, 3).

Its stiffness: ``reduced_stiffness``.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dgemm

from ..energies.kinematics import Deformation
from ..forces.elastic import ElasticDensity, ElasticPotential

UNIT_GRADIENTS = np.array([[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
"""Shape gradients of the tet whose corners are the origin and the ends of the axes."""


class CubatureElastic(ElasticDensity):
    """``sum_c w_c psi_c(F_c(U))`` with ``F_c = I + U^T G_c``: G holds the basis's gradients at the cubature tets.

    Parameters
    ----------
    elastic : ElasticPotential of the body
    basis : (n,r) scalar basis, ``x = X + basis U``
    tets : (c,) chosen tets; weights : (c,) m³

    ``N`` (c,4,3) and ``masses`` (c,) are what element kernels are given for the stiffness: unit shape gradients, and
    zeros, for the mass is the basis's.
    """

    def __init__(self, elastic: ElasticPotential, basis: np.ndarray, tets: np.ndarray, weights: np.ndarray) -> None:
        super().__init__(weights, elastic.energies, elastic.energy_of_tet[tets], elastic.parameters[tets])
        corners = basis[elastic.tets[tets]]
        self.G = np.ascontiguousarray(np.einsum("caj,car->cjr", elastic.N[tets], corners)).reshape(3 * len(tets), -1)
        self.N, self.masses = np.tile(UNIT_GRADIENTS, (len(tets), 1, 1)), np.zeros(len(tets))

    def gradients(self, U: np.ndarray) -> np.ndarray:
        """Deformation gradients of unknowns (r,3), (c,3,3)."""
        return np.eye(3) + self.change(U)

    def change(self, dU: np.ndarray) -> np.ndarray:
        """What changes (r,3) of the unknowns do to the deformation gradients, (c,3,3)."""
        return np.ascontiguousarray(times_vectors(self.G, dU).reshape(-1, 3, 3).transpose(0, 2, 1))

    def deformation(self, U: np.ndarray, near: Deformation | None = None) -> Deformation:
        """Deformation gradients of unknowns (r,3), decomposed; quicker with a deformation that is ``near``."""
        return Deformation.of(self.gradients(U), None if near is None else near.V)

    def nodal(self, stress: np.ndarray) -> np.ndarray:
        """Gradient by the unknowns of stresses (c,3,3), (r,3), N times the unit of the basis."""
        weighted = (self.weights[:, None, None] * stress).transpose(0, 2, 1).reshape(-1, 3)
        return dgemm(1.0, self.G.T, weighted.T, trans_b=True)


def times_vectors(A: np.ndarray, U: np.ndarray) -> np.ndarray:
    """``A U`` of a matrix (n,r) and a few columns (r,3), by SciPy's BLAS: the NumPy that comes with Blender may bring
    one that is older than the processor.
    """
    return dgemm(1.0, A.T, U.T, trans_a=True, trans_b=True)
