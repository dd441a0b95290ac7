"""Conjugate gradients for the system of a subspace, preconditioned by the factor of an earlier matrix of the same step.

In a body with muscles, the dense stiffness of the fibres takes half of a solver's iteration. A product with the matrix
needs only the stiffness of each cubature point and each fibre, and takes a twentieth of assembling and factorising the
matrix. After k iterations, the iterate minimises ``1/2 x.A x - b.x`` over k directions. So it is a descent direction,
orthogonal to its residual.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsymv

from ...mechanics.fibres.fibre_potential import LinearVectors
from .reduced_elastic import CubatureElastic
from .reduced_stiffness import stress_changes

RELATIVE_RESIDUAL = 1e-2
"""Residual relative to the solution at which the iterations end.

The residual is measured in the norm of the preconditioner's inverse, the solution in the energy norm.
"""

MOST_ITERATIONS = 8
"""Number of iterations after which the matrix is factorised instead. They take about a third of the time of that."""


class ReducedMatrix(NamedTuple):
    """Matrix of a subspace with r unknowns as a sum of terms that are not multiplied out.

    ``hessians`` (c,6,3,3): second derivatives of the energy at the cubature points of ``elastic``, as in
    ``tangent_blocks``. ``mass`` (r,r): mass matrix. ``vectors``: vectors that are linear in the unknowns, with their
    stiffnesses (f,3,3). ``others`` (3,r,3,r): upper triangle of all other terms. ``pinned``: prescribed unknowns.
    """

    elastic: CubatureElastic
    hessians: np.ndarray
    mass: np.ndarray
    vectors: Sequence[tuple[LinearVectors, np.ndarray]]
    others: np.ndarray
    pinned: np.ndarray

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return the product (r,3) with a change x (r,3) of the unknowns, zero at prescribed unknowns."""
        product = dsymv(1.0, self.others.reshape(x.size, -1).T, x.T.ravel(), lower=1).reshape(3, -1).T
        product += self.mass @ x
        product += self.elastic.pulled(stress_changes(self.hessians, self.elastic.delta_F(x)))
        for vectors, K in self.vectors:
            product += vectors.spread(np.einsum("fij,fj->fi", K, vectors.moved(x)))
        product[self.pinned] = 0.0
        return product


def conjugate_gradients(
    times: Callable[[np.ndarray], np.ndarray], precondition: Callable[[np.ndarray], np.ndarray], b: np.ndarray
) -> np.ndarray | None:
    """Return an approximate solution of ``A x = b``, or None if A is indefinite or the iterations converge slowly.

    ``times``: product with A. ``precondition``: product with the inverse of the preconditioner.
    """
    x, r, p, before = np.zeros_like(b), b, np.zeros_like(b), 1.0
    for k in range(MOST_ITERATIONS + 1):
        z = precondition(r)
        work = float(np.sum(r * z))
        if k and work <= RELATIVE_RESIDUAL**2 * float(np.sum(b * x)):
            return x
        p = z + (work / before) * p
        Ap = times(p)
        curvature = float(np.sum(p * Ap))
        if curvature <= 0.0:
            break
        x, r, before = x + (work / curvature) * p, r - (work / curvature) * Ap, work
    return None
