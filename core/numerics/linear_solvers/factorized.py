"""Direct factorisation of any sparse symmetric positive-definite matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...mechanics.assembly.sparsity import Pattern
from .protocol import DirectSolver


def factorized(A: sp.spmatrix, solver: type[DirectSolver], vertices: Pattern | None = None) -> DirectSolver:
    """Return a direct solver that holds the factor of A (n,n).

    ``solver``: class of the direct solver. ``vertices``: pattern of the body, to be given if each vertex has several
    unknowns. The fill-reducing order is then computed on the smaller graph of vertices. Raises FactorizationError if A
    is not positive definite.
    """
    lower = sp.tril(A, format="csc")
    lower.sum_duplicates()  # sorts the rows too
    starts, rows = lower.indptr.astype(np.int64), lower.indices.astype(np.int64)
    graph = (starts, rows) if vertices is None else (vertices.block_starts, vertices.block_rows)
    holder = solver(Pattern(np.arange(len(graph[0]) - 1), starts, rows, *graph))
    holder.factorize(lower.data)
    return holder
