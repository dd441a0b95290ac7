"""What a few directions add to a matrix, ``A + Y C Y^T``: solved by A's own factor.

Conjugate gradients preconditioned by A need one solve with it a round and no product: with ``z = A^-1 r`` and
``p = z + b p'``, ``A p = r + b A p'``. There are at most as many rounds as Y has columns, and one: in fact few, since
the matrix is A but for that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..assembly.low_rank import LowRank

EXACT = 1e-10
"""Residual in A's norm, as part of the first one's, at which rounds end."""


def solve_with(solve: Callable[[np.ndarray], np.ndarray], low_rank: LowRank, b: np.ndarray) -> np.ndarray | None:
    """``(A + Y C Y^T)^-1 b`` (f,3) by what solves with A; None where the sum is not positive definite along the way."""
    x, r = np.zeros_like(b), b.copy()
    p = Ap = np.zeros_like(b)
    before = first = 0.0
    for _ in range(len(low_rank.core) + 2):
        z = solve(r)
        work = float(np.sum(r * z))
        first = first or work
        if not work > EXACT**2 * first:
            break
        share = work / before if before else 0.0
        p, Ap = z + share * p, r + share * Ap
        Sp = Ap + low_rank.times(p)
        curvature = float(np.sum(p * Sp))
        if curvature <= 0.0:
            return None
        x, r = x + work / curvature * p, r - work / curvature * Sp
        before = work
    return x
