"""What a trial of the line search has of every element in the mixed method, in one pass: as positions and stretches are
the method's unknowns, there are two decompositions and what the constraint between them costs.
"""

from __future__ import annotations

import numpy as np

from ..energies.kinematics import Deformation, Stretch
from ..jit import inner_kernel, parallel_kernel
from ..lanes import LANES
from ..small_matrix import WORKSPACE, eigh_group, polar_stretch, svd_group


def mixed_element_trial(
    alpha: float,
    deformation: Deformation,
    stretch: Stretch,
    dF: np.ndarray,
    ds: np.ndarray,
    multiplier: np.ndarray,
    weights: np.ndarray,
) -> tuple[Deformation, Stretch, np.ndarray, np.ndarray]:
    """``F + alpha dF`` and ``s + alpha ds``, decomposed; the polar stretches (m,6); ``w lambda . (s(F) - s)``, (m,).

    F's decomposition starts from its frames V, and that of s, which follows s(F), from F's new ones.
    dF (m,3,3); ds, multiplier (m,6); weights w (m,).
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
