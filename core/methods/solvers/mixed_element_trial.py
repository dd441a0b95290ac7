"""Element quantities of Mixed FEM at a trial step of the line search, in one pass over the tets."""

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
    """Return four quantities of the elements at a step length of a line search in Mixed FEM.

    1. the deformation gradient ``F + alpha dF`` with its SVD;
    2. the independent stretch ``s + alpha ds`` with its eigenvectors;
    3. the new polar stretches s(F) (m,6);
    4. the energies ``w lambda . (s(F) - s)`` (m,) of the constraint s(F) = s.

    ``alpha``: step length. ``deformation`` and ``stretch``: F and s at step length 0. ``dF`` (m,3,3) and ``ds`` (m,6):
    changes of F and s. ``multiplier``: lambda (m,6), Pa. ``weights``: w (m,).
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
