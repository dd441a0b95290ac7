"""Lowest eigenpairs of a sparse symmetric problem ``A v = w B v``, by the Lanczos method with shift and invert."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from ...foundation.progress import OnProgress, ignore_progress
from ...mechanics.assembly.sparsity import Pattern
from .blas import one_blas_thread
from .factorized import factorized
from .registry import fastest

SHIFT = 1e-6
"""Shift of the spectrum, as a fraction of the smallest ratio ``A[i, i] / B[i, i]``. Unpinned parts have eigenvalues of
0, so A may be singular; the shifted matrix is positive definite. A shift by the mean ratio, which the stiffest parts
dominate, would blur low eigenvalues.
"""


def lowest_pairs(
    A: sp.spmatrix,
    B: sp.spmatrix,
    count: int,
    on_progress: OnProgress = ignore_progress,
    vertices: Pattern | None = None,
    residual: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest eigenvalues and eigenvectors of ``A v = w B v``.

    The ``count`` lowest eigenvalues (k,) are ascending, with eigenvectors (n,k). If A (n,n) has fewer eigenvalues, all
    are returned. A is positive semi-definite, and only its lower triangle is read. ``vertices``: as in
    :func:`.factorized.factorized`. ``residual``: ARPACK's tolerance, relative to the eigenvalues of the shifted
    inverse; 0 means round-off. Raises ArpackError if the iteration does not converge.
    """
    if 2 * count >= A.shape[0]:
        values, vectors = scipy.linalg.eigh(A.toarray(), B.toarray())
        return values[:count], vectors[:, :count]
    shift = SHIFT * float((A.diagonal() / B.diagonal()).min())
    factor = factorized((A + shift * B).tocsc(), fastest(), vertices)
    solves = 0

    def solve(b: np.ndarray) -> np.ndarray:
        nonlocal solves
        solves += 1
        # The total number of solves is unknown, so the reported progress approaches 1 asymptotically.
        on_progress(solves / (solves + 4 * count))
        return factor.solve(b)

    inverse = LinearOperator(A.shape, matvec=solve, dtype=np.float64)
    # A fixed pseudo-random start vector gives the same modes for the same body.
    start = np.random.default_rng(0).standard_normal(A.shape[0])
    # ARPACK's products with a vector are too small for threads, which wait for one another: on a busy machine the
    # vibrations of 5,100 vertices took five times as long with two threads.
    with one_blas_thread():
        values, vectors = eigsh(A, count, B, sigma=-shift, OPinv=inverse, v0=start, tol=residual)
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]
