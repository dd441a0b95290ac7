"""Derivatives of energies as dense matrices over the entries of F and the six numbers of S, for comparison.

Solvers do not use them: a :class:`Tangent` has the same information in 15 numbers and two rotations.
"""

from __future__ import annotations

import numpy as np

from ..core.mechanics.energies.isotropic import IsotropicEnergy
from ..core.mechanics.energies.kinematics import Deformation, Stretch

PAIRS = np.array([1, 0, 0]), np.array([2, 2, 1])
"""Axes of the pairs (2,3), (1,3), (1,2)."""


def hessian(
    law: IsotropicEnergy, deformation: Deformation, parameters: np.ndarray, projected: bool = True
) -> np.ndarray:
    """Return ``d2psi/dF2`` over ``F.ravel()``, (n,9,9), Pa; projected to semi-definite by default."""
    tangent, k = law.tangent(deformation, parameters, projected), np.arange(3)
    i, j = PAIRS
    modes = np.einsum("nai,nbj->nijab", tangent.U, tangent.V)
    ahead, back = modes[:, i, j], modes[:, j, i]
    W = np.concatenate([modes[:, k, k], (ahead + back) / np.sqrt(2.0), (ahead - back) / np.sqrt(2.0)], axis=1)
    inner = np.zeros((len(W), 9, 9))
    inner[:, :3, :3] = tangent.curvature
    inner[:, 3 + k, 3 + k], inner[:, 6 + k, 6 + k] = tangent.flip, tangent.twist
    W = W.reshape(-1, 9, 9)
    return W.transpose(0, 2, 1) @ inner @ W


def stretch_gradient(law: IsotropicEnergy, stretch: Stretch, parameters: np.ndarray) -> np.ndarray:
    """Return the derivative by the six numbers of S (off-diagonals occur twice in S), (n,6), Pa."""
    i, j = PAIRS
    whole = np.einsum("nik,nk,njk->nij", stretch.Q, law.stretch_stress(stretch, parameters), stretch.Q)
    return np.concatenate([np.diagonal(whole, axis1=1, axis2=2), 2.0 * whole[:, i, j]], axis=1)


def stretch_hessian(
    law: IsotropicEnergy, stretch: Stretch, parameters: np.ndarray, projected: bool = True
) -> np.ndarray:
    """Return the second derivative by the six numbers of S, (n,6,6), Pa; projected by default."""
    tangent, Q, (i, j) = law.stretch_tangent(stretch, parameters, projected), stretch.Q, PAIRS
    directions = np.zeros((6, 3, 3))
    directions[range(6), [*range(3), *i], [*range(3), *j]] = 1.0
    directions = np.maximum(directions, directions.transpose(0, 2, 1))
    E = np.einsum("nik,dij,njl->ndkl", Q, directions, Q)
    straight, across = np.diagonal(E, axis1=2, axis2=3), E[:, :, i, j]
    H = np.einsum("nck,nkl,ndl->ncd", straight, tangent.curvature, straight)
    return H + 2.0 * np.einsum("nck,nk,ndk->ncd", across, tangent.flip, across)
