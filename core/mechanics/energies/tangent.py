"""Tangent stiffness of an isotropic energy, in the frame of the singular vectors.

With the singular value decomposition ``F = U diag(sigma) V^T``, a change dF of F is ``D = U^T dF V`` in the frame of
the singular vectors. The second variation of the density is then (see ``isotropic`` for flip and twist)

    sum_ij A_ij D_ii D_jj  +  sum_{i<j} flip_ij (D_ij + D_ji)^2 / 2  +  sum_{i<j} twist_ij (D_ij - D_ji)^2 / 2

with the Hessian A of the density by the principal stretches. So A, flip, twist, U and V represent the 9 x 9 matrix of
second derivatives by F. Clamping flip, twist and the eigenvalues of A at zero makes the matrix positive semi-definite.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundation.kernels.jit import inner_kernel, parallel_kernel
from ...foundation.kernels.small_matrix import eigh3, into_frame, out_of_frame


class Tangent(NamedTuple):
    """Second derivatives of the energy densities of m tets by the deformation gradients F.

    In a tet's frame, a change dF of F is ``D = U^T dF V``. The second variation of the density is

        sum_ij A_ij D_ii D_jj  +  sum_{i<j} flip_ij (D_ij + D_ji)^2 / 2  +  sum_{i<j} twist_ij (D_ij - D_ji)^2 / 2

    ``U``, ``V`` (m,3,3): rotations of the frame, such as the singular vectors of F. ``curvature`` (m,3,3), Pa: matrix
    A, the Hessian by the principal stretches. ``flip``, ``twist`` (m,3), Pa: coefficients flip_ij and twist_ij of the
    index pairs (2,3), (1,3), (1,2).
    """

    U: np.ndarray
    V: np.ndarray
    curvature: np.ndarray
    flip: np.ndarray
    twist: np.ndarray

    def stress_change(self, dF: np.ndarray) -> np.ndarray:
        """Return the linear change of the stress of each tet, (m,3,3) Pa.

        ``dF`` (m,3,3): changes of the deformation gradients.
        """
        out = np.empty((len(dF), 3, 3))
        _stress_change(len(dF), *self, dF, out)
        return out

    def scaled(self, factor: float) -> Tangent:
        """Return the tangent times ``factor``."""
        return Tangent(self.U, self.V, factor * self.curvature, factor * self.flip, factor * self.twist)


@inner_kernel
def project3(A):
    """Clamp the negative eigenvalues of a symmetric 3 x 3 matrix at zero, in place."""
    minor = A[0, 0] * A[1, 1] - A[0, 1] * A[0, 1]
    determinant = (
        A[2, 2] * minor - A[0, 0] * A[1, 2] * A[1, 2] - A[1, 1] * A[0, 2] * A[0, 2] + 2.0 * A[0, 1] * A[1, 2] * A[0, 2]
    )
    if A[0, 0] > 0.0 and minor > 0.0 and determinant > 0.0:
        return
    values = np.empty(3)
    Q = np.empty((3, 3))
    eigh3(A, values, Q)
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += Q[i, k] * max(values[k], 0.0) * Q[j, k]
            A[i, j] = total


def project(curvature: np.ndarray, flip: np.ndarray, twist: np.ndarray) -> None:
    """Project tangents to the nearest positive semi-definite tangents, in place.

    The negative eigenvalues of ``curvature`` (m,3,3) and the negative values of ``flip`` and ``twist`` (m,3) become
    zero.
    """
    _project(len(flip), curvature, flip, twist)


@parallel_kernel
def _project(begin, end, curvature, flip, twist):
    for e in range(begin, end):
        project3(curvature[e])
        for k in range(3):
            flip[e, k] = max(flip[e, k], 0.0)
            twist[e, k] = max(twist[e, k], 0.0)


@parallel_kernel
def _stress_change(begin, end, U, V, curvature, flip, twist, dF, out):
    D, P, T = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(begin, end):
        into_frame(U[e], dF[e], V[e], T, D)
        for i in range(3):
            P[i, i] = curvature[e, i, 0] * D[0, 0] + curvature[e, i, 1] * D[1, 1] + curvature[e, i, 2] * D[2, 2]
            for j in range(3):
                if i != j:
                    k = 3 - i - j
                    P[i, j] = 0.5 * (flip[e, k] * (D[i, j] + D[j, i]) + twist[e, k] * (D[i, j] - D[j, i]))
        out_of_frame(U[e], P, V[e], T, out[e])
