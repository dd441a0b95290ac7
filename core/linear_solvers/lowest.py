"""The lowest eigenpairs of a sparse symmetric problem ``A v = w B v``, by Lanczos' method on a shifted inverse."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from ..assembly.sparsity import Pattern
from ..progress import OnProgress, ignore_progress
from .blas_threads import one_blas_thread
from .factorized import factorized
from .registry import fastest

SHIFT = 1e-6
"""Shift of the spectrum, since free parts have the eigenvalue 0, by the least ratio of diagonals: by a mean, which the
stiffest parts decide, low eigenvalues could not be told from one another.
"""


def lowest_pairs(
    A: sp.spmatrix,
    B: sp.spmatrix,
    count: int,
    on_progress: OnProgress = ignore_progress,
    vertices: Pattern | None = None,
    residual: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """The lowest pairs (k,), (n,k), ascending, at most ``count``: by shift and invert, or all of a small problem.

    A is semi-definite, and only its lower triangle is read; ``vertices`` as in :func:`.factorized.factorized`;
    ``residual``: of the inverse's eigenvalues, at which the search may end, by default round-off. ArpackError where
    there are none to be found.
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
        # Nobody knows how many it will take: it creeps towards its end.
        on_progress(solves / (solves + 4 * count))
        return factor.solve(b)

    inverse = LinearOperator(A.shape, matvec=solve, dtype=np.float64)
    # A fixed start that is along no eigenvector: the same body gives the same modes.
    start = np.random.default_rng(0).standard_normal(A.shape[0])
    # ARPACK's products with a vector are too small for threads, which wait for one another: on a machine that had other
    # work the vibrations of 5,100 vertices took five times as long with two.
    with one_blas_thread():
        values, vectors = eigsh(A, count, B, sigma=-shift, OPinv=inverse, v0=start, tol=residual)
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]
