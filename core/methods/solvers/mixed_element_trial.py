"""Element quantities of a line search trial in Mixed FEM, in one pass over the tets: the decompositions of F and of the
independent stretch s, and the energy of the constraint s(F) = s.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inner_kernel, parallel_kernel
from ...foundation.kernels.simd_math import LANES
from ...foundation.kernels.small_matrix import WORKSPACE, eigh_group, polar_stretch, svd_group
from ...mechanics.energies.kinematics import Deformation, Stretch


def mixed_element_trial(
    alpha: float,
    deformation: Deformation,
    stretch: Stretch,
    dF: np.ndarray,
    ds: np.ndarray,
    multiplier: np.ndarray,
    weights: np.ndarray,
) -> tuple[Deformation, Stretch, np.ndarray, np.ndarray]:
    """Return four quantities of the elements at step length alpha of a line search: the deformation ``F + alpha dF``
    with its SVD; the independent stretch ``s + alpha ds`` with its eigenvectors; the new polar stretches s(F) (m,6);
    and the energies ``w lambda . (s(F) - s)`` (m,) of the constraint s(F) = s.

    ``deformation`` and ``stretch``: F and s at step length 0. ``dF`` (m,3,3) and ``ds`` (m,6): changes of F and s.
    ``multiplier``: lambda (m,6), Pa. ``weights``: w (m,). The iterations for the SVD start from the V of
    ``deformation``. The iterations for the eigenvectors of s start from the new V, since s is close to s(F).
    """
    m = len(ds)
    moved = Deformation(np.empty((m, 3, 3)), np.empty((m, 3, 3)), np.empty((m, 3)), np.empty((m, 3, 3)))
    other = Stretch(np.empty((m, 6)), np.empty((m, 3)), np.empty((m, 3, 3)))
    polar, work = np.empty((m, 6)), np.empty(m)
    before = deformation.F, deformation.V, stretch.s
    _local_trial(m, alpha, *before, dF, ds, multiplier, weights, *moved, *other, polar, work)
    return moved, other, polar, work


@parallel_kernel
def _local_trial(
    begin, end, alpha, F, V, s, dF, ds, multiplier, weights, F1, U1, sigma1, V1, s1, values1, Q1, polar, work
):
    W = np.empty(WORKSPACE)
    _move(alpha, F[begin:end].ravel(), dF[begin:end].ravel(), F1[begin:end].ravel())
    _move(alpha, s[begin:end].ravel(), ds[begin:end].ravel(), s1[begin:end].ravel())
    for first in range(begin, end, LANES):
        last = min(first + LANES, end)
        svd_group(W, first, end, F1, V, U1, sigma1, V1)
        eigh_group(W, first, end, s1, V1, values1, Q1)
        for e in range(first, last):
            polar_stretch(sigma1[e], V1[e], polar[e])
            total = 0.0
            for k in range(6):
                total += multiplier[e, k] * (polar[e, k] - s1[e, k])
            work[e] = weights[e] * total


@inner_kernel
def _move(alpha, x, dx, moved):
    for k in range(len(x)):
        moved[k] = x[k] + alpha * dx[k]
