"""Any sparse symmetric positive-definite matrix of one unknown a vertex, handed to a direct solver."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..assembly.sparsity import Pattern
from .protocol import DirectSolver


def factorized(A: sp.spmatrix, solver: type[DirectSolver]) -> DirectSolver:
    """A direct solver that holds the factor of A (n,n); FactorizationError where A is not positive definite."""
    lower = sp.tril(A, format="csc")
    lower.sum_duplicates()  # sorts the rows too
    starts, rows = lower.indptr.astype(np.int64), lower.indices.astype(np.int64)
    holder = solver(Pattern(np.arange(A.shape[0]), starts, rows, starts, rows))
    holder.factorize(lower.data)
    return holder
