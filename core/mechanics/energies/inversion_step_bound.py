"""Step size to the first inversion of a tet, for energies that forbid inversion.

Along ``F + t dF`` the determinant is a cubic: ``det F + t cof F : dF + t² F : cof dF + t³ det dF``. The cubic is
monotone between its extrema, so bisection finds its first zero.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inner_kernel, parallel_kernel

SAFE = 0.9
"""Safety factor: allowed fraction of the step size at which a tet first inverts."""

HALVINGS = 60


def upright_part(F: np.ndarray, dF: np.ndarray) -> np.ndarray:
    """Return a step size along ``F + t dF`` that inverts no tet, for each tet, (m,).

    The step size is 1 if no t in [0, 1] inverts the tet. Otherwise the step size is ``SAFE`` times the smallest t that
    inverts the tet. ``F`` (m,3,3): deformation gradients, det F > 0. ``dF`` (m,3,3): changes of the deformation
    gradients in a full step.
    """
    part = np.empty(len(F))
    _fill(len(F), F, dF, part)
    return part


@parallel_kernel
def _fill(begin, end, F, dF, part):
    for e in range(begin, end):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            for p in range(3):
                q, r = (p + 1) % 3, (p + 2) % 3
                own = F[e, j, q] * F[e, k, r] - F[e, j, r] * F[e, k, q]
                other = dF[e, j, q] * dF[e, k, r] - dF[e, j, r] * dF[e, k, q]
                if i == 0:
                    a += F[e, i, p] * own
                    d += dF[e, i, p] * other
                b += dF[e, i, p] * own
                c += F[e, i, p] * other
        part[e] = 1.0
        if a + min(b, 0.0) + min(c, 0.0) + min(d, 0.0) <= 0.0:
            part[e] = _before_zero(a, b, c, d)


@inner_kernel
def _before_zero(a, b, c, d):
    """Return ``SAFE`` times the first zero of ``a + b t + c t² + d t³``, a > 0, in [0, 1]; 1 without a zero."""
    first, second = 1.0, 1.0
    bend = c * c - 3.0 * b * d
    if bend > 0.0:
        root = -c - np.copysign(np.sqrt(bend), c)
        first = min(max(b / root, 0.0), 1.0)
        if d != 0.0:
            second = min(max(root / (3.0 * d), 0.0), 1.0)
    low = 0.0
    for high in (min(first, second), max(first, second), 1.0):
        if a + high * (b + high * (c + high * d)) <= 0.0:
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if a + middle * (b + middle * (c + middle * d)) > 0.0:
                    low = middle
                else:
                    high = middle
            return SAFE * low
        low = high
    return 1.0
